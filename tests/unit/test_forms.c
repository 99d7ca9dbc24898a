/* isa/: every form of an instruction in ops.def has what it is lowered to, with all the words that
 * may stand in it: a pure one a lane function, one of the modes of operations.def its mode. What is
 * missing would be noticed else by the first kernel that uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "ir/text.h"
#include "isa/isa.h"
#include "isa/lane_ids.h"
#include "isa/lanes.h"
#include "isa/needs.h"

static struct arena arena;
static struct isa isa;
static unsigned tried, missing;

/* What instructions with modes are lowered to (ir/build.c). */
static const struct {
    enum isa_kind kind;
    enum ir_kind to;
} with_modes[] = {
    {KIND_BAR, IR_BAR},     {KIND_CLUSTERBAR, IR_BAR}, {KIND_MBARRIER, IR_MBARRIER}, {KIND_ASYNC, IR_ASYNC},
    {KIND_GROUP, IR_GROUP}, {KIND_SHFL, IR_SHFL},      {KIND_VOTE, IR_VOTE},         {KIND_MATCH, IR_MATCH},
    {KIND_REDUX, IR_REDUX}, {KIND_ELECT, IR_ELECT},    {KIND_WARPSYNC, IR_WARPSYNC},
};

static bool is_lowered(const struct isa_inst *inst)
{
    if (inst->kind == KIND_PURE)
        return inst->lane != LANE_none;
    for (size_t k = 0; k < sizeof with_modes / sizeof with_modes[0]; k++)
        if (with_modes[k].kind == inst->kind)
            return ir_operation_of(with_modes[k].to, inst);
    return true;
}

static void try_opcode(const char *text)
{
    struct isa_error error;
    const struct isa_inst *inst = isa_resolve(&isa, str_of(text), &error);
    if (!inst || inst->ban) /* words that exclude each other */
        return;
    tried++;
    if (!is_lowered(inst)) {
        missing++;
        printf("# %s: there is no lane function of its meaning, or no mode in operations.def\n", text);
    }
}

/* The words that an element of a form's syntax stands for: "<u16,s16>", a set of types, a set of
 * modifiers, or itself. */
static const char *words_of(struct str element, char *separator)
{
    *separator = ' ';
    if (element.p[0] == '<') {
        *separator = ',';
        return arena_strndup(&arena, element.p + 1, element.n - 2);
    }
    const char *types = isa_types_of(element);
    if (types)
        return types;
    for (unsigned slot = 1; slot < SLOT_COUNT; slot++)
        if (str_is(element, isa_slot_name((enum isa_slot)slot)))
            return isa_slot_words((enum isa_slot)slot);
    return arena_strndup(&arena, element.p, element.n);
}

/* Tries what begins with `text` and goes on as `syntax` says. */
static void expand(const char *text, const char *syntax)
{
    if (!*syntax) {
        try_opcode(text);
        return;
    }
    bool optional = *syntax == '{';
    const char *element = syntax + optional + 1, *behind = element + strcspn(element, ".{}=");
    struct str name = {element, (size_t)(behind - element)};
    if (optional) {
        behind = strchr(behind, '}') + 1;
        expand(text, behind);
    }
    char separator;
    const char *rest = words_of(name, &separator);
    for (struct str word; isa_next_word(&rest, separator, &word);)
        expand(arena_printf(&arena, "%s.%.*s", text, STR_ARG(word)), behind);
}

static bool has_modes(const struct isa_form *form)
{
    bool found = false;
    for (size_t k = 0; k < sizeof with_modes / sizeof with_modes[0]; k++)
        found |= with_modes[k].kind == form->kind;
    return found;
}

static void try_forms(bool pure)
{
    unsigned n;
    const struct isa_form *forms = isa_forms(&n);
    isa_init(&isa, &arena);
    missing = 0;
    for (unsigned i = 0; i < n; i++)
        if (pure ? forms[i].kind == KIND_PURE : has_modes(&forms[i])) {
            unsigned before = tried;
            expand(isa_op_name(forms[i].op), forms[i].syntax);
            if (tried == before)
                fail_msg("%s%s: nothing of it resolves", isa_op_name(forms[i].op), forms[i].syntax);
        }
    arena_free(&arena);
    assert_int_equal(missing, 0);
}

static void pure_forms_have_a_meaning(void **state)
{
    (void)state;
    try_forms(true);
}

static void forms_of_modes_have_their_mode(void **state)
{
    (void)state;
    try_forms(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pure_forms_have_a_meaning),
                                       cmocka_unit_test(forms_of_modes_have_their_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
