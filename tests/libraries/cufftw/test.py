#!/usr/bin/env python3
"""cuFFTW: what it does with memory that is not there; functions.c is a program of its own."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def a_transform_of_freed_or_short_memory_is_the_contexts_fault():
    program = cases.build(HERE, "freed", "-lcufftw")
    for memory, error in (("good", 0), ("freed", 700), ("short", 700)):
        status, out, err = tap.run("run", program, memory)
        assert (status, out) == (0, f"{error}\n"), (memory, status, out, err)
        status, out, err = tap.run("check", program, memory)
        assert (status != 0) == (memory != "good") and ("fftw_execute" in err) == (memory != "good"), (memory, status, err)


if __name__ == "__main__":
    tap.main(globals())
