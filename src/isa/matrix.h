/* Matrix instructions taken apart: what a use computes or moves, and where the lanes of a warp have
 * the elements (matrix.def).
 *
 * matrix_of() says of a resolved opcode which shape, types and layouts it has; the verifier counts
 * registers by it, lowering finds operands, the engine moves elements. A fragment is what a warp's
 * registers hold of one matrix.
 */
#ifndef HEDDLE_ISA_MATRIX_H
#define HEDDLE_ISA_MATRIX_H

#include "isa/isa.h"

enum matrix_kind {
    MATRIX_PRODUCT, /* mma, wmma.mma: D = A B + C */
    /* wgmma.mma_async: of four warps; B, and A unless it is in registers, by descriptors. */
    MATRIX_WARPGROUP,
    MATRIX_LOAD,       /* wmma.load */
    MATRIX_STORE,      /* wmma.store */
    MATRIX_LOAD_ROWS,  /* ldmatrix: lanes have the addresses of rows */
    MATRIX_STORE_ROWS, /* stmatrix */
    MATRIX_TRANSPOSE,  /* movmatrix */
};

enum matrix_coordinate { COORDINATE_M, COORDINATE_N, COORDINATE_K, COORDINATE_Q, COORDINATES };

enum { FRAGMENT_MAX_REGS = 128, FRAGMENT_NUMBER_BITS = 8 };

/* The place of element number e of lane l is the sum of what the bits of e and of l add to the
 * coordinates. */
struct fragment {
    uint8_t type; /* enum isa_type of elements */
    uint8_t bits; /* of an element */
    uint8_t n_regs, reg_bits;
    uint8_t number_bits; /* of e; further ones are copies */
    struct fragment_bit {
        uint8_t coordinate; /* enum matrix_coordinate; COORDINATES: none */
        uint8_t bit;
    } lane[5], number[FRAGMENT_NUMBER_BITS];
};

struct matrix {
    uint8_t kind; /* enum matrix_kind */
    uint16_t m, n, k;
    uint8_t count; /* ldmatrix, stmatrix: matrices */
    bool is_wmma;
    /* A has one half of the elements, and metadata say which. */
    bool sparse;
    /* Layouts other than row.col; of loads and stores a_by_column: by column. */
    bool a_by_column, b_by_row;
    bool transposed;                        /* ldmatrix, stmatrix: .trans */
    bool saturates;                         /* .satfinite */
    uint8_t bit_op;                         /* enum isa_mod of b1: MOD_and, MOD_xor */
    uint8_t loads;                          /* MATRIX_LOAD: 'a', 'b' or 'c' */
    uint8_t a_type, b_type, c_type, d_type; /* enum isa_type of a product */
    uint8_t element_bits;                   /* of loads and stores: what strides count */
    /* What the kind has of them; loads and ldmatrix fill d, stores and stmatrix read c. */
    struct fragment a, b, c, d;
};

/* What the opcode of a KIND_MATRIX form is; false with *why (in the arena) where its shape does not
 * go with its types. */
bool matrix_of(const struct isa_inst *inst, struct arena *arena, struct matrix *x, const char **why);
/* The version and target that the shape needs beyond the form's. */
struct isa_need matrix_need(const struct isa_inst *inst, const struct matrix *x);

/* m8n8k4 of f16: four products, each by eight lanes. */
static inline bool matrix_is_quad(const struct matrix *x)
{
    return x->m == 8 && x->n == 8 && x->k == 4 && x->a_type == TYPE_f16;
}

static inline unsigned fragment_per_reg(const struct fragment *f)
{
    return f->reg_bits / f->bits;
}

/* Registers that hold no copies of others'. */
static inline unsigned fragment_own_regs(const struct fragment *f)
{
    unsigned own = (1u << f->number_bits) / fragment_per_reg(f);
    return own < f->n_regs ? own : f->n_regs;
}

/* The sums of weights by lane and by element: element e of lane l lies at lanes[l] + numbers[e]. */
void fragment_places(const struct fragment *f, const uint64_t weight[COORDINATES], uint64_t lanes[32],
                     uint64_t *numbers);

#endif
