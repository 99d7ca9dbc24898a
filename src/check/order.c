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
    if (!l)
        return;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        clock_release(l->known[i]);
        clock_release(l->acquired[i]);
        for (unsigned s = 0; s < REACH_COUNT; s++)
            clock_release(l->fence[s][i]);
    }
    for (uint32_t i = 0; i < l->n_pending; i++)
        clock_release(l->pending[i].clock);
    free(l->pending);
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

static struct clock *make(struct block_order *b, struct clock_builder *k)
{
    bool ok = true;
    struct clock *c = clock_make(k, &ok);
    if (!ok)
        atomic_store(&b->order->incomplete, true);
    return c;
}

/* What lanes know beyond the floors of their block and their warp. */
static void join_known(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock_builder *k)
{
    const struct warp_order *w = &b->warps[warp];
    clock_join(k, b->known);
    clock_join(k, w->known);
    for (; w->lanes && lanes; lanes &= lanes - 1)
        clock_join(k, w->lanes->known[__builtin_ctz(lanes)]);
}

/* The block's floor holds of all threads but those that had exited before: of these, what it was then. */
static void add_block_floor(const struct block_order *b, struct clock_builder *k)
{
    if (b->floor <= b->least_exit_floor) {
        clock_add(k, clock_key(b->number, CLOCK_BLOCK), b->floor);
        return;
    }
    clock_add(k, clock_key(b->number, CLOCK_BLOCK), b->least_exit_floor);
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct warp_order *w = &b->warps[i];
        if (!w->exited)
            clock_add(k, clock_key(b->number, CLOCK_WARP + i), b->floor);
        for (uint32_t m = w->exited ? w->exists : 0; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            uint32_t floor = w->exited >> l & 1 && w->exit_floor[l] < b->floor ? w->exit_floor[l] : b->floor;
            clock_add(k, clock_key(b->number, CLOCK_THREAD + i * WARP_LANES + l), floor);
        }
    }
}

/* All that the lanes know now, their own accesses included; those that follow have later stamps. */
static void join_all(struct block_order *b, unsigned warp, uint32_t lanes, struct clock_builder *k)
{
    struct warp_order *w = &b->warps[warp];
    join_known(b, warp, lanes, k);
    add_block_floor(b, k);
    if (w->floor > b->floor && !w->exited)
        clock_add(k, clock_key(b->number, CLOCK_WARP + warp), w->floor);
    for (uint32_t m = w->floor > b->floor && w->exited ? w->exists : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t floor = w->exited >> l & 1 && w->exit_warp_floor[l] < w->floor ? w->exit_warp_floor[l] : w->floor;
        clock_add(k, clock_key(b->number, CLOCK_THREAD + warp * WARP_LANES + l), floor);
    }
    if (lanes == w->exists)
        clock_add(k, clock_key(b->number, CLOCK_WARP + warp), w->now + 1);
    else
        for (; lanes; lanes &= lanes - 1)
            clock_add(k, clock_key(b->number, CLOCK_THREAD + warp * WARP_LANES + (unsigned)__builtin_ctz(lanes)),
                      w->now + 1);
}

struct block_order *order_host_start(struct order *o, uint32_t task, struct block_order *before)
{
    struct block_order *b = order_task_start(o, task);
    atomic_store(&o->has_host, true);
    if (b)
        ((struct instance *)numbered_at(&o->instances, b->number))->host = true;
    if (b && before) {
        struct clock_builder k = {0};
        join_all(before, 0, 1, &k);
        b->known = make(b, &k);
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
    struct clock_builder k = {0};
    b->floor = ++b->stamp;
    for (uint32_t w = 0; b->irregular && w < b->n_warps; w++)
        if (b->warps[w].exists & ~b->warps[w].exited)
            join_known(b, w, b->warps[w].exists & ~b->warps[w].exited, &k);
    if (b->irregular)
        replace(&b->known, make(b, &k));
    for (uint32_t w = 0; w < b->n_warps; w++) {
        b->warps[w].now = b->stamp;
        if (!b->irregular)
            continue;
        replace(&b->warps[w].known, NULL);
        for (unsigned l = 0; b->warps[w].lanes && l < WARP_LANES; l++)
            replace(&b->warps[w].lanes->known[l], NULL);
    }
}

/* Those that wait learn from each other, and from those that have only arrived. */
static void some_meet(struct block_order *b, const struct sync_event *e)
{
    uint32_t id = e->id;
    struct clock_builder k = {0};
    clock_join(&k, b->arrived[id]);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (waited(e, w))
            join_all(b, w, waited(e, w), &k);
    struct clock *c = make(b, &k);
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
    struct clock_builder k = {0};
    clock_join(&k, b->arrived[id]);
    join_all(b, warp, lanes, &k);
    replace(&b->arrived[id], make(b, &k));
    b->irregular = true;
    order_step(b, warp);
}

static void acquire(struct block_order *b, unsigned warp, unsigned lane, struct clock *c)
{
    struct lane_order *s = lanes_of(b, warp);
    struct clock_builder k = {0};
    if (!s)
        return;
    if (s->acquired[lane] == c) /* again, by who waits for a change */
        return;
    replace(&s->acquired[lane], clock_ref(c));
    clock_join(&k, s->known[lane]);
    clock_join(&k, c);
    replace(&s->known[lane], make(b, &k));
    order_step(b, warp);
}

/* ---- clusters (9.7.13.4) ---- */

void order_cluster_arrive(struct block_order *b, unsigned warp, uint32_t lanes, bool releases)
{
    struct clock_builder k = {0};
    if (!b->cluster || !releases)
        return;
    clock_join(&k, b->cluster->arriving);
    join_all(b, warp, lanes, &k);
    replace(&b->cluster->arriving, make(b, &k));
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
        struct clock_builder k = {0};
        clock_join(&k, b->cluster->opened);
        clock_join(&k, b->warps[warp].known);
        struct clock *c = make(b, &k);
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
    struct clock_builder k = {0};
    if (lanes != (s->exists & ~s->exited)) {
        join_all(b, w->index, lanes, &k);
        struct clock *c = make(b, &k);
        learn(b, w->index, lanes, c);
        clock_release(c);
        return;
    }
    s->now = s->floor = ++b->stamp;
    if (!s->lanes)
        return;
    join_known(b, w->index, lanes, &k);
    replace(&s->known, make(b, &k));
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
static void acquire_pending(struct block_order *b, unsigned warp, uint32_t lanes, enum reach reach)
{
    struct lane_order *s = b->warps[warp].lanes;
    for (uint32_t i = 0; s && i < s->n_pending;) {
        struct pending p = s->pending[i];
        if (!(lanes >> p.lane & 1) || !order_reaches(b->order, reach, b->number, p.instance)) {
            i++;
            continue;
        }
        s->pending[i] = s->pending[--s->n_pending];
        acquire(b, warp, p.lane, p.clock);
        clock_release(p.clock);
    }
}

void order_fence(struct block_order *b, unsigned warp, uint32_t lanes, bool acquires, bool releases, enum reach reach)
{
    struct lane_order *s = lanes_of(b, warp);
    if (acquires)
        acquire_pending(b, warp, lanes, reach);
    for (uint32_t m = s && releases ? lanes : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct clock_builder k = {0};
        join_all(b, warp, 1u << l, &k);
        replace(&s->fence[reach][l], make(b, &k));
    }
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

static void add_release(struct order *o, struct sync_variable *v, struct clock *c, uint32_t instance, enum reach reach)
{
    if (v->n == v->room) {
        uint32_t room = 2 * v->room + 4;
        struct release *r = realloc(v->releases, room * sizeof *r);
        if (!r) {
            atomic_store(&o->incomplete, true);
            clock_release(c);
            return;
        }
        v->releases = r;
        v->room = room;
    }
    v->releases[v->n++] = (struct release){c, instance, (uint8_t)reach};
}

/* Releases of one reach that are for all threads are one. */
static void put_release(struct block_order *b, struct sync_variable *v, struct clock *c, enum reach reach)
{
    for (uint32_t i = 0; i < v->n && reach >= REACH_GPU; i++) {
        struct release *r = &v->releases[i];
        if (r->reach != reach)
            continue;
        struct clock_builder k = {0};
        clock_join(&k, r->clock);
        clock_join(&k, c);
        replace(&r->clock, make(b, &k));
        clock_release(c);
        r->instance = b->number;
        return;
    }
    if (c)
        add_release(b->order, v, c, b->number, reach);
}

/* It is acquired by the lane's next fence. */
static void add_pending(struct block_order *b, unsigned warp, struct pending p)
{
    struct lane_order *l = lanes_of(b, warp);
    for (uint32_t i = 0; l && i < l->n_pending; i++)
        if (l->pending[i].lane == p.lane && l->pending[i].clock == p.clock)
            return;
    if (l && l->n_pending == l->pending_room) {
        uint32_t room = 2 * l->pending_room + 8;
        struct pending *more = realloc(l->pending, room * sizeof *more);
        if (more) {
            l->pending = more;
            l->pending_room = room;
        } else {
            atomic_store(&b->order->incomplete, true);
            l = NULL;
        }
    }
    if (!l)
        return;
    clock_ref(p.clock);
    l->pending[l->n_pending++] = p;
}

/* The write that stands at the location is observed (8.8): its releases, and those of the read-modify-writes that led to it. */
static void observe(struct block_order *b, unsigned warp, unsigned lane, const struct strong_access *s,
                    const struct sync_variable *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct release *r = &v->releases[i];
        if (!order_reaches(b->order, (enum reach)r->reach, r->instance, b->number))
            continue;
        if (s->acquires) {
            if (order_reaches(b->order, s->reach, b->number, r->instance))
                acquire(b, warp, lane, r->clock);
            continue;
        }
        add_pending(b, warp, (struct pending){r->clock, r->instance, r->reach, (uint8_t)lane});
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
        fenced |= l->fence[r][lane] != NULL;
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
        if (l->fence[r][lane])
            put_release(b, v, clock_ref(l->fence[r][lane]), (enum reach)r);
    if (s->releases) {
        struct clock_builder k = {0};
        join_all(b, warp, 1u << lane, &k);
        put_release(b, v, make(b, &k), s->reach);
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
    struct clock_builder k = {0};
    if (!m)
        return;
    if (e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL) {
        clock_join(&k, m->phase[e->parity]);
        join_all(b, warp, 1u << lane, &k);
        replace(&m->phase[e->parity], make(b, &k));
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
        add_pending(b, warp, (struct pending){m->phase[e->parity], b->number, REACH_CTA, (uint8_t)lane});
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
    const struct warp_order *w = &b->warps[warp];
    uint32_t before = instance == b->number ? floors_say(b, warp, of_warp, of, stamp) : 0;
    for (uint32_t m = b->irregular ? of & ~before : 0; m; m &= m - 1) {
        unsigned thread = of_warp * WARP_LANES + (unsigned)__builtin_ctz(m);
        if (clock_knows(b->known, instance, thread, stamp) || clock_knows(w->known, instance, thread, stamp) ||
            (w->lanes && clock_knows(w->lanes->known[lane], instance, thread, stamp)))
            before |= m & (0 - m);
    }
    return before;
}
