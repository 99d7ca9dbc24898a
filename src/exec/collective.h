/* Collectives: instructions that lanes of a warp execute together, some of them after waiting
 * for the other lanes of a membermask (collective.c). */
#ifndef HEDDLE_EXEC_COLLECTIVE_H
#define HEDDLE_EXEC_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

struct warp;
struct activation;
struct op;

/* Lanes arrive at a collective. Returns those that continue immediately (at o->next); the others
 * wait. Sets *fault on a bad membermask. */
uint32_t collective_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault);
/* The same if it completes immediately; otherwise false, and nothing was done. */
bool collective_try(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
/* After lanes have exited: collectives that were waiting for them complete. */
void collective_recheck(struct warp *w);

#endif
