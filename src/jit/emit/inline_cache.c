/* Inline caches: for each instruction, where it last accessed global memory (exec/abi.h). An access
 * tests whether its first byte is at one of the positions of its cache: those that leave room for
 * the test's span, all the bytes that the test covers.
 *
 * Code of one instruction may test different spans: for one lane or all, for itself or a check
 * group (access_groups.c), by single warps or by a gang. All of it shares one cache, so that each
 * benefits from the others; so an entry must hold for the largest span of any test. That is known
 * when the function has been emitted: then the engine's calls get their spans.
 */
#include "jit/emit/load_store.h"

struct noted_call {
    value call;
    uint32_t insn;
};

struct noted_table {
    value table;
    uint32_t *insns, n, first;
};

struct inline_caches {
    uint32_t *number; /* by instruction */
    uint32_t *claims; /* by instruction: one more than the number of another cache; 0: none */
    uint64_t *span;   /* by instruction: the largest span of its tests */
    VEC(struct noted_call) calls;
    VEC(struct noted_table) tables;
};

struct inline_caches *inline_caches_begin(struct emit *e)
{
    struct inline_caches *s = ARENA_NEW(e->arena, struct inline_caches);
    *s = (struct inline_caches){.number = ARENA_ARRAY(e->arena, uint32_t, e->fn->ir->insns.n + 1),
                                .claims = ARENA_ARRAY(e->arena, uint32_t, e->fn->ir->insns.n + 1),
                                .span = ARENA_ARRAY(e->arena, uint64_t, e->fn->ir->insns.n + 1)};
    for (uint32_t k = 0; k < e->fn->ir->insns.n; k++)
        if (e->fn->ir->insns.at[k].kind == IR_LD || e->fn->ir->insns.at[k].kind == IR_ST ||
            e->fn->ir->insns.at[k].kind == IR_ATOM)
            s->number[k] = e->n_inline_caches++;
    return s;
}

void access_find_cache(struct emit *e, struct transfer *t)
{
    struct inline_caches *s = e->f->inline_caches;
    size_t k = (size_t)(t->a->i - e->fn->ir->insns.at);
    value at = const_i64(e, (uint64_t)s->number[k] * sizeof(struct inline_cache));
    t->cache = build_gep(e, e->m->i8, e->f->of.inline_caches, at);
    s->span[k] = (uint64_t)t->tested.span > s->span[k] ? (uint64_t)t->tested.span : s->span[k];
}

void access_load_cache(struct emit *e, struct transfer *t, value *lo, value *n)
{
    access_find_cache(e, t);
    *lo = emit_load_field(e, e->m->i64, t->cache, abi.inline_cache_lo);
    *n = emit_load_field(e, e->m->i64, t->cache, abi.inline_cache_n);
}

value inline_cache_for_claims(struct emit *e, const struct ir_insn *i)
{
    struct inline_caches *s = e->f->inline_caches;
    size_t k = (size_t)(i - e->fn->ir->insns.at);
    if (s->claims[k] == 0)
        s->claims[k] = ++e->n_inline_caches;
    return build_gep(e, e->m->i8, e->f->of.inline_caches,
                     const_i64(e, (uint64_t)(s->claims[k] - 1) * sizeof(struct inline_cache)));
}

value access_load_cache_shift(struct emit *e, const struct transfer *t)
{
    return emit_load_field(e, e->m->i64, t->cache, abi.inline_cache_shift);
}

void inline_cache_note_call(struct emit *e, const struct ir_insn *i, value call)
{
    *VEC_PUSH(e->arena, &e->f->inline_caches->calls) = (struct noted_call){call, (uint32_t)(i - e->fn->ir->insns.at)};
}

/* An array of struct compiled_access. */
static value entries_of(struct emit *e, const struct noted_table *t)
{
    const struct inline_caches *s = e->f->inline_caches;
    value entries[t->n];
    for (uint32_t k = 0; k < t->n; k++) {
        uint32_t insn = t->insns[k];
        value fields[3] = {const_i32(e, insn - t->first), const_i32(e, s->number[insn]), const_i64(e, s->span[insn])};
        entries[k] = LLVMConstStructInContext(e->m->context, fields, 3, false);
    }
    return LLVMConstArray2(LLVMTypeOf(entries[0]), entries, t->n);
}

value inline_cache_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first)
{
    struct noted_table t = {.insns = ARENA_ARRAY(e->arena, uint32_t, n), .n = n, .first = first};
    for (uint32_t k = 0; k < n; k++)
        t.insns[k] = insns[k];
    t.table = emit_constant(e, entries_of(e, &t));
    *VEC_PUSH(e->arena, &e->f->inline_caches->tables) = t;
    return t.table;
}

void inline_caches_end(struct emit *e)
{
    enum { SPAN = 5 }; /* index among the arguments of compiled_calls.access */
    const struct inline_caches *s = e->f->inline_caches;
    for (uint32_t k = 0; k < s->calls.n; k++)
        LLVMSetOperand(s->calls.at[k].call, SPAN, const_i64(e, s->span[s->calls.at[k].insn]));
    for (uint32_t k = 0; k < s->tables.n; k++)
        LLVMSetInitializer(s->tables.at[k].table, entries_of(e, &s->tables.at[k]));
}
