"""Public chat templates against what transformers makes of them. TAP.

chat_templates.py TEMPLATE_RENDER. The data is found by KRAFLA_SHARED: tokenizers/chat/NAME.jsonl has
the chats of templates/NAME.jinja, each with "rendered" or "error"."""
import glob
import json
import os
import sys

from template_program import Renderer


def agrees(case, ok, text):
    """Of errors, that there is one, and the text that the template gave it."""
    if 'rendered' in case:
        return ok and text == case['rendered']
    raised = case['error'].startswith('TemplateError:')
    return not ok and (not raised or text.split(':', 1)[1:] == case['error'].split(':', 1)[1:])


def check(renderer, path):
    """A line for each chat that differs; then the number of chats."""
    name = os.path.basename(path)[:-len('.jsonl')]
    with open(os.path.join(os.path.dirname(path), 'templates', name + '.jinja'), 'rb') as f:
        renderer.template(f.read())
    faults, n = [], 0
    with open(path, encoding='utf-8') as f:
        for line in f:
            case = json.loads(line)
            ok, text = renderer.render(line)
            n += 1
            if not agrees(case, ok, text):
                faults.append(f'{name}, {case["conv"]}: {text!r}, not '
                              f'{case.get("rendered", case.get("error"))!r}')
    return faults, n


def main():
    shared = os.environ.get('KRAFLA_SHARED')
    paths = sorted(glob.glob(os.path.join(shared or '', 'tokenizers/chat/*.jsonl')))
    if not shared or not paths:
        print('1..0 # SKIP no shared data')
        print('skipped: no shared data', file=sys.stderr)
        return
    print(f'1..{len(paths)}')
    renderer = Renderer(sys.argv[1])
    for number, path in enumerate(paths, 1):
        faults, n = check(renderer, path)
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f'{"not ok" if faults or not n else "ok"} {number} {os.path.basename(path)}: {n} chats')
    if renderer.close() != 0:
        sys.exit('template_render failed')


if __name__ == '__main__':
    main()
