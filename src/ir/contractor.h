/* What contract.c (which products and sums become one) and contract_write.c (the instructions that
 * they become) share. Private to ir/. */
#ifndef HEDDLE_IR_CONTRACTOR_H
#define HEDDLE_IR_CONTRACTOR_H

#include "ir/ptxas.h"
#include "ir/shape.h"

/* What is contracted with what: .ftz makes a type of its own here. A sum looks through `sign` to
 * the product. reads_bank: a parameter can be an operand as it is. */
struct contraction {
    bool is_packed, reads_bank;
    uint16_t mul, neg, sign[2];
    struct {
        uint16_t add, sub, fma;
    } sum[2]; /* plain, .sat */
};

struct product {
    uint32_t insn, at; /* at: place along the trace */
    uint32_t trace, region, order;
    const struct contraction *entry;
    uint32_t n_sums; /* that read it, once each */
    bool is_read;    /* by what is no such sum, or as the addend of an fma */
    /* A factor that is a constant or a parameter: contracted in other regions, too. */
    bool has_fixed;
    bool contracted, overwritten; /* overwritten: a factor is, before a sum */
    bool divides;                 /* the second factor is the reciprocal of factor[1] */
    /* kept: the registers with their values for the sums, or REF_NONE. */
    ir_ref factor[2], kept[2];
};

struct sum {
    uint32_t insn;
    const struct contraction *entry;
    bool sat, subtracts;
    struct {
        uint32_t product; /* 1 + its number, or 0 */
        bool negated;
    } operand[2];
    uint32_t chosen; /* 1 + the operand that is contracted */
};

/* What a register has in the trace. */
struct holding {
    uint32_t trace, product; /* 1 + its number, or 0 */
    bool negated, flushed;   /* flushed: by neg.ftz */
    bool is_constant;
    uint32_t written_at; /* place of the last write */
};

struct contractor {
    struct ir_func *f;
    struct arena scratch;
    struct ir_live live;
    VEC(struct product) products;
    VEC(struct sum) sums;
    struct holding *holdings; /* by register */
    const struct ir_defs *defs;
    const uint8_t *fixed; /* by register: enum ptxas_fixed */
    /* By register that is written once: 1 + the product with a fixed factor that it is. */
    uint32_t *global;
    const struct ptxas_range *seen;    /* by block in order: where its products are one value */
    uint32_t trace, region, order, at; /* where the scan is */
    uint32_t *sum_of, *product_of;     /* by instruction: 1 + number */
};

/* Puts the instructions in the place of those that have been chosen. */
void contract_write(struct contractor *c);

#endif
