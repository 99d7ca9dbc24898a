#!/usr/bin/env python3
"""cuSOLVER: an H200's cases; functions.c is a program of its own."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cusolver_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "solver", "-lcusolver")


def wrong_arguments_have_an_h200s_statuses():
    cases.answers_as_an_h200(HERE, "statuses", "-lcusolver", "-lcusparse")


def lu_of_a_sparse_matrix_and_its_refactorization_are_an_h200s():
    cases.answers_as_an_h200(HERE, "refactor", "-lcusolver", "-lcusparse")


def matrices_of_no_rows_and_infos_that_are_null_are_what_they_are_on_an_h200():
    with open(os.path.join(HERE, "empty.expected")) as f:
        names = [line.split(":")[0] for line in f]
    cases.answers_as_an_h200(HERE, "empty", "-lcusolver", only=[name for name in names if "_0_" in name] + tap.some(3, [n for n in names if "_4_" in n]))


@tap.in_full
def more_routines_types_and_shapes_of_cusolver_answer_as_an_h200():
    cases.answers_as_an_h200(HERE, "wide", "-lcusolver", "-lcusparse")


if __name__ == "__main__":
    tap.main(globals())
