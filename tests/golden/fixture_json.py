#!/usr/bin/env python3
"""The small models' tokenizer.json files, read as they are, against the ids of the reference.

fixture_json.py KRAFLA_TOK"""
import glob
import json
import os
import subprocess
import sys

shared = os.environ.get('KRAFLA_SHARED')
if not shared:
    print('skipped: no shared data')
    sys.exit(77)
cases = wrong = 0
for path in sorted(glob.glob(os.path.join(shared, 'golden', '*', 'tokenizer_golden.json'))):
    with open(path, encoding='utf-8') as file:
        golden = json.load(file)['cases']
    folder = os.path.dirname(path)
    lines = ''.join(json.dumps(case['text']) + '\n' for case in golden)
    for options, key in (([], 'ids_with_special'), (['--no-special'], 'ids')):
        done = subprocess.run([sys.argv[1], folder, '--jsonl', *options], input=lines.encode(),
                              stdout=subprocess.PIPE, check=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for case, ids in zip(golden, found):
            cases += 1
            if ids != case[key]:
                wrong += 1
                print(folder, case['text'], ids, case[key])
        wrong += len(found) != len(golden)
print(cases, 'cases,', wrong, 'wrong')
sys.exit(wrong > 0 or cases < 100)
