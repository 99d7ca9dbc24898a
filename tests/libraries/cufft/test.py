#!/usr/bin/env python3
"""cuFFT: an H200's cases; functions.c is a program of its own."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cufft_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "fft", "-lcufft")


def wrong_plans_have_an_h200s_statuses():
    cases.answers_as_an_h200(HERE, "statuses", "-lcufft")


@tap.in_full
def more_routines_types_and_shapes_of_cufft_answer_as_an_h200():
    cases.answers_as_an_h200(HERE, "wide", "-lcufft")


if __name__ == "__main__":
    tap.main(globals())
