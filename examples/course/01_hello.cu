// Many threads run one function: the kernel. Each knows which thread of which block it is.
#include "course.h"

__global__ void hello(int *greetings)
{
    // printf of a kernel is shown when the host waits for it; the order of threads is nobody's promise
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
