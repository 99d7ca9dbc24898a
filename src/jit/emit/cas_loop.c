/* CAS-loop combining: one exchange for a pass of lanes over a serial part that only compares and
 * swaps one cell; see emit.h.
 *
 * Such a pass reads the cell once. Each lane compares with the value that it would find, and swaps
 * in a register; one exchange writes the value that the last lane leaves. If the exchange fails,
 * another worker was faster, and the pass runs again with the lanes' original registers. So all
 * lanes act as if at the moment of the exchange, or, if nothing was swapped, of the load.
 *
 * The pass uses a version of the part without tests, which makes the time between load and exchange
 * short: no other worker may intervene.
 *
 * A lane that tries again waits for others: before its next try the pass is settled, and continues
 * on the cell itself. The same happens if the lanes have different addresses, if the engine must
 * find the cell, or after too many failures.
 */
#include "jit/emit/atom.h"

/* The only access of a serial part in which everything else is pure, with its block *order and its
 * index *k there; else NULL. */
static const struct ir_insn *only_access(const struct emit *e, uint32_t head, uint32_t *order, uint32_t *k)
{
    const struct ir_insn *found = NULL;
    for (uint32_t o = head; o < block_at(e->fn, head)->serial_to; o++) {
        const struct ir_block *b = block_at(e->fn, o);
        for (uint32_t n = 0; n < b->n; n++) {
            const struct ir_insn *i = &e->fn->ir->insns.at[b->first + n];
            if (i->kind == IR_LANES || i->kind == IR_BRA || i->kind == IR_JUMP)
                continue;
            if (i->kind != IR_ATOM || found)
                return NULL;
            found = i;
            *order = o;
            *k = n;
        }
    }
    return found;
}

/* Do two registers' rows share bytes? */
static bool overlap(const struct emit *e, uint32_t r, uint32_t s)
{
    const struct ir_reg *x = &e->fn->ir->regs.at[r], *y = &e->fn->ir->regs.at[s];
    uint32_t x_bytes = x->width == 1 ? 4 : x->width * WARP_LANES / 8,
             y_bytes = y->width == 1 ? 4 : y->width * WARP_LANES / 8;
    return x->slot < y->slot + y_bytes && y->slot < x->slot + x_bytes;
}

/* Finds registers that a lane reads from rows in which other lanes
 * store results: they are saved. */
static void find_saved(struct emit *e, struct cas_loop *c, const uint64_t *in, const uint64_t *out)
{
    const struct ir_live *live = &e->fn->shapes->live;
    c->saved = ARENA_ARRAY(e->arena, uint32_t, live->n + 1);
    c->copies = ARENA_ARRAY(e->arena, value, live->n + 1);
    for (uint32_t n = 0; n < live->n; n++) {
        bool clobbered = false;
        for (uint32_t k = 0; k < live->n && ir_in_set(in, n); k++)
            clobbered |= ir_in_set(out, k) && overlap(e, live->regs[n], live->regs[k]);
        if (!clobbered)
            continue;
        c->copies[c->n_saved] = emit_alloca(e, vector_of_width(e, e->fn->ir->regs.at[live->regs[n]].width));
        c->saved[c->n_saved++] = live->regs[n];
    }
}

struct cas_loop *cas_loop_find(struct emit *e, uint32_t head, const uint64_t *in, const uint64_t *out)
{
    uint32_t order, k;
    const struct ir_insn *i = only_access(e, head, &order, &k);
    struct cas_loop c = {.head = head};
    if (!i || i->guard || !atom_begin(e, i, &c.t) || !c.t.is_cas || c.t.shared)
        return NULL;
    if (live_has(e->fn, out, i->a) || !live_has(e->fn, in, i->a))
        return NULL;
    struct cas_loop *own = ARENA_NEW(e->arena, struct cas_loop);
    c.failed = emit_keep(e, const_i32(e, 0));
    c.at = emit_alloca(e, e->m->ptr);
    c.before = emit_alloca(e, c.t.type);
    c.cell = emit_alloca(e, c.t.type);
    find_saved(e, &c, in, out);
    *own = c;
    return own;
}

void cas_loop_enter(struct emit *e, struct cas_loop *c, value is_first, LLVMBasicBlockRef combined)
{
    LLVMBasicBlockRef first = emit_new_block(e, ""), may = emit_new_block(e, ""), inside = emit_new_block(e, ""),
                      on = emit_new_block(e, "");
    build_cond_br(e, is_first, first, on);
    emit_at_end(e, first);
    value same = reg_has_shape(e, ir_ref_index(c->t.x.a->i->a), e->enter_with);
    value failed = emit_load_i32(e, c->failed);
    value few = build_ult(e, failed, const_i32(e, LIMIT_cas_failures));
    build_cond_br(e, build_and(e, same, few), may, on);
    emit_at_end(e, may);
    struct transfer *x = &c->t.x;
    access_find_first(e, x);
    access_branch_on_first(e, x, inside, on);
    emit_at_end(e, inside);
    access_set_pointers(e, x);
    for (uint32_t n = 0; n < c->n_saved; n++)
        build_store(e, reg_load_row(e, c->saved[n]), c->copies[n]);
    value read = atom_read(e, &c->t, x->pointer[0]);
    build_store(e, read, c->before);
    build_store(e, read, c->cell);
    build_store(e, x->pointer[0], c->at);
    build_br(e, combined);
    emit_at_end(e, on);
}

void cas_loop_restore(struct emit *e, const struct cas_loop *c)
{
    for (uint32_t n = 0; n < c->n_saved; n++) {
        value row = emit_kept(e, c->copies[n]);
        reg_store_row(e, c->saved[n], row);
    }
    value failed = emit_load_i32(e, c->failed);
    build_store(e, build_add(e, failed, const_i32(e, 1)), c->failed);
}

value cas_loop_compare(struct emit *e, const struct cas_loop *c, const struct atom *t)
{
    value cell = build_load(e, t->type, c->cell);
    build_store(e, atom_new_value(e, t, cell, t->s, t->t), c->cell);
    return cell;
}

void cas_loop_settle(struct emit *e, const struct cas_loop *c, LLVMBasicBlockRef settled)
{
    value cell = build_load(e, c->t.type, c->cell), before = build_load(e, c->t.type, c->before);
    LLVMBasicBlockRef swap = emit_if(e, build_eq(e, cell, before));
    atom_fence_of_read(e, &c->t);
    build_br(e, settled);
    emit_at_end(e, swap);
    value swapped = atom_swap(e, &c->t, build_load(e, e->m->ptr, c->at), before, cell);
    emit_likely(e, build_extract_value(e, swapped, 1), settled, c->again);
}
