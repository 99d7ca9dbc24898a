/* Factors of sparse matrices that a program keeps (cusolverSp_LOWLEVEL_PREVIEW.h; "cuSOLVER",
 * 2.5.5): csrqr and csrchol step by step, and csrqr for batches. An info keeps a copy of its matrix
 * and a band factor (band.h). The calls wait for their tasks, because the info is on the host.
 */
#include "cuda/cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libraries/cusolver/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct factors {
    bool definite;
    struct csr a; /* a copy of the matrix to factor */
    double shift[2];
    struct band *band;
};

static void factors_clear(struct factors *f)
{
    free((void *)f->a.row);
    free((void *)f->a.column);
    free((void *)f->a.values);
    band_free(f->band);
    f->a = (struct csr){0};
    f->band = NULL;
}

static void factors_free(void *record)
{
    factors_clear(record);
    free(record);
}

/* ---- the steps ---- */

static void *copied(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    return to ? memcpy(to, from, bytes) : NULL;
}

/* An invalid matrix is replaced by one without rows, which has no factor. */
static int run_take(const struct call *c)
{
    struct factors *f = c->host;
    const struct csr a = sparse_csr(c, 0);
    factors_clear(f);
    f->shift[0] = c->low;
    f->shift[1] = c->shift_imaginary;
    if (c->n == 0 || !csr_is_valid(&a))
        return 0;
    size_t nnz = (size_t)(a.row[a.n] - a.base);
    f->a = a;
    f->a.row = copied(a.row, ((size_t)a.n + 1) * sizeof *a.row);
    f->a.column = copied(a.column, nnz * sizeof *a.column);
    f->a.values = copied(a.values, nnz * precision_bytes(a.precision));
    if (f->a.row && f->a.column && f->a.values)
        return 0;
    factors_clear(f);
    return OUT_OF_MEMORY;
}

/* The first row whose pivot does not exceed the tolerance, or -1. */
static int factor(struct factors *f, double tolerance, int *singular)
{
    *singular = f->a.n ? -1 : 0;
    band_free(f->band);
    f->band = f->a.n ? band_factor(&f->a, f->definite, f->shift, tolerance, singular) : NULL;
    return f->band || !f->a.n ? 0 : OUT_OF_MEMORY;
}

static int solve_kept(const struct factors *f, const struct call *c)
{
    return !f->band || band_solve(f->band, c->at[OP_B], c->at[OP_X]) ? 0 : OUT_OF_MEMORY;
}

static int run_factor(const struct call *c)
{
    struct factors *f = c->host;
    int singular, r = factor(f, 0, &singular);
    return r || !c->at[OP_B] || !c->at[OP_X] || singular >= 0 ? r : solve_kept(f, c);
}

static int run_take_and_factor(const struct call *c)
{
    int r = run_take(c);
    return r ? r : run_factor(c);
}

static int run_solve(const struct call *c)
{
    return solve_kept(c->host, c);
}

/* A singular matrix of a batch has a solution of NaNs. */
static int run_batch(const struct call *c)
{
    static const double unshifted[2] = {0, 0};
    for (int i = 0; c->n > 0 && i < c->batch; i++) {
        const struct csr a = sparse_csr(c, i);
        int singular = 0;
        struct band *f = csr_is_valid(&a) ? band_factor(&a, false, unshifted, 0, &singular) : NULL;
        void *x = element_at(c->precision, c->at[OP_X], (int64_t)i * c->n);
        bool done = singular >= 0 || (f && band_solve(f, element_at(c->precision, c->at[OP_B], (int64_t)i * c->n), x));
        if (singular >= 0)
            memset(x, 0xff, (size_t)c->n * precision_bytes(c->precision));
        band_free(f);
        if (!done)
            return OUT_OF_MEMORY;
    }
    return 0;
}

/* ---- the calls ---- */

static cusolverStatus_t create(void **info, enum kind kind)
{
    IN_CALL;
    if (!info)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct factors *f = calloc(1, sizeof *f);
    if (f)
        f->definite = kind == KIND_CHOLESKY;
    *info = library_add_handle(kind, f);
    return *info ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

static cusolverStatus_t destroy(void *info, enum kind kind)
{
    IN_CALL;
    void *f = handle_take(&library_handles, info, kind);
    if (f)
        call_later(factors_free, f);
    return f || !info ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

#define FACTORS(info, kind)                                                                                            \
    SPARSE(s, handle);                                                                                                 \
    struct factors *f = handle_find(&library_handles, info, kind);                                                     \
    NEED(f)
#define FACTORS_OF(info, kind, m)                                                                                      \
    FACTORS(info, kind);                                                                                               \
    cusolverStatus_t wrong = sparse_check(name, m);                                                                    \
    if (wrong)                                                                                                         \
    return wrong

static cusolverStatus_t analyse(const char *name, cusolverSpHandle_t handle, void *info, enum kind kind,
                                struct matrix m)
{
    m.values = m.rows; /* only the pattern is used */
    FACTORS_OF(info, kind, &m);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t sizes(const char *name, cusolverSpHandle_t handle, void *info, enum kind kind,
                              const struct matrix *m, size_t *internal, size_t *workspace)
{
    FACTORS_OF(info, kind, m);
    NEED(internal && workspace);
    /* Nothing is needed, but some programs refuse to allocate nothing. */
    *internal = *workspace = 16;
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t take(const char *name, cusolverSpHandle_t handle, void *info, enum kind kind, enum precision p,
                             bool on_host, call_run *run, const struct matrix *m, const double shift[2])
{
    FACTORS_OF(info, kind, m);
    struct call c = sparse_call(name, p, run, m, 1);
    c.low = shift[0];
    c.shift_imaginary = shift[1];
    c.host = f;
    c.waits = true;
    return sparse_do(s, &c, on_host);
}

/* `optional`: if both are NULL nothing is solved. */
static cusolverStatus_t use(const char *name, cusolverSpHandle_t handle, void *info, enum kind kind, enum precision p,
                            bool on_host, call_run *run, int n, const void *b, void *x, bool optional)
{
    FACTORS(info, kind);
    NEED(n >= 0 && n == f->a.n);
    NEED(f->a.precision == p);
    NEED(optional || (b && x && f->band));
    struct call c = call_new(name, p, run);
    c.n = n;
    c.host = f;
    c.waits = true;
    int solved = b && x ? n : 0;
    call_vector(&c, OP_B, b, solved, precision_bytes(p), HD_READS);
    call_vector(&c, OP_X, x, solved, precision_bytes(p), HD_WRITES);
    return sparse_do(s, &c, on_host);
}

static cusolverStatus_t zero_pivot(const char *name, cusolverSpHandle_t handle, void *info, enum kind kind,
                                   double tolerance, int *position)
{
    FACTORS(info, kind);
    NEED(position && f->band);
    return factor(f, tolerance, position) ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t solve_batch(const char *name, cusolverSpHandle_t handle, void *info, enum precision p,
                                    const struct matrix *m, int batch, const void *b, void *x)
{
    FACTORS_OF(info, KIND_QR, m);
    (void)f;
    NEED(batch >= 0 && b && x);
    struct call c = sparse_call(name, p, run_batch, m, batch);
    c.waits = true;
    call_vector(&c, OP_B, b, (int64_t)m->n * batch, precision_bytes(p), HD_READS);
    call_vector(&c, OP_X, x, (int64_t)m->n * batch, precision_bytes(p), HD_WRITES);
    return sparse_do(s, &c, false);
}

/* ---- their names ---- */

#define SQUARE(m, n)                                                                                                   \
    const char *const name = __func__;                                                                                 \
    NEED_OR(CUSOLVER_STATUS_NOT_SUPPORTED, (m) == (n))
#define PATTERN int n, int nnz, const cusparseMatDescr_t descriptor, const int *rows, const int *columns
#define MATRIX_OF(T)                                                                                                   \
    int n, int nnz, const cusparseMatDescr_t descriptor, const T *values, const int *rows, const int *columns
#define M(values)                                                                                                      \
    &(const struct matrix)                                                                                             \
    {                                                                                                                  \
        n, nnz, descriptor, values, rows, columns                                                                      \
    }
static const double unshifted[2] = {0, 0};

#define INFOS(Name, Type, kind)                                                                                        \
    LIBRARY_API cusolverStatus_t cusolverSpCreate##Name(Type *info)                                                    \
    {                                                                                                                  \
        return create((void **)info, kind);                                                                            \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSpDestroy##Name(Type info)                                                    \
    {                                                                                                                  \
        return destroy(info, kind);                                                                                    \
    }
INFOS(CsrqrInfo, csrqrInfo_t, KIND_QR)
INFOS(CsrqrInfoHost, csrqrInfoHost_t, KIND_QR)
INFOS(CsrcholInfo, csrcholInfo_t, KIND_CHOLESKY)
INFOS(CsrcholInfoHost, csrcholInfoHost_t, KIND_CHOLESKY)

#define ANALYSE_QR(where, Info)                                                                                        \
    LIBRARY_API cusolverStatus_t cusolverSpXcsrqrAnalysis##where(cusolverSpHandle_t handle, int m, PATTERN, Info info) \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        return analyse(__func__, handle, info, KIND_QR, *M(NULL));                                                     \
    }
#define ANALYSE_CHOLESKY(where)                                                                                        \
    LIBRARY_API cusolverStatus_t cusolverSpXcsrcholAnalysis##where(cusolverSpHandle_t handle, PATTERN,                 \
                                                                   csrcholInfo##where##_t info)                        \
    {                                                                                                                  \
        return analyse(__func__, handle, info, KIND_CHOLESKY, *M(NULL));                                               \
    }
ANALYSE_QR(, csrqrInfo_t)
ANALYSE_QR(Host, csrqrInfoHost_t)
ANALYSE_QR(Batched, csrqrInfo_t)
ANALYSE_CHOLESKY()
ANALYSE_CHOLESKY(Host)

#define STEPS(X, T, R, p, where, on_host, shift)                                                                       \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrBufferInfo##where(cusolverSpHandle_t handle, int m, MATRIX_OF(T), \
                                                                       csrqrInfo##where##_t info, size_t *internal,    \
                                                                       size_t *workspace)                              \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        return sizes(__func__, handle, info, KIND_QR, M(values), internal, workspace);                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrSetup##where(cusolverSpHandle_t handle, int m, MATRIX_OF(T),      \
                                                                  T mu, csrqrInfo##where##_t info)                     \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        return take(__func__, handle, info, KIND_QR, p, on_host, run_take, M(values), shift);                          \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrFactor##where(                                                    \
        cusolverSpHandle_t handle, int m, int n, int nnz, T *b, T *x, csrqrInfo##where##_t info, void *buffer)         \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        (void)nnz, (void)buffer;                                                                                       \
        return use(__func__, handle, info, KIND_QR, p, on_host, run_factor, n, b, x, true);                            \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrZeroPivot##where(                                                 \
        cusolverSpHandle_t handle, csrqrInfo##where##_t info, R tolerance, int *position)                              \
    {                                                                                                                  \
        return zero_pivot(__func__, handle, info, KIND_QR, tolerance, position);                                       \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrSolve##where(cusolverSpHandle_t handle, int m, int n, T *b, T *x, \
                                                                  csrqrInfo##where##_t info, void *buffer)             \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        (void)buffer;                                                                                                  \
        return use(__func__, handle, info, KIND_QR, p, on_host, run_solve, n, b, x, false);                            \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrcholBufferInfo##where(                                              \
        cusolverSpHandle_t handle, MATRIX_OF(T), csrcholInfo##where##_t info, size_t *internal, size_t *workspace)     \
    {                                                                                                                  \
        return sizes(__func__, handle, info, KIND_CHOLESKY, M(values), internal, workspace);                           \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrcholFactor##where(cusolverSpHandle_t handle, MATRIX_OF(T),          \
                                                                     csrcholInfo##where##_t info, void *buffer)        \
    {                                                                                                                  \
        (void)buffer;                                                                                                  \
        return take(__func__, handle, info, KIND_CHOLESKY, p, on_host, run_take_and_factor, M(values), unshifted);     \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrcholZeroPivot##where(                                               \
        cusolverSpHandle_t handle, csrcholInfo##where##_t info, R tolerance, int *position)                            \
    {                                                                                                                  \
        return zero_pivot(__func__, handle, info, KIND_CHOLESKY, tolerance, position);                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrcholSolve##where(cusolverSpHandle_t handle, int n, const T *b,      \
                                                                    T *x, csrcholInfo##where##_t info, void *buffer)   \
    {                                                                                                                  \
        (void)buffer;                                                                                                  \
        return use(__func__, handle, info, KIND_CHOLESKY, p, on_host, run_solve, n, b, x, false);                      \
    }
#define BATCHES(X, T, p)                                                                                               \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrBufferInfoBatched(cusolverSpHandle_t handle, int m, MATRIX_OF(T), \
                                                                       int batch, csrqrInfo_t info, size_t *internal,  \
                                                                       size_t *workspace)                              \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        NEED(batch >= 0);                                                                                              \
        return sizes(__func__, handle, info, KIND_QR, M(values), internal, workspace);                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrqrsvBatched(                                                        \
        cusolverSpHandle_t handle, int m, MATRIX_OF(T), const T *b, T *x, int batch, csrqrInfo_t info, void *buffer)   \
    {                                                                                                                  \
        SQUARE(m, n);                                                                                                  \
        (void)buffer;                                                                                                  \
        return solve_batch(__func__, handle, info, p, M(values), batch, b, x);                                         \
    }
#define REAL_SHIFT    ((const double[2]){mu, 0})
#define COMPLEX_SHIFT ((const double[2]){mu.x, mu.y})
#define ALL(X, T, R, p, shift)                                                                                         \
    STEPS(X, T, R, p, , false, shift)                                                                                  \
    STEPS(X, T, R, p, Host, true, shift)                                                                               \
    BATCHES(X, T, p)
ALL(S, float, float, PRECISION_S, REAL_SHIFT)
ALL(D, double, double, PRECISION_D, REAL_SHIFT)
ALL(C, cuComplex, float, PRECISION_C, COMPLEX_SHIFT)
ALL(Z, cuDoubleComplex, double, PRECISION_Z, COMPLEX_SHIFT)
