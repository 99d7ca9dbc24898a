/* Fourier transforms of arrays of up to three axes, many at a time, in any layout of cuFFT's
 * ("cuFFT API Reference", "Data Layout"). */
#ifndef HEDDLE_CUFFT_TRANSFORM_H
#define HEDDLE_CUFFT_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transform_kind { TRANSFORM_COMPLEX, TRANSFORM_FROM_REAL, TRANSFORM_TO_REAL };
/* Halves and bfloats are transformed as floats, and rounded when they are done. */
enum transform_type { TRANSFORM_HALF, TRANSFORM_BFLOAT, TRANSFORM_FLOAT, TRANSFORM_DOUBLE };
enum { TRANSFORM_RANK = 3 };

/* Where the elements of a side are, in elements of it. */
struct transform_layout {
    int64_t stride[TRANSFORM_RANK]; /* of each axis */
    int64_t distance;               /* from one array to the next */
};

struct transform {
    enum transform_kind kind;
    enum transform_type type;
    unsigned rank;
    int64_t n[TRANSFORM_RANK]; /* of the array of real numbers, where one side is */
    int64_t batch;
    struct transform_layout from, to;
};

enum transform_side { TRANSFORM_SIDE_FROM, TRANSFORM_SIDE_TO };

/* Elements of a side: how many along an axis, and their bytes. */
int64_t transform_length(const struct transform *t, enum transform_side side, unsigned axis);
size_t transform_element_bytes(const struct transform *t, enum transform_side side);
/* The usual layout: nothing between elements, rows and arrays. `padded`: real numbers leave room
 * for the complex ones that come in their place. */
struct transform_layout transform_packed(const struct transform *t, enum transform_side side, bool padded);

/* False: out of memory. The two may be the same. */
bool transform_run(const struct transform *t, bool backward, const void *from, void *to);

/* What an explainer counts: 5 n log2 n for each array of n complex numbers, half as much where one
 * side is real. */
double transform_flops(const struct transform *t);

#endif
