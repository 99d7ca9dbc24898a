"""What stands in the place of the CUDA toolkit's makers of machine code: they give images that hold PTX, and the driver loads them."""
import ctypes
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap

build = os.environ["HEDDLE_BUILD"]
ptxas = os.path.join(build, "src/toolkit/ptxas")
saxpy = os.path.join(tap.source, "examples/saxpy/saxpy.ptx")
folder = tempfile.TemporaryDirectory()

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


def file(name, text):
    path = os.path.join(folder.name, name)
    with open(path, "w") as f:
        f.write(text)
    return path


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

    def run(self, image, kernel, values):
        module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        data = (ctypes.c_float * len(values))(*values)
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(ctypes.sizeof(data)))
        self.call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(ctypes.sizeof(data)))
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
        self.call("cuLaunchKernel", function, 1, 1, 1, len(values), 1, 1, 0, None, arguments, None)
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", data, memory, ctypes.c_size_t(ctypes.sizeof(data)))
        self.call("cuMemFree_v2", memory)
        self.call("cuModuleUnload", module)
        return list(data)


driver = None


def run_image(image, kernel, values):
    global driver
    if tap.SANITIZED:
        raise tap.Skip("Python can load no library with a sanitizer")
    driver = driver or Driver()
    return driver.run(image, kernel, values)


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


def mistakes_have_their_place():
    status, _, err = assemble("-arch=sm_75", file("bad.ptx", PTX.replace("mul.f32", "mull.f32")))
    assert status != 0 and "bad.ptx:12" in err and "mull" in err, err
    for args, says in ((["--no-such"], "no option `--no-such`"), (["missing.ptx"], "missing.ptx"), ([], "which PTX file"),
                       (["-arch=sm_75", file("new.ptx", PTX.replace("sm_75", "sm_80"))], "for sm_80, and cannot run on sm_75"),
                       (["-m32", saxpy], "64 bits"), (["-arch=fermi", saxpy], "no device")):
        status, _, err = assemble(*args)
        assert status != 0 and says in err and "fatal" in err, (args, err)


def heddle_run_has_programs_find_ptxas():
    shell = 'which ptxas; echo "$TRITON_PTXAS_PATH $TRITON_PTXAS_BLACKWELL_PATH $TRITON_LIBCUDA_PATH"'
    status, out, err = tap.run("run", "/bin/sh", "-c", shell)
    assert status == 0, err
    found, triton = out.splitlines()
    assert os.path.samefile(found, ptxas), out
    assert all(os.path.samefile(path, ptxas) for path in triton.split()[:2]), out
    assert os.path.exists(os.path.join(triton.split()[2], "libcuda.so.1")), out
    own = dict(os.environ, TRITON_PTXAS_PATH="/mine")
    assert tap.run("run", "/bin/sh", "-c", "echo $TRITON_PTXAS_PATH", env=own)[1] == "/mine\n"


tap.main(globals())
