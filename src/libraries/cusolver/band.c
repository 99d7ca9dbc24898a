/* See band.h. */
#include "libraries/cusolver/band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index of row i's first element, and the column of element k, both
 * from 0, for any index base. */
static int first_of(const struct csr *a, int i)
{
    return a->row[i] - a->base;
}

static int column_of(const struct csr *a, int k)
{
    return a->column[k] - a->base;
}

bool csr_is_valid(const struct csr *a)
{
    if (a->row[0] != a->base)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (a->row[i + 1] < a->row[i])
            return false;
        for (int k = first_of(a, i); k < first_of(a, i + 1); k++)
            if (column_of(a, k) < 0 || column_of(a, k) >= a->n)
                return false;
    }
    return true;
}

/* ---- the order ---- */

/* The adjacency of the symmetrised pattern. */
struct graph {
    int n, *first, *next_to;
};

static void free_graph(struct graph *g)
{
    free(g->first);
    free(g->next_to);
}

static bool make_graph(struct graph *g, const struct csr *a)
{
    int nnz = first_of(a, a->n);
    *g = (struct graph){a->n, calloc((size_t)a->n + 2, sizeof(int)), malloc((2 * (size_t)nnz + 1) * sizeof(int))};
    if (!g->first || !g->next_to) {
        free_graph(g);
        return false;
    }
    for (int i = 0; i < a->n; i++)
        for (int k = first_of(a, i); k < first_of(a, i + 1); k++) {
            g->first[i + 2]++;
            g->first[column_of(a, k) + 2]++;
        }
    for (int i = 2; i < a->n + 2; i++)
        g->first[i] += g->first[i - 1];
    for (int i = 0; i < a->n; i++)
        for (int k = first_of(a, i); k < first_of(a, i + 1); k++) {
            int j = column_of(a, k);
            g->next_to[g->first[i + 1]++] = j;
            g->next_to[g->first[j + 1]++] = i;
        }
    return true;
}

static int degree(const struct graph *g, int i)
{
    return g->first[i + 1] - g->first[i];
}

static void sort_by_degree(const struct graph *g, int *at, int n)
{
    for (int i = 1; i < n; i++) {
        int moved = at[i], j = i;
        for (; j > 0 && degree(g, at[j - 1]) > degree(g, moved); j--)
            at[j] = at[j - 1];
        at[j] = moved;
    }
}

/* A breadth-first search from `start` that visits neighbours of least degree first, and appends to
 * order[n]. Returns the new length of the order. */
static int visit(const struct graph *g, int start, int *order, int n, bool *seen)
{
    int done = n;
    order[n++] = start;
    seen[start] = true;
    for (; done < n; done++) {
        int begin = n;
        for (int k = g->first[order[done]]; k < g->first[order[done] + 1]; k++)
            if (!seen[g->next_to[k]]) {
                seen[g->next_to[k]] = true;
                order[n++] = g->next_to[k];
            }
        sort_by_degree(g, order + begin, n - begin);
    }
    return n;
}

/* Starts at a pseudo-peripheral node, found by two searches. */
static int visit_from_an_end(const struct graph *g, int start, int *order, int n, bool *seen)
{
    for (int round = 0; round < 2; round++) {
        int end = visit(g, start, order, n, seen);
        start = order[end - 1];
        for (int i = n; i < end; i++)
            seen[order[i]] = false;
    }
    return visit(g, start, order, n, seen);
}

int *csr_reverse_cuthill_mckee(const struct csr *a)
{
    struct graph g;
    int n = 0, *order = malloc(((size_t)a->n + 1) * sizeof *order);
    bool *seen = calloc((size_t)a->n + 1, sizeof *seen);
    if (!order || !seen || !make_graph(&g, a)) {
        free(order);
        free(seen);
        return NULL;
    }
    for (int i = 0; i < a->n; i++)
        if (!seen[i])
            n = visit_from_an_end(&g, i, order, n, seen);
    for (int i = 0; i < n / 2; i++) {
        int other = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = other;
    }
    free_graph(&g);
    free(seen);
    return order;
}

/* ---- the band ---- */

struct band {
    enum precision precision;
    bool definite;
    int n, lower, upper, ld, *pivots, *order;
    void *at;
};

void band_free(struct band *f)
{
    if (!f)
        return;
    free(f->pivots);
    free(f->order);
    free(f->at);
    free(f);
}

/* Calls put() for each element at its new place. For a definite matrix only the lower triangle's
 * elements, which may move above the diagonal. */
static void each(const struct csr *a, const struct band *f, const int *place,
                 void (*put)(struct band *f, int i, int j, const void *value), struct band *to)
{
    for (int i = 0; i < a->n; i++)
        for (int k = first_of(a, i); k < first_of(a, i + 1); k++) {
            int j = column_of(a, k);
            if (!f->definite || i >= j)
                put(to, place[i], place[j], element_at(f->precision, a->values, k));
        }
}

static void widen(struct band *f, int i, int j, const void *value)
{
    (void)value;
    if (f->definite) {
        f->lower = abs(i - j) > f->lower ? abs(i - j) : f->lower;
        return;
    }
    f->lower = i - j > f->lower ? i - j : f->lower;
    f->upper = j - i > f->upper ? j - i : f->upper;
}

/* The place of an element; a general band has extra room above it for pivoting. */
static void *place_in(const struct band *f, int i, int j)
{
    int64_t row = f->definite ? i - j : f->lower + f->upper + i - j;
    return element_at(f->precision, f->at, row + (int64_t)j * f->ld);
}

static void add_to(enum precision p, void *to, const void *value, double sign_of_imaginary)
{
    bool is_float = precision_real_bytes(p) == sizeof(float);
    for (int part = 0; part < (precision_is_complex(p) ? 2 : 1); part++) {
        double sign = part ? sign_of_imaginary : 1;
        if (is_float)
            ((float *)to)[part] += (float)sign * ((const float *)value)[part];
        else
            ((double *)to)[part] += sign * ((const double *)value)[part];
    }
}

static void put(struct band *f, int i, int j, const void *value)
{
    bool mirrored = f->definite && i < j;
    add_to(f->precision, mirrored ? place_in(f, j, i) : place_in(f, i, j), value, mirrored ? -1 : 1);
}

static void shift_diagonal(struct band *f, const double shift[2])
{
    float single[2] = {(float)-shift[0], (float)-shift[1]};
    double whole[2] = {-shift[0], -shift[1]};
    const void *value = precision_real_bytes(f->precision) == sizeof(float) ? (const void *)single : whole;
    for (int i = 0; (shift[0] != 0 || shift[1] != 0) && i < f->n; i++)
        add_to(f->precision, place_in(f, i, i), value, 1);
}

static double magnitude(enum precision p, const void *at)
{
    enum precision real = precision_real_bytes(p) == sizeof(float) ? PRECISION_S : PRECISION_D;
    return precision_is_complex(p) ? hypot(real_at(real, at, 0), real_at(real, at, 1)) : fabs(real_at(real, at, 0));
}

static int factor(struct band *f, double tolerance)
{
    int info = 0;
    if (f->definite)
        heddle_openblas.pbtrf[f->precision]("L", &f->n, &f->lower, f->at, &f->ld, &info, 1);
    else
        heddle_openblas.gbtrf[f->precision](&f->n, &f->n, &f->lower, &f->upper, f->at, &f->ld, f->pivots, &info);
    if (info > 0)
        return f->order[info - 1];
    for (int i = 0; i < f->n; i++)
        if (!(magnitude(f->precision, place_in(f, i, i)) > tolerance))
            return f->order[i];
    return -1;
}

static struct band *make_band(const struct csr *a, bool definite, int *place)
{
    struct band *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct band){.precision = a->precision, .definite = definite, .n = a->n};
    f->order = csr_reverse_cuthill_mckee(a);
    f->pivots = malloc(((size_t)a->n + 1) * sizeof *f->pivots);
    for (int i = 0; f->order && i < a->n; i++)
        place[f->order[i]] = i;
    if (f->order && f->pivots) {
        each(a, f, place, widen, f);
        f->ld = definite ? f->lower + 1 : 2 * f->lower + f->upper + 1;
        f->at = calloc((size_t)f->ld * (size_t)a->n + 1, precision_bytes(a->precision));
    }
    if (!f->at) {
        band_free(f);
        return NULL;
    }
    return f;
}

struct band *band_factor(const struct csr *a, bool definite, const double shift[2], double tolerance, int *singular)
{
    int *place = malloc(((size_t)a->n + 1) * sizeof *place);
    struct band *f = place ? make_band(a, definite, place) : NULL;
    if (f) {
        each(a, f, place, put, f);
        shift_diagonal(f, shift);
        *singular = factor(f, tolerance);
    }
    free(place);
    return f;
}

bool band_solve(const struct band *f, const void *b, void *x)
{
    enum precision p = f->precision;
    int info = 0, one = 1, ld = f->n > 1 ? f->n : 1;
    void *y = malloc((size_t)ld * precision_bytes(p));
    if (!y)
        return false;
    for (int i = 0; i < f->n; i++)
        memcpy(element_at(p, y, i), element_at(p, b, f->order[i]), precision_bytes(p));
    if (f->definite)
        heddle_openblas.pbtrs[p]("L", &f->n, &f->lower, &one, f->at, &f->ld, y, &ld, &info, 1);
    else
        heddle_openblas.gbtrs[p]("N", &f->n, &f->lower, &f->upper, &one, f->at, &f->ld, f->pivots, y, &ld, &info, 1);
    for (int i = 0; i < f->n; i++)
        memcpy(element_at(p, x, f->order[i]), element_at(p, y, i), precision_bytes(p));
    free(y);
    return true;
}
