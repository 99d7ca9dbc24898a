/* Questions of clients to the engine during an event; see events.h. */
#include "exec/machine.h"
#include "exec/emit_events.h"
#include "exec/uses.h"

static uint32_t users(const struct access_event *e, uint32_t lanes)
{
    return lanes_that_use(told_warp(e->block, e->warp), told_op(e->block, e->site), lanes);
}

/* The registers that a load or a store is of; false where nobody knows. */
static bool registers_of(const struct access_event *e, uint8_t *base[4], const struct op_access **x)
{
    const struct warp *w = told_warp(e->block, e->warp);
    const struct op *o = told_op(e->block, e->site);
    const struct activation *a = o->kind == OP_ST || o->kind == OP_LD ? activation_of(w, o) : NULL;
    if (!a)
        return false;
    warp_bases(w, a, base);
    *x = o->access;
    return true;
}

static bool alike(const struct access_event *e, uint32_t lanes)
{
    uint8_t *base[4];
    const struct op_access *x;
    if (e->site->kind != SITE_STORE || !registers_of(e, base, &x))
        return false;
    for (unsigned k = 0; k < x->mem.n; k++) {
        const uint8_t *row = row_at(base, x->regs[k]);
        unsigned each = x->width[k] / 8, first = (unsigned)__builtin_ctz(lanes);
        for (uint32_t left = lanes; left; left &= left - 1)
            if (memcmp(row + first * each, row + (unsigned)__builtin_ctz(left) * each, x->mem.bytes) != 0)
                return false;
    }
    return true;
}

static bool value(const struct access_event *e, unsigned lane, unsigned element, uint64_t to[2])
{
    uint8_t *base[4];
    const struct op_access *x;
    if (e->is_async || !registers_of(e, base, &x) || element >= x->mem.n ||
        (e->site->kind == SITE_LOAD && !x->has_reg[element]))
        return false;
    to[0] = to[1] = 0;
    memcpy(to, row_at(base, x->regs[element]) + lane * x->width[element] / 8, x->mem.bytes);
    return true;
}

static const char *describe(const struct fault_event *e, struct arena *arena)
{
    struct fault fault = {.kind = e->kind,
                          .at = told_op(e->block, e->site)->origin,
                          .address = e->address,
                          .bytes = e->bytes,
                          .window = e->window,
                          .space = e->space,
                          .is_write = e->writes,
                          .is_atomic = site_is_atomic(e->site)};
    return fault_describe(told_block(e->block)->launch->machine, &fault, arena);
}

static bool fail(const struct access_event *e, unsigned lane, enum fault_kind kind, const char *detail)
{
    struct warp *w = told_warp(e->block, e->warp);
    bool first = !launch_has_failed(w->block->launch);
    if (first)
        warp_fault_detail(w, kind, told_op(e->block, e->site), lane, detail);
    return first;
}

const struct event_asks engine_asks = {
    .users = users, .alike = alike, .value = value, .describe = describe, .fail = fail};
