#!/usr/bin/env python3
"""fused.py OBJDUMP FUSED FILE...: no FILE may hold a fused multiply-add of floats, whose single
rounding would give other bits; FUSED, which holds one, shows that it would be seen.

(vmla.f32 of 32-bit ARM is not fused: it rounds the product, then the sum.)"""
import re
import subprocess
import sys

FUSED = {
    "x86": r"vfn?m(add|sub|addsub|subadd)\d*[ps][sdh]",
    "aarch64": r"f(n?m(add|sub|la|ls|ad|sb)|cmla|mlal2?|mlsl2?|mmla)|bf(mmla|dot|mlal[bt]?)",
    "arm": r"vf(n?m[as])(\.\w+)*|vmmla|vdot\.bf16",
}


def fused(objdump, path):
    """(function, instruction) of each fused one."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE,
                          check=True, universal_newlines=True).stdout
    machine = re.search(r"file format elf\d+-(\w+)", text).group(1)
    pattern = FUSED["x86" if machine in ("x86", "i386") else
                    "arm" if machine.startswith("littlearm") else "aarch64"]
    name, found, count = None, [], 0
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if head:
            name = head.group(1)
        parts = line.split("\t")
        if len(parts) < 2:
            continue
        count += 1
        mnemonic = parts[1].split(" ")[0]
        if re.fullmatch(pattern, mnemonic):
            found.append((name, mnemonic))
    if count < 20:
        raise SystemExit("%s: hardly any instructions were seen" % path)
    return found


def main():
    objdump, known, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not fused(objdump, known):
        raise SystemExit("%s: the fused instruction in it was not seen" % known)
    bad = [(path, name, mnemonic) for path in files for name, mnemonic in fused(objdump, path)]
    for path, name, mnemonic in bad:
        print("%s: %s has %s" % (path, name, mnemonic))
    print("%d files, %d fused instructions" % (len(files), len(bad)))
    return 1 if bad or not files else 0


sys.exit(main())
