"""Damaged programs by `heddle run`: one that `heddle cc` has made here, with changes in its fat binary, and in those parts of the
file that only a reader of it looks at (sections, symbols). What the loader of the system and the CPU use stays as it is, so a
program that ends by a signal is Heddle's doing."""
import functools
import os
import random
import struct
import subprocess
import tempfile

from images import damage

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
build = os.environ.get("HEDDLE_BUILD", os.path.join(source, "build"))
SECONDS = 60

PROGRAM_TEXT = """#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__device__ int counter;
int main()
{
    int *p, host[32];
    for (int i = 0; i < 32; i++)
        host[i] = i;
    if (cudaMalloc(&p, sizeof host) || cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice))
        return 3;
    twice<<<1, 32>>>(p);
    if (cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost))
        return 4;
    return host[31] == 62 ? 0 : 5;
}
"""


@functools.cache
def program():
    with tempfile.TemporaryDirectory() as folder:
        text, path = os.path.join(folder, "program.cu"), os.path.join(folder, "program")
        with open(text, "w") as f:
            f.write(PROGRAM_TEXT)
        subprocess.run([f"{build}/heddle", "cc", text, "-o", path], check=True, capture_output=True)
        with open(path, "rb") as f:
            return f.read()


def sections(elf):
    """(name, place, length) of each, and where their table is."""
    at, n, names = (int.from_bytes(elf[k:k + size], "little") for k, size in ((40, 8), (60, 2), (62, 2)))
    rows = [struct.unpack_from("<IIQQQQ", elf, at + 64 * i) for i in range(n)]
    strings = rows[names][4]
    name = lambda offset: elf[strings + offset:elf.index(b"\0", strings + offset)].decode()
    return [(name(r[0]), r[4], r[5] if r[1] != 8 else 0) for r in rows], (at, 64 * n)


def hold_to(b, at, n):
    """Nothing but what a container says of its length bounds it in a program's memory: it may not say more than there is."""
    for k in range(at, at + n - 16):
        if b[k:k + 4] == b"\x50\xed\x55\xba" and sum(struct.unpack_from("<HQ", b, k + 6)) > at + n - k:
            b[k + 6:k + 16] = struct.pack("<HQ", 16, at + n - k - 16)


def make(seed, number):
    R = random.Random(f"programs {seed} {number}")
    b = bytearray(program())
    found, table = sections(b)
    fatbin = [(at, n) for name, at, n in found if "fatbin" in name.lower() and n > 64]
    looked_at = [(at, n) for name, at, n in found if name in (".symtab", ".strtab", ".shstrtab")] + [table, (40, 8), (58, 6)]
    at, n = R.choice(fatbin) if R.random() < 0.6 and fatbin else R.choice(looked_at)
    changed = damage(R, bytes(b[at:at + n]))[:n]
    b[at:at + len(changed)] = changed
    if (at, n) in fatbin:
        hold_to(b, at, n)
    return bytes(b)


def do(case):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        with open(path, "wb") as f:
            f.write(case)
        os.chmod(path, 0o755)
        try:
            done = subprocess.run([f"{build}/heddle", "run", path], capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "HEDDLE_CACHE": "off", "HEDDLE_ENGINE": "interp"})
        except subprocess.TimeoutExpired as e:
            return "hang no end within its time", str(e.stderr)
    said = (done.stdout + done.stderr).decode(errors="replace")
    verdict = "ok" if done.returncode == 0 else "refused" if 0 < done.returncode < 128 else "crash"
    return f"{verdict} exit status {done.returncode}", said
