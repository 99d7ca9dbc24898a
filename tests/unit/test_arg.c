/* cli/arg, content, value, kernel_name: arguments mean what the help says, and mistakes are
 * explained. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/arg.h"
#include "api/kernel_name.h"

static struct arena arena;

static const hd_param_info u32 = {"n", "u32", 0, 4, 4, false}, f32 = {"a", "f32", 0, 4, 4, false},
                           b32 = {"x", "b32", 0, 4, 4, false}, u64 = {"p", "u64", 0, 8, 8, false},
                           f64 = {"d", "f64", 0, 8, 8, false}, s32 = {"s", "b8", 0, 32, 8, false};

/* ---- values ---- */

static uint64_t stored(enum isa_type type, const char *text)
{
    struct value v;
    _Alignas(8) uint8_t bytes[8] = {0};
    uint64_t bits;
    assert_null(value_parse(&arena, str_of(text), type, &v));
    value_store(type, v, bytes);
    memcpy(&bits, bytes, 8);
    return bits;
}

static bool is_refused(enum isa_type type, const char *text)
{
    struct value v;
    return value_parse(&arena, str_of(text), type, &v) != NULL;
}

static void numbers_are_read(void **state)
{
    (void)state;
    assert_int_equal(stored(TYPE_u32, "512"), 512);
    assert_int_equal(stored(TYPE_u32, "-3"), 0xfffffffd); /* nvcc declares an int as .u32 */
    assert_int_equal(stored(TYPE_s32, "0xffffffff"), 0xffffffff);
    assert_int_equal(stored(TYPE_u64, "18446744073709551615"), UINT64_MAX);
    assert_int_equal(stored(TYPE_s64, "-9223372036854775808"), 1ull << 63);
    assert_int_equal(stored(TYPE_u32, "1e6"), 1000000);
    assert_int_equal(stored(TYPE_f32, "2.5"), 0x40200000);
    assert_int_equal(stored(TYPE_f32, "2.5f"), 0x40200000);
    assert_int_equal(stored(TYPE_f32, "0f3F800000"), 0x3f800000);
    assert_int_equal(stored(TYPE_f32, "-inf"), 0xff800000);
    assert_int_equal(stored(TYPE_f32, "0x1p-3"), 0x3e000000);
    assert_int_equal(stored(TYPE_f64, "0d3FF0000000000000"), 0x3ff0000000000000);
    assert_int_equal(stored(TYPE_f16, "65504"), 0x7bff);
    assert_int_equal(stored(TYPE_f16, "65520"), 0x7c00);
    assert_int_equal(stored(TYPE_f16, "5.9604644775390625e-8"), 1);
}

static void bf16_is_rounded_once(void **state)
{
    (void)state;
    assert_int_equal(stored(TYPE_bf16, "1"), 0x3f80);
    assert_int_equal(stored(TYPE_bf16, "1.00390625"), 0x3f80);     /* a tie: to even */
    assert_int_equal(stored(TYPE_bf16, "0x1.01000001p0"), 0x3f81); /* just above it; a float would make it the tie */
    assert_int_equal(stored(TYPE_bf16, "3.4e38"), 0x7f80);
    assert_int_equal(stored(TYPE_bf16, "0x1p-133"), 1);
    assert_int_equal(stored(TYPE_bf16, "-0"), 0x8000);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const integers[] = {"",   "x",          "1.5",         "0x",   "12x",
                                           " 1", "4294967296", "-2147483649", "1e10", "--1"};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        assert_true(is_refused(TYPE_u32, integers[i]));
    static const char *const floats[] = {"", "x", "1.5x", "1,5", " 1", "inff", "0f3F8"};
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        assert_true(is_refused(TYPE_f32, floats[i]));
    assert_true(is_refused(TYPE_s8, "256"));
}

static void text_reads_back(void **state)
{
    (void)state;
    static const enum isa_type types[] = {TYPE_f16, TYPE_bf16, TYPE_f32, TYPE_s8, TYPE_u16, TYPE_b16};
    char text[VALUE_TEXT];
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (uint32_t bits = 0; bits < 0x10000; bits += 7) {
            uint32_t wide = types[t] == TYPE_f32 ? bits * 0x10003u : bits;
            struct value v = value_load(types[t], &wide);
            if (v.kind == VALUE_FLOAT && isnan(v.f))
                continue;
            uint64_t mask = UINT64_MAX >> (64 - isa_type_bits(types[t]));
            value_text(types[t], v, text);
            assert_int_equal(stored(types[t], text), wide & mask);
        }
    }
}

/* ---- contents ---- */

static const char *parse(const char *text, enum isa_type type, struct content *c)
{
    return content_parse(&arena, str_of(text), &type, 0, 1, c);
}

static void contents_fill_as_described(void **state)
{
    (void)state;
    struct content c;
    int32_t s[64];
    uint8_t b[300];
    float f[1000];
    assert_null(parse("range:5:-2", TYPE_s32, &c));
    content_fill(&c, TYPE_s32, s, 4);
    assert_true(s[0] == 5 && s[1] == 3 && s[3] == -1);
    assert_null(parse("range", TYPE_u8, &c));
    content_fill(&c, TYPE_u8, b, 300);
    assert_true(b[255] == 255 && b[256] == 0);
    assert_null(parse("range:0.5:0.25", TYPE_f32, &c));
    content_fill(&c, TYPE_f32, f, 3);
    assert_true(f[2] == 1.0f);
    assert_null(parse("randint:-2:2", TYPE_s32, &c));
    content_fill(&c, TYPE_s32, s, 64);
    unsigned seen = 0;
    for (int i = 0; i < 64; i++) {
        assert_in_range(s[i] + 2, 0, 4);
        seen |= 1u << (s[i] + 2);
    }
    assert_int_equal(seen, 0x1f);
    assert_null(parse("rand", TYPE_f32, &c));
    content_fill(&c, TYPE_f32, f, 1000);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(f[i] >= 0 && f[i] < 1);
        sum += (double)f[i];
    }
    assert_true(sum > 450 && sum < 550);
    assert_null(parse("1,-2,3", TYPE_s32, &c));
    assert_int_equal(c.count, 3);
}

static void wrong_contents_are_explained(void **state)
{
    (void)state;
    struct content c;
    assert_non_null(strstr(parse("rnage", TYPE_s32, &c), "did you mean `range"));
    assert_non_null(strstr(parse("everything", TYPE_s32, &c), "zeros"));
    assert_non_null(strstr(parse("randint:1", TYPE_s32, &c), "randint:LO:HI"));
    assert_non_null(strstr(parse("range:1:2:3", TYPE_s32, &c), "range[:START"));
    assert_non_null(strstr(parse("randint:5:4", TYPE_s32, &c), "greater"));
    assert_non_null(parse("range:0.5", TYPE_s32, &c));
    assert_non_null(parse("1,2,", TYPE_s32, &c));
    assert_non_null(parse("300", TYPE_u8, &c));
    assert_non_null(strstr(parse("@/no/such/file.npy", TYPE_s32, &c), "No such file"));
    assert_non_null(parse("", TYPE_s32, &c));
}

/* ---- arguments ---- */

static struct args args;

/* The first argument of an empty list. */
static const char *read_arg(const char *text, const hd_param_info *p)
{
    args = (struct args){.arena = &arena};
    return arg_parse(&args, text, p);
}

static uint32_t word(unsigned i)
{
    uint32_t w;
    memcpy(&w, args.list.at[0].bytes + 4 * i, 4);
    return w;
}

static void scalars_take_the_parameters_type(void **state)
{
    (void)state;
    assert_null(read_arg("-7", &u32));
    assert_int_equal(word(0), (uint32_t)-7);
    assert_null(read_arg("3", &f32));
    assert_int_equal(word(0), 0x40400000);
    assert_null(read_arg("3", &b32));
    assert_int_equal(word(0), 3);
    assert_null(read_arg("f32:3", &b32));
    assert_int_equal(word(0), 0x40400000);
    assert_null(read_arg("b32:0x3f800000", &f32));
    assert_null(read_arg("s64:-1", &u64));
}

static void scalars_of_another_type_are_explained(void **state)
{
    (void)state;
    assert_non_null(
        strstr(read_arg("f32:2", &u64), "it is a 4-byte f32, but parameter `p` is a .u64; it takes a buffer"));
    assert_non_null(strstr(read_arg("u64:2", &u32), "8-byte u64"));
    assert_non_null(strstr(read_arg("f32:2", &u32), "4-byte f32"));
    assert_non_null(strstr(read_arg("u32:2", &f32), "4-byte u32"));
    assert_non_null(strstr(read_arg("2.5", &b32), "f32:2.5"));
    assert_non_null(strstr(read_arg("2.5", &u64), "f32[1024]"));
    assert_non_null(strstr(read_arg("f32[4]", &u32), "a buffer, hence an address"));
    assert_non_null(strstr(read_arg("f32[4]", &f64), "a buffer, hence an address"));
    assert_non_null(read_arg("", &u32));
}

static void buffers_have_type_shape_content_and_suffixes(void **state)
{
    (void)state;
    assert_null(read_arg("f32[8,4]=range:1+print+sum", &u64));
    const struct buffer *b = args.buffers.at[0];
    assert_true(b->type == TYPE_f32 && b->n_dims == 2 && b->dim[0] == 8 && b->dim[1] == 4 && b->count == 32);
    assert_true(b->print && b->sum && !b->hide && b->argument == 1);
    assert_string_equal(buffer_type_text(b, &arena), "f32[8,4]");
    assert_null(read_arg("u8[64K]+save:" P_tmpdir "/a+b.raw+hide", &u64));
    assert_string_equal(args.buffers.at[0]->save, P_tmpdir "/a+b.raw");
    assert_true(args.buffers.at[0]->hide && args.buffers.at[0]->count == 64 << 10);
    assert_null(read_arg("s32[]=1,2,3", &u64));
    assert_int_equal(args.buffers.at[0]->count, 3);
    assert_null(read_arg("f32[4]=fill:1e+2", &u64)); /* a plus in a number */
    assert_null(arg_parse(&args, "same:1+8", &u64));
    assert_true(args.list.at[1].pointers.at[0].addend == 8 &&
                args.list.at[1].pointers.at[0].buffer == args.buffers.at[0]);
}

static void wrong_buffers_are_explained(void **state)
{
    (void)state;
    assert_non_null(strstr(read_arg("float[4]", &u64), "write the type `float` as f32"));
    assert_non_null(strstr(read_arg("q7[4]", &u64), "types are u8"));
    assert_non_null(strstr(read_arg("f32[4", &u64), "`]`"));
    assert_non_null(strstr(read_arg("f32[4]range", &u64), "unexpected"));
    assert_non_null(strstr(read_arg("f32[4]+prnt", &u64), "+print"));
    assert_non_null(strstr(read_arg("f32[4]+print+hide", &u64), "contradicts"));
    assert_non_null(strstr(read_arg("f32[4]=1,2,3", &u64), "3 values for the 4"));
    assert_non_null(strstr(read_arg("f32[]", &u64), "the number of elements is missing"));
    assert_non_null(strstr(read_arg("f32[]=range", &u64), "the number of elements is missing"));
    assert_non_null(strstr(read_arg("f32[0]", &u64), "not a shape"));
    assert_non_null(strstr(read_arg("f64[4294967296,4294967296]", &u64), "too large"));
    assert_non_null(strstr(read_arg("f64[2305843009213693952]", &u64), "too large"));
    assert_non_null(strstr(read_arg("f32[4]+save:/no/such/folder/x.npy", &u64), "No such file"));
    assert_non_null(strstr(read_arg("same:1", &u64), "names an earlier buffer"));
}

static void structures_are_laid_out_as_in_c(void **state)
{
    (void)state;
    assert_null(read_arg("f32:1,2;u8:7;u64:9;f32:3;s32:-1", &s32));
    const uint8_t *b = args.list.at[0].bytes;
    struct {
        float x, y;
        uint8_t c;
        uint64_t n;
        float z;
        int32_t i;
    } expected = {1, 2, 7, 9, 3, -1};
    static const char zeros[8];
    assert_memory_equal(b, &expected, 9);
    assert_memory_equal(b + 9, zeros, 7);
    assert_memory_equal(b + 16, (char *)&expected + 16, 16);
    assert_null(read_arg("{f32[4]=ones;u64:1,2,3}", &s32));
    assert_int_equal(args.list.at[0].pointers.n, 1);
    assert_int_equal(word(2), 1);
    assert_null(read_arg("hex:0102030405060708090a0b0c0d0e0f10"
                         "1112131415161718191a1b1c1d1e1f20",
                         &s32));
    assert_int_equal(word(7), 0x201f1e1d);
    assert_non_null(strstr(read_arg("f32:1,2", &s32), "it has 8 bytes"));
    assert_non_null(strstr(read_arg("u64:1,2,3,4,5", &s32), "more than the 32 bytes"));
    assert_non_null(strstr(read_arg("hex:012", &s32), "two digits"));
    assert_non_null(strstr(read_arg("hex:zz", &s32), "not a hexadecimal byte"));
    assert_non_null(strstr(read_arg("7", &s32), "TYPE:VALUE"));
}

/* ---- kernels' names ---- */

static void mangled_names_are_readable(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"saxpy", "saxpy"},
        {"_Z6vecAddPKfS0_Pfi", "vecAdd"},
        {"_Z6matmulILi16EEvPKfS1_Pfi", "matmul<16>"},
        {"_Z3fooIfLb1ELin3EEvv", "foo<float, true, -3>"},
        {"_ZN3abc6detail4scanIjEEvPT_", "abc::detail::scan<unsigned int>"},
        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
        {"_ZL5localv", "local"},
        {"_Z3barIN2ns4typeEEvT_", "bar<ns::type>"},
        {"_Z", "_Z"},
        {"_Z99x", "_Z99x"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(kernel_readable(names[i][0], &arena), names[i][1]);
}

static void words_are_names_or_arguments(void **state)
{
    (void)state;
    assert_true(kernel_is_name("saxpy") && kernel_is_name("matmul<16>") && kernel_is_name("a::b"));
    static const char *const arguments[] = {"512", "-3",     "f32:2.5", "f32[4]", "@x.npy", "nan",
                                            "inf", "hex:00", "{u8:1}",  "same:1", "2.5"};
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        assert_false(kernel_is_name(arguments[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(bf16_is_rounded_once),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(contents_fill_as_described),
        cmocka_unit_test(wrong_contents_are_explained),
        cmocka_unit_test(scalars_take_the_parameters_type),
        cmocka_unit_test(scalars_of_another_type_are_explained),
        cmocka_unit_test(buffers_have_type_shape_content_and_suffixes),
        cmocka_unit_test(wrong_buffers_are_explained),
        cmocka_unit_test(structures_are_laid_out_as_in_c),
        cmocka_unit_test(mangled_names_are_readable),
        cmocka_unit_test(words_are_names_or_arguments),
    };
    int failed = cmocka_run_group_tests_name("arg", tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
