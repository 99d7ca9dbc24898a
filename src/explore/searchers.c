/* See searchers.h. */
#include "explore/searchers.h"

#include <stdlib.h>

#include "explore/memory.h"
#include "explore/split.h"

const struct refusal explore_out_of_memory = {.text = "out of memory: this kernel was not explored"};

static void begin_program(const struct explore_launch *l, struct program *p, struct arena *arena)
{
    *p = (struct program){.arena = arena,
                          .kernel = l->kernel,
                          .mem = l->mem,
                          .lane = lane_table(NULL, NULL),
                          .explicit_cluster = l->dims.explicit_cluster,
                          .dynamic_shared_bytes = l->dims.shared_bytes,
                          .params = l->params,
                          .grid_barrier = (uint64_t)(uintptr_t)l->grid_barrier};
    for (int i = 0; i < 3; i++) {
        p->grid[i] = l->dims.grid[i];
        p->block[i] = l->dims.block[i];
        p->cluster[i] = l->dims.cluster[i];
    }
}

/* Creates the locations of observed memory at the beginning. */
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
            program_refuse(p, NULL, "`%s` cannot be observed: it is not in memory that threads share",
                           w->name ? w->name : "?");
        else
            p->locations.at[f.location].observed_as = w->name;
        v->observed[i] = f.location;
    }
}

static void search_all_parts(void *data)
{
    struct searcher *w = data;
    const struct explore_options *o = w->search->options;
    struct tree *tree = w->explorer.tree;
    begin_program(w->search->launch, &w->program, &w->arena);
    w->program.changes = o->changes;
    w->program.swaps_left_out = w->search->swaps_left_out;
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

static void *work(void *data)
{
    struct searcher *w = data;
    if (!memory_try(&w->arena, search_all_parts, w))
        w->program.refusal = explore_out_of_memory;
    tree_stop(w->explorer.tree, TREE_STOPPED); /* unless it has ended already */
    return NULL;
}

static struct searcher *new_searcher(const struct search *s, struct tree *tree)
{
    struct searcher *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->search = s;
    w->explorer = (struct explorer){.program = &w->program,
                                    .arena = &w->arena,
                                    .verdict = &w->verdict,
                                    .interleavings = s->interleavings,
                                    .tree = tree,
                                    .unroll = s->unroll,
                                    .updates_stay = s->updates_stay,
                                    .symmetric = s->options->symmetric,
                                    .interrupted = s->options->interrupted,
                                    .wanted = s->options->wanted,
                                    .claims = s->options->claims,
                                    .n_claims = s->options->n_claims};
    return w;
}

void search_start(struct search *s)
{
    uint32_t n = s->options->n_threads < MAX_SEARCHERS ? s->options->n_threads : MAX_SEARCHERS;
    n = s->interleavings ? 1 : n;
    while (s->n_searchers < n || !s->n_searchers) {
        struct searcher *w = new_searcher(s, &s->tree);
        if (!w)
            break;
        tree_join(&s->tree);
        w->has_thread = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->has_thread) {
            tree_leave(&s->tree);
            free(w);
            break;
        }
        s->searchers[s->n_searchers++] = w;
    }
    if (!s->n_searchers)
        tree_stop(&s->tree, TREE_STOPPED);
}

void search_await(struct search *s)
{
    for (uint32_t i = 0; i < s->n_searchers; i++)
        if (s->searchers[i]->has_thread)
            pthread_join(s->searchers[i]->thread, NULL);
}

/* Starts further threads, because the search takes long. */
static void start_others(void *data)
{
    struct search *s = data;
    search_start(s);
    if (s->options->ranks)
        split_serve(s);
}

/* A search of fewer steps does not need a second thread. */
enum { STEPS_ALONE = 4000 };

/* Default limit after a finding: the error is known by then, and a race of weak accesses can have
 * unlimited executions. */
static const double seconds_found = 3;

void search_ends_when_found(struct search *s)
{
    s->tree.seconds_found = s->options->step_limit ? 0 : seconds_found;
}

bool search_parts(struct search *s)
{
    tree_begin(&s->tree, s->step_limit, s->cut);
    search_ends_when_found(s);
    s->tree.grow = start_others;
    s->tree.data = s;
    s->tree.grow_at = STEPS_ALONE;
    struct searcher *first = tree_give(&s->tree, NULL, 0, 0) ? new_searcher(s, &s->tree) : NULL;
    if (!first)
        return false;
    s->searchers[s->n_searchers++] = first;
    first->explorer.steps.begun = s->begun;
    tree_join(&s->tree);
    work(first);
    search_await(s);
    return true;
}

struct searcher *search_again(const struct search *s, struct tree *tree)
{
    struct searcher *w = new_searcher(s, tree);
    if (!w)
        return NULL;
    w->explorer.interrupted = NULL;
    tree_join(tree);
    work(w);
    return w;
}

void searcher_free(struct searcher *w)
{
    search_end(&w->explorer);
    verdict_end(&w->verdict);
    arena_free(&w->arena);
    free(w);
}

void search_free(struct search *s)
{
    for (uint32_t i = 0; i < s->n_searchers; i++)
        searcher_free(s->searchers[i]);
    split_free(s);
    tree_free(&s->tree);
}
