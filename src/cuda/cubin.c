/* See cubin.h. NVIDIA documents none of this; `cuobjdump -elf` shows it by these names. */
#include "cuda/cubin.h"

#include <stdint.h>
#include <string.h>

#include "base/elf.h"

/* An attribute of .nv.info; with FORMAT_SIZED, `value` bytes follow. */
struct attribute {
    uint8_t format, attribute;
    uint16_t value;
};
enum { FORMAT_SIZED = 4, EIATTR_REGCOUNT = 0x2f };

struct register_count {
    uint32_t symbol, registers;
};

void cubin_registers(const void *bytes, size_t n, void (*each)(void *data, const char *kernel, unsigned registers),
                     void *data)
{
    struct elf e;
    struct elf_symbols symbols;
    if (!elf_view(&e, bytes, n) || e.header->e_type != ET_EXEC || !elf_symbols(&e, SHT_SYMTAB, &symbols))
        return;
    const Elf64_Shdr *info = elf_section(&e, ".nv.info");
    const unsigned char *at = info ? elf_contents(&e, info) : NULL;
    for (size_t left = at ? info->sh_size : 0; left >= sizeof(struct attribute);) {
        struct attribute a;
        struct register_count c;
        memcpy(&a, at, sizeof a);
        size_t size = sizeof a + (a.format == FORMAT_SIZED ? a.value : 0u);
        if (size > left)
            return;
        memcpy(&c, at + sizeof a, a.format == FORMAT_SIZED && a.value >= sizeof c ? sizeof c : 0);
        if (a.format == FORMAT_SIZED && a.attribute == EIATTR_REGCOUNT && a.value >= sizeof c && c.symbol < symbols.n)
            each(data, elf_symbol_name(&symbols, c.symbol), c.registers);
        at += size;
        left -= size;
    }
}
