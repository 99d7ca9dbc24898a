/* Fourier transforms of arrays of up to three axes, many at a time, in any layout of cuFFT's
 * ("cuFFT API Reference", "Data Layout"). */
#ifndef HEDDLE_CUFFT_TRANSFORM_H
#define HEDDLE_CUFFT_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transform_kind { TRANSFORM_COMPLEX, TRANSFORM_FROM_REAL, TRANSFORM_TO_REAL };
/* Halves and bfloats are transformed as floats, and rounded at the end. */
enum transform_type { TRANSFORM_HALF, TRANSFORM_BFLOAT, TRANSFORM_FLOAT, TRANSFORM_DOUBLE };
enum { TRANSFORM_RANK = 3 };

/* The layout of one side, in its elements. */
struct transform_layout {
    int64_t stride[TRANSFORM_RANK]; /* of each axis */
    int64_t distance;               /* from one array to the next */
};

struct transform {
    enum transform_kind kind;
    enum transform_type type;
    unsigned rank;
    int64_t n[TRANSFORM_RANK]; /* lengths of the array; of real numbers, if one side is real */
    int64_t batch;
    struct transform_layout from, to;
};

enum transform_side { TRANSFORM_SIDE_FROM, TRANSFORM_SIDE_TO };

/* Elements of a side along an axis; and their size in bytes. */
int64_t transform_length(const struct transform *t, enum transform_side side, unsigned axis);
size_t transform_element_bytes(const struct transform *t, enum transform_side side);
/* The default layout: contiguous rows and arrays. `padded`: real rows have room for the complex
 * ones that replace them. */
struct transform_layout transform_packed(const struct transform *t, enum transform_side side, bool padded);

/* Returns false if memory is exhausted. Both sides may be the same memory. */
bool transform_run(const struct transform *t, bool backward, const void *from, void *to);

/* Operations as explainers count them: 5 n log2 n for each array of n complex numbers, half of that
 * if one side is real. */
double transform_flops(const struct transform *t);

#endif
