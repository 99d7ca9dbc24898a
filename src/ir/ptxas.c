/* What ptxas makes of a function: see ptxas.h. */
#include "ir/ptxas.h"

#include "ir/affine.h"
#include "isa/lane_ids.h"
#include "isa/opcodes.h"

bool ptxas_is_routine(const struct ir_insn *i)
{
    const struct isa_inst *inst = i->kind == IR_LANES && i->origin ? i->origin->inst : NULL;
    enum isa_type type = inst ? (enum isa_type)inst->type[0] : TYPE_none;
    switch (inst ? inst->op : OP_none) {
    case OP_div: return isa_type_class(type) == CLASS_F ? isa_rounds(inst) : isa_type_bits(type) != 32;
    case OP_rem: return isa_type_bits(type) != 32;
    case OP_rcp:
    case OP_sqrt: return isa_rounds(inst);
    case OP_rsqrt: return type == TYPE_f64 && !isa_has(inst, MOD_ftz);
    default: return false;
    }
}

bool ptxas_ends_block(const struct ir_insn *i)
{
    if (i->kind != IR_LANES)
        return i->kind == IR_FENCE || (i->guard && i->kind < IR_BRA);
    const struct isa_inst *inst = i->origin ? i->origin->inst : NULL;
    enum isa_type type = inst ? (enum isa_type)inst->type[0] : TYPE_none;
    switch (inst ? inst->op : OP_none) {
    case OP_div:
    case OP_rem: return type == TYPE_s32 || ptxas_is_routine(i);
    case OP_bfind: return isa_type_bits(type) == 64;
    default: return ptxas_is_routine(i);
    }
}

/* ---- constants ---- */

static enum ptxas_fixed fixed_result(const uint8_t *fixed, const struct ir_insn *i)
{
    bool is_moved =
        i->kind == IR_LANES && (i->lane == LANE_mov_b16 || i->lane == LANE_mov_b32 || i->lane == LANE_mov_b64 ||
                                i->lane == LANE_neg_f32 || i->lane == LANE_neg_f64);
    if (i->guard)
        return NOT_FIXED;
    if (i->kind == IR_LD && !i->a && !i->access->mem.frame)
        return i->access->mem.space == SPACE_PARAM || i->access->mem.space == SPACE_CONST ? FIXED_IN_BANK : NOT_FIXED;
    return is_moved ? ptxas_fixed_of(fixed, i->a) : NOT_FIXED;
}

uint8_t *ptxas_find_fixed(const struct ir_func *f, const struct ir_defs *defs, struct arena *arena)
{
    uint8_t *fixed = ARENA_ARRAY(arena, uint8_t, f->regs.n);
    for (uint32_t n = 0; n < f->insns.n; n++) {
        const struct ir_insn *i = &f->insns.at[n];
        ir_ref refs[IR_MAX_REFS];
        enum ptxas_fixed result = fixed_result(fixed, i);
        for (unsigned k = 0, n_writes = result ? ir_writes(i, refs) : 0; k < n_writes; k++)
            if (ir_is_only_def(defs, refs[k], i))
                fixed[ir_ref_index(refs[k])] = (uint8_t)result;
    }
    return fixed;
}

/* ---- loops ---- */

struct loop {
    const struct ir_func *f;
    const struct ir_defs *defs;
    const uint8_t *fixed;
    jmp_buf *on_oom;
    uint32_t head, end;
    uint32_t entries; /* ways that come to the head from before it */
};

enum way {
    WAY_BACK = 1,  /* to the loop's head */
    WAY_OUT = 2,   /* behind the loop, or out of the function */
    WAY_OUTER = 4, /* out of the loop and back, to the head of a loop around it */
};

/* Where the end of a block may lead: a set of enum way. */
static unsigned ways(const struct loop *l, uint32_t order)
{
    uint32_t block = l->f->order[order];
    const struct ir_block *b = &l->f->blocks.at[block];
    const struct ir_insn *last = b->n ? &l->f->insns.at[b->first + b->n - 1] : NULL;
    unsigned found = last && (last->kind == IR_RET || last->kind == IR_EXIT || last->kind == IR_TRAP) ? WAY_OUT : 0;
    for (uint32_t k = ir_successor_count(l->f, block); k-- > 0;) {
        uint32_t to = l->f->blocks.at[ir_successor(l->f, block, k)].order;
        found |= to == l->head ? WAY_BACK : to < l->head ? WAY_OUTER : to > l->end ? WAY_OUT : 0;
    }
    return found;
}

/* The last block that `order` leads to, or `reach`, what is the greater: blocks before it need not
 * be come to. */
static uint32_t reach_from(const struct loop *l, uint32_t order, uint32_t reach)
{
    for (uint32_t k = ir_count_from(l->f, order); k-- > 0;) {
        uint32_t to = ir_order_from(l->f, order, k);
        reach = to > reach ? to : reach;
    }
    return reach;
}

static bool has_routine(const struct loop *l, uint32_t order)
{
    const struct ir_block *b = ir_block_at(l->f, order);
    bool found = false;
    for (uint32_t k = 0; k < b->n; k++)
        found |= ptxas_is_routine(&l->f->insns.at[b->first + k]);
    return found;
}

/* Is the loop left behind a first part, where all ways through that meet, and nowhere where it
 * branches back? The part has neither loops nor routines; *last is its last block. */
static bool is_rotated(const struct loop *l, uint32_t *last)
{
    uint32_t o = l->head, reach = o;
    while (o < l->end && !ways(l, o) && !has_routine(l, o)) {
        reach = reach_from(l, o, reach);
        if (ir_block_at(l->f, ++o)->loop_header)
            return false;
    }
    bool found = ways(l, o) == WAY_OUT && reach <= o && !has_routine(l, o);
    *last = o;
    for (o = l->head; o <= l->end && found; o++) {
        unsigned way = ways(l, o);
        found = !(way & WAY_BACK) || !(way & (WAY_OUT | WAY_OUTER));
    }
    return found;
}

/* The branch at the loop's end goes on while this holds of two numbers. NULL: it is not known, or
 * stands under `!`: ptxas then finds no counter. */
static const struct ir_def *find_test(const struct loop *l)
{
    const struct ir_insn *branch = ir_branch_of(l->f, ir_block_at(l->f, l->end));
    if (!branch || !branch->origin || branch->origin->guard_negated)
        return NULL;
    struct ir_def_list tests = ir_defs_within(l->defs, branch->guard, l->head, l->end + 1);
    const struct ir_insn *test = tests.n == 1 ? &l->f->insns.at[tests.at->insn] : NULL;
    return test && ir_is(test) >= IS_EQ && !test->guard ? tests.at : NULL;
}

/* Does the test, of the loop's instruction `insn`, only go on while a counter, which steps by a
 * number, is below, or of another value than, what does not change? Not if both begin as constants:
 * it is then known how often the loop goes around, and what is seen behind it is one copy's. Of a
 * loop that holds lanes together both have to be constants or parameters. */
static bool tests_counter(const struct loop *l, struct ir_loop *loop, uint32_t insn, bool holds_lanes)
{
    const struct ir_insn *test = &l->f->insns.at[insn];
    const struct ir_affine *a = ir_affine_of(loop, test->a, insn), *b = ir_affine_of(loop, test->b, insn);
    bool counts_a = a->over == EVOLVES_BY_STEP;
    const struct ir_affine *counter = counts_a ? a : b, *limit = counts_a ? b : a;
    enum lane_is is = counts_a ? ir_is(test) : lane_mirrored(ir_is(test));
    bool is_above = is == IS_UGT || is == IS_UGE || is == IS_SGT || is == IS_SGE;
    if (counter->over != EVOLVES_BY_STEP || limit->over != EVOLVES_NOT || !counter->step ||
        (counter->step > 0 && is_above))
        return false;
    struct ir_def_list starts = ir_defs_within(l->defs, counter->base, 0, l->head);
    enum ptxas_fixed first = starts.n == 1 ? fixed_result(l->fixed, &l->f->insns.at[starts.at->insn]) : NOT_FIXED;
    enum ptxas_fixed last = ptxas_fixed_of(l->fixed, limit->r);
    bool is_known = first == FIXED_CONSTANT && last == FIXED_CONSTANT, is_fixed = first && last;
    return !is_known && (is_fixed || !holds_lanes);
}

static bool is_counted(const struct loop *l, bool holds_lanes)
{
    struct arena arena = {.on_oom = l->on_oom};
    const struct ir_def *test = find_test(l);
    struct ir_loop loop = {0};
    if (test)
        loop = ir_loop_of(l->f, NULL, l->defs, l->head, l->end + 1, &arena);
    bool is = test && tests_counter(l, &loop, test->insn, holds_lanes);
    arena_free(&arena);
    return is;
}

/* Does it hold lanes together? To ptxas atomic operations do, too. */
static bool holds_lanes(const struct ir_insn *i)
{
    return i->kind == IR_ATOM || i->kind == IR_ACTIVEMASK || i->kind == IR_GROUP ||
           (i->kind >= IR_SHFL && i->kind <= IR_NANOSLEEP);
}

/* ptxas counts, before it splits what is wider than 32 bits, and computes
 * the address of an access. */
static uint32_t size_of(const struct ir_insn *i)
{
    bool has_address = (i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM) && i->a && i->access->disp;
    return i->kind == IR_JUMP ? 0 : 1 + has_address;
}

/* What of a loop matters to unrolling. */
struct contents {
    uint32_t size;
    bool holds_lanes, has_barrier, has_branch; /* has_branch: before the end */
    uint32_t first, behind;                    /* instructions */
};

/* Adds a block; false where something is against unrolling. is_on_all:
 * each iteration comes there. */
static bool add_block(const struct loop *l, const struct ir_block *b, bool is_on_all, struct contents *c)
{
    c->first = b->first < c->first ? b->first : c->first;
    c->behind = b->first + b->n > c->behind ? b->first + b->n : c->behind;
    for (uint32_t k = 0; k < b->n; k++) {
        const struct ir_insn *i = &l->f->insns.at[b->first + k];
        if (i->kind == IR_FENCE || i->kind == IR_CALL || ptxas_is_routine(i) ||
            (holds_lanes(i) && i->kind != IR_ATOM && !is_on_all))
            return false;
        c->size += size_of(i);
        c->holds_lanes |= holds_lanes(i);
        c->has_barrier |= i->kind == IR_BAR || i->kind == IR_WARPSYNC;
    }
    return true;
}

/* Innermost, counted, entered in one way, left at its end alone, not too long, and of what ptxas
 * copies? */
static bool is_unrolled(const struct loop *l)
{
    enum { MAX_SIZE = 48 };
    /* No compiler parts a loop's blocks more, and it would take long. */
    enum { FARTHEST = 1 << 12 };
    uint32_t reach = l->head; /* of the branches so far, the last block */
    struct contents c = {.first = UINT32_MAX};
    if (l->entries != 1 || ways(l, l->end) != (WAY_BACK | WAY_OUT))
        return false;
    for (uint32_t o = l->head; o <= l->end; o++) {
        const struct ir_block *b = ir_block_at(l->f, o);
        if ((o > l->head && b->loop_header) || (o < l->end && ways(l, o)) || !add_block(l, b, reach <= o, &c) ||
            c.size > MAX_SIZE)
            return false;
        reach = reach_from(l, o, reach);
        c.has_branch |= o < l->end && ir_count_from(l->f, o) > 1;
    }
    return !(c.has_barrier && c.has_branch) && c.behind - c.first <= FARTHEST && !ir_keeps_rolled(l->f, l->head) &&
           is_counted(l, c.holds_lanes);
}

/* By block in order: how often blocks before it lead to it. work: of all blocks before it, what it
 * takes to look at them. */
static uint32_t *count_entries(const struct ir_func *f, uint64_t *work, struct arena *arena)
{
    uint32_t *entries = ARENA_ARRAY(arena, uint32_t, f->n_ordered);
    for (uint32_t o = 0; o < f->n_ordered; o++) {
        work[o + 1] = work[o] + 1 + ir_count_from(f, o);
        for (uint32_t k = ir_count_from(f, o); k-- > 0;) {
            uint32_t to = ir_order_from(f, o, k);
            entries[to] += to > o;
        }
    }
    return entries;
}

struct ptxas_range *ptxas_find_copies(const struct ir_func *f, const struct ir_defs *defs, const uint8_t *fixed,
                                      struct arena *arena)
{
    struct ptxas_range *seen = ARENA_ARRAY(arena, struct ptxas_range, f->n_ordered);
    uint64_t *work = ARENA_ARRAY(arena, uint64_t, f->n_ordered + 1);
    const uint32_t *end = ir_find_loop_ends(f, arena), *entries = count_entries(f, work, arena);
    for (uint32_t o = 0; o < f->n_ordered; o++)
        seen[o] = (struct ptxas_range){0, f->n_ordered - 1};
    for (uint32_t o = 0; o < f->n_ordered; o++) {
        if (!ir_block_at(f, o)->loop_header)
            continue;
        if (!ir_spend(f, work[end[o] + 1] - work[o]))
            return NULL;
        struct loop l = {f, defs, fixed, arena->on_oom, o, end[o], entries[o]};
        uint32_t last = end[o];
        if (is_unrolled(&l) || is_rotated(&l, &last))
            for (uint32_t k = o; k <= last; k++)
                seen[k] = (struct ptxas_range){o, last};
    }
    return seen;
}
