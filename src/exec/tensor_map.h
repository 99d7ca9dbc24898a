/* Tensor maps (PTX ISA 5.5.8, "Tensor-map"; CUDA Driver API, "Tensor Map Object Management"): what
 * cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write, and what copies by them
 * (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor) go over.
 *
 * A copy is a series of lines: the elements that differ in dimension 0's coordinate alone. The
 * caller moves each line's bytes: this file knows no memory. All of it, what is refused too, is as
 * an H200 did it with 1,900 random maps (tests/tensor_maps).
 *
 * Of an interleaved layout (5.5.5; NC/8HWC8, NC/16HWC16) the dimensions are columns, rows, ...,
 * slices of channels, images: an element of dimension 0 is a slice's 16 or 32 bytes, which is a
 * line by itself, and a copy takes one slice, whatever its box says.
 *
 * Not here: the modes of later architectures (gather, scatter, im2col::w).
 */
#ifndef HEDDLE_EXEC_TENSOR_MAP_H
#define HEDDLE_EXEC_TENSOR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/tensor_map.h"

/* In the order of the driver API's CUtensorMapDataType. */
enum tensor_type {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ, /* its subnormals come as they are, on an H200 */
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_TYPES
};

/* What the 128 bytes say (isa/tensor_map.h). Any bytes may stand there: tensor_map_read looks. */
struct tensor_map {
    uint64_t address;
    uint64_t strides[TENSOR_DIMS - 1]; /* in bytes, of dimensions 1 and on */
    uint32_t last[TENSOR_DIMS];        /* the greatest coordinate */
    uint8_t type, rank, swizzle;       /* swizzle: its span is 16 << swizzle bytes; 0: none */
    uint8_t fill_nan, im2col;          /* 0 or 1 */
    /* Its elements are no f32, and loads are to round them all the same. */
    bool tf32_stays;
    /* A slice has 16 * interleave bytes; 0: no interleaved layout. */
    uint8_t interleave;
    uint16_t steps[TENSOR_DIMS]; /* from one element that is taken to the next */
    uint16_t box[TENSOR_DIMS];   /* tiled */
    /* im2col: what the box of pixels has before and behind the tensor, by dimensions 1 and on. */
    int16_t lower[3], upper[3];
    uint16_t channels, pixels; /* im2col: of a pixel, and pixels of a copy */
};

/* NULL, or why the driver refuses such a map (CUDA_ERROR_INVALID_VALUE), in words that follow
 * "tensor map: ". */
const char *tensor_map_refusal(const struct tensor_map *m);
/* Reads the 128 bytes. NULL, or what is wrong with them, in words that follow "tensor map: ". */
const char *tensor_map_read(struct tensor_map *m, const void *bytes);
void tensor_map_write(void *bytes, const struct tensor_map *m);

unsigned tensor_type_bytes(enum tensor_type type);
/* The bytes that a copy by the map counts for at an mbarrier, and that it takes of shared memory
 * without the gaps of a swizzle. */
uint64_t tensor_copy_bytes(const struct tensor_map *m);

/* Where a copy begins. */
struct tensor_at {
    int32_t coords[TENSOR_DIMS];
    uint16_t offsets[3]; /* im2col */
};

/* NULL, or why the hardware ends the launch (an illegal instruction), in words that follow "tensor
 * copy: ". */
const char *tensor_copy_refusal(const struct tensor_map *m, const struct tensor_at *at, bool writes_global);

/* A line of a copy. Of its `bytes` in shared memory from byte `shared` on (from the copy's address;
 * before tensor_swizzle), those from `from` up to `to` are in the tensor, and at `global` + the
 * same number of bytes. */
struct tensor_line {
    uint64_t global, shared;
    uint32_t bytes, from, to;
};

/* A dimension that the lines of a copy go over: all but dimension 0, or all of an interleaved
 * layout. */
struct tensor_loop {
    int64_t coord, begin, last; /* where it is, where it begins anew, and the tensor's greatest */
    int64_t end;                /* im2col: the bounding box's greatest */
    uint64_t stride;
    uint32_t step, taken, take; /* tiled: of so many elements, how many are behind */
    uint16_t offset;            /* im2col */
    bool is_fixed;              /* im2col: of the dimension of slices one is taken */
};

/* The lines of a copy, one after the other. */
struct tensor_lines {
    const struct tensor_map *map;
    struct tensor_loop loops[TENSOR_DIMS];
    unsigned n;
    int64_t first; /* of a line's elements */
    uint64_t shared, left;
};

struct tensor_lines tensor_lines_of(const struct tensor_map *m, const struct tensor_at *at);
bool tensor_next_line(struct tensor_lines *lines, struct tensor_line *line);

/* Where a byte of shared memory lies by the map's swizzle: of its address in the state space, of
 * which bits 7 and on choose what bits 4 and on are exchanged with. */
uint32_t tensor_swizzle(const struct tensor_map *m, uint32_t address);
/* Elements as a load leaves them in shared memory: tf32 rounds. And those outside of the tensor. */
void tensor_convert(const struct tensor_map *m, void *elements, uint32_t bytes);
void tensor_fill(const struct tensor_map *m, void *elements, uint32_t bytes);
/* A store and a reduction take whole 16 bytes of a line, also where the tensor ends among them:
 * what `to` becomes. */
uint32_t tensor_stored_to(const struct tensor_line *line);

#endif
