/* The cost model of multi-warp vectorisation: how many warps of a block should run a loop together.
 * Its constants are in costs.def. See docs/JIT.md, "Gangs". */
#include "jit/analysis/gang_plan.h"

#include <string.h>

/* The cost of a loop's iteration, in issue slots: the wait for a warp's own results, and the CPU's
 * work for each warp and for the gang. */
struct worth {
    uint64_t waits, own, common;
    bool accesses; /* the loop has accesses of this kind */
    /* Single warps need masks of the lanes that are still in the loop. */
    bool parts;
    uint32_t registers;         /* vector registers that hold a warp's own values around the loop */
    uint32_t consecutive_bytes; /* the fewest bytes that its lanes load consecutively; 0: none */
};

static const struct jit_costs *costs_of(const struct function *fn)
{
    return fn->target->costs;
}

/* The latency of a vector operation, in cycles. */
static unsigned latency_of(const struct function *fn, const struct ir_insn *i)
{
    const struct jit_costs *costs = costs_of(fn);
    const unsigned latency[] = {
        [UNIT__] = costs->latency, [UNIT_fp] = costs->latency_fp, [UNIT_imul] = costs->latency_imul};
    return latency[lane_info(i->lane)->unit];
}

/* The number of the CPU's vectors in a value. */
static unsigned vectors_of(const struct function *fn, ir_ref r)
{
    unsigned width = fn_ref_width(fn, r) < 32 ? 32 : fn_ref_width(fn, r);
    return fn_ref_shape(fn, r) == SHAPE_DIVERGENT ? WARP_LANES * width / costs_of(fn)->vector_bits : 0;
}

/* Issue slots: two vector operations or four others a cycle. If accesses are tested before the loop
 * (loop_version.c), most loads are memory operands of the following operations. */
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
        return 0; /* part of an address: folded into the memory operand */
    for (unsigned k = 0; k < n; k++)
        slots += fn_ref_shape(fn, writes[k]) == SHAPE_DIVERGENT ? costs->vector * vectors_of(fn, writes[k])
                                                                : fn_pieces(fn, fn_ref_shape(fn, writes[k]));
    if (i->kind != IR_LD && i->kind != IR_ST)
        return slots;
    return slots +
           (address == SHAPE_DIVERGENT ? costs->search : (tested ? costs->bounds_test : 1) * fn_pieces(fn, address));
}

/* The longest dependency chain of a register through an iteration, from its value at the start to
 * its value at the end, in cycles; 0 if there is none. */
static unsigned find_wait(const struct function *fn, uint32_t reg, uint32_t first, uint32_t last, uint16_t *at)
{
    ir_ref refs[IR_MAX_REFS];
    memset(at, 0, fn->ir->regs.n * sizeof *at);
    at[reg] = 1; /* cycles + 1; 0: does not depend on it */
    for (uint32_t b = first; b <= last; b++)
        for (uint32_t n = 0; n < block_at(fn, b)->n; n++) {
            const struct ir_insn *i = fn_insn(fn, b, n);
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

/* May accesses be tested before the loop? Approximates what loop_version.c finds. */
static bool is_tested(const struct function *fn, uint32_t first, uint32_t last)
{
    const struct ir_insn *end = fn_end_insn(fn, first);
    bool tested = first != last || !end || !end->guard || fn_ref_shape(fn, end->guard) == SHAPE_DIVERGENT;
    for (uint32_t n = 0; n < block_at(fn, first)->n; n++) {
        const struct ir_insn *i = fn_insn(fn, first, n);
        tested |=
            (i->kind == IR_LD || i->kind == IR_ST) && (i->guard || (i->a && fn_ref_shape(fn, i->a) == SHAPE_DIVERGENT));
    }
    return tested;
}

/* The bytes of global memory that the lanes of a warp load consecutively; or 0. */
static uint32_t consecutive_bytes_of(const struct function *fn, const struct ir_insn *i)
{
    if (i->kind != IR_LD || !mem_access_may_be_global(&i->access->mem))
        return 0;
    struct access a = access_begin(fn, i);
    if (a.shape == SHAPE_UNIFORM || a.shape == SHAPE_DIVERGENT || a.pieces > 1)
        return 0;
    return access_is_consecutive(&a) ? a.all * WARP_LANES : 0;
}

static void note_consecutive(struct worth *w, uint32_t bytes)
{
    if (bytes && (!w->consecutive_bytes || bytes < w->consecutive_bytes))
        w->consecutive_bytes = bytes;
}

/* Does each warp have its own value in the n-th live register at the loop's start? */
static bool is_own_around(const struct function *fn, uint32_t n, uint32_t head)
{
    uint32_t reg = fn->shapes->live.regs[n];
    return ir_in_set(live_in(fn, head), n) && fn->shapes->regs[reg] == SHAPE_DIVERGENT && !fn->plan.common[reg];
}

uint32_t gang_vectors_around(const struct function *fn, uint32_t head)
{
    const struct ir_live *live = &fn->shapes->live;
    uint32_t vectors = 0;
    for (uint32_t n = 0; n < live->n; n++)
        if (is_own_around(fn, n, head) && fn->ir->regs.at[live->regs[n]].width > 1)
            vectors += vectors_of(fn, ir_make_ref(REF_REG, live->regs[n]));
    return vectors;
}

/* Returns false if a gang cannot run the loop. */
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
            if (!gang_takes(i))
                return false;
            w->accesses |= i->kind == IR_LD || i->kind == IR_ST;
            w->parts |= i->kind == IR_BRA && i->guard && fn_ref_shape(fn, i->guard) == SHAPE_DIVERGENT;
            *(fn->plan.once[k] ? &w->common : &w->own) += slots_of(fn, i, tested);
            if (!fn->plan.once[k])
                note_consecutive(w, consecutive_bytes_of(fn, i));
        }
    for (uint32_t n = 0; n < live->n; n++) {
        if (!is_own_around(fn, n, first))
            continue;
        uint64_t waits = (uint64_t)costs_of(fn)->slots * find_wait(fn, live->regs[n], first, last, at);
        w->waits = waits > w->waits ? waits : w->waits;
    }
    w->registers = gang_vectors_around(fn, first);
    return true;
}

/* The time of an iteration for one warp of a gang of n. */
static double time_of(const struct function *fn, const struct worth *w, unsigned n)
{
    bool has_masks = n == 1 && w->parts; /* gangs have no masks */
    double own = (double)w->own * (has_masks ? costs_of(fn)->lane_masks : n), busy = own + (double)w->common;
    return (busy > (double)w->waits ? busy : (double)w->waits) / n;
}

/* The number of warps that share what memory delivers at a time. With lanes that load bytes, a warp
 * uses a quarter of that; and if iterations are far apart, as in a grid-stride loop, the data is
 * evicted before the next warp uses it. */
static unsigned sharing_warps(const struct function *fn, const struct worth *w)
{
    unsigned brought = costs_of(fn)->brought;
    return w->consecutive_bytes && w->consecutive_bytes < brought ? brought / w->consecutive_bytes : 1;
}

unsigned gang_best(const struct function *fn, uint32_t first, uint32_t last, unsigned whole, uint64_t *waits)
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
    unsigned most = costs->gang_warps > 1 && costs->gang_warps < share ? share : costs->gang_warps;
    most = most < whole ? most : whole;
    for (unsigned n = 2; n <= most && n * w.registers <= costs->gang_registers && n * n_insns <= LIMIT_gang_loop;
         n *= 2)
        if (n <= share || (time_of(fn, &w, n) < worth_it * time_of(fn, &w, 1) &&
                           time_of(fn, &w, n) < by_more * time_of(fn, &w, best)))
            best = n;
    *waits = share > 1 && w.own > w.waits ? w.own : w.waits;
    return best;
}
