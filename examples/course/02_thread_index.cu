// Which element is mine? A thread computes its index from its place in the block and the block's place in the grid.
// `heddle explain ./02_thread_index` says "31.6 of 32 lanes active": the last block has threads with nothing to do. On the page:
// "Divergence".
#include "course.h"

__device__ float func(float x)
{
    return x * x + 1;
}

__global__ void map(const float *input, float *output, int n)
{
    int threadID = blockIdx.x * blockDim.x + threadIdx.x; // grid and block position: an index of the whole grid
    if (threadID >= n)                                    // the last block may be larger than what is left
        return;
    float x = input[threadID];
    float y = func(x); // the same function for every datum: data parallel
    output[threadID] = y;
}

int main()
{
    const int n = 1000, threads = 256, blocks = (n + threads - 1) / threads;
    float *input, *output, host[n];
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    // memory of the device, and copies: the host's pointers mean nothing to a classic device
    CHECK(cudaMalloc(&input, sizeof host));
    CHECK(cudaMalloc(&output, sizeof host));
    CHECK(cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice));
    map<<<blocks, threads>>>(input, output, n);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d blocks of %d threads for %d elements: %d threads have nothing to do\n", blocks, threads, n,
           blocks * threads - n);
    printf("func(0) = %g, func(3) = %g, func(999) = %g\n", host[0], host[3], host[999]);
    expect(host[999] == 999.0f * 999.0f + 1, "element 999");
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
}
