#!/usr/bin/env python3
"""soak.py [--launches N] [--threads N] [--growth MB] [--cpu LEVEL]: launches, streams, events, graphs, copies and memory from several threads of Python
at once, by libcuda.so.1 of the build (HEDDLE_BUILD). Results are looked at all along; at the end the process has no more memory than
after a fifth of the work. Prints what was done and how much memory grew; fails where that is more than MB, which is 1, or more for a
sanitizer with records of its own."""
import argparse
import ctypes
import os
import sys
import threading
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--launches", type=int, default=10000)
parser.add_argument("--threads", type=int, default=8)
parser.add_argument("--growth", type=int, default=1)
parser.add_argument("--cpu", help="the CPU level that is used (default: HEDDLE_CPU, or the best)")
arguments = parser.parse_args()
if arguments.cpu:
    os.environ["HEDDLE_CPU"] = arguments.cpu
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
cu = ctypes.CDLL(os.path.join(os.environ.get("HEDDLE_BUILD", os.path.join(root, "build")), "libcuda.so.1"))

# p[i] += add, for the threads of a block.
PTX = b""".version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 add)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [add];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""
ELEMENTS, BYTES = 64, 256
Handle, Address = ctypes.c_void_p, ctypes.c_uint64


def call(name, *args):
    result = getattr(cu, name)(*args)
    if result:
        raise RuntimeError(f"{name}: {result}")


def made(name, *args, kind=Handle):
    handle = kind()
    call(name, ctypes.byref(handle), *args)
    return handle


class Work:
    """What a thread does: `launched` launches so far, `sum` added to each element of its own memory."""

    def __init__(self, context, function):
        call("cuCtxSetCurrent", context)
        self.function, self.launched, self.sum = function, 0, 0
        self.memory = made("cuMemAlloc_v2", ctypes.c_size_t(BYTES), kind=Address)
        call("cuMemsetD32_v2", self.memory, 0, ctypes.c_size_t(ELEMENTS))
        self.stream = made("cuStreamCreate", 1)

    def launch(self, add):
        memory, value = Address(self.memory.value), ctypes.c_uint32(add)
        args = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(value))
        call("cuLaunchKernel", self.function, 1, 1, 1, ELEMENTS, 1, 1, 0, self.stream, args, None)

    def graph(self):
        """Two launches, captured, and run twice."""
        call("cuStreamBeginCapture_v2", self.stream, 1)
        self.launch(1)
        self.launch(2)
        graph = Handle()
        call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        runnable = made("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
        for _ in range(2):
            call("cuGraphLaunch", runnable, self.stream)
        call("cuGraphExecDestroy", runnable)
        call("cuGraphDestroy", graph)
        self.launched += 4
        self.sum += 6

    def other_stream(self):
        """The work goes on in a new stream, behind an event of the old one."""
        event, stream = made("cuEventCreate", 2), made("cuStreamCreate", 1)
        call("cuEventRecord", event, self.stream)
        call("cuStreamWaitEvent", stream, event, 0)
        call("cuStreamDestroy_v2", self.stream)
        call("cuEventDestroy_v2", event)
        self.stream = stream

    def other_memory(self):
        new = made("cuMemAllocAsync", ctypes.c_size_t(BYTES), self.stream, kind=Address)
        call("cuMemcpyDtoDAsync_v2", new, self.memory, ctypes.c_size_t(BYTES), self.stream)
        call("cuMemFreeAsync", self.memory, self.stream)
        self.memory = new

    def look(self):
        values = (ctypes.c_uint32 * ELEMENTS)()
        call("cuMemcpyDtoHAsync_v2", values, self.memory, ctypes.c_size_t(BYTES), self.stream)
        call("cuStreamSynchronize", self.stream)
        if list(values) != [self.sum % 2**32] * ELEMENTS:
            raise RuntimeError(f"{values[0]}, not {self.sum}")

    def until(self, launches):
        n = 0
        while self.launched < launches:
            self.launch(n)
            self.launched += 1
            self.sum += n
            n += 1
            for every, do in (5, self.look), (20, self.other_memory), (25, self.graph), (50, self.other_stream):
                if n % every == 0:
                    do()
        self.look()


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_all(works, launches):
    failed = []

    def body(work):
        try:
            call("cuCtxSetCurrent", context)
            work.until(launches)
        except RuntimeError as e:
            failed.append(e)

    threads = [threading.Thread(target=body, args=(w,)) for w in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        sys.exit(f"soak: {failed[0]}")


call("cuInit", 0)
context = made("cuDevicePrimaryCtxRetain", 0)
call("cuCtxSetCurrent", context)
module = made("cuModuleLoadData", PTX)
add = made("cuModuleGetFunction", module, b"add")
works, share, begin = [Work(context, add) for _ in range(arguments.threads)], arguments.launches // arguments.threads, time.time()
in_all(works, share // 5)
before = resident()
in_all(works, share)
growth, launched = resident() - before, sum(w.launched for w in works)
print(f"{launched} launches from {len(works)} threads in {time.time() - begin:.1f} s: {before >> 10} KB after a fifth of them, "
      f"{growth / 1024:+.0f} KB since then")
sys.exit(growth > arguments.growth << 20)
