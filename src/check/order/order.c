/* Happens-before between threads; see order.h. */
#include "check/order/order_state.h"

#include <stdlib.h>
#include <string.h>

#include "exec/launch.h"

struct order *order_new(struct budget *budget)
{
    struct order *o = aligned_alloc(_Alignof(struct order), sizeof *o);
    if (!o)
        return NULL;
    memset(o, 0, sizeof *o);
    if (!numbered_open(&o->instances, sizeof(struct instance), 1u << 26, budget)) {
        free(o);
        return NULL;
    }
    pthread_mutex_init(&o->starting, NULL);
    return o;
}

void order_forget_instances(struct order *o)
{
    numbered_clear(&o->instances, UINT64_MAX);
}

void order_free(struct order *o)
{
    if (!o)
        return;
    order_forget_releases(o);
    numbered_close(&o->instances);
    pthread_mutex_destroy(&o->starting);
    free(o);
}

bool order_is_incomplete(const struct order *o)
{
    return atomic_load(&o->incomplete);
}

static struct instance *instance_at(const struct order *o, uint32_t number)
{
    return numbered_at(&o->instances, number);
}

const struct instance *order_instance(const struct order *o, uint32_t number)
{
    return instance_at(o, number);
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

enum reach order_fence_reach(const struct isa_inst *i)
{
    return order_reach(isa_has(i, MOD_cta)       ? MOD_cta
                       : isa_has(i, MOD_cluster) ? MOD_cluster
                       : isa_has(i, MOD_sys)     ? MOD_sys
                                                 : MOD_gpu);
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

/* ---- instances that are still asked for ---- */

const struct numbered *order_instances(const struct order *o)
{
    return &o->instances;
}

void order_keep_instance(struct order *o, uint32_t number)
{
    numbered_mark(&o->instances, number, 1);
}

bool order_keep_instances(struct order *o)
{
    pthread_mutex_lock(&o->starting);
    if (!numbered_unmark(&o->instances)) {
        pthread_mutex_unlock(&o->starting);
        return false;
    }
    for (const struct block_order *b = o->running; b; b = b->next_running)
        order_keep_instance(o, b->number);
    order_keep_releases(o);
    return true;
}

void order_drop_instances(struct order *o)
{
    numbered_drop(&o->instances);
    pthread_mutex_unlock(&o->starting);
}

/* ---- blocks ---- */

/* Its number, or 0 where memory is exhausted. */
static uint32_t start_running(struct order *o, struct block_order *b)
{
    pthread_mutex_lock(&o->starting);
    b->number = numbered_take(&o->instances);
    if (b->number) {
        b->next_running = o->running;
        b->running_link = &o->running;
        if (b->next_running)
            b->next_running->running_link = &b->next_running;
        o->running = b;
    }
    pthread_mutex_unlock(&o->starting);
    return b->number;
}

static void stop_running(struct block_order *b)
{
    pthread_mutex_lock(&b->order->starting);
    if (b->running_link)
        *b->running_link = b->next_running;
    if (b->running_link && b->next_running)
        b->next_running->running_link = b->running_link;
    b->running_link = NULL;
    pthread_mutex_unlock(&b->order->starting);
}

static struct block_order *start(struct order *o, uint32_t task, uint32_t threads, const uint32_t ctaid[3],
                                 const uint32_t block[3])
{
    uint32_t n_warps = (threads + WARP_LANES - 1) / WARP_LANES;
    struct block_order *s = calloc(1, sizeof *s + n_warps * sizeof *s->warps);
    if (!s || !start_running(o, s)) {
        free(s);
        return NULL;
    }
    struct instance *i = instance_at(o, s->number);
    i->task = task;
    i->cluster = s->number;
    i->host = false;
    i->has_peers = false;
    atomic_store_explicit(&i->ended, false, memory_order_relaxed);
    memcpy(i->ctaid, ctaid, sizeof i->ctaid);
    memcpy(i->block, block, sizeof i->block);
    s->order = o;
    s->stamp = s->floor = 1;
    s->least_exit_floor = UINT32_MAX;
    s->n_warps = n_warps;
    for (uint32_t w = 0; w < n_warps; w++) {
        uint32_t left = threads - w * WARP_LANES;
        s->warps[w].now = 1;
        s->warps[w].exists = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
    }
    return s;
}

void order_block_ended(struct block_order *b)
{
    atomic_store_explicit(&instance_at(b->order, b->number)->ended, true, memory_order_relaxed);
    stop_running(b);
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

/* What is dropped is as if it had never been there. */
static void drop_lanes(struct lane_order *l, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned i = (unsigned)__builtin_ctz(lanes);
        clock_replace(&l->known[i], NULL);
        clock_replace(&l->acquired[i], NULL);
        order_drop_patterns(&l->released[i]);
        order_drop_patterns(&l->read[i]);
        for (unsigned r = 0; r < REACH_COUNT; r++) {
            clock_replace(&l->observed[r][i], NULL);
            clock_replace(&l->fence[r][i].known, NULL);
            l->have_latest[r] &= ~(1u << i);
        }
    }
}

static void free_lanes(struct warp_order *w)
{
    if (w->lanes)
        drop_lanes(w->lanes, w->exists);
    free(w->lanes);
    w->lanes = NULL;
}

void order_block_end(struct block_order *b)
{
    if (!b)
        return;
    stop_running(b);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        clock_release(b->warps[w].known);
        free_lanes(&b->warps[w]);
    }
    for (unsigned i = 0; i < BARRIERS; i++)
        clock_release(b->arrived[i]);
    for (uint32_t i = 0; i < b->n_mbarriers; i++) {
        clock_release(b->mbarriers[i].phase[0]);
        clock_release(b->mbarriers[i].phase[1]);
    }
    free(b->mbarriers);
    free(b->init_fences);
    if (b->cluster && --b->cluster->blocks == 0) {
        clock_release(b->cluster->arriving);
        clock_release(b->cluster->opened);
        free(b->cluster);
    }
    clock_release(b->known);
    clock_release(b->at_exit);
    free(b);
}

/* A block's cluster; where it is in none, or alone so far, one of its own. NULL where memory is exhausted. */
static struct cluster_order *cluster_of(struct block_order *b)
{
    if (!b->cluster && (b->cluster = calloc(1, sizeof *b->cluster)))
        *b->cluster = (struct cluster_order){.blocks = 1, .first = b->number};
    if (!b->cluster)
        atomic_store(&b->order->incomplete, true);
    return b->cluster;
}

void order_join_cluster(struct block_order *b, struct block_order *with)
{
    b->cluster = cluster_of(with);
    if (!b->cluster)
        return;
    b->cluster->blocks++;
    instance_at(b->order, b->number)->cluster = b->cluster->first;
    instance_at(b->order, b->number)->has_peers = instance_at(b->order, with->number)->has_peers = true;
}

struct block_order *order_host_start(struct order *o, uint32_t task, struct block_order *before)
{
    struct block_order *b = order_task_start(o, task);
    atomic_store(&o->has_host, true);
    if (b)
        instance_at(o, b->number)->host = true;
    if (b && before) {
        order_join_all(before, 0, 1, &b->known);
        b->irregular = true;
    }
    order_block_end(before);
    return b;
}

void order_step(struct block_order *b, unsigned warp)
{
    b->warps[warp].now = ++b->stamp;
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
            order_join_own(b, w, b->warps[w].exists & ~b->warps[w].exited, &known);
    if (known)
        clock_replace(&b->known, known);
    for (uint32_t w = 0; w < b->n_warps; w++) {
        clock_replace(&b->warps[w].known, NULL);
        for (unsigned l = 0; b->warps[w].lanes && l < WARP_LANES; l++)
            clock_replace(&b->warps[w].lanes->known[l], NULL);
    }
}

/* Those that wait learn from each other, and from those that have only arrived. */
static void some_meet(struct block_order *b, const struct sync_event *e)
{
    uint32_t id = e->id;
    struct clock *c = clock_ref(b->arrived[id]);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (waited(e, w))
            order_join_all(b, w, waited(e, w), &c);
    for (uint32_t w = 0; w < b->n_warps; w++)
        if (waited(e, w))
            order_learn(b, w, waited(e, w), c);
    clock_release(c);
    clock_replace(&b->arrived[id], NULL);
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
    order_join_all(b, warp, lanes, &b->arrived[id]);
    b->irregular = true;
    order_step(b, warp);
}

/* ---- clusters (9.7.13.4) ---- */

static void arrive_behind_inits(struct block_order *b, unsigned warp, uint32_t lanes)
{
    for (uint32_t i = 0; i < b->n_init_fences; i++) {
        struct init_fence *f = &b->init_fences[i];
        if (f->warp != warp || !(lanes >> f->lane & 1) || f->has_arrived)
            continue;
        f->has_arrived = true;
        f->times = b->cluster->opened_times;
        if (!clock_add_block(&b->cluster->arriving, order_meetings_of(b->cluster->first), f->times + 1))
            atomic_store(&b->order->incomplete, true);
    }
}

void order_cluster_arrive(struct block_order *b, unsigned warp, uint32_t lanes, bool releases)
{
    if (!cluster_of(b))
        return;
    if (releases)
        order_join_all(b, warp, lanes, &b->cluster->arriving);
    else
        order_join_fenced(b, warp, lanes, &b->cluster->arriving);
    arrive_behind_inits(b, warp, lanes);
    order_step(b, warp);
}

void order_cluster_opens(struct block_order *b)
{
    if (!b->cluster)
        return;
    b->cluster->opened_times++;
    clock_replace(&b->cluster->opened, b->cluster->arriving);
    b->cluster->arriving = NULL;
}

void order_cluster_wait(struct block_order *b, unsigned warp, uint32_t lanes)
{
    if (!b->cluster || !b->cluster->opened)
        return;
    if (!b->warps[warp].lanes && lanes == (b->warps[warp].exists & ~b->warps[warp].exited)) {
        struct clock *c = clock_ref(order_known(b, warp, 0));
        order_join(b, &c, b->cluster->opened);
        order_learn(b, warp, lanes, c);
        clock_release(c);
        return;
    }
    order_acquire(b, warp, lanes, b->cluster->opened);
}

/* ---- warps (9.7.13.2) ---- */

void order_warp_meets(struct block_order *b, const struct warp *w, uint32_t lanes)
{
    struct warp_order *s = &b->warps[w->index];
    struct clock *c = NULL;
    if (lanes != (s->exists & ~s->exited)) {
        order_join_all(b, w->index, lanes, &c);
        order_learn(b, w->index, lanes, c);
        clock_release(c);
        return;
    }
    s->now = s->floor = ++b->stamp;
    if (!s->lanes)
        return;
    order_join_own(b, w->index, lanes, &c);
    clock_replace(&s->known, c);
    for (unsigned l = 0; l < WARP_LANES; l++)
        clock_replace(&s->lanes->known[l], NULL);
}

/* Nobody asks what threads have known that do nothing any more. */
static void forget_exited(struct warp_order *w, uint32_t lanes)
{
    if (w->exited == w->exists)
        free_lanes(w);
    else if (w->lanes)
        drop_lanes(w->lanes, lanes);
}

static void set_lanes(uint32_t at[WARP_LANES], uint32_t lanes, uint32_t to)
{
    for (unsigned l = 0; lanes == UINT32_MAX && l < WARP_LANES; l++)
        at[l] = to;
    for (uint32_t m = lanes == UINT32_MAX ? 0 : lanes; m; m &= m - 1)
        at[__builtin_ctz(m)] = to;
}

void order_exit(struct block_order *b, const struct warp *w, uint32_t lanes)
{
    struct warp_order *s = &b->warps[w->index];
    uint32_t floor = s->floor > b->floor ? s->floor : b->floor;
    if (order_instance(b->order, b->number)->has_peers)
        order_join_all(b, w->index, lanes, &b->at_exit);
    s->exited |= lanes;
    if (!w->block->launch->kernel->has_async) /* what they have issued may arrive at an mbarrier in their name */
        forget_exited(s, lanes);
    set_lanes(s->exit_floor, lanes, b->floor);
    set_lanes(s->exit_warp_floor, lanes, floor);
    if (b->floor < b->least_exit_floor)
        b->least_exit_floor = b->floor;
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
    return before | clock_before(order_known(b, warp, lane), instance, of_warp, of & ~before, stamp);
}

uint32_t order_init_before(const struct block_order *owner, const struct block_order *b, unsigned warp, unsigned lane,
                           unsigned of_warp, uint32_t of, uint32_t stamp)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < owner->n_init_fences; i++) {
        const struct init_fence *f = &owner->init_fences[i];
        if (f->warp == of_warp && of >> f->lane & 1 && stamp < f->floor && f->has_arrived &&
            clock_before(order_known(b, warp, lane), order_meetings_of(owner->cluster->first), 0, 1, f->times))
            before |= 1u << f->lane;
    }
    return before;
}

uint32_t order_before_end(const struct block_order *b, uint32_t instance, unsigned of_warp, uint32_t of, uint32_t stamp,
                          bool issued)
{
    return clock_before(b->at_exit, issued ? order_issued_by(instance) : instance, of_warp, of, stamp);
}

bool order_all_have_exited(const struct block_order *b)
{
    bool all = true;
    for (uint32_t w = 0; w < b->n_warps; w++)
        all &= b->warps[w].exited == b->warps[w].exists;
    return all;
}

bool order_lanes_know_alike(const struct block_order *b, unsigned warp)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t running = w->exists & ~w->exited;
    return !w->lanes || !running || order_same(w->lanes->known, running) == running;
}

bool order_knows_lanes_alike(const struct block_order *b, unsigned warp, uint32_t instance, unsigned of_warp,
                             uint32_t stamp)
{
    const struct warp_order *w = &b->warps[warp];
    uint32_t running = w->exists & ~w->exited;
    struct clock *known = order_known(b, warp, running ? (unsigned)__builtin_ctz(running) : 0);
    uint32_t before = clock_before(known, instance, of_warp, UINT32_MAX, stamp);
    return before == 0 || before == UINT32_MAX;
}

/* ---- grids that overlap ---- */

/* No block's number. Its moments are the launches whose threads have waited: a thread that knows of one knows so by one of these. */
enum { GRIDS = 0 };

void order_grids_ended(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t task)
{
    struct clock *c = NULL;
    if (clock_add_block(&c, GRIDS, task + 1))
        order_acquire(b, warp, lanes, c);
    clock_release(c);
}

bool order_knows_grids_ended(const struct block_order *b, unsigned warp, unsigned lane, uint32_t task)
{
    return order_before(b, warp, lane, GRIDS, 0, 1, task) != 0;
}
