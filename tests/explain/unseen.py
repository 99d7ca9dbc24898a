#!/usr/bin/env python3
"""How far `heddle explain` is off for kernels that its model of time was not made from: 53 of them (unseen.tar.xz: their source, the
fat binary that nvcc 13.0 made of it, what an H200 took and Nsight Compute counted). They were written and recorded apart from
the model's making: nothing of it was chosen by them.

    unseen.py                      a table, and the time of each kernel
    unseen.py --write FILE         puts the table into a Markdown file, between its marks

HEDDLE_BUILD and HEDDLE_SOURCE say where Heddle is.
"""
import csv
import math
import os
import sys
import tempfile

from agreement import GLOBAL, build, counted, write

MARK = "<!-- unseen -->"
EXACT = [("requests and sectors of global loads", [GLOBAL.format(c, "ld") for c in ("requests", "sectors")]),
         ("requests and sectors of global stores", [GLOBAL.format(c, "st") for c in ("requests", "sectors")]),
         ("registers a thread; warps of a multiprocessor",
          ["launch__registers_per_thread", "sm__maximum_warps_per_active_cycle_pct"])]


def recorded(folder):
    with open(os.path.join(folder, "unseen.tsv")) as f:
        return list(csv.DictReader(f, delimiter="\t"))


def measure():
    """By kernel: its name, estimated / measured. And of each row of EXACT the kernels that differ."""
    with tempfile.TemporaryDirectory() as folder:
        launches, _ = counted(build(folder, "unseen"))
        rows = recorded(folder)
    assert len(rows) == len(launches), (len(rows), len(launches))
    ratios = {r["name"]: l["time_ns"] / float(r["event_warm_ns"]) for r, l in zip(rows, launches)}
    differ = {words: [r["name"] for r, l in zip(rows, launches) if any(float(r[c]) != l["metrics"][c] for c in counters)]
              for words, counters in EXACT}
    return ratios, differ


def factor(ratio):
    return max(ratio, 1 / ratio)


def mean_factor(ratios):
    return math.exp(sum(math.log(factor(r)) for r in ratios.values()) / len(ratios))


def table(ratios, differ):
    n = len(ratios)
    most = sorted(ratios, key=lambda name: -factor(ratios[name]))[:8]
    lines = ["| figure | of %d kernels | farthest off |" % n, "|---|---|---|"]
    for words, names in differ.items():
        lines.append(f"| {words} | {n - len(names)} exact | {', '.join(names)} |")
    lines.append(f"| estimated time | geometric mean {mean_factor(ratios):.2f}; {sum(factor(r) <= 1.25 for r in ratios.values())} within 1.25, "
                 f"{sum(factor(r) <= 1.5 for r in ratios.values())} within 1.5 | "
                 + ", ".join(f"{name} {ratios[name]:.2f}" for name in most) + " |")
    return lines


def main(args):
    ratios, differ = measure()
    lines = table(ratios, differ)
    if args[:1] == ["--write"]:
        return write(args[1], lines, MARK)
    print("\n".join(lines))
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
