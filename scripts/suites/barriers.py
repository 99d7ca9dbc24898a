"""libcu++'s own tests of barriers and asynchronous copies: each has a `main` that runs on the host and then in a kernel. See suite.py."""
import os
import re

from suite import Suite
from suites.cccl import OF_LIBCUXX, OPTIONS
from trial import HEDDLE_CC, Program

FOLDERS = ["cuda/barrier", "cuda/memcpy_async", "cuda/pipeline", "heterogeneous", "std/thread/thread.barrier"]
TESTS = "libcudacxx/test/libcudacxx"


def names(folder):
    tests = {at: os.listdir(os.path.join(folder, "cccl", TESTS, at)) for at in FOLDERS}
    return {at: [f"{at}/{name}" for name in files if re.search(r"\.(pass|runfail)\.cpp$", name) and (at != "heterogeneous" or name.startswith("barrier"))]
            for at, files in tests.items()}


def program(folder, _, name):
    # 152: stopped by its limit
    line = "$OUT/test" if ".pass." in name else "$OUT/test; status=$?; [ $status != 0 ] && [ $status != 152 ]"
    return Program("cccl", "", f"$NVCC {OPTIONS} {OF_LIBCUXX} {TESTS}/{name} -o $OUT/test -lpthread", line, copied=False, passes="", fails="")


SUITE = Suite("libcu++'s own tests of barriers and asynchronous copies",
              "Three kinds of failure are the tests' own. Some reinitialise a barrier while other warps still wait for it, or read memory into which other warps already\n"
              "copy; on a GPU this goes well by timing. `cp_async_bulk` reads memory for which `wait_group.read` does not wait. Tests of tensor-map copies ask the\n"
              "runtime for variables that libcu++ declares `__device__` only in the device's compilation (`_CCCL_GLOBAL_VARIABLE`), so clang makes them\n"
              "variables of the host.",
              {"cccl": "https://github.com/NVIDIA/cccl"}, names, program, (HEDDLE_CC,), limit=300, silent=tuple(FOLDERS))
