/* racecheck: the race detector (races.h), and what is wrong about accesses that are asynchronous:
 * copies that nobody has waited for, missing fences of the async proxy, registers of wgmma that are
 * still in use. */
#ifndef HEDDLE_CHECK_RACECHECK_H
#define HEDDLE_CHECK_RACECHECK_H

#include "check/race/races.h"
#include "exec/events.h"

struct checker;

struct race_tools {
    struct races *races; /* or NULL */
    struct event_client copies, proxies;
    struct wgmma_kernel *wgmma; /* kernels that have been looked at; protected by checker.lock */
};

/* The clients for launches of a kernel are added to its list. False where memory is exhausted. */
bool racecheck_begin(struct checker *c, const struct site_table *k, struct event_list *events);
void racecheck_open(struct checker *c);

/* ---- copies.c, proxies.c ---- */

void copies_open(struct checker *c);
void proxies_open(struct checker *c);
bool proxies_concern(const struct site_table *k);

/* ---- wgmma.c ---- */

/* NULL where nothing in the kernel can go wrong. */
const struct event_client *wgmma_client(struct checker *c, const struct site_table *k);
void wgmma_close(struct checker *c);

#endif
