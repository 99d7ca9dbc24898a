/* Entry points that execute plans, and that set their further properties. */
#include "libraries/cufft/execution.h"
#include "libraries/cufft/plan.h"

#define PLAN(p, handle)                                                                                                \
    IN_CALL;                                                                                                           \
    struct plan *p = plans_find(handle);                                                                               \
    if (!p)                                                                                                            \
    return library_no_handle(), CUFFT_INVALID_PLAN

/* ---- executions ---- */

static cufftResult put(const struct plan *p, const char *call, const struct execution *e)
{
    CUresult r = execution_put((CUstream)p->stream, call, e, false);
    return r == CUDA_SUCCESS ? CUFFT_SUCCESS : r == CUDA_ERROR_OUT_OF_MEMORY ? CUFFT_ALLOC_FAILED : CUFFT_EXEC_FAILED;
}

/* In place, real rows are padded to the size of the complex ones,
 * unless the plan gives a layout. */
static void settle_layout(struct transform *t, bool is_basic, bool in_place)
{
    if (is_basic && in_place) {
        t->from = transform_packed(t, TRANSFORM_SIDE_FROM, true);
        t->to = transform_packed(t, TRANSFORM_SIDE_TO, true);
    }
}

/* Requires the alignment also on the side with real numbers. */
static bool is_aligned(const struct transform *t, const void *at)
{
    enum transform_side complex_side = t->kind == TRANSFORM_FROM_REAL ? TRANSFORM_SIDE_TO : TRANSFORM_SIDE_FROM;
    return (uintptr_t)at % transform_element_bytes(t, complex_side) == 0;
}

/* As on an H200, the plan determines what is transformed, whichever function executes it; the
 * function gives only the direction. */
static cufftResult execute(cufftHandle handle, const char *call, const void *from, void *to, int direction)
{
    PLAN(p, handle);
    if (!p->is_made)
        return CUFFT_INVALID_PLAN;
    bool backward = direction == CUFFT_INVERSE;
    if (!backward && direction != CUFFT_FORWARD)
        return CUFFT_INVALID_VALUE;
    if (p->transform.kind == (backward ? TRANSFORM_FROM_REAL : TRANSFORM_TO_REAL)) {
        library_failed(
            call,
            "the direction does not fit the plan: real-to-complex plans run forward, complex-to-real plans inverse");
        return CUFFT_INVALID_VALUE;
    }
    if (!is_aligned(&p->transform, from) || !is_aligned(&p->transform, to)) {
        library_failed(call, "input and output must be aligned to the plan's complex numbers");
        return CUFFT_INVALID_VALUE;
    }
    if (p->has_no_area && p->work_bytes)
        return CUFFT_NO_WORKSPACE;
    if (!to)
        return CUFFT_EXEC_FAILED;
    struct execution e = {p->transform, backward, from, to};
    settle_layout(&e.transform, p->is_basic, from == to);
    return p->transform.batch ? put(p, call, &e) : CUFFT_SUCCESS;
}

#define EXECUTE(name, From, To, direction)                                                                             \
    LIBRARY_API cufftResult name(cufftHandle plan, From *idata, To *odata)                                             \
    {                                                                                                                  \
        return execute(plan, #name, idata, odata, direction);                                                          \
    }
#define EXECUTE_DIRECTED(name, Type)                                                                                   \
    LIBRARY_API cufftResult name(cufftHandle plan, Type *idata, Type *odata, int direction)                            \
    {                                                                                                                  \
        return execute(plan, #name, idata, odata, direction);                                                          \
    }
EXECUTE_DIRECTED(cufftExecC2C, cufftComplex)
EXECUTE_DIRECTED(cufftExecZ2Z, cufftDoubleComplex)
EXECUTE_DIRECTED(cufftXtExec, void)
EXECUTE(cufftExecR2C, cufftReal, cufftComplex, CUFFT_FORWARD)
EXECUTE(cufftExecC2R, cufftComplex, cufftReal, CUFFT_INVERSE)
EXECUTE(cufftExecD2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
EXECUTE(cufftExecZ2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)

/* ---- settings ---- */

LIBRARY_API cufftResult cufftCreate(cufftHandle *handle)
{
    IN_CALL;
    return handle ? plans_add(handle) : CUFFT_INVALID_VALUE;
}

LIBRARY_API cufftResult cufftDestroy(cufftHandle plan)
{
    IN_CALL;
    return plan == CUFFT_PLAN_NULL ? CUFFT_SUCCESS : plans_remove(plan);
}

LIBRARY_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream)
{
    PLAN(p, plan);
    p->stream = stream;
    return CUFFT_SUCCESS;
}

/* Work areas: see plan.c. */

LIBRARY_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate)
{
    PLAN(p, plan);
    p->has_no_area = !autoAllocate;
    return CUFFT_SUCCESS;
}

LIBRARY_API cufftResult cufftSetWorkArea(cufftHandle plan, void *workArea)
{
    PLAN(p, plan);
    p->has_no_area = !workArea;
    return CUFFT_SUCCESS;
}

LIBRARY_API cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy, size_t *workSize)
{
    PLAN(p, plan);
    (void)workSize;
    bool is_policy = policy == CUFFT_WORKAREA_MINIMAL || policy == CUFFT_WORKAREA_PERFORMANCE;
    /* An H200 refuses CUFFT_WORKAREA_USER, too. */
    return p->is_made && is_policy ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* Statuses are an H200's; more than one device is refused by name. */
LIBRARY_API cufftResult cufftXtSetGPUs(cufftHandle plan, int nGPUs, int *whichGPUs)
{
    enum { MOST = 16 };
    PLAN(p, plan);
    if (p->is_made)
        return CUFFT_INVALID_PLAN;
    if (!whichGPUs || nGPUs < 2 || nGPUs > MOST) {
        library_failed("cufftXtSetGPUs", "%d devices; there may be 2 to %d", nGPUs, MOST);
        return CUFFT_INVALID_VALUE;
    }
    for (int i = 0; i < nGPUs; i++)
        if (whichGPUs[i] < 0 || (unsigned)whichGPUs[i] >= heddle_library_devices())
            return CUFFT_INVALID_DEVICE;
    LIBRARY_REFUSE("a plan of several devices (cufftXtSetGPUs)");
    return CUFFT_NOT_IMPLEMENTED;
}

LIBRARY_API cufftResult cufftGetSize(cufftHandle plan, size_t *workSize)
{
    if (!workSize)
        return CUFFT_INVALID_VALUE;
    PLAN(p, plan);
    *workSize = p->work_bytes;
    return p->is_made ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* The only property, which is stored without effect. */

static cufftResult find_property(struct plan *p, cufftProperty property, long long **value)
{
    *value = &p->patient_jit;
    return property == NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT            ? CUFFT_SUCCESS
           : property == NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS ? CUFFT_NOT_SUPPORTED
                                                                        : CUFFT_INVALID_VALUE;
}

LIBRARY_API cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, const long long value)
{
    PLAN(p, plan);
    long long *kept;
    cufftResult result = p->is_made ? CUFFT_NOT_SUPPORTED : find_property(p, property, &kept);
    if (!result)
        *kept = value;
    return result;
}

LIBRARY_API cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long *value)
{
    PLAN(p, plan);
    long long *kept;
    cufftResult result = value ? find_property(p, property, &kept) : CUFFT_INVALID_VALUE;
    if (!result)
        *value = *kept;
    return result;
}

LIBRARY_API cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property)
{
    PLAN(p, plan);
    long long *kept;
    cufftResult result = p->is_made ? CUFFT_NOT_SUPPORTED : find_property(p, property, &kept);
    if (!result)
        *kept = 0;
    return result;
}
