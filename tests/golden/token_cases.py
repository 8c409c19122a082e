"""Texts that tokenizers of other programs got wrong, by the numbers of the collection of such cases:
the ids of the package tokenizers 0.23.3, and the same text back. TAP.

token_cases.py KRAFLA_TOK token_cases.json. With --make PYTHON-WITH-TOKENIZERS the second is written.
C10, of bytes that are not UTF-8, is tests/unit/stream_decoder.c and normalization.c; C57 and C58, of
templates, are tests/unit/template_cases.jsonl and templates.py."""
import json
import lzma
import os
import subprocess
import sys
import tempfile
import unicodedata

NAMES = ['deepseek_v3', 'deepseek_v4', 'gpt2', 'gpt4o', 'gptoss', 'mistral_v1', 'mistral_v3', 'qwen3', 'qwen3_5',
         'smollm2', 'tekken']
CAFE = unicodedata.normalize('NFC', 'Hello world! Café déjà vu — 123 \U0001f60a')
IDS = {'C01': CAFE, 'C01, NFD': unicodedata.normalize('NFD', CAFE), 'C03': 'Hello:World',
       'C03, control': '<pad>text<eos>', 'C04': 'This is \U0001f999.cpp', 'C09': 'hello !',
       'C07': 'x   y     z'}
ROUND = {'C01': [CAFE], 'C03': ['Hello:World', '<pad>text<eos>'], 'C04': [IDS['C04']],
         'C06': ['x' + '\n' * 5000, '\n' * 3000 + 'x', '\r\n' * 3000], 'C09': ['hello !', "I 'm , you ?"],
         'C07': ['x' + ' ' * n + 'y' for n in range(1, 201)] + ['x' + ' ' * n for n in range(1, 201)]}
MAKE = '''
import json, sys
from tokenizers import Tokenizer
t = Tokenizer.from_file(sys.argv[1])
print(json.dumps([t.encode(s, add_special_tokens=False).ids for s in json.load(sys.stdin)]))
'''


def unpack(shared, name, where):
    path = os.path.join(where, name + '.json')
    with lzma.open(os.path.join(shared, 'tokenizers/tokenizers', name, 'tokenizer.json.xz')) as file, \
            open(path, 'wb') as out:
        out.write(file.read())
    return path


def run(tok, path, values, *options):
    done = subprocess.run([tok, path, '--jsonl', *options], capture_output=True, text=True,
                          input=''.join(json.dumps(v) + '\n' for v in values))
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return [json.loads(line) for line in done.stdout.split('\n')[:-1]]


def make(shared, python, out, where):
    made = {}
    for name in NAMES:
        done = subprocess.run([python, '-c', MAKE, unpack(shared, name, where)], capture_output=True, text=True,
                              input=json.dumps(list(IDS.values())), check=True)
        made[name] = dict(zip(IDS, json.loads(done.stdout)))
    with open(out, 'w', encoding='utf-8') as file:
        lines = [f'{json.dumps(n)}: {json.dumps(v)}' for n, v in made.items()]
        file.write('{' + ',\n'.join(lines) + '}\n')


def check(tok, name, path, expected):
    """What is wrong, a line each."""
    found = dict(zip(IDS, run(tok, path, IDS.values(), '--no-special')))
    yield from (f'{case}: {found.get(case)}, not {ids}' for case, ids in expected.items()
                if found.get(case) != ids)
    for case, texts in ROUND.items():
        if run(tok, path, run(tok, path, texts, '--no-special'), '--decode') != texts:
            yield f'{case}: another text comes back'


def main():
    tok, data, *more = sys.argv[1:]
    shared = os.environ.get('KRAFLA_SHARED')
    if not shared:
        print('1..0 # SKIP skipped: no shared data')
        return
    with tempfile.TemporaryDirectory() as where:
        if more[:1] == ['--make']:
            make(shared, more[1], data, where)
            return
        with open(data, encoding='utf-8') as file:
            expected = json.load(file)
        print(f'1..{len(NAMES)}')
        for i, name in enumerate(NAMES, 1):
            faults = list(check(tok, name, unpack(shared, name, where), expected[name]))
            for fault in faults:
                print(f'{name}: {fault}', file=sys.stderr)
            print(f'{"not ok" if faults else "ok"} {i} {name}')


if __name__ == '__main__':
    main()
