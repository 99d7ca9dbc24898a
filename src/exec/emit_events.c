/* The records that events name: of launches, of their blocks, of lanes
 * that wait; see emit_events.h. */
#include "exec/emit_events.h"

#include "exec/access.h"
#include "exec/pool.h"

/* A block, as events have it, and the engine's. */
struct block_record {
    struct block *of;
    struct event_block block;
};

struct block *told_block(const struct event_block *b)
{
    return ((const struct block_record *)((const char *)b - offsetof(struct block_record, block)))->of;
}

struct warp *told_warp(const struct event_block *b, uint32_t warp)
{
    return &told_block(b)->warps[warp];
}

const struct op *told_op(const struct event_block *b, const struct site *s)
{
    const struct code *c = b->launch->kernel->code->functions.at[s->function];
    return &c->ops[s->number - c->first_site];
}

static const struct event_asks *asks_of(const struct event_list *list)
{
    const struct event_asks *asks = NULL;
    for (unsigned i = 0; i < list->n && !asks; i++)
        asks = list->at[i]->asks;
    return asks ? asks : &engine_asks;
}

bool tell_launch(struct launch *l)
{
    l->told = (struct event_launch){.number = l->number,
                                    .task = l->request->task,
                                    .where = l->request->where,
                                    .kernel = kernel_sites(l->kernel),
                                    .blocks_per_cluster = l->blocks_per_cluster,
                                    .threads_per_block = l->threads_per_block,
                                    .warps_per_block = l->warps_per_block,
                                    .n_blocks = l->n_blocks,
                                    .shared_bytes = l->shared_bytes,
                                    .reserved_shared_start = l->reserved_shared_start,
                                    .reserved_shared_bytes = l->reserved_shared_bytes,
                                    .params = l->params,
                                    .rules = l->request->rules,
                                    .scheduled = l->schedule,
                                    .asks = asks_of(l->events)};
    memcpy(l->told.grid, l->request->dims.grid, sizeof l->told.grid);
    memcpy(l->told.block, l->request->dims.block, sizeof l->told.block);
    return l->told.kernel;
}

static size_t record_bytes(unsigned n_slots)
{
    return sizeof(struct block_record) + n_slots * sizeof(void *);
}

bool tell_open_block(struct block *b)
{
    unsigned n = event_slots();
    struct block_record *t = pool_take(b->worker, record_bytes(n));
    if (!t)
        return false;
    t->of = b;
    t->block = (struct event_block){.launch = &b->launch->told,
                                    .n_warps = b->n_warps,
                                    .shared = (uint64_t)(uintptr_t)b->shared,
                                    .worker = b->worker,
                                    .n_slots = n};
    b->told = &t->block;
    return true;
}

void tell_close_block(struct block *b)
{
    if (b->told)
        pool_give(b->worker, (char *)b->told - offsetof(struct block_record, block), record_bytes(b->told->n_slots));
    b->told = NULL;
}

void tell_begin_block(struct block *b, const struct block *first)
{
    struct event_block *t = b->told;
    t->index = b->index;
    memcpy(t->ctaid, b->ctaid, sizeof t->ctaid);
    t->rank = block_rank(b);
    memset(t->slot, 0, t->n_slots * sizeof t->slot[0]);
    t->peer = t;
    if (first) {
        t->peer = first->told->peer;
        first->told->peer = t;
    }
}

void tell_leave_cluster(struct block *b, const struct block *before)
{
    before->told->peer = b->told->peer;
    b->told->peer = b->told;
}

/* With which operation those that wait have left the activation: that at which they wait, or a
 * call; NULL: they never were in it. */
static const struct op *left_with(const struct wait *t, const struct activation *a)
{
    const struct op *op = t->op;
    for (const struct activation *of = t->act; of; op = of->call, of = of->parent)
        if (of == a)
            return op;
    return NULL;
}

uint32_t tell_waits(const struct warp *w, const struct activation *of, struct event_wait waits[WARP_LANES])
{
    uint32_t n = 0;
    for (const struct wait *t = w->waits; t && n < WARP_LANES; t = t->next)
        waits[n++] = (struct event_wait){.site = tell_site(w->block, t->op),
                                         .left = of ? tell_site(w->block, left_with(t, of)) : NULL,
                                         .lanes = t->lanes,
                                         .barrier = t->barrier};
    return n;
}
