/* Which lanes run; see emit.h. */
#include "jit/emit/emit.h"

bool emit_is_full(const struct emit *e)
{
    return e->mode->is_full(e);
}

value emit_mask(struct emit *e)
{
    return emit_is_full(e) ? const_int(e, e->m->i32, UINT32_MAX) : e->mode->mask(e);
}

struct cursor emit_here(const struct emit *e)
{
    return (struct cursor){
        .fn = e->fn, .block = e->at, .index = e->index, .is_full = emit_is_full(e), .check_groups = e->check_groups};
}
