/* Vector clocks, sparse: what is known of other threads at a moment. An entry says of a set of threads, a block, a warp or one
 * thread, that all of their accesses with a stamp below `floor` happen before that moment. A clock never changes once it is made;
 * threads that know the same share it.
 */
#ifndef HEDDLE_CHECK_CLOCK_H
#define HEDDLE_CHECK_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A block's run is an instance, numbered from 1; a stamp is a moment of it (order.h). */
enum { CLOCK_BLOCK = 0, CLOCK_WARP = 1, CLOCK_THREAD = 64, CLOCK_MEMBER_BITS = 11 };

static inline uint64_t clock_key(uint32_t instance, unsigned member)
{
    return (uint64_t)instance << CLOCK_MEMBER_BITS | member;
}

struct clock_entry {
    uint64_t key;
    uint32_t floor;
};

struct clock {
    _Atomic uint32_t refs;
    uint32_t n;
    struct clock_entry at[]; /* by key */
};

static inline struct clock *clock_ref(struct clock *c)
{
    if (c)
        atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}
void clock_release(struct clock *c); /* NULL is allowed */

/* Does the access of a thread with this stamp happen before? NULL knows nothing. */
bool clock_knows(const struct clock *c, uint32_t instance, unsigned thread, uint32_t stamp);

/* A clock in the making. What is added may be in any order and known already. */
struct clock_builder {
    struct clock_entry *at;
    uint32_t n, room;
    bool no_memory;
    struct clock *only; /* the one clock that has been joined so far, where nothing else has */
};

void clock_add(struct clock_builder *b, uint64_t key, uint32_t floor);
void clock_join(struct clock_builder *b, struct clock *c);
/* NULL where there is nothing in it, or no memory: then *ok is false. Frees what the builder has. */
struct clock *clock_make(struct clock_builder *b, bool *ok);

#endif
