/* Happens-before between threads; see order.h. */
#include "check/order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check/numbered.h"

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

enum { BUCKETS = 1 << 14 };

struct order {
    struct numbered instances; /* struct instance */
    pthread_mutex_t lock;      /* of what follows */
    struct sync_variable *_Atomic buckets[BUCKETS];
    bool has_variables;
    _Atomic bool incomplete, has_host;
};

struct order *order_new(void)
{
    struct order *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    if (!numbered_open(&o->instances, sizeof(struct instance), 1u << 28)) {
        free(o);
        return NULL;
    }
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

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

void order_forget_instances(struct order *o)
{
    numbered_clear(&o->instances);
}

void order_free(struct order *o)
{
    if (!o)
        return;
    order_forget_releases(o);
    numbered_close(&o->instances);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

bool order_is_incomplete(const struct order *o)
{
    return atomic_load(&o->incomplete);
}

const struct instance *order_instance(const struct order *o, uint32_t number)
{
    return numbered_at(&o->instances, number);
}

enum reach order_reach(enum isa_mod scope)
{
    switch (scope) {
    case MOD_cta: return REACH_CTA;
    case MOD_cluster: return REACH_CLUSTER;
    case MOD_sys: return REACH_SYS;
    default: return REACH_GPU;
    }
}

bool order_reaches(const struct order *o, enum reach reach, uint32_t from, uint32_t to)
{
    if (from == to || reach == REACH_SYS)
        return true;
    if (reach == REACH_GPU)
        return !atomic_load_explicit(&o->has_host, memory_order_relaxed) ||
               order_instance(o, from)->host == order_instance(o, to)->host;
    return reach == REACH_CLUSTER && order_instance(o, from)->cluster == order_instance(o, to)->cluster;
}

/* ---- blocks ---- */

static struct block_order *start(struct order *o, uint32_t task, uint32_t threads, const uint32_t ctaid[3],
                                 const uint32_t block[3])
{
    uint32_t n_warps = (threads + WARP_LANES - 1) / WARP_LANES;
    struct block_order *s = calloc(1, sizeof *s + n_warps * sizeof *s->warps);
    uint32_t number = s ? numbered_take(&o->instances) : 0;
    if (!number) {
        atomic_store(&o->incomplete, true);
        free(s);
        return NULL;
    }
    struct instance *i = numbered_at(&o->instances, number);
    i->task = task;
    i->cluster = number;
    i->host = false;
    atomic_store_explicit(&i->ended, false, memory_order_relaxed);
    memcpy(i->ctaid, ctaid, sizeof i->ctaid);
    memcpy(i->block, block, sizeof i->block);
    *s = (struct block_order){
        .order = o, .number = number, .stamp = 1, .floor = 1, .least_exit_floor = UINT32_MAX, .n_warps = n_warps};
    for (uint32_t w = 0; w < n_warps; w++) {
        uint32_t left = threads - w * WARP_LANES;
        s->warps[w].now = 1;
        s->warps[w].exists = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
    }
    return s;
}

static struct instance *instance_at(const struct order *o, uint32_t number)
{
    return numbered_at(&o->instances, number);
}

void order_block_ended(struct block_order *b)
{
    atomic_store_explicit(&instance_at(b->order, b->number)->ended, true, memory_order_relaxed);
}

bool order_has_ended(const struct order *o, uint32_t instance)
{
    return atomic_load_explicit(&instance_at(o, instance)->ended, memory_order_relaxed);
}

struct block_order *order_block_start(struct order *o, const struct block *b, uint32_t task)
{
    return start(o, task, b->launch->threads_per_block, b->ctaid, b->launch->block);
}

struct block_order *order_task_start(struct order *o, uint32_t task)
{
    return start(o, task, 1, (uint32_t[3]){0}, (uint32_t[3]){1, 1, 1});
}

static void drop_lanes(struct lane_order *l)
{
    for (unsigned i = 0; l && i < WARP_LANES; i++) {
        clock_release(l->known[i]);
        clock_release(l->acquired[i]);
        for (unsigned r = 0; r < REACH_COUNT; r++) {
            clock_release(l->observed[r][i]);
            clock_release(l->fence[r][i].known);
        }
    }
    free(l);
}

void order_block_end(struct block_order *b)
{
    if (!b)
        return;
    for (uint32_t w = 0; w < b->n_warps; w++) {
        clock_release(b->warps[w].known);
        drop_lanes(b->warps[w].lanes);
    }
    for (unsigned i = 0; i < BARRIERS; i++)
        clock_release(b->arrived[i]);
    for (uint32_t i = 0; i < b->n_mbarriers; i++) {
        clock_release(b->mbarriers[i].phase[0]);
        clock_release(b->mbarriers[i].phase[1]);
    }
    free(b->mbarriers);
    if (b->cluster && --b->cluster->blocks == 0) {
        clock_release(b->cluster->arriving);
        clock_release(b->cluster->opened);
        free(b->cluster);
    }
    clock_release(b->known);
    free(b);
}

void order_join_cluster(struct block_order *b, struct block_order *with)
{
    if (!with->cluster && (with->cluster = calloc(1, sizeof *with->cluster)))
        *with->cluster = (struct cluster_order){.blocks = 1, .first = with->number};
    b->cluster = with->cluster;
    if (!b->cluster) {
        atomic_store(&b->order->incomplete, true);
        return;
    }
    b->cluster->blocks++;
    ((struct instance *)numbered_at(&b->order->instances, b->number))->cluster = b->cluster->first;
}

static struct lane_order *lanes_of(struct block_order *b, unsigned warp)
{
    struct warp_order *w = &b->warps[warp];
    if (!w->lanes && !(w->lanes = calloc(1, sizeof *w->lanes)))
        atomic_store(&b->order->incomplete, true);
    b->irregular = true;
    return w->lanes;
}

/* ---- what threads know ---- */

static void replace(struct clock **to, struct clock *with)
{
    clock_release(*to);
    *to = with;
}

/* Memory ran out where `ok` is false. */
static void note(const struct block_order *b, bool ok)
{
    if (!ok)
        atomic_store(&b->order->incomplete, true);
}

static void join(const struct block_order *b, struct clock **c, struct clock *with)
{
    note(b, clock_join(c, with));
}

static struct clock *known_of_warp(const struct block_order *b, unsigned warp)
{
    return b->warps[warp].known ? b->warps[warp].known : b->known;
}

static struct clock *known_of(const struct block_order *b, unsigned warp, unsigned lane)
{
    const struct warp_order *w = &b->warps[warp];
    return w->lanes && w->lanes->known[lane] ? w->lanes->known[lane] : known_of_warp(b, warp);
}

/* What lanes know beyond what all of their block do. What one of them knows has what its warp knows in it. */
static void join_own(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    const struct warp_order *w = &b->warps[warp];
    struct clock *last = NULL;
    for (uint32_t m = w->lanes ? lanes : 0; m; m &= m - 1) {
        struct clock *known = w->lanes->known[__builtin_ctz(m)];
        if (known && known != last)
            join(b, c, last = known);
    }
    if (!last)
        join(b, c, w->known);
}

/* What lanes know beyond the floors of their block and their warp. */
static void join_known(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    struct clock *own = NULL;
    join_own(b, warp, lanes, &own);
    join(b, c, own ? own : b->known);
    clock_release(own);
}

/* The block's floor holds of all threads but those that had exited before: of these, what it was then. */
static void add_block_floor(const struct block_order *b, uint32_t block_floor, struct clock **c)
{
    if (block_floor <= b->least_exit_floor) {
        note(b, clock_add_block(c, b->number, block_floor));
        return;
    }
    note(b, clock_add_block(c, b->number, b->least_exit_floor));
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp_order *w = &b->warps[i];
        uint32_t floor[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            floor[l] = w->exited >> l & 1 && w->exit_floor[l] < block_floor ? w->exit_floor[l] : block_floor;
        if (w->exited)
            note(b, clock_add_lanes(c, b->number, i, w->exists, floor));
        else
            note(b, clock_add_warp(c, b->number, i, block_floor));
    }
}

static void add_warp_floor(const struct block_order *b, unsigned warp, uint32_t warp_floor, struct clock **c)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t floor[WARP_LANES];
    if (!w->exited) {
        note(b, clock_add_warp(c, b->number, warp, warp_floor));
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        floor[l] = w->exited >> l & 1 && w->exit_warp_floor[l] < warp_floor ? w->exit_warp_floor[l] : warp_floor;
    note(b, clock_add_lanes(c, b->number, warp, w->exists, floor));
}

/* What lanes of a warp have done, and what their block and warp say of the others, at a moment: `known` aside. */
static struct clock *deeds(const struct block_order *b, unsigned warp, uint32_t lanes, const struct snapshot *s)
{
    const struct warp_order *w = &b->warps[warp];
    struct clock *c = NULL;
    uint32_t floor[WARP_LANES];
    add_block_floor(b, s->floor, &c);
    if (s->warp_floor > s->floor)
        add_warp_floor(b, warp, s->warp_floor, &c);
    for (unsigned l = 0; l < WARP_LANES; l++)
        floor[l] = s->now + 1;
    if (lanes == w->exists)
        note(b, clock_add_warp(&c, b->number, warp, s->now + 1));
    else
        note(b, clock_add_lanes(&c, b->number, warp, lanes, floor));
    return c;
}

static struct snapshot snapshot(const struct block_order *b, unsigned warp, struct clock *known)
{
    const struct warp_order *w = &b->warps[warp];
    return (struct snapshot){known, w->now, b->floor, w->floor};
}

/* All that the lanes know now, their own accesses included; those that follow have later stamps. */
static void join_all(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c)
{
    struct snapshot s = snapshot(b, warp, NULL);
    struct clock *done = deeds(b, warp, lanes, &s);
    join_known(b, warp, lanes, c);
    join(b, c, done);
    clock_release(done);
}

/* Where threads leave what they know for others: what a lane knew at a moment is added. A place that is empty begins a lineage of its
 * own. */
static void leave(const struct block_order *b, unsigned warp, unsigned lane, const struct snapshot *s,
                  struct clock **at)
{
    bool (*add)(struct clock **, struct clock *) = *at ? clock_extend : clock_join;
    struct clock *done = deeds(b, warp, 1u << lane, s);
    note(b, add(at, s->known));
    note(b, add(at, done));
    clock_release(done);
}

static void leave_now(const struct block_order *b, unsigned warp, unsigned lane, struct clock **at)
{
    struct snapshot s = snapshot(b, warp, known_of(b, warp, lane));
    leave(b, warp, lane, &s, at);
}

struct block_order *order_host_start(struct order *o, uint32_t task, struct block_order *before)
{
    struct block_order *b = order_task_start(o, task);
    atomic_store(&o->has_host, true);
    if (b)
        ((struct instance *)numbered_at(&o->instances, b->number))->host = true;
    if (b && before) {
        join_all(before, 0, 1, &b->known);
        b->irregular = true;
    }
    order_block_end(before);
    return b;
}

void order_step(struct block_order *b, unsigned warp)
{
    b->warps[warp].now = ++b->stamp;
}

/* The lanes learn what is in a clock of theirs alone. */
static void learn(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c)
{
    struct warp_order *w = &b->warps[warp];
    if (!c)
        return;
    b->irregular = true;
    if (lanes == (w->exists & ~w->exited)) {
        for (unsigned l = 0; w->lanes && l < WARP_LANES; l++)
            replace(&w->lanes->known[l], NULL);
        replace(&w->known, clock_ref(c));
    } else if (lanes_of(b, warp)) {
        for (; lanes; lanes &= lanes - 1)
            replace(&w->lanes->known[__builtin_ctz(lanes)], clock_ref(c));
    }
    order_step(b, warp);
}

/* ---- barriers (9.7.13.1) ---- */

static uint32_t waited(const struct sync_event *e, uint32_t warp)
{
    return barrier_waited(e, &e->block->warps[warp]);
}

/* All that have not exited: the floor says it. */
static void all_meet(struct block_order *b)
{
    struct clock *known = NULL;
    b->floor = ++b->stamp;
    for (uint32_t w = 0; w < b->n_warps; w++)
        b->warps[w].now = b->stamp;
    if (!b->irregular)
        return;
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (b->warps[w].exists & ~b->warps[w].exited)
            join_own(b, w, b->warps[w].exists & ~b->warps[w].exited, &known);
    if (known)
        replace(&b->known, known);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        replace(&b->warps[w].known, NULL);
        for (unsigned l = 0; b->warps[w].lanes && l < WARP_LANES; l++)
            replace(&b->warps[w].lanes->known[l], NULL);
    }
}

/* Those that wait learn from each other, and from those that have only arrived. */
static void some_meet(struct block_order *b, const struct sync_event *e)
{
    uint32_t id = e->id;
    struct clock *c = clock_ref(b->arrived[id]);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (waited(e, w))
            join_all(b, w, waited(e, w), &c);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (waited(e, w))
            learn(b, w, waited(e, w), c);
    clock_release(c);
    replace(&b->arrived[id], NULL);
}

bool order_barrier_opens(struct block_order *b, const struct sync_event *e)
{
    bool all = !b->arrived[e->id];
    for (uint32_t w = 0; w < b->n_warps; w++)
        all &= waited(e, w) == (b->warps[w].exists & ~b->warps[w].exited);
    if (all)
        all_meet(b);
    else
        some_meet(b, e);
    return all;
}

void order_barrier_arrive(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t id)
{
    join_all(b, warp, lanes, &b->arrived[id]);
    b->irregular = true;
    order_step(b, warp);
}

static void acquire(struct block_order *b, unsigned warp, unsigned lane, struct clock *c)
{
    struct lane_order *s = lanes_of(b, warp);
    if (!s || s->acquired[lane] == c) /* again, by who waits for a change */
        return;
    replace(&s->acquired[lane], clock_ref(c));
    struct clock *before = known_of(b, warp, lane), *known = clock_ref(before);
    join(b, &known, c);
    if (known != before) {
        replace(&s->known[lane], known);
        order_step(b, warp);
    } else {
        clock_release(known);
    }
}

/* ---- clusters (9.7.13.4) ---- */

void order_cluster_arrive(struct block_order *b, unsigned warp, uint32_t lanes, bool releases)
{
    if (!b->cluster || !releases)
        return;
    join_all(b, warp, lanes, &b->cluster->arriving);
    order_step(b, warp);
}

void order_cluster_opens(struct block_order *b)
{
    if (!b->cluster)
        return;
    replace(&b->cluster->opened, b->cluster->arriving);
    b->cluster->arriving = NULL;
}

void order_cluster_wait(struct block_order *b, unsigned warp, uint32_t lanes)
{
    if (!b->cluster || !b->cluster->opened)
        return;
    if (!b->warps[warp].lanes && lanes == (b->warps[warp].exists & ~b->warps[warp].exited)) {
        struct clock *c = clock_ref(b->cluster->opened);
        join(b, &c, known_of_warp(b, warp));
        learn(b, warp, lanes, c);
        clock_release(c);
        return;
    }
    for (; lanes; lanes &= lanes - 1)
        acquire(b, warp, (unsigned)__builtin_ctz(lanes), b->cluster->opened);
}

/* ---- warps (9.7.13.2) ---- */

void order_warp_meets(struct block_order *b, const struct warp *w, uint32_t lanes)
{
    struct warp_order *s = &b->warps[w->index];
    struct clock *c = NULL;
    if (lanes != (s->exists & ~s->exited)) {
        join_all(b, w->index, lanes, &c);
        learn(b, w->index, lanes, c);
        clock_release(c);
        return;
    }
    s->now = s->floor = ++b->stamp;
    if (!s->lanes)
        return;
    join_own(b, w->index, lanes, &c);
    replace(&s->known, c);
    for (unsigned l = 0; l < WARP_LANES; l++)
        replace(&s->lanes->known[l], NULL);
}

void order_exit(struct block_order *b, const struct warp *w, uint32_t lanes)
{
    struct warp_order *s = &b->warps[w->index];
    uint32_t floor = s->floor > b->floor ? s->floor : b->floor;
    s->exited |= lanes;
    for (; lanes; lanes &= lanes - 1) {
        s->exit_floor[__builtin_ctz(lanes)] = b->floor;
        s->exit_warp_floor[__builtin_ctz(lanes)] = floor;
    }
    if (b->floor < b->least_exit_floor)
        b->least_exit_floor = b->floor;
}

/* ---- release and acquire ---- */

/* What strong reads before the fence have observed is acquired now. */
static void acquire_observed(struct block_order *b, unsigned warp, uint32_t lanes, enum reach reach)
{
    struct lane_order *s = b->warps[warp].lanes;
    for (uint32_t m = s ? lanes & s->have_observed : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool left = false;
        for (unsigned r = 0; r < REACH_COUNT; r++) {
            if (r <= reach && s->observed[r][l]) {
                acquire(b, warp, l, s->observed[r][l]);
                replace(&s->observed[r][l], NULL);
            }
            left |= s->observed[r][l] != NULL;
        }
        if (!left)
            s->have_observed &= ~(1u << l);
    }
}

void order_fence(struct block_order *b, unsigned warp, uint32_t lanes, bool acquires, bool releases, enum reach reach)
{
    struct lane_order *s = lanes_of(b, warp);
    if (acquires)
        acquire_observed(b, warp, lanes, reach);
    for (uint32_t m = s && releases ? lanes : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        clock_release(s->fence[reach][l].known);
        s->fence[reach][l] = snapshot(b, warp, clock_ref(known_of(b, warp, l)));
    }
    if (s && releases)
        s->have_fenced[reach] |= lanes;
    order_step(b, warp);
}

void order_lock(struct order *o)
{
    pthread_mutex_lock(&o->lock);
}

void order_unlock(struct order *o)
{
    pthread_mutex_unlock(&o->lock);
}

static uint32_t bucket_of(uint64_t address)
{
    return (uint32_t)((address >> 2) * 0x9e3779b97f4a7c15ull >> 50) % BUCKETS;
}

static struct sync_variable *find_variable(const struct order *o, uint64_t address)
{
    struct sync_variable *v = atomic_load_explicit(&o->buckets[bucket_of(address)], memory_order_acquire);
    while (v && v->address != address)
        v = v->next;
    return v;
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

/* Does it make no difference to who observes them which of two instances has released? */
static bool are_alike(const struct order *o, enum reach reach, uint32_t a, uint32_t b)
{
    return a == b || (reach >= REACH_GPU && order_instance(o, a)->host == order_instance(o, b)->host);
}

/* The part of the variable that releases of the reach by threads of the instance are in: those that are for the same threads are
 * one. NULL where memory ran out. */
static struct release *part_for(struct order *o, struct sync_variable *v, uint32_t instance, enum reach reach)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (v->releases[i].reach == reach && are_alike(o, reach, v->releases[i].instance, instance))
            return &v->releases[i];
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
    struct release *r = part_for(b->order, v, b->number, reach);
    if (!r)
        return;
    leave(b, warp, lane, s, &r->clock);
    r->instance = b->number;
}

/* It is acquired by the lane's next fence of the scope, or of a wider one. */
static void add_observed(struct block_order *b, unsigned warp, unsigned lane, uint32_t by, struct clock *c)
{
    struct lane_order *l = lanes_of(b, warp);
    enum reach r = REACH_CTA;
    while (!order_reaches(b->order, r, b->number, by))
        r++;
    if (!l)
        return;
    join(b, &l->observed[r][lane], c);
    l->have_observed |= 1u << lane;
}

/* The write that stands at the location is observed (8.8): its releases, and those of the read-modify-writes that led to it. */
static void observe(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s,
                    const struct sync_variable *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct release *r = &v->releases[i];
        if (!order_reaches(b->order, (enum reach)r->reach, r->instance, b->number))
            continue;
        if (!s->acquires)
            add_observed(b, warp, lane, r->instance, r->clock);
        else if (order_reaches(b->order, s->reach, b->number, r->instance))
            acquire(b, warp, lane, r->clock);
    }
}

/* Do the last write and this operation observe each other (8.6: complete overlap, and scopes that name both)? */
static bool are_morally_strong(const struct block_order *b, const struct strong_access *s,
                               const struct sync_variable *v)
{
    return v->bytes == s->bytes && order_reaches(b->order, (enum reach)v->reach, v->instance, b->number) &&
           order_reaches(b->order, s->reach, b->number, v->instance);
}

void order_release(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    const struct lane_order *l = b->warps[warp].lanes;
    bool fenced = false;
    for (unsigned r = 0; l && r < REACH_COUNT; r++)
        fenced |= l->have_fenced[r] >> lane & 1;
    struct sync_variable *v = find_variable(b->order, s->address);
    if (v && (v->owner != s->owner || !s->reads || !are_morally_strong(b, s, v)))
        drop_releases(v); /* the chain ends, or it was of a block that had this memory before */
    if (!v && (fenced || s->releases))
        v = make_variable(b->order, s->address);
    if (!v)
        return;
    v->bytes = s->bytes;
    v->owner = s->owner;
    v->instance = b->number;
    v->reach = (uint8_t)s->reach;
    for (unsigned r = 0; fenced && r < REACH_COUNT; r++)
        if (l->have_fenced[r] >> lane & 1)
            put_release(b, warp, lane, v, &l->fence[r][lane], (enum reach)r);
    if (s->releases) {
        struct snapshot now = snapshot(b, warp, known_of(b, warp, lane));
        put_release(b, warp, lane, v, &now, s->reach);
        order_step(b, warp);
    }
}

uint32_t order_observe(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s)
{
    const struct sync_variable *v = find_variable(b->order, s->address);
    uint32_t own = order_instance(b->order, b->number)->task, other = 0;
    if (!v || v->owner != s->owner || !v->n || !are_morally_strong(b, s, v))
        return 0;
    observe(b, warp, lane, s, v);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t task = order_instance(b->order, v->releases[i].instance)->task;
        if (task != own &&
            order_reaches(b->order, (enum reach)v->releases[i].reach, v->releases[i].instance, b->number))
            other = task;
    }
    return other;
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
void order_mbarrier_arrive(struct block_order *b, unsigned warp, unsigned lane, const struct sync_event *e)
{
    struct mbarrier_order *m = mbarrier_at(b, e->address);
    if (!m)
        return;
    if (e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL) {
        leave_now(b, warp, lane, &m->phase[e->parity]);
        b->irregular = true;
        order_step(b, warp);
    }
    if (e->completes)
        replace(&m->phase[!e->parity], clock_ref(m->phase[e->parity]));
}

void order_mbarrier_wait(struct block_order *b, unsigned warp, unsigned lane, const struct sync_event *e)
{
    const struct mbarrier_order *m = mbarrier_at(b, e->address);
    if (!m || !m->phase[e->parity])
        return;
    if (e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL)
        acquire(b, warp, lane, m->phase[e->parity]);
    else
        add_observed(b, warp, lane, b->number, m->phase[e->parity]);
}

void order_weak_write(struct block_order *b, uint64_t address, uint32_t bytes)
{
    for (uint64_t at = address & ~7ull; at < address + bytes; at += 4) {
        struct sync_variable *v = find_variable(b->order, at);
        if (!v || v->address + v->bytes <= address)
            continue;
        order_lock(b->order);
        drop_releases(v);
        order_unlock(b->order);
    }
}

/* ---- what happens before ---- */

/* Floors say it of all lanes at once; threads that have exited are behind those that they have met with. */
static uint32_t floors_say(const struct block_order *b, unsigned warp, unsigned of_warp, uint32_t of, uint32_t stamp)
{
    const struct warp_order *w = &b->warps[of_warp];
    uint32_t floor = of_warp == warp && w->floor > b->floor ? w->floor : b->floor;
    if (stamp >= floor)
        return 0;
    const uint32_t *exit_floor = of_warp == warp ? w->exit_warp_floor : w->exit_floor;
    for (uint32_t m = of & w->exited; m; m &= m - 1)
        if (stamp >= exit_floor[__builtin_ctz(m)])
            of &= ~(m & (0 - m));
    return of;
}

uint32_t order_before(const struct block_order *b, unsigned warp, unsigned lane, uint32_t instance, unsigned of_warp,
                      uint32_t of, uint32_t stamp)
{
    uint32_t before = instance == b->number ? floors_say(b, warp, of_warp, of, stamp) : 0;
    if (!b->irregular || !(of & ~before))
        return before;
    return before | clock_before(known_of(b, warp, lane), instance, of_warp, of & ~before, stamp);
}
