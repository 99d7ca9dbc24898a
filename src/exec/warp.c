/* A warp's records that engines change: activations, waiting lanes, local memory; see
 * warp.h. */
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/pool.h"

/* ---- activations ---- */

static size_t pending_bytes(const struct code *c)
{
    return (c->n_blocks + 63) / 64 * 8 + (size_t)c->n_blocks * 4;
}

static size_t activation_bytes(const struct code *c)
{
    return c->register_bytes + sizeof(struct activation) + pending_bytes(c);
}

static void zero_registers(struct activation *a)
{
    const struct code *c = a->code;
    for (uint32_t i = 0; i < c->zeroed.n; i++)
        memset(a->rows + c->zeroed.at[i].at, 0, row_bytes(c->zeroed.at[i].width));
}

static bool polls_behind(const struct code *c, const struct op *call)
{
    return call && call->next < c->n_blocks && c->blocks[call->next].polls;
}

struct activation *act_push(struct warp *w, struct code *code, struct activation *parent, const struct op *call,
                            uint32_t lanes)
{
    const struct kernel *k = w->block->launch->kernel;
    uint32_t frame = parent ? parent->stack : k->module_local_bytes;
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    if (frame + code->frame_bytes > k->local_bytes) {
        warp_fault(w, FAULT_stack_overflow, call, lane);
        return NULL;
    }
    warp_need_local(w, frame + code->frame_bytes);
    uint8_t *p = pool_take(w->block->worker, activation_bytes(code));
    if (!p) {
        warp_fault(w, FAULT_out_of_memory, call, lane);
        return NULL;
    }
    struct activation *a = (struct activation *)(p + code->register_bytes);
    *a = (struct activation){.next = w->acts,
                             .parent = parent,
                             .code = code,
                             .call = call,
                             .lanes = lanes,
                             .frame = frame,
                             .stack = frame + code->frame_bytes,
                             .polls = parent && (parent->polls || polls_behind(parent->code, call)),
                             .next_group = {code->n_blocks, code->n_blocks},
                             .rows = p};
    a->pending_bits = (uint64_t *)(a + 1);
    a->pending = (uint32_t *)(a->pending_bits + (code->n_blocks + 63) / 64);
    memset(a->pending_bits, 0, pending_bytes(code));
    zero_registers(a);
    w->acts = a;
    return a;
}

void act_renew(struct activation *a, uint32_t lanes)
{
    a->lanes = lanes;
    a->stack = a->frame + a->code->frame_bytes;
    a->next_group[0] = a->next_group[1] = 0;
    a->parted = false;
    zero_registers(a);
}

void act_free(struct warp *w, struct activation *a)
{
    struct activation **link = &w->acts;
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    pool_give(w->block->worker, a->rows, activation_bytes(a->code));
}

void act_free_empty(struct warp *w)
{
    for (struct activation **link = &w->acts; *link;) {
        struct activation *a = *link;
        if (a->lanes) {
            link = &a->next;
            continue;
        }
        *link = a->next;
        pool_give(w->block->worker, a->rows, activation_bytes(a->code));
    }
}

/* ---- lanes that wait ---- */

struct wait *wait_add(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes)
{
    struct wait *wait = pool_take(w->block->worker, sizeof *wait);
    if (!wait) {
        warp_fault(w, FAULT_out_of_memory, o, (unsigned)__builtin_ctz(lanes));
        return NULL;
    }
    *wait = (struct wait){.next = w->waits, .op = o, .act = a, .lanes = lanes};
    w->waits = wait;
    return wait;
}

void wait_remove(struct warp *w, struct wait *wait)
{
    if (wait == &w->whole) {
        w->waits = NULL;
        return;
    }
    for (struct wait **link = &w->waits; *link; link = &(*link)->next) {
        if (*link == wait) {
            *link = wait->next;
            pool_give(w->block->worker, wait, sizeof *wait);
            return;
        }
    }
}

/* ---- local memory ---- */

static size_t local_bytes(const struct launch *l)
{
    return (size_t)l->kernel->local_bytes * WARP_LANES;
}

/* Lanes are interleaved by words: what is clear of one is of all. */
void warp_clear_local(struct warp *w, uint64_t end)
{
    end = (end + 15) & ~15ull;
    memset(w->local + (size_t)w->local_ready * WARP_LANES, 0, (end - w->local_ready) * WARP_LANES);
    w->local_ready = (uint32_t)end;
}

bool warp_take_local(struct warp *w)
{
    size_t bytes = local_bytes(w->block->launch);
    if (bytes && !w->local && !(w->local = pool_take_window(w->block->worker, bytes)))
        return false;
    w->local_ready = 0;
    warp_need_local(w, w->block->launch->kernel->local_ready_bytes);
    return true;
}

void warp_give_local(struct warp *w)
{
    pool_give_window(w->block->worker, w->local, local_bytes(w->block->launch));
    w->local = NULL;
}

/* ---- a warp as a whole ---- */

void warp_free(struct warp *w)
{
    while (w->waits)
        wait_remove(w, w->waits);
    for (struct activation *a = w->acts; a; a = a->next)
        a->lanes = 0;
    act_free_empty(w);
    warp_give_local(w);
}

static uint64_t mix(uint64_t h, const void *p, size_t bytes)
{
    const uint8_t *b = p;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t v;
        memcpy(&v, b + i, 8);
        h = (h ^ v) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

uint64_t warp_hash(const struct warp *w)
{
    uint64_t place[4] = {(uintptr_t)w->act, (uintptr_t)w->op, w->at_block, w->mask};
    uint64_t h = mix(w->exited, place, sizeof place);
    for (const struct activation *a = w->acts; a; a = a->next) {
        uint64_t state[7] = {(uintptr_t)a, (uintptr_t)a->parent, (uintptr_t)a->call, a->lanes,
                             a->stack,     a->next_group[0],     a->next_group[1]};
        h = mix(h, state, sizeof state);
        h = mix(h, a->rows, a->code->register_bytes);
        for (uint32_t b = pending_first(a, 0); b != NO_BLOCK; b = pending_first(a, b + 1)) {
            uint64_t pending[2] = {b, a->pending[b]};
            h = mix(h, pending, sizeof pending);
        }
    }
    return h;
}
