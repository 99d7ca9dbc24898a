/* A matrix of any format, by rows (struct csr, call.h). */
#include "libraries/cusparse/call.h"

#include <stdlib.h>

void csr_free(struct csr *m)
{
    free(m->begin);
    free(m->column);
    free(m->from);
    free(m->value);
    *m = (struct csr){0};
}

static bool csr_allocate(struct csr *m, int64_t rows, int64_t columns, int64_t nnz, bool values)
{
    m->rows = rows;
    m->columns = columns;
    m->nnz = nnz;
    m->begin = calloc((size_t)rows + 1, sizeof *m->begin);
    m->column = malloc(((size_t)nnz + 1) * sizeof *m->column);
    m->from = malloc(((size_t)nnz + 1) * sizeof *m->from);
    m->value = values ? malloc(((size_t)nnz + 1) * sizeof *m->value) : NULL;
    return m->begin && m->column && m->from && (m->value || !values);
}

/* The lines, rows of CSR or columns of CSC, of all elements; false: the offsets do not lie in the matrix, in order. */
static bool lines_of_offsets(const struct sparse *m, const void *offsets, int64_t lines, int64_t *line)
{
    int64_t end = index_at(m->offset, offsets, 0) - m->base;
    if (end != 0)
        return false;
    for (int64_t i = 0; i < lines; i++) {
        int64_t begin = end;
        end = index_at(m->offset, offsets, i + 1) - m->base;
        if (end < begin || end > m->nnz)
            return false;
        for (int64_t k = begin; k < end; k++)
            line[k] = i;
    }
    return end == m->nnz;
}

/* The rows and columns of all elements, in their order, each in the matrix. */
static bool places(const struct sparse *m, int of_batch, int64_t *line, int64_t *across)
{
    bool is_coo = m->format == CUSPARSE_FORMAT_COO;
    int64_t lines = m->format == CUSPARSE_FORMAT_CSC ? m->columns : m->rows;
    int64_t width = m->format == CUSPARSE_FORMAT_CSC ? m->rows : m->columns;
    const char *offsets = m->offsets, *indices = m->indices;
    if (m->batch > 1) {
        offsets += of_batch * m->offsets_stride * (int64_t)index_bytes(m->offset);
        indices += of_batch * m->stride * (int64_t)index_bytes(m->index);
    }
    if (!is_coo && !lines_of_offsets(m, offsets, lines, line))
        return false;
    for (int64_t k = 0; k < m->nnz; k++) {
        if (is_coo)
            line[k] = index_at(m->offset, offsets, k) - m->base;
        across[k] = index_at(m->index, indices, k) - m->base;
        if (line[k] < 0 || line[k] >= lines || across[k] < 0 || across[k] >= width)
            return false;
    }
    return true;
}

/* A stable sort by row. */
static void sort_by_row(const int64_t *row, const int64_t *column, struct csr *to)
{
    for (int64_t k = 0; k < to->nnz; k++)
        to->begin[row[k] + 1]++;
    for (int64_t i = 0; i < to->rows; i++)
        to->begin[i + 1] += to->begin[i];
    for (int64_t k = 0; k < to->nnz; k++) {
        int64_t at = to->begin[row[k]]++;
        to->column[at] = column[k];
        to->from[at] = k;
    }
    for (int64_t i = to->rows; i > 0; i--)
        to->begin[i] = to->begin[i - 1];
    to->begin[0] = 0;
}

hd_result csr_load(const struct sparse *m, int of_batch, cusparseOperation_t op, bool values, struct csr *to)
{
    bool transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE, by_columns = m->format == CUSPARSE_FORMAT_CSC;
    int64_t *line = malloc(((size_t)m->nnz + 1) * sizeof *line),
            *across = malloc(((size_t)m->nnz + 1) * sizeof *across);
    hd_result r = HD_ERROR_OUT_OF_MEMORY;
    *to = (struct csr){0};
    if (line && across &&
        csr_allocate(to, transposed ? m->columns : m->rows, transposed ? m->rows : m->columns, m->nnz, values))
        r = places(m, of_batch, line, across) ? HD_SUCCESS : HD_ERROR_ILLEGAL_ADDRESS;
    if (!r && transposed == by_columns)
        sort_by_row(line, across, to);
    else if (!r)
        sort_by_row(across, line, to);
    int64_t first = m->batch > 1 ? of_batch * m->stride : 0;
    for (int64_t k = 0; !r && values && k < m->nnz; k++) {
        number x = number_at(m->type, m->values, first + to->from[k]);
        to->value[k] = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? number_conjugate(x) : x;
    }
    free(line);
    free(across);
    return r;
}

static int compare(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void csr_add_row(struct csr *to, struct term *term, int64_t terms)
{
    qsort(term, (size_t)terms, sizeof *term, compare);
    for (int64_t t = 0; t < terms; t++)
        if (t > 0 && term[t].column == term[t - 1].column) {
            to->value[to->nnz - 1] = number_add(to->value[to->nnz - 1], term[t].value);
        } else {
            to->column[to->nnz] = term[t].column;
            to->value[to->nnz++] = term[t].value;
        }
}
