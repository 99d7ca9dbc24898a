/* What the device headers are written with. A function that is an instruction is always inlined and
 * leaves nothing of itself; one that is long (a math function) is left to the inliner. Neither is a
 * place of its own: errors name the line that calls it. Math functions are C++ of both sides: the
 * host has those that C does not have from here. */
#ifndef HEDDLE_DEFINE_H
#define HEDDLE_DEFINE_H

#include "../host_defines.h"

#ifndef __CUDA__
#error "heddle: this header is for CUDA C++; compile the file with `heddle cc`, or name it .cu"
#endif

#define HEDDLE_INLINE static __device__ __forceinline__ __attribute__((nodebug))
#define HEDDLE_MATH   static __host__ __device__ __inline__ __attribute__((nodebug))

/* The arguments of __cluster_dims__. In PTX it marks files with kernels that have clusters:
 * src/cc/clusters.c. */
template <int x = 1, int y = 1, int z = 1>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ __attribute__((used))
#endif
constexpr int
heddle_clusters(int i)
{
    static_assert(x > 0 && y > 0 && z > 0, "a cluster has at least one block in each direction");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static_assert(x * y * z == 1, "clusters of more than one block need -arch=sm_90 or a later one");
#endif
    return i == 0 ? x : i == 1 ? y : z;
}

#endif
