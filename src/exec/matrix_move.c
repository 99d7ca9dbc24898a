/* Matrix instructions that move data: ldmatrix, stmatrix, wmma.load and wmma.store (PTX ISA
 * 9.7.14.4, 9.7.14.5); see matrix.h. */
#include "exec/matrix.h"

#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/rows.h"
#include "exec/emit_events.h"
#include "mem/local.h"

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
bool matrix_move_rows(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t lanes)
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
    /* A generic address leads elsewhere: a fault, which is each lane's. */
    if (x.plan.space != SPACE_SHARED)
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

/* The offset of a lane's pieces from the start. Lanes and pieces divide a line at whole bytes, and
 * each has its own bits of the element's number, so their offsets add up. */
static uint64_t lane_offset(const struct moved *x, unsigned lane)
{
    return line_offset(x, x->m->place.line_by_lane[lane]) + x->m->place.along_by_lane[lane] * (unsigned)x->f->bits / 8;
}

/* Where a piece's elements begin, counted from the lane's: the piece at byte `at` of a lane's
 * registers. */
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

/* A load by all lanes, from the host's memory: registers of two halves from two places, of lanes
 * that have eight neighbours; registers, of lanes that have four; others. */
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
        const struct mma_fns *mma = w->block->launch->machine->mma;
        (halves ? mma->load_halves : mma->load_quads)(lane, piece, own / 4, rows);
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

/* Registers of a fragment that are copies of its first, in the lanes that load: wmma of f16, 32
 * bits. */
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

/* Bytes that a lane accesses by one event, at most: a chunk of a row; and those of its part of a
 * matrix. */
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

/* By how much lanes are off the numbers of the chunks: another number for each kind of fragment,
 * and never 0, as programs have lane l access chunk l of a matrix. */
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

/* The accesses of an event are performed before the next event is sent. */
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
bool matrix_move(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t lanes)
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
