/* Loaded before everything else by `heddle run`: makes programs that carry the CUDA runtime inside (nvcc's default) call
 * ours.
 *
 * Such a program has the functions of the runtime in its own symbol table. At the entry of each that libcudart.so.N has,
 * too, goes a jump to that one, before any constructor of the program runs; the embedded runtime never runs. The same is
 * done for shared objects: the dynamic linker calls an empty function for debuggers (r_brk of struct r_debug) when
 * objects have been mapped and nothing of them has run yet; a jump at its entry tells us.
 *
 * This object is initialised first (-z initfirst), before the C library even: no stdio before something has gone wrong.
 */
#include "base/elf.h"
#include "cuda/preload.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- names of the runtime's functions ---- */

struct name {
    const char *name;
    int first, last; /* major versions */
};

static const struct name names[] = {
#define NAME_plain(name, first, last)             {#name, first, last},
#define NAME_ptds(name, first, last)              {#name, first, last}, {#name "_ptds", first, last},
#define NAME_ptsz(name, first, last)              {#name, first, last}, {#name "_ptsz", first, last},
#define RUNTIME(name, first, last, stream, state) NAME_##stream(name, first, last)
#include "cuda/runtime.def"
#undef RUNTIME
};

enum { N_NAMES = sizeof names / sizeof names[0], N_BUCKETS = 1024 };

static const struct name *buckets[N_BUCKETS];

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

static void index_names(void)
{
    for (unsigned i = 0; i < N_NAMES; i++) {
        unsigned b = hash(names[i].name) % N_BUCKETS;
        while (buckets[b])
            b = (b + 1) % N_BUCKETS;
        buckets[b] = &names[i];
    }
}

static const struct name *find_name(const char *s)
{
    if (strncmp(s, "cuda", 4) != 0 && strncmp(s, "__cuda", 6) != 0)
        return NULL;
    for (unsigned b = hash(s) % N_BUCKETS; buckets[b]; b = (b + 1) % N_BUCKETS)
        if (strcmp(buckets[b]->name, s) == 0)
            return buckets[b];
    return NULL;
}

/* ---- an object that carries a runtime ---- */

/* The runtime's version shows in what it has: cudaGetDeviceProperties_v2 is CUDA 12's alone, __cudaGetKernel came with it. */
static int major_of(const struct elf_symbols *symbols)
{
    bool kernel = false;
    for (size_t i = 0; i < symbols->n; i++) {
        const char *s = elf_symbol_name(symbols, i);
        if (symbols->at[i].st_shndx == SHN_UNDEF)
            continue;
        if (strcmp(s, "cudaGetDeviceProperties_v2") == 0)
            return 12;
        kernel |= strcmp(s, "__cudaGetKernel") == 0;
    }
    return kernel ? 13 : 11;
}

static bool is_function(const Elf64_Sym *s)
{
    return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_size >= PATCH_BYTES;
}

static bool has_runtime(const struct elf_symbols *symbols)
{
    for (size_t i = 0; i < symbols->n; i++)
        if (is_function(&symbols->at[i]) && strcmp(elf_symbol_name(symbols, i), "__cudaRegisterFatBinary") == 0)
            return true;
    return false;
}

static void replace(const struct elf_symbols *symbols, uintptr_t base, const char *path)
{
    int major = major_of(symbols);
    uintptr_t least = UINTPTR_MAX, end = 0;
    size_t n = 0;
    for (size_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *s = &symbols->at[i];
        if (!is_function(s) || !find_name(elf_symbol_name(symbols, i)))
            continue;
        least = s->st_value < least ? s->st_value : least;
        end = s->st_value + s->st_size > end ? s->st_value + s->st_size : end;
        n++;
    }
    struct patches *p = patches_begin(base + least, base + end, n, major);
    if (!p) {
        fprintf(stderr, "heddle: %s: no room for jumps out of the CUDA runtime inside\n", path);
        return;
    }
    for (size_t i = 0; i < symbols->n; i++) {
        const Elf64_Sym *s = &symbols->at[i];
        const struct name *name = is_function(s) ? find_name(elf_symbol_name(symbols, i)) : NULL;
        if (name && name->first <= major && major <= name->last)
            patches_add(p, base + s->st_value, name->name);
    }
    patches_end(p);
}

/* Where the object carries a runtime, replaces it. */
static void examine(const char *path, uintptr_t base)
{
    struct elf e;
    struct elf_symbols symbols;
    if (!elf_open(&e, path))
        return;
    if (elf_section(&e, ".nvFatBinSegment")) {
        if ((elf_symbols(&e, SHT_SYMTAB, &symbols) || elf_symbols(&e, SHT_DYNSYM, &symbols)) && has_runtime(&symbols))
            replace(&symbols, base, path);
        else if (elf_is_stripped_of(&e, "__cudaRegisterFatBinary"))
            fprintf(stderr,
                    "heddle: %s has the CUDA runtime inside and has been stripped: its functions cannot be found.\n"
                    "heddle: link it with `nvcc -cudart shared`, or do not strip it, or build it with `heddle cc`\n",
                    path);
    }
    elf_close(&e);
}

/* ---- objects that come and go ---- */

enum { MAX_SEEN = 4096 };

static struct seen {
    const struct link_map *map;
    const void *dynamic;
    uintptr_t base;
} seen[MAX_SEEN];
static size_t n_seen;

static bool same(const struct seen *s, const struct link_map *m)
{
    return s->map == m && s->dynamic == m->l_ld && s->base == m->l_addr;
}

/* The program's own file, which the list does not name. */
static const char *own_path(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? path : "/proc/self/exe";
}

/* Examines what is new in the list of objects, and forgets what is gone. */
static void look(const struct link_map *first)
{
    size_t kept = 0;
    for (size_t i = 0; i < n_seen; i++) {
        const struct link_map *m = first;
        while (m && !same(&seen[i], m))
            m = m->l_next;
        if (m)
            seen[kept++] = seen[i];
    }
    n_seen = kept;
    for (const struct link_map *m = first; m; m = m->l_next) {
        size_t i = 0;
        while (i < n_seen && !same(&seen[i], m))
            i++;
        if (i < n_seen || n_seen == MAX_SEEN)
            continue;
        seen[n_seen++] = (struct seen){m, m->l_ld, m->l_addr};
        examine(m == first && !m->l_name[0] ? own_path() : m->l_name, m->l_addr);
    }
}

/* In the place of the dynamic linker's empty function. */
static void objects_changed(void)
{
    if (_r_debug.r_state == RT_CONSISTENT)
        look(_r_debug.r_map);
}

__attribute__((constructor)) static void start(void)
{
    index_names();
    look(_r_debug.r_map);
    patch_empty_function((uintptr_t)_r_debug.r_brk, objects_changed);
}
