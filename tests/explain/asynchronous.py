#!/usr/bin/env python3
"""How far `heddle explain` agrees with an H200 on asynchronous copies and tensor cores: 34 kernels (async.tar.xz: their source, the fat
binary that nvcc 13.0 made of it, what an H200 took and CUPTI counted). Latencies and rates of the instructions were measured one by
one, by tensor_rates.cu (machine.tar.xz), as rates.def and cost.def say; of these kernels bulk_add_one alone has given the model a number.

    asynchronous.py [NAME]...            a table, the time of each kernel, and each difference
    asynchronous.py --write FILE         puts the table into a Markdown file, between its marks

HEDDLE_BUILD and HEDDLE_SOURCE say where Heddle is.
"""
import csv
import os
import sys
import tempfile

from agreement import GLOBAL, build, counted, write
from unseen import factor, mean_factor

MARK = "<!-- asynchronous -->"
XBAR = "l1tex__m_{}_sectors_mem_global_op_{}.sum"
EXACT = [
    ("requests, sectors, tag requests of loads, cp.async among them", [GLOBAL.format(c, "ld") for c in ("requests", "sectors", "set_accesses")]),
    ("wavefronts of shared memory of cp.async", ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"]),
    ("requests and sectors of stores", [GLOBAL.format(c, "st") for c in ("requests", "sectors")]),
    ("bulk copies and tensor copies: instructions, sectors", [XBAR.format("xbar2l1tex_read", "tma_ld")]
     + [XBAR.format("l1tex2xbar_write", c) for c in ("tma_st", "tma_red")]
     + ["smsp__sass_inst_executed_op_tma_" + c + ".sum" for c in ("ld", "st", "red")]),
    ("wgmma: instructions, wavefronts of shared memory", ["smsp__inst_executed_pipe_tensor_op_gmma.sum",
                                                         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"]),
]


def measure(names=()):
    """By kernel: its name, estimated / measured. And of each row of EXACT what is compared: name, counter, there, here."""
    with tempfile.TemporaryDirectory() as folder:
        launches, out = counted(build(folder, "async"), *names)
        with open(os.path.join(folder, "async.tsv")) as f:
            rows = {r["name"]: r for r in csv.DictReader(f, delimiter="\t")}
    ran = dict(zip((line.split("\t")[0] for line in out.splitlines()), launches))
    assert set(ran) == set(names or rows) and len(ran) == len(launches), (len(rows), len(launches))
    ratios = {name: l["time_ns"] / float(rows[name]["event_warm_ns"]) for name, l in ran.items()}
    pairs = {words: [(name, c, float(rows[name][c]), l["metrics"][c]) for name, l in ran.items() for c in counters
                     if float(rows[name][c]) or l["metrics"][c]] for words, counters in EXACT}
    return ratios, pairs


def differences(pairs):
    return sorted({name for name, _, there, here in pairs if there != here})


def table(ratios, compared):
    lines = ["| figure | exact | of | farthest off |", "|---|---|---|---|"]
    for words, pairs in compared.items():
        n, off = len({name for name, *_ in pairs}), differences(pairs)
        lines.append(f"| {words} | {n - len(off)} | {n} | {', '.join(off)} |")
    most = sorted(ratios, key=lambda name: -factor(ratios[name]))[:8]
    lines.append(f"| estimated time | geometric mean {mean_factor(ratios):.2f}; {sum(factor(r) <= 1.25 for r in ratios.values())} within 1.25 | "
                 f"{len(ratios)} | " + ", ".join(f"{name} {ratios[name]:.2f}" for name in most) + " |")
    return lines


def main(args):
    into = args[1] if args[:1] == ["--write"] else None
    ratios, compared = measure(() if into else args)
    lines = table(ratios, compared)
    if into:
        return write(into, lines, MARK)
    print("\n".join(lines))
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")
    for pairs in compared.values():
        for name, counter, there, here in pairs:
            if there != here:
                print(f"{counter}: {name}: {there:.6g} there, {here:.6g} here")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
