/* Where all warps of a block may run as one gang, with side regions and barrier phases. See
 * docs/JIT.md, "Gangs". */
#include "jit/analysis/gang_plan.h"
#include "jit/analysis/lane_library.h"

#include <string.h>

/* The last block of the loop that contains the barrier at the end of a block; or NO_BLOCK. */
static uint32_t loop_around(const struct function *fn, uint32_t barrier, uint32_t *first)
{
    for (uint32_t b = fn->ir->n_ordered; b-- > barrier;) {
        *first = fn_target(fn, b);
        if (*first <= barrier)
            return b;
    }
    return NO_BLOCK;
}

/* May each warp of a gang run the block by itself, in the lanes that reach it? */
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

/* The block that a branch skips, if no other block leads to it, and if it continues where the
 * branch leads; else 0. */
static uint32_t side_region_behind(const struct function *fn, uint32_t order, const uint32_t *comes_to)
{
    const struct ir_insn *i = fn_end_insn(fn, order);
    uint32_t next = fn_next(fn, order), target = fn_target(fn, order);
    if (!i || i->kind != IR_BRA || !i->guard || target == NO_BLOCK || next == NO_BLOCK ||
        (gang_is_common(fn, i->guard) && fn_ref_shape(fn, i->guard) != SHAPE_DIVERGENT))
        return 0;
    uint32_t region = target < next ? target : next, behind = target < next ? next : target;
    if (region <= order || region == behind || comes_to[region] != 1)
        return 0;
    const struct ir_insn *last = fn_end_insn(fn, region);
    bool goes_there =
        last ? last->kind == IR_BRA && !last->guard && fn_target(fn, region) == behind : fn_next(fn, region) == behind;
    return goes_there && is_for_side_regions(fn, region) ? region : 0;
}

/* The number of predecessors of each block. */
static uint32_t *count_comers(const struct function *fn)
{
    uint32_t *n = ARENA_ARRAY(fn->arena, uint32_t, fn->ir->n_ordered);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        for (uint32_t k = ir_count_from(fn->ir, b); k-- > 0;)
            n[ir_order_from(fn->ir, b, k)]++;
    return n;
}

/* Values written there are not common, so finding one may allow more of them. */
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
            gang_find_common(fn);
    }
}

/* Do all warps branch alike, and stay in blocks that gangs run? */
static bool goes_together(const struct function *fn, uint32_t order)
{
    if (fn->plan.is_side_region[order])
        return true;
    for (uint32_t n = 0; n < block_at(fn, order)->n; n++) {
        const struct ir_insn *i = fn_insn(fn, order, n);
        bool together = !i->guard || i->kind != IR_BRA || fn->plan.side_region[order] ||
                        (gang_is_common(fn, i->guard) && fn_ref_shape(fn, i->guard) != SHAPE_DIVERGENT);
        bool arrives = n == fn_block_end(fn, order) && fn_arrival_at(fn, order);
        if (!together || (!gang_takes(i) && !arrives))
            return false;
    }
    return true;
}

/* Is it a load through the same register as an earlier one of the block? They may share a test, and
 * be moved together. */
static bool is_neighbour(const struct function *fn, uint32_t order, uint32_t index)
{
    const struct ir_insn *insns = &fn->ir->insns.at[block_at(fn, order)->first], *i = &insns[index];
    bool found = false;
    for (uint32_t n = 0; n < index && i->kind == IR_LD && fn_ref_shape(fn, i->a) != SHAPE_DIVERGENT; n++)
        found |= insns[n].kind == IR_LD && insns[n].a == i->a;
    return found;
}

/* Counts accesses that are tested separately, each with a slow path. */
static uint32_t count_tests(const struct function *fn, uint32_t order)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < block_at(fn, order)->n; n++) {
        const struct ir_insn *i = fn_insn(fn, order, n);
        found += !is_neighbour(fn, order, n) && (i->kind == IR_LD || i->kind == IR_ST) &&
                 (mem_access_may_be_global(&i->access->mem) || fn_ref_shape(fn, i->a) == SHAPE_DIVERGENT);
    }
    return found;
}

/* Does the code have lane functions of divergent values larger than two multiply-adds, such as
 * those of f64? What they compute from a common operand LLVM computes for the first warp, and
 * reuses for the others. */
static bool is_of_large_functions(const struct function *fn)
{
    unsigned most = 2 * (unsigned)fn->target->costs->operation_size;
    bool large = false;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        for (uint32_t n = 0; n < block_at(fn, b)->n; n++) {
            const struct ir_insn *i = fn_insn(fn, b, n);
            large |= i->kind == IR_LANES && fn_ref_shape(fn, i->d) == SHAPE_DIVERGENT &&
                     lane_library_size(fn->lanes, i->lane) > most;
        }
    return large;
}

/* Is the loop around barriers so short that warps would spend most time on switching? *turn: for
 * how many warps the values live around it fit in the CPU's registers, or 1. */
static bool is_short_around_barriers(const struct function *fn, uint32_t whole, unsigned *turn)
{
    uint32_t first = 0, n = 0, tests = 0, n_loops = 0, most = fn->target->costs->gang_block_registers;
    *turn = whole;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = fn_arrival_at(fn, b),
                 last = arrived && arrived != ARRIVED_END ? loop_around(fn, b, &first) : NO_BLOCK;
        for (uint32_t k = first; last != NO_BLOCK && k <= last; k++)
            if (!goes_together(fn, k))
                return false;
        uint32_t vectors = last == NO_BLOCK ? 0 : gang_vectors_around(fn, first);
        if (*turn * vectors > most)
            *turn = most < 2 * vectors ? 1 : most / vectors;
        n_loops += last != NO_BLOCK;
        n += block_at(fn, b)->n;
        tests += count_tests(fn, b);
    }
    return n_loops && (*turn == whole || !is_of_large_functions(fn)) && n * whole <= fn->target->costs->gang_block &&
           tests * whole <= LIMIT_gang_block_tests;
}

/* Finds a barrier phase: the blocks from a phase's start to the barriers that end it. Returns false
 * if gangs do not run it, or if accesses take most of its time, which single warps do better
 * (access_groups.c). */
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
        for (uint32_t k = 0; k < 2 && !fn_arrival_at(fn, b); k++)
            if (to[k] != NO_BLOCK && to[k] <= b) /* a loop */
                return false;
            else if (to[k] != NO_BLOCK)
                phase[to[k]] = 1;
    }
    return true;
}

/* How many barriers lead from one of the blocks to another? */
static uint32_t count_barriers(const struct function *fn, const uint8_t *from, const uint8_t *to)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        uint32_t arrived = fn_arrival_at(fn, b), next = fn_next(fn, b);
        n += from[b] && arrived && arrived != ARRIVED_END && next != NO_BLOCK && to[next];
    }
    return n;
}

/* Finds straight code from barrier to barrier, as unrolled loops leave it: short barrier phases in
 * which warps would spend most time on switching, with at least two barriers between them. */
static bool find_straight_phases(struct function *fn, uint32_t whole)
{
    uint32_t size = fn->ir->n_ordered, n = 0;
    uint8_t starts[size], phase[size], all[size];
    gang_find_phase_starts(fn, starts);
    memset(all, 0, size);
    for (uint32_t s = 0; s < size; s++) {
        uint32_t n_insns = 0;
        if (!starts[s] || !find_phase(fn, s, phase))
            continue;
        for (uint32_t b = 0; b < size; b++)
            n_insns += phase[b] && !all[b] ? block_at(fn, b)->n : 0;
        if ((n + n_insns) * whole > fn->target->costs->gang_block)
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

bool gang_plan_block(struct function *fn, uint32_t threads)
{
    uint32_t whole = threads / WARP_LANES;
    unsigned turn;
    if (fn->request->tier != TIER_SECOND || threads % WARP_LANES || whole > MAX_GANG)
        return false;
    find_side_regions(fn);
    fn->plan.is_straight = gang_spins(fn) || !is_short_around_barriers(fn, whole, &turn);
    fn->plan.turn = fn->plan.is_straight || turn == whole ? 0 : turn;
    if (!fn->plan.is_straight)
        memset(fn->plan.inside, 1, fn->ir->n_ordered);
    else if (!find_straight_phases(fn, whole))
        return false;
    fn->plan.known = ARENA_ARRAY(fn->arena, struct ir_known, 1);
    ir_find_known(fn->ir, fn->shapes, fn->arena, fn->plan.known);
    return true;
}

/* ---- warp after warp ---- */

static bool is_in(const ir_ref *refs, unsigned n, ir_ref r)
{
    for (unsigned k = 0; k < n; k++)
        if (refs[k] == r)
            return true;
    return false;
}

/* Does one of the instructions from `from` up to `index` conflict with what this one writes for all
 * warps? */
static bool touches_what_is_written(const struct function *fn, uint32_t order, uint32_t from, uint32_t index)
{
    ir_ref written[IR_MAX_REFS], refs[IR_MAX_REFS];
    unsigned n_written = ir_writes(fn_insn(fn, order, index), written);
    bool found = false;
    for (uint32_t n = from; n <= index && !found; n++) {
        const struct ir_insn *i = fn_insn(fn, order, n);
        for (unsigned reads = ir_reads(i, refs); reads-- > 0;)
            found |= is_in(written, n_written, refs[reads]);
        for (unsigned writes = n < index ? ir_writes(i, refs) : 0; writes-- > 0;)
            found |= is_in(written, n_written, refs[writes]);
    }
    return found;
}

/* May the access read or change the block's own memory? */
static bool may_be_shared(const struct mem_access *m)
{
    return m->space == SPACE_SHARED || m->space == SPACE_GENERIC;
}

/* Can the store be done again, when the block's warps begin it again? It is a plain store to shared
 * memory, at an address from before the block, and nothing has read shared memory in the block
 * before it. The stores of the second time overwrite those of the first, which only the gang's own
 * warps could see, and those begin again. */
static bool may_repeat(const struct function *fn, uint32_t order, uint32_t index)
{
    const struct ir_insn *store = fn_insn(fn, order, index);
    ir_ref written[IR_MAX_REFS];
    if (store->kind != IR_ST || store->guard || store->access->mem.space != SPACE_SHARED ||
        mem_access_is_strong(&store->access->mem))
        return false;
    for (uint32_t n = 0; n < index; n++) {
        const struct ir_insn *i = fn_insn(fn, order, n);
        bool repeats = i->kind == IR_LANES || i->kind == IR_ST || (i->kind == IR_LD && !may_be_shared(&i->access->mem));
        if (!repeats || is_in(written, ir_writes(i, written), store->a))
            return false;
    }
    return true;
}

bool gang_changes(const struct function *fn, uint32_t order, uint32_t index)
{
    const struct ir_insn *i = fn_insn(fn, order, index);
    bool is_weak_load = i->kind == IR_LD && !mem_access_is_strong(&i->access->mem);
    return i->kind != IR_LANES && i->kind != IR_FRAME && !is_weak_load && !may_repeat(fn, order, index);
}

/* Does compiled code perform the instruction, but for lanes that fail a test? */
static bool is_compiled(const struct function *fn, const struct ir_insn *i)
{
    bool is_access = i->kind == IR_LD || i->kind == IR_ST;
    return i->kind == IR_LANES ||
           (is_access && access_is_simple(fn, i) && (i->access->mem.space != SPACE_LOCAL || !gang_may_fail(fn, i)));
}

uint32_t gang_count_in_turns(const struct function *fn, uint32_t order, uint32_t from, bool restarts)
{
    bool stores = false, changes = false, fails = false;
    uint32_t n = from;
    for (; fn->plan.turn && n < fn_block_end(fn, order); n++) {
        const struct ir_insn *i = fn_insn(fn, order, n);
        bool once = fn->plan.once[i - fn->ir->insns.at];
        fails |= gang_may_fail(fn, i);
        changes |= gang_changes(fn, order, n);
        if (!is_compiled(fn, i) || (fails && (changes || !restarts)) ||
            (once && (touches_what_is_written(fn, order, from, n) || (i->kind == IR_LD && stores))))
            break;
        stores |= i->kind == IR_ST;
    }
    return n - from;
}
