#!/usr/bin/env python3
"""A conversation on a terminal: Ctrl-C, reasoning dimmed, control characters, edited lines."""
import json
import os
import signal
import termios

from harness import EMULATED, WINDOWS, Skip, main, path, program, succeed
from scripted import BASE, DRAW, prompt, scripted
from terminal import Terminal

FOREVER = ("--ignore-eos", "--ctx", "4096", "-t", "1")


def start(model, *options, **variables):
    return Terminal([program("run"), model, "--chat", *options], **variables)


def finish(terminal):
    """Ctrl-D ends the conversation at the prompt; the statistics follow."""
    terminal.send(b"\x04")
    rest, code = terminal.end()
    assert code == 0 and b"positions: " in rest, (code, rest)
    return rest


def test_interrupted_reply_is_history():
    """Ctrl-C stops a reply, the conversation goes on with what was said of it."""
    terminal = start(BASE, *FOREVER, "-T", "50", "-p", "1")
    terminal.expect(b"> ")
    for _ in range(2):
        terminal.say(b"hello")
        terminal.expect(b"PAD")
        terminal.interrupt()
        terminal.expect(b"\r\n> ")
    name = path("stopped.json")
    terminal.say(b"/save " + name.encode())
    terminal.expect(b"4 messages")
    terminal.expect(b"> ")
    finish(terminal)
    with open(name, encoding="utf-8") as file:
        messages = json.load(file)["messages"]
    assert all("PAD" in m["content"] for m in messages[1::2]), messages


def test_interrupt_at_the_prompt():
    for variables in ({}, {"TERM": "dumb"}):
        terminal = start(BASE, **variables)
        terminal.expect(b"> ")
        terminal.interrupt()
        rest, code = terminal.end()
        assert code == 0 and b"positions: " in rest, (code, rest)
        terminal = start(BASE, **variables)
        terminal.expect(b"> ")
        terminal.send(b"\x03")
        assert terminal.end()[1] == 0


def test_thinking_is_dimmed():
    model, options = scripted(prompt("hi"), [b"<think>", b"secret", b"</think>", b"plain"])
    for more, expected in (((), b"\x1b[2m<think>secret</think>\x1b[0mplain\r\n"),
                           (("--hide-thinking",), b"plain\r\n")):
        terminal = start(model, *options, *more)
        terminal.expect(b"> ")
        terminal.say(b"hi")
        assert terminal.expect(b"> ") == expected, more
        finish(terminal)
    # the end of a reply ends the dimming, too
    model, options = scripted(prompt("hi"), [b"<think>", b"secret"])
    terminal = start(model, *options)
    terminal.expect(b"> ")
    terminal.say(b"hi")
    assert terminal.expect(b"> ") == b"\x1b[2m<think>secret\x1b[0m\r\n"
    finish(terminal)


def test_control_characters_are_shown():
    """A model cannot send escape sequences to the terminal; to a pipe bytes go as they are."""
    pieces = [b"a\x1b[2J", b"\x07\r\x7f\t", b"\xc2", b"\x9b31m", b"\n\xc3\xa9"]
    model, options = scripted(prompt("hi"), pieces)
    shown = b"a\\x1b[2J\\x07\\x0d\\x7f\t\\xc2\\x9b31m\r\n\xc3\xa9\r\n"
    terminal = start(model, *options)
    terminal.expect(b"> ")
    terminal.say(b"hi")
    assert terminal.expect(b"> ") == shown
    finish(terminal)
    terminal = Terminal([program("run"), model, "-i", prompt("hi"), "--no-echo", *options])
    rest, code = terminal.end()
    assert code == 0 and rest.startswith(shown), rest
    assert succeed(model, "--chat", "hi", *options).out == b"".join(pieces) + b"\n"


def test_refused_turns():
    """What is refused is told, and the conversation goes on as if it had not been said."""
    with open(path("picky"), "w", encoding="utf-8") as file:
        file.write("{% if messages[-1].content == 'bad' %}{{ raise_exception('no') }}{% endif %}"
                   "{% for m in messages %}{{ m.content }}{% endfor %}|")
    terminal = start(BASE, "--template", path("picky"), "-n", "3", "--ctx", "200", *DRAW)
    name = path("kept.json")
    terminal.expect(b"> ")
    for line, wanted in ((b"good", b"\r"), (b"bad", b"TemplateError: no"), (b"x" * 300, b"/reset forgets"),
                         (b"/foo", b"is no command"), (b"/load /no/such", b"/no/such: "),
                         (b"/save " + name.encode(), b"2 messages")):
        terminal.say(line)
        terminal.expect(wanted)
        terminal.expect(b"\n> ")
    terminal.say(b"/reset")
    terminal.expect(b"anew\r\n> ")
    finish(terminal)
    with open(name, encoding="utf-8") as file:
        assert json.load(file)["messages"][0] == {"role": "user", "content": "good"}


def test_full_context():
    terminal = start(BASE, "--ignore-eos", "--ctx", "60", *DRAW)
    terminal.expect(b"> ")
    terminal.say(b"hi")
    terminal.expect(b"note: the context of 60 positions is full; /reset forgets the conversation; --ctx")
    terminal.expect(b"\r\n> ")
    terminal.say(b"more")
    terminal.expect(b"does not fit in the context of 60 positions; /reset forgets it; --ctx")
    terminal.expect(b"\r\n> ")
    terminal.say(b"/reset")
    terminal.expect(b"\r\n> ")
    terminal.say(b"hi")
    terminal.expect(b"is full")
    terminal.expect(b"\r\n> ")
    finish(terminal)


def messages_of(terminal, name):
    terminal.say(b"/save " + path(name).encode())
    terminal.expect(b"messages are in")
    terminal.expect(b"> ")
    with open(path(name), encoding="utf-8") as file:
        return [m["content"] for m in json.load(file)["messages"] if m["role"] == "user"]


def test_lines_are_edited():
    """With the library: the cursor, history, and characters of several bytes, in any locale."""
    for variables in ({}, {"LC_ALL": "C"}, {"TERM": "dumb"}):
        terminal = start(BASE, "-n", "2", *DRAW, **variables)
        terminal.expect(b"> ")
        editor = "TERM" not in variables
        terminal.say("h\u00e9l\u013ax\x7flo \U0001f999\\".encode())
        terminal.expect(b". ")
        terminal.say(b"second")
        terminal.expect(b"\r\n> ")
        terminal.say(b"/stats")
        terminal.expect(b"turn: ")
        terminal.expect(b"\r\n> ")
        if editor:
            # the line before /stats, but for its last character; then from the front
            terminal.send(b"\x1b[A\x1b[A\x7f\x01X")
        terminal.say(b"third")
        terminal.expect(b"\r\n> ")
        got = messages_of(terminal, "edited.json")
        finish(terminal)
        if editor and got[1] == "third":
            raise Skip("this build has no line editor")
        second = "Xthirdsecon" if editor else "third"
        assert got == ["h\u00e9l\u013alo \U0001f999\nsecond", second], got


def test_stopped_and_resumed():
    """Ctrl-Z and fg: the shell leaves the terminal as it likes it, and lines are edited all the same."""
    terminal = start(BASE, "-n", "2", *DRAW)
    terminal.expect(b"> ")
    os.kill(terminal.pid, signal.SIGSTOP)
    mode = termios.tcgetattr(terminal.file)
    if not mode[3] & termios.ICANON:
        mode[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(terminal.file, termios.TCSANOW, mode)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.expect(b"> ")  # it is shown again
        assert not termios.tcgetattr(terminal.file)[3] & termios.ICANON
        terminal.send(b"ello\x01h")
    else:
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.send(b"hello")
    terminal.say(b"")
    terminal.expect(b"> ")
    assert messages_of(terminal, "resumed.json") == ["hello"]
    finish(terminal)


def test_nobody_is_asked_in_a_pipe():
    """No prompt, no editing, no dimming."""
    model, options = scripted(prompt("hi"), [b"<think>", b"x", b"</think>", b"y"])
    result = succeed(model, "--chat", *options, stdin=b"hi\n")
    assert result.out == b"<think>x</think>y\n" and b"> " not in result.err, result


if EMULATED or WINDOWS:
    print("1..0 # SKIP signals and terminals are another machine's here")
else:
    main(globals())
