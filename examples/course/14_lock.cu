// A lock by atomicCAS and atomicExch. Threads of one warp may contend for it: since Volta each makes progress independently,
// so the owner can release the lock while its neighbours spin. On earlier GPUs, this would hang.
// `heddle explain ./14_lock` says what spinning costs: "change the same address, one after the other". On the page: "Atomics:
// contention", and in "Source" how often the waiting lines are executed.
#include "course.h"

struct Lock {
    int taken;
    __device__ void take()
    {
        while (atomicCAS(&taken, 0, 1) != 0) {
        }
        __threadfence(); // what the last holder has written is seen
    }
    __device__ void give()
    {
        __threadfence(); // what we have written is seen before the lock is free
        atomicExch(&taken, 0);
    }
};

__global__ void guarded(Lock *lock, int *account)
{
    lock->take();
    int old = *(volatile int *)account; // only one thread at a time is here
    *(volatile int *)account = old + 1;
    lock->give();
}

int main()
{
    Lock *lock = managed<Lock>(1);
    int *account = managed<int>(1);
    guarded<<<4, 64>>>(lock, account);
    CHECK_LAUNCH();
    printf("256 threads, one lock: %d\n", *account);
    expect(*account == 256, "nothing is lost");
}
