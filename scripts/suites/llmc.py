"""llm.c's kernels, dev/cuda, built by its own Makefile, a trial for each version of a kernel. See suite.py."""
import os
import re

from suite import Suite
from trial import Program

MAKE = "make GPU_COMPUTE_CAPABILITY=90 NVCCFLAGS='-std=c++17 -lcublas -lcublasLt' "
NEEDS = {"nccl_all_reduce": "MPI", "attention_forward 10": "cuDNN"}
SAYS, TRAINING = "All results match", "train_gpt2fp32cu"
# Its training, of a tiny model for ten steps, beside that of llm.c on the CPU.
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "llmc_model.py")
TRAIN = (f"stdbuf -oL ./{TRAINING} -b 4 -t 64 -l 1e-4 -v 100 -s 100 | grep -m 10 'train loss' >gpu.txt; stdbuf -oL ./train_gpt2 | grep -m 10 'train loss' >cpu.txt; "
         f"python3 {MODEL} compare gpu.txt cpu.txt")
WHYS = {"layernorm_backward 9": "its own assertion: 1600 channels are not a multiple of 256",
        "layernorm_backward 10": "its own mistake: with 32 threads a block, its flag lies beyond the shared memory of the launch"}


def read(folder, name):
    with open(os.path.join(folder, "llm.c", "dev", "cuda", f"{name}.cu")) as f:
        return f.read()


def names(folder):
    files = [file[:-3] for file in os.listdir(os.path.join(folder, "llm.c", "dev", "cuda")) if file.endswith(".cu")]
    return {"": [TRAINING, *(f"{file} {number}".strip() for file in files
                             for number in ([""] if file in NEEDS else re.findall(r"case (\d\d?):\s*\n", read(folder, file)) or [""]))]}


def program(folder, _, name):
    if name == TRAINING:
        return Program("llm.c", "", f"python3 {MODEL} . && make NO_MULTI_GPU=1 NO_USE_MPI=1 GPU_COMPUTE_CAPABILITY=90 NVCC_LDFLAGS='-lcublas -lcublasLt' {TRAINING} train_gpt2", TRAIN,
                       "a tiny model, ten steps", passes=SAYS, fails=r"Mismatch|heddle: ")
    needs = NEEDS.get(name) or NEEDS.get(name.partition(" ")[0], "")
    return Program("llm.c", "dev/cuda", MAKE + name.partition(" ")[0], f"stdbuf -oL ./{name}", needs=needs,
                   passes=SAYS, until=SAYS, fails=r"Mismatch|heddle: |cuBLAS ERROR", why=WHYS.get(name, ""))


SUITE = Suite("llm.c's dev/cuda", "A program compares the kernel with the given number with a reference on the CPU. It is stopped then, before it measures the kernel. All\n"
              "are linked with cuBLAS and cuBLASLt, and most make a handle.",
              {"llm.c": "https://github.com/karpathy/llm.c"}, names, program, sample=20)
