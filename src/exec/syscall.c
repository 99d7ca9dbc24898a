/* The machine's functions for kernels: printf, malloc, free, assert (CUDA C++ Programming Guide
 * 10.33 to 10.36); launches: nested.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "exec/access.h"
#include "exec/block.h"
#include "exec/call.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/nested.h"
#include "exec/printf.h"
#include "exec/stops.h"
#include "exec/streams.h"
#include "mem/local.h"

/* Argument `index` of a call, of a lane: from the caller's frame. */
static uint64_t argument(const struct warp *w, const struct activation *a, const struct op *o, uint32_t index,
                         unsigned lane)
{
    uint64_t v = 0;
    const struct ir_copy *c = &o->call->params.at[index];
    local_read(w->local, a->frame + c->caller_at, lane, &v, c->bytes < 8 ? c->bytes : 8);
    return v;
}

static void result(struct warp *w, const struct activation *a, const struct op *o, unsigned lane, uint64_t v)
{
    if (o->call->results.n) {
        const struct ir_copy *c = &o->call->results.at[0];
        if (event_is_wanted(w->events, EVENT_ACCESS))
            access_tell_write(w, o, 1u << lane, a->frame + c->caller_at, c->bytes);
        local_write(w->local, a->frame + c->caller_at, lane, &v, c->bytes < 8 ? c->bytes : 8);
    }
}

struct reader {
    struct warp *w;
    const struct op *o;
    unsigned lane;
};

static bool read_memory(void *data, uint64_t address, void *to, uint32_t bytes)
{
    struct reader *r = data;
    return access_read(r->w, r->o, r->lane, address, to, bytes);
}

/* What a launch may print is bounded, as by CUDA's FIFO: what has gone out stays, and what does not
 * fit is counted (launch.c says it). With the machine's print_lock held. */
static void print_out(struct launch *l, const struct printed *t)
{
    const struct machine_config *c = &l->machine->config;
    struct print_total *total = &l->printed;
    /* Others have printed meanwhile. */
    bool fits = t->n <= c->print_bytes && total->bytes <= c->print_bytes - t->n;
    total->calls += t->calls;
    total->lost_calls += fits ? t->lost_calls : t->calls;
    total->lost_bytes += fits ? t->lost_bytes : t->lost_bytes + t->n;
    total->no_memory |= t->no_memory;
    if (!fits || !t->n)
        return;
    total->bytes += t->n;
    c->print(c->print_data, t->at, t->n);
}

static uint64_t room_to_print(struct launch *l)
{
    struct machine *m = l->machine;
    pthread_mutex_lock(&m->print_lock);
    uint64_t limit = m->config.print ? m->config.print_bytes : 0, used = l->printed.bytes;
    pthread_mutex_unlock(&m->print_lock);
    return limit > used ? limit - used : 0;
}

/* All lanes' text is made first and printed in one piece, in the order of lanes. */
static bool run_vprintf(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    struct launch *launch = w->block->launch;
    struct machine *m = launch->machine;
    struct printed text = {.limit = room_to_print(launch)};
    bool ok = true;
    for (; mask && ok; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct reader r = {w, o, l};
        int n = printf_format(&text, argument(w, a, o, 0, l), argument(w, a, o, 1, l), read_memory, &r, &ok);
        result(w, a, o, l, (uint64_t)(int64_t)n);
    }
    if (m->config.print) {
        pthread_mutex_lock(&m->print_lock);
        print_out(launch, &text);
        pthread_mutex_unlock(&m->print_lock);
    }
    free(text.at);
    return ok;
}

static void tell_heap(const struct warp *w, const struct op *o, unsigned lane, bool is_free, uint64_t address,
                      uint64_t bytes)
{
    const struct heap_event e = {tell_site(w->block, o), w->block->told, w->index, lane, is_free, address, bytes};
    EVENT_TELL(w->events, EVENT_HEAP, heap, &e);
}

/* What an allocation takes of the heap. */
static uint64_t heap_cost(uint64_t bytes)
{
    enum { LEAST_BYTES = 16 };
    return (bytes + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES;
}

/* NULL: nobody goes back in the launch. */
static struct heap_log *heap_log_of(const struct warp *w)
{
    const struct stopper *s = w->block->launch->request->stopper;
    return s ? s->heap : NULL;
}

uint64_t heap_malloc(struct warp *w, const struct op *o, unsigned lane, uint64_t bytes)
{
    struct machine *m = w->block->launch->machine;
    const struct context *c = w->block->launch->request->context;
    struct heap_log *log = heap_log_of(w);
    void *p = NULL;
    if (bytes && bytes <= m->config.heap_bytes) {
        uint64_t used = atomic_fetch_add(&m->heap_used, heap_cost(bytes)) + heap_cost(bytes);
        if (used <= m->config.heap_bytes)
            p = log ? heap_log_malloc(log, &m->mem, bytes) : mem_alloc(&m->mem, bytes, MEM_HEAP, NULL);
        if (!p)
            atomic_fetch_sub(&m->heap_used, heap_cost(bytes));
        else if (c)
            mem_set_data(&m->mem, p, (void *)(uintptr_t)c->number);
    }
    if (p && w->events)
        tell_heap(w, o, lane, false, (uint64_t)(uintptr_t)p, bytes);
    return (uint64_t)(uintptr_t)p;
}

static void run_malloc(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        result(w, a, o, l, heap_malloc(w, o, l, argument(w, a, o, 0, l)));
    }
}

bool heap_free(struct warp *w, const struct op *o, unsigned lane, uint64_t address, enum fault_kind otherwise)
{
    struct machine *m = w->block->launch->machine;
    struct mem_block b;
    if (!address)
        return true;
    if (w->events)
        tell_heap(w, o, lane, true, address, 0);
    bool ours = mem_find(&m->mem, address, &b) && b.start == address && b.kind == MEM_HEAP;
    struct heap_log *log = heap_log_of(w);
    void *p = (void *)(uintptr_t)address;
    if (!ours || !(log ? heap_log_free(log, &m->mem, p, b.size) : mem_free(&m->mem, p)))
        return warp_fault_value(w, otherwise, o, lane, address);
    atomic_fetch_sub(&m->heap_used, heap_cost(b.size));
    return true;
}

struct heap_blocks {
    void *owner;
    VEC(struct mem_block) found;
};

static void find_block(const struct mem_block *b, void *data)
{
    struct heap_blocks *blocks = data;
    struct mem_block *new = b->kind == MEM_HEAP && b->data == blocks->owner ? VEC_ADD(&blocks->found) : NULL;
    if (new)
        *new = *b;
}

void heap_leave(struct machine *m, const struct context *c, void (*forget)(void *data, const struct mem_block *b),
                void *data)
{
    struct heap_blocks blocks = {.owner = (void *)(uintptr_t)c->number};
    if (atomic_load(&m->heap_used))
        mem_for_each(&m->mem, find_block, &blocks);
    for (uint32_t i = 0; i < blocks.found.n; i++) {
        const struct mem_block *b = &blocks.found.at[i];
        forget(data, b);
        if (mem_free(&m->mem, (void *)(uintptr_t)b->start))
            atomic_fetch_sub(&m->heap_used, heap_cost(b->size));
    }
    free(blocks.found.at);
}

static bool run_free(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    bool ok = true;
    for (; mask && ok; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        ok = heap_free(w, o, l, argument(w, a, o, 0, l), FAULT_bad_free);
    }
    return ok;
}

static void read_text(struct warp *w, const struct op *o, unsigned lane, uint64_t address, char *to, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && address && access_read(w, o, lane, address + n, to + n, 1) && to[n])
        n++;
    to[n] = 0;
}

/* __assertfail(message, file, line, function, char size): the text is CUDA's. */
static bool run_assertfail(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    unsigned l = (unsigned)__builtin_ctz(mask);
    char message[128], file[96], function[96];
    read_text(w, o, l, argument(w, a, o, 0, l), message, sizeof message);
    read_text(w, o, l, argument(w, a, o, 1, l), file, sizeof file);
    read_text(w, o, l, argument(w, a, o, 3, l), function, sizeof function);
    unsigned line = (unsigned)argument(w, a, o, 2, l);
    char detail[sizeof w->block->launch->fault.detail];
    snprintf(detail, sizeof detail, "%s:%u: %s: Assertion `%s` failed.", file, line, function, message);
    return warp_fault_detail(w, FAULT_assertion, o, l, detail);
}

bool syscall_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    if (atomic_load_explicit(&w->block->launch->watching, memory_order_relaxed))
        w->block->launch->changed = true; /* the world outside: stall.c */
    if (ir_is_nested(o->call->syscall))
        return nested_run(w, a, o, mask, result);
    switch (o->call->syscall) {
    case SYSCALL_VPRINTF: return run_vprintf(w, a, o, mask);
    case SYSCALL_MALLOC: run_malloc(w, a, o, mask); return true;
    case SYSCALL_FREE: return run_free(w, a, o, mask);
    default: return run_assertfail(w, a, o, mask);
    }
}
