/* Barriers of a block and of a cluster (barrier.c), and mbarriers in shared memory (mbarrier.c). */
#ifndef HEDDLE_EXEC_BARRIER_H
#define HEDDLE_EXEC_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct warp;
struct activation;
struct op;

/* Lanes arrive at a barrier; returns those that continue immediately. Sets *fault on a bad
 * barrier. */
uint32_t barrier_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault);
/* The same for a whole warp at a plain barrier, the usual case. False in other cases; then
 * nothing was done. Afterwards the warp waits, or its position is set to continue. */
bool barrier_arrive_whole(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
void barrier_recheck(struct warp *w);
/* The block has ended, or will never begin: its cluster continues without it. True if it was the
 * last one. */
bool cluster_leave(struct block *b);
/* The warp's lanes that have not arrived at the cluster's barrier. */
uint32_t cluster_missing(const struct warp *w);
/* "barrier 3". */
const char *barrier_name(uint32_t id);

/* ---- mbarrier.c ---- */

/* False after a fault; *in_vain: no lane of the test found its phase completed. */
bool mbarrier_run(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask,
                  bool *in_vain);

#endif
