/* QR, and reductions to bidiagonal and tridiagonal form, with their unitary matrices ("cuSOLVER",
 * geqrf, orgqr, ormqr, gebrd, orgbr, sytrd, orgtr, ormtr; larft): Householder reflectors, stored as
 * in LAPACK.
 */
#include "libraries/cusolver/call.h"

#include <stdlib.h>

/* ---- what LAPACK does ---- */

RUN_WITH_WORK(geqrf, &c->m, &c->n, MATRIX(A), c->at[OP_TAU], work, &lwork, &info)
RUN_WITH_WORK(orgqr, &c->m, &c->n, &c->k, MATRIX(A), c->at[OP_TAU], work, &lwork, &info)
RUN_WITH_WORK(ormqr, &c->side, &c->trans, &c->m, &c->n, &c->k, MATRIX(A), c->at[OP_TAU], MATRIX(C), work, &lwork, &info,
              1, 1)
RUN_WITH_WORK(gebrd, &c->m, &c->n, MATRIX(A), c->at[OP_W], c->at[OP_E], c->at[OP_TAU], c->at[OP_TAU_P], work, &lwork,
              &info)
RUN_WITH_WORK(orgbr, &c->side, &c->m, &c->n, &c->k, MATRIX(A), c->at[OP_TAU], work, &lwork, &info, 1)
RUN_WITH_WORK(sytrd, &c->uplo, &c->n, MATRIX(A), c->at[OP_W], c->at[OP_E], c->at[OP_TAU], work, &lwork, &info, 1)
RUN_WITH_WORK(orgtr, &c->uplo, &c->n, MATRIX(A), c->at[OP_TAU], work, &lwork, &info, 1)
RUN_WITH_WORK(ormtr, &c->side, &c->uplo, &c->trans, &c->m, &c->n, MATRIX(A), c->at[OP_TAU], MATRIX(C), work, &lwork,
              &info, 1, 1, 1)

static int run_larft(const struct call *c)
{
    heddle_openblas.larft[c->precision](&c->job_u, &c->job_v, &c->n, &c->k, c->at[OP_V], &c->ld[OP_V], c->at[OP_TAU],
                                        c->at[OP_C], &c->ld[OP_C], 1, 1);
    return 0;
}

/* ---- the calls ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

/* Is it the adjoint: T for real matrices, C for complex ones? */
static bool is_adjoint(enum precision p, cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N || trans == (precision_is_complex(p) ? CUBLAS_OP_C : CUBLAS_OP_T);
}

static cusolverStatus_t geqrf(cusolverDnHandle_t handle, const char *name, enum precision p, int64_t m, int64_t n,
                              void *A, int64_t lda, void *tau, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, m >= 0);
    ARGUMENT(2, n >= 0);
    ARGUMENT(4, lda >= at_least_one(m));
    FITS(lda, n);
    struct call c = call_new(name, p, run_geqrf);
    c.m = (int)m;
    c.n = (int)n;
    c.flops = 2 * (double)n * (double)n * ((double)m - (double)n / 3);
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_TAU, tau, least(m, n), precision_bytes(p), HD_WRITES);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t orgqr(cusolverDnHandle_t handle, const char *name, enum precision p, int m, int n, int k,
                              void *A, int lda, const void *tau, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, m >= 0);
    ARGUMENT(2, n >= 0 && n <= m);
    ARGUMENT(3, k >= 0 && k <= n);
    ARGUMENT(5, lda >= at_least_one(m));
    struct call c = call_new(name, p, run_orgqr);
    c.m = m;
    c.n = n;
    c.k = k;
    c.flops = 4.0 * m * n * k;
    call_matrix(&c, OP_A, A, m, k, lda, HD_READS);
    call_matrix(&c, OP_A, A, m, n, lda, HD_WRITES);
    call_vector(&c, OP_TAU, tau, k, precision_bytes(p), HD_READS);
    return call_put_info(s, &c, info);
}

/* op(Q) * C, or C * op(Q), where Q has k reflectors. */
static struct call product(const char *name, enum precision p, call_run *run, cublasSideMode_t side,
                           cublasOperation_t trans, int m, int n, int k, const void *tau, void *C, int ldc)
{
    struct call c = call_new(name, p, run);
    c.side = side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
    c.trans = trans_of(trans);
    c.m = m;
    c.n = n;
    c.k = k;
    c.flops = 4.0 * m * n * k;
    call_vector(&c, OP_TAU, tau, k, precision_bytes(p), HD_READS);
    call_matrix(&c, OP_C, C, m, n, ldc, HD_READS | HD_WRITES);
    return c;
}

static cusolverStatus_t ormqr(cusolverDnHandle_t handle, const char *name, enum precision p, cublasSideMode_t side,
                              cublasOperation_t trans, int m, int n, int k, const void *A, int lda, const void *tau,
                              void *C, int ldc, int *info)
{
    SOLVER(s, handle);
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    ARGUMENT(1, is_side(side));
    ARGUMENT(2, is_adjoint(p, trans));
    ARGUMENT(3, m >= 0);
    ARGUMENT(4, n >= 0);
    ARGUMENT(5, k >= 0 && k <= order);
    ARGUMENT(7, lda >= at_least_one(order));
    ARGUMENT(10, ldc >= at_least_one(m));
    struct call c = product(name, p, run_ormqr, side, trans, m, n, k, tau, C, ldc);
    call_matrix(&c, OP_A, A, order, k, lda, HD_READS);
    return call_put_info(s, &c, info);
}

/* Reduces A to n real diagonal elements and a second diagonal. */
static struct call reduction(const char *name, enum precision p, call_run *run, int n, void *d, void *e)
{
    struct call c = call_new(name, p, run);
    call_vector(&c, OP_W, d, n, precision_real_bytes(p), HD_WRITES);
    call_vector(&c, OP_E, e, n - 1, precision_real_bytes(p), HD_WRITES);
    return c;
}

static cusolverStatus_t gebrd(cusolverDnHandle_t handle, const char *name, enum precision p, int m, int n, void *A,
                              int lda, void *D, void *E, void *tauq, void *taup, int *info)
{
    SOLVER(s, handle);
    int small = (int)least(m, n);
    ARGUMENT(1, m >= 0);
    ARGUMENT(2, n >= 0);
    ARGUMENT(4, lda >= at_least_one(m));
    if (m < n)
        return call_wrong(s, name, NULL, 0, CUSOLVER_STATUS_NOT_SUPPORTED, "m is at least n");
    struct call c = reduction(name, p, run_gebrd, small, D, E);
    c.m = m;
    c.n = n;
    c.flops = 4.0 * m * n * small;
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_TAU, tauq, small, precision_bytes(p), HD_WRITES);
    call_vector(&c, OP_TAU_P, taup, small, precision_bytes(p), HD_WRITES);
    return call_put_info(s, &c, info);
}

/* The left side is Q, with m rows; the right side is P^H, with n columns. */
static cusolverStatus_t orgbr(cusolverDnHandle_t handle, const char *name, enum precision p, cublasSideMode_t side,
                              int m, int n, int k, void *A, int lda, const void *tau, int *info)
{
    SOLVER(s, handle);
    bool left = side == CUBLAS_SIDE_LEFT;
    int large = left ? m : n, small = left ? n : m;
    ARGUMENT(1, is_side(side));
    ARGUMENT(2, m >= 0);
    ARGUMENT(3, n >= 0 && small <= large && small >= least(large, k));
    ARGUMENT(4, k >= 0);
    ARGUMENT(6, lda >= at_least_one(m));
    struct call c = call_new(name, p, run_orgbr);
    c.side = left ? 'Q' : 'P';
    c.m = m;
    c.n = n;
    c.k = k;
    c.flops = 4.0 * m * n * k;
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_TAU, tau, least(large, k), precision_bytes(p), HD_READS);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t sytrd(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, void *d, void *e, void *tau, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(4, lda >= at_least_one(n));
    struct call c = reduction(name, p, run_sytrd, n, d, e);
    c.n = n;
    c.flops = 4 * cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_TAU, tau, n - 1, precision_bytes(p), HD_WRITES);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t orgtr(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int n, void *A, int lda, const void *tau, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(4, lda >= at_least_one(n));
    struct call c = call_new(name, p, run_orgtr);
    c.n = n;
    c.flops = 4 * cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS);
    call_matrix(&c, OP_A, A, n, n, lda, HD_WRITES);
    call_vector(&c, OP_TAU, tau, n - 1, precision_bytes(p), HD_READS);
    return call_put_info(s, &c, info);
}

static cusolverStatus_t ormtr(cusolverDnHandle_t handle, const char *name, enum precision p, cublasSideMode_t side,
                              cublasFillMode_t uplo, cublasOperation_t trans, int m, int n, const void *A, int lda,
                              const void *tau, void *C, int ldc, int *info)
{
    SOLVER(s, handle);
    int order = side == CUBLAS_SIDE_LEFT ? m : n;
    ARGUMENT(1, is_side(side));
    ARGUMENT(2, is_uplo(uplo));
    ARGUMENT(3, is_adjoint(p, trans));
    ARGUMENT(4, m >= 0);
    ARGUMENT(5, n >= 0);
    ARGUMENT(7, lda >= at_least_one(order));
    ARGUMENT(10, ldc >= at_least_one(m));
    struct call c = product(name, p, run_ormtr, side, trans, m, n, order > 0 ? order - 1 : 0, tau, C, ldc);
    call_triangle(&c, OP_A, A, uplo, order, lda, HD_READS);
    return call_put_info(s, &c, info);
}

/* ---- their names ---- */

/* A size function; arguments are not checked, except in some cases the handle. */
#define SIZE_OF(X, name, ...)                                                                                          \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##_bufferSize(cusolverDnHandle_t handle, __VA_ARGS__, int *lwork)

#define GEQRF(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, geqrf, int m, int n, T *A, int lda)                                                                     \
    {                                                                                                                  \
        (void)m, (void)n, (void)A, (void)lda;                                                                          \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *tau,  \
                                                      T *work, int lwork, int *info)                                   \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return geqrf(handle, "cusolverDn" #X "geqrf", p, m, n, A, lda, tau, info);                                     \
    }                                                                                                                  \
    SIZE_OF(X, gebrd, int m, int n)                                                                                    \
    {                                                                                                                  \
        (void)m, (void)n;                                                                                              \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##gebrd(cusolverDnHandle_t handle, int m, int n, T *A, int lda, R *D,    \
                                                      R *E, T *tauq, T *taup, T *work, int lwork, int *info)           \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return gebrd(handle, "cusolverDn" #X "gebrd", p, m, n, A, lda, D, E, tauq, taup, info);                        \
    }
FOR_ALL(GEQRF, geqrf, geqrf)

#define ORGQR(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, int m, int n, int k, const T *A, int lda, const T *tau)                                           \
    {                                                                                                                  \
        (void)m, (void)n, (void)k, (void)A, (void)lda, (void)tau;                                                      \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda,    \
                                                     const T *tau, T *work, int lwork, int *info)                      \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return orgqr(handle, "cusolverDn" #X #name, p, m, n, k, A, lda, tau, info);                                    \
    }
FOR_ALL(ORGQR, orgqr, ungqr)

#define ORMQR(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T *A, int lda,         \
            const T *tau, const T *C, int ldc)                                                                         \
    {                                                                                                                  \
        (void)handle, (void)side, (void)trans, (void)m, (void)n, (void)k, (void)A, (void)lda, (void)tau, (void)C,      \
            (void)ldc;                                                                                                 \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(                                                                  \
        cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T *A,    \
        int lda, const T *tau, T *C, int ldc, T *work, int lwork, int *info)                                           \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return ormqr(handle, "cusolverDn" #X #name, p, side, trans, m, n, k, A, lda, tau, C, ldc, info);               \
    }
FOR_ALL(ORMQR, ormqr, unmqr)

#define ORGBR(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, cublasSideMode_t side, int m, int n, int k, const T *A, int lda, const T *tau)                    \
    {                                                                                                                  \
        (void)side, (void)m, (void)n, (void)k, (void)A, (void)lda, (void)tau;                                          \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(cusolverDnHandle_t handle, cublasSideMode_t side, int m, int n,   \
                                                     int k, T *A, int lda, const T *tau, T *work, int lwork,           \
                                                     int *info)                                                        \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return orgbr(handle, "cusolverDn" #X #name, p, side, m, n, k, A, lda, tau, info);                              \
    }
FOR_ALL(ORGBR, orgbr, ungbr)

#define SYTRD(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, cublasFillMode_t uplo, int n, const T *A, int lda, const R *d, const R *e, const T *tau)          \
    {                                                                                                                  \
        (void)uplo, (void)n, (void)A, (void)lda, (void)d, (void)e, (void)tau;                                          \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,    \
                                                     int lda, R *d, R *e, T *tau, T *work, int lwork, int *info)       \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return sytrd(handle, "cusolverDn" #X #name, p, uplo, n, A, lda, d, e, tau, info);                              \
    }
FOR_ALL(SYTRD, sytrd, hetrd)

#define ORGTR(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, cublasFillMode_t uplo, int n, const T *A, int lda, const T *tau)                                  \
    {                                                                                                                  \
        (void)uplo, (void)A, (void)tau;                                                                                \
        SOLVER(s, handle);                                                                                             \
        return n < 0 || lda < 0 ? CUSOLVER_STATUS_INVALID_VALUE : call_size(lwork, 1);                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,    \
                                                     int lda, const T *tau, T *work, int lwork, int *info)             \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return orgtr(handle, "cusolverDn" #X #name, p, uplo, n, A, lda, tau, info);                                    \
    }
FOR_ALL(ORGTR, orgtr, ungtr)

#define ORMTR(X, name, T, R, p)                                                                                        \
    SIZE_OF(X, name, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, int m, int n, const T *A,  \
            int lda, const T *tau, const T *C, int ldc)                                                                \
    {                                                                                                                  \
        (void)handle, (void)side, (void)uplo, (void)trans, (void)m, (void)n, (void)A, (void)lda, (void)tau, (void)C,   \
            (void)ldc;                                                                                                 \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(                                                                  \
        cusolverDnHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, int m,       \
        int n, T *A, int lda, T *tau, T *C, int ldc, T *work, int lwork, int *info)                                    \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return ormtr(handle, "cusolverDn" #X #name, p, side, uplo, trans, m, n, A, lda, tau, C, ldc, info);            \
    }
FOR_ALL(ORMTR, ormtr, unmtr)

LIBRARY_API cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         int64_t m, int64_t n, cudaDataType typeA, const void *A,
                                                         int64_t lda, cudaDataType typeTau, const void *tau,
                                                         cudaDataType computeType, size_t *device, size_t *host)
{
    enum precision p;
    (void)params, (void)m, (void)n, (void)A, (void)lda, (void)tau;
    SOLVER(s, handle);
    bool fits = precision_of(typeA, &p) && typeA == typeTau && typeA == computeType;
    return fits ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                              int64_t n, cudaDataType typeA, void *A, int64_t lda, cudaDataType typeTau,
                                              void *tau, cudaDataType computeType, void *device, size_t deviceBytes,
                                              void *host, size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXgeqrf";
    enum precision p;
    (void)params, WITHOUT_BUFFERS;
    SOLVER(s, handle);
    ARGUMENT(0, precision_of(typeA, &p) && typeA == typeTau && typeA == computeType);
    return geqrf(handle, name, p, m, n, A, lda, tau, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXlarft_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cusolverDirectMode_t direct, cusolverStorevMode_t storev,
                                                         int64_t n, int64_t k, cudaDataType typeV, const void *V,
                                                         int64_t ldv, cudaDataType typeTau, const void *tau,
                                                         cudaDataType typeT, void *T, int64_t ldt,
                                                         cudaDataType computeType, size_t *device, size_t *host)
{
    (void)params, (void)direct, (void)storev, (void)n, (void)k, (void)typeV, (void)V, (void)ldv, (void)typeTau,
        (void)tau, (void)typeT;
    (void)T, (void)ldt, (void)computeType;
    SOLVER(s, handle);
    return call_sizes(device, host);
}

LIBRARY_API cusolverStatus_t cusolverDnXlarft(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverDirectMode_t direct, cusolverStorevMode_t storev, int64_t n,
                                              int64_t k, cudaDataType typeV, const void *V, int64_t ldv,
                                              cudaDataType typeTau, const void *tau, cudaDataType typeT, void *T,
                                              int64_t ldt, cudaDataType computeType, void *device, size_t deviceBytes,
                                              void *host, size_t hostBytes)
{
    static const char name[] = "cusolverDnXlarft";
    enum precision p;
    (void)params, WITHOUT_BUFFERS;
    SOLVER(s, handle);
    NEED(precision_of(typeV, &p) && typeV == typeTau && typeV == typeT && typeV == computeType);
    NEED(n >= 0);
    NEED(k >= 1);
    NEED(ldv >= at_least_one(storev == CUBLAS_STOREV_COLUMNWISE ? n : k));
    NEED(ldt >= k);
    FITS(ldv, ldt);
    struct call c = call_new(name, p, run_larft);
    c.job_u = direct == CUBLAS_DIRECT_FORWARD ? 'F' : 'B';
    c.job_v = storev == CUBLAS_STOREV_COLUMNWISE ? 'C' : 'R';
    c.n = (int)n;
    c.k = (int)k;
    call_matrix(&c, OP_V, V, c.job_v == 'C' ? n : k, c.job_v == 'C' ? k : n, ldv, HD_READS);
    call_vector(&c, OP_TAU, tau, k, precision_bytes(p), HD_READS);
    call_triangle(&c, OP_C, T, c.job_u == 'F' ? 'U' : 'L', k, ldt, HD_WRITES);
    return call_put(s, &c);
}
