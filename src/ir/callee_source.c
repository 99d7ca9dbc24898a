/* Which functions bring in values that other threads decide; see spin.c. */
#include "base/map.h"
#include "ir/ir.h"
#include "isa/isa.h"

struct closure {
    const struct ir_func *f;
    struct arena *arena;
    struct map seen; /* the functions, by the bytes of `definition`, which points to itself */
    VEC(const struct ptx_func *) functions;
};

static void add(struct closure *c, const struct ptx_func *f)
{
    f = f->definition;
    if (!map_put(&c->seen, (struct str){(const char *)&f->definition, sizeof f->definition}, (void *)f))
        *VEC_PUSH(c->arena, &c->functions) = f;
}

/* The same as of the IR's instructions in spin.c, but for weak loads: what debug builds call in a
 * loop's condition loads its operands so. A call by an address may be of any function. */
static bool is_source(struct closure *c, const struct ptx_insn *i)
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
        if (i->call->callee.kind != OPND_SYMBOL || i->call->callee.symbol->kind != SYMBOL_FUNC)
            return true;
        add(c, (const struct ptx_func *)i->call->callee.symbol);
        return false;
    default: return false;
    }
}

bool ir_callee_is_source(const struct ir_func *f, const struct ptx_func *callee, struct arena *scratch)
{
    struct closure c = {.f = f, .arena = scratch};
    map_init(&c.seen, scratch);
    add(&c, callee);
    for (uint32_t k = 0; k < c.functions.n; k++) {
        const struct ptx_func *one = c.functions.at[k];
        if (!ir_spend(f, one->body.n + 1))
            return true;
        for (uint32_t s = 0; s < one->body.n; s++)
            if (one->body.at[s].kind == STMT_INSN && is_source(&c, one->body.at[s].insn))
                return true;
    }
    return false;
}
