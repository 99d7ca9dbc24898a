/* Which lanes run; see emit.h. */
#include "jit/emit/emit.h"

bool emit_is_full(const struct emit *e)
{
    return e->gang ? !e->within : ir_is_full(e->shapes, e->at);
}

value emit_mask(struct emit *e)
{
    if (emit_is_full(e))
        return const_int(e, e->i32, UINT32_MAX);
    return e->within ? e->within : e->mask ? load_i32(e, e->mask) : lane_bit(e);
}
