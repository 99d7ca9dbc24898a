/* Collectives of a warp: shfl, vote, match, redux, elect, bar.warp.sync (PTX ISA 9.7.9.6, 9.7.13).
 *
 * "The executing thread waits until all non-exited threads of membermask have executed the
 * instruction with the same qualifiers and the same membermask." The ISA says nothing of the
 * place. So lanes at different instructions can meet, and one instruction can serve lanes with
 * different membermasks.
 */
#include "exec/block.h"
#include "exec/collective.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/matrix.h"
#include "exec/shuffle.h"
#include "isa/sem.h"

/* Lanes that stand at one instruction of one activation. */
struct party {
    struct activation *act;
    const struct op *op;
    uint32_t lanes;
    struct wait *wait; /* NULL for those that arrive just now */
};

enum { MAX_PARTIES = WARP_LANES + 1 };

/* The operands of all participants, gathered from their places, and the results. */
struct participants {
    struct party party[MAX_PARTIES];
    unsigned n;
    uint32_t lanes;
    uint64_t wide[WARP_LANES]; /* of match.b64, in the place of a */
    uint32_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
    uint32_t d[WARP_LANES];
    uint32_t votes;             /* of vote: the sources, by lane */
    uint32_t p;                 /* predicates, by lane */
    uint8_t source[WARP_LANES]; /* of shfl: the lane that each lane reads */
};

static bool is_vote(enum collective mode)
{
    return mode >= COLLECTIVE_VOTE_ALL && mode <= COLLECTIVE_BALLOT;
}

static bool is_64(enum collective mode)
{
    return mode == COLLECTIVE_MATCH_ANY64 || mode == COLLECTIVE_MATCH_ALL64;
}

/* The lanes' values from row to row; those of a whole warp at once. */
static void copy_lanes(uint32_t *to, const uint32_t *from, uint32_t lanes)
{
    if (lanes == UINT32_MAX) {
        memcpy(to, from, WARP_LANES * sizeof *to);
        return;
    }
    for (; lanes; lanes &= lanes - 1)
        to[__builtin_ctz(lanes)] = from[__builtin_ctz(lanes)];
}

static void gather(struct warp *w, struct participants *m, const struct party *t)
{
    uint8_t *base[4];
    enum collective mode = (enum collective)t->op->mode;
    warp_bases(w, t->act, base);
    const uint8_t *a = row_at(base, t->op->a);
    const uint32_t *b = (const uint32_t *)row_at(base, t->op->b), *c = (const uint32_t *)row_at(base, t->op->c);
    if (is_vote(mode)) {
        m->votes |= *(const uint32_t *)a & t->lanes;
        return;
    }
    if (mode == COLLECTIVE_SYNC || mode == COLLECTIVE_ELECT)
        return;
    if (is_64(mode)) {
        for (uint32_t lanes = t->lanes; lanes; lanes &= lanes - 1)
            m->wide[__builtin_ctz(lanes)] = ((const uint64_t *)a)[__builtin_ctz(lanes)];
        return;
    }
    copy_lanes(m->a, (const uint32_t *)a, t->lanes);
    if (t->op->has_b) {
        copy_lanes(m->b, b, t->lanes);
        copy_lanes(m->c, c, t->lanes);
    }
}

static void scatter(struct warp *w, const struct participants *m, const struct party *t)
{
    uint8_t *base[4];
    warp_bases(w, t->act, base);
    if (t->op->has_d && t->op->width == 1) {
        uint32_t *d = (uint32_t *)row_at(base, t->op->d);
        *d = (*d & ~t->lanes) | (m->p & t->lanes);
    } else if (t->op->has_d) {
        copy_lanes((uint32_t *)row_at(base, t->op->d), m->d, t->lanes);
    }
    if (t->op->has_e) {
        uint32_t *e = (uint32_t *)row_at(base, t->op->e);
        *e = (*e & ~t->lanes) | (m->p & t->lanes);
    }
}

/* 9.7.9.6: if the source lane does not take part, the value is undefined; here it is the lane's
 * own. */
static void shuffle(struct participants *m, enum collective mode, unsigned l)
{
    bool in_range;
    unsigned j = shuffle_source(mode, l, m->b[l], m->c[l], &in_range);
    m->source[l] = (uint8_t)j;
    m->d[l] = m->lanes >> j & 1 ? m->a[j] : m->a[l];
    m->p |= in_range ? 1u << l : 0;
}

/* The lanes with this lane's value; all 32 are compared, for the compiler to do it at once. */
static uint32_t same_value(const struct participants *m, enum collective mode, unsigned lane)
{
    uint32_t mask = 0;
    for (unsigned l = 0; l < WARP_LANES && is_64(mode); l++)
        mask |= (uint32_t)(m->wide[l] == m->wide[lane]) << l;
    for (unsigned l = 0; l < WARP_LANES && !is_64(mode); l++)
        mask |= (uint32_t)(m->a[l] == m->a[lane]) << l;
    return mask & m->lanes;
}

static void match_any(struct participants *m, enum collective mode)
{
    for (uint32_t lanes = m->lanes, same; lanes; lanes &= ~same) {
        same = same_value(m, mode, (unsigned)__builtin_ctz(lanes));
        for (uint32_t to = same; to; to &= to - 1)
            m->d[__builtin_ctz(to)] = same;
    }
}

static uint32_t reduce_two(enum collective mode, uint32_t x, uint32_t y)
{
    switch (mode) {
    case COLLECTIVE_REDUX_ADD: return x + y;
    case COLLECTIVE_REDUX_MIN_U32: return x < y ? x : y;
    case COLLECTIVE_REDUX_MAX_U32: return x > y ? x : y;
    case COLLECTIVE_REDUX_MIN_S32: return (int32_t)x < (int32_t)y ? x : y;
    case COLLECTIVE_REDUX_MAX_S32: return (int32_t)x > (int32_t)y ? x : y;
    case COLLECTIVE_REDUX_AND: return x & y;
    case COLLECTIVE_REDUX_OR: return x | y;
    default: return x ^ y;
    }
}

/* 9.7.13.11: NaNs take no part, unless .NaN asks for them or there is nothing else; -0 is less than
 * +0. */
static uint32_t reduce_f32(const struct participants *m, enum collective mode)
{
    bool max = mode == COLLECTIVE_REDUX_MAX_F32 || mode == COLLECTIVE_REDUX_MAX_NAN_F32;
    float value = f32_of(m->a[__builtin_ctz(m->lanes)]);
    for (uint32_t lanes = m->lanes; lanes; lanes &= lanes - 1)
        value = sem_minmax_f32(value, f32_of(m->a[__builtin_ctz(lanes)]), max, false,
                               mode >= COLLECTIVE_REDUX_MIN_NAN_F32, false);
    return f32_bits(value);
}

static uint32_t reduce(const struct participants *m, enum collective mode)
{
    if (mode >= COLLECTIVE_REDUX_MIN_F32)
        return reduce_f32(m, mode);
    uint32_t value = 0, first = 1;
    for (uint32_t lanes = m->lanes; lanes; lanes &= lanes - 1, first = 0) {
        uint32_t x = m->a[__builtin_ctz(lanes)];
        value = first ? x : reduce_two(mode, value, x);
    }
    return value;
}

static void set_all(struct participants *m, uint32_t value)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        m->d[l] = value;
}

static void compute(struct participants *m, enum collective mode)
{
    m->p = 0;
    switch (mode) {
    case COLLECTIVE_SYNC: break;
    case COLLECTIVE_SHFL_UP:
    case COLLECTIVE_SHFL_DOWN:
    case COLLECTIVE_SHFL_BFLY:
    case COLLECTIVE_SHFL_IDX:
        for (uint32_t lanes = m->lanes; lanes; lanes &= lanes - 1)
            shuffle(m, mode, (unsigned)__builtin_ctz(lanes));
        break;
    case COLLECTIVE_VOTE_ALL: m->p = m->votes == m->lanes ? UINT32_MAX : 0; break;
    case COLLECTIVE_VOTE_ANY: m->p = m->votes ? UINT32_MAX : 0; break;
    case COLLECTIVE_VOTE_UNI: m->p = m->votes == m->lanes || m->votes == 0 ? UINT32_MAX : 0; break;
    case COLLECTIVE_BALLOT: set_all(m, m->votes); break;
    case COLLECTIVE_MATCH_ANY32:
    case COLLECTIVE_MATCH_ANY64: match_any(m, mode); break;
    case COLLECTIVE_MATCH_ALL32:
    case COLLECTIVE_MATCH_ALL64: {
        bool all = same_value(m, mode, (unsigned)__builtin_ctz(m->lanes)) == m->lanes;
        set_all(m, all ? m->lanes : 0);
        m->p = all ? UINT32_MAX : 0;
        break;
    }
    case COLLECTIVE_ELECT: /* 9.7.13.13: which lane leads is not said; the H200 takes the lowest */
        set_all(m, (uint32_t)__builtin_ctz(m->lanes));
        m->p = m->lanes & (0 - m->lanes);
        break;
    default: set_all(m, reduce(m, mode)); break;
    }
}

static void tell(const struct warp *w, const struct participants *m, uint32_t membermask)
{
    bool shuffles = m->party[0].op->mode >= COLLECTIVE_SHFL_UP && m->party[0].op->mode <= COLLECTIVE_SHFL_IDX;
    struct sync_event e = {.kind = EVENT_COLLECTIVE,
                           .block = w->block->told,
                           .site = tell_site(w->block, m->party[0].op),
                           .warp = w->index,
                           .lanes = m->lanes,
                           .membermask = membermask,
                           .source_lane = shuffles ? m->source : NULL};
    EVENT_TELL(w->events, EVENT_COLLECTIVE, sync, &e);
}

/* Values from the lanes' registers, and the results back. */
static void exchange(struct warp *w, struct participants *m, uint32_t membermask)
{
    m->votes = 0;
    for (unsigned i = 0; i < m->n; i++)
        gather(w, m, &m->party[i]);
    compute(m, (enum collective)m->party[0].op->mode);
    if (event_is_wanted(w->events, EVENT_COLLECTIVE))
        tell(w, m, membermask);
    for (unsigned i = 0; i < m->n; i++)
        scatter(w, m, &m->party[i]);
}

/* Lanes that came one after the other to one instruction of one activation. */
static bool run_matrix(struct warp *w, struct participants *m, uint32_t membermask)
{
    if (event_is_wanted(w->events, EVENT_COLLECTIVE))
        tell(w, m, membermask);
    return matrix_run(w, m->party[0].act, m->party[0].op, m->lanes);
}

/* All lanes have arrived: performs the operation and lets the waiting lanes go on. False after a
 * fault. */
static bool complete(struct warp *w, struct participants *m, uint32_t membermask)
{
    if (m->party[0].op->mode != COLLECTIVE_MATRIX)
        exchange(w, m, membermask);
    else if (!run_matrix(w, m, membermask))
        return false;
    for (unsigned i = 0; i < m->n; i++) {
        struct party *t = &m->party[i];
        if (t->wait) {
            act_add_pending(t->act, t->op->next, t->lanes);
            wait_remove(w, t->wait);
        }
    }
    return true;
}

/* Do lanes that wait there meet those at o? "The same instruction" of matrices is one place
 * (.aligned, 9.7.14). */
static bool meets(const struct wait *t, const struct activation *a, const struct op *o, uint32_t membermask)
{
    bool same = t->op->kind == OP_COLLECTIVE && t->op->mode == o->mode && t->membermask == membermask;
    return same && (o->mode != COLLECTIVE_MATRIX || (t->op == o && t->act == a));
}

/* Adds those that wait for lanes at o. */
static void add_waiting(const struct warp *w, struct participants *m, const struct activation *a, const struct op *o,
                        uint32_t membermask)
{
    for (struct wait *t = w->waits; t; t = t->next) {
        if (!meets(t, a, o, membermask))
            continue;
        m->party[m->n++] = (struct party){t->act, t->op, t->lanes, t};
        m->lanes |= t->lanes;
    }
}

/* Lanes of one membermask arrive; returns all of them once the last has arrived. */
static uint32_t arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t lanes, uint32_t membermask,
                       bool *fault)
{
    struct participants m;
    m.n = 1;
    m.lanes = lanes;
    m.party[0] = (struct party){a, o, lanes, NULL};
    if (w->waits)
        add_waiting(w, &m, a, o, membermask);
    uint32_t wanted = membermask & w->exists & ~w->exited;
    if (o->flags & OPF_NO_MASK || (m.lanes & wanted) == wanted) {
        *fault |= !complete(w, &m, membermask);
        return lanes;
    }
    struct wait *wait = wait_add(w, a, o, lanes);
    if (wait)
        wait->membermask = membermask;
    return 0;
}

/* The lanes of the warp that have not arrived and are not about to exit. */
static uint32_t elsewhere(const struct warp *w, const struct activation *a, uint32_t come)
{
    uint32_t lanes = w->exists & ~w->exited & ~come;
    for (uint32_t b = pending_first(a, 0); lanes && b != NO_BLOCK; b = pending_first(a, b + 1)) {
        const struct op *first = &a->code->ops[a->code->blocks[b].first];
        if (first->kind == OP_EXIT && !(first->flags & OPF_GUARD))
            lanes &= ~a->pending[b];
    }
    return lanes;
}

/* "The behavior is undefined if the executing thread is not in the membermask." An H200 ends the
 * kernel with an illegal instruction; it takes no notice of the membermask where the vendor's
 * assembler has seen that all threads of the warp come together with the same one. docs/H200.md has
 * more. */
static bool is_refused(const struct warp *w, const struct activation *a, uint32_t lanes, uint32_t membermask)
{
    return lanes & ~membermask && elsewhere(w, a, lanes);
}

uint32_t collective_arrive(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, bool *fault)
{
    uint8_t *base[4];
    if (o->flags & OPF_NO_MASK)
        return arrive(w, a, o, mask, mask, fault);
    warp_bases(w, a, base);
    const uint32_t *membermask = (const uint32_t *)row_at(base, o->f);
    uint32_t go_on = 0;
    while (mask) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            same |= (uint32_t)(membermask[l] == membermask[lane]) << l;
        same &= mask;
        if (is_refused(w, a, same, membermask[lane])) {
            unsigned stranger = (unsigned)__builtin_ctz(same & ~membermask[lane]);
            *fault = true;
            warp_fault_value(w, FAULT_bad_membermask, o, stranger, membermask[lane]);
            return 0;
        }
        go_on |= arrive(w, a, o, same, membermask[lane], fault);
        mask &= ~same;
    }
    return go_on;
}

bool collective_try(struct warp *w, struct activation *a, const struct op *o, uint32_t mask)
{
    uint8_t *base[4];
    warp_bases(w, a, base);
    const uint32_t *membermask = (const uint32_t *)row_at(base, o->f);
    uint32_t live = w->exists & ~w->exited, first = (uint32_t)__builtin_ctz(mask), others = 0;
    if (w->waits)
        return false;
    if (o->mode == COLLECTIVE_MATRIX && mask == live &&
        !w->events) /* the rest is for those who come one by one, or are watched */
        return matrix_run(w, a, o, mask);
    for (unsigned l = 0; l < WARP_LANES && !(o->flags & OPF_NO_MASK); l++)
        others |= (uint32_t)(membermask[l] != membermask[first]) << l;
    if (!(o->flags & OPF_NO_MASK) &&
        (others & mask || membermask[first] & live & ~mask || is_refused(w, a, mask, membermask[first])))
        return false;
    bool fault = false;
    collective_arrive(w, a, o, mask, &fault);
    return !fault; /* the interpreter meets it again, and stops */
}

void collective_recheck(struct warp *w)
{
    for (struct wait *t = w->waits; t;) {
        struct wait *next = t->next;
        uint32_t wanted = t->membermask & w->exists & ~w->exited;
        if (t->op->kind == OP_COLLECTIVE) {
            struct participants m = {.n = 0};
            add_waiting(w, &m, t->act, t->op, t->membermask);
            if ((m.lanes & wanted) == wanted) {
                if (!complete(w, &m, t->membermask))
                    return;
                next = w->waits; /* several records may be gone */
            }
        }
        t = next;
    }
}
