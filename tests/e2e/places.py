#!/usr/bin/env python3
"""Where backends are found: never in the working directory, and none is no reason to fail."""
import os
import shutil
import subprocess
import sys

from harness import (EMULATED, backends, call, environment, main, model, not_on_windows, path,
                     program, statistic, succeed)

MODEL = model("--seed", "1")


def test_working_directory_is_never_searched():
    not_on_windows("the trap is an ELF file; the suite abi looks there")
    folder, trace = path("hostile"), path("trace")
    os.makedirs(folder, exist_ok=True)
    hostile = os.environ["KRAFLA_HOSTILE"]
    names = ["backend-%s.so" % b["name"] for b in backends()["backends"]]
    for name in names + ["backend-avx2.so", "backend-zzz.so", "libkrafla-core.so.0"]:
        shutil.copy(hostile, os.path.join(folder, name))
    load, env = [sys.executable, "-c", "import ctypes; ctypes.CDLL(%r)" % hostile], {}
    if EMULATED:  # a library of another machine
        load, env = [program("run"), "--version"], {"LD_PRELOAD": hostile}
    subprocess.run(load, env=dict(os.environ, TRACE=trace, **env), check=True,
                   stdout=subprocess.DEVNULL)
    assert os.path.exists(trace), "the trap does not work"
    os.unlink(trace)
    env = environment(TRACE=trace)
    for extra in ((), ("--isa", "scalar")):
        succeed(MODEL, "hi", "-n", "4", *extra, cwd=folder, env=env)
    listed = call([program("info"), "--backends"], cwd=folder, env=env)
    assert listed.code == 0 and folder.encode() not in listed.out, listed
    assert not os.path.exists(trace), "a library of the working directory was opened"
    # a relative directory would be the working directory by another name
    result = call([program("run"), MODEL, "hi", "-n", "4", "--backend-dir", "."], cwd=folder, env=env)
    assert result.code == 2, result
    assert not os.path.exists(trace)


def test_directory_that_others_may_write():
    """Not even where it is named: anybody could put code there."""
    folder, trace = path("writable"), path("trace")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.environ["KRAFLA_HOSTILE"], os.path.join(folder, "backend-zzz.so"))
    os.chmod(folder, 0o777)
    result = call([program("run"), MODEL, "hi", "-n", "4"],
                  env=environment(TRACE=trace, KRAFLA_BACKEND_DIR=folder))
    assert not os.path.exists(trace), result


def test_no_backend_at_all():
    """The specification is built in and serves alone."""
    empty = path("no-backends")
    os.makedirs(empty, exist_ok=True)
    reference = succeed(MODEL, "hi", "-n", "30")
    result = succeed(MODEL, "hi", "-n", "30", "--backend-dir", empty)
    assert result.out == reference.out
    builtin = [b["name"] for b in backends()["backends"] if not b["path"]]
    assert statistic(result, "isa") in builtin, result


def test_every_kernel_has_an_owner():
    told = backends()
    used = {b["name"] for b in told["backends"] if b["state"] == "used"}
    assert told["kernels"] and set(told["kernels"].values()) == used, told
    assert told["isa"] in used


main(globals())
