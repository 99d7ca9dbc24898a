/* Products and sums that become one fused multiply-add, as the vendor's assembler contracts them.
 *
 * `mul` and `add` or `sub` without a rounding modifier may be contracted (PTX ISA 9.7.3.3 to
 * 9.7.3.5, 9.7.4.1 to 9.7.4.3); which of them are shows in the last bit of results. This pass goes
 * by what ptxas does for sm_90; docs/H200.md has the rule. It stands on *traces*: blocks of which
 * each can only be followed by the next and only follow the one before, since what may suspend a
 * warp ends a block here and not there; and on *regions*, what ptxas takes for a basic block: a
 * trace, cut where ptxas makes several blocks of an instruction.
 *
 * Needs: blocks in order. Leaves: what is dead dropped, for readers count; sums as fma instructions
 * at their place, with their guard and origin; products that nobody reads any more dropped. Where a
 * factor may have changed before the sum, the product's place keeps a copy of it. An operand that
 * is to be negated is so by an instruction before the fma: that is exact, and a NaN of f32 or a
 * half is the one NaN afterwards, one of f64 stays as it is.
 */
#include "ir/contractor.h"
#include "isa/lane_ids.h"

#define SUMS(t, m) {LANE_add_##t##m, LANE_sub_##t##m, LANE_fma_##t##m}
/* clang-format off */
#define SIGN(t) LANE_neg_##t, {LANE_neg_##t}
static const struct contraction entries[] = {
    {false, true, LANE_mul_f32_rn, SIGN(f32), {SUMS(f32, _rn), SUMS(f32, _rn_sat)}},
    {false, true, LANE_mul_f32_rn_ftz, LANE_neg_f32, {LANE_neg_f32, LANE_neg_f32_ftz},
     {SUMS(f32, _rn_ftz), SUMS(f32, _rn_ftz_sat)}},
    {false, true, LANE_mul_f64_rn, SIGN(f64), {SUMS(f64, _rn)}},
    {false, false, LANE_mul_f16, SIGN(f16), {SUMS(f16, ), SUMS(f16, _sat)}},
    {false, false, LANE_mul_f16_ftz, SIGN(f16), {SUMS(f16, _ftz), SUMS(f16, _ftz_sat)}},
    {true, false, LANE_mul_f16x2, SIGN(f16x2), {SUMS(f16x2, ), SUMS(f16x2, _sat)}},
    {true, false, LANE_mul_f16x2_ftz, SIGN(f16x2), {SUMS(f16x2, _ftz), SUMS(f16x2, _ftz_sat)}},
    {false, false, LANE_mul_bf16, SIGN(bf16), {SUMS(bf16, )}},
    {true, false, LANE_mul_bf16x2, LANE_neg_bf16x2, {0}, {SUMS(bf16x2, )}},
};
/* clang-format on */
#undef SIGN
#undef SUMS
enum { N_ENTRIES = sizeof entries / sizeof entries[0] };

/* ---- instructions ---- */

/* Without a rounding modifier? What lowering adds to an instruction has
 * other lanes than `entries`. */
static bool is_free(const struct ir_insn *i)
{
    return i->kind == IR_LANES && i->origin && !isa_has(i->origin->inst, MOD_rn);
}

/* To ptxas it is a product with the reciprocal. (Without .ftz the last of several; what that
 * changes are extremes.) */
static bool is_division(const struct ir_insn *i, const struct contraction *entry)
{
    return i->lane == LANE_div_approx_f32_ftz && entry->mul == LANE_mul_f32_rn_ftz;
}

/* NULL: it is none, as a reciprocal is. */
static const struct contraction *product_entry(const struct ir_func *f, const struct ir_insn *i)
{
    static const uint64_t ONE = 0x3f800000; /* of f32 */
    for (size_t r = 0; r < N_ENTRIES && is_free(i) && !i->guard; r++)
        if (i->lane == entries[r].mul || (is_division(i, &entries[r]) && !(ir_ref_kind(i->a) == REF_CONST &&
                                                                           f->consts.at[ir_ref_index(i->a)].lo == ONE)))
            return &entries[r];
    return NULL;
}

static bool find_sum(const struct ir_insn *i, struct sum *s)
{
    for (size_t r = 0; r < N_ENTRIES && is_free(i); r++)
        for (unsigned sat = 0; sat < 2 && entries[r].sum[sat].add; sat++)
            if (i->lane == entries[r].sum[sat].add || i->lane == entries[r].sum[sat].sub) {
                *s = (struct sum){.entry = &entries[r], .sat = sat, .subtracts = i->lane == entries[r].sum[sat].sub};
                return true;
            }
    return false;
}

static bool is_mov(const struct ir_insn *i)
{
    return i->kind == IR_LANES && (i->lane == LANE_mov_b16 || i->lane == LANE_mov_b32 || i->lane == LANE_mov_b64);
}

static bool is_negation(const struct ir_insn *i, const struct contraction *entry)
{
    return i->kind == IR_LANES && i->lane && (i->lane == entry->sign[0] || i->lane == entry->sign[1]);
}

/* ---- who reads which product ---- */

static struct holding *held_by(struct contractor *c, ir_ref r)
{
    struct holding *h = &c->holdings[ir_ref_index(r)];
    if (h->trace != c->trace)
        *h = (struct holding){.trace = c->trace, .product = c->global[ir_ref_index(r)]};
    return h;
}

static struct product *product_in(struct contractor *c, ir_ref r)
{
    uint32_t n = ir_ref_kind(r) == REF_REG ? held_by(c, r)->product : 0;
    return n ? &c->products.at[n - 1] : NULL;
}

static bool is_overwritten(struct contractor *c, ir_ref factor, uint32_t since)
{
    return ir_ref_kind(factor) == REF_REG && held_by(c, factor)->written_at >= since;
}

/* Can a sum that is here be contracted with the product? */
static bool is_in_reach(const struct contractor *c, const struct product *p)
{
    const struct ptxas_range *seen = &c->seen[p->order];
    return p->region == c->region || (p->has_fixed && seen->first <= c->order && c->order <= seen->last);
}

/* Operand k of a sum. */
static void note_addend(struct contractor *c, struct sum *s, unsigned k, ir_ref r, bool twice)
{
    struct product *p = product_in(c, r);
    if (!p)
        return;
    bool is_minus = k == 1 && s->subtracts; /* `- neg.ftz(p)` is none that ptxas sees */
    if (twice || p->entry != s->entry || !is_in_reach(c, p) || (is_minus && held_by(c, r)->flushed)) {
        p->is_read = true;
        return;
    }
    p->n_sums++;
    p->overwritten |=
        p->trace != c->trace || is_overwritten(c, p->factor[0], p->at) || is_overwritten(c, p->factor[1], p->at);
    s->operand[k].product = held_by(c, r)->product;
    s->operand[k].negated = held_by(c, r)->negated;
}

static void note_reads(struct contractor *c, const struct ir_insn *i, uint32_t number)
{
    ir_ref refs[IR_MAX_REFS];
    struct sum s;
    if (find_sum(i, &s)) {
        bool twice = product_in(c, i->a) && product_in(c, i->a) == product_in(c, i->b);
        s.insn = number;
        note_addend(c, &s, 0, i->a, twice);
        note_addend(c, &s, 1, i->b, twice);
        if (s.operand[0].product || s.operand[1].product)
            *VEC_PUSH(&c->scratch, &c->sums) = s;
        return;
    }
    struct product *p = i->guard ? NULL : product_in(c, i->a);
    if (p && (is_mov(i) || is_negation(i, p->entry)))
        return; /* its readers count */
    for (unsigned k = 0, n = ir_reads(i, refs); k < n; k++)
        if ((p = product_in(c, refs[k])))
            p->is_read = true;
}

static bool is_fixed(const struct contractor *c, const struct contraction *entry, ir_ref r)
{
    enum ptxas_fixed fixed = ptxas_fixed_of(c->fixed, r);
    return fixed == FIXED_CONSTANT || (fixed == FIXED_IN_BANK && entry->reads_bank);
}

static bool is_constant(struct contractor *c, ir_ref r)
{
    return ir_ref_kind(r) == REF_CONST || (ir_ref_kind(r) == REF_REG && held_by(c, r)->is_constant);
}

static void note_writes(struct contractor *c, const struct ir_insn *i, uint32_t number)
{
    ir_ref refs[IR_MAX_REFS];
    const struct contraction *entry = product_entry(c->f, i);
    bool is_folded = entry && is_constant(c, i->a) && is_constant(c, i->b); /* by ptxas, before */
    struct product *p = i->guard ? NULL : product_in(c, i->a);
    struct holding copied = {.is_constant = is_mov(i) && !i->guard && is_constant(c, i->a)};
    if (p && (is_mov(i) || is_negation(i, p->entry))) {
        copied = *held_by(c, i->a);
        copied.is_constant = false;
        copied.negated ^= !is_mov(i);
        copied.flushed |= i->lane == LANE_neg_f32_ftz;
    }
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++) {
        if (ir_ref_kind(refs[k]) != REF_REG)
            continue;
        struct product *old = i->guard ? product_in(c, refs[k]) : NULL;
        if (old)
            old->is_read = true; /* by lanes without the guard, under the register's name */
        struct holding *h = held_by(c, refs[k]);
        h->written_at = c->at;
        h->product = copied.product;
        h->negated = copied.negated;
        h->flushed = copied.flushed;
        h->is_constant = copied.is_constant || is_folded;
    }
    if (!entry || is_folded || ir_ref_kind(i->d) != REF_REG)
        return;
    uint32_t d = ir_ref_index(i->d);
    bool has_fixed = ir_is_only_def(c->defs, i->d, i) && (is_fixed(c, entry, i->a) || is_fixed(c, entry, i->b));
    bool divides = is_division(i, entry);
    *VEC_PUSH(&c->scratch, &c->products) = (struct product){.insn = number,
                                                            .at = c->at,
                                                            .trace = c->trace,
                                                            .region = c->region,
                                                            .order = c->order,
                                                            .entry = entry,
                                                            .has_fixed = has_fixed,
                                                            .divides = divides,
                                                            .factor = {i->a, i->b}};
    c->global[d] = has_fixed ? c->products.n : 0;
    held_by(c, i->d)->product = c->products.n;
}

static void scan_block(struct contractor *c, const struct ir_block *b)
{
    c->order = b->order;
    for (uint32_t k = 0; k < b->n; k++) {
        const struct ir_insn *i = &c->f->insns.at[b->first + k];
        c->at++;
        c->region += ptxas_ends_block(i);
        note_reads(c, i, b->first + k);
        note_writes(c, i, b->first + k);
        c->region += ptxas_ends_block(i);
    }
}

/* What is needed behind the trace is read there. */
static void end_trace(struct contractor *c, uint32_t last)
{
    const uint64_t *out = c->live.out + (size_t)last * c->live.words;
    for (uint32_t w = 0; w < c->live.words; w++)
        for (uint64_t left = out[w]; left; left &= left - 1) {
            uint32_t reg = c->live.regs[w * 64 + (uint32_t)__builtin_ctzll(left)];
            struct product *p = product_in(c, ir_make_ref(REF_REG, reg));
            if (p && c->global[reg] == 0)
                p->is_read = true;
        }
}

/* ---- traces ---- */

/* The one block that follows, in the same region of ptxas; or NO_BLOCK. */
static uint32_t only_successor(const struct contractor *c, uint32_t block)
{
    const struct ir_block *b = &c->f->blocks.at[block];
    const struct ir_insn *last = b->n ? &c->f->insns.at[b->first + b->n - 1] : NULL;
    uint32_t n = ir_successor_count(c->f, block), first = n ? ir_successor(c->f, block, 0) : NO_BLOCK;
    bool leaves = last && last->kind >= IR_BRA && last->kind != IR_BRA && last->kind != IR_JUMP;
    for (uint32_t k = 1; k < n; k++)
        if (ir_successor(c->f, block, k) != first)
            return NO_BLOCK;
    return leaves ? NO_BLOCK : first;
}

/* By block: the block of the trace before it, or NO_BLOCK where a trace begins. */
static void find_traces(struct contractor *c, uint32_t *before, uint32_t *after)
{
    struct ir_func *f = c->f;
    /* 1 + the only one that goes there, or NO_BLOCK. */
    uint32_t *from = ARENA_ARRAY(&c->scratch, uint32_t, f->blocks.n);
    for (uint32_t o = 0; o < f->n_ordered; o++)
        for (uint32_t k = ir_count_from(f, o); k-- > 0;) {
            uint32_t *of = &from[ir_successor(f, f->order[o], k)];
            *of = !*of || *of == 1 + f->order[o] ? 1 + f->order[o] : NO_BLOCK;
        }
    for (uint32_t i = 0; i < f->blocks.n; i++)
        before[i] = after[i] = NO_BLOCK;
    for (uint32_t o = 0; o < f->n_ordered; o++) {
        uint32_t b = f->order[o], next = only_successor(c, b);
        if (next != NO_BLOCK && next != f->order[0] && from[next] == 1 + b && next != b) {
            after[b] = next;
            before[next] = b;
        }
    }
}

static void scan(struct contractor *c)
{
    struct ir_func *f = c->f;
    uint32_t *before = ARENA_ARRAY(&c->scratch, uint32_t, f->blocks.n);
    uint32_t *after = ARENA_ARRAY(&c->scratch, uint32_t, f->blocks.n);
    find_traces(c, before, after);
    for (uint32_t o = 0; o < f->n_ordered; o++) {
        uint32_t b = f->order[o];
        if (before[b] != NO_BLOCK)
            continue;
        c->trace++;
        c->region++;
        c->at = 0;
        for (; after[b] != NO_BLOCK; b = after[b])
            scan_block(c, &f->blocks.at[b]);
        scan_block(c, &f->blocks.at[b]);
        end_trace(c, f->blocks.at[b].order);
    }
}

/* ---- the choice ---- */

/* Contracts a product that only such sums read (or only this one, where `single`), the first
 * operand's if it can be. What is left as the addend is read by an fma then. */
static void choose_for(struct contractor *c, struct sum *s, bool single)
{
    for (unsigned k = 0; k < 2 && !s->chosen; k++) {
        uint32_t own = s->operand[k].product, other = s->operand[1 - k].product;
        struct product *p = own ? &c->products.at[own - 1] : NULL;
        if (!p || p->is_read || (single && p->n_sums != 1))
            continue;
        p->contracted = true;
        s->chosen = 1 + k;
        if (other)
            c->products.at[other - 1].is_read = true;
    }
}

/* Products with one reader come first: in all the text, or, of packed types, in each sum. */
static void choose(struct contractor *c)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < c->sums.n; n++) {
            struct sum *s = &c->sums.at[n];
            if (pass == 0)
                choose_for(c, s, true);
            if (pass == 1 || s->entry->is_packed)
                choose_for(c, s, false);
        }
    }
}

static bool has_products(const struct ir_func *f)
{
    for (uint32_t n = 0; n < f->insns.n; n++)
        if (product_entry(f, &f->insns.at[n]))
            return true;
    return false;
}

static bool is_for_debugging(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->target_words.n; i++)
        if (str_is(m->target_words.at[i], "debug"))
            return true;
    return false;
}

static void contract(struct contractor *c)
{
    struct ir_func *f = c->f;
    c->holdings = ARENA_ARRAY(&c->scratch, struct holding, f->regs.n);
    c->global = ARENA_ARRAY(&c->scratch, uint32_t, f->regs.n);
    scan(c);
    choose(c);
    bool any = false;
    for (uint32_t n = 0; n < c->products.n; n++)
        any |= c->products.at[n].contracted;
    if (any) {
        contract_write(c);
        ir_drop_unused(f);
    }
}

bool ir_contract(struct ir_func *f)
{
    if (is_for_debugging(f->func->module) || !has_products(f))
        return true;
    struct contractor c = {.f = f, .scratch = {.on_oom = f->arena->on_oom}};
    bool enough = ir_drop_dead(f, ptxas_is_routine, &c.scratch, &c.live);
    if (enough) {
        c.defs = ir_find_defs(f, &c.scratch);
        c.fixed = ptxas_find_fixed(f, c.defs, &c.scratch);
        c.seen = ptxas_find_copies(f, c.defs, c.fixed, &c.scratch);
        enough = c.seen;
    }
    if (enough)
        contract(&c);
    arena_free(&c.scratch);
    return enough;
}
