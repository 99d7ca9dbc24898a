/* What the parts of the order share. Private to check/order/. */
#ifndef HEDDLE_CHECK_ORDER_STATE_H
#define HEDDLE_CHECK_ORDER_STATE_H

#include <pthread.h>

#include "check/shadow/numbered.h"
#include "check/order/order.h"

enum { BUCKETS = 1 << 14 };

/* struct sync_variable: sync_variables.c */
struct order {
    pthread_mutex_t starting;     /* of these two: */
    struct numbered incarnations; /* struct incarnation */
    struct block_order *running;
    /* Of what follows. Others look at it: what its holder reads is in other cache lines. */
    _Alignas(64) _Atomic uint8_t lock;
    _Alignas(64) struct sync_variable *_Atomic buckets[BUCKETS];
    _Atomic bool has_variables;
    _Atomic bool incomplete, has_host;
    _Atomic bool parts_releases; /* order_part_releases() */
    _Atomic bool has_acquires;
};

/* Numbers that no incarnation has, for clocks (CLOCK_MARKS): of what threads of an incarnation have issued, of the times that its cluster has met, and
 * of what a fence of the async proxy has stood behind of what they have done in shared memory, and in global. */
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

/* Memory ran out where `ok` is false: something that orders is lost. */
static inline bool order_note(struct order *o, bool ok)
{
    if (!ok)
        atomic_store(&o->incomplete, true);
    return ok;
}

/* ---- incarnations.c ---- */

/* A block's cluster; where it is in none, or alone so far, one of its own. NULL without memory. */
struct cluster_order *order_cluster_of(struct block_order *b);
/* What lanes have known that have exited is dropped. */
void order_forget_exited(struct warp_order *w, uint32_t lanes);

/* ---- sync_variables.c ---- */

void order_drop_patterns(struct lane_patterns **p);
/* Incarnations that sync variables name. */
void order_keep_releases(struct order *o);
/* Lanes have observed what a clock says, which threads of an incarnation have released: their next fence of that scope, or of a wider
 * one, acquires it. */
void order_keep_observed(struct block_order *b, unsigned warp, uint32_t lanes, uint32_t by, struct clock *c);

/* ---- fences.c ---- */

/* What lanes know now is what a release pattern behind a fence of the scope releases. */
void order_keep_fence(struct block_order *b, unsigned warp, uint32_t lanes, struct lane_order *s, enum scope scope);
/* What lanes have known at fences that reach the threads of their cluster. */
void order_join_fenced(struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);

/* ---- mbarriers.c ---- */

/* Lanes arrive at the cluster's barrier: what they have fenced by fence.mbarrier_init is released there. */
void order_arrive_behind_inits(struct block_order *b, unsigned warp, uint32_t lanes);

/* ---- known.c: what threads know, in clocks, beyond the frontiers of their block and warp ---- */

/* Those of the warp; NULL where memory ran out. */
struct lane_order *order_lanes(struct block_order *b, unsigned warp);
struct clock *order_known(const struct block_order *b, unsigned warp, unsigned lane);
void order_join(const struct block_order *b, struct clock **c, struct clock *with);
/* What lanes know beyond what all of their block do. */
void order_join_own(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);
/* All that lanes know now, their own accesses included; those that follow have later epochs. */
void order_join_all(const struct block_order *b, unsigned warp, uint32_t lanes, struct clock **c);
/* Of clocks that lanes have: those lanes that have the same one as the first; another one in its place for them. */
uint32_t order_same(struct clock *const at[WARP_LANES], uint32_t lanes);
void order_replace_each(struct clock *at[WARP_LANES], uint32_t lanes, struct clock *with);
/* A clock for each of some lanes, `instead` where there is none, joins another one, as clock_join_since() does. Those that
 * have changed. */
uint32_t order_join_each(const struct block_order *b, struct clock *at[WARP_LANES], struct clock *instead,
                         uint32_t lanes, struct clock *with, const struct clock *since);
/* What a thread of the warp knows and has done by now; it knows `known`. */
struct snapshot order_snapshot(const struct block_order *b, unsigned warp, struct clock *known);
/* A lane leaves that at a place where others may find it, beside what is there. */
void order_leave(const struct block_order *b, unsigned warp, unsigned lane, const struct snapshot *s,
                 struct clock **at);
/* Lanes learn what is in a clock, which has all in it that they knew. */
void order_learn(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c);
/* They learn it beside what they know. */
void order_acquire(struct block_order *b, unsigned warp, uint32_t lanes, struct clock *c);

#endif
