"""llm.c's kernels, dev/cuda, built by its own Makefile, a trial for each version of a kernel. See suite.py."""
import os
import re

from suite import Suite
from trial import Program

# All of them include cuBLAS's headers, which are a toolkit's, and most make a handle of it to begin with. The library that they are linked with
# makes handles; all else in it fails.
HEADERS = "/usr/local/cuda/include"
LIBRARY = """for name in $(grep -oh 'cublas[A-Za-z_0-9]*(' *.cu *.h | tr -d '(' | sort -u) cublasCreate_v2 cublasDestroy_v2 cublasSgemm_v2; do
case $name in cublasCreate*|cublasLtCreate|cublasSetMathMode|cublasDestroy*|cublasLtDestroy) status=0;; *) status=1;; esac
echo "int $name(void) { return $status; }"; done | grep -v cublasCheck >cublas.c
gcc -shared -fPIC cublas.c -o libcublas.so && cp libcublas.so libcublasLt.so
"""
MAKE = f"make GPU_COMPUTE_CAPABILITY=90 NVCCFLAGS='-std=c++17 -I{HEADERS} -L. -Xlinker -rpath=. -lcublas -lcublasLt' "
NEEDS = {"nccl_all_reduce": "NCCL", "matmul_backward": "cuBLAS", "attention_backward": "cuBLAS", "attention_forward 10": "cuDNN"}
SAYS = "All results match"
WHYS = {"layernorm_backward 9": "its own assertion: its 1600 channels are no multiple of 256",
        "layernorm_backward 10": "its own mistake: with 32 threads a block, its flag lies behind the shared memory that it asks for"}


def read(folder, name):
    with open(os.path.join(folder, "llm.c", "dev", "cuda", f"{name}.cu")) as f:
        return f.read()


def names(folder):
    files = [file[:-3] for file in os.listdir(os.path.join(folder, "llm.c", "dev", "cuda")) if file.endswith(".cu")]
    return {"": [f"{file} {number}".strip() for file in files
                 for number in ([""] if file in NEEDS else re.findall(r"case (\d\d?):\s*\n", read(folder, file)) or [""])]}


def program(folder, _, name):
    needs = NEEDS.get(name) or NEEDS.get(name.partition(" ")[0]) or ("" if os.path.exists(f"{HEADERS}/cublas_v2.h") else "cuBLAS's headers")
    return Program("llm.c", "dev/cuda", LIBRARY + MAKE + name.partition(" ")[0], f"stdbuf -oL ./{name}", needs=needs,
                   passes=SAYS, until=SAYS, fails=r"Mismatch|heddle: |cuBLAS ERROR", why=WHYS.get(name, ""))


SUITE = Suite("llm.c's dev/cuda", "A program compares its kernel, the one of that number, with one on the CPU, and is stopped then, before it measures it. All of\n"
              "them include cuBLAS's headers and most begin with a handle of it: what they are linked with makes handles, and has no function else.",
              {"llm.c": "https://github.com/karpathy/llm.c"}, names, program, sample=20)
