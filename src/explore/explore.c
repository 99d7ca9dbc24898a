/* One exploration, from the launch to the verdict; see explore.h. */
#include "explore/explore.h"

#include <pthread.h>
#include <stdlib.h>

#include "explore/memory.h"

/* Rounds of retry loops, where nothing is asked for: as many as let the search end. Loops that are bounded by what other threads do
 * need few; those that are not are cut off anyway. */
static const uint32_t unrolls[] = {16, 3, 2, 1};
enum { STEPS_CUT = 200000, STEPS_LAST = 400000 };

static void bound(struct explore_result *r, const struct ir_insn *at, const char *text)
{
    r->complete = false;
    if (r->n_bounds < sizeof r->bounds / sizeof r->bounds[0]) {
        r->bound_at[r->n_bounds] = at;
        r->bounds[r->n_bounds++] = text;
    }
}

static void note_bounds(struct explore_result *r, uint32_t unroll, uint64_t limit)
{
    const struct ir_insn *cut = r->verdict.cut_at;
    if (cut)
        bound(r, cut,
              arena_printf(&r->arena, "--unroll %u: a loop whose rounds write, or are not the same again, was left",
                           unroll));
    if (limit)
        bound(r, NULL, arena_printf(&r->arena, "--limit %llu: the search was ended", (unsigned long long)limit));
}

static void begin_program(const struct explore_launch *l, struct program *p, struct arena *arena)
{
    *p = (struct program){.arena = arena,
                          .kernel = l->kernel,
                          .mem = l->mem,
                          .lane = lane_table(NULL, NULL),
                          .explicit_cluster = l->dims.explicit_cluster,
                          .dynamic_shared_bytes = l->dims.shared_bytes,
                          .params = l->params};
    for (int i = 0; i < 3; i++) {
        p->grid[i] = l->dims.grid[i];
        p->block[i] = l->dims.block[i];
        p->cluster[i] = l->dims.cluster[i];
    }
}

/* The memory that makes an outcome has its locations from the beginning. */
static void observe(struct program *p, const struct explore_options *o, struct verdict *v)
{
    v->n_observed = o->n_observed;
    v->observed = ARENA_ARRAY(p->arena, uint16_t, o->n_observed);
    for (uint32_t i = 0; i < o->n_observed; i++) {
        const struct observed *w = &o->observed[i];
        struct place_in_grid at;
        program_place(p, w->block == GLOBAL_MEMORY ? 0 : w->block, 0, &at);
        struct found f =
            program_find(p, &at, w->block == GLOBAL_MEMORY ? SPACE_GLOBAL : SPACE_SHARED, w->address, w->bytes, false);
        if (f.target != TARGET_LOCATION)
            program_refuse(p, NULL, "`%s`, which is to be observed, is not in memory that threads share",
                           w->name ? w->name : "?");
        v->observed[i] = f.location;
    }
}

/* A share of the tree, with all that searching it takes: shares know nothing of each other. */
struct share {
    const struct explore_launch *launch;
    const struct explore_options *options;
    uint32_t number, n_shares;
    uint64_t step_limit;
    uint32_t unroll;
    bool may_give_up, limit_counts;
    struct arena arena;
    struct program program;
    struct explorer explorer;
    struct verdict verdict;
    pthread_t thread;
    bool has_thread;
};

static void search_share(void *data)
{
    struct share *h = data;
    const struct explore_options *o = h->options;
    h->explorer = (struct explorer){.program = &h->program,
                                    .arena = &h->arena,
                                    .verdict = &h->verdict,
                                    .unroll = h->unroll,
                                    .steps_cut = h->may_give_up ? STEPS_CUT : 0,
                                    .symmetric = o->symmetric,
                                    .steps_left = h->step_limit,
                                    .interrupted = o->interrupted,
                                    .share = h->number,
                                    .n_shares = h->n_shares};
    begin_program(h->launch, &h->program, &h->arena);
    verdict_begin(&h->verdict, &h->arena);
    if (program_begin(&h->program)) {
        observe(&h->program, o, &h->verdict);
        if (!h->program.refusal.text && search_begin(&h->explorer))
            search_run(&h->explorer);
    }
}

static const struct refusal out_of_memory = {.text = "out of memory: nothing is known of this kernel's executions"};

static void *explore_share(void *data)
{
    struct share *h = data;
    if (!memory_try(&h->arena, search_share, h))
        h->program.refusal = out_of_memory;
    return NULL;
}

static bool is_interrupted(const struct explore_options *o)
{
    return o->interrupted && atomic_load(o->interrupted);
}

static bool is_limited(const struct share *h)
{
    return h->step_limit && h->explorer.steps >= h->step_limit;
}

static void end_share(struct share *h, struct explore_result *r)
{
    if (h->explorer.is_full)
        bound(r, NULL, "the search was ended: the different runs of the threads take more than 2 GiB");
    for (uint16_t t = 0; t < h->explorer.threads.n; t++)
        r->n_events += h->explorer.runners[t].n_runs;
    r->n_threads = h->explorer.threads.n;
    r->threads_per_block = h->program.threads_per_block;
    if (h->program.refusal.text && !r->refusal.text)
        r->refusal = (struct refusal){h->program.refusal.insn, arena_strdup(&r->arena, h->program.refusal.text)};
    verdict_add(&r->verdict, &h->verdict);
}

static void free_share(struct share *h)
{
    search_end(&h->explorer);
    verdict_end(&h->verdict);
    arena_free(&h->arena);
}

/* What one share finds in so many steps is not worth a second thread. */
enum { STEPS_ALONE = 4000, MAX_SHARES = 64 };

enum outcome { ENDED, LIMITED, GAVE_UP };

/* Searches in n shares; what they have found counts if they have come to their end, or to the limit that was asked for. */
static enum outcome explore_in(struct share pattern, uint32_t n, struct explore_result *r)
{
    struct share *all = memory_zeroed(n, sizeof *all);
    enum outcome outcome = ENDED;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = pattern;
        all[i].number = i;
        all[i].n_shares = n;
        all[i].has_thread = i + 1 < n && pthread_create(&all[i].thread, NULL, explore_share, &all[i]) == 0;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!all[i].has_thread)
            explore_share(&all[i]);
    for (uint32_t i = 0; i < n; i++)
        if (all[i].has_thread)
            pthread_join(all[i].thread, NULL);
    for (uint32_t i = 0; i < n; i++)
        outcome = all[i].explorer.gave_up || outcome == GAVE_UP ? GAVE_UP : is_limited(&all[i]) ? LIMITED : outcome;
    bool interrupted = is_interrupted(pattern.options);
    bool counts = outcome == ENDED || (outcome == LIMITED && pattern.limit_counts) || interrupted;
    for (uint32_t i = 0; i < n && counts; i++)
        end_share(&all[i], r);
    if (counts)
        note_bounds(r, pattern.unroll, outcome == LIMITED ? pattern.step_limit : 0);
    if (interrupted)
        bound(r, NULL, "the search was interrupted");
    for (uint32_t i = 0; i < n; i++)
        free_share(&all[i]);
    free(all);
    return counts ? ENDED : outcome;
}

/* With one bound for loops: alone, and where that takes long with all threads. */
static enum outcome explore_bounded(struct share pattern, struct explore_result *r)
{
    const struct explore_options *o = pattern.options;
    uint32_t n = o->n_threads > MAX_SHARES ? MAX_SHARES : o->n_threads;
    if (n > 1 && (!o->step_limit || o->step_limit > STEPS_ALONE)) {
        struct share alone = pattern;
        alone.step_limit = STEPS_ALONE;
        alone.limit_counts = false;
        enum outcome first = explore_in(alone, 1, r);
        if (first != LIMITED)
            return first;
    }
    return explore_in(pattern, n > 1 ? n : 1, r);
}

struct exploration {
    const struct explore_launch *launch;
    const struct explore_options *options;
    struct explore_result *result;
};

static void explore_all(void *data)
{
    const struct exploration *e = data;
    const struct explore_options *o = e->options;
    struct explore_result *r = e->result;
    struct share pattern = {.launch = e->launch, .options = o, .step_limit = o->step_limit, .limit_counts = true};
    unsigned n = sizeof unrolls / sizeof unrolls[0];
    r->complete = true;
    verdict_begin(&r->verdict, &r->arena);
    r->verdict.n_observed = o->n_observed;
    for (unsigned i = 0; i < n; i++) {
        pattern.unroll = o->unroll ? o->unroll : unrolls[i];
        pattern.may_give_up = !o->unroll && i + 1 < n;
        if (!o->unroll && i + 1 == n && !pattern.step_limit) /* there is no end */
            pattern.step_limit = STEPS_LAST;
        if (explore_bounded(pattern, r) != GAVE_UP)
            break;
    }
    verdict_sort(&r->verdict);
}

void explore(const struct explore_launch *l, const struct explore_options *o, struct explore_result *r)
{
    struct exploration e = {l, o, r};
    if (!memory_try(&r->arena, explore_all, &e))
        r->refusal = out_of_memory;
}

void explore_free(struct explore_result *r)
{
    verdict_end(&r->verdict);
    arena_free(&r->arena);
}
