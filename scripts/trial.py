"""Compiles a program of a suite by nvcc or by Heddle's nvcc, runs it, and returns the result.

The program's shell commands have these variables: $NVCC, the compiler that is tried (it is also the first in $PATH); $TOOLKIT, its folder (also
$CUDA_PATH); $CCCL, options for CCCL's headers, which nvcc's toolkit has and Heddle's has not; $CHECKOUT, the folder of all checkouts; $OUT, a folder
to write to. The commands run in a copy of the program's folder. The copy is in $OUT, among links to the rest of its checkout, so the checkout does
not change.
"""
import collections
import dataclasses
import os
import re
import shutil
import signal
import subprocess

from running import run_limited

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
heddle = os.environ.get("HEDDLE", os.path.join(root, "build", "heddle"))

# how: passes, its own check says so; runs, it ends and says nothing of its result; fails; not done, in the time it has; does not compile;
# compiles, and is not run, as it was not done the other way. seconds: of processor time. why: one line, or empty.
Result = collections.namedtuple("Result", "how seconds why")


@dataclasses.dataclass(frozen=True)
class Way:
    name: str             # in tables
    by_nvcc: bool         # by nvcc, and run under `heddle run`; else by `heddle cc`, and run by itself
    environment: tuple = ()


NVCC, HEDDLE_CC = Way("nvcc", True), Way("heddle cc", False)
# For programs of the time before CUDA 13, whose runtime no longer has this name for it.
NVCC_OF_OLD = Way("nvcc", True, (("NVCC_APPEND_FLAGS", "-DcudaThreadSynchronize=cudaDeviceSynchronize"),))

FAILS = r"\bFAIL(?:ED|URE)?\b|mismatch|[Ii]ncorrect|(?:\[[a-z-]{4,}\]$)|heddle: "
PASSES = r"\bPASS|[Ss]uccess|[Cc]orrect|\bOK\b"


@dataclasses.dataclass
class Program:
    checkout: str         # folder's name below FOLDER
    folder: str           # below that
    build: str            # line of the shell
    run: str              # another
    size: str = ""        # how that is smaller than its own, for tables: arguments
    macros: dict = dataclasses.field(default_factory=dict)  # those of its sources that get other values in the copy; for tables, too
    options: tuple = ()   # of `heddle run`
    copied: bool = True   # False: the lines write to $OUT alone, and run in the checkout
    needs: str = ""       # what is not here: the program is not tried
    passes: str = PASSES  # what its output has where its check has passed, and where it has not
    fails: str = FAILS
    until: str = ""       # It is stopped when it says that: its check has passed, and measurements come. What never says it fails.
    why: str = ""         # why it does not pass, where that is known: for tables, in the place of what compilers and programs say

    def about(self):
        return " ".join([self.size, *(f"{name}={value}" for name, value in self.macros.items())]).strip()


def shadow(checkout, folder, into):
    """Makes `into` the checkout in links, but for the folder, which is copied."""
    at = ""
    for part in filter(None, folder.split("/")):
        os.makedirs(os.path.join(into, at), exist_ok=True)
        for name in os.listdir(os.path.join(checkout, at)):
            if name != part:
                os.symlink(os.path.join(checkout, at, name), os.path.join(into, at, name))
        at = os.path.join(at, part)
    shutil.copytree(os.path.join(checkout, folder), os.path.join(into, folder), symlinks=True, dirs_exist_ok=True)
    return os.path.join(into, folder)


def set_macros(folder, macros):
    for path in (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith((".cu", ".cuh", ".h"))):
        with open(path, errors="surrogateescape") as f:
            text = f.read()
        for name, value in macros.items():
            text = re.sub(rf"^(\s*#\s*define\s+{name})\s.*", rf"\1 {value}", text, flags=re.M)
        with open(path, "w", errors="surrogateescape") as f:
            f.write(text)


def first_error(text):
    """The line that says most about a failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"heddle: .*", r"Heddle (?:has (?:no|none of)|does not have) .*?(?=[:;]|$)", r".*\[not-supported.*", r"undefined reference.*",
                    r"cannot find -l.*", r"(?:fatal )?error: (?!ld returned).*", r"ptxas fatal.*", r"No such file.*", r".*[Ee]rror.*"):
        for line in lines:
            found = re.search(pattern, line)
            if found:
                return found.group(0)
    return lines[-1] if lines else "says nothing"


def judge(program, ran):
    text = ran.out + ran.err
    bad = re.search(rf".*(?:{program.fails}).*", text, re.M) if program.fails else None
    if ran.status and not ran.late and re.search("waiv", text, re.I):
        return Result("fails", ran.seconds, "waives itself: " + first_error(text))
    if ran.late:
        return Result("not done", ran.seconds, ran.late)
    if ran.status or bad:
        ended = f"signal {-ran.status}" if ran.status < 0 else f"exit status {ran.status}"
        return Result("fails", ran.seconds, bad.group(0).strip() if bad else f"{ended}: {first_error(ran.err + ran.out)}")
    if re.search(program.passes, text, re.M):
        return Result("passes", ran.seconds, "")
    return Result("fails" if program.until else "runs", ran.seconds, first_error(ran.err + ran.out) if program.until else "")


class Trial:
    """One program in one way."""

    def __init__(self, program, way, suites, tools, into, limit):
        self.program, self.way, self.limit = program, way, limit
        nvcc = shutil.which("nvcc") if way.by_nvcc else f"{tools}/bin/nvcc"
        toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc))) if way.by_nvcc else tools
        checkout, out = os.path.join(suites, program.checkout), os.path.join(into, "nvcc" if way.by_nvcc else "heddle-cc")
        self.folder = os.path.join(checkout, program.folder)
        os.makedirs(out, exist_ok=True)
        if program.copied:
            self.folder = os.path.join(out, program.checkout, program.folder)
            if not os.path.exists(self.folder):
                shadow(checkout, program.folder, os.path.join(out, program.checkout))
                if program.macros:
                    set_macros(self.folder, program.macros)
        cccl = "" if way.by_nvcc else " ".join(f"-I{suites}/cccl/{part}" for part in ("thrust", "cub", "libcudacxx/include"))
        self.environment = {**os.environ, "CCCL": cccl, "NVCC": nvcc, "TOOLKIT": toolkit, "CUDA_PATH": toolkit, "CUDA_HOME": toolkit,
                            "CHECKOUT": suites, "OUT": out, "PATH": f"{toolkit}/bin:{os.environ['PATH']}",
                            "LIBRARY_PATH": f"{toolkit}/lib64:{toolkit}/lib64/stubs", **dict(way.environment)}

    def build(self):
        """What went wrong, or None."""
        made = run_limited(["/bin/sh", "-ec", self.program.build], self.folder, 10 * self.limit, self.environment)
        if made.status == 0:
            return None
        return Result("does not compile", 0, made.late or first_error(made.err + made.out))

    def command(self):
        line = self.program.run
        return ["/bin/sh", "-c", "exec " + line if re.match(r"[./$\w-]+( [^;&|]*)?$", line) else line]

    def run(self):
        under = [heddle, "run", *self.program.options] if self.way.by_nvcc or self.program.options else []
        return judge(self.program, run_limited([*under, *self.command()], self.folder, self.limit, self.environment, self.program.until))


def install_tools(into):
    subprocess.run([heddle, "cc", "--install-tools", into], check=True, stdout=subprocess.DEVNULL)
    return into


def try_program(program, ways, known, suites, tools, into, limit):
    """{way: Result}. What takes too long one way, in `known` perhaps, takes as long the next way, and is only compiled there."""
    results = {}
    for way in ways:
        if way.by_nvcc and not shutil.which("nvcc"):
            continue
        trial = Trial(program, way, suites, tools, into, limit)
        late = any(how == "not done" for how, *_ in [*known.values(), *results.values()])
        results[way.name] = trial.build() or (Result("compiles", 0, "") if late else trial.run())
    shutil.rmtree(into, ignore_errors=True)
    return results
