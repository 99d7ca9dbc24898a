/* synccheck: misused barriers, masks and mbarriers. Deadlocks are not here: exec/stall.c reports
 * them. */
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

/* ---- divergence.c: lanes that pass a barrier at which others of their warp wait ---- */

void divergence_open(void);
/* Can this happen in the kernel? */
bool divergence_concerns(const struct site_table *k);
/* Lanes enter a basic block while others of their warp wait; lanes exit; a barrier of the block
 * opens; a block ends. */
void divergence_enter(struct checker *c, const struct enter_event *e);
void divergence_exit(struct checker *c, const struct sync_event *e);
void divergence_barrier_opens(const struct event_block *b);
void divergence_block_ends(struct event_block *b);

#endif
