/* Loads a matrix of any format by rows (struct csr, call.h). */
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

bool csr_begin(struct csr *m, int64_t rows, int64_t columns, int64_t most, struct term **term, int64_t in_row)
{
    *m = (struct csr){.rows = rows, .columns = columns};
    m->begin = calloc((size_t)rows + 1, sizeof *m->begin);
    m->column = malloc(((size_t)most + 1) * sizeof *m->column);
    m->value = malloc(((size_t)most + 1) * sizeof *m->value);
    *term = malloc(((size_t)in_row + 1) * sizeof **term);
    return m->begin && m->column && m->value && *term;
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

/* The rows or columns that offsets refer to: of blocks for BSR, slices for Sliced-ELL. */
static int64_t lines_of(const struct sparse *m)
{
    switch (m->format) {
    case CUSPARSE_FORMAT_CSC: return m->columns;
    case CUSPARSE_FORMAT_BSR: return m->rows / m->block_rows;
    case CUSPARSE_FORMAT_SLICED_ELLPACK: return m->width ? (m->rows + m->width - 1) / m->width : 0;
    default: return m->rows;
    }
}

static int64_t block_size(const struct sparse *m)
{
    return m->block_rows ? m->block_rows * m->block_columns : 1;
}

int64_t sparse_indices(const struct sparse *m)
{
    return m->nnz / block_size(m);
}

int64_t sparse_offsets(const struct sparse *m)
{
    return m->format == CUSPARSE_FORMAT_COO ? m->nnz : m->format == CUSPARSE_FORMAT_BLOCKED_ELL ? 0 : lines_of(m) + 1;
}

/* Expands offsets to a line for each index. Returns the number of indices by the offsets, which may
 * be less than the matrix's room; -1 if the offsets are out of range or order. */
static int64_t lines_of_offsets(const struct sparse *m, const void *offsets, int64_t *line)
{
    int64_t end = index_at(m->offset, offsets, 0) - m->base, all = sparse_indices(m);
    if (end != 0)
        return -1;
    for (int64_t i = 0; i < lines_of(m); i++) {
        int64_t begin = end;
        end = index_at(m->offset, offsets, i + 1) - m->base;
        if (end < begin || end > all)
            return -1;
        for (int64_t k = begin; k < end; k++)
            line[k] = m->format == CUSPARSE_FORMAT_SLICED_ELLPACK ? i * m->width + (k - begin) % m->width : i;
    }
    return end;
}

static int64_t find_lines(const struct sparse *m, const void *offsets, int64_t *line)
{
    if (m->format != CUSPARSE_FORMAT_COO && m->format != CUSPARSE_FORMAT_BLOCKED_ELL)
        return lines_of_offsets(m, offsets, line);
    for (int64_t k = 0; k < sparse_indices(m); k++)
        line[k] = m->format == CUSPARSE_FORMAT_COO ? index_at(m->offset, offsets, k) - m->base
                                                   : k / (m->width / m->block_columns);
    return sparse_indices(m);
}

int64_t sparse_block_element(const struct sparse *m, int64_t block, int64_t i, int64_t j)
{
    if (m->format == CUSPARSE_FORMAT_BLOCKED_ELL) {
        int64_t kept = m->width / m->block_columns;
        return (block / kept * m->block_rows + i) * m->width + block % kept * m->block_columns + j;
    }
    int64_t at = m->order == CUSPARSE_ORDER_ROW ? i * m->block_columns + j : j * m->block_rows + i;
    return block * block_size(m) + at;
}

/* Expands rows and columns of blocks to those of elements, in place, from the last one on. */
static void spread_blocks(const struct sparse *m, int64_t *line, int64_t *across)
{
    for (int64_t k = sparse_indices(m) - 1; k >= 0; k--) {
        int64_t row = line[k], column = across[k];
        for (int64_t i = m->block_rows - 1; i >= 0; i--)
            for (int64_t j = m->block_columns - 1; j >= 0; j--) {
                int64_t at = sparse_block_element(m, k, i, j);
                line[at] = row < 0 ? -1 : row * m->block_rows + i;
                across[at] = column * m->block_columns + j;
                /* a block at the edge may extend beyond the matrix */
                if (line[at] >= m->rows || across[at] >= m->columns)
                    line[at] = -1;
            }
    }
}

/* The row and column of each value in order, all in range. Padding of Sliced-ELL, and values behind
 * the last offset, get line -1. Padding blocks of Blocked-ELL count as the first column's, as on an
 * H200: their values are zeros. */
static bool places(const struct sparse *m, int of_batch, int64_t *line, int64_t *across)
{
    bool by_columns = m->format == CUSPARSE_FORMAT_CSC, is_blocked = m->block_rows != 0;
    bool is_padded = m->format == CUSPARSE_FORMAT_BLOCKED_ELL || m->format == CUSPARSE_FORMAT_SLICED_ELLPACK;
    int64_t lines = by_columns ? m->columns : m->rows, width = by_columns ? m->rows : m->columns;
    const char *offsets = m->offsets, *indices = m->indices;
    if (m->batch > 1) {
        offsets += of_batch * m->offsets_stride * (int64_t)index_bytes(m->offset);
        indices += of_batch * m->indices_stride * (int64_t)index_bytes(m->index);
    }
    if (is_blocked) {
        lines /= m->block_rows;
        width = (width + m->block_columns - 1) / m->block_columns;
    }
    if (m->nnz == 0)
        return true; /* offsets are not used */
    int64_t n = find_lines(m, offsets, line);
    for (int64_t k = 0; k < n; k++) {
        across[k] = index_at(m->index, indices, k) - m->base;
        if (is_padded && index_at(m->index, indices, k) < 0)
            line[k] = is_blocked ? line[k] : -1, across[k] = 0;
        else if (line[k] < 0 || line[k] >= lines || across[k] < 0 || across[k] >= width)
            return false;
    }
    for (int64_t k = n < 0 ? 0 : n; k < sparse_indices(m); k++)
        line[k] = -1, across[k] = 0;
    if (is_blocked)
        spread_blocks(m, line, across);
    return n >= 0;
}

/* Sorts by row, stably, without padding. */
static void sort_by_row(const int64_t *row, const int64_t *column, struct csr *to)
{
    int64_t all = to->nnz;
    for (int64_t k = 0; k < all; k++)
        if (row[k] >= 0 && column[k] >= 0)
            to->begin[row[k] + 1]++;
    for (int64_t i = 0; i < to->rows; i++)
        to->begin[i + 1] += to->begin[i];
    to->nnz = to->begin[to->rows];
    for (int64_t k = 0; k < all; k++) {
        if (row[k] < 0 || column[k] < 0)
            continue;
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
    for (int64_t k = 0; !r && values && k < to->nnz; k++) {
        number x = number_at(m->type, m->values, first + to->from[k]);
        to->value[k] = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? number_conjugate(x) : x;
    }
    free(line);
    free(across);
    return r;
}

void csr_store_offsets(const struct csr *from, const struct sparse *to)
{
    for (int64_t i = 0; i <= from->rows; i++)
        index_set(to->offset, to->offsets, i, from->begin[i] + to->base);
}

void csr_store_columns(const struct csr *from, const struct sparse *to)
{
    for (int64_t k = 0; k < from->nnz; k++)
        index_set(to->index, to->indices, k, from->column[k] + to->base);
}

void csr_store_values(const struct csr *from, const struct sparse *to)
{
    for (int64_t k = 0; k < from->nnz; k++)
        number_set(to->type, to->values, k, from->value[k]);
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
