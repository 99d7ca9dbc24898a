/* Products of dense matrices at the elements of a sparse one: C = alpha (op(A) op(B)) o spy(C) +
 * beta C; and counting and gathering of a dense matrix's nonzeros. */
#include "libraries/cusparse/call.h"

/* ---- sampled products ---- */

static hd_result run_sampled(const struct call *c)
{
    number alpha = scalar_value(c, &c->alpha), beta = scalar_value(c, &c->beta);
    int64_t inner = c->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE ? c->x.columns : c->x.rows;
    hd_result r = HD_SUCCESS;
    for (int b = 0; !r && b < c->c.batch; b++) {
        struct csr to;
        int64_t first = c->c.batch > 1 ? b * c->c.stride : 0;
        r = csr_load(&c->c, b, CUSPARSE_OPERATION_NON_TRANSPOSE, false, &to);
        for (int64_t i = 0; !r && i < to.rows; i++)
            for (int64_t k = to.begin[i]; k < to.begin[i + 1]; k++) {
                number sum = {0, 0};
                for (int64_t l = 0; l < inner; l++)
                    sum = number_add(sum, number_times(dense_at(&c->x, b, c->op_a, i, l),
                                                       dense_at(&c->y, b, c->op_b, l, to.column[k])));
                number_blend(alpha, sum, beta, c->c.type, c->c.values, first + to.from[k]);
            }
        csr_free(&to);
    }
    return r;
}

#define SAMPLED                                                                                                        \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,                    \
        cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c,            \
        cudaDataType compute, cusparseSDDMMAlg_t algorithm
#define SAMPLED_CHECKED                                                                                                \
    CONTEXT(s, handle);                                                                                                \
    const struct dense *left = handle_find(&library_handles, a, KIND_DENSE);                                           \
    const struct dense *right = handle_find(&library_handles, b, KIND_DENSE);                                          \
    const struct sparse *to = handle_find(&library_handles, c, KIND_SPARSE);                                           \
    NEED(left &&right &&to &&alpha &&beta);                                                                            \
    NEED(is_operation(op_a) && is_operation(op_b) && algorithm == CUSPARSE_SDDMM_ALG_DEFAULT);                         \
    NEED((op_a ? left->columns : left->rows) == to->rows && (op_b ? right->rows : right->columns) == to->columns);     \
    NEED((op_a ? left->rows : left->columns) == (op_b ? right->columns : right->rows));                                \
    SUPPORTED(to->format == CUSPARSE_FORMAT_CSR || to->format == CUSPARSE_FORMAT_BSR);                                 \
    SUPPORTED(!to->is_triangle);                                                                                       \
    NEED(op_a != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && op_b != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);            \
    SUPPORTED(is_sampled(left->type, right->type, to->type, compute));                                                 \
    NEED((left->batch <= 1 || left->batch == to->batch) && (right->batch <= 1 || right->batch == to->batch))

static bool is_sampled(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType compute)
{
    if (a == CUDA_R_16F)
        return b == a && (c == a || c == CUDA_R_32F) && compute == CUDA_R_32F;
    return a == b && a == c && a == compute &&
           (a == CUDA_R_32F || a == CUDA_R_64F || a == CUDA_C_32F || a == CUDA_C_64F);
}

LIBRARY_API cusparseStatus_t cusparseSDDMM_bufferSize(SAMPLED, size_t *bytes)
{
    SAMPLED_CHECKED;
    NEED(bytes);
    *bytes = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSDDMM_preprocess(SAMPLED, void *buffer)
{
    SAMPLED_CHECKED;
    NEED(buffer);
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSDDMM(SAMPLED, void *buffer)
{
    SAMPLED_CHECKED;
    NEED(buffer);
    struct call k = {.name = __func__,
                     .run = run_sampled,
                     .x = *left,
                     .y = *right,
                     .c = *to,
                     .op_a = op_a,
                     .op_b = op_b,
                     .compute = compute,
                     .flops = 2.0 * (double)to->nnz * (double)(op_a ? left->rows : left->columns) * to->batch};
    unsigned updates = call_scalars(&k, s, alpha, beta);
    call_dense(&k, &k.x, HD_READS);
    call_dense(&k, &k.y, HD_READS);
    call_sparse(&k, &k.c, HD_READS, updates);
    return call_put(s, &k);
}

/* ---- dense to sparse ---- */

/* By lines, rows or columns: counts nonzeros into the offsets, if given; with `fills`, into the
 * matrix. Elements beyond its room are not written. */
static int64_t gather(const struct call *c, bool fills)
{
    bool by_columns = c->c.format == CUSPARSE_FORMAT_CSC, is_coo = c->c.format == CUSPARSE_FORMAT_COO;
    int64_t lines = by_columns ? c->x.columns : c->x.rows, width = by_columns ? c->x.rows : c->x.columns, n = 0;
    for (int64_t i = 0; i < lines; i++) {
        if (!is_coo)
            index_set(c->c.offset, c->c.offsets, i, n + c->c.base);
        for (int64_t j = 0; j < width; j++) {
            number x = number_at(c->x.type, c->x.values,
                                 by_columns ? dense_index(&c->x, 0, j, i) : dense_index(&c->x, 0, i, j));
            if (number_is_zero(x))
                continue;
            if (fills && n < c->c.nnz) {
                index_set(c->c.index, c->c.indices, n, j + c->c.base);
                number_set(c->c.type, c->c.values, n, x);
                if (is_coo)
                    index_set(c->c.offset, c->c.offsets, n, i + c->c.base);
            }
            n++;
        }
    }
    if (!is_coo)
        index_set(c->c.offset, c->c.offsets, lines, n + c->c.base);
    return n;
}

static hd_result run_count(const struct call *c)
{
    *(int64_t *)c->at[0] = gather(c, false);
    return HD_SUCCESS;
}

static hd_result run_gather(const struct call *c)
{
    return gather(c, true) > c->c.nnz ? HD_ERROR_ILLEGAL_ADDRESS : HD_SUCCESS;
}

/* Fills in the values of a given pattern. */
static hd_result run_fill(const struct call *c)
{
    struct csr to;
    hd_result r = csr_load(&c->c, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, false, &to);
    for (int64_t k = 0; !r && k < c->c.nnz; k++)
        number_set(c->c.type, c->c.values, k, (number){0, 0});
    for (int64_t i = 0; !r && i < to.rows; i++)
        for (int64_t k = to.begin[i]; k < to.begin[i + 1]; k++)
            number_set(c->c.type, c->c.values, to.from[k],
                       number_at(c->x.type, c->x.values, dense_index(&c->x, 0, i, to.column[k])));
    csr_free(&to);
    return r;
}

#define TO_SPARSE                                                                                                      \
    cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm
#define TO_SPARSE_CHECKED                                                                                              \
    CONTEXT(s, handle);                                                                                                \
    const struct dense *from = handle_find(&library_handles, a, KIND_DENSE);                                           \
    struct sparse *to = handle_find(&library_handles, b, KIND_SPARSE);                                                 \
    NEED(from &&to);                                                                                                   \
    NEED(algorithm == CUSPARSE_DENSETOSPARSE_ALG_DEFAULT);                                                             \
    NEED(from->rows == to->rows && from->columns == to->columns);                                                      \
    SUPPORTED(from->type == to->type);                                                                                 \
    SUPPORTED(!to->is_triangle);                                                                                       \
    SUPPORTED(to->format != CUSPARSE_FORMAT_BSR && to->format != CUSPARSE_FORMAT_SLICED_ELLPACK);                      \
    SUPPORTED(from->batch <= 1 && to->batch <= 1)

LIBRARY_API cusparseStatus_t cusparseDenseToSparse_bufferSize(TO_SPARSE, size_t *bytes)
{
    TO_SPARSE_CHECKED;
    NEED(bytes);
    *bytes = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

/* The host must know the nnz of the sparse matrix. */
LIBRARY_API cusparseStatus_t cusparseDenseToSparse_analysis(TO_SPARSE, void *buffer)
{
    TO_SPARSE_CHECKED;
    NEED(buffer);
    if (to->format == CUSPARSE_FORMAT_BLOCKED_ELL)
        return CUSPARSE_STATUS_SUCCESS; /* its columns are given */
    int64_t nnz = 0;
    struct call c = {.name = __func__, .run = run_count, .x = *from, .c = *to, .at = {&nnz}, .waits = true};
    bool is_coo = to->format == CUSPARSE_FORMAT_COO;
    c.c.nnz = 0;
    call_dense(&c, &c.x, HD_READS);
    call_sparse(&c, &c.c, is_coo ? 0 : HD_WRITES, 0);
    cusparseStatus_t r = call_put(s, &c);
    if (!r)
        to->nnz = nnz;
    return r;
}

LIBRARY_API cusparseStatus_t cusparseDenseToSparse_convert(TO_SPARSE, void *buffer)
{
    TO_SPARSE_CHECKED;
    NEED(buffer);
    bool is_given = to->format == CUSPARSE_FORMAT_BLOCKED_ELL;
    struct call c = {.name = __func__, .run = is_given ? run_fill : run_gather, .x = *from, .c = *to};
    call_dense(&c, &c.x, HD_READS);
    call_sparse(&c, &c.c, is_given ? HD_READS : HD_WRITES, HD_WRITES);
    return call_put(s, &c);
}
