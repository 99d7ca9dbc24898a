#!/usr/bin/env python3
"""heddle pack, and heddle run --kernels: a library with machine code alone runs by PTX of its sources, and by nothing that is not its own."""
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Folder, main, need_loadable_libraries, run, source  # noqa: E402

libraries = os.path.join(os.environ["HEDDLE_BUILD"], "lib")
tmp = Folder()

ANONYMOUS = "_ZN46_GLOBAL__N__0de8ae4a_8_scale_cu_69ab9089_238313addEPi"  # as nvcc writes it
# Kernels of the library: bytes of their parameters, threads of a block at most.
KERNELS = {"scale": (12, 256), "bump": (8, 0), "read": (8, 0), ANONYMOUS: (8, 0), "missing": (8, 0), "grown": (16, 0),
           "_Z5ninthIZ1fvE1SEvPiS2_": (16, 0), "_Z5twiceIiEvPiS1_": (8, 0), "_Z5twiceIiEvPiS2_": (8, 0), "_Z5widerIiEvPiS1_": (16, 0)}

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 total = 40;
.visible .entry scale(.param .u64 p, .param .f32 by) .maxntid 256, 1, 1
{ .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [by]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; mul.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret; }
.visible .entry bump(.param .u64 by)
{ .reg .b64 %rd<2>; .reg .b32 %r<4>; ld.param.u32 %r1, [by]; ld.global.u32 %r2, [total]; add.u32 %r3, %r1, %r2; st.global.u32 [total], %r3; ret; }
.visible .entry read(.param .u64 p)
{ .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [total]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry _ZN12_GLOBAL__N_13addEPi(.param .u64 p)
{ .reg .b64 %rd<2>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 5; st.global.u32 [%rd1], %r2; ret; }
.visible .entry grown(.param .u64 p) { ret; }
.visible .entry _ZL5ninthIZ1fvE1SEvPiS1_(.param .u64 p, .param .u64 q)
{ .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; mov.b32 %r1, 9; st.global.u32 [%rd1], %r1; ret; }
.visible .entry _Z5twiceIiEvPiS3_(.param .u64 p) { ret; }
.visible .entry _Z5widerIiEvPiS2_(.param .u64 p) { ret; }
"""

LIBRARY = r"""
#include <cuda_runtime_api.h>
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
static const unsigned char container[] __attribute__((aligned(8), section(".nv_fatbin"))) = {@BYTES@};
static const struct { unsigned magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, container, 0};
static const char *const names[] = {@NAMES@};
static char keys[32], total;
static __attribute__((constructor)) void start(void)
{
    void **h = __cudaRegisterFatBinary((void *)&wrapper);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        __cudaRegisterFunction(h, &keys[i], (char *)names[i], names[i], -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(h, &total, "total", "total", 0, 4, 0, 0);
}
cudaError_t launch(unsigned i, unsigned threads, void **arguments) { return cudaLaunchKernel(&keys[i], (dim3){1, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, 0); }
static int ways = 3;
void *settings(void) { return &ways; }
void set_ways(int *of, int n) { *of = n; }
cudaError_t set_total(int n) { return cudaMemcpyToSymbol(&total, &n, 4, 0, cudaMemcpyHostToDevice); }
"""

PROGRAM = r"""
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
cudaError_t launch(unsigned, unsigned, void **), set_total(int);
void *settings(void);
int main(int n, char **words)
{
    float x[2] = {1, 2}, by = 3;
    int value = 0;
    void *p;
    size_t two = 2;
    cudaMalloc(&p, 8);
    for (int i = 1; i < n; i++) {
        cudaError_t e = cudaSuccess;
        switch (*words[i]) {
        case 's': cudaMemcpy(p, x, 8, cudaMemcpyDefault); e = launch(0, 2, (void *[]){&p, &by}); cudaMemcpy(x, p, 8, cudaMemcpyDefault); printf("%g %g ", x[0], x[1]); break;
        case 'b': e = launch(1, 1, (void *[]){&two}); break;
        case 'r': e = launch(2, 1, (void *[]){&p}); cudaMemcpy(&value, p, 4, cudaMemcpyDefault); printf("%d ", value); break;
        case 'a': e = launch(3, 1, (void *[]){&p}); cudaMemcpy(&value, p, 4, cudaMemcpyDefault); printf("%d ", value); break;
        case 'm': e = launch(4, 1, (void *[]){&p}); break;
        case 'g': e = launch(5, 1, (void *[]){&p, &p}); break;
        case 'n': e = launch(6, 1, (void *[]){&p, &p}); cudaMemcpy(&value, p, 4, cudaMemcpyDefault); printf("%d ", value); break;
        case 'v': e = set_total(100); break;
        case 'w': printf("%d %s ", *(int *)settings(), getenv("SCALE_WAY"));
        }
        if (e)
            printf("%s ", cudaGetErrorName(e));
    }
    puts("");
    return 0;
}
"""


def machine_code():
    """An ELF file as ptxas makes it, as far as it says what kernels take: .nv.info.NAME with EIATTR_CBANK_PARAM_SIZE, EIATTR_MAX_THREADS."""
    names, bodies = [""], [b""]
    for name, (size, threads) in KERNELS.items():
        names.append(".nv.info." + name)
        bodies.append(struct.pack("<BBH", 3, 0x19, size) + (struct.pack("<BBHIII", 4, 5, 12, threads, 1, 1) if threads else b""))
    names.append(".shstrtab")
    bodies.append(b"\0".join(n.encode() for n in names) + b"\0")
    at, name_at, headers, data = 64 + 64 * len(names), 0, b"", b""
    for name, body in zip(names, bodies):
        kind = 0 if not name else 3 if name == ".shstrtab" else 0x70000000
        headers += struct.pack("<IIQQQQIIQQ", name_at, kind, 0, 0, at + len(data), len(body), 0, 0, 1, 0)
        name_at += len(name) + 1
        data += body
    head = b"\x7fELF\x02\x01\x01\x33\x07" + b"\0" * 7 + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64, 0x5a, 64, 0, 0, 64, len(names), len(names) - 1)
    return head + headers + data


def library(folder, build="1"):
    code = machine_code()
    code += b"\0" * (-len(code) % 8)
    entry = struct.pack("<HHIQIIIIQQQQ", 2, 0x101, 64, len(code), 0, 0, 0x10007, 90, 0, 0x11, 0, 0)
    image = struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(entry) + len(code)) + entry + code
    text = LIBRARY.replace("@BYTES@", ",".join(map(str, image))).replace("@NAMES@", ",".join(f'"{n}"' for n in KERNELS))
    os.makedirs(tmp.path(folder), exist_ok=True)
    made = tmp.path(f"{folder}/libscale.so")
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,--build-id=0x{build:0>8}", tmp.write(f"{folder}/libscale.c", text), "-o", made, "-I",
                    f"{source}/include/cuda", "-L", libraries, "-lcudart"], check=True)
    return made


def program():
    made = tmp.path("program")
    if not os.path.exists(made):
        library("first")
        subprocess.run(["cc", tmp.write("program.c", PROGRAM), "-o", made, "-I", f"{source}/include/cuda", "-L", libraries, "-lcudart", "-L", tmp.path("first"), "-lscale"],
                       check=True)
    return made


def pack(*more, ptx=PTX):
    """A pack of the library; its path."""
    program()
    made = tmp.path("libscale.pack")
    status, out, err = run("pack", "-o", made, "--library", "scale", "--version", "1.0", "--object", tmp.path("first/libscale.so"), *more, tmp.write("scale.ptx", ptx))
    assert status == 0, (out, err)
    return made


def run_with(options, *words, folder="first"):
    return run("run", *options, program(), *words, env={**os.environ, "LD_LIBRARY_PATH": tmp.path(folder)})


def a_library_without_ptx_runs_by_its_pack():
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack()], *"sss")
    assert (status, out, err) == (0, "3 6 9 18 27 54 \n", ""), (status, out, err)


def kernels_of_anonymous_namespaces_are_found():
    """The library has nvcc's name, the pack clang's."""
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack()], "r", "a")
    assert (status, out, err) == (0, "40 45 \n", ""), (status, out, err)


def kernels_whose_names_repeat_other_components_are_found():
    """nvcc and clang number them differently: where one kernel on each side can be meant, its parameters equal."""
    need_loadable_libraries()
    made = pack()
    status, out, err = run_with(["--kernels", made], "n")
    assert (status, out, err) == (0, "9 \n", ""), (status, out, err)
    names = [line.split("\t")[1] for line in run("pack", made)[1].splitlines() if "_Z5" in line]
    assert names == ["_Z5ninthIZ1fvE1SEvPiS2_", "_Z5twiceIiEvPiS3_", "_Z5widerIiEvPiS2_"], names


def variables_are_the_kernels_and_the_host_s_together():
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack()], *"rbrvbr")
    assert (status, out, err) == (0, "40 42 102 \n", ""), (status, out, err)


def a_folder_s_packs_and_the_environment_s_are_used():
    need_loadable_libraries()
    made = pack()
    os.makedirs(tmp.path("packs"), exist_ok=True)
    shutil.copy(made, tmp.path("packs"))
    assert run_with(["--kernels", tmp.path("packs")], "s")[1] == "3 6 \n"
    status, out, err = run("run", program(), "s", env={**os.environ, "LD_LIBRARY_PATH": tmp.path("first"), "HEDDLE_KERNELS": made})
    assert (status, out, err) == (0, "3 6 \n", ""), err


def a_pack_tells_its_library_what_it_lacks():
    """By functions that the library exports, and by variables that the user has not set."""
    need_loadable_libraries()
    made = pack("--fact", "call=settings set_ways 1", "--fact", "call=settings no_such_function 2", "--fact", "environment=SCALE_WAY=slow")
    assert run_with(["--kernels", made], "w")[1] == "1 slow \n"
    library("second", build="2")
    assert run_with(["--kernels", made], "w", folder="second")[1] == "3 slow \n"
    assert run_with(["--kernels", made, "--kernels-unmatched"], "w", folder="second")[1] == "1 slow \n"
    status, out, err = run("run", "--kernels", made, program(), "w", env={**os.environ, "LD_LIBRARY_PATH": tmp.path("first"), "SCALE_WAY": "mine"})
    assert (status, out) == (0, "1 mine \n"), (out, err)
    assert run_with(["--kernels", pack()], "w")[1] == "3 (null) \n"


def without_a_pack_the_message_names_the_option():
    need_loadable_libraries()
    status, out, err = run_with([], "s")
    assert "cudaErrorNoKernelImageForDevice" in out and "machine code for sm_90 alone" in err and "--kernels" in err, (out, err)


def what_a_pack_does_not_have_is_refused_by_name_once():
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack(), "--kernels-partial"], *"mmmmms")
    assert out == "cudaErrorNoKernelImageForDevice " * 5 + "3 6 \n", out
    assert err.count("kernel `missing` of libscale.so cannot be loaded") == 1 and "libscale.pack" in err, err


def nothing_is_had_of_a_device_that_misses_a_kernel():
    """PyTorch looks at no error of CUB's launches, and reads what they were to write."""
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack()], *"sms")
    assert out == "3 6 cudaErrorNoKernelImageForDevice 3 6 cudaErrorNoKernelImageForDevice \n", out
    assert "kernel `missing`" in err and "--kernels-partial" in err, err


def a_kernel_with_other_parameters_is_refused():
    """A name alone does not tell one kernel from another."""
    need_loadable_libraries()
    status, out, err = run_with(["--kernels", pack(), "--kernels-partial"], *"gs")
    assert out == "cudaErrorNoKernelImageForDevice 3 6 \n" and "16 bytes of parameters, but the kernel in the pack" in err, (out, err)
    status, out, err = run_with(["--kernels", pack(ptx=PTX.replace(".maxntid 256, 1, 1", ".maxntid 128, 1, 1"))], *"s")
    assert out.startswith("cudaErrorNoKernelImageForDevice 1 2") or "it allows 256 threads in a block" in err, (out, err)


def another_build_of_the_library_is_refused_unless_it_is_asked_for():
    need_loadable_libraries()
    made = pack()
    library("second", build="2")
    status, out, err = run_with(["--kernels", made], "s", folder="second")
    assert "cudaErrorNoKernelImageForDevice" in out and "belongs to scale 1.0" in err and "another build" in err and "--kernels-unmatched" in err, (out, err)
    status, out, err = run_with(["--kernels", made, "--kernels-unmatched", "--kernels-partial"], *"ssg", folder="second")
    assert out == "3 6 9 18 cudaErrorNoKernelImageForDevice \n" and err.count("warning: the pack") == 1 and "16 bytes of parameters" in err, (out, err)


def what_stands_beside_the_library_says_its_version_too():
    need_loadable_libraries()
    made = pack("--beside", "../version.txt", "--says", "version = 1.0")
    tmp.write("version.txt", "name = scale\nversion = 1.0\n")
    assert run_with(["--kernels", made], "s")[1] == "3 6 \n"
    tmp.write("version.txt", "version = 1.01\n")
    status, out, err = run_with(["--kernels", made], "s")
    assert "cudaErrorNoKernelImageForDevice" in out and "does not say `version = 1.0`" in err, (out, err)


def another_library_s_pack_changes_nothing():
    need_loadable_libraries()
    other = tmp.path("other/libother.so")
    os.makedirs(tmp.path("other"), exist_ok=True)
    program()
    shutil.copy(tmp.path("first/libscale.so"), other)
    made = tmp.path("other.pack")
    assert run("pack", "-o", made, "--library", "other", "--version", "1", "--object", other, tmp.write("scale.ptx", PTX))[0] == 0
    status, out, err = run_with(["--kernels", made], "s")
    assert "cudaErrorNoKernelImageForDevice" in out and "machine code for sm_90 alone" in err, (out, err)
    assert run_with(["--kernels", made, "--kernels", pack()], "s")[1] == "3 6 \n"


def what_is_no_pack_is_refused_before_the_program_starts():
    made = pack()
    with open(made, "rb") as f:
        whole = f.read()
    for bad, word in [(tmp.write("short.pack", whole[:-10]), "its header says"), (tmp.write("text.pack", "text"), "not a pack of kernels"), (tmp.path("none.pack"), "No such file")]:
        status, out, err = run("run", "--kernels", bad, "true")
        assert status == 2 and word in err and out == "", (status, out, err)
    status, _, err = run("run", "--kernels-unmatched", "true", env={k: v for k, v in os.environ.items() if k != "HEDDLE_KERNELS"})
    assert status == 2 and "--kernels FILE" in err, err


def a_pack_and_a_library_show_the_same_of_their_kernels():
    shown = {}
    for file in pack(), tmp.path("first/libscale.so"):
        status, out, err = run("pack", file)
        assert status == 0, err
        shown[file] = {tuple(line.split("\t")[1:4]) for line in out.splitlines() if line.startswith("kernel")}
    pack_s, library_s = shown.values()
    of_both = [{name for name, *_ in s if not name.startswith("_Z5")} for s in (library_s - pack_s, pack_s - library_s)]
    assert of_both == [{"missing", "grown"}, {"grown"}], shown
    assert ("_ZN12_GLOBAL__N_13addEPi@scale_cu", "8", "0") in library_s, shown


def a_pack_that_belongs_to_nothing_is_not_made():
    ptx = tmp.write("scale.ptx", PTX)
    status, _, err = run("pack", "-o", tmp.path("a.pack"), ptx)
    assert status == 2 and "--library NAME" in err, err
    status, _, err = run("pack", "-o", tmp.path("a.pack"), "--library", "a", "--version", "1", "--object", ptx, ptx)
    assert status == 2 and "not an ELF file" in err, err
    status, _, err = run("pack", "-o", tmp.path("a.pack"), "--library", "a", "--version", "1", "--object", tmp.path("first/libscale.so"), tmp.write("bad.ptx", PTX.replace("ret;", "rett;")))
    assert status == 1 and "rett" in err and not os.path.exists(tmp.path("a.pack")), err


main(globals())
