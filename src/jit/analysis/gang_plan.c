/* The cost model of multi-warp vectorisation: which code gangs run (gang.c), how many warps a gang has, and which registers and
 * instructions are the same in all of them; see docs/JIT.md, "Gangs". */
#include "jit/analysis/access.h"

#include <string.h>

/* The instruction that ends a block; NULL where it just goes on with the next. */
static const struct ir_insn *ends_with(const struct function *fn, uint32_t order)
{
    uint32_t end = fn_block_end(fn, order);
    return end < block_at(fn, order)->n ? &fn->ir->insns.at[block_at(fn, order)->first + end] : NULL;
}

/* What warps come to together at the end of a block: function.c's emit_exit(). */
static uint32_t arrival_at(const struct function *fn, uint32_t order)
{
    const struct ir_insn *i = ends_with(fn, order);
    return i ? fn_arrival(fn, i) : 0;
}

uint32_t gang_side_region_end(const struct function *fn, uint32_t order)
{
    uint32_t target = fn_target(fn, order);
    return target == fn->plan.side_region[order] ? fn_next(fn, order) : target;
}

/* Does the gang come to another block from this one, whatever its registers hold? */
static bool always_goes_on(const struct function *fn, uint32_t order)
{
    const struct ir_insn *i = ends_with(fn, order);
    uint32_t to = i && i->kind == IR_BRA ? fn_target(fn, order) : fn_next(fn, order);
    if (fn->plan.is_block && fn->plan.side_region[order])
        return fn->plan.inside[gang_side_region_end(fn, order)];
    return (!i || (i->kind == IR_BRA && !i->guard)) && to != NO_BLOCK && to > order && fn->plan.inside[to];
}

bool gang_may_dissolve(const struct function *fn, uint32_t block)
{
    return fn->plan.n && fn->plan.inside[block] && !arrival_at(fn, block) && !always_goes_on(fn, block);
}

/* Blocks where warps begin or go on behind a barrier; `starts` by block. */
static void find_phase_starts(const struct function *fn, uint8_t *starts)
{
    memset(starts, 0, fn->ir->n_ordered);
    starts[0] = 1;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = arrival_at(fn, b), next = fn_next(fn, b);
        if (arrived && arrived != ARRIVED_END && next != NO_BLOCK)
            starts[next] = 1;
    }
}

bool gang_barrier_is_passed_again(const struct function *fn, uint32_t block)
{
    for (uint32_t b = block; b < fn->ir->n_ordered; b++)
        for (uint32_t to = 0; to <= block; to++)
            if (fn_goes_to(fn, b, to))
                return true;
    return false;
}

/* ---- what warps have in common ---- */

/* The same lane by lane in all warps of a block? */
static bool is_common_tid(const struct function *fn, unsigned axis)
{
    const uint32_t *b = fn->shapes->block;
    for (uint32_t t = WARP_LANES; t < b[0] * b[1] * b[2]; t++) {
        uint32_t at[2];
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t u = k ? t % WARP_LANES : t;
            at[k] = axis == 0 ? u % b[0] : axis == 1 ? u / b[0] % b[1] : u / b[0] / b[1];
        }
        if (at[0] != at[1])
            return false;
    }
    return true;
}

static bool is_common(const struct function *fn, ir_ref r)
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

/* Gives the same where its operands are the same. A weak load at the same place in several warps may be one: nothing orders
 * them. */
static bool follows_operands(const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    if (i->kind != IR_LD)
        return i->kind == IR_LANES;
    return (a->mem.space == SPACE_GLOBAL || a->mem.space == SPACE_CONST || a->mem.space == SPACE_SHARED ||
            a->mem.space == SPACE_PARAM) &&
           !a->mem.frame && !a->mem.is_volatile && a->mem.order == ORDER_WEAK;
}

/* Its results are common, all of them or none. */
static bool visit_insn(struct function *fn, const struct ir_insn *i, bool by_all)
{
    ir_ref reads[IR_MAX_REFS], writes[IR_MAX_REFS];
    unsigned n_reads = ir_reads(i, reads), n_writes = ir_writes(i, writes);
    bool common = by_all && n_writes && follows_operands(i), changed = false;
    for (unsigned k = 0; k < n_reads && common; k++)
        common = is_common(fn, reads[k]);
    for (unsigned k = 0; k < n_writes && common; k++)
        common = is_common(fn, writes[k]);
    fn->plan.once[i - fn->ir->insns.at] = common;
    for (unsigned k = 0; k < n_writes && !common; k++)
        if (ir_ref_kind(writes[k]) == REF_REG) {
            changed |= fn->plan.common[ir_ref_index(writes[k])];
            fn->plan.common[ir_ref_index(writes[k])] = 0;
        }
    return changed;
}

/* All is common until shown otherwise. Gangs go on only where all their warps go the same way, so nothing hangs on ways; but
 * for side regions that some of them run. */
static void find_common(struct function *fn)
{
    const struct ir_live *live = &fn->shapes->live;
    uint8_t starts[fn->ir->n_ordered];
    fn->plan.common = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->regs.n);
    fn->plan.once = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->insns.n + 1);
    memset(fn->plan.common, 1, fn->ir->regs.n);
    find_phase_starts(fn, starts);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) /* where a gang begins only single numbers are compared */
        for (uint32_t n = 0; n < live->n && starts[b]; n++)
            if (ir_in_set(live_in(fn, b), n) && fn->shapes->regs[live->regs[n]] == SHAPE_DIVERGENT)
                fn->plan.common[live->regs[n]] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
            for (uint32_t k = 0; k < block_at(fn, b)->n; k++)
                changed |= visit_insn(fn, &fn->ir->insns.at[block_at(fn, b)->first + k],
                                      !fn->plan.is_side_region || !fn->plan.is_side_region[b]);
    }
}

/* ---- which blocks ---- */

/* Blocks that a gang may go on with. */
static uint32_t next_blocks(const struct function *fn, uint32_t b, uint32_t next[2])
{
    const struct ir_insn *i = ends_with(fn, b);
    uint32_t n = 0;
    if (i && i->kind != IR_BRA && !fn_is_plain_shuffle(fn, i))
        return 0;
    if (i && i->kind == IR_BRA)
        next[n++] = fn_target(fn, b);
    if ((!i || i->kind != IR_BRA || i->guard) && fn_next(fn, b) != NO_BLOCK)
        next[n++] = fn_next(fn, b);
    return n;
}

/* Blocks from which a gang comes to one of `to`, which grows; or those that it comes to from them. */
static void spread(const struct function *fn, uint8_t *to, bool backwards)
{
    uint32_t next[2];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
            uint32_t n = next_blocks(fn, b, next);
            for (uint32_t k = 0; k < n; k++) {
                uint8_t *from = backwards ? &to[next[k]] : &to[b], *at = backwards ? &to[b] : &to[next[k]];
                changed |= *from && !*at;
                *at |= *from;
            }
        }
    }
}

/* ---- what it is worth ---- */

/* A loop, in slots: what an iteration of it keeps a warp waiting for its own results, and what it keeps the CPU busy with, for each
 * warp and for the gang. */
struct worth {
    uint64_t waits, own, common;
    bool accesses;              /* it has such */
    bool parts;                 /* single warps have masks of who still goes around it */
    uint32_t registers;         /* of the CPU, which hold a warp's own values around the loop */
    uint32_t consecutive_bytes; /* the fewest that its lanes load one behind the other; 0: they do not */
};

static const struct jit_costs *costs_of(const struct function *fn)
{
    return fn->target->costs;
}

/* Until the result of an operation on vectors is there, in cycles. */
static unsigned latency_of(const struct function *fn, const struct ir_insn *i)
{
    const struct jit_costs *costs = costs_of(fn);
    const unsigned latency[] = {
        [UNIT__] = costs->latency, [UNIT_fp] = costs->latency_fp, [UNIT_imul] = costs->latency_imul};
    return latency[lane_info((enum lane_id)i->lane)->unit];
}

/* The CPU's vectors that a value takes. */
static unsigned vectors_of(const struct function *fn, ir_ref r)
{
    unsigned width = fn_ref_width(fn, r) < 32 ? 32 : fn_ref_width(fn, r);
    return fn_ref_shape(fn, r) == SHAPE_DIVERGENT ? WARP_LANES * width / costs_of(fn)->vector_bits : 0;
}

/* What it keeps the CPU busy with: two operations on vectors a cycle, or four others. Where accesses are tested before the
 * loop (loop_version.c), most loads are operands of what follows. */
static unsigned slots_of(const struct function *fn, const struct ir_insn *i, bool tested)
{
    const struct jit_costs *costs = costs_of(fn);
    ir_ref writes[IR_MAX_REFS];
    unsigned n = ir_writes(i, writes), slots = 0;
    uint16_t address = i->a ? fn_ref_shape(fn, i->a) : SHAPE_UNIFORM;
    if (i->kind == IR_ATOM)
        return address == SHAPE_DIVERGENT ? costs->atomic_lane * WARP_LANES : costs->bounds_test;
    if (i->kind == IR_LD && !tested)
        return n + fn_pieces(fn, address);
    if (!tested && n == 1 && fn_ref_shape(fn, writes[0]) != SHAPE_DIVERGENT && fn_ref_width(fn, writes[0]) == 64)
        return 0; /* of an address: the operand has it */
    for (unsigned k = 0; k < n; k++)
        slots += fn_ref_shape(fn, writes[k]) == SHAPE_DIVERGENT ? costs->vector * vectors_of(fn, writes[k])
                                                                : fn_pieces(fn, fn_ref_shape(fn, writes[k]));
    if (i->kind != IR_LD && i->kind != IR_ST)
        return slots;
    return slots +
           (address == SHAPE_DIVERGENT ? costs->search : (tested ? costs->bounds_test : 1) * fn_pieces(fn, address));
}

/* How long after its own value at the start of an iteration that of a register is there at the end: the longest way through
 * the loop's instructions, in cycles; 0 where it does not hang on it. */
static unsigned find_wait(const struct function *fn, uint32_t reg, uint32_t first, uint32_t last, uint16_t *at)
{
    ir_ref refs[IR_MAX_REFS];
    memset(at, 0, fn->ir->regs.n * sizeof *at);
    at[reg] = 1; /* cycles + 1; 0: does not hang on it */
    for (uint32_t b = first; b <= last; b++)
        for (uint32_t n = 0; n < block_at(fn, b)->n; n++) {
            const struct ir_insn *i = &fn->ir->insns.at[block_at(fn, b)->first + n];
            unsigned latest = 0, reads = ir_reads(i, refs);
            for (unsigned k = 0; k < reads; k++)
                if (ir_ref_kind(refs[k]) == REF_REG && at[ir_ref_index(refs[k])] > latest)
                    latest = at[ir_ref_index(refs[k])];
            if (latest && i->kind == IR_LANES)
                latest += latency_of(fn, i);
            unsigned writes = ir_writes(i, refs);
            for (unsigned k = 0; k < writes; k++)
                if (ir_ref_kind(refs[k]) == REF_REG)
                    at[ir_ref_index(refs[k])] = (uint16_t)(latest < UINT16_MAX ? latest : UINT16_MAX);
        }
    return at[reg] > 1 ? at[reg] - 1u : 0;
}

/* Of atomics those of the block's own memory: a warp behind another one in a gang is one that comes later. */
static bool is_for_gangs(const struct ir_insn *i)
{
    return (i->kind == IR_ATOM && i->access->mem.space == SPACE_SHARED) || i->kind == IR_LANES || i->kind == IR_LD ||
           i->kind == IR_ST || i->kind == IR_BRA || i->kind == IR_SHFL || i->kind == IR_GROUP;
}

/* May accesses be tested before the loop? What loop_version.c finds out, by and large. */
static bool is_tested(const struct function *fn, uint32_t first, uint32_t last)
{
    const struct ir_insn *end = ends_with(fn, first);
    bool tested = first != last || !end || !end->guard || fn_ref_shape(fn, end->guard) == SHAPE_DIVERGENT;
    for (uint32_t n = 0; n < block_at(fn, first)->n; n++) {
        const struct ir_insn *i = &fn->ir->insns.at[block_at(fn, first)->first + n];
        tested |=
            (i->kind == IR_LD || i->kind == IR_ST) && (i->guard || (i->a && fn_ref_shape(fn, i->a) == SHAPE_DIVERGENT));
    }
    return tested;
}

/* How much lanes load of global memory one behind the other, a warp in all; or 0. */
static uint32_t consecutive_bytes_of(const struct function *fn, const struct ir_insn *i)
{
    if (i->kind != IR_LD || (i->access->mem.space != SPACE_GLOBAL && i->access->mem.space != SPACE_GENERIC))
        return 0;
    uint16_t shape = i->a ? fn_ref_shape(fn, i->a) : SHAPE_UNIFORM;
    uint32_t bytes = (uint32_t)i->access->mem.bytes * i->access->mem.n;
    if (shape == SHAPE_UNIFORM || shape == SHAPE_DIVERGENT || fn_pieces(fn, shape) > 1)
        return 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (fn->shapes->lane_offsets.at[shape].at[l] != (int64_t)l * bytes)
            return 0;
    return bytes * WARP_LANES;
}

static void note_consecutive(struct worth *w, uint32_t bytes)
{
    if (bytes && (!w->consecutive_bytes || bytes < w->consecutive_bytes))
        w->consecutive_bytes = bytes;
}

/* False where a gang does not go around the loop. */
static bool find_worth(const struct function *fn, uint32_t first, uint32_t last, struct worth *w)
{
    const struct ir_live *live = &fn->shapes->live;
    uint16_t *at = ARENA_ARRAY(fn->arena, uint16_t, fn->ir->regs.n);
    bool tested = is_tested(fn, first, last);
    *w = (struct worth){0};
    for (uint32_t b = first; b <= last; b++)
        for (uint32_t n = 0; n < block_at(fn, b)->n; n++) {
            uint32_t k = block_at(fn, b)->first + n;
            const struct ir_insn *i = &fn->ir->insns.at[k];
            if (!is_for_gangs(i))
                return false;
            w->accesses |= i->kind == IR_LD || i->kind == IR_ST;
            w->parts |= i->kind == IR_BRA && i->guard && fn_ref_shape(fn, i->guard) == SHAPE_DIVERGENT;
            *(fn->plan.once[k] ? &w->common : &w->own) += slots_of(fn, i, tested);
            if (!fn->plan.once[k])
                note_consecutive(w, consecutive_bytes_of(fn, i));
        }
    for (uint32_t n = 0; n < live->n; n++) {
        uint32_t reg = live->regs[n];
        if (!ir_in_set(live_in(fn, first), n) || fn->shapes->regs[reg] != SHAPE_DIVERGENT || fn->plan.common[reg])
            continue;
        uint64_t waits = (uint64_t)costs_of(fn)->slots * find_wait(fn, reg, first, last, at);
        w->waits = waits > w->waits ? waits : w->waits;
        w->registers += fn->ir->regs.at[reg].width > 1 ? vectors_of(fn, ir_make_ref(REF_REG, reg)) : 0;
    }
    return true;
}

/* The time of an iteration, for one warp of a gang of n. */
static double time_of(const struct function *fn, const struct worth *w, unsigned n)
{
    bool has_masks = n == 1 && w->parts; /* gangs have none */
    double own = (double)w->own * (has_masks ? costs_of(fn)->lane_masks : n), busy = own + (double)w->common;
    return (busy > (double)w->waits ? busy : (double)w->waits) / n;
}

/* How many warps have in an iteration what the CPU brings from memory at a time. Of lanes that load bytes, a warp has a
 * quarter of that; and where iterations are far apart, as in a loop that goes on by the size of the grid, it has gone before the
 * next warp comes there. */
static unsigned sharing_warps(const struct function *fn, const struct worth *w)
{
    unsigned brought = costs_of(fn)->brought;
    return w->consecutive_bytes && w->consecutive_bytes < brought ? brought / w->consecutive_bytes : 1;
}

/* How many warps are worth it to be run together through a loop; 1: none. */
static unsigned best_gang(const struct function *fn, uint32_t first, uint32_t last, unsigned most, uint64_t *waits)
{
    const struct jit_costs *costs = costs_of(fn);
    struct worth w;
    unsigned best = 1, n_insns = 0;
    bool second = fn->request->tier == TIER_SECOND;
    if (!find_worth(fn, first, last, &w))
        return 1;
    unsigned share = second ? sharing_warps(fn, &w) : 1;
    if (share == 1 && (double)w.waits < time_of(fn, &w, 1) / 2)
        return 1;
    for (uint32_t b = first; b <= last; b++)
        n_insns += block_at(fn, b)->n;
    unsigned percent = second ? costs->gang_gain_again : w.accesses ? costs->gang_gain_with_accesses : costs->gang_gain;
    const double worth_it = percent / 100.0, by_more = costs->gang_gain_by_more / 100.0;
    for (unsigned n = 2; n <= most && n * w.registers <= costs->gang_registers && n * n_insns <= LIMIT_gang_loop;
         n *= 2)
        if (n <= share || (time_of(fn, &w, n) < worth_it * time_of(fn, &w, 1) &&
                           time_of(fn, &w, n) < by_more * time_of(fn, &w, best)))
            best = n;
    *waits = share > 1 && w.own > w.waits ? w.own : w.waits;
    return best;
}

/* The last block of the loop that a block heads, which contains no other loop; or NO_BLOCK. */
static uint32_t loop_end(const struct function *fn, uint32_t head)
{
    uint32_t next[2], end = NO_BLOCK;
    for (uint32_t b = head; b < fn->ir->n_ordered; b++) {
        uint32_t n = next_blocks(fn, b, next);
        for (uint32_t k = 0; k < n; k++)
            end = next[k] == head ? b : end;
    }
    for (uint32_t b = head + 1; b <= end && end != NO_BLOCK; b++)
        if (block_at(fn, b)->loop_header)
            return NO_BLOCK;
    return end;
}

/* ---- whole blocks ---- */

/* The last block of a loop around the barrier at the end of a block; or NO_BLOCK. */
static uint32_t loop_around(const struct function *fn, uint32_t barrier, uint32_t *first)
{
    for (uint32_t b = fn->ir->n_ordered; b-- > barrier;) {
        *first = fn_target(fn, b);
        if (*first <= barrier)
            return b;
    }
    return NO_BLOCK;
}

/* May each warp of a gang run the block by itself, in the lanes that come there? */
static bool is_for_side_regions(const struct function *fn, uint32_t order)
{
    for (uint32_t n = 0; n < fn_block_end(fn, order); n++) {
        uint32_t k = block_at(fn, order)->first + n;
        enum ir_kind kind = fn->ir->insns.at[k].kind;
        if ((kind != IR_LANES && kind != IR_LD && kind != IR_ST && kind != IR_ATOM) || fn->shapes->assumptions[k])
            return false;
    }
    return true;
}

/* Where a branch skips a block that nobody else comes to and that goes on where the others are: that block; else 0. */
static uint32_t side_region_behind(const struct function *fn, uint32_t order, const uint32_t *comes_to)
{
    const struct ir_insn *i = ends_with(fn, order);
    uint32_t next = fn_next(fn, order), target = fn_target(fn, order);
    if (!i || i->kind != IR_BRA || !i->guard || target == NO_BLOCK || next == NO_BLOCK ||
        (is_common(fn, i->guard) && fn_ref_shape(fn, i->guard) != SHAPE_DIVERGENT))
        return 0;
    uint32_t region = target < next ? target : next, behind = target < next ? next : target;
    if (region <= order || region == behind || comes_to[region] != 1)
        return 0;
    const struct ir_insn *last = ends_with(fn, region);
    bool goes_there =
        last ? last->kind == IR_BRA && !last->guard && fn_target(fn, region) == behind : fn_next(fn, region) == behind;
    return goes_there && is_for_side_regions(fn, region) ? region : 0;
}

/* How many blocks go on with each. */
static uint32_t *count_comers(const struct function *fn)
{
    uint32_t *n = ARENA_ARRAY(fn->arena, uint32_t, fn->ir->n_ordered);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        for (uint32_t k = ir_successor_count(fn->ir, fn->ir->order[b]); k-- > 0;)
            n[fn->ir->blocks.at[ir_successor(fn->ir, fn->ir->order[b], k)].order]++;
    return n;
}

/* What they write is not common, so there may be more of them then. */
static void find_side_regions(struct function *fn)
{
    const uint32_t *comes_to = count_comers(fn);
    fn->plan.side_region = ARENA_ARRAY(fn->arena, uint32_t, fn->ir->n_ordered);
    fn->plan.is_side_region = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->n_ordered);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
            uint32_t region = fn->plan.side_region[b] ? 0 : side_region_behind(fn, b, comes_to);
            if (!region)
                continue;
            fn->plan.side_region[b] = region;
            fn->plan.is_side_region[region] = 1;
            changed = true;
        }
        if (changed)
            find_common(fn);
    }
}

/* Do all warps go the same way, and nowhere else than through what gangs do? */
static bool goes_together(const struct function *fn, uint32_t order)
{
    if (fn->plan.is_side_region[order])
        return true;
    for (uint32_t n = 0; n < block_at(fn, order)->n; n++) {
        const struct ir_insn *i = &fn->ir->insns.at[block_at(fn, order)->first + n];
        bool together = !i->guard || i->kind != IR_BRA || fn->plan.side_region[order] ||
                        (is_common(fn, i->guard) && fn_ref_shape(fn, i->guard) != SHAPE_DIVERGENT);
        bool arrives = n == fn_block_end(fn, order) && arrival_at(fn, order);
        if (!together || (!is_for_gangs(i) && !arrives))
            return false;
    }
    return true;
}

/* Is it a load through the same register as an earlier one of the block? They may share a test, and be moved together. */
static bool is_neighbour(const struct function *fn, uint32_t order, uint32_t index)
{
    const struct ir_insn *insns = &fn->ir->insns.at[block_at(fn, order)->first], *i = &insns[index];
    bool found = false;
    for (uint32_t n = 0; n < index && i->kind == IR_LD && fn_ref_shape(fn, i->a) != SHAPE_DIVERGENT; n++)
        found |= insns[n].kind == IR_LD && insns[n].a == i->a;
    return found;
}

/* Accesses that are each tested, and have a slow way. */
static uint32_t count_tests(const struct function *fn, uint32_t order)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < block_at(fn, order)->n; n++) {
        const struct ir_insn *i = &fn->ir->insns.at[block_at(fn, order)->first + n];
        found += !is_neighbour(fn, order, n) && (i->kind == IR_LD || i->kind == IR_ST) &&
                 (i->access->mem.space == SPACE_GLOBAL || i->access->mem.space == SPACE_GENERIC ||
                  fn_ref_shape(fn, i->a) == SHAPE_DIVERGENT);
    }
    return found;
}

/* A loop around barriers in which so little happens between them that warps would spend their time on coming and going. */
static bool is_short_around_barriers(const struct function *fn, uint32_t whole)
{
    uint32_t first = 0, n = 0, tests = 0, n_loops = 0;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = arrival_at(fn, b),
                 last = arrived && arrived != ARRIVED_END ? loop_around(fn, b, &first) : NO_BLOCK;
        for (uint32_t k = first; last != NO_BLOCK && k <= last; k++)
            if (!goes_together(fn, k))
                return false;
        n_loops += last != NO_BLOCK;
        n += block_at(fn, b)->n;
        tests += count_tests(fn, b);
    }
    return n_loops && n * whole <= LIMIT_gang_block && tests * whole <= LIMIT_gang_block_tests;
}

static bool spins(const struct function *fn)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        if (block_at(fn, b)->spins || block_at(fn, b)->serial_to)
            return true;
    return false;
}

/* A barrier phase: what is run from a place where one starts to the barriers that end it. False where gangs do not run it, or where
 * accesses take most of its time, which single warps do better (access_groups.c). */
static bool find_phase(const struct function *fn, uint32_t start, uint8_t *phase)
{
    uint32_t tests = 0;
    memset(phase, 0, fn->ir->n_ordered);
    phase[start] = 1;
    for (uint32_t b = start; b < fn->ir->n_ordered; b++) {
        if (!phase[b])
            continue;
        uint32_t to[2] = {fn_next(fn, b), fn_target(fn, b)};
        tests += count_tests(fn, b);
        if (block_at(fn, b)->serial_to || !goes_together(fn, b) || tests > LIMIT_gang_phase_tests)
            return false;
        for (uint32_t k = 0; k < 2 && !arrival_at(fn, b); k++)
            if (to[k] != NO_BLOCK && to[k] <= b) /* a loop */
                return false;
            else if (to[k] != NO_BLOCK)
                phase[to[k]] = 1;
    }
    return true;
}

/* Does a barrier lead from one of the blocks to another? */
static uint32_t count_barriers(const struct function *fn, const uint8_t *from, const uint8_t *to)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = arrival_at(fn, b), next = fn_next(fn, b);
        n += from[b] && arrived && arrived != ARRIVED_END && next != NO_BLOCK && to[next];
    }
    return n;
}

/* Straight code from barrier to barrier, as loops leave it that have been unrolled: barrier phases in which so little happens that
 * warps would spend their time on coming and going, with at least two barriers between them. */
static bool find_straight_phases(struct function *fn, uint32_t whole)
{
    uint32_t size = fn->ir->n_ordered, n = 0;
    uint8_t starts[size], phase[size], all[size];
    find_phase_starts(fn, starts);
    memset(all, 0, size);
    for (uint32_t s = 0; s < size; s++) {
        uint32_t n_insns = 0;
        if (!starts[s] || !find_phase(fn, s, phase))
            continue;
        for (uint32_t b = 0; b < size; b++)
            n_insns += phase[b] && !all[b] ? block_at(fn, b)->n : 0;
        if ((n + n_insns) * whole > LIMIT_gang_block)
            continue;
        n += n_insns;
        for (uint32_t b = 0; b < size; b++)
            all[b] |= phase[b];
    }
    for (uint32_t s = 0; s < size; s++)
        if (starts[s] && find_phase(fn, s, phase) && (count_barriers(fn, all, phase) || count_barriers(fn, phase, all)))
            for (uint32_t b = 0; b < size; b++)
                fn->plan.inside[b] |= phase[b] & all[b];
    return count_barriers(fn, fn->plan.inside, fn->plan.inside) >= LIMIT_gang_barriers;
}

/* May all warps of the block be one gang, and where? They keep their registers where others bring them to memory and fetch
 * them again. */
static bool plan_block(struct function *fn, uint32_t threads)
{
    uint32_t whole = threads / WARP_LANES;
    if (fn->request->tier != TIER_SECOND || !fn->target->has_gather || threads % WARP_LANES || whole > MAX_GANG)
        return false;
    find_side_regions(fn);
    fn->plan.is_straight = spins(fn) || !is_short_around_barriers(fn, whole);
    if (!fn->plan.is_straight)
        memset(fn->plan.inside, 1, fn->ir->n_ordered);
    else if (!find_straight_phases(fn, whole))
        return false;
    fn->plan.known = ARENA_ARRAY(fn->arena, struct ir_known, 1);
    ir_find_known(fn->ir, fn->shapes, fn->arena, fn->plan.known);
    return true;
}

/* Where barrier phases start; but where straight phases come to each other the gang is there already. */
static void find_entries(struct function *fn)
{
    uint8_t starts[fn->ir->n_ordered];
    find_phase_starts(fn, starts);
    fn->plan.entries = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->n_ordered);
    fn->plan.entries[0] = fn->plan.inside[0];
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t next = fn_next(fn, b);
        bool is_there = fn->plan.is_straight && fn->plan.inside[b] && !gang_barrier_is_passed_again(fn, b);
        if (arrival_at(fn, b) && next != NO_BLOCK && starts[next] && !is_there)
            fn->plan.entries[next] = fn->plan.inside[next];
    }
}

void gang_find(struct function *fn, uint32_t index)
{
    const uint32_t *block = fn->shapes->block, n = fn->ir->n_ordered;
    uint32_t threads = block[0] * block[1] * block[2], whole = threads / WARP_LANES;
    fn->plan = (struct gang_plan){0};
    if (index || whole < 2)
        return;
    uint8_t reached[n];
    find_common(fn);
    fn->plan.inside = ARENA_ARRAY(fn->arena, uint8_t, n);
    unsigned most = costs_of(fn)->gang_warps < whole ? costs_of(fn)->gang_warps : whole, best = 1;
    uint64_t waits = 0, longest = 0;
    for (int pass = 0; pass < 2 && !spins(fn); pass++)
        for (uint32_t b = 0; b < n; b++) {
            uint32_t end = block_at(fn, b)->loop_header && !fn->shapes->lane_serial[b] ? loop_end(fn, b) : NO_BLOCK;
            unsigned gang = end == NO_BLOCK ? 1 : best_gang(fn, b, end, most, &waits);
            if (gang == 1)
                continue;
            longest = waits > longest ? waits : longest;
            best = gang > best ? gang : best;
            for (uint32_t k = b; k <= end && pass; k++) /* not what is left over of a loop that has been unrolled */
                fn->plan.inside[k] = 2 * waits > longest;
        }
    bool is_block = best == 1 && plan_block(fn, threads);
    best = is_block ? whole : best;
    find_phase_starts(fn, reached);
    if (!is_block)
        spread(fn, fn->plan.inside, true);
    spread(fn, reached, false);
    for (uint32_t b = 0; b < n; b++)
        fn->plan.inside[b] &= reached[b] && !(is_block && fn->plan.is_side_region[b]);
    fn->plan.n = best > 1 ? best : 0;
    fn->plan.is_block = is_block;
    find_entries(fn);
}

static bool is_fallible(const struct function *fn, const struct ir_insn *i)
{
    if (i->kind != IR_LD && i->kind != IR_ST)
        return i->kind == IR_ATOM || i->kind == IR_GROUP || fn->shapes->assumptions[i - fn->ir->insns.at];
    struct access a = access_begin(fn, i);
    return !access_is_simple(fn, i) || !access_is_inside(fn, &a);
}

bool gang_may_restart(const struct function *fn, uint32_t block)
{
    const struct ir_block *b = block_at(fn, block);
    bool found = false;
    for (uint32_t k = 0; k < b->n && fn->plan.n && fn->plan.inside[block]; k++)
        found |= is_fallible(fn, &fn->ir->insns.at[b->first + k]);
    return found;
}
