/* Liveness: which registers' values may still be read, at the bounds of blocks.
 *
 * It is that of one thread. Lanes that stand at different places of the code need no more, because
 * every write touches the active lanes alone.
 */
#include "ir/live.h"

/* Per block: a register read before it is written there crosses into the block. */
struct exposure {
    struct ir_live *live;
    uint32_t block;
    uint32_t *written_in; /* 1 + the block that last wrote the register, by register */
};

static void note_exposed(void *data, const struct ir_insn *i, uint32_t reg, bool is_def)
{
    struct exposure *x = data;
    if (is_def && !i->guard)
        x->written_in[reg] = x->block + 1;
    else if (x->written_in[reg] != x->block + 1 && !x->live->number[reg])
        /* Of what is written under a guard, the old value may come through. */
        x->live->number[reg] = ++x->live->n;
}

/* One block's sets. */
struct block_sets {
    const uint32_t *number; /* as in ir_live */
    uint64_t *in, *kill;
};

static void note_sets(void *data, const struct ir_insn *i, uint32_t reg, bool is_def)
{
    const struct block_sets *s = data;
    uint32_t g = s->number[reg];
    if (!g)
        return;
    if (!is_def && !ir_in_set(s->kill, g - 1))
        ir_set_add(s->in, g - 1);
    else if (is_def && !i->guard)
        ir_set_add(s->kill, g - 1);
}

static void for_block(const struct ir_func *f, uint32_t order, ir_visit_fn *visit, void *data)
{
    const struct ir_block *b = ir_block_at(f, order);
    for (uint32_t k = 0; k < b->n; k++)
        ir_visit_registers(&f->insns.at[b->first + k], visit, data);
}

/* Registers that cross blocks. */
static void find_globals(const struct ir_func *f, struct arena *arena, struct ir_live *live)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    live->number = ARENA_ARRAY(arena, uint32_t, f->regs.n);
    struct exposure x = {.live = live, .written_in = ARENA_ARRAY(&scratch, uint32_t, f->regs.n)};
    for (x.block = 0; x.block < f->n_ordered; x.block++)
        for_block(f, x.block, note_exposed, &x);
    live->words = (live->n + 63) / 64;
    live->regs = ARENA_ARRAY(arena, uint32_t, live->n + 1);
    for (uint32_t r = 0; r < f->regs.n; r++)
        if (live->number[r])
            live->regs[live->number[r] - 1] = r;
    arena_free(&scratch);
}

bool ir_live_begin(const struct ir_func *f, struct arena *arena, struct ir_live *live)
{
    enum { WORD_WORK = 96 }; /* also a bound of the memory */
    *live = (struct ir_live){0};
    find_globals(f, arena, live);
    size_t size = (size_t)f->n_ordered * live->words;
    if (!ir_spend(f, size * WORD_WORK))
        return false;
    live->in = ARENA_ARRAY(arena, uint64_t, size);
    live->out = ARENA_ARRAY(arena, uint64_t, size);
    return true;
}

bool ir_live_join_successors(const struct ir_func *f, struct ir_live *live, uint32_t o)
{
    uint32_t n = ir_count_from(f, o);
    uint64_t *out = live->out + (size_t)o * live->words;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t *next = live->in + (size_t)ir_order_from(f, o, k) * live->words;
        for (uint32_t w = 0; w < live->words; w++)
            out[w] |= next[w];
    }
    return ir_spend(f, (uint64_t)(n + 1) * (live->words + 1));
}

/* in = used first, or out and not overwritten. Backwards until nothing changes; false where the
 * work is spent. */
static bool solve(const struct ir_func *f, const uint64_t *kills, struct ir_live *live)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->n_ordered; b-- > 0;) {
            uint64_t *in = live->in + (size_t)b * live->words, *out = live->out + (size_t)b * live->words;
            const uint64_t *kill = kills + (size_t)b * live->words;
            if (!ir_live_join_successors(f, live, b))
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

bool ir_find_live(const struct ir_func *f, struct arena *arena, struct ir_live *live)
{
    struct arena scratch = {.on_oom = arena->on_oom};
    bool enough = ir_live_begin(f, arena, live);
    if (enough) {
        uint64_t *kills = ARENA_ARRAY(&scratch, uint64_t, (size_t)f->n_ordered * live->words);
        for (uint32_t b = 0; b < f->n_ordered; b++) {
            size_t at = (size_t)b * live->words;
            for_block(f, b, note_sets, &(struct block_sets){live->number, live->in + at, kills + at});
        }
        enough = solve(f, kills, live);
    }
    arena_free(&scratch);
    return enough;
}
