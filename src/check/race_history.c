/* What an access makes of the history of a cell, and the races that it has with what is there; see history.h and race_now.h. */
#include "check/race_now.h"

#include <string.h>

/* ---- numbers in stock ---- */

uint32_t race_take(struct races *r, struct numbered *n, struct stock *s, uint32_t count)
{
    if (s->left < count) {
        uint32_t row = count > ROW ? count : ROW;
        s->next = numbered_take_row(n, row);
        s->left = s->next ? row : 0;
        if (!s->next) {
            atomic_store(&r->no_memory, true);
            return 0;
        }
    }
    s->left -= count;
    s->next += count;
    return s->next - count;
}

uint32_t race_new_record(struct now *n)
{
    unsigned warp = n->warp;
    uint32_t stamp = n->b->order->warps[warp].now;
    struct recent_record *p = &n->b->recent[warp][n->shared][n->class_number % RECENT];
    if (p->class == n->class_number && p->stamp == stamp && p->record)
        return p->record;
    uint32_t number = race_take(n->r, &n->h->records, n->records, 1);
    if (number)
        *(struct record *)numbered_at(&n->h->records, number) =
            (struct record){n->class_number, n->b->order->number, stamp, warp};
    *p = (struct recent_record){n->class_number, stamp, number};
    return number;
}

/* ---- is an earlier access ordered before this one? ---- */

/* An entry of the cell's history, as the access meets it. */
struct earlier {
    struct history_entry entry;
    const struct record *record;
    const struct access_class *class;
    uint32_t lanes;
    bool same_instance, same_task;
};

static struct earlier meet(const struct now *n, struct history_entry entry, uint64_t address)
{
    struct earlier e = {.entry = entry, .record = history_record(n->h, entry.record)};
    e.class = race_class_at(n->r, e.record->class);
    e.lanes = entry_lanes(entry, address, e.class->lane_shift);
    e.same_instance = e.record->instance == n->b->order->number;
    e.same_task = e.same_instance || order_instance(n->r->order, e.record->instance)->task == n->b->task;
    return e;
}

static bool is_task_before(const struct now *n, const struct earlier *e)
{
    uint32_t task = order_instance(n->r->order, e->record->instance)->task;
    return task <= n->b->floor || (n->r->strands && strands_before(n->r->strands, task, n->b->task));
}

/* Those of its lanes whose accesses happen before what `lane` does now; its own are, in program order. */
static uint32_t before(const struct now *n, const struct earlier *e, unsigned lane)
{
    unsigned warp = n->warp;
    if (!e->same_task && is_task_before(n, e))
        return e->lanes;
    uint32_t own = e->same_instance && e->record->warp == warp ? e->lanes & 1u << lane : 0;
    return own | order_before(n->b->order, warp, lane, e->record->instance, e->record->warp, e->lanes & ~own,
                              e->record->stamp);
}

/* Two lanes that are unordered; false where there are none. All lanes of a warp know the same where nobody has a clock. */
static bool are_unordered(const struct now *n, const struct earlier *e, uint32_t lanes, unsigned *of, unsigned *lane)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        uint32_t free = e->lanes & ~before(n, e, l);
        if (free) {
            *of = (unsigned)__builtin_ctz(free);
            *lane = l;
            return true;
        }
    }
    return false;
}

/* Does each of its accesses happen before one of these lanes'? */
static bool is_before_any(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    uint32_t left = e->lanes;
    for (; lanes && left; lanes &= lanes - 1)
        left &= ~before(n, e, (unsigned)__builtin_ctz(lanes));
    return left == 0;
}

static bool are_morally_strong(const struct now *n, const struct earlier *e)
{
    const struct order *o = n->r->order;
    return e->class->strong && n->class->strong && e->class->bytes == n->class->bytes &&
           order_reaches(o, e->class->reach, e->record->instance, n->b->order->number) &&
           order_reaches(o, n->class->reach, n->b->order->number, e->record->instance);
}

/* Causality order, 2: what a strong operation has observed happens before what that one happens before (8.9.4). So a strong write is
 * ordered where a strong read or read-modify-write behind it, with which it is morally strong, is. */
static bool was_observed(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e,
                         unsigned lane, uint64_t address)
{
    const struct order *o = n->r->order;
    for (uint32_t k = i + 1; e->class->strong && e->class->writes && k < h->n; k++) {
        struct earlier z = meet(n, h->at[k], address);
        if (!z.class->reads && z.class->writes)
            return false;
        if (z.class->reads && z.class->strong && z.class->bytes == e->class->bytes &&
            order_reaches(o, z.class->reach, z.record->instance, e->record->instance) &&
            order_reaches(o, e->class->reach, e->record->instance, z.record->instance) && before(n, &z, lane))
            return true;
    }
    return false;
}

/* ---- races ---- */

static enum race_reason reason_of(const struct now *n, const struct earlier *e)
{
    if (e->class->strong && n->class->strong)
        return e->class->bytes != n->class->bytes ? RACE_PARTLY : RACE_SCOPE;
    if (e->class->strong != n->class->strong && e->class->op && n->class->op)
        return RACE_MIXED;
    if (!e->class->op || !n->class->op)
        return RACE_HOST;
    return !e->same_task                ? RACE_LAUNCHES
           : !e->same_instance          ? RACE_BLOCKS
           : e->record->warp != n->warp ? RACE_BLOCK
                                        : RACE_WARP;
}

static struct race_side side(const struct now *n, const struct access_class *c, uint32_t instance, unsigned thread)
{
    return (struct race_side){c, *order_instance(n->r->order, instance), thread};
}

static void tell(const struct now *n, const struct earlier *e, unsigned of, unsigned lane, uint64_t address)
{
    struct race_side earlier = side(n, e->class, e->record->instance, e->record->warp * WARP_LANES + of);
    struct race_side later = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + lane);
    race_found(n->r, n->kernel, reason_of(n, e), &earlier, &later, n->shared, address);
}

static void check_entry(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e,
                        uint32_t lanes, uint64_t address)
{
    unsigned of, lane;
    if (!(e->class->writes || n->class->writes) || are_morally_strong(n, e) ||
        !are_unordered(n, e, lanes, &of, &lane) || was_observed(n, h, i, e, lane, address))
        return;
    tell(n, e, of, lane, address);
}

/* Lanes of one instruction that write one place: nothing orders them. */
static void check_lanes(const struct now *n, uint32_t lanes, uint64_t address)
{
    if (!n->class->writes || n->class->strong || !(lanes & (lanes - 1)))
        return;
    unsigned a = (unsigned)__builtin_ctz(lanes), b = (unsigned)__builtin_ctz(lanes & (lanes - 1));
    struct race_side x = side(n, n->class, n->b->order->number, n->warp * WARP_LANES + a), y = x;
    y.thread = n->warp * WARP_LANES + b;
    race_found(n->r, n->kernel, RACE_ONE_INSTRUCTION, &x, &y, n->shared, address);
}

/* ---- what becomes of a history ---- */

/* Behind it is all that can still come to the cell. */
static bool is_settled(const struct now *n, const struct earlier *e)
{
    if (n->shared)
        return e->record->stamp < n->b->order->floor && !(n->b->order->warps[e->record->warp].exited & e->lanes);
    return !e->same_task && order_instance(n->r->order, e->record->instance)->task <= n->b->settled;
}

/* Whoever is unordered with it is with the new access, and no scope makes a difference. */
static bool is_replaced(const struct now *n, const struct earlier *e, uint32_t lanes)
{
    bool scoped = e->class->strong && e->class->reach < REACH_GPU;
    return e->class == n->class && (!scoped || e->same_instance) && is_before_any(n, e, lanes);
}

/* Of two others of the same class in a regular launch, the one to stay with the new access: of another block, else of another warp,
 * and of these the later. */
static uint32_t thin_out(const struct now *n, struct history_entry *out, uint32_t count, uint64_t address)
{
    uint32_t same = 0, best = UINT32_MAX;
    int best_rank = -1;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = meet(n, out[i], address);
        if (e.class != n->class || !e.same_task)
            continue;
        int rank = !e.same_instance ? 2 : e.record->warp != n->warp;
        same++;
        if (rank >= best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    if (same < 2)
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct earlier e = meet(n, out[i], address);
        if (e.class != n->class || !e.same_task || i == best)
            out[kept++] = out[i];
    }
    return kept;
}

/* The new access has observed it (8.9.2): whatever comes behind the one comes behind the other. */
static bool is_observed_by(const struct now *n, const struct history *h, uint32_t i, const struct earlier *e)
{
    if (e->class != n->class || !race_is_update(n->class) || !are_morally_strong(n, e))
        return false;
    for (uint32_t k = i + 1; k < h->n; k++)
        if (!race_is_update(race_class_at(n->r, history_record(n->h, h->at[k].record)->class)))
            return false;
    return true;
}

/* In a regular launch two accesses of blocks, or of warps of this block, that differ stand for all of their class and launch: a later
 * one is of one block and one warp, and unordered with one of the two. Strong ones are needed for what they have observed. */
static bool has_enough(const struct now *n, const struct history_entry *at, uint32_t count, bool of_this_block)
{
    uint32_t first = 0, warp = 0;
    if (n->b->traits.irregular || n->class->strong)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct record *r = history_record(n->h, at[i].record);
        if (r->class != n->class_number || order_instance(n->r->order, r->instance)->task != n->b->task)
            continue;
        if (first && (r->instance != first || (of_this_block && first == n->b->order->number && r->warp != warp)))
            return true;
        first = r->instance;
        warp = r->warp;
    }
    return false;
}

/* Only reads, of which one class has enough: what another of its launch is done to the cell by is nothing. */
static uint32_t class_without_effect(const struct now *n, const struct history_entry *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (race_class_at(n->r, history_record(n->h, at[i].record)->class)->writes)
            return 0;
    return has_enough(n, at, count, false) ? n->class_number : 0;
}

static const struct access_class *class_of_entry(const struct now *n, const struct history *h, uint32_t i)
{
    return race_class_at(n->r, history_record(n->h, h->at[i].record)->class);
}

static bool is_strong_for_all(const struct access_class *c)
{
    return c->strong && c->reach >= REACH_GPU;
}

static bool are_strong_for_all(const struct now *n, const struct history *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_strong_for_all(class_of_entry(n, h, i)))
            return false;
    return true;
}

/* A read is left out: of a flag that many wait for, where all that is there is strong, sooner than elsewhere. */
static bool is_full(const struct now *n, const struct history *h)
{
    if (n->class->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    return h->n >= HISTORY_MOST || (is_strong_for_all(n->class) && are_strong_for_all(n, h));
}

/* Can the write race with a read that was left out? */
static bool may_miss(const struct now *n, const struct history *h)
{
    if (!n->class->writes || h->n < HISTORY_STRONG_MOST)
        return false;
    bool strong = are_strong_for_all(n, h);
    return strong ? !is_strong_for_all(n->class) : h->n >= HISTORY_MOST;
}

static uint32_t intern(struct now *n, const struct history_entry *at, uint32_t count)
{
    uint32_t number = race_take(n->r, &n->h->histories, n->histories, count + 1);
    if (!number)
        return 0;
    struct history *h = numbered_at(&n->h->histories, number);
    h->n = count;
    h->without_effect = class_without_effect(n, at, count);
    memcpy(h->at, at, count * sizeof *at);
    return number;
}

/* Lanes as an entry has them. */
static uint32_t lanes_at(uint32_t lanes, bool relative, uint64_t address, const struct access_class *c)
{
    return relative ? rotate_left(lanes, (unsigned)(address >> c->lane_shift)) : lanes;
}

/* The history behind an access by lanes (`lanes` as its entry has them), which is checked against those in `old`. */
static uint32_t advance(struct now *n, uint32_t old, uint32_t lanes, bool relative, uint64_t address)
{
    struct history_entry out[HISTORY_MOST + 2];
    uint32_t count = 0, mine = lanes_at(lanes, relative, address, n->class), entry_lanes_ = lanes;
    const struct history *h = old ? history_at(n->h, old) : NULL;
    check_lanes(n, mine, address);
    if (h && is_full(n, h)) {
        for (uint32_t i = 0; i < h->n; i++)
            if (class_of_entry(n, h, i)->writes) {
                struct earlier e = meet(n, h->at[i], address);
                check_entry(n, h, i, &e, mine, address);
            }
        return old;
    }
    if (h && may_miss(n, h))
        atomic_fetch_add(&n->r->forgotten, 1);
    for (uint32_t i = 0; h && i < h->n; i++) {
        struct earlier e = meet(n, h->at[i], address);
        check_entry(n, h, i, &e, mine, address);
        if ((e.entry.record & ~ENTRY_RELATIVE) == n->record) {
            uint32_t all = e.lanes | mine;
            entry_lanes_ = relative ? rotate_left(all, -(unsigned)(address >> n->class->lane_shift)) : all;
            continue;
        }
        if (!is_settled(n, &e) && !is_replaced(n, &e, mine) && !is_observed_by(n, h, i, &e))
            out[count++] = h->at[i];
    }
    if (h && has_enough(n, h->at, h->n, false))
        return old;
    if (has_enough(n, out, count, true))
        return count == h->n ? old : intern(n, out, count);
    if (!n->b->traits.irregular)
        count = thin_out(n, out, count, address);
    if (count >= HISTORY_MOST)
        memmove(out, out + 1, --count * sizeof *out);
    out[count++] = (struct history_entry){n->record | (relative ? ENTRY_RELATIVE : 0), entry_lanes_};
    if (h && h->n == count && memcmp(h->at, out, count * sizeof *out) == 0)
        return old;
    return intern(n, out, count);
}

/* Where entries and the access count lanes in different ways, or lanes of a warp know different things, what comes out depends on the
 * address, too. */
static uint32_t extra_key(const struct now *n, uint32_t old, bool relative, uint64_t address)
{
    const struct history *h = old ? history_at(n->h, old) : NULL;
    if (h && relative && n->b->order->irregular)
        return 1 + (uint32_t)(address & 1023);
    for (uint32_t i = 0; h && i < h->n; i++) {
        bool is_relative = h->at[i].record & ENTRY_RELATIVE;
        if (is_relative != relative ||
            (relative &&
             race_class_at(n->r, history_record(n->h, h->at[i].record)->class)->lane_shift != n->class->lane_shift))
            return 1 + (uint32_t)(address & 1023);
    }
    return 0;
}

static uint32_t hash_step(const struct step *s)
{
    uint64_t x = s->old * 0x9e3779b97f4a7c15ull ^ s->record * 0xc2b2ae3d27d4eb4full ^ s->lanes * 0x165667b19e3779f9ull ^
                 s->extra;
    return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 40) % STEPS;
}

static bool same_step(const struct step *a, const struct step *b)
{
    return a->old == b->old && a->record == b->record && a->lanes == b->lanes && a->extra == b->extra &&
           a->generation == b->generation;
}

uint32_t race_look_up(struct now *n, uint32_t old, uint32_t lanes, bool relative, uint64_t address)
{
    struct step s = {
        old, n->record | (relative ? ENTRY_RELATIVE : 0), lanes, extra_key(n, old, relative, address), n->h->generation,
        0};
    struct step *known = &n->b->worker->steps[hash_step(&s)];
    if (!same_step(known, &s)) {
        s.new = advance(n, old, lanes, relative, address);
        *known = s;
    }
    if (!s.extra)
        n->last = *known;
    return known->new;
}
