/* See elf.h. */
#include "base/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool inside(const struct elf *e, size_t offset, size_t bytes)
{
    return offset <= e->n && bytes <= e->n - offset;
}

static bool read_header(struct elf *e)
{
    static const unsigned char magic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    if (e->n < sizeof *e->header || memcmp(e->bytes, magic, sizeof magic) != 0)
        return false;
    e->header = (const Elf64_Ehdr *)(const void *)e->bytes;
    size_t offset = e->header->e_shoff, count = e->header->e_shnum;
    if (offset && offset % 8 == 0 && e->header->e_shentsize == sizeof(Elf64_Shdr) &&
        inside(e, offset, count * sizeof(Elf64_Shdr))) {
        e->sections = (const Elf64_Shdr *)(const void *)(e->bytes + offset);
        e->n_sections = (unsigned)count;
    }
    return true;
}

bool elf_view(struct elf *e, const void *bytes, size_t n)
{
    *e = (struct elf){.bytes = bytes, .n = n};
    return read_header(e);
}

bool elf_open(struct elf *e, const char *path)
{
    struct stat st;
    *e = (struct elf){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        e->bytes = p == MAP_FAILED ? NULL : p;
        e->n = (size_t)st.st_size;
    }
    close(fd);
    if (e->bytes && read_header(e))
        return true;
    elf_close(e);
    return false;
}

void elf_close(struct elf *e)
{
    if (e->bytes)
        munmap((void *)e->bytes, e->n);
    *e = (struct elf){0};
}

const unsigned char *elf_contents(const struct elf *e, const Elf64_Shdr *section)
{
    bool there = section->sh_type != SHT_NOBITS && inside(e, section->sh_offset, section->sh_size);
    return there ? e->bytes + section->sh_offset : NULL;
}

/* The string at `offset` of a table, "" where it does not end inside. */
static const char *string_at(const char *strings, size_t bytes, size_t offset)
{
    return offset < bytes && memchr(strings + offset, 0, bytes - offset) ? strings + offset : "";
}

const char *elf_section_name(const struct elf *e, const Elf64_Shdr *section)
{
    if (e->header->e_shstrndx >= e->n_sections)
        return "";
    const Elf64_Shdr *names = &e->sections[e->header->e_shstrndx];
    const char *strings = (const char *)elf_contents(e, names);
    return strings ? string_at(strings, names->sh_size, section->sh_name) : "";
}

const Elf64_Shdr *elf_section(const struct elf *e, const char *name)
{
    for (unsigned i = 0; i < e->n_sections; i++)
        if (strcmp(elf_section_name(e, &e->sections[i]), name) == 0)
            return &e->sections[i];
    return NULL;
}

static const Elf64_Shdr *linked(const struct elf *e, const Elf64_Shdr *section)
{
    return section->sh_link < e->n_sections ? &e->sections[section->sh_link] : NULL;
}

static const Elf64_Shdr *section_of_type(const struct elf *e, unsigned type)
{
    for (unsigned i = 0; i < e->n_sections; i++)
        if (e->sections[i].sh_type == type)
            return &e->sections[i];
    return NULL;
}

/* A section of the type that has entries and, linked to it, their strings; NULL where either is
 * missing. */
static const Elf64_Shdr *section_with_strings(const struct elf *e, unsigned type, const Elf64_Shdr **strings)
{
    const Elf64_Shdr *section = section_of_type(e, type);
    *strings = section ? linked(e, section) : NULL;
    bool good = *strings && section->sh_offset % 8 == 0 && elf_contents(e, section) && elf_contents(e, *strings);
    return good ? section : NULL;
}

bool elf_symbols(const struct elf *e, unsigned type, struct elf_symbols *symbols)
{
    const Elf64_Shdr *strings, *section = section_with_strings(e, type, &strings);
    if (!section)
        return false;
    *symbols = (struct elf_symbols){.at = (const Elf64_Sym *)(const void *)elf_contents(e, section),
                                    .n = section->sh_size / sizeof(Elf64_Sym),
                                    .strings = (const char *)elf_contents(e, strings),
                                    .string_bytes = strings->sh_size};
    return true;
}

const char *elf_symbol_name(const struct elf_symbols *symbols, size_t i)
{
    return string_at(symbols->strings, symbols->string_bytes, symbols->at[i].st_name);
}

bool elf_is_stripped_of(const struct elf *e, const char *function)
{
    struct elf_symbols symbols;
    if (elf_symbols(e, SHT_SYMTAB, &symbols))
        return false;
    if (!elf_symbols(e, SHT_DYNSYM, &symbols))
        return true;
    for (size_t i = 0; i < symbols.n; i++)
        if (strcmp(elf_symbol_name(&symbols, i), function) == 0)
            return false;
    return true;
}

const char *elf_dynamic_string(const struct elf *e, long tag, unsigned i)
{
    const Elf64_Shdr *strings, *section = section_with_strings(e, SHT_DYNAMIC, &strings);
    if (!section)
        return NULL;
    const Elf64_Dyn *d = (const Elf64_Dyn *)(const void *)elf_contents(e, section);
    for (size_t n = section->sh_size / sizeof *d; n > 0 && d->d_tag != DT_NULL; n--, d++)
        if (d->d_tag == tag && i-- == 0)
            return string_at((const char *)elf_contents(e, strings), strings->sh_size, d->d_un.d_val);
    return NULL;
}
