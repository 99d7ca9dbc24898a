#!/usr/bin/env python3
"""cuBLAS."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cublas_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "blas", "-lcublas")


def every_routine_and_type_of_cublas_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "more", "-lcublas")


if __name__ == "__main__":
    tap.main(globals())
