/* Handles, settings, versions and statuses of cuBLAS ("cuBLAS Library", 2.4). */
#include "libraries/cublas/call.h"
#include "libraries/cublas/log.h"

#include <stdlib.h>
#include <string.h>

struct blas_handle *handle_of(cublasHandle_t handle)
{
    return handle_find(&library_handles, handle, KIND_HANDLE);
}

API cublasCreate_v2(cublasHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    log_call(NULL, "cublasCreate_v2", NULL);
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context) || heddle_library_disturb(false))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    struct blas_handle *h = calloc(1, sizeof *h);
    *handle = library_add_handle(KIND_HANDLE, h);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasDestroy_v2(cublasHandle_t handle)
{
    IN_CALL;
    log_call(handle, "cublasDestroy_v2", NULL);
    struct blas_handle *h = handle_take(&library_handles, handle, KIND_HANDLE);
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    call_later(free, h);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- settings ---- */

#define HANDLE(h)                                                                                                      \
    IN_CALL;                                                                                                           \
    struct blas_handle *h = handle_of(handle);                                                                         \
    if (!h)                                                                                                            \
    return library_no_handle(), CUBLAS_STATUS_NOT_INITIALIZED

/* A setting with its valid values. */
#define SETTING(Set, Get, member, T, valid)                                                                            \
    API cublasSet##Set(cublasHandle_t handle, T value)                                                                 \
    {                                                                                                                  \
        HANDLE(h);                                                                                                     \
        if (!(valid))                                                                                                  \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        h->member = value;                                                                                             \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    API cublasGet##Get(cublasHandle_t handle, T *value)                                                                \
    {                                                                                                                  \
        HANDLE(h);                                                                                                     \
        if (!value)                                                                                                    \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        *value = (T)h->member;                                                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
enum { MULTIPROCESSORS = 132 };
SETTING(PointerMode_v2, PointerMode_v2, pointer_mode, cublasPointerMode_t,
        (unsigned)value <= CUBLAS_POINTER_MODE_DEVICE)
SETTING(AtomicsMode, AtomicsMode, atomics_mode, cublasAtomicsMode_t, (unsigned)value <= CUBLAS_ATOMICS_ALLOWED)
SETTING(MathMode, MathMode, math_mode, cublasMath_t, (unsigned)value <= 31)
SETTING(SmCountTarget, SmCountTarget, sm_count_target, int, value >= 0 && value <= MULTIPROCESSORS)
SETTING(EmulationStrategy, EmulationStrategy, emulation[0], cublasEmulationStrategy_t,
        (unsigned)value <= CUBLAS_EMULATION_STRATEGY_EAGER)
SETTING(EmulationSpecialValuesSupport, EmulationSpecialValuesSupport, emulation[1], cudaEmulationSpecialValuesSupport,
        true)
SETTING(FixedPointEmulationMantissaControl, FixedPointEmulationMantissaControl, emulation[2],
        cudaEmulationMantissaControl, (unsigned)value <= 1)
SETTING(FixedPointEmulationMaxMantissaBitCount, FixedPointEmulationMaxMantissaBitCount, emulation[3], int, value >= 0)
SETTING(FixedPointEmulationMantissaBitOffset, FixedPointEmulationMantissaBitOffset, emulation[4], int, true)
SETTING(FixedPointEmulationMantissaBitCountPointer, FixedPointEmulationMantissaBitCountPointer, mantissa_bits, int *,
        true)

API cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    HANDLE(h);
    h->stream = (CUstream)stream;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
    HANDLE(h);
    if (!stream)
        return CUBLAS_STATUS_INVALID_VALUE;
    *stream = (cudaStream_t)h->stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* Workspaces are allocated on the host: the program's is not needed. */
API cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t workspaceSizeInBytes)
{
    HANDLE(h);
    (void)workspace, (void)workspaceSizeInBytes;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- names ---- */

static const struct {
    cublasStatus_t status;
    const char *name, *words;
} statuses[] = {
#define STATUS(name, words) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, words},
#include "libraries/cublas/statuses.def"
};

LIBRARY_API const char *cublasGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unrecognized status";
}

LIBRARY_API const char *cublasGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].words;
    return "unrecognized status";
}

/* For programs that implement a BLAS routine of their own. */
LIBRARY_API void cublasXerbla(const char *srName, int info)
{
    library_failed(srName, "parameter number %d had an illegal value", info);
}
