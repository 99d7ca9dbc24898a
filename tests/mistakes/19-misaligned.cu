// A vector read from an address that is not a multiple of its size.
#include <cstdio>

__global__ void k(float *x) { *(float4 *)x = *(float4 *)(x + 1); }

int main()
{
    float *x;
    cudaMalloc(&x, 64);
    k<<<1, 1>>>(x);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
