/* A warp's quantum: how many branches backwards it has until it gives way, which group of its lanes
 * has them, and what spinning costs (quantum.c). */
#ifndef HEDDLE_EXEC_QUANTUM_H
#define HEDDLE_EXEC_QUANTUM_H

#include "exec/warp.h"

/* Where a warp is: the lanes of `mask` run `block`. */
struct at {
    struct activation *a;
    uint32_t block, mask;
};

struct quantum {
    uint32_t backoff, rotations, spin_rotations;
    bool in_vain;
};

void quantum_begin(struct warp *w, struct quantum *q);
/* Lanes come to a block from before. */
static inline void quantum_come(struct warp *w, const struct at *at)
{
    if (at->a->code->blocks[at->block].spins) {
        w->spun = at->mask;
        w->ahead = 0;
    }
}
/* What a branch backwards, to at->block, spends from the budget. */
int32_t back_edge_cost(struct warp *w, const struct at *at);
/* The budget is spent: *at becomes another group of lanes, if there is one. False where the warp
 * gives way. */
bool quantum_goes_on(struct warp *w, struct quantum *q, struct at *at);
/* Other lanes of the warp are elsewhere. */
bool warp_is_divided(const struct warp *w, const struct at *at);
/* Lanes go on past others that stay behind: from here on registers need not be what the order of
 * blocks makes them. */
void warp_part_lanes(struct warp *w);

#endif
