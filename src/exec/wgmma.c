/* wgmma.mma_async (PTX ISA 9.7.15): where descriptors say that A and B are in shared memory, and
 * what the scales do.
 *
 * A matrix lies there in pieces of 16 bytes: neighbours along k, or, transposed, eight rows of A or
 * columns of B. The addresses of pieces were found on an H200 (9.7.15.5.1 has pictures of some of
 * them).
 */
#include "exec/access.h"
#include "exec/access_plan.h"
#include "exec/block.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/matrix.h"

enum { PIECE = 16, DENSE_M = 16, MAX_K = 64, MAX_N = 256, DESCRIPTOR_MASK = 0x3ffff };

struct descriptor {
    uint32_t start, leading, stride; /* bytes */
    uint32_t swizzled;               /* bytes that a swizzle's rows have; 0: none */
    /* bytes: where its pattern begins, of the 1024 that it repeats within. */
    uint32_t pattern;
};

/* 9.7.15.5.1.2.2. The other bits do nothing. */
static struct descriptor read_descriptor(uint64_t d)
{
    static const uint8_t swizzled[] = {0, 128, 64, 32};
    return (struct descriptor){(uint32_t)(d & 0x3fff) * PIECE, (uint32_t)(d >> 16 & 0x3fff) * PIECE,
                               (uint32_t)(d >> 32 & 0x3fff) * PIECE, swizzled[d >> 62], (uint32_t)(d >> 49 & 7) * 128};
}

/* Bits 4 and up are combined with those from 7 on, counted from the pattern's begin, as many as
 * tell the pieces of a row. Sums do not wrap at the 18 bits that a descriptor has of addresses:
 * beyond shared memory is beyond it.
 */
static uint32_t swizzle(const struct descriptor *d, uint32_t address)
{
    uint32_t mask = d->swizzled ? d->swizzled - PIECE : 0;
    return address ^ ((address - d->pattern) >> 3 & mask);
}

/* The piece of row (or column) r at byte `along` of k. */
static uint32_t piece_along_k(const struct descriptor *d, uint32_t r, uint32_t along)
{
    uint32_t at = d->swizzled ? r % 8 * d->swizzled + along : along / PIECE * d->leading + r % 8 * PIECE;
    return swizzle(d, d->start + r / 8 * d->stride + at);
}

/* The piece of rows r to r + 7 of column k. */
static uint32_t piece_across(const struct descriptor *d, uint32_t r, uint32_t k)
{
    uint32_t half = d->swizzled / 2;
    uint32_t at = half ? r / half * d->leading + k / 8 * d->stride + k % 8 * d->swizzled + r % half * 2
                       : r / 8 * d->stride + k / 8 * d->leading + k % 8 * PIECE;
    return swizzle(d, d->start + at);
}

/* One operand, and where its elements are to go: element (r, k) at r * by_row + k * by_k. */
struct operand {
    struct descriptor d;
    bool transposed;
    uint32_t flip; /* the sign's bit, where the scale is -1 */
    unsigned first, rows, k, bits;
    unsigned by_row, by_k;
};

/* Descriptors have the lowest 18 bits of addresses, which count from the block's own window;
 * access_locate() from its memory in it. */
static bool piece_at(struct warp *w, const struct op *o, uint32_t address, const uint8_t **piece)
{
    struct location p;
    uint32_t at = address - (w->block->shared_start & DESCRIPTOR_MASK);
    enum fault_kind kind = access_locate(w, SPACE_SHARED, at, PIECE, false, &p);
    *piece = p.at;
    if (!kind && access_is_watched(w)) {
        const struct matrix_event e = {.site = tell_site(w->block, o),
                                       .block = w->block->told,
                                       .warp = w->index,
                                       .lanes = w->exists & ~w->exited,
                                       .address = p.address,
                                       .bytes = PIECE};
        EVENT_TELL(w->events, EVENT_MATRIX, matrix, &e);
    }
    return !kind || warp_fault_at(w, kind, o, (unsigned)__builtin_ctz(w->exists & ~w->exited), &p, PIECE);
}

/* The elements of a piece: 16, 8 or 4. */
static void widen_piece(const uint8_t *piece, unsigned bits, uint32_t flip, uint32_t element[PIECE])
{
    uint16_t half;
    switch (bits) {
    case 8:
        for (unsigned i = 0; i < PIECE; i++)
            element[i] = piece[i] ^ flip;
        break;
    case 16:
        for (unsigned i = 0; i < PIECE / 2; i++) {
            memcpy(&half, piece + 2 * i, 2);
            element[i] = half ^ flip;
        }
        break;
    default:
        memcpy(element, piece, PIECE);
        for (unsigned i = 0; i < PIECE / 4; i++)
            element[i] ^= flip;
        break;
    }
}

static bool take_operand(struct warp *w, const struct op *o, const struct operand *x, uint32_t *to)
{
    unsigned bits = x->bits, per = 8 * PIECE / bits;
    uint32_t element[PIECE];
    const uint8_t *piece;
    if (x->transposed) {
        for (unsigned k = 0; k < x->k; k++)
            for (unsigned r = 0; r < x->rows; r += 8) {
                if (!piece_at(w, o, piece_across(&x->d, x->first + r, k), &piece))
                    return false;
                widen_piece(piece, bits, x->flip, element);
                for (unsigned i = 0; i < 8; i++)
                    to[(r + i) * x->by_row + k * x->by_k] = element[i];
            }
        return true;
    }
    for (unsigned r = 0; r < x->rows; r++)
        for (unsigned k = 0; k < x->k; k += per) {
            if (!piece_at(w, o, piece_along_k(&x->d, x->first + r, k * bits / 8), &piece))
                return false;
            widen_piece(piece, bits, x->flip, element);
            for (unsigned i = 0; i < per; i++)
                to[r * x->by_row + (k + i) * x->by_k] = element[i];
        }
    return true;
}

static unsigned unit_bits(enum isa_type type)
{
    return type == TYPE_b1 ? 32 : isa_type_bits(type);
}

static uint32_t sign_of(enum isa_type type, bool negates)
{
    return negates ? 1u << (isa_type_bits(type) - 1) : 0;
}

static bool take_a(struct warp *w, uint8_t *const base[4], const struct op *o, unsigned lane, uint32_t *a)
{
    const struct op_matrix *m = o->matrix;
    const struct mma_product *p = &m->product;
    enum isa_type type = (enum isa_type)p->a_type;
    uint32_t flip = sign_of(type, m->ir->negates_a);
    if (m->ir->a_by_descriptor) {
        struct operand x = {.d = read_descriptor(row_lane(row_at(base, m->reads[0]), 64, lane)),
                            .transposed = m->ir->transposes_a,
                            .flip = flip,
                            .first = w->index % 4 * DENSE_M,
                            .rows = DENSE_M,
                            .k = p->k,
                            .bits = unit_bits(type),
                            .by_row = 1,
                            .by_k = DENSE_M};
        return take_operand(w, o, &x, a);
    }
    fragment_take(w, base, &m->a, m->reads, a);
    for (unsigned i = 0; flip && i < (unsigned)p->m * p->k; i++)
        a[i] ^= flip;
    return true;
}

/* 9.7.15.1: four warps, the first of which has a rank that is a multiple of 4. How many threads of
 * them there are. */
static unsigned threads_of_warpgroup(const struct warp *w)
{
    unsigned n = 0;
    for (uint32_t i = w->index & ~3u; i <= (w->index | 3u) && i < w->block->n_warps; i++)
        n += (unsigned)__builtin_popcount(w->block->warps[i].exists);
    return n;
}

/* 9.7.15.5.2: D = A B + D, or A B where scale-d is false. */
bool wgmma_run(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t lanes)
{
    const struct op_matrix *m = o->matrix;
    const struct matrix *f = &m->ir->form;
    unsigned first = (unsigned)__builtin_ctz(lanes), k = f->sparse ? 2u * m->product.k : m->product.k;
    uint32_t a[DENSE_M * MAX_K], b[MMA_MAX_N * MAX_K], d[DENSE_M * MAX_N];
    uint8_t selected[DENSE_M * MAX_K];
    struct operand x = {.d = read_descriptor(row_lane(row_at(base, m->reads[m->ir->at_b]), 64, first)),
                        .transposed = m->ir->transposes_b,
                        .flip = sign_of((enum isa_type)f->b_type, m->ir->negates_b),
                        .k = k,
                        .bits = unit_bits((enum isa_type)f->b_type),
                        .by_row = 1};
    unsigned threads = threads_of_warpgroup(w);
    if (threads != 4 * WARP_LANES)
        return warp_fault_value(w, FAULT_warpgroup, o, first, threads);
    if (!take_a(w, base, o, first, a))
        return false;
    if (*(const uint32_t *)row_at(base, m->reads[m->ir->at_scale]) >> first & 1)
        fragment_take(w, base, &m->c, m->reads + m->ir->at_c, d);
    else
        memset(d, 0, sizeof *d * DENSE_M * f->n);
    if (f->sparse)
        matrix_select(f, (const uint32_t *)row_at(base, m->reads[m->ir->at_rest]), m->ir->selector, selected);
    for (; x.first < f->n; x.first += x.rows) {
        struct mma_product p = m->product;
        x.rows = x.by_k = f->n - x.first < MMA_MAX_N ? f->n - x.first : MMA_MAX_N;
        p.n = (uint16_t)x.rows;
        if (!take_operand(w, o, &x, b))
            return false;
        uint32_t *part = d + x.first * DENSE_M;
        w->block->launch->machine->mma->multiply(&p, a, b, part, part, f->sparse ? selected : NULL);
    }
    fragment_put(w, base, &m->d, m->writes, d, lanes);
    return true;
}
