/* Products of matrices, all elements at once: what sem_mma.h says of one, vectorised. Compiled once per CPU level.
 *
 * Operands are dense: codes of elements in words, A by k (element (m, k) at k * m_count + m), B by k (at k * n_count + n), C and D by
 * n (at n * m_count + m). m_count is a multiple of 8. Of single bits a word holds 32 along k; of f64 an element is 64 bits.
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

struct mma_fns {
    /* Elements of up to 32 bits from the registers' rows, and back to them. */
    void (*take)(const struct mma_map *map, const uint32_t *const *rows, uint32_t *to);
    void (*put)(const struct mma_map *map, const uint32_t *from, uint32_t *const *rows);
    /* Lane 4 r + t of the row gets half r of those at low[t], and of those at high[t]. */
    void (*load_halves)(const uint8_t *const low[4], const uint8_t *const high[4], uint32_t *row);
    /* Lanes 4 r to 4 r + 3 get the words at place[r]. */
    void (*load_quads)(const uint8_t *const place[8], uint32_t *row);
    /* All of D. A factor 0 takes no part; `selected` says for sparse A which k its stored elements belong to, by stored element as in
     * A: then k counts them, and B has twice as many. */
    void (*multiply)(const struct mma_product *p, const void *a, const void *b, const void *c, void *d,
                     const uint8_t *selected);
};

const struct mma_fns *mma_for_level(const char *level);

#endif
