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


def complex_halves_lie_in_planes():
    program = cases.build(HERE, "planes", "-lcublasLt")
    status, out, err = tap.run("check", program)
    assert status == 0 and out == "planes: 0 wrong; without them status 15\n", (out, err)


def a_call_uses_what_it_says_and_no_more():
    """A batch, also by addresses, an epilogue, factors by addresses, and a result that beta, in the device's memory, keeps from being read."""
    program = cases.build(HERE, "watched", "-lcublasLt", "-lcublas", "-lcusolver", "-lcusparse")
    for part in tap.some(3, ["batch", "addresses", "epilogue", "factors", "beta"]):
        status, out, err = tap.run("check", program, "clean", part)
        assert status == 0, (part, out, err)
        status, out, err = tap.run("check", program, "races", part)
        found = ["cublasSgemv reads", "cusparseSpMV reads"] if part == "beta" else ["race"]
        assert status != 0 and all(text in err for text in found), (part, out, err)


def gelu_planes_and_scalars_are_an_h200s():
    """But for the last digit of a few halves, and the order of the sum of a bias's gradient."""
    but = {"gelu_f.fbgrad", "gelu_h.hgelu", "gelu_h.hgelub", "gelu_h.hgelua"}
    names = ["gelu_f", "scale_types", "planes2", "gelu_b", "gelu_h", "z_types"]
    cases.answers_as_an_h200(HERE, "epilogues", "-lcublasLt", but=but, only=tap.some(3, names))


if __name__ == "__main__":
    tap.main(globals())
