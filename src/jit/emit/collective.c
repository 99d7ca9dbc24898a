/* What lanes of a warp do together: a shuffle between known lanes is a vector's; all else is the engine's. See emit.h. */
#include "exec/shuffle.h"
#include "jit/emit/load_store.h"

/* A shuffle of all 32 lanes between known lanes. */
static bool emit_plain_shuffle(struct emit *e, const struct ir_insn *i)
{
    uint32_t b, c, p = 0;
    int index[WARP_LANES];
    if (!e->here->is_full || !fn_is_plain_shuffle(e->fn, i) || !fn_constant_low(e->fn, i->b, &b) ||
        !fn_constant_low(e->fn, i->c, &c))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        bool in_range;
        index[l] = (int)shuffle_source((enum collective)i->mode, l, b, c, &in_range);
        p |= (uint32_t)in_range << l;
    }
    value v = emit_shuffle(e, reg_read_lanes(e, i->a), NULL, index, WARP_LANES);
    if (i->d)
        reg_write_lanes(e, i->d, v, NULL);
    if (i->e)
        reg_write_lanes(e, i->e, const_i32(e, p), NULL);
    return true;
}

bool emit_collective(struct emit *e, const struct ir_insn *i)
{
    if (!fn_is_collective(i))
        return false;
    if (emit_plain_shuffle(e, i))
        return true;
    value mask = emit_mask(e);
    access_spill_operands(e, i);
    LLVMBasicBlockRef on = emit_rarely(e, engine_call_op(e, abi.compiled_calls_collective, i, mask));
    exit_emit_at(e, e->here->index);
    emit_at_end(e, on);
    access_take_results(e, i, mask);
    return true;
}
