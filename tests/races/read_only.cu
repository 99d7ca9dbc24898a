// Arrays that a launch only reads: one read stands for all there. Who writes them is another launch, or one that has the same array
// twice, or that comes there from another array's address. Launches are large enough to be looked at for where they write.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1 << 15, BLOCK = 128 };

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

// The same by an offset from memory, by a pointer that has come through another lane, and from no array at all.
__global__ void loaded(const int *from, int *to, const long *apart, int writer)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *from;
    to[i] = seen;
    if (i == writer)
        to[*apart] = seen + 1;
}

__global__ void shuffled(int *from, int *to, int writer)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *from;
    int *there = (int *)__shfl_sync(~0u, (unsigned long long)from, 0);
    (i == writer ? there : to + i)[0] = seen + 1;
}

__global__ void from_nothing(const int *from, int *to, int *nothing, unsigned index, int writer)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *from;
    to[i] = seen;
    if (i == writer)
        nothing[(unsigned long)index * 8192] = seen + 1;
}

// An index of 32 bits that wraps, and leads to the array's first element.
__global__ void wrapped(const int *from, int *to, unsigned by, int writer)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = *from;
    to[N + i] = seen;
    if (i == writer)
        to[i * by + (0u - writer * by)] = seen + 1;
}

// Threads that read and write what is theirs, or what a barrier has left to them, share nothing.
__global__ void in_place(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = p[i] + 1;
}

__global__ void stencil(int *p)
{
    int i = threadIdx.x, *own = p + blockIdx.x * blockDim.x;
    int sum = own[i] + own[(i + 1) % BLOCK] + own[(i + 7) % BLOCK];
    __syncthreads();
    own[i] = sum;
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
    } else if (!strcmp(way, "loaded")) {
        long apart = a - b, *there;
        cudaMalloc(&there, sizeof apart);
        cudaMemcpy(there, &apart, sizeof apart, cudaMemcpyHostToDevice);
        loaded<<<N / BLOCK, BLOCK, 0, s>>>(a, b, there, 0);
    } else if (!strcmp(way, "shuffled")) {
        shuffled<<<N / BLOCK, BLOCK, 0, s>>>(a, b, 0);
    } else if (!strcmp(way, "from_nothing")) {
        from_nothing<<<N / BLOCK, BLOCK, 0, s>>>(a, b, (int *)((size_t)a % 32768), (size_t)a / 32768, 0);
    } else if (!strcmp(way, "wrapped")) {
        wrapped<<<N / BLOCK, BLOCK, 0, s>>>(a, a, 0x10001, 3);
    } else if (!strcmp(way, "in_place")) {
        in_place<<<N / BLOCK, BLOCK, 0, s>>>(a);
    } else if (!strcmp(way, "stencil")) {
        stencil<<<N / BLOCK, BLOCK, 0, s>>>(a);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
