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
    const struct ir_insn *cut = r->verdict.cut.insn;
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

/* A thread that searches parts of the tree, with all that this takes: it shares nothing else with others. */
struct searcher {
    const struct search *search;
    struct arena arena;
    struct program program;
    struct explorer explorer;
    struct verdict verdict;
    pthread_t thread;
    bool has_thread;
};

/* A search with one bound for loops. */
enum { MAX_SEARCHERS = 64 };
struct search {
    const struct explore_launch *launch;
    const struct explore_options *options;
    uint32_t unroll;
    uint64_t step_limit, steps_cut;
    bool updates_stay; /* as of struct runner */
    struct tree tree;
    uint32_t n_searchers;
    struct searcher *searchers[MAX_SEARCHERS];
};

static void search_parts(void *data)
{
    struct searcher *w = data;
    const struct explore_options *o = w->search->options;
    struct tree *tree = w->explorer.tree;
    begin_program(w->search->launch, &w->program, &w->arena);
    w->program.changes = o->changes;
    verdict_begin(&w->verdict, &w->arena);
    if (!program_begin(&w->program))
        return;
    observe(&w->program, o, &w->verdict);
    if (w->program.refusal.text || !search_begin(&w->explorer))
        return;
    for (struct part *part; !w->explorer.stopped && (part = tree_take(tree));) {
        search_run(&w->explorer, part);
        tree_return(tree, &w->explorer.steps);
        free(part);
    }
}

static const struct refusal out_of_memory = {.text = "out of memory: nothing is known of this kernel's executions"};

static void *work(void *data)
{
    struct searcher *w = data;
    if (!memory_try(&w->arena, search_parts, w))
        w->program.refusal = out_of_memory;
    tree_stop(w->explorer.tree, TREE_STOPPED); /* if it has not ended yet */
    return NULL;
}

static struct searcher *new_searcher(struct search *s)
{
    struct searcher *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->search = s;
    w->explorer = (struct explorer){.program = &w->program,
                                    .arena = &w->arena,
                                    .verdict = &w->verdict,
                                    .tree = &s->tree,
                                    .unroll = s->unroll,
                                    .updates_stay = s->updates_stay,
                                    .symmetric = s->options->symmetric,
                                    .interrupted = s->options->interrupted,
                                    .wanted = s->options->wanted};
    return s->searchers[s->n_searchers++] = w;
}

/* Where one thread takes long: the others. */
static void start_others(void *data)
{
    struct search *s = data;
    uint32_t n = s->options->n_threads < MAX_SEARCHERS ? s->options->n_threads : MAX_SEARCHERS;
    while (s->n_searchers < n) {
        struct searcher *w = new_searcher(s);
        if (!w)
            return;
        tree_join(&s->tree);
        w->has_thread = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->has_thread) {
            tree_leave(&s->tree);
            free(s->searchers[--s->n_searchers]);
            return;
        }
    }
}

static bool is_interrupted(const struct explore_options *o)
{
    return o->interrupted && atomic_load(o->interrupted);
}

static void end_searcher(struct searcher *w, struct explore_result *r)
{
    if (w->explorer.is_full)
        bound(r, NULL, "the search was ended: the different runs of the threads take more than 2 GiB");
    for (uint16_t t = 0; t < w->explorer.threads.n; t++)
        r->n_events += w->explorer.runners[t].n_runs;
    r->n_threads = w->explorer.threads.n;
    r->threads_per_block = w->program.threads_per_block;
    if (w->program.refusal.text && !r->refusal.text)
        r->refusal = (struct refusal){w->program.refusal.insn, arena_strdup(&r->arena, w->program.refusal.text)};
    verdict_add(&r->verdict, &w->verdict);
}

static void free_searcher(struct searcher *w)
{
    search_end(&w->explorer);
    verdict_end(&w->verdict);
    arena_free(&w->arena);
    free(w);
}

/* What one worker finds in so many steps is not worth a second one. */
enum { STEPS_ALONE = 4000 };

/* Searches, and takes what was found, unless the search gave up: false. */
static bool run_search(struct search *s, struct explore_result *r)
{
    bool begun = tree_begin(&s->tree, s->step_limit, s->steps_cut);
    struct searcher *first = begun ? new_searcher(s) : NULL;
    s->tree.grow = start_others;
    s->tree.data = s;
    s->tree.grow_at = STEPS_ALONE;
    if (first)
        work(first);
    else
        r->refusal = out_of_memory;
    for (uint32_t i = 1; i < s->n_searchers; i++)
        pthread_join(s->searchers[i]->thread, NULL);
    bool interrupted = is_interrupted(s->options);
    bool counts = (s->tree.end != TREE_GAVE_UP && s->tree.end != TREE_SHOWS) || interrupted;
    for (uint32_t i = 0; i < s->n_searchers && counts; i++)
        end_searcher(s->searchers[i], r);
    if (counts)
        note_bounds(r, s->unroll, s->tree.end == TREE_LIMITED ? s->step_limit : 0);
    if (counts && r->verdict.caught)
        r->complete = false;
    if (interrupted)
        bound(r, NULL, "the search was interrupted");
    for (uint32_t i = 0; i < s->n_searchers; i++)
        free_searcher(s->searchers[i]);
    tree_free(&s->tree);
    return counts;
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
    unsigned n = sizeof unrolls / sizeof unrolls[0];
    r->complete = true;
    verdict_begin(&r->verdict, &r->arena);
    r->verdict.n_observed = o->n_observed;
    bool updates_stay = false;
    for (unsigned i = 0; i < n;) {
        bool is_last = o->unroll || i + 1 == n;
        struct search s = {
            .launch = e->launch, .options = o, .step_limit = o->step_limit, .updates_stay = updates_stay};
        s.unroll = o->unroll ? o->unroll : unrolls[i];
        s.steps_cut = is_last ? 0 : STEPS_CUT;
        if (is_last && !o->unroll && !s.step_limit) /* there is no end */
            s.step_limit = STEPS_LAST;
        if (run_search(&s, r))
            break;
        if (s.tree.end == TREE_SHOWS)
            updates_stay = true;
        else
            i++;
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
