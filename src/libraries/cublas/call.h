/* A call of cuBLAS, for any routine and type. An entry point fills in a struct call with its
 * arguments. call_put() checks it by the routine's description, keeps the scalars, declares the
 * memory that it uses, and submits it. The task calls the routine's run() on plain addresses, once
 * for each problem of a batch.
 */
#ifndef HEDDLE_LIBRARIES_CUBLAS_CALL_H
#define HEDDLE_LIBRARIES_CUBLAS_CALL_H

#include <stdatomic.h>

#include "cuda/cublas_api.h"

#include "libraries/blas/elements.h"
#include "libraries/common/library.h"

/* ---- handles ---- */

enum { KIND_HANDLE = 1 };

struct blas_handle {
    CUstream _Atomic stream;
    _Atomic cublasPointerMode_t pointer_mode;
    _Atomic cublasAtomicsMode_t atomics_mode;
    _Atomic cublasMath_t math_mode;
    _Atomic int sm_count_target;
    /* settings that are stored only: emulation is not needed, since arithmetic is exact */
    _Atomic int emulation[5];
    int *_Atomic mantissa_bits;
};

struct blas_handle *handle_of(cublasHandle_t handle);
/* Under a checker: a scalar or a result that the handle's pointer mode takes from the host. */
void call_host_scalar(const void *p, bool writes);
cublasStatus_t status_of(CUresult r);

/* ---- calls ---- */

enum { OPERANDS = 5 };

/* A matrix or a vector. `ld`: leading dimension or increment; `stride`: elements to the next matrix
 * of a batch. */
struct operand {
    const void *at;
    int64_t ld;
    int64_t stride;
    cudaDataType type; /* 0 (CUDA_R_32F) in a call with one type: that type */
};

/* The scalars' addresses, or, in host pointer mode, their values at the call. */
union scalars {
    double d[5];
    float f[5];
    int32_t i[5];
    char bytes[40];
};

struct call {
    const struct routine *routine;
    const char *name;
    cudaDataType type; /* of the elements; also of alpha and beta unless scalar_type differs */
    cublasOperation_t ta, tb;
    cublasFillMode_t uplo;
    cublasSideMode_t side;
    cublasDiagType_t diag;
    int64_t m, n, k, kl, ku;
    bool mixed; /* operands and scalars have types of their own */
    cudaDataType scalar_type, compute_type;
    cublasComputeType_t compute;
    cublasGemmAlgo_t algorithm; /* a hint: all algorithms compute the same */
    cublasMath_t math_mode;
    const void *alpha, *beta;
    struct operand op[OPERANDS];
    int64_t batch;        /* number of problems if `batched` */
    bool batched, arrays; /* arrays: matrix operands are arrays of addresses in device memory */
    bool wide_index;      /* the result is an int64_t */
    bool device_scalars;
    bool checked_only; /* nothing is submitted to the stream */
    union scalars alpha_value, beta_value;
};

enum region_kind {
    REGION_NONE,
    REGION_MATRIX, /* rows x columns */
    REGION_LOWER,  /* a triangle of a rows x rows matrix */
    REGION_UPPER,
    REGION_BAND,   /* a matrix whose rows are the call's diagonals */
    REGION_VECTOR, /* rows elements */
    REGION_PACKED, /* `rows` elements, contiguous */
    /* `rows` elements where the pointer mode says: a result, or an argument that is also a
       result */
    REGION_SCALAR,
    REGION_COUNTS, /* `rows` int32_t, contiguous: pivots, states */
};

static inline bool is_matrix(enum region_kind kind)
{
    return kind == REGION_MATRIX || kind == REGION_LOWER || kind == REGION_UPPER || kind == REGION_BAND;
}

struct region {
    enum region_kind kind;
    int64_t rows, columns;
    unsigned use; /* enum hd_use */
    bool strict;  /* without the diagonal */
};

static inline struct region region_matrix(int64_t rows, int64_t columns, unsigned use)
{
    return (struct region){REGION_MATRIX, rows, columns, use, false};
}

/* op(X), of rows x columns, is read. */
static inline struct region region_under(cublasOperation_t op, int64_t rows, int64_t columns)
{
    return op == CUBLAS_OP_N ? region_matrix(rows, columns, HD_READS) : region_matrix(columns, rows, HD_READS);
}

/* The arguments of a routine, by which they are checked. */
enum routine_uses {
    USES_M = 1 << 0,
    USES_N = 1 << 1,
    USES_K = 1 << 2,
    USES_TA = 1 << 3,
    USES_TB = 1 << 4,
    USES_UPLO = 1 << 5,
    USES_SIDE = 1 << 6,
    USES_DIAG = 1 << 7,
    USES_ALPHA = 1 << 8,
    USES_BETA = 1 << 9,
    USES_BAND = 1 << 10,    /* kl and ku */
    LEVEL_1 = 1 << 11,      /* n < 1 is an empty call, increments may be zero, and a result is 0 */
    POSITIVE_INC = 1 << 12, /* like LEVEL_1; an increment < 1 is an empty call, too */
    NO_K_NEEDED = 1 << 13,  /* with k = 0, beta * C is still computed */
    ALPHA_REAL = 1 << 14,   /* alpha has the real type of the scalars */
    BETA_REAL = 1 << 15,
    LOOSE_INCREMENTS = 1 << 19,
    LATE_LD = 1 << 16, /* leading dimensions are checked only if the call is not empty */
    /* so are all others (gemv): negative sizes are empty, increments may be zero */
    LOOSE = 1 << 17,
    /* a negative number of problems is a launch failure, not a wrong argument */
    BATCH_FAILS = 1 << 20,
    NULL_IS_ZERO = 1 << 21,          /* a NULL alpha or beta is 0 (geam) */
    NULL_IS_MAPPING_ERROR = 1 << 18, /* a NULL result is a mapping error (dot) */
    /* An alpha of 0 is multiplied by, so that NaNs propagate, unless beta is 1. */
    ZERO_TIMES = 1 << 22,
    ZERO_TIMES_ALWAYS = 1 << 23, /* also if beta is 1 */
    /* a triangular matrix is multiplied as a square one, with zeros in its other half */
    SQUARE_OF_TRIANGLE = 1 << 24,
    NULL_IS_INVALID = 1 << 25, /* a NULL operand is a wrong argument; otherwise, a wild address */
    NEEDS_ALIGNMENT = 1 << 26, /* misaligned operands are not supported */
};

struct routine {
    unsigned uses;
    unsigned alpha_count; /* 0 means one */
    void (*regions)(const struct call *c, struct region r[OPERANDS]);
    /* Further checks, beside `uses` and the regions; or NULL. */
    cublasStatus_t (*check)(const struct call *c);
    /* Computes one problem; false if memory is exhausted. */
    bool (*run)(const struct call *c);
    /* Number of operations of one problem; or NULL. */
    double (*flops)(const struct call *c);
};

cublasStatus_t call_put(cublasHandle_t handle, struct call *c);
/* Runs one problem, including NaNs that result from multiplying by zeros. */
bool call_run(const struct call *c);
/* Does an alpha of 0 and a beta of 1 leave the result unchanged? */
bool call_does_nothing(const struct call *c, const void *alpha, const void *beta);

static inline cudaDataType operand_type(const struct call *c, int i)
{
    return c->mixed ? c->op[i].type : c->type;
}

static inline cudaDataType real_type(cudaDataType type)
{
    return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

static inline enum precision call_precision(const struct call *c)
{
    return element_precision(c->type);
}

static inline int64_t at_least_1(int64_t x)
{
    return x > 1 ? x : 1;
}

#define OPERAND(at_, ld_)         {.at = (at_), .ld = (ld_)}
#define BATCH_OF(at_, ld_, next_) {.at = (at_), .ld = (ld_), .stride = (next_)}

/* The body of an entry point. */
#define CALL(name_, routine_, ...)                                                                                     \
    {                                                                                                                  \
        return call_put(handle, &(struct call){.routine = &(routine_), .name = name_, __VA_ARGS__});                   \
    }

/* ROW(letter, C type, type of elements) for each of BLAS's types. */
#define REAL_TYPES(ROW, ...) ROW(S, float, CUDA_R_32F, __VA_ARGS__) ROW(D, double, CUDA_R_64F, __VA_ARGS__)
#define COMPLEX_TYPES(ROW, ...)                                                                                        \
    ROW(C, cuComplex, CUDA_C_32F, __VA_ARGS__) ROW(Z, cuDoubleComplex, CUDA_C_64F, __VA_ARGS__)
#define ALL_TYPES(ROW, ...) REAL_TYPES(ROW, __VA_ARGS__) COMPLEX_TYPES(ROW, __VA_ARGS__)
/* With both widths of integers: for names with _v2, and for names with only one version. */
#define V2(TYPES, ROW)    TYPES(ROW, _v2, int) TYPES(ROW, _v2_64, int64_t)
#define PLAIN(TYPES, ROW) TYPES(ROW, , int) TYPES(ROW, _64, int64_t)
#define API               LIBRARY_API cublasStatus_t

#endif
