/* synccheck: misused barriers, masks and mbarriers; see sync.h. */
#include "check/checker.h"

#include "exec/barrier.h"
#include "isa/sem.h"

static const char *lanes_name(struct arena *arena, uint32_t lanes)
{
    return fault_members("lane", lanes, arena);
}

/* ---- who meets at a barrier ---- */

/* `call`: the two are at one barrier, to which a's have come by this call; or NULL. */
static void divergent(struct checker *c, const struct barrier_party *a, const struct barrier_party *b,
                      const struct site *call, uint32_t id)
{
    struct arena *arena = &c->findings.arena;
    const struct site *other = call ? call : b->site;
    struct finding *f =
        findings_error(&c->findings, "divergent-barrier", a->site, other, a->block, a->warp, lowest_lane(a->lanes));
    if (f)
        findings_describe(&c->findings, f, "move the barrier out of the branch, or use barrier.sync without .aligned",
                          "%s of warp %u of %s reach %s here, %s %s%s: all threads of the warp must execute one "
                          "instruction%s",
                          lanes_name(arena, a->lanes), a->warp, block_name(arena, a->block), barrier_name(id),
                          lanes_name(arena, b->lanes), call ? "by another call, " : "", place_name(arena, other),
                          call ? " together" : "");
}

/* All threads of a warp must execute the same aligned barrier (9.7.13.1). Checked when
 * the barrier opens, so that it does not depend on who came first; lanes that have
 * exited by then do not count. */
static void check_alignment(struct checker *c, const struct sync_event *e)
{
    const struct barrier_party *first = NULL;
    for (uint32_t i = 0; i < e->n_parties; i++) {
        const struct barrier_party *p = &e->parties[i];
        if (first && (first->warp != p->warp || first->block != p->block))
            first = NULL;
        if (!p->site->aligned)
            continue;
        const struct site *call = first && first->site == p->site ? p->call : NULL;
        if (first && (first->site != p->site || call))
            divergent(c, p, first, call, e->id);
        first = first ? first : p;
    }
}

static bool is_one_line(const struct site *a, const struct site *b)
{
    const struct ptx_loc *x = a->loc, *y = b->loc;
    return x && y && x->line == y->line && x->file == y->file && x->at_line == y->at_line && x->at_file == y->at_file;
}

static void apart(struct checker *c, const struct barrier_party *p, const struct barrier_party *than, unsigned warp,
                  uint32_t id)
{
    struct arena *arena = &c->findings.arena;
    struct finding *f = findings_count(&c->findings, &(struct occurrence){.code = "divergent-block",
                                                                          .site = p->site,
                                                                          .key = than->site,
                                                                          .block = p->block,
                                                                          .warp = p->warp,
                                                                          .lanes = lowest_lane(p->lanes),
                                                                          .severity = DIAG_WARNING});
    if (f)
        findings_describe(
            &c->findings, f,
            "move the barrier out of the branch; if this is intended, use a barrier with its own number and thread "
            "count (barrier.sync ID, THREADS)",
            "warps %u and %u of %s meet at %s, the first here and the second %s: PTX allows this for whole warps, but "
            "in "
            "CUDA C++ a condition around __syncthreads() must be the same for all threads of the block",
            p->warp, warp, block_name(arena, p->block), barrier_name(id), place_name(arena, than->site));
}

/* Reports whole warps that meet at different __syncthreads() of the source. PTX allows this; CUDA
 * C++ does not (Programming Guide, "Synchronization Functions"). Barriers with a count are
 * excluded: they are for parts of a block, which may meet at different places. Without line
 * information nothing is reported, because the instructions may be copies of one. */
static void check_block(struct checker *c, const struct sync_event *e)
{
    const struct barrier_party *first = NULL;
    unsigned warp = 0;
    for (uint32_t i = 0; i < e->n_parties && !e->expected; i++) {
        const struct barrier_party *p = &e->parties[i];
        if (!p->alone || !p->site->aligned || !p->site->loc)
            continue;
        if (first && first->site != p->site && !is_one_line(first->site, p->site))
            apart(c, p, first, warp, e->id);
        warp = first ? warp : p->warp;
        first = first ? first : p;
    }
}

/* ---- operands ---- */

static struct finding *count(struct checker *c, const char *code, const struct sync_event *e, const struct site *key,
                             uint32_t lanes)
{
    return findings_error(&c->findings, code, e->site, key, e->block, e->warp, lowest_lane(lanes));
}

/* Threads that meet at a barrier must give it the same count. */
static void check_count(struct checker *c, const struct sync_event *e)
{
    struct finding *f = count(c, "barrier-count", e, e->first, e->lanes);
    if (f)
        findings_describe(&c->findings, f, NULL, "barrier %u expects %u threads here and %u %s (0: the whole block)",
                          e->id, e->threads, e->expected, place_name(&c->findings.arena, e->first));
}

/* bar.red is not to be mixed with sync and arrive at one active barrier, and has one operation
 * (9.7.13.1). */
static void check_reduction(struct checker *c, const struct sync_event *e)
{
    struct finding *f = count(c, "barrier-reduction", e, e->first, e->lanes);
    if (f)
        findings_describe(&c->findings, f, NULL,
                          "threads meet at barrier %u by `%.*s` here and by `%.*s` %s: threads of a reduction must use "
                          "the same operation",
                          e->id, STR_ARG(e->site->opcode), STR_ARG(e->first->opcode),
                          place_name(&c->findings.arena, e->first));
}

/* "lanes 0-3 of warp 1 of block (0,0,0)" */
static const char *lanes_of_warp(struct arena *arena, const struct sync_event *e, uint32_t lanes)
{
    return arena_printf(arena, "%s of warp %u of %s", lanes_name(arena, lanes), e->warp, block_name(arena, e->block));
}

static void report_strangers(struct checker *c, const struct sync_event *e, uint32_t lanes)
{
    struct finding *f = count(c, "mask", e, NULL, lanes);
    if (f)
        findings_describe(&c->findings, f, NULL, "%s use mask 0x%08x, which does not include them",
                          lanes_of_warp(&c->findings.arena, e, lanes), e->membermask);
}

static void report_readers(struct checker *c, const struct sync_event *e, uint32_t lanes)
{
    unsigned l = (unsigned)__builtin_ctz(lanes);
    struct finding *f = count(c, "shfl-source", e, NULL, lanes);
    if (f)
        findings_describe(&c->findings, f, NULL,
                          "%s read from lanes that do not take part (lane %u from lane %u): the values are undefined",
                          lanes_of_warp(&c->findings.arena, e, lanes), l, e->source_lane[l]);
}

/* A lane that executes a .sync instruction is in its own mask, and shfl reads from lanes that take
 * part (9.7.9.6, 9.7.13). */
static void check_mask(struct checker *c, const struct sync_event *e)
{
    uint32_t strangers = e->lanes & ~e->membermask, readers = 0;
    if (e->site->active)
        return;
    if (strangers)
        report_strangers(c, e, strangers);
    EACH_BIT(l, e->source_lane && e->lanes != UINT32_MAX ? e->lanes : 0) {
        readers |= e->lanes >> e->source_lane[l] & 1 ? 0 : 1u << l;
    }
    if (readers)
        report_readers(c, e, readers);
}

/* After mbarrier.inval an object is no mbarrier until it is initialised again (9.7.13.15.11). */
static void check_mbarrier(struct checker *c, const struct sync_event *e)
{
    struct finding *f = e->invalid ? count(c, "invalidated-mbarrier", e, NULL, e->lanes) : NULL;
    if (f)
        findings_describe(&c->findings, f,
                          "put a barrier for all threads between its last use and mbarrier.inval (the end of a "
                          "cuda::barrier or cuda::pipeline), or initialise it again",
                          "%s uses an mbarrier that was invalidated (mbarrier.inval)",
                          thread_name(&c->findings.arena, e->block, e->warp, (unsigned)__builtin_ctz(e->lanes)));
}

/* ---- events ---- */

static void on_sync(void *data, const struct sync_event *e)
{
    switch (e->kind) {
    case EVENT_MBARRIER_ARRIVE:
    case EVENT_MBARRIER_WAIT: check_mbarrier(data, e); break;
    case EVENT_BARRIER_COUNTS: check_count(data, e); break;
    case EVENT_BARRIER_MIXED: check_reduction(data, e); break;
    case EVENT_BARRIER_OPEN:
        check_alignment(data, e);
        check_block(data, e);
        divergence_barrier_opens(e->block);
        break;
    case EVENT_CLUSTER_OPEN: {
        const struct event_block *peer = e->block;
        check_alignment(data, e);
        do
            divergence_barrier_opens(peer);
        while ((peer = peer->peer) != e->block);
        break;
    }
    case EVENT_EXIT: divergence_exit(data, e); break;
    default: check_mask(data, e); break;
    }
}

static void on_enter(void *data, const struct enter_event *e)
{
    if (__builtin_expect(e->n_waits > 0, 0))
        divergence_enter(data, e);
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    (void)data;
    divergence_block_ends(e->block);
}

const struct event_client *sync_client(struct checker *c, const struct site_table *k)
{
    return divergence_concerns(k) ? &c->sync.divergence : &c->sync.plain;
}

void sync_open(struct checker *c)
{
    c->sync.plain = (struct event_client){.data = c,
                                          .wants = EVENT_BIT(EVENT_BARRIER_COUNTS) | EVENT_BIT(EVENT_BARRIER_MIXED) |
                                                   EVENT_BIT(EVENT_BARRIER_OPEN) | EVENT_BIT(EVENT_CLUSTER_OPEN) |
                                                   EVENT_BIT(EVENT_COLLECTIVE) | EVENT_BIT(EVENT_MBARRIER_ARRIVE) |
                                                   EVENT_BIT(EVENT_MBARRIER_WAIT),
                                          .sync = on_sync};
    c->sync.divergence = c->sync.plain;
    c->sync.divergence.wants |= EVENT_BIT(EVENT_EXIT) | EVENT_BIT(EVENT_ENTER_PARTED) | EVENT_BIT(EVENT_BLOCK_END);
    c->sync.divergence.enter = on_enter;
    c->sync.divergence.schedule = on_schedule;
    divergence_open();
}
