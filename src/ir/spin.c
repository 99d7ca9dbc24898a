/* Which loops spin: their exit hangs on what other threads do.
 *
 * A loop spins where a branch that decides whether it goes on depends on a value that the loop itself takes from
 * outside: a strong load or an atomic operation, a weak load whose address does not change in the loop, a vote, a
 * clock. Such a loop gives way to others after few rounds (exec/interp.c); a loop that merely contains an atomic
 * operation, a histogram's for example, does not. Dependence is traced through registers, without regard to order: too
 * many loops may be called spinning, never too few of those that spin on memory.
 */
#include "ir/ir.h"

struct finder {
    const struct ir_func *f;
    uint32_t first, last; /* the loop: places in the order */
    uint8_t *defined;     /* in the loop, by register */
    uint8_t *outside;     /* takes its value from outside, by register */
    bool grew;
};

static void mark(uint8_t *set, ir_ref r, bool *grew)
{
    if (ir_ref_kind(r) == REF_REG && !set[ir_ref_index(r)]) {
        set[ir_ref_index(r)] = 1;
        *grew = true;
    }
}

static bool is_marked(const uint8_t *set, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG && set[ir_ref_index(r)];
}

static void mark_results(const struct ir_insn *i, uint8_t *set, bool *grew)
{
    mark(set, i->d, grew);
    if (i->kind != IR_LANES || lane_info((enum lane_id)i->lane)->e & CARRY_OUT)
        mark(set, i->e, grew);
    for (unsigned k = 0; k < 8 && (i->kind == IR_LD || i->kind == IR_ATOM); k++)
        mark(set, i->access->regs[k], grew);
}

/* Does the instruction bring in a value that others decide? */
static bool is_source(const struct finder *s, const struct ir_insn *i)
{
    switch (i->kind) {
    case IR_LD: {
        const struct ir_access *a = i->access;
        if (a->space == SPACE_LOCAL || a->space == SPACE_PARAM || a->is_const)
            return false;
        return a->order != ORDER_WEAK || !is_marked(s->defined, i->a);
    }
    case IR_ATOM:
    case IR_VOTE:
    case IR_MATCH:
    case IR_NOW: return true;
    default: return false;
    }
}

static bool depends(const struct finder *s, const struct ir_insn *i)
{
    bool access = i->kind == IR_LD || i->kind == IR_ATOM;
    if (is_marked(s->outside, i->a) || is_marked(s->outside, i->b) || is_marked(s->outside, i->c) ||
        is_marked(s->outside, i->guard))
        return true;
    if (i->kind == IR_LANES && lane_info((enum lane_id)i->lane)->e && is_marked(s->outside, i->e))
        return true;
    return access && i->kind == IR_ATOM && is_marked(s->outside, i->access->operands[0]);
}

typedef void visit_fn(struct finder *s, const struct ir_insn *i);

static void for_loop(struct finder *s, visit_fn *visit)
{
    for (uint32_t o = s->first; o <= s->last; o++) {
        const struct ir_block *b = &s->f->blocks.at[s->f->order[o]];
        for (uint32_t k = 0; k < b->n; k++)
            visit(s, &s->f->insns.at[b->first + k]);
    }
}

static void note_defined(struct finder *s, const struct ir_insn *i)
{
    mark_results(i, s->defined, &s->grew);
}

static void spread(struct finder *s, const struct ir_insn *i)
{
    if (is_source(s, i) || depends(s, i))
        mark_results(i, s->outside, &s->grew);
}

/* A branch of the loop, taken on a value from outside, one side of which leaves it or goes back to its head. */
static bool decides(const struct finder *s, uint32_t order)
{
    const struct ir_block *b = &s->f->blocks.at[s->f->order[order]];
    const struct ir_insn *last = b->n ? &s->f->insns.at[b->first + b->n - 1] : NULL;
    if (!last || (last->kind != IR_BRA && last->kind != IR_EXIT && last->kind != IR_RET) ||
        !is_marked(s->outside, last->guard))
        return false;
    if (last->kind != IR_BRA)
        return true;
    uint32_t out[2], n = ir_successors(s->f, s->f->order[order], out, 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = s->f->blocks.at[out[i]].order;
        if (to < s->first || to > s->last || to <= order)
            return true;
    }
    return false;
}

/* The last block of the loop that `head` heads: the last that branches back to it or further. */
static uint32_t loop_end(const struct ir_func *f, uint32_t head, uint32_t *successors, uint32_t limit)
{
    uint32_t last = head;
    for (uint32_t o = head; o < f->n_ordered; o++) {
        uint32_t n = ir_successors(f, f->order[o], successors, limit);
        for (uint32_t i = 0; i < n; i++)
            if (f->blocks.at[successors[i]].order == head)
                last = o;
    }
    return last;
}

void ir_find_spins(struct ir_func *f)
{
    struct arena scratch = {.on_oom = f->arena->on_oom};
    uint32_t limit = f->blocks.n + 1;
    uint32_t *successors = ARENA_ARRAY(&scratch, uint32_t, limit);
    for (uint32_t o = 0; o < f->n_ordered; o++) {
        struct ir_block *head = &f->blocks.at[f->order[o]];
        if (!head->loop_header)
            continue;
        struct finder s = {.f = f, .first = o, .last = loop_end(f, o, successors, limit)};
        s.defined = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
        s.outside = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
        for_loop(&s, note_defined);
        do {
            s.grew = false;
            for_loop(&s, spread);
        } while (s.grew);
        for (uint32_t k = s.first; k <= s.last && !head->spins; k++)
            head->spins = decides(&s, k);
    }
    arena_free(&scratch);
}
