/* Findings; see findings.h. */
#include "check/report/findings.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "check/report/remedy.h"

static unsigned bucket_of(const struct site *s)
{
    return (unsigned)((uintptr_t)s / sizeof *s % FINDING_BUCKETS);
}

static struct finding *find(const struct findings *f, const struct occurrence *o)
{
    struct finding *x = atomic_load_explicit(&f->bucket[bucket_of(o->site)], memory_order_acquire);
    while (x && !(x->site == o->site && x->key == o->key && strcmp(x->code, o->code) == 0))
        x = x->in_bucket;
    return x;
}

static struct finding *add(struct findings *f, const struct occurrence *o)
{
    struct finding *x = ARENA_NEW(&f->arena, struct finding);
    *x = (struct finding){
        .next = f->newest,
        .in_bucket = f->bucket[bucket_of(o->site)],
        .code = o->code,
        .severity = o->severity,
        .site = o->site,
        .key = o->key,
        .kind = o->kind,
        .place = place_keep(&f->sources, o->site, &f->arena),
        .symbol = arena_strndup(&f->arena, o->block->launch->kernel->kernel.p, o->block->launch->kernel->kernel.n),
        .kernel = demangle(o->block->launch->kernel->kernel, &f->arena),
        .first = UINT64_MAX};
    f->newest = x;
    f->n++;
    atomic_store_explicit(&f->bucket[bucket_of(o->site)], x, memory_order_release);
    return x;
}

struct finding *findings_add(struct findings *f, const struct occurrence *o)
{
    jmp_buf oom;
    struct finding *volatile x = find(f, o);
    f->arena.on_oom = &oom;
    if (!x && setjmp(oom) == 0)
        x = add(f, o);
    f->arena.on_oom = NULL;
    return x;
}

static unsigned lane_of(const struct occurrence *o)
{
    return (unsigned)__builtin_ctz(o->lanes);
}

/* The position of a thread among those of a launch. */
static uint64_t order_of(const struct occurrence *o)
{
    enum { THREAD_BITS = 10 };
    return o->block->index << THREAD_BITS | (o->warp * WARP_LANES + lane_of(o));
}

static bool is_first(const struct findings *f, const struct finding *x, const struct occurrence *o)
{
    uint64_t first = atomic_load_explicit(&x->first, memory_order_relaxed);
    return first == UINT64_MAX || x->period != f->period ||
           (x->launch == o->block->launch->number && order_of(o) < first);
}

struct finding *findings_count(struct findings *f, const struct occurrence *o)
{
    struct finding *x = find(f, o);
    bool describe = false;
    if (!x || is_first(f, x, o)) {
        pthread_mutex_lock(&f->lock);
        x = findings_add(f, o);
        describe = x && is_first(f, x, o);
        if (describe) {
            x->period = f->period;
            x->launch = o->block->launch->number;
            x->launched = o->block->launch->where;
            atomic_store_explicit(&x->first, order_of(o), memory_order_relaxed);
        } else {
            pthread_mutex_unlock(&f->lock);
        }
    }
    if (x)
        atomic_fetch_add_explicit(&x->count, (uint64_t)__builtin_popcount(o->lanes), memory_order_relaxed);
    return describe ? x : NULL;
}

struct finding *findings_error(struct findings *f, const char *code, const struct site *site, const void *key,
                               const struct event_block *b, uint32_t warp, uint32_t lanes)
{
    const struct occurrence o = {.code = code, .site = site, .key = key, .block = b, .warp = warp, .lanes = lanes};
    return findings_count(f, &o);
}

void findings_describe(struct findings *f, struct finding *x, const char *help, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    x->text = arena_vprintf(&f->arena, format, arguments);
    va_end(arguments);
    x->help = remedy_in_language(help, x->symbol, &x->place, &f->arena);
    pthread_mutex_unlock(&f->lock);
}

void findings_close(struct findings *f)
{
    arena_free(&f->arena);
    pthread_mutex_destroy(&f->lock);
}

/* ---- words ---- */

const char *thread_words(struct arena *arena, const uint32_t block[3], const uint32_t ctaid[3], unsigned thread)
{
    return arena_printf(arena, "thread (%u,%u,%u) of block (%u,%u,%u)", thread % block[0], thread / block[0] % block[1],
                        thread / block[0] / block[1], ctaid[0], ctaid[1], ctaid[2]);
}

const char *thread_name(struct arena *arena, const struct event_block *b, uint32_t warp, unsigned lane)
{
    return thread_words(arena, b->launch->block, b->ctaid, warp * WARP_LANES + lane);
}

const char *block_name(struct arena *arena, const struct event_block *b)
{
    return arena_printf(arena, "block (%u,%u,%u)", b->ctaid[0], b->ctaid[1], b->ctaid[2]);
}

const char *place_name(struct arena *arena, const struct site *s)
{
    return arena_printf(arena, "at %s", site_line(s, arena));
}

void findings_period(struct findings *f)
{
    f->period++;
}

/* ---- the report ---- */

static int compare_words(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_place(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    int order = place_compare(&x->place, &y->place);
    order = order ? order : strcmp(x->code, y->code);
    return order ? order : compare_words(x->kind, y->kind);
}

/* Findings are merged by line, because the user mends a line. One line may have several
 * instructions: from unrolled loops, instances of templates, and modules that were loaded again. */
static bool are_same(const struct finding *a, const struct finding *b)
{
    return strcmp(a->code, b->code) == 0 && compare_words(a->kind, b->kind) == 0 &&
           place_same_line(&a->place, &b->place);
}

static uint64_t count_of(const struct finding *f)
{
    return f->text ? atomic_load(&f->count) : 0;
}

/* Of those that are the same, *newest is one of the newest period. */
static uint64_t merge_same(const struct finding **sorted, uint32_t n, uint32_t i, const struct finding **newest)
{
    uint64_t count = count_of(sorted[i]);
    *newest = sorted[i];
    for (uint32_t k = i + 1; k < n; k++) {
        if (!sorted[k] || !are_same(sorted[i], sorted[k]))
            continue;
        count += count_of(sorted[k]);
        if (sorted[k]->period > (*newest)->period)
            *newest = sorted[k];
        sorted[k] = NULL;
    }
    return count;
}

/* A copy: the report outlives the checker. */
static struct place report_place(const struct place *p, struct arena *arena)
{
    struct place copy = *p;
    copy.cuda = cuda_place_copy(arena, p->cuda);
    return copy;
}

void findings_report(struct findings *f, finding_end_fn *end, const hd_checker_options *o, struct diags *diags)
{
    const struct finding **sorted = ARENA_ARRAY(diags->arena, const struct finding *, f->n);
    uint32_t n = 0;
    for (struct finding *x = f->newest; x; x = x->next)
        if (count_of(x))
            sorted[n++] = x;
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *x;
        if (!sorted[i])
            continue;
        uint64_t count = merge_same(sorted, n, i, &x);
        const char *more = end(x, diags->arena);
        diag_finding(diags, x->severity, report_place(&x->place, diags->arena), x->code, x->help, count, "%s%s%s",
                     x->text, more ? "; " : "", more ? more : "");
        diag_of_kernel(diags, x->kernel, x->kind);
        place_launch(diags, o, x->launched, false);
    }
}
