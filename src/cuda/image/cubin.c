/* See cubin.h. NVIDIA documents none of this; `cuobjdump -elf` shows it by these names. */
#include "cuda/image/cubin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"

/* An attribute of .nv.info or of a kernel's .nv.info.NAME; with
 * FORMAT_SIZED, `value` bytes follow. */
struct attribute {
    uint8_t format, attribute;
    uint16_t value;
};
enum {
    FORMAT_VALUE = 3,
    FORMAT_SIZED = 4,
    EIATTR_MAX_THREADS = 0x05,
    EIATTR_FRAME_SIZE = 0x11,
    EIATTR_CBANK_PARAM_SIZE = 0x19,
    EIATTR_REGCOUNT = 0x2f
};

/* The format of both attributes: a symbol's number. */
struct symbol_number {
    uint32_t symbol, number;
};

/* Iterates over the entries of an attribute; returns false behind the last. */
struct numbers {
    const unsigned char *at;
    size_t left;
    uint8_t attribute;
};

static bool next_number(struct numbers *n, struct symbol_number *found)
{
    while (n->left >= sizeof(struct attribute)) {
        struct attribute a;
        memcpy(&a, n->at, sizeof a);
        size_t size = sizeof a + (a.format == FORMAT_SIZED ? a.value : 0u);
        if (size > n->left)
            return false;
        bool fits = a.format == FORMAT_SIZED && a.attribute == n->attribute && a.value >= sizeof *found;
        if (fits)
            memcpy(found, n->at + sizeof a, sizeof *found);
        n->at += size;
        n->left -= size;
        if (fits)
            return true;
    }
    return false;
}

static struct numbers numbers_of(const struct elf *e, uint8_t attribute)
{
    const Elf64_Shdr *info = elf_section(e, ".nv.info");
    const unsigned char *at = info ? elf_contents(e, info) : NULL;
    return (struct numbers){at, at ? info->sh_size : 0, attribute};
}

/* Frame sizes by symbol number, from calloc, so that each kernel looks its own up; NULL if memory
 * is exhausted. */
static uint32_t *frames_of(const struct elf *e, const struct elf_symbols *symbols)
{
    uint32_t *frames = calloc(symbols->n + 1, sizeof *frames);
    struct numbers all = numbers_of(e, EIATTR_FRAME_SIZE);
    struct symbol_number n;
    while (frames && next_number(&all, &n))
        if (n.symbol < symbols->n)
            frames[n.symbol] = n.number;
    return frames;
}

/* Since sm_70 an instruction has 16 bytes, with the opcode in its lowest 12 bits. Bits 73 to 75 of
 * LDL and STL are the width: 4: 32 bits, 5: 64, 6: 128. */
static void count_accesses(const struct elf *e, const Elf64_Sym *symbol, struct cubin_kernel *k)
{
    enum { BYTES = 16, OPCODE = 0xfff, LDL = 0x983, STL = 0x387, AT_WIDTH = 9, WIDTH_OF_WORD = 4 };
    const Elf64_Shdr *text = symbol->st_shndx < e->n_sections ? &e->sections[symbol->st_shndx] : NULL;
    const unsigned char *at = text ? elf_contents(e, text) : NULL;
    for (size_t i = 0; at && i + BYTES <= text->sh_size; i += BYTES) {
        uint64_t half[2];
        memcpy(half, at + i, sizeof half);
        unsigned opcode = half[0] & OPCODE, width = half[1] >> AT_WIDTH & 7;
        unsigned words = width > WIDTH_OF_WORD ? 1u << (width - WIDTH_OF_WORD) : 1;
        k->local_loads += opcode == LDL ? words : 0;
        k->local_stores += opcode == STL ? words : 0;
    }
}

void cubin_kernels(const void *bytes, size_t n,
                   void (*each)(void *data, const char *name, const struct cubin_kernel *k), void *data)
{
    struct elf e;
    struct elf_symbols symbols;
    struct symbol_number registers;
    if (!elf_view(&e, bytes, n) || e.header->e_type != ET_EXEC || !elf_symbols(&e, SHT_SYMTAB, &symbols))
        return;
    uint32_t *frames = frames_of(&e, &symbols);
    for (struct numbers all = numbers_of(&e, EIATTR_REGCOUNT); frames && next_number(&all, &registers);) {
        if (registers.symbol >= symbols.n)
            continue;
        struct cubin_kernel k = {.registers = registers.number, .frame_bytes = frames[registers.symbol]};
        if (k.frame_bytes)
            count_accesses(&e, &symbols.at[registers.symbol], &k);
        each(data, elf_symbol_name(&symbols, registers.symbol), &k);
    }
    free(frames);
}

static struct cubin_limits limits_in(const unsigned char *at, size_t left)
{
    struct cubin_limits l = {0};
    struct attribute a;
    uint32_t threads[3];
    for (size_t size; left >= sizeof a; at += size, left -= size) {
        memcpy(&a, at, sizeof a);
        size = sizeof a + (a.format == FORMAT_SIZED ? a.value : 0u);
        if (size > left)
            break;
        if (a.format == FORMAT_VALUE && a.attribute == EIATTR_CBANK_PARAM_SIZE)
            l.parameter_bytes = a.value;
        if (a.format == FORMAT_SIZED && a.attribute == EIATTR_MAX_THREADS && a.value >= sizeof threads) {
            memcpy(threads, at + sizeof a, sizeof threads);
            l.threads = threads[0] * threads[1] * threads[2];
        }
    }
    return l;
}

void cubin_limits(const void *bytes, size_t n, void (*each)(void *data, const char *name, const struct cubin_limits *l),
                  void *data)
{
    static const char prefix[] = ".nv.info.";
    struct elf e;
    if (!elf_view(&e, bytes, n) || e.header->e_type != ET_EXEC)
        return;
    for (unsigned i = 0; i < e.n_sections; i++) {
        const char *name = elf_section_name(&e, &e.sections[i]);
        const unsigned char *at = elf_contents(&e, &e.sections[i]);
        if (!at || strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        struct cubin_limits l = limits_in(at, e.sections[i].sh_size);
        each(data, name + sizeof prefix - 1, &l);
    }
}
