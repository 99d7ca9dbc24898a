/* synccheck: misused barriers and masks; see check.h. What makes threads wait for ever is not here: exec/stall.c reports it. */
#include "check/findings.h"

#include "exec/barrier.h"
#include "isa/sem.h"

static const char *lanes_name(struct arena *arena, uint32_t lanes)
{
    return fault_members("lane", lanes, arena);
}

static bool is_aligned(const struct op *o)
{
    const struct isa_inst *i = o->origin->origin->inst;
    return i->op == OP_bar || isa_has(i, MOD_aligned);
}

static void divergent(struct checker *c, const struct warp *w, const struct wait *a, const struct wait *b)
{
    struct arena *arena = &c->findings.arena;
    struct sight s = {.code = "divergent-barrier",
                      .severity = DIAG_ERROR,
                      .op = a->op,
                      .key = b->op,
                      .warp = w,
                      .lane = (unsigned)__builtin_ctz(a->lanes),
                      .count = 1};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    f->text = arena_printf(arena,
                           "%s of warp %u of %s reach %s here, %s %s: all threads of the "
                           "warp must execute one instruction",
                           lanes_name(arena, a->lanes), w->index, block_name(arena, w->block), barrier_name(a->barrier),
                           lanes_name(arena, b->lanes), place_name(arena, b->op));
    f->help = "move the barrier out of the branch, or use barrier.sync without .aligned";
    findings_done(&c->findings);
}

/* 9.7.13.1: .aligned says that all threads of the warp execute the same barrier instruction. Looked at when the barrier
 * opens, so that it does not depend on who came first; lanes that have exited by then do not count. */
static void check_alignment(struct checker *c, const struct block *b, uint32_t id)
{
    for (uint32_t i = 0; i < b->n_warps; i++) {
        const struct wait *first = NULL, *waits = b->warps[i].waits;
        for (const struct wait *t = waits && waits->next ? waits : NULL; t; t = t->next) {
            if (t->op->kind != OP_BAR || t->barrier != id || !is_aligned(t->op))
                continue;
            if (first && first->op != t->op)
                divergent(c, &b->warps[i], t, first);
            first = first ? first : t;
        }
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
    case SYNC_BARRIER_OPEN: check_alignment(data, e->block, e->id); break;
    case SYNC_CLUSTER_OPEN: check_cluster(data, e->block); break;
    default: check_mask(data, e); break;
    }
}

void sync_open(struct checker *c)
{
    c->sync =
        (struct hooks){.data = c,
                       .sync = on_sync,
                       .sync_kinds = 1u << SYNC_BARRIER_COUNTS | 1u << SYNC_BARRIER_OPEN | 1u << SYNC_CLUSTER_OPEN |
                                     1u << SYNC_COLLECTIVE | 1u << SYNC_MBARRIER_ARRIVE | 1u << SYNC_MBARRIER_WAIT};
}
