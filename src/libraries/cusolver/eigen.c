/* Eigenvalues of symmetric and Hermitian matrices, and of pairs of them ("cuSOLVER", syevd, syevdx,
 * syevj, sygvd, sygvdx, sygvj, with batches and 64-bit forms). All eigenvalues are computed; those
 * outside a requested range are dropped afterwards.
 */
#include "libraries/cusolver/jacobi.h"
#include "libraries/cusolver/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Flags of a pair. */
enum {
    PAIR = 1,
    INFO_OF_FACTOR = 2 /* if B is not definite, info is the order of its minor, without n added */,
    WIDE_COUNT = 4
};

/* ---- pairs: A x = w B x and its like come to a single matrix, and back (LAPACK's sygvd) ---- */

static int to_single(const struct call *c)
{
    int info = 0;
    heddle_openblas.potrf[c->precision](&c->uplo, &c->n, c->at[OP_B], &c->ld[OP_B], &info, 1);
    if (info)
        return c->flags & INFO_OF_FACTOR ? info : c->n + info;
    heddle_openblas.sygst[c->precision](&c->itype, &c->uplo, &c->n, c->at[OP_A], &c->ld[OP_A], c->at[OP_B],
                                        &c->ld[OP_B], &info, 1);
    return info;
}

static void vectors_of_pair(const struct call *c)
{
    const char *adjoint = precision_is_complex(c->precision) ? "C" : "T";
    bool plain = (c->uplo == 'U') == (c->itype != 3);
    (c->itype == 3 ? heddle_openblas.trmm : heddle_openblas.trsm)[c->precision](
        "L", &c->uplo, plain ? "N" : adjoint, "N", &c->n, &c->n, precision_one(c->precision), c->at[OP_B], &c->ld[OP_B],
        c->at[OP_A], &c->ld[OP_A]);
}

/* ---- ranges ---- */

/* Moves the eigenvalues within the range to the front; returns their number. */
static int keep_range(const struct call *c)
{
    enum precision real = precision_real_bytes(c->precision) == sizeof(float) ? PRECISION_S : PRECISION_D;
    size_t bytes = precision_real_bytes(c->precision);
    int first = 0, n = c->n;
    if (c->range == 'A')
        return n;
    if (c->range == 'I') {
        first = c->first - 1;
        n = c->last - first;
    } else {
        while (first < c->n && real_at(real, c->at[OP_W], first) <= c->low)
            first++;
        for (n = 0; first + n < c->n && real_at(real, c->at[OP_W], first + n) <= c->high;)
            n++;
    }
    memmove(c->at[OP_W], (char *)c->at[OP_W] + (size_t)first * bytes, (size_t)n * bytes);
    for (int j = 0; c->job == 'V' && j < n; j++)
        memmove(element_at(c->precision, c->at[OP_A], (int64_t)j * c->ld[OP_A]),
                element_at(c->precision, c->at[OP_A], (int64_t)(first + j) * c->ld[OP_A]),
                (size_t)c->n * precision_bytes(c->precision));
    return n;
}

static int run_eigen(const struct call *c)
{
    int info = c->flags & PAIR ? to_single(c) : 0;
    info = info ? info : spectrum_symmetric(c->precision, c->job, c->uplo, c->n, c->at[OP_A], c->ld[OP_A], c->at[OP_W]);
    if (info)
        return info;
    if (c->flags & PAIR && c->job == 'V')
        vectors_of_pair(c);
    int n = keep_range(c);
    if (c->host && c->flags & WIDE_COUNT)
        *(int64_t *)c->host = n;
    else if (c->host)
        *(int *)c->host = n;
    return 0;
}

static int run_batch(const struct call *c)
{
    int *info = c->at[OP_INFO];
    for (int i = 0; i < c->batch; i++) {
        void *a = element_at(c->precision, c->at[OP_A], i * c->step[OP_A]);
        void *w = (char *)c->at[OP_W] + (size_t)i * (size_t)c->n * precision_real_bytes(c->precision);
        info[i] = spectrum_symmetric(c->precision, c->job, c->uplo, c->n, a, c->ld[OP_A], w);
        if (info[i] == OUT_OF_MEMORY)
            return OUT_OF_MEMORY;
    }
    return info[0];
}

/* ---- Jacobi's: the same, and how far the result is from A ---- */

/* Expands a triangle to the full matrix. */
static void *whole_of(const struct call *c)
{
    enum precision p = c->precision;
    void *whole = malloc((size_t)c->n * (size_t)c->n * precision_bytes(p) + 1);
    for (int j = 0; whole && j < c->n; j++)
        for (int i = 0; i < c->n; i++)
            if ((c->uplo == 'L') == (i >= j) || i == j) {
                const void *from = element_at(p, c->at[OP_A], i + (int64_t)j * c->ld[OP_A]);
                spectrum_adjoint(p, 1, 1, from, 1, element_at(p, whole, j + (int64_t)i * c->n), 1);
                memcpy(element_at(p, whole, i + (int64_t)j * c->n), from, precision_bytes(p));
            }
    return whole;
}

/* The Frobenius norm of A V - V W. */
static double residual_of(const struct call *c, const void *whole)
{
    enum precision p = c->precision, real = precision_real_bytes(p) == sizeof(float) ? PRECISION_S : PRECISION_D;
    static const double none[2] = {0};
    int n = c->n, parts = precision_is_complex(p) ? 2 : 1;
    double sum = 0;
    void *product = malloc((size_t)n * (size_t)n * precision_bytes(p) + 1);
    if (!product)
        return 0;
    heddle_openblas.gemm[p]("N", "N", &n, &n, &n, precision_one(p), whole, &n, c->at[OP_A], &c->ld[OP_A], none, product,
                            &n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < parts * n; i++) {
            double av = real_at(real, element_at(p, product, (int64_t)j * n), i);
            double v = real_at(real, element_at(p, c->at[OP_A], (int64_t)j * c->ld[OP_A]), i);
            double d = av - v * real_at(real, c->at[OP_W], j);
            sum += d * d;
        }
    free(product);
    return sqrt(sum);
}

static int run_jacobi(const struct call *c)
{
    struct jacobi *j = c->host;
    bool measured = c->job == 'V' && !(c->flags & PAIR);
    void *whole = measured ? whole_of(c) : NULL;
    if (measured && !whole)
        return OUT_OF_MEMORY;
    struct call plain = *c;
    plain.host = NULL;
    int info = run_eigen(&plain);
    j->residual = !info && measured ? residual_of(c, whole) : 0;
    j->sweeps = 1;
    free(whole);
    return info;
}

/* ---- the calls ---- */

static char range_of(cusolverEigRange_t range)
{
    return range == CUSOLVER_EIG_RANGE_ALL ? 'A' : range == CUSOLVER_EIG_RANGE_I ? 'I' : 'V';
}

static bool is_job(cusolverEigMode_t job)
{
    return job == CUSOLVER_EIG_MODE_VECTOR || job == CUSOLVER_EIG_MODE_NOVECTOR;
}

static bool is_range(cusolverEigRange_t range)
{
    return range >= CUSOLVER_EIG_RANGE_ALL && range <= CUSOLVER_EIG_RANGE_V;
}

/* Common arguments of the functions in this file. Position 0: the function does not have the
 * argument. */
struct question {
    cusolverEigType_t itype;
    cusolverEigMode_t job;
    cusolverEigRange_t range;
    cublasFillMode_t uplo;
    int64_t n, lda, ldb, il, iu;
    double vl, vu;
    void *A, *B, *W;
    bool lacks_work;
    struct {
        int itype, job, range, uplo, n, lda, ldb, vu, il, iu;
    } at;
};

static cusolverStatus_t check(const struct solver *s, const char *name, const struct question *q, int *info)
{
    ARGUMENT(q->at.itype, !q->at.itype || (q->itype >= CUSOLVER_EIG_TYPE_1 && q->itype <= CUSOLVER_EIG_TYPE_3));
    ARGUMENT(q->at.job, is_job(q->job));
    ARGUMENT(q->at.range, is_range(q->range));
    ARGUMENT(q->at.uplo, is_uplo(q->uplo));
    ARGUMENT(q->at.n, q->n >= 0);
    ARGUMENT(q->at.lda, q->lda >= at_least_one(q->n));
    ARGUMENT(q->at.ldb, !q->at.ldb || q->ldb >= at_least_one(q->n));
    ARGUMENT(q->at.vu, q->range != CUSOLVER_EIG_RANGE_V || q->n == 0 || q->vl < q->vu);
    if (q->range == CUSOLVER_EIG_RANGE_I) {
        ARGUMENT(q->at.il, q->il >= 1 && q->il <= at_least_one(q->n));
        ARGUMENT(q->at.iu, q->iu <= q->n && q->iu >= (q->n < q->il ? q->n : q->il));
    }
    FITS(q->lda, q->ldb);
    return CUSOLVER_STATUS_SUCCESS;
}

static struct call call_of(const char *name, enum precision p, call_run *run, const struct question *q, int *info)
{
    struct call c = call_new(name, p, run);
    c.itype = (int)q->itype;
    c.job = q->job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    c.range = range_of(q->range);
    c.n = (int)q->n;
    c.first = (int)q->il;
    c.last = (int)q->iu;
    c.low = q->vl;
    c.high = q->vu;
    c.flops = (c.job == 'V' ? 9.0 : 4.0 / 3) * (double)q->n * (double)q->n * (double)q->n;
    call_triangle(&c, OP_A, q->A, q->uplo, q->n, q->lda, HD_READS | HD_WRITES);
    if (c.job == 'V')
        call_matrix(&c, OP_A, q->A, q->n, q->n, q->lda, HD_WRITES);
    if (q->B) {
        c.flags |= PAIR;
        call_triangle(&c, OP_B, q->B, q->uplo, q->n, q->ldb, HD_READS | HD_WRITES);
    }
    call_vector(&c, OP_W, q->W, q->n, precision_real_bytes(p), HD_WRITES);
    call_info(&c, info, 1);
    return c;
}

/* syevd, sygvd and functions with a range. The number of eigenvalues goes to the host, immediately
   if it is known. */
static cusolverStatus_t eigen(cusolverDnHandle_t handle, const char *name, enum precision p, const struct question *q,
                              int *meig, int64_t *wide_meig, int *info)
{
    SOLVER(s, handle);
    cusolverStatus_t wrong = check(s, name, q, info);
    if (wrong)
        return wrong;
    if (q->lacks_work) {
        library_failed(name, "the work area has fewer elements than its bufferSize function says");
        return CUSOLVER_STATUS_EXECUTION_FAILED;
    }
    struct call c = call_of(name, p, run_eigen, q, info);
    int64_t known = q->range == CUSOLVER_EIG_RANGE_ALL ? q->n : q->iu - q->il + 1;
    if (meig || wide_meig) {
        c.flags |= wide_meig ? WIDE_COUNT : 0;
        c.waits = q->range == CUSOLVER_EIG_RANGE_V;
        c.host = !c.waits ? NULL : wide_meig ? (void *)wide_meig : meig;
        if (!c.waits && wide_meig)
            *wide_meig = known;
        else if (!c.waits)
            *meig = (int)known;
    }
    return call_put(s, &c);
}

static cusolverStatus_t jacobi(cusolverDnHandle_t handle, const char *name, enum precision p, const struct question *q,
                               int *info, syevjInfo_t params)
{
    SOLVER(s, handle);
    cusolverStatus_t wrong = check(s, name, q, info);
    if (wrong)
        return wrong;
    struct jacobi *j = jacobi_hold(params);
    NEED(j != NULL);
    struct call c = call_of(name, p, run_jacobi, q, info);
    c.flags |= INFO_OF_FACTOR;
    j->was_batched = false;
    j->stream = s->stream;
    c.host = j;
    c.drop = jacobi_release;
    return call_put(s, &c);
}

/* `batch_at`: the position of the batch size; 0 if an empty batch is no special case. */
static cusolverStatus_t batch(cusolverDnHandle_t handle, const char *name, enum precision p, const struct question *q,
                              int *info, int64_t batch, int batch_at)
{
    SOLVER(s, handle);
    cusolverStatus_t wrong = check(s, name, q, info);
    if (wrong)
        return wrong;
    ARGUMENT(batch_at, !batch_at || batch > 0);
    if (batch < 1 || q->n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    FITS(batch);
    struct call c = call_new(name, p, run_batch);
    c.job = q->job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
    c.uplo = uplo_of(q->uplo);
    c.n = (int)q->n;
    c.batch = (int)batch;
    c.flops = 9.0 * (double)batch * (double)q->n * (double)q->n * (double)q->n;
    call_matrices(&c, OP_A, q->A, q->n, q->n, q->lda, q->lda * q->n, HD_READS | HD_WRITES);
    call_vector(&c, OP_W, q->W, q->n * batch, precision_real_bytes(p), HD_WRITES);
    call_info(&c, info, batch);
    return call_put(s, &c);
}

/* ---- their names ---- */

#define SINGLE(...)                                                                                                    \
    (struct question)                                                                                                  \
    {                                                                                                                  \
        .job = jobz, .uplo = uplo, .n = n, .A = A, .lda = lda, .W = W, __VA_ARGS__                                     \
    }
#define AT_SINGLE .at = {.job = 1, .uplo = 2, .n = 3, .lda = 5}
#define AT_RANGE  .at = {.job = 1, .range = 2, .uplo = 3, .n = 4, .lda = 6, .vu = 8, .il = 9, .iu = 10}
#define AT_PAIR   .at = {.itype = 1, .job = 2, .uplo = 3, .n = 4, .lda = 6, .ldb = 8}
#define AT_PAIR_RANGE                                                                                                  \
    .at = {.itype = 1, .job = 2, .range = 3, .uplo = 4, .n = 5, .lda = 7, .ldb = 9, .vu = 11, .il = 12, .iu = 13}
#define ALL_VALUES  .range = CUSOLVER_EIG_RANGE_ALL
#define SOME_VALUES .range = range, .vl = vl, .vu = vu, .il = il, .iu = iu
#define SECOND      .itype = itype, .B = B, .ldb = ldb
/* Approximates an H200's workspace size, which fails with less. */
static int64_t syevd_work(int64_t n)
{
    return 65603 + 3 * n * n + 768 * n;
}
#define WORK .lacks_work = n > 1 && lwork < syevd_work(n)

/* A size function: an H200 checks n, and little else. */
#define SIZED(condition)                                                                                               \
    do {                                                                                                               \
        SOLVER(s, handle);                                                                                             \
        return condition ? call_size(lwork, 1) : CUSOLVER_STATUS_INVALID_VALUE;                                        \
    } while (0)

#define SYEV(X, name, T, R, p)                                                                                         \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##d_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,  \
                                                                   cublasFillMode_t uplo, int n, const T *A, int lda,  \
                                                                   const R *W, int *lwork)                             \
    {                                                                                                                  \
        (void)jobz, (void)uplo, (void)A, (void)lda, (void)W;                                                           \
        SOLVER(s, handle);                                                                                             \
        return n >= 0 ? call_size(lwork, syevd_work(n)) : CUSOLVER_STATUS_INVALID_VALUE;                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##d(cusolverDnHandle_t handle, cusolverEigMode_t jobz,             \
                                                        cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,    \
                                                        int lwork, int *info)                                          \
    {                                                                                                                  \
        const struct question q = SINGLE(ALL_VALUES, AT_SINGLE, WORK);                                                 \
        (void)work;                                                                                                    \
        return eigen(handle, "cusolverDn" #X #name "d", p, &q, NULL, NULL, info);                                      \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##dx_bufferSize(                                                   \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int n,     \
        const T *A, int lda, R vl, R vu, int il, int iu, int *meig, const R *W, int *lwork)                            \
    {                                                                                                                  \
        (void)jobz, (void)range, (void)uplo, (void)A, (void)lda, (void)vl, (void)vu, (void)il, (void)iu, (void)meig,   \
            (void)W;                                                                                                   \
        SOLVER(s, handle);                                                                                             \
        return n >= 0 ? call_size(lwork, syevd_work(n)) : CUSOLVER_STATUS_INVALID_VALUE;                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##dx(                                                              \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int n,     \
        T *A, int lda, R vl, R vu, int il, int iu, int *meig, R *W, T *work, int lwork, int *info)                     \
    {                                                                                                                  \
        const struct question q = SINGLE(SOME_VALUES, AT_RANGE, WORK);                                                 \
        (void)work;                                                                                                    \
        return eigen(handle, "cusolverDn" #X #name "dx", p, &q, meig, NULL, info);                                     \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##j_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,  \
                                                                   cublasFillMode_t uplo, int n, const T *A, int lda,  \
                                                                   const R *W, int *lwork, syevjInfo_t params)         \
    {                                                                                                                  \
        (void)jobz, (void)uplo, (void)A, (void)lda, (void)W, (void)params;                                             \
        SIZED(n >= 0);                                                                                                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##j(cusolverDnHandle_t handle, cusolverEigMode_t jobz,             \
                                                        cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work,    \
                                                        int lwork, int *info, syevjInfo_t params)                      \
    {                                                                                                                  \
        const struct question q = SINGLE(ALL_VALUES, AT_SINGLE);                                                       \
        (void)work, (void)lwork;                                                                                       \
        return jacobi(handle, "cusolverDn" #X #name "j", p, &q, info, params);                                         \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##jBatched_bufferSize(                                             \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, const T *A, int lda,          \
        const R *W, int *lwork, syevjInfo_t params, int batchSize)                                                     \
    {                                                                                                                  \
        (void)jobz, (void)uplo, (void)A, (void)lda, (void)W, (void)params;                                             \
        SIZED(n >= 0 && batchSize >= 0);                                                                               \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##jBatched(                                                        \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A, int lda, R *W, T *work, \
        int lwork, int *info, syevjInfo_t params, int batchSize)                                                       \
    {                                                                                                                  \
        const struct question q = SINGLE(ALL_VALUES, AT_SINGLE);                                                       \
        (void)work, (void)lwork;                                                                                       \
        return jacobi_batch(handle, "cusolverDn" #X #name "jBatched", p, &q, info, params, batchSize);                 \
    }

static cusolverStatus_t jacobi_batch(cusolverDnHandle_t handle, const char *name, enum precision p,
                                     const struct question *q, int *info, syevjInfo_t params, int size)
{
    IN_CALL;
    struct jacobi *j = handle_find(&library_handles, params, KIND_JACOBI);
    NEED(j != NULL);
    j->was_batched = true;
    return batch(handle, name, p, q, info, size, 0);
}

FOR_ALL(SYEV, syev, heev)

#define SYGV(X, name, T, R, p)                                                                                         \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##d_bufferSize(                                                    \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,      \
        const T *A, int lda, const T *B, int ldb, const R *W, int *lwork)                                              \
    {                                                                                                                  \
        (void)itype, (void)jobz, (void)A, (void)lda, (void)B, (void)ldb, (void)W;                                      \
        SIZED(n >= 0 && is_uplo(uplo));                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##d(cusolverDnHandle_t handle, cusolverEigType_t itype,            \
                                                        cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,    \
                                                        int lda, T *B, int ldb, R *W, T *work, int lwork, int *info)   \
    {                                                                                                                  \
        const struct question q = SINGLE(ALL_VALUES, SECOND, AT_PAIR);                                                 \
        (void)work, (void)lwork;                                                                                       \
        return eigen(handle, "cusolverDn" #X #name "d", p, &q, NULL, NULL, info);                                      \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##dx_bufferSize(                                                   \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cusolverEigRange_t range,          \
        cublasFillMode_t uplo, int n, const T *A, int lda, const T *B, int ldb, R vl, R vu, int il, int iu, int *meig, \
        const R *W, int *lwork)                                                                                        \
    {                                                                                                                  \
        (void)itype, (void)jobz, (void)range, (void)A, (void)lda, (void)B, (void)ldb, (void)vl, (void)vu, (void)il,    \
            (void)iu;                                                                                                  \
        (void)meig, (void)W;                                                                                           \
        SIZED(n >= 0 && is_uplo(uplo));                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##dx(                                                              \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cusolverEigRange_t range,          \
        cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R vl, R vu, int il, int iu, int *meig, R *W,       \
        T *work, int lwork, int *info)                                                                                 \
    {                                                                                                                  \
        const struct question q = SINGLE(SOME_VALUES, SECOND, AT_PAIR_RANGE);                                          \
        (void)work, (void)lwork;                                                                                       \
        return eigen(handle, "cusolverDn" #X #name "dx", p, &q, meig, NULL, info);                                     \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##j_bufferSize(                                                    \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,      \
        const T *A, int lda, const T *B, int ldb, const R *W, int *lwork, syevjInfo_t params)                          \
    {                                                                                                                  \
        (void)itype, (void)jobz, (void)A, (void)B, (void)ldb, (void)W, (void)params;                                   \
        SIZED(n >= 0 && is_uplo(uplo) && lda >= 0);                                                                    \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##j(                                                               \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,      \
        T *A, int lda, T *B, int ldb, R *W, T *work, int lwork, int *info, syevjInfo_t params)                         \
    {                                                                                                                  \
        const struct question q = SINGLE(ALL_VALUES, SECOND, AT_PAIR);                                                 \
        (void)work, (void)lwork;                                                                                       \
        return jacobi(handle, "cusolverDn" #X #name "j", p, &q, info, params);                                         \
    }
FOR_ALL(SYGV, sygv, hegv)

/* ---- 64-bit functions: eigenvalues are of the real type of A ---- */

static bool types_fit(cudaDataType typeA, cudaDataType typeW, cudaDataType computeType, enum precision *p)
{
    return precision_of(typeA, p) && typeA == computeType &&
           typeW == (precision_real_bytes(*p) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F);
}

LIBRARY_API cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                         cudaDataType typeA, const void *A, int64_t lda,
                                                         cudaDataType typeW, const void *W, cudaDataType computeType,
                                                         size_t *device, size_t *host)
{
    enum precision p;
    (void)params, (void)jobz, (void)uplo, (void)n, (void)A, (void)lda, (void)W;
    SOLVER(s, handle);
    return types_fit(typeA, typeW, computeType, &p) ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

/* Defines `s`, like SOLVER, and `p`, A's precision. */
#define SOLVER_OF_TYPES(s, p)                                                                                          \
    enum precision p;                                                                                                  \
    (void)params, WITHOUT_BUFFERS;                                                                                     \
    SOLVER(s, handle);                                                                                                 \
    ARGUMENT(0, types_fit(typeA, typeW, computeType, &p))

LIBRARY_API cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                              cudaDataType typeA, void *A, int64_t lda, cudaDataType typeW, void *W,
                                              cudaDataType computeType, void *device, size_t deviceBytes, void *host,
                                              size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXsyevd";
    const struct question q = SINGLE(ALL_VALUES, .at = {.job = 2, .uplo = 3, .n = 4, .lda = 7});
    SOLVER_OF_TYPES(s, p);
    return eigen(handle, name, p, &q, NULL, NULL, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                          cusolverEigMode_t jobz, cusolverEigRange_t range,
                                                          cublasFillMode_t uplo, int64_t n, cudaDataType typeA,
                                                          const void *A, int64_t lda, void *vl, void *vu, int64_t il,
                                                          int64_t iu, int64_t *meig, cudaDataType typeW, const void *W,
                                                          cudaDataType computeType, size_t *device, size_t *host)
{
    (void)range, (void)vl, (void)vu, (void)il, (void)iu, (void)meig;
    return cusolverDnXsyevd_bufferSize(handle, params, jobz, uplo, n, typeA, A, lda, typeW, W, computeType, device,
                                       host);
}

/* vl and vu are on the host, with the type of W. */
static double bound_at(cudaDataType typeW, const void *at)
{
    return !at ? 0 : typeW == CUDA_R_32F ? *(const float *)at : *(const double *)at;
}

LIBRARY_API cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                                               int64_t n, cudaDataType typeA, void *A, int64_t lda, void *vl, void *vu,
                                               int64_t il, int64_t iu, int64_t *meig, cudaDataType typeW, void *W,
                                               cudaDataType computeType, void *device, size_t deviceBytes, void *host,
                                               size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXsyevdx";
    SOLVER_OF_TYPES(s, p);
    bool bounded = range == CUSOLVER_EIG_RANGE_V;
    const struct question q =
        SINGLE(.range = range, .il = il, .iu = iu, .vl = bounded ? bound_at(typeW, vl) : 0,
               .vu = bounded ? bound_at(typeW, vu) : 0,
               .at = {.job = 2, .range = 3, .uplo = 4, .n = 5, .lda = 8, .vu = 10, .il = 11, .iu = 12});
    return eigen(handle, name, p, &q, NULL, meig, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                               cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                               cudaDataType typeA, const void *A, int64_t lda,
                                                               cudaDataType typeW, const void *W,
                                                               cudaDataType computeType, size_t *device, size_t *host,
                                                               int64_t batchSize)
{
    (void)batchSize;
    return cusolverDnXsyevd_bufferSize(handle, params, jobz, uplo, n, typeA, A, lda, typeW, W, computeType, device,
                                       host);
}

LIBRARY_API cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                    cudaDataType typeA, void *A, int64_t lda, cudaDataType typeW,
                                                    void *W, cudaDataType computeType, void *device, size_t deviceBytes,
                                                    void *host, size_t hostBytes, int *info, int64_t batchSize)
{
    static const char name[] = "cusolverDnXsyevBatched";
    const struct question q = SINGLE(ALL_VALUES, .at = {.job = 2, .uplo = 3, .n = 4, .lda = 7});
    SOLVER_OF_TYPES(s, p);
    return batch(handle, name, p, &q, info, batchSize, 16);
}
