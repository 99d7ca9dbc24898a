/* Matrix instructions (PTX ISA 9.7.14, 9.7.15): moves fragments between registers, memory and dense matrices, and has products
 * computed (isa/mma.h).
 *
 * All lanes of a warp come together (collective.c), so an instruction is done at once. That is so of wgmma, too: it may run any time
 * before it is waited for, and a program that relies on no more than wgmma.fence, commit_group and wait_group cannot tell; one that
 * relies on more is found by check/race/wgmma.c. A warp of a warpgroup computes its 16 rows by itself.
 */
#include "exec/matrix.h"

#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/worker.h"
#include "exec/tell.h"
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

/* Finds where registers are that a product can be computed on without dense matrices in between. */
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

/* The ISA wants lines that begin at multiples of 16 bytes. What an H200 makes of others: machine code counts strides in the words that it
 * moves, of 32 bits, or of 64 where a lane has two numbers of 32 bits side by side, and drops the rest; each eighth line is where the
 * stride says, but in accumulators of 16 x 16. Elements of a byte, of tf32 and of f64 are where they are said to be. */
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

/* A matrix of ldmatrix, stmatrix, movmatrix: where an element of a lane's register goes among eight rows of eight. */
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
    if ((f->kind != MATRIX_PRODUCT && f->kind != MATRIX_WARPGROUP) || !f->d.bits) /* of a text: its name alone */
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

/* The metadata of a row's group: 4 bits in the register of a lane (9.7.14.6.1; which lane was found on an H200). */
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

/* ---- memory ---- */

/* As many bytes as op->access says, of each lane. */
struct move {
    struct plan plan; /* first: access_watched() hands it to move_lanes() */
    bool stores;
    uint8_t data[WARP_LANES][16];
};

static void move_lane(struct move *x, uint8_t *at, unsigned lane, unsigned bytes)
{
    if (x->stores)
        memcpy(at, x->data[lane], bytes);
    else
        memcpy(x->data[lane], at, bytes);
}

static void move_local(struct warp *w, struct move *x, uint64_t address, unsigned lane, unsigned bytes)
{
    if (x->stores)
        local_write(w->local, address, lane, x->data[lane], bytes);
    else
        local_read(w->local, address, lane, x->data[lane], bytes);
}

static bool move_lanes(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct plan *p)
{
    struct move *x = (struct move *)p;
    unsigned bytes = o->access->mem.bytes;
    (void)base;
    for (; mask; mask &= mask - 1) {
        unsigned l = (unsigned)__builtin_ctz(mask);
        struct location at;
        if (p->kind == PLAN_HOST) {
            move_lane(x, (uint8_t *)(uintptr_t)(p->address[l] + p->base), l, bytes);
            continue;
        }
        enum fault_kind kind = access_locate_op(w, o, p->address[l], &at);
        if (kind)
            return warp_fault_at(w, kind, o, l, &at, bytes);
        if (at.at)
            move_lane(x, at.at, l, bytes);
        else
            move_local(w, x, at.address, l, bytes);
    }
    return true;
}

/* Stall detection sees that others' memory has been read, or may have changed. */
static void note_move(struct launch *l, bool stores, const struct plan *p)
{
    if (!stores)
        access_note_load(l, p);
    else if (atomic_load_explicit(&l->watching, memory_order_relaxed))
        l->changed = true;
}

static bool run_move(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask, struct move *x)
{
    note_move(w->block->launch, x->stores, &x->plan);
    return access_is_watched(w) ? access_watched(w, base, o, mask, &x->plan, move_lanes)
                                : move_lanes(w, base, o, mask, &x->plan);
}

/* ldmatrix and stmatrix: lane 8 i + r has the address of row r of matrix i, 16 bytes. */
static bool move_rows(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t lanes)
{
    const struct op_matrix *m = o->matrix;
    const struct matrix *f = &m->ir->form;
    struct move x = {.stores = f->kind == MATRIX_STORE_ROWS};
    unsigned n = f->count;
    uint32_t mask = lanes & (n == 4 ? UINT32_MAX : (1u << 8 * n) - 1), halves[4 * 64];
    if (!mask)
        return true;
    plan_access(w, a, base, o, mask, &x.plan);
    plan_fill(w, o, &x.plan);
    if (x.plan.space != SPACE_SHARED) /* a generic address leads elsewhere: a fault, which is each lane's */
        x.plan.kind = PLAN_BY_LANE;
    for (unsigned i = 0; x.stores && i < n; i++) {
        fragment_take(w, base, &m->c, m->reads + i, halves + 64 * i);
        for (unsigned k = 0; k < 64; k++)
            memcpy(&x.data[8 * i + k / 8][2 * (k % 8)], &halves[64 * i + k], 2);
    }
    if (!run_move(w, base, o, mask, &x))
        return false;
    for (unsigned i = 0; !x.stores && i < n; i++) {
        for (unsigned k = 0; k < 64; k++) {
            uint16_t v;
            memcpy(&v, &x.data[8 * i + k / 8][2 * (k % 8)], 2);
            halves[64 * i + k] = v;
        }
        fragment_put(w, base, &m->d, m->writes + i, halves + 64 * i, lanes);
    }
    return true;
}

/* A matrix in memory, and the registers that it is loaded to or stored from. */
struct moved {
    const struct op_matrix *m;
    const struct fragment *f;
    const row_ref *regs;
    uint64_t start, near; /* bytes: how far lines are apart */
    uint64_t skew;        /* how much farther, where another group of them begins */
    unsigned bytes;       /* of a piece */
};

/* In elements. Without a stride the matrix is dense. */
static uint64_t stride_of(const struct op_matrix *m, uint8_t *const base[4], unsigned lane)
{
    return m->ir->has_rest ? ((const uint32_t *)row_at(base, m->reads[m->ir->at_rest]))[lane] : m->place.length;
}

static void find_distances(struct moved *x, uint64_t stride)
{
    uint64_t bits = x->m->ir->form.element_bits, words = ~(uint64_t)(x->m->place.word - 1);
    x->near = stride * bits / 8 & words;
    x->skew = x->m->place.group == 8 ? (stride * bits & words) - 8 * x->near : 0;
}

static uint64_t line_offset(const struct moved *x, unsigned line)
{
    return line * x->near + (x->skew ? line / x->m->place.group * x->skew : 0);
}

static unsigned line_bytes_of(const struct moved *x)
{
    return (unsigned)x->m->place.length * x->m->ir->form.element_bits / 8;
}

/* How far behind the start a lane's pieces begin. Lanes and pieces divide a line at whole bytes, and have bits of their own of its
 * number, so that what they are off adds up. */
static uint64_t lane_offset(const struct moved *x, unsigned lane)
{
    return line_offset(x, x->m->place.line_by_lane[lane]) + x->m->place.along_by_lane[lane] * (unsigned)x->f->bits / 8;
}

/* Where a piece's elements begin, counted from the lane's: the piece at byte `at` of a lane's registers. */
static uint64_t piece_offset(const struct moved *x, unsigned at)
{
    unsigned e = at * 8 >> __builtin_ctz(x->f->bits);
    return line_offset(x, x->m->place.line[e]) + x->m->place.along[e] * (unsigned)x->f->bits / 8;
}

/* Registers that hold copies of those before. */
static unsigned own_bytes(const struct moved *x)
{
    unsigned own = (x->f->bits << x->f->number_bits) / 8, all = x->f->n_regs * x->f->reg_bits / 8u;
    return own < all ? own : all;
}

/* A load by all lanes, from the host's memory: registers of two halves from two places, of lanes that have eight
 * neighbours; registers, of lanes that have four; others. */
static void load_own(const struct warp *w, uint8_t *const base[4], const struct moved *x, const uint8_t *from)
{
    unsigned reg_bytes = x->f->reg_bits / 8, own = own_bytes(x), n = 0;
    bool halves = x->bytes == 2 && x->m->place.by_eights, quads = x->bytes == 4 && x->m->place.by_fours;
    const uint8_t *lane[WARP_LANES];
    uint32_t *rows[FRAGMENT_MAX_REGS];
    uint64_t piece[2 * FRAGMENT_MAX_REGS];
    if (halves || quads) {
        for (unsigned l = 0; l < (halves ? 4 : 8); l++)
            lane[l] = from + lane_offset(x, halves ? l : 4 * l);
        for (unsigned at = 0; at < own; at += x->bytes)
            piece[n++] = piece_offset(x, at);
        for (unsigned r = 0; r < own / 4; r++)
            rows[r] = (uint32_t *)row_at(base, x->regs[r]);
        (halves ? fns_of(w)->load_halves : fns_of(w)->load_quads)(lane, piece, own / 4, rows);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        lane[l] = from + lane_offset(x, l);
    for (unsigned at = 0; at < own; at += x->bytes) {
        uint8_t *row = row_at(base, x->regs[at / reg_bytes]) + at % reg_bytes;
        uint64_t offset = piece_offset(x, at);
        for (unsigned l = 0; l < WARP_LANES; l++)
            memcpy(row + reg_bytes * l, lane[l] + offset, x->bytes);
    }
}

static void store_own(uint8_t *const base[4], const struct moved *x, uint8_t *to)
{
    unsigned reg_bytes = x->f->reg_bits / 8, own = own_bytes(x);
    uint8_t *lane[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        lane[l] = to + lane_offset(x, l);
    for (unsigned at = 0; at < own; at += x->bytes) {
        const uint8_t *row = row_at(base, x->regs[at / reg_bytes]) + at % reg_bytes;
        uint64_t piece = piece_offset(x, at);
        for (unsigned l = 0; l < WARP_LANES; l++)
            memcpy(lane[l] + piece, row + reg_bytes * l, x->bytes);
    }
}

/* Registers of a fragment that are copies of its first, in the lanes that load: wmma of f16, 32 bits. */
static void copy_registers(const struct warp *w, uint8_t *const base[4], const struct moved *x, uint32_t lanes)
{
    unsigned n = fragment_own_regs(x->f);
    for (unsigned r = n; r < x->m->ir->n_writes; r++)
        w->block->launch->rows->blend32(row_at(base, x->regs[r]), row_at(base, x->regs[r - n]), lanes);
}

/* Where all of the matrix is on the host, where one plan serves all lanes; NULL: piece by piece. */
static uint8_t *find_at_once(struct warp *w, const struct op *o, const struct moved *x, uint32_t lanes, struct plan *p)
{
    unsigned lines = x->m->place.lines, line_bytes = line_bytes_of(x);
    bool overlap = x->near < line_bytes && x->m->ir->form.kind == MATRIX_STORE;
    if (lanes != UINT32_MAX || overlap || x->near > UINT32_MAX / 256 || (x->start | x->near) & (x->bytes - 1))
        return NULL;
    plan_span(w, o, lanes, x->start, x->start + line_offset(x, lines - 1) + line_bytes - x->bytes, p);
    return p->kind == PLAN_HOST ? (uint8_t *)(uintptr_t)(x->start + p->base) : NULL;
}

static __attribute__((noinline)) bool move_by_pieces(struct warp *w, uint8_t *const base[4], const struct op *o,
                                                     const struct moved *x, uint32_t lanes)
{
    struct move move = {.stores = x->m->ir->form.kind == MATRIX_STORE};
    unsigned reg_bytes = x->f->reg_bits / 8, own = own_bytes(x);
    for (unsigned at = 0; at < own; at += x->bytes) {
        uint8_t *row = row_at(base, x->regs[at / reg_bytes]) + at % reg_bytes;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            move.plan.address[l] = x->start + lane_offset(x, l) + piece_offset(x, at);
            memcpy(move.data[l], row + l * reg_bytes, x->bytes);
        }
        plan_addresses(w, o, lanes, &move.plan);
        if (!run_move(w, base, o, lanes, &move))
            return false;
        for (uint32_t left = move.stores ? 0 : lanes; left; left &= left - 1) {
            unsigned l = (unsigned)__builtin_ctz(left);
            memcpy(row + l * reg_bytes, move.data[l], x->bytes);
        }
    }
    if (!move.stores)
        copy_registers(w, base, x, lanes);
    return true;
}

/* ---- of launches that somebody watches ---- */

/* Bytes that a lane accesses by one event, at most: a chunk of a row; and those of its part of a matrix. */
enum { CHUNK_BYTES = 16, OWN_BYTES_MOST = 32 };

static unsigned chunk_bytes(const struct moved *x)
{
    unsigned own = own_bytes(x);
    return own < CHUNK_BYTES ? own : CHUNK_BYTES;
}

static bool has_chunks(const struct moved *x)
{
    return (x->start | line_bytes_of(x) | x->near | x->skew) % chunk_bytes(x) == 0;
}

/* By how much lanes are off the numbers of the chunks: another number for each kind of fragment, and never 0, as programs have lane l
 * access chunk l of a matrix. */
static unsigned rotation_of(const struct moved *x)
{
    const struct matrix *f = &x->m->ir->form;
    unsigned role = f->loads == 'a' || f->loads == 'b' ? 1 + (unsigned)(f->loads - 'a') : 0;
    return 1 + 6 * role + 2 * (f->m / 16u) + f->a_by_column;
}

/* The next WARP_LANES chunks, from a number on, are the plan's. */
static void plan_chunks(const struct moved *x, unsigned first, struct plan *p)
{
    unsigned bytes = chunk_bytes(x), each = line_bytes_of(x) / bytes, rotation = rotation_of(x);
    for (unsigned i = 0; i < WARP_LANES; i++)
        p->address[(i + rotation) % WARP_LANES] =
            x->start + line_offset(x, (first + i) / each) + (first + i) % each * (uint64_t)bytes;
    uint64_t end = x->start + line_offset(x, (first + WARP_LANES - 1) / each) + line_bytes_of(x);
    p->scan = (struct scan){.min = x->start + line_offset(x, first / each), .max = end - bytes};
    p->pattern = PATTERN_NONE;
}

static void load_watched(struct warp *w, uint8_t *const base[4], const struct op *o, const struct moved *x,
                         const uint8_t *from, struct plan *p)
{
    struct told t;
    for (unsigned i = 0; i < own_bytes(x) / chunk_bytes(x); i++) {
        plan_chunks(x, i * WARP_LANES, p);
        access_tell(w, o, UINT32_MAX, chunk_bytes(x), p, &t);
    }
    load_own(w, base, x, from);
}

/* What an event tells is performed before the next one. */
static void store_watched(const struct warp *w, uint8_t *const base[4], const struct op *o, const struct moved *x,
                          struct plan *p)
{
    uint8_t dense[WARP_LANES * OWN_BYTES_MOST];
    struct moved to = *x;
    struct told t;
    unsigned bytes = chunk_bytes(x);
    to.near = line_bytes_of(x);
    to.skew = 0;
    store_own(base, &to, dense);
    for (unsigned i = 0; i < own_bytes(x) / bytes; i++) {
        plan_chunks(x, i * WARP_LANES, p);
        access_tell(w, o, UINT32_MAX, bytes, p, &t);
        for (unsigned k = 0; k < WARP_LANES; k++)
            memcpy((uint8_t *)(uintptr_t)(p->address[(k + rotation_of(x)) % WARP_LANES] + p->base),
                   dense + (i * WARP_LANES + k) * bytes, bytes);
        access_tell_performed(w, o, &t);
    }
}

/* Pieces are told, and loaded at once. */
static void load_pieces_watched(struct warp *w, uint8_t *const base[4], const struct op *o, const struct moved *x,
                                const uint8_t *from)
{
    uint64_t lane[WARP_LANES];
    struct plan p;
    struct told t;
    for (unsigned l = 0; l < WARP_LANES; l++)
        lane[l] = x->start + lane_offset(x, l);
    for (unsigned at = 0; at < own_bytes(x); at += x->bytes) {
        uint64_t piece = piece_offset(x, at);
        for (unsigned l = 0; l < WARP_LANES; l++)
            p.address[l] = lane[l] + piece;
        plan_addresses(w, o, UINT32_MAX, &p);
        access_tell(w, o, UINT32_MAX, x->bytes, &p, &t);
    }
    load_own(w, base, x, from);
}

/* Else piece by piece. */
static bool can_tell_at_once(const struct warp *w, const struct moved *x)
{
    return w->events->by_piece ? x->m->ir->form.kind == MATRIX_LOAD : has_chunks(x);
}

static void move_watched(struct warp *w, uint8_t *const base[4], const struct op *o, const struct moved *x, uint8_t *at,
                         struct plan *p)
{
    if (x->m->ir->form.kind == MATRIX_STORE)
        store_watched(w, base, o, x, p);
    else if (w->events->by_piece)
        load_pieces_watched(w, base, o, x, at);
    else
        load_watched(w, base, o, x, at, p);
}

/* wmma.load and wmma.store: all lanes have the same address and stride. */
static bool move_matrix(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o,
                        uint32_t lanes)
{
    const struct matrix *f = &o->matrix->ir->form;
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    struct moved x = {.m = o->matrix,
                      .f = f->kind == MATRIX_LOAD ? &f->d : &f->c,
                      .regs = f->kind == MATRIX_LOAD ? o->matrix->writes : o->matrix->reads,
                      .start = access_address_of_lane(w, a, base, o, lane),
                      .bytes = o->access->mem.bytes};
    struct plan plan;
    find_distances(&x, stride_of(o->matrix, base, lane));
    uint8_t *at = find_at_once(w, o, &x, lanes, &plan);
    bool watched = access_is_watched(w), stores = f->kind == MATRIX_STORE;
    if (!at || (watched && !can_tell_at_once(w, &x)))
        return move_by_pieces(w, base, o, &x, lanes);
    note_move(w->block->launch, stores, &plan);
    if (watched)
        move_watched(w, base, o, &x, at, &plan);
    else if (stores)
        store_own(base, &x, at);
    else
        load_own(w, base, &x, at);
    if (!stores)
        copy_registers(w, base, &x, lanes);
    return true;
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
    case MATRIX_STORE_ROWS: return move_rows(w, a, base, o, lanes);
    default: return move_matrix(w, a, base, o, lanes);
    }
}
