/* Finds registers and instructions that are equal in all warps of a gang, and the places where all
 * warps meet. */
#include "jit/analysis/gang_plan.h"

#include <string.h>

void gang_find_phase_starts(const struct function *fn, uint8_t *starts)
{
    memset(starts, 0, fn->ir->n_ordered);
    starts[0] = 1;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = fn_arrival_at(fn, b), next = fn_next(fn, b);
        if (arrived && arrived != ARRIVED_END && next != NO_BLOCK)
            starts[next] = 1;
    }
}

bool gang_takes(const struct ir_insn *i)
{
    return (i->kind == IR_ATOM && i->access->mem.space == SPACE_SHARED) || i->kind == IR_LANES || i->kind == IR_LD ||
           i->kind == IR_ST || i->kind == IR_BRA || i->kind == IR_SHFL || i->kind == IR_GROUP ||
           (i->kind == IR_ASYNC && i->mode == ASYNC_COPY && i->guard);
}

uint32_t gang_next_blocks(const struct function *fn, uint32_t b, uint32_t next[2])
{
    const struct ir_insn *i = fn_end_insn(fn, b);
    uint32_t n = 0;
    if (i && i->kind != IR_BRA && !fn_is_plain_shuffle(fn, i))
        return 0;
    if (i && i->kind == IR_BRA)
        next[n++] = fn_target(fn, b);
    if ((!i || i->kind != IR_BRA || i->guard) && fn_next(fn, b) != NO_BLOCK)
        next[n++] = fn_next(fn, b);
    return n;
}

bool gang_spins(const struct function *fn)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        if (block_at(fn, b)->spins || block_at(fn, b)->serial_to)
            return true;
    return false;
}

/* ---- registers and instructions ---- */

/* Is it equal, lane by lane, in all warps of a block? */
static bool is_common_tid(const struct function *fn, unsigned axis)
{
    const uint32_t *b = fn->shapes->block;
    for (uint32_t t = WARP_LANES; t < b[0] * b[1] * b[2]; t++)
        if (ir_thread_number(b, t, axis) != ir_thread_number(b, t % WARP_LANES, axis))
            return false;
    return true;
}

bool gang_is_common(const struct function *fn, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG)
        return fn->plan.common[i];
    if (ir_ref_kind(r) != REF_SREG || i >= IR_ENVREG)
        return true;
    if (i / 4 == SREG_tid)
        return i % 4 > 2 || is_common_tid(fn, i % 4);
    return isa_sreg_info((enum isa_sreg)(i / 4))->when != WHEN_WARP;
}

/* Is its result common if its operands are? Weak loads at one place in several warps may count as
 * one load: nothing orders them. */
static bool follows_operands(const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    if (i->kind != IR_LD)
        return i->kind == IR_LANES;
    return (a->mem.space == SPACE_GLOBAL || a->mem.space == SPACE_CONST || a->mem.space == SPACE_SHARED ||
            a->mem.space == SPACE_PARAM) &&
           !a->mem.frame && !a->mem.is_volatile && a->mem.order == ORDER_WEAK;
}

/* Marks its results as common, all of them or none. */
static bool visit_insn(struct function *fn, const struct ir_insn *i, bool by_all)
{
    ir_ref reads[IR_MAX_REFS], writes[IR_MAX_REFS];
    unsigned n_reads = ir_reads(i, reads), n_writes = ir_writes(i, writes);
    bool common = by_all && n_writes && follows_operands(i), changed = false;
    for (unsigned k = 0; k < n_reads && common; k++)
        common = gang_is_common(fn, reads[k]);
    for (unsigned k = 0; k < n_writes && common; k++)
        common = gang_is_common(fn, writes[k]);
    fn->plan.once[i - fn->ir->insns.at] = common;
    for (unsigned k = 0; k < n_writes && !common; k++)
        if (ir_ref_kind(writes[k]) == REF_REG) {
            changed |= fn->plan.common[ir_ref_index(writes[k])];
            fn->plan.common[ir_ref_index(writes[k])] = 0;
        }
    return changed;
}

/* Starts by assuming that everything is common. Control flow need not be considered, because gangs
 * continue only where all warps branch alike; side regions that only some warps run are the
 * exception. */
void gang_find_common(struct function *fn)
{
    const struct ir_live *live = &fn->shapes->live;
    uint8_t starts[fn->ir->n_ordered];
    fn->plan.common = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->regs.n);
    fn->plan.once = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->insns.n + 1);
    memset(fn->plan.common, 1, fn->ir->regs.n);
    gang_find_phase_starts(fn, starts);
    /* Where a gang begins only scalars are compared. */
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        for (uint32_t n = 0; n < live->n && starts[b]; n++)
            if (ir_in_set(live_in(fn, b), n) && fn->shapes->regs[live->regs[n]] == SHAPE_DIVERGENT)
                fn->plan.common[live->regs[n]] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
            for (uint32_t k = 0; k < block_at(fn, b)->n; k++)
                changed |= visit_insn(fn, fn_insn(fn, b, k), !fn->plan.is_side_region || !fn->plan.is_side_region[b]);
    }
}
