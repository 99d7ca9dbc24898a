// A kernel runs once for each thread of a grid. Blocks come in any order; the printed lines may, too.
#include "course.h"

__global__ void hello() { printf("hello from thread %d of block %d\n", threadIdx.x, blockIdx.x); }

int main()
{
    hello<<<2, 3>>>(); // 2 blocks of 3 threads
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
}
