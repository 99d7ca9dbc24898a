/* A CPU level for which code is compiled: an entry of targets.def. */
#ifndef HEDDLE_JIT_TARGET_H
#define HEDDLE_JIT_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "jit/costs.h"

struct jit_target {
    const char *name, *triple, *cpu, *features;
    bool has_mask_registers, has_masked_stores, has_gather, waits_in_gathers;
    bool keeps_store_order; /* as on x86-64: only loads may be reordered before earlier stores */
    bool has_whole_elements;
    unsigned whole_bytes; /* bytes of the longest vector that other threads see as one access */
    bool prefetches_near; /* to the first-level cache */
    const struct jit_costs *costs;
};

extern const struct jit_target jit_targets[];
extern const size_t n_jit_targets;
/* NULL if there is no such level. */
const struct jit_target *jit_target_find(struct str name);

#endif
