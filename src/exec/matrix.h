/* Matrix instructions, ready to run: where the registers of fragments are, and where their elements
 * go in dense matrices (isa/mma.h). Private to exec/.
 */
#ifndef HEDDLE_EXEC_MATRIX_H
#define HEDDLE_EXEC_MATRIX_H

#include "exec/warp.h"
#include "isa/mma.h"

struct op_matrix {
    const struct ir_matrix *ir;
    struct mma_product product;
    /* Of products; of ldmatrix, stmatrix and movmatrix c and d: of one matrix. */
    struct mma_map a, b, c, d;
    /* Of wmma.load and wmma.store: a matrix in memory has `lines` rows (or columns) of `length`
     * elements; how many lines and elements lanes and elements of a lane lie behind the first. */
    struct {
        uint16_t lines, length;
        uint8_t line_by_lane[WARP_LANES], along_by_lane[WARP_LANES];
        uint8_t line[FRAGMENT_MAX_REGS], along[FRAGMENT_MAX_REGS]; /* by element */
        bool by_eights; /* lane 4 r + t is at that of t, r elements further */
        bool by_fours;  /* lane 4 r + t is at that of 4 r, t registers further */
        uint8_t word;   /* bytes: distances of the lines of a group are multiples of it */
        uint8_t group;  /* lines: 8 or 16 */
    } place;
    bool in_place; /* a product of f16 that mma_fns.multiply_in_place() computes */
    struct mma_places places;
    row_ref *reads, *writes;
};

/* Where elements go; the registers' rows are the caller's. */
void matrix_prepare(struct op_matrix *x);

/* Elements between the registers of all lanes and a dense matrix; only `lanes` are written. */
void fragment_take(const struct warp *w, uint8_t *const base[4], const struct mma_map *map, const row_ref *regs,
                   uint32_t *to);
void fragment_put(const struct warp *w, uint8_t *const base[4], const struct mma_map *map, const row_ref *regs,
                  const uint32_t *from, uint32_t lanes);
/* Of sparse A, by stored element (at s * 16 + row): the column that it is of, as the lanes'
 * metadata say. */
void matrix_select(const struct matrix *x, const uint32_t *metadata, unsigned selector, uint8_t *selected);

/* Runs the instruction in lanes that have come together; false after a fault. */
bool matrix_run(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes);

/* ---- matrix_move.c ---- */

bool matrix_move_rows(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t lanes);
bool matrix_move(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t lanes);

/* ---- wgmma.c ---- */

bool wgmma_run(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t lanes);

#endif
