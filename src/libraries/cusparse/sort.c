/* Sorts elements, and returns the permutation. */
#include "libraries/cusparse/call.h"

#include <stdlib.h>

struct element {
    int64_t line, across, order;
    int permuted;
};

static int compare(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->across != y->across)
        return x->across < y->across ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* at[0]: lines, or their `m` offsets; at[1]: the other indices; at[2]: the permutation, or NULL. */
static hd_result run_sort(const struct call *c)
{
    int *lines = library_view(c->at[0]), *across = library_view(c->at[1]);
    int *permutation = c->at[2] ? library_view(c->at[2]) : NULL;
    bool has_offsets = c->m >= 0;
    struct element *e = malloc(((size_t)c->nnz + 1) * sizeof *e);
    if (!e)
        return HD_ERROR_OUT_OF_MEMORY;
    for (int64_t k = 0; k < c->nnz; k++)
        e[k] = (struct element){has_offsets ? -1 : lines[k], across[k], k, permutation ? permutation[k] : 0};
    for (int64_t i = 0; has_offsets && i < c->m; i++)
        for (int64_t k = (int64_t)lines[i] - c->base; k < (int64_t)lines[i + 1] - c->base; k++) {
            if (k < 0 || k >= c->nnz) {
                free(e);
                return HD_ERROR_ILLEGAL_ADDRESS;
            }
            e[k].line = i;
        }
    qsort(e, (size_t)c->nnz, sizeof *e, compare);
    for (int64_t k = 0; k < c->nnz; k++) {
        across[k] = (int)e[k].across;
        if (!has_offsets)
            lines[k] = (int)e[k].line;
        if (permutation)
            permutation[k] = e[k].permuted;
    }
    free(e);
    return HD_SUCCESS;
}

/* For CSR or CSC, with `lines` offsets, or COO: lines is -1. */
static cusparseStatus_t sort(const struct context *s, const char *name, int lines, int nnz, int base, int *line,
                             int *across, int *permutation)
{
    struct call c = {.name = name, .run = run_sort, .m = lines, .nnz = nnz, .base = (cusparseIndexBase_t)base};
    c.at[0] = line;
    c.at[1] = across;
    c.at[2] = permutation;
    if (nnz == 0)
        return CUSPARSE_STATUS_SUCCESS;
    call_vector(&c, line, lines < 0 ? nnz : (int64_t)lines + 1, sizeof *line,
                lines < 0 ? HD_READS | HD_WRITES : HD_READS);
    call_vector(&c, across, nnz, sizeof *across, HD_READS | HD_WRITES);
    if (permutation)
        call_vector(&c, permutation, nnz, sizeof *permutation, HD_READS | HD_WRITES);
    return call_put(s, &c);
}

#define SIZE(Name)                                                                                                     \
    LIBRARY_API cusparseStatus_t cusparseX##Name##sort_bufferSizeExt(                                                  \
        cusparseHandle_t handle, int m, int n, int nnz, const int *lines, const int *across, size_t *bytes)            \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        NEED(m >= 0 && n >= 0 && nnz >= 0 && bytes);                                                                   \
        (void)lines, (void)across;                                                                                     \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
SIZE(coo)
SIZE(csr)
SIZE(csc)

#define SORT_COO(Line, line, across)                                                                                   \
    LIBRARY_API cusparseStatus_t cusparseXcoosortBy##Line(cusparseHandle_t handle, int m, int n, int nnz, int *row,    \
                                                          int *column, int *permutation, void *buffer)                 \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        NEED(m >= 0 && n >= 0 && nnz >= 0);                                                                            \
        NEED(nnz == 0 || (row && column && buffer));                                                                   \
        NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, nnz == 0 || permutation);                                              \
        return sort(s, __func__, -1, nnz, 0, line, across, permutation);                                               \
    }
SORT_COO(Row, row, column)
SORT_COO(Column, column, row)

#define SORT_COMPRESSED(Name, lines)                                                                                   \
    LIBRARY_API cusparseStatus_t cusparseX##Name##sort(cusparseHandle_t handle, int m, int n, int nnz,                 \
                                                       const cusparseMatDescr_t descriptor, const int *offsets,        \
                                                       int *across, int *permutation, void *buffer)                    \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                         \
        NEED(m >= 0 && n >= 0 && nnz >= 0 && d);                                                                       \
        NEED(nnz == 0 || (offsets && across && buffer));                                                               \
        return sort(s, __func__, lines, nnz, d->base, (int *)offsets, across, permutation);                            \
    }
SORT_COMPRESSED(csr, m)
SORT_COMPRESSED(csc, n)

static hd_result run_identity(const struct call *c)
{
    int *p = library_view(c->at[0]);
    for (int64_t i = 0; i < c->n; i++)
        p[i] = (int)i;
    return HD_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *permutation)
{
    CONTEXT(s, handle);
    NEED(n >= 0);
    if (n == 0)
        return CUSPARSE_STATUS_SUCCESS;
    NEED(permutation);
    struct call c = {.name = __func__, .run = run_identity, .n = n, .at = {permutation}};
    call_vector(&c, permutation, n, sizeof *permutation, HD_WRITES);
    return call_put(s, &c);
}
