/* synccheck: misused barriers, masks and mbarriers. What makes threads wait for ever is not here:
 * exec/stall.c reports it. */
#ifndef HEDDLE_CHECK_SYNC_H
#define HEDDLE_CHECK_SYNC_H

#include <stdatomic.h>

#include "exec/events.h"

struct checker;

struct sync_tool {
    struct event_client plain, divergence;
    _Atomic(struct bypassed *) bypassed; /* divergence.c; in the findings' arena */
};

void sync_open(struct checker *c);
/* The client for launches of a kernel. */
const struct event_client *sync_client(struct checker *c, const struct site_table *k);

/* ---- divergence.c: lanes that go past a barrier where others of their warp wait ---- */

void divergence_open(void);
/* Can that happen in this kernel? */
bool divergence_concerns(const struct site_table *k);
/* Lanes enter a block of code while others of their warp wait; lanes exit; a barrier of the block
 * opens; a block ends. */
void divergence_enter(struct checker *c, const struct enter_event *e);
void divergence_exit(struct checker *c, const struct sync_event *e);
void divergence_barrier_opens(const struct event_block *b);
void divergence_block_ends(struct event_block *b);

#endif
