// What is count when 8 threads execute ++count? Anything from 1 to 8: each reads, adds and writes, and others come between.
// With atomicAdd it is 8. With atomicInc(&count, 1), as on the slide, it is 0: the second operand is where the counter wraps.
#include "course.h"

__device__ unsigned count;

__global__ void plain() { ++count; }
__global__ void add() { atomicAdd(&count, 1); }
__global__ void inc_to_1() { atomicInc(&count, 1); }
__global__ void inc() { atomicInc(&count, 0xffffffff); }

static unsigned after(void (*kernel)(), int blocks, int threads)
{
    unsigned v = 0;
    CUDA(cudaMemcpyToSymbol(count, &v, sizeof v));
    kernel<<<blocks, threads>>>();
    CUDA(cudaMemcpyFromSymbol(&v, count, sizeof v));
    return v;
}

int main()
{
    printf("++count by 8 lanes of one warp: %u (all read before any writes)\n", after(plain, 1, 8));
    const unsigned blocks = after(plain, 8, 1);
    printf("++count by 8 blocks: %s\n", blocks >= 1 && blocks <= 8 ? "from 1 to 8" : "WRONG");
    printf("atomicAdd(&count, 1): %u\n", after(add, 1, 8));
    printf("atomicInc(&count, 1): %u\n", after(inc_to_1, 1, 8));
    printf("atomicInc(&count, 0xffffffff): %u\n", after(inc, 1, 8));
}
