/* Scalarised gathers and scatters: loads and stores at divergent addresses, one lane after the
 * other, if the CPU has no instruction for all of them; and helpers of atomic.c for the same.
 * Addresses and values go through rows of e->f->scratch; see load_store.h. */
#include "jit/emit/load_store.h"

void scratch_set(struct emit *e, enum scratch_row row, value lanes)
{
    build_store_aligned(e, lanes, e->f->scratch[row], 64);
}

value scratch_results(struct emit *e, LLVMTypeRef type)
{
    return build_load_aligned(e, vector_of(type, WARP_LANES), e->f->scratch[ROW_RESULT], 64);
}

value scratch_element(struct emit *e, enum scratch_row row, LLVMTypeRef type, value lane)
{
    return build_gep(e, type, e->f->scratch[row], lane);
}

value scratch_address(struct emit *e, LLVMTypeRef type, unsigned lane)
{
    /* In bytes, the form that LLVM uses: otherwise it would rewrite it, and examine all uses of the
     * row for each. */
    value at = emit_pointer_at(e, e->f->scratch[ROW_ADDRESS], lane * (LLVMGetIntTypeWidth(type) / 8));
    value v = build_load(e, type, at);
    LLVMSetVolatile(v, true);
    return v;
}

value scratch_lane_pointer(struct emit *e, const struct transfer *t, value lane)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(t->lanes));
    return access_pointer(e, t->a, build_load(e, type, scratch_element(e, ROW_ADDRESS, type, lane)));
}

struct lane_loop lane_loop_begin(struct emit *e)
{
    struct lane_loop t = {.before = LLVMGetInsertBlock(e->m->b), .loop = emit_new_block(e, "")};
    emit_go_on(e, t.loop);
    t.left = build_phi(e, e->m->i32);
    t.lane = build_zext(e, emit_first_lane(e, t.left), e->m->i64);
    return t;
}

void lane_loop_end(struct emit *e, const struct lane_loop *t, value mask, LLVMBasicBlockRef done)
{
    value next = emit_other_lanes(e, t->left);
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(t->left, (value[]){mask, next}, (LLVMBasicBlockRef[]){t->before, end}, 2);
    build_cond_br(e, build_ne(e, next, const_i32(e, 0)), t->loop, done);
}

/* Moves element k of each lane through the row of results. */
static void move_element(struct emit *e, const struct transfer *t, unsigned k)
{
    LLVMTypeRef type = type_of_width(e, 8 * t->a->bytes);
    bool loads = t->a->i->kind == IR_LD;
    LLVMBasicBlockRef done = emit_new_block(e, "");
    scratch_set(e, ROW_RESULT, loads ? LLVMConstNull(vector_of(type, WARP_LANES)) : element_stored_value(e, t, k));
    struct lane_loop loop = lane_loop_begin(e);
    value there = emit_pointer_at(e, scratch_lane_pointer(e, t, loop.lane), k * t->a->bytes);
    value here = scratch_element(e, ROW_RESULT, type, loop.lane);
    if (loads)
        build_store(e, element_load_vector(e, t->a, there, 1), here);
    else
        element_store_vector(e, t, build_load(e, type, here), there);
    lane_loop_end(e, &loop, t->mask, done);
    emit_at_end(e, done);
    if (loads)
        element_put_lanes(e, t, k, scratch_results(e, type));
}

/* Moves all elements of each lane at once through the row of results,
 * which has 16 bytes for each. */
static void move_whole(struct emit *e, const struct transfer *t)
{
    LLVMTypeRef type = vector_of(type_of_width(e, 8 * t->a->bytes), WARP_LANES);
    bool loads = t->a->i->kind == IR_LD;
    LLVMBasicBlockRef done = emit_new_block(e, "");
    value v[8], row = e->f->scratch[ROW_RESULT];
    for (unsigned k = 0; k < t->a->n; k++)
        v[k] = loads ? LLVMConstNull(type) : element_stored_value(e, t, k);
    if (!loads)
        vector_zip(e, v, t->a->n);
    for (unsigned k = 0; k < t->a->n; k++)
        build_store_aligned(e, v[k], emit_pointer_at(e, row, k * WARP_LANES * t->a->bytes), 64);
    struct lane_loop loop = lane_loop_begin(e);
    value there = scratch_lane_pointer(e, t, loop.lane),
          here = scratch_element(e, ROW_RESULT, element_whole_type(e, t->a), loop.lane);
    if (loads)
        build_store(e, element_load_whole(e, t->a, there), here);
    else
        element_store_whole(e, t->a, build_load(e, element_whole_type(e, t->a), here), there);
    lane_loop_end(e, &loop, t->mask, done);
    emit_at_end(e, done);
    for (unsigned k = 0; k < t->a->n && loads; k++) {
        v[k] = build_load_aligned(e, type, emit_pointer_at(e, row, k * WARP_LANES * t->a->bytes), 64);
    }
    if (loads)
        vector_unzip(e, v, t->a->n);
    for (unsigned k = 0; k < t->a->n && loads; k++)
        element_put_lanes(e, t, k, v[k]);
}

void scalarised_load_lane(struct emit *e, const struct transfer *t, unsigned lane, value pointer, value v[8])
{
    for (unsigned k = 0; k < t->a->n; k++) {
        value one = element_load_vector(e, t->a, emit_pointer_at(e, pointer, k * t->a->bytes), 1);
        if (lane == 0)
            v[k] = LLVMGetPoison(vector_of(LLVMTypeOf(one), WARP_LANES));
        v[k] = build_insert(e, v[k], one, const_i32(e, lane));
    }
}

void scalarised_gather(struct emit *e, const struct transfer *t)
{
    value v[8], own = emit_splat(e, LLVMBuildPtrToInt(e->m->b, e->warp.w, e->m->i64, ""));
    scratch_set(e, ROW_ADDRESS, build_select(e, emit_mask_to_lanes(e, t->mask), t->lanes, own));
    for (unsigned l = 0; l < WARP_LANES; l++)
        scalarised_load_lane(e, t, l, access_pointer(e, t->a, scratch_address(e, e->m->i64, l)), v);
    for (unsigned k = 0; k < t->a->n; k++)
        element_put_lanes(e, t, k, v[k]);
}

void scalarised_transfer(struct emit *e, const struct transfer *t)
{
    scratch_set(e, ROW_ADDRESS, t->lanes);
    if (access_is_whole(t->a->mem)) {
        move_whole(e, t);
        return;
    }
    for (unsigned k = 0; k < t->a->n; k++)
        move_element(e, t, k);
}
