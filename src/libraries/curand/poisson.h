/* Poisson's distribution as a table, from a uniform number. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_POISSON_H
#define HEDDLE_LIBRARIES_CURAND_POISSON_H

#include <stddef.h>

/* Bins of one width: of value first + i, bin i, up to its border; above is that of another value. */
struct poisson {
    unsigned first, n;
    double *border;
    unsigned *top;
};

/* NULL without memory. */
struct poisson *poisson_new(double lambda);
void poisson_free(struct poisson *p); /* NULL is allowed */

/* Of 0 < u <= 1. */
static inline unsigned poisson_of(const struct poisson *p, double u)
{
    unsigned bin = (unsigned)(u * p->n);
    bin = bin < p->n ? bin : p->n - 1;
    return p->first + (u < p->border[bin] ? bin : p->top[bin]);
}

#endif
