#!/usr/bin/env python3
"""Exit codes and messages: 0 success, 1 load or runtime error, 2 usage, 3 a missing CPU feature."""
import json
import os
import re

from harness import (Skip, backends, call, environment, main, model, not_on_windows, path, program,
                     refuse, run, succeed)

MODEL = model("--seed", "1")


def test_success():
    result = succeed(MODEL, "Hello", "-n", "12")
    assert result.out.startswith(b"Hello"), result
    lines = result.err.decode().splitlines()
    assert len(lines) == 2, result
    assert re.fullmatch(r"prefill: \d+ tokens in [\d.]+ ms \([\d.]+ tok/s\)", lines[0]), result
    assert re.fullmatch(r"positions: 12, tok/s: [\d.]+, threads: \d+, isa: \w+, kv: f32",
                        lines[1]), result


def test_version_and_help():
    version = succeed("--version")
    assert re.fullmatch(rb"krafla-run \d+\.\d+\.\d+\n", version.out), version
    assert b"--repeat-penalty" in succeed("--help-all").out


def test_usage():
    for option, value in [("-n", "0"), ("-n", "-3"), ("-n", "12x"), ("-n", ""), ("-n", "4294967297"),
                          ("-t", "0"), ("-t", "1.5"), ("--ctx", "0"), ("--ctx", "99999"),
                          ("--batch", "0"), ("--batch", "129"), ("-T", "-0.1"), ("-T", "nan"),
                          ("-T", "hot"), ("-p", "1.1"), ("-p", "-1"), ("--min-p", "2"),
                          ("--top-k", "-1"), ("--repeat-penalty", "0"),
                          ("--repeat-last-n", "-1"), ("-s", "-1"), ("--kv", "q4"),
                          ("--eos", "320"), ("--eos", "-1"), ("--stop", "")]:
        line = refuse(2, "option " + option, MODEL, "hi", option, value)
        assert "'%s'" % value in line, (option, value, line)


def test_usage_of_tokens():
    for tokens, wrong in [("1,x", "x"), ("1,320", "320"), ("-1", "-1"), ("", ""), (",", ",")]:
        line = refuse(2, "option --tokens", MODEL, "--tokens", tokens)
        assert "'%s'" % wrong in line, line


def test_usage_of_combinations():
    refuse(2, "no model")
    refuse(2, "--bogus", MODEL, "hi", "--bogus")
    refuse(2, "-i", MODEL, "hi", "-i", "there")
    refuse(2, "--tokens", MODEL, "-f", "x", "--tokens", "1")
    refuse(2, "--chat", MODEL, "hi", "--system", "x")
    refuse(2, "--ids", MODEL, "hi", "--chat", "--ids")
    refuse(2, "the prompt is empty", MODEL)
    refuse(2, "option -n: '2'", MODEL, "hello", "-n", "2")


def test_kv_is_refused_before_the_model_is_read():
    refuse(2, "option --kv: 'q8_0'", path("no-such-model"), "hi", "--kv", "q8_0")


def test_load_errors():
    """One line that names the file, and nothing on standard output."""
    empty, folder, picture = path("empty"), path("folder"), path("picture")
    open(empty, "w").close()
    os.makedirs(folder, exist_ok=True)
    with open(picture, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(200))
    for name in (path("missing"), empty, folder, picture, "/dev/null"):
        refuse(1, name, name, "hi")


def test_unreadable_file():
    if os.geteuid() == 0:
        raise Skip("this user may read everything")
    name = path("unreadable")
    with open(name, "w") as file:
        file.write("x")
    os.chmod(name, 0)
    refuse(1, name, name, "hi")


def test_incomplete_file():
    with open(MODEL, "rb") as file:
        data = file.read()
    name = path("incomplete")
    with open(name, "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    refuse(1, name, name, "hi")


def test_messages_are_printable():
    """What files and arguments hold cannot reach the terminal as control sequences."""
    not_on_windows("names and arguments are Unicode there")
    name = path("a\x1b[31mb").encode() + b"\xff"
    line = refuse(1, r"a\x1b[31mb\xff", name, "hi")
    assert "\x1b" not in line
    refuse(2, r"'\x1b\xfe'", MODEL, "hi", b"--kv", b"\x1b\xfe")


def test_prompt_file_errors():
    for name in (path("no-prompt"), path("folder")):
        os.makedirs(path("folder"), exist_ok=True)
        refuse(1, name, MODEL, "-f", name)


def test_output_errors():
    not_on_windows("there is no device that is full")
    with open("/dev/full", "wb") as full:
        import subprocess
        done = subprocess.run([program("run"), MODEL, "hi", "-n", "9"], stdout=full,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"No space left" in done.stderr, done
    refuse(1, "No space left", MODEL, "hi", "--dump-logits", "/dev/full")
    refuse(1, "nowhere", MODEL, "hi", "--dump-logits", path("nowhere/file"))
    assert not os.path.isfile("/dev/full")


def masked():
    """A backend of this build that needs a CPU feature that can be hidden, and that feature."""
    for backend in backends()["backends"]:
        if backend["state"] != "skipped" and backend["path"] and backend["features"]:
            return backend["name"], backend["features"][0]
    raise Skip("no backend of this build that needs a CPU feature runs here")


def test_missing_cpu_feature():
    name, feature = masked()
    env = environment(KRAFLA_CPU_MASK=feature)
    refuse(3, "error: CPU lacks %s required by ISA=%s" % (feature, name), MODEL, "hi", "--isa",
           name, env=env)
    env["KRAFLA_ISA"] = name
    refuse(3, "CPU lacks %s required by ISA=%s" % (feature, name), MODEL, "hi", env=env)
    # without a wish the next best backend serves
    del env["KRAFLA_ISA"]
    result = succeed(MODEL, "hi", "-n", "9", env=env)
    assert ("isa: %s," % name).encode() not in result.err, result
    listed = call([program("info"), "--backends", "--json"], env=env)
    states = {b["name"]: b for b in json.loads(listed.out)["backends"]}
    assert states[name]["state"] == "skipped" and feature in states[name]["reason"], states[name]


def test_unknown_isa():
    refuse(2, "no backend of this name", MODEL, "hi", "--isa", "z80")
    refuse(2, "z80", MODEL, "hi", env=environment(KRAFLA_ISA="z80"))
    refuse(2, "z80", MODEL, "hi", env=environment(ISA_LM_ISA="z80"))


def test_isa_caps():
    for isa in [b["name"] for b in backends()["backends"] if b["state"] != "skipped"]:
        for how in ({"arguments": ("--isa", isa)}, {"env": environment(KRAFLA_ISA=isa)}):
            result = run(MODEL, "hi", "-n", "9", *how.get("arguments", ()), env=how.get("env"))
            assert result.code == 0 and ("isa: %s," % isa).encode() in result.err, result


main(globals())
