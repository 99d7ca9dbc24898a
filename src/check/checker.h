/* The checker as its tools see it: their shared state, and the functions by which each is entered.
 * Private to check/.
 *
 * A tool is a client of events (exec/events.h) with its own header: memory/memory.h,
 * sync/sync.h, race/racecheck.h. The tools count findings in `findings`; the race detector
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

/* The last place of a host instruction, with its call stack. */
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
    struct budget own_budget, *budget; /* its own, or that of checker_new()'s `with` */
    struct memory_tools memory;
    struct sync_tool sync;
    struct race_tools race;
    struct timelines *timelines;          /* or NULL */
    struct order_hooks order;             /* keeps `timelines` up to date */
    struct host_watch *host;              /* or NULL */
    _Atomic uint32_t learnt[MOST_LEARNT]; /* launches from which the host has acquired something */
    pthread_mutex_t host_places_lock;
    struct host_place host_places[HOST_PLACES]; /* by instruction */
};

/* ---- world.c ---- */

/* Calls the checker's listener, if it has one: to lock out other events, to unlock them, to
 * report an event. */
void checker_hold(const struct checker *c);
void checker_give_back(const struct checker *c);
void checker_tell(const struct checker *c, const struct host_event *e);

/* ---- tasks.c: the order of tasks, and the memory accesses of copies, fills and the host ---- */

void tasks_watch(struct checker *c);
void tasks_unwatch(struct checker *c);

#endif
