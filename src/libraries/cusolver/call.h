/* A call of cuSOLVER's as a task of its handle's stream: what LAPACK's routines take, by LAPACK's
 * names, and the memory that they use.
 *
 * An entry point checks its arguments as cuSOLVER does, fills a struct call, names its operands
 * (call_matrix() and its like) and puts it (call_put). In the task all operands are addresses of
 * this process, and `run` computes by LAPACK (libraries/openblas) and returns LAPACK's info, which
 * goes to devInfo.
 */
#ifndef HEDDLE_CUSOLVER_CALL_H
#define HEDDLE_CUSOLVER_CALL_H

#include <limits.h>

#include "cuda/cusolverDn.h"
#include "libraries/common/library.h"
#include "libraries/openblas/openblas.h"

enum operand {
    OP_A,
    OP_B,
    OP_C,
    OP_X,
    OP_U,
    OP_V,
    OP_W, /* eigenvalues, singular values, a diagonal */
    OP_E,
    OP_TAU,
    OP_TAU_P,
    OP_PIVOTS,
    OP_ROWS, /* of a sparse matrix: where each begins */
    OP_COLUMNS,
    OP_INFO,
    OPERANDS
};

struct call;
/* LAPACK's info, or OUT_OF_MEMORY, or BAD_ADDRESS: of a matrix of a batch. */
typedef int call_run(const struct call *c);
enum { OUT_OF_MEMORY = INT_MIN, BAD_ADDRESS };

struct call {
    const char *name;
    call_run *run;
    enum precision precision;
    int m, n, k, nrhs, batch, itype;
    char uplo, trans, side, diag, job, job_u, job_v, range;
    int first, last;  /* of eigenvalues: il and iu, from 1 */
    double low, high; /* vl and vu */
    double shift_imaginary;
    int flags; /* the family's own */
    int value; /* of info, where that is all there is to do */
    void *at[OPERANDS];
    int ld[OPERANDS];
    int64_t step[OPERANDS]; /* elements from one of a batch to the next */
    void *host;             /* where a result for the host goes, or what a family keeps */
    void (*drop)(void *host);
    double flops;
    bool waits;
    /* what is used */
    hd_used *used;
    size_t n_used;
    bool no_memory;
};

/* ---- handles ---- */

enum kind {
    KIND_DENSE = 1,
    KIND_PARAMETERS,
    KIND_JACOBI,
    KIND_REFINEMENT,
    KIND_REFINED,
    KIND_SPARSE,
    KIND_QR,
    KIND_CHOLESKY,
    KIND_LU,
    KIND_REFACTORIZATION
};

struct solver {
    cudaStream_t stream;
    cusolverDeterministicMode_t deterministic;
    cusolverMathMode_t math;
};

/* The rest of an entry point has `s`, the handle's record, or has returned. */
#define SOLVER(s, handle)                                                                                              \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) struct solver *s = handle_find(&library_handles, handle, KIND_DENSE);                      \
    if (!s)                                                                                                            \
    return CUSOLVER_STATUS_NOT_INITIALIZED

/* What must hold of an entry point's arguments (`name` is its own, `info` its devInfo): where it
 * does not, info becomes -position, as LAPACK has it. */
#define ARGUMENT(position, condition)                                                                                  \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(s, name, info, -(position), CUSOLVER_STATUS_INVALID_VALUE, #condition);                  \
    } while (0)
/* The same where there is no info, or an H200 leaves it alone. */
#define NEED_OR(status, condition)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(NULL, name, NULL, 0, status, #condition);                                                \
    } while (0)
#define NEED(condition) NEED_OR(CUSOLVER_STATUS_INVALID_VALUE, condition)

/* LAPACK's sizes are ints; so are the squares that it makes of some. */
enum { MOST = 1 << 30 };
#define FITS(...)                                                                                                      \
    do {                                                                                                               \
        const int64_t sizes[] = {__VA_ARGS__};                                                                         \
        if (!call_fits(name, sizes, sizeof sizes / sizeof *sizes))                                                     \
            return CUSOLVER_STATUS_NOT_SUPPORTED;                                                                      \
    } while (0)
bool call_fits(const char *name, const int64_t *sizes, size_t n);

/* What most functions of one triangle say of it first. */
#define TRIANGLE_FITS(uplo, n)                                                                                         \
    ARGUMENT(1, is_uplo(uplo));                                                                                        \
    ARGUMENT(2, (n) >= 0)

/* 64-bit functions take room to work in that nothing needs. */
#define WITHOUT_BUFFERS (void)device, (void)deviceBytes, (void)host, (void)hostBytes

/* ---- elements ---- */

size_t precision_bytes(enum precision p);
/* False: no type that a matrix may have. */
bool precision_of(cudaDataType type, enum precision *p);
/* Of the real numbers of the same precision. */
size_t precision_real_bytes(enum precision p);
bool precision_is_complex(enum precision p);
static inline void *element_at(enum precision p, const void *from, int64_t i)
{
    return (char *)from + i * (int64_t)precision_bytes(p);
}
double real_at(enum precision p, const void *from, int64_t i);

/* ---- what a call uses ---- */

struct call call_new(const char *name, enum precision p, call_run *run);
/* Operands of nothing, and NULL, use nothing. */
void call_matrix(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                 unsigned use);
/* One triangle of it, with its diagonal, which becomes the call's; the other is neither read nor
 * written. */
void call_triangle(struct call *c, enum operand o, const void *at, cublasFillMode_t uplo, int64_t n, int64_t ld,
                   unsigned use);
void call_vector(struct call *c, enum operand o, const void *at, int64_t n, size_t element_bytes, unsigned use);
/* Matrices of a batch, `step` elements apart. */
void call_matrices(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                   int64_t step, unsigned use);
void call_info(struct call *c, int *info, int64_t n);

/* ---- it is done ---- */

cusolverStatus_t call_put(const struct solver *s, struct call *c);
/* With one info that it writes. */
cusolverStatus_t call_put_info(const struct solver *s, struct call *c, int *info);
/* Says why, has the stream write info, where there is one, and returns the status. */
cusolverStatus_t call_wrong(const struct solver *s, const char *name, int *info, int value, cusolverStatus_t status,
                            const char *why);
/* How much is to be worked in: nothing that a program allocates is needed, but some refuse to
 * allocate nothing. */
static inline cusolverStatus_t call_size(int *lwork, int elements)
{
    if (!lwork)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *lwork = elements;
    return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t call_sizes(size_t *device_bytes, size_t *host_bytes)
{
    if (!device_bytes || !host_bytes)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *device_bytes = 16;
    *host_bytes = 0;
    return CUSOLVER_STATUS_SUCCESS;
}
/* Info alone: a call that has nothing to do. */
cusolverStatus_t call_nothing(const struct solver *s, const char *name, int *info);

/* Calls a routine that says how much it wants to work in: once for that, and again. The routine
 * names `work` and `lwork`. */
#define WITH_WORK(precision, routine)                                                                                  \
    do {                                                                                                               \
        double wanted[2] = {0};                                                                                        \
        void *work = wanted;                                                                                           \
        int lwork = -1;                                                                                                \
        routine;                                                                                                       \
        lwork = work_wanted(precision, wanted);                                                                        \
        work = malloc((size_t)lwork * precision_bytes(precision));                                                     \
        if (!work)                                                                                                     \
            return OUT_OF_MEMORY;                                                                                      \
        routine;                                                                                                       \
        free(work);                                                                                                    \
    } while (0)
int work_wanted(enum precision p, const void *answer);

/* A `run` that is a routine of LAPACK's, with its arguments; the last are the lengths of its
 * letters. */
#define RUN(routine, ...)                                                                                              \
    static int run_##routine(const struct call *c)                                                                     \
    {                                                                                                                  \
        int info = 0;                                                                                                  \
        heddle_openblas.routine[c->precision](__VA_ARGS__);                                                            \
        return info;                                                                                                   \
    }
#define RUN_WITH_WORK(routine, ...)                                                                                    \
    static int run_##routine(const struct call *c)                                                                     \
    {                                                                                                                  \
        int info = 0;                                                                                                  \
        WITH_WORK(c->precision, heddle_openblas.routine[c->precision](__VA_ARGS__));                                   \
        return info;                                                                                                   \
    }
/* A matrix, as LAPACK takes it. */
#define MATRIX(o) c->at[OP_##o], &c->ld[OP_##o]

/* What is solved with a factor of n x n: B becomes X. */
struct call call_solution(const char *name, enum precision p, call_run *run, int64_t n, int64_t nrhs, void *B,
                          int64_t ldb);
/* The call's n pivots, which are 64-bit ones, as LAPACK takes them; to be freed. */
int *call_narrow_pivots(const struct call *c);
/* 1 of a precision. */
const void *precision_one(enum precision p);
static inline double cube(int64_t n)
{
    return (double)n * (double)n * (double)n;
}

/* ---- arguments ---- */

static inline char uplo_of(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}

static inline bool is_uplo(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

static inline char trans_of(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N ? 'N' : trans == CUBLAS_OP_T ? 'T' : 'C';
}

static inline bool is_trans(cublasOperation_t trans)
{
    return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C;
}

static inline int64_t at_least_one(int64_t n)
{
    return n > 1 ? n : 1;
}

/* The functions of a family: M(letter, name, element, real number, precision). */
#define FOR_REAL(M, name)                   M(S, name, float, float, PRECISION_S) M(D, name, double, double, PRECISION_D)
#define FOR_COMPLEX(M, name)                M(C, name, cuComplex, float, PRECISION_C) M(Z, name, cuDoubleComplex, double, PRECISION_Z)
#define FOR_ALL(M, real_name, complex_name) FOR_REAL(M, real_name) FOR_COMPLEX(M, complex_name)

/* In a task: pivots are rows of a matrix, those of blocks of two with a minus; or lead out of it,
 * as data may. */
bool call_pivots_lie_in(const int *pivots, int64_t n, int step, int64_t rows);

#endif
