"""heddle cc in nvcc's place: a folder that build systems take for a CUDA toolkit, and nvcc's options there."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap

here = os.path.join(tap.source, "tests/nvcc")
folder = tap.Folder()
path, write = folder.path, folder.write
toolkit = os.path.join(folder.name, "tool kit")  # quoting is tested by the way
PLAIN = os.path.join(folder.name, "toolkit")  # for build systems that do not quote
# nothing of a toolkit that this machine may have
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.name, "HEDDLE_CACHE": folder.path("cache"), "LC_ALL": "C.UTF-8",
         **{name: os.environ[name] for name in ["HEDDLE_HEADERS"] if name in os.environ}}
HELLO = """#include <cstdio>
__global__ void set(int *x) { *x = 7; }
int main()
{
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    set<<<1, 1>>>(x);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%d %s\\n", *x, cudaGetErrorString(error));
}
"""


def read(name):
    with open(path(name)) as f:
        return f.read()


def run(*command, env=CLEAN, status=0, cwd=None):
    """A command that must end with this status; returns its stdout and stderr."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd or folder.name, env=env, timeout=300)
    assert done.returncode == status, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def tool(name, *args, **more):
    return run(os.path.join(toolkit, "bin", name), *args, **more)


def nvcc(*args, **more):
    return tool("nvcc", *args, **more)


def needs(program, package):
    if not shutil.which(program, path=CLEAN["PATH"]):
        raise tap.Skip(f"no {program} ({package})")


def a_folder_looks_like_a_toolkit():
    for at in toolkit, PLAIN:
        run(tap.heddle, "cc", "--install-tools", at)
    run(tap.heddle, "cc", "--install-tools", toolkit)  # again
    for name in ("bin/nvcc", "bin/ptxas", "bin/fatbinary", "bin/cuobjdump", "bin/nvlink", "bin/cudafe++", "include/cuda_runtime.h",
                 "include/nvrtc.h", "lib64/libnvrtc.so.13", "lib64/libcudart.so", "lib64/libcudart_static.a", "lib64/libcudadevrt.a", "lib64/stubs/libcuda.so",
                 "targets/x86_64-linux/lib/libcudart.so"):
        assert os.path.exists(os.path.join(toolkit, name)), name
    with open(os.path.join(toolkit, "version.json")) as f:
        version = json.load(f)
    assert version["cuda"]["version"] == "13.0.0" and "heddle" in version
    out, _ = nvcc("--version")
    assert "nvcc: Heddle" in out and "nvcc: NVIDIA (R) Cuda compiler driver" in out and "release 13.0, V13.0.0" in out, out
    for name in "ptxas", "fatbinary", "cuobjdump", "nvlink", "cudafe++":
        out, _ = tool(name, "--version")
        assert "Heddle" in out and "release 13.0" in out, (name, out)
    os.makedirs(path("mine"))
    write("mine/notes", "")
    _, err = run(tap.heddle, "cc", "--install-tools", path("mine"), status=1)
    assert "was not made by --install-tools" in err, err


def nvcc_shows_what_build_systems_read():
    write("hello.cu", HELLO)
    _, err = nvcc("--dryrun", "hello.cu", "-o", "hello")
    lines = [line[3:] for line in err.splitlines() if line.startswith("#$ ")]
    variables = dict(re.match(r"(\w+)= ?(.*)", line).groups() for line in lines if re.match(r"\w+=", line))
    assert variables["TOP"] == toolkit and "/lib64" in variables["LIBRARIES"], err
    (link,) = [line for line in lines if variables["LIBRARIES"] in line and not line.startswith("LIBRARIES")]
    assert link.startswith("clang++-19 ") and "-lcudadevrt -lcudart_static" in link and "-arch compute_75" in err, link
    assert not os.path.exists(path("hello"))
    _, err = nvcc("-v", "__what_is_this", status=1)
    assert f"#$ TOP={toolkit}\n" in err and "cannot read __what_is_this" in err, err
    # what compiles the host's half, asked with a source that is not there, as ggml's CMakeLists.txt does
    assert re.search(r"clang.*version 19\.", nvcc(".c", "-Xcompiler", "--version")[0])
    assert re.fullmatch(r"19\.[\d.]+\n", nvcc(".c", "-Xcompiler", "-dumpfullversion -dumpversion")[0])
    assert "64" in nvcc(".c", "-Xcompiler=-dumpmachine")[0]
    assert re.search(r"^g\+\+ ", nvcc("-ccbin", "g++", ".c", "-Xcompiler", "--version")[0])


def programs_of_every_runtime_run_by_themselves():
    write("hello.cu", HELLO)
    write("host.cc", "#include <cuda_runtime.h>\nint main() { return cudaFree(nullptr); }\n")
    for kind in "static", "shared":
        nvcc("-cudart", kind, "hello.cu", "-o", "hello")
        assert run(path("hello"))[0] == "7 no error\n", kind
        done = subprocess.run([tap.heddle, "check", path("hello")], capture_output=True, text=True, env=CLEAN)
        assert (done.returncode, done.stdout) == (0, "7 no error\n"), done.stderr
    for library in "cudart", "cudart_static":
        run("g++" if shutil.which("g++") else "clang++-19", "host.cc", "-I", f"{toolkit}/include", "-L", f"{toolkit}/lib64", f"-l{library}",
            "-o", "host")
        run(path("host"))
    nvcc("-run", "hello.cu", "-o", "hello")
    assert nvcc("--run", '"hello"')[0] == "7 no error\n"


def libraries_of_a_toolkit_do_not_get_in_the_way():
    """-L /usr/local/cuda/lib64, as Makefiles have it: Heddle's own libraries come first, the others are found."""
    os.makedirs(path("vendor"), exist_ok=True)
    write("empty.c", "int of_the_vendor(void) { return 0; }\n")
    run("gcc" if shutil.which("gcc") else "clang-19", "-c", "empty.c", "-o", "empty.o")
    for name in "cudart_static", "cudadevrt", "of_the_vendor":
        run("ar", "rcs", f"vendor/lib{name}.a", "empty.o")
    run("gcc" if shutil.which("gcc") else "clang-19", "-shared", "empty.o", "-o", "vendor/libcudart.so")
    write("vendor.cu", 'extern "C" int of_the_vendor(); __managed__ int m;\n' + HELLO.replace("    int *x;", "    int *x; m = of_the_vendor();"))
    for kind in "static", "shared":
        nvcc("-cudart", kind, "-Lvendor", "vendor.cu", "-lof_the_vendor", "-o", "vendor_hello")
        assert run(path("vendor_hello"))[0] == "7 no error\n", kind


def options_of_a_build_are_taken():
    write("hello.cu", HELLO)
    write("include.h", "#define VALUE 7\n")
    write("more", '-DTEXT=\\"a\\ b\\" --expt-relaxed-constexpr\n--expt-extended-lambda -I .')
    write("options.cu", HELLO.replace("*x = 7", "*x = VALUE").replace("int main", "#include \"include.h\"\nconst char *text = TEXT;\nint main", 1)
          .replace("#include <cstdio>", '#include <cstdio>\n#include "include.h"\n#ifndef __NVCC__\n#error\n#endif'))
    _, err = nvcc("-forward-unknown-to-host-compiler", "--options-file", "more", "-rdc=true", "-x", "cu", "-O3", "-g", "-lineinfo", "-std=c++17",
                  "--generate-code=arch=compute_80,code=[compute_80,sm_80]", "-gencode", "arch=compute_90,code=sm_90", "--threads", "4", "-t0",
                  "-Xcompiler=-Wall,-Wno-maybe-uninitialized", "-Xcompiler", "-fPIC -Wextra", "-Xptxas", "-O3,-warn-spills",
                  "-diag-suppress", "177,20012", "-Werror", "all-warnings", "-Werror=cross-execution-space-call", "-use_fast_math",
                  "-Wno-deprecated-gpu-targets", "-cudart", "static", "--maxrregcount=64", "-MD", "-MT", "rule.o", "-MF", "options.d", "-MP",
                  "-finline-functions", "-m64", "-dlto", "-Xfatbin=-compress-all", "-Xcudafe", "--diag_suppress=1", "-noprof",
                  "--dont-use-profile", "-jobserver", "-c", "options.cu", "-o", "options.o")
    assert err == "", err
    rule = read("options.d")
    assert rule.startswith("rule.o: options.cu") and "include.h:" in rule, rule
    assert [line.split(".")[-2] for line in tool("cuobjdump", "-lptx", "options.o")[0].splitlines()] == ["sm_80", "sm_90"]
    text, _ = tool("cuobjdump", "-ptx", "-arch", "sm_80", "options.o")
    assert ".target sm_80" in text and ".target sm_90" not in text and "\n.maxnreg 64\n{" in text, text
    nvcc("options.o", "-o", "options")
    assert run(path("options"))[0] == "7 no error\n"
    nvcc("-c", "-odir", ".", "-O", "hello.cu", env=dict(CLEAN, NVCC_APPEND_FLAGS="-DUNUSED -MMD"))
    assert read("hello.d").startswith("./hello.o: hello.cu") and "cuda_runtime.h" not in read("hello.d")
    out, _ = nvcc("-M", "options.cu", "--options-file=more", "-MT", "here")
    assert out.startswith("here: options.cu") and "cuda_runtime.h" in out, out
    assert "int main" in nvcc("-E", "hello.cu")[0]
    write("arguments.cu", "#include <cstdio>\nint main(int n, char **words) { puts(n == 3 ? words[2] : words[0]); }\n")
    assert nvcc("arguments.cu", "-o", "arguments", "-run", "-run-args", "one", "--run-args", "two")[0] == "two\n"
    assert nvcc("arguments.cu", "-o", "arguments", "-run", "-run-args", "one,two")[0] == "two\n"
    write("throws.cc", "void f() { throw 1; }\n")
    assert "exceptions disabled" in nvcc("-c", "--no-exceptions", "throws.cc", status=1)[1]
    write("archiver", "#!/bin/sh\nshift\ntouch \"$1\"\n")
    os.chmod(path("archiver"), 0o755)
    nvcc("-lib", "-arbin", path("archiver"), "options.o", "-o", "libby.a")
    assert read("libby.a") == ""
    nvcc("--save-temps", "-keep-dir", ".", "-c", "arguments.cu")
    assert os.path.exists(path("arguments.ptx"))


def warnings_are_errors_where_that_is_asked_for():
    write("warns.cu", "__global__ void k(int *x) { int unused; }\n")
    _, err = nvcc("-c", "-Xcompiler", "-Wall", "warns.cu")
    assert "unused" in err
    nvcc("-c", "-Wall", "-Werror", "all-warnings", "warns.cu", status=1)


def devices_that_clang_does_not_know_are_left_out_with_a_word():
    write("hello.cu", HELLO)
    args = ["-ptx", "-gencode", "arch=compute_100,code=sm_100", "-gencode", "arch=compute_90,code=compute_90", "hello.cu"]
    _, err = nvcc(*args)
    assert "no code is made for compute_100" in err and ".target sm_90" in read("hello.ptx"), err
    assert nvcc(*args, "-Wno-deprecated-gpu-targets") == ("", "")
    assert nvcc("-arch=native", "-ptx", "hello.cu") == ("", "") and ".target sm_90" in read("hello.ptx")
    _, err = nvcc("--dryrun", "-arch=all", "hello.cu")
    assert re.findall(r"-arch compute_(\d+)", err) == ["75", "80", "86", "87", "89", "90"], err
    assert "compute_90\n" in nvcc("--list-gpu-arch")[0]


def what_kernels_take_is_told_as_an_estimate():
    write("hello.cu", HELLO)
    for options in ["-Xptxas", "-v"], ["--resource-usage"]:
        _, err = nvcc("-cubin", *options, "hello.cu")
        assert "estimate" in err and re.search(r"Compiling entry function '_Z3setPi' for 'sm_75'", err), err
        assert re.search(r"Used [1-9]\d* registers, 0 bytes smem, 8 bytes cmem\[0\]", err), err


def what_is_not_there_is_refused_by_name():
    write("hello.cu", HELLO)
    for args, says in [(["-ltoir", "hello.cu"], "LTO-IR"), (["--cuda", "hello.cu"], "without translated C++"), (["-hello", "hello.cu"], "no option `-hello`"), (["-sanitize", "memcheck", "hello.cu"], "heddle check"),
                       (["-m", "32", "hello.cu"], "64"), (["-optf", "nowhere"], "nowhere"), (["-c", "-cubin", "hello.cu"], "only one of -c")]:
        _, err = nvcc(*args, status=2)
        assert says in err, err
    write("self", "-optf self")
    assert "include each other" in nvcc("-optf", "self", status=2)[1]
    assert "clang compiles CUDA C++" in tool("cudafe++", "hello.ii", status=255)[1]
    assert "machine code" in tool("cuobjdump", "-sass", "hello.o", status=255)[1]
    assert "-dlink" in tool("nvlink", "-arch=sm_90", "--register-link-binaries=x.c", "hello.o", status=255)[1]


def the_host_s_own_files_are_another_compiler_s():
    """And a wrapper of MPI's kind gets clang, to which it adds its options."""
    write("host.cc", "#ifdef __clang__\n#error\n#endif\nint main() { return 0; }\n")
    needs("g++", "g++")
    nvcc("-ccbin", "g++", "host.cc", "-o", "host")
    run(path("host"))
    write("mpicxx", "#!/bin/sh\nexec ${OMPI_CXX:-g++} -DMPI_VERSION=4 \"$@\"\n")
    os.chmod(path("mpicxx"), 0o755)
    write("mpi.cu", "#include <string>\n" + HELLO.replace("*x = 7", "*x = MPI_VERSION").replace("int main()", "std::string s = std::string(__FILE__) + __DATE__;\nint main()"))
    nvcc("-ccbin", path("mpicxx"), "mpi.cu", "-o", "mpi")
    assert run(path("mpi"))[0] == "4 no error\n"


def openmp_is_one_library_for_both_compilers():
    needs("g++", "g++")
    if not os.path.exists("/usr/lib/llvm-19/lib/clang/19/include/omp.h"):
        raise tap.Skip("there is no libomp-19-dev")
    count = "\n    int n = 0;\n#pragma omp parallel for reduction(+ : n)\n    for (int i = 0; i < 100; i++)\n        n += i;\n    return n;\n}\n"
    write("of_gcc.cc", "int of_gcc()\n{" + count)
    write("of_clang.cu", "#include <omp.h>\nint of_gcc();\nint of_clang()\n{" + count +
          "int main() { return omp_get_max_threads() < 1 || of_gcc() != 4950 || of_clang() != 4950; }\n")
    for compiler in [], ["-ccbin", "g++"]:
        nvcc(*compiler, "-Xcompiler", "-fopenmp", "of_gcc.cc", "of_clang.cu", "-o", "openmp")
        run(path("openmp"))


def images_of_the_tools_are_loaded():
    """Each in the place of machine code, by the driver."""
    write("kernel.cu", 'extern "C" __device__ int twice(int); extern "C" __global__ void k(int *x) { *x = twice(*x); }\n')
    write("twice.cu", 'extern "C" __device__ int twice(int x) { return 2 * x; }\n')
    write("load.cc", """#include <cuda.h>
#include "image.c"
int main()
{
    CUdevice d; CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p; int x = 21; void *args[] = {&p};
    return cuInit(0) || cuDeviceGet(&d, 0) || cuDevicePrimaryCtxRetain(&c, d) || cuCtxSetCurrent(c) || cuModuleLoadData(&m, image) ||
           cuModuleGetFunction(&f, m, "k") || cuMemAlloc(&p, 4) || cuMemcpyHtoD(p, &x, 4) ||
           cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0) || cuMemcpyDtoH(&x, p, 4) || x != 42;
}
""")
    nvcc("-dc", "kernel.cu", "twice.cu")
    nvcc("-lib", "twice.o", "-o", "libtwice.a")
    tool("nvlink", "-arch=sm_90", "kernel.o", "-L.", "-ltwice", "-lcudadevrt", "-o", "linked.cubin")
    assert "2 modules" in tool("fatbinary", "--create=x", "--image3=kind=elf,sm=90,file=linked.cubin", status=255)[1]
    write("both.cu", read("twice.cu") + read("kernel.cu"))
    nvcc("-cubin", "both.cu")
    nvcc("-ptx", "-arch=sm_90", "both.cu")
    tool("fatbinary", "-64", "--create=both.fatbin", "--image3=kind=elf,sm=75,file=both.cubin", "--image=profile=compute_90,file=both.ptx",
         "--cmdline=-v")
    assert re.findall(r"sm_\d+", tool("cuobjdump", "-lptx", "both.fatbin")[0]) == ["sm_75", "sm_90"]
    for image in "linked.cubin", "both.cubin", "both.fatbin":
        write("image.c", tool("bin2c", "--const", "--static", "--type", "longlong", "--name", "image", image)[0])
        nvcc("load.cc", "-lcuda", "-o", "load")
        run(path("load"))
    for libraries in ["-L", ".", "-l", "twice", "-lineinfo"], ["--library-path=.", "--library", "twice", "-lm"]:
        os.remove(path("linked.cubin"))
        tool("nvlink", "-arch=sm_90", "kernel.o", *libraries, "-o", "linked.cubin")
        assert "twice" in tool("cuobjdump", "-ptx", "linked.cubin")[0], libraries
    tool("nvlink", "-arch=sm_90", "kernel.o", "-o", "alone.cubin", "nowhere.o", status=255)


def all_ptx_of_a_library_is_shown():
    """Whatever devices its members are for; what has none is said."""
    for arch in "75", "90":
        write(f"for{arch}.cu", f"__global__ void for{arch}() {{}}\n")
        nvcc("-c", f"-arch=sm_{arch}", f"for{arch}.cu", "-o", f"for{arch}.o")
    write("none.c", "int none;\n")
    nvcc("-c", "none.c", "-o", "none.o")
    nvcc("-lib", "for75.o", "none.o", "for90.o", "-o", "libmixed.a")
    assert re.findall(r"sm_\d+", tool("cuobjdump", "-lptx", "libmixed.a")[0]) == ["sm_75", "sm_90"]
    out = tool("cuobjdump", "-arch", "sm_75", "-ptx", "libmixed.a")[0]
    assert "for75" in out and "for90" not in out, out
    assert "does not contain device code" in tool("cuobjdump", "-ptx", "none.o")[1]
    for args, says in (["none.c"], "neither a fat binary nor PTX"), (["nowhere.o"], "nowhere.o"), (["-arch", "none", "for75.o"], "the device is missing"):
        assert says in tool("cuobjdump", "-ptx", *args, status=255)[1], args


def headers_ask_for_nvcc_by_its_own_words():
    """As CCCL does where nvcc says that lambdas may be a device's, and where a driver's function is asked for by its type; but the compiler
    that CCCL sees is clang, without what clang 19 gets wrong."""
    os.makedirs(path("cccl/cuda/std/__cccl"))
    write("cccl/cuda/std/__cccl/compiler.h", "#pragma once\n#ifdef __NVCC__\n#error\n#endif\n#define SEEN\n")
    write("words.cu", """#include <cuda/std/__cccl/compiler.h>
#include <cudaTypedefs.h>
#if !defined(SEEN) || defined(__cpp_pack_indexing)
#error
#endif
#if !defined(__CUDACC_EXTENDED_LAMBDA__) || !defined(__NVCC__)
#error
#endif
template <typename F, typename T> __global__ void call(F f, T *x)
{
    static_assert(!__nv_is_extended_device_lambda_closure_type(F) || __nv_is_extended_host_device_lambda_closure_type(F) ||
                  __nv_is_extended_device_lambda_with_preserved_return_type(F), "");
    *x = f(*x);
}
int main()
{
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    *x = 4;
    call<<<1, 1>>>([] __device__ (int i) { return 3 * i; }, x);
    cudaDeviceSynchronize();
    PFN_cuDeviceGet_v2000 get;
    PFN_cuMemAlloc allocate;
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    CUdevice device;
    return *x != 12 || cudaGetDriverEntryPoint("cuDeviceGet", (void **)&get, 0) || get(&device, 0) ||
           cudaGetDriverEntryPoint("cuMemAlloc", (void **)&allocate, 0) ||
           cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, 0);
}
""")
    nvcc("--extended-lambda", "-I", "cccl", "words.cu", "-o", "words")
    run(path("words"))


def programs_find_nvrtc_by_the_folder():
    """By its absolute name, as the runtime; and the stub has all that the library has."""
    write("rtc.cc", """#include <nvrtc.h>
int main()
{
    nvrtcProgram p;
    size_t n;
    return nvrtcCreateProgram(&p, "__global__ void k() {}", "k.cu", 0, nullptr, nullptr) || nvrtcCompileProgram(p, 0, nullptr) ||
           nvrtcGetPTXSize(p, &n) || n < 50 || nvrtcDestroyProgram(&p);
}
""")
    run("g++" if shutil.which("g++") else "clang++-19", "rtc.cc", "-I", f"{toolkit}/include", "-L", f"{toolkit}/lib64", "-lnvrtc", "-o", "rtc")
    run(path("rtc"))
    names = [set(re.findall(r" [TW] (nvrtc\w+)", run("nm", "-D", "--defined-only", f"{toolkit}/lib64/{name}")[0]))
             for name in ("libnvrtc.so", "libnvrtc.so.13")]
    assert len(names[0]) > 20 and names[0] == names[1], names[0] ^ names[1]


@tap.in_full  # the CMake project links the same sources
def a_library_gives_all_its_device_code():
    """As nvlink takes it: also what nobody calls, whose functions may be nowhere, and what only its own kernels call."""
    for name in "parts", "twice", "unused":
        nvcc("-dc", "-o", path(f"{name}.o"), os.path.join(here, "cmake", f"{name}.cu"))
    nvcc("-lib", "-o", "libdevice.a", "twice.o", "unused.o")
    for libraries in ["libdevice.a"], ["-L", ".", "-ldevice"]:
        nvcc("parts.o", *libraries, "-o", "parts")
        assert run(path("parts"))[0] == "202\n"
    nvcc("-dlink", "parts.o", "libdevice.a", "-o", "linked.o")
    nvcc("parts.o", "linked.o", "libdevice.a", "-o", "parts")
    assert run(path("parts"))[0] == "202\n"
    for name in "scaled", "scale":
        nvcc("-dc", "-DNAME=scale_all", "-o", path(f"{name}.o"), os.path.join(here, "cmake", f"{name}.cu"))
    nvcc("-lib", "-o", "libscale.a", "scaled.o", "scale.o")
    nvcc("-c", "-DNAME=scale_all", "-o", "scales.o", os.path.join(here, "cmake", "scales.cpp"))
    nvcc("scales.o", "libscale.a", "-o", "scales")
    run(path("scales"))
    nvcc("-dlink", "-o", "linked.o", "libscale.a")
    nvcc("scales.o", "linked.o", "-L.", "-lscale", "-o", "scales")
    run(path("scales"))


@tap.in_full  # the CMake project links the same sources
def a_shared_library_s_device_code_is_its_own():
    """Of a function that it and the program have taken from one static library, which the host's linker sees behind the shared one."""
    for name, to in ("scale", "static"), ("scale", "shared"), ("scaled", "scaled"), ("scales_both", "scales_both"):
        nvcc("-dc", "-Xcompiler", "-fPIC", f"-DNAME=scale_{to}", "-o", path(f"{to}.o"), os.path.join(here, "cmake", f"{name}.cu"))
    nvcc("-lib", "-o", "libscaled.a", "scaled.o")
    nvcc("-shared", "-o", "libshared.so", "shared.o", "libscaled.a")
    nvcc("scales_both.o", "static.o", "libshared.so", "libscaled.a", "-o", "both", "-Xlinker", "-rpath=" + folder.name)
    run(path("both"))


def cmake_builds_a_project():
    needs("cmake", "cmake")
    build = path("cmake")
    env = dict(CLEAN, CUDACXX=f"{PLAIN}/bin/nvcc", CUDAToolkit_ROOT=PLAIN)
    if not shutil.which("g++"):
        env["CXX"] = "clang++-19"
    out, _ = run("cmake", "-G", "Ninja", "-S", f"{here}/cmake", "-B", build, env=env)
    assert "The CUDA compiler identification is NVIDIA 13.0" in out and f"Found CUDAToolkit: {PLAIN}/" in out, out
    run("cmake", "--build", build, env=env)
    out, _ = run("ctest", cwd=build)
    assert "100% tests passed, 0 tests failed out of 10" in out, out


def make_builds_a_project():
    needs("g++", "g++")
    os.makedirs(path("make"))
    command = ["make", "-f", f"{here}/make/Makefile", f"CUDA_PATH={PLAIN}", "test"]
    out, _ = run(*command, cwd=path("make"))
    assert "PASSED" in out, out
    out, _ = run(*command, cwd=path("make"))
    assert "nvcc" not in out, out


@tap.in_full
def meson_builds_a_project():
    needs("meson", "meson")
    env = dict(CLEAN, CUDA_PATH=PLAIN, PATH=f"{PLAIN}/bin:{CLEAN['PATH']}")
    run("meson", "setup", path("meson"), f"{here}/meson", env=env)
    out, _ = run("meson", "test", "-C", path("meson"), env=env)
    assert re.search(r"Ok: +2", out) and re.search(r"^Fail: +0", out, re.M), out


if tap.SANITIZED:
    print("1..0 # SKIP programs are linked with no sanitizer")
elif not shutil.which("clang-19"):
    print("1..0 # SKIP heddle cc needs clang-19")
else:
    tap.main(globals())
