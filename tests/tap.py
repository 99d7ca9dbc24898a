"""Tests of the command line in Python: runs heddle, prints TAP."""
import inspect
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import traceback

source = os.environ["HEDDLE_SOURCE"]
heddle = os.path.join(os.environ["HEDDLE_BUILD"], "heddle")
examples = os.path.join(source, "examples")
with open(heddle, "rb") as f:
    SANITIZED = b"__asan_init" in f.read()  # programs that are not can load no library that is


FULL = os.environ.get("HEDDLE_TESTS") == "all"  # `make check-all`
test_name, cases_left, left = "", {}, set()  # the test that runs; of each that leaves out cases, how many; what else is left out


class Skip(Exception):
    """What a test raises that cannot be done here, with the reason."""


class Folder(tempfile.TemporaryDirectory):
    """The suite's own, which goes with it."""

    def path(self, name):
        return os.path.join(self.name, name)

    def write(self, name, text):
        """Returns the file's path."""
        with open(self.path(name), "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)
        return self.path(name)


def need_loadable_libraries():
    """For programs, and Python, that load Heddle's libraries: those that are built with sanitizers they cannot."""
    if SANITIZED:
        raise Skip("it is built with sanitizers")


def need_clang():
    if not shutil.which("clang-19"):
        raise Skip("heddle cc needs clang-19")


def run(*args, cwd=None, stdin=None, env=None):
    """Runs heddle; returns its exit status, stdout and stderr."""
    done = subprocess.run([heddle, *map(str, args)], capture_output=True, text=True, cwd=cwd, input=stdin,
                          env=env, timeout=300)
    return done.returncode, done.stdout, done.stderr


def launch(*args, **more):
    """A launch that must succeed, as its JSON."""
    status, out, err = run("launch", *args, "--json", **more)
    assert status == 0, f"heddle launch {' '.join(map(str, args))}: status {status}\n{out}{err}"
    return json.loads(out)


def values(result, argument):
    """All elements of an argument that was launched with +print; those that JSON cannot write stay strings."""
    (buffer,) = [b for b in result["buffers"] if b.get("argument") == argument]
    return buffer["values"]


def variable(result, name):
    (buffer,) = [b for b in result["buffers"] if b.get("variable") == name]
    return buffer["values"]


def some(n, cases):
    """The first n cases; with `make check-all` all of them. The most telling come first."""
    cases = list(cases)
    cases_left[test_name] = cases_left.get(test_name, 0) + max(0, len(cases) - n)
    return cases if FULL else cases[:n]


def in_full(test):
    """A test that `make check-all` alone runs."""
    test.in_full = True
    return test


def cpu_seconds():
    """Of this process, and of those that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def unpack(archive, folder):
    """An archive of this tree's. (Python has `filter` since 3.11.4; Debian 12's may be older.)"""
    with tarfile.open(archive) as t:
        t.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def main(module):
    """Runs the functions of a test that take no arguments; their names, as sentences, are the tests' names. Arguments of the
    program, where there are some, choose those whose names contain one of them."""
    own = [f for f in module.values() if inspect.isfunction(f) and f.__module__ == "__main__"]
    tests = [f for f in own if not inspect.signature(f).parameters]
    tests = [f for f in tests if not sys.argv[1:] or any(part in f.__name__ for part in sys.argv[1:])]
    long = [f for f in tests if hasattr(f, "in_full")]
    tests = tests if FULL or sys.argv[1:] else [f for f in tests if f not in long]
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        global test_name
        test_name = test.__name__.replace("_", " ")
        name = f"{number} - {test_name}"
        before = cpu_seconds()
        try:
            test()
            print(f"ok {name}", flush=True)
        except Skip as reason:
            print(f"ok {name} # SKIP {reason}", flush=True)
        except Exception:
            failed += 1
            traceback.print_exc(file=sys.stdout)
            print(f"not ok {name}", flush=True)
        print(f"# {cpu_seconds() - before:.1f} s of CPU", flush=True)
    adds = [f'"{f.__name__.replace("_", " ")}"' for f in long] + sorted(left)
    if any(cases_left.values()):
        adds.append(f"{sum(cases_left.values())} cases of {sum(map(bool, cases_left.values()))} tests")
    if adds:
        print("# check-all adds: " + ", ".join(adds))
    sys.exit(failed > 0)
