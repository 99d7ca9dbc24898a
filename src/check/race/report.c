/* The findings of the race detector: one for each pair of places and reason; see races.h. */
#include "check/race/state.h"

#include <stdlib.h>

#include "base/text.h"

/* ---- which of many occurrences is reported ---- */

/* Of several unordered pairs, the threads furthest apart in the hierarchy are reported: what orders
 * these also orders the others. */
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

/* Compares by the kernel's lines, then by the innermost inlined lines. */
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

/* Which of the two accesses is named first: one by a kernel before one by the host, then the
 * earlier in the source. */
static int compare_sides(const struct race_side *a, const struct race_side *b)
{
    const struct access_kind *x = a->kind, *y = b->kind;
    int order = compare(!x->site, !y->site);
    if (!order && x->place != y->place)
        order = x->site ? compare_lines(x, y) : compare(y->place, x->place);
    return order ? order : compare(rank(x), rank(y));
}

/* Should this pair of accesses replace the reported one? */
static bool is_better(const struct race *f, enum race_reason reason, const struct race_side *first,
                      const struct race_side *second)
{
    int order = compare(f->reason, reason);
    order = order ? order : compare(rank(first->kind), rank(f->side[0].kind));
    return (order ? order : compare(rank(second->kind), rank(f->side[1].kind))) < 0;
}

static void place_both(struct races *r, struct race *f)
{
    for (unsigned i = 0; i < 2; i++)
        if (f->side[i].kind->site)
            f->place[i] = place_keep(&r->sources, f->side[i].kind->site, &r->arena);
}

/* With the lock held; NULL without memory. */
static struct race *find_or_add(struct races *r, enum race_reason reason, const struct race_side *earlier,
                                const struct race_side *later)
{
    struct race **bucket = bucket_of(r, earlier, later), *f = *bucket;
    while (f && !same_finding(f, reason, earlier, later))
        f = f->in_bucket;
    if (!f && (f = ARENA_NEW(&r->arena, struct race))) {
        f->next = r->found;
        f->in_bucket = *bucket;
        r->found = *bucket = f;
        r->n_found++;
    }
    return f;
}

/* A pair counts once for each launch that contains both accesses, and once for all pairs of
 * different tasks. So neither the pair nor its count depends on the order of accesses. Launches
 * arrive one after the other, or several at a time. */
static void count(struct race *f, uint32_t task, uint32_t other)
{
    uint32_t counted = task == other ? task : 0, at = f->counted.n;
    while (at && f->counted.at[at - 1] > counted)
        at--;
    uint32_t *new = at && f->counted.at[at - 1] == counted ? NULL : VEC_INSERT(&f->counted, at);
    if (new)
        *new = counted;
}

/* The task of a side that is in a kernel, and where the host has submitted it, kept here because
 * notes of tasks are dropped after a while. Of all pairs of a period it is the earliest task,
 * whatever the order of accesses. */
static void note_launches(const struct races *r, struct race *f, const struct race_side *const side[2])
{
    uint32_t task[2] = {side[0]->incarnation.task, side[1]->incarnation.task};
    int order = compare(task[0], f->launch[0].task);
    order = order ? order : compare(task[1], f->launch[1].task);
    if (f->launch[0].task && f->period == r->period && order >= 0)
        return;
    f->period = r->period;
    for (unsigned i = 0; i < 2; i++) {
        f->launch[i].task = task[i];
        f->launch[i].where = side[i]->kind->site && task[i] ? timelines_note(r->timelines, task[i])->where : NULL;
    }
}

void race_add_finding(struct races *r, const struct race_datum *datum, enum race_reason reason,
                      const struct race_side *earlier, const struct race_side *later)
{
    bool later_first = compare_sides(earlier, later) > 0;
    const struct race_side *first = later_first ? later : earlier, *second = later_first ? earlier : later;
    pthread_mutex_lock(&r->lock);
    struct race *f = find_or_add(r, reason, earlier, later);
    if (f)
        count(f, earlier->incarnation.task, later->incarnation.task);
    if (f)
        note_launches(r, f, (const struct race_side *const[]){first, second});
    if (f && (!f->side[0].kind || is_better(f, reason, first, second))) {
        f->reason = reason;
        f->side[0] = *first;
        f->side[1] = *second;
        place_both(r, f);
        race_describe(r, f, datum);
    }
    pthread_mutex_unlock(&r->lock);
}

void races_period(struct races *r)
{
    pthread_mutex_lock(&r->lock);
    r->period++;
    pthread_mutex_unlock(&r->lock);
}

uint32_t races_count(const struct races *r)
{
    return r->n_found + r->unwatched.times;
}

/* ---- places of the host, resolved when findings are reported ---- */

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

static bool is_the_same(const struct race *a, const struct race *b)
{
    return (a->reason == RACE_END) == (b->reason == RACE_END) &&
           strcmp(reason_word(a->reason), reason_word(b->reason)) == 0 && (a->kernel == NULL) == (b->kernel == NULL) &&
           (!a->kernel || strcmp(a->kernel, b->kernel) == 0) && place_same_line(&a->place[0], &b->place[0]) &&
           place_same_line(&a->place[1], &b->place[1]);
}

/* Lists other racing instructions of the same lines; the reported finding counts all of them. */
static const char *also_words(const struct race *const *also, uint32_t n, struct arena *arena)
{
    enum { MOST_LISTED = 8 };
    struct text t = {.arena = arena};
    for (uint32_t i = 0; i < n && i < MOST_LISTED; i++) {
        const struct place *x = &also[i]->place[0], *y = &also[i]->place[1];
        if (!x->source || !y->source)
            return NULL; /* on the host, where no instructions are named */
        text_printf(&t, "%s%u and %u", i ? ", " : "other instructions of these lines race, too: PTX lines ",
                    place_locate(*x).line, place_locate(*y).line);
    }
    if (n > MOST_LISTED)
        text_printf(&t, ", and %u more", n - MOST_LISTED);
    return t.p;
}

/* `newest` has the launches. */
static void report(const struct race *f, const struct race *newest, uint64_t count, const char *also,
                   const hd_checker_options *o, struct diags *diags)
{
    const char *code = f->reason == RACE_END ? "block-ended" : "data-race";
    struct frames first = frames_of(o, f->side[0].kind), second = frames_of(o, f->side[1].kind);
    if (first.n)
        diag_host(diags, DIAG_ERROR, code, f->help, count, first.at, (uint32_t)first.n, f->text);
    else
        diag_finding(diags, DIAG_ERROR, f->place[0], code, f->help, count, "%s", f->text);
    diag_of_kernel(diags, f->kernel, reason_word(f->reason));
    place_launch(diags, o, newest->launch[0].where, false);
    if (second.n)
        diag_host(diags, DIAG_NOTE, "data-race", NULL, 0, second.at, (uint32_t)second.n, f->note);
    else if (f->side[0].kind->place != f->side[1].kind->place)
        diag_note(diags, f->place[1], "data-race", "%s", f->note);
    if (newest->launch[0].task != newest->launch[1].task)
        place_launch(diags, o, newest->launch[1].where, true);
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
    if (r->unwatched.launch)
        not_watched(
            diags, budget_help(r->budget),
            arena_printf(
                arena, "racecheck stopped watching memory in %s, until the host has waited for all running work%s: %s",
                r->unwatched.launch,
                r->unwatched.times > 1 ? arena_printf(arena, ", and %u times more", r->unwatched.times - 1) : "",
                budget_words(r->budget, arena)));
    if (order_is_incomplete(r->order))
        not_watched(diags, budget_help(r->budget), "memory ran out: some of the reported races may be false");
    if (atomic_load(&r->may_miss))
        not_watched(diags, "check the kernel's flags and locks with a smaller grid",
                    "writes hit locations whose access history was full: some races may not be reported");
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
        const struct race *f = sorted[i], *newest = f;
        uint64_t count = f ? f->counted.n : 0;
        uint32_t n_also = 0;
        for (uint32_t k = i + 1; f && k < n; k++) {
            const struct race *other = sorted[k];
            if (!other || !is_the_same(f, other))
                continue;
            count += other->counted.n;
            /* What orders these threads also orders the others. */
            bool better = other->reason > f->reason;
            also[n_also++] = better ? f : other;
            f = better ? other : f;
            newest = other->period > newest->period || (better && other->period == newest->period) ? other : newest;
            sorted[k] = NULL;
        }
        if (f)
            report(f, newest, count, n_also ? also_words(also, n_also, diags->arena) : NULL, o, diags);
    }
    tell_what_was_lost(r, diags);
    pthread_mutex_unlock(&r->lock);
}
