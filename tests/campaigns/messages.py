"""Damaged objects, requests, answers and arrays: cases for messages.c. The first three begin as what passes between this build's
library and its compiler where examples are compiled."""
import functools
import os
import random
import subprocess
import tempfile

from images import damage
from strides import M32

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
build = os.environ.get("HEDDLE_BUILD", os.path.join(source, "build"))
PROGRAM = "messages"
OBJECT, REQUEST, ANSWER, ARRAY = range(4)
HELLO_BYTES = 28  # struct wire_hello

LAUNCHES = [["saxpy/saxpy.ptx", "1000", "2.0", "f32[1000]=range", "f32[1000]=ones"],
            ["matmul_tiled/matmul_tiled.ptx", "matmul_tiled<16>", "f32[64,64]=rand", "f32[64,64]=rand", "f32[64,64]", "64"],
            ["histogram/histogram.ptx", "u8[1000]=rand", "1000", "u32[256]"]]


@functools.cache
def recorded():
    """(kind, bytes) of all."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (file, *more) in enumerate(LAUNCHES):
            name = os.path.join(folder, str(number))
            env = {**os.environ, "HEDDLE_CACHE": "off", "HEDDLE_JIT": f"{build}/tests/tiers-compiler", "HEDDLE_TEST_RECORD": name,
                   "HEDDLE_TEST_JIT": f"{build}/heddle-jit", "HEDDLE_TEST_ASKED": name + ".asked", "HEDDLE_TEST_SECOND": "pass"}
            block = "16,16" if "matmul" in file else "64"
            subprocess.run([f"{build}/heddle", "launch", f"{source}/examples/{file}", *more, "--grid", "2", "--block", block, "--engine",
                            "jit", "--no-sandbox"], env=env, check=True, capture_output=True)
            with open(name + ".request", "rb") as f:
                found.append((REQUEST, f.read()))
            with open(name + ".answer", "rb") as f:
                answer = f.read()[HELLO_BYTES:]
            found.append((ANSWER, answer))
            at = answer.index(b"\x7fELF")
            found.append((OBJECT, answer[at:at + int.from_bytes(answer[:8], "little")]))
    return found


def damage_tables(R, elf):
    """Words of an ELF object's headers, section headers and what these name."""
    b = bytearray(elf)
    at, n = int.from_bytes(b[40:48], "little"), int.from_bytes(b[60:62], "little")
    for _ in range(R.choice([1, 1, 2, 4])):
        size = R.choice([1, 2, 4, 8])
        section = at + 64 * R.randrange(n)
        if R.random() < 0.3:
            place = R.randrange(64)
        elif R.random() < 0.5:
            place = section + R.randrange(64)
        else:
            start, length = (int.from_bytes(b[section + k:section + k + 8], "little") for k in (24, 32))
            place = start + R.randrange(length or 1)
        old = int.from_bytes(b[place:place + size], "little")
        new = R.choice([R.getrandbits(8 * size), old + 1, old - 1, old * 2, old ^ 1 << R.randrange(8 * size), 0, (1 << 8 * size) - 1, len(b),
                        len(b) - old, 1 << 8 * size - 1])
        if place + size <= len(b):
            b[place:place + size] = (new & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return bytes(b)


def array(R):
    """A .npy file, of which parts tell lies."""
    number = lambda: R.choice([0, 1, 2, 3, 32, 1 << 31, 1 << 32, 1 << 61, 1 << 62, 1 << 63, (1 << 64) - 1, 1 << 64, -1])
    shape = [number() if R.random() < 0.2 else R.randrange(4) for _ in range(R.choice([0, 1, 1, 2, 3, 8, 9]))]
    keys = [f"'descr': '{R.choice(['<f4', '<u1', '|u1', '<f8', '>f4', '<i2', '|V2', '|b1', 'O', '<f16'])}'",
            f"'fortran_order': {R.choice(['False', 'False', 'False', 'True', '0'])}", f"'shape': ({', '.join(map(str, shape))}{R.choice([',', ''])})"]
    R.shuffle(keys)
    header = ("{" + ", ".join(keys[:R.choice([3, 3, 3, 2])]) + R.choice([", }", "}", ""])).encode()
    version = R.choice([1, 1, 2, 3, 4])
    header += b" " * R.randrange(64) + b"\n"
    length = len(header) if R.random() < 0.9 else R.choice([0, 1, 0xffff, 0xffffffff, len(header) + 1])
    return (b"\x93NUMPY" + bytes([version, 0]) + (length & (0xffff if version == 1 else M32)).to_bytes(2 if version == 1 else 4, "little") +
            header + bytes(R.choice([0, 1, 16, 128, 1000])))


def make(seed, number):
    R = random.Random(f"messages {seed} {number}")
    kind = R.choices([OBJECT, REQUEST, ANSWER, ARRAY], [10, 1, 5, 5])[0]  # a request takes longest
    if kind == ARRAY:
        return bytes([kind]) + (array(R) if R.random() < 0.6 else damage(R, array(R)))
    message = R.choice([m for k, m in recorded() if k == kind])
    message = damage_tables(R, message) if kind == OBJECT and R.random() < 0.7 else damage(R, message)
    return bytes([kind]) + message
