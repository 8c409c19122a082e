#!/usr/bin/env python3
"""Sums up Meson's test logs.

  test-summary.py LOG...       each a meson-logs/testlog.json, or build-cross/TARGET/logs/CPU.*.json

Prints a table of the suites, what failed, what was skipped and why, where each backend was compared
with scalar, and last the line "N passed, N failed, N skipped". Exit status 1 if a test failed or none
passed.
"""
import collections
import json
import os
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def read(path):
    """The tests of a log: one JSON object a line. A log that is missing or cut short is a failure."""
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            return [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        return [{"name": "krafla:log / %s" % error, "result": "ERROR"}]


def place(path):
    """The target of a cross build and the CPU, or two empty texts for this machine."""
    parts = os.path.abspath(path).split(os.sep)
    if "build-cross" not in parts:
        return "", ""
    target = parts[parts.index("build-cross") + 1].replace("x86_64-static", "x86-bochs")
    return target, parts[-1].split(".")[0] if parts[-2] == "logs" else ""


def outcome(test):
    if test["result"] in PASSED:
        return "passed"
    return "skipped" if test["result"] in SKIPPED else "failed"


def split_name(name):
    """("unit", "size") of "krafla:unit / size" and "krafla:unit+slow / size"."""
    suite, _, rest = name.rpartition(" / ")
    return suite.rpartition(":")[2].partition("+")[0] or "-", rest


def skip_reasons(test):
    """Why a TAP program skipped itself or parts of itself."""
    found = re.findall(r"^(?:ok \d+.*|1\.\.0.*)#\s*skip:?\s*(.*)$", test.get("stdout") or "",
                       re.IGNORECASE | re.MULTILINE)
    return [reason.strip() or "no reason given" for reason in found]


def backends():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
    with open(os.path.join(root, "backends", "backends.list"), encoding="utf-8") as names:
        return names.read().split()


def compared(target, cpu, suite, name):
    """The backend that a test compares with scalar, and where; or None. The target x86-bochs, whose
    program is not Meson's, names both in its tests: "qemu Penryn, sse41: 12 kernels, 720 cases"."""
    if suite == "conformance":
        return name, "%s %s" % (target, cpu) if target else "this machine"
    found = re.match(r"(.*), (\w+): \d+ kernels, \d+ cases$", name)
    return (found.group(2), found.group(1)) if suite == "x86" and found else None


def print_backends(tests):
    """A line for each backend: where its bits were found to be scalar's."""
    places = collections.defaultdict(list)
    for (target, cpu), test in tests:
        what = compared(target, cpu, *split_name(test["name"]))
        if what and outcome(test) == "passed" and what[1] not in places[what[0]]:
            places[what[0]].append(what[1])
    known = [name for name in backends() if name != "scalar"]
    if any(places[name] for name in known):
        print("\nequal to scalar, bit by bit, on")
        for name in known:
            print("  %-13s %s" % (name, ", ".join(places[name]) or "nothing in this run"))


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    tests = [(place(path), test) for path in sys.argv[1:] for test in read(path)]
    suites = collections.defaultdict(collections.Counter)
    total = collections.Counter()
    print()
    for (target, cpu), test in tests:
        suite, name = split_name(test["name"])
        if target:  # a row for each target; which tests were skipped it has said itself
            name = "%s: %s / %s" % (cpu, suite, name) if cpu else name
            suite = target
        result = outcome(test)
        suites[suite][result] += 1
        total[result] += 1
        reasons = skip_reasons(test)
        if result == "failed":
            print("failed   %s / %s (%s)" % (suite, name, test["result"].lower()))
        elif target:
            pass
        elif reasons:
            parts = "" if result == "skipped" else "%d part(s) of " % len(reasons)
            print("skipped  %s%s / %s: %s" % (parts, suite, name, "; ".join(sorted(set(reasons)))))
        elif result == "skipped":
            print("skipped  %s / %s" % (suite, name))
    print_backends(tests)
    print("\n%-14s %7s %7s %7s" % ("suite", "passed", "failed", "skipped"))
    for suite in sorted(suites):
        counts = suites[suite]
        print("%-14s %7d %7d %7d" % (suite, counts["passed"], counts["failed"], counts["skipped"]))
    print("\n%d passed, %d failed, %d skipped"
          % (total["passed"], total["failed"], total["skipped"]))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
