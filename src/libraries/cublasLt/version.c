/* The version that the library reports. Compiled once for each. */
#include "libraries/cublas/version.h"

#include "libraries/common/library.h"

LIBRARY_API size_t cublasLtGetVersion(void)
{
    return BLAS_VERSION;
}

LIBRARY_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value)
{
    return blas_property(type, value);
}

LIBRARY_API size_t cublasLtGetCudartVersion(void)
{
    return CUDA_MAJOR * 1000;
}
