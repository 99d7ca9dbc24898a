// A block is cut into warps of 32 threads, which the processor switches between.
// Questions of the slides, computed: 3 blocks of 256 threads are how many warps? 1,024 threads are how many? 32 threads on 8
// scalar processors: 4 cycles for an instruction. A kernel with 1 global read (200 cycles) and 4 multiply-adds that do not depend
// on it: how many warps hide the latency? 4 instructions of 4 cycles are 16 cycles for each warp: 200 / 16, rounded up.
// Question: what happens if the branches of a warp diverge? Both sides are run, one after the other, with the others' lanes off.
#include "course.h"

__global__ void count_warps(int *warps)
{
    if (threadIdx.x % warpSize == 0)
        atomicAdd(warps, 1);
}

__global__ void sides(unsigned *masks)
{
    if (threadIdx.x % 2)
        masks[threadIdx.x] = __activemask();
    else
        masks[threadIdx.x] = __activemask();
}

int main()
{
    int *warps = managed<int>(2);
    unsigned *masks = managed<unsigned>(32);
    count_warps<<<3, 256>>>(&warps[0]);
    count_warps<<<1, 1024>>>(&warps[1]);
    sides<<<1, 32>>>(masks);
    CUDA(cudaDeviceSynchronize());
    printf("3 blocks of 256 threads: %d warps; 1,024 threads: %d warps\n", warps[0], warps[1]);
    const int latency = 200, instructions = 4, cycles = 32 / 8;
    printf("32 threads on 8 processors: %d cycles; %d / (%d * %d) = %d warps hide the latency\n", cycles, latency, instructions, cycles,
           (latency + instructions * cycles - 1) / (instructions * cycles));
    printf("the odd side of a branch runs with lanes %08x, the even with %08x\n", masks[1], masks[0]);
}
