"""Runs programs of suites under `heddle check` and `heddle explain`."""
import json
import os
import sys
import tempfile

from pages import write_between
from running import cell, run_limited
from trial import first_error, heddle, judge, root

os.environ.setdefault("HEDDLE_BUILD", os.path.join(root, "build"))
sys.path.insert(0, os.path.join(root, "tests"))
from findings import Checked


def checked(trials):
    """Does the program's own check pass under `heddle check`, and what is found? A line each."""
    for name, trial in trials:
        found = Checked(trial.command(), ["--error-exitcode", "0", *trial.program.options], trial.folder, trial.limit, trial.environment)
        passed = found.status == 0 and not found.wrong
        print(f"{name}: {'passes' if passed else 'fails ' + (found.wrong or first_error(found.err + found.out))}", flush=True)
        for line in found.summary():
            print(f"  {line}", flush=True)


def explained(trials):
    """The table of docs/EXPLAIN.md: launches, and the time that they are estimated to take."""
    rows, passed, limit = [], 0, 0
    for name, trial in trials:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "explained.json")
            ran = run_limited([heddle, "explain", "-o", os.path.join(folder, "explain.html"), "--json", file, *trial.program.options, *trial.command()],
                              trial.folder, trial.limit, trial.environment)
            how, seconds, why = judge(trial.program, ran)
            launches = []
            if os.path.exists(file):
                with open(file) as f:
                    launches = json.load(f)["launches"]
        works, limit = how in ("passes", "runs"), trial.limit
        passed += works
        ns = sum(launch.get("time_ns", 0) for launch in launches)
        rows.append(f"| {name} | {len(launches)} | {seconds:.1f} | {1e-6 * ns:.3g} ms{'' if works else '; ' + cell(why)} |")
        print(rows[-1], flush=True)
    lines = [f"{passed} of {len(rows)} programs pass their own check in {limit} s.", "",
             "| program | launches | seconds | estimated on an H200 |", "|---|---|---|---|", *rows]
    write_between("<!-- samples -->", "\n".join(lines), os.path.join(root, "docs", "EXPLAIN.md"))
