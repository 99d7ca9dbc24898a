/* Sync variables: releases that strong writes leave at locations, for strong reads to acquire (PTX
 * ISA 8.7 to 8.9); see order.h. */
#include "check/order/state.h"

#include <stdlib.h>

#include "base/spin_lock.h"

/* What the last write of a location, and the read-modify-writes that led to it, have released (8.8)
 * to one scope. */
struct release {
    struct clock *clock;
    uint32_t incarnation;
    uint8_t scope;
};

struct sync_variable {
    struct sync_variable *next; /* of the same bucket */
    uint64_t address;
    uint32_t bytes;
    uint32_t owner;       /* as in struct strong_access */
    uint32_t incarnation; /* of the last write */
    uint8_t scope;
    VEC(struct release) releases;
};

static void drop_releases(struct sync_variable *v)
{
    for (uint32_t i = 0; i < v->releases.n; i++)
        clock_release(v->releases.at[i].clock);
    v->releases.n = 0;
}

void order_forget_releases(struct order *o)
{
    for (uint32_t i = 0; o->has_variables && i < BUCKETS; i++) {
        struct sync_variable *next;
        for (struct sync_variable *v = o->buckets[i]; v; v = next) {
            next = v->next;
            drop_releases(v);
            free(v->releases.at);
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
            if (v->incarnation)
                order_keep_incarnation(o, v->incarnation);
            for (uint32_t k = 0; k < v->releases.n; k++)
                order_keep_incarnation(o, v->releases.at[k].incarnation);
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

static struct lane_pattern *find_pattern(struct lane_patterns *p, uint64_t address, enum scope scope)
{
    for (uint32_t i = 0; p && i < p->n; i++)
        if (p->of[i].address == address && p->of[i].scope == scope)
            return &p->of[i];
    return NULL;
}

/* NULL without memory. */
static struct lane_pattern *make_pattern(const struct block_order *b, struct lane_patterns **p, uint64_t address,
                                         enum scope scope)
{
    struct lane_pattern *found = find_pattern(*p, address, scope);
    if (found)
        return found;
    if (!*p && !order_note(b->order, (*p = calloc(1, sizeof **p))))
        return NULL;
    found = &(*p)->of[(*p)->next];
    (*p)->next = ((*p)->next + 1) % LANE_PATTERNS;
    (*p)->n += (*p)->n < LANE_PATTERNS;
    clock_release(found->at.known);
    *found = (struct lane_pattern){.address = address, .scope = scope};
    return found;
}

static void keep_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    struct lane_order *l = order_lanes(b, warp);
    struct lane_pattern *p = l ? make_pattern(b, &l->released[lane], s->address, s->scope) : NULL;
    if (!p)
        return;
    clock_release(p->at.known);
    p->at = order_snapshot(b, warp, clock_ref(order_known(b, warp, lane)));
}

void order_has_acquires(struct order *o)
{
    atomic_store(&o->has_acquires, true);
}

/* Lanes have observed a release by reads that do not acquire. */
static void keep_read(struct block_order *b, unsigned warp, uint32_t lanes, uint64_t address, enum scope scope,
                      struct clock *c)
{
    struct lane_order *l = order_lanes(b, warp);
    EACH_BIT(lane, l ? lanes : 0) {
        struct lane_pattern *p = make_pattern(b, &l->read[lane], address, scope);
        if (p && !clock_goes_on(c, p->at.known))
            order_join(b, &p->at.known, c);
    }
}

static void acquire_read(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s)
{
    struct lane_order *l = b->warps[warp].lanes;
    EACH_BIT(lane, l ? lanes : 0)
        for (unsigned r = 0; r <= s->scope; r++) {
            const struct lane_pattern *p = find_pattern(l->read[lane], s->address, r);
            if (p)
                order_acquire(b, warp, 1u << lane, p->at.known);
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

/* Overlapping accesses are in one bucket, because accesses have at most 16 bytes and are aligned to
 * their size. */
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

/* Starting at `v`, in its bucket. */
static struct sync_variable *find_overlap(struct sync_variable *v, uint64_t address, uint32_t bytes)
{
    while (v && (v->address >= address + bytes || address >= v->address + v->bytes))
        v = v->next;
    return v;
}

/* A write that observes none of the releases: strong reads of its value no longer acquire them. */
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
    if (!order_note(o, v))
        return NULL;
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

/* Do two incarnations release to the same threads, so that one release will do for both? */
static bool are_alike(const struct order *o, enum scope scope, uint32_t a, uint32_t b)
{
    return a == b || (scope >= SCOPE_GPU && order_incarnation(o, a)->host == order_incarnation(o, b)->host &&
                      !atomic_load_explicit(&o->parts_releases, memory_order_relaxed));
}

/* By a block that has ended, and was alone in its cluster: no thread
 * observes it by a narrow scope. */
static bool is_of_ended(const struct order *o, const struct release *r)
{
    const struct incarnation *i = order_incarnation(o, r->incarnation);
    return r->scope >= SCOPE_GPU && !i->host && !i->has_peers && atomic_load_explicit(&i->ended, memory_order_relaxed);
}

/* Merges the releases of blocks that have ended, so that there are no more than blocks that run. */
static void merge_ended(const struct block_order *b, struct sync_variable *v)
{
    struct release *ended[SCOPE_COUNT] = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->releases.n; i++) {
        struct release *r = &v->releases.at[i];
        bool is = is_of_ended(b->order, r);
        if (is && ended[r->scope]) {
            order_join(b, &ended[r->scope]->clock, r->clock);
            clock_release(r->clock);
            continue;
        }
        v->releases.at[kept] = *r;
        if (is)
            ended[r->scope] = &v->releases.at[kept];
        kept++;
    }
    v->releases.n = kept;
}

/* The release of the variable that one by this block to this scope is merged into, or a new one.
 * NULL without memory. */
static struct release *part_for(const struct block_order *b, struct sync_variable *v, enum scope scope)
{
    struct order *o = b->order;
    for (uint32_t i = 0; i < v->releases.n; i++)
        if (v->releases.at[i].scope == scope && are_alike(o, scope, v->releases.at[i].incarnation, b->number))
            return &v->releases.at[i];
    if (v->releases.n == v->releases.capacity)
        merge_ended(b, v);
    struct release *new = VEC_ADD(&v->releases);
    if (order_note(o, new))
        *new = (struct release){.scope = (uint8_t)scope};
    return new;
}

static void put_release(struct block_order *b, unsigned warp, unsigned lane, struct sync_variable *v,
                        const struct snapshot *s, enum scope scope)
{
    struct release *r = part_for(b, v, scope);
    if (!r)
        return;
    order_publish(b, warp, lane, s, &r->clock);
    r->incarnation = b->number;
}

/* The narrowest scope that includes the threads of another incarnation. */
static enum scope scope_to(const struct block_order *b, uint32_t other)
{
    enum scope r = SCOPE_CTA;
    while (!order_scope_includes(b->order, r, b->number, other))
        r++;
    return r;
}

void order_keep_observed(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t by, struct clock *c)
{
    struct lane_order *l = order_lanes(b, warp);
    enum scope r = scope_to(b, by);
    if (!l || (l->latest[r] == c && !(lanes & ~l->have_latest[r]))) /* they poll */
        return;
    order_join_each(b, l->observed[r], NULL, lanes, c, NULL);
    l->have_observed[r] |= lanes;
    l->latest[r] = c;
    l->have_latest[r] = order_same(l->observed[r], lanes);
    if (l->observed[r][__builtin_ctz(lanes)] != c)
        l->have_latest[r] = 0;
}

/* Lanes observe the last write of the location (8.8), and with it the read-modify-writes that led
 * to it. Returns a task other than theirs that has released one of these, or 0. */
static uint32_t observe(struct block_order *b, unsigned warp, uint32_t lanes, const struct strong_access *s,
                        const struct sync_variable *v)
{
    uint32_t own = order_incarnation(b->order, b->number)->task, other = 0;
    for (uint32_t i = 0; i < v->releases.n; i++) {
        const struct release *r = &v->releases.at[i];
        if (!order_scope_includes(b->order, (enum scope)r->scope, r->incarnation, b->number))
            continue;
        if (!s->acquires && atomic_load_explicit(&b->order->has_acquires, memory_order_relaxed))
            keep_read(b, warp, lanes, s->address, scope_to(b, r->incarnation), r->clock);
        if (!s->acquires)
            order_keep_observed(b, warp, lanes, r->incarnation, r->clock);
        else if (order_scope_includes(b->order, s->scope, b->number, r->incarnation))
            order_acquire(b, warp, lanes, r->clock);
        uint32_t task = order_incarnation(b->order, r->incarnation)->task;
        other = task != own ? task : other;
    }
    return other;
}

/* Do the last write and this operation observe each other (8.7: complete overlap, and scopes that
 * include both)? */
static bool are_morally_strong(const struct block_order *b, const struct strong_access *s,
                               const struct sync_variable *v)
{
    return v->bytes == s->bytes && order_scope_includes(b->order, (enum scope)v->scope, v->incarnation, b->number) &&
           order_scope_includes(b->order, s->scope, b->number, v->incarnation);
}

/* Does a write by the lane release to a scope, and what? */
static bool released(const struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s,
                     enum scope scope, struct snapshot *out)
{
    const struct lane_order *l = b->warps[warp].lanes;
    const struct lane_pattern *own = l ? find_pattern(l->released[lane], s->address, scope) : NULL;
    bool is_fenced = l && l->have_fenced[scope] >> lane & 1;
    if (s->releases && s->scope == scope)
        *out = order_snapshot(b, warp, order_known(b, warp, lane));
    else if (own && !(is_fenced && l->fence[scope][lane].epoch > own->at.epoch))
        *out = own->at;
    else if (is_fenced)
        *out = l->fence[scope][lane];
    else
        return false;
    return true;
}

/* The write is not a read-modify-write of the current value, so the release sequence ends. If the
 * write's release includes everything released before, as when a store unlocks a lock, the lineage
 * goes on. */
static void end_chain(const struct block_order *b, unsigned warp, unsigned lane, struct sync_variable *v,
                      const struct strong_access *s)
{
    uint32_t kept = 0;
    struct snapshot now;
    for (uint32_t i = 0; i < v->releases.n; i++) {
        const struct release *r = &v->releases.at[i];
        if (are_alike(b->order, (enum scope)r->scope, r->incarnation, b->number) &&
            released(b, warp, lane, s, (enum scope)r->scope, &now) && clock_goes_on(r->clock, now.known))
            v->releases.at[kept++] = *r;
        else
            clock_release(r->clock);
    }
    v->releases.n = kept;
}

void order_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    struct sync_variable *v = find_variable(b->order, s->address);
    struct snapshot now;
    if (v && (v->owner != s->owner || !s->reads || !are_morally_strong(b, s, v)))
        end_chain(b, warp, lane, v, s);
    drop_overlaps(b->order, s->address, s->address, s->bytes, v);
    for (unsigned r = 0; r < SCOPE_COUNT; r++)
        if (released(b, warp, lane, s, r, &now) && (v || (v = make_variable(b->order, s->address))))
            put_release(b, warp, lane, v, &now, r);
    if (v) {
        v->bytes = s->bytes;
        v->owner = s->owner;
        v->incarnation = b->number;
        v->scope = (uint8_t)s->scope;
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
    if (!v || v->owner != s->owner || !v->releases.n || !are_morally_strong(b, s, v))
        return 0;
    return observe(b, warp, lanes, s, v);
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
