/* Missing proxy fences (PTX ISA 8.6, 9.7.9.25.2, 9.7.15.3). Bulk copies, copies by tensor maps and
 * wgmma access memory by the async proxy, all else by the generic one. A write by the generic proxy
 * is ordered before an access by the async proxy only where a fence.proxy.async stands between the
 * two, besides what orders the threads.
 *
 * For each word of shared memory the last write by the generic proxy is kept, with its epoch:
 * earlier ones are ordered before it, or race with it. For global memory the histories have the
 * writes. Only those of the same launch count, as what comes before a launch does so in all
 * proxies. Copies are checked when they are issued, with what their thread knows by then. What the
 * async proxy itself writes needs no fence, which is part of its completion; nor does a write by it
 * after a read by the generic proxy.
 */
#include "check/checker.h"
#include "check/race/state.h"

#include <stdlib.h>

#include "exec/async.h"

struct proxy_write {
    const struct site *site; /* NULL: no write that counts */
    uint32_t epoch;
    uint8_t warp, lane;
};

/* Of a block's shared memory. */
struct proxies {
    uint64_t words;
    struct proxy_write at[];
};

static unsigned slot; /* of a block's */

static struct proxies *proxies_of(const struct event_block *b)
{
    return race_block_of(b) ? event_kept(b, slot) : NULL;
}

static void start(struct event_block *b)
{
    uint64_t words = (b->launch->shared_bytes + 3) / 4;
    struct proxies *p = calloc(1, sizeof *p + words * sizeof *p->at);
    if (p) /* else the block is not checked */
        p->words = words;
    event_keep(b, slot, p);
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    (void)data;
    if (e->kind == EVENT_BLOCK_START) {
        start(e->block);
        return;
    }
    free(event_kept(e->block, slot));
    event_keep(e->block, slot, NULL);
}

/* ---- writes ---- */

static void set(struct proxies *p, uint64_t address, uint64_t bytes, struct proxy_write to)
{
    for (uint64_t word = address / 4; word < (address + bytes + 3) / 4 && word < p->words; word++)
        p->at[word] = to;
}

static void on_access(void *data, const struct access_event *e)
{
    struct proxies *p = e->owner ? proxies_of(e->owner) : NULL;
    bool is_object = e->site->kind == SITE_MBARRIER;
    (void)data;
    if (!p || !e->writes || is_object || e->space != SPACE_SHARED)
        return;
    /* What another block's threads have fenced is not known. */
    bool counts = !e->is_async && e->owner == e->block;
    struct proxy_write w = {.site = counts ? e->site : NULL, .warp = (uint8_t)e->warp};
    w.epoch = race_block_of(e->owner)->order->warps[counts ? e->warp : 0].epoch;
    EACH_BIT(l, e->lanes) {
        w.lane = (uint8_t)l;
        set(p, access_address(e, w.lane), e->bytes, w);
    }
}

/* ---- accesses by the async proxy ---- */

struct async_access {
    const struct site *site;
    struct event_block *block;
    uint32_t warp;
    unsigned lane; /* that has issued it */
    struct event_block *owner;
    uint64_t address, bytes;
    bool writes;
};

/* A write by the generic proxy that it meets. */
struct upon {
    const struct site *site;
    uint32_t incarnation;
    unsigned thread; /* of the block */
    uint64_t address;
};

static void report(struct checker *c, const struct async_access *x, const struct upon *w)
{
    struct arena *arena = &c->findings.arena;
    const struct incarnation *writer = order_incarnation(race_block_of(x->block)->order->order, w->incarnation);
    const struct access_event at = {
        .block = x->block, .space = x->owner ? SPACE_SHARED : SPACE_GLOBAL, .base = w->address};
    struct finding *f =
        findings_error(&c->findings, "missing-proxy-fence", x->site, w->site, x->block, x->warp, 1u << x->lane);
    if (f)
        findings_describe(
            &c->findings, f,
            x->owner ? "add fence.proxy.async.shared::cta (cuda::ptx::fence_proxy_async(cuda::ptx::space_shared)) in "
                       "the threads that write, after the write and before the barrier"
                     : "add fence.proxy.async.global (cuda::ptx::fence_proxy_async(cuda::ptx::space_global)) in the "
                       "threads that write, after the write and before whatever orders the copy after it",
            "%s lets the async proxy %s %s, which %s has written %s through the generic proxy: no fence.proxy.async "
            "orders the two",
            thread_name(arena, x->block, x->warp, x->lane), x->writes ? "write" : "read",
            memory_place(c, &at, 0, arena), thread_words(arena, writer->block, writer->ctaid, w->thread),
            place_name(arena, w->site));
}

/* Is the write ordered before the copy, but by no fence of the async proxy? One that is not ordered
 * is a race, fence or not, which events.c finds. */
static bool is_missing(const struct async_access *x, const struct proxy_write *w)
{
    const struct block_order *own = race_block_of(x->block)->order;
    struct accesses of = {race_block_of(x->owner)->order->number, w->warp, 1u << w->lane, w->epoch};
    bool is_own = x->owner == x->block && w->warp == x->warp && w->lane == x->lane;
    return !order_fenced(own, x->warp, x->lane, false, of) &&
           (x->site->kind != SITE_COPY || is_own || order_before(own, x->warp, x->lane, of));
}

static bool is_same(const struct proxy_write *a, const struct proxy_write *b)
{
    return a->site == b->site && a->epoch == b->epoch && a->warp == b->warp && a->lane == b->lane;
}

static void look_at(struct checker *c, const struct async_access *x)
{
    struct proxies *p = proxies_of(x->owner);
    struct proxy_write last = {0};
    uint64_t end = (x->address + x->bytes + 3) / 4;
    if (!p || !race_block_of(x->block))
        return;
    for (uint64_t word = x->address / 4; word < end && word < p->words; word++) {
        const struct proxy_write *w = &p->at[word];
        if (w->site && !is_same(w, &last) && is_missing(x, w))
            report(c, x,
                   &(struct upon){w->site, race_block_of(x->owner)->order->number, w->warp * WARP_LANES + w->lane,
                                  4 * word});
        last = *w;
    }
}

/* ---- global memory ---- */

struct look {
    struct checker *checker;
    const struct async_access *access;
    const struct access_history *last; /* in which nothing was missing, relative to a lane: */
    unsigned lane;
};

/* Of lanes that have written together, finds the last whose write is ordered but not fenced; false
 * if there is none. */
static bool find_missing(const struct look *l, const struct site_epoch *r, uint32_t lanes, struct upon *w)
{
    const struct async_access *x = l->access;
    const struct race_block *own = race_block_of(x->block);
    const struct access_kind *kind = numbered_at(&own->races->kinds, r->kind);
    if (!kind->site || !kind->writes || kind->site->kind == SITE_COPY ||
        order_incarnation(own->order->order, r->incarnation)->task != own->task)
        return false;
    struct accesses of = {r->incarnation, r->warp, lanes, r->epoch};
    uint32_t before = order_before(own->order, x->warp, x->lane, of);
    if (r->incarnation == own->order->number && r->warp == x->warp)
        before |= lanes & 1u << x->lane;
    of.lanes = before;
    before &= ~order_fenced(own->order, x->warp, x->lane, true, of);
    if (before)
        *w = (struct upon){kind->site, r->incarnation, r->warp * WARP_LANES + 31 - (unsigned)__builtin_clz(before), 0};
    return before;
}

/* Most neighbours share a history. */
static void see_history(void *data, const struct histories *of, const struct access_history *h, unsigned lane,
                        uint64_t address)
{
    struct look *l = data;
    struct upon w;
    bool found = false;
    if (h->newest < race_block_of(l->access->block)->task || (h == l->last && lane == l->lane))
        return;
    for (unsigned i = 0; i < h->n; i++)
        if (find_missing(l, history_site_epoch(of, h->at[i].site_epoch), rotate_left(h->at[i].lanes, lane), &w)) {
            w.address = address;
            report(l->checker, l->access, &w);
            found = true;
        }
    l->last = found ? NULL : h;
    l->lane = lane;
}

static void look_at_global(struct checker *c, const struct async_access *x)
{
    struct look l = {.checker = c, .access = x};
    if (race_block_of(x->block))
        race_each_history(c->race.races, x->address, x->bytes, see_history, &l);
}

static void look_at_tensor(struct checker *c, struct async_access *x, const struct async_tensor *t)
{
    struct tensor_lines lines = tensor_lines_of(&t->map, &t->at);
    for (struct tensor_line line; tensor_next_line(&lines, &line);) {
        x->address = line.global + line.from;
        x->bytes = line.to - line.from;
        if (line.from < line.to)
            look_at_global(c, x);
    }
}

static void look_at_globals(struct checker *c, const struct issue_event *e, bool writes)
{
    unsigned lane = (unsigned)__builtin_ctz(e->lanes);
    struct async_access x = {
        .site = e->site, .block = e->block, .warp = e->warp, .lane = lane, .bytes = e->bytes, .writes = writes};
    x.address = (writes ? e->to : e->from)[lane];
    for (uint32_t i = 0; i + 1 < e->n_ranges; i += 2) {
        x.address = e->ranges[i];
        x.bytes = e->ranges[i + 1] - e->ranges[i];
        look_at_global(c, &x);
    }
    if (e->tensor)
        look_at_tensor(c, &x, e->tensor);
    else if (!e->n_ranges)
        look_at_global(c, &x);
}

/* ---- what is issued ---- */

static uint64_t bytes_of(const struct issue_event *e)
{
    return e->tensor ? tensor_copy_bytes(&e->tensor->map) : e->bytes;
}

static void on_issue(void *data, const struct issue_event *e)
{
    enum async_mode mode = (enum async_mode)e->site->mode;
    unsigned lane = (unsigned)__builtin_ctz(e->lanes);
    struct event_block *own = e->block;
    bool reads = mode == ASYNC_BULK_SHARED || mode == ASYNC_BULK_TO_GLOBAL || mode == ASYNC_TENSOR_STORE ||
                 mode == ASYNC_TENSOR_REDUCE;
    bool writes = mode == ASYNC_BULK_SHARED || mode == ASYNC_BULK_FROM_GLOBAL || mode == ASYNC_TENSOR_LOAD;
    if (mode > ASYNC_STORE && mode != ASYNC_BULK_SHARED)
        look_at_globals(data, e, reads);
    struct async_access x = {.site = e->site, .block = e->block, .warp = e->warp, .lane = lane, .bytes = bytes_of(e)};
    if (reads) {
        x.owner = own;
        x.address = e->from[lane];
        look_at(data, &x);
    }
    x.writes = true;
    x.address = e->to[lane];
    if (writes && !e->ranks) {
        x.owner = e->signals;
        look_at(data, &x);
    }
    EACH_BIT(rank, writes ? e->ranks : 0)
        if ((x.owner = event_block_of_rank(own, rank)))
            look_at(data, &x);
}

static void on_matrix(void *data, const struct matrix_event *e)
{
    look_at(data, &(struct async_access){.site = e->site,
                                         .block = e->block,
                                         .warp = e->warp,
                                         .lane = (unsigned)__builtin_ctz(e->lanes),
                                         .owner = e->block,
                                         .address = e->address,
                                         .bytes = e->bytes});
}

void proxies_open(struct checker *c)
{
    event_slot_take(&slot);
    c->race.proxies =
        (struct event_client){.data = c,
                              .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_ISSUE) | EVENT_BIT(EVENT_MATRIX) |
                                       EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_BLOCK_END),
                              .access = on_access,
                              .issue = on_issue,
                              .matrix = on_matrix,
                              .schedule = on_schedule};
}

static bool is_of_async_proxy(const struct site *s)
{
    return s->kind == SITE_WGMMA || (s->kind == SITE_COPY && s->mode > ASYNC_STORE);
}

bool proxies_concern(const struct site_table *k)
{
    return sites_any(k, is_of_async_proxy);
}
