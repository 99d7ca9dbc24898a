/* Events of launches, told again; see replaying.h. */
#include "record/replaying.h"

#include <stdlib.h>

#include "check/shadow/shadow.h"

enum {
    MOST_THREADS = 1024,
    MOST_SHARED_BYTES = 1 << 20,
    MOST_LOCAL_BYTES = 1 << 24,
    MOST_LANE_BYTES = 128,
    MOST_ASYNC_BYTES = 1 << 28,
    MOST_CLUSTER = 64
};

static bool impossible(struct replay *r, const char *why)
{
    record_fail(r->reader, "%s", why);
    return false;
}

/* ---- what is asked ---- */

static const struct replay *replay_of(const struct event_block *b)
{
    return ((const struct replay_block *)((const char *)b - offsetof(struct replay_block, block)))->replay;
}

static uint32_t users(const struct access_event *e, uint32_t lanes)
{
    const struct replay_answer *a = replay_answer(replay_of(e->block), ANSWER_USERS, lanes);
    return a ? (uint32_t)a->value & lanes : lanes;
}

static bool alike(const struct access_event *e, uint32_t lanes)
{
    return replay_answer(replay_of(e->block), ANSWER_ALIKE, lanes);
}

static bool value(const struct access_event *e, unsigned lane, unsigned element, uint64_t to[2])
{
    (void)e;
    (void)lane;
    (void)element;
    to[0] = to[1] = 0;
    return false;
}

static const char *describe(const struct fault_event *e, struct arena *arena)
{
    const struct replay_answer *a = replay_answer(replay_of(e->block), ANSWER_DESCRIBE, e->lane);
    return a ? arena_strdup(arena, a->text)
             : arena_printf(arena, "accesses %u bytes at 0x%llx, where that is not possible", e->bytes,
                            (unsigned long long)e->address);
}

/* The launch has ended there when it was recorded. */
static bool fail(const struct access_event *e, unsigned lane, enum fault_kind kind, const char *detail)
{
    (void)e;
    (void)lane;
    (void)kind;
    (void)detail;
    return true;
}

static const struct event_asks asks = {
    .users = users, .alike = alike, .value = value, .describe = describe, .fail = fail};

/* ---- launches and blocks ---- */

static bool product_fits(const uint32_t dims[3], uint64_t most, uint64_t *product)
{
    *product = 1;
    for (int i = 0; i < 3; i++)
        if (!dims[i] || dims[i] > most / *product)
            return false;
        else
            *product *= dims[i];
    return true;
}

static bool add_writes(struct replay *r, struct replay_launch *l, const struct number_list *writes)
{
    if (writes->n > 2 * EVENT_WRITES_MOST || writes->n % 2)
        return impossible(r, "`writes` is a list of starts and ends");
    l->writes.n = writes->n / 2;
    for (uint32_t i = 0; i < l->writes.n; i++) {
        l->writes.at[i].start = writes->at[2 * i];
        l->writes.at[i].end = writes->at[2 * i + 1];
    }
    return true;
}

static bool grid(struct replay *r, const struct record *x)
{
    struct replay_launch *l = x->grid.launch < r->launches.n ? r->launches.at[x->grid.launch] : NULL;
    uint64_t threads, blocks;
    uint32_t task;
    if (!l || l->has_grid)
        return impossible(r, "there is no such launch, or it has its grid");
    if (!product_fits(x->grid.block, MOST_THREADS, &threads) || !product_fits(x->grid.grid, 1ull << 62, &blocks) ||
        !x->grid.cluster || x->grid.cluster > MOST_CLUSTER || x->grid.shared_bytes > MOST_SHARED_BYTES ||
        x->grid.reserved_bytes > x->grid.shared_bytes ||
        x->grid.reserved_start > x->grid.shared_bytes - x->grid.reserved_bytes)
        return impossible(r, "no launch has such a grid");
    if (!replay_task(r, x->grid.task, &task) || !add_writes(r, l, &x->grid.writes))
        return false;
    l->has_grid = true;
    l->writes.known = x->grid.writes_known;
    struct event_launch *e = &l->launch;
    e->number = x->grid.number;
    e->task = task;
    memcpy(e->grid, x->grid.grid, sizeof e->grid);
    memcpy(e->block, x->grid.block, sizeof e->block);
    e->blocks_per_cluster = x->grid.cluster;
    e->threads_per_block = (uint32_t)threads;
    e->warps_per_block = (uint32_t)(threads + WARP_LANES - 1) / WARP_LANES;
    e->n_blocks = blocks;
    e->shared_bytes = x->grid.shared_bytes;
    e->reserved_shared_start = x->grid.reserved_start;
    e->reserved_shared_bytes = x->grid.reserved_bytes;
    e->writes = &l->writes;
    e->asks = &asks;
    return true;
}

static struct replay_block *block_at(struct replay *r, uint64_t id)
{
    struct replay_block *b = id < r->blocks.n ? r->blocks.at[id] : NULL;
    if (!b)
        impossible(r, "there is no such block, or it has ended");
    return b;
}

/* NULL of 0; *good is cleared where there is none. Of the same cluster as `as`. */
static struct event_block *block_or_none(struct replay *r, uint64_t id, const struct event_block *as, bool *good)
{
    struct replay_block *b = id ? block_at(r, id - 1) : NULL;
    if (b && b->block.launch == as->launch)
        return &b->block;
    if (id)
        *good = impossible(r, "a block is none of the launch's");
    return NULL;
}

static struct event_list *list_of(const struct event_block *b)
{
    return &((struct replay_launch *)((const char *)b->launch - offsetof(struct replay_launch, launch)))->events;
}

static void tell_schedule(struct event_block *b, enum event_kind kind)
{
    const struct schedule_event e = {.kind = kind, .block = b};
    EVENT_TELL(list_of(b), kind, schedule, &e);
}

static bool block(struct replay *r, const struct record *x)
{
    struct replay_launch *l = x->block.launch < r->launches.n ? r->launches.at[x->block.launch] : NULL;
    bool good = true;
    if (!l || !l->has_grid || x->block.id != r->blocks.n || x->block.index >= l->launch.n_blocks ||
        x->block.rank >= l->launch.blocks_per_cluster ||
        x->block.shared >= (1ull << SHADOW_ADDRESS_BITS) - MOST_SHARED_BYTES)
        return impossible(r, "there is no such block in the launch, or it is not the next");
    const struct event_block as = {.launch = &l->launch};
    struct event_block *peer = block_or_none(r, x->block.peer, &as, &good);
    unsigned n_slots = event_slots();
    struct replay_block *b = good ? calloc(1, sizeof *b + n_slots * sizeof(void *)) : NULL;
    if (!b)
        return good && impossible(r, "out of memory");
    b->replay = r;
    struct event_block *e = &b->block;
    e->launch = &l->launch;
    e->index = x->block.index;
    memcpy(e->ctaid, x->block.ctaid, sizeof e->ctaid);
    e->rank = x->block.rank;
    e->n_warps = l->launch.warps_per_block;
    e->shared = x->block.shared;
    e->worker = r; /* which is one thread */
    e->n_slots = n_slots;
    e->peer = e;
    if (peer) {
        e->peer = peer->peer;
        peer->peer = e;
    }
    *VEC_PUSH(&r->arena, &r->blocks) = b;
    tell_schedule(e, EVENT_BLOCK_START);
    return true;
}

static void end_block(struct replay *r, uint32_t id)
{
    struct event_block *e = &r->blocks.at[id]->block, *before = e;
    tell_schedule(e, EVENT_BLOCK_END);
    while (before->peer != e)
        before = before->peer;
    before->peer = e->peer;
    free(r->blocks.at[id]);
    r->blocks.at[id] = NULL;
}

void replay_free_blocks(struct replay *r)
{
    for (uint32_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.at[i])
            end_block(r, i);
}

/* ---- who ---- */

/* A warp of a block that has not ended. */
static struct event_block *warp_at(struct replay *r, uint32_t block, uint32_t warp)
{
    struct replay_block *b = block_at(r, block);
    if (b && warp < b->block.n_warps)
        return &b->block;
    if (b)
        impossible(r, "the block has no such warp");
    return NULL;
}

static const struct site *site_at(struct replay *r, const struct event_block *b, uint64_t number)
{
    const struct site_table *k = b->launch->kernel;
    if (number < k->n)
        return &k->at[number];
    impossible(r, "the kernel has no such site");
    return NULL;
}

static const struct site *site_or_none(struct replay *r, const struct event_block *b, uint64_t number, bool *good)
{
    const struct site *s = number ? site_at(r, b, number - 1) : NULL;
    *good &= !number || s;
    return s;
}

/* ---- accesses ---- */

/* Lanes that take no part have an address that goes on with the pattern. */
static bool spread_addresses(struct replay *r, struct access_event *e, const struct number_list *list,
                             uint64_t address[WARP_LANES])
{
    bool one = e->pattern == ACCESS_UNIFORM || e->pattern == ACCESS_LINEAR, halves = e->pattern > ACCESS_LINEAR;
    uint32_t n = 0;
    if (one || list->n != (uint32_t)__builtin_popcount(e->lanes))
        return (one && !list->n) || impossible(r, "there is an address for each lane, or one for all by the pattern");
    for (unsigned l = 0; l < WARP_LANES; l++)
        address[l] = e->lanes >> l & 1 ? list->at[n++] : 0;
    for (unsigned half = 0; half < WARP_LANES; half += HALF_WARP) {
        uint32_t these = e->lanes >> half & 0xffff, from = these ? half : half ^ HALF_WARP;
        unsigned known = (unsigned)__builtin_ctz(e->lanes >> from & 0xffff) + from, step;
        for (unsigned l = half; l < half + HALF_WARP; l++) {
            step = e->pattern == ACCESS_LINEAR_HALVES ? e->bytes : 0;
            uint64_t goes_on = address[known] + ((uint64_t)(l - half) - (known - from)) * step;
            if (!(e->lanes >> l & 1))
                address[l] = goes_on;
            else if (halves && address[l] != goes_on)
                return impossible(r, "the addresses are not those of the pattern");
        }
    }
    e->address = address;
    return true;
}

static void find_span(struct access_event *e)
{
    e->low = UINT64_MAX;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = access_address(e, (unsigned)__builtin_ctz(m));
        e->low = at < e->low ? at : e->low;
        e->high = at + e->bytes > e->high ? at + e->bytes : e->high;
    }
}

/* Where memory can be, and as instructions access it: at multiples of the bytes of a lane. */
static bool is_possible(struct replay *r, const struct access_event *e)
{
    uint64_t most = e->space == SPACE_SHARED  ? e->block->launch->shared_bytes
                    : e->space == SPACE_LOCAL ? MOST_LOCAL_BYTES
                                              : 1ull << SHADOW_ADDRESS_BITS;
    bool by_lanes = !e->is_async && e->site->accesses, power = (e->bytes & (e->bytes - 1)) == 0;
    if (!e->bytes ||
        e->bytes > (e->is_async ? MOST_ASYNC_BYTES
                    : by_lanes  ? MOST_LANE_BYTES
                                : MOST_LOCAL_BYTES) ||
        (by_lanes && !power) || (by_lanes && e->bytes < e->site->access.bytes))
        return impossible(r, "a lane accesses no such number of bytes");
    if (!by_lanes && !e->is_async && e->space != SPACE_LOCAL)
        return impossible(r, "the site accesses no memory");
    if (e->is_async && (e->site->kind != SITE_COPY || (e->pattern != ACCESS_UNIFORM && e->pattern != ACCESS_ANY) ||
                        e->lanes & (e->lanes - 1)))
        return impossible(r, "asynchronous accesses are of a copy, one lane at a time");
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = access_address(e, (unsigned)__builtin_ctz(m));
        if (at > most || e->bytes > most - at || (by_lanes && at % e->bytes))
            return impossible(r, "no access is at such an address");
    }
    return true;
}

static bool access(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->access.block, x->access.warp);
    const struct site *site = b ? site_at(r, b, x->access.site) : NULL;
    bool good = site;
    if (!good || !x->access.lanes)
        return good && impossible(r, "an access is of some lanes");
    struct replay_block *k = r->blocks.at[x->access.block];
    struct access_event *e = &k->last;
    *e = (struct access_event){.site = site,
                               .block = b,
                               .warp = x->access.warp,
                               .space = (enum ptx_space)x->access.space,
                               .owner = block_or_none(r, x->access.owner, b, &good),
                               .is_async = x->access.is_async,
                               .pattern = (enum access_pattern)x->access.pattern,
                               .lanes = x->access.lanes,
                               .bytes = x->access.bytes,
                               .reads = x->access.reads,
                               .writes = x->access.writes,
                               .strong = x->access.strong,
                               .base = x->access.base,
                               .signals = block_or_none(r, x->access.signals, b, &good),
                               .object = x->access.object,
                               .parity = x->access.parity};
    if ((e->space == SPACE_SHARED) != (e->owner != NULL) && good)
        good = impossible(r, "shared memory has an owner, and no other memory has");
    k->source = (struct access_source){.space = (enum ptx_space)x->access.source_space,
                                       .owner = block_or_none(r, x->access.source_owner, b, &good),
                                       .address = x->access.source_address,
                                       .bytes = x->access.source_bytes};
    if (x->access.has_source) {
        e->source = &k->source;
        uint64_t most = k->source.owner ? b->launch->shared_bytes : 1ull << SHADOW_ADDRESS_BITS;
        if ((k->source.space == SPACE_SHARED) != (k->source.owner != NULL) || k->source.address > most ||
            k->source.bytes > most - k->source.address)
            good = impossible(r, "a copy is from no memory");
    }
    if (!good || !spread_addresses(r, e, &x->access.address, k->address) || !is_possible(r, e))
        return false;
    find_span(e);
    EVENT_TELL(list_of(b), EVENT_ACCESS, access, e);
    if (event_will_be_performed(e)) {
        r->performing = *e;
        memcpy(r->performing_at, k->address, sizeof r->performing_at);
        r->performing.address = e->address ? r->performing_at : NULL;
    }
    return true;
}

static bool performed(struct replay *r, const struct record *x)
{
    struct access_event e = r->performing;
    if (!e.block)
        return impossible(r, "nothing is there to be performed");
    r->performing.block = NULL;
    e.wrote = e.writes ? x->access.wrote & e.lanes : 0;
    EVENT_TELL(list_of(e.block), EVENT_PERFORMED, performed, &e);
    return true;
}

static bool overtake(struct replay *r, const struct record *x)
{
    struct replay_block *k = block_at(r, x->overtake.block);
    const struct site *copy = k ? site_at(r, &k->block, x->overtake.copy) : NULL;
    if (!copy)
        return false;
    if (!k->last.site || x->overtake.lane >= WARP_LANES || !(k->last.lanes >> x->overtake.lane & 1))
        return impossible(r, "the block has made no such access");
    const struct overtake_event e = {&k->last, x->overtake.lane, copy, x->overtake.written};
    EVENT_TELL(list_of(&k->block), EVENT_OVERTAKE, overtake, &e);
    return true;
}

/* By lane. */
static bool spread_lanes(const struct number_list *list, uint32_t lanes, uint64_t to[WARP_LANES])
{
    uint32_t n = 0;
    memset(to, 0, WARP_LANES * sizeof *to);
    for (uint32_t m = list->n == (uint32_t)__builtin_popcount(lanes) ? lanes : 0; m; m &= m - 1)
        to[__builtin_ctz(m)] = list->at[n++];
    return list->n == n;
}

static bool issue(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->issue.block, x->issue.warp);
    const struct site *site = b ? site_at(r, b, x->issue.site) : NULL;
    uint64_t to[WARP_LANES], from[WARP_LANES], taken[WARP_LANES];
    uint32_t taken_by[WARP_LANES];
    bool good = site;
    if (!good || site->kind != SITE_COPY || !x->issue.lanes || x->issue.bytes > MOST_ASYNC_BYTES ||
        !spread_lanes(&x->issue.to, x->issue.lanes, to) ||
        (x->issue.from.n && !spread_lanes(&x->issue.from, x->issue.lanes, from)) ||
        (x->issue.taken.n && !spread_lanes(&x->issue.taken, x->issue.lanes, taken)) || x->issue.ranges.n % 2)
        return good && impossible(r, "nothing asynchronous is like that");
    for (unsigned l = 0; x->issue.taken.n && l < WARP_LANES; l++)
        taken_by[l] = (uint32_t)taken[l];
    const struct issue_event e = {.site = site,
                                  .block = b,
                                  .warp = x->issue.warp,
                                  .lanes = x->issue.lanes,
                                  .bytes = x->issue.bytes,
                                  .ranks = x->issue.ranks,
                                  .signals = block_or_none(r, x->issue.signals, b, &good),
                                  .object = x->issue.object,
                                  .to = to,
                                  .from = x->issue.from.n ? from : NULL,
                                  .taken = x->issue.taken.n ? taken_by : NULL,
                                  .ranges = x->issue.ranges.at,
                                  .n_ranges = x->issue.ranges.n};
    if (good && site->mode > ASYNC_STORE && !e.from)
        return impossible(r, "a bulk copy is from somewhere");
    if (good)
        EVENT_TELL(list_of(b), EVENT_ISSUE, issue, &e);
    return good;
}

/* ---- faults, the heap, matrices ---- */

static bool fault(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->fault.block, x->fault.warp);
    const struct site *site = b ? site_at(r, b, x->fault.site) : NULL;
    const struct fault_event e = {.site = site,
                                  .block = b,
                                  .warp = x->fault.warp,
                                  .lane = x->fault.lane,
                                  .kind = (enum fault_kind)x->fault.fault,
                                  .space = (enum ptx_space)x->fault.space,
                                  .address = x->fault.address,
                                  .bytes = x->fault.bytes,
                                  .window = x->fault.window,
                                  .writes = x->fault.writes};
    if (!site || x->fault.lane >= WARP_LANES || x->fault.fault >= FAULT_COUNT)
        return site && impossible(r, "there is no such fault");
    const struct event_list *list = list_of(b);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i]->wants & EVENT_BIT(EVENT_FAULT) && list->at[i]->fault(list->at[i]->data, &e))
            break;
    return true;
}

static bool heap(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->heap.block, x->heap.warp);
    const struct site *site = b ? site_at(r, b, x->heap.site) : NULL;
    const struct heap_event e = {site, b, x->heap.warp, x->heap.lane, x->heap.is_free, x->heap.address, x->heap.bytes};
    if (!site || x->heap.lane >= WARP_LANES || x->heap.bytes > MOST_ASYNC_BYTES ||
        x->heap.address >= (1ull << SHADOW_ADDRESS_BITS) - MOST_ASYNC_BYTES)
        return site && impossible(r, "the heap gives no such memory");
    EVENT_TELL(list_of(b), EVENT_HEAP, heap, &e);
    return true;
}

static bool matrix(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->matrix.block, x->matrix.warp);
    const struct site *site = b ? site_at(r, b, x->matrix.site) : NULL;
    if (!site || !x->matrix.lanes || x->matrix.address > b->launch->shared_bytes ||
        x->matrix.bytes > b->launch->shared_bytes - x->matrix.address)
        return site && impossible(r, "no matrix is there");
    const struct matrix_event e = {site, b, x->matrix.warp, x->matrix.lanes, x->matrix.address, x->matrix.bytes};
    EVENT_TELL(list_of(b), EVENT_MATRIX, matrix, &e);
    return true;
}

/* ---- where lanes go and meet ---- */

static bool waits_of(struct replay *r, const struct event_block *b, const struct number_list *sites,
                     const struct number_list *left, const struct number_list *lanes,
                     const struct number_list *barriers, struct event_wait waits[WARP_LANES])
{
    bool good = true;
    if (sites->n > WARP_LANES || lanes->n != sites->n || barriers->n != sites->n || (left && left->n != sites->n))
        return impossible(r, "who waits is told by lists of one length");
    for (uint32_t i = 0; i < sites->n && good; i++) {
        const struct site *s = site_at(r, b, sites->at[i]);
        good = s && lanes->at[i] && lanes->at[i] <= UINT32_MAX;
        waits[i] = (struct event_wait){s, left ? site_or_none(r, b, left->at[i], &good) : NULL, (uint32_t)lanes->at[i],
                                       (uint32_t)barriers->at[i]};
    }
    return good || impossible(r, "nobody waits like that");
}

static bool enter(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->enter.block, x->enter.warp);
    struct event_wait waits[WARP_LANES];
    if (!b || !waits_of(r, b, &x->enter.site, &x->enter.left, &x->enter.waiting, &x->enter.barrier, waits))
        return false;
    if (!x->enter.lanes)
        return impossible(r, "some lanes enter code");
    const struct enter_event e = {b,     x->enter.warp,  x->enter.lanes, x->enter.function, x->enter.code_block,
                                  waits, x->enter.site.n};
    const event_set any = EVENT_BIT(EVENT_ENTER) | (e.n_waits ? EVENT_BIT(EVENT_ENTER_PARTED) : 0);
    const struct event_list *list = list_of(b);
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i]->wants & any)
            list->at[i]->enter(list->at[i]->data, &e);
    return true;
}

/* Columns of one length. */
static struct barrier_party *parties_of(struct replay *r, const struct event_block *b, const struct record *x)
{
    uint32_t n = x->sync.party_block.n;
    const struct number_list *const columns[] = {&x->sync.party_warp, &x->sync.party_lanes, &x->sync.party_site,
                                                 &x->sync.party_call, &x->sync.party_alone};
    struct barrier_party *p = calloc(n + 1, sizeof *p);
    bool good = p;
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        good &= columns[i]->n == n;
    for (uint32_t i = 0; i < n && good; i++) {
        struct replay_block *of = block_at(r, x->sync.party_block.at[i]);
        good = of && of->block.launch == b->launch && x->sync.party_warp.at[i] < of->block.n_warps &&
               x->sync.party_lanes.at[i] && x->sync.party_lanes.at[i] <= UINT32_MAX;
        if (!good)
            break;
        p[i] = (struct barrier_party){.block = &of->block,
                                      .warp = (uint32_t)x->sync.party_warp.at[i],
                                      .lanes = (uint32_t)x->sync.party_lanes.at[i],
                                      .site = site_at(r, b, x->sync.party_site.at[i]),
                                      .call = site_or_none(r, b, x->sync.party_call.at[i], &good),
                                      .alone = x->sync.party_alone.at[i]};
        good &= p[i].site != NULL;
    }
    if (good)
        return p;
    impossible(r, "no such parties meet at a barrier");
    free(p);
    return NULL;
}

static bool by_warp(struct replay *r, const struct number_list *list, const struct event_block *b,
                    uint32_t to[MAX_WARPS])
{
    for (uint32_t i = 0; i < list->n && i < MAX_WARPS; i++)
        to[i] = (uint32_t)list->at[i];
    return list->n == b->n_warps || impossible(r, "there are lanes for each warp");
}

static bool is_possible_sync(struct replay *r, const struct sync_event *e)
{
    bool opens = e->kind == EVENT_BARRIER_OPEN || e->kind == EVENT_CLUSTER_OPEN,
         meets = e->kind == EVENT_BARRIER_COUNTS || e->kind == EVENT_BARRIER_MIXED,
         object = e->kind == EVENT_MBARRIER_ARRIVE || e->kind == EVENT_MBARRIER_WAIT;
    if (!opens && (!e->site || !e->lanes))
        return impossible(r, "some lanes are at a site");
    if (meets && !e->first)
        return impossible(r, "somebody has come first");
    if (object != (e->owner != NULL))
        return impossible(r, "an mbarrier has an owner, and nothing else has");
    if (e->id > CLUSTER_BARRIER || (e->id == CLUSTER_BARRIER && e->kind == EVENT_BARRIER_ARRIVE))
        return impossible(r, "there is no such barrier");
    return true;
}

static bool sync_of(struct replay *r, const struct record *x, struct event_block *b, struct sync_event *e)
{
    uint32_t waited[MAX_WARPS] = {0}, arrived[MAX_WARPS] = {0};
    uint8_t sources[WARP_LANES];
    struct event_wait waits[WARP_LANES];
    for (uint32_t l = 0; l < x->sync.sources.n && l < WARP_LANES; l++)
        sources[l] = x->sync.sources.at[l] % WARP_LANES;
    if (x->sync.sources.n && x->sync.sources.n != WARP_LANES)
        return impossible(r, "`sources` has a lane for each");
    if (!is_possible_sync(r, e) ||
        (e->kind == EVENT_BARRIER_OPEN &&
         (!by_warp(r, &x->sync.waited, b, waited) || !by_warp(r, &x->sync.arrived, b, arrived))) ||
        !waits_of(r, b, &x->sync.wait_site, NULL, &x->sync.waiting, &x->sync.wait_barrier, waits))
        return false;
    struct barrier_party *parties = parties_of(r, b, x);
    if (!parties)
        return false;
    e->source_lane = x->sync.sources.n ? sources : NULL;
    e->waited = waited;
    e->arrived = arrived;
    e->parties = parties;
    e->n_parties = x->sync.party_block.n;
    e->waits = waits;
    e->n_waits = x->sync.wait_site.n;
    EVENT_TELL(list_of(b), e->kind, sync, e);
    free(parties);
    return true;
}

static bool sync(struct replay *r, const struct record *x)
{
    struct event_block *b = warp_at(r, x->sync.block, x->sync.warp);
    bool good = b;
    if (!b)
        return false;
    struct sync_event e = {.kind = x->sync.kind,
                           .site = site_or_none(r, b, x->sync.site, &good),
                           .block = b,
                           .warp = x->sync.warp,
                           .lanes = x->sync.lanes,
                           .id = x->sync.id,
                           .threads = x->sync.threads,
                           .membermask = x->sync.membermask,
                           .owner = block_or_none(r, x->sync.owner, b, &good),
                           .address = x->sync.address,
                           .order = x->sync.order,
                           .scope = x->sync.scope,
                           .parity = x->sync.parity,
                           .completes = x->sync.completes,
                           .invalid = x->sync.invalid,
                           .first = site_or_none(r, b, x->sync.first, &good),
                           .expected = x->sync.expected};
    return good && sync_of(r, x, b, &e);
}

/* ---- all ---- */

void replay_event(struct replay *r, const struct record *x)
{
    switch (x->kind) {
    case RECORD_GRID: grid(r, x); break;
    case RECORD_BLOCK: block(r, x); break;
    case RECORD_END:
        if (block_at(r, x->block.id))
            end_block(r, x->block.id);
        break;
    case RECORD_ACCESS: access(r, x); break;
    case RECORD_PERFORMED: performed(r, x); break;
    case RECORD_ISSUE: issue(r, x); break;
    case RECORD_MATRIX: matrix(r, x); break;
    case RECORD_OVERTAKE: overtake(r, x); break;
    case RECORD_FAULT: fault(r, x); break;
    case RECORD_HEAP: heap(r, x); break;
    case RECORD_ENTER: enter(r, x); break;
    case RECORD_SYNC: sync(r, x); break;
    default: break;
    }
}
