/* The checker as its tools see it: what they share, and where each is entered. Private to check/.
 *
 * A tool is a client of events (exec/events.h) with a contract of its own: memory/memory.h,
 * sync/sync.h, race/racecheck.h. The tools count what they find in `findings`; the race detector
 * (race/races.h) keeps its own.
 */
#ifndef HEDDLE_CHECK_CHECKER_H
#define HEDDLE_CHECK_CHECKER_H

#include "check/check.h"
#include "check/host/host.h"
#include "check/memory/memory.h"
#include "check/order/timelines.h"
#include "check/race/racecheck.h"
#include "check/report/findings.h"
#include "check/sync/sync.h"

enum { MOST_LEARNT = 8, HOST_PLACES = 64 };

/* Where an instruction of the host's was last, by the stack at it. */
struct host_place {
    uint64_t pc, sp, top;
    const void *place;
};

struct checker {
    struct machine *machine; /* or NULL */
    struct checker_world world;
    const struct checker_listener *listener; /* or NULL */
    hd_checker_options options;
    struct findings findings;
    bool finished;                     /* nothing more is launched */
    pthread_mutex_t lock;              /* protects `running` */
    uint32_t running;                  /* launches */
    struct budget own_budget, *budget; /* its own, or that of the checker that it was made with */
    struct memory_tools memory;
    struct sync_tool sync;
    struct race_tools race;
    struct timelines *timelines;          /* or NULL */
    struct order_hooks order;             /* that keep them */
    struct host_watch *host;              /* or NULL */
    _Atomic uint32_t learnt[MOST_LEARNT]; /* launches of which the host knows something */
    pthread_mutex_t host_places_lock;
    struct host_place host_places[HOST_PLACES]; /* by instruction */
};

/* ---- world.c ---- */

/* The checker's listener, if it has one: holds all that is told, gives it back, hears of something. */
void checker_hold(const struct checker *c);
void checker_give_back(const struct checker *c);
void checker_tell(const struct checker *c, const struct host_event *e);

/* ---- tasks.c: the order of tasks, and what those that are no launches do to memory ---- */

void tasks_watch(struct checker *c);
void tasks_unwatch(struct checker *c);

#endif
