#include "ours.h"

static __global__ void add(int *result, int x)
{
    *result = x + 300;
}

int add_object(int x)
{
    return value_of(add, x);
}
