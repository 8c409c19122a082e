#!/usr/bin/env python3
"""Runs krafla-bench on a small random model.

bench.py KRAFLA_BENCH KRAFLA_MAKE_MODEL INEXACT_BACKEND; the last is a plug-in whose logits
are wrong, to see that krafla-bench notices."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BENCH, MAKE_MODEL, INEXACT = sys.argv[1:4]
count = failures = 0


def check(name, good, detail=""):
    global count, failures
    count += 1
    failures += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    if not good:
        print("# " + str(detail).replace("\n", "\n# "))


def bench(*arguments):
    return subprocess.run([BENCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, universal_newlines=True, timeout=120)


def test_json(model):
    run = bench(model, "-n", "4", "-p", "3,9", "--depth", "0,5", "-t", "1,2", "-r", "2", "--json",
                "--isa", "scalar")
    check("exit code 0", run.returncode == 0, run.stderr)
    report = json.loads(run.stdout)
    check("one model", report["vocab"] == 320 and report["types"] == "Q8_0", run.stdout)
    check("times in order", 0 < report["load"] < report["first_token"], run.stdout)
    check("peak memory", report["peak_memory"] is None or report["peak_memory"] > 1 << 20)
    groups = report["groups"]
    check("a group for each number of threads", [g["threads"] for g in groups] == [1, 2])
    check("read bandwidth before and after",
          all(g["read_before"] > 1e8 and g["read_after"] > 1e8 for g in groups), run.stdout)
    wanted = [("prompt", 3, 0), ("prompt", 9, 0), ("decode", 4, 0), ("decode", 4, 5)]
    logits = {}
    for group in groups:
        results = group["results"]
        shape = [(r["test"], r["tokens"], r["depth"]) for r in results]
        check("all tests, %d threads" % group["threads"], shape == wanted, shape)
        for r in results:
            name = "%s %d at %d, %d threads" % (r["test"], r["tokens"], r["depth"],
                                                group["threads"])
            speeds = sorted(r["speeds"])
            check(name + ": median and range of two", len(speeds) == 2 and speeds[0] > 0
                  and r["min"] == speeds[0] and r["max"] == speeds[1]
                  and abs(r["median"] * 2 / sum(speeds) - 1) < 1e-6, r)
            positions = r["tokens"] + r["depth"]
            check(name + ": the same logits", r["same"] and len(r["logits"]) == 64
                  and logits.setdefault(positions, r["logits"]) == r["logits"], r)
    check("other positions, other logits", len(set(logits.values())) == 3, logits)
    decode = groups[0]["results"][3]
    # keys and values in f32: 2 layers, 2 heads of 16, at 5 positions and half of the 4 more
    read = report["weight_bytes"] + 2 * 4 * 2 * 2 * 16 * 7.5
    check("bytes that a decode reads", decode["read_bytes"] == read, (decode, read))
    check("bandwidth is bytes times speed",
          abs(decode["bandwidth"] / (read * decode["median"]) - 1) < 1e-6, decode)


def test_table(model):
    run = bench(model, "-n", "2", "-p", "0", "-r", "1", "-t", "1", "--kv", "q8", "--batch", "7")
    lines = run.stdout.splitlines()
    check("table", run.returncode == 0 and any("decode 2 at 0" in line for line in lines),
          run.stdout + run.stderr)
    check("no prompt was asked for", "prompt" not in run.stdout, run.stdout)


def test_usage(model):
    cases = [[model, "--no-such-option"], [], [model, model], [model, "-t", "0"],
             [model, "-t", "1,,2"], [model, "-p", "12x"], [model, "-n", "-1"], [model, "-r", "0"],
             [model, "--kv", "f64"], [model, "--isa", ""], [model, "--isa", "scalar,none-such"],
             [model, "-n", "0", "-p", "0"], [model, "--depth", "500", "-n", "13"],
             [model, "--batch", "129"]]
    for case in cases:
        run = bench(*case)
        check("exit code 2: " + " ".join(case[1:]), run.returncode == 2 and not run.stdout
              and run.stderr.startswith("error: ") and run.stderr.count("\n") == 1,
              (run.returncode, run.stderr))
    run = bench(model + ".none", "-p", "1", "-n", "1")
    check("exit code 1: no such file", run.returncode == 1 and model in run.stderr, run.stderr)


def test_inexact(model, folder):
    shutil.copy(INEXACT, folder)
    run = bench(model, "-n", "2", "-p", "3", "-r", "1", "-t", "1", "--json",
                "--isa", "scalar,inexact", "--backend-dir", folder)
    check("exit code 1 when logits differ", run.returncode == 1
          and "different logits" in run.stderr, (run.returncode, run.stderr))
    report = json.loads(run.stdout)
    scalar, inexact = report["groups"]
    check("which is said", not report["same"] and all(r["same"] for r in scalar["results"])
          and not any(r["same"] for r in inexact["results"]), run.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "random.gguf")
        subprocess.run([MAKE_MODEL, "--type", "Q8_0", model], check=True)
        test_json(model)
        test_table(model)
        test_usage(model)
        test_inexact(model, folder)
    print("1..%d" % count)
    return 1 if failures else 0


sys.exit(main())
