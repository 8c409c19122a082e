"""krafla-tok --chat-render over the public chat templates: the lines of the data go in as they are, and
for each a JSON string, or an object with the error, comes out. TAP.

chat_render.py KRAFLA_TOK. The data is found by KRAFLA_SHARED, as by chat_templates.py."""
import glob
import json
import os
import subprocess
import sys


def agrees(case, line):
    found = json.loads(line)
    if 'rendered' in case:
        return found == case['rendered']
    if not isinstance(found, dict) or list(found) != ['error'] or not isinstance(found['error'], str):
        return False
    raised = case['error'].startswith('TemplateError:')
    return not raised or found['error'].partition(':')[2] == case['error'].partition(':')[2]


def main():
    shared = os.environ.get('KRAFLA_SHARED')
    paths = sorted(glob.glob(os.path.join(shared or '', 'tokenizers/chat/*.jsonl')))
    if not shared or not paths:
        print('1..0 # SKIP skipped: no shared data')
        return
    print(f'1..{len(paths)}')
    for number, path in enumerate(paths, 1):
        name = os.path.basename(path)[:-len('.jsonl')]
        template = os.path.join(os.path.dirname(path), 'templates', name + '.jinja')
        with open(path, 'rb') as file:
            data = file.read()
        done = subprocess.run([sys.argv[1], '--chat-render', '--template', template], input=data,
                              capture_output=True)
        cases, lines = [json.loads(line) for line in data.splitlines()], done.stdout.split(b'\n')[:-1]
        wrong = [case['conv'] for case, line in zip(cases, lines) if not agrees(case, line)]
        ok = done.returncode == 0 and not done.stderr and len(lines) == len(cases) > 10 and not wrong
        if not ok:
            print(name, wrong, done.returncode, done.stderr.decode(), file=sys.stderr)
        print(f'{"ok" if ok else "not ok"} {number} {name}: {len(cases)} chats')


if __name__ == '__main__':
    main()
