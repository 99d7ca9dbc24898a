"""PolyBench-GPU's programs in CUDA, built by their own Makefiles, which call `nvcc`. See suite.py."""
import os
import re

from suite import Suite
from trial import HEDDLE_CC, NVCC_OF_OLD, Program

# Sizes that its own reference on the CPU is done with in time, in the place of the one size that a program has.
MACROS = {"CORR": {"M": 512, "N": 512}, "COVAR": {"M": 512, "N": 512}, "GRAMSCHM": {"NI": 512, "NJ": 512}}

WHYS = {"ADI": "its reference on the CPU does not fuse multiplications and additions; with `-fmad=false` it passes",
        "DOITGEN": "its own mistake: it calls a function that it does not have",
        "MVT": "its own data race, as `heddle check` says: eight threads of a block add to each sum"}


def names(folder):
    cuda = os.path.join(folder, "polybenchGpu", "CUDA")
    return {"": [name for name in os.listdir(cuda) if os.path.isdir(os.path.join(cuda, name))]}


def program(folder, _, name):
    with open(os.path.join(folder, "polybenchGpu", "CUDA", name, "Makefile")) as f:
        executable = re.search(r"(\S+\.exe)", f.read()).group(1)
    return Program("polybenchGpu", f"CUDA/{name}", "make", f"./{executable}", macros=MACROS.get(name, {}),
                   passes=r"(?:Non-Matching.*Percent|misses): 0$", fails=r"(?:Non-Matching.*Percent|misses): [1-9]|heddle: ", why=WHYS.get(name, ""))


SUITE = Suite("PolyBench-GPU", "A program compares the results of its kernels with its own reference on the CPU. nvcc gets\n"
              "`-DcudaThreadSynchronize=cudaDeviceSynchronize`, as CUDA 13 has no cudaThreadSynchronize.",
              {"polybenchGpu": "https://github.com/sgrauerg/polybenchGpu"}, names, program, (NVCC_OF_OLD, HEDDLE_CC))
