/* See pack_match.h. */
#include "cuda/image/pack_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/image/pack_names.h"

struct named {
    const char *name;
    struct cubin_limits limits;
    bool is_several; /* different names have this loose form */
};

/* Writes "S3_" as "S_", and a function's "L12" as "12". */
static const char *loose_form(struct arena *a, const char *name)
{
    char *loose = arena_strdup(a, name), *to = loose;
    for (const char *p = name; *p;) {
        size_t n = *p == 'S' ? 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
        if (n > 1 && p[n] == '_') {
            *to++ = *p;
            p += n;
        } else if (*p == 'L' && isdigit((unsigned char)p[1])) {
            p++;
        } else {
            *to++ = *p++;
        }
    }
    *to = 0;
    return loose;
}

static struct named *put(struct map *m, const char *key, const char *name, struct cubin_limits limits)
{
    struct named *n = map_get(m, str_of(key));
    if (!n) {
        n = arena_alloc(m->arena, sizeof *n);
        *n = (struct named){.name = name, .limits = limits};
        map_put(m, str_of(key), n);
    }
    n->is_several |= strcmp(n->name, name) != 0;
    return n;
}

void pack_library_add(struct pack_library *l, const char *name, const struct cubin_limits *limits)
{
    char *common = pack_name(name, NULL);
    if (!common)
        return;
    const char *kept = arena_strdup(l->arena, common);
    free(common);
    l->exact.arena = l->loose.arena = l->arena;
    put(&l->exact, kept, kept, *limits);
    put(&l->loose, loose_form(l->arena, kept), kept, *limits);
}

void pack_match(struct pack_writer *w, const struct pack_library *l)
{
    struct map missing = {.arena = w->arena};
    for (uint32_t i = 0; i < w->entries.n; i++) {
        struct pack_entry *e = &w->entries.at[i];
        if (e->symbol.kind == PACK_KERNEL && !map_get(&l->exact, str_of(e->name)))
            put(&missing, loose_form(w->arena, e->name), e->name,
                (struct cubin_limits){e->symbol.bytes, e->symbol.threads});
    }
    for (uint32_t i = 0; i < w->entries.n && missing.n; i++) {
        struct pack_entry *e = &w->entries.at[i];
        const char *loose = e->symbol.kind == PACK_KERNEL ? loose_form(w->arena, e->name) : "";
        const struct named *ours = map_get(&missing, str_of(loose)), *library_s = map_get(&l->loose, str_of(loose));
        if (!ours || strcmp(ours->name, e->name) != 0 || ours->is_several || !library_s || library_s->is_several ||
            map_get(&w->known, str_of(library_s->name)) || library_s->limits.parameter_bytes != e->symbol.bytes ||
            library_s->limits.threads != e->symbol.threads)
            continue;
        e->name = library_s->name;
    }
}
