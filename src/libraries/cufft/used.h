/* The memory that a side of a transform uses, as rows (include/heddle.h, hd_used), without the gaps
 * between its elements. */
#ifndef HEDDLE_CUFFT_USED_H
#define HEDDLE_CUFFT_USED_H

#include "heddle.h"
#include "libraries/cufft/transform.h"

struct used_list {
    hd_used *at;
    size_t n;
};

/* Adds a side; false if memory is exhausted. The caller frees `at`. */
bool used_add(struct used_list *list, const struct transform *t, enum transform_side side, const void *at,
              unsigned use);

#endif
