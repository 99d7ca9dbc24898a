/* See nested.h. */
#include "exec/nested.h"

#include <string.h>

#include "exec/access.h"
#include "exec/block.h"
#include "exec/call.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/worker.h"
#include "mem/local.h"

static const enum ir_syscall shared_stream[] = {
#define SYSCALL(id, name, ...)
#define NESTED(id, name, ...)
#define OWN_STREAM(id, name, ...) [SYSCALL_##id##_PTSZ] = SYSCALL_##id,
#include "ir/syscalls.def"
#undef SYSCALL
#undef NESTED
#undef OWN_STREAM
};

void nested_bytes(const struct nested_call *c, unsigned i, void *to, uint32_t n)
{
    const struct ir_copy *p = &c->op->call->params.at[i];
    memset(to, 0, n);
    local_read(c->warp->local, c->act->frame + p->caller_at, c->lane, to, p->bytes < n ? p->bytes : n);
}

uint64_t nested_argument(const struct nested_call *c, unsigned i)
{
    uint64_t v;
    nested_bytes(c, i, &v, sizeof v);
    return v;
}

bool nested_read(struct nested_call *c, uint64_t address, void *to, uint32_t bytes)
{
    c->failed = c->failed || !access_read(c->warp, c->op, c->lane, address, to, bytes);
    return !c->failed;
}

bool nested_write(struct nested_call *c, uint64_t address, const void *from, uint32_t bytes)
{
    struct location p;
    enum fault_kind kind = c->failed ? FAULT_none : access_locate(c->warp, SPACE_GENERIC, address, bytes, true, &p);
    if (kind)
        warp_fault_at(c->warp, kind, c->op, c->lane, &p, bytes);
    c->failed |= kind != FAULT_none;
    if (c->failed)
        return false;
    histogram_settle(c->warp->block->worker);
    if (!p.at && event_is_wanted(c->warp->events, EVENT_ACCESS))
        access_tell_write(c->warp, c->op, 1u << c->lane, p.address, bytes);
    if (p.at)
        memcpy(p.at, from, bytes);
    else
        local_write(c->warp->local, p.address, c->lane, from, bytes);
    return true;
}

uint64_t nested_block(const struct nested_call *c)
{
    return c->warp->block->index;
}

uint32_t nested_thread(const struct nested_call *c)
{
    return c->warp->index * WARP_LANES + c->lane;
}

const struct event_block *nested_told(const struct nested_call *c)
{
    return c->warp->block->told;
}

unsigned nested_warp(const struct nested_call *c)
{
    return c->warp->index;
}

void nested_fault(struct nested_call *c, enum fault_kind kind, uint64_t value)
{
    if (!c->failed)
        warp_fault_value(c->warp, kind, c->op, c->lane, value);
    c->failed = true;
}

void nested_fault_detail(struct nested_call *c, enum fault_kind kind, const char *detail)
{
    if (!c->failed)
        warp_fault_detail(c->warp, kind, c->op, c->lane, detail);
    c->failed = true;
}

bool nested_may_use(struct nested_call *c, uint64_t address, uint64_t bytes, bool writes)
{
    enum { STEP = 1 << 30 };
    for (uint64_t at = 0; at < bytes && !c->failed; at += STEP) {
        struct location p;
        uint32_t n = bytes - at < STEP ? (uint32_t)(bytes - at) : STEP;
        enum fault_kind kind = access_locate(c->warp, SPACE_GENERIC, address + at, n, writes, &p);
        if (!kind && p.space != SPACE_GLOBAL)
            kind = FAULT_address_space;
        c->failed = kind;
        if (kind)
            warp_fault_at(c->warp, kind, c->op, c->lane, &p, n);
    }
    return !c->failed;
}

bool nested_is_global(const struct nested_call *c, uint64_t address)
{
    const struct mem *m = &c->warp->block->launch->machine->mem;
    bool windows = address - mem_local_window(m) < MEM_LOCAL_WINDOW_BYTES + MEM_CLUSTER_WINDOW_BYTES;
    return address && !windows && address - m->const_start >= m->const_size;
}

bool nested_has(const struct nested_call *c, uint64_t address, uint32_t bytes)
{
    struct location p;
    return access_locate(c->warp, SPACE_GENERIC, address, bytes, false, &p) == FAULT_none;
}

uint64_t nested_malloc(struct nested_call *c, uint64_t bytes)
{
    return heap_malloc(c->warp, c->op, c->lane, bytes);
}

void nested_free(struct nested_call *c, uint64_t address)
{
    c->failed = c->failed || !heap_free(c->warp, c->op, c->lane, address, FAULT_not_of_heap);
}

const struct ir_insn *nested_place(const struct nested_call *c)
{
    return c->op->origin;
}

bool nested_run(struct warp *w, const struct activation *a, const struct op *o, uint32_t mask,
                void result(struct warp *w, const struct activation *a, const struct op *o, unsigned lane,
                            uint64_t value))
{
    const struct nested *n = w->block->launch->request->nested;
    enum ir_syscall what = o->call->syscall, shared = SYSCALL_NONE;
    if (what < sizeof shared_stream / sizeof shared_stream[0])
        shared = shared_stream[what];
    struct nested_call c = {.what = shared ? shared : what, .own_stream = shared, .warp = w, .act = a, .op = o};
    for (; mask && !c.failed; mask &= mask - 1) {
        c.lane = (unsigned)__builtin_ctz(mask);
        uint64_t v = n->hooks->call(n->data, &c);
        if (!c.failed)
            result(w, a, o, c.lane, v);
    }
    return !c.failed;
}
