/* Instructions of contracted products and sums; see contract.c. */
#include "ir/contractor.h"
#include "isa/lane_ids.h"

typedef VEC(struct ir_insn) insn_list;

static ir_ref new_register(struct ir_func *f, ir_ref like)
{
    uint32_t at = ir_ref_index(like);
    uint8_t width = ir_ref_kind(like) == REF_REG ? f->regs.at[at].width : f->consts.at[at].width;
    *VEC_PUSH(f->arena, &f->regs) = (struct ir_reg){.width = width};
    return ir_make_ref(REF_REG, f->regs.n - 1);
}

static void put_step(struct ir_func *f, insn_list *out, const struct ir_insn *of, lane_id lane, ir_ref d, ir_ref a)
{
    *VEC_PUSH(f->arena, out) = (struct ir_insn){.kind = IR_LANES,
                                                .lane = (uint16_t)lane,
                                                .d = d,
                                                .a = a,
                                                .origin = of->origin,
                                                .module = of->module,
                                                .loc = of->loc};
}

static ir_ref put_negation(struct contractor *c, insn_list *out, const struct sum *s, const struct ir_insn *of,
                           ir_ref a)
{
    ir_ref d = new_register(c->f, a);
    put_step(c->f, out, of, s->entry->neg, d, a);
    return d;
}

/* Factors get registers of their own, safe from what is written behind the product. A sum may stand
 * before it in the text. */
static void keep_factors(struct contractor *c)
{
    for (uint32_t n = 0; n < c->products.n; n++) {
        struct product *p = &c->products.at[n];
        for (unsigned k = 0; k < 2 && p->contracted; k++)
            if ((p->divides && k == 1) || (p->overwritten && ir_ref_kind(p->factor[k]) == REF_REG))
                p->kept[k] = new_register(c->f, p->factor[k]);
    }
}

static void put_kept(struct contractor *c, insn_list *out, const struct product *p, const struct ir_insn *of)
{
    for (unsigned k = 0; k < 2; k++) {
        if (!p->kept[k])
            continue;
        uint8_t width = c->f->regs.at[ir_ref_index(p->kept[k])].width;
        lane_id lane = width == 16 ? LANE_mov_b16 : width == 32 ? LANE_mov_b32 : LANE_mov_b64;
        if (p->divides && k == 1)
            lane = LANE_rcp_approx_f32_ftz;
        put_step(c->f, out, of, lane, p->kept[k], p->factor[k]);
    }
}

static ir_ref factor_of(const struct product *p, unsigned k)
{
    return p->kept[k] ? p->kept[k] : p->factor[k];
}

static void put_fma(struct contractor *c, insn_list *out, const struct sum *s, struct ir_insn i)
{
    unsigned k = s->chosen - 1;
    const struct product *p = &c->products.at[s->operand[k].product - 1];
    bool negate_product = s->operand[k].negated ^ (s->subtracts && k == 1), negate_addend = s->subtracts && k == 0;
    ir_ref addend = k == 0 ? i.b : i.a;
    i.a = negate_product ? put_negation(c, out, s, &i, factor_of(p, 0)) : factor_of(p, 0);
    i.b = factor_of(p, 1);
    i.c = negate_addend ? put_negation(c, out, s, &i, addend) : addend;
    i.lane = s->entry->sum[s->sat].fma;
    *VEC_PUSH(c->f->arena, out) = i;
}

static void put(struct contractor *c, insn_list *out, uint32_t number)
{
    struct ir_insn i = c->f->insns.at[number];
    const struct sum *s = c->sum_of[number] ? &c->sums.at[c->sum_of[number] - 1] : NULL;
    if (c->product_of[number])
        put_kept(c, out, &c->products.at[c->product_of[number] - 1], &i);
    if (s && s->chosen)
        put_fma(c, out, s, i);
    else
        *VEC_PUSH(c->f->arena, out) = i;
}

void contract_write(struct contractor *c)
{
    struct ir_func *f = c->f;
    insn_list out = {0};
    keep_factors(c);
    c->sum_of = ARENA_ARRAY(&c->scratch, uint32_t, f->insns.n);
    c->product_of = ARENA_ARRAY(&c->scratch, uint32_t, f->insns.n);
    for (uint32_t n = 0; n < c->sums.n; n++)
        c->sum_of[c->sums.at[n].insn] = 1 + n;
    for (uint32_t n = 0; n < c->products.n; n++)
        c->product_of[c->products.at[n].insn] = 1 + n;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        struct ir_block *block = &f->blocks.at[b];
        uint32_t first = out.n;
        for (uint32_t k = 0; k < block->n; k++)
            put(c, &out, block->first + k);
        block->first = first;
        block->n = out.n - first;
    }
    f->insns.at = out.at;
    f->insns.n = out.n;
    f->insns.capacity = out.capacity;
}
