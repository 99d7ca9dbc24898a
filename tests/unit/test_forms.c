/* isa/: every form of a pure instruction in ops.def has a lane function, with all the words that may stand in it: a name of a meaning
 * that lanes_*.def does not have would be noticed else by the first kernel that uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "isa/isa.h"
#include "isa/lanes.h"
#include "isa/needs.h"

static struct arena arena;
static struct isa isa;
static unsigned tried, without_meaning;

static void try_opcode(const char *text)
{
    struct isa_error error;
    const struct isa_inst *inst = isa_resolve(&isa, str_of(text), &error);
    if (!inst || inst->ban || inst->kind != KIND_PURE) /* words that exclude each other; or another form's */
        return;
    tried++;
    if (inst->lane == LANE_none) {
        without_meaning++;
        printf("# %s: no lane function is called as `%s` of ops.def says\n", text, inst->form->meaning);
    }
}

/* The words that an element of a form's syntax stands for: "<u16,s16>", a set of types, a set of modifiers, or itself. */
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

static void pure_forms_have_a_meaning(void **state)
{
    (void)state;
    unsigned n;
    const struct isa_form *forms = isa_forms(&n);
    isa_init(&isa, &arena);
    for (unsigned i = 0; i < n; i++)
        if (forms[i].kind == KIND_PURE) {
            unsigned before = tried;
            expand(isa_op_name(forms[i].op), forms[i].syntax);
            if (tried == before)
                fail_msg("%s%s: nothing of it resolves", isa_op_name(forms[i].op), forms[i].syntax);
        }
    arena_free(&arena);
    assert_int_equal(without_meaning, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pure_forms_have_a_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
