#!/usr/bin/env python3
"""summary.py TARGET FOLDER: what the tests of a cross build came to.

FOLDER holds CPU.LOG.json, Meson's test logs of each CPU, and the file expected: lines of a CPU's name
and the backends that it must run. Prints, per backend, where its conformance test passed, what failed and
what was skipped elsewhere, and last "TARGET: N passed, N failed, N skipped". Exit status 1 if a test
failed, if none passed, or if a backend did not run where it must."""
import collections
import glob
import json
import os
import re
import sys


def read_log(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return [json.loads(line) for line in log if line.strip()]


def split_name(name):
    """("unit", "size") of "krafla:unit / size" and "krafla:unit+slow / size"."""
    suite, _, rest = name.rpartition(" / ")
    return suite.rpartition(":")[2].partition("+")[0], rest


def outcome(test):
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return "passed"
    return "skipped" if test["result"] == "SKIP" else "failed"


def reasons(test):
    found = re.findall(r"^(?:ok \d+.*|1\.\.0.*)#\s*skip:?\s*(.*)$|^(skipped: .*)$",
                       test.get("stdout") or "", re.IGNORECASE | re.MULTILINE)
    return sorted({(a or b).strip() for a, b in found})


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    target, folder = sys.argv[1:]
    with open(os.path.join(folder, "expected"), encoding="utf-8") as file:
        expected = {line.split()[0]: line.split()[1:] for line in file if line.strip()}
    listed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../backends/backends.list")
    with open(listed, encoding="utf-8") as file:
        backends = file.read().split()
    total = collections.Counter()
    ran = collections.defaultdict(list)
    skips = collections.defaultdict(list)
    bad = []
    print()
    for cpu in expected:
        counts = collections.Counter()
        passed_backends = set()
        conformance_ran = False
        logs = glob.glob(os.path.join(glob.escape(folder), cpu + ".*.json"))
        for test in [test for log in sorted(logs) for test in read_log(log)]:
            suite, name = split_name(test["name"])
            result = outcome(test)
            counts[result] += 1
            total[result] += 1
            if result == "failed":
                bad.append("%s: %s / %s (%s)" % (cpu, suite, name, test["result"].lower()))
            if suite == "conformance" and name in backends:
                conformance_ran = True
                if result == "passed":
                    passed_backends.add(name)
                    ran[name].append(cpu)
            elif result == "skipped" or reasons(test):
                why = "; ".join(reasons(test)) or "no reason given"
                skips["%s / %s: %s" % (suite, name, why)].append(cpu)
        print("%-12s %4d passed %3d failed %3d skipped" %
              (cpu, counts["passed"], counts["failed"], counts["skipped"]))
        if conformance_ran:
            for backend in expected[cpu]:
                if backend not in passed_backends:
                    bad.append("%s: backend %s did not run" % (cpu, backend))
    for skip, cpus in sorted(skips.items()):
        print("skipped  %s  (%s)" % (skip, ", ".join(cpus)))
    print("\nequal to scalar")
    for backend, cpus in sorted(ran.items()):
        print("%-14s %2d of %d CPUs: %s" % (backend, len(cpus), len(expected), " ".join(cpus)))
    for line in bad:
        print("failed   " + line)
    print("\n%s: %d passed, %d failed, %d skipped"
          % (target, total["passed"], total["failed"], total["skipped"]))
    return 1 if bad or not total["passed"] else 0


sys.exit(main())
