#!/usr/bin/env python3
"""Counts the recorded kernels anew, and writes what the model of time reads of them to recorded.txt.xz: a line a launch with its name, its
group (kernels that are alike are left out together), the nanoseconds that an H200 took from an event before it to one behind it, L2
warm, the median of 31, and its counters, field=value. Names, groups and times stay as they are; so does what a test of the
model needs to change when explain/cost.def or the counting does.

    record.py                      writes recorded.txt.xz (two minutes)
    record.py TIMES FIGURES.json...   prints such lines of other launches: TIMES has a line a launch with name, group and nanoseconds,
                                   `heddle explain --json NAME.json` the rest
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "explain"))
import agreement

RECORDED = os.path.join(here, "recorded.txt.xz")


def counters(launch):
    """(name, value) of what the model reads: src/explain/counters.h."""
    for name in ("blocks", "warps", "static_shared_bytes", "dynamic_shared_bytes", "local_bytes", "registers", "warp_instructions",
                 "thread_instructions", "branches", "divergent", "busiest_sm"):
        yield name, launch[name]
    spills = launch.get("spills", {"bytes": 0, "loads": 0, "stores": 0})
    yield from (("spilled_bytes", spills["bytes"]), ("spill_loads", spills["loads"]), ("spill_stores", spills["stores"]))
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    yield "threads_per_block", threads
    yield "warps_per_block", (threads + 31) // 32
    yield "touched_lines", launch["footprint"]["touched_lines"]
    yield "hot", launch["footprint"]["hot"]
    yield "barrier_warps", launch["barriers"]["warps"]
    for kind, access in launch["access"].items():
        for name, value in access.items():
            if name != "stride":
                yield f"{kind}.{name}", value
    for name, value in launch["classes"].items():
        yield f"class.{name}", value
    for clock in ("sum_block", "max_block"):
        for level, value in enumerate(launch["clock"][clock]):
            yield f"{clock}_clock{level}", value


def row(name, group, ns, figures):
    with open(figures, encoding="utf-8") as f:
        launch = json.load(f)["launches"][-1]
    return " ".join([name, group, ns, *(f"{k}={v:.7g}" for k, v in counters(launch) if v)]) + "\n"


def record():
    with lzma.open(RECORDED, "rt") as f:
        known = [line.split()[:3] for line in f]
    with tempfile.TemporaryDirectory() as folder:
        program, figures, rows = agreement.build(folder), os.path.join(folder, "figures.json"), []
        for name, group, ns in known:
            subprocess.run([agreement.heddle, "explain", "-o", os.path.join(folder, "page.html"), "--json", figures, program, "run", name],
                           check=True, capture_output=True)
            rows.append(row(name, group, ns, figures))
    with open(RECORDED, "wb") as f:
        f.write(lzma.compress("".join(rows).encode(), preset=9 | lzma.PRESET_EXTREME))


if len(sys.argv) == 1:
    record()
else:
    files = {os.path.splitext(os.path.basename(path))[0]: path for path in sys.argv[2:]}
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            if line.split()[0] in files:
                print(row(*line.split(), files[line.split()[0]]), end="")
