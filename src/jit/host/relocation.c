/* See relocation.h. A kind has three parts: the number (an address, or a distance in bytes or 4 KB
 * pages), which of its bits are used, and where they are in the instruction.
 */
#include "jit/host/relocation.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum number { ADDRESS, DISTANCE, PAGES };

/* The position of the bits: 4 or 8 bytes of data; else in a 4-byte instruction, which has zeros
 * there. */
enum field { DATA64, DATA32, BIT_0, BIT_5, BIT_10, SPLIT };

/* The required value of unused bits: low bits are zero if the number must be a multiple, high bits
 * must extend the sign, or belong to another relocation. */
enum range { ANY, MULTIPLE, SIGNED };

struct relocation {
    uint32_t type;
    enum number number;
    uint8_t first, bits; /* of the number */
    enum range range;
    enum field field;
    const char *name;
};

#define KIND(type, number, first, bits, range, field) {type, number, first, bits, range, field, #type},

static const struct relocation x86_64[] = {KIND(R_X86_64_64, ADDRESS, 0, 64, ANY, DATA64)       /* */
                                           KIND(R_X86_64_PC64, DISTANCE, 0, 64, ANY, DATA64)    /* */
                                           KIND(R_X86_64_PC32, DISTANCE, 0, 32, SIGNED, DATA32) /* */
                                           KIND(R_X86_64_PLT32, DISTANCE, 0, 32, SIGNED, DATA32)};

/* Those of the small code model, and of tables for unwinding. */
static const struct relocation aarch64[] = {
    KIND(R_AARCH64_ABS64, ADDRESS, 0, 64, ANY, DATA64)                   /* */
    KIND(R_AARCH64_PREL64, DISTANCE, 0, 64, ANY, DATA64)                 /* */
    KIND(R_AARCH64_PREL32, DISTANCE, 0, 32, SIGNED, DATA32)              /* */
    KIND(R_AARCH64_LD_PREL_LO19, DISTANCE, 2, 19, SIGNED, BIT_5)         /* ldr x0, symbol */
    KIND(R_AARCH64_ADR_PREL_LO21, DISTANCE, 0, 21, SIGNED, SPLIT)        /* adr */
    KIND(R_AARCH64_ADR_PREL_PG_HI21, PAGES, 0, 21, SIGNED, SPLIT)        /* adrp */
    KIND(R_AARCH64_ADD_ABS_LO12_NC, ADDRESS, 0, 12, MULTIPLE, BIT_10)    /* add x0, x0, :lo12:symbol */
    KIND(R_AARCH64_LDST8_ABS_LO12_NC, ADDRESS, 0, 12, MULTIPLE, BIT_10)  /* ldrb w0, [x0, :lo12:symbol] */
    KIND(R_AARCH64_LDST16_ABS_LO12_NC, ADDRESS, 1, 11, MULTIPLE, BIT_10) /* */
    KIND(R_AARCH64_LDST32_ABS_LO12_NC, ADDRESS, 2, 10, MULTIPLE, BIT_10) /* */
    KIND(R_AARCH64_LDST64_ABS_LO12_NC, ADDRESS, 3, 9, MULTIPLE, BIT_10)  /* */
    KIND(R_AARCH64_LDST128_ABS_LO12_NC, ADDRESS, 4, 8, MULTIPLE, BIT_10) /* */
    KIND(R_AARCH64_TSTBR14, DISTANCE, 2, 14, SIGNED, BIT_5)              /* tbz */
    KIND(R_AARCH64_CONDBR19, DISTANCE, 2, 19, SIGNED, BIT_5)             /* b.eq */
    KIND(R_AARCH64_JUMP26, DISTANCE, 2, 26, SIGNED, BIT_0)               /* b */
    KIND(R_AARCH64_CALL26, DISTANCE, 2, 26, SIGNED, BIT_0)};             /* bl */

#define ENTRIES(table) table, sizeof table / sizeof table[0]

static const struct relocation_cpu cpus[] = {
    {EM_X86_64, "x86-64", {0xff, 0x25, 2, 0, 0, 0, 0, 0}, ENTRIES(x86_64)}, /* jmp *2(%rip) */
    /* ldr x16, .+8; br x16 */
    {EM_AARCH64, "AArch64", {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6}, ENTRIES(aarch64)},
};

const struct relocation_cpu *relocation_cpu(uint16_t machine)
{
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
        if (cpus[i].machine == machine)
            return &cpus[i];
    return NULL;
}

const struct relocation_cpu *relocation_host(void)
{
#if defined __x86_64__
    return relocation_cpu(EM_X86_64);
#elif defined __aarch64__
    return relocation_cpu(EM_AARCH64);
#else
    return NULL;
#endif
}

static bool fits(const struct relocation *r, uint64_t number)
{
    if (r->range == ANY)
        return true;
    int64_t beyond = 1ll << (r->first + r->bits - 1), n = (int64_t)number;
    return !(number & ((1ull << r->first) - 1)) && (r->range == MULTIPLE || (n >= -beyond && n < beyond));
}

static void write_field(enum field field, uint8_t *place, uint64_t bits)
{
    uint32_t instruction;
    if (field == DATA64 || field == DATA32) {
        memcpy(place, &bits, field == DATA64 ? 8 : 4); /* hosts and code are little-endian */
        return;
    }
    memcpy(&instruction, place, 4);
    switch (field) {
    case BIT_5: instruction |= (uint32_t)bits << 5; break;
    case BIT_10: instruction |= (uint32_t)bits << 10; break;
    case SPLIT: instruction |= (uint32_t)(bits & 3) << 29 | (uint32_t)(bits >> 2) << 5; break;
    default: instruction |= (uint32_t)bits; break;
    }
    memcpy(place, &instruction, 4);
}

static uint64_t number_of(const struct relocation *r, uint64_t at, uint64_t value)
{
    switch (r->number) {
    case DISTANCE: return value - at;
    case PAGES: return (uint64_t)((int64_t)((value & ~4095ull) - (at & ~4095ull)) >> 12);
    default: return value;
    }
}

bool relocation_apply(const struct relocation_cpu *cpu, const struct reference *x, char error[RELOCATION_ERROR_BYTES])
{
    const struct relocation *r = cpu->entries, *end = r + cpu->n;
    while (r < end && r->type != x->type)
        r++;
    if (r == end) {
        snprintf(error, RELOCATION_ERROR_BYTES, "a relocation of a kind that the loader does not know: number %u of %s",
                 x->type, cpu->name);
        return false;
    }
    if (x->room < (r->field == DATA64 ? 8 : 4)) {
        snprintf(error, RELOCATION_ERROR_BYTES, "a relocation lies outside of its section");
        return false;
    }
    uint64_t number = number_of(r, x->at, x->value), mask = ~0ull >> (64 - r->bits);
    if (!fits(r, number)) {
        snprintf(error, RELOCATION_ERROR_BYTES, "%s cannot hold 0x%llx", r->name, (unsigned long long)number);
        return false;
    }
    write_field(r->field, x->place, number >> r->first & mask);
    return true;
}
