#!/usr/bin/env python3
"""What the examples should compute, in plain Python: a second opinion that shares nothing with Heddle.

    reference.py histogram DATA.npy BINS.npy
    reference.py matmul M.npy N.npy P.npy

Reads what a launch has saved and compares. The elements of matrices are small whole numbers, so that sums in f32 are
exact in any order.
"""
import array
import ast
import sys


def load(path):
    """The elements of a little-endian .npy file in a flat array, and its shape."""
    codes = {"|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q",
             "<f4": "f", "<f8": "d"}
    with open(path, "rb") as f:
        if f.read(6) != b"\x93NUMPY":
            sys.exit(f"{path} is no .npy file")
        length = 2 if f.read(2)[0] == 1 else 4
        header = ast.literal_eval(f.read(int.from_bytes(f.read(length), "little")).decode())
        elements = array.array(codes[header["descr"]])
        elements.frombytes(f.read())
    return elements, header["shape"]


def histogram(data):
    bins = [0] * 256
    for value in data:
        bins[value] += 1
    return bins


def matmul(m, n, width):
    columns = [n[c::width] for c in range(width)]
    rows = [m[r * width:(r + 1) * width] for r in range(width)]
    return [sum(map(float.__mul__, row, column)) for row in rows for column in columns]


def main(what, *paths):
    files = [load(p) for p in paths]
    if what == "histogram":
        expected, actual = histogram(files[0][0]), files[1][0]
    else:
        expected, actual = matmul(files[0][0], files[1][0], files[0][1][0]), files[2][0]
    wrong = [i for i, (e, a) in enumerate(zip(expected, actual)) if e != a]
    if len(expected) != len(actual) or wrong:
        at = f": element {wrong[0]} is {actual[wrong[0]]}, not {expected[wrong[0]]}" if wrong else ""
        sys.exit(f"{what}: {len(wrong)} of {len(expected)} values differ from the CPU's{at}")
    print(f"{what}: all {len(expected)} values are equal to those that Python computes on the CPU")


if __name__ == "__main__":
    if (sys.argv[1:2], len(sys.argv)) not in [(["histogram"], 4), (["matmul"], 5)]:
        sys.exit(__doc__)
    main(*sys.argv[1:])
