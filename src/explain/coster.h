/* What cost.c (a function) and cost_class.c (an instruction: its class, products and latency)
 * share. Private to explain/. */
#ifndef HEDDLE_EXPLAIN_COSTER_H
#define HEDDLE_EXPLAIN_COSTER_H

#include "exec/code.h"
#include "explain/cost.h"
#include "explain/rates.h"

/* What is known of a register of a function. */
struct use {
    uint32_t reads, address_reads; /* address_reads: by 64-bit additions and as an address */
    uint32_t shared_reads;         /* as an address in shared memory, or of what is only that */
    uint32_t trace;                /* 1 + that in which it was defined last, while costs are made */
    bool is_product, pending;      /* product: by mul.wide or shl.b64 alone; pending: left so at the end of a block */
    float ready[CLOCK_LEVELS];
};

struct coster {
    const struct device_rates *rates;
    const struct code *code;
    const struct ir_func *ir;
    struct arena *arena;
    struct use *uses; /* by register */
    float *scale;     /* by operation: how much of it is left when loops are unrolled */
    uint32_t *trace;  /* by block: the first block of its trace */
    bool *predicated; /* by block: the branch at its end becomes a predicate of what it jumps over */
    struct block_cost *costs;
};

bool cost_is_product(const struct ir_insn *i);
bool cost_is_wide_sum(const struct ir_insn *i);
struct use *cost_use_of(const struct coster *c, ir_ref r);
/* LDS and STS add a scaled register and a constant to their address themselves. */
bool cost_is_shared_address(const struct coster *c, const struct ir_insn *i);
bool cost_waits_for_products(const struct ir_insn *i);
bool cost_is_product_of_matrices(const struct ir_insn *i);
/* `previous`: the operation before it; what lowering made of one instruction counts once. */
enum cost_class cost_class_of(const struct coster *c, const struct ir_insn *i, const struct ir_insn *previous);
void cost_add_product(struct block_cost *cost, const struct matrix *x, float scale);
float cost_latency_of(const struct coster *c, const struct ir_insn *i, enum cost_class class, unsigned level);

#endif
