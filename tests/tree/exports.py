"""What the built libraries export. TAP.

exports.py NM KRAFLA_H CORE [PLUGIN...]: the core exports what krafla.h declares, a backend exports
krafla_backend, a constant, and neither anything else."""
import re
import subprocess
import sys

nm, header, core, *plugins = sys.argv[1:]


def exported(path):
    """Names with their kinds; version nodes, and what sanitizers add, do not count."""
    out = subprocess.run([nm, '-D', '--defined-only', path], capture_output=True, text=True,
                         check=True).stdout
    found = {}
    for line in out.splitlines():
        kind, name = line.split()[-2:]
        if kind != 'A' and not re.match(r'__?(odr_)?(asan|ubsan|tsan|msan|lsan)', name):
            found[name.split('@')[0]] = kind
    return found


def declared():
    with open(header, encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    return set(re.findall(r'KR_API[^;{]*?\b(kr_\w+)\s*\(', text))


def check_core():
    names, wanted = set(exported(core)), declared()
    if len(wanted) < 10:
        yield f'{header}: only {len(wanted)} declarations were found'
    for name in sorted(names - wanted):
        yield f'{name} is exported, but krafla.h does not declare it'
    for name in sorted(wanted - names):
        yield f'{name} is declared in krafla.h, but not exported'


def check_plugin(path):
    names = exported(path)
    kind = names.pop('krafla_backend', None)
    if kind is None:
        yield 'does not export krafla_backend'
    elif kind not in 'RDV':  # constant data, relocated or not
        yield f'krafla_backend is no data (nm: {kind})'
    for name in sorted(names):
        yield f'exports {name}'
    out = subprocess.run([nm, '-D', '--undefined-only', path], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        if line.split()[-1].startswith(('kr_', 'krafla_')):
            yield f'needs {line.split()[-1]}: a plug-in needs nothing of the core'


print(f'1..{1 + len(plugins)}')
checks = [('core', check_core())] + [(p.split('/')[-1], check_plugin(p)) for p in plugins]
for number, (name, check) in enumerate(checks, 1):
    faults = list(check)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f'{"not ok" if faults else "ok"} {number} {name}')
