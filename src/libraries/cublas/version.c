/* The version that the library reports. Compiled once for each. */
#include "libraries/cublas/version.h"

#include "libraries/common/library.h"

LIBRARY_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = BLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

LIBRARY_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    return blas_property(type, value);
}

LIBRARY_API size_t cublasGetCudartVersion(void)
{
    return CUDA_MAJOR * 1000;
}
