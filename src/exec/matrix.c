/* Matrix instructions (PTX ISA 9.7.14, 9.7.15): moves fragments between registers, memory and dense
 * matrices, and has products computed (isa/mma.h).
 *
 * All lanes of a warp come together (collective.c), so an instruction is done at once. That is so
 * of wgmma, too: it may run any time before it is waited for, and a program that relies on no more
 * than wgmma.fence, commit_group and wait_group cannot tell; one that relies on more is found by
 * check/race/wgmma.c. A warp of a warpgroup computes its 16 rows by itself.
 */
#include "exec/matrix.h"

#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/worker.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/rows.h"
#include "mem/local.h"

/* ---- maps ---- */

static void map_fragment(const struct fragment *f, struct mma_map *map, uint64_t m, uint64_t n, uint64_t k, uint64_t q)
{
    const uint64_t weight[COORDINATES] = {m, n, k, q};
    uint64_t lanes[WARP_LANES], numbers[FRAGMENT_MAX_REGS * 8];
    unsigned all = f->n_regs * fragment_per_reg(f), own = 1u << f->number_bits;
    fragment_places(f, weight, lanes, numbers);
    map->n = (uint16_t)(all < own ? all : own);
    map->per = (uint8_t)fragment_per_reg(f);
    map->bits = f->bits;
    map->by_eights = true;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        map->lane[l] = (uint16_t)lanes[l];
        map->by_eights &= lanes[l] == lanes[l % 4] + l / 4;
    }
    for (unsigned e = 0; e < map->n && e < sizeof map->number / sizeof map->number[0]; e++)
        map->number[e] = (uint16_t)numbers[e];
}

/* False where a fragment is of another kind. */
static bool find_eights(const struct fragment *f, enum matrix_coordinate row, enum matrix_coordinate column,
                        struct mma_eights *x)
{
    uint64_t weight[COORDINATES] = {0}, lanes[WARP_LANES], numbers[FRAGMENT_MAX_REGS * 8];
    unsigned per = fragment_per_reg(f), own = 1u << f->number_bits;
    weight[row] = 1;
    weight[column] = WARP_LANES;
    fragment_places(f, weight, lanes, numbers);
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (lanes[l] != l / 4 + l % 4 * 2 * WARP_LANES)
            return false;
    for (unsigned e = 0; e < own; e++) {
        uint64_t r = numbers[e] % WARP_LANES, c = numbers[e] / WARP_LANES;
        if (r % 8 || c % 8 > 1 || c >= 16)
            return false;
        x->reg[r / 8][c / 8][c % 8] = (uint8_t)(e / per);
    }
    return true;
}

/* Finds the rows of the registers, if a product can be computed on them without dense matrices in
 * between. */
static bool find_places(const struct matrix *f, struct mma_places *x)
{
    bool swapped = f->n > f->m;
    enum matrix_coordinate row = swapped ? COORDINATE_N : COORDINATE_M, column = swapped ? COORDINATE_M : COORDINATE_N;
    *x = (struct mma_places){.type = f->a_type,
                             .d_type = f->d_type,
                             .is_swapped = swapped,
                             .row_blocks = (uint8_t)((swapped ? f->n : f->m) / 8),
                             .column_blocks = (uint8_t)((swapped ? f->m : f->n) / 8),
                             .k_blocks = (uint8_t)(f->k / 8)};
    return f->kind == MATRIX_PRODUCT && !f->sparse && f->a.bits == 16 && f->c_type == f->d_type &&
           x->row_blocks % 2 == 0 && !matrix_is_quad(f) &&
           find_eights(swapped ? &f->b : &f->a, row, COORDINATE_K, &x->left) &&
           find_eights(swapped ? &f->a : &f->b, column, COORDINATE_K, &x->right) &&
           find_eights(&f->d, row, column, &x->d);
}

/* The ISA wants lines that begin at multiples of 16 bytes. What an H200 makes of others: machine
 * code counts strides in the words that it moves, of 32 bits, or of 64 where a lane has two numbers
 * of 32 bits side by side, and drops the rest; each eighth line is where the stride says, but in
 * accumulators of 16 x 16. Elements of a byte, of tf32 and of f64 are where they are said to be. */
static void find_words(struct op_matrix *x)
{
    const struct matrix *f = &x->ir->form;
    bool is_c = f->loads != 'a' && f->loads != 'b';
    bool pairs = x->place.line[1] == x->place.line[0] && x->place.along[1] == x->place.along[0] + 1;
    x->place.word = f->element_bits == 16 || f->element_bits < 8 ? 4 : f->element_bits == 32 && is_c && pairs ? 8 : 1;
    x->place.group = is_c && f->m == 16 && f->n == 16 ? 16 : 8;
}

/* Rows lie behind each other in memory, with elements side by side; or columns do. */
static void place_fragment(struct op_matrix *x)
{
    const struct matrix *f = &x->ir->form;
    const struct fragment *fragment = f->kind == MATRIX_LOAD ? &f->d : &f->c;
    enum matrix_coordinate rows = f->loads == 'b' ? COORDINATE_K : COORDINATE_M;
    enum matrix_coordinate columns = f->loads == 'a' ? COORDINATE_K : COORDINATE_N;
    const uint16_t size[COORDINATES] = {[COORDINATE_M] = f->m, [COORDINATE_N] = f->n, [COORDINATE_K] = f->k};
    uint64_t lanes[WARP_LANES], numbers[FRAGMENT_MAX_REGS * 8];
    x->place.lines = size[f->a_by_column ? columns : rows];
    x->place.length = size[f->a_by_column ? rows : columns];
    for (unsigned along = 0; along < 2; along++) {
        uint64_t weight[COORDINATES] = {0};
        weight[(along != 0) == f->a_by_column ? rows : columns] = 1;
        fragment_places(fragment, weight, lanes, numbers);
        for (unsigned l = 0; l < WARP_LANES; l++)
            (along ? x->place.along_by_lane : x->place.line_by_lane)[l] = (uint8_t)lanes[l];
        for (unsigned e = 0; e < fragment->n_regs * fragment_per_reg(fragment); e++)
            (along ? x->place.along : x->place.line)[e] = (uint8_t)numbers[e];
    }
    find_words(x);
    const uint8_t *line = x->place.line_by_lane, *along = x->place.along_by_lane;
    unsigned per = fragment_per_reg(fragment);
    x->place.by_eights = x->place.by_fours = true;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        x->place.by_eights &= line[l] == line[l & 3] && along[l] == along[l & 3] + l / 4;
        x->place.by_fours &= line[l] == line[l & ~3u] && along[l] == along[l & ~3u] + (l & 3) * per;
    }
}

/* A matrix of ldmatrix, stmatrix, movmatrix: where an element of a lane's register goes among eight
 * rows of eight. */
static void map_rows(const struct matrix *f, struct op_matrix *x)
{
    struct fragment one = f->d;
    bool by_column = f->transposed && f->kind != MATRIX_TRANSPOSE;
    one.n_regs = 1;
    map_fragment(&one, &x->c, f->transposed ? 1 : 8, 0, f->transposed ? 8 : 1, 0);
    map_fragment(&one, &x->d, by_column ? 1 : 8, 0, by_column ? 8 : 1, 0);
}

void matrix_prepare(struct op_matrix *x)
{
    const struct matrix *f = &x->ir->form;
    if ((f->kind == MATRIX_LOAD || f->kind == MATRIX_STORE) && (f->c.bits || f->d.bits))
        place_fragment(x);
    if ((f->kind == MATRIX_LOAD_ROWS || f->kind == MATRIX_STORE_ROWS || f->kind == MATRIX_TRANSPOSE) && f->d.bits)
        map_rows(f, x);
    /* Of a text: its name alone. */
    if ((f->kind != MATRIX_PRODUCT && f->kind != MATRIX_WARPGROUP) || !f->d.bits)
        return;
    bool warpgroup = f->kind == MATRIX_WARPGROUP;
    unsigned m = warpgroup ? 16 : f->m, k = f->a_type == TYPE_b1 ? f->k / 32u : f->k, stored = f->sparse ? k / 2 : k;
    x->product = (struct mma_product){.a_type = f->a_type,
                                      .b_type = f->b_type,
                                      .c_type = f->c_type,
                                      .d_type = f->d_type,
                                      .bit_op = f->bit_op,
                                      .is_wmma = f->is_wmma,
                                      .is_quad = matrix_is_quad(f),
                                      .is_warpgroup = warpgroup,
                                      .saturates = f->saturates,
                                      .m = (uint16_t)m,
                                      .n = f->n,
                                      .k = (uint16_t)stored};
    if (!warpgroup || !x->ir->a_by_descriptor)
        map_fragment(&f->a, &x->a, 1, 0, m, (uint64_t)m * stored);
    if (!warpgroup)
        map_fragment(&f->b, &x->b, 0, 1, f->n, (uint64_t)f->n * k);
    map_fragment(&f->c, &x->c, 1, m, 0, (uint64_t)m * f->n);
    map_fragment(&f->d, &x->d, 1, m, 0, (uint64_t)m * f->n);
    x->in_place = find_places(f, &x->places);
}

/* ---- fragments and dense matrices ---- */

enum { QUADS = 4 };

static const struct mma_fns *fns_of(const struct warp *w)
{
    return w->block->launch->machine->mma;
}

void fragment_take(const struct warp *w, uint8_t *const base[4], const struct mma_map *map, const row_ref *regs,
                   uint32_t *to)
{
    const uint32_t *rows[FRAGMENT_MAX_REGS];
    rows[0] = NULL;
    for (unsigned r = 0; r * map->per < map->n; r++)
        rows[r] = (const uint32_t *)row_at(base, regs[r]);
    fns_of(w)->take(map, rows, to);
}

void fragment_put(const struct warp *w, uint8_t *const base[4], const struct mma_map *map, const row_ref *regs,
                  const uint32_t *from, uint32_t lanes)
{
    uint32_t *rows[FRAGMENT_MAX_REGS], whole[FRAGMENT_MAX_REGS][WARP_LANES] __attribute__((aligned(64)));
    unsigned n = map->n / map->per;
    rows[0] = NULL;
    for (unsigned r = 0; r < n; r++)
        rows[r] = lanes == UINT32_MAX ? (uint32_t *)row_at(base, regs[r]) : whole[r];
    fns_of(w)->put(map, from, rows);
    for (unsigned r = 0; lanes != UINT32_MAX && r < n; r++)
        w->block->launch->rows->blend32(row_at(base, regs[r]), whole[r], lanes);
}

static void take_fragment64(uint8_t *const base[4], const struct mma_map *map, const row_ref *regs, uint64_t *to)
{
    for (unsigned e = 0; e < map->n; e++) {
        const uint64_t *row = (const uint64_t *)row_at(base, regs[e]);
        for (unsigned l = 0; l < WARP_LANES; l++)
            to[map->number[e] + map->lane[l]] = row[l];
    }
}

static void put_fragment64(const struct warp *w, uint8_t *const base[4], const struct mma_map *map, const row_ref *regs,
                           const uint64_t *from, uint32_t lanes)
{
    uint64_t row[WARP_LANES] __attribute__((aligned(64)));
    for (unsigned e = 0; e < map->n; e++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            row[l] = from[map->number[e] + map->lane[l]];
        w->block->launch->rows->blend64(row_at(base, regs[e]), row, lanes);
    }
}

/* ---- sparse A ---- */

/* Columns of a group, of which half are stored (9.7.14.6.1): of 4-bit types they go by pairs. */
static unsigned group_columns(const struct matrix *x)
{
    return x->a.bits == 32 ? 2 : x->a.bits == 4 ? 8 : 4;
}

/* The metadata of a row's group: 4 bits in the register of a lane (9.7.14.6.1; which lane was found
 * on an H200). */
static unsigned metadata_of(const struct matrix *x, const uint32_t *metadata, unsigned selector, unsigned row,
                            unsigned group)
{
    unsigned groups = x->k / group_columns(x), high = row / 8, lane = 4 * (row % 8), nibble;
    if (x->a.bits >= 16) {
        lane += groups == 4 ? selector : 2 * selector + group / 4;
        nibble = group % 4 + 4 * high;
    } else {
        lane += groups == 8 ? 2 * selector + high : high + 2 * (group / 8);
        nibble = group % 8;
    }
    return metadata[lane] >> 4 * nibble & 15;
}

/* By stored element: the column that it is of. */
void matrix_select(const struct matrix *x, const uint32_t *metadata, unsigned selector, uint8_t *selected)
{
    unsigned columns = group_columns(x), stored = columns / 2;
    for (unsigned s = 0; s < x->k / 2u; s++)
        for (unsigned row = 0; row < 16; row++) {
            unsigned meta = metadata_of(x, metadata, selector, row, s / stored), column;
            if (x->a.bits == 32)
                column = meta >> 1 & 1;
            else if (x->a.bits == 4)
                column = 2 * (meta >> 2 * (s / 2 % 2) & 3) + s % 2;
            else
                column = meta >> 2 * (s % 2) & 3;
            selected[s * 16 + row] = (uint8_t)(s / stored * columns + column);
        }
}

/* ---- products of a warp ---- */

static void multiply64(struct warp *w, uint8_t *const base[4], const struct op_matrix *x, uint32_t lanes)
{
    uint64_t a[16 * 16], b[16 * 8], c[16 * 8], d[16 * 8];
    take_fragment64(base, &x->a, x->reads, a);
    take_fragment64(base, &x->b, x->reads + x->ir->at_b, b);
    take_fragment64(base, &x->c, x->reads + x->ir->at_c, c);
    fns_of(w)->multiply(&x->product, a, b, c, d, NULL);
    put_fragment64(w, base, &x->d, x->writes, d, lanes);
}

static const uint32_t **find_rows(uint8_t *const base[4], const row_ref *regs, unsigned n, const uint32_t **rows)
{
    for (unsigned r = 0; r < n; r++)
        rows[r] = (const uint32_t *)row_at(base, regs[r]);
    return rows;
}

/* All lanes of the warp; false where multiply() has to. */
static bool multiply_in_place(const struct warp *w, uint8_t *const base[4], const struct op_matrix *x)
{
    enum { MAX_REGS = 8 };
    const struct matrix *f = &x->ir->form;
    const uint32_t *a[MAX_REGS], *b[MAX_REGS], *c[MAX_REGS];
    uint32_t *d[MAX_REGS];
    bool swapped = x->places.is_swapped;
    find_rows(base, x->reads, x->ir->at_b, a);
    find_rows(base, x->reads + x->ir->at_b, x->ir->at_c - x->ir->at_b, b);
    find_rows(base, x->reads + x->ir->at_c, f->c.n_regs, c);
    for (unsigned r = 0; r < f->d.n_regs; r++)
        d[r] = (uint32_t *)row_at(base, x->writes[r]);
    return fns_of(w)->multiply_in_place(&x->places, swapped ? b : a, swapped ? a : b, c, d);
}

static void multiply(struct warp *w, uint8_t *const base[4], const struct op_matrix *x, uint32_t lanes)
{
    const struct matrix *f = &x->ir->form;
    const struct mma_product *p = &x->product;
    uint32_t a[MMA_MAX_A], b[MMA_MAX_B], c[MMA_MAX_D], d[MMA_MAX_D];
    uint8_t selected[MMA_MAX_A];
    if (f->a.bits == 64) {
        multiply64(w, base, x, lanes);
        return;
    }
    if (x->in_place && lanes == UINT32_MAX && multiply_in_place(w, base, x))
        return;
    fragment_take(w, base, &x->a, x->reads, a);
    fragment_take(w, base, &x->b, x->reads + x->ir->at_b, b);
    fragment_take(w, base, &x->c, x->reads + x->ir->at_c, c);
    if (f->sparse)
        matrix_select(f, (const uint32_t *)row_at(base, x->reads[x->ir->at_rest]), x->ir->selector, selected);
    for (unsigned q = 0; q < (p->is_quad ? QUADS : 1); q++)
        fns_of(w)->multiply(p, a + q * p->m * p->k, b + q * p->n * p->k, c + q * p->m * p->n, d + q * p->m * p->n,
                            f->sparse ? selected : NULL);
    fragment_put(w, base, &x->d, x->writes, d, lanes);
}

static void transpose(struct warp *w, uint8_t *const base[4], const struct op_matrix *x, uint32_t lanes)
{
    uint32_t dense[64];
    fragment_take(w, base, &x->c, x->reads, dense);
    fragment_put(w, base, &x->d, x->writes, dense, lanes);
}

/* ---- all ---- */

bool matrix_run(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes)
{
    uint8_t *base[4];
    warp_bases(w, a, base);
    if (o->access && o->access->mem.space != SPACE_SHARED)
        histogram_settle(w->block->worker);
    switch ((enum matrix_kind)o->matrix->ir->form.kind) {
    case MATRIX_PRODUCT: multiply(w, base, o->matrix, lanes); return true;
    case MATRIX_WARPGROUP: return wgmma_run(w, base, o, lanes);
    case MATRIX_TRANSPOSE: transpose(w, base, o->matrix, lanes); return true;
    case MATRIX_LOAD_ROWS:
    case MATRIX_STORE_ROWS: return matrix_move_rows(w, a, base, o, lanes);
    default: return matrix_move(w, a, base, o, lanes);
    }
}
