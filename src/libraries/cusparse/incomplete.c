/* Incomplete factors in the pattern of a square matrix of CSR, in place: LU, where L's diagonal is ones, and Cholesky's L, of the lower triangle.
 * The first pivot that is missing or zero is kept for the host, in the info that the call is given.
 */
#include "libraries/cusparse/call.h"

#include <math.h>
#include <stdlib.h>

struct info {
    int pivot; /* from the matrix's base on; -1: none is zero */
    bool analysed;
};

/* What the two factorisations work on. */
struct work {
    struct csr a;
    int64_t *diagonal; /* of each row: where it is, or -1 */
    int64_t *at;       /* of the row in hand, by column: where that is, or -1 */
    int64_t pivot;     /* the first row of which it is zero, or -1 */
};

static number minus(number a, number b)
{
    return (number){a.re - b.re, a.im - b.im};
}

static void zero_pivot(struct work *w, int64_t row)
{
    if (w->pivot < 0)
        w->pivot = row;
}

static void factor_lu(struct work *w, int64_t i)
{
    const struct csr *a = &w->a;
    for (int64_t k = a->begin[i]; k < a->begin[i + 1] && a->column[k] < i; k++) {
        int64_t row = a->column[k], d = w->diagonal[row];
        if (d < 0)
            continue;
        a->value[k] = number_over(a->value[k], a->value[d]);
        for (int64_t l = a->begin[row]; l < a->begin[row + 1]; l++) {
            int64_t to = a->column[l] > row ? w->at[a->column[l]] : -1;
            if (to >= 0)
                a->value[to] = minus(a->value[to], number_times(a->value[k], a->value[l]));
        }
    }
    if (w->diagonal[i] < 0 || number_is_zero(a->value[w->diagonal[i]]))
        zero_pivot(w, i);
}

static void factor_cholesky(struct work *w, int64_t i)
{
    const struct csr *a = &w->a;
    number rest = w->diagonal[i] < 0 ? (number){0, 0} : a->value[w->diagonal[i]];
    for (int64_t k = a->begin[i]; k < a->begin[i + 1] && a->column[k] < i; k++) {
        int64_t row = a->column[k], d = w->diagonal[row];
        for (int64_t l = a->begin[row]; l < a->begin[row + 1]; l++) {
            int64_t with = a->column[l] < row ? w->at[a->column[l]] : -1;
            if (with >= 0)
                a->value[k] = minus(a->value[k], number_times(a->value[with], number_conjugate(a->value[l])));
        }
        if (d >= 0)
            a->value[k] = number_over(a->value[k], a->value[d]);
        rest = minus(rest, number_times(a->value[k], number_conjugate(a->value[k])));
    }
    if (w->diagonal[i] >= 0)
        a->value[w->diagonal[i]] = (number){sqrt(rest.re), 0};
    if (w->diagonal[i] < 0 || !(rest.re > 0))
        zero_pivot(w, i);
}

static void factor(struct work *w, void (*factor_row)(struct work *w, int64_t i))
{
    const struct csr *a = &w->a;
    for (int64_t i = 0; i < a->rows; i++)
        w->diagonal[i] = w->at[i] = -1;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++)
            if (a->column[k] == i)
                w->diagonal[i] = k;
    for (int64_t i = 0; i < a->rows; i++) {
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++)
            w->at[a->column[k]] = k;
        factor_row(w, i);
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++)
            w->at[a->column[k]] = -1;
    }
}

static hd_result run(const struct call *c, void (*factor_row)(struct work *w, int64_t i))
{
    struct work w = {.pivot = -1};
    struct info *info = c->at[0];
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, &w.a);
    w.diagonal = malloc(((size_t)c->a.rows + 1) * sizeof *w.diagonal);
    w.at = malloc(((size_t)c->a.rows + 1) * sizeof *w.at);
    if (!r && (!w.diagonal || !w.at))
        r = HD_ERROR_OUT_OF_MEMORY;
    if (!r) {
        factor(&w, factor_row);
        info->pivot = w.pivot < 0 ? -1 : (int)(w.pivot + c->a.base);
    }
    for (int64_t k = 0; !r && k < w.a.nnz; k++)
        number_set(c->a.type, c->a.values, w.a.from[k], w.a.value[k]);
    csr_free(&w.a);
    free(w.diagonal);
    free(w.at);
    return r;
}

static hd_result run_lu(const struct call *c)
{
    return run(c, factor_lu);
}

static hd_result run_cholesky(const struct call *c)
{
    return run(c, factor_cholesky);
}

/* Which pivots are missing is known when the values are. */
static cusparseStatus_t put(const struct context *s, const char *name, call_run *run_it, struct info *info,
                            const struct mat_descr *d, cudaDataType type, int m, int nnz, void *values,
                            const int *offsets, const int *columns)
{
    struct call c = {.name = name, .run = run_it, .at = {info}, .compute = type, .flops = 2.0 * nnz, .waits = true};
    c.a = (struct sparse){.format = CUSPARSE_FORMAT_CSR,
                          .rows = m,
                          .columns = m,
                          .nnz = nnz,
                          .offsets = (void *)offsets,
                          .indices = (void *)columns,
                          .values = values,
                          .offset = CUSPARSE_INDEX_32I,
                          .index = CUSPARSE_INDEX_32I,
                          .base = d->base,
                          .type = type,
                          .batch = 1};
    call_sparse(&c, &c.a, HD_READS, HD_READS | HD_WRITES);
    return call_put(s, &c);
}

#define CHECKED(kind)                                                                                                  \
    CONTEXT(s, handle);                                                                                                \
    struct info *record = handle_find(&library_handles, info, kind);                                                   \
    const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                             \
    NEED(m >= 0 && nnz >= 0);                                                                                          \
    NEED(record &&d);                                                                                                  \
    NEED_OR(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, d->type == CUSPARSE_MATRIX_TYPE_GENERAL);                       \
    NEED(offsets && (nnz == 0 || (values && columns)))

#define FACTOR(X, T, TYPE, name, type, kind, run_it)                                                                   \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_bufferSize(                                                       \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descriptor, T *values, const int *offsets,   \
        const int *columns, type info, int *bytes)                                                                     \
    {                                                                                                                  \
        CHECKED(kind);                                                                                                 \
        NEED(bytes);                                                                                                   \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_analysis(                                                         \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descriptor, const T *values,                 \
        const int *offsets, const int *columns, type info, cusparseSolvePolicy_t policy, void *buffer)                 \
    {                                                                                                                  \
        CHECKED(kind);                                                                                                 \
        (void)policy, (void)buffer;                                                                                    \
        record->pivot = -1;                                                                                            \
        record->analysed = true;                                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name(                                                                    \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descriptor, T *values, const int *offsets,   \
        const int *columns, type info, cusparseSolvePolicy_t policy, void *buffer)                                     \
    {                                                                                                                  \
        CHECKED(kind);                                                                                                 \
        (void)policy, (void)buffer;                                                                                    \
        NEED(record->analysed);                                                                                        \
        return put(s, __func__, run_it, record, d, TYPE, m, nnz, values, offsets, columns);                            \
    }

#define FAMILY(Name, name, kind, run_it)                                                                               \
    LIBRARY_API cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *info)                                        \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(info);                                                                                                    \
        const struct info none = {.pivot = -1};                                                                        \
        return record_add(info, kind, &none, sizeof none);                                                             \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info)                                        \
    {                                                                                                                  \
        return record_destroy(info, kind);                                                                             \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info,               \
                                                             int *position)                                            \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct info *record = handle_find(&library_handles, info, kind);                                         \
        NEED(record &&position);                                                                                       \
        *position = record->pivot;                                                                                     \
        return record->pivot < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;                               \
    }                                                                                                                  \
    FACTOR(S, float, CUDA_R_32F, name, name##Info_t, kind, run_it)                                                     \
    FACTOR(D, double, CUDA_R_64F, name, name##Info_t, kind, run_it)                                                    \
    FACTOR(C, cuComplex, CUDA_C_32F, name, name##Info_t, kind, run_it)                                                 \
    FACTOR(Z, cuDoubleComplex, CUDA_C_64F, name, name##Info_t, kind, run_it)
FAMILY(Csrilu02, csrilu02, KIND_ILU, run_lu)
FAMILY(Csric02, csric02, KIND_IC, run_cholesky)
