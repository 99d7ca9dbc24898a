/* Fourier transforms of lines: one pass over one axis of an array (pocketfft,
 * third_party/pocketfft). transform.c handles several axes, batches and layouts. Not normalised.
 * Lengths are arbitrary; those with large prime factors use Bluestein's algorithm.
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
    /* n real numbers from n / 2 + 1 complex ones, backward; the imaginary parts of the first and
       the middle one count as 0 */
    LINES_TO_REAL,
};

enum { LINES_AXES = 4 };

struct lines {
    enum lines_kind kind;
    bool is_double, backward;
    unsigned axis;
    /* Of the transformed axis: its length. */
    size_t n[LINES_AXES];
    ptrdiff_t from_stride[LINES_AXES], to_stride[LINES_AXES]; /* bytes */
    /* may be `to`: each line is transformed in place */
    const void *from;
    void *to;
};

/* Returns false if memory is exhausted. */
bool lines_transform(const struct lines *l);

#ifdef __cplusplus
}
#endif

#endif
