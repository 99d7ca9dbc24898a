/* What liveness (live.c), the removal of dead code (dead.c) and the allocation of rows (slots.c)
 * share. Private to ir/. */
#ifndef HEDDLE_IR_LIVE_H
#define HEDDLE_IR_LIVE_H

#include "ir/ir.h"

typedef void ir_visit_fn(void *data, const struct ir_insn *i, uint32_t reg, bool is_def);

/* Calls visit for the registers that an instruction reads, then for those that it writes. */
static inline void ir_visit_registers(const struct ir_insn *i, ir_visit_fn *visit, void *data)
{
    ir_ref refs[IR_MAX_REFS];
    for (int writes = 0; writes < 2; writes++) {
        unsigned n = writes ? ir_writes(i, refs) : ir_reads(i, refs);
        for (unsigned k = 0; k < n; k++)
            if (ir_ref_kind(refs[k]) == REF_REG)
                visit(data, i, ir_ref_index(refs[k]), writes);
    }
}

/* Steps of a data-flow analysis that goes backwards. ir_live_begin() numbers the registers that
 * cross blocks, and makes room for their sets, which are empty; false where they are more than the
 * function's share of work allows. */
bool ir_live_begin(const struct ir_func *f, struct arena *arena, struct ir_live *live);
/* Of the block at a place of the order: out = in of all successors;
 * false where the work is spent. */
bool ir_live_join_successors(const struct ir_func *f, struct ir_live *live, uint32_t order);

#endif
