/* Sums of two sparse matrices, C = alpha A + beta B, as CSR; and counts of a dense matrix's
 * nonzeros by rows or columns. */
#include "libraries/cusparse/call.h"

#include <stdlib.h>

/* ---- sums ---- */

static hd_result add(const struct csr *a, number alpha, const struct csr *b, number beta, struct csr *to)
{
    struct term *term;
    bool ready = csr_begin(to, a->rows, a->columns, a->nnz + b->nnz, &term, a->nnz + b->nnz);
    for (int64_t i = 0; ready && i < a->rows; i++) {
        int64_t terms = 0;
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++, terms++)
            term[terms] = (struct term){a->column[k], terms, a->value ? number_times(alpha, a->value[k]) : alpha};
        for (int64_t k = b->begin[i]; k < b->begin[i + 1]; k++, terms++)
            term[terms] = (struct term){b->column[k], terms, b->value ? number_times(beta, b->value[k]) : beta};
        csr_add_row(to, term, terms);
        to->begin[i + 1] = to->nnz;
    }
    free(term);
    return ready ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

/* Computes the sum, or only its pattern. Call csr_free() whatever it returns. */
static hd_result load_sum(const struct call *c, bool values, struct csr *to)
{
    struct csr a = {0}, b = {0};
    number alpha = values ? scalar_value(c, &c->alpha) : (number){0, 0};
    number beta = values ? scalar_value(c, &c->beta) : (number){0, 0};
    *to = (struct csr){0};
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, values, &a);
    if (!r)
        r = csr_load(&c->b, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, values, &b);
    if (!r)
        r = add(&a, alpha, &b, beta, to);
    csr_free(&a);
    csr_free(&b);
    return r;
}

static hd_result run_sum_nnz(const struct call *c)
{
    struct csr sum;
    hd_result r = load_sum(c, false, &sum);
    if (!r) {
        csr_store_offsets(&sum, &c->c);
        tell_total(c, sum.nnz);
    }
    csr_free(&sum);
    return r;
}

/* The program's offsets must match the count. */
static hd_result run_sum(const struct call *c)
{
    struct csr sum;
    hd_result r = load_sum(c, true, &sum);
    for (int64_t i = 0; !r && i <= sum.rows; i++)
        if (index_at(c->c.offset, c->c.offsets, i) - c->c.base != sum.begin[i])
            r = HD_ERROR_ILLEGAL_ADDRESS;
    if (!r) {
        csr_store_columns(&sum, &c->c);
        csr_store_values(&sum, &c->c);
    }
    csr_free(&sum);
    return r;
}

/* Reads the number of elements from the offsets; the host waits for it, because it determines what
   is written. */
static hd_result run_end(const struct call *c)
{
    *(int64_t *)c->at[0] = index_at(c->c.offset, c->c.offsets, c->c.rows) - c->c.base;
    return HD_SUCCESS;
}

#define SUM_CHECKED                                                                                                    \
    CONTEXT(s, handle);                                                                                                \
    const struct mat_descr *da = handle_find(&library_handles, descriptor_a, KIND_MAT_DESCR);                          \
    const struct mat_descr *db = handle_find(&library_handles, descriptor_b, KIND_MAT_DESCR);                          \
    const struct mat_descr *dc = handle_find(&library_handles, descriptor_c, KIND_MAT_DESCR);                          \
    NEED(m >= 0 && n >= 0 && nnz_a >= 0 && nnz_b >= 0);                                                                \
    NEED(da &&db &&dc);                                                                                                \
    NEED_OR(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, !da->type && !db->type && !dc->type)

LIBRARY_API cusparseStatus_t cusparseXcsrgeam2Nnz(
    cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descriptor_a, int nnz_a, const int *offsets_a,
    const int *columns_a, const cusparseMatDescr_t descriptor_b, int nnz_b, const int *offsets_b, const int *columns_b,
    const cusparseMatDescr_t descriptor_c, int *offsets_c, int *total, void *buffer)
{
    SUM_CHECKED;
    NEED(offsets_a && offsets_b && offsets_c && buffer);
    struct call c = {.name = __func__, .run = run_sum_nnz};
    c.a = csr_of(da, CUDA_R_32F, m, n, nnz_a, NULL, offsets_a, columns_a);
    c.b = csr_of(db, CUDA_R_32F, m, n, nnz_b, NULL, offsets_b, columns_b);
    c.c = csr_of(dc, CUDA_R_32F, m, n, 0, NULL, offsets_c, NULL);
    call_sparse(&c, &c.a, HD_READS, 0);
    call_sparse(&c, &c.b, HD_READS, 0);
    call_sparse(&c, &c.c, HD_WRITES, 0);
    call_total(&c, s, total);
    return call_put(s, &c);
}

cusparseStatus_t csr_count(const struct context *s, const char *name, struct sparse *m)
{
    int64_t nnz = -1;
    struct call end = {.name = name, .run = run_end, .c = *m, .at = {&nnz}, .waits = true};
    end.c.nnz = 0;
    call_sparse(&end, &end.c, HD_READS, 0);
    cusparseStatus_t r = call_put(s, &end);
    if (!r && nnz < 0)
        r = CUSPARSE_STATUS_EXECUTION_FAILED;
    m->nnz = r ? 0 : nnz;
    return r;
}

static cusparseStatus_t put_sum(const struct context *s, struct call *c, const void *alpha, const void *beta)
{
    cusparseStatus_t r = csr_count(s, c->name, &c->c);
    if (r)
        return r;
    int64_t nnz = c->c.nnz;
    call_scalars(c, s, alpha, beta);
    call_sparse(c, &c->a, HD_READS, HD_READS);
    call_sparse(c, &c->b, HD_READS, HD_READS);
    call_vector(c, c->c.offsets, c->c.rows + 1, sizeof(int), HD_READS);
    call_vector(c, c->c.indices, nnz, sizeof(int), HD_WRITES);
    call_vector(c, c->c.values, nnz, type_bytes(c->compute), HD_WRITES);
    return call_put(s, c);
}

#define SUM(X, T, TYPE)                                                                                                \
    LIBRARY_API cusparseStatus_t cusparse##X##csrgeam2_bufferSizeExt(                                                  \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descriptor_a, int nnz_a,       \
        const T *values_a, const int *offsets_a, const int *columns_a, const T *beta,                                  \
        const cusparseMatDescr_t descriptor_b, int nnz_b, const T *values_b, const int *offsets_b,                     \
        const int *columns_b, const cusparseMatDescr_t descriptor_c, const T *values_c, const int *offsets_c,          \
        const int *columns_c, size_t *bytes)                                                                           \
    {                                                                                                                  \
        SUM_CHECKED;                                                                                                   \
        (void)alpha, (void)values_a, (void)offsets_a, (void)columns_a, (void)beta, (void)values_b;                     \
        (void)offsets_b, (void)columns_b, (void)values_c, (void)offsets_c, (void)columns_c;                            \
        NEED(bytes);                                                                                                   \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##csrgeam2(                                                                \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descriptor_a, int nnz_a,       \
        const T *values_a, const int *offsets_a, const int *columns_a, const T *beta,                                  \
        const cusparseMatDescr_t descriptor_b, int nnz_b, const T *values_b, const int *offsets_b,                     \
        const int *columns_b, const cusparseMatDescr_t descriptor_c, T *values_c, int *offsets_c, int *columns_c,      \
        void *buffer)                                                                                                  \
    {                                                                                                                  \
        SUM_CHECKED;                                                                                                   \
        (void)buffer;                                                                                                  \
        NEED(alpha &&beta &&offsets_a &&offsets_b &&offsets_c);                                                        \
        struct call c = {.name = __func__, .run = run_sum, .compute = TYPE, .flops = 3.0 * (nnz_a + nnz_b)};           \
        c.a = csr_of(da, TYPE, m, n, nnz_a, values_a, offsets_a, columns_a);                                           \
        c.b = csr_of(db, TYPE, m, n, nnz_b, values_b, offsets_b, columns_b);                                           \
        c.c = csr_of(dc, TYPE, m, n, 0, values_c, offsets_c, columns_c);                                               \
        return put_sum(s, &c, alpha, beta);                                                                            \
    }
EACH_TYPE(SUM)

/* ---- what is not zero ---- */

static hd_result run_nnz(const struct call *c)
{
    int *of_line = library_view(c->at[1]), total = 0;
    bool by_rows = c->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE;
    int64_t lines = by_rows ? c->x.rows : c->x.columns, width = by_rows ? c->x.columns : c->x.rows;
    for (int64_t i = 0; i < lines; i++) {
        of_line[i] = 0;
        for (int64_t j = 0; j < width; j++)
            of_line[i] += !number_is_zero(dense_at(&c->x, 0, c->op_a, i, j));
        total += of_line[i];
    }
    tell_total(c, total);
    return HD_SUCCESS;
}

#define NNZ(X, T, TYPE)                                                                                                \
    LIBRARY_API cusparseStatus_t cusparse##X##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m,       \
                                                  int n, const cusparseMatDescr_t descriptor, const T *a, int ld,      \
                                                  int *of_line, int *total)                                            \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                         \
        NEED(m >= 0 && n >= 0 && ld >= m && d);                                                                        \
        NEED(direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);                           \
        NEED_OR(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, d->type == CUSPARSE_MATRIX_TYPE_GENERAL);                   \
        struct call c = {.name = __func__, .run = run_nnz, .at = {NULL, of_line}};                                     \
        bool by_rows = direction == CUSPARSE_DIRECTION_ROW;                                                            \
        c.x = (struct dense){m, n, ld, (void *)a, TYPE, CUSPARSE_ORDER_COL, 1, 0};                                     \
        c.op_a = by_rows ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;                            \
        call_dense(&c, &c.x, HD_READS);                                                                                \
        call_vector(&c, of_line, by_rows ? m : n, sizeof *of_line, HD_WRITES);                                         \
        call_total(&c, s, total);                                                                                      \
        return call_put(s, &c);                                                                                        \
    }
EACH_TYPE(NNZ)
