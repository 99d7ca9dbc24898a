// __syncthreads(): no thread of the block goes on until all have come.
// Question: why only within a block, and why should execution times be similar? Blocks must be able to run in any order, even
// one after the other, so that a program fits every device; and all wait for the slowest thread.
// Question: can __syncthreads() hang? Yes, where some threads of the block never reach it while they live: a barrier in one branch
// waits for threads that wait elsewhere. (Those that have ended are not waited for.) A device may hang for ever; `heddle run`
// says which lanes wait where. The program shows the right way: the condition inside, the barrier outside.
#include "course.h"

__global__ void neighbours(const int *Md, int *sums)
{
    extern __shared__ int Mds[];
    const int i = threadIdx.x, n = blockDim.x;
    Mds[i] = Md[i];
    __syncthreads(); // without it, Mds[i + 1] may not be there yet
    sums[i] = Mds[i] + Mds[(i + 1) % n];
}

__global__ void reverse_in_half(int *v)
{
    __shared__ int s[64];
    const bool mine = threadIdx.x < 32; // someFunc()
    if (mine)
        s[threadIdx.x] = v[threadIdx.x];
    __syncthreads(); // outside of the branch: all threads come
    if (mine)
        v[threadIdx.x] = s[31 - threadIdx.x];
}

int main()
{
    const int n = 64;
    int *Md = managed<int>(n), *sums = managed<int>(n);
    for (int i = 0; i < n; i++)
        Md[i] = i;
    neighbours<<<1, n, n * sizeof(int)>>>(Md, sums);
    CUDA(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < n; i++)
        right = right && sums[i] == i + (i + 1) % n;
    reverse_in_half<<<1, n>>>(Md);
    CUDA(cudaDeviceSynchronize());
    printf("sums of neighbours are %s; the reversed half begins with %d %d\n", right ? "right" : "WRONG", Md[0], Md[1]);
}
