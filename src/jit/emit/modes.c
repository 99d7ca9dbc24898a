/* How code is emitted for the lanes of a warp, and for one lane; see struct lanes_mode in emit.h. (For several warps: gang_exit.c.) */
#include "jit/emit/load_store.h"

static bool is_full_by_shapes(const struct emit *e)
{
    return ir_is_full(e->fn->shapes, e->at);
}

static bool has_pending_by_shapes(const struct emit *e)
{
    return ir_has_pending(e->fn->shapes, e->at);
}

bool mode_is_pending_live(const struct emit *e, uint32_t reg)
{
    return ir_is_pending_live(e->fn->shapes, e->at, reg);
}

static value load_mask(struct emit *e)
{
    return emit_load_i32(e, e->mask);
}

static void note_nothing(struct emit *e)
{
    (void)e;
}

const struct lanes_mode warp_mode = {
    .is_full = is_full_by_shapes,
    .has_pending = has_pending_by_shapes,
    .is_pending_live = mode_is_pending_live,
    .mask = load_mask,
    .spill = reg_spill_row,
    .reload = reg_reload_row,
    .leave_at = exit_of_warp,
    .record_exit = exit_record_for_leave,
    .access_by_engine = access_call_engine,
    .has_effects = note_nothing,
};

const struct lanes_mode lane_mode = {
    .is_full = is_full_by_shapes,
    .has_pending = has_pending_by_shapes,
    .is_pending_live = mode_is_pending_live,
    .mask = emit_lane_bit,
    .spill = reg_spill_lane,
    .reload = reg_reload_lane,
    .leave_at = exit_of_warp,
    .record_exit = exit_record_for_leave,
    .access_by_engine = access_call_engine,
    .has_effects = note_nothing,
};
