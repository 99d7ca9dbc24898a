/* Products of a sparse matrix with a dense vector or matrix: C = alpha op(A) op(B) + beta C. */
#include "libraries/cusparse/call.h"

/* Combinations of types: A and B; C; computation. */
static const struct {
    cudaDataType a, b, c, compute;
} combinations[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},    {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},      {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F}, {CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, CUDA_C_32F},
    {CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F},
};

static bool is_combination(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType compute)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].a == a && combinations[i].b == b && combinations[i].c == c &&
            combinations[i].compute == compute)
            return true;
    return false;
}

/* ---- the work ---- */

struct product {
    const struct call *call;
    struct csr a;
    number alpha, beta;
    int of_batch;
};

enum { ROWS_AT_ONCE = 64 };

/* Computes some rows of C. */
static void multiply_rows(void *data, size_t piece)
{
    const struct product *p = data;
    const struct call *c = p->call;
    int64_t first = (int64_t)piece * ROWS_AT_ONCE, end = first + ROWS_AT_ONCE;
    for (int64_t i = first; i < end && i < p->a.rows; i++)
        for (int64_t j = 0; j < c->y.columns; j++) {
            number sum = {0, 0};
            for (int64_t k = p->a.begin[i]; k < p->a.begin[i + 1]; k++)
                sum = number_add(sum,
                                 number_times(p->a.value[k], dense_at(&c->x, p->of_batch, c->op_b, p->a.column[k], j)));
            number_blend(p->alpha, sum, p->beta, c->y.type, c->y.values, dense_index(&c->y, p->of_batch, i, j));
        }
}

static hd_result run_product(const struct call *c)
{
    struct product p = {.call = c, .alpha = scalar_value(c, &c->alpha), .beta = scalar_value(c, &c->beta)};
    hd_result r = HD_SUCCESS;
    for (int i = 0; !r && i < c->y.batch; i++) {
        p.of_batch = i;
        r = csr_load(&c->a, i, c->op_a, true, &p.a);
        if (!r)
            library_parallel((size_t)(p.a.rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, multiply_rows, &p);
        csr_free(&p.a);
    }
    return r;
}

/* ---- the calls ---- */

static cusparseStatus_t check(const struct equation *p)
{
    bool a_straight = p->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE,
         b_straight = p->op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const struct sparse *a = p->a;
    int batch = p->c.batch;
    if (!p->alpha || !p->beta || !is_operation(p->op_a) || !is_operation(p->op_b))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE,
                          "alpha and beta are not NULL, and operations are cuSPARSE's");
    if ((a_straight ? a->rows : a->columns) != p->c.rows ||
        (a_straight ? a->columns : a->rows) != (b_straight ? p->b.rows : p->b.columns) ||
        (b_straight ? p->b.columns : p->b.rows) != p->c.columns)
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the sizes of the operands fit together");
    if ((p->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && !type_is_complex(a->type)) ||
        (p->op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && !type_is_complex(p->b.type)))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "only complex matrices are conjugated");
    /* For vectors only: float with a double computation. */
    bool is_matrix = p->c.columns != 1 || p->c.order != CUSPARSE_ORDER_COL;
    bool is_mixed = a->type == CUDA_R_32F && p->compute == CUDA_R_64F;
    bool is_half = a->type == CUDA_R_16F && p->compute == CUDA_R_16F && a->format == CUSPARSE_FORMAT_BLOCKED_ELL;
    if ((is_matrix && is_mixed) || !is_combination(a->type, p->b.type, p->c.type, is_half ? CUDA_R_32F : p->compute))
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED, "the types of the operands go together");
    if (a->batch != batch || p->b.batch != batch)
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the operands have the same batch count");
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t equation_multiply(const struct context *s, const struct equation *p)
{
    struct call c = {.name = p->name,
                     .run = run_product,
                     .a = *p->a,
                     .x = p->b,
                     .y = p->c,
                     .op_a = p->op_a,
                     .op_b = p->op_b,
                     .compute = p->compute,
                     .flops = 2.0 * (double)p->a->nnz * (double)p->c.columns * p->c.batch};
    unsigned updates = call_scalars(&c, s, p->alpha, p->beta);
    call_sparse(&c, &c.a, HD_READS, HD_READS);
    call_dense(&c, &c.x, HD_READS);
    call_dense(&c, &c.y, updates);
    if (p->buffer)
        call_exists(&c, p->buffer);
    return call_put(s, &c);
}

static cusparseStatus_t size_of(const struct equation *p, size_t *bytes)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong && !bytes)
        wrong = call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "bufferSize is not NULL");
    if (!wrong)
        *bytes = 16; /* nothing is needed, but some programs refuse to allocate nothing */
    return wrong;
}

static bool is_vector_algorithm(cusparseSpMVAlg_t algorithm, cusparseFormat_t format)
{
    switch (algorithm) {
    case CUSPARSE_SPMV_ALG_DEFAULT: return true;
    case CUSPARSE_SPMV_COO_ALG1:
    case CUSPARSE_SPMV_COO_ALG2: return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMV_CSR_ALG1:
    case CUSPARSE_SPMV_CSR_ALG2: return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    case CUSPARSE_SPMV_SELL_ALG1: return format == CUSPARSE_FORMAT_SLICED_ELLPACK;
    case CUSPARSE_SPMV_BSR_ALG1: return format == CUSPARSE_FORMAT_BSR;
    default: return false;
    }
}

static bool is_vector_format(cusparseFormat_t format, cusparseOperation_t op)
{
    return format != CUSPARSE_FORMAT_BLOCKED_ELL &&
           (format != CUSPARSE_FORMAT_BSR || op == CUSPARSE_OPERATION_NON_TRANSPOSE);
}

/* Each algorithm is for one format. */
static bool is_matrix_algorithm(cusparseSpMMAlg_t algorithm, cusparseFormat_t format)
{
    switch ((int)algorithm) {
    case CUSPARSE_SPMM_ALG_DEFAULT: return true;
    case CUSPARSE_SPMM_COO_ALG1:
    case CUSPARSE_SPMM_COO_ALG2:
    case CUSPARSE_SPMM_COO_ALG3:
    case CUSPARSE_SPMM_COO_ALG4: return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMM_CSR_ALG1:
    case CUSPARSE_SPMM_CSR_ALG2: return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    case CUSPARSE_SPMM_CSR_ALG3: return format == CUSPARSE_FORMAT_CSR;
    case CUSPARSE_SPMM_BLOCKED_ELL_ALG1: return format == CUSPARSE_FORMAT_BLOCKED_ELL;
    case CUSPARSE_SPMM_BSR_ALG1: return format == CUSPARSE_FORMAT_BSR;
    default: return false;
    }
}

static bool is_matrix_format(cusparseFormat_t format, cusparseOperation_t op)
{
    bool is_blocked = format == CUSPARSE_FORMAT_BLOCKED_ELL || format == CUSPARSE_FORMAT_BSR;
    return format != CUSPARSE_FORMAT_SLICED_ELLPACK && (op == CUSPARSE_OPERATION_NON_TRANSPOSE || !is_blocked);
}

/* A NULL array is an invalid value for SpMV, with COO, too, and an internal error elsewhere. */
static bool is_compressed(const struct sparse *a)
{
    return a->format == CUSPARSE_FORMAT_CSR || a->format == CUSPARSE_FORMAT_CSC;
}

#define MULTIPLY_VECTOR                                                                                                \
    cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a,                   \
        cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType compute,                   \
        cusparseSpMVAlg_t algorithm
#define MULTIPLY_MATRIX                                                                                                \
    cusparseHandle_t handle, cusparseOperation_t op, cusparseOperation_t op_b, const void *alpha,                      \
        cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t x, const void *beta, cusparseDnMatDescr_t y,            \
        cudaDataType compute, cusparseSpMMAlg_t algorithm
#define VECTORS(p)                                                                                                     \
    CONTEXT(s, handle);                                                                                                \
    struct equation p = {.name = __func__, .alpha = alpha, .beta = beta, .op_a = op, .compute = compute};              \
    NEED(equation_of_vectors(&p, a, x, y));                                                                            \
    NEED(is_vector_algorithm(algorithm, p.a->format));                                                                 \
    SUPPORTED(is_vector_format(p.a->format, op));                                                                      \
    SUPPORTED(p.a->batch <= 1);                                                                                        \
    SUPPORTED(!p.a->is_triangle)
#define MATRICES(p)                                                                                                    \
    CONTEXT(s, handle);                                                                                                \
    struct equation p = {                                                                                              \
        .name = __func__, .alpha = alpha, .beta = beta, .op_a = op, .op_b = op_b, .compute = compute};                 \
    NEED(equation_of_matrices(&p, a, x, y));                                                                           \
    NEED(is_matrix_algorithm(algorithm, p.a->format));                                                                 \
    SUPPORTED(is_matrix_format(p.a->format, op));                                                                      \
    SUPPORTED(!p.a->is_triangle)

#define SpMV_BUFFER(p) NEED(buffer || (!is_compressed(p.a) && p.a->format != CUSPARSE_FORMAT_COO))
#define SpMM_BUFFER(p) NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, buffer || !is_compressed(p.a))
#define PRODUCT(Name, ARGUMENTS, CHECKED)                                                                              \
    LIBRARY_API cusparseStatus_t cusparse##Name##_bufferSize(ARGUMENTS, size_t *bytes)                                 \
    {                                                                                                                  \
        CHECKED(p);                                                                                                    \
        return size_of(&p, bytes);                                                                                     \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_preprocess(ARGUMENTS, void *buffer)                                  \
    {                                                                                                                  \
        CHECKED(p);                                                                                                    \
        (void)buffer;                                                                                                  \
        cusparseStatus_t wrong = check(&p);                                                                            \
        if (wrong)                                                                                                     \
            return wrong;                                                                                              \
        SpMM_BUFFER(p);                                                                                                \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name(ARGUMENTS, void *buffer)                                               \
    {                                                                                                                  \
        CHECKED(p);                                                                                                    \
        cusparseStatus_t wrong = check(&p);                                                                            \
        if (wrong)                                                                                                     \
            return wrong;                                                                                              \
        Name##_BUFFER(p);                                                                                              \
        NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, p.a->offsets || !is_compressed(p.a) || p.a->nnz == 0);                 \
        p.buffer = is_compressed(p.a) ? buffer : NULL;                                                                 \
        return equation_multiply(s, &p);                                                                               \
    }
PRODUCT(SpMV, MULTIPLY_VECTOR, VECTORS)
PRODUCT(SpMM, MULTIPLY_MATRIX, MATRICES)
