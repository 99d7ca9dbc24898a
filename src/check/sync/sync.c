/* synccheck: misused barriers and masks; see check.h. What makes threads wait for ever is not here: exec/stall.c reports it. */
#include "check/report/findings.h"

#include "exec/barrier.h"
#include "isa/sem.h"

static const char *lanes_name(struct arena *arena, uint32_t lanes)
{
    return fault_members("lane", lanes, arena);
}

bool sync_is_aligned_barrier(const struct op *o)
{
    const struct isa_inst *i = o->kind == OP_BAR ? o->origin->origin->inst : NULL;
    return i && (i->op == OP_bar || isa_has(i, MOD_aligned));
}

/* The first call, from the barrier out, that the two have not come through both; NULL: they have come the same way. */
static const struct op *other_call(const struct wait *of, const struct wait *than)
{
    const struct activation *a = of->act, *b = than->act;
    for (; a != b && a && b; a = a->parent, b = b->parent)
        if (a->call != b->call)
            return a->call;
    return NULL;
}

/* `call`: the two are at one barrier, b has come there by this call; or NULL. */
static void divergent(struct checker *c, const struct warp *w, const struct wait *a, const struct wait *b,
                      const struct op *call)
{
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "divergent-barrier",
                      .severity = DIAG_ERROR,
                      .op = a->op,
                      .key = call ? call : b->op,
                      .warp = w,
                      .lane = (unsigned)__builtin_ctz(a->lanes),
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(arena,
                           "%s of warp %u of %s reach %s here, %s %s%s: all threads of the "
                           "warp must execute one instruction%s",
                           lanes_name(arena, a->lanes), w->index, block_name(arena, w->block), barrier_name(a->barrier),
                           lanes_name(arena, b->lanes), call ? "by another call, " : "",
                           place_name(arena, call ? call : b->op), call ? " together" : "");
    f->help = "move the barrier out of the branch, or use barrier.sync without .aligned";
    findings_done(&c->findings);
}

/* 9.7.13.1: in code under a condition .aligned is for those that all threads of the warp evaluate alike, and it says that all threads of the warp execute the same barrier instruction. Looked at when the barrier
 * opens, so that it does not depend on who came first; lanes that have exited by then do not count. */
static void check_alignment(struct checker *c, const struct block *b, uint32_t id)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct wait *first = NULL, *waits = b->warps[i].waits;
        for (const struct wait *t = waits && waits->next ? waits : NULL; t; t = t->next) {
            if (t->barrier != id || !sync_is_aligned_barrier(t->op))
                continue;
            const struct op *call = first && first->op == t->op ? other_call(first, t) : NULL;
            if (first && (first->op != t->op || call))
                divergent(c, &b->warps[i], t, first, call);
            first = first ? first : t;
        }
    }
}

static bool is_one_line(const struct op *a, const struct op *b)
{
    const struct ptx_loc *x = a->origin->loc, *y = b->origin->loc;
    return x && y && x->line == y->line && x->file == y->file && x->at_line == y->at_line && x->at_file == y->at_file;
}

static void apart(struct checker *c, const struct warp *w, const struct wait *t, const struct wait *than, unsigned warp)
{
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "divergent-block",
                      .severity = DIAG_WARNING,
                      .op = t->op,
                      .key = than->op,
                      .warp = w,
                      .lane = (unsigned)__builtin_ctz(t->lanes),
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(
        arena,
        "warp %u of %s meets warp %u at %s here, and that one is %s: PTX lets whole warps do so, while "
        "CUDA C++ wants a condition around __syncthreads() to be the same for all threads of the block",
        w->index, block_name(arena, w->block), warp, barrier_name(t->barrier), place_name(arena, than->op));
    f->help =
        "move the barrier out of the branch; or, where it is meant, use a barrier with a number and a count of its "
        "own (barrier.sync ID, THREADS)";
    findings_done(&c->findings);
}

/* Whole warps that meet at different __syncthreads() of the source: no rule of PTX's, but one of CUDA C++'s (Programming Guide,
 * "Synchronization Functions"). Barriers that are given a count are for parts of a block, which meet where they like. Where nothing
 * is known of lines, instructions may be copies of one. */
static void check_block(struct checker *c, const struct block *b, uint32_t id)
{
    const struct wait *first = NULL;
    unsigned warp = 0;
    if (b->barriers[id].expected)
        return;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct wait *t = b->warps[i].waits;
        if (!t || t->next || t->barrier != id || !sync_is_aligned_barrier(t->op) || !t->op->origin->loc)
            continue;
        if (first && first->op != t->op && !is_one_line(first->op, t->op))
            apart(c, &b->warps[i], t, first, warp);
        warp = first ? warp : i;
        first = first ? first : t;
    }
}

/* Threads that meet at a barrier must give it the same count. */
static void check_count(struct checker *c, const struct sync_event *e)
{
    const struct barrier *bar = &e->block->barriers[e->id];
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "barrier-count",
                      .severity = DIAG_ERROR,
                      .op = e->op,
                      .key = bar->first,
                      .warp = e->warp,
                      .lane = (unsigned)__builtin_ctz(e->lanes),
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(arena, "barrier %u is given %u threads here and %u %s (0: all of the block)", e->id,
                           e->threads, bar->expected, place_name(arena, bar->first));
    findings_done(&c->findings);
}

/* 9.7.13.1: red is not to be intermixed with sync and arrive at one active barrier, and has one operation. */
static void check_reduction(struct checker *c, const struct sync_event *e)
{
    const struct op *first = e->block->barriers[e->id].first;
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "barrier-reduction",
                      .severity = DIAG_ERROR,
                      .op = e->op,
                      .key = first,
                      .warp = e->warp,
                      .lane = (unsigned)__builtin_ctz(e->lanes),
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(arena,
                           "threads meet at barrier %u by `%.*s` here and by `%.*s` %s: those that reduce meet by one "
                           "operation alone",
                           e->id, STR_ARG(e->op->origin->origin->inst->text),
                           STR_ARG(first->origin->origin->inst->text), place_name(arena, first));
    findings_done(&c->findings);
}

static struct finding *mask_sight(struct checker *c, const struct sync_event *e, const char *code, uint32_t lanes)
{
    struct sight s = {.code = code,
                      .severity = DIAG_ERROR,
                      .op = e->op,
                      .warp = e->warp,
                      .lane = (unsigned)__builtin_ctz(lanes),
                      .count = 1};
    return findings_sight(&c->findings, &s);
}

/* "lanes 0-3 of warp 1 of block (0,0,0)" */
static const char *lanes_of_warp(struct arena *arena, const struct sync_event *e, uint32_t lanes)
{
    return arena_printf(arena, "%s of warp %u of %s", lanes_name(arena, lanes), e->warp->index,
                        block_name(arena, e->block));
}

static void report_strangers(struct checker *c, const struct sync_event *e, uint32_t lanes)
{
    struct arena *arena = &c->findings.arena;
    struct finding *f = mask_sight(c, e, "mask", lanes);
    if (!f)
        return;
    f->text = arena_printf(arena, "%s use mask 0x%08x, which does not name them", lanes_of_warp(arena, e, lanes),
                           e->membermask);
    findings_done(&c->findings);
}

static void report_readers(struct checker *c, const struct sync_event *e, uint32_t lanes)
{
    struct arena *arena = &c->findings.arena;
    unsigned l = (unsigned)__builtin_ctz(lanes);
    struct finding *f = mask_sight(c, e, "shfl-source", lanes);
    if (!f)
        return;
    f->text =
        arena_printf(arena, "%s read from lanes that take no part (lane %u from lane %u): the values are undefined",
                     lanes_of_warp(arena, e, lanes), l, e->source_lane[l]);
    findings_done(&c->findings);
}

/* 9.7.9.6, 9.7.13: a lane that executes a .sync instruction stands in its own mask; shfl reads from lanes that take
 * part. */
static void check_mask(struct checker *c, const struct sync_event *e)
{
    uint32_t strangers = e->lanes & ~e->membermask, readers = 0;
    if (e->op->flags & OPF_NO_MASK)
        return;
    if (strangers)
        report_strangers(c, e, strangers);
    for (uint32_t m = e->source_lane && e->lanes != UINT32_MAX ? e->lanes : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        readers |= e->lanes >> e->source_lane[l] & 1 ? 0 : 1u << l;
    }
    if (readers)
        report_readers(c, e, readers);
}

static void check_cluster(struct checker *c, const struct block *b)
{
    const struct block *peer = b;
    do {
        check_alignment(c, peer, CLUSTER_BARRIER);
        parted_open(peer);
        peer = peer->peer;
    } while (peer != b);
}

/* 9.7.13.15.11: behind mbarrier.inval an object is none until it is initialised again. */
static void check_mbarrier(struct checker *c, const struct sync_event *e)
{
    uint64_t object;
    memcpy(&object, e->block->shared + e->address, sizeof object);
    struct sight s = {.code = "invalidated-mbarrier",
                      .severity = DIAG_ERROR,
                      .op = e->op,
                      .warp = e->warp,
                      .lane = (unsigned)__builtin_ctz(e->lanes),
                      .count = 1};
    struct finding *f = object & MBARRIER_INVALIDATED ? findings_sight(&c->findings, &s) : NULL;
    if (!f)
        return;
    f->text = arena_printf(&c->findings.arena, "%s uses an mbarrier that was invalidated (mbarrier.inval)",
                           thread_name(&c->findings.arena, e->warp, s.lane));
    f->help =
        "have all threads meet at a barrier between its last use and mbarrier.inval (the end of a cuda::barrier or "
        "cuda::pipeline), or initialise it again";
    findings_done(&c->findings);
}

static void on_sync(void *data, const struct sync_event *e)
{
    switch (e->kind) {
    case SYNC_MBARRIER_ARRIVE:
    case SYNC_MBARRIER_WAIT: check_mbarrier(data, e); break;
    case SYNC_BARRIER_COUNTS: check_count(data, e); break;
    case SYNC_BARRIER_MIXED: check_reduction(data, e); break;
    case SYNC_BARRIER_OPEN:
        check_alignment(data, e->block, e->id);
        check_block(data, e->block, e->id);
        parted_open(e->block);
        break;
    case SYNC_CLUSTER_OPEN: check_cluster(data, e->block); break;
    case SYNC_EXIT: parted_exit(data, e); break;
    default: check_mask(data, e); break;
    }
}

static void on_control(void *data, const struct control_event *e)
{
    if (__builtin_expect(e->warp->waits != NULL, 0))
        parted_enter(data, e);
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    (void)data;
    parted_schedule(e);
}

const struct hooks *sync_hooks(struct checker *c, const struct kernel *k)
{
    return parted_concern(k) ? &c->sync_parted : &c->sync;
}

void sync_open(struct checker *c)
{
    c->sync = (struct hooks){.data = c,
                             .sync = on_sync,
                             .sync_kinds = 1u << SYNC_BARRIER_COUNTS | 1u << SYNC_BARRIER_MIXED |
                                           1u << SYNC_BARRIER_OPEN | 1u << SYNC_CLUSTER_OPEN | 1u << SYNC_COLLECTIVE |
                                           1u << SYNC_MBARRIER_ARRIVE | 1u << SYNC_MBARRIER_WAIT};
    c->sync_parted = c->sync;
    c->sync_parted.sync_kinds |= 1u << SYNC_EXIT;
    c->sync_parted.control = on_control;
    c->sync_parted.control_where_parted = true;
    c->sync_parted.schedule = on_schedule;
}
