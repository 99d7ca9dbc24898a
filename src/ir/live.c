/* Register allocation of rows (slots), and liveness: registers whose values are never needed at the same time share a row.
 *
 * Liveness is that of one thread: lanes that stand at different places of the code share rows all the same,
 * because every write touches the active lanes alone, and rows are shared only between registers of one
 * width, so that a lane's place in the row is the same for all of them. The intervals are those of a linear
 * scan over the blocks in their order of execution.
 */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

struct interval {
    uint32_t reg, start, end;
};

struct liveness {
    const struct ir_func *f;
    struct ir_live *live;
    struct arena scratch;
    uint64_t *kill;        /* bit sets by block in order, as live->in */
    uint32_t *start, *end; /* by register; start UINT32_MAX where unused */
};

typedef void visit_fn(struct liveness *l, const struct ir_insn *i, ir_ref r, bool is_def, void *data);

/* Calls visit for the registers that an instruction reads, then for those that it writes. */
static void visit_refs(struct liveness *l, const struct ir_insn *i, visit_fn *visit, void *data)
{
    ir_ref refs[IR_MAX_REFS];
    for (int writes = 0; writes < 2; writes++) {
        unsigned n = writes ? ir_writes(i, refs) : ir_reads(i, refs);
        for (unsigned k = 0; k < n; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                visit(l, i, refs[k], writes, data);
    }
}

/* Per block: a register read before it is written there crosses into the block. */
struct exposure {
    uint32_t block;
    uint32_t *written_in; /* 1 + the block that last wrote the register, by register */
};

static void note_exposed(struct liveness *l, const struct ir_insn *i, ir_ref r, bool is_def, void *data)
{
    struct exposure *x = data;
    uint32_t reg = ir_ref_index(r);
    if (is_def && !i->guard)
        x->written_in[reg] = x->block + 1;
    else if (x->written_in[reg] != x->block + 1 && !l->live->number[reg])
        l->live->number[reg] = ++l->live->n; /* of what is written under a guard, the old value may come through */
}

static void note_sets(struct liveness *l, const struct ir_insn *i, ir_ref r, bool is_def, void *data)
{
    uint32_t block = *(uint32_t *)data, g = l->live->number[ir_ref_index(r)];
    if (!g)
        return;
    uint64_t *in = l->live->in + (size_t)block * l->live->words, *kill = l->kill + (size_t)block * l->live->words;
    if (!is_def && !ir_in_set(kill, g - 1))
        ir_set_add(in, g - 1);
    else if (is_def && !i->guard)
        ir_set_add(kill, g - 1);
}

static void for_block(struct liveness *l, uint32_t order, visit_fn *visit, void *data)
{
    const struct ir_block *b = ir_block_at(l->f, order);
    for (uint32_t k = 0; k < b->n; k++)
        visit_refs(l, &l->f->insns.at[b->first + k], visit, data);
}

static void find_globals(struct liveness *l, struct arena *arena)
{
    struct ir_live *live = l->live;
    live->number = ARENA_ARRAY(arena, uint32_t, l->f->regs.n);
    struct exposure x = {.written_in = ARENA_ARRAY(&l->scratch, uint32_t, l->f->regs.n)};
    for (x.block = 0; x.block < l->f->n_ordered; x.block++)
        for_block(l, x.block, note_exposed, &x);
    live->words = (live->n + 63) / 64;
    live->regs = ARENA_ARRAY(arena, uint32_t, live->n + 1);
    for (uint32_t r = 0; r < l->f->regs.n; r++)
        if (live->number[r])
            live->regs[live->number[r] - 1] = r;
}

/* Room for the sets; false where they are more than the function's share of work allows. */
static bool make_sets(const struct ir_func *f, struct ir_live *live, struct arena *arena)
{
    enum { WORD_WORK = 96 }; /* also a bound of the memory */
    size_t size = (size_t)f->n_ordered * live->words;
    if (!ir_spend(f, size * WORD_WORK))
        return false;
    live->in = ARENA_ARRAY(arena, uint64_t, size);
    live->out = ARENA_ARRAY(arena, uint64_t, size);
    return true;
}

/* out = in of all successors; false where the work is spent. */
static bool join_successors(const struct ir_func *f, struct ir_live *live, uint32_t o)
{
    uint32_t n = ir_successor_count(f, f->order[o]);
    uint64_t *out = live->out + (size_t)o * live->words;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t *next = live->in + (size_t)f->blocks.at[ir_successor(f, f->order[o], k)].order * live->words;
        for (uint32_t w = 0; w < live->words; w++)
            out[w] |= next[w];
    }
    return ir_spend(f, (uint64_t)(n + 1) * (live->words + 1));
}

/* in = used first, or out and not overwritten. Backwards until nothing changes; false where the work is spent. */
static bool solve(struct liveness *l, struct arena *arena)
{
    const struct ir_func *f = l->f;
    struct ir_live *live = l->live;
    if (!make_sets(f, live, arena))
        return false;
    l->kill = ARENA_ARRAY(&l->scratch, uint64_t, (size_t)f->n_ordered * live->words);
    for (uint32_t b = 0; b < f->n_ordered; b++)
        for_block(l, b, note_sets, &b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->n_ordered; b-- > 0;) {
            uint64_t *in = live->in + (size_t)b * live->words, *out = live->out + (size_t)b * live->words;
            const uint64_t *kill = l->kill + (size_t)b * live->words;
            if (!join_successors(f, live, b))
                return false;
            for (uint32_t w = 0; w < live->words; w++) {
                uint64_t now = in[w] | (out[w] & ~kill[w]);
                changed |= now != in[w];
                in[w] = now;
            }
        }
    }
    return true;
}

static bool find_live(struct liveness *l, struct arena *arena)
{
    *l->live = (struct ir_live){0};
    find_globals(l, arena);
    return solve(l, arena);
}

bool ir_find_live(const struct ir_func *f, struct arena *arena, struct ir_live *live)
{
    struct liveness l = {.f = f, .live = live, .scratch = {.on_oom = arena->on_oom}};
    bool enough = find_live(&l, arena);
    arena_free(&l.scratch);
    return enough;
}

static void note_read(struct liveness *l, const struct ir_insn *i, ir_ref r, bool is_def, void *data)
{
    (void)l, (void)i;
    if (!is_def)
        ((uint8_t *)data)[ir_ref_index(r)] = 1;
}

void ir_drop_unread(struct ir_func *f)
{
    struct liveness l = {.f = f, .scratch = {.on_oom = f->arena->on_oom}};
    uint8_t *read = ARENA_ARRAY(&l.scratch, uint8_t, f->regs.n);
    for (uint32_t n = 0; n < f->insns.n; n++)
        visit_refs(&l, &f->insns.at[n], note_read, read);
    for (uint32_t n = 0; n < f->insns.n; n++)
        for (unsigned k = 0; f->insns.at[n].kind == IR_ATOM && k < 8; k++)
            if (!read[ir_ref_index(f->insns.at[n].access->regs[k])])
                f->insns.at[n].access->regs[k] = REF_NONE;
    arena_free(&l.scratch);
}

/* What is needed while a block is walked backwards: registers that cross blocks in a set, others by the block that set them. */
struct need {
    const struct ir_live *live;
    uint64_t *crossing;
    uint32_t *needed_in; /* 1 + the block where it is needed, by register */
    uint32_t block;
    ir_keeps_fn *keeps;
};

static bool is_needed(const struct need *n, ir_ref r)
{
    uint32_t reg = ir_ref_index(r), g = n->live->number[reg];
    return g ? ir_in_set(n->crossing, g - 1) : n->needed_in[reg] == n->block + 1;
}

static void set_needed(const struct need *n, ir_ref r, bool needed)
{
    uint32_t reg = ir_ref_index(r), g = n->live->number[reg];
    if (!g)
        n->needed_in[reg] = needed ? n->block + 1 : 0;
    else if (needed)
        ir_set_add(n->crossing, g - 1);
    else
        ir_set_remove(n->crossing, g - 1);
}

/* From behind an instruction to before it; false where nobody needs what it computes, so that it needs nothing itself. */
static bool pass_need(const struct need *n, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    bool needed = i->kind != IR_LANES || (n->keeps && n->keeps(i));
    unsigned n_writes = ir_writes(i, refs);
    for (unsigned k = 0; k < n_writes; k++)
        needed |= is_needed(n, refs[k]);
    for (unsigned k = 0; k < n_writes && !i->guard; k++)
        set_needed(n, refs[k], false);
    for (unsigned k = 0, n_reads = needed ? ir_reads(i, refs) : 0; k < n_reads; k++)
        if (ir_ref_kind(refs[k]) == REF_REG)
            set_needed(n, refs[k], true);
    return needed;
}

/* Backwards until nothing changes, as solve(), but what is not needed makes nothing live; false where the work is spent. */
static bool find_needed(const struct ir_func *f, struct ir_live *live, struct need *need)
{
    enum { INSN_WORK = 24 };
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t o = f->n_ordered; o-- > 0;) {
            uint64_t *in = live->in + (size_t)o * live->words;
            const struct ir_block *b = ir_block_at(f, o);
            if (!join_successors(f, live, o) || !ir_spend(f, (uint64_t)b->n * INSN_WORK))
                return false;
            memcpy(need->crossing, live->out + (size_t)o * live->words, live->words * sizeof *in);
            need->block = o;
            for (uint32_t n = b->first + b->n; n-- > b->first;)
                pass_need(need, &f->insns.at[n]);
            changed |= memcmp(in, need->crossing, live->words * sizeof *in) != 0;
            memcpy(in, need->crossing, live->words * sizeof *in);
        }
    }
    return true;
}

static void remove_marked(struct ir_func *f, const bool *dead, struct arena *scratch)
{
    uint32_t *at = ARENA_ARRAY(scratch, uint32_t, f->insns.n + 1), n = 0;
    for (uint32_t i = 0; i < f->insns.n; i++) {
        at[i] = n;
        if (!dead[i])
            f->insns.at[n++] = f->insns.at[i];
    }
    at[f->insns.n] = n;
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        struct ir_block *block = &f->blocks.at[b];
        uint32_t end = at[block->first + block->n];
        block->first = at[block->first];
        block->n = end - block->first;
    }
    f->insns.n = n;
}

bool ir_drop_dead(struct ir_func *f, ir_keeps_fn *keeps, struct arena *arena, struct ir_live *live)
{
    struct liveness l = {.f = f, .live = live, .scratch = {.on_oom = arena->on_oom}};
    *live = (struct ir_live){0};
    find_globals(&l, arena);
    struct need need = {.live = live,
                        .keeps = keeps,
                        .crossing = ARENA_ARRAY(&l.scratch, uint64_t, live->words + 1),
                        .needed_in = ARENA_ARRAY(&l.scratch, uint32_t, f->regs.n)};
    bool enough = make_sets(f, live, arena) && find_needed(f, live, &need);
    bool *dead = ARENA_ARRAY(&l.scratch, bool, f->insns.n + 1), any = false;
    memset(need.needed_in, 0, f->regs.n * sizeof *need.needed_in);
    for (uint32_t o = 0; o < f->n_ordered && enough; o++) {
        const struct ir_block *b = ir_block_at(f, o);
        memcpy(need.crossing, live->out + (size_t)o * live->words, live->words * sizeof *need.crossing);
        need.block = o;
        for (uint32_t n = b->first + b->n; n-- > b->first;)
            any |= dead[n] = !pass_need(&need, &f->insns.at[n]);
    }
    if (any)
        remove_marked(f, dead, &l.scratch);
    arena_free(&l.scratch);
    return enough;
}

void ir_drop_unused(struct ir_func *f)
{
    struct arena scratch = {.on_oom = f->arena->on_oom};
    uint32_t *reads = ARENA_ARRAY(&scratch, uint32_t, f->regs.n);
    bool *dead = ARENA_ARRAY(&scratch, bool, f->insns.n + 1), any = false;
    ir_ref refs[IR_MAX_REFS];
    for (uint32_t n = 0; n < f->insns.n; n++)
        for (unsigned k = 0, n_reads = ir_reads(&f->insns.at[n], refs); k < n_reads; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                reads[ir_ref_index(refs[k])]++;
    for (uint32_t n = f->insns.n; n-- > 0;) {
        const struct ir_insn *i = &f->insns.at[n];
        bool read = i->kind != IR_LANES;
        for (unsigned k = 0, n_writes = ir_writes(i, refs); k < n_writes; k++)
            read |= reads[ir_ref_index(refs[k])] > 0;
        any |= dead[n] = !read;
        for (unsigned k = 0, n_reads = read ? 0 : ir_reads(i, refs); k < n_reads; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                reads[ir_ref_index(refs[k])]--;
    }
    if (any)
        remove_marked(f, dead, &scratch);
    arena_free(&scratch);
}

static void widen(struct liveness *l, uint32_t reg, uint32_t from, uint32_t to)
{
    if (from < l->start[reg])
        l->start[reg] = from;
    if (to > l->end[reg])
        l->end[reg] = to;
}

/* A pure instruction reads its rows before it writes: its result may take the place of a source. */
static void note_position(struct liveness *l, const struct ir_insn *i, ir_ref r, bool is_def, void *data)
{
    uint32_t at = *(uint32_t *)data + (is_def && i->kind == IR_LANES);
    widen(l, ir_ref_index(r), at, is_def ? *(uint32_t *)data + 1 : at);
}

static void widen_set(struct liveness *l, const uint64_t *set, uint32_t at)
{
    for (uint32_t w = 0; w < l->live->words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1)
            widen(l, l->live->regs[w * 64 + (uint32_t)__builtin_ctzll(left)], at, at);
}

static void find_intervals(struct liveness *l)
{
    const struct ir_func *f = l->f;
    const struct ir_live *live = l->live;
    l->start = ARENA_ARRAY(&l->scratch, uint32_t, f->regs.n);
    l->end = ARENA_ARRAY(&l->scratch, uint32_t, f->regs.n);
    memset(l->start, 0xff, f->regs.n * sizeof *l->start);
    uint32_t at = 2;
    for (uint32_t b = 0; b < f->n_ordered; b++) {
        const struct ir_block *block = ir_block_at(f, b);
        uint32_t first = at, last = at + 2 * block->n + 1;
        for (uint32_t k = 0; k < block->n; k++, at += 2)
            visit_refs(l, &f->insns.at[block->first + k], note_position, &at);
        at += 2;
        widen_set(l, live->in + (size_t)b * live->words, first);
        widen_set(l, live->out + (size_t)b * live->words, last);
    }
}

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->start != y->start ? compare(x->start, y->start) : compare(x->reg, y->reg);
}

static int by_end(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return x->end != y->end ? compare(x->end, y->end) : compare(x->reg, y->reg);
}

/* Linear scan over the registers of one width; returns the number of rows. Those whose values are over give their rows back in the
 * order in which they end: each has begun by then. */
static uint32_t scan(struct ir_func *f, struct liveness *l, unsigned width)
{
    uint32_t n = 0, rows = 0, n_over = 0, n_free = 0;
    struct interval *list = ARENA_ARRAY(&l->scratch, struct interval, f->regs.n);
    for (uint32_t r = 1; r < f->regs.n; r++)
        if (f->regs.at[r].width == width && l->start[r] != UINT32_MAX)
            list[n++] = (struct interval){r, l->start[r], l->end[r]};
    qsort(list, n, sizeof *list, by_start);
    struct interval *ends = ARENA_ARRAY(&l->scratch, struct interval, n + 1);
    memcpy(ends, list, n * sizeof *list);
    qsort(ends, n, sizeof *ends, by_end);
    uint32_t *free = ARENA_ARRAY(&l->scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        for (; ends[n_over].end < list[i].start; n_over++)
            free[n_free++] = f->regs.at[ends[n_over].reg].slot;
        f->regs.at[list[i].reg].slot = n_free ? free[--n_free] : rows++;
    }
    return rows;
}

bool ir_assign_slots(struct ir_func *f)
{
    static const uint8_t widths[] = {128, 64, 32, 16, 1}; /* wide rows first: all but predicates stay aligned */
    struct ir_live live;
    struct liveness l = {.f = f, .live = &live, .scratch = {.on_oom = f->arena->on_oom}};
    if (!find_live(&l, &l.scratch)) {
        arena_free(&l.scratch);
        return false;
    }
    find_intervals(&l);
    for (uint32_t g = 0; g < live.n; g++)
        if (ir_in_set(live.in, g)) /* into the first block: may be read before it is written */
            *VEC_PUSH(f->arena, &f->zeroed) = live.regs[g];
    uint32_t base = 0;
    for (size_t w = 0; w < sizeof widths; w++) {
        uint32_t rows = scan(f, &l, widths[w]);
        for (uint32_t r = 1; r < f->regs.n; r++)
            if (f->regs.at[r].width == widths[w])
                f->regs.at[r].slot = base + (l.start[r] == UINT32_MAX ? 0 : f->regs.at[r].slot * row_bytes(widths[w]));
        base += rows * row_bytes(widths[w]);
    }
    f->register_bytes = (base + 63) & ~63u;
    arena_free(&l.scratch);
    return true;
}
