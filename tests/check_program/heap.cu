// Kernels that leave blocks on their heap, before a reset, before another, and at the end.
#include <cstdio>
#include <cstdlib>

__device__ char *last;

__global__ void leave()
{
    last = (char *)malloc(40);
    char *freed = (char *)malloc(24);
    free(freed);
}

int main()
{
    for (int i = 0; i < 3; i++) {
        if (i)
            cudaDeviceReset();
        leave<<<1, 1>>>();
        cudaDeviceSynchronize();
    }
    printf("%d\n", cudaGetLastError());
}
