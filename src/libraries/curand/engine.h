/* Engines of random numbers: what a generator draws from. It is advanced by the generator's tasks, in the order of their stream. Private to
 * curand/. */
#ifndef HEDDLE_LIBRARIES_CURAND_ENGINE_H
#define HEDDLE_LIBRARIES_CURAND_ENGINE_H

#include "cuda/curand.h"

#include <stddef.h>
#include <stdint.h>

struct engine_options {
    curandRngType_t type;
    curandOrdering_t ordering;
    uint64_t seed, offset;
};

/* NULL without memory. One reference is the caller's. */
struct engine *engine_new(const struct engine_options *o);
struct engine *engine_hold(struct engine *e);
void engine_release(struct engine *e); /* NULL is allowed */

/* Draws the next n numbers of 32 bits. */
void engine_bits(struct engine *e, uint32_t *to, size_t n);

#endif
