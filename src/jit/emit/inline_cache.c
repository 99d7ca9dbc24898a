/* Sites: where an access to global memory was last, by instruction (exec/compiled.h). What an access tests is that its first byte is
 * at one of the places that its site has: as many as leave room for all that the test is for behind it, its span.
 *
 * Code of one instruction may test with different spans: for one lane or for all, for itself or for a group (access_groups.c), by single
 * warps or by a gang. All of it has one site, so that each finds what another has noted; so what is noted must hold for the largest
 * span that any test has. That is known when the function has been emitted: then the engine's calls get their spans.
 */
#include "jit/emit/access.h"

#include <stddef.h>

struct noted_call {
    value call;
    uint32_t insn;
};

struct noted_table {
    value table;
    uint32_t *insns, n, first;
};

struct sites {
    uint32_t *number; /* by instruction */
    uint64_t *span;   /* by instruction: the largest that a test of it has */
    VEC(struct noted_call) calls;
    VEC(struct noted_table) tables;
};

void begin_sites(struct emit *e)
{
    struct sites *s = ARENA_NEW(e->arena, struct sites);
    *s = (struct sites){.number = ARENA_ARRAY(e->arena, uint32_t, e->fn->ir->insns.n + 1),
                        .span = ARENA_ARRAY(e->arena, uint64_t, e->fn->ir->insns.n + 1)};
    for (uint32_t k = 0; k < e->fn->ir->insns.n; k++)
        if (e->fn->ir->insns.at[k].kind == IR_LD || e->fn->ir->insns.at[k].kind == IR_ST ||
            e->fn->ir->insns.at[k].kind == IR_ATOM)
            s->number[k] = e->n_sites++;
    e->site_table = s;
}

void access_find_site(struct emit *e, struct access *a)
{
    struct sites *s = e->site_table;
    size_t k = (size_t)(a->i - e->fn->ir->insns.at);
    value at = const_int(e, e->i64, (uint64_t)s->number[k] * sizeof(struct compiled_site));
    a->site = LLVMBuildInBoundsGEP2(e->b, e->i8, e->of.sites, &at, 1, "");
    s->span[k] = (uint64_t)a->span > s->span[k] ? (uint64_t)a->span : s->span[k];
}

void access_load_site(struct emit *e, struct access *a, value *lo, value *n)
{
    access_find_site(e, a);
    *lo = load_field(e, e->i64, a->site, offsetof(struct compiled_site, lo), "");
    *n = load_field(e, e->i64, a->site, offsetof(struct compiled_site, n), "");
}

value access_load_shift(struct emit *e, const struct access *a)
{
    return load_field(e, e->i64, a->site, offsetof(struct compiled_site, shift), "");
}

void site_note_call(struct emit *e, const struct ir_insn *i, value call)
{
    *VEC_PUSH(e->arena, &e->site_table->calls) = (struct noted_call){call, (uint32_t)(i - e->fn->ir->insns.at)};
}

/* An array of struct compiled_access. */
static value rows_of(struct emit *e, const struct noted_table *t)
{
    const struct sites *s = e->site_table;
    value rows[t->n];
    for (uint32_t k = 0; k < t->n; k++) {
        uint32_t insn = t->insns[k];
        value fields[3] = {const_int(e, e->i32, insn - t->first), const_int(e, e->i32, s->number[insn]),
                           const_int(e, e->i64, s->span[insn])};
        rows[k] = LLVMConstStructInContext(e->context, fields, 3, false);
    }
    return LLVMConstArray2(LLVMTypeOf(rows[0]), rows, t->n);
}

value site_table(struct emit *e, const uint32_t *insns, uint32_t n, uint32_t first)
{
    struct noted_table t = {.insns = ARENA_ARRAY(e->arena, uint32_t, n), .n = n, .first = first};
    for (uint32_t k = 0; k < n; k++)
        t.insns[k] = insns[k];
    t.table = emit_constant(e, rows_of(e, &t));
    *VEC_PUSH(e->arena, &e->site_table->tables) = t;
    return t.table;
}

void end_sites(struct emit *e)
{
    enum { SPAN = 5 }; /* of the arguments of compiled_calls.access */
    const struct sites *s = e->site_table;
    for (uint32_t k = 0; k < s->calls.n; k++)
        LLVMSetOperand(s->calls.at[k].call, SPAN, const_int(e, e->i64, s->span[s->calls.at[k].insn]));
    for (uint32_t k = 0; k < s->tables.n; k++)
        LLVMSetInitializer(s->tables.at[k].table, rows_of(e, &s->tables.at[k]));
}
