/* Replays launches and blocks, and finds what records name in them; see replaying.h. */
#include "record/replaying.h"

#include <stdlib.h>

#include "check/shadow/shadow.h"

enum { MOST_THREADS = 1024, MOST_SHARED_BYTES = 1 << 20, MOST_CLUSTER = 64 };

bool replay_impossible(struct replay *r, const char *why)
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
             : arena_printf(arena, "accesses %u bytes at 0x%llx, which is not allowed", e->bytes,
                            (unsigned long long)e->address);
}

/* The recorded launch ended here; the replay continues. */
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
        return replay_impossible(r, "`writes` needs pairs of a start and an end");
    l->writes.n = writes->n / 2;
    for (uint32_t i = 0; i < l->writes.n; i++) {
        l->writes.at[i].start = writes->at[2 * i];
        l->writes.at[i].end = writes->at[2 * i + 1];
    }
    return true;
}

bool replay_grid(struct replay *r, const struct record *x)
{
    struct replay_launch *l = x->grid.launch < r->launches.n ? r->launches.at[x->grid.launch] : NULL;
    uint64_t threads, blocks;
    uint32_t task;
    if (!l || l->has_grid)
        return replay_impossible(r, "`launch` names no launch, or one that already has a grid");
    if (!product_fits(x->grid.block, MOST_THREADS, &threads) || !product_fits(x->grid.grid, 1ull << 62, &blocks) ||
        !x->grid.cluster || x->grid.cluster > MOST_CLUSTER || x->grid.shared_bytes > MOST_SHARED_BYTES ||
        x->grid.reserved_bytes > x->grid.shared_bytes ||
        x->grid.reserved_start > x->grid.shared_bytes - x->grid.reserved_bytes)
        return replay_impossible(r,
                                 "the sizes of the grid, the block, the cluster or the shared memory are not possible");
    if (!replay_task(r, x->grid.task, &task) || !add_writes(r, l, &x->grid.writes))
        return false;
    l->has_grid = true;
    l->writes.known = x->grid.writes_known;
    struct event_launch *e = &l->launch;
    e->number = x->grid.number;
    e->task = task;
    e->where = (const void *)(uintptr_t)x->grid.place;
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

struct replay_block *replay_block_at(struct replay *r, uint64_t id)
{
    struct replay_block *b = id < r->blocks.n ? r->blocks.at[id] : NULL;
    if (!b)
        replay_impossible(r, "the record names a block that does not exist or has ended");
    return b;
}

/* NULL for 0. Clears *good if there is no such block, or if it is in another cluster than `as`. */
struct event_block *replay_block_or_none(struct replay *r, uint64_t id, const struct event_block *as, bool *good)
{
    struct replay_block *b = id ? replay_block_at(r, id - 1) : NULL;
    if (b && b->block.launch == as->launch)
        return &b->block;
    if (id)
        *good = replay_impossible(r, "the record names a block of another launch");
    return NULL;
}

struct event_list *replay_list_of(const struct event_block *b)
{
    return &((struct replay_launch *)((const char *)b->launch - offsetof(struct replay_launch, launch)))->events;
}

static void tell_schedule(struct event_block *b, enum event_kind kind)
{
    const struct schedule_event e = {.kind = kind, .block = b};
    EVENT_TELL(replay_list_of(b), kind, schedule, &e);
}

bool replay_block(struct replay *r, const struct record *x)
{
    struct replay_launch *l = x->block.launch < r->launches.n ? r->launches.at[x->block.launch] : NULL;
    bool good = true;
    if (!l || !l->has_grid || x->block.id != r->blocks.n || x->block.index >= l->launch.n_blocks ||
        x->block.rank >= l->launch.blocks_per_cluster ||
        x->block.shared >= (1ull << SHADOW_ADDRESS_BITS) - MOST_SHARED_BYTES)
        return replay_impossible(r, "the number of the block is not the next one, or is outside the grid");
    const struct event_block as = {.launch = &l->launch};
    struct event_block *peer = replay_block_or_none(r, x->block.peer, &as, &good);
    unsigned n_slots = event_slots();
    struct replay_block *b = good ? calloc(1, sizeof *b + n_slots * sizeof(void *)) : NULL;
    if (!b)
        return good && replay_impossible(r, "out of memory");
    b->replay = r;
    struct event_block *e = &b->block;
    e->launch = &l->launch;
    e->index = x->block.index;
    memcpy(e->ctaid, x->block.ctaid, sizeof e->ctaid);
    e->rank = x->block.rank;
    e->n_warps = l->launch.warps_per_block;
    e->shared = x->block.shared;
    e->worker = r; /* a replay has one thread */
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

bool replay_block_end(struct replay *r, const struct record *x)
{
    struct replay_block *b = replay_block_at(r, x->block.id);
    if (b)
        end_block(r, x->block.id);
    return b;
}

void replay_free_blocks(struct replay *r)
{
    for (uint32_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.at[i])
            end_block(r, i);
}

/* ---- who ---- */

/* The block of a warp; the block must not have ended. */
struct event_block *replay_warp_at(struct replay *r, uint32_t block, uint32_t warp)
{
    struct replay_block *b = replay_block_at(r, block);
    if (b && warp < b->block.n_warps)
        return &b->block;
    if (b)
        replay_impossible(r, "the block has no warp of this number");
    return NULL;
}

const struct site *replay_site_at(struct replay *r, const struct event_block *b, uint64_t number)
{
    const struct site_table *k = b->launch->kernel;
    if (number < k->n)
        return &k->at[number];
    replay_impossible(r, "the kernel has no site of this number");
    return NULL;
}

const struct site *replay_warp_site(struct replay *r, uint32_t block, uint32_t warp, uint64_t site,
                                    struct event_block **b)
{
    *b = replay_warp_at(r, block, warp);
    return *b ? replay_site_at(r, *b, site) : NULL;
}

const struct site *replay_site_or_none(struct replay *r, const struct event_block *b, uint64_t number, bool *good)
{
    const struct site *s = number ? replay_site_at(r, b, number - 1) : NULL;
    *good &= !number || s;
    return s;
}
