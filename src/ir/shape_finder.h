/* What the files that find shapes share: shape.c (of values), shape_lanes.c (of what lanes at two
 * places have). Private to ir/. */
#ifndef HEDDLE_IR_SHAPE_FINDER_H
#define HEDDLE_IR_SHAPE_FINDER_H

#include "ir/affine.h"

enum { BOTTOM = SHAPE_DIVERGENT - 1, MAX_LANE_OFFSETS = 4096, MAX_BLOCKS = 2048 };

struct shape_finder {
    const struct ir_func *f;
    struct ir_shapes *s;
    struct arena *arena, scratch;
    struct ir_known known;
    /* By register: the shape of what is known; SHAPE_DIVERGENT where it has none. */
    uint16_t *of_known;
    uint32_t *successors; /* of a block, in order: each once */
    /* By block in order: how often shape_successors() had been asked when it was among them. */
    uint64_t *seen;
    uint64_t asked;
    VEC(uint64_t) pairs; /* to be followed: a, b */
    bool changed;
};

/* The register has this shape, too. */
void shape_meet(struct shape_finder *x, ir_ref r, uint16_t shape);

/* ---- shape_lanes.c ---- */

uint32_t shape_successors(struct shape_finder *x, uint32_t b);
bool shape_visit_branches(struct shape_finder *x);
bool shape_visit_pending_live(struct shape_finder *x);
void shape_find_whole(struct shape_finder *x);

#endif
