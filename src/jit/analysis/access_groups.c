/* Accesses of a block of code through one register, and what they share.
 *
 * A *check group* shares one bounds test, which its first access makes for all.
 *
 * An *interleave group* consists of loads, or stores, of a check group whose lanes leave gaps that
 * the others fill, such as a thread's four consecutive words, or pairs that it compares. Its bytes
 * are moved as whole vectors, loads at the first access and stores at the last, and constant
 * shuffles take elements to the lanes and back. A store group may have gaps, or a single member;
 * then vectors are stored under a mask, or, in shared memory, which no other worker accesses,
 * blended with its contents.
 *
 * Between the first and the last access nothing may change what is loaded, observe what is stored,
 * or exit to the interpreter: interleave groups end at such instructions. Strong accesses (PTX ISA
 * 8.4) are in no group. Elements need only their own alignment, and an interleave group uses the
 * test of its check group, so faults are found before anything is moved. See access.h.
 */
#include "base/checked.h"
#include "jit/analysis/access.h"

enum { MAX_MEMBERS = 32, MAX_OPEN = 16 };

static struct access access_at(struct cursor here, uint32_t k)
{
    return access_begin(here.fn, fn_insn_at(here, k));
}

/* May it share a test with others? It needs no guard, and a register whose lanes are known.
 * Displacements of 32 bits, and limited spans of lanes, keep all sums below 2^33, so the groups'
 * offsets are exact. */
static bool can_share(struct cursor here, const struct access *a)
{
    return access_is_simple(here.fn, a->i) && !mem_access_is_strong(a->mem) && a->mem->space != SPACE_LOCAL &&
           !a->i->guard && ir_ref_kind(a->i->a) == REF_REG && !a->i->access->disp_const &&
           a->shape != SHAPE_DIVERGENT && checked_is_within(checked(a->disp), INT32_MIN, INT32_MAX);
}

/* ---- interleave groups: which ---- */

/* Accesses that may be moved together, because nothing between them prevents it. */
struct sequence {
    uint32_t members[MAX_MEMBERS];
    unsigned n;
};

struct finder {
    struct cursor here;
    const struct ir_block *block;
    uint32_t *n_interleave_groups;
    struct sequence open[MAX_OPEN];
    unsigned n_open;
};

/* Can the CPU store some elements of a vector, by a mask or by blending? */
static bool can_leave_gaps(const struct function *fn, const struct access *a)
{
    return a->mem->space == SPACE_SHARED || access_can_mask(fn, a);
}

/* Is the access one that may gain from an interleave group? */
static bool is_candidate(struct cursor here, const struct access *a)
{
    if (ir_is_copy(a->i) || !can_share(here, a) || a->shape == SHAPE_UNIFORM || a->pieces > 1 || !access_is_aligned(a))
        return false;
    if (a->i->kind == IR_LD)
        return !access_is_consecutive(a) && a->span / a->bytes + a->n > WARP_LANES;
    if (here.is_full)
        return !access_is_consecutive(a);
    return can_leave_gaps(here.fn, a) && !access_affine_is_simple(here, a);
}

static int64_t begin_of(struct finder *f, uint32_t k)
{
    struct access a = access_at(f->here, k);
    return a.disp + a.least;
}

/* Adds a member; false if there is no room for it, or if a store's bytes overlap. */
static bool add_member(struct interleave_group *r, const struct access *a, int64_t begin, bool *taken)
{
    int64_t at = (begin - r->from) / a->bytes, end = at + a->span / a->bytes + a->n;
    if (r->n + a->n > MAX_VALUES || end > MAX_ELEMENTS)
        return false;
    for (unsigned l = 0; l < WARP_LANES && a->i->kind == IR_ST; l++)
        for (unsigned j = 0; j < a->n; j++) {
            bool *t = &taken[at + (int64_t)r->lane_at[l] + j];
            if (*t)
                return false;
            *t = true;
        }
    for (unsigned j = 0; j < a->n; j++)
        r->at[r->n++] = (unsigned)at + j;
    r->elements = end > r->elements ? (unsigned)end : r->elements;
    return true;
}

/* Finds the longest interleave group that begins with the first of some members, which are sorted
 * by offset: one without gaps, or else one that is filled to a sufficient part. Returns its number
 * of members. */
static unsigned find_interleave_group(struct finder *f, const uint32_t *members, unsigned n, struct interleave_group *r)
{
    bool taken[MAX_ELEMENTS] = {false};
    unsigned sparse = f->here.fn->target->costs->interleave_gaps, found = 0;
    struct access a = access_at(f->here, members[0]);
    *r = (struct interleave_group){.from = a.disp + a.least};
    for (unsigned l = 0; l < WARP_LANES; l++)
        r->lane_at[l] = (unsigned)(a.offset[l] / a.bytes);
    struct interleave_group best = *r;
    for (unsigned k = 0; k < n && add_member(r, &a, begin_of(f, members[k]), taken); k++) {
        bool enough = k > 0 || a.i->kind == IR_ST;
        if (enough && r->elements <= sparse * r->n * WARP_LANES) {
            best = *r;
            found = k + 1;
        }
        if (enough && r->elements == r->n * WARP_LANES)
            break;
    }
    *r = best;
    return found;
}

static void sort_members(struct finder *f, struct sequence *s)
{
    for (unsigned k = 1; k < s->n; k++)
        for (unsigned j = k; j > 0 && begin_of(f, s->members[j]) < begin_of(f, s->members[j - 1]); j--) {
            uint32_t other = s->members[j];
            s->members[j] = s->members[j - 1];
            s->members[j - 1] = other;
        }
}

/* Finds the interleave groups of a sequence that has ended. */
static void find_runs_of(struct finder *f, struct sequence *s)
{
    const struct cursor here = f->here;
    sort_members(f, s);
    for (unsigned k = 0, n; k < s->n; k += n ? n : 1) {
        struct interleave_group *r = ARENA_NEW(here.fn->arena, struct interleave_group);
        n = find_interleave_group(f, &s->members[k], s->n - k, r);
        r->id = (*f->n_interleave_groups)++;
        r->first = UINT32_MAX;
        r->is_inside = true;
        for (unsigned m = k, number = 0; m < k + n; m++) {
            uint32_t at = s->members[m];
            struct access a = access_at(here, at);
            r->is_inside &= access_is_inside(here.fn, &a);
            here.check_groups[at].interleaved = r;
            here.check_groups[at].number = number;
            number += a.n;
            r->first = at < r->first ? at : r->first;
            r->last = at > r->last ? at : r->last;
        }
    }
}

static void end_sequence(struct finder *f, unsigned s)
{
    find_runs_of(f, &f->open[s]);
    f->open[s] = f->open[--f->n_open];
}

static bool fits_sequence(struct finder *f, const struct sequence *s, const struct access *a)
{
    const struct ir_insn *first = fn_insn_at(f->here, s->members[0]);
    struct access other = access_at(f->here, s->members[0]);
    return access_is_inside(f->here.fn, &other) == access_is_inside(f->here.fn, a) && first->kind == a->i->kind &&
           first->a == a->i->a && first->access->mem.space == a->i->access->mem.space &&
           first->access->mem.bytes == a->bytes && first->access->mem.n == a->n &&
           (a->disp - first->access->disp) % (int64_t)a->all == 0;
}

/* Does an access of the sequence overlap with this one? */
static bool overlaps(struct finder *f, const struct sequence *s, const struct access *a)
{
    for (unsigned k = 0; k < s->n; k++) {
        int64_t way = a->disp - fn_insn_at(f->here, s->members[k])->access->disp;
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (unsigned m = 0; m < WARP_LANES; m++)
                if (a->offset[l] + way == a->offset[m])
                    return true;
    }
    return false;
}

static void add_to_sequence(struct finder *f, const struct access *a, uint32_t k)
{
    for (unsigned s = 0; s < f->n_open; s++)
        if (fits_sequence(f, &f->open[s], a)) {
            if (f->open[s].n < MAX_MEMBERS) {
                f->open[s].members[f->open[s].n++] = k;
                return;
            }
            end_sequence(f, s);
            break;
        }
    if (f->n_open == MAX_OPEN)
        end_sequence(f, 0);
    f->open[f->n_open++] = (struct sequence){.members = {k}, .n = 1};
}

/* Must the instruction stay before later members of the sequence, or behind earlier ones? */
static bool ends(struct finder *f, const struct sequence *s, uint32_t k, const struct access *a)
{
    const struct ir_insn *i = fn_insn_at(f->here, k), *first = fn_insn_at(f->here, s->members[0]);
    if (i->kind == IR_LANES || i->kind == IR_FRAME)
        return first->kind == IR_ST && f->here.fn->shapes->assumptions[f->block->first + k];
    if (i->kind == IR_LD && first->kind == IR_LD)
        return mem_access_is_strong(a->mem);
    if (i->kind == IR_LD)
        return a->mem->space != SPACE_PARAM;
    return i->kind != IR_ST || first->kind == IR_LD || !is_candidate(f->here, a) || !fits_sequence(f, s, a) ||
           overlaps(f, s, a);
}

/* Gang blocks have no store groups: warps of a gang may exit between two instructions, some before
 * a store and some behind it. A warp that exits repeats its loads. */
static void find_interleave_groups(struct cursor here, const struct ir_block *block, uint32_t *n_interleave_groups)
{
    struct finder f = {.here = here, .block = block, .n_interleave_groups = n_interleave_groups};
    bool by_gang = here.fn->plan.n && here.fn->plan.inside[here.block];
    if (by_gang && !here.fn->plan.is_block)
        return;
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = fn_insn_at(here, k);
        bool moves = i->kind == IR_LD || (i->kind == IR_ST && !by_gang);
        struct access a = moves ? access_at(here, k) : (struct access){.i = i};
        for (unsigned s = f.n_open; s-- > 0;)
            if (ends(&f, &f.open[s], k, &a))
                end_sequence(&f, s);
        if (moves && is_candidate(here, &a))
            add_to_sequence(&f, &a, k);
        for (unsigned s = f.n_open; s-- > 0;)
            if (ir_defines(i, fn_insn_at(here, f.open[s].members[0])->a))
                end_sequence(&f, s);
    }
    while (f.n_open)
        end_sequence(&f, 0);
}

/* ---- check groups ---- */

bool access_needs_no_test(struct cursor here, uint32_t k)
{
    const struct interleave_group *r = here.check_groups[k].interleaved;
    struct access a = access_at(here, k);
    return r ? r->is_inside : access_is_simple(here.fn, a.i) && access_is_inside(here.fn, &a);
}

static bool can_join(struct cursor here, const struct access *a, uint32_t k)
{
    return can_share(here, a) && !access_needs_no_test(here, k) &&
           (a->shape == SHAPE_UNIFORM || here.check_groups[k].interleaved || access_affine_is_simple(here, a));
}

/* The bytes of a check group with another access. */
static struct check_group joined(struct check_group g, const struct access *a)
{
    int64_t from = a->disp + a->least, to = from + a->span + a->all;
    g.from = from < g.from ? from : g.from;
    g.to = to > g.to ? to : g.to;
    g.n++;
    return g;
}

/* The test covers the bytes from the group's first to its last, and everything between: 32-bit
 * registers allow members that are nearly 2^32 bytes apart. */
static bool is_near(const struct check_group *g, const struct access *a)
{
    struct check_group all = joined(*g, a);
    return all.to - all.from <= CHECK_GROUP_SPAN;
}

static bool fits(struct cursor here, const struct check_group *g, const struct access *a)
{
    const struct ir_insn *leader = fn_insn_at(here, g->first);
    return leader->a == a->i->a && leader->kind == a->i->kind && leader->access->mem.space == a->i->access->mem.space &&
           g->all == a->all && (a->disp + a->least - g->from) % (int64_t)a->all == 0 && is_near(g, a);
}

/* The check group that an access joins: its interleave group's, or an open one. */
static struct check_group *group_of(struct cursor here, const struct access *a, uint32_t k, const uint32_t *open,
                                    uint32_t n_open)
{
    const struct interleave_group *r = here.check_groups[k].interleaved;
    if (r && r->first != k)
        return &here.check_groups[here.check_groups[r->first].first];
    for (uint32_t n = 0; n < n_open; n++)
        if (fits(here, &here.check_groups[open[n]], a))
            return &here.check_groups[open[n]];
    return NULL;
}

static void join(struct check_group *g, struct check_group *own, const struct access *a)
{
    own->first = g->first;
    *g = joined(*g, a);
}

static void find_check_groups_of(struct cursor here, const struct ir_block *block, uint32_t *n_interleave_groups)
{
    uint32_t open[MAX_OPEN], n_open = 0;
    for (uint32_t k = 0; k < block->n; k++)
        here.check_groups[k] = (struct check_group){.first = k};
    find_interleave_groups(here, block, n_interleave_groups);
    for (uint32_t k = 0; k < block->n; k++) {
        const struct ir_insn *i = fn_insn_at(here, k);
        bool moves = i->kind == IR_LD || i->kind == IR_ST;
        struct access a = moves ? access_at(here, k) : (struct access){.i = i};
        if (moves && can_join(here, &a, k)) {
            struct check_group *g = group_of(here, &a, k, open, n_open), *own = &here.check_groups[k];
            if (!g) {
                own->all = a.all;
                own->from = a.disp + a.least;
                own->to = own->from;
                open[n_open < MAX_OPEN ? n_open++ : k % MAX_OPEN] = k;
            }
            join(g ? g : own, own, &a);
        }
        for (uint32_t n = 0; n < n_open;)
            if (ir_defines(i, fn_insn_at(here, open[n])->a))
                open[n] = open[--n_open];
            else
                n++;
    }
}

struct check_group *access_groups_alone(struct arena *arena, uint32_t n)
{
    struct check_group *groups = ARENA_ARRAY(arena, struct check_group, n + 1);
    for (uint32_t k = 0; k < n; k++)
        groups[k].first = k;
    return groups;
}

void access_groups_find(struct function *fn)
{
    fn->check_groups = ARENA_ARRAY(fn->arena, struct check_group, fn->ir->insns.n + 1);
    for (uint32_t b = 0; b < fn->ir->n_ordered; b++) {
        const struct ir_block *block = block_at(fn, b);
        struct cursor here = {.fn = fn,
                              .block = b,
                              .is_full = ir_is_full(fn->shapes, b),
                              .check_groups = fn->check_groups + block->first};
        find_check_groups_of(here, block, &fn->n_interleave_groups);
    }
}

/* ---- interleave groups: moving them ---- */

unsigned access_bytes_without_gap(struct cursor here, const struct access *a)
{
    const struct interleave_group *r = here.check_groups[here.index].interleaved;
    if (r)
        return here.index == r->first ? r->elements * a->bytes : 0;
    return access_is_consecutive(a) ? a->all * WARP_LANES : 0;
}

struct tested_bytes access_tested_bytes(const struct access *a, const struct check_group *g)
{
    return g->n ? (struct tested_bytes){.before = a->disp + a->least - g->from, .span = g->to - g->from - a->all}
                : (struct tested_bytes){.span = a->span};
}

const struct access *access_begin_tested(struct cursor here, uint32_t k, struct tested_bytes *bytes)
{
    const struct ir_insn *i = fn_insn_at(here, k);
    const struct check_group *g = &here.check_groups[k];
    if ((i->kind != IR_LD && i->kind != IR_ST) || i->guard || !i->a || i->access->disp_const || g->first != k)
        return NULL;
    const struct access *a = access_new(here.fn, i);
    if (!access_is_simple(here.fn, i) || a->mem->space == SPACE_LOCAL || a->shape == SHAPE_DIVERGENT)
        return NULL;
    *bytes = access_tested_bytes(a, g);
    bool as_vectors = bytes->span < LANES_SPAN && access_affine_is_simple(here, a);
    return a->shape == SHAPE_UNIFORM || g->interleaved || as_vectors ? a : NULL;
}
