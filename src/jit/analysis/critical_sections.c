/* Serial parts of a function (ir/serial.c): where they are left for, and which registers they have to do with; see emit.h. */
#include "jit/emit/emit.h"

#include <string.h>

/* A second version of all that is in parts would take LLVM long: what it needs for a function grows faster than the function. */
bool serial_has_many_blocks(const struct emit *e)
{
    enum { MANY = 32 };
    unsigned n = 0;
    for (uint32_t b = 0; b < e->ir->n_ordered; b++)
        n += block_at(e, b)->serial_to != 0;
    return n > MANY;
}

bool serial_is_inside(const struct emit *e, uint32_t from, uint32_t block)
{
    const struct ir_block *b = block_at(e, from);
    return block >= b->serial_from && block < b->serial_to;
}

static const struct op *last_op(const struct emit *e, uint32_t order)
{
    const struct code_block *b = &e->code->blocks[order];
    return &e->code->ops[b->first + b->n - 1];
}

void serial_add_exits(const struct emit *e, uint32_t from, uint32_t to, uint8_t *exits)
{
    for (uint32_t b = from; b < to; b++) {
        const struct op *o = last_op(e, b);
        if (!block_at(e, b)->serial_to)
            continue;
        if (o->next != NO_BLOCK && !serial_is_inside(e, b, o->next))
            exits[o->next] = 1;
        if (o->kind == OP_BRA && !serial_is_inside(e, b, o->target))
            exits[o->target] = 1;
    }
}

void find_serial_exits(const struct emit *e, uint8_t *exits)
{
    memset(exits, 0, e->ir->n_ordered);
    serial_add_exits(e, 0, e->ir->n_ordered, exits);
}

static void add(const struct emit *e, uint64_t *set, ir_ref r)
{
    uint32_t n = ir_ref_kind(r) == REF_REG ? e->shapes->live.number[ir_ref_index(r)] : 0;
    if (n)
        set[(n - 1) / 64] |= 1ull << ((n - 1) % 64);
}

/* Registers that the instruction writes, and all that it has. */
static void add_insn(const struct emit *e, const struct ir_insn *i, uint64_t *written, uint64_t *touched)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_reads(i, refs); k < n; k++)
        add(e, touched, refs[k]);
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++) {
        add(e, touched, refs[k]);
        add(e, written, refs[k]);
    }
}

/* Of the part that a block is in. */
void serial_find_registers(const struct emit *e, uint32_t order, uint64_t *written, uint64_t *touched)
{
    const struct ir_block *part = block_at(e, order);
    memset(written, 0, e->shapes->live.words * sizeof *written);
    memset(touched, 0, e->shapes->live.words * sizeof *touched);
    for (uint32_t o = part->serial_from; o < part->serial_to; o++) {
        const struct ir_block *b = block_at(e, o);
        for (uint32_t k = 0; k < b->n; k++)
            add_insn(e, &e->ir->insns.at[b->first + k], written, touched);
    }
}

struct ir_shapes shapes_of_lane(struct emit *e, const struct ir_shapes *s)
{
    struct ir_shapes one = *s;
    uint32_t blocks = e->ir->n_ordered;
    one.parts = 1;
    one.regs = ARENA_ARRAY(e->arena, uint16_t, e->ir->regs.n);
    one.guesses = ARENA_ARRAY(e->arena, uint8_t, e->ir->insns.n);
    one.guessed = ARENA_ARRAY(e->arena, uint8_t, e->ir->regs.n);
    one.waiting = ARENA_ARRAY(e->arena, uint64_t, (size_t)blocks * s->block_words);
    one.held = ARENA_ARRAY(e->arena, uint64_t, (size_t)blocks * s->live.words);
    one.whole = ARENA_ARRAY(e->arena, uint8_t, blocks);
    return one;
}

bool has_serial_parts(const struct emit *e, uint32_t *longest)
{
    bool found = false;
    *longest = 0;
    for (uint32_t b = 0; b < e->ir->blocks.n; b++) {
        *longest = e->ir->blocks.at[b].n > *longest ? e->ir->blocks.at[b].n : *longest;
        found |= e->ir->blocks.at[b].serial_to;
    }
    return found;
}
