/* Loads and stores; see emit.h.
 *
 * An access has a fast path, taken if one test shows that the bytes of all lanes are in one place
 * (the block's shared memory, the thread's local memory, the allocation of this access's inline
 * cache) and aligned. Otherwise the engine performs it (exec/access.c), and finds the fault if
 * there is one. The shape of the address determines how the fast path loads and stores: a scalar
 * for uniform addresses, whole vectors and shuffles for affine ones, halves of the warp or gathers
 * for divergent ones.
 */
#include "base/checked.h"
#include "jit/emit/load_store.h"

/* ---- loads and stores ---- */

/* Loads from parameters of the kernel at a known address. */
static bool load_param(struct emit *e, const struct ir_insn *i)
{
    const struct access *a = access_new(e->fn, i);
    if (a->mem->space != SPACE_PARAM || i->a || i->access->disp_const || i->guard || a->bytes > 8 || a->disp < 0 ||
        (uint64_t)a->disp + a->all > e->fn->request->param_bytes)
        return false;
    const struct transfer t = {.a = a, .mask = emit_mask(e)};
    for (unsigned k = 0; k < a->n; k++) {
        value v = element_load_vector(e, a, emit_pointer_at(e, e->f->of.params, a->disp + (int64_t)(k * a->bytes)), 1);
        emit_mark_invariant(e, v);
        element_put_scalar(e, &t, k, v);
    }
    return true;
}

/* Is the access to the activation's frame, at a known address? */
static bool is_frame(const struct emit *e, const struct access *a)
{
    return a->mem->space == SPACE_LOCAL && a->mem->frame && !a->i->a && !a->i->access->disp_const && a->disp >= 0 &&
           a->disp % a->all == 0 && (uint64_t)a->disp + a->all <= e->fn->layout.frame_bytes;
}

static void transfer_one(struct emit *e, struct transfer *t)
{
    bool loads = t->a->i->kind == IR_LD;
    if (t->a->mem->space == SPACE_LOCAL) {
        loads ? transfer_load_local(e, t) : transfer_store_local(e, t);
        return;
    }
    access_set_pointers(e, t);
    if (copy_is_whole(e))
        loads ? copy_load_consecutive(e, t) : copy_store(e, t);
    else if (e->here->check_groups[e->here->index].interleaved)
        transfer_interleaved(e, t);
    else if (t->a->shape == SHAPE_UNIFORM)
        loads ? transfer_load_uniform(e, t) : transfer_store_uniform(e, t);
    else if (loads)
        transfer_load_affine(e, t);
    else if (access_is_nontemporal(*e->here, t->a))
        transfer_store_nontemporal(
            e, t, e->here->is_full && !t->a->i->guard ? transfer_store_consecutive : transfer_store_masked);
    else if (e->here->is_full && !t->a->i->guard)
        transfer_store_consecutive(e, t);
    else
        transfer_store_masked(e, t);
}

static bool can_run_by_mask(const struct emit *e, const struct access *a)
{
    return a->mem->space == SPACE_SHARED && a->pieces == 1 && a->n == 1 && access_is_consecutive(a) &&
           access_can_mask(e->fn, a) && !mem_access_is_strong(a->mem) && fn_ref_width(e->fn, a->i->a) <= 32;
}

/* Are the first and the last lane that run inside, and aligned? An address before the block's
 * memory counts as negative. */
static value test_running_lanes(struct emit *e, const struct transfer *t, value first)
{
    value lowest = emit_intrinsic(e, "llvm.cttz", t->mask, const_i1(e, false));
    value highest =
        build_sub(e, const_i32(e, WARP_LANES - 1), emit_intrinsic(e, "llvm.ctlz", t->mask, const_i1(e, false)));
    value each = const_i64(e, t->a->bytes), aligned = build_and(e, first, const_i64(e, t->a->bytes - 1));
    value from = build_add(e, first, build_mul(e, build_zext(e, lowest, e->m->i64), each));
    value last = build_add(e, first, build_mul(e, build_sext(e, highest, e->m->i64), each));
    value size = build_zext(e, e->f->of.shared_bytes, e->m->i64);
    value in = build_and(e, build_ult(e, from, size),
                         build_ult(e, build_add(e, last, each), build_add(e, size, const_i64(e, 1))));
    return build_and(e, in, emit_is_zero(e, aligned));
}

/* Some lanes run, and the test has failed, maybe because of the others: `sums[lane]` of the
 * first eight lanes, of eight sums. The running ones load or store under their mask if their
 * own addresses are inside. */
static void access_by_mask(struct emit *e, const struct transfer *t, LLVMBasicBlockRef done)
{
    struct transfer own = *t;
    own.first[0] = build_sext(e, build_trunc(e, t->first[0], e->m->i32), e->m->i64);
    LLVMBasicBlockRef engine = emit_new_block(e, ""), masked = emit_new_block(e, "");
    emit_likely(e, test_running_lanes(e, t, own.first[0]), masked, engine);
    emit_at_end(e, masked);
    access_set_pointers(e, &own);
    if (t->a->i->kind == IR_ST) {
        transfer_store_under_mask(e, &own);
    } else {
        LLVMTypeRef type = vector_of(element_type(e, t->a), WARP_LANES);
        value lanes = emit_mask_to_lanes(e, t->mask);
        element_put_lanes(e, &own, 0, emit_masked_load(e, type, own.pointer[0], t->a->bytes, lanes));
    }
    build_br(e, done);
    emit_at_end(e, engine);
}

/* Shared or local memory. If all lanes run, or for a check group, a failing test is a side exit:
 * the interpreter runs the rest of the block, and finds the fault. If some lanes run, the test may
 * fail because of lanes that do not (`part[t - 1]` of all threads but the first): then they run by
 * their mask, or the engine performs the access. */
static void access_window(struct emit *e, struct transfer *t, unsigned members)
{
    LLVMBasicBlockRef fast = emit_new_block(e, ""), out = emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_first(e, t, fast, out);
    emit_at_end(e, out);
    if (members > 1 || e->here->is_full) {
        exit_emit_at(e, e->here->index);
    } else {
        if (can_run_by_mask(e, t->a))
            access_by_mask(e, t, done);
        access_by_engine(e, t);
        build_br(e, done);
    }
    emit_at_end(e, fast);
    transfer_one(e, t);
    emit_go_on(e, done);
}

/* Global memory: if the test fails, the engine performs the access, and fills the inline cache. The
 * check group's other members rely on the test, so it must hold after that; those of an interleave
 * group also rely on the data that the first has loaded. */
static void access_global(struct emit *e, struct transfer *t, unsigned members)
{
    bool is_interleaved = e->here->check_groups[e->here->index].interleaved;
    LLVMBasicBlockRef fast = emit_new_block(e, ""), slow = emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_first(e, t, fast, slow);
    emit_at_end(e, slow);
    access_by_engine(e, t);
    if (members > 1) {
        LLVMBasicBlockRef out = emit_new_block(e, "");
        struct transfer again = *t; /* `fast` relies on what was found before */
        if (e->mode->first_anew)
            e->mode->first_anew(e, &again);
        access_branch_on_first(e, &again, is_interleaved ? fast : done, out);
        emit_at_end(e, out);
        exit_emit_at(e, e->here->index + 1);
    } else {
        build_br(e, done);
    }
    emit_at_end(e, fast);
    if (members > 1 && is_interleaved && e->mode->first_anew)
        e->mode->first_anew(e, t);
    if (!access_is_nontemporal(*e->here, t->a))
        emit_prefetch(e, t);
    transfer_one(e, t);
    emit_go_on(e, done);
}

static void access_one(struct emit *e, struct transfer *t)
{
    const struct check_group *g = &e->here->check_groups[e->here->index];
    bool is_global = t->a->mem->space != SPACE_SHARED && t->a->mem->space != SPACE_LOCAL;
    access_find_first(e, t);
    if (g->first != e->here->index || is_frame(e, t->a) || access_is_unchecked(e) ||
        access_needs_no_test(*e->here, e->here->index)) {
        if (is_global && g->first == e->here->index && !access_is_nontemporal(*e->here, t->a))
            emit_prefetch(e, t);
        transfer_one(e, t);
        return;
    }
    if (e->mode->transfer_known && e->mode->transfer_known(e, t))
        return;
    t->tested = access_tested_bytes(t->a, g);
    if (is_global)
        access_global(e, t, g->n);
    else
        access_window(e, t, g->n);
}

/* Halves at consecutive places, halves at one place, or each lane by
 * itself; may branch to `done`. */
static void transfer_lanes(struct emit *e, const struct transfer *t, LLVMBasicBlockRef done)
{
    bool loads = t->a->i->kind == IR_LD, whole = access_is_whole(t->a->mem);
    bool waits =
        e->fn->target->waits_in_gathers && t->a->mem->space != SPACE_SHARED && !whole && !fn_has_many_accesses(e->fn);
    bool by_cpu =
        e->fn->target->has_gather && (t->a->bytes >= 4 || loads) && !whole && !(waits && !loads && t->a->all <= 4);
    if (!t->a->lanes_scattered && !whole && !fn_has_many_accesses(e->fn)) {
        LLVMBasicBlockRef other = emit_if(e, transfer_test_runs(e, t, HALF_LANES, t->a->all));
        loads ? transfer_load_consecutive_halves(e, t) : transfer_store_consecutive_halves(e, t);
        build_br(e, done);
        emit_at_end(e, other);
        if (loads) {
            other = emit_if(e, transfer_test_runs(e, t, HALF_LANES, 0));
            transfer_load_uniform_halves(e, t);
            build_br(e, done);
            emit_at_end(e, other);
        }
    }
    struct transfer in_order = loads ? *t : transfer_store_in_order(e, t);
    if (!by_cpu)
        scalarised_transfer(e, &in_order);
    else if (loads && waits)
        scalarised_gather(e, t);
    else if (loads)
        transfer_load_gather(e, t);
    else
        transfer_store_scatter(e, &in_order);
}

/* Words of local memory at an address of each lane. Those of all lanes stand together
 * (mem/local.h), so the host's addresses are 32 times as far apart. */
static void transfer_local_words(struct emit *e, const struct transfer *t)
{
    struct mem_access *mem = ARENA_NEW(e->arena, struct mem_access);
    struct access *a = ARENA_NEW(e->arena, struct access);
    *mem = *t->a->mem;
    mem->space = SPACE_GLOBAL; /* as the transfer takes addresses of the host */
    *a = *t->a;
    a->mem = mem;
    value own[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        own[l] = const_i64(e, l * t->a->bytes);
    struct transfer words = *t;
    words.a = a;
    words.lanes = build_int_cast(e, t->lanes, vector_of(e->m->i64, WARP_LANES), false);
    words.lanes = build_mul(e, words.lanes, emit_splat(e, const_i64(e, WARP_LANES)));
    words.lanes = build_add(e, words.lanes, LLVMConstVector(own, WARP_LANES));
    value local = LLVMBuildPtrToInt(e->m->b, e->warp.local, e->m->i64, "");
    words.lanes = build_add(e, words.lanes, emit_splat(e, local));
    if (!e->fn->target->has_gather)
        scalarised_transfer(e, &words);
    else if (t->a->i->kind == IR_LD)
        transfer_load_gather(e, &words);
    else
        transfer_store_scatter(e, &words);
}

/* Divergent addresses. */
static void access_lanes(struct emit *e, struct transfer *t)
{
    LLVMBasicBlockRef slow = access_is_inside(e->fn, t->a) ? NULL : emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_lanes(e, t, slow);
    if (copy_is_whole(e))
        copy_load_lanes(e, t);
    else if (t->a->mem->space == SPACE_LOCAL)
        transfer_local_words(e, t);
    else
        transfer_lanes(e, t, done);
    access_end(e, t, slow, done);
}

/* The fence before or after a strong access, which LLVM must not move or merge. An order is a host
 * fence, as in exec/access.c. */
static void fence(struct emit *e, const struct mem_access *m, uint8_t order, LLVMAtomicOrdering as)
{
    bool ordered = m->order == order || m->order == ORDER_ACQ_REL;
    if (mem_access_is_strong(m))
        LLVMBuildFence(e->m->b, ordered ? as : LLVMAtomicOrderingSequentiallyConsistent, !ordered, "");
}

void emit_access(struct emit *e, const struct ir_insn *i)
{
    const struct access *a = access_as_served(*e->here, i, copy_is_whole(e));
    enum ptx_space space = a->mem->space;
    bool is_word = a->bytes == 4 && a->n == 1 && !mem_access_is_strong(a->mem);
    bool by_lanes = space == SPACE_LOCAL && !a->frame && a->shape != SHAPE_UNIFORM;
    bool by_engine =
        space == SPACE_LOCAL && !a->frame && ((by_lanes && (!is_word || e->lanes.gang)) || !e->mode->moves_local);
    if (i->kind == IR_LD && load_param(e, i))
        return;
    if (!access_is_simple(e->fn, i) || by_engine) {
        emit_by_engine(e, i);
        return;
    }
    struct transfer t = {.a = a, .mask = emit_guarded_mask(e, i)};
    LLVMBasicBlockRef skipped = access_skip_if_none(e, i, t.mask);
    fence(e, a->mem, ORDER_RELEASE, LLVMAtomicOrderingRelease);
    if (i->kind == IR_LD)
        fence_before_load(e);
    else
        fence_note_store(e);
    if (a->frame)
        transfer_frame(e, &t);
    else if (a->shape != SHAPE_DIVERGENT && !by_lanes)
        access_one(e, &t);
    else if (i->kind != IR_LD || space == SPACE_SHARED || space == SPACE_LOCAL || copy_is_whole(e) ||
             !transfer_load_indexed(e, &t))
        access_lanes(e, &t);
    fence(e, a->mem, ORDER_ACQUIRE, LLVMAtomicOrderingAcquire);
    emit_go_on(e, skipped);
}
