/* Writes definitions before an event names them: sources, places, kernels, sites; and which memory
 * exists. See recording.h. */
#include "record/recording.h"

#include <stdlib.h>

#include "exec/machine.h"

unsigned recorder_number_of(const struct recorder *r, const struct checker *c)
{
    unsigned i = 0;
    while (i + 1 < r->n_checkers && r->checkers[i].checker != c)
        i++;
    return i;
}

/* ---- numbers ---- */

/* The number of a pointer; *is_new if it was given now. */
static uint32_t number_of(struct map *m, const void *p, uint32_t *n, bool *is_new)
{
    const void *pointer = p;
    uintptr_t known = (uintptr_t)map_get(m, (struct str){(const char *)&pointer, sizeof pointer});
    *is_new = !known;
    if (known)
        return (uint32_t)known - 1;
    const void **key = ARENA_NEW(m->arena, const void *);
    *key = p;
    map_put(m, (struct str){(const char *)key, sizeof *key}, (void *)(uintptr_t)++*n);
    return *n - 1;
}

static uint32_t source_of(struct recorder *r, const struct source *s)
{
    bool is_new;
    uint32_t id = number_of(&r->sources, s, &r->n_sources, &is_new);
    struct record x = {.kind = RECORD_SOURCE, .source = {.id = id, .name = str_of(s->name), .text = s->text}};
    if (is_new)
        record_write(r->file, &x);
    return id;
}

static uint32_t file_of(struct recorder *r, const char *name)
{
    uintptr_t known = (uintptr_t)map_get(&r->files, str_of(name));
    if (known)
        return (uint32_t)known - 1;
    struct record x = {.kind = RECORD_FILE, .file = {.id = r->n_files, .name = str_of(name)}};
    record_write(r->file, &x);
    map_put(&r->files, str_of(arena_strdup(&r->arena, name)), (void *)(uintptr_t)++r->n_files);
    return r->n_files - 1;
}

static uint32_t line_of(struct recorder *r, const struct cuda_place *p)
{
    enum { MOST = 64 };
    uint64_t files[MOST], lines[MOST];
    bool is_new;
    uint32_t id = number_of(&r->lines, p, &r->n_lines, &is_new), n = p->n_chain ? p->n_chain : 1;
    if (!is_new)
        return id;
    n = n < MOST ? n : MOST;
    for (uint32_t i = 0; i < n; i++) {
        files[i] = file_of(r, p->n_chain ? p->chain[i].file : p->file);
        lines[i] = p->n_chain ? p->chain[i].line : p->line;
    }
    struct record x = {
        .kind = RECORD_LINE,
        .line = {.id = id, .shown = p->n_chain ? p->shown : 0, .files = {files, n}, .lines = {lines, n}}};
    record_write(r->file, &x);
    return id;
}

static uint32_t loc_of(struct recorder *r, const struct ptx_loc *l)
{
    bool is_new;
    uint32_t at = l->at ? loc_of(r, l->at) + 1 : 0; /* recurses as deep as calls are inlined */
    uint32_t id = number_of(&r->locs, l, &r->n_locs, &is_new);
    struct record x = {.kind = RECORD_LOC,
                       .loc = {.id = id,
                               .file = l->file,
                               .line = l->line,
                               .column = l->column,
                               .at_file = l->at_file,
                               .at_line = l->at_line,
                               .at_column = l->at_column,
                               .at = at,
                               .inlined = l->inlined}};
    if (is_new)
        record_write(r->file, &x);
    return id;
}

/* ---- kernels ---- */

static void write_site(struct recorder *r, uint32_t kernel, const struct site *s)
{
    struct record x = {.kind = RECORD_SITE,
                       .site = {.kernel = kernel,
                                .source = s->place.source ? source_of(r, s->place.source) + 1 : 0,
                                .offset = s->place.offset,
                                .length = s->place.length,
                                .line = s->place.cuda ? line_of(r, s->place.cuda) + 1 : 0,
                                .loc = s->loc ? loc_of(r, s->loc) + 1 : 0,
                                .instruction = (uintptr_t)s->instruction,
                                .site = *s}};
    record_write(r->file, &x);
    r->kernels.at[kernel].written[s->number] = 1;
}

static void write_kernel(struct recorder *r, uint32_t id, const struct site_table *k)
{
    struct record x = {.kind = RECORD_KERNEL,
                       .kernel = {.id = id,
                                  .name = k->kernel,
                                  .sites = k->n,
                                  .static_shared_bytes = k->static_shared_bytes,
                                  .clustered = k->clustered,
                                  .has_async = k->has_async}};
    record_write(r->file, &x);
    for (uint32_t i = 0; i < k->n_shared; i++) {
        struct record v = {
            .kind = RECORD_VARIABLE,
            .variable = {.kernel = id, .at = k->shared[i].at, .bytes = k->shared[i].bytes, .name = k->shared[i].name}};
        record_write(r->file, &v);
    }
    for (uint32_t i = 0; i < k->n; i++)
        if (k->at[i].kind != SITE_OTHER)
            write_site(r, id, &k->at[i]);
}

static bool make_maps(struct recorder *r)
{
    struct map *const maps[] = {&r->sources, &r->files, &r->lines, &r->locs, &r->places};
    for (unsigned i = 0; i < sizeof maps / sizeof *maps && !r->has_maps; i++)
        map_init(maps[i], &r->arena);
    r->has_maps = true;
    return true;
}

/* If memory is exhausted, the file's end says that it is incomplete. */
__attribute__((noinline)) static void protected_write(struct recorder *r, uint32_t id, const struct site_table *k,
                                                      const struct site *s)
{
    jmp_buf no_memory;
    r->arena.on_oom = &no_memory;
    if (setjmp(no_memory)) {
        atomic_store(&r->no_memory, true);
    } else if (make_maps(r)) {
        if (s)
            write_site(r, id, s);
        else
            write_kernel(r, id, k);
    }
    r->arena.on_oom = NULL;
}

uint32_t recorder_kernel(struct recorder *r, const struct site_table *k)
{
    for (uint32_t i = r->kernels.n; i-- > 0;)
        if (r->kernels.at[i].table == k)
            return i;
    struct recorded_kernel *added = VEC_ADD(&r->kernels);
    uint8_t *written = added ? calloc(k->n + 1, 1) : NULL;
    if (!written) {
        r->kernels.n -= added != NULL;
        atomic_store(&r->no_memory, true);
        return 0;
    }
    *added = (struct recorded_kernel){k, written};
    uint32_t id = r->kernels.n - 1;
    protected_write(r, id, k, NULL);
    return id;
}

uint32_t recorder_site(struct recorder *r, const struct site_table *k, const struct site *s)
{
    uint32_t id = recorder_kernel(r, k);
    if (id < r->kernels.n && !r->kernels.at[id].written[s->number])
        protected_write(r, id, k, s);
    return s->number;
}

void recorder_name_site(struct recorder *r, const struct site *s, struct record *answer)
{
    for (uint32_t i = 0; i < r->kernels.n; i++) {
        const struct site_table *k = r->kernels.at[i].table;
        if (s >= k->at && s < k->at + k->n) {
            answer->answer.value = i;
            answer->answer.key = s->number;
        }
    }
}

/* ---- places of the host ---- */

__attribute__((noinline)) static bool is_new_place(struct recorder *r, const void *place)
{
    uint32_t n = r->host_places.n;
    bool is_new = false;
    jmp_buf no_memory;
    r->arena.on_oom = &no_memory;
    if (setjmp(no_memory) == 0 && make_maps(r))
        number_of(&r->places, place, &n, &is_new);
    r->arena.on_oom = NULL;
    return is_new;
}

void recorder_place(struct recorder *r, const void *place)
{
    if (!is_new_place(r, place))
        return;
    const void **p = VEC_ADD(&r->host_places);
    if (p)
        *p = place;
}

static struct str str_or_none(const char *s)
{
    return s ? str_of(s) : (struct str){0};
}

void recorder_write_frames(struct recorder *r)
{
    const hd_checker_options *o = r->n_checkers ? &r->checkers[0].options : NULL;
    for (uint32_t i = 0; o && o->frames && i < r->host_places.n; i++) {
        const hd_frame *frames = NULL;
        size_t n = o->frames(o->data, r->host_places.at[i], &frames);
        for (size_t k = 0; k < n; k++) {
            struct record x = {.kind = RECORD_FRAMES,
                               .frames = {.place = (uintptr_t)r->host_places.at[i],
                                          .function = str_or_none(frames[k].function),
                                          .file = str_or_none(frames[k].file),
                                          .object = str_or_none(frames[k].object),
                                          .line = frames[k].line,
                                          .offset = frames[k].offset}};
            record_write(r->file, &x);
        }
    }
}

/* ---- memory ---- */

struct memory_now {
    VEC(struct mem_block) at;
    bool no_memory;
};

static void add_block(const struct mem_block *b, void *data)
{
    struct memory_now *now = data;
    struct mem_block *to = VEC_ADD(&now->at);
    if (to)
        *to = *b;
    else
        now->no_memory = true;
}

static int by_address(const void *a, const void *b)
{
    const struct mem_block *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void write_memory(struct recorder *r, unsigned checker, uint64_t start, uint64_t bytes, uint32_t kind,
                         const char *name)
{
    struct record x = {
        .kind = RECORD_MEMORY,
        .memory = {.checker = checker, .mem = kind, .address = start, .bytes = bytes, .name = str_or_none(name)}};
    record_write(r->file, &x);
    r->n_events++;
}

/* Both lists are sorted by address: an entry of only one of them has ended, or begun. */
static void write_changes(struct recorder *r, unsigned checker, struct recorded_checker *c,
                          const struct memory_now *now)
{
    uint32_t i = 0, k = 0;
    while (i < c->n_known || k < now->at.n) {
        const struct known_memory *old = i < c->n_known ? &c->known[i] : NULL;
        const struct mem_block *b = k < now->at.n ? &now->at.at[k] : NULL;
        bool same = old && b && old->start == b->start;
        if (same && old->bytes == b->size && old->kind == (uint32_t)b->kind) {
            i++;
            k++;
        } else if (old && (!b || old->start <= b->start)) {
            write_memory(r, checker, old->start, 0, 0, NULL);
            i++;
        } else {
            write_memory(r, checker, b->start, b->size, b->kind, b->name);
            k++;
        }
    }
}

static void keep(struct recorder *r, struct recorded_checker *c, const struct memory_now *now)
{
    struct known_memory *known = malloc((now->at.n + 1) * sizeof *known);
    if (!known || now->no_memory) {
        atomic_store(&r->no_memory, true);
        free(known);
        return;
    }
    for (uint32_t i = 0; i < now->at.n; i++)
        known[i] = (struct known_memory){now->at.at[i].start, now->at.at[i].size, now->at.at[i].kind};
    free(c->known);
    c->known = known;
    c->n_known = now->at.n;
}

void recorder_look_at_memory(struct recorder *r)
{
    for (unsigned i = 0; i < r->n_checkers; i++) {
        struct recorded_checker *c = &r->checkers[i];
        struct mem *m = &c->machine->mem;
        uint64_t version = atomic_load(&m->version), allocated = atomic_load(&m->allocated_bytes);
        struct memory_now now = {0};
        if (c->known && version == c->version && allocated == c->allocated)
            continue;
        c->version = version;
        c->allocated = allocated;
        mem_for_each(m, add_block, &now);
        if (now.at.n)
            qsort(now.at.at, now.at.n, sizeof *now.at.at, by_address);
        write_changes(r, i, c, &now);
        keep(r, c, &now);
        free(now.at.at);
    }
}

void recorder_free_definitions(struct recorder *r)
{
    for (uint32_t i = 0; i < r->kernels.n; i++)
        free(r->kernels.at[i].written);
    for (unsigned i = 0; i < r->n_checkers; i++)
        free(r->checkers[i].known);
    free(r->kernels.at);
    free(r->host_places.at);
    arena_free(&r->arena);
}
