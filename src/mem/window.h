/* Memory behind the windows that kernels address by 32 bits, blocks' shared memory, and by small
 * offsets, threads' local memory. It lies between guards that are never mapped: what an address of
 * 32 bits, with a sign or without, and an access's own span add to where a block's memory is leads
 * to memory of this kind or to none, whatever a test of bounds has missed. The host's own is never
 * there.
 *
 *     WINDOW_GUARD_BEFORE    2^31 and more: offsets that count as negative
 *     WINDOW_AREA            memory, from the start on as far as it has been taken
 *     WINDOW_GUARD_BEHIND    2^32 and more
 *
 * Addresses cost nothing; but where the user has a limit on them (ulimit -v), or the system does
 * not give as many, there is no such place, and who needs memory takes the host's. The caller has a
 * lock.
 */
#ifndef HEDDLE_MEM_WINDOW_H
#define HEDDLE_MEM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* Of an access behind its tested address, at most: lanes in a pattern and what a group spans
 * (jit/emit/load_store.h), with room. */
#define WINDOW_MARGIN       (2ull << 30)
#define WINDOW_GUARD_BEFORE ((1ull << 31) + WINDOW_MARGIN)
#define WINDOW_AREA         (2ull << 30)
#define WINDOW_GUARD_BEHIND ((1ull << 32) + WINDOW_MARGIN)

struct window_area {
    uint8_t *reserved, *start; /* NULL: there is none */
    uint64_t used;
};

void window_init(struct window_area *a);
void window_destroy(struct window_area *a);
/* So many bytes or more, up to a whole number of WINDOW_UNIT; NULL where there are no more. They
 * stay until the end. */
enum { WINDOW_UNIT = 64 << 10 };
void *window_take(struct window_area *a, uint64_t bytes);
static inline bool window_has(const struct window_area *a, const void *p)
{
    return (uint64_t)((uintptr_t)p - (uintptr_t)a->start) < a->used;
}

#endif
