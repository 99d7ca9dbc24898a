/* What the engine's files make events (events.h) with. Private to exec/. */
#ifndef HEDDLE_EXEC_EMIT_EVENTS_H
#define HEDDLE_EXEC_EMIT_EVENTS_H

#include "exec/block.h"
#include "exec/events.h"
#include "exec/launch.h"

static inline const struct site *tell_site(const struct block *b, const struct op *o)
{
    return o ? &b->told->launch->kernel->at[o->site] : NULL;
}
static inline struct event_block *tell_block(const struct block *b)
{
    return b ? b->told : NULL;
}

/* The records behind an event. */
struct block *told_block(const struct event_block *b);
struct warp *told_warp(const struct event_block *b, uint32_t warp);
const struct op *told_op(const struct event_block *b, const struct site *s);

/* What events say of a launch that begins; false where memory is exhausted. */
bool tell_launch(struct launch *l);
/* A block of it gets its record, and gives it back. */
bool tell_open_block(struct block *b);
void tell_close_block(struct block *b);
/* The record is that of a block that begins and has its number.
 * `first`: of its cluster, or NULL. */
void tell_begin_block(struct block *b, const struct block *first);
/* It has ended; `before`: the block of its cluster before it, around. */
void tell_leave_cluster(struct block *b, const struct block *before);

/* The lanes of a warp that wait; `of`: the activation that lanes enter code of, or NULL. Returns
 * how many. */
uint32_t tell_waits(const struct warp *w, const struct activation *of, struct event_wait waits[WARP_LANES]);

#endif
