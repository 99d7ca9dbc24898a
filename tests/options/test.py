"""Each option that `heddle cc --help` lists: what is made with it launches a kernel, which gives the right result. Options that go together
share a compilation; which are in no row is found by reading --help."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main

work = tempfile.TemporaryDirectory()
os.chdir(work.name)

FILES = {
    "main.cu": """#include "value.h"
#include <cstdio>
#include <pre.h>
#ifdef GONE
#error
#endif
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void k(int *p) { p[threadIdx.x] = twice(VALUE) + threadIdx.x; }
int main(int argc, char **)
{
    int *p;
    cudaMallocManaged(&p, 128);
    k<<<1, 32>>>(p);
    int error = cudaDeviceSynchronize();
    printf("%d %d %d\\n", error, p[31], argc);
}
""",
    "inc/value.h": "#define VALUE 100\n",
    "inc/pre.h": "",
    "one.cu": """#include <cstdio>
extern __device__ int twice(int x);
__global__ void k(int *p) { p[threadIdx.x] = twice(100) + threadIdx.x; }
extern "C" int run()
{
    int *p;
    cudaMallocManaged(&p, 128);
    k<<<1, 32>>>(p);
    int error = cudaDeviceSynchronize();
    printf("%d %d 1\\n", error, p[31]);
    return 0;
}
""",
    "two.cu": "__device__ int twice(int x) { return x + x; }\n",
    "three.cpp": 'extern "C" int run();\nint main() { return run(); }\n',
    "whole.cu": "__device__ int twice(int x) { return x + x; }\n#include \"one.cu\"\n",
    "image.cu": 'extern "C" __global__ void k(int *p) { p[threadIdx.x] = 200 + threadIdx.x; }\n',
    "load.cpp": """#include <cstdio>
#include <cuda.h>
int main(int argc, char **argv)
{
    CUdevice d;
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    int got[32] = {};
    cuInit(0);
    cuDeviceGet(&d, 0);
    cuDevicePrimaryCtxRetain(&c, d);
    cuCtxSetCurrent(c);
    int error = cuModuleLoad(&m, argv[1]) || cuModuleGetFunction(&f, m, "k") || cuMemAlloc(&p, 128);
    void *args[] = {&p};
    error = error || cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0) || cuMemcpyDtoH(got, p, 128);
    printf("%d %d 1\\n", error, got[31]);
}
""",
    "options.txt": "-DVALUE_TOO -I inc\n",
}
for name, text in FILES.items():
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as f:
        f.write(text)

RESULT = "0 231 "  # no error, the last thread's number, and how many arguments there were

# Commands, which end with what launches. CC is heddle cc.
ROWS = {
    "a program, by many options": """
        CC main.cu -o a -link -DONE -UGONE -DGONE -UGONE -I inc -iquote inc -isystem inc -include inc/pre.h -lineinfo -lm -L . -O 2 -g
            -pg -noeh -std c++14 -w -m 64 -cudart shared -Xcompiler -fno-inline -Xlinker -O1 -x cu -Wno-deprecated-gpu-targets
            -ftemplate-depth 500 -ftemplate-backtrace-limit 3 -extended-lambda -expt-relaxed-constexpr -keep -keep-dir inc -save-temps
            -MD -MF rule.d -MT a -MP
        ./a""",
    "streams of threads, no optimisation, registers": """
        CC main.cu -o b -I inc -default-stream per-thread -use_fast_math -G -dopt on -arch sm_90 -cudart static -Xptxas -v -res-usage
            -maxrregcount 64
        ./b""",
    "two devices, numbers, another compiler": """
        CC main.cu three.cpp -c -I inc -std c++20 -odir inc
        CC main.cu -o c -I inc -default-stream legacy -ftz true -prec-div false -prec-sqrt false -fmad false
            -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=compute_90 -ccbin g++ -MMD
        ./c""",
    "options of others": """
        CC main.cu -o d -optf options.txt -forward-unknown-to-host-compiler -fno-inline -forward-unknown-to-host-linker -rdynamic
        ./d
        CC main.cu -o d -I inc -forward-unknown-opts -fno-inline -v
        ./d""",
    "separable objects": """
        CC -dc one.cu two.cu -dryrun
        CC -dc one.cu two.cu
        CC one.o two.o three.cpp -o e
        ./e
        CC -dlink one.o two.o -o linked.o
        CC -c three.cpp
        CC -rdc true one.o two.o linked.o three.o -o e -nodlink
        ./e""",
    "objects, libraries": """
        CC -dw whole.cu -o whole.o
        CC -lib whole.o -o libwhole.a -arbin ar -Xarchive -v
        CC -c three.cpp
        CC three.o -L . -l whole -o f
        ./f
        CC -shared -Xcompiler -fPIC whole.cu -o libshared.so
        CC three.o -L . -l shared -Xlinker -rpath,. -o g
        ./g""",
    "images": """
        CC load.cpp -o load -lcuda
        CC -ptx image.cu -o image.ptx
        ./load image.ptx
        CC -cubin image.cu -o image.cubin
        ./load image.cubin
        CC -fatbin image.cu -o image.fatbin
        ./load image.fatbin""",
    "a program that is run": """
        CC -run main.cu -I inc -o h -run-args two,three""",
    "a folder of tools": """
        CC --install-tools tools
        tools/bin/nvcc main.cu -I inc -o i
        ./i""",
}
# What makes text for people and for make: there is nothing to launch. --toolkit is what a folder's nvcc is called by.
TEXTS = {"-E": "twice", "-M": "value.h", "-MM": "value.h", "-arch-ls": "compute_90", "-code-ls": "sm_90", "-V": "13.0", "-h": "Options:"}
ELSEWHERE = {"--toolkit", "--with", "-fdelayed-template-parsing"}


def sections(option="--help"):
    """Of --help: names and values of options, by what is said of them."""
    text = subprocess.run([heddle, "cc", option], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in re.split(r"\n\n", text):
        head, *lines = part.split("\n")
        rows = [re.fullmatch(r"  (--?[\w+-]+)(?:, (--?[\w+-]+))?(?: (\S+))?(?: {2,}.*)?", line)
                for line in lines if not line.startswith(" " * 10)]
        if rows and all(rows):
            found[head.split(",")[0].rstrip(":")] = [(r[1], r[2], r[3]) for r in rows]
    return found


def lines_of(row):
    return [shlex.split(line) for line in re.sub(r"\n {12,}", " ", row).strip().split("\n")]


def follow(row):
    for words in lines_of(row):
        command = [heddle, "cc", *words[1:]] if words[0] == "CC" else words
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        launches = words[0].startswith("./") or "-run" in words
        assert done.returncode == 0 and (not launches or done.stdout.startswith(RESULT)), f"{words}\n{done}"


def each_option_is_in_a_row():
    used = {word for row in ROWS.values() for words in lines_of(row) for word in words} | set(TEXTS) | ELSEWHERE
    joined = {word[:2] for word in used if re.match(r"-[DUIL]\w", word)}
    missing = [names for names in sections()["Options"] if not {*names[:2]} & (used | joined)]
    assert not missing, missing


def what_is_refused_says_why():
    for name, _, _ in sections()["Refused"]:
        done = subprocess.run([heddle, "cc", name, "main.cu"], capture_output=True, text=True, timeout=60)
        assert done.returncode and name in done.stderr and "\n" not in done.stderr.strip(), done


def what_changes_nothing_changes_nothing():
    """All such options at once."""
    values = {"N": "1", "N,...": "1", "LEVEL": "0", "sm_N": "sm_90", "FILE": "time.txt", "FOLDER": ".", "OPTION,...": "-w", "MODE": "size",
              "KERNEL,...": "k", "KIND,...": "inline", "TEXT": "seed", "on": "on", None: None}
    words = [w for name, _, value in sections()["Accepted without effect"] for w in (name, values.get(value, value)) if w]
    follow(shlex.join(["CC", "main.cu", "-I", "inc", "-o", "nothing", *words]) + "\n./nothing")


def texts_are_printed():
    for name, says in TEXTS.items():
        done = subprocess.run([heddle, "cc", name, "main.cu", "-I", "inc"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and says in done.stdout, (name, done)


def row_test(name):
    def test():
        follow(ROWS[name])
    test.__name__ = name
    test.__module__ = "__main__"
    return test


if not shutil.which("clang-19"):
    print("1..1\nok 1 - options # SKIP there is no clang-19")
    sys.exit()
main({**globals(), **{name: row_test(name) for name in ROWS}})
