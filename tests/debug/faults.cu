/* Kernels that fail. */
#include <assert.h>

__global__ void beyond(int *out, int n)
{
    int at = threadIdx.x * n;
    out[at] = n;
}

__global__ void asserts(const int *in)
{
    int v = in[threadIdx.x];
    assert(v < 40);
}

__global__ void parts(int *out)
{
    if (threadIdx.x < 40)
        __syncthreads();
    out[threadIdx.x] = 1;
    if (threadIdx.x >= 64)
        asm volatile("bar.sync 1, 128;");
}

__global__ void adds(int *sum, int *lock)
{
    while (atomicCAS(lock, 0, 1))
        ;
    *sum = *sum + 1;
    __threadfence();
    atomicExch(lock, 0);
}
