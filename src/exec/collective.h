/* Collectives: what lanes of a warp do together, some of them after waiting for the others of a
 * membermask (collective.c). */
#ifndef HEDDLE_EXEC_COLLECTIVE_H
#define HEDDLE_EXEC_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

struct warp;
struct activation;
struct op;

/* Lanes arrive at a collective; returns those that go on at once (at o->next), the others wait.
 * Sets *fault on a bad membermask. */
uint32_t collective_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault);
/* The same where it completes at once; else false, and nothing has been done. */
bool collective_try(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
/* After lanes have exited: collectives that were waiting for them complete. */
void collective_recheck(struct warp *w);

#endif
