/* The definitions in a file of events, and answers from them; see replaying.h. */
#include "record/replaying.h"

#include <stdlib.h>

enum { MOST_SITES = 1 << 24 };

#define AT(r, list, number, what)                                                                                      \
    ((number) < (r)->list.n ? &(r)->list.at[number]                                                                    \
                            : (record_fail((r)->reader, "there is no " what " %u", (unsigned)(number)), NULL))

static const char *keep_text(struct replay *r, struct str s)
{
    return arena_strndup(&r->arena, s.p ? s.p : "", s.n);
}

static struct str keep_str(struct replay *r, struct str s)
{
    return (struct str){keep_text(r, s), s.n};
}

/* Numbers must be consecutive. */
static bool is_next(struct replay *r, uint32_t id, uint32_t n, const char *what)
{
    if (id != n)
        record_fail(r->reader, "%s %u, but %s %u is the next", what, id, what, n);
    return id == n;
}

static void add_source(struct replay *r, const struct record *x)
{
    if (is_next(r, x->source.id, r->sources.n, "source"))
        *VEC_PUSH(&r->arena, &r->sources) =
            source_new(&r->arena, keep_text(r, x->source.name), keep_str(r, x->source.text));
}

static void add_line(struct replay *r, const struct record *x)
{
    uint32_t n = x->line.files.n;
    if (!is_next(r, x->line.id, r->lines.n, "line"))
        return;
    if (!n || x->line.lines.n != n || x->line.shown >= n) {
        record_fail(r->reader, "`files` and `lines` must have the same length, and `shown` must be an index into them");
        return;
    }
    struct cuda_line *chain = ARENA_ARRAY(&r->arena, struct cuda_line, n);
    for (uint32_t i = 0; i < n; i++) {
        const char **file = AT(r, files, x->line.files.at[i], "file");
        if (!file)
            return;
        chain[i] = (struct cuda_line){*file, (uint32_t)x->line.lines.at[i]};
    }
    struct cuda_place *p = ARENA_NEW(&r->arena, struct cuda_place);
    *p = (struct cuda_place){.file = chain[x->line.shown].file,
                             .line = chain[x->line.shown].line,
                             .chain = n > 1 ? chain : NULL,
                             .n_chain = n > 1 ? n : 0,
                             .shown = x->line.shown};
    *VEC_PUSH(&r->arena, &r->lines) = p;
}

static void add_loc(struct replay *r, const struct record *x)
{
    const struct ptx_loc **at = x->loc.at ? AT(r, locs, x->loc.at - 1, "loc") : NULL;
    if (!is_next(r, x->loc.id, r->locs.n, "loc") || (x->loc.at && !at))
        return;
    struct ptx_loc *l = ARENA_NEW(&r->arena, struct ptx_loc);
    *l = (struct ptx_loc){.file = x->loc.file,
                          .line = x->loc.line,
                          .column = x->loc.column,
                          .inlined = x->loc.inlined,
                          .at_file = x->loc.at_file,
                          .at_line = x->loc.at_line,
                          .at_column = x->loc.at_column,
                          .at = at ? *at : NULL};
    *VEC_PUSH(&r->arena, &r->locs) = l;
}

static void add_kernel(struct replay *r, const struct record *x)
{
    uint32_t n = x->kernel.sites;
    if (!is_next(r, x->kernel.id, r->kernels.n, "kernel"))
        return;
    if (n > MOST_SITES) {
        record_fail(r->reader, "kernel %u has %u sites; at most %u are allowed", (uint32_t)x->kernel.id, n,
                    (uint32_t)MOST_SITES);
        return;
    }
    struct replay_kernel *k = ARENA_NEW(&r->arena, struct replay_kernel);
    k->sites = ARENA_ARRAY(&r->arena, struct site, n + 1);
    k->is_described = ARENA_ARRAY(&r->arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++)
        k->sites[i].number = i;
    k->table = (struct site_table){.kernel = keep_str(r, x->kernel.name),
                                   .at = k->sites,
                                   .n = n,
                                   .static_shared_bytes = x->kernel.static_shared_bytes,
                                   .clustered = x->kernel.clustered,
                                   .has_async = x->kernel.has_async};
    *VEC_PUSH(&r->arena, &r->kernels) = k;
}

static void add_variable(struct replay *r, const struct record *x)
{
    struct replay_kernel **k = AT(r, kernels, x->variable.kernel, "kernel");
    if (!k)
        return;
    *VEC_PUSH(&r->arena, &(*k)->variables) =
        (struct site_variable){keep_str(r, x->variable.name), x->variable.at, x->variable.bytes};
    (*k)->table.shared = (*k)->variables.at;
    (*k)->table.n_shared = (*k)->variables.n;
}

/* Is the site one that detectors can rely on for accesses? */
static bool is_possible(const struct site *s)
{
    const struct mem_access *m = &s->access;
    bool sized = m->bytes && m->bytes <= 16 && (m->bytes & (m->bytes - 1)) == 0 && m->n && m->n <= 8;
    return !s->accesses || (sized && m->order <= ORDER_SC && m->type < TYPE_COUNT && m->atom < ATOM_COUNT);
}

static void add_site(struct replay *r, const struct record *x)
{
    struct replay_kernel **k = AT(r, kernels, x->site.kernel, "kernel");
    const struct source **source = x->site.source ? AT(r, sources, x->site.source - 1, "source") : NULL;
    const struct cuda_place **line = x->site.line ? AT(r, lines, x->site.line - 1, "line") : NULL;
    const struct ptx_loc **loc = x->site.loc ? AT(r, locs, x->site.loc - 1, "loc") : NULL;
    if (!k || (x->site.source && !source) || (x->site.line && !line) || (x->site.loc && !loc))
        return;
    if (x->site.site.number >= (*k)->table.n || !is_possible(&x->site.site)) {
        record_fail(r->reader, "site %u of kernel %u: its number or its fields are not possible", x->site.site.number,
                    x->site.kernel);
        return;
    }
    struct site *s = &(*k)->sites[x->site.site.number];
    *s = x->site.site;
    s->instruction = (const void *)(uintptr_t)x->site.instruction;
    s->opcode = keep_str(r, s->opcode);
    s->loc = loc ? *loc : NULL;
    s->place = (struct place){.cuda = line ? *line : NULL};
    if (source && x->site.offset <= (*source)->text.n && x->site.length <= (*source)->text.n - x->site.offset)
        s->place = (struct place){*source, x->site.offset, x->site.length, s->place.cuda};
    (*k)->is_described[s->number] = true;
}

static void add_misuse(struct replay *r, const struct record *x)
{
    enum { MISUSES = 3 };
    struct replay_kernel **k = AT(r, kernels, x->misuse.kernel, "kernel");
    if (!k || x->misuse.site >= (*k)->table.n || x->misuse.what >= MISUSES) {
        record_fail(r->reader, "the site or the kind of this misuse does not exist");
        return;
    }
    *VEC_PUSH(&r->arena, &(*k)->misuses) =
        (struct code_misuse){x->misuse.function, x->misuse.block, x->misuse.what, &(*k)->sites[x->misuse.site]};
}

static const char *text_or_none(struct replay *r, struct str s)
{
    return s.n ? keep_text(r, s) : NULL;
}

static void add_frame(struct replay *r, const struct record *x)
{
    if (r->n_frames == r->frames_capacity) {
        uint32_t more = r->frames_capacity ? 2 * r->frames_capacity : 64;
        r->frames = arena_grow(&r->arena, r->frames, r->n_frames * sizeof *r->frames, more * sizeof *r->frames);
        r->frames_capacity = more;
    }
    r->frames[r->n_frames++] = (struct replay_frame){x->frames.place,
                                                     {.function = text_or_none(r, x->frames.function),
                                                      .file = text_or_none(r, x->frames.file),
                                                      .line = x->frames.line,
                                                      .object = text_or_none(r, x->frames.object),
                                                      .offset = x->frames.offset}};
}

static void add_answer(struct replay *r, const struct record *x)
{
    struct replay_answer *a = VEC_PUSH(&r->arena, &r->answers);
    *a = (struct replay_answer){.kind = x->answer.kind,
                                .position = x->answer.position,
                                .key = x->answer.key,
                                .value = x->answer.value,
                                .text = keep_text(r, x->answer.text)};
    a->list.n = x->answer.list.n;
    a->list.at = ARENA_ARRAY(&r->arena, uint64_t, a->list.n + 1);
    memcpy(a->list.at, x->answer.list.at, a->list.n * sizeof *a->list.at);
}

void replay_definition(struct replay *r, const struct record *x)
{
    switch (x->kind) {
    case RECORD_SOURCE: add_source(r, x); break;
    case RECORD_FILE:
        if (is_next(r, x->file.id, r->files.n, "file"))
            *VEC_PUSH(&r->arena, &r->files) = keep_text(r, x->file.name);
        break;
    case RECORD_LINE: add_line(r, x); break;
    case RECORD_LOC: add_loc(r, x); break;
    case RECORD_KERNEL: add_kernel(r, x); break;
    case RECORD_VARIABLE: add_variable(r, x); break;
    case RECORD_SITE: add_site(r, x); break;
    case RECORD_MISUSE: add_misuse(r, x); break;
    case RECORD_FRAMES: add_frame(r, x); break;
    case RECORD_ANSWER: add_answer(r, x); break;
    case RECORD_SUMMARY:
        r->program = text_or_none(r, x->summary.program);
        r->findings = keep_text(r, x->summary.findings);
        break;
    default: break;
    }
}

/* ---- what is asked ---- */

static int by_position(const void *a, const void *b)
{
    const struct replay_answer *x = a, *y = b;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Sorts answers and frames: the frames of one place follow each other. */
void replay_sort(struct replay *r)
{
    if (r->answers.n)
        qsort(r->answers.at, r->answers.n, sizeof *r->answers.at, by_position);
}

/* The first answer from a position on; the number of all if there is none. */
static uint32_t first_from(const struct replay *r, uint64_t position)
{
    uint32_t low = 0, high = r->answers.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->answers.at[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct replay_answer *replay_answer(const struct replay *r, enum answer_kind kind, uint64_t key)
{
    for (uint32_t i = first_from(r, r->position); i < r->answers.n && r->answers.at[i].position == r->position; i++)
        if (r->answers.at[i].kind == kind && r->answers.at[i].key == key)
            return &r->answers.at[i];
    return NULL;
}

static bool find(void *data, uint64_t address, struct mem_block *block)
{
    const struct replay_checker *c = data;
    uint32_t low = 0, high = c->memory.n;
    while (low < high) { /* binary search for the first range that begins behind it */
        uint32_t middle = low + (high - low) / 2;
        if (c->memory.at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct replay_memory *m = low ? &c->memory.at[low - 1] : NULL;
    if (!m || address - m->start >= m->bytes)
        return false;
    *block = (struct mem_block){.start = m->start, .size = m->bytes, .kind = m->kind, .name = m->name};
    return true;
}

/* The answer for this memory at this event, else at the next one, else at the last. */
static const char *buffer(void *data, const struct mem_block *block, struct arena *arena)
{
    const struct replay_checker *c = data;
    const struct replay *r = c->replay;
    const char *text = NULL;
    for (uint32_t i = first_from(r, r->position); i < r->answers.n && !text; i++)
        if (r->answers.at[i].kind == ANSWER_BUFFER && r->answers.at[i].key == block->start)
            text = r->answers.at[i].text;
    for (uint32_t i = first_from(r, r->position); i-- > 0 && !text;)
        if (r->answers.at[i].kind == ANSWER_BUFFER && r->answers.at[i].key == block->start)
            text = r->answers.at[i].text;
    return text ? text : block->name ? arena_printf(arena, " `%s`", block->name) : "";
}

static uint32_t number_of_kernel(const struct replay *r, const struct site *s)
{
    uint32_t i = 0;
    while (i < r->kernels.n &&
           !(s >= r->kernels.at[i]->sites && s < r->kernels.at[i]->sites + r->kernels.at[i]->table.n))
        i++;
    return i;
}

static bool behind(void *data, const struct site *barrier, uint32_t block)
{
    const struct replay *r = ((const struct replay_checker *)data)->replay;
    uint32_t kernel = number_of_kernel(r, barrier);
    for (uint32_t i = 0; i < r->answers.n; i++) {
        const struct replay_answer *a = &r->answers.at[i];
        if (a->kind == ANSWER_BEHIND && a->key == barrier->number && a->value == kernel)
            return block / 64 < a->list.n && a->list.at[block / 64] >> block % 64 & 1;
    }
    return false;
}

static bool misuse(void *data, const struct site_table *kernel, uint32_t i, struct code_misuse *m)
{
    /* a replay_kernel begins with its kernel */
    const struct replay_kernel *k = (const struct replay_kernel *)kernel;
    (void)data;
    if (i >= k->misuses.n)
        return false;
    *m = k->misuses.at[i];
    return true;
}

struct checker_world replay_world(struct replay_checker *c)
{
    return (struct checker_world){.data = c, .find = find, .buffer = buffer, .behind = behind, .misuse = misuse};
}

size_t replay_frames(void *data, const void *place, const hd_frame **frames)
{
    const struct replay *r = data;
    size_t n = 0;
    hd_frame *found = NULL;
    for (uint32_t i = 0; i < r->n_frames; i++)
        n += r->frames[i].place == (uintptr_t)place;
    found = n ? ARENA_ARRAY(&((struct replay *)data)->arena, hd_frame, n) : NULL;
    n = 0;
    for (uint32_t i = 0; found && i < r->n_frames; i++)
        if (r->frames[i].place == (uintptr_t)place)
            found[n++] = r->frames[i].frame;
    *frames = found;
    return n;
}
