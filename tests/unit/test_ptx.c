/* PTX texts: equality, printing, linking several modules, registers by liveness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle.h"
#include "ir/ir.h"
#include "ptx/link.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* ---- equality ---- */

static const char base_text[] = HEAD
    ".file 1 \"a.cu\"\n"
    ".global .align 4 .u32 g[2] = {1, 2};\n"
    ".global .u64 at = g;\n"
    ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a<2>; ld.param.b32 %a1, [x]; st.param.b32 [r], %a1; ret; }\n"
    ".visible .entry k(.param .u64 p)\n.maxntid 32, 1, 1\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %p<2>; .reg .f32 %f<3>;\n"
    ".loc 1 3 4\n"
    "ld.param.u64 %rd1, [p];\n"
    "@%p1 add.u32 %r1, %r2, 7;\n"
    "add.f32 %f1, %f2, 0f3F800000;\n"
    "mov.u32 %r3, %tid.x;\n"
    "L:\nst.global.u32 [%rd1+8], %r1;\n"
    "@!%p1 bra L;\nret;\n}\n";

static struct ptx_module *parse(struct arena *a, const char *text)
{
    const struct source *s = source_new(a, "test.ptx", str_of(text));
    struct diags diags = {.arena = a};
    struct ptx_module *m = ptx_parse(a, s, &diags);
    assert_non_null(m);
    ptx_verify(m, &diags);
    if (diags.errors)
        fail_msg("%s", diags.list.at[0].text);
    return m;
}

static void equality_sees_every_change(void **state)
{
    static const char *const changes[][2] = {{".version 7.0", ".version 7.1"},
                                             {"sm_75", "sm_80"},
                                             {"a.cu", "b.cu"},
                                             {".align 4 .u32 g", ".align 8 .u32 g"},
                                             {"{1, 2}", "{1, 3}"},
                                             {"at = g", "at = g+4"},
                                             {".maxntid 32", ".maxntid 64"},
                                             {"%r<5>", "%r<6>"},
                                             {".loc 1 3", ".loc 1 5"},
                                             {"@%p1 add", "@!%p1 add"},
                                             {"add.u32", "sub.u32"},
                                             {"%r2, 7", "%r2, 8"},
                                             {"%r1, %r2", "%r1, %r3"},
                                             {"0f3F800000", "0f3F800001"},
                                             {"%tid.x", "%tid.y"},
                                             {"%tid.x", "%ntid.x"},
                                             {"[%rd1+8]", "[%rd1+4]"},
                                             {".visible .entry", ".weak .entry"},
                                             {"(.param .b32 x)", "(.param .s32 x)"},
                                             {"bra L", "bra.uni L"},
                                             {".param .u64 p", ".param .u64 .ptr p"}};
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct arena a = {0};
        char text[sizeof base_text + 64];
        const char *at = strstr(base_text, changes[i][0]), *what;
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base_text), base_text, changes[i][1],
                 at + strlen(changes[i][0]));
        assert_true(ptx_equal(parse(&a, base_text), parse(&a, base_text), &a, &what));
        if (ptx_equal(parse(&a, base_text), parse(&a, text), &a, &what))
            fail_msg("`%s` and `%s` are held to be equal", changes[i][0], changes[i][1]);
        assert_non_null(what);
        arena_free(&a);
    }
}

static void inline_assembly_has_the_line_of_its_statement(void **state)
{
    (void)state;
    struct arena a = {0};
    const char *what;
#define TEXT(begin, second, third, end)                                                                                \
    HEAD ".file 1 \"a.py\"\n.visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"                   \
         ".loc 1 18 21\nld.param.b64 %rd1, [p];\n" begin ".loc 1 18 21\nmov.b32 %r1, 0;\n.loc 1 " second               \
         " 21\nld.global.b32 %r1, [%rd1];\n" end begin ".loc 1 " third " 3\nmov.b32 %r2, 0;\n" end                     \
         ".loc 1 31 1\nret;\n}\n"
    struct ptx_module *marked = parse(&a, TEXT("// begin inline asm\n", "19", "30", "// end inline asm\n"));
    assert_true(ptx_equal(marked, parse(&a, TEXT("", "18", "30", "")), &a, &what));
    assert_false(ptx_equal(marked, parse(&a, TEXT("", "19", "30", "")), &a, &what));
    arena_free(&a);
#undef TEXT
}

static void the_library_prints_what_it_read(void **state)
{
    (void)state;
    hd_source s = {"base.ptx", base_text, sizeof base_text - 1};
    hd_ptx *ptx, *again;
    size_t bytes;
    assert_int_equal(hd_ptx_read(&s, &ptx, NULL), HD_SUCCESS);
    const char *text = hd_ptx_print(ptx, &bytes);
    assert_non_null(strstr(text, "@%p1 add.u32 %r1, %r2, 7;"));
    assert_int_equal(strlen(text), bytes);
    assert_ptr_equal(hd_ptx_print(ptx, NULL), text);
    assert_int_equal(hd_ptx_read(&(hd_source){"again.ptx", text, bytes}, &again, NULL), HD_SUCCESS);
    assert_string_equal(hd_ptx_print(again, NULL), text);
    hd_ptx_free(again);
    hd_ptx_free(ptx);
}

static void what_cannot_run_is_valid_and_named(void **state)
{
    (void)state;
    static const char text[] = HEAD ".func helper() { .reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
                                    "sured.p.add.1d.b32.clamp [%rd1, {%r1}], %r2; ret; }\n"
                                    ".visible .entry direct() { .reg .f32 %f<9>; .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                                    "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}]; ret; }\n"
                                    ".visible .entry through_a_call() { call helper; ret; }\n"
                                    ".visible .entry runs() { ret; }\n";
    hd_ptx *ptx;
    hd_report *report;
    hd_ptx_info info;
    hd_ptx_function f;
    assert_int_equal(hd_ptx_read(&(hd_source){"t.ptx", text, sizeof text - 1}, &ptx, &report), HD_SUCCESS);
    hd_ptx_get_info(ptx, &info);
    assert_int_equal(info.kernels, 3);
    assert_int_equal(info.kernels_refused, 2);
    assert_true(hd_ptx_get_function(ptx, 1, &f));
    assert_string_equal(f.missing, "textures of several samples");
    assert_true(hd_ptx_get_function(ptx, 2, &f));
    assert_string_equal(f.missing, "reductions on a surface by its format (sured.p)");
    assert_true(hd_ptx_get_function(ptx, 3, &f));
    assert_null(f.missing);
    assert_int_equal(hd_report_count(report), 2);
    hd_report_free(report);
    hd_ptx_free(ptx);
}

/* ---- linking ---- */

/* Stores the return value of value() and the variable `shared` at out. */
#define USER                                                                                                           \
    HEAD ".extern .func (.param .b32 r) value();\n.extern .global .u32 shared;\n"                                      \
         ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<5>; .reg .b64 %rd<3>; .param .b32 x;\n"                   \
         "ld.param.u64 %rd1, [out];\ncall (x), value, ();\nld.param.b32 %r1, [x];\nst.global.b32 [%rd1], %r1;\n"       \
         "ld.global.u32 %r2, [shared];\nst.global.b32 [%rd1+4], %r2;\nret;\n}\n"
#define VALUE(linkage, n)                                                                                              \
    linkage " .func (.param .b32 r) value() { .reg .b32 %r<2>; mov.u32 %r1, " #n "; st.param.b32 [r], %r1; ret; }\n"

/* Loads the texts (one.ptx, two.ptx, ...) and runs k; returns the result and, in text, what the
 * report says. */
static hd_result link_and_run(const char *const *texts, size_t n, uint32_t out[2], char *text, size_t text_bytes)
{
    static const char *const names[] = {"one.ptx", "two.ptx", "three.ptx"};
    hd_source sources[3];
    hd_machine *m;
    hd_module *module;
    hd_kernel *k;
    hd_report *report = NULL;
    uint32_t *cells;
    for (size_t i = 0; i < n; i++)
        sources[i] = (hd_source){names[i], texts[i], strlen(texts[i])};
    hd_machine_options options = {.workers = 1, .memory_bytes = 8 << 20};
    assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 8, (void **)&cells), HD_SUCCESS);
    hd_result r = hd_module_load(m, sources, n, &module, &report);
    if (!r)
        r = hd_module_get_kernel(module, "k", &k, &report);
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = (const void *[]){&cells}};
    if (!r)
        r = hd_launch(k, &c, NULL, &report);
    snprintf(text, text_bytes, "%s", report ? hd_report_text(report) : "");
    memcpy(out, cells, 8);
    hd_report_free(report);
    hd_machine_destroy(m);
    return r;
}

static void expect_values(const char *const *texts, size_t n, uint32_t value, uint32_t shared)
{
    uint32_t out[2];
    char text[4096];
    if (link_and_run(texts, n, out, text, sizeof text) != HD_SUCCESS)
        fail_msg("%s", text);
    assert_int_equal(out[0], value);
    assert_int_equal(out[1], shared);
}

static void expect_error(const char *const *texts, size_t n, hd_result result, const char *place, const char *says)
{
    uint32_t out[2];
    char text[4096];
    assert_int_equal(link_and_run(texts, n, out, text, sizeof text), result);
    if (!strstr(text, place) || !strstr(text, says))
        fail_msg("expected `%s` and `%s` in: %s", place, says, text);
}

static void extern_names_find_visible_definitions(void **state)
{
    (void)state;
    static const char definitions[] = HEAD VALUE(".visible", 7) ".visible .global .u32 shared = 8;\n";
    expect_values((const char *[]){USER, definitions}, 2, 7, 8);
    expect_values((const char *[]){definitions, USER}, 2, 7, 8);
}

static void weak_definitions_yield_to_strong_ones(void **state)
{
    (void)state;
    static const char weak[] = HEAD VALUE(".weak", 1) ".weak .global .u32 shared = 2;\n";
    static const char strong[] = HEAD VALUE(".visible", 3) ".visible .global .u32 shared = 4;\n";
    expect_values((const char *[]){USER, weak, strong}, 3, 3, 4);
    expect_values((const char *[]){USER, strong, weak}, 3, 3, 4);
    expect_values((const char *[]){USER, weak}, 2, 1, 2);
    expect_values((const char *[]){USER, weak, weak}, 3, 1, 2);
}

static void common_variables_are_one(void **state)
{
    (void)state;
    static const char one[] = HEAD VALUE(".visible", 5) ".common .global .u32 shared;\n";
    static const char other[] = HEAD ".common .global .u32 shared[4];\n.common .global .u32 alone;\n";
    expect_values((const char *[]){USER, one, other}, 3, 5, 0);
}

static void static_names_stay_in_their_module(void **state)
{
    (void)state;
    static const char definitions[] = HEAD VALUE(".visible", 7) ".visible .global .u32 shared = 8;\n";
    static const char same_names[] = HEAD VALUE("", 1) ".global .u32 shared = 1;\n";
    expect_values((const char *[]){same_names, USER, definitions}, 3, 7, 8);
}

static void pointers_in_initialisers_reach_other_modules(void **state)
{
    (void)state;
    static const char user[] =
        HEAD ".extern .func (.param .b32 r) value();\n.extern .global .u32 shared;\n"
             ".global .u64 to_function = value;\n.global .u64 to_variable = shared;\n"
             ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<5>; .reg .b64 %rd<5>; .param .b32 x;\n"
             "proto: .callprototype (.param .b32 _) _ ();\n"
             "ld.param.u64 %rd1, [out];\nld.global.u64 %rd2, [to_function];\ncall (x), %rd2, (), proto;\n"
             "ld.param.b32 %r1, [x];\nst.global.b32 [%rd1], %r1;\n"
             "ld.global.u64 %rd3, [to_variable];\nld.global.u32 %r2, [%rd3];\nst.global.b32 [%rd1+4], %r2;\nret;\n}\n";
    static const char definitions[] = HEAD VALUE(".visible", 9) ".visible .global .u32 shared = 10;\n";
    expect_values((const char *[]){user, definitions}, 2, 9, 10);
}

static void two_definitions_are_an_error_with_both_places(void **state)
{
    (void)state;
    static const char one[] = HEAD VALUE(".visible", 1) ".visible .global .u32 shared = 2;\n";
    static const char other[] = HEAD "\n" VALUE(".visible", 3);
    static const char variable[] = HEAD ".visible .global .u32 shared = 2;\n";
    static const char kernel[] = HEAD "\n\n.visible .entry k() { ret; }\n";
    static const char kind[] = HEAD VALUE(".visible", 1) ".visible .func shared() { ret; }\n";
    expect_error((const char *[]){USER, one, other}, 3, HD_ERROR_INVALID_PTX, "three.ptx:5:32",
                 "`value` is also defined in two.ptx, line 4");
    expect_error((const char *[]){USER, one, variable}, 3, HD_ERROR_INVALID_PTX, "three.ptx:4:23",
                 "`shared` is also defined in two.ptx, line 5");
    expect_error((const char *[]){USER, one, kernel}, 3, HD_ERROR_INVALID_PTX, "three.ptx:6:17",
                 "`k` is also defined in one.ptx, line 6");
    expect_error((const char *[]){variable, kind}, 2, HD_ERROR_INVALID_PTX, "two.ptx:5:16",
                 "`shared` is also defined in one.ptx, line 4");
}

static void missing_definitions_are_errors_where_they_are_used(void **state)
{
    (void)state;
    static const char variable[] = HEAD ".visible .global .u32 shared = 2;\n";
    static const char function[] = HEAD VALUE(".visible", 3);
    expect_error((const char *[]){USER, function}, 2, HD_ERROR_INVALID_PTX, "one.ptx:5:22",
                 "`shared` is not defined in any module");
    expect_error((const char *[]){USER, variable}, 2, HD_ERROR_INVALID_PTX,
                 "one.ptx:9:", "function `value` is not defined");
}

static void declarations_agree_with_definitions(void **state)
{
    (void)state;
    static const char other[] =
        HEAD ".visible .global .u32 shared;\n.visible .func (.param .b64 r) value(.param .b32 x) { ret; }\n";
    static const char space[] = HEAD ".visible .const .u32 shared = 1;\n" VALUE(".visible", 1);
    expect_error((const char *[]){USER, other}, 2, HD_ERROR_INVALID_PTX, "one.ptx:4:31", "with other parameters");
    expect_error((const char *[]){USER, space}, 2, HD_ERROR_INVALID_PTX, "one.ptx:5:22", "in another state space");
}

/* ---- registers ---- */

enum { VIRTUAL = 5000 };

/* A chain of VIRTUAL registers of which two live at a time. */
static void registers_take_rows_by_liveness(void **state)
{
    (void)state;
    struct arena a = {0};
    struct diags diags = {.arena = &a};
    char *text = malloc(64 * VIRTUAL);
    int n = sprintf(text,
                    HEAD ".visible .entry k(.param .u64 p) {\n.reg .b64 %%rd<2>; .reg .b32 %%r<%d>;\n"
                         "ld.param.u64 %%rd1, [p];\nld.global.u32 %%r0, [%%rd1];\n",
                    VIRTUAL);
    for (int i = 1; i < VIRTUAL; i++)
        n += sprintf(text + n, "mad.lo.u32 %%r%d, %%r%d, %d, %%r%d;\n", i, i - 1, i, i > 1 ? i - 2 : 0);
    sprintf(text + n, "st.global.u32 [%%rd1], %%r%d;\nret;\n}\n", VIRTUAL - 1);
    struct ptx_module *m = parse(&a, text);
    struct ptx_image *image = ptx_link(&a, &m, 1, &diags);
    struct ir_func *f = ir_build(&a, image->kernels.at[0], false, false, &diags);
    assert_non_null(f);
    assert_true(f->register_bytes <= 8 * 256); /* rows of 32 lanes x 8 bytes */
    arena_free(&a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_sees_every_change),
        cmocka_unit_test(inline_assembly_has_the_line_of_its_statement),
        cmocka_unit_test(the_library_prints_what_it_read),
        cmocka_unit_test(what_cannot_run_is_valid_and_named),
        cmocka_unit_test(extern_names_find_visible_definitions),
        cmocka_unit_test(weak_definitions_yield_to_strong_ones),
        cmocka_unit_test(common_variables_are_one),
        cmocka_unit_test(static_names_stay_in_their_module),
        cmocka_unit_test(pointers_in_initialisers_reach_other_modules),
        cmocka_unit_test(two_definitions_are_an_error_with_both_places),
        cmocka_unit_test(missing_definitions_are_errors_where_they_are_used),
        cmocka_unit_test(declarations_agree_with_definitions),
        cmocka_unit_test(registers_take_rows_by_liveness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
