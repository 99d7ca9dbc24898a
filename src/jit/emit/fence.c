/* Fences; see emit.h. PTX ISA 9.7.13.4 (membar, fence), 8.10 (the axioms).
 *
 * In a serial part a fence belongs to one lane, and there may be thousands a millisecond. Most are
 * redundant on the host: x86-64 keeps all orders except a store before a later load (Intel's
 * manual, volume 3, 9.2.3.4), and locked instructions keep that, too. So a fence is delayed: it is
 * performed before the next load that others could influence, or by the next locked instruction,
 * whichever comes first, and at the latest at the end of the part. Of `cas, fence, load, store,
 * fence, store` only the cas remains, which comes again with the next lane. Whether a fence is
 * delayed is known at run time, for any path.
 *
 * An exchange whose result is not read is a store there. But it has read: a fence behind it makes
 * it acquire, so what follows that fence must not be loaded before the store is visible to all.
 * That fence may be in other code, so the part is not left before.
 */
#include "jit/emit/emit.h"

bool fence_is_delayed(const struct emit *e)
{
    return e->mode->delays_fences && e->fn->target->keeps_store_order;
}

static void fence(struct emit *e, LLVMAtomicOrdering order)
{
    LLVMBuildFence(e->m->b, order, false, "");
}

void emit_fence(struct emit *e, const struct ir_insn *i)
{
    bool is_sc = i->imm == ORDER_SC;
    if (i->imm == ORDER_WEAK) /* a proxy fence */
        return;
    if (!fence_is_delayed(e)) {
        fence(e, is_sc ? LLVMAtomicOrderingSequentiallyConsistent : LLVMAtomicOrderingAcquireRelease);
        return;
    }
    /* Orders only the compiler. */
    LLVMBuildFence(e->m->b, LLVMAtomicOrderingSequentiallyConsistent, true, "");
    value needed = build_load(e, e->m->i1, is_sc ? e->lanes.fences.has_stored : e->lanes.fences.has_exchanged);
    value waits = build_load(e, e->m->i1, e->lanes.fences.waits);
    build_store(e, build_or(e, waits, needed), e->lanes.fences.waits);
}

void fence_before_load(struct emit *e)
{
    if (!fence_is_delayed(e))
        return;
    LLVMBasicBlockRef waits = emit_new_block(e, ""), done = emit_new_block(e, "");
    emit_likely(e, build_not(e, build_load(e, e->m->i1, e->lanes.fences.waits)), done, waits);
    emit_at_end(e, waits);
    fence(e, LLVMAtomicOrderingSequentiallyConsistent);
    fence_is_done(e);
    emit_go_on(e, done);
}

void fence_is_done(struct emit *e)
{
    if (!fence_is_delayed(e))
        return;
    value no = const_i1(e, false);
    build_store(e, no, e->lanes.fences.waits);
    build_store(e, no, e->lanes.fences.has_stored);
    build_store(e, no, e->lanes.fences.has_exchanged);
}

void fence_note_store(struct emit *e)
{
    if (fence_is_delayed(e))
        build_store(e, const_i1(e, true), e->lanes.fences.has_stored);
}

void fence_note_exchange(struct emit *e)
{
    fence_note_store(e);
    if (fence_is_delayed(e))
        build_store(e, const_i1(e, true), e->lanes.fences.has_exchanged);
}

void fence_before_leaving(struct emit *e)
{
    value waits = build_load(e, e->m->i1, e->lanes.fences.waits);
    value exchanged = build_load(e, e->m->i1, e->lanes.fences.has_exchanged);
    build_store(e, build_or(e, waits, exchanged), e->lanes.fences.waits);
    fence_before_load(e);
}

LLVMAtomicOrdering fence_with(const struct emit *e, LLVMAtomicOrdering order)
{
    return fence_is_delayed(e) ? LLVMAtomicOrderingSequentiallyConsistent : order;
}
