/* An atomic operation on one cell: its kind, and the compare-and-swap loop that can express any of
 * them; see atom.h. */
#include "jit/emit/atom.h"

/* The host's instructions. */
static const LLVMAtomicRMWBinOp host_op[] = {
    [HOST_And] = LLVMAtomicRMWBinOpAnd,   [HOST_Or] = LLVMAtomicRMWBinOpOr,     [HOST_Xor] = LLVMAtomicRMWBinOpXor,
    [HOST_Xchg] = LLVMAtomicRMWBinOpXchg, [HOST_Add] = LLVMAtomicRMWBinOpAdd,   [HOST_Min] = LLVMAtomicRMWBinOpMin,
    [HOST_Max] = LLVMAtomicRMWBinOpMax,   [HOST_UMin] = LLVMAtomicRMWBinOpUMin, [HOST_UMax] = LLVMAtomicRMWBinOpUMax,
};

static LLVMAtomicOrdering order_of(const struct mem_access *m)
{
    switch (m->order) {
    case ORDER_ACQUIRE: return LLVMAtomicOrderingAcquire;
    case ORDER_RELEASE: return LLVMAtomicOrderingRelease;
    case ORDER_ACQ_REL: return LLVMAtomicOrderingAcquireRelease;
    default: return LLVMAtomicOrderingMonotonic;
    }
}

bool atom_acquires(const struct atom *t)
{
    return t->order == LLVMAtomicOrderingAcquire || t->order == LLVMAtomicOrderingAcquireRelease;
}

value atom_read(struct emit *e, const struct atom *t, value at)
{
    value v = build_load_aligned(e, t->type, at, t->x.a->bytes);
    if (!t->shared)
        LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    return v;
}

value atom_swap(struct emit *e, const struct atom *t, value at, value old, value now)
{
    LLVMAtomicOrdering fails = atom_acquires(t) ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingMonotonic;
    return LLVMBuildAtomicCmpXchg(e->m->b, at, old, now, fence_with(e, t->order), fence_with(e, fails), false);
}

void atom_fence_of_read(struct emit *e, const struct atom *t)
{
    if (!t->shared && atom_acquires(t))
        LLVMBuildFence(e->m->b, LLVMAtomicOrderingAcquire, false, "");
}

bool atom_begin(struct emit *e, const struct ir_insn *i, struct atom *t)
{
    const struct mem_access *m = &i->access->mem;
    bool shared = m->space == SPACE_SHARED, is_cas = m->atom == ATOM_cas;
    enum atom_cell cell = mem_access_cell(m, shared);
    if (!atom_cell_lane(cell) || m->n != 1 || (!shared && !mem_access_may_be_global(m)))
        return false;
    for (unsigned k = 0; k < 1u + is_cas; k++)
        if (fn_ref_width(e->fn, i->access->operands[k]) != 8u * m->bytes)
            return false;
    *t = (struct atom){.x = {.a = access_new(e->fn, i)},
                       .shared = shared,
                       .is_cas = is_cas,
                       .cell = cell,
                       .type = type_of_width(e, 8u * m->bytes),
                       .result = i->access->regs[0],
                       .order = order_of(m)};
    return !t->result || fn_ref_width(e->fn, t->result) == 8u * m->bytes;
}

bool atom_is_by_host(const struct atom *t)
{
    return atom_cell_host(t->cell) != HOST__;
}

value atom_new_value(struct emit *e, const struct atom *t, value old, value s, value wanted)
{
    return emit_lane_function(e, atom_cell_lane(t->cell), 8 * t->x.a->bytes, old, s, wanted);
}

value atom_by_host(struct emit *e, const struct atom *t, value at, value s)
{
    return LLVMBuildAtomicRMW(e->m->b, host_op[atom_cell_host(t->cell)], at, s, fence_with(e, t->order), false);
}
