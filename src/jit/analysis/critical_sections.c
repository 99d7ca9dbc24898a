/* Serial parts of a function (ir/serial_parts.c): where lanes continue after them, and which
 * registers they read and write; see function.h. */
#include "jit/analysis/function.h"

#include <string.h>

bool serial_parts_have_many_blocks(const struct function *fn)
{
    unsigned n = 0;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        n += block_at(fn, b)->serial_to != 0;
    return n > LIMIT_serial_blocks;
}

bool serial_part_holds(const struct function *fn, uint32_t from, uint32_t block)
{
    const struct ir_block *b = block_at(fn, from);
    return block >= b->serial_from && block < b->serial_to;
}

void serial_parts_add_exits(const struct function *fn, uint32_t from, uint32_t to, uint8_t *exits)
{
    for (uint32_t b = from; b < to; b++) {
        uint32_t next = fn_next(fn, b), target = fn_target(fn, b);
        if (!block_at(fn, b)->serial_to)
            continue;
        if (next != NO_BLOCK && !serial_part_holds(fn, b, next))
            exits[next] = 1;
        if (target != NO_BLOCK && !serial_part_holds(fn, b, target))
            exits[target] = 1;
    }
}

void serial_parts_find_exits(const struct function *fn, uint8_t *exits)
{
    memset(exits, 0, fn->ir->n_ordered);
    serial_parts_add_exits(fn, 0, fn->ir->n_ordered, exits);
}

/* Adds the registers that the instruction writes, and all that it reads or writes. */
static void add_insn(const struct function *fn, const struct ir_insn *i, uint64_t *written, uint64_t *touched)
{
    ir_ref refs[IR_MAX_REFS];
    for (unsigned k = 0, n = ir_reads(i, refs); k < n; k++)
        live_add(fn, touched, refs[k]);
    for (unsigned k = 0, n = ir_writes(i, refs); k < n; k++) {
        live_add(fn, touched, refs[k]);
        live_add(fn, written, refs[k]);
    }
}

void serial_parts_find_registers(const struct function *fn, uint32_t order, uint64_t *written, uint64_t *touched)
{
    const struct ir_block *part = block_at(fn, order);
    memset(written, 0, fn->shapes->live.words * sizeof *written);
    memset(touched, 0, fn->shapes->live.words * sizeof *touched);
    for (uint32_t o = part->serial_from; o < part->serial_to; o++) {
        const struct ir_block *b = block_at(fn, o);
        for (uint32_t k = 0; k < b->n; k++)
            add_insn(fn, &fn->ir->insns.at[b->first + k], written, touched);
    }
}

struct function function_of_one_lane(const struct function *fn, struct ir_shapes *one)
{
    struct function f = *fn;
    uint32_t blocks = fn->ir->n_ordered;
    *one = *fn->shapes;
    one->pieces = 1;
    one->regs = ARENA_ARRAY(fn->arena, uint16_t, fn->ir->regs.n);
    one->assumptions = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->insns.n);
    one->assumed = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->regs.n);
    one->pending = ARENA_ARRAY(fn->arena, uint64_t, (size_t)blocks * one->block_words);
    one->pending_live = ARENA_ARRAY(fn->arena, uint64_t, (size_t)blocks * one->live.words);
    one->whole = ARENA_ARRAY(fn->arena, uint8_t, blocks);
    f.shapes = one;
    f.one_lane = true;
    return f;
}

bool serial_parts_exist(const struct function *fn)
{
    bool found = false;
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++)
        found |= block_at(fn, b)->serial_to;
    return found;
}
