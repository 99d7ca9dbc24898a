/* Boxes of bytes in the process's memory, as tasks of streams use them: stream_memory.c,
 * stream_work.c. Private to api/. */
#ifndef HEDDLE_API_BOX_H
#define HEDDLE_API_BOX_H

#include "api/handles.h"

/* Up to here, the caller moves bytes as fast as they could be handed over. */
enum { SMALL_BYTES = 32 << 10 };

/* Bytes in rows and slices: a side of a copy, or a fill. */
struct box {
    const void *at;
    size_t width, height, depth, pitch, slice;
};

/* Have the rows of a slice nothing between them? */
static inline bool box_has_whole_slices(const struct box *b)
{
    return b->height == 1 || b->pitch == b->width;
}

/* From its first byte to behind its last; UINT64_MAX where that is more than any memory. */
static inline uint64_t box_extent(const struct box *b)
{
    uint64_t slices, rows, bytes;
    bool wraps = __builtin_mul_overflow(b->depth - 1, b->slice, &slices) |
                 __builtin_mul_overflow(b->height - 1, b->pitch, &rows);
    wraps |= __builtin_add_overflow(slices, rows, &bytes);
    wraps |= __builtin_add_overflow(bytes, b->width, &bytes);
    return wraps ? UINT64_MAX : bytes;
}

/* Tells the machine's checker of a box that a task is about to read or write. Memory that kernels
 * cannot reach is of no interest. */
void box_note(const hd_machine *m, uint32_t task, struct box x, bool write);

/* The machine's memory: has it not been freed since it was named? To be asked when its use has
 * begun: from then on it stays mapped. The host's and other machines': may it be used so still? */
hd_result box_may_use(const hd_machine *m, struct box x, bool writes);

#endif
