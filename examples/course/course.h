/* What the programs of the course share: checking CUDA's answers, and saying what a step teaches. */
#ifndef COURSE_H
#define COURSE_H

#include <cstdio>
#include <cstdlib>

/* Stops with CUDA's own words where a call fails. */
#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Memory that host and device share, zeroed. */
template <class T> T *managed(size_t n)
{
    T *p;
    CUDA(cudaMallocManaged(&p, n * sizeof(T)));
    CUDA(cudaMemset(p, 0, n * sizeof(T)));
    CUDA(cudaDeviceSynchronize());
    return p;
}

#endif
