/* Chooses the code that gangs run (emit/gang.c), and the number of warps in a gang; see
 * docs/JIT.md, "Gangs". */
#include "jit/analysis/gang_plan.h"

#include <string.h>

uint32_t gang_side_region_end(const struct function *fn, uint32_t order)
{
    uint32_t target = fn_target(fn, order);
    return target == fn->plan.side_region[order] ? fn_next(fn, order) : target;
}

/* Does the gang always reach another block from this one, whatever its registers contain? */
static bool always_goes_on(const struct function *fn, uint32_t order)
{
    const struct ir_insn *i = fn_end_insn(fn, order);
    uint32_t to = i && i->kind == IR_BRA ? fn_target(fn, order) : fn_next(fn, order);
    if (fn->plan.is_block && fn->plan.side_region[order])
        return fn->plan.inside[gang_side_region_end(fn, order)];
    return (!i || (i->kind == IR_BRA && !i->guard)) && to != NO_BLOCK && to > order && fn->plan.inside[to];
}

bool gang_may_dissolve(const struct function *fn, uint32_t block)
{
    return fn->plan.n && fn->plan.inside[block] && !fn_arrival_at(fn, block) && !always_goes_on(fn, block);
}

bool gang_barrier_is_passed_again(const struct function *fn, uint32_t block)
{
    for (uint32_t b = block; b < fn->ir->n_ordered; b++)
        for (uint32_t to = 0; to <= block; to++)
            if (fn_goes_to(fn, b, to))
                return true;
    return false;
}

/* Extends `to` by the blocks from which a gang reaches it; or by those that it reaches. */
static void spread(const struct function *fn, uint8_t *to, bool backwards)
{
    uint32_t next[2];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
            uint32_t n = gang_next_blocks(fn, b, next);
            for (uint32_t k = 0; k < n; k++) {
                uint8_t *from = backwards ? &to[next[k]] : &to[b], *at = backwards ? &to[b] : &to[next[k]];
                changed |= *from && !*at;
                *at |= *from;
            }
        }
    }
}

/* The last block of the innermost loop with this header; or NO_BLOCK. */
static uint32_t loop_end(const struct function *fn, uint32_t head)
{
    uint32_t next[2], end = NO_BLOCK;
    for (uint32_t b = head; b < fn->ir->n_ordered; b++) {
        uint32_t n = gang_next_blocks(fn, b, next);
        for (uint32_t k = 0; k < n; k++)
            end = next[k] == head ? b : end;
    }
    for (uint32_t b = head + 1; b <= end && end != NO_BLOCK; b++)
        if (block_at(fn, b)->loop_header)
            return NO_BLOCK;
    return end;
}

/* Finds where barrier phases start; between straight phases the gang stays together and needs no
 * entry. */
static void find_entries(struct function *fn)
{
    uint8_t starts[fn->ir->n_ordered];
    gang_find_phase_starts(fn, starts);
    fn->plan.entries = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->n_ordered);
    fn->plan.entries[0] = fn->plan.inside[0];
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t next = fn_next(fn, b);
        bool is_there = fn->plan.is_straight && fn->plan.inside[b] && !gang_barrier_is_passed_again(fn, b);
        if (fn_arrival_at(fn, b) && next != NO_BLOCK && starts[next] && !is_there)
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
    gang_find_common(fn);
    fn->plan.inside = ARENA_ARRAY(fn->arena, uint8_t, n);
    unsigned best = 1;
    uint64_t waits = 0, longest = 0;
    for (int pass = 0; pass < 2 && !gang_spins(fn); pass++)
        for (uint32_t b = 0; b < n; b++) {
            uint32_t end = block_at(fn, b)->loop_header && !fn->shapes->lane_serial[b] ? loop_end(fn, b) : NO_BLOCK;
            unsigned gang = end == NO_BLOCK ? 1 : gang_best(fn, b, end, whole, &waits);
            if (gang == 1)
                continue;
            longest = waits > longest ? waits : longest;
            best = gang > best ? gang : best;
            /* Skips the remainder loop of an unrolled one. */
            for (uint32_t k = b; k <= end && pass; k++)
                fn->plan.inside[k] = 2 * waits > longest;
        }
    bool is_block = best == 1 && gang_plan_block(fn, threads);
    best = is_block ? whole : best;
    gang_find_phase_starts(fn, reached);
    if (!is_block)
        spread(fn, fn->plan.inside, true);
    spread(fn, reached, false);
    for (uint32_t b = 0; b < n; b++)
        fn->plan.inside[b] &= reached[b] && !(is_block && fn->plan.is_side_region[b]);
    fn->plan.n = best > 1 ? best : 0;
    fn->plan.is_block = is_block;
    find_entries(fn);
}

bool gang_may_fail(const struct function *fn, const struct ir_insn *i)
{
    if (i->kind != IR_LD && i->kind != IR_ST)
        return i->kind == IR_ATOM || i->kind == IR_GROUP || i->kind == IR_ASYNC ||
               fn->shapes->assumptions[i - fn->ir->insns.at];
    struct access a = access_begin(fn, i);
    return !access_is_simple(fn, i) || !access_is_inside(fn, &a);
}

bool gang_may_restart(const struct function *fn, uint32_t block)
{
    const struct ir_block *b = block_at(fn, block);
    bool found = false;
    for (uint32_t k = 0; k < b->n && fn->plan.n && fn->plan.inside[block]; k++)
        found |= gang_may_fail(fn, &fn->ir->insns.at[b->first + k]);
    return found;
}
