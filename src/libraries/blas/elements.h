/* Elements of cudaDataType types, single or in rows: widened to the precision in which a product is
 * computed, and narrowed again. Halves and 8-bit floats are converted like the machine's cvt
 * (isa/sem.h); integers are rounded to nearest even, and saturate.
 */
#ifndef HEDDLE_LIBRARIES_ELEMENTS_H
#define HEDDLE_LIBRARIES_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/library_types.h"

#include "libraries/openblas/openblas.h"

/* 0 for a type that is not supported here. */
size_t element_bytes(cudaDataType type);
bool element_is_complex(cudaDataType type);
/* For float, double and their complex types only. */
enum precision element_precision(cudaDataType type);
cudaDataType precision_type(enum precision p);

/* Converts n elements, `stride` elements apart in `from`. A real element becomes a complex one; a
 * complex element loses its imaginary part if `to` is real. */
void elements_widen(enum precision p, void *to, cudaDataType type, const void *from, ptrdiff_t stride, size_t n);
void elements_narrow(enum precision p, const void *from, cudaDataType type, void *to, ptrdiff_t stride, size_t n);

/* A float rounded as by tensor cores to a narrower type, as a float again. */
float element_through(cudaDataType type, float x);
float element_tf32(float x);

#endif
