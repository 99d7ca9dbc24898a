/* Queries on a function's control flow graph: operands and results of instructions, successors of
 * blocks, ends of loops. See ir.h.
 */
#include "ir/ir.h"

/* ---- operands ---- */

static unsigned add_ref(ir_ref *out, unsigned n, ir_ref r)
{
    out[n] = r;
    return n + (r != REF_NONE);
}

static bool has_operands(const struct ir_insn *i)
{
    return i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM || i->kind == IR_ASYNC;
}

static unsigned add_refs(ir_ref out[IR_MAX_REFS], unsigned n, const ir_ref *refs, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        n = add_ref(out, n, refs[k]);
    return n;
}

unsigned ir_reads(const struct ir_insn *i, ir_ref out[IR_MAX_REFS])
{
    const ir_ref refs[] = {i->guard, i->a, i->b, i->c, i->f};
    unsigned n = add_refs(out, 0, refs, sizeof refs / sizeof refs[0]);
    if (i->kind == IR_LANES && lane_info(i->lane)->e & (CARRY_IN | CARRY_FOURTH))
        n = add_ref(out, n, i->e);
    for (unsigned k = 0; has_operands(i) && k < 8; k++) {
        n = add_ref(out, n, i->access->operands[k]);
        n = i->kind == IR_ST || i->kind == IR_ASYNC ? add_ref(out, n, i->access->regs[k]) : n;
    }
    if (i->kind == IR_MATRIX)
        n = add_refs(out, n, i->matrix->reads, i->matrix->n_reads);
    if (i->kind == IR_TEXTURE)
        n = add_refs(out, n, i->texture->reads, i->texture->n_reads);
    return n;
}

unsigned ir_writes(const struct ir_insn *i, ir_ref out[IR_MAX_REFS])
{
    unsigned n = add_ref(out, 0, i->d);
    if (i->kind != IR_LANES || lane_info(i->lane)->e & CARRY_OUT)
        n = add_ref(out, n, i->e);
    if (i->kind == IR_LD || i->kind == IR_ATOM)
        n = add_refs(out, n, i->access->regs, 8);
    if (i->kind == IR_MATRIX)
        n = add_refs(out, n, i->matrix->writes, i->matrix->n_writes);
    if (i->kind == IR_TEXTURE)
        n = add_refs(out, n, i->texture->writes, i->texture->n_writes);
    return n;
}

bool ir_defines(const struct ir_insn *i, ir_ref r)
{
    ir_ref writes[IR_MAX_REFS];
    bool found = false;
    for (unsigned k = 0, n = ir_writes(i, writes); k < n; k++)
        found |= writes[k] == r;
    return found;
}

/* ---- blocks ---- */

bool ir_falls_through(const struct ir_func *f, const struct ir_block *b)
{
    if (b->n == 0)
        return true;
    const struct ir_insn *last = &f->insns.at[b->first + b->n - 1];
    switch (last->kind) {
    case IR_BRA:
    case IR_BRX:
    case IR_RET:
    case IR_EXIT:
    case IR_TRAP: return last->guard != REF_NONE;
    default: return true;
    }
}

const struct ir_insn *ir_branch_of(const struct ir_func *f, const struct ir_block *b)
{
    const struct ir_insn *last = b->n ? &f->insns.at[b->first + b->n - 1] : NULL;
    return last && (last->kind == IR_BRA || last->kind == IR_BRX) ? last : NULL;
}

static bool goes_on(const struct ir_func *f, const struct ir_block *b)
{
    return b->next != NO_BLOCK && ir_falls_through(f, b);
}

uint32_t ir_successor_count(const struct ir_func *f, uint32_t b)
{
    const struct ir_block *block = &f->blocks.at[b];
    const struct ir_insn *branch = ir_branch_of(f, block);
    return goes_on(f, block) + (branch ? branch->n_targets : 0);
}

uint32_t ir_successor(const struct ir_func *f, uint32_t b, uint32_t k)
{
    const struct ir_block *block = &f->blocks.at[b];
    bool first = goes_on(f, block);
    return first && k == 0 ? block->next : ir_branch_of(f, block)->targets[k - first];
}

uint32_t ir_count_from(const struct ir_func *f, uint32_t order)
{
    return ir_successor_count(f, f->order[order]);
}

uint32_t ir_order_from(const struct ir_func *f, uint32_t order, uint32_t k)
{
    return f->blocks.at[ir_successor(f, f->order[order], k)].order;
}

uint32_t *ir_find_loop_ends(const struct ir_func *f, struct arena *arena)
{
    uint32_t *end = ARENA_ARRAY(arena, uint32_t, f->n_ordered + 1);
    for (uint32_t o = 0; o < f->n_ordered; o++)
        end[o] = o;
    for (uint32_t o = 0; o < f->n_ordered; o++)
        for (uint32_t k = ir_count_from(f, o); k-- > 0;) {
            uint32_t to = ir_order_from(f, o, k);
            end[to] = to <= o ? o : end[to];
        }
    for (uint32_t o = f->n_ordered; o-- > 0;)
        for (uint32_t inside = o + 1; inside <= end[o]; inside = end[inside] + 1)
            end[o] = end[inside] > end[o] ? end[inside] : end[o];
    return end;
}

bool ir_keeps_rolled(const struct ir_func *f, uint32_t order)
{
    const struct ir_block *b = ir_block_at(f, order);
    bool found = f->func && f->func->module->keeps_rolled;
    for (uint32_t k = 0; k < b->n && !found; k++) {
        const struct ptx_insn *origin = f->insns.at[b->first + k].origin;
        found = origin && origin->keeps_rolled;
    }
    return found;
}
