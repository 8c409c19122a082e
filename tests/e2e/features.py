#!/usr/bin/env python3
"""CPUs with some features and without others, plug-ins for other machines: the fastest backend whose
every feature is there is chosen, silently, and what was asked for and cannot run ends with exit code 3.

Features are hidden by KRAFLA_CPU_MASK, and on x86-64 taken away by emulated CPUs."""
import functools
import itertools
import json
import os
import re
import shutil

from harness import (SANITIZED, Skip, backends, call, environment, main, model, path, program, run,
                     statistic)

MODEL = model("--type", "Q4_0", "--seed", "31")
COMMAND = ("--tokens", "5,6,7,8,9,300,17", "-n", "24", "--ignore-eos", "--fingerprint")

# What programs see of these CPUs of qemu-x86_64, of the features that backends ask for.
LEVELS = ["sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "f16c", "fma avx2"]
V3 = " ".join(LEVELS).split()
CPUS = {
    "core2duo": V3[:3],
    "Penryn": V3[:4],
    "Nehalem": V3[:5],
    "SandyBridge": V3[:6],
    "IvyBridge": V3[:7],
    "Haswell": V3,
    "Haswell,-f16c": [f for f in V3 if f != "f16c"],
    "Haswell,-fma": [f for f in V3 if f != "fma"],
    "Haswell,-avx2": [f for f in V3 if f != "avx2"],
    # an operating system that does not save the wide registers: the CPU has them, programs do not
    "Haswell,-xsave": V3[:5],
}


@functools.lru_cache(maxsize=None)
def found():
    return backends()["backends"]


def plugins():
    """Backends of this build that need CPU features: name, rank and features in order."""
    return [b for b in found() if b["path"] and b["features"]]


def best(have):
    """The highest ranking backend whose every feature is there."""
    usable = [b for b in found() if set(b["features"]) <= set(have)]
    return max(usable, key=lambda b: b["rank"])["name"]


@functools.lru_cache(maxsize=None)
def reference():
    return statistic(run(MODEL, *COMMAND, "--isa", "scalar"), "fingerprint")


def expect_lack(name, feature, wrapper=(), env=None):
    """Exit code 3 and one line, by option and by variable."""
    for options, variables in ((("--isa", name), {}), ((), {"KRAFLA_ISA": name})):
        result = call([*wrapper, program("run"), MODEL, *COMMAND, *options],
                      env=dict(env or environment(), **variables))
        lines = [line for line in result.err.decode().splitlines() if "qemu" not in line]
        assert result.code == 3 and not result.out, result
        assert lines == ["error: CPU lacks %s required by ISA=%s" % (feature, name)], result


def expect_used(name, wrapper=(), env=None, isa=None):
    """That backend serves, nothing is said of others, and the logits are what they always are."""
    result = call([*wrapper, program("run"), MODEL, *COMMAND, *(("--isa", isa) if isa else ())], env=env)
    assert result.code == 0 and statistic(result, "isa") == name, (name, result)
    assert statistic(result, "fingerprint") == reference(), result
    lines = [line for line in result.err.decode().splitlines() if "qemu" not in line]
    assert all(re.match(r"(prefill|positions|fingerprint): ", line) for line in lines), result


# ---- hidden features ----------------------------------------------------------------------------


def present():
    """All features that backends ask for and this CPU has."""
    out = call([program("info"), "--cpu", "--json"]).out
    have = set(json.loads(out)["cpu"])
    return sorted(have & {f for b in plugins() for f in b["features"]})


def test_every_feature_is_needed():
    have = json.loads(call([program("info"), "--cpu", "--json"]).out)["cpu"]
    for backend in plugins():
        if backend["state"] == "skipped":
            missing = [f for f in backend["features"] if f not in have]
            if missing:
                expect_lack(backend["name"], missing[0])
            continue
        for feature in backend["features"]:
            expect_lack(backend["name"], feature, env=environment(KRAFLA_CPU_MASK=feature))


def test_hidden_features():
    """One after the other, in pairs, and all."""
    have = present()
    if not have:
        raise Skip("no backend of this build that needs a CPU feature runs here")
    masks = {mask for n in (1, 2, len(have)) for mask in itertools.combinations(have, n)}
    for mask in sorted(masks):
        left = [f for f in have if f not in mask]
        env = environment(KRAFLA_CPU_MASK=",".join(mask))
        expect_used(best(left), env=env)
        told = json.loads(call([program("info"), "--backends", "--json"], env=env).out)
        for b in told["backends"]:
            hidden = [f for f in b["features"] if f in mask]
            if hidden and set(b["features"]) <= set(have):
                assert b["state"] == "skipped" and b["reason"] == "CPU lacks " + hidden[0], b


# ---- emulated CPUs ------------------------------------------------------------------------------


def emulator():
    if elf_machine(program("run")) != 62:
        raise Skip("not a build for x86-64")
    if SANITIZED:
        raise Skip("sanitizers do not run under qemu-user")
    if not shutil.which("qemu-x86_64"):
        raise Skip("qemu-x86_64 (qemu-user) is not here")
    return shutil.which("qemu-x86_64")


def test_emulated_cpus():
    qemu = emulator()
    for cpu, have in CPUS.items():
        wrapper = (qemu, "-cpu", cpu)
        for backend in plugins():
            lacks = [f for f in backend["features"] if f not in have]
            if lacks:
                expect_lack(backend["name"], lacks[0], wrapper)
        expect_used(best(have), wrapper)


# ---- plug-ins for other machines ----------------------------------------------------------------


def elf_machine(name):
    with open(name, "rb") as file:
        head = file.read(20)
    return int.from_bytes(head[18:], "little" if head[5] == 1 else "big") if \
        head[:4] == b"\x7fELF" else None


def patched(name, machine, source):
    with open(source, "rb") as file:
        data = bytearray(file.read())
    assert data[:4] == b"\x7fELF", source
    data[18:20] = machine.to_bytes(2, "little" if data[5] == 1 else "big")
    with open(name, "wb") as file:
        file.write(data)


def test_other_machines():
    """A plug-in that would serve, but for the machine that its file names."""
    usable = [b for b in plugins() if b["state"] != "skipped"]
    if not usable or not usable[0]["path"].endswith(".so"):
        raise Skip("no plug-in in an ELF file runs here")
    top = max(usable, key=lambda b: b["rank"])
    folder = path("machines")
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, os.path.basename(top["path"]))
    shutil.copy(top["path"], file)
    expect_used(top["name"], env=environment(KRAFLA_BACKEND_DIR=folder))
    own = elf_machine(file)
    builtin = max((b for b in found() if not b["path"]), key=lambda b: b["rank"])
    for machine, says in ((3, "x86"), (40, "ARM"), (62, "x86-64"), (183, "AArch64"),
                          (243, "RISC-V"), (0x1234, "unknown")):
        if machine == own:
            continue
        patched(file, machine, top["path"])
        env = environment(KRAFLA_BACKEND_DIR=folder)
        listed = call([program("info"), "--backends", "--json"], env=env)
        skipped = [b for b in json.loads(listed.out)["backends"] if b["path"]]
        assert len(skipped) == 1 and skipped[0]["state"] == "skipped", listed
        assert skipped[0]["reason"] == "is for another machine (%s, ELF machine %d)" % (
            says, machine), skipped
        expect_used(builtin["name"], env=env)
        # asked for by name, it is an error of loading: no CPU feature is missing
        result = call([program("run"), MODEL, *COMMAND, "--isa", top["name"]], env=env)
        assert result.code == 1 and result.err.count(b"\n") == 1, result
        assert b"another machine" in result.err and file.encode() in result.err, result


main(globals())
