"""A sum over a block in shared memory, in numba: `kept` with its barriers, `planted` with the one in the loop taken away."""
import sys

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def kept(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.blockIdx.x * 128 + t]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit(lineinfo=True)
def planted(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.blockIdx.x * 128 + t]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            part[t] += part[t + half]  # race
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


x, out = np.arange(1024, dtype=np.float32), np.zeros(8, np.float32)
{"kept": kept, "planted": planted}[sys.argv[1]][8, 128](x, out)
print(*out)
