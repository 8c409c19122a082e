#!/usr/bin/env python3
"""tools/new-backend, in a copy of the tree: what it writes builds, keeps the rules of the tree, and is
equal to scalar at once."""
import os
import subprocess
import sys

from installed import SOURCE, copy_sources, environment, main, need, path, succeed

KERNELS = ["vector_q4_0", "matrix_q4_0", "vector_q4_1", "matrix_q8_0", "quantize", "values_q8"]
made = {}


def copy_of_the_tree():
    if "tree" not in made:
        made["tree"] = copy_sources("tree")
    return made["tree"]


def new_backend(*arguments):
    return subprocess.run([sys.executable, os.path.join(copy_of_the_tree(), "tools", "new-backend"),
                           *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def state(tree):
    folder = os.path.join(tree, "backends")
    with open(os.path.join(folder, "backends.list"), encoding="utf-8") as file:
        return sorted(os.listdir(folder)), file.read()


def test_refuses_names():
    before = state(copy_of_the_tree())
    for name in ("scalar", "sse2", "common", "template", "9lives", "Avx", "a-b", "../x", "", "x" * 41):
        done = new_backend(name)
        assert done.returncode == 2 and b"NAME" in done.stderr, (name, done)
    for options in (("fresh", "--kernel", "add"), ("fresh", "--rank", "65536"), ()):
        assert new_backend(*options).returncode == 2, options
    assert state(copy_of_the_tree()) == before


def test_skeletons_pass_at_once():
    need("meson", "ninja")
    tree, build = copy_of_the_tree(), path("build")
    for kernel in KERNELS:
        done = new_backend("new_" + kernel, "--kernel", kernel)
        assert done.returncode == 0, done
    done = new_backend("flagged", "--args=-O1 -fno-strict-aliasing", "--rank", "7", "--features",
                       "warp-drive", "--cpu", "x86_64", "--cpu", "x86", "--cpu", "aarch64",
                       "--cpu", "arm")
    assert done.returncode == 0, done
    names = ["new_" + kernel for kernel in KERNELS] + ["flagged"]
    assert new_backend(names[0]).returncode == 2, "twice"
    listed = state(tree)[1].split("\n")
    assert listed[-1 - len(names):] == names + [""], listed
    succeed("meson", "setup", build, tree, "-Dprograms=disabled", "-Dtests=disabled",
            "-Dwerror=true")
    modules = ["backends/backend-%s.so" % name for name in names]
    succeed("ninja", "-C", build, "-j2", *modules)
    check = os.environ["KRAFLA_CHECK"]
    for name, module in zip(names[:-1], modules):
        out, _ = succeed(check, "--quick", "--no-time", os.path.join(build, module))
        assert name in out and name[4:] in out, out
    done = subprocess.run([check, "--no-time", os.path.join(build, modules[-1])],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=environment())
    assert done.returncode == 3 and b"CPU lacks warp-drive" in done.stderr, done


def tree_faults(*checks):
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "tree", "tree.py"),
                           copy_of_the_tree(), *checks], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.stdout.startswith(b"1..%d\n" % len(checks)), done
    return done.stderr.decode().splitlines()


def test_keeps_the_rules_of_the_tree():
    faults = tree_faults("backends_list", "outer_includes", "blanks", "lengths", "no_fusing",
                         "listed", "calls", "names")
    ours = [line for line in faults if "backends/new_" in line or "backends/flagged" in line]
    assert not ours, ours
    # debian/control has a package for each
    debian = os.path.join(copy_of_the_tree(), "debian")
    with open(os.path.join(debian, "control"), encoding="utf-8") as file:
        assert "\nPackage: krafla-backend-new-vector-q4-0\nArchitecture: any\n" in file.read()
    # a folder without its line is a fault
    listed = os.path.join(copy_of_the_tree(), "backends", "backends.list")
    with open(listed, encoding="utf-8") as file:
        text = file.read()
    with open(listed, "w", encoding="utf-8") as file:
        file.write(text.replace("new_quantize\n", ""))
    faults = tree_faults("backends_list")
    assert any('add the line "new_quantize"' in line for line in faults), faults


main(globals())
