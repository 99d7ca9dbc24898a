/* What a block of code costs a warp on the device, judged by its instructions alone. Computed once
 * for a kernel, before it runs.
 *
 * There is no machine code. What ptxas makes of PTX is estimated by class (cost.def), and by what
 * it does to every kernel: it merges products of addresses with their sum into one IMAD.WIDE,
 * removes moves and conversions of addresses, and unrolls small loops of one block four times,
 * unless the block has .pragma "nounroll". Within a block an instruction starts as soon as its
 * operands are ready, as in ptxas's schedule; accesses whose addresses may be equal keep the order
 * of the text.
 *
 * A warp's clock passes through blocks as follows, once for each place that global loads may come
 * from (enum clock_level):
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
    float classes[COST_CLASSES]; /* instructions of PTX */
    /* Tensor core operations of a warp: a product and its sum count as two. */
    float tensor[PRODUCT_TYPES];
    /* Cycles from its first instruction to the start of its last. */
    float chain[CLOCK_LEVELS];
    /* Cycles after that until the results that others need are ready. */
    float tail[CLOCK_LEVELS];
    float spill_loads, spill_stores; /* of registers, counted in warp instructions: spill.h */
    /* Begins a trace; blocks behind it that do not continue it are scheduled separately. */
    bool starts;
    bool waits; /* reads results that another trace, or the previous iteration, left pending */
};

struct cost_table;

/* The table is in the arena. */
struct cost_table *cost_table_make(const struct kernel *k, const struct device_rates *rates, struct arena *arena);
/* block: its index in the code, as in a control event. */
const struct block_cost *cost_of(const struct cost_table *t, const struct code *code, uint32_t block);

/* Cycles from the issue of an asynchronous copy (enum async_mode) to the end of the wait for it.
 * bytes: the size of a bulk copy. */
void copy_latency(const struct device_rates *r, unsigned mode, bool past_l1, uint64_t bytes,
                  double cycles[CLOCK_LEVELS]);

/* The bytes of local memory that a thread needs for spilled registers. */
uint32_t cost_spilled_bytes(const struct cost_table *t);

#endif
