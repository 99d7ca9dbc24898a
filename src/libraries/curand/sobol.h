/* Vectors of Sobol's sequences. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_SOBOL_H
#define HEDDLE_LIBRARIES_CURAND_SOBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOBOL_DIMENSIONS = 20000 };

/* Of the first dimensions; vectors of 32 bits are the upper halves. To be freed; NULL without
 * memory. */
uint64_t (*sobol_vectors(size_t dimensions))[64];
/* Scrambles those of the first dimensions; what a dimension's numbers are added to is its constant.
 * False without memory. */
bool sobol_scramble(size_t dimensions, uint64_t (*v)[64], uint64_t *constants);

#endif
