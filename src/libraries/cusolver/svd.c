/* Singular values ("cuSOLVER", gesvd, gesvdj, gesvdjBatched, gesvdaStridedBatched; 64-bit: gesvd,
 * gesvdp, gesvdr). All use LAPACK; the functions differ in whether they return V or its adjoint,
 * and how much of it.
 */
#include "libraries/cusolver/jacobi.h"
#include "libraries/cusolver/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

static enum precision real_of(enum precision p)
{
    return precision_real_bytes(p) == sizeof(float) ? PRECISION_S : PRECISION_D;
}

/* ---- with V's adjoint ---- */

static int run_gesvd(const struct call *c)
{
    return spectrum_singular(c->precision, c->job_u, c->job_v, c->m, c->n, c->at[OP_A], c->ld[OP_A], c->at[OP_W],
                             c->at[OP_U], c->ld[OP_U], c->at[OP_V], c->ld[OP_V]);
}

/* ---- with V: of one matrix, whose first k are kept ---- */

struct parts {
    void *a, *s, *u, *v;
    int k;      /* number of columns of U and V; 0: no vectors */
    bool whole; /* U is m x m and V is n x n; k is ignored */
};

/* Temporary results: all values, U and V's adjoint. */
struct room {
    void *s, *u, *vt;
};

static bool make_room(struct room *r, enum precision p, int m, int n, int u_columns, int vt_rows, bool vectors)
{
    size_t bytes = precision_bytes(p);
    *r = (struct room){malloc((size_t)least(m, n) * precision_real_bytes(p) + 1), NULL, NULL};
    if (vectors) {
        r->u = malloc((size_t)m * (size_t)u_columns * bytes + 1);
        r->vt = malloc((size_t)vt_rows * (size_t)n * bytes + 1);
    }
    return r->s && (!vectors || (r->u && r->vt));
}

static void free_room(struct room *r)
{
    free(r->s);
    free(r->u);
    free(r->vt);
}

static int singular_with_v(const struct call *c, const struct parts *to)
{
    enum precision p = c->precision;
    int m = c->m, n = c->n, small = least(m, n), values = to->k && to->k < small && !to->whole ? to->k : small;
    bool vectors = to->whole || to->k > 0;
    int u_columns = to->whole ? m : small, vt_rows = to->whole ? n : small;
    char job = !vectors ? 'N' : to->whole ? 'A' : 'S';
    struct room r;
    int info = OUT_OF_MEMORY;
    if (small == 0)
        return 0;
    if (make_room(&r, p, m, n, u_columns, vt_rows, vectors)) {
        info = spectrum_singular(p, job, job, m, n, to->a, c->ld[OP_A], r.s, r.u, m, r.vt, vt_rows);
        memcpy(to->s, r.s, (size_t)values * precision_real_bytes(p));
    }
    if (vectors && info != OUT_OF_MEMORY) {
        int columns = to->whole ? m : least(to->k, u_columns), rows = to->whole ? n : least(to->k, vt_rows);
        heddle_openblas.lacpy[p]("A", &m, &columns, r.u, &m, to->u, &c->ld[OP_U], 1);
        spectrum_adjoint(p, rows, n, r.vt, vt_rows, to->v, c->ld[OP_V]);
    }
    free_room(&r);
    return info;
}

static int run_with_v(const struct call *c)
{
    struct parts to = {c->at[OP_A], c->at[OP_W], c->at[OP_U], c->at[OP_V], c->k, c->flags};
    return singular_with_v(c, &to);
}

static int run_jacobi(const struct call *c)
{
    struct jacobi *j = c->host;
    int info = run_with_v(c);
    j->residual = 0;
    j->sweeps = 1;
    return info;
}

/* ---- batches ---- */

static struct parts parts_of(const struct call *c, int i)
{
    enum precision p = c->precision;
    return (struct parts){element_at(p, c->at[OP_A], i * c->step[OP_A]),
                          element_at(real_of(p), c->at[OP_W], i * c->step[OP_W]),
                          element_at(p, c->at[OP_U], i * c->step[OP_U]),
                          element_at(p, c->at[OP_V], i * c->step[OP_V]),
                          c->k,
                          c->flags};
}

static int run_batch(const struct call *c)
{
    int *info = c->at[OP_INFO];
    for (int i = 0; i < c->batch; i++) {
        struct parts to = parts_of(c, i);
        info[i] = singular_with_v(c, &to);
        if (info[i] == OUT_OF_MEMORY)
            return OUT_OF_MEMORY;
    }
    return info[0];
}

/* The Frobenius norm of A V - U S, for the kept columns. */
static double residual_of(const struct call *c, const struct parts *of)
{
    enum precision p = c->precision, real = real_of(p);
    static const double one[2] = {1, 0}, none[2] = {0};
    static const float one_float[2] = {1, 0};
    const void *alpha = real == PRECISION_S ? (const void *)one_float : one;
    int parts = precision_is_complex(p) ? 2 : 1;
    double sum = 0;
    void *product = malloc((size_t)c->m * (size_t)c->k * precision_bytes(p) + 1);
    if (!product)
        return NAN;
    heddle_openblas.gemm[p]("N", "N", &c->m, &c->k, &c->n, alpha, of->a, &c->ld[OP_A], of->v, &c->ld[OP_V], none,
                            product, &c->m);
    for (int j = 0; j < c->k; j++)
        for (int i = 0; i < parts * c->m; i++) {
            double us = real_at(real, element_at(p, of->u, (int64_t)j * c->ld[OP_U]), i) * real_at(real, of->s, j);
            double d = real_at(real, element_at(p, product, (int64_t)j * c->m), i) - us;
            sum += d * d;
        }
    free(product);
    return sqrt(sum);
}

/* A is not changed: works on a copy. */
static int run_approximate(const struct call *c)
{
    enum precision p = c->precision;
    int *info = c->at[OP_INFO];
    size_t bytes = (size_t)c->m * (size_t)c->n * precision_bytes(p);
    void *copy = malloc(bytes + 1);
    if (!copy)
        return OUT_OF_MEMORY;
    for (int i = 0; i < c->batch; i++) {
        struct parts original = parts_of(c, i), to = original;
        struct call one = *c;
        heddle_openblas.lacpy[p]("A", &c->m, &c->n, original.a, &c->ld[OP_A], copy, &c->m, 1);
        one.ld[OP_A] = c->m;
        to.a = copy;
        to.k = c->job == 'V' ? c->k : 0;
        struct room all = {0};
        if (!to.k) { /* the first `rank` values */
            all.s = malloc((size_t)least(c->m, c->n) * precision_real_bytes(p) + 1);
            to.s = all.s;
        }
        info[i] = to.s ? singular_with_v(&one, &to) : OUT_OF_MEMORY;
        if (all.s)
            memcpy(original.s, all.s, (size_t)c->k * precision_real_bytes(p));
        free_room(&all);
        if (c->host && to.k)
            ((double *)c->host)[i] = residual_of(c, &original);
        if (info[i] == OUT_OF_MEMORY)
            break;
    }
    free(copy);
    return c->batch ? info[0] : 0;
}

/* ---- the calls ---- */

static bool is_job(cusolverEigMode_t job)
{
    return job == CUSOLVER_EIG_MODE_VECTOR || job == CUSOLVER_EIG_MODE_NOVECTOR;
}

static bool is_letter(signed char job)
{
    return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

static double flops_of(int64_t m, int64_t n, bool vectors)
{
    return (vectors ? 22.0 : 4.0) * (double)m * (double)n * (double)(m < n ? m : n);
}

static cusolverStatus_t gesvd(cusolverDnHandle_t handle, const char *name, enum precision p, signed char jobu,
                              signed char jobvt, int64_t m, int64_t n, void *A, int64_t lda, void *S, void *U,
                              int64_t ldu, void *VT, int64_t ldvt, int *info)
{
    SOLVER(s, handle);
    ARGUMENT(1, is_letter(jobu));
    ARGUMENT(2, is_letter(jobvt) && !(jobu == 'O' && jobvt == 'O'));
    ARGUMENT(3, m >= 0);
    ARGUMENT(4, n >= 0);
    ARGUMENT(6, lda >= at_least_one(m));
    ARGUMENT(9, ldu >= (jobu == 'A' || jobu == 'S' ? at_least_one(m) : 1));
    ARGUMENT(11, ldvt >= (jobvt == 'A' || jobvt == 'S' ? at_least_one(n) : 1));
    ARGUMENT(0, m >= n);
    FITS(lda, ldu, ldvt);
    struct call c = call_new(name, p, run_gesvd);
    c.job_u = (char)jobu;
    c.job_v = (char)jobvt;
    c.m = (int)m;
    c.n = (int)n;
    c.flops = flops_of(m, n, jobu != 'N' || jobvt != 'N');
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_W, S, n, precision_real_bytes(p), HD_WRITES);
    if (jobu == 'A' || jobu == 'S')
        call_matrix(&c, OP_U, U, m, jobu == 'A' ? m : n, ldu, HD_WRITES);
    if (jobvt == 'A' || jobvt == 'S')
        call_matrix(&c, OP_V, VT, n, n, ldvt, HD_WRITES);
    return call_put_info(s, &c, info);
}

/* gesvdj and gesvdp: any shape, with full U and V, or as many columns as there are values. */
static cusolverStatus_t with_v(const struct solver *s, const char *name, enum precision p, cusolverEigMode_t jobz,
                               int econ, int64_t m, int64_t n, void *A, int64_t lda, void *S, void *U, int64_t ldu,
                               void *V, int64_t ldv, int *info, struct jacobi *j)
{
    bool vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
    int64_t small = m < n ? m : n;
    struct call c = call_new(name, p, j ? run_jacobi : run_with_v);
    if (j) {
        c.host = j;
        c.drop = jacobi_release;
        j->was_batched = false;
        j->stream = s->stream;
    }
    c.m = (int)m;
    c.n = (int)n;
    c.k = vectors ? (int)small : 0;
    c.flags = vectors && !econ;
    c.flops = flops_of(m, n, vectors);
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS | HD_WRITES);
    call_vector(&c, OP_W, S, small, precision_real_bytes(p), HD_WRITES);
    if (vectors) {
        call_matrix(&c, OP_U, U, m, econ ? small : m, ldu, HD_WRITES);
        call_matrix(&c, OP_V, V, n, econ ? small : n, ldv, HD_WRITES);
    }
    return call_put_info(s, &c, info);
}

static cusolverStatus_t check_with_v(const struct solver *s, const char *name, cusolverEigMode_t jobz, int64_t m,
                                     int64_t n, int64_t lda, int64_t ldu, int64_t ldv, int *info)
{
    bool vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
    ARGUMENT(1, is_job(jobz));
    ARGUMENT(3, m >= 0);
    ARGUMENT(4, n >= 0);
    ARGUMENT(6, lda >= at_least_one(m));
    ARGUMENT(9, ldu >= (vectors ? at_least_one(m) : 1));
    ARGUMENT(11, ldv >= (vectors ? at_least_one(n) : 1));
    FITS(lda, n, ldu, ldv);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t gesvdj(cusolverDnHandle_t handle, const char *name, enum precision p, cusolverEigMode_t jobz,
                               int econ, int m, int n, void *A, int lda, void *S, void *U, int ldu, void *V, int ldv,
                               int *info, gesvdjInfo_t params)
{
    SOLVER(s, handle);
    cusolverStatus_t wrong = check_with_v(s, name, jobz, m, n, lda, ldu, ldv, info);
    if (wrong || m == 0 || n == 0)
        return wrong;
    struct jacobi *j = jacobi_hold(params);
    NEED(j != NULL);
    return with_v(s, name, p, jobz, econ, m, n, A, lda, S, U, ldu, V, ldv, info, j);
}

/* In the original no side may exceed 32; larger sizes would work here, but are refused as there. */
enum { MOST_OF_BATCH = 32 };

static cusolverStatus_t gesvdj_batched(cusolverDnHandle_t handle, const char *name, enum precision p,
                                       cusolverEigMode_t jobz, int m, int n, void *A, int lda, void *S, void *U,
                                       int ldu, void *V, int ldv, int lwork, int *info, gesvdjInfo_t params, int batch)
{
    SOLVER(s, handle);
    bool vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
    int small = least(m, n);
    ARGUMENT(1, is_job(jobz));
    ARGUMENT(2, m >= 0 && m <= MOST_OF_BATCH);
    ARGUMENT(3, n >= 0 && n <= MOST_OF_BATCH);
    ARGUMENT(5, lda >= at_least_one(m));
    ARGUMENT(8, ldu >= (vectors ? at_least_one(m) : 1));
    ARGUMENT(10, ldv >= (vectors ? at_least_one(n) : 1));
    ARGUMENT(12, lwork > 0);
    ARGUMENT(15, batch >= 0);
    if (batch == 0 || small == 0)
        return call_nothing(s, name, info);
    struct jacobi *j = handle_find(&library_handles, params, KIND_JACOBI);
    NEED(j != NULL);
    j->was_batched = true;
    struct call c = call_new(name, p, run_batch);
    c.m = m;
    c.n = n;
    c.k = vectors ? small : 0;
    c.flags = vectors;
    c.batch = batch;
    c.flops = flops_of(m, n, vectors) * batch;
    call_matrices(&c, OP_A, A, m, n, lda, (int64_t)lda * n, HD_READS | HD_WRITES);
    call_vector(&c, OP_W, S, (int64_t)small * batch, precision_real_bytes(p), HD_WRITES);
    c.step[OP_W] = small;
    if (vectors) {
        call_matrices(&c, OP_U, U, m, m, ldu, (int64_t)ldu * m, HD_WRITES);
        call_matrices(&c, OP_V, V, n, n, ldv, (int64_t)ldv * n, HD_WRITES);
    }
    call_info(&c, info, batch);
    return call_put(s, &c);
}

struct strided {
    const void *A;
    void *S, *U, *V;
    int lda, ldu, ldv;
    long long strideA, strideS, strideU, strideV;
};

static cusolverStatus_t gesvda(cusolverDnHandle_t handle, const char *name, enum precision p, cusolverEigMode_t jobz,
                               int rank, int m, int n, const struct strided *t, int *info, double *norms, int batch)
{
    SOLVER(s, handle);
    bool vectors = jobz == CUSOLVER_EIG_MODE_VECTOR;
    ARGUMENT(1, is_job(jobz));
    ARGUMENT(2, rank >= 0 && rank <= n);
    ARGUMENT(3, m >= 0 && m >= n);
    ARGUMENT(4, n >= 0);
    ARGUMENT(6, t->lda >= at_least_one(m));
    ARGUMENT(7, t->strideA >= (long long)t->lda * n);
    ARGUMENT(9, t->strideS >= rank);
    ARGUMENT(11, !vectors || t->ldu >= at_least_one(m));
    ARGUMENT(12, !vectors || t->strideU >= (long long)t->ldu * rank);
    ARGUMENT(14, !vectors || t->ldv >= at_least_one(n));
    ARGUMENT(15, !vectors || t->strideV >= (long long)t->ldv * rank);
    ARGUMENT(20, batch >= 0);
    if (batch == 0 || rank == 0)
        return call_nothing(s, name, info);
    struct call c = call_new(name, p, run_approximate);
    c.job = vectors ? 'V' : 'N';
    c.m = m;
    c.n = n;
    c.k = rank;
    c.batch = batch;
    c.host = vectors ? norms : NULL;
    c.waits = c.host != NULL;
    c.flops = flops_of(m, n, vectors) * batch;
    call_matrices(&c, OP_A, t->A, m, n, t->lda, t->strideA, HD_READS);
    c.precision = real_of(p);
    call_matrices(&c, OP_W, t->S, rank, 1, rank, t->strideS, HD_WRITES);
    c.precision = p;
    if (vectors) {
        call_matrices(&c, OP_U, t->U, m, rank, t->ldu, t->strideU, HD_WRITES);
        call_matrices(&c, OP_V, t->V, n, rank, t->ldv, t->strideV, HD_WRITES);
    }
    call_info(&c, info, batch);
    return call_put(s, &c);
}

/* ---- their names ---- */

#define SIZE_OF(X, name, ...)                                                                                          \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##_bufferSize(cusolverDnHandle_t handle, __VA_ARGS__)

#define SVD(X, name, T, R, p)                                                                                          \
    SIZE_OF(X, gesvd, int m, int n, int *lwork)                                                                        \
    {                                                                                                                  \
        (void)handle, (void)m, (void)n;                                                                                \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,  \
                                                      int m, int n, T *A, int lda, R *S, T *U, int ldu, T *VT,         \
                                                      int ldvt, T *work, int lwork, R *rwork, int *info)               \
    {                                                                                                                  \
        (void)work, (void)lwork, (void)rwork;                                                                          \
        return gesvd(handle, "cusolverDn" #X "gesvd", p, jobu, jobvt, m, n, A, lda, S, U, ldu, VT, ldvt, info);        \
    }                                                                                                                  \
    SIZE_OF(X, gesvdj, cusolverEigMode_t jobz, int econ, int m, int n, const T *A, int lda, const R *S, const T *U,    \
            int ldu, const T *V, int ldv, int *lwork, gesvdjInfo_t params)                                             \
    {                                                                                                                  \
        (void)jobz, (void)econ, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V, (void)ldv, (void)params;     \
        SOLVER(s, handle);                                                                                             \
        return m >= 0 && n >= 0 ? call_size(lwork, 1) : CUSOLVER_STATUS_INVALID_VALUE;                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##gesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,    \
                                                       int m, int n, T *A, int lda, R *S, T *U, int ldu, T *V,         \
                                                       int ldv, T *work, int lwork, int *info, gesvdjInfo_t params)    \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return gesvdj(handle, "cusolverDn" #X "gesvdj", p, jobz, econ, m, n, A, lda, S, U, ldu, V, ldv, info, params); \
    }                                                                                                                  \
    SIZE_OF(X, gesvdjBatched, cusolverEigMode_t jobz, int m, int n, const T *A, int lda, const R *S, const T *U,       \
            int ldu, const T *V, int ldv, int *lwork, gesvdjInfo_t params, int batchSize)                              \
    {                                                                                                                  \
        (void)jobz, (void)m, (void)n, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V, (void)ldv,             \
            (void)params, (void)batchSize;                                                                             \
        SOLVER(s, handle);                                                                                             \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##gesvdjBatched(                                                         \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, T *A, int lda, R *S, T *U, int ldu, T *V,     \
        int ldv, T *work, int lwork, int *info, gesvdjInfo_t params, int batchSize)                                    \
    {                                                                                                                  \
        (void)work;                                                                                                    \
        return gesvdj_batched(handle, "cusolverDn" #X "gesvdjBatched", p, jobz, m, n, A, lda, S, U, ldu, V, ldv,       \
                              lwork, info, params, batchSize);                                                         \
    }                                                                                                                  \
    SIZE_OF(X, gesvdaStridedBatched, cusolverEigMode_t jobz, int rank, int m, int n, const T *A, int lda,              \
            long long strideA, const R *S, long long strideS, const T *U, int ldu, long long strideU, const T *V,      \
            int ldv, long long strideV, int *lwork, int batchSize)                                                     \
    {                                                                                                                  \
        (void)handle, (void)jobz, (void)rank, (void)m, (void)n, (void)A, (void)lda, (void)strideA, (void)S,            \
            (void)strideS, (void)U;                                                                                    \
        (void)ldu, (void)strideU, (void)V, (void)ldv, (void)strideV, (void)batchSize;                                  \
        return call_size(lwork, 1);                                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##gesvdaStridedBatched(                                                  \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T *A, int lda,                \
        long long strideA, R *S, long long strideS, T *U, int ldu, long long strideU, T *V, int ldv,                   \
        long long strideV, T *work, int lwork, int *info, double *norms, int batchSize)                                \
    {                                                                                                                  \
        const struct strided t = {A, S, U, V, lda, ldu, ldv, strideA, strideS, strideU, strideV};                      \
        (void)work, (void)lwork;                                                                                       \
        return gesvda(handle, "cusolverDn" #X "gesvdaStridedBatched", p, jobz, rank, m, n, &t, info, norms,            \
                      batchSize);                                                                                      \
    }
FOR_ALL(SVD, svd, svd)

/* ---- 64-bit functions ---- */

static bool types_fit(cudaDataType typeA, cudaDataType typeS, cudaDataType typeU, cudaDataType typeV,
                      cudaDataType computeType, enum precision *p)
{
    return precision_of(typeA, p) && typeA == typeU && typeA == typeV && typeA == computeType &&
           typeS == (real_of(*p) == PRECISION_S ? CUDA_R_32F : CUDA_R_64F);
}

LIBRARY_API cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                                         cudaDataType typeA, const void *A, int64_t lda,
                                                         cudaDataType typeS, const void *S, cudaDataType typeU,
                                                         const void *U, int64_t ldu, cudaDataType typeVT,
                                                         const void *VT, int64_t ldvt, cudaDataType computeType,
                                                         size_t *device, size_t *host)
{
    enum precision p;
    (void)handle, (void)params, (void)jobu, (void)jobvt, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)VT,
        (void)ldvt;
    bool fits = types_fit(typeA, typeS, typeU, typeVT, computeType, &p) && m >= 1 && m >= n;
    return fits ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                              signed char jobvt, int64_t m, int64_t n, cudaDataType typeA, void *A,
                                              int64_t lda, cudaDataType typeS, void *S, cudaDataType typeU, void *U,
                                              int64_t ldu, cudaDataType typeVT, void *VT, int64_t ldvt,
                                              cudaDataType computeType, void *device, size_t deviceBytes, void *host,
                                              size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXgesvd";
    enum precision p;
    (void)params, WITHOUT_BUFFERS;
    NEED(types_fit(typeA, typeS, typeU, typeVT, computeType, &p));
    return gesvd(handle, name, p, jobu, jobvt, m, n, A, lda, S, U, ldu, VT, ldvt, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXgesvdp_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                          cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                                          cudaDataType typeA, const void *A, int64_t lda,
                                                          cudaDataType typeS, const void *S, cudaDataType typeU,
                                                          const void *U, int64_t ldu, cudaDataType typeV, const void *V,
                                                          int64_t ldv, cudaDataType computeType, size_t *device,
                                                          size_t *host)
{
    enum precision p;
    (void)params, (void)jobz, (void)econ, (void)m, (void)n, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V,
        (void)ldv;
    SOLVER(s, handle);
    return types_fit(typeA, typeS, typeU, typeV, computeType, &p) ? call_sizes(device, host)
                                                                  : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                               cudaDataType typeA, void *A, int64_t lda, cudaDataType typeS, void *S,
                                               cudaDataType typeU, void *U, int64_t ldu, cudaDataType typeV, void *V,
                                               int64_t ldv, cudaDataType computeType, void *device, size_t deviceBytes,
                                               void *host, size_t hostBytes, int *info, double *err)
{
    static const char name[] = "cusolverDnXgesvdp";
    enum precision p;
    (void)params, WITHOUT_BUFFERS;
    SOLVER(s, handle);
    NEED(types_fit(typeA, typeS, typeU, typeV, computeType, &p));
    cusolverStatus_t wrong = check_with_v(s, name, jobz, m, n, lda, ldu, ldv, info);
    if (wrong)
        return wrong;
    if (err)
        *err = 0; /* A was not perturbed */
    return with_v(s, name, p, jobz, econ, m, n, A, lda, S, U, ldu, V, ldv, info, NULL);
}

/* ---- the first k of all ---- */

static bool is_randomised_job(signed char job)
{
    return job == 'S' || job == 'N' || job == 's' || job == 'n';
}

LIBRARY_API cusolverStatus_t cusolverDnXgesvdr_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobv, int64_t m, int64_t n,
    int64_t k, int64_t oversampling, int64_t niters, cudaDataType typeA, const void *A, int64_t lda, cudaDataType typeS,
    const void *S, cudaDataType typeU, const void *U, int64_t ldu, cudaDataType typeV, const void *V, int64_t ldv,
    cudaDataType computeType, size_t *device, size_t *host)
{
    enum precision p;
    (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V, (void)ldv;
    SOLVER(s, handle);
    bool fits = params && is_randomised_job(jobu) && is_randomised_job(jobv) && m >= 1 && n >= 1 && k >= 0 &&
                oversampling >= 0 && k + oversampling <= (m < n ? m : n) && niters >= 0 &&
                types_fit(typeA, typeS, typeU, typeV, computeType, &p);
    return fits ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

/* The original draws randomly; here all values are computed. */
LIBRARY_API cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                               signed char jobv, int64_t m, int64_t n, int64_t k, int64_t oversampling,
                                               int64_t niters, cudaDataType typeA, void *A, int64_t lda,
                                               cudaDataType typeS, void *S, cudaDataType typeU, void *U, int64_t ldu,
                                               cudaDataType typeV, void *V, int64_t ldv, cudaDataType computeType,
                                               void *device, size_t deviceBytes, void *host, size_t hostBytes,
                                               int *info)
{
    static const char name[] = "cusolverDnXgesvdr";
    enum precision p;
    WITHOUT_BUFFERS;
    SOLVER(s, handle);
    ARGUMENT(1, params != NULL);
    ARGUMENT(2, is_randomised_job(jobu));
    ARGUMENT(3, is_randomised_job(jobv));
    ARGUMENT(6, k >= 0);
    ARGUMENT(7, oversampling >= 0 && k + oversampling <= (m < n ? m : n));
    ARGUMENT(8, niters >= 0);
    ARGUMENT(9, types_fit(typeA, typeS, typeU, typeV, computeType, &p));
    ARGUMENT(11, lda >= at_least_one(m));
    ARGUMENT(16, ldu >= at_least_one(m));
    ARGUMENT(19, ldv >= at_least_one(n));
    FITS(lda, ldu, ldv);
    bool with_u = jobu == 'S' || jobu == 's', with_vectors_v = jobv == 'S' || jobv == 's';
    NEED_OR(CUSOLVER_STATUS_NOT_SUPPORTED, with_u == with_vectors_v);
    if (k == 0)
        return call_nothing(s, name, info);
    struct call c = call_new(name, p, run_approximate);
    c.job = with_u ? 'V' : 'N';
    c.m = (int)m;
    c.n = (int)n;
    c.k = (int)k;
    c.flops = flops_of(m, k, true);
    call_matrix(&c, OP_A, A, m, n, lda, HD_READS);
    call_vector(&c, OP_W, S, k, precision_real_bytes(p), HD_WRITES);
    if (with_u) {
        call_matrix(&c, OP_U, U, m, k, ldu, HD_WRITES);
        call_matrix(&c, OP_V, V, n, k, ldv, HD_WRITES);
    }
    return call_put_info(s, &c, info);
}
