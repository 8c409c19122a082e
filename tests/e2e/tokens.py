"""krafla-tok and krafla-convert on a small tokenizer.json. TAP."""
import json
import os
import subprocess
import sys
import tempfile

TOK, CONVERT = sys.argv[1:3]
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def tokenizer(**changes):
    own = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [b for b in range(256) if b not in own]
    spelled = [chr(b) if b in own else chr(0x100 + others.index(b)) for b in range(256)]
    vocab = {text: i for i, text in enumerate([*spelled, 'he', 'll', 'hell', 'hello'])}
    flags = {'single_word': False, 'lstrip': False, 'rstrip': False, 'normalized': False}
    base = {
        'added_tokens': [{'id': 260, 'content': '<s>', 'special': True, **flags},
                         {'id': 261, 'content': 'WORD', 'special': False, **flags,
                          'single_word': True, 'lstrip': True, 'rstrip': True}],
        'normalizer': {'type': 'NFC'},
        'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': [
            {'type': 'Split', 'pattern': {'Regex': QWEN2}, 'behavior': 'Isolated', 'invert': False},
            {'type': 'ByteLevel', 'add_prefix_space': False, 'use_regex': False}]},
        'post_processor': {'type': 'TemplateProcessing',
                           'single': [{'SpecialToken': {'id': '<s>', 'type_id': 0}},
                                      {'Sequence': {'id': 'A', 'type_id': 0}}],
                           'special_tokens': {'<s>': {'id': '<s>', 'ids': [260]}}},
        'decoder': {'type': 'ByteLevel'},
        'model': {'type': 'BPE', 'vocab': vocab,
                  'merges': ['h e', ['l', 'l'], 'he ll', ['hell', 'o']]},
    }
    base.update(changes)
    return base


def run(program, *args, text=''):
    done = subprocess.run([program, *args], input=text.encode(), capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(folder):
    path, mlt = os.path.join(folder, 't.json'), os.path.join(folder, 't.mlt')

    def write(value):
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(value, file)

    write(tokenizer())
    yield 'convert', run(CONVERT, path, mlt) == (0, '', '')
    for name in (path, mlt):
        yield 'encode', run(TOK, name, text='hello!') == (0, '260 259 33\n', '')
        yield 'no special', run(TOK, name, '--no-special', text='hello') == (0, '259\n', '')
        yield 'flags', run(TOK, name, '--no-special', text='! WORD xWORD')[1].startswith('33 261 120 87')
        yield 'count', run(TOK, name, '--count', text='hello') == (0, '2\n', '')
        yield 'pieces', run(TOK, name, '--pieces', text='hello') == (0, '260\t<s>\n259\thello\n', '')
        yield 'decode', run(TOK, name, '--decode', text='260 259 33') == (0, '<s>hello!', '')
        yield 'decode part', run(TOK, name, '--decode', '--no-special', text='260 259') == (0, 'hello', '')
        yield 'lines', run(TOK, name, '--jsonl', text='"hello"\n""\n') == (0, '[260, 259]\n[260]\n', '')
        yield 'lines back', run(TOK, name, '--jsonl', '--decode', text='[259]\n[]\n') == \
            (0, '"hello"\n""\n', '')
        code, _, message = run(TOK, name, '--jsonl', text='"hello"\nhello\n')
        yield 'bad line', code == 1 and 'line 2' in message
        code, _, message = run(TOK, name, '--decode', text='262')
        yield 'bad id', code == 1 and '262' in message
    yield 'usage', run(TOK)[0] == 2 and run(CONVERT, path)[0] == 2 and \
        run(CONVERT, path, path + 'x')[0] == 2
    for changes, words in (
            ({'model': {'type': 'Unigram', 'vocab': []}}, 'Unigram'),
            ({'model': {'type': 'WordPiece', 'vocab': {}}}, 'WordPiece'),
            ({'normalizer': {'type': 'Lowercase'}}, 'Lowercase'),
            ({'pre_tokenizer': {'type': 'BertPreTokenizer'}}, 'BertPreTokenizer'),
            ({'decoder': None}, 'decoder'),
            ({'added_tokens': [{'id': 300, 'content': '<s>'}]}, 'added_tokens')):
        write(tokenizer(**changes))
        code, _, message = run(CONVERT, path, os.path.join(folder, 'no.mlt'))
        yield 'refused: ' + words, code == 1 and words in message and path in message and \
            not os.path.exists(os.path.join(folder, 'no.mlt'))


def main():
    with tempfile.TemporaryDirectory(prefix='krafla-tok-') as folder:
        number = 0
        for name, ok in check(folder):
            number += 1
            print(f'{"ok" if ok else "not ok"} {number} {name}')
        print(f'1..{number}')


main()
