/* What is said of texts that are no function (ir/text.h): each with the line and the column at
 * which that can be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/text.h"

/* The first error of a text, as "LINE:COLUMN: TEXT"; "" where it is a function. */
static const char *said_of(struct arena *a, const char *text)
{
    struct diags diags = {.arena = a};
    if (ir_read(a, source_new(a, "text", str_of(text)), &diags))
        return "";
    assert_int_equal(diags.errors, 1);
    struct place_line at = place_locate(diags.list.at[0].place);
    return arena_printf(a, "%u:%u: %s", at.line, at.column, diags.list.at[0].text);
}

static void expect(const char *text, const char *said)
{
    struct arena arena = {0};
    assert_string_equal(said_of(&arena, text), said);
    arena_free(&arena);
}

/* In a kernel of one block. */
static void expect_of_line(const char *line, const char *said)
{
    struct arena arena = {0};
    expect(arena_printf(&arena, "kernel k\nblock 0:\n%s\nexit\n", line), said);
    arena_free(&arena);
}

static void a_function_has_a_head_and_blocks(void **state)
{
    (void)state;
    expect("", "1:1: `kernel NAME` or `func NAME` is missing here");
    expect("kernel\n", "1:7: the name of the function is missing here");
    expect("kernel k\n", "2:1: `block 0:` is missing here");
    expect("kernel k\nexit\n", "2:1: `block 0:` is missing here");
    expect("kernel k\nblock 1:\nexit\n", "2:1: this is block 0");
    expect("; a comment\n\nkernel k ; and another\n\nblock 0: ; and so on\n  exit\n\n", "");
}

static void blocks_say_where_they_lead(void **state)
{
    (void)state;
    expect("kernel k\nblock 0:\nbar.sync 0\n", "2:1: this block goes on: say where, as in `-> 1`");
    expect("kernel k\nblock 0:\nexit\n-> 1\nblock 1:\nexit\n",
           "2:1: this block does not go on: its branch is for all (block 0)");
    expect("kernel k\nblock 0:\nbra 3\n", "3:5: there is no block 3");
    expect("kernel k\nblock 0:\nbar.sync 0\nexit\n", "4:1: the instruction before this one ends its block");
    expect("kernel k\nblock 0: round\nexit\n", "2:10: a block is marked by `loop`, `spins` or `serial 1..3`");
    expect("kernel k\nblock 0: serial 1..2\nexit\n", "2:17: there is no block 1");
}

static void registers_have_one_width(void **state)
{
    (void)state;
    expect_of_line("%1:32 = mov_b32 %2",
                   "3:17: %2 is never written: declare it in the function's first line, with `zeroed %2:32`");
    expect_of_line("%1:32 = mov_b32 0\n%1:64 = mov_b64 0", "4:1: %1 is 32 bits wide elsewhere");
    expect_of_line("%1:33 = mov_b32 0", "3:4: a width is 1, 16, 32, 64 or 128");
    expect_of_line("%1 = mov_b32 0", "3:4: `:` is missing here");
    expect_of_line("%0:32 = mov_b32 0", "3:1: registers are numbered from 1");
    expect_of_line("%99999999:32 = mov_b32 0", "3:2: a register's number is 1048576 at most");
    expect_of_line("%1:32 = mov_b32 0\n@%1 %2:32 = mov_b32 0", "3:1: a guard must be a predicate");
}

static void operands_are_those_of_the_instruction(void **state)
{
    (void)state;
    expect_of_line("%1:32 = nothing 0", "3:9: there is no instruction `nothing`");
    expect_of_line("%1:32 = add_b32 1", "3:18: `,` is missing here");
    expect_of_line("%1:32 = add_b32 1, 2, 3", "3:23: the line goes on after its end");
    expect_of_line("%1:32, %2:32 = add_b32 1, 2", "3:1: it has 1 result, and not 2");
    expect_of_line("%1:32 = mov_b32 %tid.v", "3:18: there is no special register `%tid.v`");
    expect_of_line("%1:32 = mov_b32 18446744073709551616", "3:17: the number is longer than 64 bits");
    expect_of_line("%1:128 = mov_b128 5", "3:19: constants have 64 bits at most");
}

static void accesses_say_where_and_what(void **state)
{
    (void)state;
    expect_of_line("%1:32 = ld.b32 [0]", "3:12: a state space is missing here, as in `ld.global.b32`");
    expect_of_line("%1:32 = ld.global.b33 [0]", "3:19: what is accessed is like `b32`, `s8` or `b64x2`");
    expect_of_line("%1:32 = ld.global.b32x2 [0]", "3:1: it has 2 results, and not 1");
    expect_of_line("st.global.b32 [0]", "3:18: `,` is missing here");
    expect_of_line("st.global.b32 [%tid.x + %tid.x], 0", "3:25: an address has one register");
    expect_of_line("atom.global.b32 [0], 0",
                   "3:6: an operation and a type are missing, as in `atom.global.add.u32.b32`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_has_a_head_and_blocks), cmocka_unit_test(blocks_say_where_they_lead),
        cmocka_unit_test(registers_have_one_width),         cmocka_unit_test(operands_are_those_of_the_instruction),
        cmocka_unit_test(accesses_say_where_and_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
