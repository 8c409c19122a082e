"""Chat templates: small ones with the texts that they give, and hostile ones with their bounds. TAP.

templates.py TEMPLATE_RENDER CASES. A line of CASES is a JSON object: "rule" (what it is about),
"template", perhaps "messages", "kwargs" and "now", and either "text" or "error": true, or all of the
message when the template raises it."""
import json
import sys

from template_program import Renderer

MESSAGES = [{'role': 'user', 'content': 'Hi'}, {'role': 'assistant', 'content': 'Hello'},
            {'role': 'user', 'content': 'Bye'}]
CHAT = {'messages': MESSAGES, 'eos_token': '</s>', 'now': '2026-01-15T12:34:56'}


def check_rule(renderer, cases):
    """A line for each case that differs."""
    for case in cases:
        chat = dict(CHAT, **{k: case[k] for k in ('messages', 'kwargs', 'now') if k in case})
        renderer.template(case['template'])
        ok, text = renderer.render(chat)
        wanted = case.get('text', case.get('error'))
        if ok != ('text' in case) or wanted not in (True, text.replace('\\x0a', '\n')):
            yield f'{case["template"]!r}: {text!r}, not {wanted!r}'


# Each must end soon, with an error or with a text; the word must be in the message.
HOSTILE = {
    'endless macro': ('{% macro x() %}{{ x() }}{% endmacro %}{{ x() }}', 'nested'),
    'mutual macros': ('{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}'
                      '{{ a() }}', 'nested'),
    'caller of itself': ('{% macro m() %}{{ caller() }}{% call m() %}{% endcall %}{% endmacro %}'
                         '{% call m() %}{% endcall %}', 'nested'),
    'large range': ('{% for i in range(1000000000) %}x{% endfor %}', 'Range too big'),
    'nested ranges': ('{% for i in range(30000) %}{% for j in range(30000) %}x{% endfor %}'
                      '{% endfor %}', 'steps'),
    'empty loops': ('{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}',
                    'steps'),
    'long string': ("{{ 'A' * 1000000000 }}", 'MemoryError'),
    'longer string': ("{{ 'AB' * 9223372036854775807 }}", 'MemoryError'),
    'long list': ('{{ [1] * 1000000000 }}', 'MemoryError'),
    'list of lists': ('{% set ns = namespace(x=[1]) %}{% for i in range(99) %}'
                      '{% set ns.x = ns.x + ns.x %}{% endfor %}', 'MemoryError'),
    'doubling': ("{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}"
                 '{% endfor %}', 'MemoryError'),
    'join bomb': ("{{ range(30000) | join('x' * 30000) }}", 'MemoryError'),
    'replace bomb': ("{{ ('a' * 99999) | replace('a', 'b' * 99999) }}", 'MemoryError'),
    'center bomb': ("{{ 'a'.center(999999999) }}", 'Error'),
    'format bomb': ("{{ '%999999999d' % 1 }}", 'ValueError'),
    'format precision': ("{{ '%.999999999f' % 1 }}", 'precision'),
    'indent bomb': ("{{ ('a\\n' * 99999) | indent(99999) }}", 'MemoryError'),
    'json indent bomb': ('{{ [[[[1]]]] | tojson(indent=999999999) }}', 'MemoryError'),
    'output bomb': ("{% set x = 'x' * 1000000 %}{% for i in range(999) %}{{ x }}{% endfor %}",
                    'MemoryError'),
    'huge power': ('{{ 10 ** 1000000 }}', 'OverflowError'),
    'huge power of a huge power': ('{{ 7 ** (7 ** 70) }}', 'OverflowError'),
    'products': ('{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}'
                 '{% endfor %}', 'OverflowError'),
    'slow powers': ('{% for i in range(99999) %}{% set x = 3 ** 9000 %}{% endfor %}', 'steps'),
    'slow divisions': ('{% set a = 3 ** 9000 %}{% set b = 7 ** 2000 %}{% for i in range(99999) %}'
                       '{% set x = a // b %}{% endfor %}', 'steps'),
    'slow numbers': ("{% set a = '9' * 4000 %}{% for i in range(99999) %}{% set x = a | int %}"
                     '{% endfor %}', 'steps'),
    'slow floats': ("{% set a = ('9' * 800 ~ 'e-900') %}{% for i in range(99999) %}"
                    '{% set x = a | float %}{% endfor %}', 'steps'),
    'slow search': ("{% set a = 'a' * 100000 %}{% set b = 'a' * 50000 ~ 'b' %}"
                    '{% for i in range(99999) %}{% set x = b in a %}{% endfor %}', 'steps'),
    'slow strip': ("{% set a = 'a' * 100000 %}{% set b = 'b' * 50000 ~ 'a' %}{{ a.strip(b) }}",
                   'steps'),
    'slow indexing': ("{% set a = 'é' * 100000 %}{% for i in range(99999) %}{% set x = a[99999] %}"
                      '{% endfor %}', 'steps'),
    'slow comparison': ('{% set a = [0] * 9999 %}{% set b = [0] * 9999 %}{% for i in range(99999) %}'
                        '{% set x = a == b %}{% endfor %}', 'steps'),
    'slow sort': ('{% for i in range(99999) %}{% set x = range(9999) | sort %}{% endfor %}', 'Error'),
    'slow case': ("{% set a = 'aΣ' * 20000 %}{% for i in range(9999) %}{% set x = a.lower() %}"
                  '{% endfor %}', 'Error'),
    'sigmas': ("{% set a = 'a' ~ '\u0301Σ\u0301' * 9999 %}{{ a.lower() | length }}", None),
    'namespace in itself': ('{% set n = namespace() %}{% set n.a = n %}{{ n }}', 'nested'),
    'namespace compared': ('{% set n = namespace() %}{% set n.a = [n] %}{{ n.a == [n] }}', None),
    'cyclic list': ('{% set x = [] %}{% set _ = x.append(x) %}{{ x }}', 'unsafe'),
    'nested lists': ('{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}'
                     '{% endfor %}{{ ns.x }}', 'nested'),
    'nested lists as JSON': ('{% set ns = namespace(x=[]) %}{% for i in range(9999) %}'
                             '{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}', 'nested'),
    'nested lists compared': ('{% set ns = namespace(x=[], y=[]) %}{% for i in range(9999) %}'
                              '{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}'
                              '{{ ns.x == ns.y }}', 'nested'),
    'nested tuples as keys': ('{% set ns = namespace(x=()) %}{% for i in range(9999) %}'
                              '{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}', 'nested'),
    'exponential sharing': ('{% set ns = namespace(x=[1]) %}{% for i in range(60) %}'
                            '{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}', 'Error'),
    'recursive loop': ('{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}', 'nested'),
    'parentheses': ('{{ ' + '(' * 9000 + '1' + ')' * 9000 + ' }}', 'nested'),
    'brackets': ('{{ ' + '[' * 9000 + ']' * 9000 + ' }}', 'nested'),
    'not': ('{{ ' + 'not ' * 9000 + '1 }}', 'nested'),
    'minus': ('{{ ' + '- ' * 9000 + '1 }}', 'nested'),
    'ifs': ('{% if 1 %}' * 1000 + '{% endif %}' * 1000, 'nested'),
    'fors': ('{% for i in [1] %}' * 1000 + '{% endfor %}' * 1000, 'nested'),
    'attributes': ('{{ a' + '.b' * 9000 + ' }}', 'nested'),
    'filters': ('{{ 1' + ' | string' * 9000 + ' }}', 'nested'),
    'sum of many': ('{{ 1' + ' + 1' * 9000 + ' }}', 'operators'),
    'or of many': ('{{ 1' + ' or 1' * 9000 + ' }}', 'operators'),
    'else of many': ('{{ 1' + ' if 0 else 1' * 9000 + ' }}', 'nested'),
    'tildes': ('{{ 1' + ' ~ 1' * 9000 + ' }}', None),
    'elifs': ('{% if 0 %}' + '{% elif 0 %}' * 9000 + '{% endif %}', None),
    'many names': (''.join(f'{{% set a{i} = {i} %}}' for i in range(20000)), None),
    'many local names': ('{% for i in range(50) %}' +
                         ''.join(f'{{% set a{i} = {i} %}}' for i in range(20000)) + '{% endfor %}',
                         'steps'),
    'large template': ('{{1}}' * 209715, 'MemoryError'),
    'too large template': (' ' * (2 << 20), '1 MiB'),
    'open tags': ('{%' * 100000, 'Error'),
    'open comments': ('{# ' * 100000, 'comment'),
    'raw begins': ('{% raw %}' + '{% endraw' * 20000, 'raw'),
    'not UTF-8': (b'\xff\xfe{{ messages }}', 'UTF-8'),
    'NUL': (b'a\0{{ 1 }}', None),
    'division by zero': ('{{ 1 // 0 }}{{ 1 % 0 }}', 'ZeroDivisionError'),
    'INT64_MIN // -1': ('{{ (-9223372036854775807 - 1) // -1 }}', None),
    'slice step 0': ('{{ messages[::0] }}', 'ValueError'),
    'attribute walk': ("{{ ''.__class__.__mro__[1].__subclasses__() }}", 'SecurityError'),
    'include': ("{% include '/etc/passwd' %}", 'include'),
}


def check_hostile(renderer, source, word):
    renderer.template(source)
    ok, text = renderer.render(CHAT)
    if ok != (word is None) or (word and word not in text):
        yield f'gave {ok}, {text[:200]!r}, not {word!r}'


def bad_chats():
    """Chats that are refused, with a word of the message."""
    yield '{"messages": []}', 'at least one'
    yield '{}', 'messages'
    yield '[]', 'object'
    yield '', 'JSON'
    yield '{"messages": [1]}', 'object'
    yield '{"messages": [{}]', 'JSON'
    yield '{"messages": [{}]} x', 'JSON'
    yield '{"messages": [{}], "tools": 5}', 'tools'
    yield '{"messages": [{}], "tools": [5]}', 'tools'
    yield '{"messages": [{}], "documents": {}}', 'documents'
    yield '{"messages": [{}], "kwargs": []}', 'kwargs'
    yield '{"messages": [{}], "now": 5}', 'now'
    yield '{"messages": [{"a": 01}]}', 'number'
    yield '{"messages": [{"a": 1.}]}', 'number'
    yield '{"messages": [{"a": .5}]}', 'value'
    yield '{"messages": [{"a": "\\q"}]}', 'escape'
    yield '{"messages": [{"a": "\\u12"}]}', 'escape'
    yield '{"messages": [{"a": "\n"}]}', 'control'
    yield '{"messages": [{"a": "x}]}', 'end'
    yield '{"messages": [{"a" 1}]}', "':'"
    yield '{"messages": [{a: 1}]}', 'name'
    yield '{"messages": [{"a": 1,}]}', 'name'
    yield '{"messages": ' + '[' * 100000, 'nested'
    yield '{"messages": [{"a": ' + '9' * 5000 + '}]}', 'digits'


def check_bad_chats(renderer):
    renderer.template('x')
    for chat, word in bad_chats():
        ok, text = renderer.render(chat)
        if ok or word not in text:
            yield f'{chat[:60]}: {text[:100]!r}, without {word!r}'


SYSTEM = [{'role': 'system', 'content': 'S'}]
TURNS = [{'role': 'user', 'content': 'U'},
         {'role': 'assistant', 'content': '<think>\nt\n</think>\n\nA'}, {'role': 'user', 'content': 'V'}]


def chatml(*turns, end=''):
    return ''.join(f'<|im_start|>{role}\n{text}<|im_end|>\n' for role, text in turns) + \
        '<|im_start|>assistant\n' + end


def llama3(*turns):
    return '<s>' + ''.join(f'<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>'
                           for role, text in turns) + \
        '<|start_header_id|>assistant<|end_header_id|>\n\n'


ALL = [('user', 'U'), ('assistant', TURNS[1]['content']), ('user', 'V')]
SHORT = [('user', 'U'), ('assistant', 'A'), ('user', 'V')]
THINK = TURNS[1]['content']
# By name: the text with a system message, and the text without.
NAMED = {
    'llama3': (llama3(('system', 'S'), *ALL), llama3(*ALL)),
    'zephyr': (f'<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\n{THINK}</s>\n<|user|>\nV</s>\n'
               '<|assistant|>\n',
               f'<|user|>\nU</s>\n<|assistant|>\n{THINK}</s>\n<|user|>\nV</s>\n<|assistant|>\n'),
    'llama2': (f'<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] {THINK} </s><s>[INST] V [/INST]',
               f'<s>[INST] U [/INST] {THINK} </s><s>[INST] V [/INST]'),
    'qwen': (chatml(('system', 'S'), *ALL), chatml(
        ('system', 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.'), *ALL)),
    'smollm': (chatml(('system', 'S'), *ALL), chatml(
        ('system', 'You are a helpful AI assistant named SmolLM, trained by Hugging Face'), *ALL)),
    'chatml': (chatml(('system', 'S'), *ALL), chatml(*ALL)),
    'gemma': ('<s><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\n'
              f'{THINK}<end_of_turn>\n<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n',
              '<s><start_of_turn>user\nU<end_of_turn>\n<start_of_turn>model\n'
              f'{THINK}<end_of_turn>\n<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n'),
    'qwen3.5': (chatml(('system', 'S'), *SHORT, end='<think>\n'), chatml(*SHORT, end='<think>\n')),
    'qwen3.5-nothink': (chatml(('system', 'S'), *SHORT, end='<think>\n\n</think>\n\n'),
                        chatml(*SHORT, end='<think>\n\n</think>\n\n')),
}


def check_named(renderer, name):
    renderer.named(name)
    for messages, wanted in zip((SYSTEM + TURNS, TURNS), NAMED[name]):
        chat = {'messages': messages, 'bos_token': '<s>', 'eos_token': '</s>',
                'add_generation_prompt': True}
        ok, text = renderer.render(chat)
        if not ok or text != wanted:
            yield f'{text!r}, not {wanted!r}'


def main():
    program, path = sys.argv[1:]
    rules = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            case = json.loads(line)
            rules.setdefault(case['rule'], []).append(case)
    tests = [(rule, check_rule, cases) for rule, cases in rules.items()]
    tests += [('hostile: ' + name, check_hostile, *case) for name, case in HOSTILE.items()]
    tests += [('named: ' + name, check_named, name) for name in NAMED]
    tests += [('bad chats', check_bad_chats)]
    print(f'1..{len(tests)}')
    renderer = Renderer(program)
    for number, (name, check, *arguments) in enumerate(tests, 1):
        faults = list(check(renderer, *arguments))
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f'{"not ok" if faults else "ok"} {number} {name}', flush=True)
    if renderer.close() != 0:
        sys.exit('template_render failed')


if __name__ == '__main__':
    main()
