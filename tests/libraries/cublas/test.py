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


@tap.in_full
def version_1_of_the_api_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "version1", "-lcublas")


def batches_of_small_products_are_those_of_one_at_a_time():
    status, out, err = tap.run("run", cases.build(HERE, "batches", "-lcublas"))
    assert status == 0, out + err


@tap.in_full
def nans_come_through_zeros_as_on_an_h200():
    """But where an H200's small solves multiply by an alpha of 0."""
    but = {f"solves.{t}trsmn{u}{d}l" for t in "sdcz" for u in "lu" for d in "nu"}
    cases.answers_as_an_h200(HERE, "nan", "-lcublas", but=but)


@tap.in_full
def an_alpha_of_0_multiplies_where_it_does_on_an_h200():
    """But where that depends on the size, in the last column of a tile, and syr2k's beta of -0, which an H200 takes for another number."""
    but = {"z_gemm.sgemm", "z_gemmt.sgemmt", "z_half.hh", "z_half.tf", "z_symm.zsymm", "z_trmm.ztrmm"}
    cases.answers_as_an_h200(HERE, "zeros", "-lcublas", but=but | {f"z_syr2k.{t}syr2k" for t in "sdcz"})


def an_address_of_a_batch_that_leads_nowhere_is_the_contexts_fault():
    """One that is null, is no memory, has too little behind it, or has been freed: error 700, as of a kernel."""
    program = cases.build(HERE, "addresses", "-lcublas", "-lcusolver")
    for call in range(3):
        for case in tap.some(2, range(5)):
            status, out, err = tap.run("run", program, str(call), str(case))
            assert status == 0 and (out.endswith(" 700\n") if case else out == "0 0\n"), (call, case, status, out, err)


def an_operand_that_is_null_is_what_it_is_on_an_h200():
    """A wrong argument, the context's fault, or nothing, by what alpha is."""
    with open(os.path.join(HERE, "nulls.expected")) as f:
        names = [line.split(":")[0] for line in f]
    cases.answers_as_an_h200(HERE, "nulls", "-lcublas", only=tap.some(5, names))


def a_call_races_with_others_and_not_with_itself():
    program = cases.build(HERE, "watched", "-lcublas")
    status, out, err = tap.run("check", program, "clean")
    assert status == 0, out + err
    status, out, err = tap.run("check", program, "races")
    assert status != 0 and "race" in err and "cublasSgemm" in err, out + err


def a_call_races_with_who_writes_the_part_that_it_uses_and_nobody_else():
    """Triangles, a band, matrices of batches; beside a kernel that writes what lies around them; memory of another device."""
    program = cases.build(HERE, "watched", "-lcublas")
    for part in "upper", "lower", "band", "batch", "addresses", "devices":
        for case in "clean", "races":
            status, out, err = tap.run("check", *(["--devices", "2"] if part == "devices" else []), program, case, part)
            assert (status != 0) == (case == "races") == ("race" in err), (part, case, status, out, err)


@tap.in_full
def more_routines_types_and_shapes_of_cublas_answer_as_an_h200():
    cases.answers_as_an_h200(HERE, "wide", "-lcublas")


def the_first_wrong_argument_of_a_batched_factorization_is_told():
    cases.answers_as_an_h200(HERE, "infos", "-lcublas")


if __name__ == "__main__":
    tap.main(globals())
