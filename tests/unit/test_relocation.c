/* References of objects for any CPU, and what the loader refuses. What is expected of AArch64 is
 * what GNU ld 2.40 has made of the same relocations; of x86-64, what the tables of its ABI say. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jit/host/elf_loader.h"

static const uint64_t start = 0x10000f00, near = 0x10001000, far = 0x12345678, below = 0x0fffe123, back = 0x10000c00,
                      call = 0x14123454;

struct fill {
    uint32_t type, before;
    uint64_t at, value;
    uint64_t after;
};

static void fill_all(uint16_t machine, const struct fill *entries, size_t n)
{
    const struct relocation_cpu *cpu = relocation_cpu(machine);
    char error[RELOCATION_ERROR_BYTES];
    assert_non_null(cpu);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = entries[i].before;
        const struct reference x = {entries[i].type, (uint8_t *)&word, sizeof word, entries[i].at, entries[i].value};
        assert_true(relocation_apply(cpu, &x, error));
        assert_int_equal(word, entries[i].after);
    }
}

static void aarch64_is_as_the_linker_makes_it(void **state)
{
    (void)state;
    const struct fill entries[] = {
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
    fill_all(EM_AARCH64, entries, sizeof entries / sizeof entries[0]);
}

static void x86_64_counts_from_the_place(void **state)
{
    (void)state;
    const struct fill entries[] = {
        {R_X86_64_64, 0, start, far, far},
        {R_X86_64_PC64, 0, start, back, 0xfffffffffffffd00},
        {R_X86_64_PC32, 0, start, back - 4, 0xfffffcfc},
        {R_X86_64_PLT32, 0, start, near - 4, 0xfc},
    };
    fill_all(EM_X86_64, entries, sizeof entries / sizeof entries[0]);
}

static void refuse(uint16_t machine, uint32_t type, uint64_t value, const char *why)
{
    char error[RELOCATION_ERROR_BYTES];
    uint8_t word[8] = {0};
    const struct reference x = {type, word, sizeof word, start, value};
    assert_false(relocation_apply(relocation_cpu(machine), &x, error));
    assert_string_equal(error, why);
    assert_memory_equal(word, ((uint8_t[8]){0}), 8);
}

static void what_cannot_be_said_is_refused_by_name(void **state)
{
    (void)state;
    uint64_t mb = 1 << 20;
    refuse(EM_AARCH64, R_AARCH64_CALL26, start + 128 * mb, "R_AARCH64_CALL26 cannot hold 0x8000000");
    refuse(EM_AARCH64, R_AARCH64_JUMP26, start - 128 * mb - 4, "R_AARCH64_JUMP26 cannot hold 0xfffffffff7fffffc");
    refuse(EM_AARCH64, R_AARCH64_CONDBR19, start + mb, "R_AARCH64_CONDBR19 cannot hold 0x100000");
    refuse(EM_AARCH64, R_AARCH64_TSTBR14, start + 2, "R_AARCH64_TSTBR14 cannot hold 0x2");
    refuse(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, start + 4096 * mb + 4096,
           "R_AARCH64_ADR_PREL_PG_HI21 cannot hold 0x100001");
    refuse(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, far + 4, "R_AARCH64_LDST64_ABS_LO12_NC cannot hold 0x1234567c");
    refuse(EM_X86_64, R_X86_64_PC32, start + 2048 * mb, "R_X86_64_PC32 cannot hold 0x80000000");
    refuse(EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, far,
           "a relocation of a kind that the loader does not know: number 311 of AArch64");
    refuse(EM_X86_64, R_X86_64_GOTPCREL, far,
           "a relocation of a kind that the loader does not know: number 9 of x86-64");
}

static void the_farthest_is_reached(void **state)
{
    (void)state;
    uint64_t mb = 1 << 20;
    const struct fill entries[] = {
        {R_AARCH64_CALL26, 0x94000000, start, start + 128 * mb - 4, 0x95ffffff},
        {R_AARCH64_CALL26, 0x94000000, start, start - 128 * mb, 0x96000000},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 4096 * mb, 8191 * mb, 0x907ff800},
        {R_AARCH64_CONDBR19, 0x54000000, start, start - mb, 0x54800000},
    };
    fill_all(EM_AARCH64, entries, sizeof entries / sizeof entries[0]);
}

static void objects_of_other_cpus_are_refused(void **state)
{
    (void)state;
    uint16_t other = relocation_host() == relocation_cpu(EM_AARCH64) ? EM_X86_64 : EM_AARCH64;
    Elf64_Ehdr header = {.e_type = ET_REL, .e_machine = other, .e_shentsize = sizeof(Elf64_Shdr)};
    char error[LOADER_ERROR_BYTES];
    compiled_fn *fn = NULL;
    struct loaded_object o;
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    assert_false(loader_load(&o, (const uint8_t *)&header, sizeof header, &fn, 1, error));
    assert_string_equal(error, "the object is for another kind of CPU");
    assert_null(o.at);
}

/* A small object of this host's kind: code, a relocation to it, its name. */
struct small {
    Elf64_Ehdr header;
    Elf64_Shdr sections[5];
    Elf64_Rela relocation;
    Elf64_Sym symbols[2];
    uint8_t code[64];
    char names[16];
};

static struct small make_small(void)
{
    struct small s = {.header = {.e_type = ET_REL,
                                 .e_machine = relocation_host()->machine,
                                 .e_shoff = offsetof(struct small, sections),
                                 .e_shentsize = sizeof(Elf64_Shdr),
                                 .e_shnum = 5},
                      .names = "\0heddle.0.k"};
    bool x86 = relocation_host() == relocation_cpu(EM_X86_64);
    memcpy(s.header.e_ident, ELFMAG, SELFMAG);
    s.sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                 .sh_offset = offsetof(struct small, code),
                                 .sh_size = sizeof s.code,
                                 .sh_addralign = 16};
    s.sections[2] = (Elf64_Shdr){.sh_type = SHT_RELA,
                                 .sh_offset = offsetof(struct small, relocation),
                                 .sh_size = sizeof s.relocation,
                                 .sh_link = 3,
                                 .sh_info = 1};
    s.sections[3] = (Elf64_Shdr){
        .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct small, symbols), .sh_size = sizeof s.symbols, .sh_link = 4};
    s.sections[4] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small, names), .sh_size = sizeof s.names};
    s.symbols[1] =
        (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_size = 64};
    s.relocation =
        (Elf64_Rela){.r_offset = 56, .r_info = ELF64_R_INFO(1ull, x86 ? R_X86_64_64 : R_AARCH64_ABS64), .r_addend = 8};
    return s;
}

/* From memory of its own, so that a sanitizer sees what is read behind it. */
static bool loads(const struct small *s, struct loaded_object *o, compiled_fn **fn)
{
    char error[LOADER_ERROR_BYTES] = "";
    uint8_t *copy = malloc(sizeof *s);
    memcpy(copy, s, sizeof *s);
    *fn = NULL;
    bool ok = loader_load(o, copy, sizeof *s, fn, 1, error);
    assert_int_equal(ok, error[0] == 0);
    free(copy);
    return ok;
}

static void a_good_object_is_loaded(void **state)
{
    (void)state;
    struct small s = make_small();
    struct loaded_object o;
    compiled_fn *fn;
    assert_true(loads(&s, &o, &fn));
    assert_non_null(fn);
    uint64_t word, at = (uintptr_t)fn;
    memcpy(&word, (const uint8_t *)at + 56, 8);
    assert_int_equal(word, at + 8);
    loader_unload(&o);
}

/* Whatever stands in a place, the loader stays inside of the object and of what it has made;
 * functions lie in code. */
static void damaged_objects_are_not_followed(void **state)
{
    (void)state;
    const uint64_t words[] = {
        0, 1, 7, 57, 63, 64, 65, 4096, 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX - 63, UINT64_MAX - 7, UINT64_MAX};
    for (size_t at = 0; at < offsetof(struct small, code); at += 4)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            for (size_t bytes = 1; bytes <= 8 && at % bytes == 0; bytes *= 2) {
                struct small s = make_small();
                struct loaded_object o;
                compiled_fn *fn;
                memcpy((uint8_t *)&s + at, &words[k], bytes);
                if (!loads(&s, &o, &fn))
                    continue;
                if (fn)
                    assert_in_range((uintptr_t)fn, (uintptr_t)o.at, (uintptr_t)o.at + o.bytes - 1);
                loader_unload(&o);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aarch64_is_as_the_linker_makes_it),      cmocka_unit_test(x86_64_counts_from_the_place),
        cmocka_unit_test(what_cannot_be_said_is_refused_by_name), cmocka_unit_test(the_farthest_is_reached),
        cmocka_unit_test(objects_of_other_cpus_are_refused),      cmocka_unit_test(a_good_object_is_loaded),
        cmocka_unit_test(damaged_objects_are_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
