/* Findings: counted by all threads, kept once each, told in the order of the source; see findings.h.
 *
 * A sight of what has been seen before takes no lock, unless it is of an earlier thread: which thread a finding names does not
 * depend on how blocks were shared out to workers.
 */
#include "check/report/findings.h"

#include <stdlib.h>

#include "base/demangle.h"

static unsigned bucket_of(const struct site *s)
{
    return (unsigned)((uintptr_t)s / sizeof *s % FINDING_BUCKETS);
}

static struct finding *find(const struct findings *f, const struct sight *s)
{
    struct finding *x = atomic_load_explicit(&f->bucket[bucket_of(s->site)], memory_order_acquire);
    while (x && !(x->site == s->site && x->key == s->key && strcmp(x->code, s->code) == 0))
        x = x->in_bucket;
    return x;
}

static struct finding *add(struct findings *f, const struct sight *s)
{
    struct finding *x = ARENA_NEW(&f->arena, struct finding);
    *x = (struct finding){.next = f->newest,
                          .in_bucket = f->bucket[bucket_of(s->site)],
                          .code = s->code,
                          .severity = s->severity,
                          .site = s->site,
                          .key = s->key,
                          .kind = s->kind,
                          .place = place_keep(&f->sources, s->site, &f->arena),
                          .kernel = demangle(s->block->launch->kernel->kernel, &f->arena),
                          .first = UINT64_MAX};
    f->newest = x;
    f->n++;
    atomic_store_explicit(&f->bucket[bucket_of(s->site)], x, memory_order_release);
    return x;
}

struct finding *findings_add(struct findings *f, const struct sight *s)
{
    jmp_buf oom;
    struct finding *volatile x = find(f, s);
    f->arena.on_oom = &oom;
    if (!x && setjmp(oom) == 0)
        x = add(f, s);
    f->arena.on_oom = NULL;
    return x;
}

/* The place of a thread among those of a launch. */
static uint64_t order_of(const struct sight *s)
{
    enum { THREAD_BITS = 10 };
    return s->block->index << THREAD_BITS | (s->warp * WARP_LANES + s->lane);
}

static bool is_first(const struct finding *x, const struct sight *s)
{
    uint64_t first = atomic_load_explicit(&x->first, memory_order_relaxed);
    return first == UINT64_MAX || (x->launch == s->block->launch->number && order_of(s) < first);
}

struct finding *findings_sight(struct findings *f, const struct sight *s)
{
    struct finding *x = find(f, s);
    if (!x || is_first(x, s)) {
        pthread_mutex_lock(&f->lock);
        x = findings_add(f, s);
        if (x && is_first(x, s)) {
            x->launch = s->block->launch->number;
            atomic_store_explicit(&x->first, order_of(s), memory_order_relaxed);
            atomic_fetch_add_explicit(&x->count, s->count, memory_order_relaxed);
            return x;
        }
        pthread_mutex_unlock(&f->lock);
    }
    if (x)
        atomic_fetch_add_explicit(&x->count, s->count, memory_order_relaxed);
    return NULL;
}

void findings_done(struct findings *f)
{
    pthread_mutex_unlock(&f->lock);
}

void findings_close(struct findings *f)
{
    arena_free(&f->arena);
    pthread_mutex_destroy(&f->lock);
}

/* ---- words ---- */

const char *thread_name(struct arena *arena, const struct event_block *b, uint32_t warp, unsigned lane)
{
    const uint32_t *block = b->launch->block;
    uint32_t t = warp * WARP_LANES + lane;
    return arena_printf(arena, "thread (%u,%u,%u) of %s", t % block[0], t / block[0] % block[1],
                        t / block[0] / block[1], block_name(arena, b));
}

const char *block_name(struct arena *arena, const struct event_block *b)
{
    return arena_printf(arena, "block (%u,%u,%u)", b->ctaid[0], b->ctaid[1], b->ctaid[2]);
}

const char *place_name(struct arena *arena, const struct site *s)
{
    return arena_printf(arena, "at %s", site_line(s, arena));
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

/* What the user has to mend is a line: copies that a compiler has made of it, as in unrolled loops and instances of templates, and
 * modules that were loaded again, have the instruction several times. */
static bool are_same(const struct finding *a, const struct finding *b)
{
    if (strcmp(a->code, b->code) != 0 || compare_words(a->kind, b->kind) != 0)
        return false;
    return a->place.cuda ? cuda_place_equal(a->place.cuda, b->place.cuda)
                         : !b->place.cuda && place_compare(&a->place, &b->place) == 0;
}

static const char *text_of(const struct finding *f, struct arena *arena)
{
    const char *written = memory_written(f, arena);
    return written ? arena_printf(arena, "%s; %s", f->text, written) : f->text;
}

static uint64_t count_of(const struct finding *f)
{
    return f->text ? atomic_load(&f->count) : 0;
}

static uint64_t merge_same(const struct finding **sorted, uint32_t n, uint32_t i)
{
    uint64_t count = count_of(sorted[i]);
    for (uint32_t k = i + 1; k < n; k++) {
        if (!sorted[k] || !are_same(sorted[i], sorted[k]))
            continue;
        count += count_of(sorted[k]);
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

void findings_report(struct checker *c, struct diags *diags)
{
    struct findings *f = &c->findings;
    const struct finding **sorted = ARENA_ARRAY(diags->arena, const struct finding *, f->n);
    uint32_t n = 0;
    for (struct finding *x = f->newest; x; x = x->next)
        if (count_of(x))
            sorted[n++] = x;
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *x = sorted[i];
        if (!x)
            continue;
        diag_finding(diags, x->severity, report_place(&x->place, diags->arena), x->code, x->help,
                     merge_same(sorted, n, i), "%s", text_of(x, diags->arena));
        diag_of_kernel(diags, x->kernel, x->kind);
    }
}
