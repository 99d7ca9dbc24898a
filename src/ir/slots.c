/* Register allocation of rows (slots): registers whose values are never needed at the same time
 * share a row.
 *
 * Liveness is that of one thread (live.c). Rows are shared only between registers of one width, so
 * that a lane's place in the row is the same for all of them. The intervals are those of a linear
 * scan over the blocks in their order of execution.
 */
#include "ir/live.h"

#include <stdlib.h>
#include <string.h>

struct intervals {
    const struct ir_live *live;
    uint32_t *start, *end; /* by register; start UINT32_MAX where unused */
    uint32_t at;           /* while they are found: the present instruction's place */
};

static void widen(struct intervals *l, uint32_t reg, uint32_t from, uint32_t to)
{
    if (from < l->start[reg])
        l->start[reg] = from;
    if (to > l->end[reg])
        l->end[reg] = to;
}

/* A pure instruction reads its rows before it writes: its result may take the place of a source. */
static void note_position(void *data, const struct ir_insn *i, uint32_t reg, bool is_def)
{
    struct intervals *l = data;
    uint32_t at = l->at + (is_def && i->kind == IR_LANES);
    widen(l, reg, at, is_def ? l->at + 1 : at);
}

static void widen_set(struct intervals *l, const uint64_t *set, uint32_t at)
{
    for (uint32_t w = 0; w < l->live->words; w++)
        for (uint64_t left = set[w]; left; left &= left - 1)
            widen(l, l->live->regs[w * 64 + (uint32_t)__builtin_ctzll(left)], at, at);
}

static struct intervals find_intervals(const struct ir_func *f, const struct ir_live *live, struct arena *scratch)
{
    struct intervals l = {.live = live,
                          .start = ARENA_ARRAY(scratch, uint32_t, f->regs.n),
                          .end = ARENA_ARRAY(scratch, uint32_t, f->regs.n),
                          .at = 2};
    memset(l.start, 0xff, f->regs.n * sizeof *l.start);
    for (uint32_t b = 0; b < f->n_ordered; b++) {
        const struct ir_block *block = ir_block_at(f, b);
        uint32_t first = l.at, last = l.at + 2 * block->n + 1;
        for (uint32_t k = 0; k < block->n; k++, l.at += 2)
            ir_visit_registers(&f->insns.at[block->first + k], note_position, &l);
        l.at += 2;
        widen_set(&l, live->in + (size_t)b * live->words, first);
        widen_set(&l, live->out + (size_t)b * live->words, last);
    }
    return l;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Linear scan over the registers of one width; returns the number of rows. Those whose values are
 * over give their rows back in the order in which they end: each has begun by then. */
static uint32_t scan(struct ir_func *f, const struct intervals *l, unsigned width, struct arena *scratch)
{
    uint32_t n = 0, rows = 0, n_over = 0, n_free = 0;
    /* Of an interval the start, or end, and below the register. */
    uint64_t *starts = ARENA_ARRAY(scratch, uint64_t, f->regs.n);
    uint64_t *ends = ARENA_ARRAY(scratch, uint64_t, f->regs.n);
    for (uint32_t r = 1; r < f->regs.n; r++)
        if (f->regs.at[r].width == width && l->start[r] != UINT32_MAX) {
            starts[n] = (uint64_t)l->start[r] << 32 | r;
            ends[n++] = (uint64_t)l->end[r] << 32 | r;
        }
    qsort(starts, n, sizeof *starts, by_number);
    qsort(ends, n, sizeof *ends, by_number);
    uint32_t *free = ARENA_ARRAY(scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        for (; !f->keeps_registers && ends[n_over] >> 32 < starts[i] >> 32; n_over++)
            free[n_free++] = f->regs.at[(uint32_t)ends[n_over]].slot;
        f->regs.at[(uint32_t)starts[i]].slot = n_free ? free[--n_free] : rows++;
    }
    return rows;
}

bool ir_assign_slots(struct ir_func *f)
{
    /* Wide rows first: all but predicates stay aligned. */
    static const uint8_t widths[] = {128, 64, 32, 16, 1};
    struct ir_live live;
    struct arena scratch = {.on_oom = f->arena->on_oom};
    if (!ir_find_live(f, &scratch, &live)) {
        arena_free(&scratch);
        return false;
    }
    struct intervals l = find_intervals(f, &live, &scratch);
    for (uint32_t g = 0; g < live.n && !f->keeps_registers; g++)
        if (ir_in_set(live.in, g)) /* into the first block: may be read before it is written */
            *VEC_PUSH(f->arena, &f->zeroed) = live.regs[g];
    for (uint32_t r = 1; r < f->regs.n && f->keeps_registers; r++)
        *VEC_PUSH(f->arena, &f->zeroed) = r;
    uint32_t base = 0;
    for (size_t w = 0; w < sizeof widths; w++) {
        uint32_t rows = scan(f, &l, widths[w], &scratch);
        for (uint32_t r = 1; r < f->regs.n; r++)
            if (f->regs.at[r].width == widths[w])
                f->regs.at[r].slot = base + (l.start[r] == UINT32_MAX ? 0 : f->regs.at[r].slot * row_bytes(widths[w]));
        base += rows * row_bytes(widths[w]);
    }
    f->register_bytes = (base + 63) & ~63u;
    arena_free(&scratch);
    return true;
}
