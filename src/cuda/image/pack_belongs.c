/* See pack_belongs.h. */
#include "cuda/image/pack_belongs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "cuda/image/fatbin.h"

enum { MAX_BUILD_ID = 64 };

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The build ID as hexadecimal digits; "" if there is none. Returns false if the file is no ELF
   file. */
static bool build_id_of(const char *path, char text[2 * MAX_BUILD_ID + 1])
{
    struct elf e;
    Elf64_Nhdr n;
    *text = 0;
    if (!elf_open(&e, path))
        return false;
    const Elf64_Shdr *s = elf_section(&e, ".note.gnu.build-id");
    const unsigned char *at = s && s->sh_size > sizeof n ? elf_contents(&e, s) : NULL;
    if (at) {
        memcpy(&n, at, sizeof n);
        size_t name = ((size_t)n.n_namesz + 3) / 4 * 4;
        if (n.n_descsz <= MAX_BUILD_ID && name <= s->sh_size - sizeof n && n.n_descsz <= s->sh_size - sizeof n - name)
            for (size_t i = 0; i < n.n_descsz; i++)
                snprintf(text + 2 * i, 3, "%02x", at[sizeof n + name + i]);
    }
    elf_close(&e);
    return true;
}

char *pack_object(const char *path)
{
    char id[2 * MAX_BUILD_ID + 1], *value = NULL;
    if (build_id_of(path, id) && asprintf(&value, "%s%s%s", name_of(path), *id ? " " : "", id) < 0)
        value = NULL;
    return value;
}

/* The value of the fact for an object of this name, or NULL. */
static const char *fact_of_object(const struct pack *p, const char *name)
{
    size_t n = strlen(name);
    const char *value;
    for (unsigned i = 0; (value = pack_fact(p, "object", i)); i++)
        if (strncmp(value, name, n) == 0 && (value[n] == 0 || value[n] == ' '))
            return value;
    return NULL;
}

bool pack_is_told_apart(const struct pack *p)
{
    const char *value = pack_fact(p, "object", 0);
    for (unsigned i = 0; value; value = pack_fact(p, "object", ++i))
        if (!strchr(value, ' ') && !(pack_fact(p, "beside", 0) && pack_fact(p, "says", 0)))
            return false;
    return pack_fact(p, "object", 0) != NULL;
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\r' || at[n] == 0))
            return true;
    return false;
}

/* The first required line that the file beside the object lacks; NULL if it has all. */
static const char *unsaid(const struct pack *p, const char *path, char *file, size_t size)
{
    const char *beside = pack_fact(p, "beside", 0), *line = NULL;
    size_t bytes;
    if (!beside)
        return NULL;
    snprintf(file, size, "%.*s%s", (int)(name_of(path) - path), path, beside);
    char *text = image_file(file, &bytes);
    unsigned i = 0;
    while ((line = pack_fact(p, "says", i)) && text && has_line(text, line))
        i++;
    free(text);
    return line;
}

enum belongs pack_belongs(const struct pack *p, const char *path, char *why, size_t size)
{
    char id[2 * MAX_BUILD_ID + 1], file[4096];
    const char *object = fact_of_object(p, name_of(path)), *library = pack_fact(p, "library", 0),
               *version = pack_fact(p, "version", 0);
    if (!object)
        return BELONGS_NOT;
    const char *wanted = strchr(object, ' '), *line = unsaid(p, path, file, sizeof file);
    bool read = build_id_of(path, id), same = !wanted || (read && strcmp(wanted + 1, id) == 0);
    if (same && !line && pack_is_told_apart(p))
        return BELONGS;
    int at = snprintf(why, size, "the pack %s belongs to %s %s, but ", pack_path(p), library ? library : "a library",
                      version ? version : "of no version");
    size_t room = at > 0 && (size_t)at < size ? size - (size_t)at : 0;
    char *rest = why + size - room;
    if (line)
        snprintf(rest, room, "%s does not say `%s`", file, line);
    else if (!same)
        snprintf(rest, room, "%s is of another build (%s, not %s)", path, read && *id ? id : "with no build ID",
                 wanted + 1);
    else
        snprintf(rest, room, "does not say which library it belongs to, so Heddle cannot tell whether it fits");
    return BELONGS_NEARLY;
}
