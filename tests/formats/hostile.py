#!/usr/bin/env python3
"""Runs a program over the hostile files of the shared data and judges what it does.

hostile.py FORMAT [--stage S,...] [--robust S,...] [--asan] -- PROGRAM [ARGUMENT...]

FORMAT is a folder of $KRAFLA_SHARED/hostile; check_hostile.py there says what each file must lead
to. --stage: the files of these stages must be judged right in full. --robust: those of these stages
are another part's to refuse, so being taken is no fault here; a crash, a hang, a message that does
not name the file, or a good file refused still are. Exit status 77 without the shared data."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def run(check, folder, stage, asan, command, report):
    options = ["--stage", stage, "--report", report] + (["--asan"] if asan else [])
    return subprocess.run([sys.executable, check, folder, *options, "--", *command],
                          stdout=subprocess.PIPE, universal_newlines=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("format")
    parser.add_argument("--stage")
    parser.add_argument("--robust")
    parser.add_argument("--asan", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    shared = os.environ.get("KRAFLA_SHARED")
    if not shared:
        print("skipped: no shared data")
        return 77
    check = os.path.join(shared, "hostile", "check_hostile.py")
    folder = os.path.join(shared, "hostile", options.format)
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        report = os.path.join(temporary, "report.json")
        if options.stage:
            result = run(check, folder, options.stage, options.asan, options.command, report)
            print(options.stage + ":", result.stdout, end="")
            failed = result.returncode != 0
        if options.robust:
            result = run(check, folder, options.robust, options.asan, options.command, report)
            if result.returncode not in (0, 1):
                return 1
            with open(report) as file:
                cases = json.load(file)
            bad = [case for case in cases if set(case["fail"]) - {"accepted"}]
            for case in bad:
                print(case["file"], case["fail"], case["stderr"])
            print(options.robust + ": %d cases, %d bad" % (len(cases), len(bad)))
            failed = failed or bool(bad) or not cases
    return 1 if failed else 0


sys.exit(main())
