// Arrays that a launch only reads, as its parameters say: one read stands for all there. Who writes them is another launch, or one that
// has the same array twice, or that comes there from another array's address.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 4096, BLOCK = 128 };

__global__ void gather(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i * 37 % N] + from[(i + BLOCK) * 5 % N];
}

__global__ void fill(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Of the array's first element, which all threads have read: thread 0 of block 0 writes it, or one of the last block.
__global__ void detour(const int *from, int *to, long apart, int writer)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *from;
    to[i] = seen;
    if (i == writer)
        to[apart] = seen + 1;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    int *a, *b;
    cudaStream_t s, t;
    cudaMalloc(&a, 2 * N * sizeof *a);
    cudaMalloc(&b, N * sizeof *b);
    cudaMemset(a, 0, 2 * N * sizeof *a);
    cudaMemset(b, 0, N * sizeof *b);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaDeviceSynchronize();
    if (!strcmp(way, "in_turn") || !strcmp(way, "beside")) {
        gather<<<N / BLOCK, BLOCK, 0, s>>>(a, b);
        fill<<<N / BLOCK, BLOCK, 0, way[0] == 'b' ? t : s>>>(a, 1);
    } else if (!strcmp(way, "before")) {
        fill<<<N / BLOCK, BLOCK, 0, t>>>(a, 1);
        gather<<<N / BLOCK, BLOCK, 0, s>>>(a, b);
    } else if (!strcmp(way, "apart") || !strcmp(way, "overlapping")) {
        gather<<<N / BLOCK, BLOCK, 0, s>>>(a, way[0] == 'a' ? a + N : a + 1);
    } else if (!strcmp(way, "first") || !strcmp(way, "last")) {
        detour<<<N / BLOCK, BLOCK, 0, s>>>(a, b, a - b, way[0] == 'f' ? 0 : N - 1);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
