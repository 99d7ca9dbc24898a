// More threads than __launch_bounds__ promises.
#include <cstdio>

__global__ void __launch_bounds__(128) k() {}

int main()
{
    k<<<1, 256>>>();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
