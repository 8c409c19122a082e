#!/usr/bin/env python3
"""The Debian packages: built from a copy of the tree, unpacked into a folder, and used from there; with
one backend's package after the other taken away, the next one serves with the same logits."""
import glob
import os
import shutil
import subprocess

from installed import (SANITIZED, Krafla, Skip, Told, copy_sources, environment, files_under, main, model,
                       need, path, statistic, succeed)

MODELS = [model("--type", weights, "--seed", "51") for weights in ("Q4_0", "Q8_0")]
made = {}


def packages():
    """Name to .deb, built once."""
    if "packages" in made:
        return made["packages"]
    need("dpkg-buildpackage", "dpkg-checkbuilddeps", "dh")
    if SANITIZED:
        raise Skip("packages are built without sanitizers")
    tree = copy_sources("packages/krafla")
    lacks = subprocess.run(["dpkg-checkbuilddeps"], cwd=tree, stderr=subprocess.PIPE, check=False)
    if lacks.returncode:
        raise Skip(lacks.stderr.decode().strip().split("error: ")[-1])
    env = environment(DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2")
    succeed("dpkg-buildpackage", "-b", "-us", "-uc", "--no-pre-clean", cwd=tree, env=env)
    made["packages"] = {os.path.basename(file).split("_")[0]: file
                        for file in glob.glob(os.path.join(os.path.dirname(tree), "*.deb"))}
    return made["packages"]


def contents(name):
    """The files of a package, documentation apart."""
    if name not in made:
        made[name] = path("content-" + name)
        succeed("dpkg", "-x", packages()[name], made[name])
    return [f for f in files_under(made[name]) if not f.startswith("usr/share/doc/")]


def backend_names():
    return [name[len("krafla-backend-"):] for name in packages() if name.startswith("krafla-backend-")]


def test_packages():
    architecture = succeed("dpkg", "--print-architecture")[0].strip()
    assert {"libkrafla0", "libkrafla-dev", "krafla", "krafla-doc"} <= set(packages()), packages()
    if architecture == "amd64":
        assert {"sse2", "avx2"} <= set(backend_names()), packages()
    owners = {}
    for name in packages():
        for file in contents(name):
            assert file not in owners, (file, name, owners[file])
            owners[file] = name
    for name in backend_names():
        files = contents("krafla-backend-" + name)
        assert len(files) == 1 and files[0].endswith(
            "/krafla/backends-1/backend-%s.so" % name.replace("-", "_")), files
    assert owners["usr/bin/krafla-run"] == "krafla" and owners[
        "usr/include/krafla/backend.h"] == "libkrafla-dev", owners
    assert not contents("krafla-doc")
    documents = files_under(made["krafla-doc"])
    assert any("backend-howto.md" in file for file in documents), documents


def test_fields():
    def field(name, which):
        return succeed("dpkg-deb", "-f", packages()[name], which)[0].strip()
    assert "libkrafla0 (>= 0.1" in field("krafla", "Depends"), field("krafla", "Depends")
    assert "libc6" in field("libkrafla0", "Depends")
    assert "libglib" not in field("libkrafla0", "Depends"), "the library needs no GLib"
    for name in backend_names():
        depends = field("krafla-backend-" + name, "Depends")
        assert "libkrafla0" in depends, depends
        assert "krafla-backend-" + name in field("libkrafla0", "Recommends")


def test_development_files():
    """Where packages are installed, their .pc files name the system's folders."""
    for file in contents("libkrafla-dev"):
        if file.endswith(".pc"):
            with open(os.path.join(made["libkrafla-dev"], file), encoding="utf-8") as text:
                assert text.read().startswith("prefix=/usr\n"), file


def test_backends_are_taken_away():
    root = path("root")
    for deb in packages().values():
        succeed("dpkg", "-x", deb, root)
    krafla = Krafla(root)
    wanted = [statistic(Told(*succeed(os.environ["KRAFLA_RUN"], file, "--tokens", "5,6,7,8,9,300,17",
                                      "-n", "40", "--ignore-eos", "--fingerprint", "--isa", "scalar")),
                        "fingerprint") for file in MODELS]
    served = []
    while True:
        found, _ = krafla.backends()
        for b in found.values():
            assert not b["path"] or os.path.realpath(b["path"]).startswith(os.path.realpath(root)), b
        usable = [b for b in found.values() if b["state"] != "skipped"]
        best = max(usable, key=lambda b: b["rank"])["name"]
        for file, fingerprint in zip(MODELS, wanted):
            assert krafla.fingerprint(file) == (best, fingerprint), (best, file)
        served.append(best)
        if best == "scalar":
            break
        for file in contents("krafla-backend-" + best.replace("_", "-")):
            os.unlink(os.path.join(root, file))
    everything = {name.replace("-", "_") for name in backend_names()} | {"scalar"}
    assert set(served) <= everything and len(served) == len(set(served)), served
    assert len(served) >= 2, served
    shutil.rmtree(root)


main(globals())
