/* An access on its way to the cells that it touches: what the files race_*.c and races.c share. */
#ifndef HEDDLE_CHECK_RACE_NOW_H
#define HEDDLE_CHECK_RACE_NOW_H

#include "check/race/race_state.h"

/* A warp's access that is under way. */
struct now {
    struct races *r;
    struct race_block *b;
    const struct site_table *kernel; /* NULL: a task of another kind */
    const struct access_event *event;
    bool alike; /* lanes that write one place, by the word that is under way, write the same */
    unsigned warp;
    const struct access_class *class;
    uint32_t class_number;
    uint32_t record;              /* 0: it is still to be made; */
    uint32_t generation;          /* it holds in this one */
    struct recent_record *recent; /* where it stands */
    struct histories *h;
    struct stocks *stocks; /* of these */
    bool shared;           /* the block's own histories; of a cluster's shared memory those of global memory are: */
    uint64_t base;         /* to which addresses of events are relative, on the host */
    const struct event_block *owner; /* of shared memory */
    bool told;                       /* by the step that is under way */
    enum spread spread;              /* of a word that is under way */
    struct step last;                /* what was looked up last, */
    bool one_for_all;                /* and it holds of other lanes, too */
};

/* What one access does to a cell: `lanes` are those of its warp, relative to `lane`. */
struct lanes {
    uint32_t lanes;
    unsigned lane;
};

static inline const struct access_class *race_class_at(const struct races *r, uint32_t number)
{
    return numbered_at(&r->classes, number);
}

static inline bool race_is_update(const struct access_class *c)
{
    return c->strong && c->reads && c->writes && !c->torn;
}

static inline void race_use_class(struct now *n, uint32_t number)
{
    n->class_number = number;
    n->class = number ? race_class_at(n->r, number) : NULL;
    n->record = 0;
}

/* Where a lane's bytes are on the host. */
static inline uint64_t race_address(const struct access_event *e, unsigned lane)
{
    return (e->owner ? e->owner->shared : 0) + access_address(e, lane);
}

/* ---- race_turn.c: an access is told of, and performed, while no other one is that would come between ---- */

static inline bool race_takes_turns(const struct race_block *b)
{
    return b->traits.releases || b->traits.stores_strongly;
}
void race_turn_begin(struct race_block *b, const struct access_event *e);
void race_turn_end(struct race_block *b, const struct access_event *e);

/* ---- race_event.c: what events tell of a launch ---- */

void race_on_access(void *data, const struct access_event *e);
void race_on_performed(void *data, const struct access_event *e);
void race_on_sync(void *data, const struct sync_event *e);

/* ---- race_history.c: what an access makes of the history of a cell ---- */

/* `count` consecutive numbers of n->h; 0 without memory. */
uint32_t race_take(struct now *n, struct numbered *from, struct stock *s, uint32_t count);
/* The record of n->class, of n->warp as it is now, becomes n->record; false without memory. */
bool race_new_record(struct now *n);
/* The history of one access by one lane. */
uint32_t race_first_history(struct now *n);

/* What a cell says of accesses before this one. */
struct past {
    const struct history *history; /* NULL: there were none */
    unsigned lane;
};

/* What the access makes of the cell: a history relative to `lane`, or STEP_STAYS. What it finds it tells: n->told. */
uint32_t race_find_next(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint64_t address);
/* Most accesses are of this kind: another weak read joins weak reads of its launch, of which at most one other is of its class, by
 * another warp. False where it is not; else the history, or 0 without memory. */
bool race_join_reads(struct now *n, const struct past *p, uint32_t lanes, unsigned lane, uint32_t *number);

/* ---- race_step.c: the same, found once and then looked up ---- */

cell race_look_up(struct now *n, cell old, struct lanes lanes, uint64_t address);

/* Only an atomic update of this class is there, which this one observes: what becomes of the cell is what becomes of a new one. */
static inline bool race_is_overtaken(const struct now *n, uint32_t old)
{
    const struct history *h = history_at(n->h, old);
    return h->n == 1 && race_is_update(n->class) && (n->shared || n->class->scope >= SCOPE_GPU) &&
           history_record(n->h, h->at[0].record)->class == n->class_number;
}

/* What reads that stand for others (struct history) are of: a launch, or in shared memory what is between two barriers of the block. */
static inline uint32_t race_phase(const struct now *n)
{
    return n->shared ? n->b->order->frontier - n->b->shared_from : n->b->task;
}

static inline bool race_has_no_effect(const struct now *n, uint32_t old)
{
    const struct history *h = history_at(n->h, old);
    uint32_t class = n->class_number - h->enough_from;
    return class < 32 && h->enough >> class & 1 && h->phase == race_phase(n) && !n->b->traits.irregular;
}

/* A strong access comes to strong ones that it cannot race with (is_strong): most are as they are, unless they are its like. */
static inline bool race_is_one_of(const struct now *n, const struct history *h)
{
    return h->is_strong && !n->shared && n->class->strong && n->class->scope >= SCOPE_GPU && n->class->site &&
           h->newest == n->b->task && h->element_bytes == n->class->bytes;
}

/* A read of which such a history takes up no more: of a flag that many wait for. */
static inline bool race_is_left_out(const struct now *n, uint32_t old)
{
    const struct history *h = history_at(n->h, old);
    return !n->class->writes && h->n >= HISTORY_STRONG_MOST && race_is_one_of(n, h);
}

/* All that is there is before all that still comes. */
static inline bool race_is_settled(const struct now *n, uint32_t old)
{
    return !n->shared && history_at(n->h, old)->newest <= n->b->settled;
}

/* The cell behind an access by lanes. n->one_for_all: the step is the same where the cell names another lane, and the access is by
 * lanes as much further. */
static inline cell race_next(struct now *n, cell old, struct lanes l, uint64_t address)
{
    uint32_t history = cell_history(old);
    n->one_for_all = true;
    if (history && race_has_no_effect(n, history))
        return old;
    if (history && (race_is_settled(n, history) || race_is_overtaken(n, history)))
        history = old = 0;
    if (!history && l.lanes == 1)
        return cell_of(n->recent->first[n->spread] ? n->recent->first[n->spread] : race_first_history(n), l.lane);
    bool may_tell = n->class->writes && !n->class->strong && !n->alike;
    if (!history && l.lanes == n->recent->some_lanes && n->spread == SPREAD_NONE && !may_tell)
        return cell_of(n->recent->some, l.lane);
    return race_look_up(n, old, l, address);
}

/* race_tell.c: the cell of a word of a block's shared memory, which ends: accesses of other blocks that may come behind that. */
void race_check_end(struct now *n, cell at, uint64_t address);

/* ---- race_touch.c: the cells ---- */

/* All of global memory: nobody else has any. */
void race_lock_all(struct races *r);
void race_unlock_all(struct races *r);
/* A block has its shared memory anew, in cells (is_clustered); it ends. */
void race_clear_shared(struct races *r, const struct event_block *block);
void race_check_ends(struct race_block *b, const struct event_block *block);

/* What lanes access together, all of them, from an address on. */
void race_touch(struct now *n, uint64_t address, uint32_t bytes, uint32_t lanes);
/* They will be taken lane by lane. */
void race_fetch(const struct now *n, const struct access_event *e);
void race_touch_event(struct now *n, const struct access_event *e, uint32_t lanes);
/* All bytes are one thread's, a lane of the warp; of a task that is no launch lane 0. */
void race_touch_range(struct now *n, uint64_t address, uint64_t bytes, unsigned lane);

#endif
