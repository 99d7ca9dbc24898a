/* The live state of a place in a block: the registers that the interpreter needs where it takes over there; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

bool has_waiting(const struct emit *e)
{
    return !e->gang && ir_has_waiting(e->shapes, e->at);
}

/* ---- from a place in a block on ---- */

struct search {
    uint8_t *seen; /* by register: in the list already, or written before anybody reads it */
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
        if (i->guard) /* what was there may stay */
            note_read(s, refs[k]);
        if (ir_ref_kind(refs[k]) == REF_REG)
            s->seen[ir_ref_index(refs[k])] = 1;
    }
}

struct reg_list live_at(const struct emit *e, uint32_t index)
{
    const struct ir_live *live = &e->shapes->live;
    const uint64_t *out = live->out + (size_t)e->at * live->words;
    const struct ir_block *block = block_at(e, e->at);
    uint8_t seen[e->ir->regs.n];
    struct reg_list found = {.regs = ARENA_ARRAY(e->arena, uint32_t, e->ir->regs.n)};
    struct search s = {.seen = seen, .live = &found};
    memset(seen, 0, sizeof seen);
    for (uint32_t k = index; k < block->n; k++)
        note_insn(&s, &e->ir->insns.at[block->first + k]);
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(out, k))
            note_read(&s, ir_make_ref(REF_REG, live->regs[k]));
    return found;
}

struct reg_list live_of_set(const struct emit *e, const uint64_t *set)
{
    const struct ir_live *live = &e->shapes->live;
    struct reg_list l = {.regs = ARENA_ARRAY(e->arena, uint32_t, live->n + 1)};
    for (uint32_t k = 0; k < live->n; k++)
        if (ir_in_set(set, k))
            l.regs[l.n++] = live->regs[k];
    return l;
}

struct reg_list live_scalars(const struct emit *e, struct reg_list among)
{
    struct reg_list l = {.regs = ARENA_ARRAY(e->arena, uint32_t, among.n + 1)};
    for (uint32_t k = 0; k < among.n; k++)
        if (e->shapes->regs[among.regs[k]] != SHAPE_VARYING)
            l.regs[l.n++] = among.regs[k];
    return l;
}

/* ---- through a block ---- */

bool live_is_kept(const struct emit *e, uint32_t reg)
{
    uint32_t n = e->shapes->live.number[reg];
    return n && ir_in_set(e->kept, n - 1);
}

/* Registers that are needed behind the block and are not written in it: wherever it is left they are to be spilled, so there is
 * one piece of code for that. */
void find_kept(struct emit *e)
{
    const struct ir_live *live = &e->shapes->live;
    const struct ir_block *block = block_at(e, e->at);
    ir_ref writes[IR_MAX_REFS];
    memcpy(e->kept, live->out + (size_t)e->at * live->words, live->words * sizeof *e->kept);
    for (uint32_t k = 0; k < block->n; k++) {
        unsigned n = ir_writes(&e->ir->insns.at[block->first + k], writes);
        for (unsigned w = 0; w < n; w++) {
            uint32_t number = ir_ref_kind(writes[w]) == REF_REG ? live->number[ir_ref_index(writes[w])] : 0;
            if (number)
                e->kept[(number - 1) / 64] &= ~(1ull << ((number - 1) % 64));
        }
    }
}
