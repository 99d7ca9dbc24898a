/* The current access, on its way to the cells that it updates: what the files of check/race/ share. */
#ifndef HEDDLE_CHECK_RACE_CURRENT_H
#define HEDDLE_CHECK_RACE_CURRENT_H

#include "base/spin_lock.h"
#include "check/race/state.h"

struct current_access {
    struct races *r;
    struct race_block *b;
    const struct site_table *kernel; /* NULL: a task of another kind */
    const struct access_event *event;
    bool alike; /* lanes that write one place write the same value */
    unsigned warp;
    const struct access_kind *kind;
    uint32_t kind_number;
    uint32_t site_epoch;              /* its number; 0: not made yet */
    uint32_t generation;              /* of site_epoch */
    struct recent_site_epoch *recent; /* where it is cached */
    struct histories *h;
    struct reservations *reservations; /* of these */
    bool
        shared; /* of shared memory, and the block's own histories; the shared memory of a cluster has those of global memory: */
    uint64_t base;                   /* what is added to addresses of events */
    const struct event_block *owner; /* of shared memory */
    bool reported;                   /* a race, by this transition */
    enum lane_mapping mapping;       /* of this word */
    struct transition last;          /* the last one */
    bool one_for_all;                /* the last transition holds for all lanes: struct transition */
};

/* Who accesses a cell: lanes of the warp, relative to `lane`. */
struct lanes {
    uint32_t lanes;
    unsigned lane;
};

static inline const struct access_kind *race_kind_at(const struct races *r, uint32_t number)
{
    return numbered_at(&r->kinds, number);
}

static inline bool race_is_rmw(const struct access_kind *c)
{
    return c->strong && c->reads && c->writes && !c->torn;
}

static inline void race_use_kind(struct current_access *cur, uint32_t number)
{
    cur->kind_number = number;
    cur->kind = number ? race_kind_at(cur->r, number) : NULL;
    cur->site_epoch = 0;
}

/* Of a lane, on the host. */
static inline uint64_t race_address(const struct access_event *e, unsigned lane)
{
    return (e->owner ? e->owner->shared : 0) + access_address(e, lane);
}

/* ---- linearise.c: strong accesses come to the detector in the order in which they are performed
 * ---- */

static inline bool race_is_linearised(const struct race_block *b)
{
    return b->traits.releases || b->traits.stores_strongly;
}
void race_linearise_begin(struct race_block *b, const struct access_event *e);
void race_linearise_end(struct race_block *b, const struct access_event *e);

/* ---- events.c ---- */

/* The first takes the lock of the order, where the access is linearised, which the second gives
 * back. */
void race_on_access_and_lock(void *data, const struct access_event *e);
void race_on_performed_and_unlock(void *data, const struct access_event *e);
void race_on_sync(void *data, const struct sync_event *e);

/* ---- repeats.c: phases of shared memory that repeat ---- */

/* A block starts; the last phase of a record that it takes over has ended. `on`: nothing but
 * barriers of whole blocks and warps orders its accesses. */
void race_phases_begin(struct phases *p, bool on, bool is_of_new_launch);
void race_phases_free(struct phases *p);
/* Need the access not come to the cells? Not where the state is PHASE_WATCHED. If it has to, those
 * before it that are left come first. */
bool race_phase_repeats(struct phases *p, const struct access_event *e);
/* Before accesses of the phase are ordered by more than its end: what is left, and the rest of it,
 * come to the cells. */
void race_phase_part(struct phases *p);
/* The next access that is left; *at has its addresses. False where none is. */
bool race_phase_left(struct phases *p, struct event_block *block, struct access_event *e, uint64_t at[WARP_LANES]);
/* is_plain: nothing has ordered accesses within the phase. */
void race_phase_ends(struct phases *p, bool is_plain);

/* ---- history.c: the next history ---- */

/* `count` consecutive numbers of cur->h; 0 without memory. */
uint32_t race_take(struct current_access *cur, struct numbered *from, struct reservation *s, uint32_t count);
/* Finds or makes the site epoch of the access; false without memory. */
bool race_new_site_epoch(struct current_access *cur);
/* The history of one access by one lane. */
uint32_t race_first_history(struct current_access *cur);

/* A history as a cell has it. */
struct history_view {
    const struct access_history *history; /* NULL: empty */
    unsigned lane;
};

/* Computes the next history, relative to `lane`, or TRANSITION_STAYS. Races are reported:
 * cur->reported. */
uint32_t race_compute_transition(struct current_access *cur, const struct history_view *p, uint32_t lanes,
                                 unsigned lane, uint64_t address);
/* The same for most accesses: a weak read joins weak reads of its launch, of which at most one is
 * of its kind, by another warp. False where it is no such access. *number: 0 without memory. */
bool race_join_reads(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane,
                     uint32_t *number);

/* ---- transitions.c: memoised ---- */

cell race_transition(struct current_access *cur, cell old, struct lanes lanes, uint64_t address);

/* The only entry is a read-modify-write of this kind, which this one observes: the result is that
 * of an empty cell. */
static inline bool race_is_overtaken(const struct current_access *cur, uint32_t old)
{
    const struct access_history *h = history_at(cur->h, old);
    return h->n == 1 && race_is_rmw(cur->kind) && (cur->shared || cur->kind->scope >= SCOPE_GPU) &&
           history_site_epoch(cur->h, h->at[0].site_epoch)->kind == cur->kind_number;
}

/* The phase of access_history.enough: a launch, or for shared memory from one barrier of the block
 * to the next. */
static inline uint32_t race_phase(const struct current_access *cur)
{
    return cur->shared ? cur->b->order->frontier - cur->b->shared_from : cur->b->task;
}

static inline bool race_has_no_effect(const struct current_access *cur, uint32_t old)
{
    const struct access_history *h = history_at(cur->h, old);
    uint32_t kind = cur->kind_number - h->enough_from;
    return kind < 32 && h->enough >> kind & 1 && h->phase == race_phase(cur) && !cur->b->traits.irregular;
}

/* May a strong access be added to strong ones, of which it can race with none? */
static inline bool race_is_one_of(const struct current_access *cur, const struct access_history *h)
{
    return h->is_strong && !cur->shared && cur->kind->strong && cur->kind->scope >= SCOPE_GPU && cur->kind->site &&
           h->newest == cur->b->task && h->element_bytes == cur->kind->bytes;
}

/* Is it a read of a flag that many wait for, of which the history takes no more? */
static inline bool race_is_left_out(const struct current_access *cur, uint32_t old)
{
    const struct access_history *h = history_at(cur->h, old);
    return !cur->kind->writes && h->n >= HISTORY_STRONG_MOST && race_is_one_of(cur, h);
}

/* Does all that is there happen before all that still comes? */
static inline bool race_is_retired(const struct current_access *cur, uint32_t old)
{
    return !cur->shared && history_at(cur->h, old)->newest <= cur->b->retired;
}

/* The cell behind an access by lanes. cur->one_for_all: the transition is the same where the cell
 * names another lane, and the access is by lanes as much further. */
static inline cell race_next(struct current_access *cur, cell old, struct lanes l, uint64_t address)
{
    uint32_t history = cell_history(old);
    cur->one_for_all = true;
    if (history && race_has_no_effect(cur, history))
        return old;
    if (history && (race_is_retired(cur, history) || race_is_overtaken(cur, history)))
        history = old = 0;
    if (!history && l.lanes == 1)
        return cell_of(cur->recent->first[cur->mapping] ? cur->recent->first[cur->mapping] : race_first_history(cur),
                       l.lane);
    bool may_report = cur->kind->writes && !cur->kind->strong && !cur->alike;
    if (!history && l.lanes == cur->recent->some_lanes && cur->mapping == LANES_SAME && !may_report)
        return cell_of(cur->recent->some, l.lane);
    return race_transition(cur, old, l, address);
}

/* ---- pairs.c ---- */

/* The cell of a word of a block's shared memory, which ends: accesses of other blocks that may come
 * behind that. */
void race_check_end(struct current_access *cur, cell at, uint64_t address);

/* ---- patterns.c: an access as stretches of memory ---- */

/* One place, or consecutive places from `address` on, that lanes access together, all of them. */
void race_update(struct current_access *cur, uint64_t address, uint32_t bytes, uint32_t lanes);
void race_update_event(struct current_access *cur, const struct access_event *e, uint32_t lanes);
/* All bytes are accessed by one lane of the warp; a task that is no launch has lane 0. */
void race_update_range(struct current_access *cur, uint64_t address, uint64_t bytes, unsigned lane);

/* ---- update.c: the cells of a stretch ---- */

/* 2^per_lane bytes of a stretch are accessed by lanes, those behind them by the next lanes; or all
 * by the same. */
enum { ALL_BYTES = 31 };

/* A stretch whose cells are under one lock. */
void race_update_together(struct current_access *cur, uint64_t address, uint32_t bytes, struct lanes lanes,
                          unsigned per_lane);
/* Each lane accesses a place of its own. */
void race_update_lanes(struct current_access *cur, const struct access_event *e, uint32_t lanes);
/* Prefetches what race_update() will need, called lane by lane. */
void race_fetch(const struct current_access *cur, const struct access_event *e);

/* Cells of global memory are under locks, one for each 128 bytes of consecutive words; those of
 * shared memory belong to the worker. The locks of neighbours, which other workers access, are not
 * in one cache line. */
enum { LOCKED_BYTES = 128 };
static inline _Atomic uint8_t *race_lock_of(struct races *r, uint64_t address)
{
    return &r->locks[address / LOCKED_BYTES * 0x9e3779b97f4a7c15ull >> (64 - LOCKS_BITS)];
}
/* How far from `at` on, up to `end`, memory is under one lock. */
static inline uint64_t race_end_of_lock(uint64_t at, uint64_t end)
{
    uint64_t lock_end = (at | (LOCKED_BYTES - 1)) + 1;
    return lock_end < end ? lock_end : end;
}
static inline struct split *race_split_at(const struct current_access *cur, uint32_t number)
{
    return numbered_at(&cur->h->splits, number & ~CELL_SPLIT);
}

/* ---- inspect.c ---- */

/* Nobody else has any cell of global memory. */
void race_lock_all(struct races *r);
void race_unlock_all(struct races *r);
/* Does the element at an address, whose cells begin at `c`, hold what several writes have left? */
bool race_is_torn(const struct current_access *cur, const cell *c, uint64_t address);
/* A block of a cluster gets its shared memory; its shared memory ends. */
void race_clear_shared(struct races *r, const struct event_block *block);
void race_check_ends(struct race_block *b, const struct event_block *block);

#endif
