/* The current access, on its way to the cells that it updates: what the
 * files of check/race/ share. */
#ifndef HEDDLE_CHECK_RACE_CURRENT_H
#define HEDDLE_CHECK_RACE_CURRENT_H

#include "base/spin_lock.h"
#include "check/race/state.h"

struct current_access {
    struct races *r;
    struct race_block *b;
    const struct site_table *kernel; /* NULL: the task is not a launch */
    const struct access_event *event;
    bool alike; /* lanes that write to one location write the same value */
    unsigned warp;
    const struct access_kind *kind;
    uint32_t kind_number;
    uint32_t site_epoch;              /* the number of its site epoch; 0: not made yet */
    uint32_t generation;              /* the generation of site_epoch */
    struct recent_site_epoch *recent; /* where it is cached */
    struct histories *h;
    struct reservations *reservations; /* where new histories and site epochs come from */
    /* true: an access to shared memory, with the block's own histories. The shared memory of a
     * cluster has those of global memory. */
    bool shared;
    uint64_t base;                   /* added to the addresses of events */
    const struct event_block *owner; /* the block whose shared memory it is */
    bool reported;                   /* this transition has reported a race */
    enum lane_mapping mapping;       /* the lane mapping of this word */
    struct transition last;          /* the last transition */
    /* The last transition holds for all lanes (struct transition). */
    bool one_for_all;
};

/* The lanes that access a cell, relative to `lane`. */
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

/* A lane's address on the host. */
static inline uint64_t race_address(const struct access_event *e, unsigned lane)
{
    return (e->owner ? e->owner->shared : 0) + access_address(e, lane);
}

/* ---- linearise.c: strong accesses reach the detector in the order in which memory performs
 * them ---- */

static inline bool race_is_linearised(const struct race_block *b)
{
    return b->traits.releases || b->traits.stores_strongly;
}
void race_linearise_begin(struct race_block *b, const struct access_event *e);
void race_linearise_end(struct race_block *b, const struct access_event *e);

/* ---- events.c ---- */

/* The first function takes the lock of the order, if the access is linearised; the second
 * releases it. */
void race_on_access_and_lock(void *data, const struct access_event *e);
void race_on_performed_and_unlock(void *data, const struct access_event *e);
void race_on_sync(void *data, const struct sync_event *e);

/* ---- repeats.c: phases of shared memory that repeat an earlier phase ---- */

/* A block starts, after the last phase of the record that it reuses has ended. `on`: only
 * barriers of whole blocks and warps order its accesses. */
void race_phases_begin(struct phases *p, bool on, bool is_of_new_launch);
void race_phases_free(struct phases *p);
/* Does the access repeat a known phase, so that it need not update the cells? Never in the state
 * PHASE_WATCHED. If it does not, the delayed accesses before it must be processed first
 * (race_phase_left). */
bool race_phase_repeats(struct phases *p, const struct access_event *e);
/* To be called before something other than its end orders accesses of the phase: delayed
 * accesses, and the rest of the phase, update the cells. */
void race_phase_part(struct phases *p);
/* The next delayed access; *at gets its addresses. False if there is none. */
bool race_phase_left(struct phases *p, struct event_block *block, struct access_event *e, uint64_t at[WARP_LANES]);
/* is_plain: nothing has ordered accesses inside the phase. */
void race_phase_ends(struct phases *p, bool is_plain);

/* ---- history.c: the next history ---- */

/* Takes `count` consecutive numbers of cur->h; 0 without memory. */
uint32_t race_take(struct current_access *cur, struct numbered *from, struct reservation *s, uint32_t count);
/* Finds or makes the site epoch of the access; false without memory. */
bool race_new_site_epoch(struct current_access *cur);
/* The history of one access by one lane. */
uint32_t race_first_history(struct current_access *cur);

/* A history, seen from one cell. */
struct history_view {
    const struct access_history *history; /* NULL: empty */
    unsigned lane;
};

/* Computes the next history, relative to `lane`, or TRANSITION_STAYS. Reports races
 * (cur->reported). */
uint32_t race_compute_transition(struct current_access *cur, const struct history_view *p, uint32_t lanes,
                                 unsigned lane, uint64_t address);
/* The same for the most frequent case: a weak read joins weak reads of its launch, at most one
 * of which has its kind and is by another warp. False in other cases. *number: 0 without memory. */
bool race_join_reads(struct current_access *cur, const struct history_view *p, uint32_t lanes, unsigned lane,
                     uint32_t *number);

/* ---- transitions.c: memoised ---- */

cell race_transition(struct current_access *cur, cell old, struct lanes lanes, uint64_t address);

/* Is the only entry a read-modify-write of the current kind, which this one observes? Then the
 * result is that of an empty cell. */
static inline bool race_is_overtaken(const struct current_access *cur, uint32_t old)
{
    const struct access_history *h = history_at(cur->h, old);
    return h->n == 1 && race_is_rmw(cur->kind) && (cur->shared || cur->kind->scope >= SCOPE_GPU) &&
           history_site_epoch(cur->h, h->at[0].site_epoch)->kind == cur->kind_number;
}

/* The phase to which access_history.enough belongs: a launch; for shared memory, the time
 * between two barriers of the block. */
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

/* May a strong access be added to a history of strong ones, none of which it can race with? */
static inline bool race_is_one_of(const struct current_access *cur, const struct access_history *h)
{
    return h->is_strong && !cur->shared && cur->kind->strong && cur->kind->scope >= SCOPE_GPU && cur->kind->site &&
           h->newest == cur->b->task && h->element_bytes == cur->kind->bytes;
}

/* Is it one more read of a flag on which many threads wait, whose history is full? */
static inline bool race_is_left_out(const struct current_access *cur, uint32_t old)
{
    const struct access_history *h = history_at(cur->h, old);
    return !cur->kind->writes && h->n >= HISTORY_STRONG_MOST && race_is_one_of(cur, h);
}

/* Do all entries happen before everything that can still come? */
static inline bool race_is_retired(const struct current_access *cur, uint32_t old)
{
    return !cur->shared && history_at(cur->h, old)->newest <= cur->b->retired;
}

/* The cell after an access by lanes. cur->one_for_all: the transition also holds if the cell and
 * the access shift by the same number of lanes. */
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

/* For a word of a block's shared memory, when the block ends: reports accesses of other blocks
 * that may come after the end. */
void race_check_end(struct current_access *cur, cell at, uint64_t address);

/* ---- patterns.c: an access as ranges of memory ---- */

/* One location that all these lanes access, or consecutive locations from `address` on, one for
 * each lane. */
void race_update(struct current_access *cur, uint64_t address, uint32_t bytes, uint32_t lanes);
void race_update_event(struct current_access *cur, const struct access_event *e, uint32_t lanes);
/* One lane accesses all these bytes; a task that is not a launch has lane 0. */
void race_update_range(struct current_access *cur, uint64_t address, uint64_t bytes, unsigned lane);

/* ---- update.c: the cells of a range ---- */

/* Each lane accesses 2^per_lane bytes of the range, the next lane the next bytes; ALL_BYTES: all
 * lanes access all. */
enum { ALL_BYTES = 31 };

/* A range whose cells are under one lock. */
void race_update_together(struct current_access *cur, uint64_t address, uint32_t bytes, struct lanes lanes,
                          unsigned per_lane);
/* Each lane accesses its own location. */
void race_update_lanes(struct current_access *cur, const struct access_event *e, uint32_t lanes);
/* Prefetches the memory that race_update() will need for each lane. */
void race_fetch(const struct current_access *cur, const struct access_event *e);

/* Cells of global memory have locks, one for each 128 bytes of consecutive words. Cells of
 * shared memory belong to the worker. Neighbouring locks are in different cache lines, as other
 * workers use them. */
enum { LOCKED_BYTES = 128 };
static inline _Atomic uint8_t *race_lock_of(struct races *r, uint64_t address)
{
    return &r->locks[address / LOCKED_BYTES * 0x9e3779b97f4a7c15ull >> (64 - LOCKS_BITS)];
}
/* The end of the memory from `at` on that is under one lock, at most `end`. */
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

/* Locks and unlocks all cells of global memory. */
void race_lock_all(struct races *r);
void race_unlock_all(struct races *r);
/* Does the element at an address, whose cells begin at `c`, hold bytes of several writes? */
bool race_is_torn(const struct current_access *cur, const cell *c, uint64_t address);
/* A block of a cluster gets its shared memory; loses it. */
void race_clear_shared(struct races *r, const struct event_block *block);
void race_check_ends(struct race_block *b, const struct event_block *block);

#endif
