#!/usr/bin/env python3
"""Runs tools/compare-peers on a small random model, with a made-up peer whose speeds are known:
bench_compare.py COMPARE_PEERS BUILD_FOLDER KRAFLA_MAKE_MODEL."""
import json
import os
import re
import subprocess
import sys
import tempfile

COMPARE, BUILD, MAKE_MODEL = sys.argv[1:4]
count = failures = 0

# Prints what peer_bench.py would, and keeps the command line for the test to see.
PEER = """#!/bin/sh
echo "$@" >>"%s"
cat <<'END'
{"load": 1, "first_token": 2, "peak_memory": 3145728, "vocab": 320, "results": [
{"test": "prompt", "tokens": 8, "depth": 0, "speeds": [1e-3], "best": [319, 318, 317]},
{"test": "decode", "tokens": 2, "depth": 8, "speeds": [2e-3], "best": [319, 318, 317]}]}
END
"""


def check(name, good, detail=""):
    global count, failures
    count += 1
    failures += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    if not good:
        print("# " + str(detail).replace("\n", "\n# "))


def make_peer(folder):
    """A virtual environment as compare-peers looks for it."""
    os.makedirs(os.path.join(folder, "peer/bin"))
    library = os.path.join(folder, "peer/lib/python3/site-packages/llama_cpp/lib/libllama.so")
    os.makedirs(os.path.dirname(library))
    with open(library, "w"):
        pass
    python = os.path.join(folder, "peer/bin/python")
    with open(python, "w") as file:
        file.write(PEER % os.path.join(folder, "calls"))
    os.chmod(python, 0o755)


def compare(folder, *arguments):
    command = [COMPARE, "--build", BUILD, "--venv-dir", folder, "--skip-build", "--isa", "scalar",
               "--models", os.path.join(folder, "random.gguf"), "--prompt", "8", "--decode", "2"]
    return subprocess.run(command + list(arguments), stdout=subprocess.PIPE, timeout=120,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, universal_newlines=True)


def test_ratios(folder):
    report = os.path.join(folder, "report.json")
    run = compare(folder, "--engines", "llama,krafla,krafla-f32", "--venv", "llama-avx2=peer",
                  "--rounds", "3", "--json", report)
    check("exit code 0", run.returncode == 0, run.stderr)
    with open(report) as file:
        result, = json.load(file)
    ours = [r["tests"]["prompt 8"][0] for r in result["runs"]["krafla"]]
    check("three rounds", len(ours) == 3 and min(ours) > 0, ours)
    check("bandwidth before and after", len(result["bandwidth"]) == 2
          and min(result["bandwidth"]) > 1e8, result["bandwidth"])
    ratio = re.search(r"^krafla /.*\nllama-avx2 +(\S+) \[(\S+) to (\S+)\]", run.stdout, re.M)
    wanted = [sorted(ours)[1] * 1e3, min(ours) * 1e3, max(ours) * 1e3]
    found = [float(text) for text in ratio.groups()] if ratio else [0, 0, 0]
    check("ratio and its range", all(abs(f / w - 1) < 6e-3 for f, w in zip(found, wanted)),
          (found, wanted, run.stdout))
    check("a peer's memory", "3 MiB" in run.stdout and "2.000 s" in run.stdout, run.stdout)
    check("tokens that disagree are told", "llama-avx2 has 319, 318, 317" in run.stdout, run.stdout)
    with open(os.path.join(folder, "calls")) as file:
        calls = file.read().splitlines()
    check("the peer's command", len(calls) == 3 and len(set(calls)) == 1
          and calls[0].endswith("-p 8 -n 2 --depth 8 -t 1"), calls)


def test_markdown(folder):
    path = os.path.join(folder, "table.md")
    for section in ("one", "two", "one"):
        run = compare(folder, "--engines", "krafla,krafla-f32", "--rounds", "1", "--markdown", path,
                      "--section", section)
        check("exit code 0, section " + section, run.returncode == 0, run.stderr)
        with open(path) as file:
            text = file.read()
        if section == "two":
            second = text[text.index("<!-- compare-peers two"):]
            with open(path, "w") as file:
                file.write("before\n" + text + "after\n")
    check("each section once", text.count("<!-- compare-peers") == 2
          and text.count("| krafla f32 |") == 4, text)
    check("the rest is kept", text.startswith("before\n<!-- compare-peers one -->\n")
          and text.endswith(second + "after\n"), text)


def test_refusals(folder):
    run = compare(folder, "--engines", "llama")
    check("a peer that is not there", run.returncode == 1 and "llama-avx2" in run.stderr,
          run.stderr)
    run = compare(folder, "--engines", "other")
    check("exit code 2: an unknown engine", run.returncode == 2, run.stderr)
    run = compare(folder, "--engines", "krafla", "--isa", "none-such")
    check("Krafla's own message is shown", run.returncode == 1 and "none-such" in run.stderr
          and "exit code 2" in run.stderr, run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([MAKE_MODEL, "--type", "Q8_0", os.path.join(folder, "random.gguf")],
                       check=True)
        make_peer(folder)
        test_ratios(folder)
        test_markdown(folder)
        test_refusals(folder)
    print("1..%d" % count)
    return 1 if failures else 0


sys.exit(main())
