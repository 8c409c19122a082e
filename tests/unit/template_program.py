"""Talks to the program template_render."""
import json
import subprocess


class Renderer:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, letter, data):
        self.process.stdin.write(b'%s %d\n' % (letter, len(data)) + data)

    def template(self, source):
        self.send(b'T', source.encode() if isinstance(source, str) else source)

    def named(self, name):
        self.send(b'N', name.encode())

    def render(self, chat):
        """(True, text) or (False, message); chat is an object or a JSON text."""
        text = chat if isinstance(chat, str) else json.dumps(chat)
        self.send(b'C', text.encode())
        self.process.stdin.flush()
        letter, n = self.process.stdout.readline().split()
        data = self.process.stdout.read(int(n))
        if len(data) != int(n):
            raise EOFError('template_render ended')
        return letter == b'O', data.decode()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()
