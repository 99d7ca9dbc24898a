/* The modes for a warp's lanes, and for one lane; see struct lanes_mode in emit.h. (For several
 * warps: gang_exit.c.) */
#include "jit/emit/atom.h"

static bool is_full_by_shapes(const struct function *fn, uint32_t block)
{
    return ir_is_full(fn->shapes, block);
}

static bool all_run_where_full(const struct emit *e)
{
    return e->here->is_full;
}

static bool has_pending_by_shapes(const struct emit *e)
{
    return ir_has_pending(e->fn->shapes, e->here->block);
}

bool mode_is_pending_live(const struct emit *e, uint32_t reg)
{
    return ir_is_pending_live(e->fn->shapes, e->here->block, reg);
}

static value load_mask(struct emit *e)
{
    return emit_load_i32(e, e->f->mask);
}

static void group_by_engine(struct emit *e, const struct ir_insn *i, LLVMBasicBlockRef done)
{
    emit_by_engine(e, i);
    build_br(e, done);
}

const struct lanes_mode warp_mode = {
    .is_full = is_full_by_shapes,
    .all_run = all_run_where_full,
    .has_pending = has_pending_by_shapes,
    .is_pending_live = mode_is_pending_live,
    .mask = load_mask,
    .spill = reg_spill_row,
    .reload = reg_reload_row,
    .read_sreg = reg_read_sreg_row,
    .leave_at = exit_of_warp,
    .record_exit = exit_record_for_leave,
    .access_by_engine = access_call_engine,
    .async_by_engine = emit_by_engine,
    .group_by_engine = group_by_engine,
    .perform_atom = atom_perform_warp,
    .moves_local = true,
    .bounds_atomics = true,
};

const struct lanes_mode lane_mode = {
    .is_full = is_full_by_shapes,
    .all_run = all_run_where_full,
    .has_pending = has_pending_by_shapes,
    .is_pending_live = mode_is_pending_live,
    .mask = emit_lane_bit,
    .spill = reg_spill_lane,
    .reload = reg_reload_lane,
    .read_sreg = reg_read_sreg_lane,
    .leave_at = exit_of_warp,
    .record_exit = exit_record_for_leave,
    .access_by_engine = access_call_engine,
    .async_by_engine = emit_by_engine,
    .group_by_engine = group_by_engine,
    .perform_atom = atom_perform_lane,
    .delays_fences = true,
};
