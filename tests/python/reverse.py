"""The source that reverse.ptx names, as numba and Triton name theirs: a kernel that turns 64 numbers round, with a race."""


def reverse(x):
    part = shared(64)
    t = threadIdx.x
    part[t] = x[t]
    # and no syncthreads()
    x[t] = part[63 - t]
