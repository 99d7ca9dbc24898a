/* Copies of 16 bytes per lane (ir_is_copy()), as a pair of load and store. If all lanes run and
 * store consecutively, the bytes go from load to store in their memory layout, four lanes in a
 * vector, without conversion to registers by lane, which would take some forty shuffles. An exit
 * between the two happens before the copy: the interpreter executes the store with all of it. */
#include "jit/emit/load_store.h"

enum { LANES_OF_VECTOR = 4, NUMBERS = 2 * LANES_OF_VECTOR };

bool copy_is_whole(const struct emit *e)
{
    const struct cursor here = *e->here;
    const struct ir_insn *i = fn_insn_at(here, e->here->index);
    /* otherwise all lanes copy, or none */
    bool guarded = i->guard && fn_ref_shape(e->fn, i->guard) != SHAPE_UNIFORM;
    if (!ir_is_copy(i) || i->access->mem.n != 2 || guarded || !e->mode->all_run(e))
        return false;
    uint32_t load = i->kind == IR_LD ? e->here->index : e->here->index - 1;
    const struct ir_insn *from = fn_insn_at(here, load);
    struct access to = access_begin(e->fn, fn_insn_at(here, load + 1));
    bool once = mode_is_once(e, (uint32_t)(from - e->fn->ir->insns.at));
    if (once || !from->a || fn_ref_shape(e->fn, from->a) == SHAPE_UNIFORM || to.shape == SHAPE_UNIFORM ||
        to.shape == SHAPE_DIVERGENT)
        return false;
    return access_is_aligned(&to) && access_is_consecutive(&to);
}

static LLVMTypeRef vector_type(struct emit *e)
{
    return vector_of(e->m->i64, NUMBERS);
}

static void set(struct emit *e, unsigned k, value v)
{
    if (!e->copied[k])
        e->copied[k] = emit_alloca(e, vector_type(e));
    build_store(e, v, e->copied[k]);
}

/* The address of the k-th vector, for lanes that are consecutive in each piece of the warp. */
static value pointer_of(struct emit *e, const struct transfer *t, unsigned k)
{
    unsigned of_piece = COPY_VECTORS / t->a->pieces;
    return emit_pointer_at(e, t->pointer[k / of_piece], k % of_piece * LANES_OF_VECTOR * t->a->all);
}

void copy_load_consecutive(struct emit *e, const struct transfer *t)
{
    for (unsigned k = 0; k < COPY_VECTORS; k++) {
        value v = build_load_aligned(e, vector_type(e), pointer_of(e, t, k), t->a->all);
        set(e, k, v);
    }
}

static value concatenate(struct emit *e, value x, value y, unsigned n)
{
    int index[NUMBERS];
    for (unsigned k = 0; k < 2 * n; k++)
        index[k] = (int)k;
    return emit_shuffle(e, x, y, index, 2 * n);
}

/* Loads rows of four consecutive lanes, such as rows of a tile. */
static void load_rows(struct emit *e, const struct transfer *t)
{
    for (unsigned k = 0; k < COPY_VECTORS; k++) {
        value at = build_extract(e, t->lanes, const_i32(e, k * LANES_OF_VECTOR));
        value v = build_load_aligned(e, vector_type(e), build_int_to_ptr(e, at, e->m->ptr), t->a->all);
        set(e, k, v);
    }
}

static void load_each(struct emit *e, const struct transfer *t)
{
    scratch_set(e, ROW_ADDRESS, t->lanes);
    for (unsigned k = 0; k < COPY_VECTORS; k++) {
        value lane[LANES_OF_VECTOR];
        for (unsigned l = 0; l < LANES_OF_VECTOR; l++) {
            value at = scratch_address(e, e->m->i64, k * LANES_OF_VECTOR + l);
            lane[l] = build_load_aligned(e, vector_of(e->m->i64, 2), build_int_to_ptr(e, at, e->m->ptr), t->a->all);
        }
        set(e, k, concatenate(e, concatenate(e, lane[0], lane[1], 2), concatenate(e, lane[2], lane[3], 2), 4));
    }
}

void copy_load_lanes(struct emit *e, const struct transfer *t)
{
    LLVMBasicBlockRef each = emit_new_block(e, ""), done = emit_new_block(e, "");
    emit_require(e, transfer_test_runs(e, t, LANES_OF_VECTOR, t->a->all), each);
    load_rows(e, t);
    build_br(e, done);
    emit_at_end(e, each);
    load_each(e, t);
    emit_go_on(e, done);
}

void copy_take_registers(struct emit *e, const struct transfer *t)
{
    value lanes[2];
    int index[NUMBERS];
    for (unsigned k = 0; k < 2; k++)
        lanes[k] = reg_read_lanes(e, t->a->i->access->regs[k]);
    for (unsigned k = 0; k < COPY_VECTORS; k++) {
        for (unsigned n = 0; n < NUMBERS; n++)
            index[n] = (int)(n % 2 * WARP_LANES + k * LANES_OF_VECTOR + n / 2);
        set(e, k, emit_shuffle(e, lanes[0], lanes[1], index, NUMBERS));
    }
}

void copy_store(struct emit *e, const struct transfer *t)
{
    for (unsigned k = 0; k < COPY_VECTORS; k++) {
        value v = build_load(e, vector_type(e), e->copied[k]);
        build_store_aligned(e, v, pointer_of(e, t, k), t->a->all);
    }
}
