#!/usr/bin/env python3
"""cuBLASLt."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def cublaslt_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "lt", "-lcublasLt")


@tap.in_full
def types_layouts_and_epilogues_of_cublaslt_answer_as_an_h200():
    # A GPU's tanh differs in its last bits.
    cases.answers_as_an_h200(HERE, "more", "-lcublasLt", but=["epilogues.gelu_bits", "epilogues.gelu_bf16"])


@tap.in_full
def more_routines_types_and_shapes_of_cublaslt_answer_as_an_h200():
    cases.answers_as_an_h200(HERE, "wide", "-lcublasLt")


if __name__ == "__main__":
    tap.main(globals())
