"""cuda.core's programs: compiled, launched, linked, by streams and events."""
import numpy as np
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

from checks import check

device = Device()
device.set_current()
stream = device.create_stream()
ARCH = f"sm_{device.arch}"
ADD = "template<typename T> __global__ void add(T *p, T by) { p[threadIdx.x] += by; }"


def run(kernel, *arguments):
    """On 64 floats, 0 to 63."""
    memory = device.allocate(256, stream=stream)
    values = np.frombuffer(memory_view(memory), np.float32)
    stream.sync()
    values[:] = np.arange(64)
    launch(stream, LaunchConfig(grid=1, block=64), kernel, memory, *arguments)
    stream.sync()
    return values.copy()


def memory_view(buffer):
    """Device memory is the host's."""
    import ctypes
    return (ctypes.c_char * buffer.size).from_address(int(buffer.handle))


def a_template():
    program = Program(ADD, code_type="c++", options=ProgramOptions(std="c++17", arch=ARCH))
    kernel = program.compile("cubin", name_expressions=("add<float>",)).get_kernel("add<float>")
    return None if (run(kernel, np.float32(2)) == np.arange(64) + 2).all() else "wrong"


def a_link():
    options = ProgramOptions(arch=ARCH, relocatable_device_code=True)
    parts = [Program(text, code_type="c++", options=options).compile("ptx") for text in (
        'extern __device__ float twice(float x); extern "C" __global__ void k(float *p) { p[threadIdx.x] = twice(p[threadIdx.x]); }',
        "__device__ float twice(float x) { return x + x; }")]
    kernel = Linker(*parts, options=LinkerOptions(arch=ARCH)).link("cubin").get_kernel("k")
    return None if (run(kernel) == 2 * np.arange(64)).all() else "wrong"


for test in a_template, a_link:
    check(test.__name__, test)
