/* See pack_write.h. */
#include "cuda/image/pack_write.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cuda/image/pack_names.h"

/* Kernels of one file are similar, so blocks of many compress better. A launch reads one block. */
enum { BLOCK_BYTES = 1 << 20, LEVEL = 12 };

static bool end_block(struct pack_writer *w)
{
    if (!w->block_bytes)
        return true;
    size_t room = ZSTD_compressBound(w->block_bytes);
    char *packed = malloc(room);
    size_t n = packed ? ZSTD_compress(packed, room, w->block, w->block_bytes, LEVEL) : 0;
    if (packed && !ZSTD_isError(n)) {
        char *kept = arena_alloc(w->arena, n);
        memcpy(kept, packed, n);
        *VEC_PUSH(w->arena, &w->packed) = (struct str){kept, n};
        *VEC_PUSH(w->arena, &w->blocks) = (struct pack_block){w->packed_bytes, (uint32_t)n, (uint32_t)w->block_bytes};
        w->packed_bytes += n;
        w->block_bytes = 0;
    }
    free(packed);
    return w->block_bytes == 0;
}

static bool add_text(struct pack_writer *w, struct str text)
{
    if (text.n > PACK_MAX_BLOCK || (w->block_bytes + text.n > BLOCK_BYTES && !end_block(w)))
        return false;
    char *block = realloc(w->block, w->block_bytes + text.n + 1);
    if (!block)
        return false;
    w->block = block;
    memcpy(block + w->block_bytes, text.p, text.n);
    *VEC_PUSH(w->arena, &w->slices) = (struct pack_slice){w->blocks.n, (uint32_t)w->block_bytes, (uint32_t)text.n};
    w->block_bytes += text.n;
    w->ptx_bytes += text.n;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct pack_entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (int)x->symbol.kind - (int)y->symbol.kind;
}

/* Makes the entry of a symbol; false if memory is exhausted. */
static bool entry_of(struct pack_writer *w, const struct slice_symbol *s, struct str text, const char *file,
                     struct pack_entry *e)
{
    const char *literal = arena_strndup(w->arena, s->name.p, s->name.n);
    char *name = pack_name(literal, file);
    if (!name)
        return false;
    *e = (struct pack_entry){.name = arena_strdup(w->arena, name), .literal = literal};
    e->symbol = (struct pack_symbol){.kind = s->kind, .bytes = s->bytes, .threads = s->threads};
    e->hash = strchr(name, '@') ? str_hash(text) : 0;
    free(name);
    return true;
}

static bool is_same(const struct pack_entry *a, const struct pack_entry *b)
{
    return a->symbol.bytes == b->symbol.bytes && a->symbol.threads == b->symbol.threads && a->hash == b->hash;
}

static const struct pack_entry *known(const struct pack_writer *w, const struct pack_entry *e)
{
    uintptr_t number = (uintptr_t)map_get(&w->known, str_of(e->name));
    const struct pack_entry *found = number ? &w->entries.at[number - 1] : NULL;
    return found && found->symbol.kind == e->symbol.kind ? found : NULL;
}

bool pack_add(struct pack_writer *w, const struct slices *slices, const char *path)
{
    char *file = pack_file_name(path);
    bool good = file != NULL;
    w->known.arena = w->arena;
    for (uint32_t i = 0; good && i < slices->texts.n; i++) {
        uint32_t slice = w->slices.n;
        VEC(struct pack_entry) new = {0};
        bool is_new = false;
        for (uint32_t k = 0; good && k < slices->symbols.n; k++) {
            if (slices->symbols.at[k].slice != i)
                continue;
            struct pack_entry *e = VEC_PUSH(w->arena, &new);
            good = entry_of(w, &slices->symbols.at[k], slices->texts.at[i], file, e);
            const struct pack_entry *other = good ? known(w, e) : NULL;
            e->symbol.slice = slice;
            is_new = is_new || !other || !is_same(other, e);
        }
        if (!is_new || !good)
            continue;
        good = add_text(w, slices->texts.at[i]);
        for (uint32_t k = 0; good && k < new.n; k++) {
            *VEC_PUSH(w->arena, &w->entries) = new.at[k];
            if (!known(w, &new.at[k]))
                map_put(&w->known, str_of(new.at[k].name), (void *)(uintptr_t)w->entries.n);
        }
    }
    free(file);
    return good;
}

/* Of symbols with one name the first is kept. An internal name that stands for different code in
 * two files of one name, or for kernels with different parameters, is left out, because nobody
 * could tell which one a program means. */
static void drop_repeated(struct pack_writer *w)
{
    uint32_t n = 0;
    if (w->entries.n)
        qsort(w->entries.at, w->entries.n, sizeof *w->entries.at, by_name);
    for (uint32_t i = 0, next; i < w->entries.n; i = next) {
        struct pack_entry first = w->entries.at[i];
        bool same = true;
        for (next = i + 1; next < w->entries.n && by_name(&first, &w->entries.at[next]) == 0; next++)
            same = same && is_same(&first, &w->entries.at[next]);
        if (same)
            w->entries.at[n++] = first;
        else if (first.symbol.kind == PACK_KERNEL)
            *VEC_PUSH(w->arena, &w->left_out) = first.name;
    }
    w->entries.n = n;
}

struct output {
    char *bytes;
    size_t at;
};

static struct pack_part put(struct output *o, const void *from, size_t n, size_t each)
{
    struct pack_part part = {o->at, n};
    if (n)
        memcpy(o->bytes + o->at, from, n * each);
    o->at += n * each;
    return part;
}

/* Collects the names, each ended by a zero, and their offsets. */
static struct str gather_names(struct pack_writer *w, struct pack_symbol *symbols)
{
    size_t n = 1, at = 0;
    for (uint32_t i = 0; i < w->entries.n; i++)
        n += strlen(w->entries.at[i].name) + strlen(w->entries.at[i].literal) + 2;
    char *names = n <= UINT32_MAX ? arena_alloc(w->arena, n) : NULL;
    for (uint32_t i = 0; names && i < w->entries.n; i++) {
        const struct pack_entry *e = &w->entries.at[i];
        symbols[i] = e->symbol;
        symbols[i].name = (uint32_t)at;
        at += (size_t)(stpcpy(names + at, e->name) - (names + at)) + 1;
        bool same = strcmp(e->name, e->literal) == 0;
        symbols[i].literal = same ? symbols[i].name : (uint32_t)at;
        if (!same)
            at += (size_t)(stpcpy(names + at, e->literal) - (names + at)) + 1;
    }
    return (struct str){names, at + 1};
}

char *pack_finish(struct pack_writer *w, struct str facts, size_t *bytes)
{
    if (!end_block(w))
        return NULL;
    drop_repeated(w);
    struct pack_symbol *symbols = ARENA_ARRAY(w->arena, struct pack_symbol, w->entries.n);
    struct str names = gather_names(w, symbols);
    if (!names.p)
        return NULL;
    struct pack_header h = {.magic = PACK_MAGIC};
    *bytes = sizeof h + facts.n + w->entries.n * sizeof *symbols + w->slices.n * sizeof *w->slices.at +
             w->blocks.n * sizeof *w->blocks.at + names.n + w->packed_bytes;
    struct output o = {arena_alloc(w->arena, *bytes), sizeof h};
    h.bytes = *bytes;
    h.facts = put(&o, facts.p, facts.n, 1);
    h.symbols = put(&o, symbols, w->entries.n, sizeof *symbols);
    h.slices = put(&o, w->slices.at, w->slices.n, sizeof *w->slices.at);
    size_t first = o.at + w->blocks.n * sizeof *w->blocks.at + names.n;
    for (uint32_t i = 0; i < w->blocks.n; i++)
        w->blocks.at[i].at += first;
    h.blocks = put(&o, w->blocks.at, w->blocks.n, sizeof *w->blocks.at);
    h.names = put(&o, names.p, names.n, 1);
    for (uint32_t i = 0; i < w->packed.n; i++)
        put(&o, w->packed.at[i].p, w->packed.at[i].n, 1);
    memcpy(o.bytes, &h, sizeof h);
    return o.bytes;
}

void pack_writer_free(struct pack_writer *w)
{
    free(w->block);
}
