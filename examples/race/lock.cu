// Two blocks count under a lock whose operations order nothing. Most runs print 2; the memory model also allows 1.
#include <cstdio>

__global__ void count(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *counter += 1;
    atomicExch(lock, 0);
}

int main()
{
    int *data, counted;
    cudaMalloc(&data, 2 * sizeof *data);
    cudaMemset(data, 0, 2 * sizeof *data);
    count<<<2, 1>>>(data, data + 1);
    cudaMemcpy(&counted, data + 1, sizeof counted, cudaMemcpyDeviceToHost);
    printf("%d\n", counted);
    return cudaGetLastError() != cudaSuccess;
}
