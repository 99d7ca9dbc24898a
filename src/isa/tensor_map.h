/* The 128 bytes of a tensor map (PTX ISA 5.5.8). They are opaque to programs; kernels change their
 * fields by tensormap.replace, beginning with a map of the driver's or with zeroes. So what is a
 * number less one in the hardware's map is one here, too: of zeroes each dimension has one element.
 */
#ifndef HEDDLE_ISA_TENSOR_MAP_H
#define HEDDLE_ISA_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_BYTES = 128, TENSOR_DIMS = 5 };
enum {
    ELEMTYPE_TF32 = 11,
    ELEMTYPE_BEHIND_F32 = 4
}; /* tf32, tf32.ftz by tensormap.replace's numbers, and how far they are from f32, f32.ftz */

/* A type by tensormap.replace's number, as a map has it. */
struct tensor_map_type {
    uint8_t elemtype;
    bool tf32;
};
static inline struct tensor_map_type tensor_map_type_of(unsigned number)
{
    bool tf32 = number >= ELEMTYPE_TF32;
    return (struct tensor_map_type){(uint8_t)(number - (tf32 ? ELEMTYPE_BEHIND_F32 : 0)), tf32};
}

static const uint64_t TENSOR_MAP_MARK = 0x50414d524f534e54; /* "TNSORMAP": these bytes are a map */

struct tensor_map_bytes {
    uint64_t mark;
    /* CUTLASS clears bit 21 of it, where the tensor is below 128 KiB: so it mends maps of
     * NVIDIA's drivers. */
    uint64_t unused;
    uint64_t global_address;
    uint64_t global_stride[TENSOR_DIMS - 1]; /* in bytes, of dimensions 1 and on */
    uint32_t global_dim[TENSOR_DIMS];        /* less one */
    uint8_t rank;                            /* less one */
    /* Up to 10, as in the table of tensormap.replace; tf32 is f32, and tf32.ftz f32.ftz. */
    uint8_t elemtype;
    uint8_t tf32; /* 0 or 1; no replacement takes it back (an H200) */
    uint8_t interleave_layout, swizzle_mode, fill_mode;
    uint8_t box_dim[TENSOR_DIMS];        /* less one; tiled */
    uint8_t element_stride[TENSOR_DIMS]; /* less one */
    uint8_t im2col;                      /* 0 or 1; what follows is for it */
    int16_t lower[3], upper[3];
    uint16_t channels, pixels;
};

#endif
