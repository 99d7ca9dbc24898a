#include "ours.h"

static __global__ void add(int *result, int x)
{
    *result = x + 200;
}

int add_static(int x)
{
    return value_of(add, x);
}
