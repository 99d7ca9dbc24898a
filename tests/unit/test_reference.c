/* References of objects for any CPU, and what the loader refuses. What is expected of AArch64 is what GNU ld 2.40 has made of
 * the same references; of x86-64, what the tables of its ABI say. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "jit/object.h"

static const uint64_t start = 0x10000f00, near = 0x10001000, far = 0x12345678, below = 0x0fffe123, back = 0x10000c00,
                      call = 0x14123454;

struct fill {
    uint32_t type, before;
    uint64_t at, value;
    uint64_t after;
};

static void fill_all(uint16_t machine, const struct fill *rows, size_t n)
{
    const struct reference_cpu *cpu = reference_cpu(machine);
    char error[REFERENCE_ERROR_BYTES];
    assert_non_null(cpu);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = rows[i].before;
        assert_true(reference_fill(cpu, rows[i].type, (uint8_t *)&word, rows[i].at, rows[i].value, error));
        assert_int_equal(word, rows[i].after);
    }
}

static void aarch64_is_as_the_linker_makes_it(void **state)
{
    (void)state;
    const struct fill rows[] = {
        {R_AARCH64_LD_PREL_LO19, 0x58000003, start, near, 0x58000803},
        {R_AARCH64_ADR_PREL_LO21, 0x10000005, start + 4, near + 3, 0x700007e5},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000008, start + 8, far, 0xb0011a28},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000008, start + 12, below, 0xd0ffffe8},
        {R_AARCH64_ADD_ABS_LO12_NC, 0x91000108, start + 16, far + 1, 0x9119e508},
        {R_AARCH64_LDST8_ABS_LO12_NC, 0x39400109, start + 20, far + 1, 0x3959e509},
        {R_AARCH64_LDST16_ABS_LO12_NC, 0x79400109, start + 24, far + 2, 0x794cf509},
        {R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400109, start + 28, far + 4, 0xb9467d09},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400109, start + 32, far, 0xf9433d09},
        {R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00109, start + 36, far + 8, 0x3dc1a109},
        {R_AARCH64_TSTBR14, 0x36180009, start + 40, near, 0x361806c9},
        {R_AARCH64_CONDBR19, 0x54000001, start + 44, back, 0x54ffe6a1},
        {R_AARCH64_JUMP26, 0x14000000, start + 48, back, 0x17ffff34},
        {R_AARCH64_CALL26, 0x94000000, start + 52, call, 0x95048948},
        {R_AARCH64_PREL32, 0, start + 56, back, 0xfffffcc8},
        {R_AARCH64_PREL64, 0, start + 60, back, 0xfffffffffffffcc4},
        {R_AARCH64_ABS64, 0, start + 68, far, far},
    };
    fill_all(EM_AARCH64, rows, sizeof rows / sizeof rows[0]);
}

static void x86_64_counts_from_the_place(void **state)
{
    (void)state;
    const struct fill rows[] = {
        {R_X86_64_64, 0, start, far, far},
        {R_X86_64_PC64, 0, start, back, 0xfffffffffffffd00},
        {R_X86_64_PC32, 0, start, back - 4, 0xfffffcfc},
        {R_X86_64_PLT32, 0, start, near - 4, 0xfc},
    };
    fill_all(EM_X86_64, rows, sizeof rows / sizeof rows[0]);
}

static void refuse(uint16_t machine, uint32_t type, uint64_t value, const char *why)
{
    char error[REFERENCE_ERROR_BYTES];
    uint8_t word[8] = {0};
    assert_false(reference_fill(reference_cpu(machine), type, word, start, value, error));
    assert_string_equal(error, why);
    assert_memory_equal(word, ((uint8_t[8]){0}), 8);
}

static void what_cannot_be_said_is_refused_by_name(void **state)
{
    (void)state;
    uint64_t mb = 1 << 20;
    refuse(EM_AARCH64, R_AARCH64_CALL26, start + 128 * mb, "R_AARCH64_CALL26 cannot say 0x8000000");
    refuse(EM_AARCH64, R_AARCH64_JUMP26, start - 128 * mb - 4, "R_AARCH64_JUMP26 cannot say 0xfffffffff7fffffc");
    refuse(EM_AARCH64, R_AARCH64_CONDBR19, start + mb, "R_AARCH64_CONDBR19 cannot say 0x100000");
    refuse(EM_AARCH64, R_AARCH64_TSTBR14, start + 2, "R_AARCH64_TSTBR14 cannot say 0x2");
    refuse(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, start + 4096 * mb + 4096,
           "R_AARCH64_ADR_PREL_PG_HI21 cannot say 0x100001");
    refuse(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, far + 4, "R_AARCH64_LDST64_ABS_LO12_NC cannot say 0x1234567c");
    refuse(EM_X86_64, R_X86_64_PC32, start + 2048 * mb, "R_X86_64_PC32 cannot say 0x80000000");
    refuse(EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, far,
           "a reference of a kind that the loader does not know: number 311 of AArch64");
    refuse(EM_X86_64, R_X86_64_GOTPCREL, far,
           "a reference of a kind that the loader does not know: number 9 of x86-64");
}

static void the_farthest_is_reached(void **state)
{
    (void)state;
    uint64_t mb = 1 << 20;
    const struct fill rows[] = {
        {R_AARCH64_CALL26, 0x94000000, start, start + 128 * mb - 4, 0x95ffffff},
        {R_AARCH64_CALL26, 0x94000000, start, start - 128 * mb, 0x96000000},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 4096 * mb, 8191 * mb, 0x907ff800},
        {R_AARCH64_CONDBR19, 0x54000000, start, start - mb, 0x54800000},
    };
    fill_all(EM_AARCH64, rows, sizeof rows / sizeof rows[0]);
}

static void objects_of_other_cpus_are_refused(void **state)
{
    (void)state;
    uint16_t other = reference_host() == reference_cpu(EM_AARCH64) ? EM_X86_64 : EM_AARCH64;
    Elf64_Ehdr header = {.e_type = ET_REL, .e_machine = other, .e_shentsize = sizeof(Elf64_Shdr)};
    char error[OBJECT_ERROR_BYTES];
    compiled_fn *fn = NULL;
    struct object o;
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    assert_false(object_load(&o, (const uint8_t *)&header, sizeof header, &fn, 1, error));
    assert_string_equal(error, "the object is for another kind of CPU");
    assert_null(o.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aarch64_is_as_the_linker_makes_it),      cmocka_unit_test(x86_64_counts_from_the_place),
        cmocka_unit_test(what_cannot_be_said_is_refused_by_name), cmocka_unit_test(the_farthest_is_reached),
        cmocka_unit_test(objects_of_other_cpus_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
