#!/usr/bin/env python3
"""NVML: what it says of the devices is what CUDA says of them."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap  # noqa: E402

BEGIN = """
import ctypes, os
from ctypes import *
nvml, cuda = CDLL("libnvidia-ml.so.1"), CDLL("libcuda.so.1")
def ok(status): assert status == 0, status
ok(nvml.nvmlInit_v2())
n = c_uint()
ok(nvml.nvmlDeviceGetCount_v2(byref(n)))
device = c_void_p()
text = create_string_buffer(96)
"""


def run(code, devices=3, **environment):
    tap.need_loadable_libraries()
    words = [f"{name}={value}" for name, value in environment.items()]
    status, out, err = tap.run("run", "--devices", str(devices), "env", *words, sys.executable, "-c", BEGIN + code)
    assert status == 0, out + err
    return out, err


def devices_are_those_of_cuda():
    run("""
assert n.value == 3
ok(cuda.cuInit(0))
for i in range(3):
    ok(nvml.nvmlDeviceGetHandleByIndex_v2(i, byref(device)))
    ok(nvml.nvmlDeviceGetName(device, text, 96))
    name = create_string_buffer(96)
    ok(cuda.cuDeviceGetName(name, 96, i))
    assert text.value == name.value, text.value
    ok(nvml.nvmlDeviceGetUUID(device, text, 96))
    uuid = (c_ubyte * 16)()
    ok(cuda.cuDeviceGetUuid(uuid, i))
    assert text.value.decode()[4:].replace("-", "") == bytes(uuid).hex(), text.value
    again = c_void_p()
    ok(nvml.nvmlDeviceGetHandleByUUID(text, byref(again)))
    assert again.value == device.value
    ok(cuda.cuDeviceGetPCIBusId(text, 96, i))
    ok(nvml.nvmlDeviceGetHandleByPciBusId_v2(text, byref(again)))
    assert again.value == device.value
    major, minor, a, b = c_int(), c_int(), c_int(), c_int()
    ok(nvml.nvmlDeviceGetCudaComputeCapability(device, byref(major), byref(minor)))
    ok(cuda.cuDeviceComputeCapability(byref(a), byref(b), i))
    assert (major.value, minor.value) == (a.value, b.value)
context, memory, p = c_void_p(), (c_ulonglong * 3)(), c_ulonglong()
ok(cuda.cuCtxCreate_v2(byref(context), 0, 2))
ok(cuda.cuMemAlloc_v2(byref(p), 1 << 20))
ok(nvml.nvmlDeviceGetMemoryInfo(device, memory))
total, free, used = memory
assert total == free + used and used >= 1 << 20, list(memory)
processes, count = (c_ubyte * 24)(), c_uint(1)
ok(nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, byref(count), processes))
assert count.value == 1 and int.from_bytes(bytes(processes)[:4], "little") == os.getpid()
former = (c_ubyte * 24)(*[77] * 24)
ok(nvml.nvmlDeviceGetComputeRunningProcesses(device, byref(count), former))
assert count.value == 1 and former[:4] == processes[:4] and former[8:16] == processes[8:16] and former[16:] == [77] * 8
""")


def devices_that_cuda_does_not_see_are_there():
    run("""
assert n.value == 3
ok(cuda.cuInit(0))
ok(cuda.cuDeviceGetCount(byref(n)))
assert n.value == 1
uuid = (c_ubyte * 16)()
ok(cuda.cuDeviceGetUuid(uuid, 0))
ok(nvml.nvmlDeviceGetHandleByIndex_v2(2, byref(device)))
ok(nvml.nvmlDeviceGetUUID(device, text, 96))
assert text.value.decode()[4:].replace("-", "") == bytes(uuid).hex()
""", CUDA_VISIBLE_DEVICES="2")


def what_it_lacks_is_refused_by_name():
    _, err = run("""
ok(nvml.nvmlDeviceGetHandleByIndex_v2(0, byref(device)))
nvml.nvmlErrorString.restype = c_char_p
for _ in range(2):
    status = nvml.nvmlDeviceGetTemperature(device, 0, byref(n))
    assert status == 3 and nvml.nvmlErrorString(status) == b"Not Supported", status
assert nvml.nvmlDeviceGetName(None, text, 96) == 2 and nvml.nvmlDeviceGetHandleByIndex_v2(3, byref(device)) == 2
ok(nvml.nvmlShutdown())
assert nvml.nvmlDeviceGetCount_v2(byref(n)) == 1 and nvml.nvmlShutdown() == 1
""")
    assert err.count("nvmlDeviceGetTemperature is not supported by Heddle: docs/LIBRARIES.md") == 1, err


if __name__ == "__main__":
    tap.main(globals())
