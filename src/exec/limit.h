/* Ends launches from outside: a limit of instructions, a deadline, the user's interruption
 * (limit.c). */
#ifndef HEDDLE_EXEC_LIMIT_H
#define HEDDLE_EXEC_LIMIT_H

#include "exec/worker.h"

struct warp;
struct op;
struct code;

/* Before the worker's first block of a launch. */
void limit_join(struct worker *k, struct launch *l);
static inline bool limit_is_due(struct worker *k)
{
    return k->warp_instructions > atomic_load_explicit(&k->look_at, memory_order_relaxed);
}
/* To be called then by a warp whose `lanes` are about to run o. False if the launch has failed,
 * for example by exceeding its limit. */
bool limit_look(struct warp *w, const struct op *o, uint32_t lanes);
/* After the last block: a launch that has executed too much has failed. */
void limit_end(struct launch *l);
/* May compiled code be entered? Then the budgets of the warp are such that it leaves before it has
 * executed too much; or those of the block's warps, which begin a barrier phase, and its phases. */
bool limit_allows_warp(struct warp *w, const struct code *c);
bool limit_allows_block(struct block *b, const struct code *c);
/* With the machine's lock held. */
void launch_cancel(struct launch *l);
/* A launch with a deadline has come into the machine's list; false where
 * no thread can be started. */
bool limit_start_clock(struct machine *m);

#endif
