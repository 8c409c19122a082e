#!/usr/bin/env python3
"""The default build for x86-64 has no instruction outside of its plug-ins that some x86-64 CPU lacks.

baseline.py OBJDUMP BASELINE-FILE... -- HIGHER-FILE...: the former are disassembled and must keep to SSE2;
the latter, plug-ins that use more, show that this would be seen."""
import re
import subprocess
import sys

objdump, *files = sys.argv[1:]
baseline, higher = files[:files.index("--")], files[files.index("--") + 1:]

# Everything from VEX and EVEX on is spelled with a v; these are older.
OLD_V = {"verr", "verw", "vmcall", "vmlaunch", "vmresume"}
# Intel SDM volume 1, 5.6 ff.: what SSE3 and later sets of two-operand instructions added. tzcnt is
# not here: compilers write it as "rep bsf", which older CPUs run as bsf, where both agree.
ADDED = re.compile(
    r"addsub[ps][sd]|h(add|sub)p[sd]|lddqu|mov(d|sh|sl)dup|monitor|mwait|fisttp\w*"          # SSE3
    r"|pshufb|ph(add|sub)(s?w|d)|pmaddubsw|pmulhrsw|psign[bwd]|pabs[bwd]|palignr"            # SSSE3
    r"|p?blendv?(b|w|p[sd])|dpp[sd]|extractps|insertps|mpsadbw|movntdqa|packusdw|pcmpeqq"    # SSE4.1
    r"|p(extr|insr)[bdq]|phminposuw|p(max|min)(sb|sd|ud|uw)|pmov[sz]x\w\w|pmuldq|pmulld"
    r"|ptest|round[ps][sd]"
    r"|pcmp[ei]str[im]|pcmpgtq|crc32\w*|popcnt\w?"                                           # SSE4.2
    r"|lzcnt\w?|movbe\w?|andn\w?|bextr\w?|blsi\w?|blsr\w?|blsmsk\w?|pdep\w?|pext\w?|bzhi\w?" # BMI
    r"|mulx\w?|rorx\w?|sarx\w?|shlx\w?|shrx\w?|adcx\w?|adox\w?"
    r"|aes\w+|pclmul\w+|sha(1|256)\w+|gf2p8\w+|rdrand\w?|rdseed\w?|k(mov|or|and|xnor|unpck)\w+"
    r"|tile\w+|tdp\w+|ldtilecfg|sttilecfg|tpause|umwait|clwb|clflushopt|prefetchw?t1")
WIDE = re.compile(r"%[yz]mm|%xmm(1[6-9]|2\d|3[01])|%k[0-7]\b|%tmm")


def above(name):
    """(instructions in all, those above the baseline as "function: instruction")."""
    out = subprocess.run([objdump, "-d", "--no-show-raw-insn", name], stdout=subprocess.PIPE,
                         check=True, universal_newlines=True).stdout
    function, count, found = "?", 0, []
    for line in out.splitlines():
        if line.endswith(">:"):
            function = line.split("<")[1][:-2]
            continue
        parts = line.split("\t")
        if len(parts) < 2:
            continue
        count += 1
        words = [w for w in parts[1].split() if w not in ("lock", "rep", "repz", "repnz", "bnd", "notrack",
                                                          "data16", "cs")]
        mnemonic = words[0] if words else ""
        if (mnemonic.startswith("v") and mnemonic not in OLD_V) or ADDED.fullmatch(mnemonic) or \
                WIDE.search(parts[1]):
            found.append("%s: %s" % (function, parts[1]))
    return count, found


print("1..%d" % (len(baseline) + len(higher)))
number = 0
for name in baseline + higher:
    number += 1
    count, found = above(name)
    good = count > 5 and bool(found) == (name in higher)
    title = "%s, %d instructions, %d above SSE2" % (name.split("/")[-1], count, len(found))
    print("%s %d %s" % ("ok" if good else "not ok", number, title))
    if not good:
        for line in found[:20]:
            print("# " + line)
