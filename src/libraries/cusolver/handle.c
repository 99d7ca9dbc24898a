/* Handles, parameters and settings of cuSOLVER's dense part ("cuSOLVER", 2.4.1), and the versions
 * of the library. */
#include "libraries/cusolver/jacobi.h"

#include <stdlib.h>

/* ---- handles ---- */

static cusolverStatus_t add(void **handle, unsigned kind, void *record)
{
    *handle = library_add_handle(kind, record);
    return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

static cusolverStatus_t take(void *handle, unsigned kind, void (*release)(void *record), cusolverStatus_t none)
{
    void *record = handle_take(&library_handles, handle, kind);
    if (!record)
        return none;
    call_later(release, record);
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (heddle_library_disturb(false))
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    struct solver *s = calloc(1, sizeof *s);
    if (s) {
        s->deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
        s->math = CUSOLVER_DEFAULT_MATH;
    }
    return add((void **)handle, KIND_DENSE, s);
}

LIBRARY_API cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    IN_CALL;
    return take(handle, KIND_DENSE, free, CUSOLVER_STATUS_NOT_INITIALIZED);
}

LIBRARY_API cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
    SOLVER(s, handle);
    s->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream)
{
    SOLVER(s, handle);
    if (!stream)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *stream = s->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

/* All results are deterministic anyway. */
LIBRARY_API cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode)
{
    SOLVER(s, handle);
    if (mode != CUSOLVER_DETERMINISTIC_RESULTS && mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS)
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    s->deterministic = mode;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle,
                                                            cusolverDeterministicMode_t *mode)
{
    SOLVER(s, handle);
    if (!mode)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *mode = s->deterministic;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Floats are computed as floats, which is more accurate than their emulation. */
LIBRARY_API cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode)
{
    SOLVER(s, handle);
    if (mode != CUSOLVER_DEFAULT_MATH && mode != CUSOLVER_FP32_EMULATED_BF16X9_MATH)
        return CUSOLVER_STATUS_INVALID_VALUE;
    s->math = mode;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t *mode)
{
    SOLVER(s, handle);
    if (!mode)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *mode = s->math;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- parameters of 64-bit functions: which algorithm, of which there is one ---- */

struct parameters {
    cusolverAlgMode_t algorithms[CUSOLVERDN_SYEVBATCHED + 1];
};

LIBRARY_API cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
    IN_CALL;
    return params ? add((void **)params, KIND_PARAMETERS, calloc(1, sizeof(struct parameters)))
                  : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
    IN_CALL;
    return params ? take(params, KIND_PARAMETERS, free, CUSOLVER_STATUS_INVALID_VALUE) : CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                                     cusolverAlgMode_t algorithm)
{
    IN_CALL;
    struct parameters *p = handle_find(&library_handles, params, KIND_PARAMETERS);
    if (!p || function > CUSOLVERDN_SYEVBATCHED || algorithm > CUSOLVER_ALG_2)
        return CUSOLVER_STATUS_INVALID_VALUE;
    p->algorithms[function] = algorithm;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- Jacobi's methods ---- */

struct jacobi *jacobi_hold(const void *handle)
{
    struct jacobi *j = handle_find(&library_handles, handle, KIND_JACOBI);
    if (j)
        j->holders++;
    return j;
}

void jacobi_release(void *jacobi)
{
    struct jacobi *j = jacobi;
    if (--j->holders == 0)
        free(j);
}

static cusolverStatus_t create_jacobi(void **info)
{
    IN_CALL;
    if (!info)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct jacobi *j = calloc(1, sizeof *j);
    if (j)
        *j = (struct jacobi){.holders = 1, .most_sweeps = 100, .sorts = 1};
    return add(info, KIND_JACOBI, j);
}

static cusolverStatus_t destroy_jacobi(void *info)
{
    IN_CALL;
    return info ? take(info, KIND_JACOBI, jacobi_release, CUSOLVER_STATUS_INVALID_VALUE) : CUSOLVER_STATUS_SUCCESS;
}

#define JACOBI(j, info)                                                                                                \
    IN_CALL;                                                                                                           \
    struct jacobi *j = handle_find(&library_handles, info, KIND_JACOBI);                                               \
    if (!j)                                                                                                            \
    return CUSOLVER_STATUS_INVALID_VALUE

/* The result of the last call, which the host waits for. An H200 has no results for batches. */
static cusolverStatus_t wait_for(cusolverDnHandle_t handle, struct jacobi *j)
{
    SOLVER(s, handle);
    if (j->was_batched)
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    return cuStreamSynchronize((CUstream)j->stream) ? CUSOLVER_STATUS_INTERNAL_ERROR : CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t get_residual(cusolverDnHandle_t handle, void *info, double *residual)
{
    JACOBI(j, info);
    cusolverStatus_t status = residual ? wait_for(handle, j) : CUSOLVER_STATUS_INVALID_VALUE;
    if (!status)
        *residual = j->residual;
    return status;
}

static cusolverStatus_t get_sweeps(cusolverDnHandle_t handle, void *info, int *sweeps)
{
    JACOBI(j, info);
    cusolverStatus_t status = sweeps ? wait_for(handle, j) : CUSOLVER_STATUS_INVALID_VALUE;
    if (!status)
        *sweeps = j->sweeps;
    return status;
}

#define SETTINGS(Name, name, type)                                                                                     \
    LIBRARY_API cusolverStatus_t cusolverDnCreate##Name##Info(type *info)                                              \
    {                                                                                                                  \
        return create_jacobi((void **)info);                                                                           \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnDestroy##Name##Info(type info)                                              \
    {                                                                                                                  \
        return destroy_jacobi(info);                                                                                   \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnX##name##SetTolerance(type info, double tolerance)                          \
    {                                                                                                                  \
        JACOBI(j, info);                                                                                               \
        j->tolerance = tolerance;                                                                                      \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnX##name##SetMaxSweeps(type info, int sweeps)                                \
    {                                                                                                                  \
        JACOBI(j, info);                                                                                               \
        j->most_sweeps = sweeps;                                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnX##name##SetSortEig(type info, int sorts)                                   \
    {                                                                                                                  \
        JACOBI(j, info);                                                                                               \
        j->sorts = sorts;                                                                                              \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnX##name##GetResidual(cusolverDnHandle_t handle, type info,                  \
                                                                double *residual)                                      \
    {                                                                                                                  \
        return get_residual(handle, info, residual);                                                                   \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDnX##name##GetSweeps(cusolverDnHandle_t handle, type info, int *sweeps)       \
    {                                                                                                                  \
        return get_sweeps(handle, info, sweeps);                                                                       \
    }
SETTINGS(Syevj, syevj, syevjInfo_t)
SETTINGS(Gesvdj, gesvdj, gesvdjInfo_t)
