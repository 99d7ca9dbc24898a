#pragma once
#include <cstdio>
#include <cuda_runtime.h>

int add_shared(int x);
int add_static(int x);
int add_object(int x);
int four_times(int x);

/* Runs a kernel that takes a pointer to the result. */
template <class Kernel, class... Values> int value_of(Kernel kernel, Values... values)
{
    int *result, value = -1;
    if (cudaMallocManaged(&result, sizeof *result))
        return -1;
    kernel<<<1, 1>>>(result, values...);
    if (cudaDeviceSynchronize() == cudaSuccess)
        value = *result;
    cudaFree(result);
    return value;
}
