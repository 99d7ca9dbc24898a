/* Non-temporal stores (movnt; Intel's optimization manual, 9.4.1), for stores chosen by
 * nontemporal.c. At run time the array and the launch must be large, the address that of a line,
 * and all lanes present; else the store is a plain one. Others may see such stores later than what
 * follows them: at the end of a launch each worker waits for its own, in launch_leave(). See
 * load_store.h.
 */
#include "jit/emit/load_store.h"

/* Is the allocation of the inline cache large, and are the bytes that the launch stores by this
 * instruction? An i1. (An allocation may hold several arrays.) */
static value is_large(struct emit *e, const struct transfer *t)
{
    const struct jit_costs *costs = e->fn->target->costs;
    /* The check group's first access, which has tested; this is no test. */
    struct transfer first = {.a = access_new(e->fn, fn_insn_at(*e->here, e->here->check_groups[e->here->index].first))};
    access_find_cache(e, &first);
    const uint32_t *block = e->fn->shapes->block;
    uint64_t of_block = (uint64_t)block[0] * block[1] * block[2] * t->a->all;
    value places = emit_load_field(e, e->m->i64, first.cache, abi.inline_cache_n);
    value blocks = emit_load_field(e, e->m->i64, e->f->of.launch, abi.launch_n_blocks);
    value array = build_uge(e, places, const_i64(e, costs->nontemporal_array >> t->a->log2));
    value launch = build_uge(e, blocks, const_i64(e, costs->nontemporal_launch / of_block));
    return build_and(e, array, launch);
}

static value is_whole(struct emit *e, const struct transfer *t)
{
    value at = t->first[0];
    for (unsigned p = 1; p < t->a->pieces; p++)
        at = build_or(e, at, t->first[p]);
    at = build_and(e, at, const_i64(e, LINE_BYTES - 1));
    return build_and(e, emit_is_zero(e, at), emit_all_run(e, t->mask));
}

void transfer_store_nontemporal(struct emit *e, const struct transfer *t,
                                void (*plainly)(struct emit *e, const struct transfer *t))
{
    LLVMBasicBlockRef plain = emit_if(e, build_and(e, is_large(e, t), is_whole(e, t))), done = emit_new_block(e, "");
    struct transfer own = *t;
    own.nontemporal = true;
    transfer_store_consecutive(e, &own);
    build_br(e, done);
    emit_at_end(e, plain);
    emit_prefetch(e, t);
    plainly(e, t);
    emit_go_on(e, done);
}
