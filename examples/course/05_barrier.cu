// __syncthreads(): a thread waits until all threads of its block are there. Mds[i] = Md[j] by one thread, used by another.
// `heddle explain ./05_barrier`: the page's "Warps" shows eight warps that wait for memory, then for each other at the barrier;
// its summary says "1.0 wavefronts each (1.0 without bank conflicts)", although the tile is read backwards.
#include "course.h"

const int THREADS = 256;

__global__ void reverse(const int *in, int *out)
{
    __shared__ int tile[THREADS];
    int i = threadIdx.x, base = blockIdx.x * THREADS;
    tile[i] = in[base + i];
    __syncthreads(); // without it, the element that is read below may not be there yet
    out[base + i] = tile[THREADS - 1 - i];
}

int main()
{
    const int blocks = 4, n = blocks * THREADS;
    int *in = managed<int>(n), *out = managed<int>(n);
    for (int i = 0; i < n; i++)
        in[i] = i;
    reverse<<<blocks, THREADS>>>(in, out);
    CHECK_LAUNCH();
    for (int i = 0; i < n; i++)
        expect(out[i] == in[i / THREADS * THREADS + THREADS - 1 - i % THREADS], "each block is reversed");
    printf("%d blocks of %d threads have each reversed their part\n", blocks, THREADS);
    printf("Why similar execution time among threads? All wait for the slowest.\n");
    printf("Why only within a block? Blocks may run one after the other: the first could wait for one that has not begun.\n");
}
