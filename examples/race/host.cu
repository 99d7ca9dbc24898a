// What `heddle check --leak-check full` says of the host: it reads what a kernel may still be writing, frees twice, forgets to free.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    int *shared_with_host, *leaked, *twice;
    cudaMallocManaged(&shared_with_host, 64 * sizeof(int));
    cudaMalloc(&leaked, 1 << 20);
    cudaMalloc(&twice, 256);
    fill<<<1, 64>>>(shared_with_host);
    int last = shared_with_host[63]; // no cudaDeviceSynchronize() before
    cudaDeviceSynchronize();
    std::printf("%s\n", last == 63 ? "63" : "something else than 63, this time");
    cudaFree(twice);
    cudaFree(twice);
    cudaFree(shared_with_host);
    return 0;
}
