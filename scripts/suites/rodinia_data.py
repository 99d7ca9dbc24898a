"""rodinia_data.py genome REFERENCE QUERIES | cells VIDEO: inputs of mummergpu and leukocyte, whose own are in Rodinia's archive.

A genome of 20,000 random bases and 1,000 reads of it with mistakes; a video (AVI, 8 bits a pixel) of four frames with six round cells that move.
"""
import math
import random
import struct
import sys

WIDTH, HEIGHT, FRAMES = 640, 480, 4


def write_genome(reference, queries):
    chance = random.Random(1)
    bases = "".join(chance.choice("ACGT") for _ in range(20000))
    with open(reference, "w") as f:
        f.write(">reference\n" + "\n".join(bases[at:at + 70] for at in range(0, len(bases), 70)) + "\n")
    with open(queries, "w") as f:
        for number in range(1000):
            at = chance.randrange(len(bases) - 100)
            read = list(bases[at:at + 100])
            for _ in range(3):
                read[chance.randrange(100)] = chance.choice("ACGT")
            f.write(f">read{number}\n{''.join(read)}\n")


def frame(number, cells):
    """Bright discs with a dark rim on a noisy grey; rows from below, as in AVI."""
    noise = random.Random(number).randbytes(WIDTH * HEIGHT)
    image = bytearray(100 + (x & 7) for x in noise)
    for x0, y0, radius in cells:
        x0, y0 = x0 + 1.5 * number, y0 + 0.5 * number
        for y in range(int(y0) - radius - 3, int(y0) + radius + 4):
            for x in range(int(x0) - radius - 3, int(x0) + radius + 4):
                distance, at = math.hypot(x - x0, y - y0), y * WIDTH + x
                if distance < radius + 2:
                    image[(HEIGHT - 1 - y) * WIDTH + x] = (170 if distance < radius - 1 else 60) + (noise[at] & 7)
    return bytes(image)


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) & 1)


def write_video(path):
    chance = random.Random(1)
    cells = [(80 + 90 * i + chance.randrange(20), 150 + i % 3 * 60, 9 + i % 3) for i in range(6)]
    size = WIDTH * HEIGHT
    frames = [chunk(b"00db", frame(number, cells)) for number in range(FRAMES)]
    index = b"".join(b"00db" + struct.pack("<III", 0x10, 4 + i * len(frames[0]), size) for i in range(FRAMES))
    main = struct.pack("<14I", 40000, size * 25, 0, 0x10, FRAMES, 0, 1, size, WIDTH, HEIGHT, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, FRAMES, size, 0xffffffff, 0, 0, 0, WIDTH, HEIGHT)
    pixels = struct.pack("<IiiHHIIiiII", 40, WIDTH, HEIGHT, 1, 8, 0, size, 0, 0, 256, 0)
    streams = chunk(b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", pixels))
    headers = chunk(b"LIST", b"hdrl" + chunk(b"avih", main) + streams)
    with open(path, "wb") as f:
        f.write(chunk(b"RIFF", b"AVI " + headers + chunk(b"LIST", b"movi" + b"".join(frames)) + chunk(b"idx1", index)))


what, *paths = sys.argv[1:]
{"genome": write_genome, "cells": write_video}[what](*paths)
