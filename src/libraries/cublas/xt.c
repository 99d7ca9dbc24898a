/* The part of cuBLAS-XT that is used ("cuBLAS Library", 4): general products of host matrices,
 * which are done when the call returns. The original spreads tiles of the result over devices; here
 * the host's threads share them, whichever devices are selected. */
#include "libraries/cublas/call.h"

#include <stdlib.h>

#include "cuda/cublasXt.h"

#include "libraries/blas/product.h"

enum { KIND_XT = 2, BLOCK = 2048 };

struct xt_handle {
    _Atomic int block;
};

API cublasXtCreate(cublasXtHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    struct xt_handle *h = calloc(1, sizeof *h);
    if (h)
        h->block = BLOCK;
    *handle = library_add_handle(KIND_XT, h);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasXtDestroy(cublasXtHandle_t handle)
{
    IN_CALL;
    struct xt_handle *h = handle_take(&library_handles, handle, KIND_XT);
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    call_later(free, h);
    return CUBLAS_STATUS_SUCCESS;
}

API cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[])
{
    IN_CALL;
    int devices = 0;
    if (!handle_find(&library_handles, handle, KIND_XT))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (nbDevices < 1 || !deviceId || cuDeviceGetCount(&devices))
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < nbDevices; i++)
        if (deviceId[i] < 0 || deviceId[i] >= devices)
            return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim)
{
    IN_CALL;
    struct xt_handle *h = handle_find(&library_handles, handle, KIND_XT);
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (blockDim <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    h->block = blockDim;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasXtGetBlockDim(cublasXtHandle_t handle, int *blockDim)
{
    IN_CALL;
    struct xt_handle *h = handle_find(&library_handles, handle, KIND_XT);
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!blockDim)
        return CUBLAS_STATUS_INVALID_VALUE;
    *blockDim = h->block;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t gemm(const char *name, cublasXtHandle_t handle, const struct product *p)
{
    IN_CALL;
    const int64_t a_rows = p->ta == CUBLAS_OP_N ? p->m : p->k, b_rows = p->tb == CUBLAS_OP_N ? p->k : p->n;
    if (!handle_find(&library_handles, handle, KIND_XT))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)p->ta > CUBLAS_OP_C || (unsigned)p->tb > CUBLAS_OP_C || p->a.ld < at_least_1(a_rows) ||
        p->b.ld < at_least_1(b_rows) || p->c.ld < at_least_1(p->m) || !p->alpha || !p->beta || p->m > INT32_MAX ||
        p->n > INT32_MAX || p->k > INT32_MAX || p->a.ld > INT32_MAX || p->b.ld > INT32_MAX || p->c.ld > INT32_MAX) {
        library_failed(name, "an operation, a leading dimension, a scalar or a size does not fit");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (heddle_library_memory(p->c.at) != LIBRARY_PAGEABLE || heddle_library_memory(p->a.at) != LIBRARY_PAGEABLE ||
        heddle_library_memory(p->b.at) != LIBRARY_PAGEABLE)
        cuCtxSynchronize(); /* device matrices: waits for the device's work */
    struct product seen = *p;
    seen.a.at = library_view(p->a.at);
    seen.b.at = library_view(p->b.at);
    seen.c.at = seen.d.at = library_view(p->c.at);
    return product_run(&seen) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

#define XT_GEMM(X, T, D, ...)                                                                                          \
    API cublasXt##X##gemm(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, size_t m,       \
                          size_t n, size_t k, const T *alpha, const T *A, size_t lda, const T *B, size_t ldb,          \
                          const T *beta, T *C, size_t ldc)                                                             \
    {                                                                                                                  \
        return gemm("cublasXt" #X "gemm", handle,                                                                      \
                    &(struct product){.ta = transa,                                                                    \
                                      .tb = transb,                                                                    \
                                      .m = (int64_t)m,                                                                 \
                                      .n = (int64_t)n,                                                                 \
                                      .k = (int64_t)k,                                                                 \
                                      .precision = element_precision(D),                                               \
                                      .alpha = alpha,                                                                  \
                                      .beta = beta,                                                                    \
                                      .a = {A, (int64_t)lda, D, CUBLASLT_ORDER_COL, 0},                                \
                                      .b = {B, (int64_t)ldb, D, CUBLASLT_ORDER_COL, 0},                                \
                                      .c = {C, (int64_t)ldc, D, CUBLASLT_ORDER_COL, 0},                                \
                                      .d = {C, (int64_t)ldc, D, CUBLASLT_ORDER_COL, 0}});                              \
    }
ALL_TYPES(XT_GEMM, )
