// Can __syncthreads() hang? Yes, if not all threads of the block reach the same barrier. Threads that have ended do not count.
//
//     if (someFunc()) { __syncthreads(); }                             // some threads wait for others that never come
//     if (someFunc()) { __syncthreads(); } else { __syncthreads(); }   // undefined in CUDA C++
//
// With the argument `--hang`, half of a block waits for the other half, which waits at another barrier. A GPU waits for ever;
// `heddle run ./06_can_syncthreads_hang --hang` says who waits where. `heddle explain ./06_can_syncthreads_hang` says "50.0% of
// branches diverge": threads 40 to 63 leave early. On the page: "Divergence".
#include "course.h"
#include <cstring>

__global__ void some_end_early(int *sum)
{
    __shared__ int part;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    if (threadIdx.x >= 40) // these have ended when the others come to the next barrier
        return;
    atomicAdd(&part, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *sum = part;
}

__global__ void hang()
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        asm volatile("bar.sync 1;"); // not the barrier that the others wait at
}

int main(int argc, char **argv)
{
    int *sum = managed<int>(1);
    some_end_early<<<1, 64>>>(sum);
    CHECK_LAUNCH();
    printf("40 of 64 threads have met at a barrier; the other 24 had ended: %d\n", *sum);
    expect(*sum == 40, "threads that have ended do not count");
    if (argc > 1 && strcmp(argv[1], "--hang") == 0) {
        hang<<<1, 64>>>();
        printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    }
}
