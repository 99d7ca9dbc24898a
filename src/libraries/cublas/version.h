/* The versions that cuBLAS and cuBLASLt report: those of the last release with CUDA_MAJOR. */
#ifndef HEDDLE_LIBRARIES_CUBLAS_VERSION_H
#define HEDDLE_LIBRARIES_CUBLAS_VERSION_H

#include "cuda/cublas_api.h"

#if CUDA_MAJOR == 13
enum { BLAS_MAJOR = CUBLAS_VER_MAJOR, BLAS_MINOR = CUBLAS_VER_MINOR, BLAS_PATCH = CUBLAS_VER_PATCH };
#elif CUDA_MAJOR == 12
enum { BLAS_MAJOR = 12, BLAS_MINOR = 9, BLAS_PATCH = 1 };
#else
enum { BLAS_MAJOR = 11, BLAS_MINOR = 11, BLAS_PATCH = 3 };
#endif
enum { BLAS_VERSION = BLAS_MAJOR * 10000 + BLAS_MINOR * 100 + BLAS_PATCH };

static inline cublasStatus_t blas_property(libraryPropertyType type, int *value)
{
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? BLAS_MAJOR : type == MINOR_VERSION ? BLAS_MINOR : BLAS_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}

#endif
