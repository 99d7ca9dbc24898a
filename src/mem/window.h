/* Memory behind the windows that kernels address by 32 bits (blocks' shared memory) or by small
 * offsets (threads' local memory). Guards that are never mapped surround it: a block's base plus
 * any 32-bit address, signed or unsigned, plus the span of an access, is in memory of this kind or
 * unmapped, even if a bounds test has missed something. It is never in the host's own memory.
 *
 *     WINDOW_GUARD_BEFORE    2^31 and more: offsets that count as negative
 *     WINDOW_AREA            memory, from the start on as far as it has been taken
 *     WINDOW_GUARD_BEHIND    2^32 and more
 *
 * Addresses cost nothing. But if the user limits them (ulimit -v), or the system does not give as
 * many, there are no windows, and callers allocate ordinary memory. The caller holds a lock.
 */
#ifndef HEDDLE_MEM_WINDOW_H
#define HEDDLE_MEM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* How far an access may reach beyond its tested address: the lanes of a pattern and the span of a
 * group (jit/emit/load_store.h), with room. */
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
/* Gives at least this many bytes, rounded up to a multiple of WINDOW_UNIT, until the process ends;
 * NULL if none are left. */
enum { WINDOW_UNIT = 64 << 10 };
void *window_take(struct window_area *a, uint64_t bytes);
static inline bool window_has(const struct window_area *a, const void *p)
{
    return (uint64_t)((uintptr_t)p - (uintptr_t)a->start) < a->used;
}

#endif
