/* Sparse matrices ("cuSOLVER", 2.5): solutions by LU, QR and Cholesky, and an eigenvalue by shifted
 * inverse iteration. All use band factors (band.h) for a general or a definite matrix, as the name
 * says; the requested reordering is always the same one.
 */
#include "libraries/cusolver/sparse.h"
#include "libraries/cusolver/sparse_lu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

/* ---- handles ---- */

LIBRARY_API cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct solver *s = calloc(1, sizeof *s);
    *handle = library_add_handle(KIND_SPARSE, s);
    return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

LIBRARY_API cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle)
{
    IN_CALL;
    void *s = handle_take(&library_handles, handle, KIND_SPARSE);
    if (!s)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    call_later(free, s);
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream)
{
    SPARSE(s, handle);
    s->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *stream)
{
    SPARSE(s, handle);
    if (!stream)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *stream = s->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Reads a cuSPARSE descriptor through the library that the program created it with. */
static int ask_descriptor(const char *function, cusparseMatDescr_t descriptor)
{
    static const char *const names[] = {"libcusparse.so.12", "libcusparse.so.11"};
    void *found = dlsym(RTLD_DEFAULT, function);
    for (int i = 0; !found && i < 2; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        found = library ? dlsym(library, function) : NULL;
    }
    return found && descriptor ? ((int (*)(cusparseMatDescr_t))found)(descriptor) : 0;
}

int sparse_base(cusparseMatDescr_t descriptor)
{
    return ask_descriptor("cusparseGetMatIndexBase", descriptor);
}

bool sparse_is_general(cusparseMatDescr_t descriptor)
{
    return ask_descriptor("cusparseGetMatType", descriptor) == 0;
}

/* ---- solutions ---- */

struct csr sparse_csr(const struct call *c, int of_batch)
{
    const void *values = element_at(c->precision, c->at[OP_A], (int64_t)of_batch * c->nrhs);
    return (struct csr){c->precision,      c->n,  c->flags & SPARSE_BASE_ONE ? 1 : 0, c->at[OP_ROWS],
                        c->at[OP_COLUMNS], values};
}

/* An invalid matrix counts as singular in the first row. */
static int run_solve(const struct call *c)
{
    static const double unshifted[2] = {0, 0};
    const struct csr a = sparse_csr(c, 0);
    int *singularity = c->host;
    *singularity = 0;
    if (c->n == 0)
        *singularity = -1;
    if (c->n == 0 || !csr_is_valid(&a))
        return 0;
    struct band *f = band_factor(&a, c->flags & SPARSE_DEFINITE, unshifted, c->low, singularity);
    bool solved = f && (*singularity >= 0 || band_solve(f, c->at[OP_B], c->at[OP_X]));
    band_free(f);
    return solved ? 0 : OUT_OF_MEMORY;
}

/* ---- an eigenvalue ---- */

static void normalise(enum precision p, void *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += creal(element_get(p, x, i) * conj(element_get(p, x, i)));
    for (int i = 0; sum > 0 && i < n; i++)
        element_set(p, x, i, element_get(p, x, i) / sqrt(sum));
}

/* x becomes the eigenvector of the eigenvalue nearest to the shift, which is returned. */
static double complex iterate(const struct call *c, const struct band *f, double complex shift, void *x, void *y)
{
    enum precision p = c->precision;
    double complex mu = shift, before;
    normalise(p, x, c->n);
    for (int round = 0; round < c->k; round++) {
        if (!band_solve(f, x, y))
            break;
        double complex along = 0;
        for (int i = 0; i < c->n; i++)
            along += conj(element_get(p, x, i)) * element_get(p, y, i);
        before = mu;
        mu = along == 0 ? shift : shift + 1 / along;
        normalise(p, y, c->n);
        for (int i = 0; i < c->n; i++)
            element_set(p, x, i, element_get(p, y, i));
        if (round > 0 && cabs(mu - before) <= c->high * cabs(mu))
            break;
    }
    return mu;
}

static int run_eigenvalue(const struct call *c)
{
    enum precision p = c->precision;
    const struct csr a = sparse_csr(c, 0);
    const double shift[2] = {c->low, c->shift_imaginary};
    int singular = -1;
    if (c->n == 0 || !csr_is_valid(&a))
        return 0;
    struct band *f = band_factor(&a, false, shift, 0, &singular);
    void *y = malloc((size_t)c->n * precision_bytes(p));
    bool ready = f && y;
    for (int i = 0; ready && i < c->n; i++)
        element_set(p, c->at[OP_X], i, element_get(p, c->at[OP_B], i));
    if (ready) {
        double complex from = shift[0] + shift[1] * I;
        element_set(p, c->at[OP_W], 0, singular >= 0 ? from : iterate(c, f, from, c->at[OP_X], y));
    }
    band_free(f);
    free(y);
    return ready ? 0 : OUT_OF_MEMORY;
}

/* ---- the calls ---- */

cusolverStatus_t sparse_do(const struct solver *s, struct call *c, bool on_host)
{
    if (!on_host)
        return call_put(s, c);
    int info = c->run(c);
    free(c->used);
    return info == OUT_OF_MEMORY ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t sparse_check(const char *name, const struct matrix *m)
{
    NEED(m->n >= 0);
    NEED(m->nnz >= 0);
    NEED_OR(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, m->descriptor != NULL);
    NEED(m->rows && m->columns && m->values);
    NEED_OR(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, sparse_is_general(m->descriptor));
    return CUSOLVER_STATUS_SUCCESS;
}

struct call sparse_call(const char *name, enum precision p, call_run *run, const struct matrix *m, int batch)
{
    struct call c = call_new(name, p, run);
    c.n = m->n;
    c.batch = batch;
    c.nrhs = m->nnz;
    c.flags = sparse_base(m->descriptor) ? SPARSE_BASE_ONE : 0;
    call_vector(&c, OP_A, m->values, (int64_t)m->nnz * batch, precision_bytes(p), HD_READS);
    call_vector(&c, OP_ROWS, m->rows, m->n + 1, sizeof(int), HD_READS);
    call_vector(&c, OP_COLUMNS, m->columns, m->nnz, sizeof(int), HD_READS);
    return c;
}

static cusolverStatus_t solve(cusolverSpHandle_t handle, const char *name, enum precision p, bool on_host,
                              bool definite, const struct matrix *m, const void *b, double tolerance, void *x,
                              int *singularity)
{
    SPARSE(s, handle);
    cusolverStatus_t wrong = sparse_check(name, m);
    if (wrong)
        return wrong;
    NEED(b && x && singularity);
    struct call c = sparse_call(name, p, run_solve, m, 1);
    c.flags |= definite ? SPARSE_DEFINITE : 0;
    c.low = tolerance;
    c.host = singularity;
    c.waits = true;
    call_vector(&c, OP_B, b, m->n, precision_bytes(p), HD_READS);
    call_vector(&c, OP_X, x, m->n, precision_bytes(p), HD_WRITES);
    return sparse_do(s, &c, on_host);
}

static cusolverStatus_t eigenvalue(cusolverSpHandle_t handle, const char *name, enum precision p, bool on_host,
                                   const struct matrix *m, const void *mu0, const void *x0, int most, double tolerance,
                                   void *mu, void *x)
{
    SPARSE(s, handle);
    cusolverStatus_t wrong = sparse_check(name, m);
    if (wrong)
        return wrong;
    NEED(x0 && mu && x);
    NEED(most >= 0);
    struct call c = sparse_call(name, p, run_eigenvalue, m, 1);
    double complex shift = element_get(p, mu0, 0);
    c.low = creal(shift);
    c.shift_imaginary = cimag(shift);
    c.high = tolerance;
    c.k = most;
    call_vector(&c, OP_B, x0, m->n, precision_bytes(p), HD_READS);
    call_vector(&c, OP_X, x, m->n, precision_bytes(p), HD_WRITES);
    call_vector(&c, OP_W, mu, 1, precision_bytes(p), HD_WRITES);
    return sparse_do(s, &c, on_host);
}

/* ---- their names ---- */

#define SOLVE(X, name, T, R, p, on_host, definite)                                                                     \
    LIBRARY_API cusolverStatus_t cusolverSp##X##name(                                                                  \
        cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor, const T *values,               \
        const int *rows, const int *columns, const T *b, R tolerance, int reorder, T *x, int *singularity)             \
    {                                                                                                                  \
        const struct matrix m = {n, nnz, descriptor, values, rows, columns};                                           \
        (void)reorder;                                                                                                 \
        return solve(handle, "cusolverSp" #X #name, p, on_host, definite, &m, b, tolerance, x, singularity);           \
    }
#define EIGENVALUE(X, name, T, R, p, on_host)                                                                          \
    LIBRARY_API cusolverStatus_t cusolverSp##X##name(                                                                  \
        cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t descriptor, const T *values,               \
        const int *rows, const int *columns, T mu0, const T *x0, int most, R tolerance, T *mu, T *x)                   \
    {                                                                                                                  \
        const struct matrix m = {n, nnz, descriptor, values, rows, columns};                                           \
        return eigenvalue(handle, "cusolverSp" #X #name, p, on_host, &m, &mu0, x0, most, tolerance, mu, x);            \
    }
#define SPARSE_FUNCTIONS(X, name, T, R, p)                                                                             \
    SOLVE(X, csrlsvluHost, T, R, p, true, false)                                                                       \
    SOLVE(X, csrlsvqr, T, R, p, false, false)                                                                          \
    SOLVE(X, csrlsvqrHost, T, R, p, true, false)                                                                       \
    SOLVE(X, csrlsvchol, T, R, p, false, true)                                                                         \
    SOLVE(X, csrlsvcholHost, T, R, p, true, true)                                                                      \
    EIGENVALUE(X, csreigvsi, T, R, p, false)                                                                           \
    EIGENVALUE(X, csreigvsiHost, T, R, p, true)
FOR_ALL(SPARSE_FUNCTIONS, sparse, sparse)
