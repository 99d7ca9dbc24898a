/* See count.h. */
#include "explain/count.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "exec/access.h"
#include "exec/events.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/worker.h"
#include "explain/accesses.h"
#include "explain/sample.h"
#include "explain/tables.h"
#include "explain/timeline.h"
#include "explain/waits.h"

struct warp_count {
    double clock[CLOCK_LEVELS], pending[CLOCK_LEVELS], left[CLOCK_LEVELS]; /* explain/cost.h */
    uint64_t instructions; /* since a barrier released it, or since its start */
    struct group_clocks copies, bulk;
};

struct block_count {
    struct block_count *next_free, *next; /* all blocks of the worker */
    struct worker_count *k;
    struct l1 *l1;             /* of its multiprocessor */
    struct timeline *timeline; /* if this block has one; else NULL */
    uint64_t instructions;
    struct mbarrier_clocks mbarriers;
    struct warp_count warps[];
};

/* What one worker counts in a launch. */
struct worker_count {
    struct worker_count *next;
    const void *worker; /* the worker as events name it */
    struct tables tables;
    struct footprint footprint;
    struct l1 **l1;         /* by multiprocessor */
    uint64_t *instructions; /* instructions of its blocks */
    struct block_count *blocks, *free;
    uint64_t barriers, barrier_wait_of_warp[MAX_WARPS];
    double sum_warp[CLOCK_LEVELS], max_warp[CLOCK_LEVELS], sum_block[CLOCK_LEVELS], max_block[CLOCK_LEVELS];
};

struct counted_launch {
    struct event_client client;
    struct counter *counter;
    struct counted_kernel *kernel;
    struct launch_shape *shape; /* or NULL */
    bool sampled;
    const struct launch_request *request;
    const struct mem *mem;
    uint32_t warps_per_block, multiprocessors;
    uint64_t l1_bytes;
    struct timeline *timeline; /* of the first block in the kernel's first launch; or NULL */
    _Atomic(struct worker_count *) workers;
};

static unsigned slot; /* of a block's struct block_count */

struct counter {
    const struct device_model *model;
    /* For warps' clocks: the model's, or an H200's if the model's are not known. */
    struct device_rates rates;
    uint64_t sample_after;
    pthread_mutex_t lock; /* protects what follows, and what kernels have from their launches */
    struct counted_kernel *kernels;
    uint64_t executed; /* warp instructions of counted launches */
};

/* ---- accesses ---- */

static struct block_count *of_block(const struct event_block *b)
{
    return event_kept(b, slot);
}

static void on_access(void *data, const struct access_event *e)
{
    const struct counted_launch *l = data;
    const struct sites *sites = l->kernel->sites;
    struct block_count *b = of_block(e->block);
    if (!b || !e->site->accesses || e->is_async)
        return;
    uint32_t number = sites->of_site[e->site->number];
    if (number && !sites->at[number - 1].ignored)
        count_access(&b->k->footprint, b->l1, &sites->at[number - 1], &b->k->tables.sites[number - 1], e);
}

/* Notes when issued work will be done, for its group or the mbarriers that it signals. */
static void note_copy(const struct counted_launch *l, struct block_count *b, const struct access_site *s,
                      const struct issue_event *e, uint64_t bytes)
{
    struct warp_count *w = &b->warps[e->warp];
    double done[CLOCK_LEVELS];
    copy_latency(&l->counter->rates, e->site->mode, s->past_l1, bytes, done);
    for (unsigned i = 0; i < CLOCK_LEVELS; i++)
        done[i] += w->clock[i];
    if (!e->signals) {
        clocks_wait(e->site->mode == ASYNC_COPY ? w->copies.open : w->bulk.open, done);
        return;
    }
    for (uint32_t ranks = e->ranks ? e->ranks : 1; ranks; ranks &= ranks - 1) {
        const struct event_block *of =
            e->ranks ? event_block_of_rank(e->signals, (uint32_t)__builtin_ctz(ranks)) : e->signals;
        struct block_count *c = of ? of_block(of) : NULL;
        struct mbarrier_clock *m = c ? mbarrier_clock(&c->mbarriers, e->object) : NULL;
        if (m)
            clocks_wait(m->phase, done);
    }
}

static void on_issue(void *data, const struct issue_event *e)
{
    const struct counted_launch *l = data;
    const struct sites *sites = l->kernel->sites;
    struct block_count *b = of_block(e->block);
    uint32_t number = b ? sites->of_site[e->site->number] : 0;
    if (!number)
        return;
    const struct access_site *s = &sites->at[number - 1];
    note_copy(l, b, s, e, count_issue(&b->k->footprint, b->l1, s, &b->k->tables.sites[number - 1], e));
}

/* ---- what warps execute ---- */

static uint32_t number_of(const struct counted_launch *l, uint32_t function, uint32_t block)
{
    return l->kernel->sites->functions[function].first_block + block;
}

/* Adds the waits to the timeline: what the warp waits for when the block of code begins, and waits
 * for loads within it, as if they came at its end. */
static void show_advance(struct block_count *b, uint32_t warp, const struct block_cost *c)
{
    const struct warp_count *w = &b->warps[warp];
    double at = w->clock[CLOCK_L2];
    double left = c->starts ? w->pending[CLOCK_L2] : w->left[CLOCK_L2];
    if (c->waits && left > at) {
        timeline_add(b->timeline, warp, at, left, SPAN_WAIT);
        at = left;
    }
    timeline_add(b->timeline, warp, at + (double)c->chain[CLOCK_L1], at + (double)c->chain[CLOCK_L2], SPAN_WAIT);
}

/* A warp passes through a block of code. */
static void advance(struct block_count *b, uint32_t warp, const struct block_cost *c)
{
    struct warp_count *w = &b->warps[warp];
    if (b->timeline)
        show_advance(b, warp, c);
    for (unsigned i = 0; i < CLOCK_LEVELS; i++) {
        if (c->starts)
            w->left[i] = w->pending[i];
        if (c->waits && w->left[i] > w->clock[i])
            w->clock[i] = w->left[i];
        w->clock[i] += (double)c->chain[i];
        double end = w->clock[i] + (double)c->tail[i];
        w->pending[i] = end > w->pending[i] ? end : w->pending[i];
    }
}

static void on_enter(void *data, const struct enter_event *e)
{
    const struct counted_launch *l = data;
    struct block_count *b = of_block(e->block);
    if (!b)
        return;
    uint32_t n = number_of(l, e->function, e->code_block);
    struct block_tally *t = &b->k->tables.blocks[n];
    struct warp_count *w = &b->warps[e->warp];
    t->executed++;
    t->threads += (unsigned)__builtin_popcount(e->lanes);
    w->instructions += l->kernel->insns_of_block[n];
    b->instructions += l->kernel->insns_of_block[n];
    advance(b, e->warp, l->kernel->cost[n]);
}

static void on_branch(void *data, const struct branch_event *e)
{
    const struct counted_launch *l = data;
    struct block_count *b = of_block(e->block);
    if (!b)
        return;
    struct block_tally *t = &b->k->tables.blocks[number_of(l, e->function, e->code_block)];
    t->control.branches++;
    t->control.divergent += e->taken && e->taken != e->lanes;
    t->control.taken += (unsigned)__builtin_popcount(e->taken);
}

/* The tally of the block of code that ends in the barrier at which the warp waits. */
static struct block_tally *tally_of_wait(const struct counted_launch *l, struct block_count *b,
                                         const struct sync_event *e, uint32_t warp)
{
    for (uint32_t i = 0; i < e->n_parties; i++)
        if (e->parties[i].warp == warp)
            return &b->k->tables.blocks[number_of(l, e->parties[i].site->function, e->parties[i].site->block)];
    return NULL;
}

/* A barrier opens: its warps continue at the clock of the last. */
static void on_barrier(const struct counted_launch *l, const struct sync_event *e)
{
    struct block_count *b = of_block(e->block);
    struct warp_count latest = {0};
    if (!b)
        return;
    b->k->barriers++;
    for (uint32_t i = 0; i < e->block->n_warps; i++) {
        const struct warp_count *w = &b->warps[i];
        if (!e->waited[i] && !e->arrived[i])
            continue;
        for (unsigned c = 0; c < CLOCK_LEVELS; c++)
            latest.clock[c] = w->clock[c] > latest.clock[c] ? w->clock[c] : latest.clock[c];
        latest.instructions = w->instructions > latest.instructions ? w->instructions : latest.instructions;
    }
    for (uint32_t i = 0; i < e->block->n_warps; i++) {
        struct warp_count *w = &b->warps[i];
        if (!e->waited[i])
            continue;
        struct block_tally *t = tally_of_wait(l, b, e, i);
        uint64_t waited = latest.instructions - w->instructions;
        if (t) {
            t->control.barrier_warps++;
            t->control.barrier_wait += waited;
            t->control.barrier_longest = waited > t->control.barrier_longest ? waited : t->control.barrier_longest;
        }
        b->k->barrier_wait_of_warp[i] += waited;
        if (b->timeline)
            timeline_add(b->timeline, i, w->clock[CLOCK_L2], latest.clock[CLOCK_L2], SPAN_BARRIER);
        for (unsigned c = 0; c < CLOCK_LEVELS; c++)
            w->clock[c] = latest.clock[c];
        w->instructions = 0;
    }
}

static void wait_until(struct block_count *b, uint32_t warp, const double clock[CLOCK_LEVELS])
{
    struct warp_count *w = &b->warps[warp];
    if (b->timeline)
        timeline_add(b->timeline, warp, w->clock[CLOCK_L2], clock[CLOCK_L2], SPAN_WAIT);
    clocks_wait(w->clock, clock);
}

static void on_group(struct block_count *b, const struct sync_event *e)
{
    struct warp_count *w = &b->warps[e->warp];
    const double *done = NULL;
    switch ((enum group_mode)e->site->mode) {
    case GROUP_COMMIT: groups_commit(&w->copies); return;
    case GROUP_BULK_COMMIT: groups_commit(&w->bulk); return;
    case GROUP_WAIT: done = groups_done(&w->copies, e->site->imm); break;
    case GROUP_BULK_WAIT:
    case GROUP_BULK_WAIT_READ: done = groups_done(&w->bulk, e->site->imm); break;
    case GROUP_WAIT_ALL:
        groups_commit(&w->copies);
        done = groups_done(&w->copies, 0);
        break;
    default: break;
    }
    if (done)
        wait_until(b, e->warp, done);
}

/* Arrivals by lanes, and by copies that the machine has done. The time of a copy's arrival was
 * computed when it was issued (on_issue). */
static void on_arrival(struct block_count *b, const struct sync_event *e)
{
    struct block_count *of = of_block(e->block);
    struct mbarrier_clock *m = mbarrier_clock(&b->mbarriers, e->address);
    if (!m || !of)
        return;
    const struct warp_count *w = &of->warps[e->warp];
    bool is_copy = e->site->kind == SITE_COPY && e->site->mode != ASYNC_STORE;
    if (!is_copy)
        clocks_wait(m->phase, w->clock);
    if (is_copy && (e->site->mode == ASYNC_ARRIVE || e->site->mode == ASYNC_ARRIVE_NOINC)) {
        const double *done = groups_done(&w->copies, 0);
        clocks_wait(m->phase, w->copies.open);
        if (done)
            clocks_wait(m->phase, done);
    }
    if (e->completes)
        mbarrier_complete(m);
}

static void on_sync(void *data, const struct sync_event *e)
{
    struct block_count *b = of_block(e->owner ? e->owner : e->block);
    struct mbarrier_clock *m;
    if (!b)
        return;
    switch (e->kind) {
    case EVENT_BARRIER_OPEN: on_barrier(data, e); break;
    case EVENT_GROUP: on_group(b, e); break;
    case EVENT_MBARRIER_ARRIVE: on_arrival(b, e); break;
    case EVENT_MBARRIER_WAIT:
        if ((m = mbarrier_clock(&b->mbarriers, e->address)) && of_block(e->block))
            wait_until(of_block(e->block), e->warp, m->last);
        break;
    default: break;
    }
}

/* ---- workers and blocks ---- */

static void free_worker(const struct counted_launch *l, struct worker_count *k)
{
    tables_free(&k->tables);
    footprint_free(&k->footprint);
    for (uint32_t i = 0; k->l1 && i < l->multiprocessors; i++)
        free(k->l1[i]);
    free(k->l1);
    free(k->instructions);
    while (k->blocks) {
        struct block_count *next = k->blocks->next;
        free(k->blocks->mbarriers.at);
        free(k->blocks);
        k->blocks = next;
    }
    free(k);
}

static struct worker_count *new_worker(struct counted_launch *l, const void *worker)
{
    struct worker_count *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->worker = worker;
    k->l1 = calloc(l->multiprocessors, sizeof(struct l1 *));
    k->instructions = calloc(l->multiprocessors, sizeof *k->instructions);
    if (!k->l1 || !k->instructions || !tables_make(&k->tables, l->kernel->sites)) {
        free_worker(l, k);
        return NULL;
    }
    k->next = atomic_load(&l->workers);
    while (!atomic_compare_exchange_weak(&l->workers, &k->next, k))
        ;
    return k;
}

/* Finds the worker's own record, which no other worker adds. */
static struct worker_count *find_worker(struct counted_launch *l, const void *worker)
{
    struct worker_count *k = atomic_load_explicit(&l->workers, memory_order_acquire);
    while (k && k->worker != worker)
        k = k->next;
    return k ? k : new_worker(l, worker);
}

static struct block_count *take_block(const struct counted_launch *l, struct worker_count *k)
{
    size_t bytes = l->warps_per_block * sizeof(struct warp_count);
    struct block_count *b = k->free;
    if (b) {
        k->free = b->next_free;
        b->instructions = 0;
        b->timeline = NULL;
        b->mbarriers.n = 0;
        memset(b->warps, 0, bytes);
        return b;
    }
    b = calloc(1, sizeof *b + bytes);
    if (!b)
        return NULL;
    b->k = k;
    b->next = k->blocks;
    return k->blocks = b;
}

static void start_block(struct counted_launch *l, struct event_block *block)
{
    struct worker_count *k = find_worker(l, block->worker);
    struct block_count *b = k ? take_block(l, k) : NULL;
    event_keep(block, slot, b);
    if (!b)
        return;
    struct l1 **l1 = &k->l1[block->index % l->multiprocessors];
    if (!*l1 && l->l1_bytes)
        *l1 = l1_new(l->l1_bytes);
    b->l1 = *l1;
    if (block->index == 0)
        b->timeline = l->timeline;
}

static void end_block(const struct counted_launch *l, struct event_block *block)
{
    struct block_count *b = of_block(block);
    if (!b)
        return;
    struct worker_count *k = b->k;
    for (unsigned c = 0; c < CLOCK_LEVELS; c++) {
        double latest = 0;
        for (uint32_t i = 0; i < l->warps_per_block; i++) {
            const struct warp_count *w = &b->warps[i];
            double end = w->clock[c] > w->pending[c] ? w->clock[c] : w->pending[c];
            latest = end > latest ? end : latest;
            k->sum_warp[c] += end;
        }
        k->max_warp[c] = latest > k->max_warp[c] ? latest : k->max_warp[c];
        k->sum_block[c] += latest;
        k->max_block[c] = latest > k->max_block[c] ? latest : k->max_block[c];
    }
    for (uint32_t i = 0; b->timeline && i < l->warps_per_block; i++) {
        const struct warp_count *w = &b->warps[i];
        timeline_add(b->timeline, i, w->clock[CLOCK_L2], w->pending[CLOCK_L2], SPAN_WAIT);
    }
    k->instructions[block->index % l->multiprocessors] += b->instructions;
    event_keep(block, slot, NULL);
    b->next_free = k->free;
    k->free = b;
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    if (e->kind == EVENT_BLOCK_START)
        start_block(data, e->block);
    else
        end_block(data, e->block);
}

/* ---- launches ---- */

struct counter *counter_new(const struct device_model *model, uint64_t sample_after)
{
    bool known;
    struct counter *c = calloc(1, sizeof *c);
    event_slot_take(&slot);
    if (!c)
        return NULL;
    c->model = model;
    c->sample_after = sample_after;
    c->rates = device_rates(model->product, &known);
    if (!known)
        c->rates = device_rates("H200", &known);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void counter_free(struct counter *c)
{
    if (!c)
        return;
    while (c->kernels) {
        struct counted_kernel *next = c->kernels->next;
        counted_kernel_free(c->kernels);
        c->kernels = next;
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Appends new kernels, in the order of their first launches. Call with the lock held. */
static struct counted_kernel *find_kernel(struct counter *c, const struct kernel *kernel, bool *is_new)
{
    struct counted_kernel **link = &c->kernels;
    uint32_t number = 0;
    for (; *link && (*link)->kernel != kernel; number++)
        link = &(*link)->next;
    *is_new = !*link;
    if (!*link && (*link = counted_kernel_new(kernel, &c->rates)))
        (*link)->number = number;
    return *link;
}

/* Finds the launch's kernel, and decides whether the launch is counted; returns false if memory is
   exhausted. */
static bool enlist(struct counter *c, struct counted_launch *l, const struct launch_request *q, bool *is_first)
{
    pthread_mutex_lock(&c->lock);
    l->kernel = find_kernel(c, q->kernel, is_first);
    if (l->kernel && c->sample_after) {
        l->shape = shape_of(&l->kernel->shapes, q);
        l->sampled = l->shape && !shape_is_counted(l->shape, c->executed < c->sample_after);
    }
    pthread_mutex_unlock(&c->lock);
    return l->kernel != NULL;
}

struct counted_launch *counter_begin(struct counter *c, const struct mem *mem, struct launch_request *q)
{
    bool is_first = false;
    struct counted_launch *l = calloc(1, sizeof *l);
    if (!l || !enlist(c, l, q, &is_first)) {
        free(l);
        return NULL;
    }
    const struct launch_dims *dims = &q->dims;
    uint32_t threads = dims->block[0] * dims->block[1] * dims->block[2];
    l->counter = c;
    l->request = q;
    l->mem = mem;
    l->warps_per_block = (threads + WARP_LANES - 1) / WARP_LANES;
    l->multiprocessors = c->model->multiprocessors;
    if (l->sampled)
        return l;
    l->l1_bytes = l1_bytes(c->model, l1_carveout(c->model, threads, q->kernel->static_shared_bytes + dims->shared_bytes,
                                                 kernel_registers(q->kernel, NULL)));
    if (is_first)
        l->timeline = timeline_new(l->warps_per_block);
    l->client = (struct event_client){
        .data = l,
        .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_ISSUE) | EVENT_BIT(EVENT_ENTER) | EVENT_BIT(EVENT_BRANCH) |
                 EVENT_BIT(EVENT_BARRIER_OPEN) | EVENT_BIT(EVENT_GROUP) | EVENT_BIT(EVENT_MBARRIER_ARRIVE) |
                 EVENT_BIT(EVENT_MBARRIER_WAIT) | EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_BLOCK_END),
        .by_piece = true,
        .access = on_access,
        .issue = on_issue,
        .enter = on_enter,
        .branch = on_branch,
        .sync = on_sync,
        .schedule = on_schedule};
    if (!events_add(&q->events, &l->client)) {
        free(l->timeline);
        free(l);
        return NULL;
    }
    return l;
}

static void add_worker(const struct counted_launch *l, struct worker_count *to, struct worker_count *from)
{
    tables_add(&to->tables, &from->tables, l->kernel->sites);
    for (uint32_t i = 0; i < l->multiprocessors; i++)
        to->instructions[i] += from->instructions[i];
    footprint_merge(&to->footprint, &from->footprint);
    to->barriers += from->barriers;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        to->barrier_wait_of_warp[i] += from->barrier_wait_of_warp[i];
    for (unsigned i = 0; i < CLOCK_LEVELS; i++) {
        to->sum_warp[i] += from->sum_warp[i];
        to->sum_block[i] += from->sum_block[i];
        to->max_warp[i] = from->max_warp[i] > to->max_warp[i] ? from->max_warp[i] : to->max_warp[i];
        to->max_block[i] = from->max_block[i] > to->max_block[i] ? from->max_block[i] : to->max_block[i];
    }
}

static void describe(const struct counted_launch *l, struct kernel_counters *c)
{
    const struct launch_dims *dims = &l->request->dims;
    const struct kernel *kernel = l->request->kernel;
    for (int i = 0; i < 3; i++) {
        c->grid[i] = dims->grid[i];
        c->block[i] = dims->block[i];
        c->cluster[i] = dims->explicit_cluster ? dims->cluster[i] : 0;
    }
    c->name = l->kernel->name;
    c->mangled = l->kernel->mangled;
    c->launched_by = l->request->launched_by;
    c->number = l->kernel->number;
    c->threads_per_block = dims->block[0] * dims->block[1] * dims->block[2];
    c->warps_per_block = l->warps_per_block;
    c->blocks = (uint64_t)dims->grid[0] * dims->grid[1] * dims->grid[2];
    c->warps = c->blocks * l->warps_per_block;
    c->static_shared_bytes = kernel->static_shared_bytes;
    c->dynamic_shared_bytes = dims->shared_bytes;
    c->local_bytes = kernel->local_bytes;
    c->spilled_bytes = cost_spilled_bytes(l->kernel->costs);
    c->sms = l->multiprocessors;
    c->registers = kernel_registers(kernel, &c->registers_guessed);
}

static void find_hottest(const struct mem *mem, const struct worker_count *k, struct kernel_counters *c)
{
    struct hot_sector hottest[HOT_PLACES];
    footprint_hottest(&k->footprint, hottest, HOT_PLACES);
    for (unsigned i = 0; i < HOT_PLACES; i++) {
        struct mem_block block;
        c->hottest[i].operations = hottest[i].operations;
        if (!hottest[i].operations || !mem_find(mem, hottest[i].address, &block))
            continue;
        c->hottest[i].offset = hottest[i].address > block.start ? hottest[i].address - block.start : 0;
        c->hottest[i].bytes = block.size;
        c->hottest[i].name = block.name;
    }
}

static void fill(const struct counted_launch *l, const struct worker_count *k, struct kernel_counters *c,
                 struct arena *arena)
{
    struct footprint_sum f = footprint_sum(&k->footprint);
    tables_collect(l->kernel, &k->tables, c, false, arena);
    c->read_sectors = f.read;
    c->read_pairs = f.read_pairs;
    c->written_sectors = f.written;
    c->touched_sectors = f.touched;
    c->touched_lines = f.lines;
    find_hottest(l->mem, k, c);
    c->barriers = k->barriers;
    memcpy(c->barrier_wait_of_warp, k->barrier_wait_of_warp, sizeof c->barrier_wait_of_warp);
    uint64_t most = 0, all = 0;
    for (uint32_t i = 0; i < l->multiprocessors; i++) {
        most = k->instructions[i] > most ? k->instructions[i] : most;
        all += k->instructions[i];
    }
    c->busiest_sm = all ? (double)most / (double)all : 0;
    for (unsigned i = 0; i < CLOCK_LEVELS; i++) {
        c->sum_warp_clock[i] = k->sum_warp[i];
        c->max_warp_clock[i] = k->max_warp[i];
        c->sum_block_clock[i] = k->sum_block[i];
        c->max_block_clock[i] = k->max_block[i];
    }
}

/* The launch ran uncounted: an earlier one's figures stand for it. */
static void stand_in(const struct counted_launch *l, struct kernel_counters *counted)
{
    *counted = l->shape->last;
    counted->launched_by = l->request->launched_by;
    counted->sampled = true;
    tables_add(&l->kernel->sums, &l->shape->tables, l->kernel->sites);
    l->kernel->launches.sampled++;
}

static void add_counted(const struct counted_launch *l, const struct worker_count *k, const struct kernel_counters *c)
{
    struct counted_kernel *of = l->kernel;
    tables_add(&of->sums, &k->tables, of->sites);
    l->counter->executed += c->warp_instructions;
    if (!l->shape)
        return;
    double off = shape_keep(l->shape, c, &k->tables, of->sites);
    of->launches.error = off > of->launches.error ? off : of->launches.error;
}

void counter_end(struct counted_launch *l, struct kernel_counters *counted, struct arena *arena)
{
    struct worker_count *k = atomic_load(&l->workers);
    /* With its padding, which the fingerprint reads: alike.h. */
    memset(counted, 0, sizeof *counted);
    counted->timeline = l->timeline;
    describe(l, counted);
    for (struct worker_count *other = k ? k->next : NULL; other; other = other->next)
        add_worker(l, k, other);
    if (k)
        fill(l, k, counted, arena);
    pthread_mutex_lock(&l->counter->lock);
    l->kernel->launches.all++;
    if (l->sampled)
        stand_in(l, counted);
    else if (k)
        add_counted(l, k, counted);
    pthread_mutex_unlock(&l->counter->lock);
}

void counter_launch_free(struct counted_launch *l)
{
    struct worker_count *k = atomic_load(&l->workers), *next;
    for (; k; k = next) {
        next = k->next;
        free_worker(l, k);
    }
    free(l->timeline);
    free(l);
}

/* The i-th kernel; NULL if there are fewer. */
static struct counted_kernel *nth_kernel(struct counter *c, size_t i)
{
    pthread_mutex_lock(&c->lock);
    struct counted_kernel *k = c->kernels;
    for (; k && i; i--)
        k = k->next;
    pthread_mutex_unlock(&c->lock);
    return k;
}

bool counter_kernel(struct counter *c, size_t i, struct kernel_counters *sums, struct kernel_launches *launches,
                    struct arena *arena)
{
    const struct counted_kernel *k = nth_kernel(c, i);
    if (!k)
        return false;
    struct tables copy = {ARENA_ARRAY(arena, struct block_tally, k->sites->n_blocks),
                          ARENA_ARRAY(arena, struct site_tally, k->sites->n)};
    pthread_mutex_lock(&c->lock);
    tables_add(&copy, &k->sums, k->sites);
    *launches = k->launches;
    pthread_mutex_unlock(&c->lock);
    *sums = (struct kernel_counters){.name = k->name, .mangled = k->mangled, .number = k->number};
    tables_collect(k, &copy, sums, true, arena);
    return true;
}
