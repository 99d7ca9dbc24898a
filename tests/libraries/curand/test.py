#!/usr/bin/env python3
"""cuRAND."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def curand_answers_as_an_h200():
    cases.answers_as_an_h200(HERE, "rand", "-lcurand")


def the_device_api_draws_as_an_h200_does():
    cases.answers_as_an_h200(HERE, "device", "-lcurand")


if __name__ == "__main__":
    tap.main(globals())
