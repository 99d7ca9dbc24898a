/* See sparse_lu.h. */
#include "libraries/cusolver/sparse_lu.h"

#include <stdlib.h>
#include <string.h>

double complex element_get(enum precision p, const void *from, int64_t i)
{
    switch (p) {
    case PRECISION_S: return ((const float *)from)[i];
    case PRECISION_D: return ((const double *)from)[i];
    case PRECISION_C: return ((const float complex *)from)[i];
    case PRECISION_Z: return ((const double complex *)from)[i];
    }
    return 0;
}

void element_set(enum precision p, void *to, int64_t i, double complex x)
{
    switch (p) {
    case PRECISION_S: ((float *)to)[i] = (float)creal(x); break;
    case PRECISION_D: ((double *)to)[i] = creal(x); break;
    case PRECISION_C: ((float complex *)to)[i] = (float complex)x; break;
    case PRECISION_Z: ((double complex *)to)[i] = x; break;
    }
}

/* Divides real numbers as such, so that the result is rounded once. */
static double complex divided(double complex x, double complex by)
{
    return cimag(x) == 0 && cimag(by) == 0 ? creal(x) / creal(by) : x / by;
}

/* ---- columns that grow ---- */

struct columns {
    int *begin, *row; /* begin: n + 1 */
    double complex *values;
    size_t used, room;
};

static bool columns_add(struct columns *c, int row, double complex x)
{
    if (c->used == c->room) {
        size_t room = c->room * 2 + 64;
        int *rows = realloc(c->row, room * sizeof *rows);
        c->row = rows ? rows : c->row;
        double complex *values = rows ? realloc(c->values, room * sizeof *values) : NULL;
        if (!values)
            return false;
        c->values = values;
        c->room = room;
    }
    c->row[c->used] = row;
    c->values[c->used++] = x;
    return true;
}

static void columns_free(struct columns *c)
{
    free(c->begin);
    free(c->row);
    free(c->values);
}

/* Transposes to rows, whose columns are in order; `place` maps old rows to new ones, or is NULL. */
static bool by_rows(struct triangle *t, const struct columns *c, int n, const int *place)
{
    t->row = calloc((size_t)n + 1, sizeof *t->row);
    t->column = malloc((c->used + 1) * sizeof *t->column);
    t->values = malloc((c->used + 1) * sizeof *t->values);
    int *at = malloc(((size_t)n + 1) * sizeof *at);
    bool done = t->row && t->column && t->values && at;
    for (size_t k = 0; done && k < c->used; k++)
        t->row[(place ? place[c->row[k]] : c->row[k]) + 1]++;
    for (int i = 0; done && i < n; i++)
        at[i] = i ? at[i - 1] + t->row[i] : 0;
    for (int i = 1; done && i <= n; i++)
        t->row[i] += t->row[i - 1];
    for (int j = 0; done && j < n; j++)
        for (int k = c->begin[j]; k < c->begin[j + 1]; k++) {
            int to = at[place ? place[c->row[k]] : c->row[k]]++;
            t->column[to] = j;
            t->values[to] = c->values[k];
        }
    free(at);
    return done;
}

/* ---- the factor ---- */

/* A column in progress: x by A's rows, and its pattern. */
struct work {
    int n;
    double complex *x;
    bool *has;
    uint64_t *pivots; /* a bit for each pivot in the pattern */
    int *below, n_below;
    int *place; /* the pivot number of a row, or -1 */
};

static void take(struct work *w, int row)
{
    if (w->has[row])
        return;
    w->has[row] = true;
    w->x[row] = 0;
    if (w->place[row] >= 0)
        w->pivots[w->place[row] / 64] |= 1ull << w->place[row] % 64;
    else
        w->below[w->n_below++] = row;
}

/* Computes column j of U except its pivot; the rest of x becomes L's column. */
static bool eliminate(struct work *w, const struct columns *lower, struct columns *upper, const int *order, int j)
{
    for (int word = 0; word <= j / 64; word++)
        while (w->pivots[word]) {
            int k = word * 64 + __builtin_ctzll(w->pivots[word]);
            double complex above = w->x[order[k]];
            w->pivots[word] &= w->pivots[word] - 1;
            w->has[order[k]] = false;
            if (!columns_add(upper, k, above))
                return false;
            /* Skips the unit diagonal. */
            for (int i = lower->begin[k] + 1; i < lower->begin[k + 1]; i++) {
                take(w, lower->row[i]);
                w->x[lower->row[i]] -= lower->values[i] * above;
            }
        }
    return true;
}

/* The pivot's row; if the column is empty, any row that is no pivot yet. */
static int choose(struct work *w, double threshold, int j)
{
    int best = -1;
    for (int i = 0; i < w->n_below; i++)
        if (best < 0 || cabs(w->x[w->below[i]]) > cabs(w->x[best]))
            best = w->below[i];
    if (w->place[j] < 0 && w->has[j] && best >= 0 && w->x[j] != 0 && cabs(w->x[j]) >= threshold * cabs(w->x[best]))
        best = j;
    if (best >= 0)
        return best;
    int free_row = w->place[j] < 0 ? j : 0;
    while (w->place[free_row] >= 0)
        free_row++;
    take(w, free_row);
    return free_row;
}

static bool factor_column(struct work *w, struct columns *lower, struct columns *upper, int *order, double threshold,
                          int j)
{
    if (!eliminate(w, lower, upper, order, j))
        return false;
    int row = choose(w, threshold, j);
    double complex pivot = w->x[row];
    bool done = columns_add(upper, j, pivot) && columns_add(lower, row, 1);
    for (int i = 0; i < w->n_below; i++) {
        int below = w->below[i];
        w->has[below] = false;
        if (done && below != row)
            done = columns_add(lower, below, pivot == 0 ? 0 : divided(w->x[below], pivot));
    }
    w->n_below = 0;
    w->place[row] = j;
    order[j] = row;
    lower->begin[j + 1] = (int)lower->used;
    upper->begin[j + 1] = (int)upper->used;
    return done && lower->used < INT_MAX && upper->used < INT_MAX;
}

/* Converts A to columns. */
static bool turn(struct columns *c, const struct csr *a)
{
    const int n = a->n, nnz = a->row[n] - a->base;
    *c = (struct columns){calloc((size_t)n + 2, sizeof(int)), malloc(((size_t)nnz + 1) * sizeof(int)),
                          malloc(((size_t)nnz + 1) * sizeof(double complex)), (size_t)nnz, (size_t)nnz};
    if (!c->begin || !c->row || !c->values)
        return false;
    /* where the next element of a column goes; in the end, the start of the next column */
    int *at = c->begin + 1;
    for (int k = 0; k < nnz; k++)
        at[a->column[k] - a->base + 1]++;
    for (int j = 1; j <= n; j++)
        at[j] += at[j - 1];
    for (int i = 0; i < n; i++)
        for (int k = a->row[i] - a->base; k < a->row[i + 1] - a->base; k++) {
            int to = at[a->column[k] - a->base]++;
            c->row[to] = i;
            c->values[to] = element_get(a->precision, a->values, k);
        }
    return true;
}

bool sparse_lu_factor(struct sparse_lu *f, const struct csr *a, double threshold)
{
    const int n = a->n;
    const size_t rows = (size_t)n + 1;
    struct columns of_a = {0}, lower = {.begin = calloc(rows, sizeof(int))},
                   upper = {.begin = calloc(rows, sizeof(int))};
    struct work w = {.n = n,
                     .x = malloc(rows * sizeof *w.x),
                     .has = calloc(rows, sizeof *w.has),
                     .pivots = calloc(rows / 64 + 1, sizeof *w.pivots),
                     .below = malloc(rows * sizeof *w.below),
                     .place = malloc(rows * sizeof *w.place)};
    *f = (struct sparse_lu){.n = n, .order = malloc(rows * sizeof *f->order)};
    bool done =
        turn(&of_a, a) && lower.begin && upper.begin && w.x && w.has && w.pivots && w.below && w.place && f->order;
    for (int i = 0; done && i < n; i++)
        w.place[i] = -1;
    for (int j = 0; done && j < n; j++) {
        for (int k = of_a.begin[j]; k < of_a.begin[j + 1]; k++) {
            take(&w, of_a.row[k]);
            w.x[of_a.row[k]] += of_a.values[k];
        }
        done = factor_column(&w, &lower, &upper, f->order, threshold, j);
    }
    done = done && by_rows(&f->lower, &lower, n, w.place) && by_rows(&f->upper, &upper, n, NULL);
    columns_free(&of_a);
    columns_free(&lower);
    columns_free(&upper);
    free(w.x);
    free(w.has);
    free(w.pivots);
    free(w.below);
    free(w.place);
    if (!done)
        sparse_lu_free(f);
    return done;
}

static void triangle_free(struct triangle *t)
{
    free(t->row);
    free(t->column);
    free(t->values);
}

void sparse_lu_free(struct sparse_lu *f)
{
    free(f->order);
    triangle_free(&f->lower);
    triangle_free(&f->upper);
    *f = (struct sparse_lu){0};
}

int sparse_lu_singular(const struct sparse_lu *f, double tolerance)
{
    for (int i = 0; i < f->n; i++)
        if (!(cabs(f->upper.values[f->upper.row[i]]) > tolerance))
            return i;
    return -1;
}

bool sparse_lu_solve(const struct sparse_lu *f, enum precision p, const void *b, void *x)
{
    double complex *y = malloc(((size_t)f->n + 1) * sizeof *y);
    if (!y)
        return false;
    for (int i = 0; i < f->n; i++) {
        y[i] = element_get(p, b, f->order[i]);
        for (int k = f->lower.row[i]; k < f->lower.row[i + 1] - 1; k++)
            y[i] -= f->lower.values[k] * y[f->lower.column[k]];
    }
    for (int i = f->n - 1; i >= 0; i--) {
        for (int k = f->upper.row[i] + 1; k < f->upper.row[i + 1]; k++)
            y[i] -= f->upper.values[k] * y[f->upper.column[k]];
        y[i] = divided(y[i], f->upper.values[f->upper.row[i]]);
    }
    for (int i = 0; i < f->n; i++)
        element_set(p, x, i, y[i]);
    free(y);
    return true;
}
