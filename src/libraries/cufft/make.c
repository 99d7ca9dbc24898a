/* Entry points that make plans, and that report sizes of work areas ("cuFFT API Reference", 3.2 and
 * 3.3).
 */
#include "libraries/cufft/plan.h"

/* ---- requests ---- */

/* The request of functions with ints, and one type for both sides. */
struct wide {
    long long n[TRANSFORM_RANK], in_embed[TRANSFORM_RANK], out_embed[TRANSFORM_RANK];
    struct plan_request request;
};

static const long long *widen(long long *to, const int *from, int rank)
{
    for (int a = 0; from && a < rank && a < TRANSFORM_RANK; a++)
        to[a] = from[a];
    return from ? to : NULL;
}

static cufftResult set_type(struct plan_request *r, cufftType type)
{
    if (!plan_types(type, &r->in.type, &r->out.type))
        return CUFFT_INVALID_TYPE;
    r->execution = r->in.type == CUDA_R_32F || r->in.type == CUDA_C_32F ? CUDA_C_32F : CUDA_C_64F;
    return CUFFT_SUCCESS;
}

static cufftResult ask_basic(struct wide *w, int rank, const int *n, cufftType type, int batch)
{
    w->request = (struct plan_request){.rank = rank, .n = widen(w->n, n, rank), .batch = batch};
    return set_type(&w->request, type);
}

static cufftResult ask_many(struct wide *w, int rank, const int *n, const int *inembed, int istride, int idist,
                            const int *onembed, int ostride, int odist, cufftType type, int batch)
{
    cufftResult r = ask_basic(w, rank, n, type, batch);
    w->request.in.embed = widen(w->in_embed, inembed, rank);
    w->request.in.stride = istride;
    w->request.in.distance = idist;
    w->request.out.embed = widen(w->out_embed, onembed, rank);
    w->request.out.stride = ostride;
    w->request.out.distance = odist;
    return r;
}

static struct plan_request ask_many64(int rank, const long long *n, const long long *inembed, long long istride,
                                      long long idist, const long long *onembed, long long ostride, long long odist,
                                      long long batch)
{
    return (struct plan_request){.rank = rank,
                                 .n = n,
                                 .in = {inembed, istride, idist, CUDA_C_32F},
                                 .out = {onembed, ostride, odist, CUDA_C_32F},
                                 .batch = batch};
}

/* ---- what is done with them ---- */

static bool has_room(size_t bytes)
{
    const size_t h200 = 150ull * 1000 * 1000 * 1000; /* the device whose answers these are */
    return bytes <= h200;
}

/* The original copies tables to the device, which captures forbid; for convolutions (lengths with
 * large factors) it does so first. */
static cufftResult set_up(const struct plan *p)
{
    return !heddle_library_disturb(true) ? CUFFT_SUCCESS
           : plan_convolves(p)           ? CUFFT_ALLOC_FAILED
                                         : CUFFT_INTERNAL_ERROR;
}

static cufftResult make(cufftHandle handle, const struct plan_request *r, size_t *workSize)
{
    struct plan *p = plans_find(handle);
    if (!workSize)
        return CUFFT_INVALID_VALUE;
    if (!p || p->is_made)
        return CUFFT_INVALID_PLAN;
    cufftResult result = plan_describe(p, r);
    *workSize = result ? 0 : p->work_bytes;
    result = result ? result : set_up(p);
    if (!result && !p->has_no_area && !has_room(p->work_bytes))
        result = CUFFT_INTERNAL_ERROR;
    p->is_made = !result;
    return result;
}

static cufftResult measure(const struct plan_request *r, size_t *workSize)
{
    struct plan p = {0};
    cufftResult result = workSize ? plan_describe(&p, r) : CUFFT_INVALID_VALUE;
    if (!result)
        *workSize = p.work_bytes;
    return result;
}

static cufftResult measure_for(cufftHandle handle, const struct plan_request *r, size_t *workSize)
{
    return plans_find(handle) ? measure(r, workSize) : CUFFT_INVALID_PLAN;
}

/* Checks the handle; a NULL argument is found first. */
#define NEED_HANDLE                                                                                                    \
    do {                                                                                                               \
        if (!handle)                                                                                                   \
            return CUFFT_INVALID_VALUE;                                                                                \
    } while (0)

static cufftResult plan(cufftHandle *handle, const struct plan_request *r)
{
    size_t workSize;
    *handle = 0;
    cufftResult result = measure(r, &workSize);
    result = result ? result : plans_add(handle);
    if (result)
        return result;
    result = make(*handle, r, &workSize);
    if (result) {
        plans_remove(*handle);
        *handle = 0;
    }
    return result;
}

/* ---- one axis, two, three ---- */

#define ASK(...)                                                                                                       \
    IN_CALL;                                                                                                           \
    struct wide w;                                                                                                     \
    cufftResult asked = __VA_ARGS__;                                                                                   \
    if (asked)                                                                                                         \
    return asked

LIBRARY_API cufftResult cufftPlan1d(cufftHandle *handle, int nx, cufftType type, int batch)
{
    NEED_HANDLE;
    ASK(ask_basic(&w, 1, (int[]){nx}, type, batch));
    return plan(handle, &w.request);
}

LIBRARY_API cufftResult cufftPlan2d(cufftHandle *handle, int nx, int ny, cufftType type)
{
    NEED_HANDLE;
    ASK(ask_basic(&w, 2, (int[]){nx, ny}, type, 1));
    return plan(handle, &w.request);
}

LIBRARY_API cufftResult cufftPlan3d(cufftHandle *handle, int nx, int ny, int nz, cufftType type)
{
    NEED_HANDLE;
    ASK(ask_basic(&w, 3, (int[]){nx, ny, nz}, type, 1));
    return plan(handle, &w.request);
}

LIBRARY_API cufftResult cufftMakePlan1d(cufftHandle handle, int nx, cufftType type, int batch, size_t *workSize)
{
    ASK(ask_basic(&w, 1, (int[]){nx}, type, batch));
    return make(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftMakePlan2d(cufftHandle handle, int nx, int ny, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 2, (int[]){nx, ny}, type, 1));
    return make(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftMakePlan3d(cufftHandle handle, int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 3, (int[]){nx, ny, nz}, type, 1));
    return make(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *workSize)
{
    ASK(ask_basic(&w, 1, (int[]){nx}, type, batch));
    return measure(&w.request, workSize);
}

LIBRARY_API cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 2, (int[]){nx, ny}, type, 1));
    return measure(&w.request, workSize);
}

LIBRARY_API cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 3, (int[]){nx, ny, nz}, type, 1));
    return measure(&w.request, workSize);
}

LIBRARY_API cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch, size_t *workSize)
{
    ASK(ask_basic(&w, 1, (int[]){nx}, type, batch));
    return measure_for(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 2, (int[]){nx, ny}, type, 1));
    return measure_for(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type, size_t *workSize)
{
    ASK(ask_basic(&w, 3, (int[]){nx, ny, nz}, type, 1));
    return measure_for(handle, &w.request, workSize);
}

/* ---- many, in any layout ---- */

LIBRARY_API cufftResult cufftPlanMany(cufftHandle *handle, int rank, int *n, int *inembed, int istride, int idist,
                                      int *onembed, int ostride, int odist, cufftType type, int batch)
{
    NEED_HANDLE;
    ASK(ask_many(&w, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return plan(handle, &w.request);
}

LIBRARY_API cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int *n, int *inembed, int istride, int idist,
                                          int *onembed, int ostride, int odist, cufftType type, int batch,
                                          size_t *workSize)
{
    ASK(ask_many(&w, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return make(handle, &w.request, workSize);
}

LIBRARY_API cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                                          int ostride, int odist, cufftType type, int batch, size_t *workSize)
{
    ASK(ask_many(&w, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return measure(&w.request, workSize);
}

LIBRARY_API cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int *n, int *inembed, int istride, int idist,
                                         int *onembed, int ostride, int odist, cufftType type, int batch,
                                         size_t *workSize)
{
    ASK(ask_many(&w, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return measure_for(handle, &w.request, workSize);
}

#undef ASK
#define ASK(type)                                                                                                      \
    IN_CALL;                                                                                                           \
    struct plan_request r = ask_many64(rank, n, inembed, istride, idist, onembed, ostride, odist, batch);              \
    cufftResult asked = type;                                                                                          \
    if (asked)                                                                                                         \
    return asked

LIBRARY_API cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long *n, long long *inembed,
                                            long long istride, long long idist, long long *onembed, long long ostride,
                                            long long odist, cufftType type, long long batch, size_t *workSize)
{
    ASK(set_type(&r, type));
    return make(handle, &r, workSize);
}

LIBRARY_API cufftResult cufftGetSizeMany64(cufftHandle handle, int rank, long long *n, long long *inembed,
                                           long long istride, long long idist, long long *onembed, long long ostride,
                                           long long odist, cufftType type, long long batch, size_t *workSize)
{
    ASK(set_type(&r, type));
    return measure_for(handle, &r, workSize);
}

static cufftResult set_types(struct plan_request *r, cudaDataType in, cudaDataType out, cudaDataType execution)
{
    r->in.type = in;
    r->out.type = out;
    r->execution = execution;
    return CUFFT_SUCCESS;
}

LIBRARY_API cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long *n, long long *inembed,
                                            long long istride, long long idist, cudaDataType inputtype,
                                            long long *onembed, long long ostride, long long odist,
                                            cudaDataType outputtype, long long batch, size_t *workSize,
                                            cudaDataType executiontype)
{
    ASK(set_types(&r, inputtype, outputtype, executiontype));
    return make(handle, &r, workSize);
}

LIBRARY_API cufftResult cufftXtGetSizeMany(cufftHandle handle, int rank, long long *n, long long *inembed,
                                           long long istride, long long idist, cudaDataType inputtype,
                                           long long *onembed, long long ostride, long long odist,
                                           cudaDataType outputtype, long long batch, size_t *workSize,
                                           cudaDataType executiontype)
{
    ASK(set_types(&r, inputtype, outputtype, executiontype));
    return measure_for(handle, &r, workSize);
}
