/* What the device headers are written with. A function that is an instruction is always inlined and leaves nothing of
 * itself; one that is long (a math function) is left to the inliner. Neither is a place of its own: errors name the line
 * that calls it. Math functions are C++ of both sides: the host has those that C does not have from here. */
#ifndef HEDDLE_DEFINE_H
#define HEDDLE_DEFINE_H

#include "../host_defines.h"

#ifndef __CUDA__
#error "heddle: this header is for CUDA C++; compile the file with `heddle cc`, or name it .cu"
#endif

#define HEDDLE_INLINE static __device__ __forceinline__ __attribute__((nodebug))
#define HEDDLE_MATH   static __host__ __device__ __inline__ __attribute__((nodebug))

/* The argument of __cluster_dims__: one block is what there is without it. */
template <int x = 1, int y = 1, int z = 1> constexpr int heddle_clusters()
{
    static_assert(x * y * z == 1, "Heddle has no clusters of more than one block");
    return 0;
}

#endif
