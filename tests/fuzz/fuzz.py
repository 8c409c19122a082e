"""Builds a fuzz target with libFuzzer and runs it for a while. TAP.

fuzz.py CLANG-OR-EMPTY SOURCE_ROOT BUILD_ROOT TARGET SECONDS FOLDER...: the folders of the core, by
name, that the target needs. What it finds is left in the working directory."""
import glob
import os
import subprocess
import sys
import tempfile


def build(clang, root, made, target, folders, where):
    """The program, or what the compiler said."""
    core = os.path.join(root, 'libkrafla-core')
    sources = [os.path.join(root, 'tests/fuzz', target + '.c')]
    for folder in folders:
        found = sorted(glob.glob(os.path.join(core, folder, '*.c')))
        sources += [path for path in found if not path.endswith('_windows.c')]
    program = os.path.join(where, target)
    done = subprocess.run([clang, '-std=c11', '-D_GNU_SOURCE', '-g', '-O1', '-pthread',
                           '-fsanitize=fuzzer,address,undefined', '-fno-sanitize-recover=undefined',
                           '-I', core, '-I', os.path.join(core, 'include'),
                           '-I', os.path.join(made, 'libkrafla-core/dispatch'), *sources, '-lm', '-ldl',
                           '-o', program], capture_output=True, text=True)
    return (program, '') if done.returncode == 0 else (None, done.stderr)


def main():
    clang, root, made, target, seconds, *folders = sys.argv[1:]
    if not clang:
        print('1..0 # SKIP no clang')
        return
    print('1..1')
    with tempfile.TemporaryDirectory() as where:
        program, why = build(clang, root, made, target, folders, where)
        if program is None and 'libclang_rt' in why:
            print('ok 1 # SKIP clang has no libFuzzer')
            return
        if program is None:
            print(why, file=sys.stderr)
            sys.exit('not ok 1 the target does not build')
        found = os.path.join(where, 'found')
        os.mkdir(found)
        done = subprocess.run([program, found, os.path.join(root, 'tests/fuzz/corpus', target),
                               f'-max_total_time={seconds}', '-timeout=10', '-rss_limit_mb=1024',
                               '-max_len=4096'], stderr=subprocess.PIPE, text=True)
    for line in done.stderr.splitlines()[-20:]:
        print(line, file=sys.stderr)
    print(f'{"not ok" if done.returncode else "ok"} 1 {target} for {seconds} s')


if __name__ == '__main__':
    main()
