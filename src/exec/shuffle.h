/* Which lane a lane reads from in shfl (PTX ISA 9.7.9.6); for the
 * interpreter and for the compiler. */
#ifndef HEDDLE_EXEC_SHUFFLE_H
#define HEDDLE_EXEC_SHUFFLE_H

#include "exec/code.h"

/* Lane l's source for operands b and c; l itself where that is out of range, of which *in_range
 * tells. */
static inline unsigned shuffle_source(enum collective mode, unsigned l, uint32_t b, uint32_t c, bool *in_range)
{
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t max = (l & segment) | (clamp & ~segment), min = l & segment, j;
    b &= 31;
    switch (mode) {
    case COLLECTIVE_SHFL_UP:
        j = l - b;
        *in_range = (int32_t)j >= (int32_t)max;
        break;
    case COLLECTIVE_SHFL_DOWN:
        j = l + b;
        *in_range = j <= max;
        break;
    case COLLECTIVE_SHFL_BFLY:
        j = l ^ b;
        *in_range = j <= max;
        break;
    default:
        j = min | (b & ~segment);
        *in_range = j <= max;
        break;
    }
    return *in_range ? j & 31 : l;
}

#endif
