/* Direction vectors of Sobol sequences. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_SOBOL_H
#define HEDDLE_LIBRARIES_CURAND_SOBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOBOL_DIMENSIONS = 20000 };

/* Vectors of the first dimensions; the upper halves are the 32-bit vectors. The caller frees them;
 * NULL if memory is exhausted. */
uint64_t (*sobol_vectors(size_t dimensions))[64];
/* Scrambles the vectors of the first dimensions; a dimension's constant is added to its numbers.
 * Returns false if memory is exhausted. */
bool sobol_scramble(size_t dimensions, uint64_t (*v)[64], uint64_t *constants);

#endif
