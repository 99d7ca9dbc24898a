#!/usr/bin/env python3
"""How far `heddle explain` agrees with what Nsight Compute counted on an H200: 101 kernels, each one launch (kernels.tar.xz: their
source, the fat binary that nvcc 13.0 made of it, the counters). No nvcc is needed: clang compiles the host's side.

    agreement.py                   a table, and each difference
    agreement.py --write FILE      puts the table into a Markdown file, between its marks
    agreement.py NAME...           of these kernels only

HEDDLE_BUILD and HEDDLE_SOURCE say where Heddle is.
"""
import csv
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

source = os.environ.get("HEDDLE_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
heddle = os.path.join(os.environ.get("HEDDLE_BUILD") or os.path.join(source, "build"), "heddle")
MARK = "<!-- agreement -->"
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
LANES = ("smsp__thread_inst_executed.sum", "smsp__inst_executed.sum")

# What is compared: words, counters (a pair: their ratio), how exact "exact" is, of which kernels
ROWS = [
    ("requests, sectors, tag requests of global loads", [GLOBAL.format(c, "ld") for c in ("requests", "sectors", "set_accesses")], 0, ""),
    ("the same of global stores", [GLOBAL.format(c, "st") for c in ("requests", "sectors", "set_accesses")], 0, ""),
    ("requests of `red` and `atom`", [GLOBAL.format("requests", c) for c in ("red", "atom")], 0, ""),
    ("sectors of `red` and `atom`", [GLOBAL.format("sectors", c) for c in ("red", "atom")], 0, ""),
    ("requests, sectors of local memory", [LOCAL.format(c, o) for c in ("requests", "sectors") for o in ("ld", "st")], 0, ""),
    ("wavefronts, bank conflicts of shared memory: tables", [x.format(o) for x in (SHARED, CONFLICTS) for o in ("ld", "st", "atom")], 0, "tab_"),
    ("wavefronts of shared memory", [SHARED.format(o) for o in ("ld", "st", "atom")], 0, ""),
    ("active lanes an instruction, to 0.5 %", [LANES], 0.005, ""),
    ("registers a thread", ["launch__registers_per_thread"], 0, ""),
    ("occupancy: blocks by registers, warps, blocks; warps of a multiprocessor", ["launch__occupancy_limit_registers",
     "launch__occupancy_limit_warps", "launch__occupancy_limit_blocks", "sm__maximum_warps_per_active_cycle_pct"], 1e-3, ""),
    ("blocks by shared memory, as the driver divides it", ["launch__occupancy_limit_shared_mem"], 0, ""),
    ("bytes that DRAM reads, caches cold, of 64 KiB and more", ["dram__bytes_read.sum"], 0, ""),
    ("sectors that L2 reads for loads", ["l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum"], 0, ""),
    ("sectors that stores send to L2", ["l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum"], 0, ""),
    ("achieved occupancy", ["sm__warps_active.avg.pct_of_peak_sustained_active"], 0, ""),
    ("sectors of loads that miss L1", [GLOBAL.format("sectors", "ld")[:-4] + "_lookup_miss.sum"], 0, ""),
    ("machine instructions", ["smsp__inst_executed.sum"], 0, ""),
]
# The profiler itself, code and parameters are some kilobytes.
LEAST = {"bytes that DRAM reads, caches cold, of 64 KiB and more": 65536}


def build(folder, name="kernels"):
    """A program of NAME.tar.xz: its host code by clang, as `heddle cc` would have it, with nvcc's fat binary inside."""
    with tarfile.open(os.path.join(source, "tests", "explain", f"{name}.tar.xz")) as tar:
        tar.extractall(folder)
    shown = subprocess.run([heddle, "cc", "-std=c++17", "-O1", "-dryrun", f"{name}.cu", "-o", name], cwd=folder,
                           capture_output=True, text=True, check=True).stderr
    _, host, link = [line[len("#$ "):] for line in shown.splitlines()]
    with open(os.path.join(folder, f"{name}.fatbin"), "rb") as f:
        subprocess.run(shlex.split(host.split(" | ")[1]), cwd=folder, stdin=f, check=True, capture_output=True)
    subprocess.run(shlex.split(link), cwd=folder, check=True, capture_output=True)
    return os.path.join(folder, name)


def recorded(folder):
    with open(os.path.join(folder, "counters.tsv")) as f:
        return {r["name"]: r for r in csv.DictReader(f, delimiter="\t") if r["name"] != "cp_async"}


def counted(program, *args):
    """What was counted of its launches, and what it wrote."""
    file = os.path.join(os.path.dirname(program), "explained.json")
    done = subprocess.run([heddle, "explain", "-o", file + ".html", "--json", file, program, *args], capture_output=True, text=True,
                          env={**os.environ, "HEDDLE_CACHE": "off"})
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(file) as f:
        return json.load(f)["launches"], done.stdout


def explain(program, names):
    """The launches of these kernels, by name: what was counted."""
    launches, out = counted(program, "run", *names)
    ran = [line.split("\t")[0] for line in out.splitlines()]
    assert len(ran) == len(launches), (len(ran), len(launches))
    return dict(zip(ran, launches))


def figures(row, metrics, counter):
    if isinstance(counter, tuple):
        return float(row[counter[0]]) / float(row[counter[1]]), metrics[counter[0]] / metrics[counter[1]]
    return float(row[counter] or 0), metrics[counter]


def compare(rows, launches, what):
    """Kernels that agree exactly, within 10 %, that have something to compare, and by name what differs most; the factors by which
    all differ, sorted."""
    words, counters, exact, prefix = what
    counts, differ, factors = [0, 0, 0], {}, []
    for name, launch in launches.items():
        pairs = [figures(rows[name], launch["metrics"], c) for c in counters] if name.startswith(prefix) else []
        pairs = [(r, v) for r, v in pairs if max(r, v) >= LEAST.get(words, 1e-9)]
        if not pairs:
            continue
        # counters.tsv has four digits of what is no integer
        off = [abs(v / r - 1) if r else 1 for r, v in pairs]
        factors.append(max(max(r, v) / min(r, v) if r and v else math.inf for r, v in pairs))
        counts[0] += max(off) <= exact
        counts[1] += max(off) <= 0.1
        counts[2] += 1
        if max(off) > exact:
            differ[name] = max(zip(off, pairs))
    return counts, differ, sorted(factors)


def table(results):
    lines = ["| figure | exact | within 10 % | of | median factor | of nine in ten | farthest off |", "|---|---|---|---|---|---|---|"]
    for (words, *_), (counts, differ, factors) in results:
        most = sorted(differ, key=lambda n: -differ[n][0])
        where = ", ".join(most[:5]) + (f" and {len(most) - 5} more" if len(most) > 5 else "")
        shown = [f"{factors[int((len(factors) - 1) * share)]:.3g}" if factors else "" for share in (0.5, 0.9)]
        lines.append(f"| {words} | {counts[0]} | {counts[1]} | {counts[2]} | {shown[0]} | {shown[1]} | {where} |")
    return lines


def write(path, lines, mark=MARK):
    with open(path) as f:
        text = f.read()
    new = re.sub(f"{mark}\n.*?{mark}\n", lambda _: "\n".join([mark, *lines, mark, ""]), text, flags=re.S)
    with open(path, "w") as f:
        f.write(new)


def main(args):
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        rows = recorded(folder)
        into = args[1] if args[:1] == ["--write"] else None
        names = args if args and not into else list(rows)
        launches = explain(program, names)
        results = [(what, compare(rows, launches, what)) for what in ROWS]
        if into:
            return write(into, table(results))
        print("\n".join(table(results)))
        for (words, *_), (_, differ, _) in results:
            for name, (_, (there, here)) in sorted(differ.items()):
                print(f"{words}: {name}: {there:.6g} there, {here:.6g} here")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
