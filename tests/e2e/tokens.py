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


def ID(byte):
    """The id of a byte, or of an ASCII character: its number."""
    return byte if isinstance(byte, int) else ord(byte)


def check_config(folder, write):
    """What lies beside a tokenizer.json."""
    beside = os.path.join(folder, 'config')
    os.mkdir(beside)
    mlt = os.path.join(beside, 't.mlt')
    path, config = os.path.join(beside, 'tokenizer.json'), os.path.join(beside, 'tokenizer_config.json')
    chat = json.dumps({'messages': [{'role': 'user', 'content': 'hi'}], 'bos_token': '<s>'}) + '\n'

    def render(name):
        return run(TOK, name, '--chat-render', text=chat)

    with open(path, 'w', encoding='utf-8') as file:
        json.dump(tokenizer(), file)
    code, _, message = render(beside)
    yield 'no template', code == 1 and 'no chat template' in message
    added = {'260': {'content': '<s>', 'special': True}, '262': {'content': '<end>', 'special': True},
             '263': {'content': 'MORE', 'special': False, 'lstrip': True}}
    for template, want in (('{{ bos_token }}A', '"<s>A"\n'),
                           ([{'name': 'tool_use', 'template': 'T'}, {'name': 'default', 'template': 'D'}], '"D"\n')):
        with open(config, 'w', encoding='utf-8') as file:
            json.dump({'chat_template': template, 'eos_token': {'content': '<end>'}, 'bos_token': '<s>',
                       'added_tokens_decoder': added}, file)
        yield 'template beside', render(beside) == (0, want, '') and render(path) == (0, want, '')
        yield 'template kept', run(CONVERT, beside, mlt)[0] == 0 and render(mlt) == (0, want, '')
        for name in (path, mlt):
            yield 'tokens beside', run(TOK, name, text='he<end> MORE') == (0, '260 256 262 263\n', '')
    with open(os.path.join(beside, 'chat_template.jinja'), 'w', encoding='utf-8') as file:
        file.write('{{ messages[0].content }}')
    yield 'chat_template.jinja', render(beside) == (0, '"hi"\n', '')
    other = os.path.join(folder, 'other.jinja')
    with open(other, 'w', encoding='utf-8') as file:
        file.write('O')
    yield '--template', run(TOK, beside, '--chat-render', '--template', other, text=chat) == (0, '"O"\n', '')
    for text in ('{"chat_template": "A"', '[]', '{"added_tokens_decoder": {"x": {"content": "y"}}}',
                 '{"added_tokens_decoder": {"999": {"content": "y"}}}'):
        with open(config, 'w', encoding='utf-8') as file:
            file.write(text)
        code, _, message = run(TOK, beside, text='he')
        yield f'config {text}', (code == 0) if text == '[]' else (code == 1 and path in message)


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
        for options, text, number in (
                ([], '"a"\n\n"b"\n', 2), ([], '"a"\n"b', 2), ([], '"\\x"\n', 1), ([], '["a"]\n', 1),
                ([], '"a" "b"\n', 1), ([], '"\t"\n', 1), (['--count'], '"a"\n1\n', 2),
                (['--decode'], '[1]\n[1,]\n', 2), (['--decode'], '[-1]\n', 1), (['--decode'], '[1.0]\n', 1),
                (['--decode'], '[1\n', 1), (['--decode'], '"a"\n', 1), (['--decode'], '[99999999999]\n', 1)):
            code, out, message = run(TOK, name, '--jsonl', *options, text=text)
            yield f'line refused: {text!r}', code == 1 and f'line {number} ' in message and \
                out.count('\n') == number - 1
        code, _, message = run(TOK, name, '--jsonl', '--decode', text='[259]\n[259, 262]\n')
        yield 'bad id in a line', code == 1 and 'line 2: id 262' in message
        code, _, message = run(TOK, name, '--decode', text='262')
        yield 'bad id', code == 1 and '262' in message
        yield 'no tokens', run(TOK, name, '--no-special') == (0, '\n', '') and \
            run(TOK, name, '--jsonl') == (0, '', '') and run(TOK, name, '--decode') == (0, '', '')
        yield 'count of lines', run(TOK, name, '--jsonl', '--count', text='"hello"\n""\n') == (0, '2\n1\n', '')
        yield 'escapes', run(TOK, name, '--jsonl', '--no-special', text='"\\u0041\\ud83d\\ude00\\u0000\\n"') == \
            (0, '[65, 240, 159, 152, 128, 0, 10]\n'.replace('65', str(ID('A')))
             .replace('240, 159, 152, 128', ', '.join(str(ID(b)) for b in '\U0001f600'.encode()))
             .replace(' 0,', f' {ID(0)},').replace(' 10]', f' {ID(10)}]'), '')
        # bytes that are no UTF-8, and zero bytes
        done = subprocess.run([TOK, name, '--no-special'], input=b'\xff\x00', capture_output=True)
        yield 'any bytes', done.stdout.split() == [str(ID(b)).encode() for b in b'\xef\xbf\xbd\x00']
        done = subprocess.run([TOK, name, '--pieces', '--no-special'], input=b'\x00', capture_output=True)
        yield 'pieces of bytes', done.stdout == f'{ID(0)}\t\\x00\n'.encode()
        yield '-z', run(TOK, '-z', name, text='hello!') == (0, '260 259 33\n', '') and \
            run(TOK, os.path.join(folder, 'none.gguf'), '-z', name, '--count', text='hello') == (0, '2\n', '')
    yield '-z that is not there', run(TOK, path, '-z', path + 'x')[0] == 1
    yield from check_config(folder, write)
    write(tokenizer())
    yield 'usage', run(TOK)[0] == 2 and run(TOK, path, path)[0] == 2 and \
        run(TOK, path, '--template', path)[0] == 2 and run(TOK, path, '--count', '--pieces')[0] == 2 and run(CONVERT, path)[0] == 2 and \
        run(CONVERT, path, path + 'x')[0] == 2
    for changes, words in (
            ({'model': {'type': 'Unigram', 'vocab': []}}, 'Unigram'),
            ({'model': {'type': 'WordPiece', 'vocab': {}}}, 'WordPiece'),
            ({'model': {'type': 'WordLevel', 'vocab': {}}}, 'WordLevel'),
            ({'model': {'unk_id': 0, 'vocab': [['a', 0.0]]}}, 'Unigram'),
            ({'model': {'max_input_chars_per_word': 100, 'vocab': {'a': 0}}}, 'WordPiece'),
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
