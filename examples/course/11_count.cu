// What is the value of count if 8 threads execute ++count? And atomicInc(&count, 1)?
// `heddle explain ./11_count` says of atomicInc "8.0 operations each at 1.0 addresses"; of atomicAdd, which ptxas sums up in the
// warp first, "1.0 operations each at 1.0 addresses". On the page: "Atomics: contention".
#include "course.h"

__device__ unsigned int count;

__global__ void plain()
{
    volatile unsigned int *c = &count;
    unsigned int old = *c; // ++count is a load, an addition and a store: others may come between
    __syncwarp();          // here all 8 threads have loaded before any stores, as lanes of a warp easily do
    *c = old + 1;
}

__global__ void increment()
{
    atomicInc(&count, 1); // not what it seems: the second argument is where it wraps around
}

__global__ void increment_far()
{
    atomicInc(&count, 0xffffffff);
}

__global__ void add()
{
    atomicAdd(&count, 1);
}

unsigned int run(void (*kernel)())
{
    unsigned int value = 0;
    CHECK(cudaMemcpyToSymbol(count, &value, sizeof value));
    kernel<<<1, 8>>>();
    CHECK_LAUNCH();
    CHECK(cudaMemcpyFromSymbol(&value, count, sizeof value));
    return value;
}

int main()
{
    unsigned int p = run(plain), i = run(increment), f = run(increment_far), a = run(add);
    printf("8 threads, ++count:                          %u; anything from 1 to 8 may be left\n", p);
    printf("8 threads, atomicInc(&count, 1):             %u; 0, 1, 0, 1, ...: it wraps around at 1\n", i);
    printf("8 threads, atomicInc(&count, 0xffffffff):    %u\n", f);
    printf("8 threads, atomicAdd(&count, 1):             %u\n", a);
    expect(p == 1 && i == 0 && f == 8 && a == 8, "counts");
}
