/* Shared by cost.c (functions) and cost_class.c (single instructions). Private to explain/. */
#ifndef HEDDLE_EXPLAIN_COSTER_H
#define HEDDLE_EXPLAIN_COSTER_H

#include "exec/code.h"
#include "explain/cost.h"
#include "explain/rates.h"

/* How a function uses one of its registers. */
struct use {
    uint32_t reads, address_reads; /* address_reads: reads by 64-bit additions, and as an address */
    /* reads as an address in shared memory, or by what computes only such addresses */
    uint32_t shared_reads;
    uint32_t trace; /* while costs are computed: 1 + the trace that defined it last */
    /* product: defined by mul.wide or shl.b64 only; pending: pending at the end of a block */
    bool is_product, pending;
    float ready[CLOCK_LEVELS];
};

struct coster {
    const struct device_rates *rates;
    const struct code *code;
    const struct ir_func *ir;
    struct arena *arena;
    struct use *uses; /* by register */
    float *scale;     /* by operation: how much of it is left after unrolling */
    uint32_t *trace;  /* by block: the first block of its trace */
    /* By block: its branch becomes a predicate of the instructions that it skips. */
    bool *predicated;
    struct block_cost *costs;
};

bool cost_is_product(const struct ir_insn *i);
bool cost_is_wide_sum(const struct ir_insn *i);
struct use *cost_use_of(const struct coster *c, ir_ref r);
/* LDS and STS add a scaled register and a constant to their address themselves. */
bool cost_is_shared_address(const struct coster *c, const struct ir_insn *i);
bool cost_waits_for_products(const struct ir_insn *i);
bool cost_is_product_of_matrices(const struct ir_insn *i);
/* `previous`: the operation before it. What one PTX instruction was lowered to counts once. */
enum cost_class cost_class_of(const struct coster *c, const struct ir_insn *i, const struct ir_insn *previous);
void cost_add_product(struct block_cost *cost, const struct matrix *x, float scale);
float cost_latency_of(const struct coster *c, const struct ir_insn *i, enum cost_class class, unsigned level);

#endif
