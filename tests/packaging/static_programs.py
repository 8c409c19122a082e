#!/usr/bin/env python3
"""Fully static programs for one instruction set: they need no file beside the model, run on the oldest
CPU, and compute what the default build computes."""
import json
import os
import shutil
import struct
import subprocess

from installed import BUILD, SANITIZED, Skip, Told, build, main, model, need, path, statistic, succeed

PROGRAMS = ["frontends/run/krafla-run", "frontends/bench/krafla-bench", "tools/info/krafla-info"]
# kvm64 without SSE3 is what the first x86-64 CPUs had
CPUS = ["kvm64,-pni", "core2duo", "Haswell"]
PROMPT = ("--tokens", "5,6,7,8,9,300,17", "-n", "24", "--ignore-eos", "--fingerprint")
PT_INTERP, PT_DYNAMIC = 3, 2
made = {}


def static_build():
    if "folder" not in made:
        need("pkg-config", "qemu-x86_64")
        if SANITIZED:
            raise Skip("sanitizers do not link into static programs")
        folder = succeed("pkg-config", "--variable=libdir", "glib-2.0")[0].strip()
        if not os.path.exists(os.path.join(folder, "libglib-2.0.a")):
            raise Skip("GLib's static library is not here")
        made["folder"] = build("static", PROGRAMS, "-Ddefault_library=static", "-Dbackends=sse2",
                               "-Dkernel_linking=builtin", "-Dprefer_static=true",
                               "-Dc_link_args=-static")
    return made["folder"]


def program_headers(name):
    """The types of an ELF64 file's program headers."""
    with open(name, "rb") as file:
        data = file.read()
    assert data[:5] == b"\x7fELF\x02", name
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return {struct.unpack_from("<I", data, start + i * size)[0] for i in range(count)}


def test_need_no_library():
    for name in PROGRAMS:
        types = program_headers(os.path.join(static_build(), name))
        assert PT_INTERP not in types and PT_DYNAMIC not in types, (name, types)
    assert PT_INTERP in program_headers(os.environ["KRAFLA_RUN"]), "the test sees no difference"


def test_run_on_old_cpus():
    folder, alone = static_build(), path("alone")
    os.makedirs(alone, exist_ok=True)
    shutil.copy(os.path.join(folder, PROGRAMS[0]), alone)
    for weights in ("Q4_0", "Q8_0", "F16"):
        file = model("--type", weights, "--seed", "41")
        wanted = statistic(Told(*succeed(os.environ["KRAFLA_RUN"], file, *PROMPT)), "fingerprint")
        for cpu in CPUS:
            told = Told(*succeed("qemu-x86_64", "-cpu", cpu, os.path.join(alone, "krafla-run"), file,
                                 *PROMPT))
            assert statistic(told, "isa") == "sse2", (cpu, str(told))
            assert statistic(told, "fingerprint") == wanted, (cpu, weights, str(told))


def test_bench():
    file = model("--type", "Q4_0", "--seed", "41")
    out, _ = succeed("qemu-x86_64", "-cpu", CPUS[0], os.path.join(static_build(), PROGRAMS[1]), file,
                     "-n", "3", "-p", "4", "-r", "1", "-t", "1", "--isa", "scalar,sse2", "--json")
    report = json.loads(out)
    assert report["same"] and len(report["groups"]) == 2, out


def test_load_no_plugins():
    """Not even where they are named: they would bring a second libc."""
    plugins = os.path.join(BUILD, "backends")
    if not [name for name in os.listdir(plugins) if name.endswith(".so")]:
        raise Skip("this build has no plug-ins")
    out, _ = succeed(os.path.join(static_build(), PROGRAMS[2]), "--backends", "--json",
                     "--backend-dir", plugins)
    listed = [b for b in json.loads(out)["backends"] if b["path"]]
    assert listed, out
    for b in listed:
        assert b["state"] == "skipped" and b["reason"] in (
            "a static program loads no plug-ins", "built into the core"), b
    done = subprocess.run([os.path.join(static_build(), PROGRAMS[0]), model("--type", "Q4_0", "--seed",
                           "41"), *PROMPT, "--isa", "none-such", "--backend-dir", plugins],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                          check=False)
    assert done.returncode == 2 and b"there are sse2, scalar" in done.stderr, done


main(globals())
