#!/usr/bin/env python3
"""The model of time against what an H200 took for 100 kernels, and the advice of heddle explain, given where it is due and not elsewhere."""
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap

here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
explained = {}


def model_fit(*options):
    """recorded.txt.xz: record.py made it of what `heddle explain` counts of the kernels in tests/explain, and of their times."""
    recorded = os.path.join(folder.name, "recorded.txt")
    with lzma.open(os.path.join(here, "recorded.txt.xz")) as f, open(recorded, "wb") as to:
        to.write(f.read())
    program = os.path.join(os.environ["HEDDLE_BUILD"], "tests", "model-fit")
    return subprocess.run([program, *options, recorded], capture_output=True, text=True, check=True).stdout


def advice(kernel):
    """{code: text} of a kernel of advice.cu, of its lines and its launch."""
    tap.need_loadable_libraries()
    if not explained:
        program, figures = os.path.join(folder.name, "advice"), os.path.join(folder.name, "advice.json")
        status, out, err = tap.run("cc", "-O3", "-lineinfo", os.path.join(here, "advice.cu"), "-o", program)
        assert status == 0, err
        status, out, err = tap.run("explain", "-o", os.path.join(folder.name, "advice.html"), "--json", figures, program)
        assert status == 0, out + err
        with open(figures, encoding="utf-8") as f:
            explained.update(json.load(f))
    of = [x for x in explained["kernels"] + explained["launches"] if re.match(kernel + r"\b", x["kernel"])]
    assert len(of) == 2, f"{kernel}: {len(of)}"
    return {a["code"]: a["text"] for x in of for a in x["advice"]}


def times_of_recorded_kernels_are_estimated_to_an_eighth():
    mean = float(re.search(r"estimated / measured\): ([\d.]+)", model_fit()).group(1))
    assert mean <= 1.12, mean


def times_of_kernels_that_the_numbers_have_not_seen_are_estimated_to_a_quarter():
    out = model_fit("--cross")
    for what in ("kernel", "group"):
        mean = float(re.search(f"each {what} estimated without it: ([\\d.]+)", out).group(1))
        assert mean <= 1.25, out


def advice_is_given_where_the_figures_prove_it():
    with open(os.path.join(here, "advice.cu"), encoding="utf-8") as f:
        codes = sorted(set(re.findall(r"bad_(\w+)<<<", f.read())))
    assert len(codes) >= 12, codes
    for code in codes:
        given = advice("bad_" + code)
        assert code.replace("_", "-") in given, (code, given)


def advice_is_not_given_elsewhere():
    with open(os.path.join(here, "advice.cu"), encoding="utf-8") as f:
        codes = sorted(set(re.findall(r"good_(\w+)<<<", f.read())))
    for code in codes:
        given = advice("good_" + code)
        assert code.replace("_", "-") not in given, (code, given)


def advice_names_the_line_and_the_figures():
    text = advice("bad_uncoalesced")["uncoalesced"]
    assert re.fullmatch(r"line 9: a warp reads 32 sectors of 32 bytes for 128 bytes: threads are 128 bytes apart; .*swap the indices.*", text), text
    text = advice("bad_bank_conflicts")["bank-conflicts"]
    assert "32 wavefronts of shared memory where 1 would do: threads are 128 bytes apart" in text, text
    text = advice("bad_narrow_block")["narrow-block"]
    assert text == "a row of the block has 4 threads, with 16 of the 32 bytes of a sector: make blockDim.x at least 8, 32 at best", text
    text = advice("bad_small_grid")["small-grid"]
    assert "13 blocks for 132 multiprocessors: 119 have nothing to do" in text, text


tap.main(globals())
