#!/usr/bin/env python3
"""cuDNN under Heddle's tools; functions.c and others test what it computes."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

BUILD = os.environ["HEDDLE_BUILD"]


def explain_counts_each_operation_of_a_graph():
    """Of functions.c: attention has three products of 4 x 5 x 6 x 3, eight pointwise operations and two reductions of 4 x 5 x 6; the
    convolution of 1 x 2 x 4 x 5 with 3 x 3 x 3 filters has three pointwise operations; masks have none."""
    report = os.path.join(cases.WORK, "cudnn.json")
    status, out, err = tap.run("explain", "--json", report, os.path.join(BUILD, "tests", "library-cudnn"), env={**os.environ, "LD_LIBRARY_PATH": BUILD})
    assert status == 0, out + err
    with open(report) as f:
        row = next(c for c in json.load(f)["calls"] if c["call"] == "cudnnBackendExecute")
    attention, convolution = 3 * 2 * 4 * 5 * 6 * 3 + (8 + 2) * 4 * 5 * 6, 2 * 40 * 27 + 3 * 40
    assert row["flops"] == attention + convolution, row


if __name__ == "__main__":
    tap.main(globals())
