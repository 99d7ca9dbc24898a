// What the programs of the course share: CUDA's errors are checked, and a wrong result ends a program with status 1.
#ifndef COURSE_H
#define COURSE_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Every call of the CUDA runtime can fail, and says so by its result alone.
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// A launch fails in two ways: at once, if it cannot start, and later, while it runs.
#define CHECK_LAUNCH()                                                                                                 \
    do {                                                                                                               \
        CHECK(cudaGetLastError());                                                                                     \
        CHECK(cudaDeviceSynchronize());                                                                                \
    } while (0)

// What the text says has to be so.
static inline void expect(bool ok, const char *what)
{
    if (!ok) {
        printf("WRONG: %s\n", what);
        exit(1);
    }
}

// n elements that host and device both see.
template <typename T> T *managed(size_t n)
{
    T *p;
    CHECK(cudaMallocManaged(&p, n * sizeof(T)));
    for (size_t i = 0; i < n; i++)
        p[i] = T();
    return p;
}

#endif
