/* General matrices: LU with partial pivoting or without, and solutions ("cuSOLVER", getrf, getrs,
 * laswp). Pivots are ints, or 64-bit integers. */
#include "libraries/cusolver/call.h"

#include <complex.h>
#include <stdlib.h>

enum { WIDE_PIVOTS = 1 };

/* ---- without pivots, which LAPACK does not have ---- */

/* Right-looking, column by column: elements below the diagonal become L, the others U. */
#define WITHOUT_PIVOTS(name, T)                                                                                        \
    static int name(int m, int n, void *matrix, int64_t ld)                                                            \
    {                                                                                                                  \
        T *a = matrix;                                                                                                 \
        int info = 0;                                                                                                  \
        for (int k = 0; k < m && k < n; k++) {                                                                         \
            if (a[k + k * ld] == 0) {                                                                                  \
                info = info ? info : k + 1;                                                                            \
                continue;                                                                                              \
            }                                                                                                          \
            for (int i = k + 1; i < m; i++)                                                                            \
                a[i + k * ld] /= a[k + k * ld];                                                                        \
            for (int j = k + 1; j < n; j++)                                                                            \
                for (int i = k + 1; i < m; i++)                                                                        \
                    a[i + j * ld] -= a[i + k * ld] * a[k + j * ld];                                                    \
        }                                                                                                              \
        return info;                                                                                                   \
    }
WITHOUT_PIVOTS(factor_floats, float)
WITHOUT_PIVOTS(factor_doubles, double)
WITHOUT_PIVOTS(factor_complex_floats, float complex)
WITHOUT_PIVOTS(factor_complex_doubles, double complex)

static int factor_without_pivots(const struct call *c)
{
    static int (*const factor[])(int m, int n, void *a, int64_t ld) = {
        [PRECISION_S] = factor_floats,
        [PRECISION_D] = factor_doubles,
        [PRECISION_C] = factor_complex_floats,
        [PRECISION_Z] = factor_complex_doubles,
    };
    return factor[c->precision](c->m, c->n, c->at[OP_A], c->ld[OP_A]);
}

/* Solves with the triangles in turn; for the transpose, in reverse order. */
static void solve_without_pivots(const struct call *c)
{
    bool plain = c->trans == 'N';
    for (int i = 0; i < 2; i++) {
        const char *uplo = plain == (i == 0) ? "L" : "U", *diag = *uplo == 'L' ? "U" : "N";
        heddle_openblas.trsm[c->precision]("L", uplo, &c->trans, diag, &c->n, &c->nrhs, precision_one(c->precision),
                                           c->at[OP_A], &c->ld[OP_A], c->at[OP_B], &c->ld[OP_B]);
    }
}

/* ---- with pivots ---- */

static int run_getrf(const struct call *c)
{
    int info = 0, n = c->m < c->n ? c->m : c->n;
    int *pivots = c->at[OP_PIVOTS];
    if (!pivots)
        return factor_without_pivots(c);
    if (c->flags & WIDE_PIVOTS && !(pivots = malloc((size_t)(n + 1) * sizeof *pivots)))
        return OUT_OF_MEMORY;
    heddle_openblas.getrf[c->precision](&c->m, &c->n, c->at[OP_A], &c->ld[OP_A], pivots, &info);
    if (c->flags & WIDE_PIVOTS) {
        for (int i = 0; i < n; i++)
            ((int64_t *)c->at[OP_PIVOTS])[i] = pivots[i];
        free(pivots);
    }
    return info;
}

static int run_getrs(const struct call *c)
{
    int info = 0;
    int *pivots = c->at[OP_PIVOTS];
    if (!pivots) {
        solve_without_pivots(c);
        return 0;
    }
    if (c->flags & WIDE_PIVOTS && !(pivots = call_narrow_pivots(c)))
        return OUT_OF_MEMORY;
    if (call_pivots_lie_in(pivots, c->n, 1, c->n))
        heddle_openblas.getrs[c->precision](&c->trans, &c->n, &c->nrhs, MATRIX(A), pivots, MATRIX(B), &info, 1);
    else
        info = BAD_ADDRESS;
    if (c->flags & WIDE_PIVOTS)
        free(pivots);
    return info;
}

static int run_laswp(const struct call *c)
{
    const int *pivots = (const int *)c->at[OP_PIVOTS] + c->first - 1;
    if (!call_pivots_lie_in(pivots, c->last - c->first + 1, abs(c->k), c->ld[OP_A]))
        return BAD_ADDRESS;
    heddle_openblas.laswp[c->precision](&c->n, c->at[OP_A], &c->ld[OP_A], &c->first, &c->last, c->at[OP_PIVOTS], &c->k);
    return 0;
}

/* ---- the calls ---- */

static size_t pivot_bytes(int flags)
{
    return flags & WIDE_PIVOTS ? sizeof(int64_t) : sizeof(int);
}

static cusolverStatus_t getrf(cusolverDnHandle_t handle, const char *name, enum precision p, int flags, int64_t m,
                              int64_t n, void *A, int64_t lda, void *pivots, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, m >= 0);
    ARGUMENT(2, n >= 0);
    if (lda < at_least_one(m)) /* reported only in info, as on an H200 */
        return call_wrong(s, name, info, -4, CUSOLVER_STATUS_SUCCESS, "lda >= m");
    FITS(lda, n);
    struct call c = call_new(name, p, run_getrf);
    int64_t least = m < n ? m : n;
    c.flags = flags;
    c.m = (int)m;
    c.n = (int)n;
    c.flops = (double)least * (double)least * ((double)(m > n ? m : n) - (double)least / 3);
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    if (pivots)
        call_vector(&c, OP_PIVOTS, pivots, least, pivot_bytes(flags), HD_WRITES);
    call_needs_info(&c, info);
    return call_put(s, &c);
}

/* For wrong arguments, and empty calls, an H200 does not write info. */
static cusolverStatus_t getrs(cusolverDnHandle_t handle, const char *name, enum precision p, int flags,
                              cublasOperation_t trans, int64_t n, int64_t nrhs, const void *A, int64_t lda,
                              const void *pivots, void *B, int64_t ldb, int *info)
{
    SOLVER(s, handle);
    NEED(is_trans(trans));
    NEED(n >= 0);
    NEED(nrhs >= 0);
    NEED(lda >= at_least_one(n));
    NEED(ldb >= at_least_one(n));
    FITS(lda, ldb, nrhs);
    if (n == 0 || nrhs == 0)
        return CUSOLVER_STATUS_SUCCESS;
    struct call c = call_solution(name, p, run_getrs, n, nrhs, B, ldb);
    c.flags = flags;
    c.trans = trans_of(trans);
    call_matrix(&c, OP_A, A, n, n, lda, HD_READS);
    if (pivots)
        call_vector(&c, OP_PIVOTS, pivots, n, pivot_bytes(flags), HD_READS);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t laswp(cusolverDnHandle_t handle, const char *name, enum precision p, int n, void *A, int lda,
                              int k1, int k2, const int *pivots, int incx)
{
    SOLVER(s, handle);
    if (n <= 0 || k1 < 1 || k2 < k1 || incx == 0)
        return CUSOLVER_STATUS_SUCCESS;
    struct call c = call_new(name, p, run_laswp);
    c.n = n;
    c.k = incx;
    c.first = k1;
    c.last = k2;
    call_matrix(&c, OP_A, A, lda, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_PIVOTS, pivots, k1 + (int64_t)(k2 - k1) * abs(incx), sizeof(int), HD_READS);
    return call_put(s, &c);
}

/* ---- their names ---- */

#define LU(X, name, T, R, p)                                                                                           \
    LIBRARY_API cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A,        \
                                                                 int lda, int *lwork)                                  \
    {                                                                                                                  \
        (void)m, (void)n, (void)A, (void)lda;                                                                          \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *work, \
                                                      int *pivots, int *info)                                          \
    {                                                                                                                  \
        (void)work;                                                                                                    \
        return getrf(handle, "cusolverDn" #X "getrf", p, 0, m, n, A, lda, pivots, info);                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,       \
                                                      int nrhs, const T *A, int lda, const int *pivots, T *B, int ldb, \
                                                      int *info)                                                       \
    {                                                                                                                  \
        return getrs(handle, "cusolverDn" #X "getrs", p, 0, trans, n, nrhs, A, lda, pivots, B, ldb, info);             \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##laswp(cusolverDnHandle_t handle, int n, T *A, int lda, int k1, int k2, \
                                                      const int *pivots, int incx)                                     \
    {                                                                                                                  \
        return laswp(handle, "cusolverDn" #X "laswp", p, n, A, lda, k1, k2, pivots, incx);                             \
    }
FOR_ALL(LU, lu, lu)

LIBRARY_API cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         int64_t m, int64_t n, cudaDataType type, const void *A,
                                                         int64_t lda, cudaDataType computeType, size_t *device,
                                                         size_t *host)
{
    (void)params, (void)m, (void)n, (void)type, (void)A, (void)lda, (void)computeType;
    SOLVER(s, handle);
    return call_sizes(device, host);
}

LIBRARY_API cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                              int64_t n, cudaDataType type, void *A, int64_t lda, int64_t *pivots,
                                              cudaDataType computeType, void *device, size_t deviceBytes, void *host,
                                              size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXgetrf";
    enum precision p;
    (void)params, (void)computeType, WITHOUT_BUFFERS;
    NEED(precision_of(type, &p));
    return getrf(handle, name, p, WIDE_PIVOTS, m, n, A, lda, pivots, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType typeA,
                                              const void *A, int64_t lda, const int64_t *pivots, cudaDataType typeB,
                                              void *B, int64_t ldb, int *info)
{
    static const char name[] = "cusolverDnXgetrs";
    enum precision p;
    (void)params;
    NEED(precision_of(typeA, &p) && typeA == typeB);
    return getrs(handle, name, p, WIDE_PIVOTS, trans, n, nrhs, A, lda, pivots, B, ldb, info);
}
