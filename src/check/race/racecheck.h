/* racecheck: the race detector (races.h), and mistakes with asynchronous accesses: copies
 * without a wait, missing fences of the async proxy, registers of wgmma that are still in use. */
#ifndef HEDDLE_CHECK_RACECHECK_H
#define HEDDLE_CHECK_RACECHECK_H

#include "check/race/races.h"
#include "exec/events.h"

struct checker;

struct race_tools {
    struct races *races;  /* or NULL */
    struct checker *next; /* of those that share it */
    struct event_client copies, proxies;
    struct wgmma_kernel *wgmma; /* kernels that have been analysed; protected by checker.lock */
};

/* Adds the clients for launches of a kernel to its list. False without memory. */
bool racecheck_begin(struct checker *c, const struct site_table *k, struct event_list *events);
void racecheck_open(struct checker *c);

/* ---- copies.c, proxies.c ---- */

void copies_open(struct checker *c);
void proxies_open(struct checker *c);
bool proxies_concern(const struct site_table *k);

/* ---- wgmma.c ---- */

/* NULL if the kernel cannot make such a mistake. */
const struct event_client *wgmma_client(struct checker *c, const struct site_table *k);
void wgmma_close(struct checker *c);

#endif
