// A dynamic shared array, and no third launch argument that says how large it is.
#include <cstdio>

__global__ void k(int *out)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = *out;
    *out = tile[0];
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    k<<<1, 32>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
