// A pointer that was never allocated.
#include <cstdio>

__global__ void k(int *p) { *p = 1; }

int main()
{
    int *p = nullptr;
    k<<<1, 1>>>(p);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
