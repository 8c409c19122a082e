"""Random templates and the literal ones of the unit tests, through jinja2 and the interpreter. TAP.

template_property.py TEMPLATE_RENDER CASES [SEED [COUNT]]. Needs jinja2 3.1.6, which is fetched by pip
where it is missing."""
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from template_program import Renderer
from templates import CHAT

VERSION = '3.1.6'


def load_reference():
    """The module, or None and why."""
    try:
        import jinja2
        present = jinja2.__version__ == VERSION
    except ImportError:
        present = False
    if not present:
        folder = tempfile.mkdtemp()
        done = subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--target', folder,
                               f'jinja2=={VERSION}'], capture_output=True, text=True)
        if done.returncode:
            return None, f'no jinja2 {VERSION}'
        environment = dict(os.environ, PYTHONPATH=folder + ':' + os.environ.get('PYTHONPATH', ''))
        sys.exit(subprocess.run([sys.executable] + sys.argv, env=environment).returncode)
    warnings.simplefilter('ignore')  # of templates that Python finds odd
    import template_reference
    return template_reference, ''

VARIABLES = {
    's': 'hello World', 'e': '', 'u': 'Ünïcödé 漢字 🙂 ß', 'w': '  pad\n\tded  ', 'h': '<a> & "b"',
    'n': 7, 'z': 0, 'm': -3, 'big': 12345678901234567890, 'f': 2.5, 'g': -0.1, 't': True, 'no': None,
    'l': [3, 1, 2], 'ls': ['b', 'A', 'c', 'a'], 'lm': [1, 'x', None, [2]], 'el': [],
    'd': {'a': 1, 'B': 'two', 'c': [1, 2]}, 'ed': {},
    'rows': [{'k': 'x', 'v': 2}, {'k': 'y', 'v': 1}, {'k': 'x', 'v': None}, {'k': 'Z'}],
}
TEXTS = ["''", "'a'", "'l'", "'o W'", "' '", "'\\n'", "','", "'é'", "'x'", "'%s'", '"it\'s"', "'ß'"]
INTS = ['0', '1', '2', '-1', '3', '7', '100']
FILTERS = ['upper', 'lower', 'trim', 'title', 'capitalize', 'length', 'string', 'list', 'first', 'last',
           'int', 'float', 'abs', 'round', 'sort', 'unique | list', 'reverse | list', 'join', 'items | list',
           'dictsort', 'tojson', 'default', 'safe', 'escape', 'sum', 'min', 'max', 'wordcount', 'count',
           'select | list', 'reject | list', 'indent', 'urlencode', 'batch(2) | list', 'slice(2) | list',
           "join(', ')", "replace('l', 'L')", 'tojson(indent=2)', "default('d', true)", 'round(1)',
           "map('upper') | list", "map('string') | list", "selectattr('v') | list",
           "rejectattr('k', 'equalto', 'x') | list", "map(attribute='k') | join('-')",
           "selectattr('v', 'defined') | list", "sort(attribute='k')", "sort(reverse=true)",
           "unique(attribute='k') | list", "groupby('k')", 'center(9)', 'truncate(6)', "indent(2, true)",
           "trim('h ')", 'int(5)', 'float(1.5)', "map('length') | list", "select('string') | list",
           "select('in', [1, 2, 'a']) | list", 'd(1)', "map(attribute='v', default=0) | list", 'e',
           "dictsort(by='value')", "dictsort(reverse=true)", "round(0, 'floor')", "format(1)",
           'forceescape', "attr('k')", "sum(attribute='v')", "max(attribute='k')", 'count']
TESTS = ['defined', 'undefined', 'none', 'string', 'mapping', 'iterable', 'sequence', 'number', 'boolean',
         'integer', 'float', 'true', 'false', 'odd', 'even', 'lower', 'upper', 'in l', 'in s', 'eq 7',
         'divisibleby 3', 'ne s', 'gt 2', 'sameas none', 'callable', 'escaped', 'in [1, s]', 'equalto s']
METHODS = ['strip()', 'lstrip()', 'rstrip()', 'upper()', 'lower()', 'title()', 'capitalize()', 'split()',
           "split('l')", "split(' ', 1)", "rsplit('o', 1)", "startswith('h')", "endswith('d')",
           "replace('l', 'L')", "replace('l', '', 1)", "find('o')", "count('l')", 'splitlines()',
           "strip('h ')", "partition('o')", "get('a')", "get('q', 5)", 'items() | list', 'keys() | list',
           'values() | list', 'isdigit()', 'isalpha()', 'islower()', "join(ls)", 'swapcase()', 'copy()',
           "index('o')", "removeprefix('he')", 'zfill(9)', "rjust(8, '.')", 'istitle()', 'isspace()',
           "count(1)", "format(n, s)", "rpartition('l')", "append(1)", "pop()", 'expandtabs()', "center(20)"]
OPERATORS = ['+', '-', '*', '/', '//', '%', '**', '~', '==', '!=', '<', '<=', '>', '>=', 'in', 'not in',
             'and', 'or']


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, options):
        return self.random.choice(options)

    def atom(self):
        kind = self.random.randrange(11)
        if kind == 10:
            return self.slice()
        if kind < 5:
            return self.pick(list(VARIABLES) + ['nope', 'messages', 'loop'])
        if kind == 5:
            return self.pick(INTS)
        if kind == 6:
            return self.pick(['0.5', '1e3', '2.0', '1e-7'])
        if kind == 7:
            return self.pick(['true', 'false', 'none', '[]', '{}', 'range(4)', "namespace(a=1)"])
        return self.pick(TEXTS)

    def subscript(self):
        return self.pick(['[0]', '[-1]', "['a']", "['k']", '.a', '.k', '[n]', '.role', '[0].role', '.0',
                          '[s]', '[z:]', '[:n]', '[::m]', '[m::f]'])

    def slice(self):
        """Of a variable: jinja2 computes what is constant by other rules."""
        return self.pick(list(VARIABLES)) + self.pick(
            ['[1:]', '[:2]', '[::-1]', '[::2]', '[-2:]', '[1:3]', '[5:1:-2]', '[:-1]', '[-3:-1]'])

    def expression(self, depth):
        if depth == 0:
            return self.atom()
        kind = self.random.randrange(14)
        inner = self.expression(depth - 1)
        if kind < 3:
            return f'{inner} | {self.pick(FILTERS)}'
        if kind < 5:
            return f'({inner}).{self.pick(METHODS)}'
        if kind < 7:
            return f'({inner}){self.subscript()}'
        if kind == 7:
            return f'(({inner}) is {self.pick(["", "not "])}{self.pick(TESTS)})'
        if kind == 8:
            return f'({inner} if {self.expression(depth - 1)} else {self.expression(depth - 1)})'
        if kind == 9:
            return f'[{inner}, {self.expression(depth - 1)}]'
        if kind == 10:
            return f"{{'k': {inner}, {self.atom()}: {self.expression(depth - 1)}}}"
        if kind == 11:
            return f'{self.pick(["not ", "-", "+"])}{inner}'
        left = f'({inner})' if self.random.random() < 0.5 else inner
        return f'{left} {self.pick(OPERATORS)} {self.expression(depth - 1)}'

    def text(self):
        return ''.join(self.pick(['a', ' ', '\n', '  ', '\t', '\n\n', 'é', ' { ', '%', '}', '<|x|>', '\u00a0'])
                       for _ in range(self.random.randrange(5)))

    def tag(self, inside):
        left, right = self.pick(['', '', '-', '+']), self.pick(['', '', '-', '+'])
        return f'{{%{left} {inside} {right}%}}'

    def output(self):
        left, right = self.pick(['', '', '-']), self.pick(['', '', '-'])
        return f'{{{{{left} {self.expression(self.random.randrange(4))} {right}}}}}'

    def body(self, depth):
        return ''.join(self.statement(depth) for _ in range(self.random.randrange(1, 4)))

    def loop(self, depth):
        target = self.pick(['i', 'i', 'k, v'])
        of = self.pick(['l', 'ls', 'rows', 'd', 'd.items()', 's', 'range(3)', 'messages', 'el', 'u', 'nope',
                        'rows | groupby("k")', 'd | dictsort', self.expression(1)])
        condition = self.pick(['', '', '', ' if i', ' if (loop is defined)', ' if i != 1'])
        inner = self.body(depth) + self.pick(['', '{{ loop.index }}', '{{ loop.last }}', '{{ i }}',
                                              '{{ loop.length }}', '{{ loop.previtem }}',
                                              '{% if loop.index > 1 %}{% break %}{% endif %}',
                                              '{% if i %}{% continue %}{% endif %}', '{{ loop.cycle(1, s) }}'])
        other = self.tag('else') + self.body(depth) if self.random.random() < 0.3 else ''
        return self.tag(f'for {target} in {of}{condition}') + inner + other + self.tag('endfor')

    def statement(self, depth):
        kind = self.random.randrange(12 if depth else 5)
        if kind < 2:
            return self.text() + self.output()
        if kind == 2:
            return self.text()
        if kind == 3:
            return self.pick(['{# c #}', '{#- c -#}', '{# c +#}\n', '  {# c #}\n'])
        if kind == 4:
            name = self.pick(['x', 'y', 'ns.a', 'x, y'])
            return self.tag(f'set {name} = {self.expression(2)}')
        body = self.body(depth - 1)
        if kind < 7:
            middle = self.tag(f'elif {self.expression(1)}') + self.body(depth - 1) \
                if self.random.random() < 0.3 else ''
            other = self.tag('else') + self.body(depth - 1) if self.random.random() < 0.5 else ''
            return self.tag(f'if {self.expression(2)}') + body + middle + other + self.tag('endif')
        if kind < 9:
            return self.loop(depth - 1)
        if kind == 9:
            return self.tag(self.pick(['set x', 'set x | upper'])) + body + self.tag('endset') + '{{ x }}'
        if kind == 10:
            return self.tag('macro q(a, b=s)') + body + '{{ a }}{{ b }}' + self.tag('endmacro') + \
                self.pick(['{{ q() }}', '{{ q(1) }}', '{{ q(n, b=2) }}', '{{ q(b=q(1)) }}'])
        return self.pick([self.tag('filter upper') + body + self.tag('endfilter'),
                          self.tag('generation') + body + self.tag('endgeneration'),
                          self.tag('with x = n') + body + self.tag('endwith'),
                          self.pick(['{% raw %}', '{%- raw -%}', '  {% raw %}\n']) + '{{ x }}\n ' + self.tag('endraw')])

    def template(self):
        start = '{% set ns = namespace(a=0) %}' if self.random.random() < 0.5 else ''
        return start + self.body(3)


def printable(text):
    """Whether it shows nothing that only Python has: addresses, classes of its own."""
    return not any(word in text for word in (' at 0x', '<function', '<class', '<built-in', '<bound method',
                                             'object>', 'missing', '<reversed', '<generator'))


def differences(reference, renderer, templates, chats):
    for template, chat in zip(templates, chats):
        wanted, text = reference.render(template, chat)
        renderer.template(template)
        ok, got = renderer.render(chat)
        if (wanted != ok or wanted and text != got) and printable(text) and printable(got):
            yield f'{template!r}\n  jinja2: {text!r}\n  here:   {got!r}'


def main():
    program, path = sys.argv[1:3]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 20000
    module, missing = load_reference()
    if module is None:
        print(f'1..0 # SKIP {missing}')
        print(f'skipped: {missing}', file=sys.stderr)
        return
    print('1..2', flush=True)
    reference, renderer = module.Reference(), Renderer(program)
    with open(path, encoding='utf-8') as f:
        cases = [json.loads(line) for line in f]
    generator = Generator(seed)
    runs = [('literal templates', [c['template'] for c in cases],
             [dict(CHAT, **{k: c[k] for k in ('messages', 'kwargs', 'now') if k in c}) for c in cases]),
            (f'{count} random templates, seed {seed}', [generator.template() for _ in range(count)],
             [dict(CHAT, kwargs=VARIABLES)] * count)]
    for number, (name, templates, chats) in enumerate(runs, 1):
        faults = list(differences(reference, renderer, templates, chats))
        for fault in faults[:20]:
            print(fault, file=sys.stderr)
        print(f'{"not ok" if faults else "ok"} {number} {name}: {len(faults)} differences', flush=True)
    if renderer.close() != 0:
        sys.exit('template_render failed')


if __name__ == '__main__':
    main()
