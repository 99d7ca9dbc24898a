/* Collectives of a warp: if all 32 lanes are present, shuffles between known lanes and votes are
 * computed in registers; the engine does the rest. See emit.h. */
#include "exec/shuffle.h"
#include "jit/emit/load_store.h"

/* The lanes of a tile of the warp (cooperative groups) for a shuffle's segments; false if a lane's
 * source is in another tile. */
static bool tiles_of(const int source[WARP_LANES], uint32_t c, int64_t members[WARP_LANES])
{
    uint32_t segment = c >> 8 & 31, size = WARP_LANES - segment;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        members[l] = size == WARP_LANES ? -1 : (int64_t)(int32_t)(((1u << size) - 1) << (l & segment));
        if (!((uint32_t)members[l] >> source[l] & 1) || !((uint32_t)members[l] >> l & 1))
            return false;
    }
    return true;
}

static uint32_t find_sources(const struct ir_insn *i, uint32_t b, uint32_t c, int source[WARP_LANES])
{
    uint32_t p = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        bool in_range;
        source[l] = (int)shuffle_source((enum collective)i->mode, l, b, c, &in_range);
        p |= (uint32_t)in_range << l;
    }
    return p;
}

/* Computes it if `all` lanes take part, which may be known only at run time. */
static void emit_plain_shuffle(struct emit *e, const struct ir_insn *i, value all)
{
    uint32_t b = 0, c = 0;
    int source[WARP_LANES];
    fn_constant_low(e->fn, i->b, &b);
    fn_constant_low(e->fn, i->c, &c);
    uint32_t p = find_sources(i, b, c, source);
    value v = emit_shuffle(e, reg_read_lanes(e, i->a), NULL, source, WARP_LANES);
    if (i->d)
        reg_write_lanes(e, i->d, v, all);
    if (i->e)
        reg_write_lanes(e, i->e, const_i32(e, p), all);
}

static void emit_plain_vote(struct emit *e, const struct ir_insn *i, value all)
{
    value votes = reg_read_lanes(e, i->a), every = build_eq(e, votes, const_i32(e, UINT32_MAX)),
          none = emit_is_zero(e, votes);
    switch ((enum collective)i->mode) {
    case COLLECTIVE_VOTE_ALL: votes = build_sext(e, every, e->m->i32); break;
    case COLLECTIVE_VOTE_ANY: votes = build_sext(e, build_not(e, none), e->m->i32); break;
    case COLLECTIVE_VOTE_UNI: votes = build_sext(e, build_or(e, every, none), e->m->i32); break;
    default: votes = emit_splat(e, votes); break;
    }
    if (i->d)
        reg_write_lanes(e, i->d, votes, all);
}

static value is_in_all_lanes(struct emit *e, value lanes, value v)
{
    return emit_is_zero(e, emit_lanes_to_mask(e, build_ne(e, lanes, v)));
}

/* Does the membermask name exactly the lanes that arrive together: all lanes, or those of each
 * lane's tile? */
static value emit_members_are_usual(struct emit *e, const struct ir_insn *i)
{
    uint32_t b, c;
    int source[WARP_LANES];
    int64_t members[WARP_LANES];
    if (fn_ref_shape(e->fn, i->f) == SHAPE_UNIFORM)
        return build_eq(e, reg_read_scalar(e, i->f), const_i32(e, UINT32_MAX));
    value named = reg_read_lanes(e, i->f), usual = is_in_all_lanes(e, named, emit_splat(e, const_i32(e, UINT32_MAX)));
    if (i->kind != IR_SHFL || !fn_constant_low(e->fn, i->b, &b) || !fn_constant_low(e->fn, i->c, &c))
        return usual;
    find_sources(i, b, c, source);
    if (!tiles_of(source, c, members))
        return usual;
    return build_or(e, usual, is_in_all_lanes(e, named, const_lanes(e, 32, members)));
}

/* Can it be computed in registers? *usual: the condition; NULL: always. */
static bool is_plain(struct emit *e, const struct ir_insn *i, value *usual)
{
    bool names_all;
    *usual = NULL;
    if (!fn_is_plain_collective(e->fn, i, &names_all))
        return false;
    if (!e->here->is_full)
        *usual = build_eq(e, emit_mask(e), const_i32(e, UINT32_MAX));
    if (!names_all) {
        value members = emit_members_are_usual(e, i);
        *usual = *usual ? build_and(e, *usual, members) : members;
    }
    return true;
}

static void emit_collective_by_engine(struct emit *e, const struct ir_insn *i)
{
    value mask = emit_mask(e);
    access_spill_operands(e, i);
    LLVMBasicBlockRef on = emit_rarely(e, engine_call_op(e, abi.compiled_calls_collective, i, mask));
    exit_emit_at(e, e->here->index);
    emit_at_end(e, on);
    access_take_results(e, i, mask);
}

bool emit_collective(struct emit *e, const struct ir_insn *i)
{
    value usual = NULL, all = const_i32(e, UINT32_MAX);
    if (!fn_is_collective(i))
        return false;
    if (!is_plain(e, i, &usual)) {
        emit_collective_by_engine(e, i);
        return true;
    }
    LLVMBasicBlockRef on = usual ? emit_rarely(e, usual) : NULL, behind = usual ? emit_new_block(e, "") : NULL;
    if (usual) {
        emit_collective_by_engine(e, i);
        build_br(e, behind);
        emit_at_end(e, on);
    }
    if (i->kind == IR_VOTE)
        emit_plain_vote(e, i, all);
    else
        emit_plain_shuffle(e, i, all);
    emit_go_on(e, behind);
    return true;
}
