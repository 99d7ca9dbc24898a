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


def poissons_numbers_are_an_h200s():
    """MT19937 last, whose 21 generators take as long as all others."""
    with open(os.path.join(HERE, "poisson.expected")) as f:
        names = sorted((line.split(":")[0] for line in f), key=lambda name: name == "mt19937")
    cases.answers_as_an_h200(HERE, "poisson", "-lcurand", only=tap.some(len(names) - 1, names))


def each_distribution_of_each_generator_is_an_h200s():
    cases.answers_as_an_h200(HERE, "draws", "-lcurand")


@tap.in_full
def the_dynamic_ordering_is_an_h200s():
    cases.answers_as_an_h200(HERE, "dynamic", "-lcurand")


def settings_and_graphs_keep_the_position_as_on_an_h200():
    with open(os.path.join(HERE, "positions.expected")) as f:
        expected = dict(line.rstrip("\n").split(": ", 1) for line in f)
    assert cases.lines(cases.build(HERE, "positions", "-lcurand")) == expected


def all_dimensions_of_sobols_sequences_are_the_originals():
    cases.answers_as_an_h200(HERE, "vectors", "-lcurand")


def the_device_api_draws_as_an_h200_does():
    cases.answers_as_an_h200(HERE, "device", "-lcurand")


@tap.in_full
def all_of_the_device_api_draws_as_an_h200_does():
    """But for Poisson's numbers by an approximation of cuRAND's."""
    but = {"middle.Poisson100", "middle.Poisson1000", "middle.Poisson100x4", "sobol64.Poisson50"}
    cases.answers_as_an_h200(HERE, "kernels", "-lcurand", but=but)


def check_finds_what_is_wrong_with_a_draw():
    program = cases.build(HERE, "watched", "-lcurand")
    for case, code, words in [("race", "data-race", "curandGenerate"), ("short", "copy-out-of-bounds", "curandGenerate writes 4004 bytes"),
                              ("freed", "use-after-free", "curandGenerate writes 4000 bytes"), ("clean", "", "no errors")]:
        status, out, err = tap.run("check", program, case)
        assert (status == 0) == (not code) and f"[{code}" in out + err + "[" and words in out + err, f"{case}: {status}\n{out}{err}"


def explain_shows_a_draw_in_its_stream():
    trace = os.path.join(cases.WORK, "trace.json")
    status, out, err = tap.run("explain", "--trace", trace, cases.build(HERE, "watched", "-lcurand"), "clean")
    assert status == 0, out + err
    with open(trace) as f:
        assert '"curandGenerate: 0 FLOP, 4e+03 bytes"' in f.read()


if __name__ == "__main__":
    tap.main(globals())
