/* Finds loops that spin: their exit depends on what other threads do.
 *
 * A loop spins if a branch that decides whether it continues depends on a value that the loop
 * takes from outside: by a strong load or an atomic operation, a weak load whose address does not
 * change in the loop, a test of an mbarrier, a vote, a clock, or a call of a function that may do
 * any of these (callee_source.c). Such a loop lets others run after few iterations
 * (exec/quantum.c).
 *
 * A loop does not spin because it merely contains an atomic operation, such as a histogram's. Nor
 * does a loop that counts towards a number in memory, which compilers load again in each iteration
 * if the loop writes to memory.
 *
 * Dependence is traced through registers, without regard to order. So too many loops may be called
 * spinning, but never too few of those that spin on memory.
 */
#include "ir/ir.h"

struct finder {
    const struct ir_func *f;
    uint32_t first, last; /* the loop: places in the order */
    uint8_t *marks;       /* by register: what it is in the loop, enum mark */
    bool grew;
    struct arena *arena;
    struct callee_sources callees;
    VEC(struct ir_copy) results; /* of calls in the loop of functions that are sources */
};

enum mark {
    DEFINED = 1, /* in the loop */
    OUTSIDE = 2, /* takes its value from outside */
    WEAK = 4,    /* depends on weak loads of one address */
    MOVING = 8,  /* depends on what each iteration makes of itself: a count */
};

static void mark(struct finder *s, ir_ref r, enum mark what)
{
    uint8_t *marks = &s->marks[ir_ref_index(r)];
    if (ir_ref_kind(r) != REF_REG || *marks & what)
        return;
    *marks |= (uint8_t)what;
    s->grew = true;
}

static bool is_marked(const struct finder *s, ir_ref r, enum mark what)
{
    return ir_ref_kind(r) == REF_REG && s->marks[ir_ref_index(r)] & what;
}

static void mark_results(struct finder *s, const struct ir_insn *i, enum mark what)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        mark(s, refs[k], what);
}

/* The next loop's marks are its own. */
static void unmark_results(struct finder *s, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        if (ir_ref_kind(refs[k]) == REF_REG)
            s->marks[ir_ref_index(refs[k])] = 0;
}

/* Does the instruction load the result of a call that is a source? */
static bool loads_result(const struct finder *s, const struct ir_insn *i)
{
    const struct ir_access *a = i->kind == IR_LD && i->access->mem.frame ? i->access : NULL;
    bool found = false;
    for (uint32_t k = 0; k < s->results.n && a && !i->a; k++)
        found |= (uint64_t)a->disp - s->results.at[k].caller_at < s->results.at[k].bytes;
    return found;
}

/* Does the instruction bring in a value that others decide? */
static bool is_source(const struct finder *s, const struct ir_insn *i)
{
    return loads_result(s, i) || i->kind == IR_ATOM || i->kind == IR_MBARRIER || i->kind == IR_VOTE ||
           i->kind == IR_MATCH || i->kind == IR_NOW || (i->kind == IR_LD && i->access->mem.order != ORDER_WEAK);
}

static bool is_weak_source(const struct finder *s, const struct ir_insn *i)
{
    const struct ir_access *a = i->kind == IR_LD ? i->access : NULL;
    return a && a->mem.space != SPACE_LOCAL && a->mem.space != SPACE_PARAM && !a->mem.is_const &&
           !is_marked(s, i->a, DEFINED);
}

static bool is_made_of_itself(const struct ir_insn *i)
{
    return i->kind == IR_LANES && i->d && (i->d == i->a || i->d == i->b || i->d == i->c);
}

static bool depends(const struct finder *s, const struct ir_insn *i, enum mark what)
{
    ir_ref refs[IR_MAX_REFS];
    bool does = false;
    for (unsigned k = ir_reads(i, refs); k-- > 0;)
        does |= is_marked(s, refs[k], what);
    return does;
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

/* Is it a call whose results are such values? */
static bool is_source_call(struct finder *s, const struct ir_insn *i)
{
    return i->kind == IR_CALL && !i->call->syscall && i->call->results.n &&
           (!i->call->callee || ir_callee_is_source(&s->callees, s->f, i->call->callee));
}

static void note_defined(struct finder *s, const struct ir_insn *i)
{
    mark_results(s, i, DEFINED);
    if (is_source_call(s, i))
        for (uint32_t k = 0; k < i->call->results.n; k++)
            *VEC_PUSH(s->arena, &s->results) = i->call->results.at[k];
}

static void spread(struct finder *s, const struct ir_insn *i)
{
    if (is_source(s, i) || depends(s, i, OUTSIDE))
        mark_results(s, i, OUTSIDE);
    if (is_weak_source(s, i) || depends(s, i, WEAK))
        mark_results(s, i, WEAK);
    if (is_made_of_itself(i) || depends(s, i, MOVING))
        mark_results(s, i, MOVING);
}

static bool waits(const struct finder *s, ir_ref r)
{
    return is_marked(s, r, OUTSIDE) || (is_marked(s, r, WEAK) && !is_marked(s, r, MOVING));
}

/* A branch of the loop, taken on a value from outside, one side of which leaves it or goes back to
 * its head. */
static bool decides(const struct finder *s, uint32_t order)
{
    const struct ir_block *b = &s->f->blocks.at[s->f->order[order]];
    const struct ir_insn *last = b->n ? &s->f->insns.at[b->first + b->n - 1] : NULL;
    if (!last || (last->kind != IR_BRA && last->kind != IR_EXIT && last->kind != IR_RET) || !waits(s, last->guard))
        return false;
    if (last->kind != IR_BRA)
        return true;
    for (uint32_t k = ir_count_from(s->f, order); k-- > 0;) {
        uint32_t to = ir_order_from(s->f, order, k);
        if (to <= s->first || to > s->last)
            return true;
    }
    return false;
}

/* Finds what the registers of the loop are; false where the work is spent. */
static bool find_marks(struct finder *s)
{
    uint64_t insns = 0;
    for (uint32_t o = s->first; o <= s->last; o++)
        insns += 1 + s->f->blocks.at[s->f->order[o]].n;
    for_loop(s, note_defined);
    do {
        s->grew = false;
        if (!ir_spend(s->f, 32 * insns))
            return false;
        for_loop(s, spread);
    } while (s->grew);
    return true;
}

/* Notes where lanes continue behind the calls of a spinning loop. */
static void note_polls(struct finder *s)
{
    for (uint32_t o = s->first; o <= s->last; o++) {
        const struct ir_block *b = &s->f->blocks.at[s->f->order[o]];
        if (b->n && b->next != NO_BLOCK && is_source_call(s, &s->f->insns.at[b->first + b->n - 1]))
            s->f->blocks.at[b->next].polls = true;
    }
}

bool ir_find_spins(struct ir_func *f)
{
    struct arena scratch = {.on_oom = f->arena->on_oom};
    struct finder s = {.f = f, .arena = &scratch, .marks = ARENA_ARRAY(&scratch, uint8_t, f->regs.n)};
    callee_sources_init(&s.callees, &scratch);
    const uint32_t *loop_end = ir_find_loop_ends(f, &scratch);
    bool enough = true;
    for (uint32_t o = 0; o < f->n_ordered && enough; o++) {
        struct ir_block *head = &f->blocks.at[f->order[o]];
        if (!head->loop_header)
            continue;
        s.first = o;
        s.last = loop_end[o];
        s.results.n = 0;
        enough = find_marks(&s);
        for (uint32_t k = s.first; k <= s.last && !head->spins; k++)
            head->spins = decides(&s, k);
        if (head->spins)
            note_polls(&s);
        for_loop(&s, unmark_results);
    }
    arena_free(&scratch);
    return enough;
}
