// What is a kernel? One function that many threads run. Each thread knows its own number and that of its block.
// `heddle explain ./01_hello` says "a block of 4 threads leaves 28 lanes of its last warp with nothing to do"; on the page: "What
// to change".
#include "course.h"

__global__ void hello(int *greetings)
{
    // what a kernel prints appears when the host waits for it; threads run in no particular order
    if (threadIdx.x == 0 && blockIdx.x == 0)
        printf("hello from thread %d of block %d\n", threadIdx.x, blockIdx.x);
    atomicAdd(greetings, 1);
}

int main()
{
    int *greetings = managed<int>(1);
    hello<<<2, 4>>>(greetings); // 2 blocks of 4 threads
    CHECK_LAUNCH();             // a launch returns at once: the host has to wait
    printf("%d threads have greeted\n", *greetings);
    expect(*greetings == 8, "2 blocks of 4 threads are 8 threads");
}
