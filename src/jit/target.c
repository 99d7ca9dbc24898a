/* See target.h, costs.h. */
#include "jit/target.h"

static const struct jit_costs costs_v2 = {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) .name = v2,
#include "jit/costs.def"
};
static const struct jit_costs costs_v3 = {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) .name = v3,
#include "jit/costs.def"
};
static const struct jit_costs costs_v4 = {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) .name = v4,
#include "jit/costs.def"
};
static const struct jit_costs costs_v4_amd = {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) .name = v4_amd,
#include "jit/costs.def"
};
static const struct jit_costs costs_neon = {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) .name = neon,
#include "jit/costs.def"
};

const struct jit_target jit_targets[] = {
#define TARGET(name, bitcode, triple, cpu, features, mask_registers, masked_stores, gathers, waits, store_order,       \
               whole_elements, whole_bytes, prefetches_near)                                                           \
    {name,        triple,         cpu,         features,        mask_registers,  masked_stores, gathers, waits,        \
     store_order, whole_elements, whole_bytes, prefetches_near, &costs_##bitcode},
#include "jit/targets.def"
#undef TARGET
};
const size_t n_jit_targets = sizeof jit_targets / sizeof jit_targets[0];

const struct jit_target *jit_target_find(struct str name)
{
    for (size_t i = 0; i < n_jit_targets; i++)
        if (str_is(name, jit_targets[i].name))
            return &jit_targets[i];
    return NULL;
}
