/* Level 1 of BLAS on plain addresses, for n >= 1, by enum precision. Sums that the type can
 * represent exactly are exact. */
#ifndef HEDDLE_LIBRARIES_LEVEL1_H
#define HEDDLE_LIBRARIES_LEVEL1_H

#include <stdbool.h>
#include <stdint.h>

struct level1 {
    void (*axpy)(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
    void (*copy)(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
    void (*swap)(int64_t n, void *x, int64_t incx, void *y, int64_t incy);
    void (*scal)(int64_t n, const void *alpha, void *x, int64_t incx);
    void (*dot)(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, bool conjugate, void *result);
    void (*asum)(int64_t n, const void *x, int64_t incx, void *result);
    void (*nrm2)(int64_t n, const void *x, int64_t incx, void *result);
    int64_t (*iamax)(int64_t n, const void *x, int64_t incx);
    int64_t (*iamin)(int64_t n, const void *x, int64_t incx);
    void (*rot)(int64_t n, void *x, int64_t incx, void *y, int64_t incy, const void *c,
                const void *s); /* c is real, s an element */
    /* for real types */
    void (*rotm)(int64_t n, void *x, int64_t incx, void *y, int64_t incy, const void *parameters);
    void (*rotmg)(void *d1, void *d2, void *x1, const void *y1, void *parameters);
};

extern const struct level1 level1[4];

/* Makes a rotation that zeroes b; a becomes its r, a real b its z. */
void level1_rotg(int precision, void *a, void *b, void *c, void *s);

#endif
