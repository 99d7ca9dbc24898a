/* The compiler's cost model and its limits: the entries of costs.def. */
#ifndef HEDDLE_JIT_COSTS_H
#define HEDDLE_JIT_COSTS_H

/* Limits of compiling. */
enum jit_limit {
#define LIMIT(name, n, unit, bench) LIMIT_##name = (n),
#include "jit/costs.def"
};

/* Costs of code for a CPU level. */
struct jit_costs {
#define COST(name, v2, v3, v4, v4_amd, neon, unit, bench) unsigned name;
#include "jit/costs.def"
};

#endif
