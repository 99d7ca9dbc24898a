"""Damaged images: cases for images.c. They begin as what nvcc has made (images.tar.xz): fat binaries with PTX as it is and packed
by LZ4 and zstd, for several devices, relocatable ones, machine code; as PTX text; and as containers made here, in which what is
packed is damaged itself."""
import functools
import os
import random
import struct
import tarfile

import mutants

here = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "images"

WORDS = [0, 1, 7, 8, 15, 16, 63, 64, 65, 80, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 40,
         (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 8, (1 << 64) - 16, (1 << 30) + 1]


@functools.cache
def images():
    with tarfile.open(os.path.join(here, "images.tar.xz")) as tar:
        return [tar.extractfile(m).read() for m in tar if m.isfile()]


def container(R, text):
    """A fat binary of one entry, that says it is packed, or is not."""
    flags = R.choice([0, 0, 0x2000, 0x8000, 0xa000])
    packed = text
    if flags == 0x2000:  # LZ4: literals alone
        packed = b""
        literals = text
        n = len(literals)
        packed = bytes([min(n, 15) << 4])
        if n >= 15:
            n -= 15
            packed += b"\xff" * (n // 255) + bytes([n % 255])
        packed += literals
    entry = struct.pack("<HHIQIIIIQQQQ", 1, 0x101, 64, len(packed), len(packed) if flags else 0, 0, 0x90000, R.choice([50, 75, 90, 100]), 0,
                        flags | 0x11, 0, len(text) if flags else 0)
    body = entry + packed
    return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(body)) + body


def damage(R, image):
    b = bytearray(image)
    for _ in range(R.choice([0, 1, 1, 1, 2, 3, 8])):
        if not b:
            break
        kind, at = R.random(), R.randrange(len(b))
        if R.random() < 0.5:  # headers
            at = R.randrange(min(len(b), 112))
        if kind < 0.25:
            b[at] ^= 1 << R.randrange(8)
        elif kind < 0.35:
            b[at] = R.choice([0, 0xff, 0x7f, 0x80, R.randrange(256)])
        elif kind < 0.6:
            size = R.choice([2, 4, 8])
            at &= ~(size - 1)
            b[at:at + size] = (R.choice(WORDS) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        elif kind < 0.68:
            del b[at:]
        elif kind < 0.76:
            n = R.choice([1, 8, 64, 4096])
            b[at:at] = bytes(R.choice([b"\0", b"\xff"]) * n)
        elif kind < 0.84:
            n = R.randrange(1, 200)
            to = R.randrange(len(b))
            b[to:to + n] = b[at:at + n]
        elif kind < 0.92:
            b += R.choice([b"\0" * 64, R.choice(images()), b"\x50\xed\x55\xba"])
        else:
            del b[at:at + R.randrange(1, 100)]
    return bytes(b)


def make(seed, number):
    R = random.Random(f"images {seed} {number}")
    kind = R.random()
    if kind < 0.6:
        image = R.choice(images())
    elif kind < 0.85:
        image = container(R, mutants.any_text(R).encode("ascii", "surrogateescape") + b"\0" * R.choice([0, 1, 1, 1, 8]))
    else:
        image = mutants.any_text(R).encode("ascii", "surrogateescape") + b"\0"
    return bytes([R.randrange(6)]) + damage(R, image)
