#!/usr/bin/env python3
"""The library, built with what debuggers read, against the krafla.h that programs were built with:
library_abi.py CHANGES ABI-VERSIONS CC [ARGUMENT...]; CHANGES is tests/abi/changes.py."""
import os
import sys

from installed import SOURCE, SANITIZED, Skip, build, find, main, need, succeed


def test_library():
    need("abidiff")
    if SANITIZED:
        raise Skip("one build is enough")
    folder = build("debug", ["all"], "-Dbuildtype=debug", "-Dprograms=disabled", "-Dbackends=scalar")
    library = os.path.realpath(find(folder, "libkrafla-core.so.0"))
    out, _ = succeed(sys.executable, sys.argv[1], SOURCE, *sys.argv[2:], "--library", library)
    assert "\nok 1 library\n" in out, out


main(globals())
