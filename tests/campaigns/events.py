"""Damaged files of events: cases for event_files.c. They begin as what kernels and programs were recorded as (events.tar.xz), as text
and as bytes; of text a field gets another value, another record's or none, and lines are left out, doubled, moved. Where records change,
`tests/campaigns/events.py` records them anew."""
import functools
import io
import os
import random
import re
import subprocess
import tarfile
import tempfile

from images import WORDS, damage

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
build = os.environ.get("HEDDLE_BUILD", os.path.join(source, "build"))
archive = os.path.join(here, "events.tar.xz")
PROGRAM = "event-files"

LAUNCHES = [["saxpy/saxpy.ptx", "100", "2.0", "f32[100]=range", "f32[100]=undef"],
            ["matmul_tiled/matmul_tiled.ptx", "matmul_tiled<8>", "f32[16,16]=rand", "f32[16,16]=rand", "f32[16,16]", "16"],
            ["histogram/histogram.ptx", "u8[1000]=rand", "1000", "u32[256]"]]
PROGRAMS = {"races/global_proxies": "3", "races/copies": "2", "races/patterns": "release_then_write", "races/clusters": "histogram",
            "nested/races": "behind"}  # of tests/


def record_all():
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "w:xz") as tar:
        def check(*args):
            subprocess.run([f"{build}/heddle", "check", *args], capture_output=True, cwd=folder)

        def record(name, command):
            check("--record-events", name + ".txt", *command)
            check("--replay-events", name + ".txt", "--record-events", name + ".events")
            for file in name + ".txt", name + ".events":
                with open(os.path.join(folder, file), "rb") as f:
                    whole = f.read()
                member = tarfile.TarInfo(file)
                member.size = len(whole)
                tar.addfile(member, io.BytesIO(whole))
        for file, *more in LAUNCHES:
            with open(os.path.join(source, "examples", file)) as ptx, open(os.path.join(folder, "kernel.ptx"), "w") as copy:
                copy.write(ptx.read())
            record(os.path.dirname(file), ["kernel.ptx", *more, "--grid", "2", "--block", "8,8" if "matmul" in file else "64"])
        for name, case in PROGRAMS.items():
            with open(os.path.join(source, "tests", name + ".cu")) as cuda, open(os.path.join(folder, "main.cu"), "w") as copy:
                copy.write(cuda.read())
            headers = ["-I", os.path.join(source, "tests", "races")]
            subprocess.run([f"{build}/heddle", "cc", "-std=c++17", "-arch=sm_90a", *headers, "-o", "main", "main.cu"], check=True, cwd=folder)
            record(os.path.basename(name), ["./main", case])


@functools.cache
def recorded():
    with tarfile.open(archive) as tar:
        return [tar.extractfile(m).read() for m in tar]


def value(R, old, others):
    if R.random() < 0.4 and others:
        return R.choice(others)
    if not re.fullmatch(r"\d+|0x[0-9a-f]+", old):
        return R.choice(["", "0", '"', old + old, old[:-1]])
    number = R.choice([*WORDS, int(old, 0) + 1, int(old, 0) - 1, int(old, 0) ^ 1 << R.randrange(64), -1])
    return hex(number) if R.random() < 0.5 else str(number)


def damage_text(R, text):
    """Lines far from each other name each other, so what changes is chosen by kinds of records, too."""
    lines = text.split("\n")
    for _ in range(R.choice([1, 1, 2, 3, 8])):
        kinds = sorted({line.split(" ")[0] for line in lines})
        kind = R.choice(kinds)
        at = R.choice([i for i, line in enumerate(lines) if line.split(" ")[0] == kind])
        words = lines[at].split(" ")
        how, k = R.random(), R.randrange(1, len(words)) if len(words) > 1 else 0
        if how < 0.6 and "=" in words[k]:
            name, old = words[k].split("=", 1)
            others = [m for line in R.sample(lines, min(len(lines), 30)) for m in re.findall(rf" {re.escape(name)}=(\S+)", line)]
            words[k] = f"{name}={value(R, old, others)}"
            lines[at] = " ".join(words)
        elif how < 0.7 and k:
            del words[k]
            lines[at] = " ".join(words)
        elif how < 0.8:
            del lines[at]
        elif how < 0.9:
            lines.insert(R.randrange(len(lines)), lines[at])
        else:
            to = R.randrange(len(lines))
            lines[at], lines[to] = lines[to], lines[at]
        if not lines:
            break
    return "\n".join(lines)


def make(seed, number):
    R = random.Random(f"events {seed} {number}")
    file = R.choice(recorded())
    is_text = file.startswith(b"heddle-events")
    if is_text and R.random() < 0.9:
        return damage_text(R, file.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return damage(R, file)


if __name__ == "__main__":
    record_all()
