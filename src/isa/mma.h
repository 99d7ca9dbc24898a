/* Products of matrices, all elements at once: what sem_mma.h says of one, vectorised. Compiled once
 * per CPU level.
 *
 * Operands are dense: codes of elements in words, A by k (element (m, k) at k * m_count + m), B by
 * k (at k * n_count + n), C and D by n (at n * m_count + m). m_count is a multiple of 8. Of single
 * bits a word holds 32 along k; of f64 an element is 64 bits.
 */
#ifndef HEDDLE_ISA_MMA_H
#define HEDDLE_ISA_MMA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MMA_MAX_M = 32,
    MMA_MAX_N = 32,
    MMA_MAX_K = 128,
    MMA_MAX_A = MMA_MAX_M * MMA_MAX_K, /* elements */
    MMA_MAX_B = MMA_MAX_N * MMA_MAX_K,
    MMA_MAX_D = MMA_MAX_M * MMA_MAX_N
};

/* What is computed. */
struct mma_product {
    uint8_t a_type, b_type, c_type, d_type; /* enum isa_type */
    uint8_t bit_op;                         /* enum isa_mod */
    bool is_wmma;                           /* wmma.mma */
    bool is_quad;                           /* m8n8k4 of f16 */
    bool is_warpgroup;                      /* wgmma: its own arithmetic for 8-bit floats */
    bool saturates;
    uint16_t m, n, k; /* of the dense operands */
};

/* Where the elements of a fragment go: element e of lane l is at lane[l] + number[e]. */
struct mma_map {
    uint16_t lane[32];
    uint16_t number[256];
    uint16_t n;        /* elements of a lane that are no copies */
    uint8_t per, bits; /* elements of a register; of an element */
    bool by_eights;    /* lane[4 r + t] is lane[t] + r: eight lanes are neighbours */
};

/* Which registers of a fragment have which eight rows and columns, where lane 4 r + t has row r of
 * them and columns 2 t and 2 t + 1: these are in one register, or in two. */
struct mma_eights {
    uint8_t reg[4][2][2];
};

/* A product of f16 or bf16 whose fragments are all like that: those of m16n8k16 and their kind
 * (matrix.def: A, B, C; or, with the sides exchanged, _SWAPPED). `left` has rows of A by k, `right`
 * columns of B by k; or the other way round, and D is transposed. */
struct mma_places {
    uint8_t type, d_type;                        /* enum isa_type: f16 or bf16; of C and D */
    bool is_swapped;                             /* B is on the left */
    uint8_t row_blocks, column_blocks, k_blocks; /* of eight: 2 or 4; 2, 2 at most */
    struct mma_eights left, right, d;            /* d: and C */
};

struct mma_fns {
    /* Elements of up to 32 bits from the registers' rows, and back to them. */
    void (*take)(const struct mma_map *map, const uint32_t *const *rows, uint32_t *to);
    void (*put)(const struct mma_map *map, const uint32_t *from, uint32_t *const *rows);
    /* Of n rows, lane 4 r + t of each gets half r of those behind lane[t] + piece[0], and of those
     * behind lane[t] + piece[1]; the next row by the next pieces. */
    void (*load_halves)(const uint8_t *const lane[4], const uint64_t *piece, unsigned n, uint32_t *const *rows);
    /* Lanes 4 r to 4 r + 3 get the words at lane[r] + piece[0]. */
    void (*load_quads)(const uint8_t *const lane[8], const uint64_t *piece, unsigned n, uint32_t *const *rows);
    /* All of D. A factor 0 takes no part; `selected` says for sparse A which k its stored elements
     * belong to, by stored element as in A: then k counts them, and B has twice as many. */
    void (*multiply)(const struct mma_product *p, const void *a, const void *b, const void *c, void *d,
                     const uint8_t *selected);
    /* All of D, from and to the registers' rows; false where multiply() has to: nothing is written
     * then. */
    bool (*multiply_in_place)(const struct mma_places *x, const uint32_t *const *left, const uint32_t *const *right,
                              const uint32_t *const *c, uint32_t *const *d);
};

const struct mma_fns *mma_for_level(const char *level);

#endif
