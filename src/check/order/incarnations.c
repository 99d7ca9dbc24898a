/* The lives of CTA incarnations, and the scopes that include their threads; see order.h. */
#include "check/order/state.h"

#include <stdlib.h>
#include <string.h>

struct order *order_new(struct budget *budget)
{
    struct order *o = aligned_alloc(_Alignof(struct order), sizeof *o);
    if (!o)
        return NULL;
    memset(o, 0, sizeof *o);
    if (!numbered_open(&o->incarnations, sizeof(struct incarnation), 1u << 26, budget)) {
        free(o);
        return NULL;
    }
    pthread_mutex_init(&o->starting, NULL);
    return o;
}

void order_forget_incarnations(struct order *o)
{
    numbered_clear(&o->incarnations, UINT64_MAX);
}

void order_free(struct order *o)
{
    if (!o)
        return;
    order_forget_releases(o);
    numbered_close(&o->incarnations);
    pthread_mutex_destroy(&o->starting);
    free(o);
}

bool order_is_incomplete(const struct order *o)
{
    return atomic_load(&o->incomplete);
}

static struct incarnation *incarnation_at(const struct order *o, uint32_t number)
{
    return numbered_at(&o->incarnations, number);
}

const struct incarnation *order_incarnation(const struct order *o, uint32_t number)
{
    return incarnation_at(o, number);
}

enum scope order_scope(enum isa_mod scope)
{
    switch (scope) {
    case MOD_cta: return SCOPE_CTA;
    case MOD_cluster: return SCOPE_CLUSTER;
    case MOD_sys: return SCOPE_SYS;
    default: return SCOPE_GPU;
    }
}

bool order_scope_includes(const struct order *o, enum scope scope, uint32_t from, uint32_t to)
{
    if (from == to || scope == SCOPE_SYS)
        return true;
    if (scope == SCOPE_GPU)
        return !atomic_load_explicit(&o->has_host, memory_order_relaxed) ||
               order_incarnation(o, from)->host == order_incarnation(o, to)->host;
    return scope == SCOPE_CLUSTER && order_incarnation(o, from)->cluster == order_incarnation(o, to)->cluster;
}

/* ---- garbage collection ---- */

const struct numbered *order_incarnations(const struct order *o)
{
    return &o->incarnations;
}

void order_keep_incarnation(struct order *o, uint32_t number)
{
    numbered_mark(&o->incarnations, number, 1);
}

bool order_keep_incarnations(struct order *o)
{
    pthread_mutex_lock(&o->starting);
    if (!numbered_unmark(&o->incarnations)) {
        pthread_mutex_unlock(&o->starting);
        return false;
    }
    for (const struct block_order *b = o->running; b; b = b->next_running)
        order_keep_incarnation(o, b->number);
    order_keep_releases(o);
    return true;
}

void order_drop_incarnations(struct order *o)
{
    numbered_drop(&o->incarnations);
    pthread_mutex_unlock(&o->starting);
}

/* ---- blocks ---- */

/* Its number, or 0 where memory is exhausted. */
static uint32_t start_running(struct order *o, struct block_order *b)
{
    pthread_mutex_lock(&o->starting);
    b->number = numbered_take(&o->incarnations);
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
    struct incarnation *i = incarnation_at(o, s->number);
    i->task = task;
    i->cluster = s->number;
    i->host = false;
    i->has_peers = false;
    atomic_store_explicit(&i->ended, false, memory_order_relaxed);
    memcpy(i->ctaid, ctaid, sizeof i->ctaid);
    memcpy(i->block, block, sizeof i->block);
    s->order = o;
    s->epoch = s->frontier = 1;
    s->least_exit_frontier = UINT32_MAX;
    s->n_warps = n_warps;
    for (uint32_t w = 0; w < n_warps; w++) {
        uint32_t left = threads - w * WARP_LANES;
        s->warps[w].epoch = 1;
        s->warps[w].exists = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
    }
    return s;
}

void order_block_ended(struct block_order *b)
{
    atomic_store_explicit(&incarnation_at(b->order, b->number)->ended, true, memory_order_relaxed);
    stop_running(b);
}

bool order_has_ended(const struct order *o, uint32_t incarnation)
{
    return atomic_load_explicit(&incarnation_at(o, incarnation)->ended, memory_order_relaxed);
}

struct block_order *order_block_start(struct order *o, const struct event_block *b, uint32_t task)
{
    return start(o, task, b->launch->threads_per_block, b->ctaid, b->launch->block);
}

struct block_order *order_task_start(struct order *o, uint32_t task)
{
    return start(o, task, 1, (uint32_t[3]){0}, (uint32_t[3]){1, 1, 1});
}

/* Resets lanes to the state of lanes that have never synchronised individually. */
static void drop_lanes(struct lane_order *l, uint32_t lanes)
{
    EACH_BIT(i, lanes) {
        clock_replace(&l->known[i], NULL);
        clock_replace(&l->acquired[i], NULL);
        order_drop_patterns(&l->released[i]);
        order_drop_patterns(&l->read[i]);
        for (unsigned r = 0; r < SCOPE_COUNT; r++) {
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

/* The knowledge of exited threads is no longer needed. */
void order_forget_exited(struct warp_order *w, uint32_t lanes)
{
    if (w->exited == w->exists)
        free_lanes(w);
    else if (w->lanes)
        drop_lanes(w->lanes, lanes);
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
    for (uint32_t i = 0; i < b->mbarriers.n; i++) {
        clock_release(b->mbarriers.at[i].phase[0]);
        clock_release(b->mbarriers.at[i].phase[1]);
    }
    free(b->mbarriers.at);
    free(b->init_fences.at);
    if (b->cluster && --b->cluster->blocks == 0) {
        clock_release(b->cluster->arriving);
        clock_release(b->cluster->opened);
        free(b->cluster);
    }
    clock_release(b->known);
    clock_release(b->at_exit);
    free(b);
}

/* A block's cluster; where it is in none, or alone so far, one of its own. NULL where memory is
 * exhausted. */
struct cluster_order *order_cluster_of(struct block_order *b)
{
    if (!b->cluster && (b->cluster = calloc(1, sizeof *b->cluster)))
        *b->cluster = (struct cluster_order){.blocks = 1, .first = b->number};
    order_note(b->order, b->cluster);
    return b->cluster;
}

void order_join_cluster(struct block_order *b, struct block_order *with)
{
    b->cluster = order_cluster_of(with);
    if (!b->cluster)
        return;
    b->cluster->blocks++;
    incarnation_at(b->order, b->number)->cluster = b->cluster->first;
    incarnation_at(b->order, b->number)->has_peers = incarnation_at(b->order, with->number)->has_peers = true;
}

struct block_order *order_host_start(struct order *o, uint32_t task, struct block_order *before)
{
    struct block_order *b = order_task_start(o, task);
    atomic_store(&o->has_host, true);
    if (b)
        incarnation_at(o, b->number)->host = true;
    if (b && before) {
        order_join_all(before, 0, 1, &b->known);
        b->irregular = true;
    }
    order_block_end(before);
    return b;
}
