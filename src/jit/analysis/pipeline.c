/* See function.h: the order of the analyses. */
#include "jit/analysis/access.h"

static void find_loops(struct function *fn)
{
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        fn->loops |= fn_next(fn, b) <= b || fn_target(fn, b) <= b;
        fn->spins |= block_at(fn, b)->spins;
    }
}

void function_analyse(struct function *fn, uint32_t index)
{
    fn->ir = fn->request->functions[index];
    layout_find(&fn->layout, fn->ir, fn->arena);
    fn->shapes = &fn->request->shapes[index];
    find_loops(fn);
    frame_places_find(fn);
    lane_serial_find(fn);
    gang_find(fn, index);
    nontemporal_find(fn);
    canonical_nans_find(fn);
    live_find_through(fn);
    dirty_find_written_through(fn);
    access_groups_find(fn);
}
