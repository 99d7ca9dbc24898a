/* Bulk copies, with or without tensor maps: operands, addresses, and a piece for each destination
 * block; see async_work.h. */
#include "exec/access_plan.h"
#include "exec/async_work.h"
#include "exec/fault.h"

bool async_locate(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                  uint32_t bytes, uint32_t align, bool writes, struct location *p)
{
    enum fault_kind kind = FAULT_misaligned;
    *p = (struct location){.space = space, .address = address, .writes = writes};
    if (!(address & (align - 1)))
        kind = access_locate(w, space, address, bytes, writes, p);
    if (!kind && space != SPACE_GLOBAL && p->space != SPACE_SHARED)
        kind = FAULT_address_space;
    p->writes = writes;
    if (!kind)
        return true;
    if (!access_is_watched(w) || !access_leave_out(w, o, lane, kind, p, bytes))
        warp_fault_at(w, kind, o, lane, p, kind == FAULT_misaligned ? align : bytes);
    return false;
}

uint64_t async_operand(uint8_t *const base[4], const struct op *o, enum async_operand k, unsigned width, unsigned lane)
{
    return o->access->has_operand[k] ? row_lane(row_at(base, o->access->operands[k]), width, lane) : 0;
}

bool async_locate_object(struct warp *w, const struct op *o, unsigned lane, enum ptx_space space, uint64_t address,
                         struct location *p)
{
    uint64_t object;
    if (!async_locate(w, o, lane, space, address, 8, 8, true, p))
        return false;
    memcpy(&object, p->at, 8);
    return object >> 62 & 1 || warp_fault_value(w, FAULT_mbarrier_invalid, o, lane, 0);
}

/* A piece for one lane and one destination. */
bool async_enqueue_piece(struct warp *w, const struct op *o, unsigned lane, const struct async_bulk *c)
{
    struct async_work *x = async_new_work(w, o, 1u << lane, 1);
    if (!x)
        return false;
    x->writes = c->to.space == SPACE_SHARED ? c->to.owner : NULL;
    x->reads = c->from.space == SPACE_SHARED ? c->from.owner : NULL;
    x->shift = async_shift(&c->to) | async_shift(&c->from);
    x->source = c->source;
    x->signals = c->object ? c->object->owner : NULL;
    x->object = c->object ? c->object->address : 0;
    x->parts[0] = (struct async_part){.to = c->to.at,
                                      .from = c->from.at,
                                      .bytes = c->to.at ? c->bytes : 0,
                                      .taken = c->from.at ? c->bytes : 0,
                                      .group = w->async->bulk_groups[lane]};
    if (c->tensor)
        *async_tensor(x) = *c->tensor;
    async_enqueue(x);
    return true;
}

/* Multicast goes to the same place in each block of a mask, whose mbarriers are at the same place,
 * too (9.7.9.25.4.1). No piece is there before all blocks are. */
bool async_enqueue_bulk(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane,
                        const struct async_bulk *c)
{
    if (!c->object || !o->access->has_operand[ASYNC_MASK])
        return async_enqueue_piece(w, o, lane, c);
    const uint64_t ranks = async_operand(base, o, ASYNC_MASK, 16, lane);
    for (uint64_t m = ranks; m; m &= m - 1)
        if (!block_of_rank(w->block, (uint32_t)__builtin_ctzll(m)))
            return warp_fault_value(w, FAULT_block_ended, o, lane, (uint32_t)__builtin_ctzll(m));
    for (uint64_t m = ranks; m; m &= m - 1) {
        struct block *b = block_of_rank(w->block, (uint32_t)__builtin_ctzll(m));
        const struct location object = async_of_block(c->object, b);
        struct async_bulk there = *c;
        there.to = async_of_block(&c->to, b);
        there.object = &object;
        if (!async_enqueue_piece(w, o, lane, &there))
            return false;
    }
    return true;
}
