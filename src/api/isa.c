/* The instruction set as the library describes it (include/heddle.h):
 * the tables of isa/ in words. */
#include <stdio.h>

#include "api/handles.h"
#include "api/sized.h"

static void target_name(char *to, size_t n, struct isa_need need)
{
    snprintf(to, n, "sm_%u%s", need.sm, need.arch ? "a" : "");
}

/* ---- the tables ---- */

bool hd_isa_get_form_sized(size_t i, hd_isa_form *form, size_t bytes)
{
    unsigned count;
    const struct isa_form *f = isa_forms(&count) + i;
    if (i >= count || !form)
        return false;
    hd_isa_form own = {.opcode = isa_op_name(f->op),
                       .section = isa_op_section(f->op),
                       .doc = isa_op_doc(f->op),
                       .syntax = f->syntax,
                       .ptx_major = f->need.ptx / 10u,
                       .ptx_minor = f->need.ptx % 10u,
                       .missing = f->kind == KIND_REFUSED ? f->meaning : NULL};
    isa_operands_text(own.operands, sizeof own.operands, f->operands);
    target_name(own.target, sizeof own.target, f->need);
    SIZED_WRITE(form, bytes, &own);
    return true;
}

bool hd_isa_get_register_sized(size_t i, hd_isa_register *reg, size_t bytes)
{
    if (i >= SREG_COUNT || !reg)
        return false;
    const struct isa_sreg_info *r = isa_sreg_info((enum isa_sreg)i);
    hd_isa_register own = {.name = r->name,
                           .type = isa_type_name(r->type),
                           .doc = r->doc,
                           .components = r->components,
                           .ptx_major = r->need.ptx / 10u,
                           .ptx_minor = r->need.ptx % 10u};
    target_name(own.target, sizeof own.target, r->need);
    SIZED_WRITE(reg, bytes, &own);
    return true;
}

bool hd_isa_get_set_sized(size_t i, hd_isa_set *set, size_t bytes)
{
    hd_isa_set own = {.of_types = i + 1 >= SLOT_COUNT};
    if (!set || (own.of_types && !isa_type_set(i + 1 - SLOT_COUNT, &own.name, &own.words)))
        return false;
    if (!own.of_types) {
        enum isa_slot slot = (enum isa_slot)(i + 1);
        own.name = isa_slot_name(slot);
        own.words = isa_slot_words(slot);
    }
    SIZED_WRITE(set, bytes, &own);
    return true;
}

const char *hd_isa_suggest(const char *name)
{
    return name ? isa_op_suggest(str_of(name)) : NULL;
}
