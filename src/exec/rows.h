/* Helpers of the interpreter on whole rows, compiled per CPU level as lane functions are. */
#ifndef HEDDLE_EXEC_ROWS_H
#define HEDDLE_EXEC_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* What a row of addresses looks like, over the active lanes. */
struct scan {
    uint64_t min, max, all_bits; /* all_bits: or of the addresses */
    /* All 32 lanes are active, lane l is at min + l * stride; `out` is not filled. */
    bool linear;
};

/* How the addresses of the active lanes lie that are neither all the same nor a linear scan: lane l
 * at some place + l * stride; the same, or one place, in each half of the warp. */
enum pattern { PATTERN_NONE, PATTERN_LINEAR, PATTERN_LINEAR_HALVES, PATTERN_EQUAL_HALVES };

struct row_fns {
    /* d = s in the lanes of mask. */
    void (*blend16)(void *d, const void *s, uint32_t mask);
    void (*blend32)(void *d, const void *s, uint32_t mask);
    void (*blend64)(void *d, const void *s, uint32_t mask);
    void (*blend128)(void *d, const void *s, uint32_t mask);
    /* out = a + disp for 64-bit addresses, and for 32-bit ones, which wrap. Inactive lanes get the
     * address of an active one. mask is not 0; the stride is 1 << log2_stride. */
    void (*scan64)(const uint64_t *a, int64_t disp, uint32_t mask, unsigned log2_stride, uint64_t *out, struct scan *s);
    void (*scan32)(const uint32_t *a, int64_t disp, uint32_t mask, unsigned log2_stride, uint64_t *out, struct scan *s);
    /* out = first + l * stride: what a linear scan left out. */
    void (*fill)(uint64_t *out, uint64_t first, unsigned log2_stride);
    enum pattern (*pattern)(const uint64_t *address, uint32_t mask, unsigned log2_stride);
    /* d[l] = the value at address[l] + base in all lanes, which lie by halves. */
    void (*gather_halves32)(uint32_t *d, const uint64_t *address, uint64_t base, bool linear);
    /* d[l] = the value at out[l] + base in the lanes of mask. */
    void (*gather32)(uint32_t *d, const uint64_t *address, uint64_t base, uint32_t mask);
    void (*gather64)(uint64_t *d, const uint64_t *address, uint64_t base, uint32_t mask);
    /* A whole row from or to memory that need not be aligned to more than its elements. */
    void (*copy32)(uint32_t *d, const uint32_t *s);
    void (*copy64)(uint64_t *d, const uint64_t *s);
    /* The same for vectors of n elements (2 or 4; of 64 bits 2): element k of lane l is row k, lane
     * l. */
    void (*load_vectors32)(uint8_t *const *rows, const uint32_t *s, unsigned n);
    void (*load_vectors64)(uint8_t *const *rows, const uint64_t *s);
    void (*store_vectors32)(uint32_t *d, uint8_t *const *rows, unsigned n);
    void (*store_vectors64)(uint64_t *d, uint8_t *const *rows);
    /* Bytes and halves, in rows of 16 or 32 bits: extended by zeros or the sign, or cut. */
    void (*load_narrow)(void *d, const void *s, unsigned bytes, unsigned width, bool sign);
    void (*store_narrow)(void *d, const void *s, unsigned bytes, unsigned width);
    void (*splat32)(uint32_t *d, uint32_t value);
    void (*splat64)(uint64_t *d, uint64_t value);
};

const struct row_fns *rows_for_level(const char *level);

#endif
