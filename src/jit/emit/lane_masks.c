/* Which lanes run; see emit.h. */
#include "jit/emit/emit.h"

bool emit_is_full(const struct emit *e)
{
    return e->gang ? !e->within : ir_is_full(e->fn->shapes, e->at);
}

value emit_mask(struct emit *e)
{
    if (emit_is_full(e))
        return const_int(e, e->i32, UINT32_MAX);
    return e->within ? e->within : e->mask ? load_i32(e, e->mask) : lane_bit(e);
}

struct cursor here(const struct emit *e)
{
    return (struct cursor){
        .fn = e->fn, .block = e->at, .index = e->index, .is_full = emit_is_full(e), .groups = e->groups};
}
