/* Which loops spin: their exit hangs on what other threads do.
 *
 * A loop spins where a branch that decides whether it goes on depends on a value that the loop itself takes from
 * outside: a strong load or an atomic operation, a weak load whose address does not change in the loop, a vote, a
 * clock. Such a loop gives way to others after few rounds (exec/turn.c); a loop that merely contains an atomic
 * operation, a histogram's for example, does not, nor one that counts towards a number in memory, which compilers load
 * anew in each round where the loop writes to memory. Dependence is traced through registers, without regard to order:
 * too many loops may be called spinning, never too few of those that spin on memory.
 */
#include "ir/ir.h"

struct finder {
    const struct ir_func *f;
    uint32_t first, last; /* the loop: places in the order */
    uint8_t *defined;     /* in the loop, by register */
    uint8_t *outside;     /* takes its value from outside, by register */
    uint8_t *weak;        /* depends on weak loads of one address */
    uint8_t *moving;      /* depends on what each round makes of itself: a count */
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
static bool is_source(const struct ir_insn *i)
{
    return i->kind == IR_ATOM || i->kind == IR_VOTE || i->kind == IR_MATCH || i->kind == IR_NOW ||
           (i->kind == IR_LD && i->access->order != ORDER_WEAK);
}

static bool is_weak_source(const struct finder *s, const struct ir_insn *i)
{
    const struct ir_access *a = i->kind == IR_LD ? i->access : NULL;
    return a && a->space != SPACE_LOCAL && a->space != SPACE_PARAM && !a->is_const && !is_marked(s->defined, i->a);
}

static bool is_made_of_itself(const struct ir_insn *i)
{
    return i->kind == IR_LANES && i->d && (i->d == i->a || i->d == i->b || i->d == i->c);
}

static bool depends(const uint8_t *set, const struct ir_insn *i)
{
    return is_marked(set, i->a) || is_marked(set, i->b) || is_marked(set, i->c) || is_marked(set, i->guard) ||
           (i->kind == IR_LANES && lane_info((enum lane_id)i->lane)->e && is_marked(set, i->e)) ||
           (i->kind == IR_ATOM && is_marked(set, i->access->operands[0]));
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
    if (is_source(i) || depends(s->outside, i))
        mark_results(i, s->outside, &s->grew);
    if (is_weak_source(s, i) || depends(s->weak, i))
        mark_results(i, s->weak, &s->grew);
    if (is_made_of_itself(i) || depends(s->moving, i))
        mark_results(i, s->moving, &s->grew);
}

static bool waits(const struct finder *s, ir_ref r)
{
    return is_marked(s->outside, r) || (is_marked(s->weak, r) && !is_marked(s->moving, r));
}

/* A branch of the loop, taken on a value from outside, one side of which leaves it or goes back to its head. */
static bool decides(const struct finder *s, uint32_t order)
{
    const struct ir_block *b = &s->f->blocks.at[s->f->order[order]];
    const struct ir_insn *last = b->n ? &s->f->insns.at[b->first + b->n - 1] : NULL;
    if (!last || (last->kind != IR_BRA && last->kind != IR_EXIT && last->kind != IR_RET) || !waits(s, last->guard))
        return false;
    if (last->kind != IR_BRA)
        return true;
    uint32_t out[2], n = ir_successors(s->f, s->f->order[order], out, 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = s->f->blocks.at[out[i]].order;
        if (to <= s->first || to > s->last)
            return true;
    }
    return false;
}

uint32_t ir_loop_end(const struct ir_func *f, uint32_t head, uint32_t *successors, uint32_t limit)
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
        struct finder s = {.f = f, .first = o, .last = ir_loop_end(f, o, successors, limit)};
        s.defined = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
        s.outside = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
        s.weak = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
        s.moving = ARENA_ARRAY(&scratch, uint8_t, f->regs.n);
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
