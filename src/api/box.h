/* Boxes of bytes in the process's memory, for tasks of streams: stream_memory.c, stream_work.c.
 * Private to api/. */
#ifndef HEDDLE_API_BOX_H
#define HEDDLE_API_BOX_H

#include "api/handles.h"

/* Up to this size, moving bytes takes the caller no longer than handing
 * the task to another thread. */
enum { SMALL_BYTES = 32 << 10 };

/* Bytes in rows and slices: one side of a copy, or a fill. */
struct box {
    const void *at;
    size_t width, height, depth, pitch, slice;
};

/* Are the rows of a slice contiguous? */
static inline bool box_has_whole_slices(const struct box *b)
{
    return b->height == 1 || b->pitch == b->width;
}

/* The contiguous runs of a slice: their number, and the bytes of each. */
struct box_runs {
    size_t n, bytes;
};
static inline struct box_runs box_runs(const struct box *b)
{
    bool whole = box_has_whole_slices(b);
    return (struct box_runs){whole ? 1 : b->height, whole ? b->width * b->height : b->width};
}
/* The distance from the first byte to the end of the last; UINT64_MAX
 * if that exceeds any memory. */
static inline uint64_t box_extent(const struct box *b)
{
    uint64_t slices, rows, bytes;
    bool wraps = __builtin_mul_overflow(b->depth - 1, b->slice, &slices);
    wraps |= __builtin_mul_overflow(b->height - 1, b->pitch, &rows);
    wraps |= __builtin_add_overflow(slices, rows, &bytes);
    wraps |= __builtin_add_overflow(bytes, b->width, &bytes);
    return wraps ? UINT64_MAX : bytes;
}

/* Tells the machine's checker that a task is about to access a box. Memory that kernels cannot
 * reach is ignored. */
void box_note(const hd_machine *m, uint32_t task, struct box x, bool write);

/* May the box be used? Memory of the machine must not have been freed since the task was submitted:
 * call it after mem_begin_use(), which keeps the memory mapped. Memory of the host and of other
 * machines must still be allowed. */
hd_result box_may_use(const hd_machine *m, struct box x, bool writes);

#endif
