// 64 KB of dynamic shared memory: more than 48 KB has to be asked for by cudaFuncSetAttribute.
#include <cstdio>

__global__ void k() {}

int main()
{
    k<<<1, 32, 64 * 1024>>>();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
