/* The instruction set, for those who ask the library (include/heddle.h): the tables of isa/ in words. */
#include <stdio.h>

#include "api/handles.h"

static void target_name(char *to, size_t n, struct isa_need need)
{
    snprintf(to, n, "sm_%u%s", need.sm, need.arch ? "a" : "");
}

/* ---- the tables ---- */

bool hd_isa_get_form(size_t i, hd_isa_form *form)
{
    unsigned count;
    const struct isa_form *f = isa_forms(&count) + i;
    if (i >= count || !form)
        return false;
    *form = (hd_isa_form){.opcode = isa_op_name(f->op),
                          .section = isa_op_section(f->op),
                          .doc = isa_op_doc(f->op),
                          .syntax = f->syntax,
                          .ptx_major = f->need.ptx / 10u,
                          .ptx_minor = f->need.ptx % 10u,
                          .missing = f->kind == KIND_REFUSED ? f->meaning : NULL};
    isa_operands_text(form->operands, sizeof form->operands, f->operands);
    target_name(form->target, sizeof form->target, f->need);
    return true;
}

bool hd_isa_get_register(size_t i, hd_isa_register *reg)
{
    if (i >= SREG_COUNT || !reg)
        return false;
    const struct isa_sreg_info *r = isa_sreg_info((enum isa_sreg)i);
    *reg = (hd_isa_register){.name = r->name,
                             .type = isa_type_name(r->type),
                             .doc = r->doc,
                             .components = r->components,
                             .ptx_major = r->need.ptx / 10u,
                             .ptx_minor = r->need.ptx % 10u};
    target_name(reg->target, sizeof reg->target, r->need);
    return true;
}

bool hd_isa_get_set(size_t i, hd_isa_set *set)
{
    if (!set)
        return false;
    if (i + 1 < SLOT_COUNT) {
        enum isa_slot slot = (enum isa_slot)(i + 1);
        *set = (hd_isa_set){isa_slot_name(slot), isa_slot_words(slot), false};
        return true;
    }
    *set = (hd_isa_set){.of_types = true};
    return isa_type_set(i + 1 - SLOT_COUNT, &set->name, &set->words);
}

const char *hd_isa_suggest(const char *name)
{
    return name ? isa_op_suggest(str_of(name)) : NULL;
}
