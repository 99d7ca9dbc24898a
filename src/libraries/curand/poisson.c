/* See poisson.h. The table is a square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete Random Variables", J. Stat. Softw. 11,
 * 2004): what a value's own bin cannot hold of its probability is put on top of others, until all are full. Here those bins come first, in
 * ascending order, that are not full at the beginning, then what has given too much, and of values that have more the largest gives. */
#include "libraries/curand/poisson.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static double probability(double lambda, unsigned k)
{
    return exp(-lambda + k * log(lambda) - lgamma(k + 1.0));
}

/* The values that a double has a probability of. */
static void find_range(double lambda, struct poisson *t)
{
    unsigned end = (unsigned)lambda;
    t->first = end;
    while (t->first > 0 && probability(lambda, t->first - 1) > 0)
        t->first--;
    while (probability(lambda, end) > 0)
        end++;
    t->n = end - t->first;
}

/* p: the probabilities. order: bins that are not full, ascending, then the others, descending. */
static unsigned sort(const struct poisson *t, const double *p, unsigned *order)
{
    const double width = 1.0 / t->n;
    unsigned poor = 0, rich = t->n;
    for (unsigned i = 0; i < t->n; i++)
        if (p[i] < width)
            order[poor++] = i;
        else
            order[--rich] = i;
    return poor;
}

/* spent: room for values that have given too much; the last, which is the smallest, is the next to get. */
static void fill(struct poisson *t, double *p, unsigned *order, unsigned *spent)
{
    const double width = 1.0 / t->n;
    unsigned n_spent = 0, next = 0, n_poor = sort(t, p, order), rich = n_poor;
    while (rich < t->n && (next < n_poor || n_spent)) {
        unsigned bin = next < n_poor ? order[next++] : spent[--n_spent], giver = order[rich];
        t->border[bin] = bin * width + p[bin];
        t->top[bin] = giver;
        p[giver] -= width - p[bin];
        if (p[giver] < width) {
            spent[n_spent++] = giver;
            rich++;
        }
    }
}

static bool make(struct poisson *t, double lambda)
{
    find_range(lambda, t);
    double *p = malloc(t->n * sizeof *p);
    unsigned *lists = malloc(2 * t->n * sizeof *lists);
    t->border = malloc(t->n * sizeof *t->border);
    t->top = malloc(t->n * sizeof *t->top);
    bool ok = p && lists && t->border && t->top;
    for (unsigned i = 0; ok && i < t->n; i++) {
        p[i] = probability(lambda, t->first + i);
        t->border[i] = (i + 1) / (double)t->n;
        t->top[i] = i;
    }
    if (ok)
        fill(t, p, lists, lists + t->n);
    free(p);
    free(lists);
    return ok;
}

struct poisson *poisson_new(double lambda)
{
    struct poisson *t = calloc(1, sizeof *t);
    if (t && make(t, lambda))
        return t;
    poisson_free(t);
    return NULL;
}

void poisson_free(struct poisson *t)
{
    if (!t)
        return;
    free(t->border);
    free(t->top);
    free(t);
}
