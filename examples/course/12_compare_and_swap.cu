// How do you implement atomicAdd without a lock, given atomicCAS? And why may the value after atomicAdd differ from old + val?
// `heddle explain ./12_compare_and_swap` says that one lane wins in each turn of a warp: "16.5 operations each at 1.0 addresses",
// and "96.9% of branches diverge". On the page: "Atomics: contention", "Divergence".
#include "course.h"

__device__ int add_by_cas(int *address, int val)
{
    int old = *(volatile int *)address, assumed;
    do {
        assumed = old; // what we think is there
        old = atomicCAS(address, assumed, assumed + val);
    } while (assumed != old); // somebody was faster: try again with what is there now
    return old;
}

__global__ void count(int *sum, int *returned)
{
    returned[threadIdx.x] = add_by_cas(sum, 1);
}

// The slides' example: which values are returned, which are left?
__global__ void slides(int *addr, int *result)
{
    *addr = 1;
    result[0] = atomicCAS(addr, 1, 2);
    result[1] = *(volatile int *)addr;
    result[2] = atomicCAS(addr, 1, 3);
    result[3] = *(volatile int *)addr;
    result[4] = atomicCAS(addr, 2, 3);
    result[5] = *(volatile int *)addr;
}

__global__ void look_again(int *sum, int *surprised)
{
    int old = atomicAdd(sum, 1);
    __syncwarp(); // meanwhile the other lanes have added, too
    if (*(volatile int *)sum != old + 1)
        atomicAdd(surprised, 1);
}

int main()
{
    int *sum = managed<int>(1), *returned = managed<int>(64), *result = managed<int>(6), *surprised = managed<int>(1);
    count<<<1, 64>>>(sum, returned);
    CHECK_LAUNCH();
    long long seen = 0;
    for (int i = 0; i < 64; i++)
        seen |= 1ll << returned[i];
    printf("64 threads have added 1 by atomicCAS: %d; each has got another value: %s\n", *sum, seen == -1 ? "yes" : "no");
    expect(*sum == 64 && seen == -1, "add by cas");
    slides<<<1, 1>>>(sum, result);
    CHECK_LAUNCH();
    printf("*addr = 1; atomicCAS(addr, 1, 2) returns %d and leaves %d\n", result[0], result[1]);
    printf("           atomicCAS(addr, 1, 3) returns %d and leaves %d\n", result[2], result[3]);
    printf("           atomicCAS(addr, 2, 3) returns %d and leaves %d\n", result[4], result[5]);
    expect(result[0] == 1 && result[2] == 2 && result[4] == 2 && result[5] == 3, "cas");
    *sum = 0;
    look_again<<<1, 32>>>(sum, surprised);
    CHECK_LAUNCH();
    printf("32 threads look again behind atomicAdd: for %d of them the value is no longer old + 1\n", *surprised);
    expect(*surprised == 31, "only the last one finds what it has left");
}
