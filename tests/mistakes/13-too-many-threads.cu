// More than 1,024 threads in a block: the launch fails, and says so only when it is asked.
#include <cstdio>

__global__ void k() {}

int main()
{
    k<<<1, dim3(64, 64)>>>();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
