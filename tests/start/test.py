"""How `heddle run` starts programs: what it hands through, and what it says of programs that cannot work. Prints TAP."""
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import has_level, need_compiler  # noqa: E402
from tap import Skip, heddle, main, need_clang, run, source  # noqa: E402

build = os.path.abspath(os.environ["HEDDLE_BUILD"])
libraries = os.path.join(build, "lib")
folder = tempfile.TemporaryDirectory()
nvcc = shutil.which("nvcc")

# Counts to 128 on the device through the runtime, whatever the runtime is.
COUNT = r"""
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __CUDACC__
__global__ void count(int *p) { atomicAdd(p, 1); }
#else
#include <cuda_runtime_api.h>
#endif
int main(int argc, char **argv)
{
    int *p, sum = -1, status = 0;
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        if (fork() == 0) {
            execl(argv[0], argv[0], (char *)0);
            _exit(99);
        }
        wait(&status);
    }
    cudaError_t e = cudaMalloc((void **)&p, 4);
    if (!e)
        e = cudaMemset(p, 0, 4);
#ifdef __CUDACC__
    count<<<2, 64>>>(p);
#else
    cudaMemset(p, 128, 1);
#endif
    if (!e)
        e = cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %s\n", sum, cudaGetErrorName(e));
    return status || sum != 128;
}
"""


def path(name):
    return os.path.join(folder.name, name)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def compile_c(name, text, *flags):
    """A program of C, which uses our runtime as a shared library."""
    subprocess.run(["cc", "-w", "-I", os.path.join(source, "include", "cuda"), write(name + ".c", text), "-o", path(name),
                    *flags], check=True)
    return path(name)


@functools.cache
def nvcc_makes(name, *args):
    if not nvcc:
        raise Skip("there is no nvcc")
    subprocess.run([nvcc, "-Wno-deprecated-gpu-targets", *args, "-o", path(name)], check=True, capture_output=True)
    return path(name)


def compile_cuda(name, *flags):
    return nvcc_makes(name, write(name + ".cu", COUNT), *flags)


def link_cuda(name, *flags):
    """Of the same object, linked in one of nvcc's ways."""
    return nvcc_makes(name, compile_cuda("count.o", "-c"), *flags)


def by_hand(program, *args, **env):
    """Runs a program without `heddle run`."""
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, LD_LIBRARY_PATH=libraries, **env))
    return done.returncode, done.stdout, done.stderr


def counts(result):
    assert result == (0, "128 cudaSuccess\n", ""), result


def refused(result, *words):
    status, out, err = result
    assert status == 126 and out == "" and err.startswith("heddle: ") and err.count("\n") == 1, result
    for word in words:
        assert word in err, err


def with_runtime(name="shared"):
    return compile_c(name, COUNT, "-L", libraries, "-lcudart")


# What a program with the static runtime inside looks like: a segment of fat binaries and the runtime's functions.
FORGED = r"""
const unsigned container[] = {0xba55ed50, 0x00100001, 0, 0};
__attribute__((section(".nvFatBinSegment"))) const struct { unsigned magic, version; const void *data, *more; } wrapper = {
    0x466243b1, 1, container, 0};
void **__cudaRegisterFatBinary(void *p) { return p; }
int main(void) { __cudaRegisterFatBinary((void *)&wrapper); return 0; }
"""


def a_program_finds_the_runtime_and_nothing_else_is_printed():
    counts(run("run", with_runtime()))


def exit_codes_input_and_output_pass_through():
    status, out, err = run("run", "sh", "-c", "cat; echo error >&2; exit 7", stdin="a line\nanother\n")
    assert (status, out, err) == (7, "a line\nanother\n", "error\n")


def signals_pass_through():
    for number in signal.SIGINT, signal.SIGQUIT:  # ignored by what runs in the background, and by its children
        signal.signal(number, signal.default_int_handler)
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGABRT:
        status, out, err = run("run", "sh", "-c", f"kill -{number:d} $$")
        assert (status, out, err) == (-number, "", ""), (status, out, err)
    process = subprocess.Popen([heddle, "run", "sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == -signal.SIGTERM


def children_after_fork_and_exec_find_the_runtime_too():
    status, out, err = run("run", with_runtime(), "child")
    assert (status, out, err) == (0, "128 cudaSuccess\n" * 2, ""), (status, out, err)
    counts(run("run", "sh", "-c", f"cd / && {with_runtime()}"))


def arguments_and_the_environment_are_the_programs_own():
    status, out, err = run("run", "sh", "-c", 'echo "$0" "$@" $VARIABLE', "zero", "--device", "-v", "a  b",
                           env=dict(os.environ, VARIABLE="value"))
    assert (status, out, err) == (0, "zero --device -v a  b value\n", ""), (out, err)


def a_summary_is_printed_where_it_is_asked_for():
    status, out, err = run("run", "-v", with_runtime())
    assert status == 0 and out == "128 cudaSuccess\n", (status, out)
    want = r"heddle: shared: 0 launches of 0 blocks, 1 copy of 4 bytes, 2 fills, 0 host functions, [\d.]+ s\n"
    assert re.search(want, err), err


def what_is_no_program_is_127_or_126():
    assert run("run", path("nothing"))[0::2] == (127, f"heddle: there is no program `{path('nothing')}`\n")
    assert run("run", "no-such-command-anywhere")[0] == 127
    refused(run("run", folder.name), "is a folder, not a program")
    refused(run("run", f"{source}/examples/saxpy/saxpy.ptx"), "is PTX: `heddle launch` runs a kernel of it")
    refused(run("check", f"{source}/examples/race/sum.cu"), "sum.cu -o PROGRAM` makes a program of it")
    status, _, err = run("run", os.path.basename(with_runtime()), cwd=os.path.dirname(with_runtime()))
    assert status == 127 and err.endswith("write `./shared` for the one in this folder\n"), err
    status, _, err = run("run")
    assert status == 2 and "needs a program" in err, err


def LD_LIBRARY_PATH_alone_serves_programs_with_the_shared_runtime():
    counts(by_hand(with_runtime()))


def an_RPATH_to_another_runtime_is_passed_over():
    os.makedirs(path("other"), exist_ok=True)
    script = write("versions", "libcudart.so.13 { *; };")
    subprocess.run(["cc", "-shared", "-Wl,-soname,libcudart.so.13", "-Wl,--version-script=" + script, "-x", "c", "-", "-o",
                    path("other/libcudart.so.13")],
                   input=b"int cudaMalloc() { return 35; } const char *cudaGetErrorName() { return \"other\"; }\n"
                   b"int cudaMemset() { return 35; } int cudaMemcpy() { return 35; }\n", check=True)
    program = compile_c("rpath", COUNT, "-L", libraries, "-lcudart", "-Wl,--disable-new-dtags", "-Wl,-rpath," + path("other"))
    assert by_hand(program)[1] == "-1 other\n", by_hand(program)
    counts(run("run", program))


# A runtime of somebody else's: what a call of ours would never answer. With __cudaRegisterFatBinary it is a CUDA 13's by __cudaGetKernel.
OTHER = r"""
#define LONG __asm__ volatile("nop; nop; nop; nop; nop; nop")
int cudaRuntimeGetVersion(int *v) { LONG; *v = -1; return 0; }
void **__cudaRegisterFatBinary(void *p) { LONG; return p; }
int __cudaGetKernel(void) { LONG; return 0; }
"""
ASK = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **path) {
    for (int i = 1; i < n; i++) {
        void *library = dlopen(path[i], RTLD_NOW);
        int version = 0, (*ask)(int *) = library ? dlsym(library, "ask") : 0;
        ask = ask || !library ? ask : dlsym(library, "cudaRuntimeGetVersion");
        printf("%d\n", !ask || ask(&version) ? -2 : version / 1000);
    }
    return 0;
}
"""


def library_of(name, text, *flags):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-x", "c", "-", "-o", path(name), *flags], input=text.encode(), check=True)
    return path(name)


def libraries_with_a_runtime_inside_and_no_images_are_found():
    hidden = OTHER.replace("int cuda", "__attribute__((visibility(\"hidden\"))) int cuda")
    inside = library_of("inside/libinside.so", hidden + "int ask(int *v) { return cudaRuntimeGetVersion(v); }\n")
    program = compile_c("ask", ASK)
    assert by_hand(program, inside)[1] == "0\n", "it answers -1 by itself"
    assert run("run", program, inside) == (0, "13\n", "")


LOAD = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    void *library = dlopen(argv[1], RTLD_NOW);
    getrusage(RUSAGE_SELF, &after);
    printf("%ld\n", library ? after.ru_minflt - before.ru_minflt : -1);
    return 0;
}
"""


def names_of_a_library_that_uses_a_shared_runtime_are_not_read():
    names = "".join(chr(ord("a") + i) * (4 << 20) + ": .byte 0\n" for i in range(16))
    names += '.section .note.GNU-stack,"",@progbits\n'
    text = "int cudaFree(void *);\nint drop(void *p) { return cudaFree(p); }\n"
    by = library_of("many/libby.so", text, "-x", "assembler", write("many.s", names), "-L", libraries, "-lcudart")
    assert os.path.getsize(by) > 64 << 20
    program = compile_c("load", LOAD, "-ldl")
    status, out, err = run("run", program, by)
    faults = int(by_hand(program, by)[1])
    assert status == 0 and err == "" and 0 <= int(out) < faults + 64, (out, faults, err)


REGISTER = r"""
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <time.h>
enum { BINARIES = 800, KERNELS = 64 };
static const unsigned none[4];
static const struct { unsigned magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, none, 0};
static char stubs[BINARIES][KERNELS];
static void **handles[BINARIES];
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void **add(int i, int n)
{
    void **h = __cudaRegisterFatBinary((void *)&wrapper);
    for (int k = 0; k < n; k++)
        __cudaRegisterFunction(h, &stubs[i][k], "k", "k", -1, 0, 0, 0, 0, 0);
    return h;
}
static int is_there(void)
{
    struct cudaFuncAttributes a;
    cudaError_t e = cudaFuncGetAttributes(&a, &stubs[0][0]);
    return e != cudaErrorInvalidResourceHandle;
}
int main(void)
{
    double least = 1e9;
    for (int round = 0; round < 4; round++) {
        double t0 = now();
        for (int i = 0; i < BINARIES; i++)
            handles[i] = add(i, KERNELS);
        if (round % 2)
            is_there();
        double t1 = now();
        for (int i = 0; i < BINARIES; i++)
            __cudaUnregisterFatBinary(handles[i]);
        double ratio = (now() - t1) / (t1 - t0);
        least = ratio < least ? ratio : least;
    }
    printf("%.1f\n", least);
    for (int look = 0; look < 2; look++) {
        void **earlier = add(0, 1), **later = add(0, 1);
        if (look)
            printf("%d", is_there());
        __cudaUnregisterFatBinary(earlier);
        printf("%d", is_there());
        __cudaUnregisterFatBinary(later);
        printf("%d ", is_there());
    }
    return 0;
}
"""


def fat_binaries_come_and_go_in_time_proportional_to_their_kernels():
    status, out, err = run("run", compile_c("register", REGISTER, "-L", libraries, "-lcudart"))
    ratio, there = out.splitlines()
    assert float(ratio) < 4, out
    assert there == "10 110 ", f"the later of two kernels with one key counts: {there}"


def runtimes_that_are_loaded_by_their_paths_are_replaced_each_by_its_version():
    files = [library_of(f"by-path/libcudart.so.{v}", OTHER, f"-Wl,-soname,libcudart.so.{v}") for v in (12, 13)]
    program = compile_c("ask", ASK)
    assert by_hand(program, *files)[1] == "0\n0\n"
    assert run("run", program, *files) == (0, "12\n13\n", "")


def work_that_has_yet_to_end_is_no_error():
    program = compile_c("not-ready", """#include <cuda_runtime_api.h>
#include <stdio.h>
#include <unistd.h>
static volatile int go;
static void wait(void *p) { while (!go) usleep(100); }
int main() { cudaStream_t s; cudaEvent_t e; cudaStreamCreate(&s); cudaEventCreate(&e); cudaLaunchHostFunc(s, wait, 0);
cudaEventRecord(e, s); printf("%d %d ", cudaEventQuery(e), cudaStreamQuery(s)); printf("%d ", cudaPeekAtLastError());
go = 1; printf("%d ", cudaStreamSynchronize(s)); printf("%d\\n", cudaEventQuery(e)); return 0; }""", "-L", libraries, "-lcudart")
    assert run("run", program) == (0, "600 600 0 0 0\n", "")


def the_vendors_runtime_is_told_to_be_started_by_heddle_run():
    program = compile_c("tables", "int cuGetExportTable(const void **, const void *); int main() { const void *t; char id[16];"
                        " return cuGetExportTable(&t, id) != 801 || cuGetExportTable(&t, id) != 801; }", "-L", libraries,
                        "-lcuda")
    status, out, err = by_hand(program)
    assert status == 0 and err.count("\n") == 1 and "heddle run" in err and "tables" in err, err
    status, out, err = run("run", program)
    assert status == 0 and err.count("\n") == 1 and "RPATH" in err, err
    if nvcc:
        status, out, err = by_hand(link_cuda("static"))
        assert status == 1 and "start the program with `heddle run`" in err, err


# A library with machine code for sm_80 alone, which launches its kernels as code of nvcc 12 does, and as that of nvcc 13: it asks for the
# kernel once, looks at no error, and launches what it has got.
MACHINE_CODE = r"""
#include <cuda_runtime_api.h>
#include <stdio.h>
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
static const struct { unsigned magic; short version, header; size_t bytes; short kind, unknown; unsigned entry; size_t payload;
    unsigned compressed, options, code_version, arch; size_t unused, flags, unused2, whole; char code[16]; } container = {
    0xba55ed50, 1, 16, 80, 2, 0x101, 64, 16, 0, 0, 0x10007, 80, 0, 0x11, 0, 0, "\177ELF"};
static const struct { unsigned magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, &container, 0};
static char first, second, variable;
int launch(void)
{
    static cudaKernel_t kept;
    dim3 one = {1, 1, 1};
    void **h = __cudaRegisterFatBinary((void *)&wrapper), *p;
    __cudaRegisterFunction(h, &first, "_Z5firstILi4EEvPf", "_Z5firstILi4EEvPf", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(h, &second, "second", "second", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(h, &variable, "variable", "variable", 0, 4, 0, 0);
    for (int i = 0; i < 2; i++) {
        printf("%s ", cudaGetErrorName(cudaLaunchKernel(&first, one, one, 0, 0, 0)));
        if (!kept)
            __cudaGetKernel(&kept, &second);
        printf("%s ", cudaGetErrorName(__cudaLaunchKernel(kept, one, one, 0, 0, 0)));
    }
    printf("%s\n", cudaGetErrorName(cudaGetSymbolAddress(&p, &variable)));
    return 0;
}
"""


def kernels_that_are_machine_code_alone_fail_with_a_sentence_each():
    library = library_of("code/libcode.so", MACHINE_CODE, "-I", f"{source}/include/cuda", "-L", libraries, "-lcudart")
    program = compile_c("call", """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **path)
{
    void *library = dlopen(path[1], RTLD_NOW);
    int status = ((int (*)(void))dlsym(library, "launch"))();
    fflush(stdout);
    if (fork() == 0)
        exit(0); /* has launched nothing, and says nothing */
    wait(NULL);
    return status;
}""")
    status, out, err = run("run", program, library)
    assert (status, out) == (0, " ".join(["cudaErrorNoKernelImageForDevice"] * 5) + "\n"), (out, err)
    why = " of libcode.so cannot be loaded: Heddle runs PTX, and there is machine code for sm_80 alone; "
    *said, last = err.splitlines()
    assert re.search(r"call: \d launches were refused", last), err
    assert [line.split(why)[0] for line in said] == ["heddle: kernel `first<4>`", "heddle: kernel `second`", "heddle: variable `variable`"], err


# A library that has one image, with PTX for sm_100 alone.
IMAGE = r"""
__asm__(".section .nv_fatbin, \"a\"\n.p2align 3\n.long 0xba55ed50\n.short 1, 16\n.quad 80\n"
        ".short 1, 0x101\n.long 64\n.quad 16\n.long 0, 0, 0x90000, 100\n.quad 0, 0x11, 0, 0\n.ascii \".version 9.0    \"\n"
        ".section .note.GNU-stack, \"\", %progbits\n.text");
"""


def the_device_auto_has_all_images_run_that_the_process_has_loaded():
    capability = compile_c("capability", """#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **path) { int major, minor; if (n > 1 && !dlopen(path[1], RTLD_NOW)) return 2; cuInit(0);
cuDeviceGetAttribute(&major, 75, 0); cuDeviceGetAttribute(&minor, 76, 0); printf("%d.%d\\n", major, minor); return 0; }""", "-L",
                           libraries, "-lcuda")
    newer, unknown = library_of("later/liblater.so", IMAGE), library_of("unknown/libunknown.so", IMAGE.replace("0x90000, 100", "0x90000, 199"))
    assert run("run", "--device", "auto", capability)[1] == "9.0\n"
    assert "sm_120; `auto` chooses" in run("run", "--device", "autoo", capability)[2]
    assert run("run", "--device", "auto", capability, newer)[1] == "10.0\n"
    assert run("run", "--device", "auto", capability, unknown)[1] == "9.0\n" # which no device runs
    assert run("run", capability, newer)[1] == "9.0\n"


def a_stripped_static_runtime_is_refused_with_what_helps():
    program = compile_c("stripped", FORGED, "-s")
    refused(run("run", program), program, "stripped", "-cudart shared", "heddle cc")
    assert run("run", compile_c("kept", FORGED))[0] == 0


def a_program_that_is_static_as_a_whole_is_refused():
    refused(run("run", compile_c("whole", FORGED, "-static")), "-static", "C library")


def a_program_without_PTX_is_refused_with_the_option_that_adds_it():
    program = compile_cuda("sass", "-gencode", "arch=compute_80,code=sm_80")
    refused(run("run", program), program, "sm_80", "-gencode arch=compute_")
    for device in "H200", "90", "auto":
        refused(run("run", "--device", device, program), program, "sm_80", "arch=compute_75,code=compute_75")
    refused(run("run", "--device", "sm_70", program), "arch=compute_70,code=compute_70")
    status, out, err = run("run", compile_cuda("newer", "-gencode", "arch=compute_100,code=compute_100"))
    assert status == 1 and "sm_100" in err and "arch=compute_90" in err, err
    counts(run("run", "--device", "sm_100", path("newer")))


def write_one_object_for_two():
    write("part.cu", """__global__ void k(int *p) { *p += 5; }
extern "C" int count(int v)
{
    int *p;
    cudaMallocManaged(&p, 4);
    *p = v;
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p;
}
""")
    write("whole.cpp", """#include <cstdio>
#include <cstring>
#include <dlfcn.h>
extern "C" int count(int);
int main(int n, char **arguments)
{
    void *library = dlopen("libpart.so", RTLD_NOW | RTLD_NOLOAD);
    printf("%d\\n", ((int (*)(int))dlsym(library, "count"))(2));
    if (n > 1)
        printf("%d\\n", count(1));
}
""")
    return ["-ldl", "-Xlinker", "--no-as-needed", "-L", folder.name, "-lpart", "-Xlinker", "-rpath=" + folder.name]


def a_program_and_a_library_of_one_object_run_the_library_s_kernels():
    """-rdc=true: nvcc's code for both has one name, and counts the objects of the program with those of the library."""
    link = write_one_object_for_two()
    nvcc_makes("part.o", "-rdc=true", "-Xcompiler", "-fPIC", "-c", path("part.cu"))
    nvcc_makes("libpart.so", "-rdc=true", "-Xcompiler", "-fPIC", "-shared", path("part.cu"))
    for runtime in "static", "shared":
        program = nvcc_makes("whole", "-rdc=true", "-cudart", runtime, path("whole.cpp"), path("part.o"), *link)
        assert run("run", program) == (0, "7\n", ""), run("run", program)


def a_program_and_a_library_of_one_object_of_ours_run_the_kernels_of_both():
    need_clang()
    link = write_one_object_for_two()
    for what in ["-fPIC", "-c", path("part.cu"), "-o", path("part.o")], ["-shared", path("part.o"), "-o", path("libpart.so")], \
                [path("whole.cpp"), path("part.o"), *link, "-o", path("ours")]:
        subprocess.run([heddle, "cc", "-rdc=true", *what], check=True, capture_output=True)
    assert run("run", path("ours"), "both") == (0, "7\n6\n", ""), run("run", path("ours"), "both")


def programs_of_nvcc_run_with_both_runtimes_stripped_or_with_an_RPATH():
    toolkit = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc or "/a/b"))), "lib64")
    counts(run("run", link_cuda("static")))
    counts(run("run", link_cuda("nvcc-shared", "-cudart", "shared")))
    counts(run("run", link_cuda("nvcc-stripped", "-cudart", "shared", "-Xlinker", "-s")))
    counts(run("run", link_cuda("nvcc-rpath", "-cudart", "shared", "-Xlinker", "-rpath=" + toolkit, "-Xlinker",
                                   "--disable-new-dtags")))
    refused(run("run", link_cuda("static-stripped", "-Xlinker", "-s")), "stripped")
    status, out, err = run("run", path("static"), "child")
    assert (status, out, err) == (0, "128 cudaSuccess\n" * 2, ""), (status, out, err)


def devices_are_chosen_and_wrong_ones_refused():
    program = compile_c("devices", """#include <cuda.h>
#include <stdio.h>
int main() { int n, major, minor; cuInit(0); cuDeviceGetCount(&n); cuDeviceGetAttribute(&major, 75, n - 1);
cuDeviceGetAttribute(&minor, 76, n - 1); printf("%d %d.%d\\n", n, major, minor); return 0; }""", "-L", libraries, "-lcuda")
    assert run("run", program)[1] == "1 9.0\n"
    assert run("run", "--devices", 3, "--device", "sm_70", program)[1] == "3 7.0\n"
    assert run("run", "--device", "sm_80", program)[1] == "1 8.0\n"
    status, _, err = run("run", "--device", "sm_1", program)
    assert status == 2 and "--device sm_1" in err, err
    status, _, err = run("run", "--devices", 1000, program)
    assert status == 2 and "--devices" in err, err
    status, _, err = run("run", "--log", "enigne", program)
    assert status == 2 and "the topics are api, error, engine" in err, err
    assert run("run", "--log", "api,error,engine", program)[1] == "1 9.0\n"


# Loads the PTX that its argument names, and launches its kernel in an array of 256 floats that are 1.
LOADS = """#include <cuda.h>
#include <stdio.h>
static char text[1 << 16];
int main(int n, char **args) { CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p; float x[256]; FILE *file = fopen(args[n - 1], "r");
if (!file || !fread(text, 1, sizeof text - 1, file)) return 2;
int r = cuInit(0); if (!r) r = cuDevicePrimaryCtxRetain(&c, 0); if (!r) r = cuCtxSetCurrent(c);
if (!r) r = cuModuleLoadData(&m, text); if (!r) r = cuModuleGetFunction(&f, m, "twice"); if (!r) r = cuMemAlloc(&p, sizeof x);
if (!r) r = cuMemsetD32(p, 0x3f800000, 256);
void *of[] = {&p}; if (!r) r = cuLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, 0, of, 0); if (!r) r = cuMemcpyDtoH(x, p, sizeof x);
printf("%d %g\\n", r, x[255]); return r; }"""
TWICE = """.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry twice(.param .u64 p) { .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2; mul.wide.u32 %rd2, %r3, 4;
add.u64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd3], %f1; ret; }"""


def programs_use_the_CPU_level_that_is_asked_for():
    need_compiler()
    program, ptx = compile_c("loads", LOADS, "-L", libraries, "-lcuda"), write("twice.ptx", TWICE)
    vectors = {"x86-64-v2": "xmm", "x86-64-v3": "ymm", "x86-64-v4": "zmm"}
    dumps = {**os.environ, "HEDDLE_ENGINE": "jit", "HEDDLE_DUMP": "asm"}
    alone = {**dumps, "LD_LIBRARY_PATH": libraries}
    for level, greatest in vectors.items():
        if not has_level(level):
            continue
        for args, env in ([heddle, "run", "--cpu", level], dumps), ([], {**alone, "HEDDLE_CPU": level}):
            done = subprocess.run([*args, program, ptx], capture_output=True, text=True, env=env)
            assert (done.returncode, done.stdout) == (0, "0 2\n"), done
            assert max(re.findall(r"%([xyz]mm)", done.stderr)) == greatest, (level, args)
    for tool in "run", "check", "explain":
        status, _, err = run(tool, "--cpu", "vax", program, ptx)
        assert status == 2 and "`--cpu vax`: this CPU has" in err, err
    done = subprocess.run([program, ptx], capture_output=True, text=True, env={**alone, "HEDDLE_CPU": "vax"})
    assert done.returncode and "HEDDLE_CPU" in done.stderr, done


# Launches the kernel of the PTX that its first argument names, as often as the second says, looks at no error, and returns the third.
LOOKS_AWAY = """#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
static char text[1 << 16];
int main(int n, char **args) { CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p; void *of[] = {&p}; FILE *file = fopen(args[1], "r");
if (!file || !fread(text, 1, sizeof text - 1, file)) return 2;
cuInit(0); cuDevicePrimaryCtxRetain(&c, 0); cuCtxSetCurrent(c); cuMemAlloc(&p, 1024); cuModuleLoadData(&m, text);
cuModuleGetFunction(&f, m, "twice"); for (int i = 0; i < atoi(args[2]); i++) cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, of, 0);
cuCtxSynchronize(); return atoi(args[3]); }"""


def refused_launches_are_told_of_at_the_end_where_the_program_says_that_all_is_well():
    program = compile_c("looks_away", LOOKS_AWAY, "-L", libraries, "-lcuda")
    can = write("can.ptx", TWICE)
    cannot = write("cannot.ptx", TWICE.replace("add.f32", "multimem.ld_reduce.global.add.u32 %r1, [%rd3]; add.f32").replace("7.0", "8.1").replace("sm_75", "sm_90"))
    told = lambda *args: re.findall(r"looks_away: (\d+ launch\w* w\w+) refused, .* ended with status 0", run("run", program, *args)[2])
    assert told(cannot, 2, 0) == ["2 launches were"] and told(cannot, 1, 0) == ["1 launch was"]
    assert told(cannot, 2, 3) == told(cannot, 0, 0) == told(can, 2, 0) == []


main(globals())
