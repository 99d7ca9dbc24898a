/* isa/: the operations of atom and red have a meaning for every type that the forms in ops.def
 * name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/arena.h"
#include "isa/atom.h"

static bool resolves(struct isa *isa, const char *format, const char *op, const char *type)
{
    char text[64];
    struct isa_error error;
    snprintf(text, sizeof text, format, op, type);
    const struct isa_inst *i = isa_resolve(isa, str_of(text), &error);
    return i && (i->kind == KIND_ATOM || i->kind == KIND_RED);
}

static void forms_have_meanings(void **state)
{
    static const char *const formats[] = {"atom.global.%s.%s", "red.global.%s.%s", "atom.global.%s.noftz.%s",
                                          "red.global.%s.noftz.%s", "atom.global.%s.noftz.v2.%s"};
    struct arena arena = {0};
    struct isa isa;
    unsigned found = 0;
    (void)state;
    isa_init(&isa, &arena);
    for (unsigned op = 0; op < ATOM_COUNT; op++)
        for (unsigned type = 0; type < TYPE_COUNT; type++) {
            bool is_form = false;
            const char *name = type ? isa_type_name((enum isa_type)type) : NULL;
            for (size_t k = 0; name && k < sizeof formats / sizeof formats[0]; k++)
                is_form |= resolves(&isa, formats[k], atom_name((enum atom_op)op), name);
            enum atom_cell cell = atom_cell_of((enum atom_op)op, (enum isa_type)type, false);
            found += is_form;
            if (is_form && !cell)
                fail_msg("%s.%s has no meaning", atom_name((enum atom_op)op), name);
            if (is_form)
                assert_int_not_equal(atom_cell_of((enum atom_op)op, (enum isa_type)type, true), CELL_NONE);
        }
    assert_true(found > 40);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_have_meanings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
