/* The bits of a mask, such as lanes of a warp. */
#ifndef HEDDLE_BASE_BITS_H
#define HEDDLE_BASE_BITS_H

#include <stdint.h>

/* For each bit that is set, from the lowest on, with its number in `i`.
 * The mask is evaluated once. */
#define EACH_BIT(i, mask)                                                                                              \
    for (uint32_t i##_left = (mask), i; i##_left && (i = (uint32_t)__builtin_ctz(i##_left), 1);                        \
         i##_left &= i##_left - 1)

#endif
