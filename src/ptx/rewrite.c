/* See module.h. */
#include "base/text.h"
#include "isa/opcodes.h"
#include "ptx/module.h"

/* The text of a module with words put in between. */
struct rewriting {
    struct text text;
    struct str from;
    size_t done; /* of `from` */
};

static void insert(struct rewriting *r, size_t at, const char *words)
{
    text_put(&r->text, r->from.p + r->done, at - r->done);
    text_puts(&r->text, words);
    r->done = at;
}

/* May ptxas contract it (PTX ISA 9.7.3.3 to 9.7.3.5, 9.7.4.1 to 9.7.4.3)? A sum or product of
 * floats that names no rounding. */
static bool may_be_contracted(const struct isa_inst *i)
{
    enum isa_class class = isa_type_class((enum isa_type)i->type[0]);
    bool is_float =
        class == CLASS_F || i->type[0] == TYPE_f16x2 || i->type[0] == TYPE_bf16x2 || i->type[0] == TYPE_f32x2;
    return (i->op == OP_add || i->op == OP_sub || i->op == OP_mul) && is_float && !isa_rounds(i);
}

static void name_roundings(struct rewriting *r, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_insn *insn = f->body.at[i].kind == STMT_INSN ? f->body.at[i].insn : NULL;
        if (insn && may_be_contracted(insn->inst))
            insert(r, insn->offset + strlen(isa_op_name(insn->inst->op)), ".rn");
    }
}

/* Does the kernel say itself what it takes, by a "Performance-Tuning Directive" (PTX ISA 11.4)? */
static bool has_bounds(const struct ptx_func *f)
{
    return ptx_directive(f, "maxnreg") || ptx_directive(f, "maxntid") || ptx_directive(f, "minnctapersm");
}

struct str ptx_rewrite(const struct ptx_module *m, const hd_ptx_code *code, struct arena *arena)
{
    struct rewriting r = {.text = {.arena = arena}, .from = m->source->text};
    const char *most = arena_printf(arena, ".maxnreg %u\n", code->max_registers);
    text_put(&r.text, "", 0);
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_func *f = m->items.at[i].kind == ITEM_FUNC ? m->items.at[i].func : NULL;
        if (f && f->entry && f->has_body && code->max_registers && !has_bounds(f))
            insert(&r, f->body_offset, most);
        if (f && code->keep_products)
            name_roundings(&r, f);
    }
    insert(&r, r.from.n, "");
    return (struct str){r.text.p, r.text.n};
}
