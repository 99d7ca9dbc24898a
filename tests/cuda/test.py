"""The driver API by ctypes, as tinygrad and numba reach it; what happens to processes; the header against the toolkit."""
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import tap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layout  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def python(code, expect=0, **env):
    """Runs Python with client.py's names in a process of its own; returns stdout and stderr."""
    tap.need_loadable_libraries()
    done = subprocess.run([sys.executable, "-c", "from client import *\n" + code], capture_output=True, text=True,
                          timeout=120, env=dict(os.environ, PYTHONPATH=HERE, **env))
    assert done.returncode == expect, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def tinygrads_way_gives_the_sum():
    """cuLaunchKernel with `extra`, asynchronous copies from host memory, events."""
    python("""
context, module = start()
f = function(module, "add")
n = 1000
a = (ctypes.c_float * n)(*range(n)); b = (ctypes.c_float * n)(*[0.5] * n); result = (ctypes.c_float * n)()
check(cuda.cuCtxSetCurrent(context))
bufs = [out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4 * n)) for _ in range(3)]
host = out(ctypes.c_void_p, cuda.cuMemHostAlloc, ctypes.c_size_t(4 * n), 0)
ctypes.memmove(host, a, 4 * n)
check(cuda.cuMemcpyHtoDAsync_v2(bufs[1], host, ctypes.c_size_t(4 * n), None))
check(cuda.cuMemcpyHtoDAsync_v2(bufs[2], b, ctypes.c_size_t(4 * n), None))
start_event = out(ctypes.c_void_p, cuda.cuEventCreate, 0)
end_event = out(ctypes.c_void_p, cuda.cuEventCreate, 0)
check(cuda.cuEventRecord(start_event, None))
packed = (ctypes.c_uint8 * 28).from_buffer_copy(struct.pack("QQQi", *[x.value for x in bufs], n))
size = ctypes.c_size_t(28)
extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
check(cuda.cuFuncSetAttribute(f, 8, 0))
check(cuda.cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, None, None, extra))
check(cuda.cuEventRecord(end_event, None))
check(cuda.cuEventSynchronize(end_event))
ms = out(ctypes.c_float, cuda.cuEventElapsedTime, start_event, end_event)
assert ms.value >= 0
check(cuda.cuMemcpyDtoH_v2(result, bufs[0], ctypes.c_size_t(4 * n)))
assert list(result) == [i + 0.5 for i in range(n)]
check(cuda.cuMemFreeHost(host))
for x in bufs: check(cuda.cuMemFree_v2(x))
check(cuda.cuModuleUnload(module))
check(cuda.cuCtxSynchronize())
""".replace("struct.pack", "__import__('struct').pack"))


def every_name_that_numba_looks_up_is_there():
    names = """cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetAttribute cuDeviceGetUuid_v2
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2 cuCtxGetCurrent cuCtxPushCurrent_v2 cuCtxPopCurrent_v2
        cuCtxGetDevice cuCtxSynchronize cuMemGetInfo_v2 cuMemAlloc_v2 cuMemFree_v2 cuMemcpyHtoD_v2 cuMemcpyDtoH_v2
        cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemsetD8_v2 cuMemsetD8Async cuLinkCreate_v2 cuLinkAddData_v2
        cuLinkAddFile_v2 cuLinkComplete cuLinkDestroy cuModuleLoadDataEx cuModuleUnload cuModuleGetFunction
        cuModuleGetGlobal_v2 cuFuncGetAttribute cuFuncSetCacheConfig cuLaunchKernel cuLaunchCooperativeKernel
        cuStreamCreate cuStreamDestroy_v2 cuStreamSynchronize cuStreamAddCallback cuStreamQuery cuEventCreate
        cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuStreamWaitEvent
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize cuPointerGetAttribute
        cuMemHostAlloc cuMemFreeHost cuMemHostRegister_v2 cuMemHostUnregister cuMemHostGetDevicePointer_v2
        cuMemAllocManaged cuDeviceCanAccessPeer cuCtxEnablePeerAccess cuProfilerStart cuProfilerStop
        cuMemcpyDtoD_v2 cuMemcpyDtoDAsync_v2 cuCtxGetApiVersion cuDevicePrimaryCtxReset_v2 cuGetErrorName""".split()
    with open(os.path.join(tap.source, "src/cuda/api.def"), encoding="utf-8") as f:
        done = {line[4:].split(",")[0] for line in f if line.startswith("API(") and "no)" not in line}
    assert not set(names) - done, set(names) - done


def cudaTypedefs_has_what_api_def_has():
    """Each type has the version of an entry point that there is, and its parameters: a call by it gets what it asks for."""
    with open(os.path.join(tap.source, "src/cuda/api.def"), encoding="utf-8") as f:
        rows = re.findall(r"^API\((\w+), (\w+), (\d+), \w+, (\w+)\)", f.read(), re.M)
    there = {(name, int(version)) for _, name, version, state in rows if state != "no"}
    newest = {name: max(v for n, v in there if n == name) for name, _ in there}
    headers = os.path.join(os.environ["HEDDLE_BUILD"], "cuda/include")
    with open(os.path.join(headers, "cudaTypedefs.h"), encoding="ascii") as f:
        text = f.read()
    assert {(n, int(v)) for n, v in re.findall(r"\(\*PFN_(\w+)_v(\d+)\)", text)} == there
    assert {n: int(v) for v, n in re.findall(r"^typedef PFN_\w+_v(\d+) PFN_(\w+);", text, re.M)} == newest
    same = [(export, f"PFN_{name}_v{version}") for export, name, version, state in rows if state != "no" and re.search(r"_v\d+$", export)]
    assert len(there) > 300 and len(same) > 60
    program = "#include <cudaTypedefs.h>\n" + "\n".join(
        f'_Static_assert(__builtin_types_compatible_p(__typeof__(&{export}), {name}), "{name}");' for export, name in same)
    for words in (["cc", "-x", "c"], ["c++", "-x", "c++"]):
        wanted = program if words[0] == "cc" else program.split("\n")[0]
        done = subprocess.run([*words, "-Wall", "-Werror", "-fsyntax-only", "-I", headers, "-"], input=wanted, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr[:2000]


def cuGetProcAddress_answers_by_version():
    python("""
check(cuda.cuInit(0))
def ask(name, version, flags=0):
    p, status = ctypes.c_void_p(), ctypes.c_int(9)
    r = cuda.cuGetProcAddress_v2(name.encode(), ctypes.byref(p), version, ctypes.c_uint64(flags), ctypes.byref(status))
    return r, p.value, status.value
def at(name):
    return ctypes.cast(getattr(cuda, name), ctypes.c_void_p).value
assert ask("cuMemAlloc", 3020) == (0, at("cuMemAlloc_v2"), 0)
assert ask("cuMemAlloc", 13000) == (0, at("cuMemAlloc_v2"), 0)
assert ask("cuMemAlloc", 2000) == (0, at("cuMemAlloc"), 0)
assert ask("cuCtxSynchronize", 12000) == (0, at("cuCtxSynchronize"), 0)
assert ask("cuCtxSynchronize", 13000) == (0, at("cuCtxSynchronize_v2"), 0)
assert ask("cuCtxCreate", 11040) == (0, at("cuCtxCreate_v3"), 0)
assert ask("cuLaunchKernel", 13000, 2) == (0, at("cuLaunchKernel_ptsz"), 0)
assert ask("cuMemcpyHtoD", 13000, 2) == (0, at("cuMemcpyHtoD_v2_ptds"), 0)
assert ask("cuInit", 13000, 2) == (0, at("cuInit"), 0)
assert ask("cuNothing", 13000) == (500, None, 1)
assert ask("cuLibraryLoadData", 11000) == (500, None, 2)
""")


def what_is_not_there_says_so():
    out, err = python("""
check(cuda.cuInit(0))
assert cuda.cuMemMapArrayAsync(None, 0, None) == 801
assert cuda.cuGreenCtxCreate(None, None, 0, 0) == 801
""", HEDDLE_LOG="api")
    assert "cuMemMapArrayAsync is not supported" in err and "cuGreenCtxCreate is not supported" in err, err


def an_error_in_a_text_names_it_once():
    out, err = python("""
context, module = start()
text = b".version 7.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { foo; ret; }"
assert cuda.cuModuleLoadData(ctypes.byref(module), text) == 218
""", HEDDLE_LOG="error")
    name, place = err.split(":")[1:3]
    assert "unknown instruction `foo`" in err and place == "4" and err.count(name) == 1, err


def kernels_print_in_the_order_of_the_program():
    out, err = python("""
context, module = start()
libc = ctypes.CDLL(None)
libc.printf(b"before\\n")
launch(function(module, "hello"))
libc.printf(b"between\\n")
check(cuda.cuCtxSynchronize())
libc.printf(b"after\\n")
libc.fflush(None)
""")
    assert out == "before\nbetween\nhello\nafter\n", out


def what_a_launch_prints_beyond_the_fifo_is_lost_and_said():
    """CU_LIMIT_PRINTF_FIFO_SIZE, which cudaDeviceSetLimit sets, too."""
    out, err = python("""
context, module = start()
size = out(ctypes.c_size_t, cuda.cuCtxGetLimit, 1)
assert size.value == 8650752, size
check(cuda.cuCtxSetLimit(1, ctypes.c_size_t(18)))
check(cuda.cuCtxGetLimit(ctypes.byref(size), 1))
assert size.value == 524288, size  # the least, on an H200, too
launch(function(module, "hello"), block=3)
launch(function(module, "hello"), grid=1000, block=1000)
check(cuda.cuCtxSynchronize())
""")
    calls = 8 * 524288 // 6
    assert out == (3 + calls) * "hello\n", (len(out), err)
    assert f"{1000000 - calls} of 1000000 calls of printf in kernel `hello` were lost" in err, err


def using_words(kernels, offset=4):
    """Python that has kernels use the word at an offset in memory of 4 bytes; it prints what the last call returns."""
    return f"""
context, module = start()
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4)).value + {offset}
for f in [function(module, name) for name in {kernels}]:
    launch(f, ctypes.c_uint64(p))
print(cuda.cuCtxSynchronize())
"""


def kernels_that_go_past_the_end_as_a_gpu_lets_them_are_named_in_one_line():
    both = ["poke", "spin", "poke"]
    out, err = python(using_words(both))
    assert out == "0\n" and err == (
        f"heddle: {os.path.basename(sys.executable)}: kernels `poke` and `spin` accessed memory just past the end of an allocation, "
        "which a GPU lets pass; `heddle check` shows where\n"), err
    assert python(using_words(both, 0)) == ("0\n", "")
    out, err = python(using_words(["poke"], 512))
    assert out == "700\n" and "lets pass" not in err and "[illegal-address]" in err, err


def exact_bounds_are_an_option_and_those_of_check():
    out, err = python(using_words(["poke"]), HEDDLE_EXACT_BOUNDS="1")
    assert out == "700\n" and "just past the end of the 4-byte buffer" in err and "lets pass" not in err, err
    program = [sys.executable, "-c", "from client import *\n" + using_words(["poke"])]
    env = dict(os.environ, PYTHONPATH=HERE)
    status, out, err = tap.run("run", "--exact-bounds", *program, env=env)
    assert (status, out) == (0, "700\n") and "just past the end of the 4-byte buffer" in err, err
    status, out, err = tap.run("run", *program, env=env)
    assert (status, out) == (0, "0\n") and err.count("\n") == 1 and "kernel `poke` accessed" in err, err
    status, out, err = tap.run("check", *program, env=env)
    assert (status, out) == (1, "0\n") and "[illegal-address]" in err and "lets pass" not in err, err


def a_child_tells_of_its_own_kernels():
    fork = """
import os, sys
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    for code in (fork + using_words(["poke"]), using_words(["poke"]) + fork):
        out, err = python(code)
        assert err.count("`heddle check`") == 1, err


def a_fault_is_one_paragraph_and_700():
    out, err = python("""
context, module = start()
launch(function(module, "poke"), ctypes.c_uint64(0))
assert cuda.cuCtxSynchronize() == 700
assert cuda.cuCtxSynchronize() == 700
check(cuda.cuCtxDestroy_v2(context))
context, module = start()
check(cuda.cuCtxSynchronize())
""")
    assert err.count("error:") == 1 and "kernel `poke`" in err and "null pointer" in err, err


def a_wild_pointer_into_the_process_is_told_from_its_memory():
    """Read-only memory, a page that is not mapped, a page that was unmapped between two launches."""
    python("""
context, module = start()
poke = function(module, "poke")
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
p = libc.mmap(None, ctypes.c_size_t(1 << 16), 3, 0x22, -1, ctypes.c_long(0))
launch(poke, ctypes.c_uint64(p))
check(cuda.cuCtxSynchronize())
assert ctypes.c_uint32.from_address(p).value == 1
libc.munmap(ctypes.c_void_p(p), ctypes.c_size_t(1 << 16))
launch(poke, ctypes.c_uint64(p))
assert cuda.cuCtxSynchronize() == 700
check(cuda.cuCtxDestroy_v2(context))
context, module = start()
p = libc.mmap(None, ctypes.c_size_t(1 << 16), 1, 0x22, -1, ctypes.c_long(0))
launch(function(module, "poke"), ctypes.c_uint64(p))
assert cuda.cuCtxSynchronize() == 700
""", HEDDLE_PAGEABLE="1")


def the_claimed_devices_are_chosen():
    python("""
check(cuda.cuInit(0))
assert out(ctypes.c_int, cuda.cuDeviceGetCount).value == 3
for ordinal in range(3):
    major, minor = ctypes.c_int(), ctypes.c_int()
    check(cuda.cuDeviceComputeCapability(ctypes.byref(major), ctypes.byref(minor), ordinal))
    assert (major.value, minor.value) == (8, 0)
    assert out(ctypes.c_int, cuda.cuDeviceGetAttribute, 16, ordinal).value == 108
assert out(ctypes.c_int, cuda.cuDeviceCanAccessPeer, 0, 1).value == 1
a = out(ctypes.c_void_p, cuda.cuCtxCreate_v2, 0, 0)
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4096))
b = out(ctypes.c_void_p, cuda.cuCtxCreate_v2, 0, 1)
q = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4096))
check(cuda.cuCtxEnablePeerAccess(a, 0))
assert cuda.cuCtxEnablePeerAccess(a, 0) == 704
assert out(ctypes.c_int, cuda.cuPointerGetAttribute, 9, q).value == 1
check(cuda.cuMemcpyPeer(q, b, p, a, ctypes.c_size_t(4096)))
module = out(ctypes.c_void_p, cuda.cuModuleLoadData, PTX)
launch(function(module, "poke"), p)
check(cuda.cuCtxSynchronize())
assert ctypes.c_uint32.from_address(p.value).value == 1
launch(function(out(ctypes.c_void_p, cuda.cuModuleLoadData, PTX), "poke"), q)
check(cuda.cuCtxSynchronize())
assert ctypes.c_uint32.from_address(q.value).value == 1
""", HEDDLE_DEVICE="sm_80", HEDDLE_DEVICES="3")
    python("assert cuda.cuInit(0) == 100", CUDA_VISIBLE_DEVICES="")
    out_, err = python("check(cuda.cuInit(0))\nassert cuda.cuDeviceTotalMem_v2(ctypes.byref(ctypes.c_size_t()), 0) == 1",
                       HEDDLE_DEVICE="sm_33")
    assert "sm_80" in err, err


def a_process_ends_while_kernels_run():
    begin = time.monotonic()
    python("""
context, module = start()
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4))
check(cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1)))
for i in range(3):
    launch(function(module, "spin"), p, grid=4, block=64, stream=out(ctypes.c_void_p, cuda.cuStreamCreate, 1))
sys = __import__("sys"); sys.exit(7)
""", expect=7)
    assert time.monotonic() - begin < 60


def a_killed_process_leaves_nothing_behind():
    tap.need_loadable_libraries()
    with tempfile.TemporaryDirectory() as folder:
        before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
        code = """
from client import *
context, module = start()
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4))
check(cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1)))
launch(function(module, "spin"), p, grid=4, block=64)
print("running", flush=True)
check(cuda.cuCtxSynchronize())
"""
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=folder,
                                 env=dict(os.environ, PYTHONPATH=HERE, TMPDIR=folder, PYTHONDONTWRITEBYTECODE="1"))
        assert child.stdout.readline() == b"running\n"
        child.send_signal(signal.SIGKILL)
        assert child.wait(timeout=60) == -signal.SIGKILL
        child.stdout.close()
        after = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
        mine = {name for name in after - before if "heddle" in name}
        assert not mine and not os.listdir(folder), (mine, os.listdir(folder))


def a_child_uses_CUDA_of_its_own_or_is_told():
    python("""
import os
check(cuda.cuInit(0))
start()
pid = os.fork()
if pid == 0:
    os._exit(0 if cuda.cuInit(0) == 3 and cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == 3 else 1)
assert os.waitpid(pid, 0)[1] == 0
""")
    python("""
import os
pid = os.fork()
if pid == 0:
    start()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
start()
""")


def a_fat_binary_of_nvcc_runs():
    nvcc = "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(nvcc):
        raise tap.Skip("there is no nvcc")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "k.cu")
        with open(source, "w", encoding="utf-8") as f:
            f.write('extern "C" __global__ void k(int *p) { atomicAdd(p, threadIdx.x); }\n')
        for name, options in {"both": ["-gencode", "arch=compute_75,code=[sm_75,compute_75]"],
                              "lz4": ["-arch=compute_75", "-Xfatbin", "-compress-mode=speed"],
                              "sass": ["-gencode", "arch=compute_80,code=sm_80"]}.items():
            subprocess.run([nvcc, "-fatbin", *options, source, "-o", f"{folder}/{name}"], check=True)
        out, err = python(f"""
start()
for name in "both", "lz4":
    module = out(ctypes.c_void_p, cuda.cuModuleLoad, b"{folder}/" + name.encode())
    p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4))
    check(cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1)))
    launch(function(module, "k"), p, block=8)
    check(cuda.cuCtxSynchronize())
    assert ctypes.c_uint32.from_address(p.value).value == 28
assert cuda.cuModuleLoad(ctypes.byref(ctypes.c_void_p()), b"{folder}/sass") == 209
""")
        assert f"{folder}/sass" in err and "sm_80" in err and "-gencode" in err, err


def the_page_of_entry_points_is_made_from_the_table():
    made = subprocess.run([os.path.join(tap.source, "scripts/api-docs")], check=True, capture_output=True, text=True)
    with open(os.path.join(tap.source, "docs/API.md"), encoding="utf-8") as f:
        assert f.read() == made.stdout, "run make docs"


def folder_of_toolkit(_=13):
    folder = layout.toolkit()
    if not folder:
        raise tap.Skip("there is no CUDA toolkit 13")
    return folder


def the_header_has_the_toolkits_layouts_and_values():
    folder = folder_of_toolkit()
    ours, theirs = layout.prints(layout.OURS), layout.prints(folder)
    different = [f"{a}, the toolkit: {b}" for a, b in zip(ours, theirs) if a != b]
    assert len(ours) > 700 and not different, different[:10]


def the_header_has_the_toolkits_prototypes():
    errors = layout.declared_twice(folder_of_toolkit())
    assert len(layout.prototypes()) > 250 and not errors, errors[:2000]


def every_export_of_the_stub_library_is_there():
    theirs = layout.stub_exports(folder_of_toolkit())
    if theirs is None:
        raise tap.Skip("there is no stub library")
    assert theirs == layout.exports(), theirs ^ layout.exports()


def api_def_has_the_toolkits_versions():
    theirs = layout.versions(folder_of_toolkit())
    with open(os.path.join(tap.source, "src/cuda/api.def"), encoding="utf-8") as f:
        rows = {r[0]: (r[1], int(r[2])) for r in
                (line[4:].rstrip(")\n").split(", ") for line in f if line.startswith("API("))}
    wrong = {k: (v, theirs.get(k)) for k, v in rows.items() if theirs.get(k) != v}
    assert not wrong, wrong


if __name__ == "__main__":
    tap.main(globals())
