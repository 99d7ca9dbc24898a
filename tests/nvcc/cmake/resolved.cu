#include "ours.h"

__device__ int twice(int x);

static __global__ void kernel(int *result, int x)
{
    *result = twice(twice(x));
}

int four_times(int x)
{
    return value_of(kernel, x);
}
