"""A program on a terminal of its own."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

from harness import TIMEOUT, Skip, environment


class Terminal:
    def __init__(self, command, **variables):
        try:
            self.pid, self.file = pty.fork()
        except OSError as error:
            raise Skip("no terminals here: %s" % error) from error
        if self.pid == 0:
            os.execve(command[0], command, environment(**dict({"TERM": "xterm"}, **variables)))
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.seen = b""  # and not yet expected

    def send(self, data):
        os.write(self.file, data)

    def interrupt(self):
        """Ctrl-C without the terminal, which may throw away what is printed right after the key."""
        os.kill(self.pid, signal.SIGINT)

    def press_interrupt(self):
        """The key itself, and what shows that the program waits for a line again."""
        self.send(b"\x03")
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            time.sleep(0.2)
            self.send(b"/stats\n")
            if self.wait(b"turn: ", 2):
                break
        self.expect(b"turn: ")
        self.expect(b"> ")

    def wait(self, wanted, seconds):
        """Whether wanted comes in that time."""
        deadline = time.monotonic() + seconds
        while wanted not in self.seen and time.monotonic() < deadline:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.file, 65536)
                except OSError:
                    break
        return wanted in self.seen

    def expect(self, wanted):
        """Reads up to and with wanted; returns what came before it."""
        self.wait(wanted, TIMEOUT)
        before, found, self.seen = self.seen.partition(wanted)
        if not found:
            self.kill()
        assert found, (wanted, before[-500:])
        return before

    def say(self, line):
        """Types a line at the prompt, and waits until its end was echoed."""
        self.send(line + b"\n")
        self.expect(b"\r\n")

    def end(self):
        """What comes up to the program's end, and its exit code."""
        deadline = time.monotonic() + TIMEOUT
        rest = self.seen
        try:
            while time.monotonic() < deadline:
                if not select.select([self.file], [], [], 1)[0]:
                    continue
                piece = os.read(self.file, 65536)
                if not piece:
                    break
                rest += piece
            else:
                self.kill()
                raise AssertionError("the program goes on after: %r" % rest[-500:])
        except OSError:
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.file)
        return rest, os.waitstatus_to_exitcode(status)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)
