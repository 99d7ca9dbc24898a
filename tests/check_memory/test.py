"""heddle check: what the checker itself keeps does not grow with a program's launches."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from findings import Checked
from tap import SANITIZED, Skip, heddle, main, source

folder = tempfile.TemporaryDirectory()
os.environ["HEDDLE_CACHE"] = "off"
SEES_HOST = os.uname().machine == "x86_64" and os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "libheddle-symbols.so"))
MANY = os.path.join(source, "tests", "check_memory", "many.cu")
with open(MANY) as f:
    LINES = {m: n for n, line in enumerate(f, 1) for m in re.findall(r"// @(\w+)", line)}


def build(source_file):
    path = os.path.join(folder.name, os.path.basename(source_file)[:-3])
    if not os.path.exists(path):
        done = subprocess.run([heddle, "cc", "-g", "-lineinfo", "-o", path, source_file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return path


def check(*arguments, options=("--tool", "racecheck")):
    done = Checked([build(MANY), *map(str, arguments)], options)
    assert not done.wrong, done.wrong
    return done


def grown_mib(*arguments):
    done = check(*arguments)
    assert not done.findings, done.findings
    return int(done.out) / 1024


def launches_that_are_waited_for_leave_nothing_behind():
    if SANITIZED:
        raise Skip("sanitizers keep what is freed")
    for streams in 1, 2:
        grown = grown_mib(200, streams)  # which have left 570 MiB when all was kept
        assert grown < 64, f"{grown} MiB more behind 200 launches in {streams} streams"


def races_behind_many_launches_are_found():
    for race, lines in ("streams", ("writes", "reads")), ("host", ("writes", "host")):
        if race == "host" and not SEES_HOST:
            continue
        for launches in 2, 200:
            found = [f for f in check(launches, 2, race).findings if f["code"] == "data-race"]
            at = sorted(f.get("cuda_line") or 0 for f in found)
            assert at == sorted(LINES[line] for line in lines), (race, launches, found)


main(globals())
