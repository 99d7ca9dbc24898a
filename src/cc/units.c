/* Device units: what an object of -rdc=true, or a member of a library of such objects, brings to
 * the link of device code.
 *
 * Each calls a function of its own at its start, __cudaRegisterLinkedBinary_ID, which the linker of
 * device code defines, and has its fat binary in a wrapper, __fatbinwrap_ID. As with nvlink, all
 * members of a library take part, whether somebody asks for them or not: a kernel that the host's
 * code launches may stand in one, and what it calls in another. See cc.h.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/map.h"
#include "cc/cc.h"
#include "cuda/image/object.h"
#include "files/file.h"

static const char prefix[] = "__cudaRegisterLinkedBinary_";

/* ---- objects ---- */

struct reading {
    struct cc_units *units;
    struct arena *arena;
    bool no_memory;
};

/* Adds the unit of an object in memory, if it has one; notes the functions for others that it
 * defines. The device runtime's own objects have none that Heddle needs. */
static bool read_object(void *to, const void *data, size_t bytes, bool is_device_runtime)
{
    struct reading *r = to;
    struct elf_symbols symbols;
    struct elf e;
    void *copy = malloc(bytes + 1); /* members stand at odd addresses */
    const char *id = NULL;
    if (!copy)
        return !(r->no_memory = true);
    memcpy(copy, data, bytes);
    bool has_symbols = !is_device_runtime && elf_view(&e, copy, bytes) && e.header->e_type == ET_REL &&
                       elf_symbols(&e, SHT_SYMTAB, &symbols);
    for (size_t i = 0; has_symbols && i < symbols.n; i++) {
        const char *name = elf_symbol_name(&symbols, i);
        if (strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *own = arena_strdup(r->arena, name + sizeof prefix - 1);
        if (symbols.at[i].st_shndx != SHN_UNDEF)
            *VEC_PUSH(r->arena, &r->units->linked) = own;
        else
            id = own;
    }
    if (id && id[strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")])
        id = NULL; /* a symbol that C cannot define: nothing of it gets into a source */
    if (id)
        *VEC_PUSH(r->arena, &r->units->all) = id;
    free(copy);
    return true;
}

/* A unit that another link of device code has taken up is none of ours; of several with one name,
 * the first is. */
static void leave_out(struct cc_units *units, struct arena *arena)
{
    struct map gone;
    uint32_t n = 0;
    map_init(&gone, arena);
    for (uint32_t i = 0; i < units->linked.n; i++)
        map_put(&gone, str_of(units->linked.at[i]), units);
    for (uint32_t i = 0; i < units->all.n; i++)
        if (!map_put(&gone, str_of(units->all.at[i]), units))
            units->all.at[n++] = units->all.at[i];
    units->all.n = n;
}

const char *cc_find_library(const cc_words *folders, const char *name, struct arena *arena)
{
    for (uint32_t i = 0; i < folders->n; i++) {
        const char *base = arena_printf(arena, "%s/lib%s", folders->at[i], name);
        const char *library = arena_printf(arena, "%s.a", base);
        if (access(arena_printf(arena, "%s.so", base), R_OK) == 0)
            return NULL;
        if (access(library, R_OK) == 0)
            return library;
    }
    return NULL;
}

const char *cc_find_units(const cc_words *files, struct cc_units *units, struct arena *arena)
{
    for (uint32_t i = 0; i < files->n; i++) {
        struct file_bytes file;
        struct reading r = {.units = units, .arena = arena};
        const char *error = file_read(arena, files->at[i], 0, &file);
        if (error)
            return error;
        if (!is_library(file.bytes, file.n))
            read_object(&r, file.bytes, file.n, false);
        else if (!library_members(file.bytes, file.n, read_object, &r))
            error = arena_printf(arena, "%s: the library is damaged: one of its members is longer than the library",
                                 files->at[i]);
        free(file.bytes);
        if (error || r.no_memory)
            return error ? error : "out of memory";
    }
    leave_out(units, arena);
    return NULL;
}
