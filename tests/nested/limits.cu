// What kernels read of the limits that the host sets, and cooperative launches of kernels that call the device runtime.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void look(size_t *v)
{
    for (int i = 0; i < 3; i++)
        v[i] = cudaDeviceGetLimit(&v[i], (cudaLimit)i) ? 1 : v[i];
    cudaDeviceGetLimit(&v[3], cudaLimitMaxL2FetchGranularity);
}
__global__ void child() {}
__global__ void launches(int *p) { if (p) child<<<1, 1>>>(); }
__global__ void asks(int *p) { if (p) *p = cudaGetLastError(); }
__global__ void neither(int *p) { if (p) *p = 1; }
int main()
{
    size_t *v, h[4];
    int *none = nullptr;
    void *args[] = {&none};
    cudaMalloc(&v, sizeof h);
    const size_t stacks[] = {0, 512, 5000, 70000};
    for (size_t s : stacks) {
        if (s)
            cudaDeviceSetLimit(cudaLimitStackSize, s), cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20), cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32);
        look<<<1, 1>>>(v);
        cudaMemcpy(h, v, sizeof h, cudaMemcpyDeviceToHost);
        printf("%zu %zu %zu %zu\n", h[0], h[1], h[2], h[3]);
    }
    for (auto f : {(void *)launches, (void *)asks, (void *)neither})
        printf("%d ", cudaLaunchCooperativeKernel(f, dim3(1), dim3(1), args, 0, 0));
    puts("");
}
