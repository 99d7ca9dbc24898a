/* Symmetric matrices that need not be definite: L D L^T by Bunch and Kaufman's pivots, or with none, inverses and solutions ("cuSOLVER", sytrf, sytri,
 * sytrs). Complex ones are symmetric, too, not Hermitian. With none, an upper triangle is U^T D U, as an H200 has it.
 */
#include "libraries/cusolver/call.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* ---- without pivots, which LAPACK does not have ---- */

/* On the lower triangle, whose rows are `across` and whose columns are `down` apart: the upper one is it transposed. */
#define WITHOUT_PIVOTS(factor, scale, T)                                                                               \
    static int factor(int n, T *a, int64_t down, int64_t across)                                                       \
    {                                                                                                                  \
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
    static void scale(int n, int nrhs, const T *a, int64_t lda, T *b, int64_t ldb)                                     \
    {                                                                                                                  \
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
    int64_t ld = c->ld[OP_A], down = c->uplo == 'L' ? 1 : ld, across = c->uplo == 'L' ? ld : 1;
    switch (c->precision) {
    case PRECISION_S: return factor_floats(c->n, c->at[OP_A], down, across);
    case PRECISION_D: return factor_doubles(c->n, c->at[OP_A], down, across);
    case PRECISION_C: return factor_complex_floats(c->n, c->at[OP_A], down, across);
    case PRECISION_Z: return factor_complex_doubles(c->n, c->at[OP_A], down, across);
    }
    return 0;
}

static void scale_by_diagonal(const struct call *c)
{
    void *a = c->at[OP_A], *b = c->at[OP_B];
    switch (c->precision) {
    case PRECISION_S: scale_floats(c->n, c->nrhs, a, c->ld[OP_A], b, c->ld[OP_B]); break;
    case PRECISION_D: scale_doubles(c->n, c->nrhs, a, c->ld[OP_A], b, c->ld[OP_B]); break;
    case PRECISION_C: scale_complex_floats(c->n, c->nrhs, a, c->ld[OP_A], b, c->ld[OP_B]); break;
    case PRECISION_Z: scale_complex_doubles(c->n, c->nrhs, a, c->ld[OP_A], b, c->ld[OP_B]); break;
    }
}

static void solve_triangle(const struct call *c, const char *trans)
{
    static const double one[2] = {1, 0};
    static const float one_float[2] = {1, 0};
    const void *alpha = precision_real_bytes(c->precision) == sizeof(float) ? (const void *)one_float : one;
    heddle_openblas.trsm[c->precision]("L", &c->uplo, trans, "U", &c->n, &c->nrhs, alpha, c->at[OP_A], &c->ld[OP_A],
                                       c->at[OP_B], &c->ld[OP_B]);
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
    int *pivots = malloc((size_t)(c->n + 1) * sizeof *pivots);
    if (!pivots)
        return OUT_OF_MEMORY;
    for (int i = 0; i < c->n; i++)
        pivots[i] = (int)((const int64_t *)c->at[OP_PIVOTS])[i];
    heddle_openblas.sytrs[c->precision](&c->uplo, &c->n, &c->nrhs, c->at[OP_A], &c->ld[OP_A], pivots, c->at[OP_B],
                                        &c->ld[OP_B], &info, 1);
    free(pivots);
    return info;
}

/* ---- the calls ---- */

static cusolverStatus_t sytrf(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, int *pivots, int lwork, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, is_uplo(uplo));
    ARGUMENT(2, n >= 0);
    ARGUMENT(4, lda >= at_least_one(n));
    ARGUMENT(7, lwork > 0);
    struct call c = call_new(name, p, run_sytrf);
    c.uplo = uplo_of(uplo);
    c.n = n;
    c.flops = (double)n * n * n / 3;
    call_triangle(&c, OP_A, A, c.uplo, n, lda, HD_READS | HD_WRITES);
    if (pivots)
        call_vector(&c, OP_PIVOTS, pivots, n, sizeof *pivots, HD_WRITES);
    call_info(&c, info, 1);
    return call_put(s, &c);
}

static cusolverStatus_t sytri(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, const int *pivots, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, is_uplo(uplo));
    ARGUMENT(2, n >= 0);
    ARGUMENT(4, lda >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_NOT_SUPPORTED, pivots != NULL);
    struct call c = call_new(name, p, run_sytri);
    c.uplo = uplo_of(uplo);
    c.n = n;
    c.flops = 2.0 / 3 * n * n * n;
    call_triangle(&c, OP_A, A, c.uplo, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_PIVOTS, pivots, n, sizeof *pivots, HD_READS);
    call_info(&c, info, 1);
    return call_put(s, &c);
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
    (void)device, (void)deviceBytes, (void)host, (void)hostBytes;
    SOLVER(s, handle);
    ARGUMENT(1, is_uplo(uplo));
    ARGUMENT(2, n >= 0);
    ARGUMENT(3, nrhs >= 0);
    ARGUMENT(6, lda >= at_least_one(n));
    ARGUMENT(10, ldb >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, precision_of(typeA, &p) && typeA == typeB);
    FITS(lda);
    FITS(ldb);
    FITS(nrhs);
    struct call c = call_new(name, p, run_sytrs);
    c.uplo = uplo_of(uplo);
    c.n = (int)n;
    c.nrhs = (int)nrhs;
    c.flops = 2 * (double)n * (double)n * (double)nrhs;
    call_triangle(&c, OP_A, A, c.uplo, n, lda, HD_READS);
    if (ipiv)
        call_vector(&c, OP_PIVOTS, ipiv, n, sizeof *ipiv, HD_READS);
    call_matrix(&c, OP_B, B, n, nrhs, ldb, HD_READS | HD_WRITES);
    call_info(&c, info, 1);
    return call_put(s, &c);
}
