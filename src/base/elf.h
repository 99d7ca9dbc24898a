/* Reading ELF files of x86-64 (System V ABI, "Object files"): sections, symbols, the dynamic
 * section. The file is mapped; what it says of itself is checked before it is believed. No
 * allocation: may be used before the C library is ready.
 */
#ifndef HEDDLE_BASE_ELF_H
#define HEDDLE_BASE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct elf {
    const unsigned char *bytes;
    size_t n;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    unsigned n_sections;
};

struct elf_symbols {
    const Elf64_Sym *at;
    size_t n;
    const char *strings;
    size_t string_bytes;
};

/* False, with nothing to close, where the file cannot be read or is no 64-bit little-endian ELF
 * file. */
bool elf_open(struct elf *e, const char *path);
void elf_close(struct elf *e);
/* The same of a file that is in memory, aligned to 8; nothing to close. */
bool elf_view(struct elf *e, const void *bytes, size_t n);

/* "" where it has none. */
const char *elf_section_name(const struct elf *e, const Elf64_Shdr *section);
/* The section's header and contents, or NULL. */
const Elf64_Shdr *elf_section(const struct elf *e, const char *name);
const unsigned char *elf_contents(const struct elf *e, const Elf64_Shdr *section);

/* The symbols of the section of this type (SHT_SYMTAB, SHT_DYNSYM); false where there is none. */
bool elf_symbols(const struct elf *e, unsigned type, struct elf_symbols *symbols);
/* The name of symbol i; "" where it has none. */
const char *elf_symbol_name(const struct elf_symbols *symbols, size_t i);

/* Whether the file has no symbol table and does not name `function` as one that it imports or
 * exports either: it may have it inside. */
bool elf_is_stripped_of(const struct elf *e, const char *function);

/* The i-th string of the dynamic section with this tag (DT_NEEDED, DT_RPATH, ...), or NULL. */
const char *elf_dynamic_string(const struct elf *e, long tag, unsigned i);

#endif
