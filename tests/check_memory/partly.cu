/* partly: of each page of a buffer half is written; then some of the rest is read. */
#include <cstdio>
#include <cuda_runtime.h>

enum { N = 1 << 20, PAGE = 1024 };

__global__ void writes(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % PAGE < PAGE / 2)
        p[i] = i;
}

__global__ void reads(const int *p, int at, int *to)
{
    *to = p[at]; // @reads
}

int main()
{
    int *p, *to, first, last;
    cudaMalloc(&p, N * sizeof(int));
    cudaMalloc(&to, 2 * sizeof(int));
    writes<<<N / 256, 256>>>(p);
    reads<<<1, 1>>>(p, PAGE - 1, to);
    reads<<<1, 1>>>(p, N - 1, to + 1);
    cudaMemcpy(&first, to, sizeof first, cudaMemcpyDeviceToHost);
    cudaMemcpy(&last, to + 1, sizeof last, cudaMemcpyDeviceToHost);
    return 0;
}
