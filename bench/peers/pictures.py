#!/usr/bin/env python3
"""pictures.py PLATFORM [LAUNCHES]: what bench/peers/pictures.cu measures, by an OpenCL platform whose name or vendor contains PLATFORM.

Needs pyopencl and numpy, and an OpenCL for CPUs: `pip install pyopencl numpy pocl-binary-distribution`, or `intel-opencl-rt intel-cmplr-lib-rt`, with
OCL_ICD_VENDORS naming a folder with a file `intel.icd` that has the path of libintelocl.so, and LD_LIBRARY_PATH that of the virtual environment's `lib`.
"""
import os
import resource
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")]
from usage import show_help

show_help(__doc__)

import numpy as np
import pyopencl as cl

SIDE, WARM_UP = 2048, 3
SOURCE = """
const sampler_t how = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
#define KERNEL(name, type, part, u, v)                         \\
    kernel void name(read_only image2d_t t, global type *out)  \\
    {                                                          \\
        int x = get_global_id(0), y = get_global_id(1);        \\
        out[y * 2048 + x] = read_imagef(t, how, (float2)(u, v)) part; \\
    }
KERNEL(shifted1, float, .x, x + .87f, y + 1.11f)
KERNEL(rotated1, float, .x, x * .93f + y * .12f + .5f, y * .91f - x * .1f + 100.5f)
KERNEL(shifted4, float4, , x + .87f, y + 1.11f)
KERNEL(rotated4, float4, , x * .93f + y * .12f + .5f, y * .91f - x * .1f + 100.5f)
"""


def random_words():
    words, r = np.empty(SIDE * SIDE, np.uint32), 1
    for i in range(len(words)):
        r = (r * 1664525 + 1013904223) & 0xFFFFFFFF
        words[i] = r
    return words


def processor_time():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    wanted, launches = sys.argv[1].lower(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    platform = next(p for p in cl.get_platforms() if wanted in (p.name + p.vendor).lower())
    context = cl.Context([d for d in platform.get_devices() if d.type & cl.device_type.CPU][:1])
    queue, program, r = cl.CommandQueue(context), cl.Program(context, SOURCE).build(), random_words()
    floats = (r >> 8 & 1023).astype(np.float32)
    colors = np.stack([r >> s & 255 for s in (8, 12, 16, 24)], 1).astype(np.uint8)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    picture = cl.Image(context, flags, cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT), shape=(SIDE, SIDE), hostbuf=floats)
    colored = cl.Image(context, flags, cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNORM_INT8), shape=(SIDE, SIDE), hostbuf=colors)
    for name, kernel, image, channels in (("f32-shifted", program.shifted1, picture, 1), ("f32-rotated", program.rotated1, picture, 1),
                                          ("rgba8-shifted", program.shifted4, colored, 4), ("rgba8-rotated", program.rotated4, colored, 4)):
        out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * channels * SIDE * SIDE)
        kernel.set_args(image, out)
        for i in range(WARM_UP + launches):
            if i == WARM_UP:
                queue.finish()
                cpu, wall = processor_time(), time.monotonic()
            cl.enqueue_nd_range_kernel(queue, kernel, (SIDE, SIDE), (32, 8))
        queue.finish()
        cpu, wall = processor_time() - cpu, time.monotonic() - wall
        read = np.empty(channels * SIDE * SIDE, np.float32)
        cl.enqueue_copy(queue, read, out)
        print(name, f"{cpu / launches * 1e3:.2f} {wall / launches * 1e3:.2f} {read[::channels].astype(np.float64).sum():.6g}")


main()
