/* What analyses and emission ask of a function: who writes a register, what is constant, which shape and width an operand has, how a
 * block ends; see emit.h. */
#include "jit/emit/access.h"

static const struct {
    enum isa_type type;
    enum isa_when when;
} sregs[SREG_COUNT] = {
#define SREG(name, type, components, when, ptx, sm, doc) [SREG_##name] = {TYPE_##type, WHEN_##when},
#include "isa/sregs.def"
#undef SREG
};

static unsigned sreg_width(uint32_t i)
{
    if (i >= IR_ENVREG)
        return i == IR_PARAM_BASE ? 64 : 32;
    return sregs[i / 4].type == TYPE_u64 ? 64 : sregs[i / 4].type == TYPE_pred ? 1 : 32;
}

unsigned ref_width(const struct emit *e, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    switch (ir_ref_kind(r)) {
    case REF_REG: return e->ir->regs.at[i].width;
    case REF_CONST: return e->ir->consts.at[i].width;
    default: return sreg_width(i);
    }
}

uint16_t ref_shape(const struct emit *e, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (e->lane)
        return SHAPE_UNIFORM;
    if (ir_ref_kind(r) == REF_REG)
        return e->shapes->regs[i];
    if (ir_ref_kind(r) != REF_SREG || i >= IR_ENVREG)
        return SHAPE_UNIFORM;
    if (i / 4 == SREG_tid && i % 4 < 3)
        return e->shapes->tid[i % 4];
    if (i / 4 == SREG_laneid)
        return e->shapes->laneid;
    return sregs[i / 4].when == WHEN_LANE ? SHAPE_VARYING : SHAPE_UNIFORM;
}

unsigned parts_of(const struct emit *e, uint16_t shape)
{
    return ir_is_split(e->shapes, shape) ? e->shapes->parts : 1;
}

unsigned part_lane(const struct emit *e, unsigned part)
{
    return part * (WARP_LANES / e->shapes->parts);
}

bool is_number(const struct emit *e, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    return ir_ref_kind(r) == REF_REG && !e->lane && e->shapes->bits[i].n >= e->ir->regs.at[i].width &&
           !ir_is_split(e->shapes, e->shapes->regs[i]);
}

uint32_t find_writer(const struct emit *e, ir_ref r, uint32_t k)
{
    while (k-- > 0)
        if (ir_defines(insn_at(e, k), r))
            return k;
    return NO_WRITER;
}

bool is_plain_writer(const struct emit *e, uint32_t k, ir_ref r)
{
    const struct ir_insn *i = insn_at(e, k);
    return i->kind == IR_LANES && !i->guard && i->d == r;
}

bool access_number(const struct emit *e, ir_ref r, int64_t *v)
{
    uint32_t index = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG) {
        *v = e->shapes->ranges[index].lo;
        return e->shapes->ranges[index].lo == e->shapes->ranges[index].hi;
    }
    if (ir_ref_kind(r) != REF_CONST || e->ir->consts.at[index].base != BASE_NONE)
        return false;
    uint64_t lo = e->ir->consts.at[index].lo;
    *v = e->ir->consts.at[index].width == 32 ? (int32_t)lo : (int64_t)lo;
    return true;
}

bool access_constant(const struct emit *e, ir_ref r, uint32_t *v)
{
    int64_t number;
    bool known = access_number(e, r, &number);
    if (known)
        *v = (uint32_t)number;
    return known;
}

bool is_plain_shuffle(struct emit *e, const struct ir_insn *i)
{
    uint32_t b, c, membermask = UINT32_MAX;
    return i->kind == IR_SHFL && !i->guard && access_constant(e, i->b, &b) && access_constant(e, i->c, &c) &&
           (!i->f || access_constant(e, i->f, &membermask)) && membermask == UINT32_MAX && ref_width(e, i->a) == 32;
}

bool is_in_loop(const struct emit *e)
{
    for (uint32_t b = e->at; b < e->code->n_blocks; b++) {
        const struct code_block *block = &e->code->blocks[b];
        const struct op *last = &e->code->ops[block->first + block->n - 1];
        if ((last->kind == OP_BRA && last->target <= e->at) || last->next <= e->at)
            return true;
    }
    return false;
}

/* Its few rounds are not worth a version of their own. */
bool counts_a_rest(const struct emit *e, ir_ref counter)
{
    enum { SMALL = 7 };
    const struct ir_func *f = e->ir;
    for (uint32_t k = 0; k < f->insns.n; k++) {
        const struct ir_insn *i = &f->insns.at[k];
        uint32_t mask;
        if (i->kind == IR_LANES && i->lane == LANE_and_b32 && i->d == counter && access_constant(e, i->b, &mask) &&
            mask <= SMALL)
            return true;
    }
    return false;
}

uint32_t meets(const struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (i->guard)
        return 0;
    if (i->kind == IR_EXIT)
        return MET_END;
    if (i->kind != IR_BAR || o->mode != BAR_SYNC || ir_ref_kind(i->a) != REF_CONST || i->b)
        return 0;
    uint64_t id = e->ir->consts.at[ir_ref_index(i->a)].lo;
    return id < BARRIERS ? 1u << id : 0;
}

uint32_t spare_block(const struct emit *e, uint32_t at)
{
    const struct ir_block *block = &e->ir->blocks.at[e->ir->order[at]];
    const struct op *last = &e->code->ops[e->code->blocks[at].first + (block->n ? block->n - 1 : 0)];
    uint32_t met = block->n ? meets(e, &e->ir->insns.at[block->first + block->n - 1], last) : 0;
    if (!met || met == MET_END || !last->next || last->next == NO_BLOCK)
        return NO_BLOCK;
    return ir_is_full(e->shapes, at) && e->shapes->whole[last->next] ? last->next : NO_BLOCK;
}

bool is_spare(const struct emit *e, uint32_t block)
{
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        if (spare_block(e, b) == block)
            return true;
    return false;
}

const uint64_t *live_in(const struct emit *e, uint32_t block)
{
    return e->shapes->live.in + (size_t)block * e->shapes->live.words;
}

uint32_t end_of_block(const struct emit *e, uint32_t order)
{
    const struct op *ops = &e->code->ops[e->code->blocks[order].first];
    uint32_t n = e->ir->blocks.at[e->ir->order[order]].n;
    return n && ops[n - 1].kind >= OP_FALL ? n - 1 : n;
}
