/* Two kernels; the second one fails where it is told to. */
#include <cstdio>
#include <cstdlib>

__global__ void fill(int *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        at[i] = 3 * i;
}

__global__ void check(const int *at, int wrong)
{
    if (at[threadIdx.x] == wrong)
        *(volatile int *)0 = 1;
    printf("%d", at[threadIdx.x]);
}

int main(int argc, char **argv)
{
    int *at;
    cudaMallocManaged(&at, 64 * sizeof *at);
    fill<<<2, 32>>>(at, 64);
    for (int i = 0; i < 3; i++)
        check<<<1, 4>>>(at, argc > 1 ? atoi(argv[1]) : -1);
    cudaError_t error = cudaDeviceSynchronize();
    printf("\nlast %d, %s\n", at[63], cudaGetErrorName(error));
    return error ? 3 : 0;
}
