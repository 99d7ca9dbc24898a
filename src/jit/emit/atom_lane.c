/* Atomic operations of one lane at its cell; see atomic.c. */
#include "jit/emit/atom.h"

static void write_cell(struct emit *e, const struct atom *t, value v, value at)
{
    build_store_aligned(e, v, at, t->x.a->bytes);
}

/* Emits one lane's compare-and-swap in global memory; ends in a new block. */
static value compare_cell(struct emit *e, const struct atom *t, value at, value s, value wanted)
{
    LLVMBasicBlockRef equal = emit_new_block(e, ""), fails = emit_new_block(e, ""), done = emit_new_block(e, "");
    value read = atom_read(e, t, at);
    build_cond_br(e, build_eq(e, read, s), equal, fails);
    emit_at_end(e, fails);
    atom_fence_of_read(e, t);
    build_br(e, done);
    emit_at_end(e, equal);
    value found = build_extract_value(e, atom_swap(e, t, at, s, wanted), 0);
    emit_go_on(e, done);
    value old = build_phi(e, t->type);
    LLVMAddIncoming(old, (value[]){read, found}, (LLVMBasicBlockRef[]){fails, equal}, 2);
    return old;
}

/* Does the serial part spin, or do its lanes walk lists of their own (ir/serial_parts.c)? */
static bool is_contest(const struct emit *e)
{
    return block_at(e->fn, block_at(e->fn, e->here->block)->serial_from)->spins;
}

/* A lane's compare-and-swap. A competing lane that compares with a constant, such as the value of
 * an open lock, mostly succeeds, so the cell is not read first; but after a failed try other
 * workers are using the cell. */
value atom_try_cell(struct emit *e, const struct atom *t, value at, value s, value wanted)
{
    uint32_t constant;
    if (!is_contest(e) || !fn_constant_low(e->fn, t->x.a->i->access->operands[0], &constant)) {
        fence_before_load(e);
        return compare_cell(e, t, at, s, wanted);
    }
    LLVMBasicBlockRef again = emit_if(e, emit_is_zero(e, emit_load_i32(e, e->lanes.fences.tries))),
                      done = emit_new_block(e, ""), first = LLVMGetInsertBlock(e->m->b);
    value swapped = build_extract_value(e, atom_swap(e, t, at, s, wanted), 0);
    fence_is_done(e);
    build_br(e, done);
    emit_at_end(e, again);
    fence_before_load(e);
    value compared = compare_cell(e, t, at, s, wanted);
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->m->b);
    emit_go_on(e, done);
    value old = build_phi(e, t->type);
    LLVMAddIncoming(old, (value[]){swapped, compared}, (LLVMBasicBlockRef[]){first, end}, 2);
    return old;
}

/* Is the exchange a store? It is if its result is not read, and it does not acquire by itself:
 * fence.c. */
static bool is_store(const struct emit *e, const struct atom *t)
{
    return fence_is_delayed(e) && atom_cell_host(t->cell) == HOST_Xchg && !t->result && !atom_acquires(t);
}

struct exchange atom_exchange_begin(struct emit *e, const struct atom *t, value at)
{
    struct exchange x = {.again = emit_new_block(e, ""), .at = at};
    value first = atom_read(e, t, at);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    emit_go_on(e, x.again);
    x.read = build_phi(e, t->type);
    LLVMAddIncoming(x.read, &first, &from, 1);
    return x;
}

void atom_exchange_end(struct emit *e, const struct atom *t, const struct exchange *x, value now,
                       LLVMBasicBlockRef done)
{
    if (t->shared) {
        write_cell(e, t, now, x->at);
        build_br(e, done);
        return;
    }
    value swapped = atom_swap(e, t, x->at, x->read, now), found = build_extract_value(e, swapped, 0);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->m->b);
    LLVMAddIncoming(x->read, &found, &from, 1);
    build_cond_br(e, build_extract_value(e, swapped, 1), done, x->again);
}

static value exchange_cell(struct emit *e, const struct atom *t, value at, value s)
{
    LLVMBasicBlockRef done = emit_new_block(e, "");
    fence_before_load(e);
    struct exchange x = atom_exchange_begin(e, t, at);
    atom_exchange_end(e, t, &x, atom_new_value(e, t, x.read, s, NULL), done);
    emit_at_end(e, done);
    fence_is_done(e);
    return x.read;
}

static value change_cell(struct emit *e, const struct atom *t, value at, value s)
{
    if (!atom_is_by_host(t))
        return exchange_cell(e, t, at, s);
    if (!is_store(e, t)) {
        value old = atom_by_host(e, t, at, s);
        fence_is_done(e);
        return old;
    }
    LLVMSetOrdering(build_store_aligned(e, s, at, t->x.a->bytes), LLVMAtomicOrderingRelease);
    fence_note_exchange(e);
    return NULL;
}

value atom_do_cell(struct emit *e, const struct atom *t, value at, value s, value wanted)
{
    if (!t->shared && t->is_cas)
        return compare_cell(e, t, at, s, wanted);
    if (!t->shared)
        return change_cell(e, t, at, s);
    value old = atom_read(e, t, at);
    write_cell(e, t, atom_new_value(e, t, old, s, wanted), at);
    return old;
}
