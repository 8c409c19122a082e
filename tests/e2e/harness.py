"""What the end-to-end tests share: the programs, small random models, and TAP.

Programs come from the environment that Meson sets: KRAFLA_RUN, KRAFLA_INFO, KRAFLA_PERPLEXITY,
KRAFLA_MAKE_MODEL. A test is a function named test_*; it fails by AssertionError and is skipped by
Skip. main(globals()) runs all of a file."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

TEMPORARY = tempfile.mkdtemp(prefix="krafla-e2e-")
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)

SANITIZED = os.environ.get("KRAFLA_SANITIZED") == "1"
PROGRAM, SUFFIX = os.path.splitext(os.environ.get("KRAFLA_RUN", ""))
WINDOWS = SUFFIX == ".exe"
NOWHERE = "NUL" if WINDOWS else "/dev/null"
EMULATED = os.path.exists(PROGRAM + ".emulated" + SUFFIX)  # tools/cross/launchers
TIMEOUT = 1200 if EMULATED else 300 if SANITIZED else 60


class Skip(Exception):
    """Why a test cannot be run here."""


def program(name):
    return os.environ["KRAFLA_" + name.upper()]


def environment(**changes):
    """The environment without what would choose backends or libraries; None removes a variable."""
    env = {key: value for key, value in os.environ.items()
           if key not in ("KRAFLA_ISA", "ISA_LM_ISA", "KRAFLA_BACKEND_DIR", "KRAFLA_CPU_MASK",
                          "LD_LIBRARY_PATH")}
    for key, value in changes.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


class Result:
    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    def __repr__(self):  # so that a failed assertion shows it, alone or among others
        return "%r: exit %d\nstdout: %r\nstderr: %r" % (self.arguments, self.code,
                                                        self.out[-2000:], self.err[-2000:])


def call(command, stdin=None, env=None, cwd=None):
    """Runs a command on bytes. Its standard input is empty unless stdin gives it some."""
    done = subprocess.run(command, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env or environment(),
                          cwd=cwd or TEMPORARY, timeout=TIMEOUT, check=False)
    return Result(command, done.returncode, done.stdout, done.stderr)


def run(*arguments, **options):
    return call([program("run"), *arguments], **options)


def succeed(*arguments, **options):
    result = run(*arguments, **options)
    assert result.code == 0, result
    return result


def refuse(code, message, *arguments, **options):
    """The program must end with this code, say nothing on standard output, and one line with this
    text on standard error."""
    result = run(*arguments, **options)
    assert result.code == code, result
    assert result.out == b"", result
    lines = result.err.decode("utf-8").splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), result
    assert message in lines[0], (message, result)
    return lines[0]


def statistic(result, name):
    """The value of "name: value" in the statistics, up to a comma or the end of the line."""
    for line in result.err.decode("utf-8").splitlines():
        for part in line.split(", "):
            if part.startswith(name + ": "):
                return part[len(name) + 2:]
    raise AssertionError((name, str(result)))


def encode(file, text):
    """The ids of a text, as strings."""
    counted = succeed(file, "--dump-logits", NOWHERE, stdin=text)
    n = statistic(counted, "positions")
    return succeed(file, "--ids", "-n", n, stdin=text).out.decode().split()


def not_on_windows(why):
    if WINDOWS:
        raise Skip("not on Windows: " + why)


def path(name):
    return os.path.join(TEMPORARY, name)


def model(*options):
    """A random model made with these options of krafla-make-model; the same options, the same
    file."""
    name = path("model" + "".join(option.replace("-", "_") for option in options) + ".gguf")
    if not os.path.exists(name):
        subprocess.run([program("make_model"), *options, name], check=True, stdout=subprocess.PIPE)
    return name


def backends():
    """What krafla-info tells about the backends of this build on this CPU."""
    result = call([program("info"), "--backends", "--json"])
    assert result.code == 0, result
    return json.loads(result.out)


def usable_isas():
    return [b["name"] for b in backends()["backends"] if b["state"] != "skipped"]


def main(names):
    tests = [value for name, value in names.items() if name.startswith("test_")]
    print("1..%d" % len(tests))
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__[5:]
        try:
            test()
            print("ok %d %s" % (number, name))
        except Skip as reason:
            print("ok %d %s # SKIP %s" % (number, name, reason))
        except Exception:  # a broken test must not hide those after it
            failed += 1
            print("not ok %d %s" % (number, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
