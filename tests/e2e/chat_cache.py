#!/usr/bin/env python3
"""A conversation in the KV cache: what each turn computes and what it keeps; commands; files."""
import json
import os
import re

from gguf_metadata import change
from harness import main, path, run, statistic, succeed
from scripted import BASE, DRAW, ids_of, prompt, replies, scripted

END = "<|im_end|>\n"
OPTIONS = ("--profile", "--ignore-eos", *DRAW)


def turns(result):
    """(computed, kept, said) of each turn."""
    found = re.findall(rb"^turn: (\d+) positions computed, (\d+) kept, (\d+) said", result.err, re.M)
    return [tuple(map(int, t)) for t in found]


def suffix(message):
    """What comes behind a reply, up to the next one."""
    return len(ids_of(END + prompt(message)))


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def test_turns_compute_what_is_new():
    """The reply stays as it was said, though its text would be encoded otherwise."""
    result = succeed(BASE, "--chat", "-n", "40", *OPTIONS, stdin=b"one\ntwo\nthree\nfour\n")
    first = len(ids_of(prompt("one")))
    expected = [(first, 0, 40)]
    for message in ("two", "three", "four"):
        # the last token that was said is not in the session yet
        computed, kept, _ = expected[-1]
        expected.append((suffix(message) + 1, kept + computed + 39, 40))
    assert turns(result) == expected, (turns(result), expected)
    assert prefill(result) == sum(computed for computed, _, _ in expected)


def prefill(result):
    return int(statistic(result, "prefill").split()[0])


def test_the_cache_is_right():
    """What is said in the second turn is what is said to all these ids from the start."""
    reply = replies(prompt("one"), 20)
    whole = ids_of(prompt("one")) + reply + ids_of(END + prompt("two"))
    alone = succeed(BASE, "--tokens", ",".join(map(str, whole)), "--no-echo", "-n", str(len(whole) + 20),
                    "--ignore-eos")
    # greedy in the second turn: the draws of the first are behind it
    first = succeed(BASE, "--chat", "one", "-n", "20", "--ignore-eos", *DRAW).out
    second = succeed(BASE, "--chat", "-n", "20", "--ignore-eos", stdin=b"one\ntwo\n").out
    greedy = succeed(BASE, "--chat", "one", "-n", "20", "--ignore-eos").out
    assert second.startswith(greedy)
    ids = succeed(BASE, "--ids", "-i", prompt("one"), "-n", str(len(ids_of(prompt("one"))) + 20),
                  "--ignore-eos").out.decode().split() + [str(i) for i in ids_of(END + prompt("two"))]
    expected = succeed(BASE, "--tokens", ",".join(ids), "--no-echo", "-n", str(len(ids) + 20),
                       "--ignore-eos").out
    assert second == greedy + expected, (second, greedy, expected)
    assert alone.out and first != greedy


def test_reply_that_a_template_rewrites():
    """Reasoning is dropped from earlier replies: they are computed anew, and nothing before them."""
    text = prompt("hi")
    pieces = [b"<think>", b"long", b" thought", b"</think>", b"answer"]
    template = (b"{% for m in messages %}<|im_start|>{{ m.role }}\n"
                b"{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}<|im_start|>assistant{{ '\n' }}")
    model, options = scripted(text, pieces, template)
    result = succeed(model, "--chat", "--profile", *options, "-n", "30", stdin=b"hi\nand\nmore\n")
    got = turns(result)
    first = len(ids_of(text))
    new = len(ids_of("answer" + END + prompt("and")))
    assert got[0] == (first, 0, 5) and got[1][:2] == (new, first), got
    # the same with nothing that was rewritten keeps the reply
    plain, options = scripted(text, pieces)
    kept = turns(succeed(plain, "--chat", "--profile", *options, "-n", "30", stdin=b"hi\nand\n"))
    assert kept[1][:2] == (suffix("and"), first + 5), kept
    # later turns keep the answer as it was computed for this one
    assert got[2][1] >= first + new, got


def test_template_that_rewrites_all():
    """The number of messages stands first: everything is computed in every turn."""
    name = write("numbered", b"{{ messages | length }}{% for m in messages %}<|im_start|>{{ m.content }}"
                             b"{% endfor %}<|im_start|>")
    result = succeed(BASE, "--chat", "--template", name, "-n", "5", *OPTIONS, stdin=b"a\nb\n")
    assert [kept for _, kept, _ in turns(result)] == [0, 0], result


def test_stop_text_is_not_kept():
    """Tokens of a stop text do not stay in the session; what stands before it does."""
    pieces = [b"alpha", b"beta", b"ST", b"OP", b"gamma"]
    model, options = scripted(prompt("hi"), pieces)
    result = succeed(model, "--chat", "--profile", *options, "--stop", "STOP", "-n", "9",
                     stdin=b"hi\nand\n")
    assert result.out.startswith(b"alphabeta\n"), result
    assert turns(result)[1][:2] == (suffix("and"), len(ids_of(prompt("hi"))) + 2), turns(result)


def test_long_conversation():
    """Each of many turns computes its own few positions."""
    lines = b"".join(b"message %d\n" % (100 + i) for i in range(60))
    got = turns(succeed(BASE, "--chat", "-n", "3", *OPTIONS, stdin=lines))
    assert len(got) == 60 and len({computed for computed, _, _ in got[1:]}) == 1, got


# ---- lines and commands -------------------------------------------------------------------------


def test_continued_lines():
    options = ("-n", "8", *OPTIONS)
    for lines, message in ((b"a\\\nb\\\n\\\nc\n", "a\nb\n\nc"), (b"a\\\n", "a"), (b"a\\", "a"),
                           (b"//help\n", "/help"), (b"a /help\r\n", "a /help")):
        result = succeed(BASE, "--chat", *options, stdin=lines)
        assert result.out == succeed(BASE, "--chat", *options, "-i", message).out, (lines, result)
    # with escapes, two backslashes are one character
    result = succeed(BASE, "--chat", "-e", *options, stdin=b"a\\\\\nb\n")
    assert len(turns(result)) == 2, result


def test_commands():
    lines = b"/stats\none\n/stats\n/reset\ntwo\n/system Be brief.\n/help\n"
    result = succeed(BASE, "--chat", "--system", "You are kind.", "-n", "6", *OPTIONS, stdin=lines)
    err = result.err.decode()
    for wanted in ("context: 0 of 4096 positions, messages: 1,", "messages: 3,",
                   "note: the conversation begins anew", "note: the system message is set",
                   "/load FILE", "Ctrl-C"):
        assert wanted in err, (wanted, result)
    got = list(dict.fromkeys(turns(result)[1:]))
    # the system message was kept, and all that is the same behind it
    begin = len(ids_of("<|im_start|>system\nYou are kind.<|im_end|>\n<|im_start|>user\n"))
    assert got[-1][1] == begin, (got, begin)
    # a message is never a command where it is an argument
    assert succeed(BASE, "--chat", "/help", "-n", "5", *OPTIONS).out


def test_reset_is_a_new_beginning():
    """Also for the repetition penalty, which looks at what is in the session."""
    options = ("-n", "20", "--ignore-eos", "--repeat-penalty", "1.6", "--repeat-last-n", "400")
    fresh = succeed(BASE, "--chat", *options, stdin=b"two\n").out
    again = succeed(BASE, "--chat", *options, stdin=b"two two two\n/reset\ntwo\n").out
    assert again.endswith(fresh) and again != fresh, (again, fresh)
    # a turn that keeps the session's beginning
    system = ("--system", "a b c")
    fresh = succeed(BASE, "--chat", *options, *system, stdin=b"two\n").out
    again = succeed(BASE, "--chat", *options, *system, stdin=b"one\n/reset\ntwo\n").out
    assert again.endswith(fresh), (again, fresh)


def test_commands_that_fail():
    """From a pipe they end the conversation: what follows would be said to another one."""
    for line, wanted in ((b"/foo bar", b"error: '/foo' is no command; /help shows them"),
                         (b"/", b"'/' is no command"), (b"/save", b"/save needs the name of a file"),
                         (b"/load", b"/load needs the name of a file"),
                         (b"/load /no/such", b"error: /no/such: "),
                         (b"/save /no/such/file", b"error: /no/such/file: ")):
        result = run(BASE, "--chat", "-n", "4", *OPTIONS, stdin=line + b"\nhi\n")
        assert result.code == 1 and wanted in result.err and result.out == b"", result


def test_save_and_load():
    """A conversation goes on in another process, in this template or another one."""
    name = path("conversation.json")
    save = b"/save " + name.encode() + b"\n"
    lines = 'a "quoted" \\\nline\t\u00e9\U0001f999<|im_end|>\nsecond\n'.encode()
    succeed(BASE, "--chat", "--system", "Be \x01 brief.", "-n", "9", *OPTIONS, stdin=lines + save)
    with open(name, encoding="utf-8") as file:
        first = json.load(file)["messages"]
    assert [m["role"] for m in first] == ["system", "user", "assistant", "user", "assistant"], first
    assert first[0]["content"] == "Be \x01 brief."
    assert first[1]["content"] == 'a "quoted" \nline\t\u00e9\U0001f999<|im_end|>', first
    for template in ("auto", "llama3"):
        result = succeed(BASE, "--chat", template, "-n", "9", *OPTIONS,
                         stdin=b"/load " + name.encode() + b"\n" + save + b"third\n")
        assert b"note: the conversation has 5 messages now" in result.err, result
        with open(name, encoding="utf-8") as file:
            assert json.load(file)["messages"] == first
        assert turns(result)[0][1] == 0 and len(turns(result)) == 1, result
    assert not [f for f in os.listdir(os.path.dirname(name)) if f.startswith("conversation.json.")]


def test_files_that_cannot_be_loaded():
    nested = b'{"x": ' + b"[" * 100000 + b"]" * 100000 + b', "messages": []}'
    cases = [
        (b"", "is not an object"), (b"[]", "is not an object"), (b"\xff", "is not valid UTF-8"),
        (b"\x89PNG\r\n", "is not valid UTF-8"), (b"{", "without a name"),
        (b"{}", "messages is missing"), (b'{"messages": 3}', "messages is not an array"),
        (b'{"messages": [3]}', "messages[0] is not an object"),
        (b'{"messages": [{}]}', "messages[0].role is missing"),
        (b'{"messages": [{"role": "user"}]}', "messages[0].content is missing"),
        (b'{"messages": [{"role": "user", "content": "x"}, {"role": "king", "content": ""}]}',
         "messages[1].role is not system, user or assistant"),
        (b'{"messages": [{"role": "user", "content": null}]}', "messages[0].content is not a string"),
        (b'{"messages": [{"role": "user", "content": "\\q"}]}', "messages[0].content has an escape"),
        (b'{"messages": [{"role": "user", "content": "abc', "messages[0].content is a string that"),
        (b'{"messages": [{"role": "user", "content": "a\t"}]}', "or has a control character"),
        (b'{"messages": [{"role": "user", "content": "x"}', "messages is an array with neither"),
        (b'{"messages": []} x', "goes on behind its end"), (nested, "is nested too deeply"),
    ]
    for data, wanted in cases:
        name = write("bad.json", data)
        result = run(BASE, "--chat", "-n", "4", *OPTIONS, stdin=b"/load " + name.encode() + b"\nhi\n")
        assert result.code == 1 and result.out == b"", (data[:80], result)
        line = result.err.decode().splitlines()[0]
        assert line.startswith("error: " + name + ": ") and wanted in line, (data[:80], result)
    result = run(BASE, "--chat", "-n", "4", *OPTIONS, stdin=b"/load /dev/zero\nhi\n")
    assert result.code == 1 and b"/dev/zero: is larger than" in result.err, result
    good = write("good.json", b' {"x": {"y": [1, -2.5e3, true, null, "\\u00e9"]}, "messages": [{"content": '
                              b'"\\ud83e\\udd99\\ud800\\/", "name": [], "role": "user"}], "z": []}\n')
    result = succeed(BASE, "--chat", "-n", "4", *OPTIONS, stdin=b"/load " + good.encode() + b"\n/save " +
                     path("again.json").encode() + b"\n")
    with open(path("again.json"), encoding="utf-8") as file:
        assert json.load(file)["messages"] == [{"role": "user", "content": "\U0001f999\ufffd/"}]


def test_no_template_no_turn():
    """A template that fails on the second turn leaves the first reply printed."""
    name = change(BASE, path("once.gguf"), template=b"{% if messages | length > 1 %}"
                  b"{{ raise_exception('once') }}{% endif %}{{ messages[0].content }}")
    result = run(name, "--chat", "-n", "4", *OPTIONS, stdin=b"a\nb\n")
    assert result.code == 1 and b"TemplateError: once" in result.err and result.out.endswith(b"\n"), result


main(globals())
