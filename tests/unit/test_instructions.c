/* Single instructions whose meaning has corners, each with its answer: from the PTX ISA's text
 * where it has one, else what an H200 answers or what the assembler's code for it computes.
 * tests/oracle covers the rest.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "heddle.h"

/* The operands are in %xa %xb %xc, the result is taken from %xd, with x = r (32 bits), d (64), h
 * (16); %p is a predicate. */
struct entry {
    const char *shows, *text;
    uint64_t a, b, c, want;
};

static const struct entry integer_entries[] = {
    {"a quotient by zero is all ones", "div.u32 %rd, %ra, %rb;", 7, 0, 0, 0xffffffff},
    {"a signed quotient by zero is all ones", "div.s32 %rd, %ra, %rb;", 7, 0, 0, 0xffffffff},
    {"a 16-bit quotient by zero is all ones", "div.s16 %hd, %ha, %hb;", 7, 0, 0, 0xffff},
    {"a 64-bit quotient by zero is all ones", "div.u64 %dd, %da, %db;", 7, 0, 0, UINT64_MAX},
    {"a remainder by zero is all ones", "rem.u32 %rd, %ra, %rb;", 7, 0, 0, 0xffffffff},
    {"a signed remainder by zero is all ones", "rem.s32 %rd, %ra, %rb;", 7, 0, 0, 0xffffffff},
    {"a 16-bit remainder by zero is all ones", "rem.u16 %hd, %ha, %hb;", 7, 0, 0, 0xffff},
    {"a 64-bit remainder by zero is all ones", "rem.s64 %dd, %da, %db;", 7, 0, 0, UINT64_MAX},
    {"the least number by -1 wraps", "div.s32 %rd, %ra, %rb;", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"its remainder is 0", "rem.s32 %rd, %ra, %rb;", 0x80000000, 0xffffffff, 0, 0},
    {"a remainder has the dividend's sign", "rem.s32 %rd, %ra, %rb;", (uint32_t)-7, 3, 0, 0xffffffff},
    {"shl by more than 31 gives 0", "shl.b32 %rd, %ra, %rb;", 0xffffffff, 32, 0, 0},
    {"shr.s32 by more than 31 gives the sign", "shr.s32 %rd, %ra, %rb;", 0x80000000, 200, 0, 0xffffffff},
    {"shf.wrap takes the amount modulo 32", "shf.l.wrap.b32 %rd, %ra, %rb, %rc;", 0x80000000, 1, 33, 3},
    {"shf.clamp ends at 32", "shf.l.clamp.b32 %rd, %ra, %rb, %rc;", 0x12345678, 1, 33, 0x12345678},
    {"bfind of 0 is all ones", "bfind.u32 %rd, %ra;", 0, 0, 0, 0xffffffff},
    {"fns counts up from its base", "fns.b32 %rd, %ra, %rb, %rc;", 0xf0, 5, 2, 6},
    {"fns counts down", "fns.b32 %rd, %ra, %rb, %rc;", 0xf0, 5, (uint32_t)-2, 4},
    {"fns from a base above 31 finds nothing", "fns.b32 %rd, %ra, %rb, %rc;", 0xffffffff, 32, 0, 0xffffffff},
    {"fns from 33 does not find what 1 would", "fns.b32 %rd, %ra, %rb, %rc;", 0xffffffff, 33, 1, 0xffffffff},
    {"prmt copies signs", "prmt.b32 %rd, %ra, %rb, %rc;", 0x00008000, 0, 0x9910, 0xffff8000},
    {"add.sat clamps", "add.sat.s32 %rd, %ra, %rb;", 0x7fffffff, 1, 0, 0x7fffffff},
    {"mul.hi of s64", "mul.hi.s64 %dd, %da, %db;", (uint64_t)-1, 2, 0, UINT64_MAX},
    {"dp4a adds four products", "dp4a.s32.u32 %rd, %ra, %rb, %rc;", 0xff010203, 0x01010101, 10, 15},
    {"cvt.pack saturates nibbles, and shifts c", "cvt.pack.sat.u4.s32.b32 %rd, %ra, %rb, %rc;", 0xfffffffe, 256,
     0xd8f16adf, 0xf16adf0f},
    {"signed ones, too", "cvt.pack.sat.s4.s32.b32 %rd, %ra, %rb, %rc;", 0xffffffff, 8, 0x1e2feb89, 0x2feb89f7},
    {"pairs of bits, too", "cvt.pack.sat.u2.s32.b32 %rd, %ra, %rb, %rc;", 0xffffff80, 128, 0x78e51061, 0x8e510613},
    {"signed pairs, too", "cvt.pack.sat.s2.s32.b32 %rd, %ra, %rb, %rc;", 0x80000000, 16, 0xc9e9c616, 0x9e9c6169},
};

static const struct entry float_entries[] = {
    {"mul.rn and add round twice", "mul.rn.f32 %rd, %ra, %ra; add.f32 %rd, %rd, %rb;", 0x3f800800, 0xbf801000, 0, 0},
    {"mul and add.rn round twice", "mul.f32 %rd, %ra, %ra; add.rn.f32 %rd, %rd, %rb;", 0x3f800800, 0xbf801000, 0, 0},
    {"mul and add are contracted", "mul.f32 %rd, %ra, %ra; add.f32 %rd, %rd, %rb;", 0x3f800800, 0xbf801000, 0,
     0x33800000},
    {"fma rounds once", "fma.rn.f32 %rd, %ra, %ra, %rb;", 0x3f800800, 0xbf801000, 0, 0x33800000},
    {"f32 has one NaN", "add.f32 %rd, %ra, %rb;", 0xffc12345, 0, 0, 0x7fffffff},
    {"f64 keeps a NaN's payload, made quiet", "add.f64 %dd, %da, %db;", 0x7ff0000000000005, 0, 0, 0x7ff8000000000005},
    {"a sum of two f64 NaNs has the second's", "add.f64 %dd, %da, %db;", 0x7ff8000000000001, 0x7ff8000000000002, 0,
     0x7ff8000000000002},
    {"an fma of two f64 NaNs has the addend's", "fma.rn.f64 %dd, %da, %db, %dc;", 0x7ff8000000000000,
     0x40a10aa8495b2ca8, 0x7fffffffffffffff, 0x7fffffffffffffff},
    {"in every direction", "fma.rz.f64 %dd, %da, %db, %dc;", 0x7ff8000000000000, 0x40a10aa8495b2ca8, 0x7fffffffffffffff,
     0x7fffffffffffffff},
    {"an fma of two factors that are f64 NaNs has the second's", "fma.rm.f64 %dd, %da, %db, %dc;", 0x7ff8000000000000,
     0x7ff0000000000001, 0x409d8e6730f07c44, 0x7ff8000000000001},
    {"a quotient of two f64 NaNs has the first's", "div.rn.f64 %dd, %da, %db;", 0x7ff8000000000001, 0x7ff8000000000002,
     0, 0x7ff8000000000001},
    {"0 / 0 in f64 is the negative NaN", "div.rn.f64 %dd, %da, %db;", 0, 0, 0, 0xfff8000000000000},
    {"add.rm of 1 and -1 is -0", "add.rm.f32 %rd, %ra, %rb;", 0x3f800000, 0xbf800000, 0, 0x80000000},
    {"add.rz cuts", "add.rz.f32 %rd, %ra, %rb;", 0x3f800000, 0x337fffff, 0, 0x3f800000},
    {"add.rp rounds up", "add.rp.f32 %rd, %ra, %rb;", 0x3f800000, 0x00000001, 0, 0x3f800001},
    {"ftz makes a subnormal result a zero of its sign", "mul.ftz.f32 %rd, %ra, %rb;", 0x80800000, 0x3f000000, 0,
     0x80000000},
    {"without ftz it stays", "mul.f32 %rd, %ra, %rb;", 0x80800000, 0x3f000000, 0, 0x80400000},
    {"sat makes a NaN 0", "add.sat.f32 %rd, %ra, %rb;", 0x7fc00000, 0, 0, 0},
    {"min takes the number, not the NaN", "min.f32 %rd, %ra, %rb;", 0x7fc00000, 0x40000000, 0, 0x40000000},
    {"min.NaN takes the NaN", "min.NaN.f32 %rd, %ra, %rb;", 0x7fc00000, 0x40000000, 0, 0x7fffffff},
    {"-0 is less than +0", "min.f32 %rd, %ra, %rb;", 0, 0x80000000, 0, 0x80000000},
    {"cvt to an integer clamps", "cvt.rzi.u8.f32 %rd, %ra;", 0x43a00000, 0, 0, 255},
    {"cvt of a NaN to s32 is 0", "cvt.rni.s32.f32 %rd, %ra;", 0x7fc00000, 0, 0, 0},
    {"cvt of a bf16 to s8 clamps", "{ .reg .b8 %b; cvt.rzi.s8.bf16 %b, %ha; cvt.s32.s8 %rd, %b; }", 0xc348, 0, 0,
     0xffffff80},
    {"cvt of a bf16 to u8 clamps", "{ .reg .b8 %b; cvt.rni.u8.bf16 %b, %ha; cvt.u32.u8 %rd, %b; }", 0x4396, 0, 0, 255},
    {"cvt of s8 to a bf16", "{ .reg .b8 %b; cvt.s8.s32 %b, %ra; cvt.rz.bf16.s8 %hd, %b; }", 0xfffffffd, 0, 0, 0xc040},
    {"cvt.rni takes the even one", "cvt.rni.s32.f32 %rd, %ra;", 0x40200000, 0, 0, 2},
    {"cvt.rn to f16 rounds once from f64", "cvt.rn.f16.f64 %hd, %da;", 0x3ff0020000000001, 0, 0, 0x3c01},
    {"sin.approx of infinity is NaN", "sin.approx.f32 %rd, %ra;", 0x7f800000, 0, 0, 0x7fffffff},
    {"ex2.approx of 3 is 8", "ex2.approx.f32 %rd, %ra;", 0x40400000, 0, 0, 0x41000000},
    {"rcp.approx.ftz takes a subnormal as zero", "rcp.approx.ftz.f32 %rd, %ra;", 0x80000001, 0, 0, 0xff800000},
};

/* 9.7.18 */
static const struct entry video_entries[] = {
    {"parts are extended by their type", "vadd.s32.u32.s32.sat %rd, %ra.b0, %rb.h0;", 0xff, 0x8000, 0, 0xffff80ff},
    {"sat clamps to s32", "vadd.s32.s32.s32.sat %rd, %ra, %rb;", 0x7fffffff, 1, 0, 0x7fffffff},
    {"sat clamps at 0", "vsub.u32.u32.u32.sat %rd, %ra, %rb;", 1, 2, 0, 0},
    {"sat does not clamp a word at the top of u32", "vadd.u32.u32.u32.sat %rd, %ra, %rb;", 0xffffffff, 2, 0, 1},
    {"a part of c is replaced, clamped to it", "vabsdiff.s32.s32.s32.sat %rd.b1, %ra.b0, %rb.b2, %rc;", 0x80, 0x7f0000,
     0x12345678, 0x12347f78},
    {"a half of c is replaced", "vadd.u32.u32.u32 %rd.h1, %ra.h1, %rb.b3, %rc;", 0x00020000, 0x03000000, 0x12345678,
     0x00055678},
    {"a second operation adds c", "vmin.s32.s32.s32.sat.add %rd, %ra, %rb, %rc;", 5, (uint32_t)-3, 10, 7},
    {"a second operation takes the larger, signed as d", "vmax.s32.u32.u32.max %rd, %ra, %rb, %rc;", 1, 2, (uint32_t)-1,
     2},
    {"and unsigned as d", "vmax.u32.u32.u32.max %rd, %ra, %rb, %rc;", 1, 2, (uint32_t)-1, 0xffffffff},
    {"c without an operation is not used", "vadd.u32.u32.u32 %rd, %ra, %rb, %rc;", 1, 2, 99, 3},
    {"vshl.clamp ends at 32", "vshl.u32.u32.u32.clamp %rd, %ra, %rb;", 1, 40, 0, 0},
    {"vshl.wrap takes the amount modulo 32", "vshl.u32.u32.u32.wrap %rd, %ra, %rb;", 1, 40, 0, 256},
    {"vshl.sat clamps", "vshl.u32.u32.u32.sat.clamp %rd, %ra, %rb;", 1, 40, 0, 0xffffffff},
    {"vshl.sat clamps negative numbers", "vshl.s32.s32.u32.sat.clamp %rd, %ra, %rb;", 0x80000000, 32, 0, 0x80000000},
    {"vshr fills with the sign", "vshr.s32.s32.u32.clamp %rd, %ra, %rb;", (uint32_t)-8, 40, 0, 0xffffffff},
    {"vshr of u32 fills with zeros", "vshr.u32.u32.u32.wrap %rd, %ra, %rb;", 0x80000000, 33, 0, 0x40000000},
    {"vmad scales", "vmad.u32.u32.u32.shr15 %rd, %ra.h0, %rb.h0, %rc;", 0x8000, 0x8000, 0x8000, 0x8001},
    {"vmad.po adds 1", "vmad.u32.u32.u32.po %rd, %ra, %rb, %rc;", 2, 3, 4, 11},
    {"vmad negates c", "vmad.s32.u32.u32 %rd, %ra, %rb, -%rc;", 2, 3, 7, 0xffffffff},
    {"vmad negates the product, and clamps it as signed", "vmad.s32.u32.u32.sat %rd, -%ra, %rb, %rc;", 0xffffffff, 2, 0,
     0x80000000},
    {"two negated factors negate nothing", "vmad.u32.u32.u32 %rd, -%ra, -%rb, %rc;", 2, 3, 4, 10},
    {"vset compares as integers, not as words", "vset.u32.s32.lt %rd, %ra, %rb;", 1, (uint32_t)-1, 0, 0},
    {"vset adds", "vset.s32.u32.lt.add %rd, %ra, %rb, %rc;", (uint32_t)-1, 1, 5, 6},
    {"vset into a byte", "vset.u32.u32.ge %rd.b3, %ra, %rb, %rc;", 2, 1, 0xffffffff, 0x01ffffff},
    {"halves in pairs, clamped", "vadd2.s32.s32.s32.sat %rd, %ra, %rb, %rc;", 0x7fff0001, 0x00010002, 0, 0x7fff0003},
    {"a mask takes the other half from c", "vsub2.s32.s32.s32.sat %rd.h0, %ra.h10, %rb.h32, %rc;", 0x00050003,
     0x00010004, 0xabcd1234, 0xabcdffff},
    {"selected halves, summed up with c", "vmin2.s32.u32.u32.add %rd.h10, %ra.h00, %rb.h22, %rc;", 0x00050003,
     0x00010002, 100, 104},
    {"halves of both sources", "vmax2.u32.u32.u32 %rd, %ra.h21, %rb.h03, %rc;", 0x00050003, 0x00010002, 0, 0x00030005},
    {"sums of halves wrap without sat", "vadd2.u32.u32.u32 %rd, %ra, %rb, %rc;", 0xffff0001, 0x00020002, 0, 0x00010003},
    {"an accumulated element keeps its carry", "vadd2.u32.u32.u32.add %rd.h1, %ra, %rb, %rc;", 0xffff0000, 0x00020000,
     1, 0x10002},
    {"bytes under a mask", "vadd4.u32.u32.u32 %rd.b20, %ra, %rb, %rc;", 0x01020304, 0x10203040, 0xaabbccdd, 0xaa22cc44},
    {"selected bytes", "vsub4.s32.u32.u32 %rd, %ra.b0000, %rb.b7654, %rc;", 5, 0x01020305, 0, 0x04030200},
    {"averages round up, negative ones down", "vavrg4.s32.s32.s32 %rd, %ra, %rb, %rc;", 0x01ff03fd, 0x02fe04fc, 0,
     0x02fe04fc},
    {"absolute differences of bytes, clamped", "vabsdiff4.s32.s32.s32.sat %rd, %ra, %rb, %rc;", 0x80000000, 0x7f000000,
     0, 0x7f000000},
    {"vset4 counts", "vset4.u32.u32.ne.add %rd, %ra, %rb, %rc;", 0x01020304, 0x01020300, 7, 8},
    {"vset2 gives 0 and 1", "vset2.s32.u32.lt %rd, %ra, %rb, %rc;", 0xffff0001, 0x00000000, 0, 0x00010000},
};

static char module_text[1 << 17];

static const char *result_of(const char *text)
{
    return strstr(text, "%rd") ? "cvt.u64.u32 %dd, %rd;" : strstr(text, "%hd") ? "cvt.u64.u16 %dd, %hd;" : "";
}

static void write_module(const struct entry *entries, unsigned n)
{
    char *p = module_text, *end = module_text + sizeof module_text;
    p += snprintf(p, (size_t)(end - p), ".version 9.0\n.target sm_90\n.address_size 64\n");
    for (unsigned i = 0; i < n; i++)
        p += snprintf(p, (size_t)(end - p),
                      ".visible .entry k%u(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
                      ".reg .b64 %%to, %%da, %%db, %%dc, %%dd;\n.reg .b32 %%ra, %%rb, %%rc, %%rd;\n"
                      ".reg .b16 %%ha, %%hb, %%hc, %%hd;\n.reg .pred %%p;\n"
                      "ld.param.u64 %%to, [out];\nld.param.u64 %%da, [a];\nld.param.u64 %%db, [b];\n"
                      "ld.param.u64 %%dc, [c];\n"
                      "cvt.u32.u64 %%ra, %%da;\ncvt.u32.u64 %%rb, %%db;\ncvt.u32.u64 %%rc, %%dc;\n"
                      "cvt.u16.u64 %%ha, %%da;\ncvt.u16.u64 %%hb, %%db;\ncvt.u16.u64 %%hc, %%dc;\n"
                      "%s\n%s\nst.global.u64 [%%to], %%dd;\nret;\n}\n",
                      i, entries[i].text, result_of(entries[i].text));
}

static void run_entries(const struct entry *entries, unsigned n)
{
    hd_machine *m;
    hd_module *module;
    hd_machine_options options = {.workers = 1, .memory_bytes = 16 << 20};
    hd_report *report = NULL;
    uint64_t *out;
    unsigned wrong = 0;
    write_module(entries, n);
    hd_source source = {"entries.ptx", module_text, strlen(module_text)};
    assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 8, (void **)&out), HD_SUCCESS);
    if (hd_module_load(m, &source, 1, &module, &report))
        fail_msg("%s", hd_report_text(report));
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        hd_kernel *k;
        const struct entry *r = &entries[i];
        snprintf(name, sizeof name, "k%u", i);
        hd_launch_config c = {
            .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = (const void *[]){&out, &r->a, &r->b, &r->c}};
        if (hd_module_get_kernel(module, name, &k, &report) || hd_launch(k, &c, NULL, &report))
            fail_msg("%s: %s", r->text, hd_report_text(report));
        if (*out != r->want && ++wrong)
            print_error("%s: %s got 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", r->shows, r->text, *out, r->want);
    }
    hd_machine_destroy(m);
    assert_int_equal(wrong, 0);
}

static void integers(void **state)
{
    (void)state;
    run_entries(integer_entries, sizeof integer_entries / sizeof integer_entries[0]);
}

static void floats(void **state)
{
    (void)state;
    run_entries(float_entries, sizeof float_entries / sizeof float_entries[0]);
}

static void video(void **state)
{
    (void)state;
    run_entries(video_entries, sizeof video_entries / sizeof video_entries[0]);
}

/* ---- what is refused ---- */

static void wrong_selectors_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } entries[] = {
        {"vadd.u32.u32.u32 %rd, %ra.b4, %rb;", "`.b4` "},
        {"vadd.u32.u32.u32 %rd.h0, %ra, %rb;", "`.h0` "},
        {"vadd.u32.u32.u32.add %rd.h0, %ra, %rb, %rc;", "`.h0` "},
        {"vmad.u32.u32.u32 %rd.h0, %ra, %rb, %rc;", "`.h0` "},
        {"vadd2.u32.u32.u32 %rd.h01, %ra, %rb, %rc;", "`.h01` "},
        {"vadd2.u32.u32.u32 %rd, %ra.b10, %rb, %rc;", "`.b10` "},
        {"vadd4.u32.u32.u32 %rd, %ra.b8000, %rb, %rc;", "`.b8000` "},
        {"vmad.u32.u32.u32.po %rd, -%ra, %rb, %rc;", "cannot be negated"},
        {"vmad.s32.u32.u32 %rd, -%ra, %rb, -%rc;", "cannot be negated"},
        {"vadd2.u32.u32.u32.sat.add %rd, %ra, %rb, %rc;", "does not take"},
    };
    hd_machine *m;
    hd_machine_options options = {.workers = 1, .memory_bytes = 16 << 20};
    assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
    for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct entry entry = {"", entries[i].text, 0, 0, 0, 0};
        hd_module *module = NULL;
        hd_kernel *k;
        hd_report *report = NULL;
        write_module(&entry, 1);
        hd_source source = {"entry.ptx", module_text, strlen(module_text)};
        hd_result r = hd_module_load(m, &source, 1, &module, &report);
        if (!r)
            r = hd_module_get_kernel(module, "k0", &k, &report);
        assert_int_not_equal(r, HD_SUCCESS);
        if (!strstr(hd_report_text(report), entries[i].says))
            fail_msg("%s: %s", entries[i].text, hd_report_text(report));
        hd_report_free(report);
        hd_module_unload(module);
    }
    hd_machine_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(video),
        cmocka_unit_test(wrong_selectors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
