// Any atomic operation can be made of compare and swap.
// Question: the value of *address after atomicAdd returns is not necessarily old + val. Why? Others may have added since.
// Nothing is lost all the same: the old values of all threads are different, and the sum is right.
#include "course.h"

__device__ int add(int *address, int val)
{
    int old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, assumed + val);
    } while (assumed != old);
    return old;
}

__global__ void example(int *returned, int *left)
{
    int *addr = left + 3;
    *addr = 1;
    returned[0] = atomicCAS(addr, 1, 2), left[0] = *addr;
    returned[1] = atomicCAS(addr, 1, 3), left[1] = *addr;
    returned[2] = atomicCAS(addr, 2, 3), left[2] = *addr;
}

__global__ void many(int *sum, int *old, int *overtaken)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = add(sum, 3);
    if (*(volatile int *)sum != old[i] + 3)
        atomicAdd(overtaken, 1);
}

int main()
{
    const int n = 8 * 64;
    int *v = managed<int>(8), *sum = managed<int>(2), *old = managed<int>(n);
    example<<<1, 1>>>(v, v + 3);
    many<<<8, 64>>>(sum, old, sum + 1);
    CUDA(cudaDeviceSynchronize());
    printf("atomicCAS(1,2), (1,3), (2,3) return %d %d %d and leave %d %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5]);
    bool seen[n] = {}, distinct = true;
    for (int i = 0; i < n; i++) {
        distinct = distinct && old[i] % 3 == 0 && old[i] / 3 < n && !seen[old[i] / 3];
        if (distinct)
            seen[old[i] / 3] = true;
    }
    printf("%d sums by compare and swap: %d, all old values different: %s\n", n, *sum, distinct ? "yes" : "NO");
    printf("some threads found another value than old + 3: %s\n", sum[1] > 0 ? "yes" : "no");
}
