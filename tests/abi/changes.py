"""Do the public headers keep what released ones promised? TAP.

changes.py SOURCE_ROOT ABI-VERSIONS CC [ARGUMENT...], versions newest first, separated by commas:
backend.h against those frozen in tests/abi/VERSION/krafla, krafla.h against the one of the library's
current major number, tests/abi/library-N/krafla. A change that old plug-ins or programs would not
survive is found by abidiff in what the compiler says of the types; and the checks are shown changes that
they must find.

With --library FILE..., a library built with -g is compared with the frozen krafla.h instead."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

root, versions, *cc = sys.argv[1:]
library = None
if '--library' in cc:
    library = cc[cc.index('--library') + 1]
    cc = cc[:cc.index('--library')]
versions = versions.split(',')
current = os.path.join(root, 'libkrafla-core', 'include')
version_script = os.path.join(root, 'libkrafla-core', 'krafla-core.map')
box = tempfile.mkdtemp(prefix='krafla-abi-')
TABLES = ('kr_kernels', 'kr_backend')
count = 0


def frozen(version):
    return os.path.join(root, 'tests', 'abi', version)


def text_of(folder, name):
    with open(os.path.join(folder, 'krafla', name), encoding='utf-8') as file:
        return file.read()


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def members(text, struct):
    """The names of a struct's members, in order."""
    body = re.search(r'typedef struct %s \{(.*?)\} %s;' % (struct, struct), without_comments(text),
                     flags=re.S).group(1)
    return [re.search(r'(\w+)\s*$', one).group(1) for declaration in body.split(';')
            if declaration.strip() for one in declaration.split(',')]


def probe(text):
    """C whose one exported constant shows type and place of all members of the tables of a frozen
    header; what was appended later does not show."""
    lines = ['#include <krafla/backend.h>', 'typedef struct probe {']
    for struct in TABLES:
        for name in members(text, struct):
            lines.append(f'  char {struct}_{name}_at[1 + offsetof({struct}, {name})];')
            if name != 'kernels':  # of type kr_kernels, which may grow
                lines.append(f'  __typeof__((({struct} *)0)->{name}) {struct}_{name};')
    lines += ['} probe;', '__attribute__((visibility("default"))) const probe krafla_probe;', '']
    return '\n'.join(lines)


def stubs(text):
    """C that defines every function of a krafla.h."""
    declarations = re.findall(r'KR_API\s+([^;{}]*?\bkr_\w+\s*\([^;{}]*\))\s*;', without_comments(text))
    if len(declarations) != text.count('\nKR_API'):
        raise ValueError('krafla.h has declarations that are not understood')
    return '#include <krafla/krafla.h>\n' + '\n'.join(
        f'{declaration} {{ __builtin_trap(); }}' for declaration in declarations) + '\n'


def compiled(code, include):
    """The shared object's path, or None when the compiler refuses."""
    global count
    count += 1
    path = os.path.join(box, f'{count}.so')
    # freestanding: a cross compiler may have no C library; of the headers, its own are enough
    arguments = ['-std=gnu11', '-g', '-O0', '-fPIC', '-shared', '-nostdlib', '-ffreestanding', '-w',
                 '-fvisibility=hidden', '-x', 'c', '-', '-o', path, '-I', include]
    if 'kr_version' in code:  # as the library is linked
        arguments += ['-Wl,-soname,libkrafla-core.so.0', '-Wl,--version-script=' + version_script]
    done = subprocess.run(cc + arguments, input=code, text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
    return None if done.returncode else path


def difference(one, other, *options):
    """What abidiff has to say, or ''."""
    if not one or not other:
        return 'does not compile\n'
    done = subprocess.run(['abidiff', '--no-added-syms', *options, one, other],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode & 3:  # its own failures
        raise ValueError('abidiff: ' + done.stdout)
    return done.stdout if done.returncode else ''


def backend_difference(old, include):
    code = probe(text_of(old, 'backend.h'))
    return difference(compiled(code, old), compiled(code, include), '--harmless')


def api_difference(old, include):
    return difference(compiled(stubs(text_of(old, 'krafla.h')), old),
                      compiled(stubs(text_of(include, 'krafla.h')), include), '--harmless')


def enumerators(text):
    """Of krafla.h; programs have their values compiled in."""
    return dict(re.findall(r'\b(KR_[A-Z0-9_]+)\s*=\s*(-?\w+)', without_comments(text)))


def changed(header, pattern, replacement):
    """A folder of headers like the current ones, but for one change."""
    folder = tempfile.mkdtemp(dir=box)
    shutil.copytree(os.path.join(current, 'krafla'), os.path.join(folder, 'krafla'))
    text, n = re.subn(pattern, replacement, text_of(current, header), count=1)
    if n != 1:
        raise ValueError(f'{header} has nothing like {pattern}: change this test too')
    with open(os.path.join(folder, 'krafla', header), 'w', encoding='utf-8') as file:
        file.write(text)
    return folder


# ---- the checks: each yields its faults ---------------------------------------------------------


def check_frozen():
    """Each version of the ledger is frozen; while the number stays, the header's code stays."""
    for version in versions:
        for name in ('krafla/backend.h', 'plugin.c', 'meson.build'):
            if not os.path.isfile(os.path.join(frozen(version), name)):
                yield f'tests/abi/{version}/{name} is missing: freeze what this ABI is released with'
    now = text_of(current, 'backend.h')
    number = '.'.join(re.search(rf'#define KR_BACKEND_ABI_{part}\s+(\d+)', now).group(1)
                      for part in ('MAJOR', 'MINOR'))
    if number != versions[0]:
        yield f'backend.h says ABI {number}, the ledger in meson.build {versions[0]}'
    elif without_comments(now).split() != without_comments(
            text_of(frozen(number), 'backend.h')).split():
        yield f'backend.h is not what ABI {number} is: append at the end, raise KR_BACKEND_ABI_MINOR, ' \
              f'add a line to the ledger backend_abi, freeze the new header'


def check_backend():
    for version in versions:
        found = backend_difference(frozen(version), current)
        if found:
            yield f'plug-ins for ABI {version} would break:\n{found}'


def check_backend_changes_are_seen():
    bad = {
        'a member in the middle': (r'  kr_quantize_fn \*quantize;', r'  kr_add_fn *sub;\n\g<0>'),
        'a member of another type': (r'  kr_add_fn \*add;', '  kr_to_f16_fn *add;'),
        'a renamed member': (r'\*add;', '*plus;'),
        'a lost member': (r'  kr_to_f16_fn \*to_f16;', ''),
        'two members exchanged': (r'\*rope_pairs, \*rope_halves', '*rope_halves, *rope_pairs'),
        'a wider argument': (r'\(float \*x, const float \*y, int64_t n\)',
                             '(double *x, const float *y, int64_t n)'),
        'a longer panel': (r'  int64_t group_bytes;', r'\g<0>\n  int64_t more;'),
        'a wider member of the descriptor': (r'  uint16_t rank;', '  uint32_t rank;'),
        'columns in another order': (r'  const float \*d;\n  const int32_t \*s;',
                                     '  const int32_t *s;\n  const float *d;'),
    }
    for name, (pattern, replacement) in bad.items():
        if not backend_difference(frozen(versions[0]), changed('backend.h', pattern, replacement)):
            yield f'{name} was not found'
    good = {
        'a kernel at the end': (r'\n\} kr_kernels;', r'\n  kr_add_fn *sub; /* since 1.1 */\g<0>'),
        'a member at the end of the descriptor': (r'\n\} kr_backend;', r'\n  const char *more;\g<0>'),
    }
    for name, (pattern, replacement) in good.items():
        found = backend_difference(frozen(versions[0]), changed('backend.h', pattern, replacement))
        if found:
            yield f'{name} should be allowed:\n{found}'


def check_library_header():
    old = frozen('library-0')
    found = api_difference(old, current)
    if found:
        yield 'programs built with the frozen krafla.h would break. Until the library is released, ' \
              f'freeze it anew with the change; then, raise its major number.\n{found}'
    now = enumerators(text_of(current, 'krafla.h'))
    for name, value in enumerators(text_of(old, 'krafla.h')).items():
        if now.get(name) != value:
            yield f'{name} was {value} and is now {now.get(name)}'


def check_library_changes_are_seen():
    bad = {
        'a lost function': (r'KR_API const char \*kr_version\(void\);', ''),
        'another result': (r'KR_API int32_t kr_default_threads', 'KR_API int64_t kr_default_threads'),
        'another argument': (r'kr_session_length\(const kr_session \*session\)',
                             'kr_session_length(kr_session *session, int x)'),
        'a longer struct': (r'  int64_t kv_bytes;', r'  int64_t more;\n\g<0>'),
        'a member of another type': (r'  int32_t token;', '  float token;'),
    }
    for name, (pattern, replacement) in bad.items():
        if not api_difference(current, changed('krafla.h', pattern, replacement)):
            yield f'{name} was not found'
    added = changed('krafla.h', r'KR_API void kr_engine_free', r'KR_API int kr_news(int x);\n\g<0>')
    found = api_difference(current, added)
    if found:
        yield f'a new function should be allowed:\n{found}'


def library_difference(include):
    """What the library has otherwise than a krafla.h says. abidiff 2.2 sees some changes only among the
    harmless ones, of which it finds too many unless it is told which types are public; and then it
    overlooks others."""
    made = compiled(stubs(text_of(include, 'krafla.h')), include)
    return difference(made, library) + difference(
        made, library, '--harmless', '--drop-private-types', '--headers-dir1', include,
        '--headers-dir2', current)


def check_library():
    """The library itself, not what its header says."""
    found = library_difference(frozen('library-0'))
    if found:
        yield f'programs built with the frozen krafla.h would break:\n{found}'
    # it is looked at with what is needed to see: headers that say otherwise differ
    bad = {
        'a member of another type': (r'  int32_t top_k;', '  float top_k;'),
        'a longer struct': (r'  int32_t top_k;', '  int32_t more, top_k;'),
        'another result': (r'KR_API int32_t kr_default_threads', 'KR_API int64_t kr_default_threads'),
    }
    for name, (pattern, replacement) in bad.items():
        if not library_difference(changed('krafla.h', pattern, replacement)):
            yield f'{name} was not found: was the library built with -g?'


def main():
    checks = [check_library] if library else [
        check_frozen, check_backend, check_backend_changes_are_seen, check_library_header,
        check_library_changes_are_seen]
    print(f'1..{len(checks)}')
    for number, check in enumerate(checks, 1):
        name = check.__name__[len('check_'):]
        if check is not check_frozen and not shutil.which('abidiff'):
            print(f'ok {number} {name} # SKIP abidiff (abigail-tools) is not here')
            continue
        faults = list(check())
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f'{"not ok" if faults else "ok"} {number} {name}', flush=True)
    shutil.rmtree(box)


main()
