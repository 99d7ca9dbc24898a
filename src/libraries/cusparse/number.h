/* Elements of all cuSPARSE types, read as complex doubles and rounded once when written: sums of
 * integers, and of exactly representable floats, are exact. */
#ifndef HEDDLE_CUSPARSE_NUMBER_H
#define HEDDLE_CUSPARSE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/cusparse.h"

typedef struct {
    double re, im;
} number;

size_t type_bytes(cudaDataType type); /* 0 for an invalid type. */
bool type_is_complex(cudaDataType type);
number number_at(cudaDataType type, const void *from, int64_t i);
void number_set(cudaDataType type, void *to, int64_t i, number x);

static inline number number_add(number a, number b)
{
    return (number){a.re + b.re, a.im + b.im};
}

/* Real numbers stay real, even infinite ones. */
static inline number number_times(number a, number b)
{
    if (a.im == 0 && b.im == 0)
        return (number){a.re * b.re, 0};
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline number number_conjugate(number a)
{
    return (number){a.re, -a.im};
}

number number_over(number a, number b);

static inline bool number_is_zero(number a)
{
    return a.re == 0 && a.im == 0;
}

/* alpha x + beta y; y is read only if beta is not 0. */
static inline void number_blend(number alpha, number x, number beta, cudaDataType type, void *y, int64_t i)
{
    number sum = number_times(alpha, x);
    if (!number_is_zero(beta))
        sum = number_add(sum, number_times(beta, number_at(type, y, i)));
    number_set(type, y, i, sum);
}

#endif
