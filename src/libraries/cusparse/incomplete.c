/* Incomplete factorizations within the pattern of a square CSR matrix, in place: LU, with a unit
 * diagonal of L, and Cholesky's L in the lower triangle. The host finds the first missing or zero
 * pivot in the call's info. A matrix of blocks is factored by its elements: all elements of a block
 * are in the pattern.
 */
#include "libraries/cusparse/info.h"

#include <math.h>
#include <stdlib.h>

/* The working data of both factorizations. */
struct work {
    struct csr a;
    int64_t *diagonal; /* for each row: its index, or -1 */
    int64_t *at;       /* for the current row, by column: the element's index, or -1 */
    const struct info *info;
    int64_t pivot; /* the first row with a zero pivot, or -1 */
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

/* Replaces a pivot that is too small, if requested. */
static void boost(const struct work *w, int64_t row)
{
    number *pivot = w->diagonal[row] < 0 ? NULL : &w->a.value[w->diagonal[row]];
    if (w->info->boosts && pivot && hypot(pivot->re, pivot->im) < w->info->tolerance)
        *pivot = w->info->boost;
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
    boost(w, i);
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
        a->value[w->diagonal[i]] = (number){sqrt(fabs(rest.re)), 0}; /* as an H200's */
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
    struct info *info = c->at[0];
    struct work w = {.pivot = -1, .info = info};
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, &w.a);
    w.diagonal = malloc(((size_t)c->a.rows + 1) * sizeof *w.diagonal);
    w.at = malloc(((size_t)c->a.rows + 1) * sizeof *w.at);
    if (!r && (!w.diagonal || !w.at))
        r = HD_ERROR_OUT_OF_MEMORY;
    if (!r) {
        factor(&w, factor_row);
        info->pivot = w.pivot < 0 ? -1 : info_position(&c->a, w.pivot);
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

/* Missing pivots are known after the computation. */
static cusparseStatus_t put(const struct context *s, const char *name, call_run *run_it, struct info *info,
                            const struct sparse *a)
{
    struct call c = {.name = name,
                     .run = run_it,
                     .a = *a,
                     .at = {info},
                     .compute = a->type,
                     .flops = 2.0 * (double)a->nnz,
                     .waits = info_waits(s, info)};
    call_sparse(&c, &c.a, HD_READS, HD_READS | HD_WRITES);
    return call_put(s, &c);
}

/* For elements and for blocks: the additional parameters of an entry point, and the matrix. */
#define CSR_LEAD
#define CSR_DIMENSION
#define CSR_CHECKED   (void)0
#define CSR_OF(TYPE)  csr_of(d, TYPE, m, m, nnz, values, offsets, columns)
#define BSR_LEAD      cusparseDirection_t direction,
#define BSR_DIMENSION int dimension,
#define BSR_CHECKED   NEED(dimension > 0 && (unsigned)direction <= CUSPARSE_DIRECTION_COLUMN)
#define BSR_OF(TYPE)  bsr_of(d, TYPE, m, m, nnz, values, offsets, columns, direction, dimension, dimension)

#define CHECKED(family, FORMAT)                                                                                        \
    CONTEXT(s, handle);                                                                                                \
    struct info *record = info_find(info, family);                                                                     \
    const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                             \
    NEED(m >= 0 && nnz >= 0);                                                                                          \
    FORMAT##_CHECKED;                                                                                                  \
    NEED(record &&d);                                                                                                  \
    NEED_OR(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, d->type == CUSPARSE_MATRIX_TYPE_GENERAL);                       \
    NEED(offsets && (nnz == 0 || (values && columns)))

#define FACTOR(X, T, TYPE, name, FORMAT, family, run_it)                                                               \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_bufferSize(                                                       \
        cusparseHandle_t handle, FORMAT##_LEAD int m, int nnz, const cusparseMatDescr_t descriptor, T *values,         \
        const int *offsets, const int *columns, FORMAT##_DIMENSION name##Info_t info, int *bytes)                      \
    {                                                                                                                  \
        CHECKED(family, FORMAT);                                                                                       \
        NEED(bytes);                                                                                                   \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_analysis(                                                         \
        cusparseHandle_t handle, FORMAT##_LEAD int m, int nnz, const cusparseMatDescr_t descriptor, const T *values,   \
        const int *offsets, const int *columns, FORMAT##_DIMENSION name##Info_t info, cusparseSolvePolicy_t policy,    \
        void *buffer)                                                                                                  \
    {                                                                                                                  \
        CHECKED(family, FORMAT);                                                                                       \
        (void)policy;                                                                                                  \
        NEED(buffer);                                                                                                  \
        const struct sparse a = FORMAT##_OF(TYPE);                                                                     \
        return info_analyse(s, __func__, record, &a, true);                                                            \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name(cusparseHandle_t handle, FORMAT##_LEAD int m, int nnz,              \
                                                   const cusparseMatDescr_t descriptor, T *values, const int *offsets, \
                                                   const int *columns, FORMAT##_DIMENSION name##Info_t info,           \
                                                   cusparseSolvePolicy_t policy, void *buffer)                         \
    {                                                                                                                  \
        CHECKED(family, FORMAT);                                                                                       \
        (void)policy, (void)buffer;                                                                                    \
        NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, record->analysed);                                                     \
        const struct sparse a = FORMAT##_OF(TYPE);                                                                     \
        return put(s, __func__, run_it, record, &a);                                                                   \
    }

/* Device scalars are read when the factorization runs, host scalars now. */
#define BOOST(X, T, TYPE, name, family)                                                                                \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_numericBoost(cusparseHandle_t handle, name##Info_t info,          \
                                                                  int enable, double *tolerance, T *value)             \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        struct info *record = info_find(info, family);                                                                 \
        NEED(record);                                                                                                  \
        NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, !enable || (tolerance && value));                                      \
        return set_boost(s, __func__, record, enable != 0, TYPE, tolerance, value);                                    \
    }

static hd_result run_boost(const struct call *c)
{
    struct info *info = c->at[0];
    info->tolerance = *(const double *)library_view(c->at[1]);
    info->boost = number_at(c->compute, library_view(c->at[2]), 0);
    return HD_SUCCESS;
}

static cusparseStatus_t set_boost(const struct context *s, const char *name, struct info *info, bool boosts,
                                  cudaDataType type, double *tolerance, void *value)
{
    info->boosts = boosts;
    if (!boosts)
        return CUSPARSE_STATUS_SUCCESS;
    if (s->mode == CUSPARSE_POINTER_MODE_HOST) {
        info->tolerance = *tolerance;
        info->boost = number_at(type, value, 0);
        return CUSPARSE_STATUS_SUCCESS;
    }
    struct call c = {.name = name, .run = run_boost, .at = {info, tolerance, value}, .compute = type, .waits = true};
    call_vector(&c, tolerance, 1, sizeof *tolerance, HD_READS);
    call_vector(&c, value, 1, type_bytes(type), HD_READS);
    return call_put(s, &c);
}

#define FAMILIES(X, T, TYPE)                                                                                           \
    FACTOR(X, T, TYPE, csrilu02, CSR, FAMILY_CSRILU, run_lu)                                                           \
    FACTOR(X, T, TYPE, csric02, CSR, FAMILY_CSRIC, run_cholesky)                                                       \
    FACTOR(X, T, TYPE, bsrilu02, BSR, FAMILY_BSRILU, run_lu)                                                           \
    FACTOR(X, T, TYPE, bsric02, BSR, FAMILY_BSRIC, run_cholesky)                                                       \
    BOOST(X, T, TYPE, csrilu02, FAMILY_CSRILU)                                                                         \
    BOOST(X, T, TYPE, bsrilu02, FAMILY_BSRILU)
EACH_TYPE(FAMILIES)
