/* Writes events of launches as records, and the engine's answers to clients; see recording.h. */
#include <stdlib.h>

#include "exec/launch_writes.h"
#include "exec/async.h"
#include "record/recording.h"

static unsigned slot; /* of a block's struct recorded_block */

/* ---- what is asked ---- */

static const struct recorded_block *recorded(const struct event_block *b)
{
    return event_kept(b, slot);
}

static uint32_t users(const struct access_event *e, uint32_t lanes)
{
    uint32_t use = engine_asks.users(e, lanes);
    if (recorded(e->block))
        recorder_answer(recorded(e->block)->launch->recorder, ANSWER_USERS, lanes, use, NULL);
    return use;
}

static bool alike(const struct access_event *e, uint32_t lanes)
{
    bool are = engine_asks.alike(e, lanes);
    if (are && recorded(e->block))
        recorder_answer(recorded(e->block)->launch->recorder, ANSWER_ALIKE, lanes, 1, NULL);
    return are;
}

static bool value(const struct access_event *e, unsigned lane, unsigned element, uint64_t to[2])
{
    return engine_asks.value(e, lane, element, to);
}

static const char *describe(const struct fault_event *e, struct arena *arena)
{
    const char *text = engine_asks.describe(e, arena);
    if (recorded(e->block))
        recorder_answer(recorded(e->block)->launch->recorder, ANSWER_DESCRIBE, e->lane, 0, text);
    return text;
}

static bool fail(const struct access_event *e, unsigned lane, enum fault_kind kind, const char *detail)
{
    return engine_asks.fail(e, lane, kind, detail);
}

static const struct event_asks asks = {
    .users = users, .alike = alike, .value = value, .describe = describe, .fail = fail};

/* ---- blocks ---- */

/* The first client takes the recorder's lock, and the last releases it, so that the tools between
 * them get events in the order of the file. For an access that will be performed, the lock is held
 * until that was reported, too. */
static struct recorder *hold(struct recorded_launch *l)
{
    pthread_mutex_lock(&l->recorder->lock);
    return l->recorder;
}

static void give_back(struct recorded_launch *l)
{
    pthread_mutex_unlock(&l->recorder->lock);
}

uint32_t recorder_block(const struct event_block *b)
{
    return b && recorded(b) ? recorded(b)->id + 1 : 0;
}
static uint32_t block_of(const struct event_block *b)
{
    return recorded(b) ? recorded(b)->id : 0;
}
static uint32_t site_or_none(const struct site *s)
{
    return s ? s->number + 1 : 0;
}

static void write_grid(struct recorder *r, const struct recorded_launch *l, const struct event_launch *of)
{
    const struct event_writes w = written_by(of);
    uint64_t writes[2 * EVENT_WRITES_MOST];
    for (uint32_t i = 0; i < w.n; i++) {
        writes[2 * i] = w.at[i].start;
        writes[2 * i + 1] = w.at[i].end;
    }
    if (of->where)
        recorder_place(r, of->where);
    struct record x = {.kind = RECORD_GRID,
                       .grid = {.launch = l->id,
                                .task = of->task,
                                .place = (uintptr_t)of->where,
                                .cluster = of->blocks_per_cluster,
                                .shared_bytes = of->shared_bytes,
                                .reserved_start = of->reserved_shared_start,
                                .reserved_bytes = of->reserved_shared_bytes,
                                .number = of->number,
                                .writes_known = w.known,
                                .writes = {writes, w.known ? 2 * w.n : 0}}};
    memcpy(x.grid.grid, of->grid, sizeof of->grid);
    memcpy(x.grid.block, of->block, sizeof of->block);
    recorder_write_event(r, &x);
}

static void start_block(struct recorder *r, struct recorded_launch *l, struct event_block *b)
{
    struct recorded_block *k = malloc(sizeof *k);
    if (!k) {
        atomic_store(&r->no_memory, true);
        return;
    }
    *k = (struct recorded_block){l, r->n_blocks++};
    event_keep(b, slot, k);
    if (!l->has_grid)
        write_grid(r, l, b->launch);
    l->has_grid = true;
    struct record x = {.kind = RECORD_BLOCK,
                       .block = {.id = k->id,
                                 .launch = l->id,
                                 .rank = b->rank,
                                 .peer = b->peer != b ? recorder_block(b->peer) : 0,
                                 .index = b->index,
                                 .shared = b->shared,
                                 .worker = (uintptr_t)b->worker}};
    memcpy(x.block.ctaid, b->ctaid, sizeof b->ctaid);
    recorder_write_event(r, &x);
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    struct recorded_launch *l = data;
    struct recorder *r = hold(l);
    if (e->kind == EVENT_BLOCK_START) {
        start_block(r, l, e->block);
    } else {
        struct record x = {.kind = RECORD_END, .block = {.id = block_of(e->block)}};
        recorder_write_event(r, &x);
    }
}

/* The addresses of the lanes in `lanes`. */
static struct number_list of_lanes(uint64_t to[WARP_LANES], const uint64_t *address, uint32_t lanes)
{
    struct number_list list = {to, 0};
    for (uint32_t m = address ? lanes : 0; m; m &= m - 1)
        to[list.n++] = address[__builtin_ctz(m)];
    return list;
}

static void on_access(void *data, const struct access_event *e)
{
    struct recorder *r = hold(data);
    uint64_t address[WARP_LANES];
    const struct access_source *s = e->source;
    struct record x = {.kind = RECORD_ACCESS,
                       .access = {.block = block_of(e->block),
                                  .warp = e->warp,
                                  .site = e->site->number,
                                  .owner = recorder_block(e->owner),
                                  .lanes = e->lanes,
                                  .bytes = e->bytes,
                                  .signals = recorder_block(e->signals),
                                  .space = (uint8_t)e->space,
                                  .pattern = (uint8_t)e->pattern,
                                  .is_async = e->is_async,
                                  .reads = e->reads,
                                  .writes = e->writes,
                                  .strong = e->strong,
                                  .parity = e->signals && e->parity,
                                  .base = e->address ? e->address[__builtin_ctz(e->lanes)] : e->base,
                                  .object = e->signals ? e->object : 0,
                                  .address = of_lanes(address, e->address, e->lanes)}};
    if (s) {
        x.access.has_source = true;
        x.access.source_space = (uint8_t)s->space;
        x.access.source_owner = recorder_block(s->owner);
        x.access.source_address = s->address;
        x.access.source_bytes = s->bytes;
    }
    recorder_write_event(r, &x);
}

static void on_performed(void *data, const struct access_event *e)
{
    const struct recorded_launch *l = data;
    struct record x = {.kind = RECORD_PERFORMED, .access = {.wrote = e->wrote}};
    recorder_write_event(l->recorder, &x);
}

static void on_overtake(void *data, const struct overtake_event *e)
{
    struct recorder *r = hold(data);
    struct record x = {
        .kind = RECORD_OVERTAKE,
        .overtake = {
            .block = block_of(e->access->block), .lane = e->lane, .copy = e->copy->number, .written = e->written}};
    recorder_write_event(r, &x);
}

/* The ranges of global memory that a copy by a tensor map touches. */
static struct number_list ranges_of(struct recorder *r, const struct issue_event *e)
{
    r->ranges.n = 0;
    if (!e->tensor)
        return (struct number_list){0};
    struct tensor_lines lines = tensor_lines_of(&e->tensor->map, &e->tensor->at);
    for (struct tensor_line line; tensor_next_line(&lines, &line);) {
        if (line.from >= line.to || !VEC_RESERVE(&r->ranges, 2))
            continue;
        r->ranges.at[r->ranges.n++] = line.global + line.from;
        r->ranges.at[r->ranges.n++] = line.global + line.to;
    }
    return (struct number_list){r->ranges.at, r->ranges.n};
}

static void on_issue(void *data, const struct issue_event *e)
{
    struct recorder *r = hold(data);
    uint64_t to[WARP_LANES], from[WARP_LANES], taken[WARP_LANES];
    struct number_list takes = {taken, 0};
    for (uint32_t m = e->taken ? e->lanes : 0; m; m &= m - 1)
        taken[takes.n++] = e->taken[__builtin_ctz(m)];
    struct record x = {.kind = RECORD_ISSUE,
                       .issue = {.block = block_of(e->block),
                                 .warp = e->warp,
                                 .site = e->site->number,
                                 .lanes = e->lanes,
                                 .bytes = e->tensor ? (uint32_t)tensor_copy_bytes(&e->tensor->map) : e->bytes,
                                 .ranks = e->ranks,
                                 .signals = recorder_block(e->signals),
                                 .object = e->object,
                                 .of_tensor = e->tensor,
                                 .to = of_lanes(to, e->to, e->lanes),
                                 .from = of_lanes(from, e->from, e->lanes),
                                 .taken = takes,
                                 .ranges = ranges_of(r, e)}};
    recorder_write_event(r, &x);
}

static void on_matrix(void *data, const struct matrix_event *e)
{
    struct recorder *r = hold(data);
    struct record x = {.kind = RECORD_MATRIX,
                       .matrix = {.block = block_of(e->block),
                                  .warp = e->warp,
                                  .site = e->site->number,
                                  .lanes = e->lanes,
                                  .bytes = e->bytes,
                                  .address = e->address}};
    recorder_write_event(r, &x);
}

static bool on_fault(void *data, const struct fault_event *e)
{
    struct recorder *r = hold(data);
    struct record x = {.kind = RECORD_FAULT,
                       .fault = {.block = block_of(e->block),
                                 .warp = e->warp,
                                 .site = e->site->number,
                                 .lane = e->lane,
                                 .bytes = e->bytes,
                                 .fault = (uint8_t)e->kind,
                                 .space = (uint8_t)e->space,
                                 .writes = e->writes,
                                 .address = e->address,
                                 .window = e->window}};
    recorder_write_event(r, &x);
    return false;
}

static void on_heap(void *data, const struct heap_event *e)
{
    struct recorder *r = hold(data);
    recorder_look_at_memory(r);
    struct record x = {.kind = RECORD_HEAP,
                       .heap = {.block = block_of(e->block),
                                .warp = e->warp,
                                .site = e->site->number,
                                .lane = e->lane,
                                .is_free = e->is_free,
                                .address = e->address,
                                .bytes = e->bytes}};
    recorder_write_event(r, &x);
}

struct wait_lists {
    uint64_t site[WARP_LANES], left[WARP_LANES], lanes[WARP_LANES], barrier[WARP_LANES];
};

static void list_waits(struct wait_lists *l, const struct event_wait *waits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        l->site[i] = waits[i].site->number;
        l->left[i] = site_or_none(waits[i].left);
        l->lanes[i] = waits[i].lanes;
        l->barrier[i] = waits[i].barrier;
    }
}

static void on_enter(void *data, const struct enter_event *e)
{
    struct recorder *r = hold(data);
    struct wait_lists w;
    list_waits(&w, e->waits, e->n_waits);
    struct record x = {.kind = RECORD_ENTER,
                       .enter = {.block = block_of(e->block),
                                 .warp = e->warp,
                                 .lanes = e->lanes,
                                 .function = e->function,
                                 .code_block = e->code_block,
                                 .site = {w.site, e->n_waits},
                                 .left = {w.left, e->n_waits},
                                 .waiting = {w.lanes, e->n_waits},
                                 .barrier = {w.barrier, e->n_waits}}};
    recorder_write_event(r, &x);
}

/* The parties of a barrier, as columns. */
static void add_parties(struct recorder *r, const struct sync_event *e, struct record *x)
{
    uint32_t n = e->n_parties;
    r->parties.n = 0;
    if (!n || !VEC_RESERVE(&r->parties, 6 * n))
        return;
    uint64_t *at = r->parties.at;
    for (uint32_t i = 0; i < n; i++) {
        const struct barrier_party *p = &e->parties[i];
        at[i] = block_of(p->block);
        at[n + i] = p->warp;
        at[2 * n + i] = p->lanes;
        at[3 * n + i] = p->site->number;
        at[4 * n + i] = site_or_none(p->call);
        at[5 * n + i] = p->alone;
    }
    struct number_list *const lists[] = {&x->sync.party_block, &x->sync.party_warp, &x->sync.party_lanes,
                                         &x->sync.party_site,  &x->sync.party_call, &x->sync.party_alone};
    for (unsigned k = 0; k < 6; k++)
        *lists[k] = (struct number_list){at + k * n, n};
}

static void on_sync(void *data, const struct sync_event *e)
{
    struct recorder *r = hold(data);
    uint64_t sources[WARP_LANES], waited[MAX_WARPS], arrived[MAX_WARPS];
    struct wait_lists w;
    uint32_t n_warps = e->waited ? e->block->n_warps : 0;
    for (unsigned l = 0; e->source_lane && l < WARP_LANES; l++)
        sources[l] = e->lanes >> l & 1 ? e->source_lane[l] : 0;
    for (uint32_t i = 0; i < n_warps; i++) {
        waited[i] = e->waited[i];
        arrived[i] = e->arrived[i];
    }
    list_waits(&w, e->waits, e->n_waits);
    struct record x = {.kind = RECORD_SYNC,
                       .sync = {.kind = e->kind,
                                .block = block_of(e->block),
                                .warp = e->warp,
                                .site = site_or_none(e->site),
                                .lanes = e->lanes,
                                .id = e->id,
                                .threads = e->threads,
                                .membermask = e->membermask,
                                .owner = recorder_block(e->owner),
                                .first = site_or_none(e->first),
                                .expected = e->expected,
                                .address = e->address,
                                .order = e->order,
                                .scope = e->scope,
                                .parity = e->parity,
                                .completes = e->completes,
                                .invalid = e->invalid,
                                .sources = {sources, e->source_lane ? WARP_LANES : 0},
                                .waited = {waited, n_warps},
                                .arrived = {arrived, n_warps},
                                .wait_site = {w.site, e->n_waits},
                                .waiting = {w.lanes, e->n_waits},
                                .wait_barrier = {w.barrier, e->n_waits}}};
    add_parties(r, e, &x);
    recorder_write_event(r, &x);
}

/* ---- what comes behind the tools ---- */

static void end_access(void *data, const struct access_event *e)
{
    if (!event_will_be_performed(e))
        give_back(data);
}

static void end_performed(void *data, const struct access_event *e)
{
    (void)e;
    give_back(data);
}

#define END(name)                                                                                                      \
    static void end_##name(void *data, const struct name##_event *e)                                                   \
    {                                                                                                                  \
        (void)e;                                                                                                       \
        give_back(data);                                                                                               \
    }
END(issue)
END(matrix)
END(overtake)
END(heap)
END(enter)
END(sync)

static bool end_fault(void *data, const struct fault_event *e)
{
    (void)e;
    give_back(data);
    return false;
}

/* The record of a block's end comes behind everything else about the block. */
static void end_schedule(void *data, const struct schedule_event *e)
{
    if (e->kind == EVENT_BLOCK_END) {
        free(event_kept(e->block, slot));
        event_keep(e->block, slot, NULL);
    }
    give_back(data);
}

/* ---- clients ---- */

void recorder_open_events(void)
{
    event_slot_take(&slot);
}

void recorder_set_clients(struct recorded_launch *l, const struct event_list *events)
{
    l->client =
        (struct event_client){.data = l,
                              .wants = events->wants | EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_BLOCK_END),
                              .by_piece = events->by_piece,
                              .by_one = true,
                              .asks = &asks,
                              .access = on_access,
                              .performed = on_performed,
                              .issue = on_issue,
                              .matrix = on_matrix,
                              .overtake = on_overtake,
                              .fault = on_fault,
                              .heap = on_heap,
                              .enter = on_enter,
                              .schedule = on_schedule,
                              .sync = on_sync};
    if (events->wants & EVENT_BIT(EVENT_ACCESS))
        l->client.wants |= EVENT_BIT(EVENT_PERFORMED);
    l->last = (struct event_client){.data = l,
                                    .wants = l->client.wants,
                                    .access = end_access,
                                    .performed = end_performed,
                                    .issue = end_issue,
                                    .matrix = end_matrix,
                                    .overtake = end_overtake,
                                    .fault = end_fault,
                                    .heap = end_heap,
                                    .enter = end_enter,
                                    .schedule = end_schedule,
                                    .sync = end_sync};
}
