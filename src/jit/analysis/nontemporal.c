/* Which stores may be non-temporal (streaming_store.c): a plain store to a line that is in no cache first brings the line in, and
 * writes it back later; whole lines of a large array that nobody has read had better go to memory directly.
 *
 * Those are weak stores of whole lines, not in a loop, which the blocks along grid.x make to different places of an array that the
 * kernel gets as a parameter and does not load from.
 *
 * Such stores may be seen later than what comes after them. So a kernel that has them has nothing by which another worker could
 * know that they have been made: no atomic operation, no fence, no call. (The warps of a block are on one worker, which sees its
 * own stores in order.)
 */
#include "ir/parameters.h"
#include "jit/analysis/access.h"

static bool is_global(const struct ir_insn *i)
{
    bool moves = i->kind == IR_LD || i->kind == IR_ST;
    return moves && mem_access_may_be_global(&i->access->mem);
}

/* Is there no way for others to know of a store? */
static bool is_secluded(const struct function *fn)
{
    bool secluded = fn->target->keeps_store_order && fn->request->n_functions == 1;
    for (uint32_t k = 0; k < fn->ir->insns.n && secluded; k++) {
        const struct ir_insn *i = &fn->ir->insns.at[k];
        bool strong = is_global(i) && (i->access->mem.order != ORDER_WEAK || i->access->mem.is_volatile);
        secluded = !strong && i->kind != IR_ATOM && i->kind != IR_FENCE && i->kind != IR_ASYNC && i->kind != IR_CALL;
    }
    return secluded;
}

void nontemporal_find(struct function *fn)
{
    fn->nontemporal = NULL;
    if (!is_secluded(fn))
        return;
    uint64_t *sets = ir_find_parameters(fn->ir, fn->shapes, fn->arena), loaded = 0;
    for (uint32_t k = 0; k < fn->ir->insns.n; k++)
        if (is_global(&fn->ir->insns.at[k]) && fn->ir->insns.at[k].kind == IR_LD)
            loaded |= ir_parameters_of(sets, fn->ir, fn->ir->insns.at[k].a);
    uint8_t *nontemporal = ARENA_ARRAY(fn->arena, uint8_t, fn->ir->insns.n + 1);
    for (uint32_t k = 0; k < fn->ir->insns.n; k++) {
        const struct ir_insn *i = &fn->ir->insns.at[k];
        uint64_t to = is_global(i) && i->kind == IR_ST ? ir_parameters_of(sets, fn->ir, i->a) : 0;
        nontemporal[k] = to && !(to & (loaded | IR_ELSEWHERE));
    }
    fn->nontemporal = nontemporal;
}

/* ---- stores ---- */

bool access_is_nontemporal(struct cursor here, const struct access *a)
{
    if (a->i->kind != IR_ST || !here.fn->nontemporal || !here.fn->nontemporal[a->i - here.fn->ir->insns.at] ||
        a->shape == SHAPE_DIVERGENT || a->shape == SHAPE_UNIFORM || here.check_groups[here.index].interleaved ||
        cursor_is_in_loop(here))
        return false;
    int64_t step = here.fn->shapes->steps[ir_ref_index(a->i->a)];
    return step != 0 && access_is_consecutive(a) && WARP_LANES / a->pieces * a->all >= LINE_BYTES;
}
