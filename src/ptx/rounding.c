/* See module.h. */
#include "base/text.h"
#include "ptx/module.h"

/* May ptxas contract it (PTX ISA 9.7.3.3 to 9.7.3.5, 9.7.4.1 to 9.7.4.3)? A sum or product of floats that names no rounding. */
static bool may_be_contracted(const struct isa_inst *i)
{
    enum isa_class class = isa_type_class((enum isa_type)i->type[0]);
    bool is_float =
        class == CLASS_F || i->type[0] == TYPE_f16x2 || i->type[0] == TYPE_bf16x2 || i->type[0] == TYPE_f32x2;
    return (i->op == OP_add || i->op == OP_sub || i->op == OP_mul) && is_float && !isa_rounds(i);
}

struct str ptx_uncontracted(const struct ptx_module *m, struct arena *arena)
{
    static const char rounding[] = ".rn";
    struct text t = {.arena = arena};
    struct str from = m->source->text;
    size_t done = 0;
    text_put(&t, "", 0);
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_func *f = m->items.at[i].kind == ITEM_FUNC ? m->items.at[i].func : NULL;
        for (uint32_t k = 0; f && k < f->body.n; k++) {
            const struct ptx_insn *insn = f->body.at[k].kind == STMT_INSN ? f->body.at[k].insn : NULL;
            if (!insn || !may_be_contracted(insn->inst))
                continue;
            size_t behind_name = insn->offset + strlen(isa_op_name(insn->inst->op));
            text_put(&t, from.p + done, behind_name - done);
            text_puts(&t, rounding);
            done = behind_name;
        }
    }
    text_put(&t, from.p + done, from.n - done);
    return (struct str){t.p, t.n};
}
