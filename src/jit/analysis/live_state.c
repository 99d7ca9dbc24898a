/* The live state at a place in a block: the registers that the interpreter needs if it continues
 * there; see function.h. */
#include "jit/analysis/function.h"

#include <string.h>

/* ---- sets of ir_live ---- */

/* Its number there, plus one; 0 if it has none. */
static uint32_t number_of(const struct function *fn, ir_ref r)
{
    return ir_ref_kind(r) == REF_REG ? fn->shapes->live.number[ir_ref_index(r)] : 0;
}

bool live_has(const struct function *fn, const uint64_t *set, ir_ref r)
{
    uint32_t n = number_of(fn, r);
    return n && ir_in_set(set, n - 1);
}

void live_add(const struct function *fn, uint64_t *set, ir_ref r)
{
    uint32_t n = number_of(fn, r);
    if (n)
        ir_set_add(set, n - 1);
}

void live_remove(const struct function *fn, uint64_t *set, ir_ref r)
{
    uint32_t n = number_of(fn, r);
    if (n)
        ir_set_remove(set, n - 1);
}

/* ---- from a place in a block on ---- */

struct search {
    uint8_t *seen; /* by register: in the list already, or written before any read */
    struct reg_list *live;
};

static void note_read(struct search *s, ir_ref r)
{
    uint32_t reg = ir_ref_index(r);
    if (ir_ref_kind(r) == REF_REG && !s->seen[reg]) {
        s->seen[reg] = 1;
        s->live->regs[s->live->n++] = reg;
    }
}

static void note_insn(struct search *s, const struct ir_insn *i)
{
    ir_ref refs[IR_MAX_REFS];
    unsigned reads = ir_reads(i, refs);
    for (unsigned k = 0; k < reads; k++)
        note_read(s, refs[k]);
    unsigned writes = ir_writes(i, refs);
    for (unsigned k = 0; k < writes; k++) {
        if (i->guard) /* a guarded write may leave the old value */
            note_read(s, refs[k]);
        if (ir_ref_kind(refs[k]) == REF_REG)
            s->seen[ir_ref_index(refs[k])] = 1;
    }
}

struct reg_list live_at(struct cursor here, uint32_t index)
{
    const struct ir_live *live = &here.fn->shapes->live;
    const uint64_t *out = live_out(here.fn, here.block);
    const struct ir_block *block = block_at(here.fn, here.block);
    uint8_t seen[here.fn->ir->regs.n];
    struct reg_list found = {.regs = ARENA_ARRAY(here.fn->arena, uint32_t, here.fn->ir->regs.n)};
    struct search s = {.seen = seen, .live = &found};
    memset(seen, 0, sizeof seen);
    for (uint32_t k = index; k < block->n; k++)
        note_insn(&s, &here.fn->ir->insns.at[block->first + k]);
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(out, k))
            note_read(&s, ir_make_ref(REF_REG, live->regs[k]));
    return found;
}

struct reg_list live_of_set(const struct function *fn, const uint64_t *set)
{
    const struct ir_live *live = &fn->shapes->live;
    struct reg_list l = {.regs = ARENA_ARRAY(fn->arena, uint32_t, live->n + 1)};
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(set, k))
            l.regs[l.n++] = live->regs[k];
    return l;
}

struct reg_list live_among(const struct function *fn, struct reg_list among, bool divergent)
{
    struct reg_list l = {.regs = ARENA_ARRAY(fn->arena, uint32_t, among.n + 1)};
    for (uint32_t k = 0; k < among.n; k++)
        if ((fn->shapes->regs[among.regs[k]] == SHAPE_DIVERGENT) == divergent)
            l.regs[l.n++] = among.regs[k];
    return l;
}

/* ---- through a block ---- */

const uint64_t *live_through(const struct function *fn, uint32_t block)
{
    return fn->through + (size_t)block * fn->shapes->live.words;
}

static void find_through(const struct function *fn, uint32_t order, uint64_t *through)
{
    const struct ir_block *block = block_at(fn, order);
    ir_ref writes[IR_MAX_REFS];
    memcpy(through, live_out(fn, order), fn->shapes->live.words * sizeof *through);
    for (uint32_t k = 0; k < block->n; k++) {
        unsigned n = ir_writes(&fn->ir->insns.at[block->first + k], writes);
        for (unsigned w = 0; w < n; w++)
            live_remove(fn, through, writes[w]);
    }
}

void live_find_through(struct function *fn)
{
    uint32_t words = fn->shapes->live.words;
    fn->through = ARENA_ARRAY(fn->arena, uint64_t, (size_t)fn->ir->n_ordered *words + 1);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        find_through(fn, b, fn->through + (size_t)b * words);
}
