#include "ours.h"

__device__ double scaled(double x, double by);

static __global__ void scale(int *result, double x, double by)
{
    *result = (int)scaled(x, by);
}

int NAME(int x)
{
    return value_of(scale, (double)x, 2.0);
}
