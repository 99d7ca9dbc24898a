#!/usr/bin/env python3
"""campaign.py NAME [--seconds N | --cases N] [--seed S] [--case N]: makes cases by seed and number, has each done in a process of
its own, and keeps those that show a mistake of Heddle's in FOUND (build/found), with what was said and how to repeat them. Prints
TAP, and what the cases were: a campaign without a difference says something only where many were valid and ran.

NAME is that of a module here, whose make(seed, number) gives a case for its PROGRAM: mutants, strides, moves, images, messages, programs,
events, races. --case N does that one alone and shows it.
"""
import argparse
import collections
import importlib
import os
import re
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
build = os.environ.get("HEDDLE_BUILD", os.path.join(source, "build"))
sys.path.insert(0, here)

# of a build with sanitizers
os.environ.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")

FINDINGS = {"crash", "hang", "canary", "bounds", "differs", "print", "unrepeatable", "lost"}


SHOWN = 30  # findings; all are kept


class Harness:
    """A process that does cases one after the other; another one where it is gone."""

    def __init__(self, program, log, limit):
        self.program, self.limit = program, limit
        self.log = open(log, "w+b")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["nice", os.path.join(build, "tests", self.program), "--seconds-a-case", str(self.limit)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log)

    def do(self, number, text):
        """What it says of a case, and what it and its child wrote to stderr."""
        if not self.process:
            self.start()
        self.log.seek(0)
        self.log.truncate()
        try:
            self.process.stdin.write(b"CASE %d %d\n" % (number, len(text)) + text)
            self.process.stdin.flush()
            line = self.process.stdout.readline().decode(errors="replace")
        except BrokenPipeError:
            line = ""
        if not line:
            line = f"{number} lost the harness itself has ended with status {self.process.wait()}"
            self.process = None
        self.log.seek(0)
        return line.split(" ", 1)[1].strip(), self.log.read().decode(errors="replace")

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


class Commands:
    """Does cases by commands, where a module says how: do(case), which gives a verdict and what was said."""

    def __init__(self, module):
        self.module = module

    def do(self, number, case):
        return self.module.do(case)

    def end(self):
        pass


def count(said, counts):
    """Adds what a case was: its verdict, and how its launches ended."""
    verdict = said.split()[0]
    counts[verdict] += 1
    for outcome, n in re.findall(r" ([a-z]+)=(\d+)", said):
        counts[f"of these, {outcome}"] += int(n)
    return verdict


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    parser.add_argument("--stop", action="store_true", help="at the first finding")
    parser.add_argument("--limit", type=int, default=15, help="seconds of processor time that a case may take")
    parser.add_argument("--cpu", help="the CPU level that is used (default: HEDDLE_CPU, or the best)")
    parser.add_argument("--found", default=os.path.join(build, "found"))
    o = parser.parse_args()
    if o.cpu:
        os.environ["HEDDLE_CPU"] = o.cpu
    again = f"tests/campaigns/campaign.py {o.name} --seed {o.seed}" + (f" --cpu {level}" if (level := os.environ.get("HEDDLE_CPU")) else "")
    module = importlib.import_module(o.name)
    make, program = module.make, getattr(module, "PROGRAM", "harness")
    encode = lambda case: case if isinstance(case, bytes) else case.encode("utf-8", "surrogateescape")
    os.makedirs(o.found, exist_ok=True)
    if o.case is not None:
        path = os.path.join(o.found, f"{o.name}-{o.seed}-{o.case}")
        with open(path, "wb") as f:
            f.write(encode(make(o.seed, o.case)))
        if hasattr(module, "do"):
            print(*module.do(make(o.seed, o.case)), sep="\n")
            return
        sys.exit(subprocess.run([os.path.join(build, "tests", program), path]).returncode)
    harness = Commands(module) if hasattr(module, "do") else Harness(program, os.path.join(o.found, f"{o.name}.log"), o.limit)
    counts, number, begin = collections.Counter(), o.first, time.time()
    while (time.time() - begin < o.seconds) if o.seconds else (number - o.first < (o.cases or 100)):
        case = encode(make(o.seed, number))
        said, log = harness.do(number, case)
        if count(said, counts) in FINDINGS:
            path = os.path.join(o.found, f"{o.name}-{o.seed}-{number}")
            with open(path, "wb") as f:
                f.write(case)
            with open(path + ".txt", "w") as f:
                f.write(f"{said}\n{log}\nrepeat: {again} --case {number}\n")
            if sum(counts[v] for v in FINDINGS) <= SHOWN:
                print(f"# case {number}: {said}", flush=True)
            if o.stop:
                number += 1
                break
        number += 1
    harness.end()
    found = sum(counts[v] for v in FINDINGS)
    for what in sorted(counts):
        print(f"# {counts[what]:8} {what}")
    print(f"# repeat case N: {again} --case N; kept in {o.found}")
    print(f"{'not ' if found else ''}ok 1 - {o.name}, seed {o.seed}: {number - o.first} cases in {time.time() - begin:.0f} s, {found} findings\n1..1")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
