/* Symmetric indefinite matrices: L D L^T with Bunch-Kaufman pivoting or without, inverses and
 * solutions ("cuSOLVER", sytrf, sytri, sytrs). Complex matrices are symmetric, too, not Hermitian.
 * Without pivoting, an upper triangle gives U^T D U, as on an H200.
 */
#include "libraries/cusolver/call.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* ---- without pivots, which LAPACK does not have ---- */

/* For the lower triangle with the given row and column strides; the upper triangle is its
 * transpose. */
#define WITHOUT_PIVOTS(factor, scale, T)                                                                               \
    static int factor(int n, void *matrix, int64_t down, int64_t across)                                               \
    {                                                                                                                  \
        T *a = matrix;                                                                                                 \
        for (int k = 0; k < n; k++) {                                                                                  \
            T d = a[k * (down + across)];                                                                              \
            if (d == 0)                                                                                                \
                return k + 1;                                                                                          \
            for (int j = k + 1; j < n; j++)                                                                            \
                for (int i = j; i < n; i++)                                                                            \
                    a[i * down + j * across] -= a[i * down + k * across] * a[j * down + k * across] / d;               \
            for (int i = k + 1; i < n; i++)                                                                            \
                a[i * down + k * across] /= d;                                                                         \
        }                                                                                                              \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static void scale(int n, int nrhs, const void *matrix, int64_t lda, void *right, int64_t ldb)                      \
    {                                                                                                                  \
        const T *a = matrix;                                                                                           \
        T *b = right;                                                                                                  \
        for (int j = 0; j < nrhs; j++)                                                                                 \
            for (int i = 0; i < n; i++)                                                                                \
                b[i + j * ldb] /= a[i + i * lda];                                                                      \
    }
WITHOUT_PIVOTS(factor_floats, scale_floats, float)
WITHOUT_PIVOTS(factor_doubles, scale_doubles, double)
WITHOUT_PIVOTS(factor_complex_floats, scale_complex_floats, float complex)
WITHOUT_PIVOTS(factor_complex_doubles, scale_complex_doubles, double complex)

static int factor_without_pivots(const struct call *c)
{
    static int (*const factor[])(int n, void *a, int64_t down, int64_t across) = {
        [PRECISION_S] = factor_floats,
        [PRECISION_D] = factor_doubles,
        [PRECISION_C] = factor_complex_floats,
        [PRECISION_Z] = factor_complex_doubles,
    };
    int64_t ld = c->ld[OP_A];
    return factor[c->precision](c->n, c->at[OP_A], c->uplo == 'L' ? 1 : ld, c->uplo == 'L' ? ld : 1);
}

static void scale_by_diagonal(const struct call *c)
{
    static void (*const scale[])(int n, int nrhs, const void *a, int64_t lda, void *b, int64_t ldb) = {
        [PRECISION_S] = scale_floats,
        [PRECISION_D] = scale_doubles,
        [PRECISION_C] = scale_complex_floats,
        [PRECISION_Z] = scale_complex_doubles,
    };
    scale[c->precision](c->n, c->nrhs, c->at[OP_A], c->ld[OP_A], c->at[OP_B], c->ld[OP_B]);
}

static void solve_triangle(const struct call *c, const char *trans)
{
    heddle_openblas.trsm[c->precision]("L", &c->uplo, trans, "U", &c->n, &c->nrhs, precision_one(c->precision),
                                       c->at[OP_A], &c->ld[OP_A], c->at[OP_B], &c->ld[OP_B]);
}

static int solve_without_pivots(const struct call *c)
{
    solve_triangle(c, c->uplo == 'L' ? "N" : "T");
    scale_by_diagonal(c);
    solve_triangle(c, c->uplo == 'L' ? "T" : "N");
    return 0;
}

/* ---- with pivots ---- */

static int run_sytrf(const struct call *c)
{
    int info = 0;
    if (!c->at[OP_PIVOTS])
        return factor_without_pivots(c);
    WITH_WORK(c->precision, heddle_openblas.sytrf[c->precision](&c->uplo, &c->n, c->at[OP_A], &c->ld[OP_A],
                                                                c->at[OP_PIVOTS], work, &lwork, &info, 1));
    return info;
}

static int run_sytri(const struct call *c)
{
    int info = 0;
    void *work = malloc((size_t)(2 * c->n + 1) * precision_bytes(c->precision));
    if (!work)
        return OUT_OF_MEMORY;
    heddle_openblas.sytri[c->precision](&c->uplo, &c->n, c->at[OP_A], &c->ld[OP_A], c->at[OP_PIVOTS], work, &info, 1);
    free(work);
    return info;
}

static int run_sytrs(const struct call *c)
{
    int info = 0;
    if (!c->at[OP_PIVOTS])
        return solve_without_pivots(c);
    int *pivots = call_narrow_pivots(c);
    if (!pivots)
        return OUT_OF_MEMORY;
    if (call_pivots_lie_in(pivots, c->n, 1, c->n))
        heddle_openblas.sytrs[c->precision](&c->uplo, &c->n, &c->nrhs, MATRIX(A), pivots, MATRIX(B), &info, 1);
    else
        info = BAD_ADDRESS;
    free(pivots);
    return info;
}

/* ---- the calls ---- */

static cusolverStatus_t sytrf(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, int *pivots, int lwork, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(4, lda >= at_least_one(n));
    ARGUMENT(7, lwork > 0);
    if (n == 0)
        return CUSOLVER_STATUS_SUCCESS; /* an H200 writes no info */
    struct call c = call_new(name, p, run_sytrf);
    c.n = n;
    c.flops = cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS | HD_WRITES);
    if (pivots)
        call_vector(&c, OP_PIVOTS, pivots, n, sizeof *pivots, HD_WRITES);
    call_needs_info(&c, info);
    return call_put(s, &c);
}

static cusolverStatus_t sytri(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, const int *pivots, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(4, lda >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_NOT_SUPPORTED, pivots != NULL);
    struct call c = call_new(name, p, run_sytri);
    c.n = n;
    c.flops = 2 * cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_PIVOTS, pivots, n, sizeof *pivots, HD_READS);
    return call_put_info(s, &c, info);
}

#define SYMMETRIC(X, name, T, R, p)                                                                                    \
    LIBRARY_API cusolverStatus_t cusolverDn##X##sytrf_bufferSize(cusolverDnHandle_t handle, int n, T *A, int lda,      \
                                                                 int *lwork)                                           \
    {                                                                                                                  \
        (void)n, (void)A, (void)lda;                                                                                   \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##sytrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,   \
                                                      int lda, int *ipiv, T *work, int lwork, int *info)               \
    {                                                                                                                  \
        (void)work;                                                                                                    \
        return sytrf(handle, "cusolverDn" #X "sytrf", p, uplo, n, A, lda, ipiv, lwork, info);                          \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##sytri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,     \
                                                                 int n, T *A, int lda, const int *ipiv, int *lwork)    \
    {                                                                                                                  \
        (void)handle, (void)uplo, (void)n, (void)A, (void)lda, (void)ipiv;                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##sytri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,   \
                                                      int lda, const int *ipiv, T *work, int lwork, int *info)         \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return sytri(handle, "cusolverDn" #X "sytri", p, uplo, n, A, lda, ipiv, info);                                 \
    }
FOR_ALL(SYMMETRIC, sytrf, sytrf)

LIBRARY_API cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n,
                                                         int64_t nrhs, cudaDataType typeA, const void *A, int64_t lda,
                                                         const int64_t *ipiv, cudaDataType typeB, void *B, int64_t ldb,
                                                         size_t *device, size_t *host)
{
    (void)handle, (void)uplo, (void)n, (void)nrhs, (void)typeA, (void)A, (void)lda, (void)ipiv, (void)typeB, (void)B,
        (void)ldb;
    return call_sizes(device, host);
}

LIBRARY_API cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                              cudaDataType typeA, const void *A, int64_t lda, const int64_t *ipiv,
                                              cudaDataType typeB, void *B, int64_t ldb, void *device,
                                              size_t deviceBytes, void *host, size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXsytrs";
    enum precision p;
    WITHOUT_BUFFERS;
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(3, nrhs >= 0);
    ARGUMENT(6, lda >= at_least_one(n));
    ARGUMENT(10, ldb >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, precision_of(typeA, &p) && typeA == typeB);
    FITS(lda, ldb, nrhs);
    struct call c = call_solution(name, p, run_sytrs, n, nrhs, B, ldb);
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS);
    if (ipiv)
        call_vector(&c, OP_PIVOTS, ipiv, n, sizeof *ipiv, HD_READS);
    return call_put_info(s, &c, info);
}
