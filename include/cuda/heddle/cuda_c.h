/* What every CUDA C++ file starts with, as nvcc includes cuda_runtime.h: `heddle cc` puts this in
 * front. The order matters: device declarations stand before <cmath>, so that its functions are not
 * taken for device functions, too.
 *
 * The names of C's math functions, their overloads and those in std:: come from clang's own CUDA
 * headers; they rest on the interface of libdevice (__nv_sinf ...), which math_*.h implement.
 * Headers of the C++ library that clang takes otherwise than nvcc are in std/.
 */
#ifndef HEDDLE_CUDA_C_H
#define HEDDLE_CUDA_C_H

#define __CUDACC__           1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDA_DOUBLE_MATH_FUNCTIONS

#include <__clang_cuda_math_forward_declares.h>

#include "../vector_types.h"

#include <__clang_cuda_builtin_vars.h>

#include "casts.h"
#include "atomic_functions.h"
#include "clusters.h"
#include "dpx.h"
#include "integers.h"
#include "memory.h"
#include "nv_atomic.h"
#include "simd.h"
#include "sync.h"
#include "warp.h"

#include "math_float.h"

/* Clang's own wrapper has it always, and libcu++ takes it for the compiler's version. */
#undef CUDA_VERSION
#define CUDA_VERSION 13000
/* libcu++ lets atomics on automatic variables go unseen, because of faults of nvcc's that clang has
 * not. */
#define _LIBCUDACXX_FORCE_PTX_AUTOMATIC_STORAGE_PATH 1
/* nvcc's own, of its --extended-lambda: what such a lambda returns is not known on the other side.
 * clang's lambdas are alike on both. */
#define __nv_is_extended_device_lambda_closure_type(...)               false
#define __nv_is_extended_host_device_lambda_closure_type(...)          false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
/* C++26's, which clang 19 has as an extension, and gets wrong in what CCCL 2.8 makes of it: it is
 * to see a compiler without. */
#undef __cpp_pack_indexing
/* CCCL tells compilers apart by __NVCC__, which `heddle cc` has in nvcc's place, and is to see
 * clang. */
#if defined(__NVCC__) && __has_include(<cuda/std/__cccl/compiler.h>)
#pragma push_macro("__NVCC__")
#undef __NVCC__
#include <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__NVCC__")
#endif
#include <climits>

/* No special functions of C++17 for files that do not include <cmath> themselves (std/cmath): they
 * take a seventh of the time that an empty file takes. What libstdc++ includes for them comes
 * nevertheless. */
#pragma push_macro("_GLIBCXX_USE_STD_SPEC_FUNCS")
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif
#include <limits>
#include <type_traits>
#include <cmath>
#include <cstdlib>

#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#include "math_more.h"
#include "order.h"

#include <math.h> /* isnan and its kind without std:: on the host, too */
#pragma pop_macro("_GLIBCXX_USE_STD_SPEC_FUNCS")
#include <new>
#include <string.h> /* these two without being asked for, as nvcc has them */
#include <time.h>

/* clang's threadIdx and its like become a uint3 or a dim3 by these, which it declares. */
#define HEDDLE_BUILTIN_VARIABLE(name)                                                                                  \
    __device__ inline __cuda_builtin_##name##_t::operator dim3() const                                                 \
    {                                                                                                                  \
        return dim3(x, y, z);                                                                                          \
    }                                                                                                                  \
    __device__ inline __cuda_builtin_##name##_t::operator uint3() const                                                \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }
HEDDLE_BUILTIN_VARIABLE(threadIdx)
HEDDLE_BUILTIN_VARIABLE(blockIdx)
HEDDLE_BUILTIN_VARIABLE(blockDim)
HEDDLE_BUILTIN_VARIABLE(gridDim)
#undef HEDDLE_BUILTIN_VARIABLE

#endif
