#!/usr/bin/env python3
"""Fills in debian/control from debian/control.in and the backends: one package for each, on the
architectures that its meson.build names.

debian_control.py [--write]: prints the text, or writes it to debian/control."""
import os
import re
import sys

# Meson's CPU families, Debian's architectures.
ARCHITECTURES = {"x86_64": "amd64", "x86": "i386", "aarch64": "arm64", "arm": "armhf"}

PACKAGE = """
Package: {package}
Architecture: {architectures}
Multi-Arch: same
Depends: ${{misc:Depends}}, ${{shlibs:Depends}}, libkrafla0
Description: runs language models on CPUs ({name} kernels)
 A kernel backend of Krafla. {needs}
 It is chosen at run time where the CPU has that and no better one is there;
 results are the same bits with any backend.
"""


def read(root, *names):
    with open(os.path.join(root, *names), encoding="utf-8") as file:
        return file.read()


def backends(root):
    """(name, architectures or ["any"], CPU features) of each that is a plug-in, in the list's order."""
    for name in read(root, "backends", "backends.list").split():
        if name == "scalar":  # part of the library
            continue
        families = re.search(r"'cpus': *\[([^\]]*)\]", read(root, "backends", name, "meson.build"))
        features = re.search(r'\.features *= *"([^"]*)"', read(root, "backends", name, "entry.c"))
        if not families or not features:
            raise ValueError(f"backends/{name}: cpus or features are not where they are looked for")
        found = re.findall(r"'(\w+)'", families.group(1))
        yield name, [ARCHITECTURES[family] for family in found] or ["any"], features.group(1)


def package(name):
    return "krafla-backend-" + name.replace("_", "-")


def recommends(found):
    lines = [package(name) + ("" if on == ["any"] else " [" + " ".join(on) + "]")
             for name, on, _ in found]
    return (",\n" + " " * len("Recommends: ")).join(lines)


def paragraph(name, architectures, features):
    needs = "It runs on every CPU of these architectures."
    if features:
        needs = "It needs these features of the CPU:\n " + features + "."
    return PACKAGE.format(package=package(name), name=name, needs=needs,
                          architectures=" ".join(architectures))


def control(root):
    """The text of debian/control."""
    found = list(backends(root))
    text = read(root, "debian", "control.in")
    return text.replace("@RECOMMENDS@", recommends(found)).replace(
        "@BACKENDS@\n", "".join(paragraph(*one) for one in found))


def write(root):
    with open(os.path.join(root, "debian", "control"), "w", encoding="utf-8") as file:
        file.write(control(root))


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if sys.argv[1:] == ["--write"]:
        write(root)
    elif len(sys.argv) == 1:
        sys.stdout.write(control(root))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
