/* Solutions by iterative refinement ("cuSOLVER", gesv and gels, IRSX), by factors in the requested
 * precision, which need no refinement. Lower precisions in a function's name or parameters do not
 * reduce accuracy here. A and B stay unchanged; the number of iterations goes to the host.
 */
#include "libraries/cusolver/call.h"

#include <stdlib.h>

/* ---- what LAPACK does, on copies ---- */

static void *copy_of(const struct call *c, enum operand o, int rows, int columns)
{
    int ld = rows > 1 ? rows : 1;
    void *copy = malloc((size_t)ld * (size_t)columns * precision_bytes(c->precision) + 1);
    if (copy)
        heddle_openblas.lacpy[c->precision]("A", &rows, &columns, c->at[o], &c->ld[o], copy, &ld, 1);
    return copy;
}

static int factor_and_solve(const struct call *c, void *a, int *pivots)
{
    int info = 0;
    heddle_openblas.lacpy[c->precision]("A", &c->n, &c->nrhs, c->at[OP_B], &c->ld[OP_B], c->at[OP_X], &c->ld[OP_X], 1);
    heddle_openblas.getrf[c->precision](&c->n, &c->n, a, &c->n, pivots, &info);
    if (!info)
        heddle_openblas.getrs[c->precision]("N", &c->n, &c->nrhs, a, &c->n, pivots, c->at[OP_X], &c->ld[OP_X], &info,
                                            1);
    return info;
}

/* As on an H200: -5 means that the factorization failed. */
static int run_gesv(const struct call *c)
{
    int info = OUT_OF_MEMORY;
    void *a = copy_of(c, OP_A, c->n, c->n);
    int *pivots = c->at[OP_PIVOTS] ? c->at[OP_PIVOTS] : malloc((size_t)(c->n + 1) * sizeof *pivots);
    if (a && pivots)
        info = factor_and_solve(c, a, pivots);
    if (!c->at[OP_PIVOTS])
        free(pivots);
    free(a);
    *(int *)c->host = info > 0 ? -5 : 1;
    return info;
}

static int least_squares(const struct call *c, void *a, void *b)
{
    int info = 0;
    WITH_WORK(c->precision, heddle_openblas.gels[c->precision]("N", &c->m, &c->n, &c->nrhs, a, &c->m, b, &c->m, work,
                                                               &lwork, &info, 1));
    if (!info)
        heddle_openblas.lacpy[c->precision]("A", &c->n, &c->nrhs, b, &c->m, c->at[OP_X], &c->ld[OP_X], 1);
    return info;
}

static int run_gels(const struct call *c)
{
    int info = OUT_OF_MEMORY;
    void *a = copy_of(c, OP_A, c->m, c->n), *b = copy_of(c, OP_B, c->m, c->nrhs);
    if (a && b)
        info = least_squares(c, a, b);
    free(a);
    free(b);
    *(int *)c->host = info > 0 ? -5 : 1;
    return info;
}

/* ---- the calls ---- */

#define REFINED(position, condition)                                                                                   \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(s, name, info, -(position), CUSOLVER_STATUS_IRS_PARAMS_INVALID, #condition);             \
    } while (0)

struct system {
    int m, n, nrhs, lda, ldb, ldx;
    void *A, *B, *X;
    int *pivots;
    size_t work_bytes;
};

/* For each function; less is too little, as on an H200. */
enum { WORK_BYTES = 16 };

/* A family's `run`, and the positions of its arguments. */
struct family {
    call_run *run;
    int m, n, nrhs, lda, ldb, ldx;
};

static cusolverStatus_t refine(cusolverDnHandle_t handle, const char *name, enum precision p, const struct family *at,
                               const struct system *y, double flops, int *iterations, int *info)
{
    static int ignored;
    SOLVER(s, handle);
    REFINED(at->m, y->m >= 0);
    REFINED(at->n, y->n >= 0 && y->m >= y->n);
    REFINED(at->nrhs, y->nrhs >= 0);
    REFINED(at->lda, y->lda >= at_least_one(y->m));
    REFINED(at->ldb, y->ldb >= at_least_one(y->m));
    REFINED(at->ldx, y->ldx >= at_least_one(y->n));
    if (y->n == 0 || y->nrhs == 0)
        return CUSOLVER_STATUS_SUCCESS;
    NEED_OR(CUSOLVER_STATUS_INVALID_WORKSPACE, y->work_bytes >= WORK_BYTES);
    struct call c = call_new(name, p, at->run);
    c.m = y->m;
    c.n = y->n;
    c.nrhs = y->nrhs;
    c.host = iterations ? iterations : &ignored;
    c.waits = true;
    c.flops = flops;
    call_matrix(&c, OP_A, y->A, y->m, y->n, y->lda, HD_READS);
    call_matrix(&c, OP_B, y->B, y->m, y->nrhs, y->ldb, HD_READS);
    call_matrix(&c, OP_X, y->X, y->n, y->nrhs, y->ldx, HD_WRITES);
    if (y->pivots)
        call_vector(&c, OP_PIVOTS, y->pivots, y->n, sizeof *y->pivots, HD_WRITES);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t gesv(cusolverDnHandle_t handle, const char *name, enum precision p, const struct system *y,
                             int *iterations, int *info)
{
    static const struct family at = {.run = run_gesv, .m = 1, .n = 1, .nrhs = 2, .lda = 4, .ldb = 7, .ldx = 9};
    double flops = 2 * cube(y->n) / 3 + 2.0 * y->n * y->n * y->nrhs;
    return refine(handle, name, p, &at, y, flops, iterations, info);
}

static cusolverStatus_t gels(cusolverDnHandle_t handle, const char *name, enum precision p, const struct system *y,
                             int *iterations, int *info)
{
    static const struct family at = {.run = run_gels, .m = 1, .n = 2, .nrhs = 3, .lda = 5, .ldb = 7, .ldx = 9};
    return refine(handle, name, p, &at, y, 2.0 * y->m * y->n * y->n, iterations, info);
}

static cusolverStatus_t size_of(cusolverDnHandle_t handle, const char *name, const struct system *y, size_t *bytes)
{
    SOLVER(s, handle);
    bool fits = y->n >= 0 && y->m >= y->n && y->nrhs >= 0 && y->lda >= at_least_one(y->m) &&
                y->ldb >= at_least_one(y->m) && y->ldx >= at_least_one(y->n) && bytes;
    NEED_OR(CUSOLVER_STATUS_IRS_PARAMS_INVALID, fits);
    *bytes = WORK_BYTES;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- their names: the precision of the data, and the lowest one that the original would factor in
 * ---- */

#define PAIR(data, lowest, T, p)                                                                                       \
    LIBRARY_API cusolverStatus_t cusolverDn##data##lowest##gesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, \
                                                                           T *A, int lda, int *ipiv, T *B, int ldb,    \
                                                                           T *X, int ldx, void *work, size_t *bytes)   \
    {                                                                                                                  \
        const struct system y = {n, n, nrhs, lda, ldb, ldx, A, B, X, ipiv, 0};                                         \
        (void)work;                                                                                                    \
        return size_of(handle, "cusolverDn" #data #lowest "gesv_bufferSize", &y, bytes);                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##data##lowest##gesv(cusolverDnHandle_t handle, int n, int nrhs, T *A,      \
                                                                int lda, int *ipiv, T *B, int ldb, T *X, int ldx,      \
                                                                void *work, size_t bytes, int *iter, int *info)        \
    {                                                                                                                  \
        const struct system y = {n, n, nrhs, lda, ldb, ldx, A, B, X, ipiv, bytes};                                     \
        (void)work;                                                                                                    \
        return gesv(handle, "cusolverDn" #data #lowest "gesv", p, &y, iter, info);                                     \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##data##lowest##gels_bufferSize(cusolverDnHandle_t handle, int m, int n,    \
                                                                           int nrhs, T *A, int lda, T *B, int ldb,     \
                                                                           T *X, int ldx, void *work, size_t *bytes)   \
    {                                                                                                                  \
        const struct system y = {m, n, nrhs, lda, ldb, ldx, A, B, X, NULL, 0};                                         \
        (void)work;                                                                                                    \
        return size_of(handle, "cusolverDn" #data #lowest "gels_bufferSize", &y, bytes);                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##data##lowest##gels(cusolverDnHandle_t handle, int m, int n, int nrhs,     \
                                                                T *A, int lda, T *B, int ldb, T *X, int ldx,           \
                                                                void *work, size_t bytes, int *iter, int *info)        \
    {                                                                                                                  \
        const struct system y = {m, n, nrhs, lda, ldb, ldx, A, B, X, NULL, bytes};                                     \
        (void)work;                                                                                                    \
        return gels(handle, "cusolverDn" #data #lowest "gels", p, &y, iter, info);                                     \
    }
#include "libraries/cusolver/refine.def"

/* ---- parameters, and what the last call told ---- */

struct refinement {
    cusolverPrecType_t main, lowest;
    cusolverIRSRefinement_t solver;
    int most;
};

struct refined {
    int iterations, most;
};

#define RECORD(type, name, kind, handle, none)                                                                         \
    struct type *name = handle_find(&library_handles, handle, kind);                                                   \
    if (!name)                                                                                                         \
    return none
#define PARAMETERS(p, params) RECORD(refinement, p, KIND_REFINEMENT, params, CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED)
#define INFOS(i, infos)       RECORD(refined, i, KIND_REFINED, infos, CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED)

static cusolverStatus_t add(void **handle, unsigned kind, void *record)
{
    *handle = library_add_handle(kind, record);
    return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

LIBRARY_API cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t *params)
{
    IN_CALL;
    if (!params)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct refinement *p = calloc(1, sizeof *p);
    if (p)
        *p = (struct refinement){.solver = CUSOLVER_IRS_REFINE_NOT_SET, .most = 50};
    return add((void **)params, KIND_REFINEMENT, p);
}

LIBRARY_API cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params)
{
    IN_CALL;
    void *p = handle_take(&library_handles, params, KIND_REFINEMENT);
    if (!p)
        return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
    call_later(free, p);
    return CUSOLVER_STATUS_SUCCESS;
}

#define SET(Name, Type, statement)                                                                                     \
    LIBRARY_API cusolverStatus_t cusolverDnIRSParams##Name(cusolverDnIRSParams_t params, Type value)                   \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        PARAMETERS(p, params);                                                                                         \
        statement;                                                                                                     \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }
SET(SetRefinementSolver, cusolverIRSRefinement_t, p->solver = value)
SET(SetSolverMainPrecision, cusolverPrecType_t, p->main = value)
SET(SetSolverLowestPrecision, cusolverPrecType_t, p->lowest = value)
SET(SetMaxIters, int, p->most = value)
SET(SetMaxItersInner, int, (void)value) /* there are no inner iterations */
SET(SetTol, double, (void)value)        /* results have the data's full precision */
SET(SetTolInner, double, (void)value)

LIBRARY_API cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params,
                                                                    cusolverPrecType_t main, cusolverPrecType_t lowest)
{
    IN_CALL;
    PARAMETERS(p, params);
    p->main = main;
    p->lowest = lowest;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, int *value)
{
    IN_CALL;
    PARAMETERS(p, params);
    *value = p->most;
    return CUSOLVER_STATUS_SUCCESS;
}

/* The fallback for refinement that does not converge; it always converges. */
#define FALLBACK(Name)                                                                                                 \
    LIBRARY_API cusolverStatus_t cusolverDnIRSParams##Name(cusolverDnIRSParams_t params)                               \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        PARAMETERS(p, params);                                                                                         \
        (void)p;                                                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }
FALLBACK(EnableFallback)
FALLBACK(DisableFallback)

LIBRARY_API cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t *infos)
{
    IN_CALL;
    return infos ? add((void **)infos, KIND_REFINED, calloc(1, sizeof(struct refined))) : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos)
{
    IN_CALL;
    void *i = handle_take(&library_handles, infos, KIND_REFINED);
    if (!i)
        return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
    call_later(free, i);
    return CUSOLVER_STATUS_SUCCESS;
}

#define GET(Name, member)                                                                                              \
    LIBRARY_API cusolverStatus_t cusolverDnIRSInfos##Name(cusolverDnIRSInfos_t infos, int *value)                      \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        INFOS(i, infos);                                                                                               \
        *value = i->member;                                                                                            \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }
GET(GetNiters, iterations)
GET(GetOuterNiters, iterations)
GET(GetMaxIters, most)

static bool precision_of_type(cusolverPrecType_t type, enum precision *p)
{
    switch (type) {
    case CUSOLVER_R_32F: *p = PRECISION_S; return true;
    case CUSOLVER_R_64F: *p = PRECISION_D; return true;
    case CUSOLVER_C_32F: *p = PRECISION_C; return true;
    case CUSOLVER_C_64F: *p = PRECISION_Z; return true;
    default: return false;
    }
}

static cusolverStatus_t check_parameters(const struct refinement *r, const char *name, enum precision *p)
{
    NEED_OR(CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC, precision_of_type(r->main, p));
    NEED_OR(CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE,
            r->solver >= CUSOLVER_IRS_REFINE_NONE && r->solver <= CUSOLVER_IRS_REFINE_GMRES_NOPCOND);
    return CUSOLVER_STATUS_SUCCESS;
}

typedef cusolverStatus_t solve(cusolverDnHandle_t, const char *, enum precision, const struct system *, int *, int *);

static cusolverStatus_t by_parameters(cusolverDnHandle_t handle, const char *name, solve *how,
                                      cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos, const struct system *y,
                                      int *iterations, int *info)
{
    enum precision p = PRECISION_S;
    int counted = 0;
    IN_CALL;
    PARAMETERS(r, params);
    INFOS(i, infos);
    cusolverStatus_t status = check_parameters(r, name, &p);
    status = status ? status : how(handle, name, p, y, &counted, info);
    if (!status) {
        *i = (struct refined){counted, r->most};
        if (iterations)
            *iterations = counted;
    }
    return status;
}

LIBRARY_API cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                cusolverDnIRSInfos_t infos, int n, int nrhs, void *A, int lda, void *B,
                                                int ldb, void *X, int ldx, void *work, size_t bytes, int *iterations,
                                                int *info)
{
    const struct system y = {n, n, nrhs, lda, ldb, ldx, A, B, X, NULL, bytes};
    (void)work;
    return by_parameters(handle, "cusolverDnIRSXgesv", gesv, params, infos, &y, iterations, info);
}

LIBRARY_API cusolverStatus_t cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                cusolverDnIRSInfos_t infos, int m, int n, int nrhs, void *A, int lda,
                                                void *B, int ldb, void *X, int ldx, void *work, size_t bytes,
                                                int *iterations, int *info)
{
    const struct system y = {m, n, nrhs, lda, ldb, ldx, A, B, X, NULL, bytes};
    (void)work;
    return by_parameters(handle, "cusolverDnIRSXgels", gels, params, infos, &y, iterations, info);
}

LIBRARY_API cusolverStatus_t cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                           int n, int nrhs, size_t *bytes)
{
    static const char name[] = "cusolverDnIRSXgesv_bufferSize";
    const struct system y = {.m = n, .n = n, .nrhs = nrhs, .lda = n + 1, .ldb = n + 1, .ldx = n + 1};
    IN_CALL;
    PARAMETERS(r, params);
    NEED_OR(CUSOLVER_STATUS_IRS_PARAMS_INVALID, r->main != 0);
    return size_of(handle, name, &y, bytes);
}

LIBRARY_API cusolverStatus_t cusolverDnIRSXgels_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                           int m, int n, int nrhs, size_t *bytes)
{
    static const char name[] = "cusolverDnIRSXgels_bufferSize";
    const struct system y = {.m = m, .n = n, .nrhs = nrhs, .lda = m + 1, .ldb = m + 1, .ldx = n + 1};
    IN_CALL;
    PARAMETERS(r, params);
    NEED_OR(CUSOLVER_STATUS_IRS_PARAMS_INVALID, r->main != 0);
    return size_of(handle, name, &y, bytes);
}
