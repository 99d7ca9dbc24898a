/* The interpreter: runs one warp, a basic block at a time, all active lanes at once.
 *
 * The lanes of an activation that are at one basic block run it together. The others wait in
 * `pending`. The first pending block in the order of execution runs next, so lanes that have
 * diverged meet again where their paths do (ir/block_order.c). If all lanes of an activation are
 * together (mask == act->lanes), results are written to whole rows, including inactive and exited
 * lanes, whose values nobody reads. Otherwise results are blended in.
 *
 * A backward branch, and a call, spends a part of the warp's budget. When the budget is spent, the
 * warp turns to its next group of lanes and lets other warps run. So a lane that waits for another
 * never keeps it from running.
 */
#include <time.h>

#include "exec/access.h"
#include "exec/async.h"
#include "exec/barrier.h"
#include "exec/block.h"
#include "exec/call.h"
#include "exec/collective.h"
#include "exec/compiled.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/interp.h"
#include "exec/launch.h"
#include "exec/limit.h"
#include "exec/quantum.h"
#include "exec/rows.h"
#include "exec/schedule.h"
#include "exec/stops.h"
#include "exec/texture.h"
#include "exec/worker.h"

/* Under random schedules one group in SPLIT_EVERY is divided, and at one block of code in
 * CHANGE_EVERY another group goes on: one that waits for others of its warp must not keep them from
 * running, however it waits. */
enum { SPLIT_EVERY = 16, CHANGE_EVERY = 4 };

/* ---- rows ---- */

static void blend(const struct row_fns *rows, uint8_t *d, const void *s, unsigned width, uint32_t mask)
{
    switch (width) {
    case 1: {
        uint32_t old, new;
        memcpy(&old, d, 4);
        memcpy(&new, s, 4);
        old = (old & ~mask) | (new &mask);
        memcpy(d, &old, 4);
        break;
    }
    case 16: rows->blend16(d, s, mask); break;
    case 32: rows->blend32(d, s, mask); break;
    case 64: rows->blend64(d, s, mask); break;
    default: rows->blend128(d, s, mask); break;
    }
}

/* d = the same value in the lanes of mask; a predicate where the width is 1. */
static void write_uniform(struct warp *w, uint8_t *d, unsigned width, uint64_t value, uint32_t mask)
{
    struct worker *k = w->block->worker;
    const struct row_fns *rows = w->block->launch->rows;
    uint8_t *s = k->scratch[0];
    if (width == 64)
        rows->splat64((uint64_t *)s, value);
    else if (width == 32)
        rows->splat32((uint32_t *)s, (uint32_t)value);
    else
        memset(s, value ? 0xff : 0, 4);
    blend(rows, d, s, width, mask);
}

static uint32_t mask_at(uint8_t *const base[4], row_ref r)
{
    return *(const uint32_t *)row_at(base, r);
}

static inline uint32_t guarded(uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    if (!(o->flags & OPF_GUARD))
        return mask;
    uint32_t p = mask_at(base, o->guard);
    return mask & (o->flags & OPF_GUARD_NEGATED ? ~p : p);
}

static void run_lanes(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, bool together)
{
    uint8_t *d = row_at(base, o->d), *e = row_at(base, o->e);
    const uint8_t *a = row_at(base, o->a), *b = row_at(base, o->b), *c = row_at(base, o->c);
    if (together) {
        o->fn(d, e, a, b, c, o->imm);
        return;
    }
    struct worker *k = w->block->worker;
    const struct row_fns *rows = w->block->launch->rows;
    uint8_t *carry = e;
    bool carries = o->e_kind & CARRY_OUT;
    if (carries) {
        carry = k->scratch[1];
        memcpy(carry, e, row_bytes(32));
    }
    o->fn(k->scratch[0], carry, a, b, c, o->imm);
    blend(rows, d, k->scratch[0], o->width, mask);
    if (carries)
        rows->blend32(e, carry, mask);
}

/* ---- leaving ---- */

static void exit_lanes(struct warp *w, struct activation *a, uint32_t lanes)
{
    for (struct activation *up = a; up; up = up->parent)
        up->lanes &= ~lanes;
    w->exited |= lanes;
}

/* After exits: lets lanes that waited for the exited ones go on, in this warp and in others. */
static void after_exit(struct warp *w)
{
    if (w->waits)
        collective_recheck(w);
    barrier_recheck(w);
}

/* ---- values that are read when they are asked for ---- */

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* %clock counts as an H200 does, at 1.98 GHz. Under a schedule an
 * instruction takes a nanosecond. */
static uint64_t read_now(const struct warp *w, enum isa_sreg sreg)
{
    struct launch *l = w->block->launch;
    uint64_t ns = l->schedule ? w->block->worker->warp_instructions : nanoseconds(), cycles = ns * 198 / 100;
    if (atomic_load_explicit(&l->watching, memory_order_relaxed))
        l->changed = true; /* time passes: a loop that looks at it does not repeat */
    switch (sreg) {
    case SREG_clock: return (uint32_t)cycles;
    case SREG_clock_hi: return cycles >> 32;
    case SREG_clock64: return cycles;
    case SREG_globaltimer_lo: return (uint32_t)ns;
    case SREG_globaltimer_hi: return ns >> 32;
    default: return ns;
    }
}

/* ---- the stack of alloca (PTX ISA 9.7.15); lanes of an activation share its stack pointer ---- */

enum { STACK_ALIGN = 16 }; /* where what is called has its frame */

static uint64_t stack_aligned(uint64_t at)
{
    return (at + STACK_ALIGN - 1) / STACK_ALIGN * STACK_ALIGN;
}

static bool run_alloca(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    uint64_t most = 0, align = o->imm > STACK_ALIGN ? o->imm : STACK_ALIGN;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t bytes = row_lane(row_at(base, o->a), o->width, (unsigned)__builtin_ctz(m));
        most = bytes > most ? bytes : most;
    }
    uint64_t at = (a->stack + align - 1) / align * align;
    if (most > UINT32_MAX || stack_aligned(at + most) > w->block->launch->kernel->local_bytes)
        return warp_fault(w, FAULT_stack_overflow, o, (unsigned)__builtin_ctz(mask));
    a->stack = (uint32_t)stack_aligned(at + most);
    warp_need_local(w, a->stack);
    write_uniform(w, row_at(base, o->d), o->width, at, mask);
    return true;
}

static void run_stackrestore(struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    uint64_t highest = 0;
    unsigned width = a->code->ir->func->module->address_bits == 32 ? 32 : 64;
    width = o->origin->origin->inst->type[0] == TYPE_u32 ? 32 : width;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t v = row_lane(row_at(base, o->a), width, (unsigned)__builtin_ctz(m));
        highest = v > highest ? v : highest;
    }
    if (mask == a->lanes && highest >= a->frame && highest <= a->stack)
        a->stack = (uint32_t)stack_aligned(highest); /* not above what it was */
}

/* ---- indexed branches ---- */

static void tell_branch(const struct warp *w, const struct activation *a, uint32_t block, uint32_t lanes,
                        uint32_t taken)
{
    const struct branch_event e = {w->block->told, w->index, lanes, taken, a->code->index, block};
    if (event_is_wanted(w->events, EVENT_BRANCH))
        EVENT_TELL(w->events, EVENT_BRANCH, branch, &e);
}

/* brx.idx: lanes part by their index. A warp's lanes mostly agree. */
static bool run_brx(struct warp *w, uint8_t *const base[4], const struct op *o, const struct at *at, uint32_t mask)
{
    struct activation *a = at->a;
    const uint32_t *index = (const uint32_t *)row_at(base, o->a);
    uint32_t all = mask;
    while (mask) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t same = row_lanes_like((const uint8_t *)index, 32, mask, lane);
        if (index[lane] >= o->n_targets)
            return warp_fault_value(w, FAULT_bad_branch_index, o, lane, index[lane]);
        if (mask == all)
            tell_branch(w, a, at->block, at->mask, same);
        act_add_pending(a, o->targets[index[lane]], same);
        mask &= ~same;
    }
    return true;
}

/* ---- who runs next within a warp ---- */

/* The lanes pending at the n-th pending block of the warp, counted over its activations; false
 * where there are fewer. */
static bool pick_nth(struct warp *w, uint32_t n, struct at *at)
{
    for (struct activation *a = w->acts; a; a = a->next) {
        if (n >= a->n_pending) {
            n -= a->n_pending;
            continue;
        }
        uint32_t block = pending_first(a, 0);
        while (n--)
            block = pending_first(a, block + 1);
        *at = (struct at){a, block, pending_take(a, block)};
        return true;
    }
    return false;
}

/* Restricts the choices of pick_scheduled() to the lanes that a guide wants. */
static void hint_lanes(const struct warp *w, struct schedule *s, uint32_t groups)
{
    uint32_t wanted = s->guide->lanes(s->guide->data, w), place = 0, group = 0;
    for (struct activation *a = w->acts; a && wanted && !group; a = a->next)
        for (uint32_t b = pending_first(a, 0); b != NO_BLOCK && !group; b = pending_first(a, b + 1)) {
            group = a->pending[b] & wanted ? a->pending[b] : 0;
            place += !group;
        }
    uint32_t part = group & wanted, low = part & UINT16_MAX;
    if (low == UINT16_MAX) /* more than the choice of a part can say */
        low &= low - 1;
    if (part != group) {
        schedule_hint(s, low ^ part >> 16);
        schedule_hint(s, low);
    }
    schedule_hint(s, part == group); /* 0: a part of the group */
    if (groups > 1)
        schedule_hint(s, group ? place : 0);
}

/* Chooses any group, sometimes only a part of it: independent threads may run in any order. */
static bool pick_scheduled(struct warp *w, struct schedule *s, struct at *at)
{
    uint32_t groups = 0;
    for (struct activation *a = w->acts; a; a = a->next)
        groups += a->n_pending;
    if (s->guide && groups)
        hint_lanes(w, s, groups);
    if (!groups || !pick_nth(w, schedule_choose(s, groups), at))
        return false;
    if (s->policy != POLICY_SERIAL && (at->mask & (at->mask - 1)) && schedule_choose(s, SPLIT_EVERY) == 0) {
        uint32_t part = at->mask & (schedule_choose(s, UINT16_MAX) * 0x10001u ^ schedule_choose(s, UINT16_MAX) << 16);
        if (part && part != at->mask) {
            act_add_pending(at->a, at->block, at->mask & ~part);
            at->mask = part;
        }
    }
    s->n_hints = 0; /* of choices that there were not */
    return true;
}

/* Does the turn end before other lanes go on? */
static bool turn_ends(const struct warp *w)
{
    struct schedule *s = w->block->launch->schedule;
    uint32_t groups = 0;
    if (!s || !s->at_once)
        return false;
    for (const struct activation *a = w->acts; a; a = a->next)
        groups += a->n_pending;
    if (groups && s->guide)
        schedule_hint(s, s->guide->is_over(s->guide->data, w));
    return groups && schedule_choose(s, 2);
}

/* The next group of lanes: of the newest activation that has any. False where all lanes wait or are
 * gone. */
static bool pick(struct warp *w, struct at *at)
{
    struct schedule *s = w->block->launch->schedule;
    return s ? pick_scheduled(w, s, at) : pick_nth(w, 0, at);
}

/* The schedule, where it chooses at random; not while stall.c wants to see a warp repeat what it
 * does. */
static struct schedule *random_schedule(const struct launch *l)
{
    bool watching = atomic_load_explicit(&l->watching, memory_order_relaxed);
    return l->schedule && l->schedule->policy != POLICY_SERIAL && !watching ? l->schedule : NULL;
}

static void save(struct warp *w, const struct at *at, const struct op *o)
{
    w->act = at->a;
    w->at_block = at->block;
    w->mask = at->mask;
    w->op = o;
}

static const struct op *first_op(const struct at *at)
{
    return &at->a->code->ops[at->a->code->blocks[at->block].first];
}

static void count(struct worker *k, const struct code_block *b, uint32_t mask)
{
    k->warp_instructions += b->n;
    k->lane_instructions += (uint64_t)b->n * (unsigned)__builtin_popcount(mask);
}

static void tell_sync(const struct warp *w, enum event_kind kind, const struct op *o, uint32_t lanes)
{
    struct event_wait waits[WARP_LANES];
    struct sync_event e = {
        .kind = kind, .block = w->block->told, .site = tell_site(w->block, o), .warp = w->index, .lanes = lanes};
    if (kind == EVENT_EXIT) {
        e.waits = waits;
        e.n_waits = tell_waits(w, NULL, waits);
    }
    EVENT_TELL(w->events, kind, sync, &e);
}

static void tell_enter(const struct warp *w, const struct at *at)
{
    struct event_wait waits[WARP_LANES];
    const struct enter_event e = {.block = w->block->told,
                                  .warp = w->index,
                                  .lanes = at->mask,
                                  .function = at->a->code->index,
                                  .code_block = at->block,
                                  .waits = waits,
                                  .n_waits = w->waits ? tell_waits(w, at->a, waits) : 0};
    const event_set any = EVENT_BIT(EVENT_ENTER) | (w->waits ? EVENT_BIT(EVENT_ENTER_PARTED) : 0);
    for (unsigned i = 0; i < w->events->n; i++)
        if (w->events->at[i]->wants & any)
            w->events->at[i]->enter(w->events->at[i]->data, &e);
}

/* ---- operations that are neither pure nor the end of a block ---- */

static bool run_other(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    switch (o->kind) {
    case OP_FRAME: write_uniform(w, row_at(base, o->d), o->width, a->frame + o->imm, mask); return true;
    case OP_NOW: write_uniform(w, row_at(base, o->d), o->width, read_now(w, (enum isa_sreg)o->imm), mask); return true;
    case OP_ACTIVEMASK: write_uniform(w, row_at(base, o->d), o->width, mask, mask); return true;
    case OP_FENCE:
        if (event_is_wanted(w->events, EVENT_FENCE))
            tell_sync(w, EVENT_FENCE, o, mask);
        if (o->imm != ORDER_WEAK)
            atomic_thread_fence(o->imm == ORDER_SC ? memory_order_seq_cst : memory_order_acq_rel);
        return true;
    case OP_ASYNC: return async_issue(w, a, base, o, mask);
    case OP_GROUP: return async_group(w, o, mask);
    case OP_TEXTURE: return !mask || texture_run(w, base, o, mask);
    case OP_ALLOCA: return !mask || run_alloca(w, a, base, o, mask);
    case OP_STACKSAVE: write_uniform(w, row_at(base, o->d), o->width, a->stack, mask); return true;
    default: run_stackrestore(a, base, o, mask); return true;
    }
}

/* Waiting lanes are kept in wait records; no lane goes on before all have arrived. */
static enum leave run_serial(struct warp *w, const struct at *at)
{
    uint32_t to = serial_run(w, at->a, at->block, at->mask);
    if (to == SERIAL_FAULT)
        return LEAVE_FAULT;
    w->at_block = to == SERIAL_PARKED ? at->a->code->blocks[at->block].serial_from : to;
    w->mask = to == SERIAL_PARKED ? 0 : at->mask;
    return to == SERIAL_PARKED ? LEAVE_YIELD : LEAVE_ON;
}

uint32_t warp_guarded(uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    return guarded(base, o, mask);
}

bool warp_run_op(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask)
{
    switch (o->kind) {
    case OP_LANES1:
    case OP_LANES2:
    case OP_LANES: run_lanes(w, base, o, mask, mask == a->lanes); return true;
    case OP_FETCH: /* as compiled code asks for it */
    case OP_LD: return access_load(w, a, base, o, mask);
    case OP_ST: return access_store(w, a, base, o, mask);
    case OP_ATOM: return access_atom(w, a, base, o, mask);
    default: return run_other(w, a, base, o, mask);
    }
}

static enum leave run_compiled(struct warp *w, const struct compiled *c, const struct at *at)
{
    if (!limit_allows_warp(w, at->a->code))
        return LEAVE_REFUSED;
    if (serial_has(c, at->a, at->block))
        return run_serial(w, at);
    compiled_fn *fn = at->mask == at->a->lanes ? c->functions[at->a->code->index] : NULL;
    if (!fn)
        return LEAVE_REFUSED;
    enum leave how = compiled_run(fn, w, at->a, at->block, at->mask);
    histogram_settle(w->block->worker);
    return how;
}

/* ---- running ---- */

static bool start_warp(struct warp *w)
{
    struct activation *a = w->acts; /* of a block before, in lockstep */
    if (a)
        act_renew(a, w->exists);
    else
        a = act_push(w, w->block->launch->kernel->entry, NULL, NULL, w->exists);
    w->state = WARP_RUNNABLE;
    if (a)
        act_add_pending(a, 0, w->exists);
    return a != NULL;
}

/* One function, longer than others are: told in parts (a record of what they share; a function for
 * the operations of a block, one for what ends it, one for each way on) it took 3 to 13% more
 * processor time on kernels of bench/peers. */
void warp_run(struct warp *w)
{
    struct worker *k = w->block->worker;
    uint8_t *base[4];
    struct at at;
    struct activation *a;
    const struct op *o;
    uint32_t mask, go;
    bool together;
    struct quantum quantum;
    const struct compiled *compiled = worker_find_compiled(k, w->block->launch);
    struct schedule *random = random_schedule(w->block->launch);
    struct stopper *const stopper = w->block->launch->request->stopper;
    bool begun = w->act;

    histogram_settle(k);
    if (w->state == WARP_FRESH && !start_warp(w))
        return;
    quantum_begin(w, &quantum);
    if (!w->block->launch->schedule)
        w->access_quantum = INT32_MAX;
    if (w->act) {
        at = (struct at){w->act, w->at_block, w->mask};
        a = at.a;
        o = w->op;
        warp_bases(w, a, base);
        mask = at.mask;
        together = mask == a->lanes;
        enum leave left = (enum leave)w->left;
        w->left = LEAVE_REFUSED;
        if (left == LEAVE_YIELD)
            goto give_way;
        if (left == LEAVE_REFUSED && o == first_op(&at))
            goto enter_block;
        goto run_op;
    }

pick_next:
    if (begun && turn_ends(w)) {
        w->act = NULL;
        return;
    }
    begun = true;
    if (!pick(w, &at)) {
        w->act = NULL;
        w->state = w->acts ? WARP_WAITING : WARP_DONE;
        return;
    }

    if (w->budget < 0)
        goto give_way;
    a = at.a;
    warp_bases(w, a, base);
enter_block:
    if (compiled) {
        switch (run_compiled(w, compiled, &at)) {
        case LEAVE_FAULT: return;
        case LEAVE_YIELD:
            at.block = w->at_block;
            at.mask = w->mask;
            goto give_way;
        case LEAVE_ON: {
            uint32_t from = at.block;
            at.block = w->at_block;
            if (at.block <= from)
                goto went_back;
            goto come;
        }
        case LEAVE_AT:
            at.block = w->at_block;
            mask = at.mask = w->mask;
            together = mask == a->lanes;
            o = w->op;
            goto run_op;
        default: break;
        }
    }
    mask = at.mask;
    together = mask == a->lanes;
    o = first_op(&at);
    count(k, &a->code->blocks[at.block], mask);
    if (limit_is_due(k) && !limit_look(w, o, mask))
        return;
    if (w->events &&
        (event_is_wanted(w->events, EVENT_ENTER) || (w->waits && event_is_wanted(w->events, EVENT_ENTER_PARTED))))
        tell_enter(w, &at);

run_op:
    for (;; o++) {
        uint8_t kind = o->runs_as;
    run_kind:
        switch (kind) {
        case OP_LANES1:
            if (together && !(o->flags & OPF_GUARD)) {
                o->fn(row_at(base, o->d), NULL, row_at(base, o->a), NULL, NULL, o->imm);
                continue;
            }
            goto lanes;
        case OP_LANES2:
            if (together && !(o->flags & OPF_GUARD)) {
                o->fn(row_at(base, o->d), NULL, row_at(base, o->a), row_at(base, o->b), NULL, o->imm);
                continue;
            }
            goto lanes;
        case OP_LANES:
        lanes:
            go = guarded(base, o, mask);
            if (go)
                run_lanes(w, base, o, go, go == a->lanes);
            continue;
        case OP_LD:
            go = guarded(base, o, mask);
            if (go && !access_load(w, a, base, o, go))
                return;
            if (--w->access_quantum == 0)
                goto end_of_slice;
            continue;
        case OP_FETCH: continue;
        case OP_ST:
            go = guarded(base, o, mask);
            if (go && !access_store(w, a, base, o, go))
                return;
            if (--w->access_quantum == 0)
                goto end_of_slice;
            continue;
        case OP_ATOM:
            go = guarded(base, o, mask);
            if (go && !access_atom(w, a, base, o, go))
                return;
            if (--w->access_quantum == 0)
                goto end_of_slice;
            continue;
        case OP_FRAME:
        case OP_NOW:
        case OP_ACTIVEMASK:
        case OP_FENCE:
        case OP_ASYNC:
        case OP_GROUP:
        case OP_TEXTURE:
        case OP_ALLOCA:
        case OP_STACKSAVE:
        case OP_STACKRESTORE:
            if (!run_other(w, a, base, o, guarded(base, o, mask)))
                return;
            continue;
        case OP_FALL: {
            bool back = o->next <= at.block;
            at.block = o->next;
            if (back)
                goto went_back;
            goto come;
        }
        case OP_BRA: {
            go = guarded(base, o, mask);
            uint32_t from = at.block;
            if (w->events && o->flags & OPF_GUARD)
                tell_branch(w, a, from, mask, go);
            if (go == mask) {
                at.block = o->target;
            } else if (go == 0) {
                at.block = o->next;
            } else {
                act_add_pending(a, o->target, go);
                act_add_pending(a, o->next, mask & ~go);
                at.block = pending_first(a, 0);
                at.mask = pending_take(a, at.block);
            }
            if (at.block <= from)
                goto went_back;
            goto come;
        }
        case OP_BRX: {
            uint32_t from = at.block;
            go = guarded(base, o, mask);
            if (!run_brx(w, base, o, &at, go))
                return;
            act_add_pending(a, o->next, mask & ~go);
            at.block = pending_first(a, 0);
            at.mask = pending_take(a, at.block);
            if (at.block <= from)
                goto went_back;
            goto come;
        }
        case OP_CALL: {
            uint32_t stay = 0;
            go = guarded(base, o, mask);
            if (go && !call_run(w, a, o, go, &stay))
                return;
            at.mask = (mask & ~go) | stay;
            at.block = o->next;
            if (go == stay)
                goto go_on;
            act_add_pending(a, o->next, at.mask);
            w->budget--; /* recursion goes on for long without a branch */
            goto pick_next;
        }
        case OP_RET:
            go = guarded(base, o, mask);
            act_add_pending(a, o->next, mask & ~go);
            if (go)
                call_return(w, a, go);
            goto pick_next;
        case OP_EXIT:
            go = guarded(base, o, mask);
            act_add_pending(a, o->next, mask & ~go);
            if (go) {
                if (event_is_wanted(w->events, EVENT_EXIT))
                    tell_sync(w, EVENT_EXIT, o, go);
                exit_lanes(w, a, go);
                act_free_empty(w);
                after_exit(w);
            }
            goto pick_next;
        case OP_TRAP:
        case OP_BRKPT:
            go = guarded(base, o, mask);
            if (go) {
                warp_fault(w, o->kind == OP_TRAP ? FAULT_trap : FAULT_breakpoint, o, (unsigned)__builtin_ctz(go));
                return;
            }
            at.block = o->next;
            goto go_on;
        case OP_COLLECTIVE: {
            bool fault = false;
            go = guarded(base, o, mask);
            at.mask = mask & ~go;
            if (go)
                at.mask |= collective_arrive(w, a, o, go, &fault);
            if (fault)
                return;
            if (at.mask != mask && warp_is_divided(w, &at))
                warp_part_lanes(w);
            at.block = o->next;
            goto go_on;
        }
        case OP_BAR: {
            bool fault = false;
            go = guarded(base, o, mask);
            if (together && go == mask && barrier_arrive_whole(w, a, o, mask)) {
                if (!w->act || w->block->phase == BLOCK_ALIGNED)
                    return;
                at = (struct at){a, w->at_block, w->mask};
                goto enter_block;
            }
            at.mask = mask & ~go;
            if (go)
                at.mask |= barrier_arrive(w, a, o, go, &fault);
            if (fault)
                return;
            if (mask != a->lanes || go != mask)
                warp_part_lanes(w);
            at.block = o->next;
            goto go_on;
        }
        case OP_MBARRIER: {
            bool in_vain = false;
            go = guarded(base, o, mask);
            if (go && !mbarrier_run(w, a, base, o, go, &in_vain))
                return;
            at.block = o->next;
            if (in_vain) {
                w->budget = 0; /* as if it had been suspended */
                goto went_back;
            }
            if (--w->access_quantum == 0) {
                save(w, &at, first_op(&at));
                return;
            }
            goto go_on;
        }
        case OP_STOP:
            if (!stops_pass(stopper, w, a, o, at.block, mask))
                return;
            kind = o->kind;
            goto run_kind;
        case OP_NANOSLEEP:
            at.block = o->next;
            w->budget = 0;
            goto went_back;
        default: __builtin_unreachable();
        }
    }

went_back:
    w->budget -= back_edge_cost(w, &at);
    if (w->budget < 0)
        goto give_way;
    goto go_on;
come:
    quantum_come(w, &at);
go_on:
    if (random && warp_is_divided(w, &at) && schedule_choose(random, CHANGE_EVERY) == 0) {
        act_add_pending(a, at.block, at.mask);
        goto pick_next;
    }
    /* at.mask lanes go on in at.block, unless lanes wait to run an earlier one, or the same. */
    if (a->n_pending) {
        act_add_pending(a, at.block, at.mask);
        at.block = pending_first(a, 0);
        at.mask = pending_take(a, at.block);
    }
    if (at.mask == 0)
        goto pick_next;
    goto enter_block;

give_way:
    if (quantum_goes_on(w, &quantum, &at)) {
        a = at.a;
        warp_bases(w, a, base);
        goto enter_block;
    }
    save(w, &at, first_op(&at));
    return;

end_of_slice:
    at.mask = mask;
    save(w, &at, o + 1);
}
