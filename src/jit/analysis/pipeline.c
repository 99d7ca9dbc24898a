/* See function.h: the order of the analyses. */
#include "jit/analysis/access.h"

static void find_loops(struct function *fn)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        const struct code_block *block = &fn->code->blocks[b];
        const struct op *last = &fn->code->ops[block->first + block->n - 1];
        fn->loops |= last->next <= b || ((last->kind == OP_BRA) && last->target <= b);
        fn->spins |= block->spins;
    }
}

void function_analyse(struct function *fn, uint32_t index)
{
    fn->code = fn->request->functions[index];
    fn->ir = fn->code->ir;
    fn->shapes = &fn->request->shapes[index];
    find_loops(fn);
    lane_serial_find(fn);
    gang_find(fn, index);
    nontemporal_find(fn);
    live_find_through(fn);
    access_groups_find(fn);
}
