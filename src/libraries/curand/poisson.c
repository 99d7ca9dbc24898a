/* See poisson.h. The histogram is a square one (Marsaglia, Tsang and Wang, "Fast Generation of
 * Discrete Random Variables", J. Stat. Softw. 11, 2004): probability that does not fit in a value's
 * own bin is put on top of other bins until all are full. Bins are filled in ascending order,
 * repeatedly, from the largest value that has too much. */
#include "libraries/curand/poisson.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static double probability(double lambda, unsigned k)
{
    return exp(-lambda + k * log(lambda) - lgamma(k + 1.0));
}

/* The range of values whose probability a double can represent. */
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

/* p: the probabilities, reduced by what is put on top of other bins. */
static void fill(struct poisson *t, double *p, bool *full)
{
    const double width = 1.0 / t->n;
    unsigned giver = t->n - 1, filled;
    do {
        filled = 0;
        for (unsigned i = 0; i < t->n; i++) {
            if (full[i] || p[i] >= width)
                continue;
            while (p[giver] < width && giver > 0)
                giver--;
            if (p[giver] < width)
                return;
            t->border[i] = i * width + p[i];
            t->top[i] = giver;
            p[giver] -= width - p[i];
            full[i] = true;
            filled++;
        }
    } while (filled);
}

static bool make_histogram(struct poisson *t)
{
    find_range(t->lambda, t);
    double *p = malloc(t->n * sizeof *p);
    bool *full = calloc(t->n, sizeof *full);
    t->border = malloc(t->n * sizeof *t->border);
    t->top = malloc(t->n * sizeof *t->top);
    const bool ok = p && full && t->border && t->top;
    for (unsigned i = 0; ok && i < t->n; i++) {
        p[i] = probability(t->lambda, t->first + i);
        t->border[i] = (i + 1) / (double)t->n;
        t->top[i] = i;
    }
    if (ok)
        fill(t, p, full);
    free(p);
    free(full);
    return ok;
}

/* A 32-bit word distinguishes numbers 2^-32 apart, so the sums must be much more accurate. */
static bool make_sums(struct poisson *t)
{
    find_range(t->lambda, t);
    t->border = malloc(t->n * sizeof *t->border);
    long double sum = 0, lambda = t->lambda;
    for (unsigned i = 0; t->border && i < t->n; i++) {
        const unsigned k = t->first + i;
        sum += expl(k * logl(lambda) - lambda - lgammal(k + 1.0L));
        t->border[i] = (double)sum;
    }
    return t->border;
}

struct poisson *poisson_new(double lambda, enum poisson_way way)
{
    struct poisson *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->way = way;
    t->lambda = lambda;
    if (way == POISSON_NORMAL || (way == POISSON_SUMS ? make_sums(t) : make_histogram(t)))
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
