// Review of the thread hierarchy: block and grid position make an index; it reads, computes, writes. Data-parallel.
#include "course.h"

__device__ float func(float x) { return x * x; }

__global__ void map(const float *input, float *output, int n)
{
    const int threadID = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadID < n) { // the last block is not full
        const float x = input[threadID];
        const float y = func(x);
        output[threadID] = y;
    }
}

int main()
{
    const int n = 1000, threads = 256;
    float *input = managed<float>(n), *output = managed<float>(n);
    for (int i = 0; i < n; i++)
        input[i] = i;
    map<<<(n + threads - 1) / threads, threads>>>(input, output, n);
    CUDA(cudaDeviceSynchronize());
    printf("%d elements in %d blocks of %d threads: output[999] = %.0f\n", n, (n + threads - 1) / threads, threads, output[999]);
}
