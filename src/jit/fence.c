/* Fences; see emit.h. PTX ISA 9.7.13.4 (membar, fence).
 *
 * In a serial part each fence is one of a lane, of which there may be thousands a millisecond, and most are one too many for
 * the host: x86-64 keeps all orders but one, a store before a load behind it (Intel's manual, volume 3, 9.2.3.4), and a
 * locked instruction keeps that too. So a fence there waits: it is done before the next load that others could answer to, or
 * by the next locked instruction, whichever comes first, and at the latest where the part is left. Of `cas, fence, load,
 * store, fence, store` it leaves the cas, which comes again with the next lane. Whether one waits is known when the code
 * runs, so that any path will do.
 */
#include "jit/emit.h"

static bool is_put_off(const struct emit *e)
{
    return e->lane && e->keeps_store_order;
}

static void fence(struct emit *e, LLVMAtomicOrdering order)
{
    LLVMBuildFence(e->b, order, false, "");
}

void emit_fence(struct emit *e, const struct op *o)
{
    if (o->imm != ORDER_SC) {
        fence(e, LLVMAtomicOrderingAcquireRelease);
        return;
    }
    if (!is_put_off(e)) {
        fence(e, LLVMAtomicOrderingSequentiallyConsistent);
        return;
    }
    LLVMBuildFence(e->b, LLVMAtomicOrderingSequentiallyConsistent, true, ""); /* of the compiler alone */
    LLVMBuildStore(e->b, LLVMBuildLoad2(e->b, e->i1, e->has_stored, ""), e->fence_waits);
}

void fence_before_load(struct emit *e)
{
    if (!is_put_off(e))
        return;
    LLVMBasicBlockRef waits = emit_new_block(e, ""), done = emit_new_block(e, "");
    value none = LLVMBuildNot(e->b, LLVMBuildLoad2(e->b, e->i1, e->fence_waits, ""), "");
    emit_likely(e, none, done, waits);
    emit_at_end(e, waits);
    fence(e, LLVMAtomicOrderingSequentiallyConsistent);
    fence_is_done(e);
    LLVMBuildBr(e->b, done);
    emit_at_end(e, done);
}

void fence_is_done(struct emit *e)
{
    if (!is_put_off(e))
        return;
    LLVMBuildStore(e->b, LLVMConstInt(e->i1, 0, false), e->fence_waits);
    LLVMBuildStore(e->b, LLVMConstInt(e->i1, 0, false), e->has_stored);
}

void fence_note_store(struct emit *e)
{
    if (is_put_off(e))
        LLVMBuildStore(e->b, LLVMConstInt(e->i1, 1, false), e->has_stored);
}
