#!/usr/bin/env python3
"""The walk of docs/backend-howto.md: an installed Krafla, and a backend that is built against it alone,
checked, dropped in and used."""
import os
import shutil

from installed import (SOURCE, Krafla, environment, find, install, main, model, need, path,
                       succeed)

MODEL = model("--type", "Q8_0", "--seed", "21")
KERNEL = "vector_q8_0"
made = {}


def tree():
    """(installed Krafla, environment in which its files are found first), made once."""
    if not made:
        need("meson", "pkg-config", "cc")
        krafla = Krafla(install("installed"))
        folder = os.path.dirname(find(krafla.prefix, "krafla-backend.pc"))
        made["tree"] = krafla, environment(PKG_CONFIG_PATH=folder,
                                           PATH=krafla.bin + os.pathsep + os.environ["PATH"])
    return made["tree"]


def built():
    """The build folder of the example, away from the tree of sources."""
    if "example" not in made:
        _, env = tree()
        source = path("backend-example")
        shutil.copytree(os.path.join(SOURCE, "subprojects", "backend-example"), source)
        succeed("meson", "setup", path("build"), source, env=env)
        succeed("meson", "compile", "-C", path("build"), "-j2", env=env)
        made["example"] = path("build")
    return made["example"]


def test_files_for_authors():
    """The variables of krafla-backend.pc are true of a tree that lies where it was unpacked."""
    krafla, env = tree()
    folder = succeed("pkg-config", "--variable=backenddir", "krafla-backend", env=env)[0].strip()
    assert os.path.realpath(folder).startswith(os.path.realpath(krafla.prefix) + os.sep), folder
    assert os.path.isdir(folder), folder
    flags = succeed("pkg-config", "--cflags", "krafla-backend", env=env)[0].split()
    assert "-ffp-contract=off" in flags, flags
    assert succeed("pkg-config", "--libs", "krafla-backend", env=env)[0].strip() == ""
    headers = [flag[2:] for flag in flags if flag.startswith("-I")]
    assert any(os.path.exists(os.path.join(h, "krafla", "backend.h")) for h in headers), flags


def test_builds_against_the_installed_files_alone():
    build = built()
    for name in ("compile_commands.json", "build.ninja"):
        with open(os.path.join(build, name), encoding="utf-8") as file:
            assert SOURCE + os.sep not in file.read(), name + " names the tree of sources"


def test_is_checked_bit_by_bit():
    """meson test runs the installed krafla-check."""
    build, (_, env) = built(), tree()
    out, _ = succeed("meson", "test", "-C", build, "-v", "--no-rebuild", "-t", "5", env=env)
    assert KERNEL in out and "Ok:                 1" in out, out


def test_is_found_and_used():
    build, (krafla, env) = built(), tree()
    before = krafla.fingerprint(MODEL)
    assert "example" not in krafla.backends()[0]
    succeed("meson", "install", "-C", build, "--no-rebuild", env=env)
    found, _ = krafla.backends()
    assert os.path.realpath(found["example"]["path"]).startswith(os.path.realpath(krafla.prefix))
    assert found["example"]["state"] != "skipped" and found["example"]["rank"] == 50, found
    # at the top by name, over scalar alone
    found, owners = krafla.backends("--isa", "example")
    assert found["example"]["state"] == "used" and owners[KERNEL] == "example", owners
    assert set(owners.values()) == {"example", "scalar"}, owners
    assert krafla.fingerprint(MODEL, "--isa", "example") == ("example", before[1])
    # at the top by rank, over whatever else this machine runs
    succeed("meson", "configure", build, "-Drank=60000", env=env)
    succeed("meson", "install", "-C", build, env=env)
    found, owners = krafla.backends()
    assert found["example"]["state"] == "used" and owners[KERNEL] == "example", owners
    assert {k for k, name in owners.items() if name == "example"} == {KERNEL}, owners
    assert krafla.fingerprint(MODEL) == ("example", before[1])
    # and gone with its file
    os.unlink(found["example"]["path"])
    assert krafla.fingerprint(MODEL) == before


main(globals())
