/* Finds instructions that only pass time, such as sleeps between two looks at a flag, computations
 * of their lengths, and clocks read for them.
 *
 * An instruction is needed if it accesses memory, meets other threads, or ends the thread; if a
 * needed instruction reads its result; or if it is a branch that decides whether a needed one is
 * executed. Nobody can observe the others, whatever a clock returns, so they are skipped: a branch
 * that is not needed continues where its ways meet again. Then iterations of a loop that differ
 * only in how long they wait are equal (loops.c). The analysis is done for functions that read
 * clocks, or sleep.
 *
 * Two kinds of branches are kept as needed. Branches that leave a loop: without them an endless
 * loop would end; a loop that only waits for a clock is the exception, because time passes. And
 * branches on values read from memory, because they are dependencies (PTX ISA 9.0, 8.10.4). */
#include <string.h>

#include "explore/program.h"

enum { MAX_BLOCKS = 2048 };

struct finder {
    const struct ir_func *f;
    struct arena scratch;
    uint32_t n, words; /* sizes of sets of blocks, which are numbered by their order */
    /* by block: the blocks on every path from it to the end, including itself (post-dominators) */
    uint64_t *behind;
    uint32_t *loop_end; /* ir_find_loop_ends() */
    bool *read;         /* by register: it depends on a value read from memory */
    bool *needed_reg, *needed,
        /* by register, instruction and block: needed to decide whether something needed is
           executed */
        *decided;
    bool grew;
};

static const uint64_t *behind(const struct finder *d, uint32_t order)
{
    return d->behind + (size_t)order * d->words;
}

/* The branch with two possible targets that ends a block; or NULL. */
static const struct ir_insn *choice_of(const struct finder *d, uint32_t order)
{
    const struct ir_insn *i = ir_branch_of(d->f, ir_block_at(d->f, order));
    return i && i->kind == IR_BRA && i->guard && ir_count_from(d->f, order) == 2 ? i : NULL;
}

/* Does it only pass time, compute, or branch? */
static bool is_quiet(const struct ir_insn *i)
{
    switch ((enum ir_kind)i->kind) {
    case IR_LANES:
    case IR_FRAME:
    case IR_NOW:
    case IR_NANOSLEEP:
    case IR_BRA:
    case IR_JUMP: return true;
    default: return false;
    }
}

/* ---- where ways meet ---- */

/* Returns false if some block has no path to the end. */
static bool find_behind(struct finder *d)
{
    d->words = d->n / 64 + 1; /* one more bit: blocks that never reach the end keep it */
    d->behind = ARENA_ARRAY(&d->scratch, uint64_t, (size_t)d->n * d->words);
    memset(d->behind, 0xff, (size_t)d->n * d->words * sizeof *d->behind);
    uint64_t *now = ARENA_ARRAY(&d->scratch, uint64_t, d->words);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t o = d->n; o-- > 0;) {
            uint32_t n = ir_count_from(d->f, o);
            memset(now, n ? 0xff : 0, d->words * sizeof *now);
            for (uint32_t k = 0; k < n; k++)
                for (uint32_t w = 0; w < d->words; w++)
                    now[w] &= behind(d, ir_order_from(d->f, o, k))[w];
            ir_set_add(now, o);
            if (memcmp(now, behind(d, o), d->words * sizeof *now) == 0)
                continue;
            memcpy(d->behind + (size_t)o * d->words, now, d->words * sizeof *now);
            changed = true;
        }
    }
    for (uint32_t o = 0; o < d->n; o++)
        if (ir_in_set(behind(d, o), d->n))
            return false;
    return true;
}

static uint32_t count(const struct finder *d, uint32_t order)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < d->words; w++)
        n += (uint32_t)__builtin_popcountll(behind(d, order)[w]);
    return n;
}

/* The first block that all paths from this one share; NO_BLOCK if there is none. */
static uint32_t where_ways_meet(const struct finder *d, uint32_t order)
{
    uint32_t n = count(d, order);
    for (uint32_t o = 0; o < d->n; o++)
        if (o != order && ir_in_set(behind(d, order), o) && count(d, o) + 1 == n)
            return d->f->order[o];
    return NO_BLOCK;
}

/* Does the branch of one block decide whether another block is executed? */
static bool decides(const struct finder *d, uint32_t branch, uint32_t order)
{
    bool some = false;
    for (uint32_t k = ir_count_from(d->f, branch); k-- > 0;)
        some |= ir_in_set(behind(d, ir_order_from(d->f, branch, k)), order);
    return some && (order == branch || !ir_in_set(behind(d, branch), order));
}

/* ---- registers ---- */

static bool reads_any(const struct ir_insn *i, const bool *registers)
{
    ir_ref refs[IR_MAX_REFS];
    bool any = false;
    for (unsigned k = ir_reads(i, refs); k-- > 0;)
        any |= ir_ref_kind(refs[k]) == REF_REG && registers[ir_ref_index(refs[k])];
    return any;
}

/* Marks the registers that it writes; true if one of them is new. */
static bool mark_writes(const struct ir_insn *i, bool *registers)
{
    ir_ref refs[IR_MAX_REFS];
    bool grew = false;
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        if (ir_ref_kind(refs[k]) == REF_REG && !registers[ir_ref_index(refs[k])])
            grew = registers[ir_ref_index(refs[k])] = true;
    return grew;
}

/* Marks what depends on the results of some instructions. */
static void mark_derived(const struct finder *d, uint32_t first, uint32_t last, bool (*begins)(const struct ir_insn *i),
                         bool *registers)
{
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t o = first; o <= last; o++) {
            const struct ir_block *b = ir_block_at(d->f, o);
            for (uint32_t k = 0; k < b->n; k++) {
                const struct ir_insn *i = &d->f->insns.at[b->first + k];
                grew |= (begins(i) || reads_any(i, registers)) && mark_writes(i, registers);
            }
        }
    }
}

static bool reads_memory(const struct ir_insn *i)
{
    bool is_parameter =
        i->kind == IR_LD && (i->access->mem.space == SPACE_PARAM || i->access->mem.space == SPACE_CONST);
    return !is_quiet(i) && !is_parameter;
}

static bool reads_clock(const struct ir_insn *i)
{
    return i->kind == IR_NOW;
}

/* ---- loops ---- */

/* Does the loop only wait until a clock has reached a value? */
static bool waits_for_clock(const struct finder *d, uint32_t head, uint32_t branch)
{
    for (uint32_t o = head; o <= d->loop_end[head]; o++) {
        const struct ir_block *b = ir_block_at(d->f, o);
        for (uint32_t k = 0; k < b->n; k++)
            if (!is_quiet(&d->f->insns.at[b->first + k]))
                return false;
    }
    bool *registers = ARENA_ARRAY((struct arena *)&d->scratch, bool, d->f->regs.n);
    mark_derived(d, head, d->loop_end[head], reads_clock, registers);
    return reads_any(choice_of(d, branch), registers);
}

/* Does the branch leave a loop other than one that waits for a clock? */
static bool ends_loop(const struct finder *d, uint32_t branch)
{
    for (uint32_t head = 0; head <= branch; head++) {
        if (!ir_block_at(d->f, head)->loop_header || d->loop_end[head] < branch)
            continue;
        bool leaves = false;
        for (uint32_t k = ir_count_from(d->f, branch); k-- > 0;) {
            uint32_t to = ir_order_from(d->f, branch, k);
            leaves |= to < head || to > d->loop_end[head];
        }
        if (leaves && !waits_for_clock(d, head, branch))
            return true;
    }
    return false;
}

/* ---- what is needed ---- */

static void need(struct finder *d, uint32_t order, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    uint32_t at = (uint32_t)(i - d->f->insns.at);
    if (d->needed[at])
        return;
    d->needed[at] = d->grew = true;
    for (unsigned k = ir_reads(i, refs); k-- > 0;)
        if (ir_ref_kind(refs[k]) == REF_REG)
            d->needed_reg[ir_ref_index(refs[k])] = true;
    if (d->decided[order])
        return;
    d->decided[order] = true;
    for (uint32_t o = 0; o < d->n; o++) {
        const struct ir_insn *branch = choice_of(d, o);
        if (branch && decides(d, o, order))
            need(d, o, branch);
    }
}

static bool is_needed(const struct finder *d, uint32_t order, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    if (!is_quiet(i))
        return true;
    if (i->kind == IR_BRA)
        return i == choice_of(d, order) ? reads_any(i, d->read) || ends_loop(d, order) : i->guard != 0;
    for (unsigned k = ir_writes(i, refs); k-- > 0;)
        if (ir_ref_kind(refs[k]) == REF_REG && d->needed_reg[ir_ref_index(refs[k])])
            return true;
    return false;
}

static void find_needed(struct finder *d)
{
    do {
        d->grew = false;
        for (uint32_t o = 0; o < d->n; o++) {
            const struct ir_block *b = ir_block_at(d->f, o);
            for (uint32_t k = b->n; k-- > 0;)
                if (is_needed(d, o, &d->f->insns.at[b->first + k]))
                    need(d, o, &d->f->insns.at[b->first + k]);
        }
    } while (d->grew);
}

static bool takes_time(const struct ir_func *f)
{
    bool some = false;
    for (uint32_t i = 0; i < f->insns.n; i++)
        some |= f->insns.at[i].kind == IR_NOW || f->insns.at[i].kind == IR_NANOSLEEP;
    return some;
}

static void note(const struct finder *d, struct arena *arena, struct idle *idle)
{
    idle->insns = ARENA_ARRAY(arena, bool, d->f->insns.n);
    idle->to = ARENA_ARRAY(arena, uint32_t, d->f->blocks.n);
    for (uint32_t o = 0; o < d->n; o++) {
        const struct ir_block *b = ir_block_at(d->f, o);
        for (uint32_t k = 0; k < b->n; k++) {
            const struct ir_insn *i = &d->f->insns.at[b->first + k];
            bool goes_on = i->kind == IR_JUMP || i->kind == IR_NANOSLEEP || (i->kind == IR_BRA && i != choice_of(d, o));
            idle->insns[b->first + k] = !goes_on && !d->needed[b->first + k];
        }
        idle->to[d->f->order[o]] = choice_of(d, o) ? where_ways_meet(d, o) : NO_BLOCK;
    }
}

struct idle find_idle(struct arena *arena, const struct ir_func *f)
{
    struct finder d = {.f = f, .scratch = {.on_oom = arena->on_oom}, .n = f->n_ordered};
    struct idle idle = {0};
    if (!takes_time(f) || d.n > MAX_BLOCKS)
        return idle;
    if (find_behind(&d)) {
        d.loop_end = ir_find_loop_ends(f, &d.scratch);
        d.read = ARENA_ARRAY(&d.scratch, bool, f->regs.n);
        d.needed_reg = ARENA_ARRAY(&d.scratch, bool, f->regs.n);
        d.needed = ARENA_ARRAY(&d.scratch, bool, f->insns.n);
        d.decided = ARENA_ARRAY(&d.scratch, bool, d.n);
        mark_derived(&d, 0, d.n - 1, reads_memory, d.read);
        find_needed(&d);
        note(&d, arena, &idle);
    }
    arena_free(&d.scratch);
    return idle;
}

const struct ir_func *without_idle(struct arena *arena, const struct ir_func *f, const struct idle *idle)
{
    if (!idle->insns)
        return f;
    struct ir_func *other = with_own_code(arena, f);
    for (uint32_t block = 0; block < f->blocks.n; block++)
        for (uint32_t k = 0; k < f->blocks.at[block].n; k++) {
            struct ir_insn *i = &other->insns.at[f->blocks.at[block].first + k];
            bool is_idle = idle->insns[i - other->insns.at];
            if (is_idle && i->kind == IR_BRA)
                other->blocks.at[block].next = idle->to[block];
            if (is_idle || i->kind == IR_NANOSLEEP)
                *i = (struct ir_insn){.kind = ir_ends_block((enum ir_kind)i->kind) ? IR_JUMP : IR_FRAME};
        }
    return other;
}
