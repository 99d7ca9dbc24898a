/* State that the files of check/order/ share. Private to check/order/. */
#ifndef HEDDLE_CHECK_ORDER_STATE_H
#define HEDDLE_CHECK_ORDER_STATE_H

#include <pthread.h>

#include "check/shadow/numbered.h"
#include "check/order/order.h"

enum { BUCKETS = 1 << 14 };

/* struct sync_variable: sync_variables.c */
struct order {
    pthread_mutex_t starting;     /* protects the next two */
    struct numbered incarnations; /* struct incarnation */
    struct block_order *running;
    /* Protects what follows. Other threads poll it, so its holder's data is in other cache
     * lines. */
    _Alignas(64) _Atomic uint8_t lock;
    _Alignas(64) struct sync_variable *_Atomic buckets[BUCKETS];
    _Atomic bool has_variables;
    _Atomic bool incomplete, has_host;
    _Atomic bool parts_releases; /* order_part_releases() */
    _Atomic bool has_acquires;
};

/* Marked incarnation numbers (CLOCK_MARKS), for entries of clocks about: asynchronous operations
 * that its threads have issued; how often its cluster has met; its threads' accesses to shared
 * memory, and to global memory, that a fence of the async proxy has followed. */
static inline uint32_t order_issued_by(uint32_t incarnation)
{
    return incarnation | 1u << 26;
}
static inline uint32_t order_fenced_of(uint32_t incarnation)
{
    return incarnation | 3u << 26;
}
#define ORDER_FENCED_GLOBAL (1u << 28)
static inline uint32_t order_meetings_of(uint32_t first_of_cluster)
{
    return first_of_cluster | 1u << 27;
}

static inline uint32_t order_clock_before(const struct clock *c, struct accesses of)
{
    return clock_before(c, of.incarnation, of.warp, of.lanes, of.epoch);
}

/* If `ok` is false, memory ran out and some order is lost. */
static inline bool order_note(struct order *o, bool ok)
{
    if (!ok)
        atomic_store(&o->incomplete, true);
    return ok;
}

/* ---- incarnations.c ---- */

/* A block's cluster. A block that is alone so far, or in no cluster, gets one of its own. NULL
 * without memory. */
struct cluster_order *order_cluster_of(struct block_order *b);
/* Drops the knowledge of exited lanes. */
void order_forget_exited(struct warp_order *w, uint32_t lanes);

/* ---- sync_variables.c ---- */

void order_drop_patterns(struct lane_patterns **p);
/* Marks the incarnations that sync variables refer to. */
void order_keep_releases(struct order *o);
/* Lanes have observed a clock that threads of an incarnation have released. Their next fence of
 * a scope that includes these threads acquires it. */
void order_keep_observed(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t by, struct clock *c);

/* ---- fences.c ---- */

/* A later release pattern after this fence releases what the lanes know now. */
void order_keep_fence(struct block_order *b, unsigned warp, uint32_t lanes, struct lane_order *s, enum scope scope);
/* Joins what lanes knew at their fences whose scopes include the cluster. */
void order_join_fenced(struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);

/* ---- mbarriers.c ---- */

/* Lanes arrive at the cluster's barrier, and release there what their fence.mbarrier_init
 * covers. */
void order_arrive_behind_inits(struct block_order *b, unsigned warp, uint32_t lanes);

/* ---- known.c: what threads know, in clocks, beyond the frontiers of their block and warp ---- */

/* The lanes of a warp; NULL without memory. */
struct lane_order *order_lanes(struct block_order *b, unsigned warp);
struct clock *order_known(const struct block_order *b, unsigned warp, unsigned lane);
void order_join(const struct block_order *b, struct clock **c, struct clock *with);
/* Joins what lanes know in addition to their block. */
void order_join_own(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);
/* Joins all that lanes know now, and their own accesses so far. Later accesses are in a later
 * epoch. */
void order_join_all(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);
/* For clocks by lane: the lanes that have the same clock as the first of `lanes`; and replacing
 * the clock that all of these lanes have. */
uint32_t order_same(struct clock *const at[WARP_LANES], uint32_t lanes);
void order_replace_each(struct clock *at[WARP_LANES], uint32_t lanes, struct clock *with);
/* Joins `with` to the clock of each of these lanes, or to `instead` if a lane has none
 * (clock_join_since). Returns the lanes whose clock has changed. */
uint32_t order_join_each(const struct block_order *b, struct clock *at[WARP_LANES], struct clock *instead,
                         uint32_t lanes, struct clock *with, const struct clock *since);
/* A snapshot of a thread of the warp that knows `known`. */
struct snapshot order_snapshot(const struct block_order *b, unsigned warp, struct clock *known);
/* Adds a lane's snapshot to a clock that others will acquire. */
void order_publish(const struct block_order *b, unsigned warp, unsigned lane, const struct snapshot *s,
                   struct clock **at);
/* Replaces what lanes know by a clock that includes it. */
void order_learn(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c);
/* Lanes acquire a clock: it is joined to what they know. */
void order_acquire(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c);

#endif
