"""What stands in the place of the CUDA toolkit's makers of machine code: they give images that hold PTX, and the driver loads them."""
import ctypes
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap

build = os.environ["HEDDLE_BUILD"]
ptxas = os.path.join(build, "src/toolkit/ptxas")
saxpy = os.path.join(tap.source, "examples/saxpy/saxpy.ptx")
folder = tap.Folder()
file = folder.write

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 p)
{
    .reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .f32 %f<9>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    mul.f32 %f2, %f1, %f1;
    add.f32 %f3, %f2, 0fBF800000; // -1
    st.global.f32 [%rd3], %f3;
    ret;
}
"""


def assemble(*args):
    done = subprocess.run([ptxas, *args], capture_output=True, text=True, cwd=folder.name, timeout=60)
    return done.returncode, done.stdout, done.stderr


def image_of(*args):
    """What ptxas writes for these arguments."""
    path = os.path.join(folder.name, "image.cubin")
    status, _, err = assemble(*args, "-o", path)
    assert status == 0, err
    with open(path, "rb") as f:
        return f.read()


class Driver:
    """A context, and kernels of images in it."""

    def __init__(self):
        self.cu = ctypes.CDLL(os.path.join(build, "libcuda.so.1"))
        self.call("cuInit", 0)
        self.call("cuCtxCreate_v2", ctypes.byref(ctypes.c_void_p()), 0, 0)

    def call(self, name, *args):
        result = getattr(self.cu, name)(*args)
        assert result == 0, f"{name}: {result}"

    def run(self, image, kernel, values, blocks=1, launch="cuLaunchKernel"):
        module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        data = (ctypes.c_float * len(values))(*values)
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(ctypes.sizeof(data)))
        self.call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(ctypes.sizeof(data)))
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
        end = [None] if launch == "cuLaunchKernel" else []
        self.call(launch, function, blocks, 1, 1, len(values), 1, 1, 0, None, arguments, *end)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", data, memory, ctypes.c_size_t(ctypes.sizeof(data)))
        self.call("cuMemFree_v2", memory)
        self.call("cuModuleUnload", module)
        return list(data)


driver = None


def run_image(image, kernel, values, **more):
    global driver
    tap.need_loadable_libraries()
    driver = driver or Driver()
    return driver.run(image, kernel, values, **more)


def ptxas_makes_an_image_that_the_driver_loads():
    image = image_of("-arch=sm_90", "-O3", "-m64", file("scale.ptx", PTX))
    assert image[:4] == b"\x7fELF" and b".heddle.ptx" in image
    assert run_image(image, b"scale", [2, 3]) == [3, 8]


def without_fmad_products_are_rounded():
    x = 1 + 2.0**-12  # x * x = 1 + 2^-11 + 2^-24, of which rounding leaves 1 + 2^-11
    path = file("scale.ptx", PTX)
    fused = run_image(image_of("--gpu-name", "sm_80", path), b"scale", [x])[0]
    rounded = run_image(image_of("--gpu-name", "sm_80", "--fmad=false", path), b"scale", [x])[0]
    assert fused - rounded == 2.0**-24, (fused, rounded)


def options_are_written_as_the_vendor_s():
    path = file("scale.ptx", PTX)
    for args in (["-lineinfo", "-v", "--regAllocOptLevel=2", "--gpu-name=sm_90a"], ["-arch", "sm_80", "-O", "0", "-g"],
                 ["-m64", "-O3", "-c", "--gpu-name", "sm_75", "--dont-merge-basicblocks", "--return-at-end"],
                 ["--warn-on-spills", "-dlcm=cg", "-maxrregcount", "64", "-w"]):
        assert image_of(*args, path)[:4] == b"\x7fELF", args
    status, _, err = assemble("-v", path)
    assert status == 0 and "kernel scale for sm_75" in err, err
    assert os.path.exists(os.path.join(folder.name, "elf.o"))
    assert image_of("--input-as-string", PTX)[:4] == b"\x7fELF"


def ptxas_says_which_toolkit_it_stands_for_and_whose_it_is():
    status, out, _ = assemble("--version")
    assert status == 0 and "Heddle" in out and "release 13.0, V13.0.0" in out, out
    # to Triton, whose versions before 3.4 take none later than 12.6
    out = subprocess.run([ptxas, "--version"], capture_output=True, text=True, env=dict(os.environ, TRITON_PTXAS_PATH=ptxas)).stdout
    assert "release 12.6, V12.6.0" in out, out


def mistakes_have_their_place():
    status, _, err = assemble("-arch=sm_75", file("bad.ptx", PTX.replace("mul.f32", "mull.f32")))
    assert status != 0 and "bad.ptx:12" in err and "mull" in err, err
    for args, says in ((["--no-such"], "no option `--no-such`"), (["missing.ptx"], "missing.ptx"), ([], "the PTX file is missing"),
                       (["-arch=sm_75", file("new.ptx", PTX.replace("sm_75", "sm_80"))], "for sm_80, and cannot run on sm_75"),
                       (["-m32", saxpy], "64 bits"), (["-arch=fermi", saxpy], "not a device")):
        status, _, err = assemble(*args)
        assert status != 0 and says in err and "fatal" in err, (args, err)


def heddle_run_has_programs_find_ptxas():
    tap.need_loadable_libraries()
    shell = 'which ptxas; echo "$TRITON_PTXAS_PATH $TRITON_PTXAS_BLACKWELL_PATH $TRITON_LIBCUDA_PATH"'
    status, out, err = tap.run("run", "/bin/sh", "-c", shell)
    assert status == 0, err
    found, triton = out.splitlines()
    assert os.path.samefile(found, ptxas), out
    assert all(os.path.samefile(path, ptxas) for path in triton.split()[:2]), out
    assert os.path.exists(os.path.join(triton.split()[2], "libcuda.so.1")), out
    own = dict(os.environ, TRITON_PTXAS_PATH="/mine")
    assert tap.run("run", "/bin/sh", "-c", "echo $TRITON_PTXAS_PATH", env=own)[1] == "/mine\n"


# NVIDIA's NVRTC, for all that matters here: it has PTX, and beside it machine code.
NVRTC = r"""
#include <string.h>
static const char ptx[] = PTX;
#define LONG __asm__ volatile("nop; nop; nop; nop; nop; nop")
int nvrtcGetPTXSize(void *program, size_t *n) { LONG; *n = sizeof ptx; return program ? 0 : 4; }
int nvrtcGetPTX(void *program, char *to) { LONG; memcpy(to, ptx, sizeof ptx); return 0; }
int nvrtcGetCUBINSize(void *program, size_t *n) { LONG; *n = 5; return 0; }
int nvrtcGetCUBIN(void *program, char *to) { LONG; memcpy(to, "code", 5); return 0; }
"""
ASK_NVRTC = r"""
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
size = ctypes.c_size_t()
print(library.nvrtcGetCUBINSize(None, ctypes.byref(size)), library.nvrtcGetCUBINSize(1, ctypes.byref(size)))
image = ctypes.create_string_buffer(size.value)
print(library.nvrtcGetCUBIN(1, image))
open(sys.argv[2], "wb").write(image.raw)
"""


def the_machine_code_of_an_nvrtc_is_an_image_of_its_ptx():
    tap.need_loadable_libraries()
    for version in 12, 13:
        library, image = os.path.join(folder.name, f"libnvrtc.so.{version}"), os.path.join(folder.name, "nvrtc.image")
        text = '"' + PTX.replace("\n", "\\n\\\n") + '"'
        subprocess.run(["cc", "-w", "-shared", "-fPIC", f"-Wl,-soname,libnvrtc.so.{version}", "-x", "c", "-", "-o", library],
                       input=NVRTC.replace("PTX;", text + ";", 1), text=True, check=True)
        status, out, err = tap.run("run", sys.executable, file("ask.py", ASK_NVRTC), library, image)
        assert (status, out, err) == (0, "4 0\n0\n", ""), (out, err)
        with open(image, "rb") as f:
            assert run_image(f.read(), b"scale", [3]) == [8]


class Link:
    """A link of our nvJitLink, by the names that its header has."""

    def __init__(self, *options, version=13):
        self.library = ctypes.CDLL(os.path.join(build, f"libnvJitLink.so.{version}"))
        self.version, self.handle = version, ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*options)
        self.result = self.call("Create", ctypes.byref(self.handle), len(options), words)

    def call(self, name, *args):
        return getattr(self.library, f"__nvJitLink{name}_{self.version}_0")(*args)

    def add(self, data, kind, name=b"input"):
        return self.call("AddData", self.handle, kind, data, ctypes.c_size_t(len(data)), name)

    def log(self):
        size = ctypes.c_size_t()
        assert self.call("GetErrorLogSize", self.handle, ctypes.byref(size)) == 0
        text = ctypes.create_string_buffer(size.value)
        assert self.call("GetErrorLog", self.handle, text) == 0
        return text.value.decode()

    def image(self):
        size = ctypes.c_size_t()
        assert self.call("Complete", self.handle) == 0, self.log()
        assert self.call("GetLinkedCubinSize", self.handle, ctypes.byref(size)) == 0
        image = ctypes.create_string_buffer(size.value)
        assert self.call("GetLinkedCubin", self.handle, image) == 0
        assert self.library.nvJitLinkDestroy(ctypes.byref(self.handle)) == 0 and not self.handle
        return image.raw


CUBIN_INPUT, PTX_INPUT, LTO_INPUT, FATBIN_INPUT, OBJECT_INPUT, LIBRARY_INPUT = range(1, 7)
HEAD = PTX[:PTX.index(".visible")]
TWICE = HEAD + """.visible .func (.param .b32 r) twice(.param .b32 x)
{ .reg .f32 %f<3>; ld.param.f32 %f1, [x]; add.f32 %f2, %f1, %f1; st.param.f32 [r], %f2; ret; }
"""
CALLER = HEAD + """.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry scale(.param .u64 p)
{
    .reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    { .param .b32 x; .param .b32 r; st.param.f32 [x], %f1; call (r), twice, (x); ld.param.f32 %f2, [r]; }
    st.global.f32 [%rd3], %f2;
    ret;
}
"""


OUR_NVRTC = os.path.join(build, "src/toolkit/libnvrtc.so.")


def nvrtc_compiles_for_c_programs():
    tap.need_loadable_libraries()
    tap.need_clang()
    for version in "12", "13":
        program = os.path.join(folder.name, "nvrtc" + version)
        subprocess.run(["cc", "-o", program, "-I", os.path.join(tap.source, "include/cuda"), os.path.join(tap.source, "tests/toolkit/nvrtc.c"),
                        OUR_NVRTC + version, os.path.join(build, "libcuda.so.1"), f"-Wl,-rpath,{build}:{build}/src/toolkit"], check=True)
        temporary = os.path.join(folder.name, "tmp" + version)
        os.mkdir(temporary)
        done = subprocess.run([program], capture_output=True, text=True, timeout=120, env=dict(os.environ, TMPDIR=temporary))
        assert (done.returncode, done.stdout) == (0, version + "\n19 29\n"), done.stdout + done.stderr
        assert not os.listdir(temporary)


def nvrtc(*options, source="__global__ void scale(float *p) { p[threadIdx.x] *= 2; }", names=(), version="12"):
    """The result of a compilation, its log, and the program."""
    tap.need_loadable_libraries()
    library, program, size = ctypes.CDLL(OUR_NVRTC + version), ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"mine.cu", 0, None, None) == 0
    for name in names:
        assert library.nvrtcAddNameExpression(program, name.encode()) == 0
    words = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    result = library.nvrtcCompileProgram(program, len(options), words)
    assert library.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetProgramLog(program, log) == 0
    return result, log.value.decode(), (library, program)


def ptx_of(program):
    library, handle = program
    size = ctypes.c_size_t()
    assert library.nvrtcGetPTXSize(handle, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetPTX(handle, text) == 0
    return text.value.decode()


def nvrtc_refuses_options_by_name():
    for option, says in ("--frobnicate", "unrecognized option --frobnicate found"), ("-dlto", "--dlink-time-opt: Heddle makes PTX"), \
            ("-arch=sm_34", "--gpu-architecture (-arch): `sm_34`"), ("-std=c++98", "--std (-std): `c++98`"), ("-I", "`-I` needs a value"), \
            ("--use_fast_math=1", "`--use_fast_math=1` takes no value"), ("--ftz=perhaps", "true or false"), \
            ("--create-pch=x", "Heddle precompiles no headers"):
        result, log, _ = nvrtc(option)
        assert result == 5 and says in log, (option, result, log)


def nvrtc_has_no_names_of_the_c_library_nor_of_std():
    """So that a program may have its own. What it includes is there."""
    kernel = 'extern "C" __global__ void k(int *p) { *p = (int)(%s); }'
    for source in ("typedef long long int int64_t;\ntypedef unsigned int uint32_t;\n" + kernel % "(int64_t)uint32_t()",
                   "#define INFINITY 1\n#define NAN 2\n#define INT_MAX 3\n" + kernel % "NAN + INT_MAX",
                   "namespace std { using ::signbit; using ::isfinite; }\n" + kernel % "std::signbit(-1.f)",
                   "namespace std { template <class T> struct is_integral { static const bool value = true; }; }\n" + kernel % "std::is_integral<float>::value",
                   "#include <cuda_fp16.h>\ntypedef int int8_t;\n" + kernel % "(int8_t)__half(1.f)",
                   "#include <cstdint>\n" + kernel % "int64_t(INT64_MAX)",
                   "#include <math.h>\n#include <stdint.h>\n" + kernel % "uint8_t(M_PI)"):
        result, log, _ = nvrtc(source=source)
        assert result == 0 and not log.strip("\0\n "), (source, log)
    for name in "NAN", "int64_t()", "INT_MAX":
        assert nvrtc(source=kernel % name)[0] == 6, name


def options_of_nvrtc_reach_the_compiler():
    tap.need_clang()
    source = """#if X != 3 || defined(Y) || !defined(__CUDACC_RTC__) || __CUDA_ARCH__ != 900 || __cplusplus != 202002L
#error what?
#endif
__device__ float half(float x);
extern "C" __global__ void k(float *p) { p[0] = p[0] * p[1] + p[2]; p[3] = p[3] / p[4] + half(p[5]); }
"""
    result, log, program = nvrtc("-D", "X=3", "-DY", "-U Y", "-arch", "compute_120", "-std=c++20", "-fmad=false", "--use_fast_math", "-rdc=true",
                                 "-maxrregcount=32", "-Xptxas", "-v", "--no-source-include", "-w", source=source)
    assert result == 0, log
    ptx = ptx_of(program)
    assert ".target sm_90" in ptx and "fma" not in ptx and "div.approx.ftz" in ptx and ".extern .func" in ptx, ptx
    size = ctypes.c_size_t(7)
    assert program[0].nvrtcGetCUBINSize(program[1], ctypes.byref(size)) == 0 and size.value == 0 # no machine code for a virtual architecture
    assert nvrtc("-Werror=all-warnings", source="__device__ int f() {}")[0] == 6


def assert_needs_no_header():
    tap.need_clang()
    source = "__global__ void k(int n) { assert(threadIdx.x < n); }"
    for options, has in ((), True), (("-default-device",), True), (("-DNDEBUG",), False):
        result, log, program = nvrtc(*options, source=source)
        assert result == 0, log
        assert ("__assertfail" in ptx_of(program)) == has, options


def headers_in_quotes_are_found_beside_the_source():
    tap.need_clang()
    with open(os.path.join(folder.name, "beside.h"), "w") as f:
        f.write("#define FACTOR 3\n")
    source = '#include "beside.h"\n__global__ void scale(float *p) { p[threadIdx.x] *= FACTOR; }'
    before = os.getcwd()
    os.chdir(folder.name)
    try:
        assert nvrtc(source=source)[0] == 0
        assert nvrtc("--no-source-include", source=source)[0] == 6
    finally:
        os.chdir(before)


def a_name_that_is_none_is_an_error_of_nvrtc():
    tap.need_clang()
    for name, says in ("mine::k", "<name expression>:1"), ("7 * 11", "`7 * 11` names neither"):
        result, log, _ = nvrtc(names=[name])
        assert result == 6 and says in log, (name, result, log)


def nvrtc_without_clang_names_debian_s_package():
    tap.need_loadable_libraries()
    code = f"""import ctypes
library, program = ctypes.CDLL({OUR_NVRTC + "12"!r}), ctypes.c_void_p()
library.nvrtcCreateProgram(ctypes.byref(program), b"", None, 0, None, None)
print(library.nvrtcCompileProgram(program, 0, None))
log = ctypes.create_string_buffer(1000)
library.nvrtcGetProgramLog(program, log)
print(log.value.decode())"""
    empty = os.path.join(folder.name, "empty")
    os.makedirs(empty, exist_ok=True)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, PATH=empty))
    assert done.stdout.startswith("6\n") and "`apt-get install clang-19`" in done.stdout, done.stdout + done.stderr


def heddle_run_has_programs_find_nvrtc_where_there_is_none():
    tap.need_loadable_libraries()
    status, out, err = tap.run("run", "sh", "-c", "echo $LD_LIBRARY_PATH", env={"LD_LIBRARY_PATH": "/mine"})
    folders = out.strip().split(":")
    there = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    has_all = all(f"libnvrtc.so.{version} " in there for version in (12, 13))
    assert folders[-1] == ("/mine" if has_all else os.path.join(build, "src/toolkit")) and "/mine" in folders, out + err
    # whatever other version the system has
    status, _, err = tap.run("run", sys.executable, "-c", "import ctypes; [ctypes.CDLL(f'libnvrtc.so.{v}') for v in (12, 13)]")
    assert (status, err) == (0, ""), err


def heddle_run_has_programs_find_headers_where_there_is_no_toolkit():
    """As the folder that CUDA_PATH names; a user's stays, and so does what comes with NVIDIA's NVRTC."""
    tap.need_loadable_libraries()

    def cuda_path(program="/bin/sh", **env):
        return tap.run("run", program, "-c", "echo $CUDA_PATH", env=dict(env, PATH="/usr/bin:/bin"))[1].strip()

    there = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    has_toolkit = os.path.exists("/usr/local/cuda") or os.path.exists("/usr/bin/nvcc") or "libnvrtc.so." in there
    assert cuda_path(CUDA_PATH="/mine") == "/mine" and cuda_path(CUDA_HOME="/mine") == ""
    found = cuda_path()
    assert not found if has_toolkit else os.path.exists(os.path.join(found, "include", "cuda_fp16.h")), found
    packages = os.path.join(folder.name, "lib", "python3.11", "site-packages", "nvidia", "cu13", "lib")
    os.makedirs(packages)
    os.makedirs(os.path.join(folder.name, "bin"))
    os.symlink("/bin/sh", os.path.join(folder.name, "bin", "python"))
    assert bool(cuda_path(os.path.join(folder.name, "bin", "python"))) == (not has_toolkit)
    open(os.path.join(packages, "libnvrtc.so.13"), "w").close()
    assert cuda_path(os.path.join(folder.name, "bin", "python")) == ""


def nvjitlink_links_ptx_and_images_of_ptx():
    tap.need_loadable_libraries()
    for version in 12, 13:
        link = Link(b"-arch=sm_90", b"-O3", b"-lineinfo", version=version)
        assert link.result == 0
        assert link.add(CALLER.encode() + b"\0", PTX_INPUT) == 0
        assert link.add(image_of(file("twice.ptx", TWICE)), CUBIN_INPUT) == 0
        assert run_image(link.image(), b"scale", [3, 4]) == [6, 8]
    assert Link(b"-arch=sm_90", b"-lto", b"-ptx").result == 0 # what comes of LTO-IR
    rounded = Link(b"-arch=sm_80", b"-fma=0")
    assert rounded.add(PTX.encode(), PTX_INPUT) == 0
    assert run_image(rounded.image(), b"scale", [1 + 2.0**-12]) == [2.0**-11]


# 48 values, all of them alive at once; `bounded` says itself what it may take.
MANY = ".version 8.0\n.target sm_80\n.address_size 64\n" + "".join(
    f".visible .entry {name}(.param .u64 p) {bounds}{{\n.reg .u64 %p; .reg .f32 %f<49>;\nld.param.u64 %p, [p];\n" +
    "".join(f"ld.global.f32 %f{i}, [%p+{4 * i}];\n" for i in range(49)) +
    "".join(f"add.rn.f32 %f48, %f48, %f{i};\n" for i in range(48)) + "st.global.f32 [%p], %f48;\nret;\n}\n"
    for name, bounds in (("free", ""), ("bounded", ".maxntid 64 ")))


def registers_of(image, limit=None):
    """Of both kernels, as cuFuncGetAttribute says; the limit is CU_JIT_MAX_REGISTERS."""
    NUM_REGS, cu, found = 4, Driver(), []
    module, function, n = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    options, values = (ctypes.c_int * 1)(0), (ctypes.c_void_p * 1)(limit)
    cu.call("cuModuleLoadDataEx", ctypes.byref(module), image, int(limit is not None), options, values)
    for kernel in b"free", b"bounded":
        cu.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        cu.call("cuFuncGetAttribute", ctypes.byref(n), NUM_REGS, function)
        found.append(n.value)
    return found


def a_limit_of_registers_holds_for_kernels_without_bounds_of_their_own():
    tap.need_loadable_libraries()
    path, link = file("many.ptx", MANY), Link(b"-arch=sm_80", b"-maxrregcount=32")
    assert link.add(MANY.encode(), PTX_INPUT) == 0
    without = registers_of(MANY.encode())
    assert without[0] == without[1] > 48, without
    for image, limit in (MANY.encode(), 32), (image_of("-maxrregcount=32", path), None), (link.image(), None):
        assert registers_of(image, limit) == [32, without[1]]


def nvjitlink_takes_objects_and_libraries_of_the_host():
    tap.need_loadable_libraries()
    tap.need_clang()
    source = file("twice.cu", "extern \"C\" __device__ float twice(float x) { return x + x; }\n")
    object_file, library = os.path.join(folder.name, "twice.o"), os.path.join(folder.name, "libtwice.a")
    status, _, err = tap.run("cc", "-dc", source, "-o", object_file)
    assert status == 0, err
    subprocess.run(["ar", "rcs", library, object_file], check=True)
    for path, kind in (object_file, OBJECT_INPUT), (library, LIBRARY_INPUT):
        link = Link(b"-arch=sm_90")
        assert link.add(CALLER.encode(), PTX_INPUT) == 0
        assert link.call("AddFile", link.handle, kind, path.encode()) == 0, link.log()
        assert run_image(link.image(), b"scale", [5]) == [10]


def nvjitlink_says_what_is_wrong():
    tap.need_loadable_libraries()
    for options, result, says in (((), 2, "-arch="), ((b"-arch=sm_90", b"-wrong"), 1, "-wrong")):
        link = Link(*options)
        assert link.result == result and says in link.log(), (link.result, link.log())
    link = Link(b"-arch=sm_90")
    assert link.add(PTX.replace("mul.f32", "mull.f32").encode(), PTX_INPUT, b"mine.ptx") == 4
    assert "mine.ptx:12" in link.log() and "mull" in link.log()
    assert link.add(b"BC\xc0\xde and so on", LTO_INPUT, b"ir") == 5 and "LTO-IR" in link.log()
    assert link.add(b"\x7fELF and so on", CUBIN_INPUT, b"code") == 8 and "machine code" in link.log()


# NVIDIA's nvJitLink, for all that matters here: its functions are jumps, and of LTO-IR it makes PTX.
NVJITLINK = r"""
#include <string.h>
#define HIDDEN __attribute__((noipa, section(".text.elsewhere"))) static
static const char ptx[] = PTX;
static int lto, arch, to_ptx, added, done;
HIDDEN int create(void **h, unsigned n, const char **o)
{ *h = &done; for (unsigned i = 0; i < n; i++) { lto |= !strcmp(o[i], "-lto"); to_ptx |= !strcmp(o[i], "-ptx"); arch |= !strncmp(o[i], "-arch", 5); } return 0; }
HIDDEN int destroy(void **h) { *h = 0; return 0; }
HIDDEN int add(void *h, int t, const void *d, size_t n, const char *name) { added = t == 3 && n == 4 && !memcmp(d, "LTO!", 4); return !added; }
HIDDEN int complete(void *h) { return !(done = lto && to_ptx && arch && added); }
HIDDEN int size(void *h, size_t *n) { *n = sizeof ptx; return !done; }
HIDDEN int text(void *h, char *to) { memcpy(to, ptx, sizeof ptx); return !done; }
int nvJitLinkCreate(void **h, unsigned n, const char **o) { return create(h, n, o); }
int nvJitLinkDestroy(void **h) { return destroy(h); }
int nvJitLinkAddData(void *h, int t, const void *d, size_t n, const char *name) { return add(h, t, d, n, name); }
int nvJitLinkComplete(void *h) { return complete(h); }
int nvJitLinkGetLinkedPtxSize(void *h, size_t *n) { return size(h, n); }
int nvJitLinkGetLinkedPtx(void *h, char *to) { return text(h, to); }
int nvJitLinkGetLinkedCubinSize(void *h, size_t *n) { __asm__ volatile("nop; nop; nop; nop; nop; nop"); return 77; }
int nvJitLinkGetLinkedCubin(void *h, void *to) { __asm__ volatile("nop; nop; nop; nop; nop; nop"); return 77; }
"""
ASK_NVJITLINK = r"""
import ctypes, sys
link = ctypes.CDLL(sys.argv[1])
handle, size = ctypes.c_void_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * 2)(b"-arch=sm_90", b"-lto")
print(link.nvJitLinkCreate(ctypes.byref(handle), 2, options), link.nvJitLinkAddData(handle, 3, b"LTO!", ctypes.c_size_t(4), b"ir"))
print(link.nvJitLinkComplete(handle), link.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)))
image = ctypes.create_string_buffer(size.value)
print(link.nvJitLinkGetLinkedCubin(handle, image), link.nvJitLinkDestroy(ctypes.byref(handle)))
open(sys.argv[2], "wb").write(image.raw)
"""


def lto_ir_is_linked_to_ptx_by_the_vendor_s_nvjitlink_where_one_is_loaded():
    tap.need_loadable_libraries()
    library, image = os.path.join(folder.name, "libnvJitLink.so.13"), os.path.join(folder.name, "lto.image")
    local = ".local .b32 m; st.volatile.local.f32 [m], %f3; ld.volatile.local.f32 %f3, [m];\n    st.global.f32" # as NVIDIA's writes it
    text = '"' + PTX.replace("st.global.f32", local).replace("\n", "\\n\\\n") + '"'
    subprocess.run(["cc", "-w", "-O2", "-shared", "-fPIC", "-fcf-protection=none", "-Wl,-soname,libnvJitLink.so.13", "-x", "c", "-", "-o",
                    library], input=NVJITLINK.replace("PTX;", text + ";", 1), text=True, check=True)
    status, out, err = tap.run("run", sys.executable, file("ask.py", ASK_NVJITLINK), library, image)
    assert (status, out, err) == (0, "0 0\n0 0\n0 0\n", ""), (out, err)
    with open(image, "rb") as f:
        assert run_image(f.read(), b"scale", [3]) == [8]


GRID = HEAD + """.extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 e) cudaCGSynchronize(.param .b64 h, .param .b32 flags);
.global .u32 arrived;
.visible .entry meet(.param .u64 p) // p[0]: how many threads of the grid had come when the last block went on
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
    atom.global.add.u32 %r1, [arrived], 1;
    { .param .b32 s; .param .b64 h; st.param.b32 [s], 1; call (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd2, [h]; }
    { .param .b64 h; .param .b32 n; .param .b32 e; st.param.b64 [h], %rd2; st.param.b32 [n], 0;
      call (e), cudaCGSynchronize, (h, n); ld.param.b32 %r2, [e]; }
    setp.ne.u32 %q, %r2, 0;
    @%q trap;
    ld.volatile.global.u32 %r3, [arrived];
    cvt.rn.f32.u32 %f1, %r3;
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %q, %r1, 6;
    @%q ret;
    st.global.f32 [%rd1], %f1;
    ret;
}
"""


def grids_meet_by_the_device_runtime_that_a_linker_adds():
    tap.need_loadable_libraries()
    empty = file("cuda_device_runtime.o", "")
    library = os.path.join(folder.name, "libcudadevrt.a")
    subprocess.run(["ar", "rcs", library, empty], check=True)
    link = Link(b"-arch=sm_90")
    assert link.add(GRID.encode(), PTX_INPUT) == 0
    assert link.call("AddFile", link.handle, LIBRARY_INPUT, library.encode()) == 0, link.log()
    assert run_image(link.image(), b"meet", [0] * 40, blocks=7, launch="cuLaunchCooperativeKernel")[0] == 280
    run_image(image_of(file("scale.ptx", PTX)), b"scale", [1])  # the context is in order
    state, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    driver.call("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))
    text = GRID.encode()
    driver.call("cuLinkAddData_v2", state, 1, text, ctypes.c_size_t(len(text)), b"grid", 0, None, None)
    driver.call("cuLinkAddFile_v2", state, 4, library.encode(), 0, None, None)
    driver.call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
    assert run_image(ctypes.string_at(image, size.value), b"meet", [0] * 40, blocks=7, launch="cuLaunchCooperativeKernel")[0] == 280
    driver.call("cuLinkDestroy", state)


def no_handles(one):
    """What is no handle: nothing, small numbers, addresses, what is beside a good one."""
    here = ctypes.create_string_buffer(4096)
    return [None, 1, 7, ctypes.addressof(here), 2**64 - 16, one + 1, one + (1 << 40), one ^ (1 << 62)]


def nvrtc_tells_programs_that_were_destroyed_or_are_none():
    tap.need_loadable_libraries()
    for version in ("12", "13"):
        library, program, size = ctypes.CDLL(OUR_NVRTC + version), ctypes.c_void_p(), ctypes.c_size_t()
        lowered, text = ctypes.c_char_p(), ctypes.create_string_buffer(64)
        for _ in range(3):
            assert library.nvrtcCreateProgram(ctypes.byref(program), b"", b"mine.cu", 0, None, None) == 0
            old = ctypes.c_void_p(program.value)
            assert library.nvrtcDestroyProgram(ctypes.byref(program)) == 0 and not program
        assert library.nvrtcCreateProgram(ctypes.byref(program), b"", b"mine.cu", 0, None, None) == 0
        for wrong in (old, *map(ctypes.c_void_p, no_handles(program.value))):
            invalid_program = 4
            assert library.nvrtcCompileProgram(wrong, 0, None) == invalid_program
            assert library.nvrtcGetPTXSize(wrong, ctypes.byref(size)) == invalid_program
            assert library.nvrtcGetPTX(wrong, text) == invalid_program
            assert library.nvrtcGetCUBINSize(wrong, ctypes.byref(size)) == invalid_program
            assert library.nvrtcGetProgramLogSize(wrong, ctypes.byref(size)) == invalid_program
            assert library.nvrtcGetProgramLog(wrong, text) == invalid_program
            assert library.nvrtcAddNameExpression(wrong, b"f") == invalid_program
            assert library.nvrtcGetLoweredName(wrong, b"f", ctypes.byref(lowered)) == invalid_program
            assert library.nvrtcSetFlowCallback(wrong, None, None) == invalid_program
            assert library.nvrtcDestroyProgram(ctypes.byref(wrong)) == invalid_program
        assert library.nvrtcDestroyProgram(ctypes.byref(program)) == 0


def nvjitlink_tells_links_that_were_destroyed_or_are_none():
    tap.need_loadable_libraries()
    for version in (12, 13):
        old, link, size, text = Link(b"-arch=sm_90", version=version), Link(b"-arch=sm_90", version=version), ctypes.c_size_t(), ctypes.create_string_buffer(64)
        stale = ctypes.c_void_p(old.handle.value)
        assert link.call("Destroy", ctypes.byref(old.handle)) == 0
        for wrong in (stale, *map(ctypes.c_void_p, no_handles(link.handle.value))):
            invalid_input = 3
            assert link.call("AddData", wrong, PTX_INPUT, b"x", ctypes.c_size_t(1), b"x") == invalid_input
            assert link.call("AddFile", wrong, PTX_INPUT, b"/dev/null") == invalid_input
            assert link.call("Complete", wrong) == invalid_input
            for what in ("LinkedCubinSize", "LinkedPtxSize", "LinkedLTOIRSize", "ErrorLogSize", "InfoLogSize"):
                assert link.call("Get" + what, wrong, ctypes.byref(size)) == invalid_input, what
            for what in ("LinkedCubin", "LinkedPtx", "LinkedLTOIR", "ErrorLog", "InfoLog"):
                assert link.call("Get" + what, wrong, text) == invalid_input, what
            assert link.call("Destroy", ctypes.byref(wrong)) == (invalid_input if wrong else 0)
        assert link.call("Destroy", ctypes.byref(link.handle)) == 0


tap.main(globals())
