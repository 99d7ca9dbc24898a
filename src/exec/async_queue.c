/* Pending asynchronous work: a warp's queue, and searches in it; see async.h and
 * async_work.h. */
#include "exec/async_work.h"
#include "exec/fault.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/worker.h"

struct async_queue *async_queue_of(struct warp *w)
{
    if (w->async)
        return w->async;
    w->async = pool_take(async_worker(w), sizeof *w->async);
    if (w->async)
        *w->async = (struct async_queue){0};
    else
        warp_fault(w, FAULT_out_of_memory, NULL, 0);
    return w->async;
}

struct async_work *async_new_work(struct warp *w, const struct op *o, uint32_t lanes, uint32_t n)
{
    size_t parts = n ? n * sizeof(struct async_part) : sizeof(struct async_rows);
    parts += o->mode >= ASYNC_TENSOR_LOAD ? sizeof(struct async_tensor) : 0;
    uint32_t room = (uint32_t)(sizeof(struct async_work) + parts);
    struct async_work *x = async_queue_of(w) ? pool_take(async_worker(w), room) : NULL;
    if (!x) {
        warp_fault(w, FAULT_out_of_memory, o, (unsigned)__builtin_ctz(lanes));
        return NULL;
    }
    *x = (struct async_work){.warp = w,
                             .op = o,
                             .lanes = lanes,
                             .n = n,
                             .room = room,
                             .version =
                                 atomic_load_explicit(&async_worker(w)->machine->mem.version, memory_order_relaxed)};
    return x;
}

struct async_part async_part(const struct async_work *x, unsigned lane)
{
    const struct async_rows *r = (const struct async_rows *)x->parts;
    if (x->n)
        return x->parts[x->n == 1 ? 0 : lane];
    return (struct async_part){(uint8_t *)(uintptr_t)r->to[lane], (const uint8_t *)(uintptr_t)r->from[lane], r->bytes,
                               r->bytes, r->group};
}

static uint32_t buffer_bytes(const struct async_work *x)
{
    return x->parts[0].taken;
}

void async_free_work(struct async_work *x)
{
    struct worker *k = async_worker(x->warp);
    if (x->buffer)
        pool_give(k, x->buffer, buffer_bytes(x));
    pool_give(k, x, x->room);
}

void async_enqueue(struct async_work *x)
{
    struct warp *w = x->warp;
    struct async_queue *q = w->async;
    if (q->last)
        q->last->next = x;
    else
        q->first = x;
    q->last = x;
    q->n++;
    w->block->n_async++;
}

void async_sweep(struct warp *w)
{
    struct async_queue *q = w->async;
    struct async_work **link = &q->first, *x;
    q->last = NULL;
    while ((x = *link)) {
        if (x->lanes) {
            q->last = x;
            link = &x->next;
            continue;
        }
        *link = x->next;
        q->n--;
        w->block->n_async--;
        async_free_work(x);
    }
}

struct warp *async_next_warp(struct warp *w, const struct block *start)
{
    struct block *b = w->block;
    if (w->index + 1 < b->n_warps)
        return w + 1;
    return b->peer == start ? NULL : &b->peer->warps[0];
}

bool async_is_pending(const struct block *b)
{
    const struct block *peer = b;
    do {
        if (peer->n_async)
            return true;
        peer = peer->peer;
    } while (peer != b);
    return false;
}

void async_free_queue(struct warp *w)
{
    struct async_queue *q = w->async;
    for (struct async_work *x = q->first, *next; x; x = next) {
        next = x->next;
        async_free_work(x);
    }
    w->block->n_async -= q->n;
    pool_give(async_worker(w), q, sizeof *q);
    w->async = NULL;
}

static bool overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Will a pending piece of these lanes write the bytes (*written), or read bytes that are being
 * written? */
static bool touches(const struct async_work *x, const struct block *owner, const uint8_t *at, uint64_t bytes,
                    bool writes, bool *written)
{
    bool reads = writes && x->reads == owner && !x->buffer && async_mode(x) != ASYNC_STORE;
    at += owner ? 0 : x->shift;
    for (uint32_t m = async_is_arrival(x) ? 0 : x->lanes; m; m &= m - 1) {
        const struct async_part part = async_part(x, (unsigned)__builtin_ctz(m)), *p = &part;
        *written = x->writes == owner && overlap(p->to, p->bytes, at, bytes);
        if (*written || (reads && overlap(p->from, p->taken, at, bytes)))
            return true;
    }
    return false;
}

const struct async_work *async_find(const struct block *cluster, const struct block *owner, uint64_t address,
                                    uint64_t bytes, bool writes, bool *written)
{
    const uint8_t *at = owner ? owner->shared + address : (const uint8_t *)(uintptr_t)address;
    for (struct warp *w = (struct warp *)&cluster->warps[0]; w; w = async_next_warp(w, cluster))
        for (struct async_work *x = w->async ? w->async->first : NULL; x; x = x->next)
            if (touches(x, owner, at, bytes, writes, written))
                return x;
    return NULL;
}
