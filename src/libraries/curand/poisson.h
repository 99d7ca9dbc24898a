/* The Poisson distribution, from a uniform number or a normal one. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_POISSON_H
#define HEDDLE_LIBRARIES_CURAND_POISSON_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* From this lambda on most generators use normal numbers. */
static const double POISSON_FIRST_NORMAL = 2000;

/* The methods: a histogram of bins with one width, each shared by two values; the first value at
 * which the summed probabilities reach the uniform number; or, for a large lambda, a rounded normal
 * number. */
enum poisson_way { POISSON_HISTOGRAM, POISSON_SUMS, POISSON_NORMAL };

/* Values are first to first + n - 1. In a histogram, bin i means value i up to its
 * border, and value top above it; otherwise border is the sum up to value i. Both
 * count from the first value. */
struct poisson {
    enum poisson_way way;
    double lambda;
    unsigned first, n;
    double *border;
    unsigned *top;
};

static inline bool poisson_has(double lambda)
{
    return lambda > 0 && lambda <= 400000;
}

/* Returns NULL if memory is exhausted. */
struct poisson *poisson_new(double lambda, enum poisson_way way);
void poisson_free(struct poisson *p); /* NULL is allowed */

/* By the histogram, for 0 < u <= 1. */
static inline unsigned poisson_of_bin(const struct poisson *p, double u)
{
    unsigned bin = (unsigned)(u * p->n);
    bin = bin < p->n ? bin : p->n - 1;
    return p->first + (u < p->border[bin] ? bin : p->top[bin]);
}

/* By the sums. */
static inline unsigned poisson_of_sum(const struct poisson *p, double u)
{
    unsigned low = 0, high = p->n - 1;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (p->border[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return p->first + low;
}

/* `in_float`: for MT19937. */
static inline unsigned poisson_of_normal(const struct poisson *p, float x, bool in_float)
{
    if (in_float)
        return (unsigned)(sqrtf((float)p->lambda) * x + (float)p->lambda + 0.5f);
    return (unsigned)(sqrt(p->lambda) * x + p->lambda + 0.5);
}

#endif
