/* Elements of the types that CUDA's libraries know (cudaDataType), one by one and in rows: widened
 * to the precision that a product is computed in, and narrowed again. Halves and 8-bit floats are
 * converted as the machine's cvt does (isa/sem.h); integers are rounded to the nearest, halves to
 * even, and saturate.
 */
#ifndef HEDDLE_LIBRARIES_ELEMENTS_H
#define HEDDLE_LIBRARIES_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/library_types.h"

#include "libraries/openblas/openblas.h"

/* 0: no type that elements here have. */
size_t element_bytes(cudaDataType type);
bool element_is_complex(cudaDataType type);
/* Of float, double and the complex ones of these; asked of no other type. */
enum precision element_precision(cudaDataType type);
cudaDataType precision_type(enum precision p);

/* n elements, `stride` elements from one to the next in `from`: real ones become complex ones, a
 * complex one's imaginary part is dropped where `to` is real. */
void elements_widen(enum precision p, void *to, cudaDataType type, const void *from, ptrdiff_t stride, size_t n);
void elements_narrow(enum precision p, const void *from, cudaDataType type, void *to, ptrdiff_t stride, size_t n);

/* What tensor cores make of a float that they take as a narrower type; the result is a float again. */
float element_through(cudaDataType type, float x);
float element_tf32(float x);

#endif
