/* The version that a library says it is: compiled once for each. */
#include "cuda/cublas_api.h"

#include "libraries/common/library.h"

#if CUDA_MAJOR == 13
enum { MAJOR = CUBLAS_VER_MAJOR, MINOR = CUBLAS_VER_MINOR, PATCH = CUBLAS_VER_PATCH };
#elif CUDA_MAJOR == 12
enum { MAJOR = 12, MINOR = 9, PATCH = 1 };
#else
enum { MAJOR = 11, MINOR = 11, PATCH = 3 };
#endif

LIBRARY_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = MAJOR * 10000 + MINOR * 100 + PATCH;
    return CUBLAS_STATUS_SUCCESS;
}

LIBRARY_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? MAJOR : type == MINOR_VERSION ? MINOR : PATCH;
    return CUBLAS_STATUS_SUCCESS;
}

LIBRARY_API size_t cublasGetCudartVersion(void)
{
    return CUDA_MAJOR * 1000;
}
