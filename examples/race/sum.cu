// A sum of 256 numbers by a block of threads, each of which adds one part to another. One line is missing.
#include <cstdio>

__global__ void sum(const int *x, int *out)
{
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (t < half)
            part[t] += part[t + half];
    if (t == 0)
        *out = part[0];
}

int main()
{
    int x[256], result, *d;
    for (int i = 0; i < 256; i++)
        x[i] = 1;
    cudaMalloc(&d, sizeof x + sizeof result);
    cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
    sum<<<1, 256>>>(d, d + 256);
    cudaMemcpy(&result, d + 256, sizeof result, cudaMemcpyDeviceToHost);
    printf("the sum is %d\n", result);
    return cudaFree(d) != cudaSuccess;
}
