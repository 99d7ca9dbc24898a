/* Linearisation: strong accesses of global memory, of kernels whose strong operations observe each
 * other, come to the detector in the order in which they are performed, and so do the weak writes
 * beside them.
 *
 * A strong access holds the order's lock from before it is performed until the detector has seen
 * it. A weak write takes no lock: it announces what it writes, and then looks for a strong access
 * there that is under way; a strong access announces itself, and then waits for the weak writes
 * there that have begun. So one of the two sees the other (Dekker).
 */
#include "check/race/current.h"

#include <sched.h>

#include "base/spin_lock.h"

static void set_span(struct span *s, const struct access_event *e)
{
    atomic_store_explicit(&s->low, e->low, memory_order_relaxed);
    atomic_store_explicit(&s->high, e->high, memory_order_release);
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

/* It is announced before it waits for the lock. */
static void begin_strong(struct race_block *b, const struct access_event *e)
{
    struct races *r = b->races;
    set_span(&b->worker->strong, e);
    order_lock(r->order);
    atomic_thread_fence(memory_order_seq_cst);
    b->worker->has_order = true;
    struct race_worker *k =
        atomic_load_explicit(&r->writes_weakly, memory_order_relaxed) ? atomic_load(&r->workers) : NULL;
    for (; k; k = k->next)
        for (unsigned tries = 0; is_within(&k->writing, e); tries++)
            if (tries % 64 == 63)
                sched_yield();
}

static bool is_under_way(const struct race_block *b, const struct access_event *e)
{
    for (struct race_worker *k = atomic_load_explicit(&b->races->workers, memory_order_acquire); k; k = k->next)
        if (k != b->worker && is_within(&k->strong, e))
            return true;
    return false;
}

/* Is there a sync variable where the lanes write? None can be added meanwhile. */
static bool meets_release(const struct race_block *b, const struct access_event *e)
{
    EACH_BIT(l, b->traits.releases ? e->lanes : 0)
        if (order_has_release(b->order, race_address(e, l), e->bytes))
            return true;
    return false;
}

static void begin_weak_write(struct race_block *b, const struct access_event *e)
{
    struct race_worker *k = b->worker;
    k->is_writing = e->space != SPACE_SHARED; /* which belongs to its worker */
    if (k->is_writing) {
        set_span(&k->writing, e);
        atomic_thread_fence(memory_order_seq_cst);
    }
    if (!(k->is_writing && is_under_way(b, e)) && !meets_release(b, e))
        return;
    end_span(&k->writing);
    begin_strong(b, e);
}

void race_linearise_begin(struct race_block *b, const struct access_event *e)
{
    bool matters = b->traits.releases || (b->traits.stores_strongly && e->space == SPACE_GLOBAL);
    if (matters && e->strong)
        begin_strong(b, e);
    else if (matters && e->writes)
        begin_weak_write(b, e);
}

/* Has the access's compare-and-swap failed, because a thread of another worker was the last writer?
 * The caller holds the order's lock. */
static bool waits_for_another_worker(struct races *r, struct race_worker *k, const struct access_event *e)
{
    if (e->strong && e->wrote)
        r->wrote_last = k;
    return site_is_cas(e->site) && !e->wrote && r->wrote_last != k;
}

/* Exponential backoff, so that the other worker keeps the order's lock, and what it protects, in
 * its caches. Who waits for a thread of its own worker goes on at once, as nobody else runs that
 * thread. */
static void back_off(struct race_worker *k)
{
    enum { LEAST = 64, MOST = 4096 };
    k->backoff = !k->backoff ? LEAST : k->backoff < MOST ? 2 * k->backoff : MOST;
    for (uint32_t i = 0; i < k->backoff; i++)
        spin_pause();
    if (k->backoff == MOST)
        sched_yield();
}

void race_linearise_end(struct race_block *b, const struct access_event *e)
{
    struct race_worker *k = b->worker;
    bool waits = false;
    if (k->is_writing)
        end_span(&k->writing);
    if (k->has_order) {
        waits = waits_for_another_worker(b->races, k, e);
        end_span(&k->strong);
        order_unlock(b->races->order);
    }
    k->is_writing = k->has_order = false;
    if (waits)
        back_off(k);
    else
        k->backoff = 0;
}
