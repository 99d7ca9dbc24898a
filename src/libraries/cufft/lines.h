/* Fourier transforms of lines: one pass over one axis of an array (pocketfft,
 * third_party/pocketfft). What arrays of several axes, batches and layouts come to is
 * transform.c's. Not normalised. Lengths are any; those with large prime factors go by Bluestein's
 * algorithm.
 */
#ifndef HEDDLE_CUFFT_LINES_H
#define HEDDLE_CUFFT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lines_kind {
    LINES_COMPLEX,   /* n complex numbers from n */
    LINES_FROM_REAL, /* n / 2 + 1 complex numbers from n real ones, forward */
    LINES_TO_REAL, /* n real numbers from n / 2 + 1, backward; the imaginary parts of the first, and of the middle one, count as 0 */
};

enum { LINES_AXES = 4 };

struct lines {
    enum lines_kind kind;
    bool is_double, backward;
    unsigned axis;
    size_t n[LINES_AXES];                                     /* of the axis: the length of the transform */
    ptrdiff_t from_stride[LINES_AXES], to_stride[LINES_AXES]; /* bytes */
    const void *from;                                         /* the same as `to`: each line lies where it has lain */
    void *to;
};

/* False: out of memory. */
bool lines_transform(const struct lines *l);

#ifdef __cplusplus
}
#endif

#endif
