// A device's memory, or managed or pinned memory, that another device writes, by a kernel, a copy or a fill, or half of it ("half"), and reads.
#include <cstring>
#include <cuda_runtime.h>

__global__ void fill(int *p, int n)
{
    int i = threadIdx.x;
    if (i < n)
        p[i] = i;
}

__global__ void read(const int *p, int *sum)
{
    sum[threadIdx.x] = p[threadIdx.x];
}

int main(int argc, char **argv)
{
    int *far, *near, *out, n = argc > 2 ? 128 : 256;
    cudaSetDevice(1);
    if (!strcmp(argv[1], "managed"))
        cudaMallocManaged(&far, 1024);
    else if (!strcmp(argv[1], "pinned"))
        cudaMallocHost(&far, 1024);
    else
        cudaMalloc(&far, 1024);
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaMalloc(&near, 1024);
    cudaMalloc(&out, 1024);
    fill<<<1, 256>>>(near, n);
    if (!strcmp(argv[1], "kernel") || !strcmp(argv[1], "managed") || !strcmp(argv[1], "pinned"))
        fill<<<1, 256>>>(far, n);
    if (!strcmp(argv[1], "peer"))
        cudaMemcpyPeer(far, 1, near, 0, 1024);
    if (!strcmp(argv[1], "async"))
        cudaMemcpyPeerAsync(far, 1, near, 0, 1024, 0);
    if (!strcmp(argv[1], "copy"))
        cudaMemcpy(far, near, 1024, cudaMemcpyDefault);
    if (!strcmp(argv[1], "set"))
        cudaMemset(far, 0, 4 * n);
    cudaDeviceSynchronize();
    read<<<1, 256>>>(far, out);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    read<<<1, 256>>>(far, out);
    return cudaDeviceSynchronize();
}
