/* Questions of analyses and emission about a function: which instruction writes a register, what is
 * constant, the shape and width of an operand, how a block ends; see function.h. */
#include "jit/analysis/access.h"

unsigned fn_ref_width(const struct function *fn, ir_ref r)
{
    return layout_width(fn->ir, r);
}

uint16_t fn_ref_shape(const struct function *fn, ir_ref r)
{
    return fn->one_lane ? SHAPE_UNIFORM : ir_shape(fn->shapes, r);
}

unsigned fn_pieces(const struct function *fn, uint16_t shape)
{
    return ir_is_piecewise(fn->shapes, shape) ? fn->shapes->pieces : 1;
}

unsigned fn_piece_lane(const struct function *fn, unsigned piece)
{
    return piece * (WARP_LANES / fn->shapes->pieces);
}

bool fn_is_grid_uniform(const struct function *fn, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    return ir_ref_kind(r) == REF_REG && !fn->one_lane && fn->shapes->bits[i].n >= fn->ir->regs.at[i].width &&
           !ir_is_piecewise(fn->shapes, fn->shapes->regs[i]);
}

uint32_t cursor_find_writer(struct cursor here, ir_ref r, uint32_t k)
{
    uint32_t first = block_at(here.fn, here.block)->first;
    const struct ir_def *d = ir_def_before(here.fn->shapes->defs, r, here.block, first + k);
    return d ? d->insn - first : NO_WRITER;
}

bool cursor_keeps(struct cursor here, ir_ref r, uint32_t k)
{
    uint32_t last = cursor_find_writer(here, r, here.index);
    return last == NO_WRITER || last < k;
}

bool cursor_is_plain_writer(struct cursor here, uint32_t k, ir_ref r)
{
    const struct ir_insn *i = fn_insn_at(here, k);
    return i->kind == IR_LANES && !i->guard && i->d == r;
}

bool fn_constant_low(const struct function *fn, ir_ref r, uint32_t *v)
{
    int64_t number;
    bool known = ir_number(fn->ir, fn->shapes, r, &number);
    if (known)
        *v = (uint32_t)number;
    return known;
}

bool fn_is_plain_collective(const struct function *fn, const struct ir_insn *i, bool *names_all)
{
    uint32_t b, c, membermask = UINT32_MAX;
    bool is_shuffle = i->kind == IR_SHFL && fn_constant_low(fn, i->b, &b) && fn_constant_low(fn, i->c, &c) &&
                      fn_ref_width(fn, i->a) == 32;
    *names_all = !i->f || fn_constant_low(fn, i->f, &membermask);
    return (is_shuffle || i->kind == IR_VOTE) && !i->guard && membermask == UINT32_MAX;
}

bool fn_is_plain_shuffle(const struct function *fn, const struct ir_insn *i)
{
    bool names_all;
    return i->kind == IR_SHFL && fn_is_plain_collective(fn, i, &names_all) && names_all;
}

bool fn_is_collective(const struct ir_insn *i)
{
    switch (i->kind) {
    case IR_SHFL:
    case IR_VOTE:
    case IR_MATCH:
    case IR_REDUX:
    case IR_ELECT:
    case IR_WARPSYNC:
    case IR_MATRIX: return !i->guard;
    default: return false;
    }
}

bool cursor_is_in_loop(struct cursor here)
{
    for (uint32_t b = here.block; b < here.fn->ir->n_ordered; b++)
        if (fn_target(here.fn, b) <= here.block || fn_next(here.fn, b) <= here.block)
            return true;
    return false;
}

/* A version for its few iterations would not pay off. */
bool fn_counts_a_remainder(const struct function *fn, ir_ref counter)
{
    enum { SMALL = 7 };
    const struct ir_func *f = fn->ir;
    for (uint32_t k = 0; k < f->insns.n; k++) {
        const struct ir_insn *i = &f->insns.at[k];
        uint32_t mask;
        if (ir_is(i) == IS_AND && i->d == counter && fn_constant_low(fn, i->b, &mask) && mask <= SMALL)
            return true;
    }
    return false;
}

uint32_t fn_arrival(const struct function *fn, const struct ir_insn *i)
{
    if (i->guard)
        return 0;
    if (i->kind == IR_EXIT)
        return ARRIVED_END;
    if (i->kind != IR_BAR || i->mode != BAR_SYNC || ir_ref_kind(i->a) != REF_CONST || i->b)
        return 0;
    uint64_t id = fn->ir->consts.at[ir_ref_index(i->a)].lo;
    return id < BARRIERS ? 1u << id : 0;
}

uint32_t fn_seed_block(const struct function *fn, uint32_t at)
{
    uint32_t arrived = fn_arrival_at(fn, at), next = fn_next(fn, at);
    if (!arrived || arrived == ARRIVED_END || !next || next == NO_BLOCK)
        return NO_BLOCK;
    return ir_is_full(fn->shapes, at) && fn->shapes->whole[next] ? next : NO_BLOCK;
}

bool fn_is_seed_block(const struct function *fn, uint32_t block)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        if (fn_seed_block(fn, b) == block)
            return true;
    return false;
}

const uint64_t *live_in(const struct function *fn, uint32_t block)
{
    return fn->shapes->live.in + (size_t)block * fn->shapes->live.words;
}

const uint64_t *live_out(const struct function *fn, uint32_t block)
{
    return fn->shapes->live.out + (size_t)block * fn->shapes->live.words;
}

uint32_t fn_block_end(const struct function *fn, uint32_t order)
{
    const struct ir_block *b = block_at(fn, order);
    return b->n - layout_has_end(fn->ir, b);
}

const struct ir_insn *fn_end_insn(const struct function *fn, uint32_t order)
{
    uint32_t end = fn_block_end(fn, order);
    return end < block_at(fn, order)->n ? fn_insn(fn, order, end) : NULL;
}

uint32_t fn_arrival_at(const struct function *fn, uint32_t order)
{
    const struct ir_insn *i = fn_end_insn(fn, order);
    return i ? fn_arrival(fn, i) : 0;
}

uint32_t fn_next(const struct function *fn, uint32_t order)
{
    return layout_order(fn->ir, block_at(fn, order)->next);
}

uint32_t fn_target(const struct function *fn, uint32_t order)
{
    const struct ir_block *b = block_at(fn, order);
    bool branches = b->n && last_insn(fn, b)->kind == IR_BRA;
    return branches ? layout_order(fn->ir, last_insn(fn, b)->targets[0]) : NO_BLOCK;
}

bool fn_goes_to(const struct function *fn, uint32_t order, uint32_t to)
{
    const struct ir_block *b = block_at(fn, order);
    const struct ir_insn *i = b->n ? last_insn(fn, b) : NULL;
    bool goes = fn_next(fn, order) == to || fn_target(fn, order) == to;
    for (uint32_t k = 0; k < (i && i->kind == IR_BRX ? i->n_targets : 0); k++)
        goes |= layout_order(fn->ir, i->targets[k]) == to;
    return goes;
}

row_ref fn_row(const struct function *fn, ir_ref r)
{
    return layout_row(&fn->layout, fn->ir, &fn->request->block_rows, r);
}

uint32_t fn_op(const struct function *fn, const struct ir_insn *i)
{
    return fn->layout.ops[i - fn->ir->insns.at];
}
