"""scripts/package: a wheel that works in a fresh virtual environment, and a Debian package that works where it is unpacked."""
import functools
import glob
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

sys.path.insert(0, os.path.join(tap.source, "scripts"))
import older_libc

SCRIPT = os.path.join(tap.source, "scripts", "package")
folder = tempfile.TemporaryDirectory()
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": folder.name, "HEDDLE_CACHE": "off", "LC_ALL": "C.UTF-8"}
USE = """
import array, ctypes, heddle, sys
x, y = array.array("f", range(8)), array.array("f", [1] * 8)
heddle.launch(sys.argv[1], "saxpy", 1, 8, (8, 2.0, x, y), engine="jit")
assert list(y) == [1 + 2 * i for i in range(8)]
heddle.activate()
for name in ("libcuda.so", "libcuda.so.1"):
    assert ctypes.CDLL(name if name == "libcuda.so.1" else heddle._places.cuda_libraries() + "/" + name).cuInit(0) == 0
for name in ("libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"):
    assert ctypes.CDLL(name).cudaFree(None) == 0
assert ctypes.CDLL(heddle._places.cuda_libraries() + "/libgpuocelot.so").ptx_run
for name in ("/libnvJitLink.so.12", "/libnvJitLink.so.13", "/libheddle-nvrtc.so.12", "/libheddle-nvrtc.so.13"):
    assert ctypes.CDLL(heddle._places.cuda_libraries() + name)
for name in ("/libnvrtc.so.12", "/libnvrtc.so.13"):
    assert ctypes.CDLL(heddle._places.nvrtc() + name).nvrtcVersion
print(heddle.__file__)
print(*sorted({line.split()[5] for line in open("/proc/self/maps") if "/" in line}))
"""
# The toolkit's makers of machine code: an image of each goes through the driver.
MAKE = """
import ctypes, heddle, os, subprocess, sys
cu = ctypes.CDLL("libcuda.so.1")
def call(library, name, *args):
    result = getattr(library, name)(*args)
    assert result == 0, (name, result)
def load(image, kernel):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call(cu, "cuModuleLoadData", ctypes.byref(module), image)
    call(cu, "cuModuleGetFunction", ctypes.byref(function), module, kernel)
call(cu, "cuInit", 0)
call(cu, "cuCtxCreate_v2", ctypes.byref(ctypes.c_void_p()), 0, 0)
subprocess.run(["ptxas", "-arch=sm_90", sys.argv[1], "-o", sys.argv[2]], check=True)
image, ptx = open(sys.argv[2], "rb").read(), open(sys.argv[1], "rb").read()
load(image, b"saxpy")
for version in "12", "13":
    size, handle = ctypes.c_size_t(), ctypes.c_void_p()
    link = ctypes.CDLL("libnvJitLink.so." + version)
    call(link, "nvJitLinkCreate", ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b"-arch=sm_90"))
    call(link, "nvJitLinkAddData", handle, 2, ptx, ctypes.c_size_t(len(ptx)), b"saxpy")
    call(link, "nvJitLinkComplete", handle)
    call(link, "nvJitLinkGetLinkedCubinSize", handle, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    call(link, "nvJitLinkGetLinkedCubin", handle, image)
    load(image, b"saxpy")
    rtc = ctypes.CDLL(heddle._places.nvrtc() + "/libnvrtc.so." + version)
    source = b'extern "C" __global__ void twice(float *p) { p[threadIdx.x] *= 2; }'
    call(rtc, "nvrtcCreateProgram", ctypes.byref(handle), source, None, 0, None, None)
    call(rtc, "nvrtcCompileProgram", handle, 1, (ctypes.c_char_p * 1)(b"-arch=sm_90"))
    call(rtc, "nvrtcGetCUBINSize", handle, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    call(rtc, "nvrtcGetCUBIN", handle, image)
    load(image, b"twice")
"""


@functools.lru_cache(None)
def package(kind):
    if not os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "heddle-jit")):
        raise tap.Skip("this build has no compiler of kernels")
    program, of = {"wheel": ("patchelf", "patchelf"), "deb": ("dpkg-shlibdeps", "dpkg-dev")}[kind.split("-")[-1]]
    if not shutil.which(program):
        raise tap.Skip(f"no {program} ({of})")
    done = subprocess.run([SCRIPT, "-1", kind, os.environ["HEDDLE_BUILD"], folder.name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@functools.lru_cache(None)
def unpacked():
    """The wheel's files, as pip would have them in a folder of modules."""
    to = os.path.join(folder.name, "modules")
    with zipfile.ZipFile(package("wheel")) as z:
        for entry in z.infolist():
            os.chmod(z.extract(entry, to), entry.external_attr >> 16 & 0o777)
    return to


def audit(of):
    """scripts/package's own."""
    loader = importlib.machinery.SourceFileLoader("package", SCRIPT)
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("package", loader))
    loader.exec_module(module)
    return list(module.audit(of))


def said(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/", env=dict(CLEAN, **more))
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def use(python, **more):
    """Launches, activates; returns where the package was, and the libraries of the process."""
    place, libraries = said([python, "-c", USE, os.path.join(tap.examples, "saxpy", "saxpy.ptx")], **more).splitlines()
    return place, libraries.split()


def a_wheels_libraries_are_in_it_or_everywhere():
    assert os.path.basename(package("wheel")) == "heddle-0.1.0-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    assert audit(unpacked()) == []
    with zipfile.ZipFile(package("wheel")) as z:
        names = z.namelist()
    for name in ("heddle/prefix/include/heddle.h", "heddle/prefix/share/heddle/cuda/include/cuda_runtime.h", "heddle/prefix/libexec/heddle/heddle-jit",
                 "heddle-0.1.0.dist-info/licenses/LICENSE", "heddle-0.1.0.dist-info/licenses/llvm-19-dev",
                 "heddle-0.1.0.dist-info/licenses/libzydis4.0", "heddle/prefix/lib/x86_64-linux-gnu/heddle/libheddle-x86.so"):
        assert name in names, name


def a_wheel_that_needs_more_is_refused():
    bad = os.path.join(folder.name, "bad")
    os.makedirs(bad)
    subprocess.run(["cc", "-shared", "-nostdlib", "-xc", "/dev/null", "-Wl,-soname,libodd.so.3", "-o", f"{bad}/libodd.so.3"], check=True)
    subprocess.run(["cc", "-shared", "-nostdlib", "-xc", "/dev/null", "-xnone", "-Wl,--no-as-needed", f"{bad}/libodd.so.3", "-o", f"{bad}/ours.so"],
                   check=True)
    assert audit(bad) == []
    os.unlink(f"{bad}/libodd.so.3")
    assert audit(bad) == ["ours.so needs libodd.so.3, which is neither in the package nor everywhere"]


def files_work_with_an_older_c_library_than_they_were_linked_with():
    where = os.path.join(folder.name, "older")
    os.makedirs(where)
    shim = older_libc.make_shim(where)
    old, has = older_libc.has_old(), {"__libc_start_main", "stat"}

    def made(text, name):
        path = os.path.join(where, name)
        subprocess.run(["cc", "-xc", "-", "-o", path], input=text, text=True, check=True)
        return path

    def newest(path):
        return max(filter(None, map(older_libc.parsed, (name for _, _, name in older_libc.Elf(path).versions()))))
    text = """#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
static int made;
__attribute__((constructor)) static void make(void) { made = 1; }
static void *thread(void *p) { struct stat s; return stat("/", &s) ? NULL : p; }
int main(void) { pthread_t t; void *r; pthread_create(&t, NULL, thread, &made); pthread_join(t, &r); printf("%d\\n", *(int *)r); }
"""
    program = made(text, "program")
    needed = older_libc.lower(program, old, has)
    assert newest(program) <= older_libc.NEWEST and needed == ["libheddle-older-libc.so", "libpthread.so.0"], needed
    for library in sorted(needed, reverse=True):
        subprocess.run(["patchelf", "--add-needed", library, program], check=True)
    assert newest(shim) >= (2, 34) and older_libc.lower(shim, old, set()) == ["libdl.so.2", "libpthread.so.0"]
    assert said([program], LD_LIBRARY_PATH=where) == "1\n"
    try:
        older_libc.lower(made("#define _GNU_SOURCE\n#include <unistd.h>\nint main(void) { closefrom(3); }\n", "closes"), old, has)
    except ValueError as error:
        assert "closes needs closefrom, which 2.27 of the C library has not" in str(error), error
    else:
        raise AssertionError("a function that only newer systems have")


def an_unpacked_wheel_works_with_no_library_of_the_system():
    place, libraries = use("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable, PYTHONPATH=unpacked())
    assert place.startswith(unpacked())
    ours = [p for p in libraries if p.startswith(unpacked())]
    assert any("libjansson-" in p for p in ours), libraries
    foreign = [p for p in libraries if any(n in os.path.basename(p) for n in ("libjansson", "liblz4", "libcuda", "libheddle", "libdw"))
               and p not in ours]
    assert not foreign, foreign


@tap.in_full
def a_wheel_installs_into_a_fresh_environment():
    environment = os.path.join(folder.name, "environment")
    if subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True).returncode:
        raise tap.Skip("no venv (python3-venv)")
    said([f"{environment}/bin/pip", "install", "--no-index", "--no-cache-dir", package("wheel")])
    assert use(f"{environment}/bin/python")[0].startswith(environment)
    command = f"{environment}/bin/heddle"
    assert said([command, "--version"]) == "heddle 0.1.0\n"
    out = said([command, "launch", os.path.join(tap.examples, "saxpy", "saxpy.ptx"), "--engine", "jit", "--grid", "1", "--block", "4", "4", "2.0",
                "f32[4]=range", "f32[4]=ones"])
    assert "1 3 5 7" in out, out
    count = "import ctypes; n = ctypes.c_int(); ctypes.CDLL('libcuda.so').cuInit(0); ctypes.CDLL('libcudart.so.12').cudaGetDeviceCount(ctypes.byref(n)); print(n.value)"
    assert said([command, "run", f"{environment}/bin/python", "-c", count]) == "1\n"
    said([command, "run", f"{environment}/bin/python", "-c", MAKE, os.path.join(tap.examples, "saxpy", "saxpy.ptx"), f"{folder.name}/image"])
    source = os.path.join(folder.name, "seven.cu")
    with open(source, "w") as f:
        f.write("__global__ void k(int *p) { *p = 7; }\nint main() { int *p, v = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
                "cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v != 7; }\n")
    said([command, "cc", source, "-o", source[:-3]])
    said([source[:-3]])
    with open(os.path.join(tap.source, "docs", "LIBHEDDLE.md")) as f:
        page = f.read()
    (program,), (compile,), (find,) = (re.findall(pattern, page, re.S) for pattern in (r"```c\n(.*?)```", r"\n(cc count.c .*?)\n", r"\n(export PKG.*?)\n"))
    with open(f"{folder.name}/count.c", "w") as f:
        f.write(program)
    assert said(["sh", "-ec", f"cd {folder.name}\n{find}\n{compile} -o count && ./count"], PATH=f"{environment}/bin:{os.environ['PATH']}") == "HD_SUCCESS: 192\n"
    said([f"{environment}/bin/pip", "uninstall", "-y", "heddle"])
    assert not glob.glob(f"{environment}/lib/*/site-packages/heddle/prefix/lib/*/*.so*")


@tap.in_full
def a_debian_package_works_where_it_is_unpacked():
    root = os.path.join(folder.name, "root")
    subprocess.run(["dpkg", "-x", package("deb"), root], check=True)
    depends = said(["dpkg-deb", "-f", package("deb"), "Depends"])
    for name in ("libc6 (>= 2.3", "libjansson4", "libstdc++6", "libzstd1", "libzydis4.0"):
        assert name in depends, depends
    modules = f"{root}/usr/lib/python3/dist-packages"
    place, _ = use(sys.executable, PYTHONPATH=modules, PATH=f"{root}/usr/bin:/usr/bin:/bin")
    assert place.startswith(modules)
    assert said([f"{root}/usr/bin/heddle", "--version"]) == "heddle 0.1.0\n"


DRAW = """
import ctypes, heddle
heddle.activate()
generator, numbers = ctypes.c_void_p(), (ctypes.c_uint * 4)()
rand = ctypes.CDLL("libcurand.so.10")
assert rand.curandCreateGeneratorHost(ctypes.byref(generator), 161) == 0
assert rand.curandGenerate(generator, numbers, ctypes.c_size_t(4)) == 0
print(numbers[0])
"""


def drop_ins_of_cudas_libraries_are_packages_of_their_own():
    with zipfile.ZipFile(package("wheel")) as z:
        assert not [n for n in z.namelist() if "libcurand" in n or "openblas" in n]
    to = os.path.join(folder.name, "both")
    shutil.copytree(unpacked(), to)
    with zipfile.ZipFile(package("libraries-wheel")) as z:
        for name in ("mtgp", "joe-kuo", "pocketfft"):
            assert f"heddle_libraries-0.1.0.dist-info/licenses/copyright.{name}" in z.namelist(), name
        assert b"Requires-Dist: heddle==0.1.0" in z.read("heddle_libraries-0.1.0.dist-info/METADATA")
        z.extractall(to)
    assert audit(to) == []
    assert said([sys.executable, "-c", DRAW], PYTHONPATH=to) == "1713891541\n"


@tap.in_full
def the_debian_package_of_drop_ins_stands_on_the_other():
    root = os.path.join(folder.name, "libraries")
    subprocess.run(["dpkg", "-x", package("libraries-deb"), root], check=True)
    assert said(["dpkg-deb", "-f", package("libraries-deb"), "Depends"]).startswith("heddle (= 0.1.0), libc6")
    assert os.path.exists(f"{root}/usr/lib/x86_64-linux-gnu/heddle/libcurand.so.10")
    assert not os.path.exists(f"{root}/usr/lib/x86_64-linux-gnu/heddle/libcuda.so.1")


tap.main(globals())
