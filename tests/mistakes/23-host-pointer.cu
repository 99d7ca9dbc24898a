// An array of the host's, given to a kernel: only a GPU with pageable memory access reads it.
#include <cstdio>

__global__ void k(int *p) { p[threadIdx.x] *= 2; }

int main()
{
    int a[32] = {1, 2, 3};
    k<<<1, 32>>>(a);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
