// A kernel that reads what nobody has written, and then never ends unless it is told to; another one of its context faults.
// Usage: fault illegal|trap|assert|none
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void beats(int *unwritten, volatile unsigned long long *beat, volatile int *stop)
{
    int seen = *unwritten;
    while (!*stop)
        *beat = *beat + 1 + (seen == 1);
}

__global__ void computes(unsigned *sum)
{
    unsigned x = threadIdx.x;
    for (unsigned long long i = 0; i < 1ull << 60; i++)
        x = x * 1664525 + 1013904223 + *(volatile unsigned *)sum;
    *sum = x;
}

__global__ void faults(int *p, int how)
{
    if (how == 1)
        asm volatile("trap;");
    assert(how != 2);
    *p = 1;
}

int main(int argc, char **argv)
{
    const char *ways[] = {"illegal", "trap", "assert", "none"};
    int how = 0, *unwritten;
    while (strcmp(argv[1], ways[how]))
        how++;
    volatile unsigned long long *beat;
    volatile int *stop;
    unsigned *sum;
    cudaStream_t streams[3];
    cudaMalloc(&unwritten, sizeof *unwritten);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    cudaHostAlloc((void **)&beat, sizeof *beat, cudaHostAllocMapped);
    cudaHostAlloc((void **)&stop, sizeof *stop, cudaHostAllocMapped);
    *beat = *stop = 0;
    for (auto &s : streams)
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    beats<<<1, 1, 0, streams[0]>>>(unwritten, beat, stop);
    if (how < 2)
        computes<<<4, 64, 0, streams[2]>>>(sum);
    while (*beat < 10)
        ;
    if (how < 3)
        faults<<<1, 1, 0, streams[1]>>>((int *)8, how);
    if (how == 2) {
        cudaStreamSynchronize(streams[1]);
        for (auto before = *beat; *beat < before + 10;)
            ;
    }
    *stop = how >= 2;
    for (auto s : streams)
        printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(s)));
}
