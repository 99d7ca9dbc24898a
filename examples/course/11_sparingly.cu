// How can threads of different blocks work together? By atomics on global memory. Use them sparingly: threads that meet at one
// place come one after the other. The same histogram, by one atomic for each value, and by atomics in shared memory first.
#include "course.h"

enum { BINS = 16, PER_THREAD = 32 };

__device__ unsigned long long global_atomics;

__global__ void direct(unsigned *bins)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < PER_THREAD; k++)
        atomicAdd(&bins[(i * 7 + k) % BINS], 1);
    atomicAdd(&global_atomics, PER_THREAD);
}

__global__ void by_block(unsigned *bins)
{
    __shared__ unsigned own[BINS];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < BINS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned k = 0; k < PER_THREAD; k++)
        atomicAdd(&own[(i * 7 + k) % BINS], 1);
    __syncthreads();
    if (threadIdx.x < BINS) {
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
        atomicAdd(&global_atomics, 1);
    }
}

static unsigned long long measure(void (*kernel)(unsigned *), unsigned *bins, float *milliseconds)
{
    unsigned long long n = 0;
    cudaEvent_t start, stop;
    CUDA(cudaMemcpyToSymbol(global_atomics, &n, sizeof n));
    CUDA(cudaMemset(bins, 0, BINS * sizeof *bins));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaEventRecord(start));
    kernel<<<64, 256>>>(bins);
    CUDA(cudaEventRecord(stop));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(milliseconds, start, stop));
    CUDA(cudaMemcpyFromSymbol(&n, global_atomics, sizeof n));
    return n;
}

int main()
{
    unsigned *a = managed<unsigned>(BINS), *b = managed<unsigned>(BINS);
    float slow, fast;
    measure(direct, a, &slow); // once to warm up
    const unsigned long long many = measure(direct, a, &slow), few = measure(by_block, b, &fast);
    bool same = true;
    for (int i = 0; i < BINS; i++)
        same = same && a[i] == b[i];
    printf("atomics on global memory: %llu, or %llu by way of shared memory; the same bins: %s\n", many, few, same ? "yes" : "NO");
    fprintf(stderr, "times: %.3f ms, %.3f ms\n", slow, fast);
}
