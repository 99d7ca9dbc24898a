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

/* Shared or local memory. If all lanes run, or for a check group, a failing test is a side exit:
 * the interpreter runs the rest of the block, and finds the fault. If some lanes run, the test may
 * fail because of lanes that do not (`part[t - 1]` of all threads but the first): then the engine
 * performs the access. */
static void access_window(struct emit *e, struct transfer *t, unsigned members)
{
    LLVMBasicBlockRef fast = emit_new_block(e, ""), out = emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_first(e, t, fast, out);
    emit_at_end(e, out);
    if (members > 1 || e->here->is_full) {
        exit_emit_at(e, e->here->index);
    } else {
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

/* Divergent addresses. */
static void access_lanes(struct emit *e, struct transfer *t)
{
    LLVMBasicBlockRef slow = access_is_inside(e->fn, t->a) ? NULL : emit_new_block(e, ""), done = emit_new_block(e, "");
    access_branch_on_lanes(e, t, slow);
    if (copy_is_whole(e))
        copy_load_lanes(e, t);
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
    bool by_engine = space == SPACE_LOCAL && !a->frame && (a->shape != SHAPE_UNIFORM || !e->mode->moves_local);
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
    else if (a->shape != SHAPE_DIVERGENT)
        access_one(e, &t);
    else if (i->kind != IR_LD || space == SPACE_SHARED || copy_is_whole(e) || !transfer_load_indexed(e, &t))
        access_lanes(e, &t);
    fence(e, a->mem, ORDER_ACQUIRE, LLVMAtomicOrderingAcquire);
    emit_go_on(e, skipped);
}
