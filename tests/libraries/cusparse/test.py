#!/usr/bin/env python3
"""cuSPARSE: an H200's cases; functions.c is a program of its own."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cusparse_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "sparse", "-lcusparse")


def wrong_arguments_have_an_h200s_statuses():
    for name in ["statuses", "statuses_more"]:
        with open(os.path.join(HERE, f"{name}.expected")) as f:
            expected = dict(line.rstrip("\n").split(": ", 1) for line in f)
        assert cases.lines(cases.build(HERE, name, "-lcusparse"), "all") == expected


def calls_in_a_graph_compute_what_they_do_in_a_stream():
    fields = cases.lines(cases.build(HERE, "captured", "-lcusparse"), "calls")["calls"].split()
    assert len(fields) == 17 and all(f.endswith("=0,0,same=1") or f == "pivot=0" for f in fields), fields


def check_finds_nothing_in_a_call_that_updates_what_it_reads():
    said = []
    cases.lines(cases.build(HERE, "sparse", "-lcusparse"), "spmv", "convert", command=("check",), stderr=said)
    assert "data-race" not in said[0], said[0]


@tap.in_full
def more_routines_types_and_shapes_of_cusparse_answer_as_an_h200():
    cases.answers_as_an_h200(HERE, "wide", "-lcusparse")


def blocks_that_pad_are_the_first_columns_as_on_an_h200():
    cases.answers_as_an_h200(HERE, "padded", "-lcusparse")


if __name__ == "__main__":
    tap.main(globals())
