/* Which code gangs run (gang.c), how many warps a gang has, and what those have in common; see docs/JIT.md, "Gangs". */
#include "jit/emit/access.h"

#include <string.h>

/* The instruction that ends a block; NULL where it just goes on with the next. */
static const struct ir_insn *ends_with(const struct emit *e, uint32_t order)
{
    uint32_t end = end_of_block(e, order);
    return end < block_at(e, order)->n ? &e->ir->insns.at[block_at(e, order)->first + end] : NULL;
}

static const struct op *end_op(const struct emit *e, uint32_t order)
{
    return &e->code->ops[e->code->blocks[order].first + end_of_block(e, order)];
}

/* What warps come to together at the end of a block: function.c's emit_leave_at(). */
static uint32_t met_at(const struct emit *e, uint32_t order)
{
    const struct ir_insn *i = ends_with(e, order);
    return i ? meets(e, i, end_op(e, order)) : 0;
}

uint32_t piece_end(const struct emit *e, uint32_t order)
{
    const struct op *o = end_op(e, order);
    return o->target == e->plan.piece[order] ? o->next : o->target;
}

/* Does the gang come to another block from this one, whatever its registers hold? */
static bool always_goes_on(const struct emit *e, uint32_t order)
{
    const struct ir_insn *i = ends_with(e, order);
    const struct op *o = end_op(e, order);
    uint32_t to = i && i->kind == IR_BRA ? o->target : o->next;
    if (e->plan.is_block && e->plan.piece[order])
        return e->plan.inside[piece_end(e, order)];
    return (!i || (i->kind == IR_BRA && !i->guard)) && to != NO_BLOCK && to > order && e->plan.inside[to];
}

bool gang_may_dissolve(const struct emit *e, uint32_t block)
{
    return e->plan.n && e->plan.inside[block] && !met_at(e, block) && !always_goes_on(e, block);
}

void find_round_starts(const struct emit *e, uint8_t *starts)
{
    memset(starts, 0, e->ir->n_ordered);
    starts[0] = 1;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        uint32_t met = met_at(e, b), next = end_op(e, b)->next;
        if (met && met != MET_END && next != NO_BLOCK)
            starts[next] = 1;
    }
}

/* Does a block of code come to another? */
static bool goes_to(const struct op *o, uint32_t target)
{
    bool goes = o->next == target || (o->kind == OP_BRA && o->target == target);
    for (uint32_t k = 0; k < (o->kind == OP_BRX ? o->n_targets : 0); k++)
        goes |= o->targets[k] == target;
    return goes;
}

bool is_passed_again(const struct emit *e, uint32_t block)
{
    for (uint32_t b = block; b < e->ir->n_ordered; b++)
        for (uint32_t to = 0; to <= block; to++)
            if (goes_to(end_op(e, b), to))
                return true;
    return false;
}

/* ---- what warps have in common ---- */

/* The same lane by lane in all warps of a block? */
static bool is_common_tid(const struct emit *e, unsigned axis)
{
    const uint32_t *b = e->shapes->block;
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

static bool is_common(const struct emit *e, ir_ref r)
{
    uint32_t i = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG)
        return e->plan.common[i];
    if (ir_ref_kind(r) != REF_SREG || i >= IR_ENVREG)
        return true;
    if (i / 4 == SREG_tid)
        return i % 4 > 2 || is_common_tid(e, i % 4);
    return isa_sreg_info((enum isa_sreg)(i / 4))->when != WHEN_WARP;
}

/* Gives the same where its operands are the same. A weak load at the same place in several warps may be one: nothing orders
 * them. */
static bool follows_operands(const struct ir_insn *i)
{
    const struct ir_access *a = i->access;
    if (i->kind != IR_LD)
        return i->kind == IR_LANES;
    return (a->space == SPACE_GLOBAL || a->space == SPACE_CONST || a->space == SPACE_SHARED ||
            a->space == SPACE_PARAM) &&
           !a->frame && !a->is_volatile && a->order == ORDER_WEAK;
}

/* Its results are common, all of them or none. */
static bool visit_insn(struct emit *e, const struct ir_insn *i, bool by_all)
{
    ir_ref reads[IR_MAX_REFS], writes[IR_MAX_REFS];
    unsigned n_reads = ir_reads(i, reads), n_writes = ir_writes(i, writes);
    bool common = by_all && n_writes && follows_operands(i), changed = false;
    for (unsigned k = 0; k < n_reads && common; k++)
        common = is_common(e, reads[k]);
    for (unsigned k = 0; k < n_writes && common; k++)
        common = is_common(e, writes[k]);
    e->plan.once[i - e->ir->insns.at] = common;
    for (unsigned k = 0; k < n_writes && !common; k++)
        if (ir_ref_kind(writes[k]) == REF_REG) {
            changed |= e->plan.common[ir_ref_index(writes[k])];
            e->plan.common[ir_ref_index(writes[k])] = 0;
        }
    return changed;
}

/* All is common until shown otherwise. Gangs go on only where all their warps go the same way, so nothing hangs on ways; but
 * for pieces of code that some of them run. */
static void find_common(struct emit *e)
{
    const struct ir_live *live = &e->shapes->live;
    uint8_t starts[e->ir->n_ordered];
    e->plan.common = ARENA_ARRAY(e->arena, uint8_t, e->ir->regs.n);
    e->plan.once = ARENA_ARRAY(e->arena, uint8_t, e->ir->insns.n + 1);
    memset(e->plan.common, 1, e->ir->regs.n);
    find_round_starts(e, starts);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) /* where a gang begins only single numbers are compared */
        for (uint32_t n = 0; n < live->n && starts[b]; n++)
            if (ir_in_set(live_in(e, b), n) && e->shapes->regs[live->regs[n]] == SHAPE_VARYING)
                e->plan.common[live->regs[n]] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < e->ir->n_ordered; b++)
            for (uint32_t k = 0; k < block_at(e, b)->n; k++)
                changed |=
                    visit_insn(e, &e->ir->insns.at[block_at(e, b)->first + k], !e->plan.pieces || !e->plan.pieces[b]);
    }
}

/* ---- which blocks ---- */

/* Blocks that a gang may go on with. */
static uint32_t next_blocks(struct emit *e, uint32_t b, uint32_t next[2])
{
    const struct ir_insn *i = ends_with(e, b);
    const struct op *o = end_op(e, b);
    uint32_t n = 0;
    if (i && i->kind != IR_BRA && !is_plain_shuffle(e, i))
        return 0;
    if (i && i->kind == IR_BRA)
        next[n++] = o->target;
    if ((!i || i->kind != IR_BRA || i->guard) && o->next != NO_BLOCK)
        next[n++] = o->next;
    return n;
}

/* Blocks from which a gang comes to one of `to`, which grows; or those that it comes to from them. */
static void spread(struct emit *e, uint8_t *to, bool backwards)
{
    uint32_t next[2];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
            uint32_t n = next_blocks(e, b, next);
            for (uint32_t k = 0; k < n; k++) {
                uint8_t *from = backwards ? &to[next[k]] : &to[b], *at = backwards ? &to[b] : &to[next[k]];
                changed |= *from && !*at;
                *at |= *from;
            }
        }
    }
}

/* ---- what it is worth ---- */

/* A loop, in cycles times SLOTS: what a round of it keeps a warp waiting for its own results, and what it keeps the CPU busy with,
 * for each warp and for the gang. */
enum { SLOTS = 4 };
struct worth {
    uint64_t waits, own, common;
    bool accesses;      /* it has such */
    bool parts;         /* single warps have masks of who still goes around it */
    uint32_t registers; /* of the CPU, which hold a warp's own values around the loop */
    uint32_t row_bytes; /* the fewest that its lanes load in a row; 0: they do not */
};

/* Until the result of an operation on vectors is there. */
static unsigned cycles_of(const struct ir_insn *i)
{
    static const struct {
        const char *begins;
        unsigned cycles;
    } slow[] = {{"add_f", 4},  {"sub_f", 4},    {"mul_f", 4},    {"fma_f", 4}, {"mul_b", 10},
                {"mad_b", 10}, {"mulwide", 10}, {"madwide", 10}, {"mulhi", 10}};
    const char *name = lane_info((enum lane_id)i->lane)->name;
    for (size_t k = 0; k < sizeof slow / sizeof slow[0]; k++)
        if (strncmp(name, slow[k].begins, strlen(slow[k].begins)) == 0)
            return slow[k].cycles;
    return 1;
}

/* Where the CPU's vectors are short, a warp has several at work by itself. */
static unsigned most_warps(const struct emit *e, uint32_t whole)
{
    unsigned most = e->has_gather ? 4 : e->has_masked_stores ? 2 : 1;
    return most < whole ? most : whole;
}

/* The CPU's vectors that a value takes: of 512 bits, or 256. */
static unsigned vectors_of(const struct emit *e, ir_ref r)
{
    unsigned width = ref_width(e, r) < 32 ? 32 : ref_width(e, r), bits = e->has_gather ? 512 : 256;
    return ref_shape(e, r) == SHAPE_VARYING ? WARP_LANES * width / bits : 0;
}

/* What it keeps the CPU busy with: two operations on vectors a cycle, or four others. Where accesses are tested before the
 * loop (loop_version.c), most loads are operands of what follows. */
static unsigned slots_of(const struct emit *e, const struct ir_insn *i, bool tested)
{
    enum { VECTOR = SLOTS / 2, TEST = 7, SEARCH = 40, LANE = 6 };
    ir_ref writes[IR_MAX_REFS];
    unsigned n = ir_writes(i, writes), slots = 0;
    uint16_t address = i->a ? ref_shape(e, i->a) : SHAPE_UNIFORM;
    if (i->kind == IR_ATOM)
        return address == SHAPE_VARYING ? LANE * WARP_LANES : TEST;
    if (i->kind == IR_LD && !tested)
        return n + parts_of(e, address);
    if (!tested && n == 1 && ref_shape(e, writes[0]) != SHAPE_VARYING && ref_width(e, writes[0]) == 64)
        return 0; /* of an address: the operand has it */
    for (unsigned k = 0; k < n; k++)
        slots += ref_shape(e, writes[k]) == SHAPE_VARYING ? VECTOR * vectors_of(e, writes[k])
                                                          : parts_of(e, ref_shape(e, writes[k]));
    if (i->kind != IR_LD && i->kind != IR_ST)
        return slots;
    return slots + (address == SHAPE_VARYING ? SEARCH : (tested ? TEST : 1) * parts_of(e, address));
}

/* How long after its own value at the start of a round that of a register is there at the end: the longest way through
 * the loop's instructions, in cycles; 0 where it does not hang on it. */
static unsigned find_wait(const struct emit *e, uint32_t reg, uint32_t first, uint32_t last, uint16_t *at)
{
    ir_ref refs[IR_MAX_REFS];
    memset(at, 0, e->ir->regs.n * sizeof *at);
    at[reg] = 1; /* cycles + 1; 0: does not hang on it */
    for (uint32_t b = first; b <= last; b++)
        for (uint32_t n = 0; n < block_at(e, b)->n; n++) {
            const struct ir_insn *i = &e->ir->insns.at[block_at(e, b)->first + n];
            unsigned latest = 0, reads = ir_reads(i, refs);
            for (unsigned k = 0; k < reads; k++)
                if (ir_ref_kind(refs[k]) == REF_REG && at[ir_ref_index(refs[k])] > latest)
                    latest = at[ir_ref_index(refs[k])];
            if (latest && i->kind == IR_LANES)
                latest += cycles_of(i);
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
    return (i->kind == IR_ATOM && i->access->space == SPACE_SHARED) || i->kind == IR_LANES || i->kind == IR_LD ||
           i->kind == IR_ST || i->kind == IR_BRA || i->kind == IR_SHFL;
}

/* May accesses be tested before the loop? What loop_version.c finds out, by and large. */
static bool is_tested(const struct emit *e, uint32_t first, uint32_t last)
{
    const struct ir_insn *end = ends_with(e, first);
    bool tested = first != last || !end || !end->guard || ref_shape(e, end->guard) == SHAPE_VARYING;
    for (uint32_t n = 0; n < block_at(e, first)->n; n++) {
        const struct ir_insn *i = &e->ir->insns.at[block_at(e, first)->first + n];
        tested |= (i->kind == IR_LD || i->kind == IR_ST) && (i->guard || (i->a && ref_shape(e, i->a) == SHAPE_VARYING));
    }
    return tested;
}

/* How much lanes load of global memory one behind the other, a warp in all; or 0. */
static uint32_t loaded_in_row(const struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (i->kind != IR_LD || (i->access->space != SPACE_GLOBAL && i->access->space != SPACE_GENERIC))
        return 0;
    uint16_t shape = i->a ? ref_shape(e, i->a) : SHAPE_UNIFORM;
    uint32_t bytes = (uint32_t)o->access->bytes * o->access->n;
    if (shape == SHAPE_UNIFORM || shape == SHAPE_VARYING || parts_of(e, shape) > 1)
        return 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (e->shapes->patterns.at[shape].at[l] != (int64_t)l * bytes)
            return 0;
    return bytes * WARP_LANES;
}

static void note_row(struct worth *w, uint32_t bytes)
{
    if (bytes && (!w->row_bytes || bytes < w->row_bytes))
        w->row_bytes = bytes;
}

/* False where a gang does not go around the loop. */
static bool find_worth(struct emit *e, uint32_t first, uint32_t last, struct worth *w)
{
    const struct ir_live *live = &e->shapes->live;
    uint16_t *at = ARENA_ARRAY(e->arena, uint16_t, e->ir->regs.n);
    bool tested = is_tested(e, first, last);
    *w = (struct worth){0};
    for (uint32_t b = first; b <= last; b++)
        for (uint32_t n = 0; n < block_at(e, b)->n; n++) {
            uint32_t k = block_at(e, b)->first + n;
            const struct ir_insn *i = &e->ir->insns.at[k];
            if (!is_for_gangs(i))
                return false;
            w->accesses |= i->kind == IR_LD || i->kind == IR_ST;
            w->parts |= i->kind == IR_BRA && i->guard && ref_shape(e, i->guard) == SHAPE_VARYING;
            *(e->plan.once[k] ? &w->common : &w->own) += slots_of(e, i, tested);
            if (!e->plan.once[k])
                note_row(w, loaded_in_row(e, i, &e->code->ops[e->code->blocks[b].first + n]));
        }
    for (uint32_t n = 0; n < live->n; n++) {
        uint32_t reg = live->regs[n];
        if (!ir_in_set(live_in(e, first), n) || e->shapes->regs[reg] != SHAPE_VARYING || e->plan.common[reg])
            continue;
        uint64_t waits = (uint64_t)SLOTS * find_wait(e, reg, first, last, at);
        w->waits = waits > w->waits ? waits : w->waits;
        w->registers += e->ir->regs.at[reg].width > 1 ? vectors_of(e, ir_make_ref(REF_REG, reg)) : 0;
    }
    return true;
}

/* The time of a round, for one warp of a gang of n. */
static double time_of(const struct worth *w, unsigned n)
{
    const double MASKS = 2; /* gangs have none */
    double own = (double)w->own * (n == 1 && w->parts ? MASKS : n), busy = own + (double)w->common;
    return (busy > (double)w->waits ? busy : (double)w->waits) / n;
}

/* How many warps have in a round what the CPU brings from memory at a time: two lines. Of lanes that load bytes, a warp has a
 * quarter of that; and where rounds are far apart, as in a loop that goes on by the size of the grid, it has gone before the
 * next warp comes there. */
static unsigned sharing_warps(const struct worth *w)
{
    enum { BROUGHT_BYTES = 128 };
    return w->row_bytes && w->row_bytes < BROUGHT_BYTES ? BROUGHT_BYTES / w->row_bytes : 1;
}

/* How many warps are worth it to be run together through a loop; 1: none. */
static unsigned best_gang(struct emit *e, uint32_t first, uint32_t last, unsigned most, uint64_t *waits)
{
    enum { INSTRUCTIONS = 400 };
    struct worth w;
    unsigned best = 1, n_insns = 0, registers = e->has_gather ? 24 : 12; /* of 32, or 16 */
    bool second = e->request->tier == TIER_SECOND;
    if (!find_worth(e, first, last, &w))
        return 1;
    unsigned share = second ? sharing_warps(&w) : 1;
    if (share == 1 && (double)w.waits < time_of(&w, 1) / 2)
        return 1;
    for (uint32_t b = first; b <= last; b++)
        n_insns += block_at(e, b)->n;
    /* the code for gangs takes its time to compile */
    const double worth_it = second ? 0.9 : w.accesses ? 0.35 : 0.55;
    for (unsigned n = 2; n <= most && n * w.registers <= registers && n * n_insns <= INSTRUCTIONS; n *= 2)
        if (n <= share || (time_of(&w, n) < worth_it * time_of(&w, 1) && time_of(&w, n) < 0.9 * time_of(&w, best)))
            best = n;
    *waits = share > 1 && w.own > w.waits ? w.own : w.waits;
    return best;
}

/* The last block of the loop that a block heads, which contains no other loop; or NO_BLOCK. */
static uint32_t loop_end(struct emit *e, uint32_t head)
{
    uint32_t next[2], end = NO_BLOCK;
    for (uint32_t b = head; b < e->ir->n_ordered; b++) {
        uint32_t n = next_blocks(e, b, next);
        for (uint32_t k = 0; k < n; k++)
            end = next[k] == head ? b : end;
    }
    for (uint32_t b = head + 1; b <= end && end != NO_BLOCK; b++)
        if (block_at(e, b)->loop_header)
            return NO_BLOCK;
    return end;
}

/* ---- whole blocks ---- */

/* The last block of a loop around the barrier at the end of a block; or NO_BLOCK. */
static uint32_t loop_around(const struct emit *e, uint32_t barrier, uint32_t *first)
{
    for (uint32_t b = e->ir->n_ordered; b-- > barrier;) {
        const struct ir_insn *i = ends_with(e, b);
        *first = i && i->kind == IR_BRA ? end_op(e, b)->target : NO_BLOCK;
        if (*first <= barrier)
            return b;
    }
    return NO_BLOCK;
}

/* May each warp of a gang run the block by itself, in the lanes that come there? */
static bool is_for_pieces(const struct emit *e, uint32_t order)
{
    for (uint32_t n = 0; n < end_of_block(e, order); n++) {
        uint32_t k = block_at(e, order)->first + n;
        enum ir_kind kind = e->ir->insns.at[k].kind;
        if ((kind != IR_LANES && kind != IR_LD && kind != IR_ST && kind != IR_ATOM) || e->shapes->guesses[k])
            return false;
    }
    return true;
}

/* Where a branch skips a block that nobody else comes to and that goes on where the others are: that block; else 0. */
static uint32_t piece_behind(const struct emit *e, uint32_t order, const uint32_t *comes_to)
{
    const struct ir_insn *i = ends_with(e, order);
    const struct op *o = end_op(e, order);
    if (!i || i->kind != IR_BRA || !i->guard || o->target == NO_BLOCK || o->next == NO_BLOCK ||
        (is_common(e, i->guard) && ref_shape(e, i->guard) != SHAPE_VARYING))
        return 0;
    uint32_t piece = o->target < o->next ? o->target : o->next, behind = o->target < o->next ? o->next : o->target;
    if (piece <= order || piece == behind || comes_to[piece] != 1)
        return 0;
    const struct ir_insn *last = ends_with(e, piece);
    bool goes_there = last ? last->kind == IR_BRA && !last->guard && end_op(e, piece)->target == behind
                           : end_op(e, piece)->next == behind;
    return goes_there && is_for_pieces(e, piece) ? piece : 0;
}

/* How many blocks go on with each. */
static uint32_t *count_comers(const struct emit *e)
{
    uint32_t *n = ARENA_ARRAY(e->arena, uint32_t, e->ir->n_ordered);
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        for (uint32_t k = ir_successor_count(e->ir, e->ir->order[b]); k-- > 0;)
            n[e->ir->blocks.at[ir_successor(e->ir, e->ir->order[b], k)].order]++;
    return n;
}

/* What they write is not common, so there may be more of them then. */
static void find_pieces(struct emit *e)
{
    const uint32_t *comes_to = count_comers(e);
    e->plan.piece = ARENA_ARRAY(e->arena, uint32_t, e->ir->n_ordered);
    e->plan.pieces = ARENA_ARRAY(e->arena, uint8_t, e->ir->n_ordered);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
            uint32_t piece = e->plan.piece[b] ? 0 : piece_behind(e, b, comes_to);
            if (!piece)
                continue;
            e->plan.piece[b] = piece;
            e->plan.pieces[piece] = 1;
            changed = true;
        }
        if (changed)
            find_common(e);
    }
}

/* Do all warps go the same way, and nowhere else than through what gangs do? */
static bool goes_together(const struct emit *e, uint32_t order)
{
    if (e->plan.pieces[order])
        return true;
    for (uint32_t n = 0; n < block_at(e, order)->n; n++) {
        const struct ir_insn *i = &e->ir->insns.at[block_at(e, order)->first + n];
        bool together = !i->guard || i->kind != IR_BRA || e->plan.piece[order] ||
                        (is_common(e, i->guard) && ref_shape(e, i->guard) != SHAPE_VARYING);
        bool meets = n == end_of_block(e, order) && met_at(e, order);
        if (!together || (!is_for_gangs(i) && !meets))
            return false;
    }
    return true;
}

/* Is it a load through the same register as an earlier one of the block? They may share a test, and be moved together. */
static bool is_neighbour(const struct emit *e, uint32_t order, uint32_t index)
{
    const struct ir_insn *insns = &e->ir->insns.at[block_at(e, order)->first], *i = &insns[index];
    bool found = false;
    for (uint32_t n = 0; n < index && i->kind == IR_LD && ref_shape(e, i->a) != SHAPE_VARYING; n++)
        found |= insns[n].kind == IR_LD && insns[n].a == i->a;
    return found;
}

/* Accesses that are each tested, and have a slow way. */
static uint32_t count_tests(const struct emit *e, uint32_t order)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < block_at(e, order)->n; n++) {
        const struct ir_insn *i = &e->ir->insns.at[block_at(e, order)->first + n];
        found += !is_neighbour(e, order, n) && (i->kind == IR_LD || i->kind == IR_ST) &&
                 (i->access->space == SPACE_GLOBAL || i->access->space == SPACE_GENERIC ||
                  ref_shape(e, i->a) == SHAPE_VARYING);
    }
    return found;
}

/* A loop around barriers in which so little happens between them that warps would spend their time on coming and going. With
 * more code than this LLVM takes seconds. */
static bool is_short_around_barriers(const struct emit *e, uint32_t whole)
{
    enum { INSTRUCTIONS = 1200, TESTS = 40 };
    uint32_t first = 0, n = 0, tests = 0, n_rounds = 0;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        uint32_t met = met_at(e, b), last = met && met != MET_END ? loop_around(e, b, &first) : NO_BLOCK;
        for (uint32_t k = first; last != NO_BLOCK && k <= last; k++)
            if (!goes_together(e, k))
                return false;
        n_rounds += last != NO_BLOCK;
        n += block_at(e, b)->n;
        tests += count_tests(e, b);
    }
    return n_rounds && n * whole <= INSTRUCTIONS && tests * whole <= TESTS;
}

static bool spins(const struct emit *e)
{
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        if (e->code->blocks[b].spins || block_at(e, b)->serial_to)
            return true;
    return false;
}

/* A round: what is run from a place where a round starts to the barriers that end it. False where gangs do not run it, or where
 * accesses take most of its time, which single warps do better (access_groups.c). */
static bool find_round(const struct emit *e, uint32_t start, uint8_t *round)
{
    uint32_t tests = 0;
    memset(round, 0, e->ir->n_ordered);
    round[start] = 1;
    for (uint32_t b = start; b < e->ir->n_ordered; b++) {
        if (!round[b])
            continue;
        const struct ir_insn *i = ends_with(e, b);
        const struct op *o = end_op(e, b);
        uint32_t to[2] = {o->next, i && i->kind == IR_BRA ? o->target : NO_BLOCK};
        tests += count_tests(e, b);
        if (block_at(e, b)->serial_to || !goes_together(e, b) || tests > 1)
            return false;
        for (uint32_t k = 0; k < 2 && !met_at(e, b); k++)
            if (to[k] != NO_BLOCK && to[k] <= b) /* a loop */
                return false;
            else if (to[k] != NO_BLOCK)
                round[to[k]] = 1;
    }
    return true;
}

/* Does a barrier lead from one of the blocks to another? */
static uint32_t count_barriers(const struct emit *e, const uint8_t *from, const uint8_t *to)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        uint32_t met = met_at(e, b), next = end_op(e, b)->next;
        n += from[b] && met && met != MET_END && next != NO_BLOCK && to[next];
    }
    return n;
}

/* Straight code from barrier to barrier, as loops leave it that have been unrolled: rounds in which so little happens that
 * warps would spend their time on coming and going, with at least two barriers between them. */
static bool find_straight_rounds(struct emit *e, uint32_t whole)
{
    enum { INSTRUCTIONS = 1200, BARRIERS = 2 };
    uint32_t size = e->ir->n_ordered, n = 0;
    uint8_t starts[size], round[size], all[size];
    find_round_starts(e, starts);
    memset(all, 0, size);
    for (uint32_t s = 0; s < size; s++) {
        uint32_t n_insns = 0;
        if (!starts[s] || !find_round(e, s, round))
            continue;
        for (uint32_t b = 0; b < size; b++)
            n_insns += round[b] && !all[b] ? block_at(e, b)->n : 0;
        if ((n + n_insns) * whole > INSTRUCTIONS)
            continue;
        n += n_insns;
        for (uint32_t b = 0; b < size; b++)
            all[b] |= round[b];
    }
    for (uint32_t s = 0; s < size; s++)
        if (starts[s] && find_round(e, s, round) && (count_barriers(e, all, round) || count_barriers(e, round, all)))
            for (uint32_t b = 0; b < size; b++)
                e->plan.inside[b] |= round[b] & all[b];
    return count_barriers(e, e->plan.inside, e->plan.inside) >= BARRIERS;
}

/* May all warps of the block be one gang, and where? They keep their registers where others bring them to memory and fetch
 * them again. */
static bool plan_block(struct emit *e, uint32_t threads)
{
    uint32_t whole = threads / WARP_LANES;
    if (e->request->tier != TIER_SECOND || !e->has_gather || threads % WARP_LANES || whole > MAX_GANG)
        return false;
    find_pieces(e);
    e->plan.is_straight = spins(e) || !is_short_around_barriers(e, whole);
    if (!e->plan.is_straight)
        memset(e->plan.inside, 1, e->ir->n_ordered);
    else if (!find_straight_rounds(e, whole))
        return false;
    e->plan.known = ARENA_ARRAY(e->arena, struct ir_known, 1);
    ir_find_known(e->ir, e->shapes->block, e->arena, e->plan.known);
    return true;
}

/* Where rounds start; but where straight rounds come to each other the gang is there already. */
static void find_entries(struct emit *e)
{
    uint8_t starts[e->ir->n_ordered];
    find_round_starts(e, starts);
    e->plan.entries = ARENA_ARRAY(e->arena, uint8_t, e->ir->n_ordered);
    e->plan.entries[0] = e->plan.inside[0];
    for (uint32_t b = 0; b < e->ir->n_ordered; b++) {
        uint32_t next = end_op(e, b)->next;
        bool is_there = e->plan.is_straight && e->plan.inside[b] && !is_passed_again(e, b);
        if (met_at(e, b) && next != NO_BLOCK && starts[next] && !is_there)
            e->plan.entries[next] = e->plan.inside[next];
    }
}

void find_gang(struct emit *e, uint32_t index)
{
    const uint32_t *block = e->shapes->block, n = e->ir->n_ordered;
    uint32_t threads = block[0] * block[1] * block[2], whole = threads / WARP_LANES;
    e->plan = (struct gang_plan){0};
    if (index || whole < 2)
        return;
    uint8_t reached[n];
    find_common(e);
    e->plan.inside = ARENA_ARRAY(e->arena, uint8_t, n);
    unsigned most = most_warps(e, whole), best = 1;
    uint64_t waits = 0, longest = 0;
    for (int pass = 0; pass < 2 && !spins(e); pass++)
        for (uint32_t b = 0; b < n; b++) {
            uint32_t end = block_at(e, b)->loop_header && !e->shapes->alone[b] ? loop_end(e, b) : NO_BLOCK;
            unsigned gang = end == NO_BLOCK ? 1 : best_gang(e, b, end, most, &waits);
            if (gang == 1)
                continue;
            longest = waits > longest ? waits : longest;
            best = gang > best ? gang : best;
            for (uint32_t k = b; k <= end && pass; k++) /* not what is left over of a loop that has been unrolled */
                e->plan.inside[k] = 2 * waits > longest;
        }
    bool is_block = best == 1 && plan_block(e, threads);
    best = is_block ? whole : best;
    find_round_starts(e, reached);
    if (!is_block)
        spread(e, e->plan.inside, true);
    spread(e, reached, false);
    for (uint32_t b = 0; b < n; b++)
        e->plan.inside[b] &= reached[b] && !(is_block && e->plan.pieces[b]);
    e->plan.n = best > 1 ? best : 0;
    e->plan.is_block = is_block;
    find_entries(e);
}

static bool is_fallible(struct emit *e, const struct ir_insn *i, const struct op *o)
{
    if (i->kind != IR_LD && i->kind != IR_ST)
        return i->kind == IR_ATOM || e->shapes->guesses[i - e->ir->insns.at];
    struct access a = access_begin(e, i, o);
    return !access_is_simple(e, i, a.x) || !access_is_inside(e, &a);
}

bool gang_may_restart(struct emit *e, uint32_t block)
{
    const struct ir_block *b = block_at(e, block);
    const struct op *ops = &e->code->ops[e->code->blocks[block].first];
    bool found = false;
    for (uint32_t k = 0; k < b->n && e->plan.n && e->plan.inside[block]; k++)
        found |= is_fallible(e, &e->ir->insns.at[b->first + k], &ops[k]);
    return found;
}
