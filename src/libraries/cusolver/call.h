/* A cuSOLVER call as a task of its handle's stream: the arguments of LAPACK's routines, by LAPACK's
 * names, and the memory that they use.
 *
 * An entry point checks its arguments as cuSOLVER does, fills a struct call, declares its operands
 * (call_matrix() and similar functions) and submits it (call_put). In the task all operands are
 * addresses of this process; `run` computes by LAPACK (libraries/openblas) and returns LAPACK's
 * info, which is stored in devInfo.
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
    OP_ROWS, /* sparse matrix: where each row begins */
    OP_COLUMNS,
    OP_INFO,
    OPERANDS
};

struct call;
/* Returns LAPACK's info, or OUT_OF_MEMORY, or BAD_ADDRESS for a matrix of a batch. */
typedef int call_run(const struct call *c);
enum { OUT_OF_MEMORY = INT_MIN, BAD_ADDRESS };

struct call {
    const char *name;
    call_run *run;
    enum precision precision;
    int m, n, k, nrhs, batch, itype;
    char uplo, trans, side, diag, job, job_u, job_v, range;
    int first, last;  /* range of eigenvalues: il and iu, from 1 */
    double low, high; /* vl and vu */
    double shift_imaginary;
    int flags; /* meaning defined by the function family */
    int value; /* info, for a call that does nothing else */
    void *at[OPERANDS];
    int ld[OPERANDS];
    int64_t step[OPERANDS]; /* elements between matrices of a batch */
    void *host;             /* a result on the host, or data of the family */
    void (*drop)(void *host);
    double flops;
    bool waits;
    /* In a task: adds the operands of a batch by addresses; or NULL. */
    void (*name_addressed)(struct call *c);
    /* The used memory: */
    hd_used *used;
    size_t n_used;
    double bytes;
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

/* Defines `s`, the handle's record, or returns an error. */
#define SOLVER(s, handle)                                                                                              \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) struct solver *s = handle_find(&library_handles, handle, KIND_DENSE);                      \
    if (!s)                                                                                                            \
    return library_no_handle(), CUSOLVER_STATUS_NOT_INITIALIZED

/* A condition on an entry point's arguments (`name`: the entry point, `info`: its devInfo). If it
 * does not hold, info becomes -position, as in LAPACK. */
#define ARGUMENT(position, condition)                                                                                  \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(s, name, info, -(position), CUSOLVER_STATUS_INVALID_VALUE, #condition);                  \
    } while (0)
/* The same without info, or where an H200 does not write it. */
#define NEED_OR(status, condition)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return call_wrong(NULL, name, NULL, 0, status, #condition);                                                \
    } while (0)
#define NEED(condition) NEED_OR(CUSOLVER_STATUS_INVALID_VALUE, condition)

/* LAPACK's sizes are ints, and it squares some of them. */
enum { MOST = 1 << 30 };
#define FITS(...)                                                                                                      \
    do {                                                                                                               \
        const int64_t sizes[] = {__VA_ARGS__};                                                                         \
        if (!call_fits(name, sizes, sizeof sizes / sizeof *sizes))                                                     \
            return CUSOLVER_STATUS_NOT_SUPPORTED;                                                                      \
    } while (0)
bool call_fits(const char *name, const int64_t *sizes, size_t n);

/* The first conditions of most functions that take a triangle. */
#define TRIANGLE_FITS(uplo, n)                                                                                         \
    ARGUMENT(1, is_uplo(uplo));                                                                                        \
    ARGUMENT(2, (n) >= 0)

/* 64-bit functions take workspaces, which are not needed. */
#define WITHOUT_BUFFERS (void)device, (void)deviceBytes, (void)host, (void)hostBytes

/* ---- elements ---- */

size_t precision_bytes(enum precision p);
/* Returns false for a type that matrices cannot have. */
bool precision_of(cudaDataType type, enum precision *p);
/* Size of the real numbers of the precision. */
size_t precision_real_bytes(enum precision p);
bool precision_is_complex(enum precision p);
static inline void *element_at(enum precision p, const void *from, int64_t i)
{
    return (char *)from + i * (int64_t)precision_bytes(p);
}
double real_at(enum precision p, const void *from, int64_t i);

/* ---- what a call uses ---- */

struct call call_new(const char *name, enum precision p, call_run *run);
/* Declares an operand; an empty one, or NULL, uses nothing. */
void call_matrix(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                 unsigned use);
/* One triangle with its diagonal; the other triangle is neither read nor written. Sets the call's
 * uplo. */
void call_triangle(struct call *c, enum operand o, const void *at, cublasFillMode_t uplo, int64_t n, int64_t ld,
                   unsigned use);
void call_vector(struct call *c, enum operand o, const void *at, int64_t n, size_t element_bytes, unsigned use);
/* Matrices of a batch, `step` elements apart. */
void call_matrices(struct call *c, enum operand o, const void *at, int64_t rows, int64_t columns, int64_t ld,
                   int64_t step, unsigned use);
void call_info(struct call *c, int *info, int64_t n);
/* The same for one info, where NULL is a wild address; call_info() and call_put_info() leave out a
 * NULL. */
void call_needs_info(struct call *c, int *info);

/* ---- it is done ---- */

cusolverStatus_t call_put(const struct solver *s, struct call *c);
/* Submits a call with one info that it writes. */
cusolverStatus_t call_put_info(const struct solver *s, struct call *c, int *info);
/* Explains the error, lets the stream write info if there is one, and returns the status. */
cusolverStatus_t call_wrong(const struct solver *s, const char *name, int *info, int value, cusolverStatus_t status,
                            const char *why);
/* The workspace size: no workspace is needed, but some programs cannot allocate 0 bytes. */
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
/* A call that has nothing to do but write info. */
cusolverStatus_t call_nothing(const struct solver *s, const char *name, int *info);

/* Calls a LAPACK routine twice: for its workspace size, and with the workspace. The routine names
 * `work` and `lwork`. */
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

/* A `run` function that calls a LAPACK routine with these arguments; the last are the lengths of
 * its letters. */
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
/* A matrix argument for LAPACK. */
#define MATRIX(o) c->at[OP_##o], &c->ld[OP_##o]

/* A solution with a factor of n x n: B becomes X. */
struct call call_solution(const char *name, enum precision p, call_run *run, int64_t n, int64_t nrhs, void *B,
                          int64_t ldb);
/* Converts the call's n 64-bit pivots for LAPACK; the caller frees them. */
int *call_narrow_pivots(const struct call *c);
/* The number 1 in a precision. */
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

/* The functions of a family: M(letter, name, element type, real type, precision). */
#define FOR_REAL(M, name)                   M(S, name, float, float, PRECISION_S) M(D, name, double, double, PRECISION_D)
#define FOR_COMPLEX(M, name)                M(C, name, cuComplex, float, PRECISION_C) M(Z, name, cuDoubleComplex, double, PRECISION_Z)
#define FOR_ALL(M, real_name, complex_name) FOR_REAL(M, real_name) FOR_COMPLEX(M, complex_name)

/* In a task: are all pivots row numbers (negative for 2 x 2 blocks)? They are data, and may be
 * invalid. */
bool call_pivots_lie_in(const int *pivots, int64_t n, int step, int64_t rows);

#endif
