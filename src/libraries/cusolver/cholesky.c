/* Positive definite and triangular matrices: factors, solutions, inverses ("cuSOLVER", potrf,
 * potrs, potri, lauum, trtri), one at a time and in batches.
 */
#include "libraries/cusolver/call.h"

#include <math.h>

/* ---- what LAPACK does ---- */

/* OpenBLAS treats a NaN on the diagonal as positive. */
static int first_nan(const struct call *c)
{
    for (int i = 0; i < c->n; i++)
        if (isnan(real_at(c->precision, c->at[OP_A], (int64_t)i * c->ld[OP_A] + i)))
            return i + 1;
    return 0;
}

static int run_potrf(const struct call *c)
{
    int info = 0;
    heddle_openblas.potrf[c->precision](&c->uplo, &c->n, c->at[OP_A], &c->ld[OP_A], &info, 1);
    return info ? info : first_nan(c);
}

RUN(potrs, &c->uplo, &c->n, &c->nrhs, MATRIX(A), MATRIX(B), &info, 1)
RUN(potri, &c->uplo, &c->n, MATRIX(A), &info, 1)
RUN(lauum, &c->uplo, &c->n, MATRIX(A), &info, 1)
RUN(trtri, &c->uplo, &c->diag, &c->n, MATRIX(A), &info, 1, 1)

static bool find_matrix(const struct call *c, enum operand o, int i, int rows, int columns, void **view)
{
    const struct library_shape shape = {precision_bytes(c->precision), (uint64_t)rows, (uint64_t)columns,
                                        (uint64_t)c->ld[o]};
    return library_reach(view, ((void *const *)c->at[o])[i], shape);
}

/* Batches are arrays of pointers in device memory. Returns false if a pointer is invalid. */
static bool find_problem(const struct call *c, int i, struct call *one)
{
    *one = *c;
    return find_matrix(c, OP_A, i, c->n, c->n, &one->at[OP_A]) &&
           (!c->at[OP_B] || find_matrix(c, OP_B, i, c->n, c->nrhs, &one->at[OP_B]));
}

static void name_addressed(struct call *c, unsigned use)
{
    void *const *A = library_view(c->at[OP_A]), *const *B = c->at[OP_B] ? library_view(c->at[OP_B]) : NULL;
    const cublasFillMode_t uplo = c->uplo == 'L' ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    for (int i = 0; i < c->batch; i++) {
        call_triangle(c, OP_A, A[i], uplo, c->n, c->ld[OP_A], use);
        if (B)
            call_matrix(c, OP_B, B[i], c->n, c->nrhs, c->ld[OP_B], HD_READS | HD_WRITES);
    }
}

static void name_factored(struct call *c)
{
    name_addressed(c, HD_READS | HD_WRITES);
}

static void name_solved(struct call *c)
{
    name_addressed(c, HD_READS);
}

static int run_potrf_batched(const struct call *c)
{
    int *info = c->at[OP_INFO];
    for (int i = 0; i < c->batch; i++) {
        struct call one;
        if (!find_problem(c, i, &one))
            return BAD_ADDRESS;
        info[i] = run_potrf(&one);
    }
    return info[0];
}

static int run_potrs_batched(const struct call *c)
{
    int info = 0;
    for (int i = 0; i < c->batch && !info; i++) {
        struct call one;
        info = find_problem(c, i, &one) ? run_potrs(&one) : BAD_ADDRESS;
    }
    return info;
}

/* ---- the calls ---- */

/* Functions that change one matrix in place: potrf, potri, lauum. */
static cusolverStatus_t in_place(cusolverDnHandle_t handle, const char *name, enum precision p, call_run *run,
                                 cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(4, lda >= at_least_one(n));
    FITS(lda);
    struct call c = call_new(name, p, run);
    c.n = (int)n;
    c.flops = cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS | HD_WRITES);
    if (n == 0 && run == run_potri)
        return CUSOLVER_STATUS_SUCCESS; /* an H200 writes no info */
    if (info || run != run_potrf)
        return call_put_info(s, &c, info);
    call_needs_info(&c, info); /* the fault and the status of an H200 */
    const cusolverStatus_t status = call_put(s, &c);
    return status || n == 0 ? status : CUSOLVER_STATUS_INTERNAL_ERROR;
}

static cusolverStatus_t potrs(cusolverDnHandle_t handle, const char *name, enum precision p, cublasFillMode_t uplo,
                              int64_t n, int64_t nrhs, const void *A, int64_t lda, void *B, int64_t ldb, int *info)
{
    SOLVER(s, handle);
    TRIANGLE_FITS(uplo, n);
    ARGUMENT(3, nrhs >= 0);
    ARGUMENT(5, lda >= at_least_one(n));
    ARGUMENT(7, ldb >= at_least_one(n));
    FITS(lda, ldb, nrhs);
    struct call c = call_solution(name, p, run_potrs, n, nrhs, B, ldb);
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS);
    return call_put_info(s, &c, info);
}

/* An H200 reports wrong arguments of batches by position, not -position. */
#define ARGUMENT_OF_BATCH(position, condition)                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(s, name, info, position, CUSOLVER_STATUS_INVALID_VALUE, #condition);                     \
    } while (0)

static cusolverStatus_t potrf_batched(cusolverDnHandle_t handle, const char *name, enum precision p,
                                      cublasFillMode_t uplo, int n, void *A, int lda, int *info, int batch)
{
    SOLVER(s, handle);
    NEED(batch > 0);
    ARGUMENT_OF_BATCH(1, is_uplo(uplo));
    ARGUMENT_OF_BATCH(2, n >= 0);
    ARGUMENT_OF_BATCH(4, lda >= at_least_one(n));
    struct call c = call_new(name, p, run_potrf_batched);
    c.uplo = uplo_of(uplo);
    c.n = n;
    c.batch = batch;
    c.name_addressed = name_factored;
    c.flops = batch * cube(n) / 3;
    call_vector(&c, OP_A, A, batch, sizeof(void *), HD_READS);
    c.ld[OP_A] = lda;
    call_info(&c, info, batch);
    return call_put(s, &c);
}

static cusolverStatus_t potrs_batched(cusolverDnHandle_t handle, const char *name, enum precision p,
                                      cublasFillMode_t uplo, int n, int nrhs, void *A, int lda, void *B, int ldb,
                                      int *info, int batch)
{
    SOLVER(s, handle);
    ARGUMENT_OF_BATCH(1, is_uplo(uplo));
    ARGUMENT_OF_BATCH(2, n >= 0);
    ARGUMENT_OF_BATCH(3, nrhs == 1);
    ARGUMENT_OF_BATCH(5, lda >= at_least_one(n));
    ARGUMENT_OF_BATCH(7, ldb >= at_least_one(n));
    ARGUMENT_OF_BATCH(9, batch > 0);
    struct call c = call_new(name, p, run_potrs_batched);
    c.uplo = uplo_of(uplo);
    c.n = n;
    c.nrhs = nrhs;
    c.batch = batch;
    c.name_addressed = name_solved;
    c.flops = 2.0 * n * n * batch;
    call_vector(&c, OP_A, A, batch, sizeof(void *), HD_READS);
    c.ld[OP_A] = lda;
    call_vector(&c, OP_B, B, batch, sizeof(void *), HD_READS);
    c.ld[OP_B] = ldb;
    return call_put_info(s, &c, info);
}

/* ---- their names ---- */

#define IN_PLACE(X, name, T, R, p)                                                                                     \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,    \
                                                     int lda, T *work, int lwork, int *info)                           \
    {                                                                                                                  \
        (void)work, (void)lwork;                                                                                       \
        return in_place(handle, "cusolverDn" #X #name, p, run_##name, uplo, n, A, lda, info);                          \
    }
FOR_ALL(IN_PLACE, potrf, potrf)
FOR_ALL(IN_PLACE, potri, potri)
FOR_ALL(IN_PLACE, lauum, lauum)

/* Checks differ: an H200 checks uplo only for potrf, and lwork only for potri. */
#define POTRF_SIZE(X, name, T, R, p)                                                                                   \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
                                                                  int n, T *A, int lda, int *lwork)                    \
    {                                                                                                                  \
        (void)n, (void)A, (void)lda;                                                                                   \
        SOLVER(s, handle);                                                                                             \
        return is_uplo(uplo) ? call_size(lwork, 1) : CUSOLVER_STATUS_INVALID_VALUE;                                    \
    }
FOR_ALL(POTRF_SIZE, potrf, potrf)
#define SIZE(X, name, T, R, p)                                                                                         \
    LIBRARY_API cusolverStatus_t cusolverDn##X##name##_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,    \
                                                                  int n, T *A, int lda, int *lwork)                    \
    {                                                                                                                  \
        (void)handle, (void)uplo, (void)n, (void)A, (void)lda;                                                         \
        return call_size(lwork, 1);                                                                                    \
    }
FOR_ALL(SIZE, potri, potri)
FOR_ALL(SIZE, lauum, lauum)

#define POTRS(X, name, T, R, p)                                                                                        \
    LIBRARY_API cusolverStatus_t cusolverDn##X##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,         \
                                                      int nrhs, const T *A, int lda, T *B, int ldb, int *info)         \
    {                                                                                                                  \
        return potrs(handle, "cusolverDn" #X "potrs", p, uplo, n, nrhs, A, lda, B, ldb, info);                         \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,  \
                                                             T *A[], int lda, int *info, int batch)                    \
    {                                                                                                                  \
        return potrf_batched(handle, "cusolverDn" #X "potrfBatched", p, uplo, n, A, lda, info, batch);                 \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverDn##X##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,  \
                                                             int nrhs, T *A[], int lda, T *B[], int ldb, int *info,    \
                                                             int batch)                                                \
    {                                                                                                                  \
        return potrs_batched(handle, "cusolverDn" #X "potrsBatched", p, uplo, n, nrhs, A, lda, B, ldb, info, batch);   \
    }
FOR_ALL(POTRS, potrs, potrs)

/* 64-bit functions: A's type determines the precision; the compute type is not checked. */

LIBRARY_API cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                                         const void *A, int64_t lda, cudaDataType computeType,
                                                         size_t *device, size_t *host)
{
    (void)params, (void)n, (void)type, (void)A, (void)lda, (void)computeType;
    SOLVER(s, handle);
    return is_uplo(uplo) ? call_sizes(device, host) : CUSOLVER_STATUS_INVALID_VALUE;
}

LIBRARY_API cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasFillMode_t uplo, int64_t n, cudaDataType type, void *A, int64_t lda,
                                              cudaDataType computeType, void *device, size_t deviceBytes, void *host,
                                              size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXpotrf";
    enum precision p;
    (void)params, (void)computeType, WITHOUT_BUFFERS;
    NEED(precision_of(type, &p));
    return in_place(handle, name, p, run_potrf, uplo, n, A, lda, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType typeA,
                                              const void *A, int64_t lda, cudaDataType typeB, void *B, int64_t ldb,
                                              int *info)
{
    static const char name[] = "cusolverDnXpotrs";
    enum precision p;
    (void)params;
    NEED(precision_of(typeA, &p) && typeA == typeB);
    return potrs(handle, name, p, uplo, n, nrhs, A, lda, B, ldb, info);
}

LIBRARY_API cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                                         cublasDiagType_t diag, int64_t n, cudaDataType type, void *A,
                                                         int64_t lda, size_t *device, size_t *host)
{
    enum precision p;
    (void)handle, (void)uplo, (void)diag, (void)n, (void)A, (void)lda;
    return precision_of(type, &p) ? call_sizes(device, host) : CUSOLVER_STATUS_NOT_SUPPORTED;
}

LIBRARY_API cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                              int64_t n, cudaDataType type, void *A, int64_t lda, void *device,
                                              size_t deviceBytes, void *host, size_t hostBytes, int *info)
{
    static const char name[] = "cusolverDnXtrtri";
    enum precision p;
    WITHOUT_BUFFERS;
    SOLVER(s, handle);
    ARGUMENT(1, is_uplo(uplo));
    ARGUMENT(2, diag == CUBLAS_DIAG_NON_UNIT || diag == CUBLAS_DIAG_UNIT);
    ARGUMENT(3, n >= 0);
    ARGUMENT(6, lda >= at_least_one(n));
    NEED_OR(CUSOLVER_STATUS_NOT_SUPPORTED, precision_of(type, &p));
    FITS(lda);
    struct call c = call_new(name, p, run_trtri);
    c.diag = diag == CUBLAS_DIAG_UNIT ? 'U' : 'N';
    c.n = (int)n;
    c.flops = cube(n) / 3;
    call_triangle(&c, OP_A, A, uplo, n, lda, HD_READS | HD_WRITES);
    return call_put_info(s, &c, info);
}
