/* Packs of kernels (cuda/image/pack.h): names that two compilers have in common, slices that stand
 * for themselves, and files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda/image/pack_names.h"
#include "cuda/image/pack_write.h"

static void expect_name(const char *name, const char *file, const char *common)
{
    char *got = pack_name(name, file);
    assert_non_null(got);
    assert_string_equal(got, common);
    free(got);
}

static void names_of_both_compilers_are_one(void **state)
{
    (void)state;
    expect_name("_Z5scalePffi", "scale_cu", "_Z5scalePffi");
    expect_name("_ZN46_GLOBAL__N__0de8ae4a_8_scale_cu_69ab9089_238313addEPi", NULL,
                "_ZN12_GLOBAL__N_13addEPi@scale_cu");
    expect_name("_ZN12_GLOBAL__N_13addEPi", "scale_cu", "_ZN12_GLOBAL__N_13addEPi@scale_cu");
    expect_name("_ZN2at40_GLOBAL__N__0de8ae4a_8_scale_cu_69ab90893addEPi", NULL,
                "_ZN2at12_GLOBAL__N_13addEPi@scale_cu");
    /* a number that ends the name before is none of its length */
    expect_name("_ZN3ab140_GLOBAL__N__0de8ae4a_8_scale_cu_69ab90893addEPi", "x_cu",
                "_ZN3ab112_GLOBAL__N_13addEPi@scale_cu");
    expect_name("_ZN38_INTERNAL_0de8ae4a_8_scale_cu_69ab90896thrust1aE", NULL, "_ZN6thrust1aE@scale_cu");
    expect_name("_ZN12_GLOBAL__N_11fIN12_GLOBAL__N_11tEEEvv", "b_cu",
                "_ZN12_GLOBAL__N_11fIN12_GLOBAL__N_11tEEEvv@b_cu");
    /* a template function that the name has had before, whose arguments may have all that ends by E */
    expect_name("_Z1gIZZNS0_IiEEvvENKUlvE_clEvEUliE0_Evv", "b_cu", "_Z1gIZZS0_IiEvvENKUlvE_clEvEUliE0_Evv");
    expect_name("_Z1gIZNS5_IA3_ZN1a1fEvEUlvE0_Lin4ELN1a4EasyE7EJbEEEvvEUlvE_Evv", "b_cu",
                "_Z1gIZS5_IA3_ZN1a1fEvEUlvE0_Lin4ELN1a4EasyE7EJbEEvvEUlvE_Evv");
    expect_name("_Z1gINS0_IiE3fooEEvv", "b_cu", "_Z1gINS0_IiE3fooEEvv");
    expect_name("_Z1gINS0_IiE", "b_cu", "_Z1gINS0_IiE");
    expect_name("_Z1gINS0_I99999iEEE", "b_cu", "_Z1gINS0_I99999iEEE");
    /* and what only looks like it stays */
    expect_name("_GLOBAL__N_", "b_cu", "_GLOBAL__N_");
    expect_name("9_GLOBAL__N__0_99999999999999999999_", "b_cu", "9_GLOBAL__N__0_99999999999999999999_");
    expect_name("_INTERNAL_", "b_cu", "_INTERNAL_");
    char *file = pack_file_name("a/b.c/cub-Radix.ptx");
    assert_string_equal(file, "cub_Radix_cu");
    free(file);
}

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .u32 total;\n.const .align 4 .u32 table[2] = {1, 2};\n"
    ".global .align 1 .b8 $str[3] = {104, 105, 0};\n.global .align 4 .u32 unused = 7;\n.extern .shared .align 16 .b8 "
    "pool[];\n"
    ".func (.param .b32 r) helper(.param .b32 x);\n"
    ".visible .entry bump(.param .u64 p) { .reg .b64 %rd<3>; mov.u64 %rd1, total; mov.u64 %rd2, $str; ret; }\n"
    ".visible .entry plain(.param .u32 n, .param .align 8 .b8 s[24]) .maxntid 256, 1, 1 { .reg .b64 %rd<2>; mov.u64 "
    "%rd1, $str; ret; }\n"
    ".visible .entry calls() { .reg .b32 %r<2>; { .param .b32 a; .param .b32 b; call.uni (b), helper, (a); } ret; }\n"
    ".visible .entry read(.param .u64 p) { .reg .b64 %rd<3>; mov.u64 %rd1, total; mov.u64 %rd2, pool; ret; }\n"
    ".func (.param .b32 r) helper(.param .b32 x) { .reg .b64 %rd<2>; mov.u64 %rd1, table; ret; }\n";

static struct slices cut(struct arena *arena, const char *text)
{
    struct slices slices;
    struct diags diags = {.arena = arena};
    assert_true(slices_of(arena, source_new(arena, "a.ptx", str_of(text)), &diags, &slices));
    return slices;
}

static const struct slice_symbol *symbol(const struct slices *s, const char *name)
{
    for (uint32_t i = 0; i < s->symbols.n; i++)
        if (str_is(s->symbols.at[i].name, name))
            return &s->symbols.at[i];
    return NULL;
}

static struct str text_of(const struct slices *s, const char *name)
{
    return s->texts.at[symbol(s, name)->slice];
}

static void a_slice_has_what_its_kernels_use_and_nothing_else(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct slices s = cut(&arena, ptx);
    assert_true(str_has(text_of(&s, "plain"), "$str[3]") && !str_has(text_of(&s, "plain"), "total"));
    assert_true(str_has(text_of(&s, "calls"), "table") && str_has(text_of(&s, "calls"), "mov.u64 %rd1, table"));
    assert_true(str_has(text_of(&s, "read"), ".extern .shared"));
    for (uint32_t i = 0; i < s.texts.n; i++) /* each is PTX by itself */
        cut(&arena, arena_strndup(&arena, s.texts.at[i].p, s.texts.at[i].n));
    arena_free(&arena);
}

static void kernels_that_share_memory_are_of_one_slice(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct slices s = cut(&arena, ptx);
    assert_int_equal(symbol(&s, "bump")->slice, symbol(&s, "read")->slice);
    assert_int_equal(symbol(&s, "bump")->slice, symbol(&s, "total")->slice);
    assert_int_not_equal(symbol(&s, "bump")->slice, symbol(&s, "plain")->slice);
    assert_int_equal(symbol(&s, "table")->slice, symbol(&s, "calls")->slice);
    assert_non_null(symbol(&s, "unused"));
    assert_null(symbol(&s, "$str"));
    arena_free(&arena);
}

static void parameters_and_limits_are_noted(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct slices s = cut(&arena, ptx);
    assert_int_equal(symbol(&s, "plain")->bytes, 32);
    assert_int_equal(symbol(&s, "plain")->threads, 256);
    assert_int_equal(symbol(&s, "bump")->threads, 0);
    assert_int_equal(symbol(&s, "table")->bytes, 8);
    arena_free(&arena);
}

/* ---- files ---- */

static char path[] = "/tmp/heddle-pack-XXXXXX";

static char *make(struct arena *arena, size_t *bytes)
{
    struct pack_writer w = {.arena = arena};
    struct slices s = cut(arena, ptx);
    assert_true(pack_add(&w, &s, "a.ptx"));
    char *file = pack_finish(&w, str_of("library=a\nversion=1\nobject=liba.so 00\n"), bytes);
    assert_non_null(file);
    pack_writer_free(&w);
    return file;
}

static struct pack *open_bytes(const char *bytes, size_t n, char why[512])
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    return pack_open(path, why, 512);
}

/* Everything that can be asked of it. */
static void ask(const struct pack *p)
{
    char why[512];
    struct pack_found f;
    size_t bytes;
    for (size_t i = 0; i < pack_count(p) && i < 100; i++)
        if (pack_at(p, i, &f, why, sizeof why))
            free(pack_text(p, f.symbol.slice, &bytes, why, sizeof why));
    pack_find(p, PACK_KERNEL, "plain", &f, why, sizeof why);
    pack_find(p, PACK_VARIABLE, "total", &f, why, sizeof why);
    pack_fact(p, "object", 0);
}

static void what_is_written_is_found(void **state)
{
    (void)state;
    struct arena arena = {0};
    size_t bytes;
    char why[512];
    struct pack_found f;
    char *file = make(&arena, &bytes);
    struct pack *p = open_bytes(file, bytes, why);
    assert_non_null(p);
    assert_string_equal(pack_fact(p, "object", 0), "liba.so 00");
    assert_null(pack_fact(p, "object", 1));
    assert_true(pack_find(p, PACK_KERNEL, "plain", &f, why, sizeof why));
    assert_int_equal(f.symbol.bytes, 32);
    char *text = pack_text(p, f.symbol.slice, &bytes, why, sizeof why);
    assert_non_null(strstr(text, ".entry plain"));
    free(text);
    assert_false(pack_find(p, PACK_VARIABLE, "plain", &f, why, sizeof why));
    assert_false(pack_find(p, PACK_KERNEL, "plainer", &f, why, sizeof why));
    assert_string_equal(why, "");
    pack_close(p);
    arena_free(&arena);
}

static void files_of_one_name_do_not_stand_for_each_other(void **state)
{
    (void)state;
    static const char *const bodies[] = {"ret;", "ret;", "trap;"};
    struct arena arena = {0};
    struct pack_writer w = {.arena = &arena};
    size_t bytes;
    for (int i = 0; i < 3; i++) {
        struct slices s =
            cut(&arena,
                arena_printf(
                    &arena,
                    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry _ZN12_GLOBAL__N_11kEv() { %s }\n"
                    ".visible .entry _Z1tv() { %s }\n",
                    bodies[i], bodies[i]));
        assert_true(pack_add(&w, &s, i == 0 ? "other.ptx" : "same.ptx"));
    }
    assert_non_null(pack_finish(&w, str_of("library=a\n"), &bytes));
    assert_int_equal(w.left_out.n, 1);
    assert_string_equal(w.left_out.at[0], "_ZN12_GLOBAL__N_11kEv@same_cu");
    assert_int_equal(w.entries.n, 2); /* the template, once, and the other file's own */
    pack_writer_free(&w);
    arena_free(&arena);
}

static void damaged_files_are_refused_or_bounded(void **state)
{
    (void)state;
    static const uint64_t words[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1ull << 40, UINT64_MAX};
    struct arena arena = {0};
    size_t bytes, refused = 0;
    char why[512];
    char *file = make(&arena, &bytes), *copy = malloc(bytes);
    assert_non_null(copy);
    srand(1);
    for (unsigned i = 0; i < 6000; i++) {
        size_t n = bytes;
        memcpy(copy, file, bytes);
        for (int k = rand() % 3; k >= 0; k--) {
            size_t width = (size_t)1 << rand() % 4, room = i % 2 ? sizeof(struct pack_header) : bytes;
            size_t at = (size_t)rand() % (room - width);
            memcpy(copy + at / width * width, &words[(size_t)rand() % (sizeof words / sizeof *words)], width);
        }
        if (i % 16 == 0)
            n = (size_t)rand() % bytes;
        struct pack *p = n ? open_bytes(copy, n, why) : NULL;
        refused += p == NULL;
        if (p)
            ask(p);
        pack_close(p);
    }
    assert_true(refused > 1000);
    free(copy);
    arena_free(&arena);
}

static void what_is_no_pack_says_so(void **state)
{
    (void)state;
    struct arena arena = {0};
    size_t bytes;
    char why[512];
    char *file = make(&arena, &bytes);
    assert_null(open_bytes(file, bytes - 1, why));
    assert_non_null(strstr(why, "its header says"));
    assert_null(open_bytes("PTX", 3, why));
    assert_non_null(strstr(why, "not a pack of kernels"));
    assert_null(pack_open("/nowhere/a.pack", why, sizeof why));
    assert_null(pack_open("/tmp", why, sizeof why));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_both_compilers_are_one),
        cmocka_unit_test(a_slice_has_what_its_kernels_use_and_nothing_else),
        cmocka_unit_test(kernels_that_share_memory_are_of_one_slice),
        cmocka_unit_test(parameters_and_limits_are_noted),
        cmocka_unit_test(what_is_written_is_found),
        cmocka_unit_test(files_of_one_name_do_not_stand_for_each_other),
        cmocka_unit_test(damaged_files_are_refused_or_bounded),
        cmocka_unit_test(what_is_no_pack_says_so),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
