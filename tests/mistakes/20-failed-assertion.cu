// An assertion of device code that does not hold.
#include <cassert>
#include <cstdio>

__global__ void k(int n) { assert(threadIdx.x < n); }

int main()
{
    k<<<1, 8>>>(6);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
