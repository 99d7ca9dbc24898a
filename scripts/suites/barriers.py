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
              "Some hand over memory without a barrier, which goes well on a GPU by its speed: they make a barrier anew while other warps still wait for it,\n"
              "or look at what other warps copy already; `cp_async_bulk` reads what `wait_group.read` has not waited for. Those of copies by tensor maps ask the\n"
              "runtime for variables that libcu++ declares `__device__` only where it is compiled for a device (`_CCCL_GLOBAL_VARIABLE`), so that clang makes\n"
              "variables of the host of them.",
              {"cccl": "https://github.com/NVIDIA/cccl"}, names, program, (HEDDLE_CC,), limit=300, silent=tuple(FOLDERS))
