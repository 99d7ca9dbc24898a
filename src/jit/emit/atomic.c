/* Atomic operations that compiled code performs itself: those with lane functions in isa/atoms.def.
 * exec/atom.c performs the others, and accesses that are not in their inline cache's place (PTX ISA
 * 9.7.13.5).
 *
 * Lanes are in order: operations of several lanes of a warp on one cell happen as if one after the
 * other. A block stays on one worker, so shared memory needs only plain operations, by lane
 * functions. Global memory uses the host's atomic instructions with the operation's order; if the
 * host has none, the lane function between a load and a compare-and-swap. If all lanes access one
 * cell, integer additions become one addition; comparisons, and operations without a host
 * instruction, are computed on the value that was read, and one exchange writes the last result. A
 * comparison that fails is a read.
 */
#include "jit/emit/atom.h"

enum { STEP = 8 }; /* lanes per iteration of the loop over all 32 */

/* ---- lanes one after the other ---- */

static void find_operand(struct emit *e, struct atom *t, unsigned k, value *v)
{
    ir_ref r = t->x.a->i->access->operands[k];
    t->uniform[k] = fn_ref_shape(e->fn, r) == SHAPE_UNIFORM;
    *v = t->uniform[k] ? reg_read_scalar(e, r) : reg_read_lanes(e, r);
}

static value operand(struct emit *e, const struct atom *t, unsigned k, value lane)
{
    if (k == 1 && !t->is_cas)
        return NULL;
    if (t->uniform[k])
        return k ? t->t : t->s;
    return build_load(e, t->type, scratch_element(e, k ? ROW_T : ROW_S, t->type, lane));
}

static void do_lane(struct emit *e, const struct atom *t, value lane)
{
    value at = t->x.pointer[0] ? t->x.pointer[0] : scratch_lane_pointer(e, &t->x, lane);
    value old = atom_do_cell(e, t, at, operand(e, t, 0, lane), operand(e, t, 1, lane));
    if (t->result)
        build_store(e, old, scratch_element(e, ROW_RESULT, t->type, lane));
}

/* A loop over the lanes from 0 to 31; goes to `done`. */
static void do_all_lanes(struct emit *e, const struct atom *t, LLVMBasicBlockRef done)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->m->b), loop = emit_new_block(e, "");
    emit_go_on(e, loop);
    value zero = const_i64(e, 0), first = build_phi(e, e->m->i64);
    for (unsigned k = 0; k < STEP; k++)
        do_lane(e, t, build_add(e, first, const_i64(e, k)));
    value next = build_add(e, first, const_i64(e, STEP));
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(first, (value[]){zero, next}, (LLVMBasicBlockRef[]){before, end}, 2);
    value more = build_ult(e, next, const_i64(e, WARP_LANES));
    build_cond_br(e, more, loop, done);
}

/* The number of bits for the index of each lane's cell of 4 bytes or more, relative to offset
 * `*from` in shared memory. If a byte indexes an array, 8 suffice. */
static unsigned number_bits(const struct emit *e, const struct access *a, uint64_t *from)
{
#define MODEL(cc, name, processors, threads, blocks, shared, shared_of_block, ...)                                     \
    _Static_assert(shared_of_block <= 4 << 16, "16 bits number all cells");
#include "exec/models.def"
    const struct ir_shapes *s = e->fn->shapes;
    struct ir_range at = ir_range_of(e->fn->ir, s, a->i->a);
    int64_t cell = a->all, disp = a->disp;
    *from = 0;
    if (a->i->access->disp_const || at.lo > at.hi || at.lo < 0 || at.hi > INT32_MAX || disp < 0 || disp > INT32_MAX ||
        (at.hi + disp) / cell - (at.lo + disp) / cell > 255)
        return 16;
    *from = (uint64_t)((at.lo + disp) / cell * cell);
    return 8;
}

/* The same without a result, with one operand for all lanes: extracts cell numbers from their
 * vector four or eight at a time. (Extracting offsets two at a time takes a third longer, going
 * through memory at least a quarter.) */
static void do_offsets(struct emit *e, const struct atom *t)
{
    uint64_t from;
    unsigned bits = number_bits(e, t->x.a, &from), each = 64 / bits;
    value log2 = emit_splat(e, const_i32(e, t->x.a->log2)), part = NULL;
    value numbers = build_sub(e, t->x.lanes, emit_splat(e, const_i32(e, from)));
    numbers = build_trunc(e, build_lshr(e, numbers, log2), vector_of(bits == 8 ? e->m->i8 : e->m->i16, WARP_LANES));
    numbers = build_bit_cast(e, numbers, vector_of(e->m->i64, WARP_LANES / each));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (l % each == 0)
            part = build_extract(e, numbers, const_i32(e, l / each));
        value number = build_lshr(e, part, const_i64(e, l % each * bits));
        number = build_and(e, number, const_i64(e, (1u << bits) - 1));
        value at = build_shl(e, number, const_i64(e, t->x.a->log2));
        at = build_add(e, at, const_i64(e, from));
        atom_do_cell(e, t, build_gep(e, e->m->i8, e->f->of.shared, at), t->s, NULL);
    }
}

/* Do all 32 lanes run? An i1. */
static value all_run(struct emit *e, const struct atom *t)
{
    return emit_all_run(e, t->x.mask);
}

static bool has_offsets_alone(struct emit *e, const struct atom *t)
{
    return t->shared && !t->x.pointer[0] && !t->result && t->uniform[0] && !t->is_cas &&
           LLVMGetElementType(LLVMTypeOf(t->x.lanes)) == e->m->i32;
}

static void write_result(struct emit *e, const struct atom *t, value lanes)
{
    reg_write_lanes(e, t->result, lanes, t->x.a->i->guard ? t->x.mask : NULL);
}

/* Performs the operation lane by lane, through rows of memory; goes to `done`. */
static void do_in_rows(struct emit *e, const struct atom *t, LLVMBasicBlockRef done)
{
    bool offsets = has_offsets_alone(e, t);
    if (offsets) {
        LLVMBasicBlockRef some = emit_if(e, all_run(e, t));
        do_offsets(e, t);
        build_br(e, done);
        emit_at_end(e, some);
    }
    if (!t->x.pointer[0])
        scratch_set(e, ROW_ADDRESS, t->x.lanes);
    if (!t->uniform[0])
        scratch_set(e, ROW_S, t->s);
    if (t->is_cas && !t->uniform[1])
        scratch_set(e, ROW_T, t->t);
    if (t->result)
        scratch_set(e, ROW_RESULT, LLVMConstNull(vector_of(t->type, WARP_LANES)));
    if (t->shared && !offsets) {
        LLVMBasicBlockRef some = emit_if(e, all_run(e, t));
        do_all_lanes(e, t, done);
        emit_at_end(e, some);
    }
    struct lane_loop lanes = lane_loop_begin(e);
    do_lane(e, t, lanes.lane);
    lane_loop_end(e, &lanes, t->x.mask, done);
}

/* Additions to a private histogram (exec/histogram.c) need no atomics, because no other worker
 * accesses its sums. Code continues for other lanes. */
static void do_sums(struct emit *e, const struct atom *t, LLVMBasicBlockRef done)
{
    value shift = access_load_cache_shift(e, &t->x);
    LLVMBasicBlockRef cells = emit_unless(e, emit_is_zero(e, shift));
    struct atom own = *t;
    own.shared = true;
    own.x.lanes = build_add(e, t->x.lanes, emit_splat(e, shift));
    do_in_rows(e, &own, done);
    emit_at_end(e, cells);
}

static void do_lanes(struct emit *e, const struct atom *t)
{
    LLVMBasicBlockRef done = emit_new_block(e, "");
    if (histogram_takes(t->x.a->mem, t->result) && !t->x.pointer[0])
        do_sums(e, t, done);
    do_in_rows(e, t, done);
    emit_at_end(e, done);
    if (t->result)
        write_result(e, t, scratch_results(e, t->type));
}

/* ---- all lanes at one cell ---- */

static value addends(struct emit *e, const struct atom *t)
{
    return t->uniform[0] ? emit_splat(e, t->s) : t->s;
}

/* The inclusive prefix sum of the lanes' addends. */
static value running_sum(struct emit *e, const struct atom *t)
{
    LLVMTypeRef lanes = vector_of(t->type, WARP_LANES);
    value sum = build_select(e, emit_mask_to_lanes(e, t->x.mask), addends(e, t), LLVMConstNull(lanes));
    for (unsigned by = 1; by < WARP_LANES; by *= 2) {
        int index[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            index[l] = (int)(l < by ? WARP_LANES : l - by);
        sum = build_add(e, sum, emit_shuffle(e, sum, LLVMConstNull(lanes), index, WARP_LANES));
    }
    return sum;
}

/* The sum of all lanes' addends. */
static value total(struct emit *e, const struct atom *t)
{
    if (!t->uniform[0]) {
        value none = LLVMConstNull(vector_of(t->type, WARP_LANES));
        value v = build_select(e, emit_mask_to_lanes(e, t->x.mask), t->s, none);
        return emit_intrinsic(e, "llvm.vector.reduce.add", v, NULL);
    }
    value lanes = emit_intrinsic(e, "llvm.ctpop", t->x.mask, NULL);
    return build_mul(e, build_int_cast(e, lanes, t->type, false), t->s);
}

static void add_together(struct emit *e, const struct atom *t)
{
    value sums = t->result ? running_sum(e, t) : NULL;
    value all = sums ? build_extract(e, sums, const_i32(e, WARP_LANES - 1)) : total(e, t);
    value old = atom_do_cell(e, t, t->x.pointer[0], all, NULL);
    if (!sums)
        return;
    value before = build_sub(e, sums, addends(e, t));
    write_result(e, t, build_add(e, before, emit_splat(e, old)));
}

/* Phis of the loop over the lanes whose comparisons succeed. */
struct compared {
    /* the cell's current value; remaining lanes; the values that earlier lanes found */
    value cell, left, found;
};

static struct compared new_phis(struct emit *e, LLVMTypeRef lanes, LLVMTypeRef cell)
{
    return (struct compared){build_phi(e, cell), build_phi(e, e->m->i32), build_phi(e, lanes)};
}

static void go_with(struct emit *e, const struct compared *to, value cell, value left, value found)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(to->cell, &cell, &from, 1);
    LLVMAddIncoming(to->left, &left, &from, 1);
    LLVMAddIncoming(to->found, &found, &from, 1);
}

/* Emits the lanes' comparisons with the value read, jumping from one success to the next; ends in
 * the block where no lane is left. */
static struct compared compare_lanes(struct emit *e, const struct atom *t, value read)
{
    LLVMTypeRef lanes = vector_of(t->type, WARP_LANES);
    LLVMBasicBlockRef next = emit_new_block(e, ""), hit = emit_new_block(e, ""), end = emit_new_block(e, "");
    value none = const_i32(e, 0), s = addends(e, t), one = const_i32(e, 1);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    emit_go_on(e, next);
    struct compared now = new_phis(e, lanes, t->type);
    LLVMAddIncoming(now.cell, &read, &from, 1);
    LLVMAddIncoming(now.left, (value[]){t->x.mask}, &from, 1);
    LLVMAddIncoming(now.found, (value[]){LLVMConstNull(lanes)}, &from, 1);
    value cells = emit_splat(e, now.cell);
    value holds = build_and(e, emit_lanes_to_mask(e, build_eq(e, s, cells)), now.left);
    value rest = build_select(e, emit_mask_to_lanes(e, now.left), cells, now.found);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->b);
    build_cond_br(e, build_eq(e, holds, none), end, hit);
    emit_at_end(e, hit);
    value lane = emit_first_lane(e, holds);
    value upto = build_xor(e, holds, build_sub(e, holds, one));
    value left = build_and(e, now.left, build_not(e, upto));
    value cell = t->uniform[1] ? t->t : build_extract(e, t->t, lane);
    go_with(e, &now, cell, left, rest);
    build_cond_br(e, build_eq(e, left, none), end, next);
    emit_at_end(e, end);
    struct compared last = {.cell = build_phi(e, t->type), .found = build_phi(e, lanes)};
    LLVMBasicBlockRef both[2] = {here, hit};
    LLVMAddIncoming(last.cell, (value[]){now.cell, cell}, both, 2);
    LLVMAddIncoming(last.found, (value[]){rest, rest}, both, 2);
    return last;
}

static void compare_together(struct emit *e, const struct atom *t)
{
    struct exchange x = atom_exchange_begin(e, t, t->x.pointer[0]);
    struct compared last = compare_lanes(e, t, x.read);
    LLVMBasicBlockRef swap = emit_if(e, build_eq(e, last.cell, x.read)), done = emit_new_block(e, "");
    atom_fence_of_read(e, t);
    build_br(e, done);
    emit_at_end(e, swap);
    atom_exchange_end(e, t, &x, last.cell, done);
    emit_at_end(e, done);
    if (t->result)
        write_result(e, t, last.found);
}

/* For operations without a host instruction: applies lane after lane to the value read. */
static void change_together(struct emit *e, const struct atom *t)
{
    LLVMBasicBlockRef changed = emit_new_block(e, ""), done = emit_new_block(e, "");
    value cell = emit_alloca(e, t->type);
    if (!t->uniform[0])
        scratch_set(e, ROW_S, t->s);
    if (t->result)
        scratch_set(e, ROW_RESULT, LLVMConstNull(vector_of(t->type, WARP_LANES)));
    struct exchange x = atom_exchange_begin(e, t, t->x.pointer[0]);
    build_store(e, x.read, cell);
    struct lane_loop lanes = lane_loop_begin(e);
    value old = build_load(e, t->type, cell);
    if (t->result)
        build_store(e, old, scratch_element(e, ROW_RESULT, t->type, lanes.lane));
    build_store(e, atom_new_value(e, t, old, operand(e, t, 0, lanes.lane), NULL), cell);
    lane_loop_end(e, &lanes, t->x.mask, changed);
    emit_at_end(e, changed);
    atom_exchange_end(e, t, &x, build_load(e, t->type, cell), done);
    emit_at_end(e, done);
    if (t->result)
        write_result(e, t, scratch_results(e, t->type));
}

/* ---- which way ---- */

/* Would atomic operations take LLVM too long? See costs.def. */
static bool is_too_much(struct emit *e, const struct atom *t)
{
    if (!e->mode->bounds_atomics)
        return false;
    e->atomic_work += t->x.a->shape == SHAPE_UNIFORM ? LIMIT_atomic_at_one_cell : LIMIT_atomic_at_many_cells;
    return e->atomic_work > (e->fn->request->tier == TIER_FIRST ? LIMIT_atomic_work : LIMIT_atomic_work_again);
}

void atom_perform_warp(struct emit *e, const struct atom *t)
{
    if (t->x.pointer[0] && t->is_cas)
        compare_together(e, t);
    else if (t->x.pointer[0] && !atom_is_by_host(t))
        change_together(e, t);
    else if (t->x.pointer[0] && atom_cell_sums(t->cell))
        add_together(e, t);
    else
        do_lanes(e, t);
}

void atom_perform_lane(struct emit *e, const struct atom *t)
{
    value at = t->x.pointer[0], old;
    if (e->lanes.cas_loop)
        old = cas_loop_compare(e, e->lanes.cas_loop, t);
    else if (t->is_cas && !t->shared)
        old = atom_try_cell(e, t, at, t->s, t->t);
    else
        old = atom_do_cell(e, t, at, t->s, t->t);
    if (t->result)
        reg_write_scalar(e, t->result, old);
}

static void perform(struct emit *e, struct atom *t)
{
    /* The cell's sum, or the cell. */
    if (histogram_takes(t->x.a->mem, t->result) && t->x.pointer[0]) {
        value shift = access_load_cache_shift(e, &t->x);
        t->x.pointer[0] = LLVMBuildGEP2(e->m->b, e->m->i8, t->x.pointer[0], &shift, 1, "");
    }
    find_operand(e, t, 0, &t->s);
    if (t->is_cas)
        find_operand(e, t, 1, &t->t);
    e->mode->perform_atom(e, t);
}

/* Tests an access at one place for all lanes. */
static void branch_on_place(struct emit *e, struct transfer *t, LLVMBasicBlockRef outside)
{
    access_find_first(e, t);
    if (access_is_unchecked(e)) {
        access_find_cache(e, t);
    } else if (!access_is_inside(e->fn, t->a)) {
        LLVMBasicBlockRef inside = emit_new_block(e, "");
        access_branch_on_first(e, t, inside, outside);
        emit_at_end(e, inside);
    }
    access_set_pointers(e, t);
}

void emit_atom(struct emit *e, const struct ir_insn *i)
{
    struct atom t;
    if (!atom_begin(e, i, &t) || is_too_much(e, &t)) {
        emit_by_engine(e, i);
        return;
    }
    if (e->lanes.cas_loop) { /* the place was tested already */
        perform(e, &t);
        return;
    }
    t.x.mask = emit_guarded_mask(e, i);
    LLVMBasicBlockRef skipped = access_skip_if_none(e, i, t.x.mask);
    bool is_inside = access_is_inside(e->fn, t.x.a) || access_is_unchecked(e);
    LLVMBasicBlockRef slow = is_inside ? NULL : emit_new_block(e, ""), done = emit_new_block(e, "");
    if (t.x.a->shape == SHAPE_UNIFORM)
        branch_on_place(e, &t.x, slow);
    else
        access_branch_on_lanes(e, &t.x, slow);
    perform(e, &t);
    access_end(e, &t.x, slow, done);
    emit_go_on(e, skipped);
}
