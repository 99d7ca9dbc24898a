/* Selects elements above a threshold from a dense or CSR matrix, as CSR: prune, whose threshold may
 * be a percentile, and compress. */
#include "libraries/cusparse/call.h"

#include <math.h>
#include <stdlib.h>

enum { BY_PERCENTAGE = 1 };

static double size_of(number x)
{
    return x.im == 0 ? fabs(x.re) : hypot(x.re, x.im);
}

/* All elements of a dense matrix, by rows. */
static hd_result load_dense(const struct dense *m, struct csr *to)
{
    *to = (struct csr){.rows = m->rows, .columns = m->columns};
    size_t all = (size_t)m->rows * (size_t)m->columns;
    to->begin = malloc(((size_t)m->rows + 1) * sizeof *to->begin);
    to->column = malloc((all + 1) * sizeof *to->column);
    to->value = malloc((all + 1) * sizeof *to->value);
    if (!to->begin || !to->column || !to->value)
        return HD_ERROR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < m->rows; i++) {
        to->begin[i] = to->nnz;
        for (int64_t j = 0; j < m->columns; j++) {
            to->column[to->nnz] = j;
            to->value[to->nnz++] = number_at(m->type, m->values, dense_index(m, 0, i, j));
        }
    }
    to->begin[m->rows] = to->nnz;
    return HD_SUCCESS;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The magnitude at a percentile of all elements. */
static hd_result find_percentile(const struct csr *a, float percentage, double *threshold)
{
    double *size = malloc(((size_t)a->nnz + 1) * sizeof *size);
    if (!size)
        return HD_ERROR_OUT_OF_MEMORY;
    for (int64_t k = 0; k < a->nnz; k++)
        size[k] = size_of(a->value[k]);
    qsort(size, (size_t)a->nnz, sizeof *size, compare);
    int64_t at = (int64_t)ceilf((float)a->nnz * (percentage / 100)) - 1;
    at = at < 0 ? 0 : at;
    *threshold = a->nnz ? size[at < a->nnz ? at : a->nnz - 1] : 0;
    free(size);
    return HD_SUCCESS;
}

static void keep(struct csr *a, double threshold)
{
    int64_t n = 0, k = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t end = a->begin[i + 1];
        a->begin[i] = n;
        for (; k < end; k++)
            if (size_of(a->value[k]) > threshold) {
                a->column[n] = a->column[k];
                a->value[n++] = a->value[k];
            }
    }
    a->begin[a->rows] = a->nnz = n;
}

/* Call csr_free() whatever it returns. */
static hd_result load_kept(const struct call *c, struct csr *to)
{
    double threshold = scalar_value(c, &c->alpha).re;
    hd_result r = c->x.rows ? load_dense(&c->x, to) : csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, to);
    if (!r && c->m == BY_PERCENTAGE)
        r = find_percentile(to, (float)threshold, &threshold);
    if (!r)
        keep(to, threshold);
    return r;
}

static hd_result run_count(const struct call *c)
{
    struct csr kept;
    hd_result r = load_kept(c, &kept);
    if (!r) {
        csr_store_offsets(&kept, &c->c);
        tell_total(c, kept.nnz);
    }
    csr_free(&kept);
    return r;
}

/* n: writes offsets, too; given offsets must match the count. */
static hd_result run_fill(const struct call *c)
{
    struct csr kept;
    hd_result r = load_kept(c, &kept);
    if (!r && kept.nnz != c->c.nnz)
        r = HD_ERROR_ILLEGAL_ADDRESS;
    if (!r && c->n)
        csr_store_offsets(&kept, &c->c);
    if (!r) {
        csr_store_columns(&kept, &c->c);
        csr_store_values(&kept, &c->c);
    }
    csr_free(&kept);
    return r;
}

static void call_source(struct call *c)
{
    if (c->x.rows)
        call_dense(c, &c->x, HD_READS);
    else
        call_sparse(c, &c->a, HD_READS, HD_READS);
}

static cusparseStatus_t put_count(const struct context *s, struct call *c, int *total)
{
    c->run = run_count;
    call_source(c);
    call_sparse(c, &c->c, HD_WRITES, 0);
    call_total(c, s, total);
    return call_put(s, c);
}

static cusparseStatus_t put_fill(const struct context *s, struct call *c)
{
    cusparseStatus_t r = csr_count(s, c->name, &c->c);
    if (r)
        return r;
    c->run = run_fill;
    call_source(c);
    call_vector(c, c->c.offsets, c->c.rows + 1, sizeof(int), HD_READS);
    call_vector(c, c->c.indices, c->c.nnz, sizeof(int), HD_WRITES);
    call_vector(c, c->c.values, c->c.nnz, type_bytes(c->compute), HD_WRITES);
    return call_put(s, c);
}

/* ---- prune ---- */

static struct dense dense_source(cudaDataType type, int m, int n, const void *a, int ld)
{
    return (struct dense){m, n, ld, (void *)a, type, CUSPARSE_ORDER_COL, 1, 0};
}

/* The source's parameters, and how its threshold is given. */
#define DENSE_ARGUMENTS(T) int m, int n, const T *a, int ld
#define DENSE_CHECKED      NEED(m >= 0 && n >= 0 && ld >= m && (m == 0 || n == 0 || a))
#define DENSE_SOURCE(TYPE) c.x = dense_source(TYPE, m, n, a, ld)
#define CSR_ARGUMENTS(T)                                                                                               \
    int m, int n, int nnz, const cusparseMatDescr_t descriptor_a, const T *a, const int *offsets_a, const int *columns_a
#define CSR_CHECKED                                                                                                    \
    const struct mat_descr *da = handle_find(&library_handles, descriptor_a, KIND_MAT_DESCR);                          \
    NEED(m >= 0 && n >= 0 && nnz >= 0 && da && offsets_a && (nnz == 0 || (a && columns_a)))
#define CSR_SOURCE(TYPE)  c.a = csr_of(da, TYPE, m, n, nnz, a, offsets_a, columns_a)
#define VALUE_ARGUMENT(T) const T *threshold
#define VALUE_INFO
#define VALUE_CHECKED       NEED(threshold)
#define VALUE_THRESHOLD     c.alpha = call_scalar(&c, s, threshold)
#define PERCENT_ARGUMENT(T) float percentage
#define PERCENT_INFO        pruneInfo_t info,
#define PERCENT_CHECKED     NEED(percentage >= 0 && percentage <= 100 && handle_find(&library_handles, info, KIND_PRUNE))
#define PERCENT_THRESHOLD                                                                                              \
    c.m = BY_PERCENTAGE;                                                                                               \
    c.alpha.value.re = percentage

#define PRUNE_CHECKED(SOURCE, BY)                                                                                      \
    CONTEXT(s, handle);                                                                                                \
    const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                             \
    SOURCE##_CHECKED;                                                                                                  \
    BY##_CHECKED;                                                                                                      \
    NEED(d)

#define PRUNE(X, T, TYPE, Source, SOURCE, Suffix, BY)                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##prune##Source##2csr##Suffix##_bufferSizeExt(                             \
        cusparseHandle_t handle, SOURCE##_ARGUMENTS(T), BY##_ARGUMENT(T), const cusparseMatDescr_t descriptor,         \
        const T *values, const int *offsets, const int *columns, BY##_INFO size_t *bytes)                              \
    {                                                                                                                  \
        PRUNE_CHECKED(SOURCE, BY);                                                                                     \
        (void)values, (void)offsets, (void)columns;                                                                    \
        NEED(bytes);                                                                                                   \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##prune##Source##2csrNnz##Suffix(                                          \
        cusparseHandle_t handle, SOURCE##_ARGUMENTS(T), BY##_ARGUMENT(T), const cusparseMatDescr_t descriptor,         \
        int *offsets, int *total, BY##_INFO void *buffer)                                                              \
    {                                                                                                                  \
        PRUNE_CHECKED(SOURCE, BY);                                                                                     \
        NEED(offsets &&buffer);                                                                                        \
        struct call c = {.name = __func__, .compute = TYPE, .c = csr_of(d, TYPE, m, n, 0, NULL, offsets, NULL)};       \
        SOURCE##_SOURCE(TYPE);                                                                                         \
        BY##_THRESHOLD;                                                                                                \
        return put_count(s, &c, total);                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##prune##Source##2csr##Suffix(                                             \
        cusparseHandle_t handle, SOURCE##_ARGUMENTS(T), BY##_ARGUMENT(T), const cusparseMatDescr_t descriptor,         \
        T *values, const int *offsets, int *columns, BY##_INFO void *buffer)                                           \
    {                                                                                                                  \
        PRUNE_CHECKED(SOURCE, BY);                                                                                     \
        NEED(offsets &&buffer);                                                                                        \
        struct call c = {.name = __func__, .compute = TYPE, .c = csr_of(d, TYPE, m, n, 0, values, offsets, columns)};  \
        SOURCE##_SOURCE(TYPE);                                                                                         \
        BY##_THRESHOLD;                                                                                                \
        return put_fill(s, &c);                                                                                        \
    }
#define PRUNES(X, T, TYPE)                                                                                             \
    PRUNE(X, T, TYPE, Dense, DENSE, , VALUE)                                                                           \
    PRUNE(X, T, TYPE, Dense, DENSE, ByPercentage, PERCENT)                                                             \
    PRUNE(X, T, TYPE, Csr, CSR, , VALUE)                                                                               \
    PRUNE(X, T, TYPE, Csr, CSR, ByPercentage, PERCENT)
PRUNES(H, uint16_t, CUDA_R_16F)
PRUNES(S, float, CUDA_R_32F)
PRUNES(D, double, CUDA_R_64F)

LIBRARY_API cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t *info)
{
    IN_CALL;
    NEED(info);
    const char nothing = 0;
    return record_add(info, KIND_PRUNE, &nothing, sizeof nothing);
}

LIBRARY_API cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info)
{
    return record_destroy(info, KIND_PRUNE);
}

/* ---- compress ---- */

#define COMPRESS(X, T, TYPE)                                                                                           \
    LIBRARY_API cusparseStatus_t cusparse##X##nnz_compress(cusparseHandle_t handle, int m,                             \
                                                           const cusparseMatDescr_t descriptor, const T *values,       \
                                                           const int *offsets, int *of_row, int *total, T tolerance)   \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                         \
        number least = number_at(TYPE, &tolerance, 0);                                                                 \
        NEED(m >= 0 && d && offsets && of_row && least.re >= 0);                                                       \
        struct call c = {.name = __func__,                                                                             \
                         .compute = TYPE,                                                                              \
                         .a = csr_of(d, TYPE, m, 1, 0, values, offsets, NULL),                                         \
                         .alpha.value = least,                                                                         \
                         .at = {NULL, of_row}};                                                                        \
        cusparseStatus_t r = csr_count(s, __func__, &c.a);                                                             \
        if (!r)                                                                                                        \
            NEED(values || c.a.nnz == 0);                                                                              \
        return r ? r : put_rows(s, &c, total);                                                                         \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##csr2csr_compress(                                                        \
        cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descriptor, const T *values,                   \
        const int *columns, const int *offsets, int nnz, const int *of_row, T *values_to, int *columns_to,             \
        int *offsets_to, T tolerance)                                                                                  \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                         \
        number least = number_at(TYPE, &tolerance, 0);                                                                 \
        NEED(m >= 0 && n >= 0 && nnz >= 0 && d && offsets && of_row && offsets_to && least.re >= 0);                   \
        struct call c = {.name = __func__,                                                                             \
                         .compute = TYPE,                                                                              \
                         .a = csr_of(d, TYPE, m, n, nnz, values, offsets, columns),                                    \
                         .c = csr_of(d, TYPE, m, n, 0, values_to, offsets_to, columns_to),                             \
                         .alpha.value = least,                                                                         \
                         .n = 1};                                                                                      \
        return put_compressed(s, &c, of_row);                                                                          \
    }

/* By rows, from the values alone: columns are not given. */
static hd_result run_rows(const struct call *c)
{
    int *of_row = library_view(c->at[1]), total = 0;
    for (int64_t i = 0; i < c->a.rows; i++) {
        of_row[i] = 0;
        for (int64_t k = index_at(c->a.offset, c->a.offsets, i); k < index_at(c->a.offset, c->a.offsets, i + 1); k++) {
            if (k < c->a.base || k - c->a.base >= c->a.nnz)
                return HD_ERROR_ILLEGAL_ADDRESS;
            of_row[i] += size_of(number_at(c->a.type, c->a.values, k - c->a.base)) > c->alpha.value.re;
        }
        total += of_row[i];
    }
    tell_total(c, total);
    return HD_SUCCESS;
}

static cusparseStatus_t put_rows(const struct context *s, struct call *c, int *total)
{
    c->run = run_rows;
    call_vector(c, c->a.offsets, c->a.rows + 1, sizeof(int), HD_READS);
    call_vector(c, c->a.values, c->a.nnz, type_bytes(c->a.type), HD_READS);
    call_vector(c, c->at[1], c->a.rows, sizeof(int), HD_WRITES);
    call_total(c, s, total);
    return call_put(s, c);
}

static hd_result run_total(const struct call *c)
{
    const int *of_row = library_view(c->at[1]);
    int64_t *total = c->at[0];
    for (int64_t i = 0; i < c->m; i++)
        *total += of_row[i];
    return HD_SUCCESS;
}

/* The row counts give the number of kept elements, which the host waits for. */
static cusparseStatus_t put_compressed(const struct context *s, struct call *c, const int *of_row)
{
    struct call sum = {
        .name = c->name, .run = run_total, .at = {&c->c.nnz, (void *)of_row}, .m = c->a.rows, .waits = true};
    call_vector(&sum, of_row, c->a.rows, sizeof *of_row, HD_READS);
    cusparseStatus_t r = call_put(s, &sum);
    if (r)
        return r;
    c->run = run_fill;
    call_source(c);
    call_sparse(c, &c->c, HD_WRITES, HD_WRITES);
    return call_put(s, c);
}

EACH_TYPE(COMPRESS)
