/* Non-temporal stores (movnt; Intel's optimization manual, 9.4.1): nontemporal.c says which stores qualify. At run time the array and
 * the launch must be large, the address a line's, and all lanes there; else the store is a plain one. Others may see such stores
 * later than what comes after them: at the end of a launch each worker waits for its own, in launch_leave(). See load_store.h.
 */
#include "jit/emit/load_store.h"

/* Is the allocation where the access was last large, and is what the launch stores by this instruction? An i1. (An allocation may hold
 * many arrays.) */
static value is_large(struct emit *e, const struct transfer *t)
{
    const struct jit_costs *costs = e->fn->target->costs;
    /* of the check group's first, which has tested; what is asked is no test */
    struct transfer first = {.a = access_new(e->fn, insn_at(*e->here, e->here->check_groups[e->here->index].first))};
    access_find_cache(e, &first);
    const uint32_t *block = e->fn->shapes->block;
    uint64_t of_block = (uint64_t)block[0] * block[1] * block[2] * t->a->all;
    value places = emit_load_field(e, e->m->i64, first.cache, abi.inline_cache_n, "");
    value blocks = emit_load_field(e, e->m->i64, e->f->of.launch, abi.launch_n_blocks, "");
    value array =
        LLVMBuildICmp(e->m->b, LLVMIntUGE, places, const_int(e, e->m->i64, costs->nontemporal_array >> t->a->log2), "");
    value launch =
        LLVMBuildICmp(e->m->b, LLVMIntUGE, blocks, const_int(e, e->m->i64, costs->nontemporal_launch / of_block), "");
    return LLVMBuildAnd(e->m->b, array, launch, "");
}

static value is_whole(struct emit *e, const struct transfer *t)
{
    value at = t->first[0];
    for (unsigned p = 1; p < t->a->pieces; p++)
        at = LLVMBuildOr(e->m->b, at, t->first[p], "");
    at = LLVMBuildAnd(e->m->b, at, const_int(e, e->m->i64, LINE_BYTES - 1), "");
    value all = LLVMBuildICmp(e->m->b, LLVMIntEQ, t->mask, const_int(e, e->m->i32, UINT32_MAX), "");
    return LLVMBuildAnd(e->m->b, LLVMBuildICmp(e->m->b, LLVMIntEQ, at, const_int(e, e->m->i64, 0), ""), all, "");
}

void transfer_store_nontemporal(struct emit *e, const struct transfer *t,
                                void (*plainly)(struct emit *e, const struct transfer *t))
{
    LLVMBasicBlockRef past = emit_new_block(e, "nontemporal"), plain = emit_new_block(e, ""),
                      done = emit_new_block(e, "");
    LLVMBuildCondBr(e->m->b, LLVMBuildAnd(e->m->b, is_large(e, t), is_whole(e, t), ""), past, plain);
    emit_at_end(e, past);
    struct transfer own = *t;
    own.nontemporal = true;
    transfer_store_consecutive(e, &own);
    LLVMBuildBr(e->m->b, done);
    emit_at_end(e, plain);
    emit_prefetch(e, t);
    plainly(e, t);
    LLVMBuildBr(e->m->b, done);
    emit_at_end(e, done);
}
