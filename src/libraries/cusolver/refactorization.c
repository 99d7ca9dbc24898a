/* See refactorization.h. */
#include "libraries/cusolver/refactorization.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void clear(struct refactorization *f)
{
    free(f->row);
    free(f->column);
    free(f->diagonal);
    free(f->values);
    free(f->zero_pivot);
    f->row = f->column = f->diagonal = f->zero_pivot = NULL;
    f->values = NULL;
    f->n = 0;
    f->analysed = f->reset = f->factored = f->boosted = false;
}

void refactorization_free(void *record)
{
    clear(record);
    free(record);
}

/* ---- the pattern ---- */

static int by_place(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

struct element {
    int row, column;
    double value;
};

/* Counts a triangle's elements, without a diagonal that M does not store. */
static size_t gather(const struct refactorization *f, int n, const struct part *p, bool diagonal, struct element *to)
{
    size_t count = 0;
    for (int i = 0; i < n; i++)
        for (int k = p->row[i]; k < p->row[i + 1]; k++) {
            bool by_rows = f->format == CUSOLVERRF_MATRIX_FORMAT_CSR;
            int row = by_rows ? i : p->column[k], column = by_rows ? p->column[k] : i;
            if (row != column || diagonal)
                to[count++] = (struct element){row, column, p->values[k]};
        }
    return count;
}

static bool is_pattern(int n, const struct part *p)
{
    if (p->row[0] != 0 || p->row[n] != p->nnz)
        return false;
    for (int i = 0; i < n; i++)
        if (p->row[i + 1] < p->row[i])
            return false;
    for (int k = 0; k < p->nnz; k++)
        if (p->column[k] < 0 || p->column[k] >= n)
            return false;
    return true;
}

static bool find_diagonals(struct refactorization *f)
{
    for (int i = 0; i < f->n; i++) {
        int k = f->row[i];
        while (k < f->row[i + 1] && f->column[k] < i)
            k++;
        if (k == f->row[i + 1] || f->column[k] != i)
            return false;
        f->diagonal[i] = k;
    }
    return true;
}

cusolverStatus_t refactorization_set_up(struct refactorization *f, int batch, int n, int nnz_a,
                                        const struct part *lower, const struct part *upper)
{
    const char *const name = "cusolverRfSetup";
    NEED(is_pattern(n, lower) && is_pattern(n, upper));
    clear(f);
    struct element *e = malloc(((size_t)lower->nnz + (size_t)upper->nnz + 1) * sizeof *e);
    if (!e)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    size_t count = gather(f, n, lower, refactorization_unit_upper(f), e);
    count += gather(f, n, upper, !refactorization_unit_upper(f), e + count);
    qsort(e, count, sizeof *e, by_place);
    f->row = calloc((size_t)n + 1, sizeof *f->row);
    f->column = malloc((count + 1) * sizeof *f->column);
    f->diagonal = malloc((size_t)n * sizeof *f->diagonal);
    f->values = malloc((count * (size_t)batch + 1) * sizeof *f->values);
    f->zero_pivot = malloc((size_t)batch * sizeof *f->zero_pivot);
    bool found = f->row && f->column && f->diagonal && f->values && f->zero_pivot;
    for (size_t k = 0; found && k < count; k++) {
        f->row[e[k].row + 1]++;
        f->column[k] = e[k].column;
        for (int b = 0; b < batch; b++)
            f->values[k + (size_t)b * count] = e[k].value;
    }
    free(e);
    if (!found) {
        clear(f);
        return CUSOLVER_STATUS_ALLOC_FAILED;
    }
    for (int i = 0; i < n; i++)
        f->row[i + 1] += f->row[i];
    for (int b = 0; b < batch; b++)
        f->zero_pivot[b] = -1;
    f->n = n;
    f->nnz_a = nnz_a;
    f->batch = batch;
    if (find_diagonals(f))
        return CUSOLVER_STATUS_SUCCESS;
    clear(f);
    return CUSOLVER_STATUS_INVALID_VALUE;
}

/* ---- the values ---- */

static int *inverse_of(const int *order, int n)
{
    int *inverse = malloc((size_t)n * sizeof *inverse);
    for (int i = 0; inverse && i < n; i++)
        inverse[i] = -1;
    for (int i = 0; inverse && i < n; i++)
        if (order[i] >= 0 && order[i] < n)
            inverse[order[i]] = i;
    return inverse;
}

static double *place_of(struct refactorization *f, int row, int column, int of_batch)
{
    int low = row < 0 ? 0 : f->row[row], high = row < 0 ? 0 : f->row[row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (f->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = row >= 0 && low < f->row[row + 1] && f->column[low] == column;
    return found ? f->values + (size_t)of_batch * refactorization_nnz(f) + low : NULL;
}

/* The operand's vector for the b-th matrix: the operand itself, or its b-th address (NULL if
 * invalid). */
static void *vector_of(const struct call *c, int operand, int b, int n)
{
    void *at = c->at[operand];
    const struct library_shape shape = {sizeof(double), (uint64_t)n, 1, 0};
    return !c->flags || library_reach(&at, ((void *const *)c->at[operand])[b], shape) ? at : NULL;
}

enum { FOREIGN = 1 }; /* an element of A without a place in L and U */

int refactorization_reset(const struct call *c)
{
    struct refactorization *f = c->host;
    const int *rows = c->at[OP_ROWS], *columns = c->at[OP_COLUMNS];
    int *at_row = inverse_of(c->at[OP_PIVOTS], f->n), *at_column = inverse_of(c->at[OP_X], f->n), r = 0;
    memset(f->values, 0, refactorization_nnz(f) * (size_t)f->batch * sizeof *f->values);
    if (!at_row || !at_column)
        r = OUT_OF_MEMORY;
    for (int b = 0; !r && b < f->batch; b++) {
        const double *values = vector_of(c, OP_A, b, f->nnz_a);
        if (!values)
            r = BAD_ADDRESS;
        for (int i = 0; !r && i < f->n; i++)
            for (int k = rows[i]; k < rows[i + 1] && !r; k++) {
                bool valid = k >= 0 && k < f->nnz_a && columns[k] >= 0 && columns[k] < f->n;
                double *to = valid ? place_of(f, at_row[i], at_column[columns[k]], b) : NULL;
                if (to)
                    *to += values[k];
                else
                    r = FOREIGN;
            }
    }
    free(at_row);
    free(at_column);
    f->reset = r == 0;
    f->factored = false;
    return r;
}

/* Row by row: w is the current row, `in` its pattern. */
static void factor_one(struct refactorization *f, int b, double *w, bool *in)
{
    double *m = f->values + (size_t)b * refactorization_nnz(f);
    f->zero_pivot[b] = -1;
    for (int i = 0; i < f->n; i++) {
        int begin = f->row[i], end = f->row[i + 1], diagonal = f->diagonal[i];
        for (int k = begin; k < end; k++) {
            w[f->column[k]] = m[k];
            in[f->column[k]] = true;
        }
        for (int k = begin; k < diagonal; k++) {
            int above = f->column[k];
            if (!refactorization_unit_upper(f))
                w[above] /= m[f->diagonal[above]];
            for (int j = f->diagonal[above] + 1; j < f->row[above + 1]; j++)
                if (in[f->column[j]])
                    w[f->column[j]] -= w[above] * m[j];
        }
        if (f->boost != 0 && fabs(w[i]) < f->zero) {
            w[i] = copysign(f->boost, w[i]);
            f->boosted = true;
        }
        if (!(fabs(w[i]) > 0) && f->zero_pivot[b] < 0)
            f->zero_pivot[b] = i;
        for (int k = begin; k < end; k++) {
            m[k] = k > diagonal && refactorization_unit_upper(f) ? w[f->column[k]] / w[i] : w[f->column[k]];
            in[f->column[k]] = false;
        }
    }
}

int refactorization_factor(const struct call *c)
{
    struct refactorization *f = c->host;
    double *w = malloc((size_t)f->n * sizeof *w);
    bool *in = calloc((size_t)f->n, sizeof *in);
    f->boosted = false;
    for (int b = 0; w && in && b < f->batch; b++)
        factor_one(f, b, w, in);
    f->factored = w && in;
    free(w);
    free(in);
    return f->factored ? 0 : OUT_OF_MEMORY;
}

static void solve_one(const struct refactorization *f, int b, const int *P, const int *Q, double *y, double *x)
{
    const double *m = f->values + (size_t)b * refactorization_nnz(f);
    for (int i = 0; i < f->n; i++) {
        y[i] = P[i] >= 0 && P[i] < f->n ? x[P[i]] : NAN;
        for (int k = f->row[i]; k < f->diagonal[i]; k++)
            y[i] -= m[k] * y[f->column[k]];
        y[i] = refactorization_unit_upper(f) ? y[i] / m[f->diagonal[i]] : y[i];
    }
    for (int i = f->n - 1; i >= 0; i--) {
        for (int k = f->diagonal[i] + 1; k < f->row[i + 1]; k++)
            y[i] -= m[k] * y[f->column[k]];
        y[i] = refactorization_unit_upper(f) ? y[i] : y[i] / m[f->diagonal[i]];
    }
    for (int i = 0; i < f->n; i++)
        if (Q[i] >= 0 && Q[i] < f->n)
            x[Q[i]] = y[i];
}

int refactorization_solve(const struct call *c)
{
    struct refactorization *f = c->host;
    double *y = malloc((size_t)f->n * sizeof *y);
    int r = y ? 0 : OUT_OF_MEMORY;
    for (int b = 0; !r && b < f->batch; b++) {
        double *x = vector_of(c, OP_B, b, f->n);
        if (x)
            solve_one(f, b, c->at[OP_PIVOTS], c->at[OP_X], y, x);
        else
            r = BAD_ADDRESS;
    }
    free(y);
    return r;
}
