/* The older conversions between CSR and blocks of any sizes ("cuSPARSE", csr2bsr, bsr2csr,
 * csr2gebsr, gebsr2csr, gebsr2gebsr, gebsr2gebsc). Other elements of a block are zeros, which count
 * as elements of CSR afterwards. */
#include "libraries/cusparse/call.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The block columns of a row of blocks, in order; returns their number. */
static int64_t blocks_of_row(const struct csr *a, const struct sparse *to, int64_t row, int64_t *block)
{
    int64_t end = (row + 1) * to->block_rows, n = 0, kept = 0;
    for (int64_t k = a->begin[row * to->block_rows]; k < a->begin[end < a->rows ? end : a->rows]; k++)
        block[n++] = a->column[k] / to->block_columns;
    qsort(block, (size_t)n, sizeof *block, compare);
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || block[k] != block[k - 1])
            block[kept++] = block[k];
    return kept;
}

static void fill_row(const struct csr *a, const struct sparse *to, int64_t row, const int64_t *block, int64_t blocks,
                     int64_t first)
{
    int64_t end = (row + 1) * to->block_rows, size = to->block_rows * to->block_columns;
    for (int64_t b = 0; b < blocks; b++)
        index_set(to->index, to->indices, first + b, block[b] + to->base);
    for (int64_t k = first * size; k < (first + blocks) * size; k++)
        number_set(to->type, to->values, k, (number){0, 0});
    for (int64_t i = row * to->block_rows; i < end && i < a->rows; i++)
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++) {
            int64_t column = a->column[k] / to->block_columns;
            const int64_t *found = bsearch(&column, block, (size_t)blocks, sizeof *block, compare);
            number_set(
                to->type, to->values,
                sparse_block_element(to, first + (found - block), i % to->block_rows, a->column[k] % to->block_columns),
                a->value[k]);
        }
}

/* Writes offsets, and with `fills` the blocks, as far as there is room. *total: their number. */
static hd_result make_blocks(const struct call *c, bool fills, int64_t *total)
{
    struct csr a;
    int64_t rows = sparse_offsets(&c->c) - 1, room = sparse_indices(&c->c), n = 0;
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, fills, &a);
    int64_t *block = malloc(((size_t)c->a.nnz + 1) * sizeof *block);
    if (!r && !block)
        r = HD_ERROR_OUT_OF_MEMORY;
    for (int64_t row = 0; !r && row < rows; row++) {
        int64_t blocks = blocks_of_row(&a, &c->c, row, block);
        index_set(c->c.offset, c->c.offsets, row, n + c->c.base);
        if (fills && n + blocks > room)
            r = HD_ERROR_ILLEGAL_ADDRESS;
        else if (fills)
            fill_row(&a, &c->c, row, block, blocks, n);
        n += blocks;
    }
    if (!r)
        index_set(c->c.offset, c->c.offsets, rows, n + c->c.base);
    *total = n;
    free(block);
    csr_free(&a);
    return r;
}

static hd_result run_count(const struct call *c)
{
    int64_t total;
    hd_result r = make_blocks(c, false, &total);
    if (!r)
        tell_total(c, total);
    return r;
}

static hd_result run_blocks(const struct call *c)
{
    int64_t total;
    return make_blocks(c, true, &total);
}

static hd_result run_elements(const struct call *c)
{
    struct csr a;
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, &a);
    if (!r) {
        csr_store_offsets(&a, &c->c);
        csr_store_columns(&a, &c->c);
        csr_store_values(&a, &c->c);
    }
    csr_free(&a);
    return r;
}

/* ---- the calls ---- */

/* The number of elements or blocks, by a matrix's offsets. */
static cusparseStatus_t count_of(const struct context *s, const char *name, struct sparse *a)
{
    struct sparse offsets = *a;
    offsets.format = CUSPARSE_FORMAT_CSR;
    offsets.rows = sparse_offsets(a) - 1;
    cusparseStatus_t r = csr_count(s, name, &offsets);
    a->nnz = offsets.nnz * (a->block_rows ? a->block_rows * a->block_columns : 1);
    return r;
}

static cusparseStatus_t put_count(const struct context *s, const char *name, struct sparse a, const struct sparse *to,
                                  int *total)
{
    cusparseStatus_t r = count_of(s, name, &a);
    struct call c = {.name = name, .run = run_count, .a = a, .c = *to};
    if (r)
        return r;
    call_sparse(&c, &c.a, HD_READS, 0);
    call_sparse(&c, &c.c, HD_WRITES, 0);
    call_total(&c, s, total);
    return call_put(s, &c);
}

/* When blocks are made, the offsets must match the count. */
static cusparseStatus_t put(const struct context *s, const char *name, struct sparse a, struct sparse to)
{
    cusparseStatus_t r = count_of(s, name, &a);
    if (!r && to.block_rows)
        r = count_of(s, name, &to);
    else
        to.nnz = a.nnz;
    struct call c = {
        .name = name, .run = to.block_rows ? run_blocks : run_elements, .a = a, .c = to, .compute = to.type};
    if (r)
        return r;
    call_sparse(&c, &c.a, HD_READS, HD_READS);
    call_sparse(&c, &c.c, HD_WRITES, HD_WRITES);
    return call_put(s, &c);
}

static int blocks_in(int elements, int block)
{
    return (elements + block - 1) / block;
}

#define DESCRIPTORS(rows, columns)                                                                                     \
    CONTEXT(s, handle);                                                                                                \
    const struct mat_descr *da = handle_find(&library_handles, descriptor_a, KIND_MAT_DESCR);                          \
    const struct mat_descr *dc = handle_find(&library_handles, descriptor_c, KIND_MAT_DESCR);                          \
    NEED((rows) >= 0 && (columns) >= 0 && da && dc && (unsigned)direction <= CUSPARSE_DIRECTION_COLUMN)

/* Blocks from CSR: m and n count rows and columns of elements. */
#define TO_BLOCKS(TYPE, values, offsets, columns, values_to, offsets_to, columns_to, p, q)                             \
    csr_of(da, TYPE, m, n, 0, values, offsets, columns),                                                               \
        bsr_of(dc, TYPE, blocks_in(m, p), blocks_in(n, q), 0, values_to, offsets_to, columns_to, direction, p, q)

static cusparseStatus_t count_blocks(const struct context *s, const char *name, struct sparse a, struct sparse to,
                                     int *total)
{
    return put_count(s, name, a, &to, total);
}

LIBRARY_API cusparseStatus_t cusparseXcsr2bsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,
                                                 const cusparseMatDescr_t descriptor_a, const int *offsets,
                                                 const int *columns, int block, const cusparseMatDescr_t descriptor_c,
                                                 int *offsets_to, int *total)
{
    DESCRIPTORS(m, n);
    NEED(block > 0 && offsets && offsets_to);
    return count_blocks(s, __func__,
                        TO_BLOCKS(CUDA_R_32F, NULL, offsets, columns, NULL, offsets_to, NULL, block, block), total);
}

LIBRARY_API cusparseStatus_t cusparseXcsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,
                                                   const cusparseMatDescr_t descriptor_a, const int *offsets,
                                                   const int *columns, const cusparseMatDescr_t descriptor_c,
                                                   int *offsets_to, int p, int q, int *total, void *buffer)
{
    DESCRIPTORS(m, n);
    NEED(p > 0 && q > 0 && offsets && offsets_to && buffer);
    return count_blocks(s, __func__, TO_BLOCKS(CUDA_R_32F, NULL, offsets, columns, NULL, offsets_to, NULL, p, q),
                        total);
}

LIBRARY_API cusparseStatus_t cusparseXgebsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int m,
                                                     int n, int nnz, const cusparseMatDescr_t descriptor_a,
                                                     const int *offsets, const int *columns, int p_a, int q_a,
                                                     const cusparseMatDescr_t descriptor_c, int *offsets_to, int p,
                                                     int q, int *total, void *buffer)
{
    DESCRIPTORS(m, n);
    NEED(nnz >= 0 && p_a > 0 && q_a > 0 && p > 0 && q > 0 && offsets && offsets_to && buffer);
    return count_blocks(s, __func__, bsr_of(da, CUDA_R_32F, m, n, nnz, NULL, offsets, columns, direction, p_a, q_a),
                        bsr_of(dc, CUDA_R_32F, blocks_in(m * p_a, p), blocks_in(n * q_a, q), 0, NULL, offsets_to, NULL,
                               direction, p, q),
                        total);
}

#define SIZE_16                                                                                                        \
    NEED(bytes);                                                                                                       \
    *bytes = 16;                                                                                                       \
    return CUSPARSE_STATUS_SUCCESS

#define CONVERSIONS(X, T, TYPE)                                                                                        \
    LIBRARY_API cusparseStatus_t cusparse##X##csr2bsr(                                                                 \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descriptor_a,   \
        const T *values, const int *offsets, const int *columns, int block, const cusparseMatDescr_t descriptor_c,     \
        T *values_to, int *offsets_to, int *columns_to)                                                                \
    {                                                                                                                  \
        DESCRIPTORS(m, n);                                                                                             \
        NEED(block > 0 && offsets && offsets_to);                                                                      \
        return put(s, __func__,                                                                                        \
                   TO_BLOCKS(TYPE, values, offsets, columns, values_to, offsets_to, columns_to, block, block));        \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##csr2gebsr_bufferSize(                                                    \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descriptor_a,   \
        const T *values, const int *offsets, const int *columns, int p, int q, int *bytes)                             \
    {                                                                                                                  \
        const cusparseMatDescr_t descriptor_c = descriptor_a;                                                          \
        DESCRIPTORS(m, n);                                                                                             \
        (void)values, (void)offsets, (void)columns;                                                                    \
        NEED(p > 0 && q > 0);                                                                                          \
        SIZE_16;                                                                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##csr2gebsr(                                                               \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descriptor_a,   \
        const T *values, const int *offsets, const int *columns, const cusparseMatDescr_t descriptor_c, T *values_to,  \
        int *offsets_to, int *columns_to, int p, int q, void *buffer)                                                  \
    {                                                                                                                  \
        DESCRIPTORS(m, n);                                                                                             \
        NEED(p > 0 && q > 0 && offsets && offsets_to && buffer);                                                       \
        return put(s, __func__, TO_BLOCKS(TYPE, values, offsets, columns, values_to, offsets_to, columns_to, p, q));   \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gebsr2csr(                                                               \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descriptor_a,   \
        const T *values, const int *offsets, const int *columns, int p, int q, const cusparseMatDescr_t descriptor_c,  \
        T *values_to, int *offsets_to, int *columns_to)                                                                \
    {                                                                                                                  \
        DESCRIPTORS(m, n);                                                                                             \
        NEED(p > 0 && q > 0 && offsets && offsets_to);                                                                 \
        return put(s, __func__, bsr_of(da, TYPE, m, n, 0, values, offsets, columns, direction, p, q),                  \
                   csr_of(dc, TYPE, m * p, n * q, 0, values_to, offsets_to, columns_to));                              \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##bsr2csr(                                                                 \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descriptor_a,   \
        const T *values, const int *offsets, const int *columns, int block, const cusparseMatDescr_t descriptor_c,     \
        T *values_to, int *offsets_to, int *columns_to)                                                                \
    {                                                                                                                  \
        return cusparse##X##gebsr2csr(handle, direction, m, n, descriptor_a, values, offsets, columns, block, block,   \
                                      descriptor_c, values_to, offsets_to, columns_to);                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gebsr2gebsr_bufferSize(                                                  \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, int nnz,                                 \
        const cusparseMatDescr_t descriptor_a, const T *values, const int *offsets, const int *columns, int p_a,       \
        int q_a, int p, int q, int *bytes)                                                                             \
    {                                                                                                                  \
        const cusparseMatDescr_t descriptor_c = descriptor_a;                                                          \
        DESCRIPTORS(m, n);                                                                                             \
        (void)values, (void)offsets, (void)columns;                                                                    \
        NEED(nnz >= 0 && p_a > 0 && q_a > 0 && p > 0 && q > 0);                                                        \
        SIZE_16;                                                                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gebsr2gebsr(                                                             \
        cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, int nnz,                                 \
        const cusparseMatDescr_t descriptor_a, const T *values, const int *offsets, const int *columns, int p_a,       \
        int q_a, const cusparseMatDescr_t descriptor_c, T *values_to, int *offsets_to, int *columns_to, int p, int q,  \
        void *buffer)                                                                                                  \
    {                                                                                                                  \
        DESCRIPTORS(m, n);                                                                                             \
        NEED(nnz >= 0 && p_a > 0 && q_a > 0 && p > 0 && q > 0 && offsets && offsets_to && buffer);                     \
        return put(s, __func__, bsr_of(da, TYPE, m, n, nnz, values, offsets, columns, direction, p_a, q_a),            \
                   bsr_of(dc, TYPE, blocks_in(m * p_a, p), blocks_in(n * q_a, q), 0, values_to, offsets_to,            \
                          columns_to, direction, p, q));                                                               \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gebsr2gebsc_bufferSize(cusparseHandle_t handle, int m, int n, int nnz,   \
                                                                     const T *values, const int *offsets,              \
                                                                     const int *columns, int p, int q, int *bytes)     \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        (void)values, (void)offsets, (void)columns;                                                                    \
        NEED(m >= 0 && n >= 0 && nnz >= 0 && p > 0 && q > 0);                                                          \
        SIZE_16;                                                                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gebsr2gebsc(                                                             \
        cusparseHandle_t handle, int m, int n, int nnz, const T *values, const int *offsets, const int *columns,       \
        int p, int q, T *values_to, int *rows_to, int *offsets_to, cusparseAction_t action, cusparseIndexBase_t base,  \
        void *buffer)                                                                                                  \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        NEED(m >= 0 && n >= 0 && nnz >= 0 && p > 0 && q > 0 && is_base(base) && buffer);                               \
        NEED(offsets &&offsets_to && (nnz == 0 || (columns && rows_to)));                                              \
        return call_transpose(s, __func__, m, n, nnz, (size_t)p * (size_t)q * sizeof *values, values, offsets,         \
                              columns, values_to, rows_to, offsets_to, action, base);                                  \
    }

EACH_TYPE(CONVERSIONS)
