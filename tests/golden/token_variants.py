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
    if not os.environ.get('KRAFLA_SHARED'):
        print('1..0 # SKIP skipped: no shared data')
        return
    python, why = reference.python(folder)
    if not python:
        print(f'1..0 # SKIP {why}')
        return
    cases = [('mistral_v1', *piece) for piece in PIECES] + [('gpt2', *piece) for piece in BYTES]
    bases = {name: read(name) for name in ('mistral_v1', 'gpt2')}
    failed = 0
    print(f'1..{len(cases)}')
    for i, (base, name, changes, refusal) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as where:
            fault = check(tok, bases[base], changes, refusal, python, int(count[0]) if count else 3000, where)
        failed += fault != ''
        print(f'{"not ok" if fault else "ok"} {i} {name}: {fault or refusal or "agrees"}', flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
