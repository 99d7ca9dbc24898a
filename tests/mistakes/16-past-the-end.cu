// No test that the thread has an element: 4 * 32 threads for 100 elements. HEDDLE_EXACT_BOUNDS=1
#include <cstdio>

__global__ void k(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main()
{
    int *p;
    cudaMalloc(&p, 100 * sizeof(int));
    k<<<4, 32>>>(p);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
