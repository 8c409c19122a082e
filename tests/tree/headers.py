"""Every header alone, and the public ones in C++ too. TAP.

headers.py SOURCE_ROOT BUILD_ROOT CXX-OR-EMPTY CC [ARGUMENT...]"""
import glob
import os
import subprocess
import sys

source, build, cxx, *cc = sys.argv[1:]
core = os.path.join(source, 'libkrafla-core')
include = ['-I', os.path.join(core, 'include')]
inner = include + ['-I', core, '-I', os.path.join(build, 'libkrafla-core', 'dispatch')]
strict = ['-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-pedantic-errors']


def compiles(command, name):
    """Twice in a row: the guard is part of it."""
    text = f'#include <{name}>\n#include <{name}>\ntypedef int something;\n'
    return subprocess.run(command + ['-'], input=text, capture_output=True, text=True)


tests = []
for name in ('krafla/krafla.h', 'krafla/backend.h'):
    for standard in ('c11', 'c17'):
        tests.append((f'{name} {standard}',
                      cc + strict + [f'-std={standard}', '-x', 'c'] + include, name))
    for standard in ('c++11', 'c++20'):
        command = [cxx] + strict + [f'-std={standard}', '-x', 'c++'] + include if cxx else None
        tests.append((f'{name} {standard}', command, name))
for path in sorted(glob.glob(os.path.join(core, '*', '*.h'))):
    name = os.path.relpath(path, core)
    if not name.startswith('include'):
        # unused static functions are what a header of inline functions consists of
        tests.append((name, cc + ['-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-std=c11',
                                  '-D_GNU_SOURCE', '-x', 'c'] + inner, name))

print(f'1..{len(tests)}')
for number, (title, command, name) in enumerate(tests, 1):
    if not command:
        print(f'ok {number} {title} # SKIP no C++ compiler')
        continue
    result = compiles(command, name)
    for line in result.stderr.splitlines():
        print(line, file=sys.stderr)
    print(f'{"not ok" if result.returncode else "ok"} {number} {title}')
