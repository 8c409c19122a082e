#!/usr/bin/env python3
"""debian/ is in step with the rest: a package for each backend, the version, the documentation."""
import os
import re
import subprocess
import sys

from installed import SOURCE, main


def read(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def paragraphs():
    """Of debian/control: package to fields."""
    found = {}
    for text in read("debian", "control").split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): *((?:.*)(?:\n .*)*)", text, flags=re.M))
        found[fields.get("Package", "")] = fields
    return found


def test_control_is_as_generated():
    script = os.path.join(SOURCE, "tools", "packaging", "debian_control.py")
    made = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, check=True).stdout
    assert made.decode() == read("debian", "control"), \
        "debian/control is not in step with the backends: run tools/packaging/debian_control.py --write"


def test_a_package_for_each_backend():
    """By the list, not by what makes debian/control."""
    listed = read("backends", "backends.list").split()
    found = paragraphs()
    wanted = {"krafla-backend-" + name.replace("_", "-") for name in listed if name != "scalar"}
    assert wanted == {name for name in found if name.startswith("krafla-backend-")}, found.keys()
    recommended = set(re.findall(r"krafla-backend-[a-z0-9-]+", found["libkrafla0"]["Recommends"]))
    assert recommended == wanted, recommended
    assert {"libkrafla0", "libkrafla-dev", "krafla", "krafla-doc"} < set(found), found.keys()


def test_architectures():
    found = paragraphs()
    for name, wanted in (("sse2", {"amd64", "i386"}), ("avx2", {"amd64"}), ("neon", {"arm64", "armhf"}),
                         ("neon-dotprod", {"arm64"})):
        assert set(found["krafla-backend-" + name]["Architecture"].split()) == wanted, name


def test_version():
    version = re.search(r"version: '([^']+)'", read("meson.build")).group(1)
    assert read("debian", "changelog").startswith("krafla (%s) " % version)
    soname = re.search(r"soversion: '(\d+)'", read("libkrafla-core", "meson.build")).group(1)
    assert "libkrafla" + soname in paragraphs()
    assert read("debian", "libkrafla0.symbols").startswith("libkrafla-core.so.%s libkrafla0 " % soname)


main(globals())
