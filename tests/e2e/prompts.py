#!/usr/bin/env python3
"""Prompts and replies as bytes: where a prompt comes from, what is printed, where it ends."""
import os
import subprocess

from harness import (NOWHERE, encode, environment, main, model, not_on_windows, path, program, refuse,
                     run, statistic, succeed)

MODEL = model("--seed", "1")
LONG = model("--seed", "1", "--ctx", "16384")
RUSSIAN = "Напиши короткий абзац".encode()


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def test_sources_agree():
    """An argument, several, -i, -f, standard input and ids of one text give one run."""
    expected = succeed(MODEL, "a bc", "-n", "40").out
    assert expected.startswith(b"a bc") and len(expected) > 10
    file = write("prompt", b"a bc")
    assert succeed(MODEL, "a", "bc", "-n", "40").out == expected
    assert succeed(MODEL, "-i", "a bc", "-n", "40").out == expected
    assert succeed(MODEL, "-f", file, "-n", "40").out == expected
    assert succeed(MODEL, "-n", "40", stdin=b"a bc").out == expected
    assert succeed(MODEL, "-f", "-", "-n", "40", stdin=b"a bc").out == expected
    ids = ",".join(encode(MODEL, b"a bc"))
    assert succeed(MODEL, "--tokens", ids, "-n", "40").out == expected
    assert succeed(MODEL, "-n", "40", "--no-echo", "--", "a bc").out == expected[4:]


def test_raw_bytes():
    """Bytes go through unchanged, whatever the locale, the end of the file or its beginning."""
    not_on_windows("arguments are Unicode there")
    for env in (environment(LANG="C", LC_ALL="C"), environment(LANG=None, LC_ALL="en_US.UTF-8")):
        for text in (RUSSIAN, RUSSIAN + b"\n", b"\xef\xbb\xbf" + RUSSIAN, b"\xff\xfe\x80x",
                     b"a\r\nb"):
            from_argument = succeed(MODEL, text, "--ids", "-n", "100", env=env).out
            from_file = succeed(MODEL, "-f", write("raw", text), "--ids", "-n", "100", env=env).out
            assert from_argument == from_file
            assert succeed(MODEL, text, "-n", "100", env=env).out.startswith(text)
    # this vocabulary merges no letters but English ones: nothing was lost or added
    assert len(encode(MODEL, RUSSIAN)) == len(RUSSIAN)
    zero = succeed(MODEL, "-n", "12", stdin=b"a\x00b")
    assert zero.out.startswith(b"a\x00b"), zero


def test_escapes():
    plain = succeed(MODEL, r"a\nb\x41\q\\", "-n", "30").out
    assert plain.startswith(rb"a\nb\x41\q\\")
    assert succeed(MODEL, r"a\nb\x41\q\\", "--escape", "-n", "30").out.startswith(b"a\nbA\\q\\")
    file = write("escapes", rb"x\ty\x00z")
    assert succeed(MODEL, "-f", file, "-e", "-n", "30").out.startswith(b"x\ty\x00z")


def test_thousands_of_empty_lines():
    file = write("empty-lines", b"\n" * 5000)
    length = int(statistic(succeed(LONG, "-f", file, "--ctx", "16384", "--dump-logits", NOWHERE),
                           "positions"))
    assert length >= 2500, length
    result = succeed(LONG, "-f", file, "--ctx", "16384", "-n", str(length + 10), "--ignore-eos")
    assert statistic(result, "positions") == str(length + 10), result
    assert result.out.startswith(b"\n" * 5000)


def test_prompt_longer_than_the_context():
    result = run(MODEL, "-f", write("long", b"x" * 100), "--ctx", "64")
    assert result.code == 1 and b"100 tokens" in result.err and b"--ctx" in result.err, result


def test_positions():
    """-n counts the prompt; the context's end is told with what can be done about it."""
    result = succeed(MODEL, "--tokens", "1,2,3", "-n", "3", "--ids")
    assert result.out == b"1 2 3\n", result
    result = succeed(MODEL, "--tokens", "1,2,3", "-n", "8", "--ids", "--ignore-eos")
    assert len(result.out.split()) == 8 and statistic(result, "positions") == "8", result
    result = succeed(MODEL, "--tokens", "1,2,3", "--ctx", "20", "--ids", "--ignore-eos")
    assert len(result.out.split()) == 20, result
    assert b"note: the context of 20 positions is full; --ctx" in result.err, result


def test_end_of_text():
    """--eos ends a reply before the token, and --ignore-eos takes the model's own away."""
    ids = succeed(MODEL, "--tokens", "1,2,3", "-n", "40", "--ids", "--ignore-eos").out.split()
    end = ids[10]
    assert end not in ids[3:10]
    stopped = succeed(MODEL, "--tokens", "1,2,3", "-n", "40", "--ids", "--ignore-eos", "--eos", end)
    assert stopped.out.split() == ids[:10], (stopped, ids)
    # a vocabulary this small meets its own end sooner or later
    for seed in range(40):
        options = ("--tokens", "1,2,3", "-T", "3", "-s", str(seed), "-n", "300", "--ids")
        natural = succeed(MODEL, *options).out.split()
        if len(natural) < 300:
            ignoring = succeed(MODEL, *options, "--ignore-eos").out.split()
            assert len(ignoring) == 300 and ignoring[:len(natural)] == natural
            return
    raise AssertionError("no run met an end token")


def test_stop_text():
    """A stop text is never printed, nor any part of it; what may begin one comes late, not never."""
    whole = succeed(MODEL, "ab", "-n", "60", "--ignore-eos", "--no-echo").out
    text = whole.rstrip(b"\n").decode("utf-8")
    # a piece of plain characters from the middle
    at = next(i for i in range(8, len(text) - 3) if text[i:i + 3].isascii() and
              text[i:i + 3].isprintable() and text.find(text[i:i + 3]) == i)
    stop = text[at:at + 3]
    options = ("-n", "60", "--ignore-eos", "--no-echo")
    assert succeed(MODEL, "ab", *options, "--stop", stop).out.decode() == text[:at] + "\n"
    assert succeed(MODEL, "ab", *options, "--stop", "zzzz9", "--stop", stop).out.decode() == \
        text[:at] + "\n"
    # begins like the text does there, but never gets whole
    assert succeed(MODEL, "ab", *options, "--stop", stop + "\x01never").out == whole
    assert succeed(MODEL, "ab", *options, "--stop", text[-1] + "more").out == whole
    # the prompt is not searched
    assert succeed(MODEL, "ab", "-n", "60", "--ignore-eos", "--stop", "ab").out.startswith(b"ab")


def test_never_half_a_character():
    """Most tokens are single bytes here, so a careless stream would break characters and print bytes
    that are not UTF-8; each piece that is written must be whole."""
    for seed in range(5):
        run_ = subprocess.Popen([program("run"), MODEL, "x", "-n", "400", "-T", "5", "-p", "1", "-s",
                                 str(seed), "--ignore-eos"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, bufsize=0)
        pieces = []
        while True:
            piece = os.read(run_.stdout.fileno(), 65536)
            if not piece:
                break
            piece.decode("utf-8")
            pieces.append(piece)
        assert run_.wait() == 0
        assert "\ufffd" in b"".join(pieces).decode()


def test_seeds():
    """A seed that was not given is random and told, and repeats the run."""
    options = ("hello", "-n", "80", "-T", "0.9")
    first, second = succeed(MODEL, *options), succeed(MODEL, *options)
    assert statistic(first, "seed") != statistic(second, "seed")
    assert first.out != second.out
    for result in (first, second):
        assert succeed(MODEL, *options, "-s", statistic(result, "seed")).out == result.out
    assert statistic(succeed(MODEL, *options, "-s", "42"), "seed") == "42"


def test_threads_do_not_change_text():
    seen = {succeed(MODEL, "hello", "-n", "100", "-T", "0.8", "-s", "7", "-t", threads).out
            for threads in ("1", "2", "3")}
    assert len(seen) == 1


def test_kv_types_work():
    for kv in ("f32", "f16", "q8"):
        result = succeed(MODEL, "hello", "-n", "60", "--kv", kv, "--ignore-eos")
        assert statistic(result, "kv") == kv and statistic(result, "positions") == "60", result


def test_profile():
    result = succeed(MODEL, "hello", "-n", "60", "--profile")
    shares = statistic(result, "profile")
    assert shares.startswith("qkv"), result


def test_closed_pipe():
    """A reader that leaves ends the run without a complaint."""
    reader, writer = os.pipe()
    run_ = subprocess.Popen([program("run"), LONG, "hi", "--ctx", "16384", "--ignore-eos"],
                            stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    os.close(writer)
    os.read(reader, 4)
    os.close(reader)
    _, err = run_.communicate(timeout=60)
    assert run_.returncode == 0 and b"error" not in err, (run_.returncode, err)



main(globals())
