/* Examines complete executions for races, final values, and threads that spin for ever; see
 * verdict.h. */
#include <stdlib.h>
#include <string.h>

#include "explore/condition.h"
#include "explore/execution.h"
#include "explore/interleave.h"
#include "explore/memory.h"
#include "explore/verdict.h"

/* ---- examples ---- */

static void who(const struct explorer *x, uint16_t thread, uint32_t *block, uint32_t *number)
{
    const struct place_in_grid *at = &x->runners[thread].at;
    *block = at->block;
    *number = at->warp * WARP_LANES + at->lane;
}

static void example_read(const struct explorer *x, const struct state *s, const struct graph *g, const struct event *e,
                         struct example_read *r)
{
    r->insn = s->runs[e->thread]->events[e->po].insn;
    r->value = e->read;
    who(x, e->thread, &r->block, &r->thread);
    if (e->rf == INITIAL)
        return;
    const struct event *w = &g->events[graph_member(g, e->location, e->rf)];
    r->from = s->runs[w->thread]->events[w->po].insn;
    who(x, w->thread, &r->from_block, &r->from_thread);
}

static const struct example *new_example(const struct explorer *x, const struct state *s, const struct graph *g)
{
    uint32_t n = 0, all = 0;
    for (uint16_t e = 0; e < g->n_events; e++)
        all += g->events[e].rf != NO_MEMBER;
    struct example *to = example_new(x->verdict->arena, all < EXAMPLE_READS ? all : EXAMPLE_READS);
    to->is_cut = all > to->n;
    for (uint16_t t = 0; t < s->n_threads; t++)
        for (uint16_t po = 0; po < g->n_by_po[t] && n < to->n; po++) {
            const struct event *e = &g->events[graph_event(g, t, po)];
            if (e->rf != NO_MEMBER)
                example_read(x, s, g, e, &to->reads[n++]);
        }
    return to;
}

/* Notes an execution that shows something: as the example if it is the first (`at`: from
 * verdict.h's functions), and in full if it is the one the search looks for. */
static void keep_example(const struct explorer *x, const struct state *s, const struct graph *g,
                         const struct example **at, const struct notice *notice)
{
    struct verdict *v = x->verdict;
    if (at)
        *at = new_example(x, s, g);
    if (x->wanted && !v->caught && x->wanted->is(x->wanted->data, notice))
        v->caught = execution_of(v->arena, x, s, g, notice);
    if (x->interleavings)
        interleave(x, s, g, notice);
}

/* ---- races ---- */

static const struct ir_insn *insn_of(const struct state *s, const struct graph *g, uint16_t event)
{
    const struct event *e = &g->events[event];
    return s->runs[e->thread]->events[e->po].insn;
}

static void find_races(const struct explorer *x, const struct state *s, const struct graph *g)
{
    struct verdict *v = x->verdict;
    for (uint16_t l = 0; l < g->n_locations; l++) {
        const uint64_t *reads = graph_location_set(g, l, READS), *writes = graph_location_set(g, l, WRITES);
        FOR_MEMBERS(a, k, g->words, (reads[k] | writes[k]) & ~word_of(INITIAL, k))
        {
            const uint64_t *cause = graph_row(g, g->cause, l, a), *strong = graph_row(g, g->strong, l, a);
            uint64_t all = has(writes, a) ? UINT64_MAX : 0; /* a read races only with writes */
            FOR_MEMBERS(b, n, g->words, (writes[n] | (reads[n] & all)) & ~strong[n] & ~cause[n] & ~word_of(INITIAL, n))
            {
                if (b <= a)
                    continue;
                uint16_t e = graph_member(g, l, a), f = graph_member(g, l, b);
                const struct ir_insn *i = insn_of(s, g, e), *o = insn_of(s, g, f);
                if (model_races(g, e, f))
                    keep_example(x, s, g, verdict_race(v, i, o),
                                 &(struct notice){.kind = NOTICE_RACE, .a = i, .b = o, .event_a = e, .event_b = f});
            }
        }
    }
}

/* ---- final values ---- */

/* Adds all combinations of final values. Given a Fence-SC order, as here, the locations' coherence
 * orders are independent. */
static void add_outcomes(struct explorer *x, const struct state *s, const struct graph *g, uint64_t *values, uint32_t i)
{
    struct verdict *v = x->verdict;
    if (i == v->n_observed) {
        const struct example **at = verdict_outcome(v, values);
        for (unsigned k = 0; at && k < x->n_claims; k++)
            v->breaks_claim |= claim_is_broken(&x->claims[k], values);
        keep_example(x, s, g, at, &(struct notice){.kind = NOTICE_OUTCOME, .values = values});
        return;
    }
    uint16_t id = v->observed[i], l = id < g->location_of_room ? g->location_of[id] : 0;
    values[i] = x->program->locations.at[id].initial;
    if (!l) {
        add_outcomes(x, s, g, values, i + 1);
        return;
    }
    uint64_t last[MAX_WORDS];
    model_last(g, l - 1, last);
    FOR_MEMBERS(w, k, g->words, last[k])
    {
        values[i] = member_value(x, g, l - 1, w);
        bool again = false;
        FOR_MEMBERS(before, n, g->words, last[n])
        again |= before < w && member_value(x, g, l - 1, before) == values[i];
        if (!again)
            add_outcomes(x, s, g, values, i + 1);
    }
}

/* ---- the kinds of executions ---- */

enum ending { COMPLETED, BLOCKED, DEADLOCKED, STOPPED, CUT, WITH_ROUND };

static enum ending ending_of(const struct state *s)
{
    enum ending e = COMPLETED;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        enum ending here = COMPLETED;
        switch ((enum run_end)s->runs[t]->end) {
        case RUN_MEETS: here = DEADLOCKED; break;
        case RUN_WAITS:
        case RUN_SPINS: here = BLOCKED; break;
        case RUN_FAULTED: here = STOPPED; break;
        case RUN_DONE:
            here = s->runs[t]->trap && s->runs[t]->trap_at == s->runs[t]->n_events ? STOPPED : COMPLETED;
            break;
        case RUN_CUT: here = CUT; break;
        default: break;
        }
        if (here == CUT || (here == STOPPED && e != CUT) || (here == BLOCKED && e != STOPPED && e != CUT) ||
            (here == DEADLOCKED && e == COMPLETED))
            e = here;
    }
    return e;
}

/* Finds the writes of a location that threads read in endlessly repeated iterations. An atomic
 * operation that others may have read before its iteration failed counts as the write it made. */
static void find_read_for_ever(const struct state *s, const struct graph *g, uint16_t location, uint64_t *all)
{
    clear_set(all, g->words);
    FOR_MEMBERS(m, k, g->words, graph_location_set(g, location, READS)[k])
    {
        const struct event *e = &g->events[graph_member(g, location, m)];
        const struct run *run = s->runs[e->thread];
        if (run->end == RUN_SPINS && e->po >= run->round && e->rf != NO_MEMBER)
            add_member(all, e->kind == GRAPH_UPDATE ? e->member : e->rf);
    }
}

/* Can all these values be final in one execution? Two threads may need different values of one
 * place. */
static bool rounds_stay(const struct state *s, const struct graph *g)
{
    uint64_t read[MAX_WORDS];
    for (uint16_t l = 0; l < g->n_locations; l++) {
        find_read_for_ever(s, g, l, read);
        if (!model_are_last(g, l, read))
            return false;
    }
    return true;
}

static void find_stops(const struct explorer *x, const struct state *s, const struct graph *g)
{
    struct verdict *v = x->verdict;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        const struct run *run = s->runs[t];
        if (run->trap)
            keep_example(x, s, g, verdict_stop(v, run->trap, NULL),
                         &(struct notice){.kind = NOTICE_STOP, .a = run->trap});
        if (run->end == RUN_FAULTED)
            keep_example(x, s, g, verdict_stop(v, run->stopped, run->fault),
                         &(struct notice){.kind = NOTICE_STOP, .a = run->stopped, .fault = run->fault});
    }
}

/* Where the last of the threads that ended this way stopped. */
static const struct ir_insn *last_ended(const struct state *s, enum run_end end)
{
    const struct ir_insn *at = NULL;
    for (uint16_t t = 0; t < s->n_threads; t++)
        if (s->runs[t]->end == end)
            at = s->runs[t]->stopped;
    return at;
}

/* The kind of livelock of an execution with spinning threads. */
static struct sight *livelock_sight(struct verdict *v, const struct state *s)
{
    for (uint16_t t = 0; t < s->n_threads; t++)
        if (s->runs[t]->end == RUN_SPINS && s->runs[t]->leaves_updates)
            return &v->livelock_by_atomics;
    return &v->livelock;
}

static void find_livelock(struct explorer *x, const struct state *s, const struct graph *g)
{
    struct verdict *v = x->verdict;
    struct sight *sight = livelock_sight(v, s);
    if ((!x->wanted && !x->interleavings && !verdict_is_first(v, sight)) || !rounds_stay(s, g))
        return;
    const struct ir_insn *at = last_ended(s, RUN_SPINS);
    keep_example(x, s, g, verdict_sight(v, sight, at), &(struct notice){.kind = NOTICE_LIVELOCK, .a = at});
}

/* Examines an execution in which all reads are decided. */
static void look(struct explorer *x, const struct state *s, const struct graph *g, enum ending ending)
{
    struct verdict *v = x->verdict;
    find_races(x, s, g);
    if (ending == WITH_ROUND)
        return;
    find_stops(x, s, g);
    if (ending == COMPLETED) {
        uint64_t values[v->n_observed + 1];
        add_outcomes(x, s, g, values, 0);
    } else if (ending == DEADLOCKED) {
        const struct ir_insn *at = last_ended(s, RUN_MEETS);
        keep_example(x, s, g, verdict_sight(v, &v->deadlock, at), &(struct notice){.kind = NOTICE_DEADLOCK, .a = at});
    } else if (ending == CUT) {
        verdict_sight(v, &v->cut, last_ended(s, RUN_CUT));
    } else if (ending == BLOCKED) {
        find_livelock(x, s, g);
    }
}

/* ---- Fence-SC order ---- */

/* Scratch graphs, by recursion depth. */
static struct graph *spare(struct explorer *x, unsigned depth)
{
    if (depth >= x->n_spare) {
        unsigned n = 2 * depth + 8;
        x->spare = memory_grow(x->spare, n, sizeof *x->spare);
        for (; x->n_spare < n; x->n_spare++)
            graph_begin(&x->spare[x->n_spare], x->threads.n);
    }
    return &x->spare[depth];
}

static bool next_open(const struct explorer *x, const struct graph *g, uint16_t *i, uint16_t *k)
{
    for (; *i < g->n_fences; ++*i, *k = 0)
        for (; *k < *i; ++*k)
            if (model_open_fences(g, &x->threads, g->fences[*k], g->fences[*i]))
                return true;
    return false;
}

/* Does any Fence-SC order exist? Changes the graph at this depth. */
static bool has_fence_order(struct explorer *x, unsigned depth)
{
    uint16_t i = 1, k = 0;
    if (!model_settle(spare(x, depth), &x->threads))
        return false;
    if (!next_open(x, spare(x, depth), &i, &k))
        return true;
    for (int way = 0; way < 2; way++) {
        struct graph *t = spare(x, depth + 1), *g = spare(x, depth);
        graph_copy(t, g);
        graph_order(t, t->fences[way ? i : k], t->fences[way ? k : i]);
        if (has_fence_order(x, depth + 1))
            return true;
    }
    return false;
}

static bool is_observed(const struct verdict *v, uint16_t id)
{
    for (uint32_t i = 0; i < v->n_observed; i++)
        if (v->observed[i] == id)
            return true;
    return false;
}

/* Does it matter which of a location's values is final: for an outcome, or for a thread that may
 * read one for ever? */
static bool last_values_show(const struct explorer *x, const struct state *s, const struct graph *g, uint16_t l,
                             enum ending ending)
{
    uint64_t read[MAX_WORDS];
    if (ending != BLOCKED)
        return is_observed(x->verdict, g->locations[l].id);
    if (!x->wanted && !x->interleavings && !verdict_is_first(x->verdict, livelock_sight(x->verdict, s)))
        return false;
    find_read_for_ever(s, g, l, read);
    return !is_empty(read, g->words);
}

/* Would a race of these two members be new? */
static bool is_new_race(const struct explorer *x, const struct state *s, const struct graph *g, uint16_t l, unsigned m,
                        unsigned other)
{
    return x->wanted || x->interleavings ||
           verdict_is_first_race(x->verdict, insn_of(s, g, graph_member(g, l, m)),
                                 insn_of(s, g, graph_member(g, l, other)));
}

/* Marks the members of a location whose order with a member matters: for a race that is not known
 * yet, or because several values can be final. */
static void find_shown(const struct explorer *x, const struct state *s, const struct graph *g, uint16_t l, unsigned m,
                       enum ending ending, uint64_t *shown)
{
    const uint64_t *reads = graph_location_set(g, l, READS), *writes = graph_location_set(g, l, WRITES),
                   *strong = graph_row(g, g->strong, l, m), *now = graph_row(g, g->before, l, m);
    uint64_t last[MAX_WORDS];
    model_may_be_last(g, l, last);
    bool ends = count_members(last, g->words) > 1 && last_values_show(x, s, g, l, ending);
    for (unsigned k = 0; k < g->words; k++) {
        shown[k] = ends || has(writes, m) ? reads[k] | writes[k] : writes[k];
        shown[k] &= ~word_of(INITIAL, k) & ~word_of(m, k) & ~now[k] & (ends ? UINT64_MAX : ~strong[k]);
    }
    FOR_MEMBERS(other, k, g->words, shown[k])
    if (has(graph_row(g, g->before, l, other), m) || !(ends || is_new_race(x, s, g, l, m, other)))
        drop_member(shown, other);
}

/* If all open pairs of fences were ordered both ways: could ordering a before b order two such
 * members? */
static bool pair_matters(const struct explorer *x, const struct state *s, const struct graph *g,
                         const struct graph *both, uint16_t a, uint16_t b, enum ending ending)
{
    for (uint16_t l = 0; l < g->n_locations; l++) {
        uint64_t shown[MAX_WORDS];
        for (unsigned m = 1; m < g->locations[l].n; m++) {
            if (!graph_precedes(both, graph_member(g, l, m), a))
                continue;
            find_shown(x, s, g, l, m, ending, shown);
            FOR_MEMBERS(n, k, g->words, shown[k])
            if (graph_precedes(both, b, graph_member(g, l, n)))
                return true;
        }
    }
    return false;
}

/* Are there members whose undecided order matters? */
static bool something_shows(const struct explorer *x, const struct state *s, const struct graph *g, enum ending ending)
{
    for (uint16_t l = 0; l < g->n_locations; l++) {
        uint64_t shown[MAX_WORDS];
        for (unsigned m = 1; m < g->locations[l].n; m++) {
            find_shown(x, s, g, l, m, ending, shown);
            if (!is_empty(shown, g->words))
                return true;
        }
    }
    return false;
}

static void join_groups(uint16_t *group, uint16_t n, uint16_t from, uint16_t to)
{
    for (uint16_t m = 0; m < n; m++)
        if (group[m] == from)
            group[m] = to;
}

/* Orders all open pairs of fences both ways, so that fences which pairs
 * connect precede each other. */
static void order_both_ways(const struct explorer *x, const struct graph *g, struct graph *both)
{
    uint16_t group[MAX_FENCES];
    for (uint16_t i = 0; i < g->n_fences; i++)
        group[i] = i;
    for (uint16_t i = 1, k = 0; next_open(x, g, &i, &k); k++)
        join_groups(group, g->n_fences, group[i], group[k]);
    for (uint16_t i = 0; i < g->n_fences; i++) {
        uint16_t n = 0;
        for (uint16_t k = 0; k < g->n_fences; k++)
            n += group[k] == i;
        if (n < 2)
            continue;
        uint16_t all = graph_meet(both);
        for (uint16_t k = 0; k < g->n_fences; k++)
            if (group[k] == i)
                graph_order(both, g->fences[k], all);
        for (uint16_t k = 0; k < g->n_fences; k++)
            if (group[k] == i)
                graph_order(both, all, g->fences[k]);
    }
}

/* Finds an open pair of fences whose order affects the results. */
static bool find_pair(struct explorer *x, const struct state *s, const struct graph *g, unsigned depth,
                      enum ending ending, uint16_t *a, uint16_t *b)
{
    uint16_t i = 1, k = 0;
    struct graph *both = spare(x, depth);
    if (!next_open(x, g, &i, &k) || !something_shows(x, s, g, ending))
        return false;
    graph_copy(both, g);
    order_both_ways(x, g, both);
    for (; next_open(x, g, &i, &k); k++) {
        *a = g->fences[i];
        *b = g->fences[k];
        if (pair_matters(x, s, g, both, *a, *b, ending) || pair_matters(x, s, g, both, *b, *a, ending))
            return true;
    }
    return false;
}

/* Calls look() for each Fence-SC order that affects the results; false if none exists. */
static bool order_fences(struct explorer *x, const struct state *s, const struct graph *g, unsigned depth,
                         enum ending ending)
{
    uint16_t a, b;
    if (g->n_fences < 2) {
        look(x, s, g, ending);
        return true;
    }
    if (!find_pair(x, s, g, depth, ending, &a, &b)) {
        graph_copy(spare(x, depth), g);
        if (!has_fence_order(x, depth))
            return false;
        look(x, s, g, ending);
        return true;
    }
    bool any = false;
    struct graph ordered;
    graph_begin(&ordered, x->threads.n);
    for (int way = 0; way < 2; way++) {
        graph_copy(&ordered, g);
        graph_order(&ordered, way ? b : a, way ? a : b);
        if (model_settle(&ordered, &x->threads))
            any |= order_fences(x, s, &ordered, depth, ending);
    }
    graph_free(&ordered);
    return any;
}

/* Examines the races of an execution that differs from others in nothing else. */
static void find_races_with_round(struct explorer *x, const struct state *s)
{
    order_fences(x, s, &s->g, 0, WITH_ROUND);
}

/* ---- threads that spin ---- */

/* The first undecided read of a thread. */
static bool first_open(const struct state *s, uint16_t *event)
{
    for (uint16_t t = 0; t < s->n_threads; t++)
        for (uint16_t po = s->runs[t]->complete; po < s->runs[t]->n_events; po++) {
            *event = graph_event(&s->g, t, po);
            if (s->g.events[*event].location != NO_LOCATION &&
                has(graph_location_set(&s->g, s->g.events[*event].location, PENDING), s->g.events[*event].member))
                return true;
        }
    return false;
}

/* The undecided reads are those of endless loops: tries each of the values with which the loops
   continue. */
static bool spin(struct explorer *x, struct state *s, uint32_t depth)
{
    uint16_t event;
    if (!first_open(s, &event)) {
        enum ending ending = ending_of(s);
        return order_fences(x, s, &s->g, 0, ending);
    }
    bool any = false;
    uint64_t choices[MAX_WORDS];
    clear_set(graph_event_set(&s->g, event, EXCLUDED), s->g.words);
    model_choices(&s->g, event, choices);
    FOR_MEMBERS(w, k, s->g.words, choices[k])
    {
        struct run *run = run_taking(x, s, event, w);
        if (run->end != RUN_SPINS)
            continue;
        struct state t = {.n_threads = s->n_threads};
        t.runs = memory_grow(NULL, s->n_threads, sizeof *t.runs);
        memcpy(t.runs, s->runs, s->n_threads * sizeof *t.runs);
        graph_copy(&t.g, &s->g);
        take(x, &t, event, w);
        if (model_settle(&t.g, &x->threads))
            any |= spin(x, &t, depth + 1);
        graph_free(&t.g);
        free(t.runs);
    }
    return any;
}

/* Hashes what defines a graph: what each thread did, which threads met, and what each read reads
   from. */
static uint64_t graph_hash(const struct state *s)
{
    uint64_t h = 1;
    const struct graph *g = &s->g;
    for (uint16_t t = 0; t < s->n_threads; t++)
        for (uint16_t po = 0; po < g->n_by_po[t]; po++) {
            const struct event *e = &g->events[graph_event(g, t, po)];
            const struct run_event *r = &s->runs[t]->events[po];
            h = mix(h, (uint64_t)e->kind << 32 | (r->insn && r->insn->origin ? r->insn->origin->offset : 0));
            if (e->rf != NO_MEMBER && e->rf != INITIAL) {
                const struct event *w = &g->events[graph_member(g, e->location, e->rf)];
                h = mix(h, (uint64_t)w->thread << 32 | w->po);
            } else if (e->rf == INITIAL) {
                h = mix(h, ~0ull);
            }
            if (e->met != NO_EVENT) { /* identifies the meeting by its first arrival */
                for (uint16_t i = 0; i < g->n_events; i++)
                    if (g->events[i].met == e->met && g->events[i].thread != NO_EVENT) {
                        h = mix(h, (uint64_t)g->events[i].thread << 32 | g->events[i].po);
                        if (s->runs[g->events[i].thread]->events[g->events[i].po].kind == RUN_EXCHANGE)
                            break;
                    }
            }
        }
    return h;
}

void verdict_dead_end(struct explorer *x, const struct state *s)
{
    const struct ir_insn *at = last_ended(s, RUN_CUT);
    if (at)
        verdict_sight(x->verdict, &x->verdict->cut, at);
}

void verdict_leaf(struct explorer *x, struct state *s)
{
    struct verdict *v = x->verdict;
    enum ending ending = ending_of(s);
    bool exists = spin(x, s, 0);
    if (exists)
        look_at_rounds(x, s, find_races_with_round);
    if (!exists)
        v->dead++;
    else if (ending == COMPLETED) {
        v->graphs++;
        verdict_graph(v, graph_hash(s));
    } else if (ending == BLOCKED || ending == CUT)
        v->blocked++;
}
