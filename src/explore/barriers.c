/* Meetings of threads: barriers of a block (PTX ISA 9.0, 9.7.13.1) and of a cluster (9.7.13.4), and
 * collectives of a warp.
 *
 * A warp arrives at a barrier as a whole: a thread waits for all threads of its warp that have not
 * exited. A lane that waits elsewhere for lanes of its warp cannot arrive, and is not waited for.
 * If more arrive at a barrier than its count, the order of arrival decides which of them meet, so
 * the search branches. The memory order of barriers is described in 8.9.4, Memory synchronization:
 * what precedes an arrival precedes what follows a sync of the same meeting. */
#include <string.h>

#include "explore/search.h"
#include "explore/verdict.h"
#include "exec/shuffle.h"
#include "isa/sem.h"

static const struct run_event *run_event_of(const struct state *s, uint16_t event)
{
    const struct event *e = &s->g.events[event];
    return &s->runs[e->thread]->events[e->po];
}

static const struct place_in_grid *place_of(const struct explorer *x, uint16_t thread)
{
    return &x->runners[thread].at;
}

static bool has_ended(const struct run *run)
{
    return run->end == RUN_DONE || run->end == RUN_FAULTED;
}

/* The event at which the thread waits to meet others; else NULL. */
static const struct run_event *standing(const struct run *run)
{
    return run->end == RUN_MEETS ? &run->events[run->n_events - 1] : NULL;
}

/* ---- arrivals at barriers ---- */

/* The k-th arrival of a thread at a barrier that has no meeting yet; NO_EVENT. */
static uint16_t arrival(const struct state *s, uint16_t thread, uint8_t barrier, unsigned k)
{
    const struct run *run = s->runs[thread];
    for (uint16_t po = 0; po < run->n_events; po++) {
        const struct run_event *e = &run->events[po];
        uint16_t event = graph_event(&s->g, thread, po);
        if (e->kind == RUN_BARRIER && e->barrier == barrier && e->mode != BAR_CLUSTER_WAIT &&
            s->g.events[event].met == NO_EVENT && k-- == 0)
            return event;
    }
    return NO_EVENT;
}

/* Finds arrivals of a warp as a whole: the k-th arrivals of its lanes. */
static bool warp_arrives(const struct explorer *x, const struct state *s, uint32_t block, uint32_t warp,
                         uint8_t barrier, unsigned k, struct meeting *m)
{
    uint16_t before = m->n;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        const struct place_in_grid *at = place_of(x, t);
        if (at->block != block || at->warp != warp)
            continue;
        uint16_t event = arrival(s, t, barrier, k);
        const struct run_event *stands = standing(s->runs[t]);
        if (event == NO_EVENT && (has_ended(s->runs[t]) || (stands && stands->kind == RUN_EXCHANGE)))
            continue;
        if (event == NO_EVENT || m->n == MAX_PARTIES) {
            m->n = before;
            return false;
        }
        m->arrivals[m->n++] = event;
    }
    return m->n > before;
}

static bool warp_lives(const struct explorer *x, const struct state *s, uint32_t block, uint32_t warp)
{
    for (uint16_t t = 0; t < s->n_threads; t++)
        if (place_of(x, t)->block == block && place_of(x, t)->warp == warp && !has_ended(s->runs[t]))
            return true;
    return false;
}

static uint32_t warps_of(const struct explorer *x)
{
    return (x->program->threads_per_block + WARP_LANES - 1) / WARP_LANES;
}

/* The number of warps that a barrier needs, by its latest arrival; 0 if there is none. */
static uint32_t wanted(const struct explorer *x, const struct state *s, uint32_t block, uint8_t barrier, bool *counted)
{
    uint32_t want = 0;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        uint16_t event = place_of(x, t)->block == block ? arrival(s, t, barrier, 0) : NO_EVENT;
        if (event == NO_EVENT)
            continue;
        uint32_t count = run_event_of(s, event)->count;
        *counted = count != 0;
        uint32_t warps = (count + WARP_LANES - 1) / WARP_LANES;
        want = warps > want ? warps : want;
        if (!count)
            want = UINT32_MAX;
    }
    return want;
}

/* ---- what a meeting does ---- */

static uint64_t reduced(const struct explorer *x, const struct state *s, const struct meeting *m, uint8_t mode)
{
    uint64_t n = 0, lanes = 0;
    for (uint16_t i = 0; i < m->n; i++) {
        uint64_t here = (uint64_t)__builtin_popcount(place_of(x, s->g.events[m->arrivals[i]].thread)->lanes);
        lanes += here;
        n += run_event_of(s, m->arrivals[i])->operand[0] ? here : 0;
    }
    return mode == BAR_POPC ? n : mode == BAR_AND ? n == lanes : mode == BAR_OR ? n > 0 : 0;
}

void meet(struct explorer *x, struct state *s, const struct meeting *m)
{
    struct graph *g = &s->g;
    uint16_t node = graph_meet(g);
    for (uint16_t i = 0; i < m->n; i++) {
        g->events[m->arrivals[i]].met = node;
        graph_order(g, m->arrivals[i], node);
    }
    for (uint16_t i = 0; i < m->n; i++) {
        const struct run_event *e = run_event_of(s, m->arrivals[i]);
        if (e->mode != BAR_ARRIVE)
            graph_order(g, node, m->arrivals[i]);
    }
    uint64_t values[4] = {0};
    for (unsigned mode = BAR_POPC; mode <= BAR_OR; mode++)
        values[mode - BAR_POPC] = reduced(x, s, m, (uint8_t)mode);
    for (uint16_t i = 0; i < m->n; i++) {
        const struct run_event *e = run_event_of(s, m->arrivals[i]);
        if (!(e->flags & RUN_RESOLVED)) {
            uint16_t thread = g->events[m->arrivals[i]].thread;
            resolve(x, s, m->arrivals[i], e->mode >= BAR_POPC ? values[e->mode - BAR_POPC] : 0);
            advance(x, s, thread);
        }
    }
}

/* ---- barriers of a block ---- */

/* The ways to choose `want` of the present arrivals: how many of each warp, the earliest first, and
 * at least one of warp `with`. Each set of meetings is found once: the search asks of an arrival
 * which of the others it meets, or whether it is passed over. */
struct ways {
    struct explorer *x;
    struct state *s;
    uint32_t block, want, with, way;
    uint8_t barrier;
    uint32_t n;
    struct meeting now, *found;
};

/* Is there an arrival that came after any of the others was passed over? */
static bool is_fresh(const struct ways *w)
{
    uint16_t newest = 0, passed = 0;
    for (uint16_t i = 0; i < w->now.n; i++) {
        uint16_t e = w->now.arrivals[i];
        newest = e > newest ? e : newest;
        passed = w->s->g.events[e].passed > passed ? w->s->g.events[e].passed : passed;
    }
    return newest >= passed;
}

static void try_ways(struct ways *w, uint32_t warp, uint32_t taken)
{
    uint16_t before = w->now.n;
    if (taken == w->want && warp > w->with) {
        if (is_fresh(w) && w->n++ == w->way)
            memcpy(w->found, &w->now, offsetof(struct meeting, arrivals) + w->now.n * sizeof w->now.arrivals[0]);
        return;
    }
    if (warp == warps_of(w->x))
        return;
    for (uint32_t k = 0;; k++) {
        if (k || warp != w->with)
            try_ways(w, warp + 1, taken + k);
        if (taken + k == w->want || !warp_arrives(w->x, w->s, w->block, warp, w->barrier, k, &w->now))
            break;
    }
    w->now.n = before;
}

/* The number of arrivals of warps. */
static uint32_t count_arrivals(const struct explorer *x, const struct state *s, uint32_t block, uint8_t barrier)
{
    struct meeting m;
    uint32_t n = 0;
    for (uint32_t w = 0; w < warps_of(x); w++)
        for (unsigned k = 0; m.n = 0, warp_arrives(x, s, block, w, barrier, k, &m); k++)
            n++;
    return n;
}

/* Does the thread wait at the barrier? Then it does not arrive again before the barrier opens. */
static bool stands_at(const struct run *run, uint8_t barrier)
{
    const struct run_event *e = standing(run);
    return e && e->kind == RUN_BARRIER && e->barrier == barrier;
}

/* Finds whom the first possible warp meets: the `way`-th way, and the number of ways. */
static void find_ways(struct explorer *x, struct state *s, uint32_t block, uint8_t barrier, unsigned way,
                      struct meeting *m, unsigned *n, bool *later)
{
    bool counted = false;
    uint32_t want = wanted(x, s, block, barrier, &counted);
    *n = 0;
    *later = false;
    if (!want)
        return;
    if (!counted) { /* all warps that have not exited */
        m->n = 0;
        for (uint32_t w = 0; w < warps_of(x); w++)
            if (warp_lives(x, s, block, w) && !warp_arrives(x, s, block, w, barrier, 0, m))
                return;
        *n = 1;
        return;
    }
    struct ways w;
    for (uint32_t with = 0; with < warps_of(x) && !*n; with++) {
        w = (struct ways){x, s, block, want, with, way, barrier, .found = m};
        try_ways(&w, 0, 0);
        *n = w.n;
    }
    if (!*n)
        return;
    *later = count_arrivals(x, s, block, barrier) > want;
    for (uint16_t t = 0; t < s->n_threads && !*later; t++)
        *later = place_of(x, t)->block == block && !stands_at(s->runs[t], barrier) && may_arrive(x, s, t, barrier);
}

static bool for_barriers(struct explorer *x, struct state *s, unsigned way, bool choice, struct meeting *m, unsigned *n,
                         bool *later)
{
    for (uint32_t b = 0; b < x->program->n_blocks; b++)
        for (uint8_t id = 0; id < BARRIERS; id++) {
            find_ways(x, s, b, id, way, m, n, later);
            if (*n && (*n > 1 || *later) == choice)
                return true;
        }
    return false;
}

bool meet_choice(struct explorer *x, struct state *s, unsigned way, struct meeting *m, unsigned *n_ways, bool *later)
{
    return for_barriers(x, s, way, true, m, n_ways, later);
}

void meet_later(struct explorer *x, struct state *s)
{
    struct meeting m;
    unsigned n;
    bool later;
    if (!for_barriers(x, s, 0, true, &m, &n, &later))
        return;
    /* The first warp of the possible meeting is the one that the search asked about. */
    const struct run_event *e = run_event_of(s, m.arrivals[0]);
    uint32_t block = place_of(x, s->g.events[m.arrivals[0]].thread)->block;
    uint8_t barrier = e->barrier;
    struct ways w;
    for (uint32_t with = 0; with < warps_of(x); with++) {
        bool counted;
        w = (struct ways){x, s, block, wanted(x, s, block, barrier, &counted), with, 0, barrier, .found = &m};
        try_ways(&w, 0, 0);
        if (!w.n)
            continue;
        m.n = 0;
        warp_arrives(x, s, block, with, barrier, 0, &m);
        for (uint16_t i = 0; i < m.n; i++)
            s->g.events[m.arrivals[i]].passed = s->g.n_events;
        return;
    }
}

bool meets_still(struct explorer *x, struct state *s)
{
    for (uint32_t b = 0; b < x->program->n_blocks; b++)
        for (uint8_t id = 0; id < BARRIERS; id++) {
            bool counted = false;
            uint32_t want = wanted(x, s, b, id, &counted);
            if (want && counted && count_arrivals(x, s, b, id) >= want)
                return true;
        }
    return false;
}

/* ---- barriers of a cluster ---- */

/* Completes the phase if each thread of the cluster that has not exited has arrived. */
static bool cluster_arrives(struct explorer *x, struct state *s, uint32_t cluster)
{
    struct meeting m;
    bool relaxed[MAX_PARTIES];
    m.n = 0;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        if (place_of(x, t)->cluster != cluster)
            continue;
        uint16_t event = arrival(s, t, CLUSTER_BARRIER, 0);
        if (event == NO_EVENT && has_ended(s->runs[t]))
            continue;
        if (event == NO_EVENT || m.n == MAX_PARTIES)
            return false;
        relaxed[m.n] = run_event_of(s, event)->order == ORDER_RELAXED;
        m.arrivals[m.n++] = event;
    }
    if (!m.n)
        return false;
    uint16_t node = graph_meet(&s->g);
    for (uint16_t i = 0; i < m.n; i++) {
        s->g.events[m.arrivals[i]].met = node;
        if (!relaxed[i])
            graph_order(&s->g, m.arrivals[i], node);
    }
    return true;
}

/* A thread at .wait proceeds if the phase of its last arrival is complete. */
static bool cluster_waits(struct explorer *x, struct state *s, uint16_t thread)
{
    const struct run *run = s->runs[thread];
    const struct run_event *e = standing(run);
    if (!e || e->kind != RUN_BARRIER || e->mode != BAR_CLUSTER_WAIT)
        return false;
    for (uint16_t po = run->n_events - 1; po-- > 0;) {
        const struct run_event *a = &run->events[po];
        if (a->kind != RUN_BARRIER || a->mode != BAR_CLUSTER_ARRIVE)
            continue;
        uint16_t node = s->g.events[graph_event(&s->g, thread, po)].met;
        uint16_t wait = graph_event(&s->g, thread, run->n_events - 1);
        if (node == NO_EVENT)
            return false;
        s->g.events[wait].met = node;
        graph_order(&s->g, node, wait);
        resolve(x, s, wait, 0);
        advance(x, s, thread);
        return true;
    }
    return false;
}

static bool meet_clusters(struct explorer *x, struct state *s)
{
    bool met = false;
    for (uint32_t c = 0; c < x->program->n_blocks / x->program->blocks_per_cluster; c++)
        met |= cluster_arrives(x, s, c);
    for (uint16_t t = 0; t < s->n_threads; t++)
        met |= cluster_waits(x, s, t);
    return met;
}

/* ---- lanes of a warp ---- */

struct exchange {
    uint32_t lanes;
    uint64_t a[WARP_LANES];
    uint32_t b[WARP_LANES], c[WARP_LANES];
    uint16_t thread[WARP_LANES];
};

static bool gather_exchange(const struct explorer *x, const struct state *s, uint16_t thread, struct exchange *m)
{
    const struct place_in_grid *at = place_of(x, thread);
    const struct run_event *e = standing(s->runs[thread]);
    m->lanes = 0;
    for (uint16_t t = 0; t < s->n_threads; t++) {
        const struct place_in_grid *other = place_of(x, t);
        const struct run_event *o = standing(s->runs[t]);
        if (other->block != at->block || other->warp != at->warp || !(other->lanes & e->count) || has_ended(s->runs[t]))
            continue;
        if (!o || o->kind != RUN_EXCHANGE || o->mode != e->mode || o->count != e->count)
            return false;
        for (uint32_t l = other->lanes; l; l &= l - 1) {
            unsigned lane = (unsigned)__builtin_ctz(l);
            m->a[lane] = o->operand[0];
            m->b[lane] = (uint32_t)o->operand[1];
            m->c[lane] = (uint32_t)(o->operand[1] >> 32);
            m->thread[lane] = t;
        }
        m->lanes |= other->lanes;
    }
    return m->lanes != 0;
}

static uint32_t votes_of(const struct exchange *m)
{
    uint32_t votes = 0;
    for (uint32_t l = m->lanes; l; l &= l - 1)
        votes |= m->a[__builtin_ctz(l)] & 1 ? l & -l : 0;
    return votes;
}

static uint32_t same_as(const struct exchange *m, unsigned lane)
{
    uint32_t same = 0;
    for (uint32_t l = m->lanes; l; l &= l - 1)
        same |= m->a[__builtin_ctz(l)] == m->a[lane] ? l & -l : 0;
    return same;
}

static uint32_t redux_of(const struct exchange *m, uint8_t mode)
{
    uint32_t v = (uint32_t)m->a[__builtin_ctz(m->lanes)];
    for (uint32_t l = m->lanes & (m->lanes - 1); l; l &= l - 1) {
        uint32_t w = (uint32_t)m->a[__builtin_ctz(l)];
        switch ((enum collective)mode) {
        case COLLECTIVE_REDUX_ADD: v += w; break;
        case COLLECTIVE_REDUX_MIN_U32: v = v < w ? v : w; break;
        case COLLECTIVE_REDUX_MAX_U32: v = v > w ? v : w; break;
        case COLLECTIVE_REDUX_MIN_S32: v = (int32_t)v < (int32_t)w ? v : w; break;
        case COLLECTIVE_REDUX_MAX_S32: v = (int32_t)v > (int32_t)w ? v : w; break;
        case COLLECTIVE_REDUX_AND: v &= w; break;
        case COLLECTIVE_REDUX_OR: v |= w; break;
        case COLLECTIVE_REDUX_XOR: v ^= w; break;
        default:
            v = f32_bits(sem_minmax_f32(f32_of(v), f32_of(w),
                                        mode == COLLECTIVE_REDUX_MAX_F32 || mode == COLLECTIVE_REDUX_MAX_NAN_F32, false,
                                        mode >= COLLECTIVE_REDUX_MIN_NAN_F32, false));
        }
    }
    return v;
}

/* The value that a lane receives, with a predicate above it. */
static uint64_t exchanged(const struct exchange *m, uint8_t mode, unsigned lane)
{
    const uint64_t yes = 1ull << 32;
    uint32_t votes = votes_of(m);
    bool in_range;
    switch ((enum collective)mode) {
    case COLLECTIVE_SYNC: return 0;
    case COLLECTIVE_SHFL_UP:
    case COLLECTIVE_SHFL_DOWN:
    case COLLECTIVE_SHFL_BFLY:
    case COLLECTIVE_SHFL_IDX: {
        unsigned from = shuffle_source((enum collective)mode, lane, m->b[lane], m->c[lane], &in_range);
        return (uint32_t)m->a[m->lanes >> from & 1 ? from : lane] | (in_range ? yes : 0);
    }
    case COLLECTIVE_VOTE_ALL: return votes == m->lanes ? yes : 0;
    case COLLECTIVE_VOTE_ANY: return votes ? yes : 0;
    case COLLECTIVE_VOTE_UNI: return votes == m->lanes || !votes ? yes : 0;
    case COLLECTIVE_BALLOT: return votes;
    case COLLECTIVE_MATCH_ANY32:
    case COLLECTIVE_MATCH_ANY64: return same_as(m, lane);
    case COLLECTIVE_MATCH_ALL32:
    case COLLECTIVE_MATCH_ALL64: return same_as(m, lane) == m->lanes ? m->lanes | yes : 0;
    case COLLECTIVE_ELECT:
        return (uint32_t)__builtin_ctz(m->lanes) | ((unsigned)__builtin_ctz(m->lanes) == lane ? yes : 0);
    default: return redux_of(m, mode);
    }
}

static bool meet_exchange(struct explorer *x, struct state *s, uint16_t thread)
{
    struct exchange m;
    const struct run_event *e = standing(s->runs[thread]);
    if (!e || e->kind != RUN_EXCHANGE || !gather_exchange(x, s, thread, &m))
        return false;
    uint8_t mode = e->mode;
    uint16_t node = graph_meet(&s->g);
    uint16_t events[WARP_LANES];
    uint64_t values[WARP_LANES];
    for (uint32_t l = m.lanes; l; l &= l - 1) {
        unsigned lane = (unsigned)__builtin_ctz(l);
        events[lane] = graph_event(&s->g, m.thread[lane], s->runs[m.thread[lane]]->n_events - 1);
        values[lane] = exchanged(&m, mode, lane);
        s->g.events[events[lane]].met = node;
        if (mode == COLLECTIVE_SYNC) /* only bar.warp.sync is documented to order memory */
            graph_order(&s->g, events[lane], node);
    }
    for (uint32_t l = m.lanes; l; l &= l - 1) {
        unsigned lane = (unsigned)__builtin_ctz(l);
        if (mode == COLLECTIVE_SYNC)
            graph_order(&s->g, node, events[lane]);
        if (standing(s->runs[m.thread[lane]]) && m.thread[lane] != NO_EVENT) {
            uint16_t t = m.thread[lane];
            if (graph_event(&s->g, t, s->runs[t]->n_events - 1) != events[lane])
                continue; /* one thread stands for several lanes, and has its result */
            resolve(x, s, events[lane], values[lane]);
            advance(x, s, t);
        }
    }
    return true;
}

bool meet_all(struct explorer *x, struct state *s)
{
    struct meeting m;
    bool met = false, later;
    unsigned n;
    for (uint16_t t = 0; t < s->n_threads; t++)
        met |= meet_exchange(x, s, t);
    while (for_barriers(x, s, 0, false, &m, &n, &later)) {
        meet(x, s, &m);
        met = true;
    }
    return meet_clusters(x, s) || met;
}
