"""What the tests of packaging share: an installed tree of this build, in a scratch folder, and commands.

KRAFLA_BUILD is the build folder, KRAFLA_SOURCE the tree of sources."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import (SANITIZED, Skip, environment, main, model, path,  # noqa: E402, F401
                     statistic)

BUILD, SOURCE = os.environ["KRAFLA_BUILD"], os.environ["KRAFLA_SOURCE"]
LIMIT = 1800 if SANITIZED else 900  # seconds: other tests may keep the machine busy


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            raise Skip(name + " is not here")


def succeed(*command, env=None, cwd=None):
    """Standard output of a command that must succeed, and its standard error."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=env or environment(), cwd=cwd, timeout=LIMIT,
                          check=False)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, "%r: exit %d\n%s\n%s" % (command, done.returncode, out[-6000:],
                                                          err[-6000:])
    return out, err


def files_under(folder):
    """Relative paths of the files and links."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names)


def install(name, *options):
    """Installs this build into a folder of that name; the folder."""
    need("meson")
    folder = path(name)
    succeed("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder, *options)
    return folder


def copy_sources(name):
    """A folder with what git would hand on and what else it does not ignore."""
    folder = path(name)
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE, "ls-files", "-co",
                             "--exclude-standard", "-z"], stdout=subprocess.PIPE, check=False) \
        if shutil.which("git") else None
    if not listed or listed.returncode:  # an unpacked release
        shutil.copytree(SOURCE, folder, symlinks=True, ignore=lambda where, names: [
            n for n in names if os.path.isdir(os.path.join(where, n, "meson-private"))])
        return folder
    for file in filter(None, listed.stdout.decode().split("\0")):
        source, target = os.path.join(SOURCE, file), os.path.join(folder, file)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    return folder


def build(name, targets, *options):
    """Configures another build of the sources and makes these targets in it; the folder."""
    need("meson", "ninja")
    folder = path(name)
    succeed("meson", "setup", folder, SOURCE, "-Dtests=disabled", *options)
    succeed("ninja", "-C", folder, "-j2", *targets)
    return folder


def find(folder, name):
    """The one file of this name under a folder."""
    found = [file for file in files_under(folder) if os.path.basename(file) == name]
    assert len(found) == 1, (name, found)
    return os.path.join(folder, found[0])


class Krafla:
    """The programs of an installed tree; wrapper stands before each command, as an emulator does."""

    def __init__(self, folder, wrapper=()):
        self.bin = os.path.dirname(find(folder, "krafla-run"))
        self.prefix = os.path.dirname(self.bin)
        self.wrapper = list(wrapper)

    def backends(self, *options, env=None):
        """What krafla-info tells of the backends, by name, and who gives each kernel."""
        out, _ = succeed(*self.wrapper, os.path.join(self.bin, "krafla-info"), "--backends",
                         "--json", *options, env=env)
        told = json.loads(out)
        return {b["name"]: b for b in told["backends"]}, told["kernels"]

    def fingerprint(self, file, *options, env=None):
        """(the backend at the top, SHA-256 of all logits) of a prompt and what follows it."""
        result = Told(*succeed(*self.wrapper, os.path.join(self.bin, "krafla-run"), file,
                               "--tokens", "5,6,7,8,9,300,17", "-n", "40", "--ignore-eos",
                               "--fingerprint", *options, env=env))
        return statistic(result, "isa"), statistic(result, "fingerprint")


class Told:
    """What harness.statistic reads."""

    def __init__(self, out, err):
        self.out, self.err = out.encode(), err.encode()

    def __str__(self):
        return "stdout: %r\nstderr: %r" % (self.out[-2000:], self.err[-2000:])
