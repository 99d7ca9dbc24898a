/* What is said of a race; see races.h. */
#include "check/race/state.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "base/text.h"
#include "exec/machine.h"

/* Of what is no launch: "the host", "a copy in stream 3". */
static const char *task_words(const struct task_note *note, struct arena *arena)
{
    static const char *const words[] = {[TASK_COPY] = "a copy",          [TASK_FILL] = "a fill",
                                        [TASK_CALL] = "a host function", [TASK_GATE] = "a wait for a value",
                                        [TASK_ALLOC] = "an allocation",  [TASK_FREE] = "a free",
                                        [TASK_HOST] = "the host"};
    const char *word = note->kind < sizeof words / sizeof *words && words[note->kind] ? words[note->kind] : "a task";
    if (note->kind != TASK_HOST && note->stream)
        word = arena_printf(arena, "%s in stream %llu", word, (unsigned long long)note->stream);
    return word;
}

/* Which kernel's it is is said where the two are of different ones. */
static const char *thread_words(const struct race_side *s, const char *kernel, struct arena *arena)
{
    unsigned t = s->thread;
    const uint32_t *b = s->incarnation.block, *c = s->incarnation.ctaid;
    if (!s->kind->site)
        return task_words(s->kind->note, arena);
    const char *of = kernel ? arena_printf(arena, " of kernel `%s`", kernel) : "";
    return arena_printf(arena, "thread (%u,%u,%u) of block (%u,%u,%u)%s", t % b[0], t / b[0] % b[1], t / b[0] / b[1],
                        c[0], c[1], c[2], of);
}

static const char *scope_word(enum scope scope)
{
    static const char *const words[SCOPE_COUNT] = {".cta", ".cluster", ".gpu", ".sys"};
    return words[scope];
}

static bool is_kind(const struct access_kind *c, enum task_kind kind)
{
    return !c->site && c->note->kind == kind;
}

/* "reads", "updates by an atomic operation of scope .cta" */
static const char *access_words(const struct access_kind *c, struct arena *arena)
{
    if (c->atomic)
        return arena_printf(arena, "updates (atomically, scope %s)", scope_word(c->scope));
    const char *verb = is_kind(c, TASK_ALLOC)  ? "allocates"
                       : is_kind(c, TASK_FREE) ? "frees"
                       : c->writes             ? "writes"
                                               : "reads";
    return c->strong && c->site ? arena_printf(arena, "%s (strongly, scope %s)", verb, scope_word(c->scope)) : verb;
}

static const char *noun(const struct access_kind *c)
{
    return c->atomic ? "atomic update" : c->writes ? "write" : "read";
}

/* ---- the datum ---- */

static const char *element(const char *name, uint64_t at, uint64_t size, const struct access_kind *c,
                           struct arena *arena)
{
    uint64_t width = c->bytes;
    if (size > width && size % width == 0)
        return arena_printf(arena, "%s[%llu] (bytes %llu-%llu)", name, (unsigned long long)(at / width),
                            (unsigned long long)at, (unsigned long long)(at + width - 1));
    return arena_printf(arena, at || size > width ? "bytes %2$llu-%3$llu of %1$s" : "%1$s", name,
                        (unsigned long long)at, (unsigned long long)(at + width - 1));
}

static const char *shared_words(const struct site_table *k, uint64_t at, const struct access_kind *c,
                                struct arena *arena)
{
    for (uint32_t i = 0; i < k->n_shared; i++) {
        const struct site_variable *v = &k->shared[i];
        if (at - v->at < v->bytes)
            return arena_printf(
                arena, "shared variable %s",
                element(arena_printf(arena, "`%s`", demangle(v->name, arena)), at - v->at, v->bytes, c, arena));
    }
    uint64_t dynamic = at - ((k->static_shared_bytes + 15) & ~15u);
    return arena_printf(arena, "bytes %llu-%llu of dynamic shared memory", (unsigned long long)dynamic,
                        (unsigned long long)(dynamic + c->bytes - 1));
}

static const char *global_words(struct races *r, uint64_t at, const struct access_kind *c, struct arena *arena)
{
    struct mem_block b;
    if (!mem_find(&r->machine->mem, at, &b))
        return arena_printf(arena, "%u bytes at 0x%llx", c->bytes, (unsigned long long)at);
    const char *name = b.name ? arena_printf(arena, "`%s`", demangle(str_of(b.name), arena))
                              : arena_printf(arena, "a buffer of %llu bytes%s", (unsigned long long)b.size,
                                             fault_buffer(r->machine, &b, false, arena));
    return element(name, at - b.start, b.name ? b.size : 0, c, arena);
}

/* ---- why nothing orders them, and what would ---- */

static const char *work_words(const struct access_kind *c)
{
    return c->site                       ? "the launch"
           : c->note->kind == TASK_HOST  ? "the host"
           : c->note->kind == TASK_COPY  ? "the copy"
           : c->note->kind == TASK_FILL  ? "the fill"
           : c->note->kind == TASK_ALLOC ? "the allocation"
           : c->note->kind == TASK_FREE  ? "the free"
                                         : "the work";
}

static const char *why(enum race_reason reason, const struct race_side *a, const struct race_side *b,
                       struct arena *arena)
{
    switch (reason) {
    case RACE_ONE_INSTRUCTION: return "threads of a warp that write one place by one instruction are not ordered";
    case RACE_WARP: return "threads of a warp do not run in lockstep, and no __syncwarp() stands between the two";
    case RACE_BLOCK: return "no barrier that both threads pass stands between the two";
    case RACE_BLOCKS: return "nothing orders these two blocks of the launch";
    case RACE_LAUNCHES: return "nothing orders the two launches";
    case RACE_OVERLAP:
        return "the second launch may begin before the first has ended (programmatic stream serialization), and its "
               "thread has not waited for that";
    case RACE_HOST: return arena_printf(arena, "nothing orders %s and %s", work_words(a->kind), work_words(b->kind));
    case RACE_SCOPE: {
        const struct race_side *narrow = a->kind->scope < b->kind->scope ? a : b;
        return arena_printf(arena, "scope %s of the %s does not reach the other thread",
                            scope_word(narrow->kind->scope), noun(narrow->kind));
    }
    case RACE_MIXED: {
        const struct race_side *weak = a->kind->strong ? b : a;
        return arena_printf(arena, "the %s is a plain one, and nothing orders it with the other", noun(weak->kind));
    }
    case RACE_PARTLY:
        return arena_printf(arena, "both are strong, but of %u and %u bytes: they overlap in part", a->kind->bytes,
                            b->kind->bytes);
    case RACE_END: break;
    }
    return "nothing orders the two";
}

/* To who reads of them, the two are one line. */
static bool is_one_line(const struct race *f)
{
    return f->side[0].kind->place == f->side[1].kind->place ||
           (f->place[0].cuda && cuda_place_equal(f->place[0].cuda, f->place[1].cuda));
}

static const char *remedy(const struct race *f, const char *lines, struct arena *arena)
{
    const struct race_side *a = &f->side[0], *b = &f->side[1];
    bool same_block = memcmp(a->incarnation.ctaid, b->incarnation.ctaid, sizeof a->incarnation.ctaid) == 0;
    switch (f->reason) {
    case RACE_ONE_INSTRUCTION: return "let one thread write, or use an atomic operation";
    case RACE_WARP: return arena_printf(arena, "__syncwarp() %s, or an atomic operation", lines);
    case RACE_BLOCK:
        if (is_one_line(f) && a->kind->writes &&
            b->kind->writes) /* no barrier helps where each thread comes here once */
            return arena_printf(arena, "let one thread write, use an atomic operation, or __syncthreads() %s", lines);
        return arena_printf(arena, "__syncthreads() %s", lines);
    case RACE_BLOCKS:
        return "give each block its own data, use atomic operations, hand the data over with a release and an acquire "
               "(__threadfence() and a flag that is read and written atomically), or launch a second kernel";
    case RACE_LAUNCHES:
        return "put both into one stream, or let the second wait for an event that is recorded behind the first";
    case RACE_OVERLAP:
        return "let the second kernel call cudaGridDependencySynchronize() (griddepcontrol.wait) before the access, in "
               "this thread or before a barrier that this thread passes";
    case RACE_HOST:
        if (is_kind(a->kind, TASK_ALLOC) || is_kind(b->kind, TASK_ALLOC))
            return "use the memory in the stream that allocates it, or let the other stream wait for an event that is "
                   "recorded behind the allocation";
        if (is_kind(a->kind, TASK_FREE) || is_kind(b->kind, TASK_FREE))
            return "free the memory in the stream that uses it last, or let the stream that frees it wait for an event "
                   "that is recorded behind the use";
        if (!is_kind(a->kind, TASK_HOST) && !is_kind(b->kind, TASK_HOST))
            return "put both into one stream, or let the second wait for an event that is recorded behind the first "
                   "(cudaMemcpy() from pageable memory may return before the data is there, and streams made with "
                   "cudaStreamNonBlocking do not wait for it)";
        return "synchronise before the host's access: cudaDeviceSynchronize(), cudaStreamSynchronize(), an event";
    case RACE_SCOPE: return "use the operation without _block, or cuda::thread_scope_device";
    case RACE_MIXED:
        return same_block ? arena_printf(arena, "__syncthreads() %s, or make both atomic", lines)
                          : "make both atomic (atomicAdd, cuda::atomic_ref, at least volatile), or order them: "
                            "__threadfence() "
                            "before an atomic flag, and behind where it is read";
    case RACE_PARTLY: return "access it with one size";
    case RACE_END: break;
    }
    return NULL;
}

/* "between lines 12 and 14" */
static const char *between(const struct race *f, struct arena *arena)
{
    const struct cuda_place *x = f->place[0].cuda, *y = f->place[1].cuda;
    if (x && y && strcmp(x->file, y->file) == 0 && x->line != y->line)
        return arena_printf(arena, "between lines %u and %u", x->line < y->line ? x->line : y->line,
                            x->line < y->line ? y->line : x->line);
    if (x && y && x->line == y->line)
        return arena_printf(arena, "between two passes through line %u", x->line);
    return "between the two";
}

/* ---- which of many sights is reported: the same ones, whoever ran when ---- */

/* Of plain accesses that nothing orders, the pair that is furthest apart is reported: what orders it orders the others. */
static bool is_plain(enum race_reason reason)
{
    return reason <= RACE_HOST;
}

static bool same_finding(const struct race *f, enum race_reason reason, const struct race_side *a,
                         const struct race_side *b)
{
    uint32_t x = f->side[0].kind->place, y = f->side[1].kind->place, p = a->kind->place, q = b->kind->place;
    return (f->reason == reason || (is_plain(f->reason) && is_plain(reason))) &&
           ((x == p && y == q) || (x == q && y == p));
}

static struct race **bucket_of(struct races *r, const struct race_side *a, const struct race_side *b)
{
    uint64_t p = a->kind->place, q = b->kind->place, both = p < q ? p << 32 | q : q << 32 | p;
    return &r->found_by[both * 0x9e3779b97f4a7c15 >> (64 - FOUND_BUCKETS_BITS)];
}

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* By the lines of the kernel itself, then by the innermost ones. */
static int compare_locs(const struct ptx_loc *a, const struct ptx_loc *b)
{
    const struct ptx_loc *x = a, *y = b;
    while (x->at)
        x = x->at;
    while (y->at)
        y = y->at;
    int order = compare(x->inlined ? x->at_file : x->file, y->inlined ? y->at_file : y->file);
    order = order ? order : compare(x->inlined ? x->at_line : x->line, y->inlined ? y->at_line : y->line);
    order = order ? order : compare(a->file, b->file);
    return order ? order : compare(a->line, b->line);
}

static int compare_lines(const struct access_kind *a, const struct access_kind *b)
{
    const struct site *x = a->site, *y = b->site;
    int order = 0;
    if (x->place.source != y->place.source)
        order = strcmp(x->place.source ? x->place.source->name : "", y->place.source ? y->place.source->name : "");
    else if (x->loc && x->loc->line && y->loc && y->loc->line)
        order = compare_locs(x->loc, y->loc);
    order = order ? order : compare(x->place.offset, y->place.offset);
    return order ? order : compare(a->place, b->place);
}

/* Of accesses of one line: writes first. */
static uint32_t rank(const struct access_kind *c)
{
    return (uint32_t)!c->writes << 31 | (uint32_t)c->reads << 30 | (uint32_t)c->atomic << 29 |
           (uint32_t)c->strong << 28 | (uint32_t)c->scope << 16 | (uint32_t)c->bytes << 8 | c->lane_shift;
}

/* The order in which the two are reported: what is no kernel's comes last. */
static int compare_sides(const struct race_side *a, const struct race_side *b)
{
    const struct access_kind *x = a->kind, *y = b->kind;
    int order = compare(!x->site, !y->site);
    if (!order && x->place != y->place)
        order = x->site ? compare_lines(x, y) : compare(y->place, x->place);
    return order ? order : compare(rank(x), rank(y));
}

/* Is this pair of accesses rather reported than the one that is? */
static bool is_better(const struct race *f, enum race_reason reason, const struct race_side *first,
                      const struct race_side *second)
{
    int order = compare(f->reason, reason);
    order = order ? order : compare(rank(first->kind), rank(f->side[0].kind));
    return (order ? order : compare(rank(second->kind), rank(f->side[1].kind))) < 0;
}

static const char *kernel_name(const struct races *r, const struct race_side *s, struct arena *arena)
{
    const struct task_note *note = timelines_note(r->timelines, s->incarnation.task);
    return s->kind->site && note->name ? demangle(str_of(note->name), arena) : NULL;
}

/* "writes it at main.cu:12" */
static const char *other_words(const struct race *f, struct arena *a)
{
    const struct access_kind *y = f->side[1].kind;
    if (is_one_line(f))
        return arena_printf(a, "%s it here, too", access_words(y, a));
    if (!y->site)
        return arena_printf(a, "%s it", access_words(y, a));
    return arena_printf(a, "%s it at %s", access_words(y, a), site_line(y->site, a));
}

static void place_both(struct races *r, struct race *f)
{
    for (unsigned i = 0; i < 2; i++)
        if (f->side[i].kind->site)
            f->place[i] = place_keep(&r->sources, f->side[i].kind->site, &r->arena);
}

static const char *datum_words(struct races *r, const struct race_datum *d, const struct access_kind *c)
{
    struct arena *a = &r->arena;
    uint64_t address = d->address & ~(uint64_t)(c->bytes - 1);
    if (!d->owner)
        return global_words(r, address, c, a);
    const uint32_t *ctaid = d->owner->ctaid;
    const char *words = shared_words(d->kernel, address, c, a);
    return d->is_clustered ? arena_printf(a, "%s of block (%u,%u,%u)", words, ctaid[0], ctaid[1], ctaid[2]) : words;
}

static void describe(struct races *r, struct race *f, const struct race_datum *d)
{
    struct arena *a = &r->arena;
    const struct race_side *x = &f->side[0], *y = &f->side[1];
    const struct access_kind *narrow =
        !y->kind->site || (x->kind->site && x->kind->bytes < y->kind->bytes) ? x->kind : y->kind;
    const char *first = kernel_name(r, x, a), *second = kernel_name(r, y, a);
    bool same = x->incarnation.task == y->incarnation.task;
    const char *datum = datum_words(r, d, narrow);
    f->kernel = first ? first : second;
    if (f->reason == RACE_END) {
        f->text =
            arena_printf(a,
                         "%s%s %s %s: nothing orders that before the end of the block, with which its shared memory "
                         "ends",
                         first ? arena_printf(a, "kernel `%s`: ", first) : "", thread_words(x, NULL, a),
                         access_words(x->kind, a), datum);
        f->help = "cluster.sync() (barrier.cluster.arrive and .wait) between the last access and the end of the kernel";
        return;
    }
    f->text = arena_printf(a, "%s%s %s %s, and %s %s: %s", same && first ? arena_printf(a, "kernel `%s`: ", first) : "",
                           thread_words(x, same ? NULL : first, a), access_words(x->kind, a), datum,
                           thread_words(y, same ? NULL : second, a), other_words(f, a), why(f->reason, x, y, a));
    f->note = arena_printf(a, "the other access: %s %s it", thread_words(y, same ? NULL : second, a),
                           access_words(y->kind, a));
    f->help = d->is_clustered && (f->reason == RACE_BLOCKS || f->reason == RACE_MIXED)
                  ? arena_printf(a, "cluster.sync() (barrier.cluster.arrive and .wait) %s", between(f, a))
                  : remedy(f, between(f, a), a);
}

void race_add_finding(struct races *r, const struct race_datum *datum, enum race_reason reason,
                      const struct race_side *earlier, const struct race_side *later)
{
    pthread_mutex_lock(&r->lock);
    struct race **bucket = bucket_of(r, earlier, later), *f = *bucket;
    while (f && !same_finding(f, reason, earlier, later))
        f = f->in_bucket;
    bool fresh = !f, turn = compare_sides(earlier, later) > 0;
    const struct race_side *first = turn ? later : earlier, *second = turn ? earlier : later;
    if (fresh && (f = ARENA_NEW(&r->arena, struct race))) {
        f->next = r->found;
        f->in_bucket = *bucket;
        r->found = *bucket = f;
        r->n_found++;
    }
    if (f)
        f->count++;
    if (f && (fresh || is_better(f, reason, first, second))) {
        f->reason = reason;
        f->side[0] = *first;
        f->side[1] = *second;
        place_both(r, f);
        describe(r, f, datum);
    }
    pthread_mutex_unlock(&r->lock);
}

uint32_t races_count(const struct races *r)
{
    return r->n_found + r->unwatched.times;
}

/* ---- the host's places, which are asked for when findings are reported ---- */

struct frames {
    const hd_frame *at;
    size_t n;
};

static struct frames frames_of(const hd_checker_options *o, const struct access_kind *c)
{
    struct frames f = {0};
    if (c->where && o->frames)
        f.n = o->frames(o->data, c->where, &f.at);
    return f;
}

/* The line of the innermost call that has one. */
static void place_side(struct races *r, struct race *f, unsigned side, const hd_checker_options *o)
{
    struct frames frames = frames_of(o, f->side[side].kind);
    const hd_frame *line = NULL;
    for (size_t i = 0; i < frames.n && !line; i++)
        line = frames.at[i].file ? &frames.at[i] : NULL;
    struct cuda_place *cuda = line && !f->place[side].cuda ? ARENA_NEW(&r->arena, struct cuda_place) : NULL;
    if (cuda) {
        *cuda = (struct cuda_place){.file = line->file, .line = line->line};
        f->place[side].cuda = cuda;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct race *x = *(struct race *const *)a, *y = *(struct race *const *)b;
    int order = place_compare(&x->place[0], &y->place[0]);
    order = order ? order : place_compare(&x->place[1], &y->place[1]);
    return order ? order : (int)x->reason - (int)y->reason;
}

/* What tells findings of one pair of places apart. */
static const char *reason_word(enum race_reason reason)
{
    switch (reason) {
    case RACE_SCOPE: return "scope";
    case RACE_MIXED: return "mixed";
    case RACE_PARTLY: return "partly";
    default: return "unordered";
    }
}

/* To who reads of them: instructions of the host that are of one line, copies of a line that a compiler has made. */
static bool is_one_place(const struct place *a, const struct place *b)
{
    return a->cuda ? cuda_place_equal(a->cuda, b->cuda) : !b->cuda && place_compare(a, b) == 0;
}

static bool is_the_same(const struct race *a, const struct race *b)
{
    return (a->reason == RACE_END) == (b->reason == RACE_END) &&
           strcmp(reason_word(a->reason), reason_word(b->reason)) == 0 && (a->kernel == NULL) == (b->kernel == NULL) &&
           (!a->kernel || strcmp(a->kernel, b->kernel) == 0) && is_one_place(&a->place[0], &b->place[0]) &&
           is_one_place(&a->place[1], &b->place[1]);
}

/* Those of the same lines as `first`, `also` by their number: the one that is reported has their count, and which other instructions they
 * are of. */
static const char *also_words(const struct race *const *also, uint32_t n, struct arena *arena)
{
    enum { MOST_LISTED = 8 };
    struct text t = {.arena = arena};
    for (uint32_t i = 0; i < n && i < MOST_LISTED; i++) {
        const struct place *x = &also[i]->place[0], *y = &also[i]->place[1];
        if (!x->source || !y->source)
            return NULL; /* the host's: it has no instructions that are reported */
        text_printf(&t, "%s%u and %u", i ? ", " : "these lines race by other instructions, too: PTX lines ",
                    place_locate(*x).line, place_locate(*y).line);
    }
    if (n > MOST_LISTED)
        text_printf(&t, ", and %u more", n - MOST_LISTED);
    return t.p;
}

static void report(const struct race *f, uint64_t count, const char *also, const hd_checker_options *o,
                   struct diags *diags)
{
    const char *code = f->reason == RACE_END ? "block-ended" : "data-race";
    struct frames first = frames_of(o, f->side[0].kind), second = frames_of(o, f->side[1].kind);
    if (first.n)
        diag_host(diags, DIAG_ERROR, code, f->help, count, first.at, (uint32_t)first.n, f->text);
    else
        diag_finding(diags, DIAG_ERROR, f->place[0], code, f->help, count, "%s", f->text);
    diag_of_kernel(diags, f->kernel, reason_word(f->reason));
    if (second.n)
        diag_host(diags, DIAG_NOTE, "data-race", NULL, 0, second.at, (uint32_t)second.n, f->note);
    else if (f->side[0].kind->place != f->side[1].kind->place)
        diag_note(diags, f->place[1], "data-race", "%s", f->note);
    if (also)
        diag_note(diags, (struct place){0}, "data-race", "%s", also);
}

static void not_watched(struct diags *diags, const char *help, const char *text)
{
    diag_warn(diags, (struct place){0}, "not-watched", help, "%s", text);
    diag_of_kernel(diags, NULL, "racecheck");
}

static void tell_what_was_lost(const struct races *r, struct diags *diags)
{
    struct arena *arena = diags->arena;
    unsigned long long forgotten = atomic_load(&r->forgotten);
    if (r->unwatched.launch)
        not_watched(
            diags, budget_help(r->budget),
            arena_printf(
                arena, "racecheck stops watching memory in %s, until the host has waited for all that runs%s: %s",
                r->unwatched.launch,
                r->unwatched.times > 1 ? arena_printf(arena, ", and %u times more", r->unwatched.times - 1) : "",
                budget_words(r->budget, arena)));
    if (order_is_incomplete(r->order))
        not_watched(diags, budget_help(r->budget),
                    "memory has run out: races may be reported that something does order");
    if (forgotten)
        not_watched(
            diags, "look at the kernel's flags and locks with smaller grids",
            arena_printf(arena,
                         "%llu writes came to cells with more accesses that nothing orders than are kept: races "
                         "may be missing",
                         forgotten));
}

void races_report(struct races *r, const hd_checker_options *o, struct diags *diags)
{
    pthread_mutex_lock(&r->lock);
    const struct race **sorted = ARENA_ARRAY(diags->arena, const struct race *, r->n_found);
    uint32_t n = 0;
    for (struct race *f = r->found; f; f = f->next) {
        place_side(r, f, 0, o);
        place_side(r, f, 1, o);
        sorted[n++] = f;
    }
    if (n)
        qsort(sorted, n, sizeof *sorted, by_place);
    const struct race **also = ARENA_ARRAY(diags->arena, const struct race *, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct race *f = sorted[i];
        uint64_t count = f ? f->count : 0;
        uint32_t n_also = 0;
        for (uint32_t k = i + 1; f && k < n; k++) {
            const struct race *other = sorted[k];
            if (!other || !is_the_same(f, other))
                continue;
            count += other->count;
            bool better = other->reason > f->reason; /* what orders it orders the others */
            also[n_also++] = better ? f : other;
            f = better ? other : f;
            sorted[k] = NULL;
        }
        if (f)
            report(f, count, n_also ? also_words(also, n_also, diags->arena) : NULL, o, diags);
    }
    tell_what_was_lost(r, diags);
    pthread_mutex_unlock(&r->lock);
}
