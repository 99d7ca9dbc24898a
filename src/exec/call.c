/* Calls: the targets of lanes, and the parameters between frames (PTX ISA 7.1, 9.7.12.4). */
#include "exec/access.h"
#include "exec/block.h"
#include "exec/call.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "exec/rows.h"
#include "mem/local.h"

/* ---- parameters ---- */

static bool words_differ(const uint32_t *a, const uint32_t *b, uint32_t mask)
{
    uint32_t differ = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        differ |= a[l] != b[l] ? 1u << l : 0;
    return differ & mask;
}

static void copy_words(struct warp *w, const struct op *o, uint32_t from, uint32_t to, uint32_t bytes, uint32_t mask)
{
    if (event_is_wanted(w->events, EVENT_ACCESS))
        access_tell_write(w, o, mask, to, bytes);
    struct launch *l = w->block->launch;
    bool watching = atomic_load_explicit(&l->watching, memory_order_relaxed);
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint8_t *source = local_word(w->local, from + i, 0), *target = local_word(w->local, to + i, 0);
        if (watching) /* stall.c */
            l->changed |= words_differ((const uint32_t *)source, (const uint32_t *)target, mask);
        l->rows->blend32(target, source, mask);
    }
}

static uint32_t param_offset(const struct code *c, bool result, uint32_t index)
{
    const struct ptx_signature *s = &c->ir->func->signature;
    return ir_frame_offset(c->ir, result ? s->returns.at[index] : s->params.at[index]);
}

/* ---- calls and returns ---- */

static bool enter(struct warp *w, struct activation *a, const struct op *o, struct code *callee, uint32_t mask)
{
    struct activation *b = act_push(w, callee, a, o, mask);
    if (!b)
        return false;
    act_add_pending(b, 0, mask);
    for (uint32_t i = 0; i < o->call->params.n; i++)
        copy_words(w, o, a->frame + o->call->params.at[i].caller_at, b->frame + param_offset(callee, false, i),
                   o->call->params.at[i].bytes, mask);
    return true;
}

/* Is a function what a call takes it for? A prototype, and the first of .calltargets, say so of
 * whatever the register has; what is copied must fit the frames of both. */
static bool has_type(const struct code *callee, const struct ir_call *call)
{
    const struct ptx_signature *s = &callee->ir->func->signature;
    bool same = s->params.n == call->params.n && s->returns.n == call->results.n;
    for (uint32_t i = 0; same && i < s->params.n; i++)
        same = s->params.at[i]->size == call->params.at[i].bytes;
    for (uint32_t i = 0; same && i < s->returns.n; i++)
        same = s->returns.at[i]->size == call->results.at[i].bytes;
    return same;
}

/* Lanes that hold the same function pointer call together. */
static bool call_indirect(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    uint8_t *base[4];
    warp_bases(w, a, base);
    const uint8_t *row = row_at(base, o->a);
    while (mask) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t same = row_lanes_like(row, 64, mask, lane);
        uint64_t target = row_lane(row, 64, lane);
        struct code *callee = code_at(w->block->launch->kernel, target);
        if (!callee || !has_type(callee, o->call))
            return warp_fault_value(w, FAULT_invalid_pc, o, lane, target);
        if (!enter(w, a, o, callee, same))
            return false;
        mask &= ~same;
    }
    return true;
}

bool call_run(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, uint32_t *stay)
{
    if (o->call->syscall) {
        *stay |= mask;
        return syscall_run(w, a, o, mask);
    }
    return o->callee ? enter(w, a, o, o->callee, mask) : call_indirect(w, a, o, mask);
}

void call_return(struct warp *w, struct activation *a, uint32_t lanes)
{
    struct activation *caller = a->parent;
    const struct op *o = a->call;
    for (uint32_t i = 0; i < o->call->results.n; i++)
        copy_words(w, o, a->frame + param_offset(a->code, true, i), caller->frame + o->call->results.at[i].caller_at,
                   o->call->results.at[i].bytes, lanes);
    a->lanes &= ~lanes;
    act_add_pending(caller, o->next, lanes);
    if (a->lanes == 0)
        act_free(w, a);
}
