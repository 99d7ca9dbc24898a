/* What a block of code costs a warp on the device, by its instructions alone: made once a kernel,
 * before it runs.
 *
 * There is no machine code to look at: what ptxas makes of PTX is estimated by class (cost.def) and
 * by what it is known to do to every kernel: products of addresses go into one IMAD.WIDE with the
 * sum, moves and conversions of addresses go away, small loops of one block are unrolled four times
 * unless .pragma "nounroll" stands in the block. Within a block instructions start as soon as their
 * operands are there, as in the order that ptxas's scheduler finds; memory is reached in the order
 * of the text where addresses may be the same.
 *
 * A clock of a warp goes on through blocks like this, once for each place that global loads can
 * come from (enum clock_level):
 *
 *     if (c->starts) left = pending;
 *     if (c->waits) clock = max(clock, left);
 *     clock += c->chain;
 *     pending = max(pending, clock + c->tail);
 */
#ifndef HEDDLE_EXPLAIN_COST_H
#define HEDDLE_EXPLAIN_COST_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct code;
struct device_rates;
struct kernel;

enum cost_class {
#define COST(name, ...) COST_##name,
#include "explain/cost.def"
#undef COST
    COST_CLASSES
};

enum product_type {
#define TENSOR(name) PRODUCT_##name,
#include "explain/cost.def"
#undef TENSOR
    PRODUCT_TYPES
};

/* Where global loads come from. */
enum clock_level { CLOCK_L1, CLOCK_L2, CLOCK_DRAM, CLOCK_LEVELS };

struct class_cost {
    const char *name, *words;
    float instructions, fma, alu, xu, fp64, latency;
    const char *meaning;
};
extern const struct class_cost class_costs[COST_CLASSES];
extern const char *const product_names[PRODUCT_TYPES];

struct block_cost {
    float classes[COST_CLASSES];     /* instructions of PTX */
    float tensor[PRODUCT_TYPES];     /* operations of tensor cores for a warp: a product and its sum are two */
    float chain[CLOCK_LEVELS];       /* cycles from its first instruction to the start of its last */
    float tail[CLOCK_LEVELS];        /* cycles that results which others need are still pending then */
    float spill_loads, spill_stores; /* of registers, by warps: spill.h */
    bool starts; /* a trace: the blocks behind it that do not go on with it are scheduled by themselves */
    bool waits;  /* it reads what another trace, or the round before, has left pending */
};

struct cost_table;

/* Lives in the arena. */
struct cost_table *cost_table_make(const struct kernel *k, const struct device_rates *rates, struct arena *arena);
/* block: of code, as in a control event. */
const struct block_cost *cost_of(const struct cost_table *t, const struct code *code, uint32_t block);

/* Cycles from the issue of an asynchronous copy (enum async_mode) to the end of the wait for it;
 * bytes: of one in bulk. */
void copy_latency(const struct device_rates *r, unsigned mode, bool past_l1, uint64_t bytes,
                  double cycles[CLOCK_LEVELS]);

/* Local memory of a thread for registers that it has no room for. */
uint32_t cost_spilled_bytes(const struct cost_table *t);

#endif
