/* Release and acquire (PTX ISA 8.7-8.9): fences, sync variables, mbarriers; see order.h. */
#include "check/order/order_state.h"

#include <stdlib.h>

#include "base/spin_lock.h"

/* Where strong writes have released (8.7): what the write that stands there, and the read-modify-writes before it, released. */
struct release {
    struct clock *clock;
    uint32_t instance;
    uint8_t reach;
};

struct sync_variable {
    struct sync_variable *next; /* of the same bucket */
    uint64_t address;
    uint32_t bytes;
    uint32_t owner;    /* as in struct strong_access */
    uint32_t instance; /* of the last write */
    uint8_t reach;
    uint32_t n, room;
    struct release *releases;
};

static void drop_releases(struct sync_variable *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        clock_release(v->releases[i].clock);
    v->n = 0;
}

void order_forget_releases(struct order *o)
{
    for (uint32_t i = 0; o->has_variables && i < BUCKETS; i++) {
        struct sync_variable *next;
        for (struct sync_variable *v = o->buckets[i]; v; v = next) {
            next = v->next;
            drop_releases(v);
            free(v->releases);
            free(v);
        }
        o->buckets[i] = NULL;
    }
    o->has_variables = false;
}

void order_keep_releases(struct order *o)
{
    for (uint32_t i = 0; o->has_variables && i < BUCKETS; i++)
        for (const struct sync_variable *v = o->buckets[i]; v; v = v->next) {
            if (v->instance)
                order_keep_instance(o, v->instance);
            for (uint32_t k = 0; k < v->n; k++)
                order_keep_instance(o, v->releases[k].instance);
        }
}

/* ---- fences ---- */

/* What strong reads before the fence have observed is acquired now. */
static void acquire_observed(struct block_order *b, unsigned warp, uint32_t lanes, enum reach reach)
{
    struct lane_order *s = b->warps[warp].lanes;
    for (unsigned r = 0; s && r <= reach; r++) {
        uint32_t left = lanes & s->have_observed[r];
        s->have_observed[r] &= ~lanes;
        s->have_latest[r] &= ~lanes;
        for (uint32_t same; left; left &= ~same) {
            same = order_same(s->observed[r], left);
            order_acquire(b, warp, same, s->observed[r][__builtin_ctz(left)]);
            order_replace_each(s->observed[r], same, NULL);
        }
    }
}

static void keep_fence(struct block_order *b, unsigned warp, uint32_t lanes, struct lane_order *s, enum reach reach)
{
    s->have_fenced[reach] |= lanes;
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        clock_release(s->fence[reach][l].known);
        s->fence[reach][l] = order_snapshot(b, warp, clock_ref(order_known(b, warp, l)));
    }
}

void order_fence(struct block_order *b, unsigned warp, uint32_t lanes, bool acquires, bool releases, enum reach reach)
{
    struct lane_order *s = order_lanes(b, warp);
    if (acquires)
        acquire_observed(b, warp, lanes, reach);
    if (s && releases)
        keep_fence(b, warp, lanes, s, reach);
    if (s && releases && reach == REACH_CLUSTER)
        s->have_fenced_inits &= ~lanes;
    order_step(b, warp);
}

static void add_init_fence(struct block_order *b, unsigned warp, unsigned lane)
{
    uint32_t floor = b->warps[warp].now + 1;
    for (uint32_t i = 0; i < b->n_init_fences; i++)
        if (b->init_fences[i].warp == warp && b->init_fences[i].lane == lane && !b->init_fences[i].has_arrived) {
            b->init_fences[i].floor = floor;
            return;
        }
    struct init_fence *more = realloc(b->init_fences, (b->n_init_fences + 1) * sizeof *more);
    if (!more) {
        atomic_store(&b->order->incomplete, true);
        return;
    }
    b->init_fences = more;
    more[b->n_init_fences++] = (struct init_fence){.warp = warp, .lane = lane, .floor = floor};
}

/* A strong write behind it counts as one behind a fence of all that was done: nobody makes use of the difference. */
void order_fence_inits(struct block_order *b, unsigned warp, uint32_t lanes)
{
    struct lane_order *s = order_lanes(b, warp);
    uint32_t others = s ? lanes & (~s->have_fenced[REACH_CLUSTER] | s->have_fenced_inits) : 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        add_init_fence(b, warp, (unsigned)__builtin_ctz(m));
    if (others) {
        keep_fence(b, warp, others, s, REACH_CLUSTER);
        s->have_fenced_inits |= others;
    }
    order_step(b, warp);
}

void order_join_fenced(struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    const struct lane_order *s = b->warps[warp].lanes;
    bool is_alone = !order_instance(b->order, b->number)->has_peers;
    for (unsigned r = is_alone ? REACH_CTA : REACH_CLUSTER; s && r < REACH_COUNT; r++) {
        uint32_t left = lanes & s->have_fenced[r] & (r == REACH_CLUSTER ? ~s->have_fenced_inits : UINT32_MAX);
        for (; left; left &= left - 1)
            order_leave(b, warp, (unsigned)__builtin_ctz(left), &s->fence[r][__builtin_ctz(left)], c);
    }
}

/* ---- patterns of several operations of a location ---- */

void order_drop_patterns(struct lane_patterns **p)
{
    for (uint32_t i = 0; *p && i < (*p)->n; i++)
        clock_release((*p)->of[i].at.known);
    free(*p);
    *p = NULL;
}

static struct lane_pattern *find_pattern(struct lane_patterns *p, uint64_t address, enum reach reach)
{
    for (uint32_t i = 0; p && i < p->n; i++)
        if (p->of[i].address == address && p->of[i].reach == reach)
            return &p->of[i];
    return NULL;
}

/* NULL without memory. */
static struct lane_pattern *make_pattern(const struct block_order *b, struct lane_patterns **p, uint64_t address,
                                         enum reach reach)
{
    struct lane_pattern *found = find_pattern(*p, address, reach);
    if (found)
        return found;
    if (!*p && !(*p = calloc(1, sizeof **p))) {
        atomic_store(&b->order->incomplete, true);
        return NULL;
    }
    found = &(*p)->of[(*p)->next];
    (*p)->next = ((*p)->next + 1) % LANE_PATTERNS;
    (*p)->n += (*p)->n < LANE_PATTERNS;
    clock_release(found->at.known);
    *found = (struct lane_pattern){.address = address, .reach = reach};
    return found;
}

static void keep_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    struct lane_order *l = order_lanes(b, warp);
    struct lane_pattern *p = l ? make_pattern(b, &l->released[lane], s->address, s->reach) : NULL;
    if (!p)
        return;
    clock_release(p->at.known);
    p->at = order_snapshot(b, warp, clock_ref(order_known(b, warp, lane)));
}

void order_has_acquires(struct order *o)
{
    atomic_store(&o->has_acquires, true);
}

/* Lanes have observed what a clock says by reads that do not acquire. */
static void keep_read(struct block_order *b, unsigned warp, uint32_t lanes, uint64_t address, enum reach reach,
                      struct clock *c)
{
    struct lane_order *l = order_lanes(b, warp);
    for (; l && lanes; lanes &= lanes - 1) {
        struct lane_pattern *p = make_pattern(b, &l->read[__builtin_ctz(lanes)], address, reach);
        if (p && !clock_goes_on(c, p->at.known))
            order_join(b, &p->at.known, c);
    }
}

static void acquire_read(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s)
{
    struct lane_order *l = b->warps[warp].lanes;
    for (; l && lanes; lanes &= lanes - 1)
        for (unsigned r = 0; r <= s->reach; r++) {
            const struct lane_pattern *p = find_pattern(l->read[__builtin_ctz(lanes)], s->address, r);
            if (p)
                order_acquire(b, warp, lanes & (0 - lanes), p->at.known);
        }
}

/* ---- sync variables ---- */

void order_lock(struct order *o)
{
    spin_lock(&o->lock);
}

void order_unlock(struct order *o)
{
    spin_unlock(&o->lock);
}

/* What overlaps is in one bucket: accesses are of at most 16 bytes, and aligned to their size. */
enum { BUCKET_BYTES = 16 };

static uint32_t bucket_of(uint64_t address)
{
    return (uint32_t)(address / BUCKET_BYTES * 0x9e3779b97f4a7c15ull >> 50) % BUCKETS;
}

static uint64_t next_bucket(uint64_t address)
{
    return (address | (BUCKET_BYTES - 1)) + 1;
}

static struct sync_variable *first_of_bucket(const struct order *o, uint64_t address)
{
    return atomic_load_explicit(&o->buckets[bucket_of(address)], memory_order_acquire);
}

static struct sync_variable *find_variable(const struct order *o, uint64_t address)
{
    struct sync_variable *v = first_of_bucket(o, address);
    while (v && v->address != address)
        v = v->next;
    return v;
}

/* From `v` on, of its bucket. */
static struct sync_variable *find_overlap(struct sync_variable *v, uint64_t address, uint32_t bytes)
{
    while (v && (v->address >= address + bytes || address >= v->address + v->bytes))
        v = v->next;
    return v;
}

/* A write that observes nothing of them: nothing that a strong read finds there is a release any more. */
static void drop_overlaps(struct order *o, uint64_t bucket, uint64_t address, uint32_t bytes,
                          const struct sync_variable *but)
{
    for (struct sync_variable *v = find_overlap(first_of_bucket(o, bucket), address, bytes); v;
         v = find_overlap(v->next, address, bytes))
        if (v != but)
            drop_releases(v);
}

static struct sync_variable *make_variable(struct order *o, uint64_t address)
{
    struct sync_variable *v = find_variable(o, address);
    if (v)
        return v;
    v = calloc(1, sizeof *v);
    if (!v) {
        atomic_store(&o->incomplete, true);
        return NULL;
    }
    o->has_variables = true;
    v->address = address;
    v->next = o->buckets[bucket_of(address)];
    atomic_store_explicit(&o->buckets[bucket_of(address)], v, memory_order_release);
    return v;
}

void order_part_releases(struct order *o)
{
    atomic_store(&o->parts_releases, true);
}

/* Does it make no difference to who observes them which of two instances has released? */
static bool are_alike(const struct order *o, enum reach reach, uint32_t a, uint32_t b)
{
    return a == b || (reach >= REACH_GPU && order_instance(o, a)->host == order_instance(o, b)->host &&
                      !atomic_load_explicit(&o->parts_releases, memory_order_relaxed));
}

/* Of a block that has ended, and has no others in its cluster: no thread observes it by a narrow scope. */
static bool is_past(const struct order *o, const struct release *r)
{
    const struct instance *i = order_instance(o, r->instance);
    return r->reach >= REACH_GPU && !i->host && !i->has_peers && atomic_load_explicit(&i->ended, memory_order_relaxed);
}

/* Those of blocks that have ended are one: so there are no more than blocks that run. */
static void join_past(const struct block_order *b, struct sync_variable *v)
{
    struct release *past[REACH_COUNT] = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        struct release *r = &v->releases[i];
        bool is = is_past(b->order, r);
        if (is && past[r->reach]) {
            order_join(b, &past[r->reach]->clock, r->clock);
            clock_release(r->clock);
            continue;
        }
        v->releases[kept] = *r;
        if (is)
            past[r->reach] = &v->releases[kept];
        kept++;
    }
    v->n = kept;
}

/* The part of the variable that releases of the reach by threads of the instance are in: those that are for the same threads are
 * one. NULL where memory ran out. */
static struct release *part_for(const struct block_order *b, struct sync_variable *v, enum reach reach)
{
    struct order *o = b->order;
    for (uint32_t i = 0; i < v->n; i++)
        if (v->releases[i].reach == reach && are_alike(o, reach, v->releases[i].instance, b->number))
            return &v->releases[i];
    if (v->n == v->room)
        join_past(b, v);
    if (v->n == v->room) {
        uint32_t room = 2 * v->room + 2;
        struct release *more = realloc(v->releases, room * sizeof *more);
        if (!more) {
            atomic_store(&o->incomplete, true);
            return NULL;
        }
        v->releases = more;
        v->room = room;
    }
    v->releases[v->n] = (struct release){.reach = (uint8_t)reach};
    return &v->releases[v->n++];
}

static void put_release(struct block_order *b, unsigned warp, unsigned lane, struct sync_variable *v,
                        const struct snapshot *s, enum reach reach)
{
    struct release *r = part_for(b, v, reach);
    if (!r)
        return;
    order_leave(b, warp, lane, s, &r->clock);
    r->instance = b->number;
}

/* The least that names the threads of another instance. */
static enum reach reach_of(const struct block_order *b, uint32_t other)
{
    enum reach r = REACH_CTA;
    while (!order_reaches(b->order, r, b->number, other))
        r++;
    return r;
}

/* It is acquired by the lanes' next fence of the scope, or of a wider one. */
static void add_observed(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t by, struct clock *c)
{
    struct lane_order *l = order_lanes(b, warp);
    enum reach r = reach_of(b, by);
    if (!l || (l->latest[r] == c && !(lanes & ~l->have_latest[r]))) /* they wait for a change */
        return;
    order_join_each(b, l->observed[r], NULL, lanes, c, NULL);
    l->have_observed[r] |= lanes;
    l->latest[r] = c;
    l->have_latest[r] = order_same(l->observed[r], lanes);
    if (l->observed[r][__builtin_ctz(lanes)] != c)
        l->have_latest[r] = 0;
}

/* The write that stands at the location is observed (8.8): its releases, and those of the read-modify-writes that led to it. Returns
 * another task than its own that has released one of them, or 0. */
static uint32_t observe(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s,
                        const struct sync_variable *v)
{
    uint32_t own = order_instance(b->order, b->number)->task, other = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct release *r = &v->releases[i];
        if (!order_reaches(b->order, (enum reach)r->reach, r->instance, b->number))
            continue;
        if (!s->acquires && atomic_load_explicit(&b->order->has_acquires, memory_order_relaxed))
            keep_read(b, warp, lanes, s->address, reach_of(b, r->instance), r->clock);
        if (!s->acquires)
            add_observed(b, warp, lanes, r->instance, r->clock);
        else if (order_reaches(b->order, s->reach, b->number, r->instance))
            order_acquire(b, warp, lanes, r->clock);
        uint32_t task = order_instance(b->order, r->instance)->task;
        other = task != own ? task : other;
    }
    return other;
}

/* Do the last write and this operation observe each other (8.6: complete overlap, and scopes that name both)? */
static bool are_morally_strong(const struct block_order *b, const struct strong_access *s,
                               const struct sync_variable *v)
{
    return v->bytes == s->bytes && order_reaches(b->order, (enum reach)v->reach, v->instance, b->number) &&
           order_reaches(b->order, s->reach, b->number, v->instance);
}

/* What a write by the lane releases to a scope, and whether it does. */
static bool released(const struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s,
                     enum reach reach, struct snapshot *out)
{
    const struct lane_order *l = b->warps[warp].lanes;
    const struct lane_pattern *own = l ? find_pattern(l->released[lane], s->address, reach) : NULL;
    bool is_fenced = l && l->have_fenced[reach] >> lane & 1;
    if (s->releases && s->reach == reach)
        *out = order_snapshot(b, warp, order_known(b, warp, lane));
    else if (own && !(is_fenced && l->fence[reach][lane].now > own->at.now))
        *out = own->at;
    else if (is_fenced)
        *out = l->fence[reach][lane];
    else
        return false;
    return true;
}

/* The write observes nothing that stands there: a chain ends. What it releases itself may have all in it that stands there, as
 * where a lock is given back by a store; the same lineage goes on then. */
static void end_chain(const struct block_order *b, unsigned warp, unsigned lane, struct sync_variable *v,
                      const struct strong_access *s)
{
    uint32_t kept = 0;
    struct snapshot now;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct release *r = &v->releases[i];
        if (are_alike(b->order, (enum reach)r->reach, r->instance, b->number) &&
            released(b, warp, lane, s, (enum reach)r->reach, &now) && clock_goes_on(r->clock, now.known))
            v->releases[kept++] = *r;
        else
            clock_release(r->clock);
    }
    v->n = kept;
}

void order_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    struct sync_variable *v = find_variable(b->order, s->address);
    struct snapshot now;
    if (v && (v->owner != s->owner || !s->reads || !are_morally_strong(b, s, v)))
        end_chain(b, warp, lane, v, s);
    drop_overlaps(b->order, s->address, s->address, s->bytes, v);
    for (unsigned r = 0; r < REACH_COUNT; r++)
        if (released(b, warp, lane, s, r, &now) && (v || (v = make_variable(b->order, s->address))))
            put_release(b, warp, lane, v, &now, r);
    if (v) {
        v->bytes = s->bytes;
        v->owner = s->owner;
        v->instance = b->number;
        v->reach = (uint8_t)s->reach;
    }
    if (s->releases) {
        keep_release(b, warp, lane, s);
        order_step(b, warp);
    }
}

uint32_t order_observe(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s)
{
    const struct sync_variable *v = find_variable(b->order, s->address);
    if (s->acquires && atomic_load_explicit(&b->order->has_acquires, memory_order_relaxed))
        acquire_read(b, warp, lanes, s);
    if (!v || v->owner != s->owner || !v->n || !are_morally_strong(b, s, v))
        return 0;
    return observe(b, warp, lanes, s, v);
}

/* ---- mbarriers (9.7.13.15) ---- */

static struct mbarrier_order *mbarrier_at(struct block_order *b, uint64_t address)
{
    for (uint32_t i = 0; i < b->n_mbarriers; i++)
        if (b->mbarriers[i].address == address)
            return &b->mbarriers[i];
    struct mbarrier_order *more = realloc(b->mbarriers, (b->n_mbarriers + 1) * sizeof *more);
    if (!more) {
        atomic_store(&b->order->incomplete, true);
        return NULL;
    }
    b->mbarriers = more;
    more[b->n_mbarriers] = (struct mbarrier_order){.address = address};
    return &more[b->n_mbarriers++];
}

/* Arrivals are read-modify-writes of the object: a phase passes on what the ones before it have released. */
void order_mbarrier_arrive(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                           const struct sync_event *e)
{
    struct mbarrier_order *m = mbarrier_at(owner, e->address);
    if (!m)
        return;
    if (e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL) {
        struct snapshot now = order_snapshot(b, warp, order_known(b, warp, lane));
        order_leave(b, warp, lane, &now, &m->phase[e->parity]);
        b->irregular = true;
        order_step(b, warp);
    }
    if (e->completes)
        clock_replace(&m->phase[!e->parity], clock_ref(m->phase[e->parity]));
}

void order_issued_done(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner, uint64_t address,
                       bool parity)
{
    struct mbarrier_order *m = mbarrier_at(owner, address);
    if (m && !clock_add_lane(&m->phase[parity], order_issued_by(b->number), warp, lane, b->warps[warp].now + 1))
        atomic_store(&b->order->incomplete, true);
    b->irregular = true;
    order_step(b, warp);
}

uint32_t order_issued_before(const struct block_order *b, unsigned warp, unsigned lane, uint32_t instance,
                             unsigned of_warp, uint32_t of, uint32_t stamp)
{
    return clock_before(order_known(b, warp, lane), order_issued_by(instance), of_warp, of, stamp);
}

void order_mbarrier_wait(struct block_order *b, unsigned warp, unsigned lane, struct block_order *owner,
                         const struct sync_event *e)
{
    const struct mbarrier_order *m = mbarrier_at(owner, e->address);
    if (!m || !m->phase[e->parity])
        return;
    if (e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL)
        order_acquire(b, warp, 1u << lane, m->phase[e->parity]);
    else
        add_observed(b, warp, 1u << lane, owner->number, m->phase[e->parity]);
}

bool order_has_release(const struct block_order *b, uint64_t address, uint32_t bytes)
{
    if (!atomic_load_explicit(&b->order->has_variables, memory_order_relaxed))
        return false;
    for (uint64_t at = address; at < address + bytes; at = next_bucket(at))
        if (find_overlap(first_of_bucket(b->order, at), address, bytes))
            return true;
    return false;
}

void order_weak_write(struct block_order *b, uint64_t address, uint32_t bytes)
{
    for (uint64_t at = address; at < address + bytes; at = next_bucket(at))
        drop_overlaps(b->order, at, address, bytes, NULL);
}
