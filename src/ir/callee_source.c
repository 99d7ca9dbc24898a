/* Which functions bring in values that other threads decide; see spin.c. */
#include "ir/ir.h"
#include "isa/isa.h"

/* The functions that a query reaches. */
struct query {
    struct callee_sources *known;
    struct map seen;
    VEC(const struct ptx_func *) functions;
};

/* `definition` of a definition points to itself. */
static struct str key_of(const struct ptx_func *f)
{
    return (struct str){(const char *)&f->definition->definition, sizeof f->definition};
}

/* Is a function that is called known to be a source? Else the query goes on with it, unless it is
 * known to be none. */
static bool reach(struct query *q, const struct ptx_func *f)
{
    if (map_get(&q->known->sources, key_of(f)))
        return true;
    if (!map_get(&q->known->others, key_of(f)) && !map_put(&q->seen, key_of(f), f->definition))
        *VEC_PUSH(q->known->arena, &q->functions) = f->definition;
    return false;
}

/* The same as of the IR's instructions in spin.c, but for weak loads: what debug builds call in a
 * loop's condition loads its operands so. A call by an address may be of any function. */
static bool is_source(struct query *q, const struct ptx_insn *i)
{
    switch (i->inst->kind) {
    case KIND_ATOM:
    case KIND_MBARRIER:
    case KIND_VOTE:
    case KIND_MATCH: return true;
    case KIND_LD:
        return isa_has(i->inst, MOD_volatile) || isa_has(i->inst, MOD_relaxed) || isa_has(i->inst, MOD_acquire) ||
               isa_has(i->inst, MOD_mmio);
    case KIND_CALL:
        return i->call->callee.kind != OPND_SYMBOL || i->call->callee.symbol->kind != SYMBOL_FUNC ||
               reach(q, (const struct ptx_func *)i->call->callee.symbol);
    default: return false;
    }
}

static bool has_source(struct query *q, const struct ir_func *f)
{
    for (uint32_t k = 0; k < q->functions.n; k++) {
        const struct ptx_func *one = q->functions.at[k];
        if (!ir_spend(f, one->body.n + 1))
            return true;
        for (uint32_t s = 0; s < one->body.n; s++)
            if (one->body.at[s].kind == STMT_INSN && is_source(q, one->body.at[s].insn))
                return true;
    }
    return false;
}

bool ir_callee_is_source(struct callee_sources *known, const struct ir_func *f, struct ptx_func *callee)
{
    struct query q = {.known = known};
    map_init(&q.seen, known->arena);
    if (reach(&q, callee))
        return true;
    if (has_source(&q, f)) {
        map_put(&known->sources, key_of(callee), callee);
        return true;
    }
    for (uint32_t k = 0; k < q.functions.n; k++)
        map_put(&known->others, key_of(q.functions.at[k]), q.functions.at[k]->definition);
    return false;
}
