/* Arithmetic of NCCL's reductions on plain addresses. Elements are combined in the order of ranks,
 * rounding to their type at each step, as on a chain of devices: 8-bit floats saturate, integers
 * wrap, and minima and maxima ignore NaNs.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_REDUCE_H
#define HEDDLE_LIBRARIES_NCCL_REDUCE_H

#include <stddef.h>

#include "cuda/nccl.h"

enum combine { COMBINE_SUM, COMBINE_PROD, COMBINE_MAX, COMBINE_MIN, COMBINE_SCALED_SUM, COMBINE_SUM_OVER_N };

struct reduction {
    enum combine combine;
    ncclDataType_t type;
    /* For COMBINE_SCALED_SUM: multiplies a rank's elements before they are combined. */
    char scalar[8];
    const void *scalar_at; /* or its address on the device */
};

/* 0 for an invalid type. */
size_t type_bytes(ncclDataType_t type);
/* The average over n ranks: floats are scaled before they are summed, integer sums are divided. */
struct reduction reduction_average(ncclDataType_t type, int n);
/* This rank's contribution: its elements, multiplied if requested. */
void reduction_give(const struct reduction *r, void *to, const void *from, size_t count);
/* Combines the contributions of n ranks, with number `own` as it was before; `to` may be one of
 * them. */
void reduce(const struct reduction *r, void *to, const void *const operands[], int n, int own, size_t count);

#endif
