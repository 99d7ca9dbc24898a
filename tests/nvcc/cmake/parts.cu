#include "ours.h"

extern __device__ int doublings;
__device__ int twice(int x);

__global__ void kernel(int *result, int x)
{
    *result = twice(twice(x)) * 10 + doublings;
}

int main()
{
    int value = value_of(kernel, 5);
    printf("%d\n", value);
    return value != 202;
}
