#include "ours.h"
#include <cstdio>

__global__ void scale(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = scaled(i);
}

int main()
{
    const int n = 1000;
    float *values;
    cudaMallocManaged(&values, n * sizeof *values);
    scale<<<4, 256>>>(values, n);
    cudaError_t error = cudaDeviceSynchronize();
    bool right = !error && is_right(values, n);
    puts(right ? "PASSED" : cudaGetErrorString(error));
    return !right;
}
