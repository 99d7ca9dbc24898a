#!/usr/bin/env python3
"""What holds for all libraries."""
import functools
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402,F401
import explained  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["HEDDLE_BUILD"]


def the_page_of_libraries_is_what_the_tables_say():
    made = subprocess.run([os.path.join(tap.source, "scripts/library-docs")], check=True, capture_output=True, text=True)
    with open(os.path.join(tap.source, "docs/LIBRARIES.md")) as f:
        assert f.read() == made.stdout, "make docs"


def exports(path):
    """By name, with the version of the symbol, or nothing."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r" (?:FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ (\w+)(?:@@(\S+))?$", symbols, re.M))


def each_library_exports_its_table_with_the_originals_version():
    with open(os.path.join(tap.source, "src/cuda/libraries.def")) as f:
        rows = re.findall(r'^LIBRARY\(([\w-]+), "(\S+)", \d+\)', f.read(), re.M)
    for name, soname in rows:
        path = os.path.join(BUILD, soname)
        if not os.path.exists(path):
            continue  # what it stands on is not there
        with open(os.path.join(tap.source, f"src/libraries/{name}/{name}.def")) as f:
            table = set(re.findall(r"^ENTRY\((\w+), ", f.read(), re.M))
        found = exports(path)
        with open(os.path.join(tap.source, f"src/libraries/{name}/meson.build")) as f:
            version = "" if "'unversioned': true" in f.read() else soname
        assert set(found) <= table and set(found.values()) == {version}, soname
        if soname == [s for n, s in rows if n == name][-1]:
            with open(os.path.join(tap.source, f"src/libraries/{name}/{name}.def")) as f:
                newest = set(re.findall(r"^ENTRY\((\w+), \d+, 13, ", f.read(), re.M))
            assert set(found) == newest, newest ^ set(found)


FAKE = "int NAMEGetVersion(int *v) { volatile int x = 1; *v = x; return 7; }\nint NAMEOfALaterVersion(void) { volatile int x = 3; return x; }\n"
OPENS = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *l = dlopen(argv[1], RTLD_NOW);
    int version = 0, (*f)(int *) = (int (*)(int *))dlsym(l, argv[2]);
    int status = f(&version);
    printf("%d %d\\n", status, version);
    return 0;
}
"""


def a_library_of_cudas_that_is_opened_by_its_path_does_what_ours_does():
    """One that has the same name for itself, as it lies in a wheel of PyTorch's."""
    tap.need_loadable_libraries()
    with open(os.path.join(cases.WORK, "opens.c"), "w") as f:
        f.write(OPENS)
    subprocess.run(["gcc", "-o", "opens", "opens.c"], check=True, cwd=cases.WORK)
    path = os.path.join(cases.WORK, "libother.so")
    for soname, name, version in [("libcurand.so.10", "curand", 10400), ("libnccl.so.2", "nccl", 22707), ("libnccl.so.2", "pnccl", 22707)]:
        with open(os.path.join(cases.WORK, "fake.c"), "w") as f:
            f.write(FAKE.replace("NAME", name))
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", path, "fake.c"], check=True, cwd=cases.WORK)
        status, out, err = tap.run("run", "./opens", path, f"{name}GetVersion", cwd=cases.WORK)
        assert status == 0 and out == f"0 {version}\n", out + err
        status, out, err = tap.run("run", "./opens", path, f"{name}OfALaterVersion", cwd=cases.WORK)
        assert status == 127 and f"{name}OfALaterVersion" in err, out + err


OTHER = """
void heddle_library_meet(const char *interface);
__attribute__((constructor)) static void start(void) { heddle_library_meet(INTERFACE); }
"""


def a_library_of_another_build_is_refused_with_both_paths():
    """Which would be called with structures of another shape. One of this build is not."""
    with open(os.path.join(BUILD, "library_interface.h")) as f:
        own = f.read().split()[2]
    with open(os.path.join(cases.WORK, "other.c"), "w") as f:
        f.write(OTHER)
    with open(os.path.join(cases.WORK, "main.c"), "w") as f:
        f.write("int main(void) { return 3; }")
    cuda = os.path.join(BUILD, "libcuda.so.1")
    for interface, expected in (('"another"', 127), (own, 3)):
        subprocess.run(["gcc", "-shared", "-fPIC", f"-DINTERFACE={interface}", "-o", "libother-build.so", "other.c", cuda], check=True, cwd=cases.WORK)
        subprocess.run(["gcc", "-Wl,--no-as-needed", "-o", "other", "main.c", "./libother-build.so", f"-Wl,-rpath-link,{BUILD}"], check=True, cwd=cases.WORK)
        status, out, err = tap.run("run", "./other", cwd=cases.WORK)
        assert status == expected, (interface, status, err)
        assert (status == 3) != ("libother-build.so and" in err and "libcuda.so.1" in err), err


def headers_define_what_programs_look_for():
    """As NVIDIA's samples do, which know by them whose statuses there are."""
    macros = {"cublas_v2.h": "CUBLAS_API_H_", "curand.h": "CURAND_H_", "cufft.h": "_CUFFT_H_", "cufftXt.h": "_CUFFTXT_H_", "cusparse.h": "CUSPARSEAPI",
              "cusolverDn.h": "CUSOLVER_COMMON_H_", "cusolverSp.h": "CUSOLVERSP_H_"}
    text = "".join(f"#include <{header}>\n#ifndef {macro}\n#error {macro}\n#endif\n" for header, macro in macros.items())
    done = subprocess.run(["g++", "-fsyntax-only", "-I", os.path.join(tap.source, "include/cuda"), "-x", "c++", "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def older_languages_take_the_headers_without_a_warning():
    """Programs' own Makefiles give the folder by -I, and -Wpedantic -Werror."""
    headers = ("cublas_v2.h", "cublasLt.h", "curand.h", "cufftXt.h", "cusparse.h", "cusolverDn.h", "cuda.h", "cuda_runtime.h", "cuComplex.h",
               "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h")
    text = "".join(f"#include <{header}>\n" for header in headers)
    for standard in "c++11", "c++14":
        done = subprocess.run(["g++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                               "-I", os.path.join(tap.source, "include/cuda"), "-x", "c++", "-"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def headers_leave_a_programs_own_macros():
    """Which some define before the headers, or by -DN=1024."""
    headers = "cublas_v2.h", "cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h"
    names = ("N", "M", "HALF", "HALF2", "OTHER", "RAW", "TINY", "FP", "PAIR", "STORAGE", "OPTIONS", "NARROW", "WIDEN", "WIDE", "OF", "ROUNDED")
    text = "".join(f"#include <{header}>\n" for header in headers) + "".join(f'static_assert({name} == 1024, "");\n' for name in names)
    done = subprocess.run(["g++", "-std=c++17", "-Werror", "-fsyntax-only", *(f"-D{name}=1024" for name in names),
                           "-I", os.path.join(tap.source, "include/cuda"), "-x", "c++", "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


CMAKE = """cmake_minimum_required(VERSION 3.20)
project(joined LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_STANDARD 17)
add_executable(shared joined.cu)
target_link_libraries(shared PRIVATE CUDA::cublas CUDA::curand CUDA::cufft CUDA::cufftw CUDA::cusparse CUDA::cusolver)
add_executable(static joined.cu)
target_link_libraries(static PRIVATE CUDA::cublas_static CUDA::curand_static CUDA::cufft_static CUDA::cufftw_static CUDA::cusparse_static CUDA::cusolver_static)
"""


def cmake_finds_the_libraries_shared_and_static():
    """With no toolkit but Heddle's."""
    if not shutil.which("cmake"):
        raise tap.Skip("there is no cmake")
    tap.need_clang()
    tap.need_loadable_libraries()
    project, tools = os.path.join(cases.WORK, "project"), os.path.join(cases.WORK, "tools")
    os.mkdir(project)
    with open(os.path.join(project, "CMakeLists.txt"), "w") as f:
        f.write(CMAKE)
    shutil.copy(os.path.join(HERE, "joined.cu"), project)
    assert tap.run("cc", "--install-tools", tools)[0] == 0
    for command in ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_CUDA_COMPILER={tools}/bin/nvcc"], ["cmake", "--build", "build"]:
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    for program in "shared", "static":
        done = subprocess.run([os.path.join(project, "build", program), "calls"], capture_output=True, text=True)
        assert done.stdout == "all rounds are equal\n", done.stdout + done.stderr


LINKED_IN = """
#include <stdio.h>
int cudaGetDeviceCount(int *n);
%s
__attribute__((noinline)) int curandGetVersion(int *v) { volatile int x = 1; *v = x; return 7; }
__attribute__((noinline)) int curandOfNobody(int *v) { volatile int x = 2; *v = x; return 5; }
int main(void) {
    int n = 0, version = 0, other = 0, failed = cudaGetDeviceCount(&n), status = curandGetVersion(&version), theirs = curandOfNobody(&other);
    printf("%%d %%d, %%d %%d, %%d %%d\\n", failed, n, status, version, theirs, other);
    return 0;
}
"""


def functions_of_a_library_that_is_linked_in_do_what_ours_do():
    """As of libcurand_static.a, which comes with culibos. What is the program's own, by whatever name, stays as it is."""
    tap.need_loadable_libraries()
    for name, culibos, says in [("theirs", "void culibosInit(void) { volatile int x = 1; (void)x; }", "0 1, 0 10400, 5 2\n"), ("own", "", "0 1, 7 1, 5 2\n")]:
        with open(os.path.join(cases.WORK, f"{name}.c"), "w") as f:
            f.write(LINKED_IN % culibos)
        subprocess.run(["gcc", "-O1", "-o", name, f"{name}.c", os.path.join(BUILD, "libcudart.so.13")], check=True, cwd=cases.WORK)
        status, out, err = tap.run("run", f"./{name}", cwd=cases.WORK)
        assert status == 0 and out == says, f"{name}: {out}{err}"


LIBRARIES = ["-lcublas", "-lcurand", "-lcufft", "-lcusolver", "-lcusparse"]


@functools.cache
def _joined():
    """All five libraries in a program: joined.cu says what it does."""
    return cases.build(HERE, "joined", *LIBRARIES)


def two_threads_with_handles_of_their_own_do_not_meet():
    status, out, err = tap.run("run", _joined(), "threads")
    assert status == 0 and out == "all rounds are equal\n", out + err


def calls_are_captured_into_graphs():
    status, out, err = tap.run("run", _joined(), "graph")
    assert status == 0 and out == "captured\ncaptured\nall rounds are equal\n", out + err


def read(path):
    with open(path) as f:
        return f.read()


def loggers_tell_of_calls_and_of_what_fails():
    """To where they are told to; nothing more once they are disabled."""
    program = cases.build(HERE, "logs", "-lcublas", "-lcublasLt", "-lcusparse")
    said = {"blas": [r"I! cuBLAS function cublasSscal called:", r"i!  n: val=3"],
            "lt": [r"\[cublasLt\]\[\d+\]\[Api\]\[cublasLtMatrixLayoutInit\] .*rows=3 cols=4 ld=3", r"\[Error\]\[cublasLtMatmul\] sizes"],
            "sparse": [r"\[CUSPARSE\]\[\d+\]\[Api\]\[cusparseAxpby\] ", r"\[Error\]\[cusparseCreateDnVec\] "]}
    heard = {"blas": ["I! cuBLAS function cublasSscal called:"], "lt": ["5 cublasLtMatmul A=", "1 cublasLtMatmul sizes"], "sparse": ["5 cusparseAxpby ", "1 cusparseCreateDnVec "]}
    log = os.path.join(cases.WORK, "log.txt")
    for library, lines in said.items():
        for to in ("stdout", "file", "callback"):
            if os.path.exists(log):
                os.remove(log)
            status, out, err = tap.run("run", program, library, to, cwd=cases.WORK)
            assert status == 0, out + err
            text = out
            if to == "file":
                text = read(log)
            assert to == "callback" or all(len(re.findall(line, text)) == 1 for line in lines), (library, to, text)
            assert to != "callback" or all(f"callback: {line}" in out for line in heard[library]), (library, out)
    status, out, err = tap.run("run", program, "sparse", "none", env={**os.environ, "CUSPARSE_LOG_LEVEL": "1", "CUSPARSE_LOG_FILE": log}, cwd=cases.WORK)
    assert status == 0 and "[Error][cusparseCreateDnVec]" in read(log) and "[CUSPARSE]" not in out, out + err


def an_address_that_kernels_cannot_use_is_what_it_is_on_an_h200():
    """The context's fault, or the call's error, and never the end of the process."""
    program = cases.build(HERE, "pointers", "-lcublas", "-lcufft", "-lcurand", "-lcusparse", "-lcusolver")
    with open(os.path.join(HERE, "pointers.expected")) as f:
        expected = [(line.split(": ")[0], *field.split("=")) for line in f for field in line.split()[1:]]
    wrong = []
    for call, kind, want in tap.some(30, expected[::3] + expected[1::3] + expected[2::3]):
        status, out, err = tap.run("run", program, call, kind[0])
        wrong += [f"{call} {kind}: {status} {out}{err}(H200: {want})"] if (status, out) != (0, want + "\n") else []
        assert kind == "null" or ("that kernels may not use" in err) == want.endswith(",700"), f"{call} {kind}: {err}"
    assert not wrong, "\n".join(wrong)
    status, out, err = tap.run("check", program, "axpy", "wild")
    assert status != 0 and "cublasSaxpy writes 400 bytes at 0x1234567890, which is not device memory [invalid-pointer]" in out + err, out + err
    for command in ["run"], ["check"]:
        status, out, err = tap.run(*command, program, "axpy", "host", env={**os.environ, "HEDDLE_PAGEABLE": "1"})
        assert status == 0 and out.startswith("0,0\n"), out + err
    status, out, err = tap.run("run", program, "axpy", "protected", env={**os.environ, "HEDDLE_PAGEABLE": "1"})
    assert (status, out) == (0, "0,700\n") and "that kernels may not use" in err, out + err
    status, out, err = tap.run("check", program, "axpy", "protected", env={**os.environ, "HEDDLE_PAGEABLE": "1"})
    assert status != 0 and "which is not device memory [invalid-pointer]" in out + err, out + err


def check_tells_handles_that_are_gone_and_scalars_on_the_wrong_side():
    program = cases.build(HERE, "mistakes", "-lcublas", "-lcublasLt", "-lcufft", "-lcurand", "-lcusparse", "-lcusolver")
    status, out, err = tap.run("check", program, "handles")
    assert status == 0 and out == "1 1 101 1 1 3\n", out + err
    for call in "cublasSscal", "cublasSetStream", "curandGenerateUniform", "cufftExecC2C", "cusolverDnSgetrf", "cusparseSpMV_bufferSize":
        assert f"heddle: {call}: the handle was never created, or it was destroyed\n" in err, (call, err)
    status, out, err = tap.run("check", program, "scalars")
    for words in "cublasSaxpy reads from", "cublasSdot writes to", "cublasSrotg writes to", "cublasLtMatmul reads from", "cusparseAxpby reads from":
        assert len(re.findall(rf"error: {words} 0x[0-9a-f]+, which the call treats as host memory, but it is device memory \[invalid-pointer", err)) == 1, (words, err)
    assert err.count("SetPointerMode(handle, CU") == 4 and "CUBLASLT_MATMUL_DESC_POINTER_MODE" in err, err


def check_says_how_many_calls_it_has_seen():
    status, out, err = tap.run("check", _joined(), "calls")
    assert status == 0 and re.search(r"^check: no errors in \d+ calls of libraries$", err, re.M), out + err
    status, out, err = tap.run("check", "--format", "json", "--log-file", os.path.join(cases.WORK, "found.json"), _joined(), "threads")
    with open(os.path.join(cases.WORK, "found.json")) as f:
        found = json.load(f)
    assert found["launches"] == 0 and found["calls"] >= 21 * 6 and not found["errors"], found


def explain_has_a_row_for_each_function():
    """Its operations are those of the mathematics, its bytes what it reads and writes; no call takes less than a launch."""
    program, n = _joined(), 48
    files = {kind: os.path.join(cases.WORK, f"explained.{kind}") for kind in ("json", "html")}
    status, out, err = tap.run("explain", "--json", files["json"], "-o", files["html"], program, "graph")
    assert status == 0, out + err
    with open(files["json"]) as f:
        calls = {c["call"]: c for c in json.load(f)["calls"]}
    product, draw = calls["cublasSgemm"], calls["curandGenerateUniform"]
    assert product["calls"] == 4 and product["flops"] == 4 * 2 * n ** 3 and product["unit"] == "f32", product
    assert draw["calls"] == 2 and draw["bytes"] == 2 * 4 * n * n, draw
    assert {"cufftExecC2C", "cusolverDnSgetrf", "cusparseSpMV"} <= set(calls), sorted(calls)
    assert all(c["least_ns"] >= c["launch_ns"] > 0 for c in calls.values()), calls
    assert re.search(r"^explain: \d+ calls of libraries: [\d.]+ us at least; ", err, re.M), err
    assert re.search(r"^cublasSgemm: 4 calls: [\d.]+ us at least, [\d.]+ us of it the launches themselves, bound by .*\n  operations +884,736 of f32\n"
                     r"  memory +110,592 bytes$", err, re.M), err
    with open(files["html"]) as f:
        assert "cublasSgemm" in [call["call"] for call in explained.data_of(f.read())["calls"]]
    status, out, err = tap.run("explain", "--device", "V100", "-o", files["html"], program, "calls")
    assert status == 0 and re.search("^cublasSgemm: 1 call: no time: this device's rates are not known$", err, re.M), err


if __name__ == "__main__":
    tap.main(globals())
