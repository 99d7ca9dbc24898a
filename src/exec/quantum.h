/* A warp's quantum: the number of backward branches until it yields, which group of its lanes
 * runs, and the cost of spinning (quantum.c). */
#ifndef HEDDLE_EXEC_QUANTUM_H
#define HEDDLE_EXEC_QUANTUM_H

#include "exec/warp.h"

/* A warp's position: the lanes of `mask` run `block`. */
struct at {
    struct activation *a;
    uint32_t block, mask;
};

struct quantum {
    uint32_t backoff, rotations, spin_rotations;
    bool in_vain;
};

void quantum_begin(struct warp *w, struct quantum *q);
/* Lanes reach a block by a forward branch. */
static inline void quantum_come(struct warp *w, const struct at *at)
{
    if (at->a->code->blocks[at->block].spins) {
        w->spun = at->mask;
        w->ahead = 0;
    }
}
/* What a backward branch to at->block costs from the budget. */
int32_t back_edge_cost(struct warp *w, const struct at *at);
/* The budget is spent: sets *at to another group of lanes, if there is one. False if the warp
 * yields. */
bool quantum_goes_on(struct warp *w, struct quantum *q, struct at *at);
/* Are other lanes of the warp at other blocks? */
bool warp_is_divided(const struct warp *w, const struct at *at);
/* Lanes pass others that stay behind: from now on registers need not have the shapes that the
 * order of blocks gives them. */
void warp_part_lanes(struct warp *w);

#endif
