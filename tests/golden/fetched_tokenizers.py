"""The vectors of the tokenizers whose data is fetched. TAP.

fetched_tokenizers.py FOLDER TOKENIZER_TEST CONVERTER: FOLDER keeps what is fetched."""
import os
import subprocess
import sys

import reference


def main():
    folder, program, converter = sys.argv[1:]
    python = reference.python_or_skip(folder)
    if not python:
        return
    names = list(reference.SHA256)
    print(f'1..{len(names)}')
    environment = dict(os.environ, KRAFLA_TOKENIZERS=folder)
    for i, name in enumerate(names, 1):
        path, why = reference.fetch(folder, name, python)
        if not path:
            print(f'ok {i} {name} # SKIP {why}')
            continue
        done = subprocess.run([program, name, converter], env=environment, capture_output=True, text=True)
        bad = done.returncode or '\nok 3' not in done.stdout
        if bad:
            print(done.stdout, done.stderr, file=sys.stderr)
        print(f'{"not ok" if bad else "ok"} {i} {name}', flush=True)


if __name__ == '__main__':
    main()
