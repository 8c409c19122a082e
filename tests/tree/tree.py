"""Rules of the source tree. TAP.

tree.py SOURCE_ROOT CHECK... runs checks by name; a name without one fails. Each check yields one
line for every fault, which says what to do."""
import functools
import os
import re
import shutil
import subprocess
import sys

ORDER = ['base', 'quant', 'formats', 'text', 'arch', 'model', 'dispatch', 'forward', 'sample',
         'engine']
PARTS_OF_STANDARD = re.compile(r'<[a-z0-9_/]+\.h>$')
MAX_LINES, MAX_FUNCTION, MAX_KERNEL = 800, 60, 150
SOURCE = ('.c', '.h')
TEXT = SOURCE + ('.py', '.sh', '.in', '.list', '.md', '.txt', '.build', '.ini')
TEXT_NAMES = ('meson_options.txt', 'LICENSE', 'quickstart', 'check', 'run')

root = ''


@functools.lru_cache(maxsize=None)
def all_files():
    """Paths of the tree's files, relative to the root: what git does not ignore; in an unpacked
    release, everything but build folders."""
    if os.path.exists(os.path.join(root, '.git')) and shutil.which('git'):
        listed = subprocess.run(['git', '-c', 'safe.directory=*', '-C', root, 'ls-files', '-co',
                                 '--exclude-standard', '-z'], capture_output=True, check=True)
        paths = listed.stdout.decode().split('\0')
        return [p for p in sorted(set(paths)) if os.path.isfile(os.path.join(root, p))]
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ('.git', '__pycache__') and
                      not os.path.isdir(os.path.join(folder, f, 'meson-private'))]
        paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(paths)


def files(*suffixes, under=''):
    """Those with one of the suffixes, in one folder."""
    return [p for p in all_files()
            if p.endswith(suffixes or '') and (not under or p.startswith(under + '/'))]


def read(path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        return f.read()


def code(path):
    """The text without comments and the insides of strings; lines keep their numbers."""
    def blank(match):
        text = match.group()
        if text[0] in '"\'':
            return text[0] * 2
        return re.sub(r'[^\n]', ' ', text)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank,
                  read(path), flags=re.S)


def numbered(text):
    return enumerate(text.split('\n'), 1)


def includes(path):
    for number, line in numbered(read(path)):
        match = re.match(r'\s*#\s*include\s+(["<][^">]+[">])', line)
        if match:
            yield number, match.group(1)


def check_order():
    """A folder of the core includes only folders before it."""
    for path in files(*SOURCE, under='libkrafla-core'):
        folder = path.split('/')[1]
        if folder == 'include':
            continue
        if folder not in ORDER:
            yield f'{path}: the folder {folder} has no place in the order ({" ".join(ORDER)})'
            continue
        for number, name in includes(path):
            target = name.strip('"').split('/')[0]
            if name[0] == '<' or name == '"krafla_config.h"' or target == folder:
                continue
            if target not in ORDER or '/' not in name:
                yield f'{path}:{number}: includes {name}: give the folder and the file'
            elif ORDER.index(target) > ORDER.index(folder):
                yield f'{path}:{number}: {folder} may not include {target} ({" ".join(ORDER)})'


def check_outer_includes():
    """Backends see backend.h and what they share; programs see krafla.h and their own."""
    for path in files(*SOURCE, under='backends'):
        own = os.path.dirname(path)
        for number, name in includes(path):
            if name == '<krafla/backend.h>' or \
                    PARTS_OF_STANDARD.match(name) and not name.startswith('<krafla/'):
                continue
            target = os.path.normpath(os.path.join(own, name.strip('"')))
            if name[0] == '<' or os.path.dirname(target) not in (own, 'backends/common'):
                yield f'{path}:{number}: includes {name}: a backend includes <krafla/backend.h>, ' \
                      'its own folder and ../common only'
    for path in files(*SOURCE, under='frontends') + files(*SOURCE, under='tools'):
        own = '/'.join(path.split('/')[:2])
        if own == 'tools/make-model':  # made for tests, of the core's own parts
            continue
        allowed = {'<krafla/krafla.h>'}
        if own == 'tools/check':  # what authors of backends run
            allowed.add('<krafla/backend.h>')
        for number, name in includes(path):
            if name in allowed or name[0] == '<' and not name.startswith('<krafla/'):
                continue
            name = name.strip('"<>')
            if not any(os.path.exists(os.path.join(root, f, name))
                       for f in (own, 'frontends/common')):
                yield f'{path}:{number}: includes {name}: a program includes <krafla/krafla.h>, ' \
                      'its own folder and frontends/common only'


def functions(text):
    """(line, length) of each function; tables inside are not counted."""
    start, table, tables = None, None, 0
    for number, line in numbered(text):
        if line == '}':
            if start:
                yield start, number - start - 1 - tables
            start, table, tables = None, None, 0
        elif start is None:
            if line.endswith(') {') and not line.startswith('#'):
                start = number
        elif table is None and re.search(r'= \{[^}]*$', line):
            table = number
        elif table and line.endswith('};'):
            tables += number - table
            table = None


def check_lengths():
    """Files and functions that can be read."""
    for path in files(*SOURCE, '.py'):
        lines = read(path).count('\n')
        if lines > MAX_LINES and not path.endswith(('_tables.c', '_tables.h')):
            yield f'{path}: {lines} lines, more than {MAX_LINES}'
        if not path.endswith(SOURCE):
            continue
        most = MAX_KERNEL if path.startswith('backends/') else MAX_FUNCTION
        for line, length in functions(code(path)):
            if length > most:
                yield f'{path}:{line}: a function of {length} lines, more than {most}'


def check_backends_list():
    """The list and the folders."""
    listed = read('backends/backends.list').split('\n')
    if listed and listed[-1] == '':
        listed.pop()
    else:
        yield 'backends/backends.list: the last line has no end'
    folders = [f for f in sorted(os.listdir(os.path.join(root, 'backends')))
               if os.path.isdir(os.path.join(root, 'backends', f)) and f not in ('common', 'template')]
    for name in folders:
        if name not in listed:
            yield f'backends/{name} is not built: add the line "{name}" to backends/backends.list'
    for name in listed:
        if name not in folders:
            yield f'backends/backends.list: remove the line "{name}": there is no such folder'
        if listed.count(name) > 1:
            yield f'backends/backends.list: "{name}" stands there more than once'
        if not re.fullmatch(r'[a-z][a-z0-9_]*', name):
            yield f'backends/backends.list: "{name}" is no name'


def check_no_fusing():
    """Products and sums are rounded apart, everywhere."""
    intrinsics = re.compile(r'_mm\w*_fn?m(add|sub)\w*|\bvfm[as]q?_\w+|\bvml[as]q?(_lane|_laneq|_n)?_f\d+'
                            r'|__builtin_fmaf?\b|\bfmaf?\s*\(|\bsv(mla|mls|mad|msb|nmla)_\w*f\d+')
    for path in files(*SOURCE, under='backends'):
        for number, line in numbered(code(path)):
            match = intrinsics.search(line)
            if match:
                yield f'{path}:{number}: {match.group()} fuses a product and a sum'
    flags = re.compile(r'-ffast-math|-Ofast|-funsafe-math|-fassociative-math|-ffp-contract=(fast|on)'
                       r'|-march=native|-mtune=native|FP_CONTRACT\s+ON')
    for path in files(*SOURCE, 'meson.build', 'meson_options.txt', '.ini'):
        text = read(path) if not path.endswith(SOURCE) else code(path)
        for number, line in numbered(text):
            match = flags.search(re.sub(r'#.*', '', line) if path.endswith('.build') else line)
            if match:
                yield f'{path}:{number}: {match.group()}: results would differ between machines'


def check_calls():
    """The library never prints, exits or aborts, and allocates in one place."""
    never = re.compile(r'\b(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|fputc|perror|exit|'
                       r'_exit|_Exit|quick_exit|abort|assert|raise|kill|signal|system|popen|syslog|'
                       r'err|errx|warn|warnx|gets|strcpy|strcat|sprintf|vsprintf|getenv|setenv|'
                       r'atoi|atof|alloca|rand|srand|setlocale)\s*\(')
    libm = re.compile(r'\b(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sincos|tanh|sinh|cosh|'
                      r'erf|tgamma|lgamma|cbrt|hypot)f?\s*\(')
    memory = re.compile(r'\b(malloc|calloc|realloc|reallocarray|free|strdup|strndup|posix_memalign|'
                        r'aligned_alloc|memalign|mmap|munmap|asprintf|getline)\s*\(')
    for folder in ('libkrafla-core', 'backends'):
        for path in files(*SOURCE, under=folder):
            for number, line in numbered(code(path)):
                line = re.sub(r'^\s*#.*', '', line)
                match = never.search(line) or libm.search(line)
                if match:
                    yield f'{path}:{number}: {match.group(1)}() has no place in the library'
                match = memory.search(line)
                if match and not path.startswith('libkrafla-core/base/memory'):
                    yield f'{path}:{number}: {match.group(1)}(): base/memory.h is for that'


def check_blanks():
    """No trailing blanks, no tabs, whole last lines, UTF-8."""
    for path in files():
        if not (path.endswith(TEXT) or os.path.basename(path) in TEXT_NAMES):
            continue
        try:
            text = read(path)
        except UnicodeDecodeError:
            yield f'{path}: not UTF-8'
            continue
        if text and not text.endswith('\n'):
            yield f'{path}: the last line has no end'
        if text.endswith('\n\n'):
            yield f'{path}: empty lines at the end'
        for number, line in numbered(text):
            if line != line.rstrip():
                yield f'{path}:{number}: blanks at the end'
            if '\t' in line:
                yield f'{path}:{number}: a tab'
            if '\r' in line:
                yield f'{path}:{number}: a carriage return'
            if path.endswith(SOURCE) and len(line) > 100 and not path.endswith('_tables.c'):
                yield f'{path}:{number}: {len(line)} columns, more than 100'


def check_names():
    """File names that are found by name; those of tests are what they test."""
    seen = {}
    for path in files():
        name, parts = os.path.basename(path), path.split('/')
        if parts[0] in ('tests', 'subprojects', 'docs') or name.startswith('.') or \
                name in ('meson.build', 'entry.c', 'README.md', 'kernels.h'):
            continue
        if parts[0] == 'backends' and parts[1] != 'common':
            continue  # equal names there let diff speak
        if name in seen:
            yield f'{path}: the name is taken by {seen[name]}'
        seen[name] = path
        if name.endswith(SOURCE) and not re.fullmatch(r'[a-z][a-z0-9_]*\.[ch]', name):
            yield f'{path}: not snake_case'


def check_places():
    """Nothing in the tree knows a package registry or the machine that it was written on."""
    hosts = [a + '.' + b for a, b in (
        ('pypi', 'org'), ('pythonhosted', 'org'), ('huggingface', 'co'), ('npmjs', 'org'),
        ('npmjs', 'com'), ('crates', 'io'), ('ghcr', 'io'), ('docker', 'io'), ('debian', 'net'),
        ('proxy.golang', 'org'), ('anaconda', 'org'), ('deb.debian', 'org'), ('archive.ubuntu', 'com'))]
    places = [os.sep + 'work' + os.sep, os.sep + 'home' + os.sep, os.sep + 'root' + os.sep]
    for path in files():
        try:
            text = read(path)
        except UnicodeDecodeError:
            continue
        for number, line in numbered(text):
            for host in hosts:
                if host in line.lower():
                    yield f'{path}:{number}: names the host {host}'
            for place in places:
                if re.search(r'(?<![\w.}/-])' + re.escape(place), line):
                    yield f'{path}:{number}: names a path of one machine, {place}'


def check_listed():
    """Every source file is built: a file that no meson.build names is dead."""
    for path in files('.c', '.py'):
        folder, name = os.path.split(path)
        if path.split('/')[0] in ('subprojects', 'docs'):
            continue
        while folder and not os.path.exists(os.path.join(root, folder, 'meson.build')):
            folder = os.path.dirname(folder)
        lists = read(os.path.join(folder, 'meson.build'))
        for above in ('tests/meson.build', 'backends/meson.build', 'meson.build'):
            lists += read(above)
        stem = os.path.splitext(name)[0]
        tail = stem.rsplit('_', 1)[0]  # wrong_backend.c is made of 'wrong'
        if name in lists or f"'{stem}'" in lists or f"'{tail}'" in lists:
            continue
        if path.endswith('.py') and any(re.search(rf'\b(import|from) {stem}\b', read(other))
                                        for other in files('.py', under=folder)):
            continue  # a module of a script that is listed
        if path.endswith('.py') and path.startswith('tools/'):
            continue  # generators that are run by hand
        yield f'{path}: no meson.build names it'


def main():
    global root
    root, names = sys.argv[1], sys.argv[2:]
    checks = {name[len('check_'):]: check for name, check in sorted(globals().items())
              if name.startswith('check_')}
    names = names or list(checks)
    print(f'1..{len(names)}')
    for number, name in enumerate(names, 1):
        faults = list(checks[name]()) if name in checks else [f'no check of this name: {name}']
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f'{"not ok" if faults else "ok"} {number} {name}')


if __name__ == '__main__':
    main()
