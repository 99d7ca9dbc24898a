/* Facts about an access before it is emitted: its strategy, its lanes' offsets, whether it needs a
 * test; see access.h. */
#include "base/checked.h"
#include "jit/analysis/access.h"

/* lane_offsets are relative to lane 0, signed, modulo 2^64, so two of them may be up to 2^64 apart;
 * a->offset is relative to the lowest address. */
static void find_offsets(const struct function *fn, struct access *a)
{
    const int64_t *p = fn->shapes->lane_offsets.at[a->shape].at;
    int64_t least = 0, most = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        least = p[l] < least ? p[l] : least;
        most = p[l] > most ? p[l] : most;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        a->offset[l] = (int64_t)((uint64_t)p[l] - (uint64_t)least);
    struct checked span = checked_sub(checked(most), checked(least));
    a->least = least;
    a->span = span.lost ? INT64_MAX : span.v;
    a->pieces = fn_pieces(fn, a->shape);
}

bool access_is_aligned(const struct access *a)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (a->offset[l] % a->all)
            return false;
    return a->span < LANES_SPAN;
}

bool access_is_simple(const struct function *fn, const struct ir_insn *i)
{
    const struct mem_access *m = &i->access->mem;
    bool known = m->space == SPACE_GLOBAL || m->space == SPACE_CONST || m->space == SPACE_GENERIC ||
                 m->space == SPACE_SHARED || m->space == SPACE_LOCAL;
    for (unsigned k = 0; k < m->n; k++)
        if (i->kind == IR_LD && ir_ref_kind(i->access->regs[k]) != REF_REG)
            return false;
    if (access_is_whole(m) && (unsigned)m->bytes * m->n > fn->target->whole_bytes)
        return false;
    return known && m->order != ORDER_SC && m->bytes <= 8 && (m->bytes >= 4 || m->n == 1) && m->bytes * m->n <= 32;
}

struct access access_begin(const struct function *fn, const struct ir_insn *i)
{
    bool knows_frame = fn->in_frame && !fn->one_lane;
    const struct frame_access *frame = knows_frame ? fn->in_frame[i - fn->ir->insns.at] : NULL;
    const struct mem_access *m = frame ? &frame->mem : &i->access->mem;
    unsigned all = (unsigned)m->bytes * m->n;
    struct access a = {.i = i,
                       .mem = m,
                       .frame = frame,
                       .disp = i->access->disp,
                       .bytes = m->bytes,
                       .n = m->n,
                       .all = all,
                       .log2 = (unsigned)__builtin_ctz(all),
                       .shape = i->a ? fn_ref_shape(fn, i->a) : SHAPE_UNIFORM};
    if (a.shape != SHAPE_DIVERGENT)
        find_offsets(fn, &a);
    return a;
}

const struct access *access_new(const struct function *fn, const struct ir_insn *i)
{
    struct access *a = ARENA_NEW(fn->arena, struct access);
    *a = access_begin(fn, i);
    return a;
}

/* Does each half of the warp access consecutive places, or one place? */
static bool has_halves(const struct access *a)
{
    bool consecutive = true, same = true;
    for (unsigned l = 1; l < WARP_LANES; l++) {
        consecutive &= l % HALF_LANES == 0 || (uint64_t)a->offset[l] == (uint64_t)a->offset[l - 1] + a->all;
        same &= l % HALF_LANES == 0 || a->offset[l] == a->offset[l - 1];
    }
    return a->pieces > 1 || consecutive || same;
}

const struct access *access_as_served(struct cursor here, const struct ir_insn *i, bool is_copied)
{
    struct access *a = ARENA_NEW(here.fn->arena, struct access);
    *a = access_begin(here.fn, i);
    if (a->shape == SHAPE_DIVERGENT || a->shape == SHAPE_UNIFORM)
        return a;
    bool as_vectors = here.check_groups[here.index].interleaved || access_affine_is_simple(here, a);
    if (is_copied ? !access_is_aligned(a) || !access_is_consecutive(a) : !as_vectors) {
        a->shape = SHAPE_DIVERGENT;
        a->lanes_scattered = !has_halves(a);
    }
    return a;
}

/* AVX-512 introduced masked stores of bytes and halves. */
bool access_can_mask(const struct function *fn, const struct access *a)
{
    return fn->target->has_masked_stores && (a->bytes >= 4 || fn->target->has_gather);
}

bool access_is_masked(const struct function *fn, const struct access *a)
{
    return a->n == 1 && access_can_mask(fn, a);
}

/* Can a few loads fetch the elements of all lanes? */
static bool has_clusters(const struct access *a)
{
    struct cluster c[MAX_CLUSTERS];
    uint8_t of[WARP_LANES];
    return access_find_clusters(a, a->n - 1, c, of) > 0;
}

bool access_affine_is_simple(struct cursor here, const struct access *a)
{
    if (!access_is_aligned(a) || access_is_whole(a->mem))
        return false;
    if (a->i->kind == IR_LD)
        return access_is_consecutive(a) || has_clusters(a);
    bool all_mostly_run = !here.fn->target->has_mask_registers && a->pieces == 1;
    return access_is_consecutive(a) &&
           ((here.is_full && !a->i->guard) || access_is_masked(here.fn, a) || all_mostly_run);
}

/* True for shared memory of the kernel's own variables, at addresses whose range is known to be
 * inside and aligned. Lanes without a thread have no range, but may be in a vector that is loaded
 * as a whole. Ranges hold for numbers that have not wrapped (ir/range.c drops those that may have).
 * With a 32-bit displacement the sum is exact in 64 bits; if it is inside, so is the 32-bit
 * address. */
bool access_is_inside(const struct function *fn, const struct access *a)
{
    const struct ir_shapes *s = fn->shapes;
    const struct ir_insn *i = a->i;
    struct ir_range at = {0, 0};
    struct ir_bits low = {.n = 64, .v = 0};
    if (a->mem->space != SPACE_SHARED || i->access->disp_const || s->block[0] * s->block[1] * s->block[2] % WARP_LANES)
        return false;
    if (i->a) {
        at = ir_range_of(fn->ir, s, i->a);
        low = ir_bits_of(fn->ir, s, true, i->a);
    }
    if (at.lo > at.hi || at.lo < INT32_MIN || at.hi > INT32_MAX || a->disp < INT32_MIN || a->disp > INT32_MAX)
        return false;
    return low.n >= a->log2 && ((low.v + (uint64_t)a->disp) & (a->all - 1)) == 0 && at.lo + a->disp >= 0 &&
           at.hi + a->disp + a->all <= fn->request->static_shared_bytes;
}

bool fn_has_many_accesses(const struct function *fn)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < fn->ir->insns.n && n <= LIMIT_divergent_accesses; k++) {
        const struct ir_insn *i = &fn->ir->insns.at[k];
        n += (i->kind == IR_LD || i->kind == IR_ST) && i->a && fn_ref_shape(fn, i->a) == SHAPE_DIVERGENT;
    }
    return n > LIMIT_divergent_accesses;
}

bool access_is_consecutive(const struct access *a)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (a->offset[l] != (int64_t)(l % (WARP_LANES / a->pieces)) * a->all)
            return false;
    return true;
}

unsigned access_find_clusters(const struct access *a, unsigned k, struct cluster c[MAX_CLUSTERS],
                              uint8_t of[WARP_LANES])
{
    unsigned n = 0, piece_lanes = WARP_LANES / a->pieces;
    uint32_t left = UINT32_MAX;
    while (left) {
        int64_t least = INT64_MAX;
        unsigned piece = (unsigned)__builtin_ctz(left) / piece_lanes, end = (piece + 1) * piece_lanes;
        for (unsigned l = piece * piece_lanes; l < end; l++)
            if (left >> l & 1 && a->offset[l] < least)
                least = a->offset[l];
        int64_t from = least / a->bytes + k, to = from;
        if (n == MAX_CLUSTERS)
            return 0;
        for (unsigned l = piece * piece_lanes; l < end; l++) {
            int64_t at = a->offset[l] / a->bytes + k;
            if (left >> l & 1 && at < from + WARP_LANES) {
                left &= ~(1u << l);
                of[l] = (uint8_t)n;
                to = at > to ? at : to;
            }
        }
        c[n++] = (struct cluster){from, to, piece};
    }
    return n;
}
