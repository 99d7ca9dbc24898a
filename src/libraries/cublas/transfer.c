/* Copies of vectors and matrices between host and device ("cuBLAS Library", 2.4.14 to 2.4.21), by
 * the driver. */
#include "libraries/cublas/call.h"

/* Copies `height` pieces of `width` bytes; an address that is no device memory cannot stand for the
 * device. */
static cublasStatus_t copy(const char *name, size_t width, size_t height, const void *from, size_t from_pitch, void *to,
                           size_t to_pitch, const void *device, const CUstream *stream)
{
    CUcontext context;
    if (!width || !height)
        return CUBLAS_STATUS_SUCCESS;
    if (heddle_library_context(&context))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!from || !to || !library_memory_is_kernels(heddle_library_memory(device)) || from_pitch < width ||
        to_pitch < width) {
        library_failed(
            name,
            "an address is NULL, the device memory is not memory of the device, or a pitch is less than the width");
        return CUBLAS_STATUS_MAPPING_ERROR;
    }
    const CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                             .srcDevice = (CUdeviceptr)from,
                             .srcPitch = from_pitch,
                             .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                             .dstDevice = (CUdeviceptr)to,
                             .dstPitch = to_pitch,
                             .WidthInBytes = width,
                             .Height = height};
    const CUresult r = stream ? cuMemcpy2DAsync(&c, *stream) : cuMemcpy2D(&c);
    return r ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t vector(const char *name, int64_t n, int64_t bytes, const void *from, int64_t from_inc, void *to,
                             int64_t to_inc, const void *device, const CUstream *stream)
{
    if (bytes <= 0 || from_inc <= 0 || to_inc <= 0) {
        library_failed(name, "an element's size or an increment is not positive");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (n < 0)
        return CUBLAS_STATUS_MAPPING_ERROR;
    if (from_inc == 1 && to_inc == 1)
        return copy(name, (size_t)(n * bytes), 1, from, (size_t)(n * bytes), to, (size_t)(n * bytes), device, stream);
    return copy(name, (size_t)bytes, (size_t)n, from, (size_t)(from_inc * bytes), to, (size_t)(to_inc * bytes), device,
                stream);
}

static cublasStatus_t matrix(const char *name, int64_t rows, int64_t columns, int64_t bytes, const void *from,
                             int64_t lda, void *to, int64_t ldb, const void *device, const CUstream *stream)
{
    if (rows < 0 || columns < 0 || bytes <= 0 || lda <= 0 || ldb <= 0) {
        library_failed(name, "a size or a leading dimension is not positive");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return copy(name, (size_t)(rows * bytes), (size_t)columns, from, (size_t)(lda * bytes), to, (size_t)(ldb * bytes),
                device, stream);
}

#define TRANSFERS(SUFFIX, INT)                                                                                         \
    API cublasSetVector##SUFFIX(INT n, INT elemSize, const void *x, INT incx, void *devicePtr, INT incy)               \
    {                                                                                                                  \
        return vector("cublasSetVector", n, elemSize, x, incx, devicePtr, incy, devicePtr, NULL);                      \
    }                                                                                                                  \
    API cublasGetVector##SUFFIX(INT n, INT elemSize, const void *x, INT incx, void *y, INT incy)                       \
    {                                                                                                                  \
        return vector("cublasGetVector", n, elemSize, x, incx, y, incy, x, NULL);                                      \
    }                                                                                                                  \
    API cublasSetMatrix##SUFFIX(INT rows, INT cols, INT elemSize, const void *A, INT lda, void *B, INT ldb)            \
    {                                                                                                                  \
        return matrix("cublasSetMatrix", rows, cols, elemSize, A, lda, B, ldb, B, NULL);                               \
    }                                                                                                                  \
    API cublasGetMatrix##SUFFIX(INT rows, INT cols, INT elemSize, const void *A, INT lda, void *B, INT ldb)            \
    {                                                                                                                  \
        return matrix("cublasGetMatrix", rows, cols, elemSize, A, lda, B, ldb, A, NULL);                               \
    }                                                                                                                  \
    API cublasSetVectorAsync##SUFFIX(INT n, INT elemSize, const void *hostPtr, INT incx, void *devicePtr, INT incy,    \
                                     cudaStream_t stream)                                                              \
    {                                                                                                                  \
        const CUstream s = (CUstream)stream;                                                                           \
        return vector("cublasSetVectorAsync", n, elemSize, hostPtr, incx, devicePtr, incy, devicePtr, &s);             \
    }                                                                                                                  \
    API cublasGetVectorAsync##SUFFIX(INT n, INT elemSize, const void *devicePtr, INT incx, void *hostPtr, INT incy,    \
                                     cudaStream_t stream)                                                              \
    {                                                                                                                  \
        const CUstream s = (CUstream)stream;                                                                           \
        return vector("cublasGetVectorAsync", n, elemSize, devicePtr, incx, hostPtr, incy, devicePtr, &s);             \
    }                                                                                                                  \
    API cublasSetMatrixAsync##SUFFIX(INT rows, INT cols, INT elemSize, const void *A, INT lda, void *B, INT ldb,       \
                                     cudaStream_t stream)                                                              \
    {                                                                                                                  \
        const CUstream s = (CUstream)stream;                                                                           \
        return matrix("cublasSetMatrixAsync", rows, cols, elemSize, A, lda, B, ldb, B, &s);                            \
    }                                                                                                                  \
    API cublasGetMatrixAsync##SUFFIX(INT rows, INT cols, INT elemSize, const void *A, INT lda, void *B, INT ldb,       \
                                     cudaStream_t stream)                                                              \
    {                                                                                                                  \
        const CUstream s = (CUstream)stream;                                                                           \
        return matrix("cublasGetMatrixAsync", rows, cols, elemSize, A, lda, B, ldb, A, &s);                            \
    }
TRANSFERS(, int)
TRANSFERS(_64, int64_t)
