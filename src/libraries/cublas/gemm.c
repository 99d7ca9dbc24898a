/* General products ("cuBLAS Library", 2.7.1 to 2.7.6 and 2.8): with one type, with mixed types, in
 * batches by arrays of addresses or by strides, and in groups. The functions with three
 * multiplications (3m) use four. */
#include "libraries/cublas/call.h"

#include <limits.h>
#include <stdlib.h>

#include "libraries/blas/product.h"

static void gemm_regions(const struct call *c, struct region r[])
{
    r[0] = region_under(c->ta, c->m, c->k);
    r[1] = region_under(c->tb, c->k, c->n);
    r[2] = region_matrix(c->m, c->n, HD_READS | HD_WRITES);
}

static bool is_integer_product(const struct call *c)
{
    return c->compute == CUBLAS_COMPUTE_32I || c->compute == CUBLAS_COMPUTE_32I_PEDANTIC;
}

static bool is_half_sum(const struct call *c)
{
    return c->compute == CUBLAS_COMPUTE_16F || c->compute == CUBLAS_COMPUTE_16F_PEDANTIC;
}

/* Are floats multiplied as tf32? If the math mode or the compute type says so; all fast types of an
 * H200 mean that. */
static bool is_tf32(const struct call *c)
{
    const cudaDataType type = operand_type(c, 0);
    const unsigned mode = c->math_mode & 15;
    if (type != CUDA_R_32F && type != CUDA_C_32F)
        return false;
    if (c->mixed && c->compute != CUBLAS_COMPUTE_32F)
        return c->compute == CUBLAS_COMPUTE_32F_FAST_16F || c->compute == CUBLAS_COMPUTE_32F_FAST_16BF ||
               c->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    return mode == CUBLAS_TENSOR_OP_MATH || mode == CUBLAS_TF32_TENSOR_OP_MATH;
}

static enum precision sum_precision(const struct call *c)
{
    switch (operand_type(c, 0)) {
    case CUDA_R_64F:
    case CUDA_R_8I: return PRECISION_D;
    case CUDA_C_32F: return PRECISION_C;
    case CUDA_C_64F:
    case CUDA_C_8I: return PRECISION_Z;
    default: return PRECISION_S;
    }
}

static struct matrix matrix_of(const struct call *c, int i)
{
    return (struct matrix){c->op[i].at, c->op[i].ld, operand_type(c, i), CUBLASLT_ORDER_COL, 0};
}

static bool run_gemm(const struct call *c)
{
    const enum precision p = sum_precision(c);
    double alpha[2] = {0}, beta[2] = {0};
    const bool integers = c->mixed && is_integer_product(c);
    if (!integers) {
        elements_widen(p, alpha, c->scalar_type, c->alpha, 1, 1);
        elements_widen(p, beta, c->scalar_type, c->beta, 1, 1);
    }
    const struct product product = {.ta = c->ta,
                                    .tb = c->tb,
                                    .m = c->m,
                                    .n = c->n,
                                    .k = c->k,
                                    .precision = p,
                                    .integers = integers,
                                    .tf32 = is_tf32(c),
                                    .zero_times = c->device_scalars && c->op[0].at && c->op[1].at && !is_tf32(c),
                                    .half_sum = c->mixed && is_half_sum(c),
                                    .alpha = integers ? c->alpha : alpha,
                                    .beta = integers ? c->beta : beta,
                                    .a = matrix_of(c, 0),
                                    .b = matrix_of(c, 1),
                                    .c = matrix_of(c, 2),
                                    .d = matrix_of(c, 2)};
    return product_run(&product);
}

static double flops(const struct call *c)
{
    return 2.0 * (double)c->m * (double)c->n * (double)c->k * (element_is_complex(operand_type(c, 0)) ? 4 : 1);
}

enum {
    PRODUCT = USES_TA | USES_TB | USES_M | USES_N | USES_K | USES_ALPHA | USES_BETA | NO_K_NEEDED | NULL_IS_INVALID |
              NEEDS_ALIGNMENT
};

/* ---- mixed types: "cublasGemmEx" ---- */

/* Compute types: types of A and B, type of C. */
static const struct {
    cublasComputeType_t compute;
    cudaDataType scalar, ab, c;
} combinations[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_8I, CUDA_C_32F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
};

/* The basic compute type of a family; 0 if it is invalid. */
static cublasComputeType_t family(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUBLAS_COMPUTE_32I;
    }
    return 0;
}

static int combination(const struct call *c)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].compute == family(c->compute) && combinations[i].ab == c->op[0].type &&
            combinations[i].ab == c->op[1].type && combinations[i].c == c->op[2].type)
            return (int)i;
    return -1;
}

static bool is_fp8(cudaDataType t)
{
    return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2;
}

/* Products of bytes summed in integers that an H200 has no kernel for. */
static bool lacks_bytes(const struct call *c)
{
    const bool aligned = c->op[0].ld % 4 == 0 && c->op[1].ld % 4 == 0 &&
                         (c->arrays || ((uintptr_t)c->op[0].at % 4 == 0 && (uintptr_t)c->op[1].at % 4 == 0));
    return !aligned || !product_of_bytes_exists(c->ta != CUBLAS_OP_N, c->tb != CUBLAS_OP_N, c->m, c->n);
}

static cublasStatus_t check_gemm_ex(const struct call *c)
{
    const cudaDataType a = c->op[0].type, b = c->op[1].type, d = c->op[2].type;
    if (c->algorithm < CUBLAS_GEMM_DEFAULT ||
        (c->algorithm > CUBLAS_GEMM_ALGO23 && c->algorithm < CUBLAS_GEMM_DEFAULT_TENSOR_OP) ||
        (c->algorithm > CUBLAS_GEMM_ALGO15_TENSOR_OP && c->algorithm != CUBLAS_GEMM_AUTOTUNE)) {
        library_failed(c->name, "the algorithm is invalid");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (combination(c) < 0) {
        library_failed(c->name, "this combination of types is not supported");
        return a == b && (is_fp8(a) || is_fp8(d) || !element_bytes(d)) ? CUBLAS_STATUS_INVALID_VALUE
                                                                       : CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (is_integer_product(c) && lacks_bytes(c)) {
        library_failed(c->name, "an H200 does not multiply 8-bit integer matrices of this shape, unless A is "
                                "transposed and everything is aligned to 4 bytes");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static const struct routine gemm = {PRODUCT, 0, gemm_regions, NULL, run_gemm, flops},
                            gemm_ex = {PRODUCT | BATCH_FAILS, 0, gemm_regions, check_gemm_ex, run_gemm, flops};

static cublasStatus_t put_ex(cublasHandle_t handle, struct call *c)
{
    const int i = combination(c);
    c->mixed = true;
    c->scalar_type = i < 0 ? CUDA_R_32F : combinations[i].scalar;
    return call_put(handle, c);
}

/* ---- entry points of one type ---- */

#define SIZES(INT)  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, INT m, INT n, INT k
#define SIZES_GIVEN .ta = transa, .tb = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta

/* `more`: the call's members beside its type. */
#define GEMM(X, NAME, T, D, SUFFIX, INT, ...)                                                                          \
    API cublas##X##NAME##SUFFIX(SIZES(INT), const T *alpha, const T *A, INT lda, const T *B, INT ldb, const T *beta,   \
                                T *C, INT ldc)                                                                         \
        CALL("cublas" #X #NAME, gemm, __VA_ARGS__, .scalar_type = D, SIZES_GIVEN,                                      \
             .op = {{A, lda, 0, D}, {B, ldb, 0, D}, {C, ldc, 0, D}})
#define GEMM_BATCHED(X, NAME, T, D, SUFFIX, INT, ...)                                                                  \
    API cublas##X##NAME##Batched##SUFFIX(SIZES(INT), const T *alpha, const T *const Aarray[], INT lda,                 \
                                         const T *const Barray[], INT ldb, const T *beta, T *const Carray[], INT ldc,  \
                                         INT batchCount)                                                               \
        CALL("cublas" #X #NAME "Batched", gemm, __VA_ARGS__, .scalar_type = D, SIZES_GIVEN, .batched = true,           \
             .arrays = true, .batch = batchCount,                                                                      \
             .op = {{Aarray, lda, 0, D}, {Barray, ldb, 0, D}, {Carray, ldc, 0, D}})
#define GEMM_STRIDED(X, NAME, T, D, SUFFIX, INT, ...)                                                                  \
    API cublas##X##NAME##StridedBatched##SUFFIX(SIZES(INT), const T *alpha, const T *A, INT lda,                       \
                                                long long int strideA, const T *B, INT ldb, long long int strideB,     \
                                                const T *beta, T *C, INT ldc, long long int strideC, INT batchCount)   \
        CALL("cublas" #X #NAME "StridedBatched", gemm, __VA_ARGS__, .scalar_type = D, SIZES_GIVEN, .batched = true,    \
             .batch = batchCount, .op = {{A, lda, strideA, D}, {B, ldb, strideB, D}, {C, ldc, strideC, D}})

#define PLAIN_GEMM(X, T, D, SUFFIX, INT) GEMM(X, gemm, T, D, SUFFIX, INT, .type = D)
#define BATCHES(X, T, D, SUFFIX, INT)                                                                                  \
    GEMM_BATCHED(X, gemm, T, D, SUFFIX, INT, .type = D)                                                                \
    GEMM_STRIDED(X, gemm, T, D, SUFFIX, INT, .type = D)
#define HALF .mixed = true, .compute = CUBLAS_COMPUTE_16F
#define OTHERS(SUFFIX, INT)                                                                                            \
    GEMM(C, gemm3m, cuComplex, CUDA_C_32F, SUFFIX, INT, .type = CUDA_C_32F)                                            \
    GEMM(Z, gemm3m, cuDoubleComplex, CUDA_C_64F, SUFFIX, INT, .type = CUDA_C_64F)                                      \
    GEMM_BATCHED(C, gemm3m, cuComplex, CUDA_C_32F, SUFFIX, INT, .type = CUDA_C_32F)                                    \
    GEMM_STRIDED(C, gemm3m, cuComplex, CUDA_C_32F, SUFFIX, INT, .type = CUDA_C_32F)                                    \
    GEMM(H, gemm, __half, CUDA_R_16F, SUFFIX, INT, HALF)                                                               \
    GEMM_BATCHED(H, gemm, __half, CUDA_R_16F, SUFFIX, INT, HALF)                                                       \
    GEMM_STRIDED(H, gemm, __half, CUDA_R_16F, SUFFIX, INT, HALF)

V2(ALL_TYPES, PLAIN_GEMM)
PLAIN(ALL_TYPES, BATCHES)
OTHERS(, int)
OTHERS(_64, int64_t)

/* ---- entry points of mixed types ---- */

#define PUT_EX(name_, ...)                                                                                             \
    {                                                                                                                  \
        return put_ex(handle, &(struct call){.routine = &gemm_ex, .name = name_, SIZES_GIVEN, __VA_ARGS__});           \
    }
#define GEMM_EX(SUFFIX, INT)                                                                                           \
    API cublasGemmEx##SUFFIX(SIZES(INT), const void *alpha, const void *A, cudaDataType Atype, INT lda, const void *B, \
                             cudaDataType Btype, INT ldb, const void *beta, void *C, cudaDataType Ctype, INT ldc,      \
                             cublasComputeType_t computeType, cublasGemmAlgo_t algo){                                  \
        PUT_EX("cublasGemmEx", .compute = computeType, .algorithm = algo,                                              \
               .op = {{A, lda, 0, Atype}, {B, ldb, 0, Btype}, {C, ldc, 0, Ctype}})} API                                \
        cublasGemmBatchedEx##SUFFIX(SIZES(INT), const void *alpha, const void *const Aarray[], cudaDataType Atype,     \
                                    INT lda, const void *const Barray[], cudaDataType Btype, INT ldb,                  \
                                    const void *beta, void *const Carray[], cudaDataType Ctype, INT ldc,               \
                                    INT batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo){           \
            PUT_EX("cublasGemmBatchedEx", .compute = computeType, .algorithm = algo, .batched = true, .arrays = true,  \
                   .batch = batchCount,                                                                                \
                   .op = {{Aarray, lda, 0, Atype}, {Barray, ldb, 0, Btype}, {Carray, ldc, 0, Ctype}})} API             \
            cublasGemmStridedBatchedEx##SUFFIX(                                                                        \
                SIZES(INT), const void *alpha, const void *A, cudaDataType Atype, INT lda, long long int strideA,      \
                const void *B, cudaDataType Btype, INT ldb, long long int strideB, const void *beta, void *C,          \
                cudaDataType Ctype, INT ldc, long long int strideC, INT batchCount, cublasComputeType_t computeType,   \
                cublasGemmAlgo_t algo){PUT_EX("cublasGemmStridedBatchedEx", .compute = computeType, .algorithm = algo, \
                                              .batched = true, .batch = batchCount,                                    \
                                              .op = {{A, lda, strideA, Atype},                                         \
                                                     {B, ldb, strideB, Btype},                                         \
                                                     {C, ldc, strideC, Ctype}})} TYPED_EX(SgemmEx, float, SUFFIX, INT) \
                TYPED_EX(CgemmEx, cuComplex, SUFFIX, INT) TYPED_EX(Cgemm3mEx, cuComplex, SUFFIX, INT)
#define TYPED_EX(NAME, T, SUFFIX, INT)                                                                                 \
    API cublas##NAME##SUFFIX(SIZES(INT), const T *alpha, const void *A, cudaDataType Atype, INT lda, const void *B,    \
                             cudaDataType Btype, INT ldb, const T *beta, void *C, cudaDataType Ctype, INT ldc)         \
    {                                                                                                                  \
        if (element_bytes(Ctype) && handle_of(handle) && element_is_complex(Ctype) != (sizeof(T) > sizeof(float)))     \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        PUT_EX("cublas" #NAME, .compute = CUBLAS_COMPUTE_32F,                                                          \
               .op = {{A, lda, 0, Atype}, {B, ldb, 0, Btype}, {C, ldc, 0, Ctype}})                                     \
    }
GEMM_EX(, int)
GEMM_EX(_64, int64_t)

/* ---- groups: a batch each, of sizes of its own ---- */

struct group {
    cublasHandle_t handle;
    const char *name;
    cudaDataType type[3];
    size_t scalar_bytes;
    cublasComputeType_t compute;
};

/* Group i of arrays of int or int64_t. */
static int64_t at(const void *array, bool wide, int64_t i)
{
    return wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
}

struct group_arrays {
    const cublasOperation_t *ta, *tb;
    const void *m, *n, *k, *lda, *ldb, *ldc, *sizes;
    const void *alpha, *beta;
    const void *const *a, *const *b, *const *c;
    int64_t count;
    bool wide;
};

static struct call group_call(const struct group *g, const struct group_arrays *s, int64_t i, int64_t first)
{
    return (struct call){.routine = &gemm_ex,
                         .name = g->name,
                         .compute = g->compute,
                         .ta = s->ta[i],
                         .tb = s->tb[i],
                         .m = at(s->m, s->wide, i),
                         .n = at(s->n, s->wide, i),
                         .k = at(s->k, s->wide, i),
                         .alpha = (const char *)s->alpha + (size_t)i * g->scalar_bytes,
                         .beta = (const char *)s->beta + (size_t)i * g->scalar_bytes,
                         .batched = true,
                         .arrays = true,
                         .batch = at(s->sizes, s->wide, i),
                         .op = {{s->a + first, at(s->lda, s->wide, i), 0, g->type[0]},
                                {s->b + first, at(s->ldb, s->wide, i), 0, g->type[1]},
                                {s->c + first, at(s->ldc, s->wide, i), 0, g->type[2]}}};
}

static cublasStatus_t put_groups(const struct group *g, const struct group_arrays *s)
{
    IN_CALL;
    const struct blas_handle *h = handle_of(g->handle);
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (s->count < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        library_failed(g->name, "grouped products need their scalars in host memory");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    /* Checks all groups before the first one starts. */
    for (int64_t pass = 0, first = 0; pass < 2; pass++, first = 0)
        for (int64_t i = 0; i < s->count; i++) {
            struct call c = group_call(g, s, i, first);
            c.checked_only = pass == 0;
            const cublasStatus_t status = c.batch < 0 ? CUBLAS_STATUS_INVALID_VALUE : put_ex(g->handle, &c);
            if (status)
                return status;
            first += c.batch;
        }
    return CUBLAS_STATUS_SUCCESS;
}

#define GROUPS(INT, T)                                                                                                 \
    cublasHandle_t handle, const cublasOperation_t transa_array[], const cublasOperation_t transb_array[],             \
        const INT m_array[], const INT n_array[], const INT k_array[], const T alpha_array[]
#define GROUPS_GIVEN                                                                                                   \
    {transa_array,                                                                                                     \
     transb_array,                                                                                                     \
     m_array,                                                                                                          \
     n_array,                                                                                                          \
     k_array,                                                                                                          \
     lda_array,                                                                                                        \
     ldb_array,                                                                                                        \
     ldc_array,                                                                                                        \
     group_size,                                                                                                       \
     alpha_array,                                                                                                      \
     beta_array,                                                                                                       \
     (const void *const *)Aarray,                                                                                      \
     (const void *const *)Barray,                                                                                      \
     (const void *const *)Carray,                                                                                      \
     group_count,                                                                                                      \
     sizeof(group_count) == 8}
#define GROUPED(X, T, D, COMPUTE, SUFFIX, INT)                                                                         \
    API cublas##X##gemmGroupedBatched##SUFFIX(GROUPS(INT, T), const T *const Aarray[], const INT lda_array[],          \
                                              const T *const Barray[], const INT ldb_array[], const T beta_array[],    \
                                              T *const Carray[], const INT ldc_array[], INT group_count,               \
                                              const INT group_size[])                                                  \
    {                                                                                                                  \
        return put_groups(&(struct group){handle, "cublas" #X "gemmGroupedBatched", {D, D, D}, sizeof(T), COMPUTE},    \
                          &(struct group_arrays)GROUPS_GIVEN);                                                         \
    }
#define GROUPED_EX(SUFFIX, INT)                                                                                        \
    API cublasGemmGroupedBatchedEx##SUFFIX(                                                                            \
        cublasHandle_t handle, const cublasOperation_t transa_array[], const cublasOperation_t transb_array[],         \
        const INT m_array[], const INT n_array[], const INT k_array[], const void *alpha_array,                        \
        const void *const Aarray[], cudaDataType_t Atype, const INT lda_array[], const void *const Barray[],           \
        cudaDataType_t Btype, const INT ldb_array[], const void *beta_array, void *const Carray[],                     \
        cudaDataType_t Ctype, const INT ldc_array[], INT group_count, const INT group_size[],                          \
        cublasComputeType_t computeType)                                                                               \
    {                                                                                                                  \
        const size_t bytes = family(computeType) == CUBLAS_COMPUTE_64F ? sizeof(double) : sizeof(float);               \
        return put_groups(                                                                                             \
            &(struct group){handle, "cublasGemmGroupedBatchedEx", {Atype, Btype, Ctype}, bytes, computeType},          \
            &(struct group_arrays)GROUPS_GIVEN);                                                                       \
    }
#define ALL_GROUPS(SUFFIX, INT)                                                                                        \
    GROUPED(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F, SUFFIX, INT)                                                     \
    GROUPED(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F, SUFFIX, INT)                                                    \
    GROUPED_EX(SUFFIX, INT)
ALL_GROUPS(, int)
ALL_GROUPS(_64, int64_t)
