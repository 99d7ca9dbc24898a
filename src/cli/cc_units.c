/* Device units: what an object of -rdc=true, or a member of a library of such objects, brings to the link of device code.
 *
 * Each calls a function of its own at its start, __cudaRegisterLinkedBinary_ID, which the linker of device code defines, and has
 * its fat binary in a wrapper, __fatbinwrap_ID. As with nvlink, the unit of an object takes part, and a member of a library where it
 * defines what the others need: its PTX says both. See cc.h.
 */
#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/map.h"
#include "cli/cc.h"
#include "cuda/object.h"

static const char prefix[] = "__cudaRegisterLinkedBinary_";

/* ---- what PTX defines and needs ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* The first word of a declaration that is neither a directive, nor a number, nor in parentheses. */
static struct str declared(struct str line)
{
    const char *p = line.p, *end = line.p + line.n;
    int depth = 0;
    while (p < end) {
        const char *start = p;
        while (p < end && (is_name(*p) || *p == '.'))
            p++;
        if (p > start && !depth && *start != '.' && !isdigit((unsigned char)*start))
            return (struct str){start, (size_t)(p - start)};
        if (p == start) {
            depth += (*p == '(') - (*p == ')');
            p++;
        }
    }
    return (struct str){"", 0};
}

static void read_symbols(struct cc_unit *unit, struct str ptx, struct arena *arena)
{
    for (const char *p = ptx.p, *end = ptx.p + ptx.n, *next; p < end; p = next) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        next = stop ? stop + 1 : end;
        struct str line = {p, (size_t)(next - p)};
        bool needs = str_starts(line, ".extern ");
        if (!needs && !str_starts(line, ".visible ") && !str_starts(line, ".weak "))
            continue;
        struct str name = declared(line);
        if (name.n)
            *VEC_PUSH(arena, needs ? &unit->needs : &unit->defines) = arena_strndup(arena, name.p, name.n);
    }
}

/* ---- objects ---- */

struct reading {
    struct cc_units *units;
    struct arena *arena;
    bool in_library, no_memory;
};

/* Adds the unit of an object in memory, if it has one; notes the functions for others that it defines. */
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
    struct image image;
    if (id && object_read(copy, bytes, UINT_MAX, &image) == IMAGE_OK) {
        struct cc_unit *unit = VEC_PUSH(r->arena, &r->units->all);
        *unit = (struct cc_unit){.id = id, .wanted = !r->in_library};
        for (size_t i = 0; i < image.n; i++)
            read_symbols(unit, (struct str){image.texts[i].text, image.texts[i].bytes}, r->arena);
        image_free(&image);
    }
    free(copy);
    return true;
}

/* ---- which of them take part ---- */

static void note(struct map *defined, struct map *needed, const struct cc_unit *unit)
{
    for (uint32_t i = 0; i < unit->defines.n; i++)
        map_put(defined, str_of(unit->defines.at[i]), (void *)unit);
    for (uint32_t i = 0; i < unit->needs.n; i++)
        map_put(needed, str_of(unit->needs.at[i]), (void *)unit);
}

static bool is_wanted(const struct map *defined, const struct map *needed, const struct cc_unit *unit)
{
    for (uint32_t i = 0; i < unit->defines.n; i++) {
        struct str name = str_of(unit->defines.at[i]);
        if (map_get(needed, name) && !map_get(defined, name))
            return true;
    }
    return false;
}

/* Members of libraries, until none is missing that another one has. */
static void choose(struct cc_units *units, struct arena *arena)
{
    struct map defined, needed;
    map_init(&defined, arena);
    map_init(&needed, arena);
    for (uint32_t i = 0; i < units->all.n; i++)
        if (units->all.at[i].wanted)
            note(&defined, &needed, &units->all.at[i]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < units->all.n; i++) {
            struct cc_unit *unit = &units->all.at[i];
            if (unit->wanted || !is_wanted(&defined, &needed, unit))
                continue;
            unit->wanted = more = true;
            note(&defined, &needed, unit);
        }
    }
}

/* A unit that another link of device code has taken up is none of ours; of several with one name, the first is. */
static void leave_out(struct cc_units *units, struct arena *arena)
{
    struct map gone;
    uint32_t n = 0;
    map_init(&gone, arena);
    for (uint32_t i = 0; i < units->linked.n; i++)
        map_put(&gone, str_of(units->linked.at[i]), units);
    for (uint32_t i = 0; i < units->all.n; i++)
        if (!map_put(&gone, str_of(units->all.at[i].id), units))
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
        r.in_library = is_library(file.bytes, file.n);
        if (!r.in_library)
            read_object(&r, file.bytes, file.n, false);
        else if (!library_members(file.bytes, file.n, read_object, &r))
            error = arena_printf(arena, "%s: a member of the library is longer than the library", files->at[i]);
        free(file.bytes);
        if (error || r.no_memory)
            return error ? error : "out of memory";
    }
    leave_out(units, arena);
    choose(units, arena);
    return NULL;
}
