/* How host and device code is marked (CUDA Programming Guide, "C++ language extensions"). Empty
 * outside of CUDA C++. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDARTAPI
#define CUDART_CB
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)

#ifdef __clang__
/* Errors and debuggers are at the line that calls it. */
#define HEDDLE_NODEBUG __attribute__((nodebug))
#else
#define HEDDLE_NODEBUG
#endif
/* Small functions of our headers. */
#define HEDDLE_HD __host__ __device__ __forceinline__ HEDDLE_NODEBUG

#ifdef __CUDA__ /* clang compiles CUDA */
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
/* The host's variable is the device's, too: the section tells them from other __device__ variables
 * (managed.h). */
#define __managed__ __attribute__((device, section("heddle_managed")))
#define __grid_constant__
#define __noinline__           __attribute__((noinline))
#define __forceinline__        __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)       /* Heddle's registers have no limit */
#define __cluster_dims__(...)                                                                                          \
    __attribute__((annotate("heddle_clusters", heddle_clusters<__VA_ARGS__>(0), heddle_clusters<__VA_ARGS__>(1),       \
                            heddle_clusters<__VA_ARGS__>(2))))
#define __no_return__ __attribute__((noreturn))
#define __device_builtin__
#define __cudart_builtin__
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif

#endif
