// __host__ __device__ functions are compiled twice; __CUDA_ARCH__ tells which time it is.
// Question: why no recursion, no static variables and no malloc in device functions? On devices of 2008 there was no stack and
// no heap: all was inlined. Since compute capability 2.0 there are both, and this program uses all three.
#include "course.h"

__host__ __device__ int arch()
{
#if !defined(__CUDA_ARCH__)
    return 0;
#else
    return __CUDA_ARCH__;
#endif
}

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ int next_ticket()
{
    static int tickets; // one for all threads
    return atomicAdd(&tickets, 1);
}

__global__ void today(int *out)
{
    int *heap = (int *)malloc(sizeof(int));
    *heap = factorial(5 + threadIdx.x / 8);
    atomicAdd(&out[0], *heap);
    free(heap);
    atomicMax(&out[1], next_ticket());
    out[2] = arch();
}

int main()
{
    int *out = managed<int>(3);
    today<<<1, 8>>>(out);
    CUDA(cudaDeviceSynchronize());
    printf("host code sees __CUDA_ARCH__ %s, device code %s\n", arch() ? "defined" : "undefined", out[2] ? "defined" : "undefined");
    printf("8 threads: recursion gives 8 * 5! = %d, the last ticket of a static variable is %d, malloc worked\n", out[0], out[1]);
}
