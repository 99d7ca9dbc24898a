// Lanes of one warp at two barriers, which wait for each other.
#include <cstdio>

__global__ void k(int *out)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncwarp();
    *out = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    k<<<1, 32>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
