/* The search; see search.h. */
#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

#include "explore/memory.h"
#include "explore/verdict.h"

/* ---- states ---- */

static struct state *state_new(const struct explorer *x)
{
    struct state *s = memory_zeroed(1, sizeof *s);
    s->runs = memory_zeroed(x->threads.n + 1u, sizeof *s->runs);
    s->n_threads = x->threads.n;
    graph_begin(&s->g, x->threads.n);
    return s;
}

static void state_free(struct state *s)
{
    if (s) {
        graph_free(&s->g);
        free(s->runs);
    }
    free(s);
}

static struct state *state_at(struct explorer *x, uint32_t depth)
{
    if (depth >= x->n_states) {
        uint32_t n = 2 * depth + 16;
        x->states = memory_grow(x->states, n, sizeof *x->states);
        memset(x->states + x->n_states, 0, (n - x->n_states) * sizeof *x->states);
        x->decisions = memory_grow(x->decisions, n, 1);
        x->has_others = memory_grow(x->has_others, n, 1);
        x->n_states = n;
    }
    if (!x->states[depth])
        x->states[depth] = state_new(x);
    return x->states[depth];
}

static struct state *state_copy(struct explorer *x, uint32_t depth, const struct state *from)
{
    struct state *s = state_at(x, depth);
    memcpy(s->runs, from->runs, from->n_threads * sizeof *s->runs);
    graph_copy(&s->g, &from->g);
    return s;
}

/* ---- open reads ---- */

/* Whatever the undecided read reads: does the event keep its kind, and the thread stay out of
 * failing iterations? */
static bool goes_on_anyway(const struct run *run, uint16_t po)
{
    const struct ir_insn *i = run->events[po].insn;
    uint64_t decides = run->round_needs | (run->end == RUN_WAITS ? run->needs : 0);
    return !(decides >> po % 64 & 1) && !(i->kind == IR_ATOM && i->access->mem.atom == ATOM_cas);
}

/* The axioms allow an undecided read to read from `now`: with which of these does its thread
   proceed? */
static void look_at(struct explorer *x, struct state *s, struct open *o)
{
    uint16_t event = o->event;
    const struct event *e = &s->g.events[event];
    unsigned words = s->g.words;
    uint64_t all[MAX_WORDS], taken[MAX_WORDS];
    copy_set(all, o->now, words);
    clear_set(o->now, words);
    if (o->waits)
        return;
    clear_set(taken, words);
    if (e->kind == GRAPH_UPDATE)
        model_taken(&s->g, event, taken);
    if (goes_on_anyway(s->runs[e->thread], e->po)) {
        copy_set(o->now, all, words);
        take_from_set(o->now, taken, words);
        o->n_now = (uint16_t)count_members(o->now, words);
        return;
    }
    FOR_MEMBERS(m, k, words, all[k])
    {
        const struct run *run = run_taking(x, s, event, m);
        if (run->end == RUN_SPINS) {
            add_member(o->fails, m);
            o->may_fail = true;
            if (run->is_chain && chain_may_race(x, run))
                verdict_unseen(x->verdict, run->stopped);
            if (run->leaves_updates)
                updates_left_out(x, &s->g, event, run->round);
        } else if (!(has(taken, m) && run->events[e->po].kind == RUN_UPDATE)) {
            add_member(o->now, m);
            o->n_now++;
        }
    }
}

/* No thread will write any more: can the read's loop repeat for ever
 * with one of the last values? */
static bool can_stay(const struct state *s, const struct open *o)
{
    uint64_t last[MAX_WORDS];
    if (!o->may_fail)
        return false;
    model_may_be_last(&s->g, s->g.events[o->event].location, last);
    return sets_meet(o->fails, last, s->g.words);
}

enum step { NOTHING_OPEN, STUCK, FORCED, DEAD_END, BRANCH };

/* What waits for the read: 0: the thread, even if only to know that it need not proceed; 1: another
 * of its events; 2: nothing. The longer a read is left undecided, the more is known about it. */
static unsigned urgency(const struct state *s, uint16_t event)
{
    const struct event *e = &s->g.events[event];
    const struct run *run = s->runs[e->thread];
    uint64_t one = 1ull << e->po % 64;
    if (e->kind == GRAPH_UPDATE || /* others wait for the update's write */
        (run->end == RUN_WAITS && (run->needs | run->round_needs) & one))
        return 0;
    for (uint16_t po = e->po + 1; po < run->n_events; po++)
        if ((run->events[po].place_needs | run->events[po].value_needs) & one)
            return 1;
    return 2;
}

static unsigned weight(const struct open *o)
{
    return 4096u * o->urgency + 2u * o->n_now + (o->later || o->may_fail ? 1 : 0);
}

/* Does the event exist only if an iteration that may be left out does not? */
static bool is_beyond(const struct state *s, uint16_t event)
{
    const struct event *e = &s->g.events[event];
    return e->po >= s->runs[e->thread]->beyond;
}

/* Finds the undecided reads. Those beyond such an iteration count only for threads in `goes_on`. */
static unsigned find_open(struct explorer *x, struct state *s, const bool *goes_on, struct open *all)
{
    unsigned n = 0, words = s->g.words;
    if (x->open_words < words) {
        x->open_sets = memory_grow(x->open_sets, 2u * MAX_OPEN * words, sizeof *x->open_sets);
        x->open_words = (uint16_t)words;
    }
    for (uint16_t l = 0; l < s->g.n_locations; l++) {
        unsigned first = n;
        FOR_MEMBERS(m, k, words, graph_location_set(&s->g, l, PENDING)[k])
        {
            uint16_t event = graph_member(&s->g, l, m);
            const struct event *e = &s->g.events[event];
            if (is_beyond(s, event) && !(goes_on && goes_on[e->thread]))
                continue;
            if (n == MAX_OPEN) {
                program_refuse(x->program, NULL, "more than %u reads could still read from one write", MAX_OPEN);
                return 0;
            }
            struct open *o = &all[n];
            *o = (struct open){.event = event,
                               .now = x->open_sets + 2u * n * words,
                               .fails = x->open_sets + (2u * n + 1) * words,
                               .waits = s->runs[e->thread]->events[e->po].value_needs != 0};
            model_choices(&s->g, event, o->now);
            clear_set(o->fails, words);
            n++;
        }
        pass_over(x, s, all + first, n - first);
        for (unsigned i = first; i < n; i++)
            look_at(x, s, &all[i]);
    }
    return n;
}

/* Finds threads that must proceed beyond an iteration before it is known whether that is left out:
 * the iteration waits for a later write, which may depend on what they do. */
static bool find_beyond(const struct state *s, const struct open *all, unsigned n, bool *goes_on)
{
    bool any = false;
    memset(goes_on, 0, s->n_threads * sizeof *goes_on);
    for (unsigned i = 0; i < n; i++) {
        const struct event *e = &s->g.events[all[i].event];
        const struct run *run = s->runs[e->thread];
        if (run->beyond == NO_EVENT || !(run->round_needs >> e->po % 64 & 1) || !all[i].later)
            continue;
        any |= s->g.n_by_po[e->thread] > run->beyond;
        goes_on[e->thread] = true;
    }
    return any;
}

/* An undecided read that has no value and will not get one is a dead end, unless its loop can
 * repeat for ever. */
static bool is_dead_end(struct state *s, struct open *all, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct open *o = &all[i];
        if (o->n_now || o->later)
            continue;
        if (!can_stay(s, o))
            return true;
    }
    return false;
}

/* Is the state a dead end by pending_writes_exact.c? It is asked only where many
 * branches have led to nothing. */
static bool is_dead_end_seen_closer(struct explorer *x, struct state *s, const struct open *all, unsigned n)
{
    if (8 * x->verdict->dead <= x->verdict->graphs)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!all[i].n_now && !can_stay(s, &all[i]) && !may_come(x, s, all, n, i))
            return true;
    return false;
}

/* Finds the other values that a read may get besides its current ones. */
static void find_rest(struct explorer *x, struct state *s, const struct open *all, unsigned n, struct open *o)
{
    o->later = may_be_served(x, s, all, n, (unsigned)(o - all));
    o->may_fail = o->may_fail && (o->later || can_stay(s, o));
}

/* Can it read from exactly one write now? */
static bool may_be_forced(const struct open *o)
{
    return o->n_now == 1;
}

static bool is_forced(const struct open *o)
{
    return may_be_forced(o) && !o->later && !o->may_fail;
}

/* Decides all forced reads, by thread, so that the instructions behind them are executed once. If
 * all together would put a thread into a failing iteration, one is decided, and the others are
 * examined again. */
static void take_forced(struct explorer *x, struct state *s, const struct open *all, const uint16_t *forced, unsigned n)
{
    struct taken taken[n + 1];
    for (uint16_t t = 0; n && t < s->n_threads; t++) {
        unsigned k = 0;
        for (unsigned i = 0; i < n; i++) {
            const struct open *o = &all[forced[i]];
            if (s->g.events[o->event].thread == t)
                taken[k++] = (struct taken){o->event, (uint16_t)first_member(o->now)};
        }
        if (k && !take_all(x, s, taken, k))
            take(x, s, taken[0].event, taken[0].member);
    }
}

/* Chooses the read to decide next if none is forced: among those that most waits for, the one with
 * the fewest answers. */
static bool find_best(struct explorer *x, struct state *s, struct open *all, unsigned n, struct open *best)
{
    bool found = false;
    for (unsigned i = 0; i < n; i++) {
        struct open *o = &all[i];
        if (!o->n_now)
            continue;
        o->urgency = (uint8_t)urgency(s, o->event);
        if (found && weight(o) >= weight(best))
            continue;
        if (!may_be_forced(o)) /* not computed for it yet */
            find_rest(x, s, all, n, o);
        if (!found || weight(o) < weight(best))
            *best = *o;
        found = true;
    }
    return found;
}

/* Decides all undecided reads with a single answer; otherwise finds the read to branch on, with the
 * fewest answers. */
static enum step choose_of(struct explorer *x, struct state *s, const bool *goes_on, struct open *all, unsigned *n_open,
                           struct open *best)
{
    uint16_t forced[MAX_OPEN];
    unsigned n = *n_open = find_open(x, s, goes_on, all), n_forced = 0;
    if (!n)
        return NOTHING_OPEN;
    serve_all(x, s, all, n);
    if (is_dead_end(s, all, n) || is_dead_end_seen_closer(x, s, all, n))
        return DEAD_END;
    for (unsigned i = 0; i < n; i++) {
        struct open *o = &all[i];
        if (!may_be_forced(o))
            continue;
        find_rest(x, s, all, n, o);
        if (is_forced(o))
            forced[n_forced++] = (uint16_t)i;
    }
    if (!n_forced)
        return find_best(x, s, all, n, best) ? BRANCH : STUCK;
    take_forced(x, s, all, forced, n_forced);
    return FORCED;
}

static enum step choose(struct explorer *x, struct state *s, struct open *best)
{
    struct open all[MAX_OPEN];
    unsigned n;
    bool goes_on[s->n_threads + 1];
    enum step step = choose_of(x, s, NULL, all, &n, best);
    if (step == STUCK && find_beyond(s, all, n, goes_on))
        step = choose_of(x, s, goes_on, all, &n, best);
    return step;
}

/* ---- the tree ---- */

static void explore(struct explorer *x, uint32_t depth);

/* Do this depth's decisions lead to the part that is searched? Others have examined the node
   already. */
static bool is_on_the_way(const struct explorer *x, uint32_t depth)
{
    return depth < x->part->depth || (depth == x->part->depth && x->part->first);
}

/* Is a branch to be searched? Called for each branch of a node, in order. `others`: more branches
 * follow. */
static bool goes_into(struct explorer *x, uint32_t depth, unsigned branch, bool others)
{
    const struct part *p = x->part;
    unsigned first = depth == p->depth ? p->first : 0;
    bool given_away = branch > first && !x->has_others[depth];
    if (depth < p->depth ? branch != p->decisions[depth] : branch < first || given_away)
        return false;
    x->decisions[depth] = (uint8_t)branch;
    x->has_others[depth] = others && depth >= p->depth;
    return true;
}

/* Gives away the remaining branches nearest to the root. */
static void give(struct explorer *x, uint32_t depth)
{
    for (uint32_t d = x->part->depth; d < depth; d++)
        if (x->has_others[d]) {
            if (tree_give(x->tree, x->decisions, d, x->decisions[d] + 1))
                x->has_others[d] = false;
            return;
        }
}

enum { MAX_BRANCHES = 255 }; /* a branch's number is a byte */

static void branch_read(struct explorer *x, uint32_t depth, const struct open *o)
{
    bool rest = o->later || o->may_fail;
    unsigned branch = 0, words = x->states[depth]->g.words;
    uint64_t now[MAX_WORDS]; /* the branches decide about the others */
    copy_set(now, o->now, words);
    if (o->n_now >= MAX_BRANCHES) {
        program_refuse(x->program, NULL, "a read may read from more than %u writes", MAX_BRANCHES - 1);
        return;
    }
    FOR_MEMBERS(m, k, words, now[k])
    {
        bool is_last = branch + 1 == o->n_now;
        if (x->stopped || !goes_into(x, depth, branch++, rest || !is_last))
            continue;
        struct state *t = state_copy(x, depth + 1, x->states[depth]);
        take(x, t, o->event, m);
        if (model_settle(&t->g, &x->threads))
            explore(x, depth + 1);
    }
    if (!rest || !goes_into(x, depth, branch, false))
        return;
    struct state *t = state_copy(x, depth + 1, x->states[depth]);
    join_set(graph_event_set(&t->g, o->event, EXCLUDED), now, words);
    if (x->symmetric)
        exclude_twins(x, t, o->event, now);
    explore(x, depth + 1);
}

static bool branch_meeting(struct explorer *x, uint32_t depth)
{
    struct meeting m;
    unsigned n;
    bool later;
    if (!meet_choice(x, x->states[depth], 0, &m, &n, &later))
        return false;
    for (unsigned way = 0; way < n && !x->stopped; way++) {
        if (!goes_into(x, depth, way, later || way + 1 < n))
            continue;
        struct state *t = state_copy(x, depth + 1, x->states[depth]);
        meet_choice(x, t, way, &m, &(unsigned){0}, &(bool){0});
        meet(x, t, &m);
        if (model_settle(&t->g, &x->threads))
            explore(x, depth + 1);
    }
    if (later && goes_into(x, depth, n, false)) {
        meet_later(x, state_copy(x, depth + 1, x->states[depth]));
        explore(x, depth + 1);
    }
    return true;
}

/* Notes whether a long search is to end. */
static void note_end(struct explorer *x)
{
    if (x->verdict->cut.insn)
        tree_cuts(x->tree, x->arena->total_bytes);
    if (verdict_is_bad(x->verdict))
        atomic_store_explicit(&x->tree->has_found, true, memory_order_relaxed);
}

static void dead_end(struct explorer *x, uint32_t depth)
{
    x->verdict->here = (struct decisions){x->decisions, depth};
    verdict_dead_end(x, x->states[depth]);
    x->verdict->dead++;
    note_end(x);
}

/* Nothing can proceed: this is an execution if all undecided reads are those of await loops. */
static void end_of_branch(struct explorer *x, uint32_t depth)
{
    struct state *s = x->states[depth];
    struct open all[MAX_OPEN];
    unsigned n = find_open(x, s, NULL, all);
    for (unsigned i = 0; i < n; i++)
        if (!all[i].may_fail) {
            dead_end(x, depth);
            return;
        }
    if (s->g.meets && meets_still(x, s)) {
        dead_end(x, depth);
        return;
    }
    x->verdict->here = (struct decisions){x->decisions, depth};
    verdict_leaf(x, s);
    if (x->verdict->caught)
        tree_stop(x->tree, TREE_STOPPED);
    note_end(x);
}

static bool is_interrupted(const struct explorer *x)
{
    return x->interrupted && atomic_load_explicit(x->interrupted, memory_order_relaxed);
}

bool search_ends(struct explorer *x)
{
    size_t more = x->arena->total_bytes - x->run_bytes;
    if (more)
        x->is_full |= atomic_fetch_add(&x->tree->run_bytes, more) + more > x->most_run_bytes;
    x->run_bytes += more;
    return x->is_full || x->program->refusal.text || is_interrupted(x) || tree_has_ended(x->tree);
}

/* Takes a step, if the limit allows it. */
static bool may_go_on(struct explorer *x, uint32_t depth)
{
    if (search_ends(x))
        return false;
    if (tree_is_hungry(x->tree))
        give(x, depth);
    return is_on_the_way(x, depth) || tree_step(x->tree, &x->steps);
}

static void explore(struct explorer *x, uint32_t depth)
{
    struct state *s = x->states[depth];
    struct open o = {0};
    for (bool first = true;; first = false) {
        if (!may_go_on(x, depth)) {
            x->stopped = true;
            return;
        }
        if (!model_settle(&s->g, &x->threads)) {
            x->verdict->dead++;
            return;
        }
        if (s->g.meets && meet_all(x, s))
            continue;
        switch (choose(x, s, &o)) {
        case FORCED: continue;
        case DEAD_END:
            dead_end(x, depth);
            x->verdict->dead -= first; /* the decision turned out to be impossible */
            return;
        case BRANCH: branch_read(x, depth, &o); return;
        case NOTHING_OPEN:
        case STUCK:
            if (!s->g.meets || !branch_meeting(x, depth))
                end_of_branch(x, depth);
            return;
        }
    }
}

void search_run(struct explorer *x, const struct part *part)
{
    if (!x->root) {
        x->root = state_new(x);
        for (uint16_t t = 0; t < x->threads.n; t++) {
            x->root->runs[t] = x->runners[t].start;
            advance(x, x->root, t);
        }
    }
    x->part = part;
    state_copy(x, 0, x->root);
    explore(x, 0);
}

/* ---- threads ---- */

static uint8_t common_scope(const struct place_in_grid *a, const struct place_in_grid *b)
{
    return a->block == b->block ? SCOPE_CTA : a->cluster == b->cluster ? SCOPE_CLUSTER : SCOPE_GPU;
}

/* The run of a thread that only meets others at barriers; NULL if it does more. */
static struct run *sole_run(struct runner *r)
{
    struct run *run = r->start;
    while (run->end == RUN_MEETS) {
        const struct run_event *e = &run->events[run->n_events - 1];
        if (e->kind == RUN_BARRIER ? e->mode >= BAR_POPC : e->mode != COLLECTIVE_SYNC)
            return NULL;
        run = run_resolve(r, run, run->n_events - 1, 0);
    }
    for (uint16_t i = 0; i < run->n_events; i++)
        if (run->events[i].kind != RUN_BARRIER && run->events[i].kind != RUN_EXCHANGE)
            return NULL;
    return run->end == RUN_DONE ? run : NULL;
}

static bool same_meetings(const struct run *a, const struct run *b)
{
    if (a->n_events != b->n_events)
        return false;
    for (uint16_t i = 0; i < a->n_events; i++)
        if (a->events[i].insn != b->events[i].insn || a->events[i].barrier != b->events[i].barrier ||
            a->events[i].count != b->events[i].count)
            return false;
    return true;
}

bool search_begin(struct explorer *x)
{
    struct program *p = x->program;
    uint64_t all = (uint64_t)p->threads_per_block * p->grid[0];
    for (int i = 1; i < 3; i++) /* stops before the product exceeds 64 bits */
        all = all > MAX_THREADS ? all : all * p->grid[i];
    if (all > MAX_THREADS) {
        program_refuse(p, NULL, "%llu threads or more: at most %u are explored", (unsigned long long)all, MAX_THREADS);
        return false;
    }
    struct run **sole = ARENA_ARRAY(x->arena, struct run *, all);
    x->runners = ARENA_ARRAY(x->arena, struct runner, all);
    x->machine = run_machine(x->arena);
    x->most_run_bytes = memory_for_runs();
    for (uint32_t i = 0; i < all && !p->refusal.text; i++) {
        struct runner *r = &x->runners[x->threads.n];
        *r = (struct runner){.program = p, .arena = x->arena, .unroll = x->unroll, .updates_stay = x->updates_stay};
        r->scratch = x->machine;
        program_place(p, i / p->threads_per_block, i % p->threads_per_block, &r->at);
        run_begin(r);
        if (p->refusal.text)
            return false;
        sole[x->threads.n] = sole_run(r);
        uint16_t k = x->threads.n;
        while (sole[x->threads.n] && k-- > 0)
            if (sole[k] && x->runners[k].at.block == r->at.block && x->runners[k].at.warp == r->at.warp &&
                same_meetings(sole[k], sole[x->threads.n]))
                break;
        if (sole[x->threads.n] && k < x->threads.n)
            x->runners[k].at.lanes |= r->at.lanes;
        else
            x->threads.n++;
    }
    uint8_t *level = ARENA_ARRAY(x->arena, uint8_t, (size_t)x->threads.n * x->threads.n);
    for (uint16_t a = 0; a < x->threads.n; a++)
        for (uint16_t b = 0; b < x->threads.n; b++)
            level[a * x->threads.n + b] = common_scope(&x->runners[a].at, &x->runners[b].at);
    x->threads.level = level;
    return !p->refusal.text;
}

void search_end(struct explorer *x)
{
    for (uint32_t i = 0; i < x->n_states; i++)
        state_free(x->states[i]);
    state_free(x->root);
    free(x->states);
    free(x->decisions);
    free(x->has_others);
    free(x->open_sets);
    for (uint32_t i = 0; i < x->n_spare; i++)
        graph_free(&x->spare[i]);
    free(x->spare);
    serve_end(x);
    run_machine_free(x->machine);
}
