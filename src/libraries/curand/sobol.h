/* Vectors of Sobol's sequences. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_SOBOL_H
#define HEDDLE_LIBRARIES_CURAND_SOBOL_H

#include <stddef.h>
#include <stdint.h>

enum { SOBOL_DIMENSIONS = 20000 };

/* Of the first dimensions; vectors of 32 bits are the upper halves. To be freed; NULL without memory. */
uint64_t (*sobol_vectors(size_t dimensions))[64];
/* Scrambles a dimension's, for numbers of `width` bits, which are the upper ones here; returns what its numbers are added to. */
uint64_t sobol_scramble(size_t dimension, unsigned width, uint64_t v[64]);

#endif
