#!/usr/bin/env python3
"""Fully static programs for one instruction set: they need no file beside the model, run on the oldest
CPU, and compute what the default build computes.

For ARMv7 the system root of tools/cross/test serves, which is made where it is missing."""
import json
import os
import platform
import shutil
import struct
import subprocess

from installed import (BUILD, SANITIZED, SOURCE, Skip, Told, build, main, model, need, path, statistic,
                       succeed)

PROGRAMS = ["frontends/run/krafla-run", "frontends/bench/krafla-bench", "tools/info/krafla-info"]
STATIC = ["-Ddefault_library=static", "-Dkernel_linking=builtin", "-Dprefer_static=true"]
# kvm64 without SSE3 is what the first x86-64 CPUs had; cortex-a8 was the first with NEON
X86_CPUS = ["kvm64,-pni", "core2duo", "Haswell"]
ARM_CPUS = ["cortex-a8", "cortex-a9"]
PROMPT = ("--tokens", "5,6,7,8,9,300,17", "-n", "24", "--ignore-eos", "--fingerprint")
PT_INTERP, PT_DYNAMIC = 3, 2
made = {}


def x86_build():
    if "x86" not in made:
        need("pkg-config", "qemu-x86_64")
        if SANITIZED:
            raise Skip("sanitizers do not link into static programs")
        if platform.machine() != "x86_64":
            raise Skip("not an x86-64 machine")
        folder = succeed("pkg-config", "--variable=libdir", "glib-2.0")[0].strip()
        if not os.path.exists(os.path.join(folder, "libglib-2.0.a")):
            raise Skip("GLib's static library is not here")
        made["x86"] = build("x86", PROGRAMS, *STATIC, "-Dbackends=sse2", "-Dc_link_args=-static")
    return made["x86"]


def arm_build():
    if "arm" not in made:
        need("arm-linux-gnueabihf-gcc", "qemu-arm", "apt-get")
        if SANITIZED:
            raise Skip("sanitizers do not link into static programs")
        cross = os.path.join(SOURCE, "tools", "cross")
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        sysroot = os.path.join(cache, "krafla", "sysroots", "armhf")
        # the same packages as tools/cross/test has, so that they share it
        succeed(os.path.join(cross, "make-sysroot"), "armhf", sysroot, "libc6-dev", "libglib2.0-dev",
                "libjansson-dev")
        constants, linking = path("armv7.ini"), path("armv7-static.ini")
        with open(constants, "w", encoding="utf-8") as file:
            file.write("[constants]\nsysroot = '%s'\nemulate = '%s'\n" % (
                sysroot, os.path.join(cross, "emulate")))
        with open(linking, "w", encoding="utf-8") as file:
            file.write("[built-in options]\nc_link_args = ['--sysroot=' + sysroot, '-static']\n")
        files = [constants, os.path.join(cross, "armv7hf-linux.ini"), linking]
        made["arm"] = build("armv7", PROGRAMS, *STATIC, "-Dbackends=neon",
                            *("--cross-file=" + file for file in files))
    return made["arm"]


def program_headers(name):
    """The types of an ELF file's program headers."""
    with open(name, "rb") as file:
        data = file.read()
    assert data[:4] == b"\x7fELF", name
    wide = data[4] == 2
    start, = struct.unpack_from("<Q", data, 32) if wide else struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
    return {struct.unpack_from("<I", data, start + i * size)[0] for i in range(count)}


def check_need_no_library(folder):
    for name in PROGRAMS:
        types = program_headers(os.path.join(folder, name))
        assert PT_INTERP not in types and PT_DYNAMIC not in types, (name, types)
    assert PT_INTERP in program_headers(os.environ["KRAFLA_RUN"]), "the test sees no difference"


def check_run(folder, qemu, cpus, isa):
    """From a folder with nothing else in it."""
    alone = path("alone-" + isa)
    os.makedirs(alone, exist_ok=True)
    shutil.copy(os.path.join(folder, PROGRAMS[0]), alone)
    for weights in ("Q4_0", "Q8_0", "F16"):
        file = model("--type", weights, "--seed", "41")
        wanted = statistic(Told(*succeed(os.environ["KRAFLA_RUN"], file, *PROMPT)), "fingerprint")
        for cpu in cpus:
            told = Told(*succeed(qemu, "-cpu", cpu, os.path.join(alone, "krafla-run"), file, *PROMPT))
            assert statistic(told, "isa") == isa, (cpu, str(told))
            assert statistic(told, "fingerprint") == wanted, (cpu, weights, str(told))


def check_bench(folder, qemu, cpu, isa):
    file = model("--type", "Q4_0", "--seed", "41")
    out, _ = succeed(qemu, "-cpu", cpu, os.path.join(folder, PROGRAMS[1]), file, "-n", "3", "-p", "4",
                     "-r", "1", "-t", "1", "--isa", "scalar," + isa, "--json")
    report = json.loads(out)
    assert report["same"] and len(report["groups"]) == 2, out


def test_x86_64_needs_no_library():
    check_need_no_library(x86_build())


def test_x86_64_runs_on_old_cpus():
    check_run(x86_build(), "qemu-x86_64", X86_CPUS, "sse2")


def test_x86_64_bench():
    check_bench(x86_build(), "qemu-x86_64", X86_CPUS[0], "sse2")


def test_armv7_needs_no_library():
    check_need_no_library(arm_build())


def test_armv7_runs_on_old_cpus():
    check_run(arm_build(), "qemu-arm", ARM_CPUS, "neon")


def test_armv7_bench():
    check_bench(arm_build(), "qemu-arm", ARM_CPUS[0], "neon")


def test_load_no_plugins():
    """Not even where they are named: they would bring a second libc."""
    plugins = os.path.join(BUILD, "backends")
    if not [name for name in os.listdir(plugins) if name.endswith(".so")]:
        raise Skip("this build has no plug-ins")
    run, info = (os.path.join(x86_build(), PROGRAMS[i]) for i in (0, 2))
    out, _ = succeed(info, "--backends", "--json", "--backend-dir", plugins)
    listed = [b for b in json.loads(out)["backends"] if b["path"]]
    assert listed, out
    for b in listed:
        assert b["state"] == "skipped" and b["reason"] in (
            "a static program loads no plug-ins", "built into the core"), b
    done = subprocess.run([run, model("--type", "Q4_0", "--seed", "41"), *PROMPT, "--isa", "none-such",
                           "--backend-dir", plugins], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          stdout=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"there are sse2, scalar" in done.stderr, done


main(globals())
