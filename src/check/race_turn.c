/* Accesses of global memory are told of in the order in which they are performed, where that matters: strong ones of kernels whose
 * strong operations observe each other, and the weak writes beside them.
 *
 * Strong accesses have the order's lock from before they are performed until they have been told of. A weak write has no lock: it says
 * what it writes, and looks whether a strong access of that is under way; who begins a strong access says so, and waits for the writes
 * that have begun. One of two sees the other.
 */
#include "check/race_now.h"

#include <sched.h>

static void set_span(struct span *s, const struct access_event *e)
{
    atomic_store_explicit(&s->low, e->low, memory_order_relaxed);
    atomic_store_explicit(&s->high, e->high, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
}

static void end_span(struct span *s)
{
    atomic_store_explicit(&s->high, 0, memory_order_release);
}

static bool is_within(struct span *s, const struct access_event *e)
{
    return e->low < atomic_load_explicit(&s->high, memory_order_acquire) &&
           atomic_load_explicit(&s->low, memory_order_relaxed) < e->high;
}

static void begin_strong(struct race_block *b, const struct access_event *e)
{
    struct races *r = b->races;
    order_lock(r->order);
    b->worker->has_order = true;
    set_span(&r->strong, e);
    for (struct race_worker *k = atomic_load(&r->workers); k; k = k->next)
        for (unsigned tries = 0; is_within(&k->writing, e); tries++)
            if (tries % 64 == 63)
                sched_yield();
}

/* Has a strong write left something where the lanes write? Nobody makes such a place meanwhile. */
static bool meets_release(const struct race_block *b, const struct access_event *e)
{
    for (uint32_t left = b->traits.releases ? e->lanes : 0; left; left &= left - 1)
        if (order_has_release(b->order, race_address(e, (unsigned)__builtin_ctz(left)), e->bytes))
            return true;
    return false;
}

static void begin_weak_write(struct race_block *b, const struct access_event *e)
{
    bool shared = e->space == SPACE_SHARED; /* it is its worker's */
    if (!shared)
        set_span(&b->worker->writing, e);
    if ((shared || !is_within(&b->races->strong, e)) && !meets_release(b, e))
        return;
    end_span(&b->worker->writing);
    begin_strong(b, e);
}

void race_turn_begin(struct race_block *b, const struct access_event *e)
{
    bool matters = b->traits.releases || (b->traits.stores_strongly && e->space == SPACE_GLOBAL);
    if (matters && e->strong)
        begin_strong(b, e);
    else if (matters && e->writes)
        begin_weak_write(b, e);
}

void race_turn_end(struct race_block *b)
{
    struct race_worker *k = b->worker;
    if (!race_takes_turns(b))
        return;
    end_span(&k->writing);
    if (!k->has_order)
        return;
    k->has_order = false;
    end_span(&b->races->strong);
    order_unlock(b->races->order);
}
