"""Tokenizers that are put together as files in the wild are: normalizers, pre-tokenizers and decoders of
SentencePiece's kind and by bytes in all their forms, over the tokens of two tokenizers. What is read
must agree with the package tokenizers on generated strings; what is not must be refused by its name.
TAP.

token_variants.py FOLDER KRAFLA_TOK [COUNT]: FOLDER keeps what is fetched."""
import copy
import json
import lzma
import os
import subprocess
import sys
import tempfile

import reference
from token_property import compare

MARK = '\u2581'
PREPEND = {'type': 'Prepend', 'prepend': MARK}
REPLACE = {'type': 'Replace', 'pattern': {'String': ' '}, 'content': MARK}
NFC, SPLIT = {'type': 'NFC'}, {'type': 'Split', 'pattern': {'String': ' '}, 'behavior': 'MergedWithPrevious',
                               'invert': False}
BACK = [{'type': 'Replace', 'pattern': {'String': MARK}, 'content': ' '}, {'type': 'ByteFallback'},
        {'type': 'Fuse'}]
STRIP = [*BACK, {'type': 'Strip', 'content': ' ', 'start': 1, 'stop': 0}]


def norms(*items):
    return {'type': 'Sequence', 'normalizers': list(items)}


def decoders(items):
    return {'type': 'Sequence', 'decoders': items}


def metaspace(**options):
    return {'type': 'Metaspace', 'replacement': MARK, **options}


def byte_level(**options):
    return {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': True, 'use_regex': True, **options}


def sequence(*items):
    return {'type': 'Sequence', 'pretokenizers': list(items)}


LEGACY = norms(PREPEND, REPLACE)
PIECES = [  # name, changes, what a refusal names
    ('legacy', {'normalizer': LEGACY, 'decoder': decoders(STRIP)}, None),
    ('legacy without strip', {'normalizer': LEGACY, 'decoder': decoders(BACK)}, None),
    ('no prefix', {'normalizer': norms(REPLACE), 'decoder': decoders(BACK)}, None),
    ('Gemma 1', {'normalizer': REPLACE, 'decoder': decoders(BACK)}, None),
    ('Gemma 2', {'normalizer': REPLACE, 'pre_tokenizer': SPLIT, 'decoder': decoders(BACK)}, None),
    ('legacy and split', {'normalizer': LEGACY, 'pre_tokenizer': SPLIT, 'decoder': decoders(STRIP)}, None),
    ('replace, then prepend', {'normalizer': norms(REPLACE, PREPEND), 'decoder': decoders(STRIP)}, None),
    ('old Metaspace', {'pre_tokenizer': metaspace(add_prefix_space=True), 'decoder': decoders(STRIP)}, None),
    ('old Metaspace, none', {'pre_tokenizer': metaspace(str_rep=MARK, add_prefix_space=False,
                                                        prepend_scheme='never'),
                             'decoder': decoders(BACK)}, None),
    ('Metaspace in a sequence', {'pre_tokenizer': sequence(metaspace(prepend_scheme='first', split=False)),
                                 'normalizer': norms(), 'decoder': decoders(STRIP)}, None),
    ('nothing', {'decoder': decoders(STRIP)}, 'ByteLevel'),
    ('prepend alone', {'normalizer': PREPEND, 'decoder': decoders(STRIP)}, 'normalizer'),
    ('lower case', {'normalizer': norms({'type': 'Lowercase'}, REPLACE), 'decoder': decoders(STRIP)}, 'Lowercase'),
    ('NFKC', {'normalizer': norms({'type': 'NFKC'}, REPLACE), 'decoder': decoders(STRIP)}, 'NFKC'),
    ('a decoder by words', {'normalizer': LEGACY, 'decoder': {'type': 'WordPiece', 'prefix': '##',
                                                             'cleanup': True}}, 'WordPiece'),
    ('Metaspace decoder', {'pre_tokenizer': metaspace(prepend_scheme='always', split=True),
                           'decoder': metaspace(prepend_scheme='always', split=True)}, 'Metaspace'),
]
for scheme in ('first', 'always', 'never'):
    for split in (False, True):
        PIECES.append((f'Metaspace {scheme}, {split}',
                       {'pre_tokenizer': metaspace(prepend_scheme=scheme, split=split),
                        'decoder': decoders(BACK if scheme == 'never' else STRIP)}, None))
DIGITS = {'type': 'Digits', 'individual_digits': True}
BYTES = [
    ('bytes', {'pre_tokenizer': byte_level()}, None),
    ('bytes, NFC', {'pre_tokenizer': byte_level(), 'normalizer': norms(NFC)}, None),
    ('digits', {'pre_tokenizer': sequence(DIGITS, byte_level())}, None),
    ('a prefix space', {'pre_tokenizer': byte_level(add_prefix_space=True)}, 'ByteLevel'),
    ('no regex', {'pre_tokenizer': byte_level(use_regex=False)}, 'ByteLevel'),
    ('whitespace', {'pre_tokenizer': {'type': 'WhitespaceSplit'}}, 'WhitespaceSplit'),
    ('another regex', {'pre_tokenizer': sequence(
        {'type': 'Split', 'pattern': {'Regex': 'a+|[^a]+'}, 'behavior': 'Isolated', 'invert': False},
        byte_level(use_regex=False))}, 'a+|[^a]+'),
    ('groups of digits', {'pre_tokenizer': sequence({**DIGITS, 'individual_digits': False}, byte_level())},
     'Digits'),
]


LETTERS = (
    'A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370'
    '-\u0373\u0376-\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7'
    '-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-'
    '\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-'
    '\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4'
    '\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a'
    '-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-'
    '\u2149\u214e\u2183-\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2-\u2cf3\ua640-\ua66d\ua680'
    '-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-'
    '\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-'
    '\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943')
SCRIPTS = '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+'


def splits(*expressions):
    return {'pre_tokenizer': sequence(*({'type': 'Split', 'pattern': {'Regex': e}, 'behavior': 'Isolated',
                                         'invert': False} for e in expressions), byte_level(use_regex=False))}


NAMED = [  # by the name in GGUF files alone
    ('deepseek-coder', splits(r'[\r\n]', r'\s?\p{L}+', r'\s?\p{P}+', SCRIPTS, r'\p{N}')),
    ('deepseek-llm', splits(r'[\r\n]', r'\s?[' + LETTERS + ']+',
                            r'\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+', r'\s+$', SCRIPTS,
                            r'\p{N}+')),
]


def check_named(tok, base, name, changes, python, count, where):
    """'' or what is wrong."""
    made = copy.deepcopy(base)
    made.update({'normalizer': None, **changes})
    path, gguf = os.path.join(where, 'tokenizer.json'), os.path.join(where, 'model.gguf')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(made, file)
    converter = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tokenizer_gguf.py')
    subprocess.run([sys.executable, converter, path, gguf, name], check=True)
    wrong = compare(tok, path, python, 7, count, where, gguf)
    return f'{wrong} of {count} strings differ' if wrong else ''


def read(name):
    path = os.path.join(os.environ['KRAFLA_SHARED'], 'tokenizers/tokenizers', name, 'tokenizer.json.xz')
    with lzma.open(path, 'rt', encoding='utf-8') as file:
        return json.load(file)


def check(tok, base, changes, refusal, python, count, where):
    """'' or what is wrong."""
    made = copy.deepcopy(base)
    made.update({'normalizer': None, 'pre_tokenizer': None, **changes})
    path = os.path.join(where, 'tokenizer.json')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(made, file)
    done = subprocess.run([tok, path], input='', capture_output=True, text=True)
    if refusal:
        refused = done.returncode == 1 and refusal in done.stderr
        return '' if refused else f'not refused by name: {done.stderr.strip() or "it is read"}'
    if done.returncode:
        return done.stderr.strip()
    wrong = compare(tok, path, python, 7, count, where)
    return f'{wrong} of {count} strings differ' if wrong else ''


def main():
    folder, tok, *count = sys.argv[1:]
    python = reference.python_or_skip(folder)
    if not python:
        return
    cases = [('mistral_v1', *piece) for piece in PIECES] + [('gpt2', *piece) for piece in BYTES]
    bases = {name: read(name) for name in ('mistral_v1', 'gpt2')}
    failed = 0
    print(f'1..{len(cases) + len(NAMED)}')
    n = int(count[0]) if count else 3000
    for i, (base, name, changes, refusal) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as where:
            fault = check(tok, bases[base], changes, refusal, python, n, where)
        failed += fault != ''
        print(f'{"not ok" if fault else "ok"} {i} {name}: {fault or refusal or "agrees"}', flush=True)
    for i, (name, changes) in enumerate(NAMED, len(cases) + 1):
        with tempfile.TemporaryDirectory() as where:
            fault = check_named(tok, bases['gpt2'], name, changes, python, n, where)
        failed += fault != ''
        print(f'{"not ok" if fault else "ok"} {i} {name}: {fault or "agrees"}', flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
