/* BLAS-like extensions ("cuBLAS Library", 2.8): sums and scalings of matrices, packed triangles,
 * small factorizations in batches. */
#include "libraries/cublas/call.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/dense.h"
#include "libraries/blas/factor.h"

static const unsigned BOTH = HD_READS | HD_WRITES;

/* ---- geam: C = alpha * op(A) + beta * op(B) ---- */

static void geam_regions(const struct call *c, struct region r[])
{
    r[0] = region_under(c->ta, c->m, c->n);
    r[1] = region_under(c->tb, c->m, c->n);
    r[2] = region_matrix(c->m, c->n, HD_WRITES);
}

/* C may be A or B, if it has the same layout. */
static cublasStatus_t check_geam(const struct call *c)
{
    const struct operand *o = c->op;
    if ((o[0].at == o[2].at && (c->ta != CUBLAS_OP_N || o[0].ld != o[2].ld)) ||
        (o[1].at == o[2].at && (c->tb != CUBLAS_OP_N || o[1].ld != o[2].ld))) {
        library_failed(c->name, "C may be the same memory as A or B only if that matrix is not transposed and has C's "
                                "leading dimension");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static bool run_geam(const struct call *c)
{
    const struct operand *o = c->op;
    dense[call_precision(c)].geam(c->ta, c->tb, c->m, c->n, c->alpha, o[0].at, o[0].ld, c->beta, o[1].at, o[1].ld,
                                  (void *)o[2].at, o[2].ld);
    return true;
}

/* ---- dgmm: the rows, or columns, of A by the elements of x ---- */

static void dgmm_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->m, c->n, HD_READS);
    r[1] = (struct region){REGION_VECTOR, c->side == CUBLAS_SIDE_LEFT ? c->m : c->n, 1, HD_READS, false};
    r[2] = region_matrix(c->m, c->n, HD_WRITES);
}

static bool run_dgmm(const struct call *c)
{
    const struct operand *o = c->op;
    dense[call_precision(c)].dgmm(c->side == CUBLAS_SIDE_LEFT, c->m, c->n, o[0].at, o[0].ld, o[1].at, o[1].ld,
                                  (void *)o[2].at, o[2].ld);
    return true;
}

/* ---- triangles, packed and not ---- */

static struct region triangle(const struct call *c, unsigned use)
{
    return (struct region){c->uplo == CUBLAS_FILL_MODE_UPPER ? REGION_UPPER : REGION_LOWER, c->n, c->n, use, false};
}

static struct region packed(const struct call *c, unsigned use)
{
    return (struct region){REGION_PACKED, c->n * (c->n + 1) / 2, 1, use, false};
}

static void tpttr_regions(const struct call *c, struct region r[])
{
    r[0] = packed(c, HD_READS);
    r[1] = triangle(c, HD_WRITES);
}

static void trttp_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, HD_READS);
    r[1] = packed(c, HD_WRITES);
}

static bool copy_triangle(const struct call *c, bool unpack)
{
    const struct operand *full = &c->op[unpack ? 1 : 0];
    const size_t bytes = element_bytes(c->type);
    char *at = (char *)c->op[unpack ? 0 : 1].at;
    for (int64_t j = 0; j < c->n; j++) {
        const int64_t from = c->uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j,
                      end = c->uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : c->n;
        char *column = (char *)full->at + (size_t)(from + j * full->ld) * bytes;
        const size_t length = (size_t)(end - from) * bytes;
        memcpy(unpack ? column : at, unpack ? at : column, length);
        at += length;
    }
    return true;
}

static bool run_tpttr(const struct call *c)
{
    return copy_triangle(c, true);
}

static bool run_trttp(const struct call *c)
{
    return copy_triangle(c, false);
}

/* ---- factorizations in batches: matrices, then pivots or factors, states last ---- */

enum { PIVOTS = 3, STATES = 4 };

static struct region counts(int64_t n, unsigned use)
{
    return (struct region){REGION_COUNTS, n, 0, use, false};
}

static void getrf_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->n, c->n, BOTH);
    r[PIVOTS] = counts(c->n, HD_WRITES);
    r[STATES] = counts(1, HD_WRITES);
}

static void put_state(const struct call *c, int state)
{
    if (c->op[STATES].at)
        *(int *)c->op[STATES].at = state;
}

static bool run_getrf(const struct call *c)
{
    put_state(c, factor[call_precision(c)].lu(c->n, (void *)c->op[0].at, c->op[0].ld, (int *)c->op[PIVOTS].at));
    return true;
}

static void getri_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->n, c->n, HD_READS);
    r[1] = region_matrix(c->n, c->n, HD_WRITES);
    r[PIVOTS] = counts(c->n, HD_READS);
    r[STATES] = counts(1, HD_WRITES);
}

/* Copies the matrix, because the inverse may replace it. */
static void *copy_of(const struct call *c, int i, int64_t rows, int64_t columns)
{
    const size_t bytes = element_bytes(c->type);
    char *copy = malloc((size_t)(rows * columns) * bytes + 1);
    for (int64_t j = 0; copy && j < columns; j++)
        memcpy(copy + (size_t)(j * rows) * bytes, (const char *)c->op[i].at + (size_t)(j * c->op[i].ld) * bytes,
               (size_t)rows * bytes);
    return copy;
}

static bool run_getri(const struct call *c)
{
    void *lu = copy_of(c, 0, c->n, c->n);
    if (lu)
        put_state(c, factor[call_precision(c)].invert(c->n, lu, at_least_1(c->n), c->op[PIVOTS].at, (void *)c->op[1].at,
                                                      c->op[1].ld));
    free(lu);
    return lu;
}

static void getrs_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->n, c->n, HD_READS);
    r[1] = region_matrix(c->n, c->m, BOTH);
    r[PIVOTS] = counts(c->n, HD_READS);
}

static bool run_getrs(const struct call *c)
{
    factor[call_precision(c)].solve(c->ta, c->n, c->m, c->op[0].at, c->op[0].ld, c->op[PIVOTS].at, (void *)c->op[1].at,
                                    c->op[1].ld);
    return true;
}

static void matinv_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->n, c->n, HD_READS);
    r[1] = region_matrix(c->n, c->n, HD_WRITES);
    r[STATES] = counts(1, HD_WRITES);
}

enum { MOST_MATINV = 32 };

static cublasStatus_t check_matinv(const struct call *c)
{
    if (c->n > MOST_MATINV && c->batch) {
        library_failed(c->name, "a matrix has more than %d rows: use getrfBatched and getriBatched", MOST_MATINV);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static bool run_matinv(const struct call *c)
{
    int pivots[MOST_MATINV];
    void *lu = copy_of(c, 0, c->n, c->n);
    if (lu) {
        const struct factor *f = &factor[call_precision(c)];
        put_state(c, f->lu(c->n, lu, at_least_1(c->n), pivots));
        f->invert(c->n, lu, at_least_1(c->n), pivots, (void *)c->op[1].at, c->op[1].ld);
    }
    free(lu);
    return lu;
}

static void geqrf_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->m, c->n, BOTH);
    r[1] = (struct region){REGION_PACKED, c->m < c->n ? c->m : c->n, 1, HD_WRITES, false};
}

static bool run_geqrf(const struct call *c)
{
    factor[call_precision(c)].qr(c->m, c->n, (void *)c->op[0].at, c->op[0].ld, (void *)c->op[1].at);
    return true;
}

static void gels_regions(const struct call *c, struct region r[])
{
    r[0] = region_matrix(c->m, c->n, BOTH);
    r[1] = region_matrix(c->m, c->k, BOTH);
    r[STATES] = counts(1, HD_WRITES);
}

static bool run_gels(const struct call *c)
{
    void *taus = malloc((size_t)c->n * element_bytes(c->type) + 1);
    if (taus)
        put_state(c, factor[call_precision(c)].least_squares(c->m, c->n, c->k, (void *)c->op[0].at, c->op[0].ld,
                                                             (void *)c->op[1].at, c->op[1].ld, taus));
    free(taus);
    return taus;
}

static double elements(const struct call *c)
{
    return 2.0 * (double)c->m * (double)c->n;
}

static double cubes(const struct call *c)
{
    return 2.0 * (double)c->n * (double)c->n * (double)(c->m > c->n ? c->m : c->n);
}

static const struct routine geam = {USES_TA | USES_TB | USES_M | USES_N | USES_ALPHA | USES_BETA | NULL_IS_ZERO,
                                    0,
                                    geam_regions,
                                    check_geam,
                                    run_geam,
                                    elements},
                            dgmm = {USES_SIDE | USES_M | USES_N | LOOSE_INCREMENTS,
                                    0,
                                    dgmm_regions,
                                    NULL,
                                    run_dgmm,
                                    elements},
                            tpttr = {USES_UPLO | USES_N, 0, tpttr_regions, NULL, run_tpttr, NULL},
                            trttp = {USES_UPLO | USES_N, 0, trttp_regions, NULL, run_trttp, NULL},
                            getrf = {USES_N | LATE_LD, 0, getrf_regions, NULL, run_getrf, cubes},
                            getri = {USES_N | LATE_LD, 0, getri_regions, NULL, run_getri, cubes},
                            getrs = {USES_TA | USES_N | USES_M | BATCH_FAILS, 0, getrs_regions, NULL, run_getrs, cubes},
                            matinv = {USES_N | LATE_LD, 0, matinv_regions, check_matinv, run_matinv, cubes},
                            geqrf = {USES_M | USES_N, 0, geqrf_regions, NULL, run_geqrf, cubes},
                            gels = {USES_TA | USES_M | USES_N | USES_K, 0, gels_regions, NULL, run_gels, cubes};

/* ---- entry points ---- */

#define GEAM(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##geam##SUFFIX(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, INT m,      \
                                INT n, const T *alpha, const T *A, INT lda, const T *beta, const T *B, INT ldb, T *C,  \
                                INT ldc)                                                                               \
        CALL("cublas" #X "geam", geam, .type = D, .ta = transa, .tb = transb, .m = m, .n = n, .alpha = alpha,          \
             .beta = beta, .op = {OPERAND(A, lda), OPERAND(B, ldb), OPERAND(C, ldc)})
#define DGMM(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##dgmm##SUFFIX(cublasHandle_t handle, cublasSideMode_t mode, INT m, INT n, const T *A, INT lda,       \
                                const T *x, INT incx, T *C, INT ldc)                                                   \
        CALL("cublas" #X "dgmm", dgmm, .type = D, .side = mode, .m = m, .n = n,                                        \
             .op = {OPERAND(A, lda), OPERAND(x, incx), OPERAND(C, ldc)})
#define WIDE(X, T, D, SUFFIX, INT)                                                                                     \
    GEAM(X, T, D, SUFFIX, INT)                                                                                         \
    DGMM(X, T, D, SUFFIX, INT)
PLAIN(ALL_TYPES, WIDE)

/* A call that returns the number of its first wrong argument in *info, on the host. */
#define TELLING(wrong, name_, routine_, ...)                                                                           \
    {                                                                                                                  \
        cublasStatus_t status = call_put(handle, &(struct call){.routine = &(routine_), .name = name_, __VA_ARGS__});  \
        if (status == CUBLAS_STATUS_INVALID_VALUE && info)                                                             \
            *info = wrong;                                                                                             \
        return status;                                                                                                 \
    }

/* The numbering of an H200; the last argument if no earlier one is wrong. */
static int wrong_getrs(cublasOperation_t trans, int n, int nrhs, int lda)
{
    return (unsigned)trans > CUBLAS_OP_C ? -1 : n < 0 ? -2 : nrhs < 0 ? -3 : lda < at_least_1(n) ? -5 : -8;
}

static int wrong_geqrf(int m, int n, int lda)
{
    return m < 0 ? -1 : n < 0 ? -2 : lda < at_least_1(m) ? -4 : -7;
}

static int wrong_gels(int m, int n, int nrhs, int lda, int ldc)
{
    return m < 0 ? -1 : nrhs < 0 ? -2 : n < 0 ? -3 : lda < at_least_1(m) ? -5 : ldc < at_least_1(m) ? -7 : -8;
}

/* One width of integers. */
#define BATCH .batched = true, .arrays = true, .batch = batchSize
#define NARROW(X, T, D, ...)                                                                                           \
    API cublas##X##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *AP, T *A, int lda) CALL(        \
        "cublas" #X "tpttr", tpttr, .type = D, .uplo = uplo, .n = n, .op = {OPERAND(AP, 1), OPERAND(A, lda)})          \
        API cublas##X##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *A, int lda, T *AP) CALL(    \
            "cublas" #X "trttp", trttp, .type = D, .uplo = uplo, .n = n, .op = {OPERAND(A, lda), OPERAND(AP, 1)})      \
            API cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda, int *P, int *info,        \
                                        int batchSize)                                                                 \
                CALL("cublas" #X "getrfBatched", getrf, .type = D, .n = n, BATCH,                                      \
                     .op = {OPERAND(A, lda), [PIVOTS] = BATCH_OF(P, 1, n), [STATES] = BATCH_OF(info, 1, 1)})           \
                    API cublas##X##getriBatched(cublasHandle_t handle, int n, const T *const A[], int lda,             \
                                                const int *P, T *const C[], int ldc, int *info, int batchSize)         \
                        CALL("cublas" #X "getriBatched", getri, .type = D, .n = n, BATCH,                              \
                             .op = {OPERAND(A, lda),                                                                   \
                                    OPERAND(C, ldc), [PIVOTS] = BATCH_OF(P, 1, n), [STATES] = BATCH_OF(info, 1, 1)})   \
                            API cublas##X##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n,         \
                                                        int nrhs, const T *const Aarray[], int lda,                    \
                                                        const int *devIpiv, T *const Barray[], int ldb, int *info,     \
                                                        int batchSize)                                                 \
    {                                                                                                                  \
        if (info && handle_of(handle)) /* the state of the arguments, on the host */                                   \
            *info = 0;                                                                                                 \
        TELLING(wrong_getrs(trans, n, nrhs, lda), "cublas" #X "getrsBatched", getrs, .type = D, .ta = trans, .n = n,   \
                .m = nrhs, BATCH,                                                                                      \
                .op = {OPERAND(Aarray, lda), OPERAND(Barray, ldb), [PIVOTS] = BATCH_OF(devIpiv, 1, n)})                \
    }                                                                                                                  \
    API cublas##X##matinvBatched(cublasHandle_t handle, int n, const T *const A[], int lda, T *const Ainv[],           \
                                 int lda_inv, int *info, int batchSize)                                                \
        CALL("cublas" #X "matinvBatched", matinv, .type = D, .n = n, BATCH,                                            \
             .op = {OPERAND(A, lda), OPERAND(Ainv, lda_inv), [STATES] = BATCH_OF(info, 1, 1)})                         \
            API cublas##X##geqrfBatched(cublasHandle_t handle, int m, int n, T *const Aarray[], int lda,               \
                                        T *const TauArray[], int *info, int batchSize)                                 \
    {                                                                                                                  \
        if (handle_of(handle) && !info)                                                                                \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        if (handle_of(handle))                                                                                         \
            *info = 0;                                                                                                 \
        if (handle_of(handle) && m > 0 && n > 0 && batchSize > 0 && lda >= m && (!Aarray || !TauArray))                \
            return CUBLAS_STATUS_EXECUTION_FAILED;                                                                     \
        TELLING(wrong_geqrf(m, n, lda), "cublas" #X "geqrfBatched", geqrf, .type = D, .m = m, .n = n, BATCH,           \
                .op = {OPERAND(Aarray, lda), OPERAND(TauArray, 1)})                                                    \
    }                                                                                                                  \
    API cublas##X##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs,                 \
                               T *const Aarray[], int lda, T *const Carray[], int ldc, int *info, int *devInfoArray,   \
                               int batchSize)                                                                          \
    {                                                                                                                  \
        if (handle_of(handle) && !info)                                                                                \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        if (handle_of(handle))                                                                                         \
            *info = 0;                                                                                                 \
        if (handle_of(handle) && (trans != CUBLAS_OP_N || (n >= 0 && m >= 0 && m < n)))                                \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        TELLING(wrong_gels(m, n, nrhs, lda, ldc), "cublas" #X "gelsBatched", gels, .type = D, .ta = trans, .m = m,     \
                .n = n, .k = nrhs, BATCH,                                                                              \
                .op = {OPERAND(Aarray, lda), OPERAND(Carray, ldc), [STATES] = BATCH_OF(devInfoArray, 1, 1)})           \
    }
ALL_TYPES(NARROW, )
