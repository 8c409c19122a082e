"""Generated strings of mixed scripts, 20000 a tokenizer, through the package tokenizers and krafla-tok:
the same ids, without and with special tokens, and the same text of them. TAP.

token_property.py FOLDER KRAFLA_TOK [--count N] [--seed N] [NAME...]: FOLDER keeps what is fetched. Each
tokenizer is read from its tokenizer.json and from the .mlt file that krafla-convert makes of it, in
turns: krafla-convert is found beside krafla-tok."""
import argparse
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile

import reference
import token_strings

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ['gpt2', 'smollm2', 'llama3_1', 'qwen3', 'qwen3_5', 'deepseek_v3', 'deepseek_v4', 'gpt4o', 'gptoss',
         'tekken', 'llama2', 'llama2_nonlegacy', 'mistral_v1', 'mistral_v3', 'gemma3']


def find(folder, name, python, where):
    """The path of its tokenizer.json, or None and why."""
    packed = os.path.join(os.environ['KRAFLA_SHARED'], 'tokenizers/tokenizers', name, 'tokenizer.json.xz')
    if not os.path.exists(packed):
        return reference.fetch(folder, name, python)
    path = os.path.join(where, name + '.json')
    with lzma.open(packed) as file, open(path, 'wb') as out:
        out.write(file.read())
    return path, ''


def run_tok(tok, tokenizer, lines, *options):
    done = subprocess.run([tok, tokenizer, '--jsonl', *options], input='\n'.join(lines) + '\n',
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f'krafla-tok: {done.stderr}')
    return [json.loads(line) for line in done.stdout.split('\n')[:-1]]


def compare(tok, path, python, seed, count, where, gguf=None):
    """How many strings differ, the first of them shown; gguf is read instead of path, if given."""
    with open(path, encoding='utf-8') as file:
        extra = [added['content'] for added in json.load(file)['added_tokens']][:200]
    lines = [json.dumps(s) for s in token_strings.strings(random.Random(seed), count, extra)]
    given, expected = os.path.join(where, 'in'), os.path.join(where, 'out')
    with open(given, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    subprocess.run([python, os.path.join(HERE, 'token_reference.py'), path, given, expected], check=True)
    with open(expected) as file:
        wanted = [json.loads(line) for line in file]
    packed = os.path.join(where, 'made.mlt')
    convert = os.path.join(os.path.dirname(os.path.dirname(tok)), 'convert', 'krafla-convert')
    if not os.path.exists(convert):
        convert = os.path.join(os.path.dirname(tok), 'krafla-convert')
    read = gguf or path
    subprocess.run([convert, read, packed], check=True)
    ids = [json.dumps(w[1]) for w in wanted]
    found = zip(run_tok(tok, read, lines, '--no-special'), run_tok(tok, packed, lines),
                run_tok(tok, packed, ids, '--decode'), run_tok(tok, read, ids, '--decode', '--no-special'))
    wrong = seen = 0
    for line, want, got in zip(lines, wanted, found):
        seen += 1
        if want == list(got):
            continue
        wrong += 1
        if wrong <= 5:
            part = next(i for i in range(4) if want[i] != got[i])
            print(f'# {line}\n#   expected {json.dumps(want[part])}\n#   got      {json.dumps(got[part])}')
    return wrong if seen == count else count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('tok')
    parser.add_argument('--count', type=int, default=20000)
    parser.add_argument('--seed', type=int, default=5)
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    python = reference.python_or_skip(options.folder)
    if not python:
        return
    names = options.names or NAMES
    print(f'1..{len(names)}')
    failed = 0
    for i, name in enumerate(names, 1):
        with tempfile.TemporaryDirectory() as where:
            path, why = find(options.folder, name, python, where)
            if not path:
                print(f'ok {i} {name} # SKIP {why}')
                continue
            wrong = compare(options.tok, path, python, options.seed, options.count, where)
        failed += wrong > 0
        print(f'{"not ok" if wrong else "ok"} {i} {name}: {options.count} strings, {wrong} differ', flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
