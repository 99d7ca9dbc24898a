/* A loader for the compiler's output: one relocatable object whose functions call only each other,
 * the C library's memory functions, and functions that are passed to them. Sections are laid out
 * consecutively, relocations applied (relocation.h), and the result made executable. It does not
 * need LLVM, so that cached code runs without it. The object is validated first: a damaged one is
 * refused. (Code that passes validation can do anything: code_cache.c controls who may write the
 * cache.)
 */
#include "jit/host/elf_loader.h"

#include "base/checked.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __aarch64__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#endif

enum { MAX_STUBS = 64, MAX_ALIGN = 4096, MAX_BYTES = 1 << 30 };

struct loader {
    const uint8_t *elf;
    size_t bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *strings;
    size_t strings_bytes;
    uint64_t *at; /* by section: offset in memory, or 0 */
    uint8_t *memory;
    size_t size, n_stubs, first_stub;
    const struct relocation_cpu *cpu;
    char *error; /* RELOCATION_ERROR_BYTES, or NULL */
};

static bool fail(struct loader *l, const char *error)
{
    if (l->error)
        snprintf(l->error, RELOCATION_ERROR_BYTES, "%s", error);
    return false;
}

static bool inside(const struct loader *l, uint64_t offset, uint64_t bytes)
{
    return offset <= l->bytes && bytes <= l->bytes - offset;
}

static bool is_aligned(uint64_t offset)
{
    return offset % _Alignof(Elf64_Sym) == 0;
}

/* Alignment: the object is at the start of an allocation, so aligned
 * offsets give aligned records. */
static bool has_records(const Elf64_Shdr *s)
{
    return s->sh_type == SHT_SYMTAB || s->sh_type == SHT_RELA;
}

static bool take_symbols(struct loader *l, const Elf64_Shdr *s)
{
    const Elf64_Shdr *strings = s->sh_link < l->header->e_shnum ? &l->sections[s->sh_link] : NULL;
    if (!strings || strings->sh_type != SHT_STRTAB || !inside(l, strings->sh_offset, strings->sh_size))
        return fail(l, "the object has symbols without names");
    l->symbols = (const Elf64_Sym *)(l->elf + s->sh_offset);
    l->n_symbols = s->sh_size / sizeof(Elf64_Sym);
    l->strings = (const char *)(l->elf + strings->sh_offset);
    l->strings_bytes = strings->sh_size;
    return true;
}

static bool read_header(struct loader *l)
{
    l->header = (const Elf64_Ehdr *)l->elf;
    if (l->bytes < sizeof *l->header || memcmp(l->header->e_ident, ELFMAG, SELFMAG) != 0 ||
        l->header->e_type != ET_REL || l->header->e_shentsize != sizeof(Elf64_Shdr) ||
        !is_aligned(l->header->e_shoff) ||
        !inside(l, l->header->e_shoff, (uint64_t)l->header->e_shnum * sizeof(Elf64_Shdr)))
        return fail(l, "not a relocatable ELF object");
    l->cpu = relocation_cpu(l->header->e_machine);
    if (!l->cpu || l->cpu != relocation_host())
        return fail(l, "the object is for another kind of CPU");
    l->sections = (const Elf64_Shdr *)(l->elf + l->header->e_shoff);
    for (unsigned i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_NOBITS && !inside(l, s->sh_offset, s->sh_size))
            return fail(l, "a section lies outside of the object");
        if (has_records(s) && !is_aligned(s->sh_offset))
            return fail(l, "a section is not aligned");
        if (s->sh_type == SHT_SYMTAB && !take_symbols(l, s))
            return false;
    }
    return l->symbols && l->strings_bytes && !l->strings[l->strings_bytes - 1] ? true
                                                                               : fail(l, "the object has no symbols");
}

static bool is_needed(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && s->sh_type == SHT_PROGBITS;
}

static bool lay_out(struct loader *l)
{
    size_t at = 64;
    for (unsigned i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!is_needed(s))
            continue;
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1, from;
        if (align > MAX_ALIGN || !range_align(at, align, &from) || !range_holds(0, MAX_BYTES, from, from, s->sh_size))
            return fail(l, "a section is too large, or its alignment is invalid");
        l->at[i] = from;
        at = from + s->sh_size;
    }
    l->first_stub = (at + STUB_BYTES - 1) / STUB_BYTES * STUB_BYTES;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    l->size = (l->first_stub + MAX_STUBS * STUB_BYTES + page - 1) / page * page;
    l->memory = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->memory == MAP_FAILED)
        return fail(l, "no memory for code");
    for (unsigned i = 0; i < l->header->e_shnum; i++)
        if (l->at[i])
            memcpy(l->memory + l->at[i], l->elf + l->sections[i].sh_offset, l->sections[i].sh_size);
    return true;
}

/* A jump to a far function: the code, followed by the address. */
static uint64_t add_stub(struct loader *l, uint64_t target)
{
    uint8_t *stub = l->memory + l->first_stub + l->n_stubs++ * STUB_BYTES;
    memcpy(stub, l->cpu->jump, sizeof l->cpu->jump);
    memcpy(stub + sizeof l->cpu->jump, &target, sizeof target);
    return (uint64_t)(uintptr_t)stub;
}

/* Functions that the code generator may call by itself. */
static void *find_outside(const char *name)
{
    static const char *const allowed[] = {"memcpy",     "memset", "memmove", "fma",       "fmaf",       "floor",
                                          "floorf",     "ceil",   "ceilf",   "trunc",     "truncf",     "rint",
                                          "rintf",      "fmod",   "fmodf",   "nearbyint", "nearbyintf", "roundeven",
                                          "roundevenf", "sqrt",   "sqrtf"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if (strcmp(name, allowed[i]) == 0)
            return dlsym(RTLD_DEFAULT, name);
    return NULL;
}

/* Is a symbol in a section that was laid out, with this many bytes behind it? */
static bool is_in_section(const struct loader *l, const Elf64_Sym *s, uint64_t bytes)
{
    return s->st_shndx < l->header->e_shnum && l->at[s->st_shndx] &&
           range_holds(0, l->sections[s->st_shndx].sh_size, s->st_value, s->st_value, bytes);
}

static bool symbol_value(struct loader *l, size_t index, uint64_t *value)
{
    if (index >= l->n_symbols)
        return fail(l, "a relocation names no symbol");
    const Elf64_Sym *s = &l->symbols[index];
    if (s->st_shndx == SHN_UNDEF) {
        void *p = s->st_name < l->strings_bytes ? find_outside(l->strings + s->st_name) : NULL;
        if (!p || l->n_stubs == MAX_STUBS)
            return fail(l, "the code needs a function that it may not call");
        *value = add_stub(l, (uint64_t)(uintptr_t)p);
        return true;
    }
    if (!is_in_section(l, s, 0))
        return fail(l, "a symbol lies in no section");
    *value = (uint64_t)(uintptr_t)l->memory + l->at[s->st_shndx] + s->st_value;
    return true;
}

static bool relocate(struct loader *l)
{
    for (unsigned i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_RELA || s->sh_info >= l->header->e_shnum || !l->at[s->sh_info])
            continue;
        const Elf64_Rela *r = (const Elf64_Rela *)(l->elf + s->sh_offset);
        uint64_t limit = l->sections[s->sh_info].sh_size;
        for (size_t k = 0; k < s->sh_size / sizeof *r; k++) {
            uint64_t value;
            int64_t farthest = (int64_t)l->size;
            if (r[k].r_offset > limit || !checked_is_within(checked(r[k].r_addend), -farthest, farthest))
                return fail(l, "a relocation lies outside of its section");
            uint8_t *place = l->memory + l->at[s->sh_info] + r[k].r_offset;
            if (!symbol_value(l, ELF64_R_SYM(r[k].r_info), &value))
                return false;
            const struct reference x = {.type = ELF64_R_TYPE(r[k].r_info),
                                        .place = place,
                                        .room = limit - r[k].r_offset,
                                        .at = (uintptr_t)place,
                                        .value = value + (uint64_t)r[k].r_addend};
            if (!relocation_apply(l->cpu, &x, l->error))
                return false;
        }
    }
    return true;
}

static const char prefix[] = "heddle.";

/* The name of a symbol that is a kernel's function, or NULL. */
static const char *function_name(const struct loader *l, const Elf64_Sym *s)
{
    bool good = ELF64_ST_TYPE(s->st_info) == STT_FUNC && is_in_section(l, s, 1) && s->st_name < l->strings_bytes &&
                strncmp(l->strings + s->st_name, prefix, sizeof prefix - 1) == 0;
    return good ? l->strings + s->st_name : NULL;
}

static void find_functions(const struct loader *l, compiled_fn **functions, uint32_t n)
{
    for (size_t i = 0; i < l->n_symbols; i++) {
        const Elf64_Sym *s = &l->symbols[i];
        const char *name = function_name(l, s);
        unsigned long number = name ? strtoul(name + sizeof prefix - 1, NULL, 10) : n;
        if (number < n)
            functions[number] = (compiled_fn *)(uintptr_t)(l->memory + l->at[s->st_shndx] + s->st_value);
    }
}

void loader_name_functions(const struct loaded_object *o, const uint8_t *elf, size_t bytes, FILE *map)
{
    struct loader l = {.elf = elf, .bytes = bytes, .at = o->sections};
    if (!read_header(&l))
        return;
    for (size_t i = 0; i < l.n_symbols; i++) {
        const Elf64_Sym *s = &l.symbols[i];
        const char *name = function_name(&l, s);
        if (name)
            fprintf(map, "%llx %llx %s\n",
                    (unsigned long long)((uintptr_t)o->at + o->sections[s->st_shndx] + s->st_value),
                    (unsigned long long)s->st_size, name);
    }
}

/* Makes new code visible: flushes instruction caches, and each core's prefetched instructions (on
 * x86-64 the hardware does both). */
static void announce(const struct loader *l)
{
    __builtin___clear_cache((char *)l->memory, (char *)l->memory + l->size);
#if defined __aarch64__
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
#endif
}

bool loader_load(struct loaded_object *o, const uint8_t *elf, size_t bytes, compiled_fn **functions, uint32_t n,
                 char error[LOADER_ERROR_BYTES])
{
    struct loader l = {.elf = elf, .bytes = bytes, .memory = MAP_FAILED, .error = error};
    bool ok = read_header(&l);
    l.at = ok ? calloc(l.header->e_shnum, sizeof *l.at) : NULL;
    ok = ok && (l.at || fail(&l, "no memory for code")) && lay_out(&l) && relocate(&l);
    if (ok)
        announce(&l);
    if (ok && mprotect(l.memory, l.size, PROT_READ | PROT_EXEC) != 0)
        ok = fail(&l, "the system does not allow executable memory");
    if (ok)
        find_functions(&l, functions, n);
    else if (l.memory != MAP_FAILED)
        munmap(l.memory, l.size);
    if (!ok)
        free(l.at);
    *o = ok ? (struct loaded_object){l.memory, l.size, l.at} : (struct loaded_object){0};
    return ok;
}

void loader_unload(struct loaded_object *o)
{
    if (o->at)
        munmap(o->at, o->bytes);
    free(o->sections);
    *o = (struct loaded_object){0};
}
