#include "ours.h"

static __global__ void add(int *result, int x)
{
    *result = x + 100;
}

int add_shared(int x)
{
    return value_of(add, x);
}
