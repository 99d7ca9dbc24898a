/* The arithmetic of NCCL's reductions, on plain addresses. Elements are combined in the order of
 * ranks, each step rounded to their type, as on a chain of devices: 8-bit floats saturate, integers
 * wrap, NaNs lose to numbers in minima and maxima.
 */
#ifndef HEDDLE_LIBRARIES_NCCL_REDUCE_H
#define HEDDLE_LIBRARIES_NCCL_REDUCE_H

#include <stddef.h>

#include "cuda/nccl.h"

enum combine { COMBINE_SUM, COMBINE_PROD, COMBINE_MAX, COMBINE_MIN, COMBINE_SCALED_SUM, COMBINE_SUM_OVER_N };

struct reduction {
    enum combine combine;
    ncclDataType_t type;
    char scalar[8];        /* of COMBINE_SCALED_SUM: a rank's elements are multiplied by it before they are combined */
    const void *scalar_at; /* or where it will be, on the device */
};

/* 0: there is no such type. */
size_t type_bytes(ncclDataType_t type);
/* The average of n ranks: floats are scaled before they are summed up, sums of integers divided. */
struct reduction reduction_average(ncclDataType_t type, int n);
/* What this rank gives: its elements, multiplied where that is wanted. */
void reduction_give(const struct reduction *r, void *to, const void *from, size_t count);
/* Combines what n ranks have given, but number `own` as it was before that; `to` may be one of
 * them. */
void reduce(const struct reduction *r, void *to, const void *const operands[], int n, int own, size_t count);

#endif
