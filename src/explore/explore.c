/* One exploration, from the launch to the verdict; see explore.h. */
#include "explore/explore.h"

#include "explore/memory.h"
#include "explore/split.h"

/* The bounds for iterations of retry loops when the user sets none. Loops whose iterations depend
 * on other threads' actions need few: increasing bounds are tried until none cuts a loop off. If
 * all do, and there are iterations with failed compare-and-swaps, these are left out, and the
 * bounds are tried again. Otherwise the largest bound with which the search ends is used. */
static const struct {
    uint32_t unroll;
    struct patience cut;
} bounds[] = {{1, {1, 0}},           {2, {1, 0}},           {4, {1, 0}}, {8, {1, 0}}, {16, {30000, 1 << 26}},
              {3, {40000, 1 << 26}}, {2, {60000, 1 << 26}}, {1, {0, 0}}};
enum { STEPS_LAST = 200000, LAST_RISING = 4 };

static void bound(struct explore_result *r, const struct ir_insn *at, const char *text)
{
    r->complete = false;
    if (r->n_bounds < sizeof r->bounds / sizeof r->bounds[0]) {
        r->bound_at[r->n_bounds] = at;
        r->bounds[r->n_bounds++] = text;
    }
}

static void note_bounds(struct explore_result *r, uint64_t unroll, uint64_t limit)
{
    const struct ir_insn *cut = r->verdict.cut.insn;
    if (cut)
        bound(r, cut,
              arena_printf(&r->arena,
                           "--unroll %llu: a loop whose iterations write, or differ from each other, was cut off",
                           (unsigned long long)unroll));
    if (r->verdict.unseen)
        bound(r, r->verdict.unseen,
              "races in loops that restore their state only after three or more iterations are not searched for");
    if (limit)
        bound(r, NULL, arena_printf(&r->arena, "--limit %llu: the search was ended", (unsigned long long)limit));
}

static void note_sufficed(struct explore_result *r, const struct tree *t)
{
    if (t->end == TREE_SUFFICED)
        bound(r, NULL,
              arena_printf(
                  &r->arena,
                  "the search was ended after %llu steps, because something was found: --limit N goes on to step N",
                  (unsigned long long)t->steps_taken));
}

static bool is_interrupted(const struct explore_options *o)
{
    return o->interrupted && atomic_load(o->interrupted);
}

static void end_searcher(struct searcher *w, struct explore_result *r)
{
    for (uint16_t t = 0; t < w->explorer.threads.n; t++)
        r->n_events += w->explorer.runners[t].n_runs;
    r->n_threads = w->explorer.threads.n;
    r->threads_per_block = w->program.threads_per_block;
    if (w->program.refusal.text && !r->refusal.text)
        r->refusal = (struct refusal){w->program.refusal.insn, arena_strdup(&r->arena, w->program.refusal.text)};
    verdict_add(&r->verdict, &w->verdict);
}

static void take_results(struct search *s, struct explore_result *r)
{
    bool is_full = false, interrupted = is_interrupted(s->options);
    for (uint32_t i = 0; i < s->n_searchers; i++) {
        end_searcher(s->searchers[i], r);
        is_full |= s->searchers[i]->explorer.is_full;
    }
    if (s->split)
        split_collect(s, r, &is_full, &interrupted);
    if (is_full)
        bound(r, NULL,
              arena_printf(&r->arena,
                           "the search was ended: the different runs of the kernel's threads take more than %llu MiB, "
                           "in all workers together",
                           (unsigned long long)memory_for_runs() >> 20));
    note_bounds(r, s->unroll, s->tree.end == TREE_LIMITED ? s->step_limit : 0);
    note_sufficed(r, &s->tree);
    if (r->verdict.caught)
        r->complete = false;
    if (interrupted)
        bound(r, NULL, "the search was interrupted");
}

/* Searches, and keeps the findings; returns false if the search gave up. */
static bool search_whole(struct search *s, struct explore_result *r)
{
    const char *lost = search_parts(s) ? NULL : explore_out_of_memory.text;
    bool counts = !tree_begins_anew(s->tree.end) || is_interrupted(s->options);
    if (s->options->ranks && !lost)
        lost = split_end(s, &r->arena);
    if (lost)
        r->refusal = (struct refusal){NULL, lost};
    else if (counts)
        take_results(s, r);
    return counts || lost;
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
    unsigned n = sizeof bounds / sizeof bounds[0];
    r->complete = true;
    verdict_begin(&r->verdict, &r->arena);
    r->verdict.n_observed = o->n_observed;
    r->is_part = o->ranks && o->ranks->number;
    if (o->interleave) {
        r->interleavings = ARENA_NEW(&r->arena, struct interleavings);
        *r->interleavings = (struct interleavings){.arena = &r->arena, .n_observed = o->n_observed};
    }
    double begun = thread_seconds();
    bool updates_stay = false, has_swaps = false, swaps_left_out = false;
    for (unsigned i = 0; i < n;) {
        bool is_last = i + 1 == n;
        struct search s = {.launch = e->launch,
                           .options = o,
                           .step_limit = o->step_limit,
                           .begun = begun,
                           .updates_stay = updates_stay,
                           .swaps_left_out = swaps_left_out,
                           .interleavings = r->interleavings};
        s.unroll = o->unroll ? o->unroll : bounds[i].unroll;
        bool tries_others = i == LAST_RISING && has_swaps && !swaps_left_out;
        s.cut = o->unroll && i ? (struct patience){0} : bounds[tries_others ? 0 : i].cut;
        if (is_last && !o->unroll && !s.step_limit) /* nothing else would end the search */
            s.step_limit = STEPS_LAST;
        bool done = r->is_part ? split_follow(&s) : search_whole(&s, r);
        enum tree_end end = s.tree.end;
        has_swaps = s.n_searchers && s.searchers[0]->program.has_swaps;
        search_free(&s);
        if (done)
            break;
        if (end == TREE_SHOWS) {
            updates_stay = true;
        } else if (o->unroll) { /* first with limited patience, then to the end */
            swaps_left_out = has_swaps;
            i++;
        } else if (tries_others) {
            swaps_left_out = true;
            i = 0;
        } else {
            i++;
        }
    }
    verdict_sort(&r->verdict);
}

void explore(const struct explore_launch *l, const struct explore_options *o, struct explore_result *r)
{
    struct exploration e = {l, o, r};
    if (!memory_try(&r->arena, explore_all, &e))
        r->refusal = explore_out_of_memory;
}

void explore_free(struct explore_result *r)
{
    verdict_end(&r->verdict);
    arena_free(&r->arena);
}
