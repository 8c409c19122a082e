"""What `meson install` puts where, and that it works from there and after being moved. TAP.

install.py SOURCE_ROOT BUILD_ROOT MESON MAKE_MODEL CC... -- PREFIX BINDIR LIBDIR INCLUDEDIR BACKEND..."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

split = sys.argv.index('--')
source, build, meson, make_model, *cc = sys.argv[1:split]
prefix, bindir, libdir, includedir, *backends = sys.argv[split + 1:]
plugin_dir = f'{libdir}/krafla/backends-1'
box = tempfile.mkdtemp(prefix='krafla-install-')
# nothing of the build tree may help
environment = {k: v for k, v in os.environ.items()
               if not k.startswith(('KRAFLA_', 'LD_', 'ISA_LM_')) and k != 'DESTDIR'}


def install(name, *options):
    """Installs to a new folder; returns its prefix and the files under that, relative."""
    folder = os.path.join(box, name)
    subprocess.run([meson, 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', folder,
                    *options], check=True, stdout=subprocess.DEVNULL, env=environment)
    root = folder + prefix
    found = set()
    for at, _, names in os.walk(folder):
        for n in names:
            path = os.path.join(at, n)
            if not path.startswith(root + '/'):
                raise AssertionError(f'{path[len(folder):]} is not under the prefix')
            found.add(os.path.relpath(path, root))
    return root, found


def run(*command, cwd=box, **extra):
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd,
                            env={**environment, **extra})
    if result.returncode:
        raise AssertionError(f'{" ".join(command)}: exit {result.returncode}\n{result.stderr}')
    return result.stdout + result.stderr


def info(root, **extra):
    return json.loads(run(f'{root}/{bindir}/krafla-info', '--backends', '--json', **extra))


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def expect_own_backends(root):
    """All plug-ins are found, in this tree."""
    own = os.path.realpath(f'{root}/{plugin_dir}')
    found = {b['name']: os.path.dirname(b['path']) for b in info(root)['backends'] if b['path']}
    expect(found == {name: own for name in backends}, f'found {found}, expected all in {own}')


def programs(found):
    return sorted(f for f in found if f.startswith(bindir + '/'))


def test_files():
    """The whole, by name."""
    _, found = install('files')
    wanted = {f'{includedir}/krafla/krafla.h', f'{includedir}/krafla/backend.h'}
    wanted |= {f'{plugin_dir}/backend-{name}.so' for name in backends}
    expect(wanted <= found, f'not installed: {sorted(wanted - found)}')
    extra = [f for f in found if f.startswith(plugin_dir) and f not in wanted]
    expect(not extra, f'installed beside the backends: {extra}')
    headers = {f for f in found if f.endswith('.h')}
    expect(headers == {f for f in wanted if f.endswith('.h')}, f'headers: {sorted(headers)}')
    expect(f'{bindir}/krafla-info' in found, 'no krafla-info')
    tests = [f for f in found if 'make-model' in f or 'test' in f or f.endswith('.a')
             and 'internal' in f]
    expect(not tests, f'installed, but of use to nobody: {tests}')


def test_destdir():
    """Every program starts, and finds library and backends in its own tree."""
    root, found = install('destdir')
    for program in programs(found):
        out = run(f'{root}/{program}', '--help')
        expect('Usage' in out, f'{program} --help says: {out}')
    expect_own_backends(root)


def fingerprint(root, model):
    out = run(f'{root}/{bindir}/krafla-run', model, '--tokens', '5,6,7,8', '-n', '8', '-T', '0',
              '--ignore-eos', '--ids', '--fingerprint')
    lines = [line for line in out.splitlines() if line.startswith('fingerprint: ')]
    expect(len(lines) == 1, out)
    return lines[0]


def test_moved():
    """The tree somewhere else, under a name with blanks and more."""
    root, found = install('before')
    model = os.path.join(box, 'model.gguf')
    subprocess.run([make_model, '--type', 'Q4_0', model], check=True)
    first = fingerprint(root, model) if f'{bindir}/krafla-run' in found else None
    moved = os.path.join(box, "moved: a (new) 'place'")
    os.rename(root, moved)
    expect_own_backends(moved)
    for program in programs(found):
        run(f'{moved}/{program}', '--help')
    if first:
        expect(fingerprint(moved, model) == first, 'other logits after the move')
    link = os.path.join(box, 'link')
    os.symlink(moved, link)
    expect_own_backends(link)


def test_tags():
    """A package for each part."""
    root, found = install('runtime', '--tags', 'runtime')
    expect(f'{bindir}/krafla-info' in found, 'no krafla-info')
    wrong = [f for f in found if f.startswith((includedir, plugin_dir)) or f.endswith('.pc')]
    expect(not wrong, f'in runtime: {wrong}')
    os.makedirs(f'{root}/{plugin_dir}')  # without backends: the one in the core
    all_found = info(root)
    expect(all_found['isa'] == 'scalar' and not any(b['path'] for b in all_found['backends']) or
           not backends, f'without plug-ins: {all_found}')
    for name in backends:
        _, found = install('tag-' + name, '--tags', 'backend-' + name)
        expect(found == {f'{plugin_dir}/backend-{name}.so'}, f'backend-{name}: {sorted(found)}')
    if backends:
        install('runtime', '--tags', 'backend-' + backends[0])  # added to the first
        names = [b['name'] for b in info(root)['backends'] if b['path']]
        expect(names == backends[:1], f'{names}, expected {backends[:1]}')
    _, found = install('devel', '--tags', 'devel')
    expect({f'{includedir}/krafla/krafla.h', f'{includedir}/krafla/backend.h'} <= found,
           f'devel: {sorted(found)}')
    wrong = [f for f in found if f.startswith((bindir, plugin_dir))]
    expect(not wrong, f'in devel: {wrong}')


PLUGIN = r'''
#include <krafla/backend.h>
static void add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = x[i] + y[i];
}
static const kr_kernels kernels = {.struct_size = sizeof kernels, .add = add};
KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR, .rank = 999,
  .name = "mine", .features = "", .provenance = "1.0, MIT, me", .kernels = &kernels};
'''

PROGRAM = r'''
#include <krafla/krafla.h>
#include <stdio.h>
int main(void) {
  kr_backends *all;
  kr_error err;
  if (kr_backends_new(NULL, &all, &err)) return fprintf(stderr, "%s\n", err.message), 1;
  puts(kr_backends_isa(all));
  kr_backends_free(all);
  return 0;
}
'''


def compile_c(text, output, *arguments):
    subprocess.run([*cc, '-x', 'c', '-std=c11', '-', '-o', output, *arguments], input=text,
                   text=True, check=True)


def test_outside():
    """A backend and a program that know only what is installed."""
    root, _ = install('outside')
    compile_c(PLUGIN, f'{root}/{plugin_dir}/backend-mine.so', '-shared', '-fPIC',
              '-fvisibility=hidden', f'-I{root}/{includedir}')
    found = info(root)
    expect(found['isa'] == 'mine' and found['kernels']['add'] == 'mine', f'{found}')
    out = run(f'{root}/{bindir}/krafla-check', f'{root}/{plugin_dir}/backend-mine.so', '--quick',
              '--no-time')
    expect('add' in out, out)
    program = os.path.join(box, 'program')
    compile_c(PROGRAM, program, f'-I{root}/{includedir}', f'-L{root}/{libdir}',
              f'-Wl,-rpath,{root}/{libdir}', '-lkrafla-core', '-lm', '-ldl', '-pthread')
    expect(run(program).strip() == 'mine', run(program))


def test_no_build_paths():
    """Programs and libraries do not look into the build tree, or know it."""
    root, found = install('paths')
    for name in sorted(found):
        if not (name.startswith(bindir + '/') or name.endswith('.so')):
            continue
        with open(f'{root}/{name}', 'rb') as f:
            data = f.read()
        if b'.debug_info' in data:
            continue
        expect(build.encode() + b'/' not in data, f'{name} names {build}')


def main():
    tests = [test_files, test_destdir, test_moved, test_tags, test_outside, test_no_build_paths]
    print(f'1..{len(tests)}')
    for number, test in enumerate(tests, 1):
        name = test.__name__[len('test_'):]
        try:
            test()
            print(f'ok {number} {name}', flush=True)
        except (AssertionError, subprocess.CalledProcessError, OSError, ValueError) as fault:
            print(fault, file=sys.stderr)
            print(f'not ok {number} {name}', flush=True)
    shutil.rmtree(box)


main()
