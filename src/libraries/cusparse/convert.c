/* Conversions: row indices to offsets and back, CSR to CSC, sparse to dense. */
#include "libraries/cusparse/call.h"

#include <string.h>

/* ---- rows and their offsets ---- */

/* Rows must be in order for COO. */
static hd_result run_coo2csr(const struct call *c)
{
    const int *row = library_view(c->at[0]);
    int *offsets = library_view(c->at[1]);
    int64_t k = 0;
    for (int64_t i = 0; i <= c->m; i++) {
        while (k < c->nnz && row[k] - (int64_t)c->base < i)
            k++;
        offsets[i] = (int)(k + c->base);
    }
    return HD_SUCCESS;
}

static hd_result run_csr2coo(const struct call *c)
{
    const int *offsets = library_view(c->at[0]);
    int *row = c->nnz ? library_view(c->at[1]) : NULL;
    for (int64_t i = 0; c->nnz && i < c->m; i++) {
        int64_t begin = (int64_t)offsets[i] - c->base, end = (int64_t)offsets[i + 1] - c->base;
        if (begin < end && (begin < 0 || end > c->nnz))
            return HD_ERROR_ILLEGAL_ADDRESS;
        for (int64_t k = begin; k < end; k++)
            row[k] = (int)(i + c->base);
    }
    return HD_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *row, int nnz, int m, int *offsets,
                                              cusparseIndexBase_t base)
{
    NEED_OR(CUSPARSE_STATUS_NOT_INITIALIZED, handle);
    CONTEXT(s, handle);
    NEED(nnz >= 0 && m >= 0 && is_base(base));
    NEED(offsets && (row || nnz == 0));
    struct call c = {.name = __func__, .run = run_coo2csr, .m = m, .nnz = nnz, .base = base};
    c.at[0] = nnz ? (void *)row : offsets;
    c.at[1] = offsets;
    call_vector(&c, row, nnz, sizeof *row, HD_READS);
    call_vector(&c, offsets, (int64_t)m + 1, sizeof *offsets, HD_WRITES);
    return call_put(s, &c);
}

LIBRARY_API cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *offsets, int nnz, int m, int *row,
                                              cusparseIndexBase_t base)
{
    NEED_OR(CUSPARSE_STATUS_NOT_INITIALIZED, handle);
    CONTEXT(s, handle);
    NEED(nnz >= 0 && m >= 0 && is_base(base));
    NEED(offsets && (row || nnz == 0));
    struct call c = {.name = __func__, .run = run_csr2coo, .m = m, .nnz = nnz, .base = base};
    c.at[0] = (void *)offsets;
    c.at[1] = row;
    call_vector(&c, offsets, (int64_t)m + 1, sizeof *offsets, HD_READS);
    call_vector(&c, row, nnz, sizeof *row, HD_WRITES);
    return call_put(s, &c);
}

/* ---- CSR to CSC ---- */

/* m: bytes of a value; n: copies values. */
static hd_result run_transpose(const struct call *c)
{
    struct csr t;
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_TRANSPOSE, false, &t);
    size_t bytes = (size_t)c->m;
    if (!r) {
        csr_store_offsets(&t, &c->c);
        csr_store_columns(&t, &c->c);
    }
    for (int64_t k = 0; !r && c->n && k < t.nnz; k++)
        memcpy((char *)c->c.values + (size_t)k * bytes, (const char *)c->a.values + (size_t)t.from[k] * bytes, bytes);
    csr_free(&t);
    return r;
}

cusparseStatus_t call_transpose(const struct context *s, const char *name, int m, int n, int nnz, size_t bytes,
                                const void *values, const int *offsets, const int *columns, void *values_to,
                                int *rows_to, int *offsets_to, cusparseAction_t action, cusparseIndexBase_t base)
{
    const struct mat_descr d = {.base = base};
    bool copies = action == CUSPARSE_ACTION_NUMERIC;
    struct call c = {.name = name,
                     .run = run_transpose,
                     .a = csr_of(&d, CUDA_R_8I, m, n, nnz, values, offsets, columns),
                     .c = csr_of(&d, CUDA_R_8I, n, m, nnz, values_to, offsets_to, rows_to),
                     .m = (int64_t)bytes,
                     .n = copies};
    call_sparse(&c, &c.a, HD_READS, 0);
    call_sparse(&c, &c.c, HD_WRITES, 0);
    call_vector(&c, values, nnz, bytes, copies ? HD_READS : 0);
    call_vector(&c, values_to, nnz, bytes, copies ? HD_WRITES : 0);
    return call_put(s, &c);
}

#define CSR2CSC                                                                                                        \
    cusparseHandle_t handle, int m, int n, int nnz, const void *values, const int *offsets, const int *columns,        \
        void *csc_values, int *csc_offsets, int *csc_rows, cudaDataType type, cusparseAction_t action,                 \
        cusparseIndexBase_t base, cusparseCsr2CscAlg_t algorithm
#define CSR2CSC_CHECKED                                                                                                \
    CONTEXT(s, handle);                                                                                                \
    NEED(m >= 0 && n >= 0 && nnz >= 0 && is_base(base));                                                               \
    NEED(action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC);                                     \
    NEED(algorithm == CUSPARSE_CSR2CSC_ALG1 || algorithm == 2);                                                        \
    SUPPORTED(type_bytes(type) != 0)

LIBRARY_API cusparseStatus_t cusparseCsr2cscEx2_bufferSize(CSR2CSC, size_t *bytes)
{
    CSR2CSC_CHECKED;
    NEED(bytes);
    (void)values, (void)offsets, (void)columns, (void)csc_values, (void)csc_offsets, (void)csc_rows;
    *bytes = 16; /* nothing is needed, but some programs refuse to allocate nothing */
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseCsr2cscEx2(CSR2CSC, void *buffer)
{
    CSR2CSC_CHECKED;
    NEED(buffer);
    bool copies = action == CUSPARSE_ACTION_NUMERIC;
    NEED(offsets && csc_offsets);
    NEED(nnz == 0 || (columns && csc_rows && (!copies || (values && csc_values))));
    return call_transpose(s, __func__, m, n, nnz, type_bytes(type), values, offsets, columns, csc_values, csc_rows,
                          csc_offsets, action, base);
}

/* ---- sparse to dense ---- */

static hd_result run_to_dense(const struct call *c)
{
    struct csr a;
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, &a);
    for (int64_t i = 0; !r && i < a.rows; i++) {
        for (int64_t j = 0; j < a.columns; j++)
            number_set(c->y.type, c->y.values, dense_index(&c->y, 0, i, j), (number){0, 0});
        for (int64_t k = a.begin[i]; k < a.begin[i + 1]; k++)
            number_set(c->y.type, c->y.values, dense_index(&c->y, 0, i, a.column[k]), a.value[k]);
    }
    csr_free(&a);
    return r;
}

#define TO_DENSE                                                                                                       \
    cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm
#define TO_DENSE_CHECKED                                                                                               \
    CONTEXT(s, handle);                                                                                                \
    const struct sparse *from = handle_find(&library_handles, a, KIND_SPARSE);                                         \
    const struct dense *to = handle_find(&library_handles, b, KIND_DENSE);                                             \
    NEED(from &&to);                                                                                                   \
    NEED(algorithm == CUSPARSE_SPARSETODENSE_ALG_DEFAULT);                                                             \
    NEED(from->rows == to->rows && from->columns == to->columns);                                                      \
    SUPPORTED(from->type == to->type);                                                                                 \
    SUPPORTED(!from->is_triangle);                                                                                     \
    SUPPORTED(from->format <= CUSPARSE_FORMAT_COO);                                                                    \
    SUPPORTED(from->batch <= 1 && to->batch <= 1)

LIBRARY_API cusparseStatus_t cusparseSparseToDense_bufferSize(TO_DENSE, size_t *bytes)
{
    TO_DENSE_CHECKED;
    NEED(bytes);
    *bytes = 16; /* nothing is needed, but some programs refuse to allocate nothing */
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSparseToDense(TO_DENSE, void *buffer)
{
    TO_DENSE_CHECKED;
    NEED(buffer);
    struct call c = {.name = __func__, .run = run_to_dense, .a = *from, .y = *to};
    call_sparse(&c, &c.a, HD_READS, HD_READS);
    call_dense(&c, &c.y, HD_WRITES);
    return call_put(s, &c);
}
