/* The life of the race detector, and accesses of the host and of tasks that are no launches; see
 * races.h. */
#include "check/checker.h"
#include "check/race/current.h"

#include <stdlib.h>
#include <string.h>

static void on_schedule(void *data, const struct schedule_event *e)
{
    if (e->kind == EVENT_BLOCK_START)
        race_block_starts(data, e->block);
    else
        race_block_ends(e->block);
}

/* Memory that malloc returns has no history, because free and malloc synchronise internally. */
static void on_heap(void *data, const struct heap_event *e)
{
    if (!e->is_free)
        races_forget(data, e->address, e->bytes);
}

/* ---- life ---- */

/* It stands for one thread. */
static struct race_block *make_task_block(void)
{
    struct race_block *b = calloc(1, sizeof *b);
    if (b && !(b->recent = calloc(1, sizeof *b->recent))) {
        free(b);
        return NULL;
    }
    return b;
}

static void free_task_block(struct race_block *b)
{
    if (!b)
        return;
    order_block_end(b->order);
    free(b->recent);
    free(b);
}

static void free_races(struct races *r)
{
    for (struct race_worker *k = r->workers, *next; k; k = next) {
        next = k->next;
        for (struct race_block *b = k->free_blocks, *more; b; b = more) {
            more = b->next;
            race_free_block(b);
        }
        free(k);
    }
    free_task_block(r->range);
    free_task_block(r->host);
    race_close_histories(&r->global);
    numbered_close(&r->kinds);
    cells_close(&r->cells);
    order_free(r->order);
    for (struct race *f = r->found; f; f = f->next)
        free(f->counted.at);
    arena_free(&r->arena);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

struct races *races_new(struct checker *c, struct timelines *timelines, struct budget *budget)
{
    struct races *r = calloc(1, sizeof *r);
    event_slot_take(&race_slot);
    if (!r)
        return NULL;
    r->first = r->checkers = c;
    r->timelines = timelines;
    r->budget = budget;
    r->order = order_new(budget);
    if (!cells_open(&r->cells, budget) || !r->order ||
        !race_open_histories(&r->global, 1u << 30, CELL_HISTORY, 1u << 28, budget) ||
        !numbered_open(&r->kinds, sizeof(struct access_kind), 1u << 24, NULL)) {
        cells_close(&r->cells);
        order_free(r->order);
        free(r);
        return NULL;
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->range_lock, NULL);
    r->range = make_task_block();
    r->host = make_task_block();
    if (!r->range || !r->host) {
        free_races(r);
        return NULL;
    }
    r->regular = (struct event_client){.data = r,
                                       .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_PERFORMED) |
                                                EVENT_BIT(EVENT_BARRIER_OPEN) | EVENT_BIT(EVENT_COLLECTIVE) |
                                                EVENT_BIT(EVENT_FENCE) | EVENT_BIT(EVENT_EXIT) | EVENT_BIT(EVENT_HEAP) |
                                                EVENT_BIT(EVENT_BLOCK_START) | EVENT_BIT(EVENT_BLOCK_END),
                                       .access = race_on_access_and_lock,
                                       .performed = race_on_performed_and_unlock,
                                       .sync = race_on_sync,
                                       .heap = on_heap,
                                       .schedule = on_schedule};
    r->irregular = r->regular;
    r->irregular.wants |= EVENT_BIT(EVENT_BARRIER_ARRIVE) | EVENT_BIT(EVENT_CLUSTER_ARRIVE) |
                          EVENT_BIT(EVENT_CLUSTER_OPEN) | EVENT_BIT(EVENT_CLUSTER_WAIT) |
                          EVENT_BIT(EVENT_MBARRIER_ARRIVE) | EVENT_BIT(EVENT_MBARRIER_WAIT);
    return r;
}

struct races *races_share(struct races *r, struct checker *c)
{
    pthread_mutex_lock(&r->lock);
    c->race.next = r->checkers;
    r->checkers = c;
    pthread_mutex_unlock(&r->lock);
    return r;
}

bool races_reports(const struct races *r, const struct checker *c)
{
    return c == r->first;
}

const struct event_client *races_begin(struct races *r, const struct site_table *k)
{
    struct kernel_traits t = race_traits_of(k);
    if (t.acquires)
        order_has_acquires(r->order);
    if (t.acquires_narrowly)
        order_part_releases(r->order);
    if (t.writes_weakly && (t.releases || t.stores_strongly))
        atomic_store(&r->writes_weakly, true);
    return t.irregular ? &r->irregular : &r->regular;
}

/* ---- what is retired ---- */

/* The bytes of unneeded histories that are kept for reuse, because allocating them anew costs
 * time. */
enum { KEPT_BYTES = 4 << 20 };

static uint64_t bytes_of_histories(const struct histories *h)
{
    return numbered_bytes(&h->site_epochs) + numbered_bytes(&h->histories) + numbered_bytes(&h->splits);
}

static void forget_global(struct races *r)
{
    bool give = budget_is_short(r->budget) || r->no_memory;
    cells_clear(&r->cells, give);
    race_clear_histories(&r->global, give ? 0 : UINT64_MAX);
    for (struct race_worker *k = r->workers; k; k = k->next)
        k->reservations = (struct reservations){0};
    order_forget_incarnations(r->order);
    atomic_store(&r->newest, 0);
    r->unwatched.now = false;
    atomic_store(&r->no_memory, false);
}

static void forget_order(struct races *r)
{
    order_block_end(r->host->order);
    r->host->order = NULL;
    order_forget_releases(r->order);
}

/* The sites of its kernels may be freed next, which histories name (compare_lines). */
static void forget_kernels(struct races *r)
{
    pthread_mutex_lock(&r->range_lock);
    if (!r->running) {
        forget_order(r);
        forget_global(r);
    }
    pthread_mutex_unlock(&r->range_lock);
}

void races_free(struct races *r, const struct checker *c)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    struct checker **link = &r->checkers;
    while (*link != c)
        link = &(*link)->race.next;
    *link = c->race.next;
    pthread_mutex_unlock(&r->lock);
    if (c == r->first)
        free_races(r);
    else
        forget_kernels(r);
}

void races_launch_begin(struct races *r)
{
    pthread_mutex_lock(&r->range_lock);
    if (r->running++ == 0 && atomic_load(&r->newest) <= timelines_retired(r->timelines)) {
        forget_order(r);
        if (bytes_of_histories(&r->global) >= KEPT_BYTES || budget_is_short(r->budget) || r->no_memory)
            forget_global(r);
    }
    pthread_mutex_unlock(&r->range_lock);
}

void races_launch_end(struct races *r)
{
    pthread_mutex_lock(&r->range_lock);
    r->running--;
    pthread_mutex_unlock(&r->range_lock);
}

/* ---- tasks that are no launches ---- */

/* With the range's lock held; false without memory. */
static bool begin_task(struct current_access *cur, struct races *r, struct race_block *b, uint32_t kind)
{
    b->worker = race_worker_of(r, NULL);
    b->races = r;
    if (!b->worker || !b->order || !kind)
        atomic_store(&r->no_memory, true);
    if (atomic_load(&r->no_memory)) {
        race_stop_watching(r, NULL);
        return false;
    }
    *cur = (struct current_access){.r = r,
                                   .b = b,
                                   .h = &r->global,
                                   .kind_number = kind,
                                   .kind = race_kind_at(r, kind),
                                   .reservations = &b->worker->reservations};
    return true;
}

static void update_as_task(struct current_access *cur, uint64_t address, uint64_t bytes)
{
    memset(cur->b->recent[0], 0, sizeof cur->b->recent[0]);
    if (cur->kind->strong)
        race_update(cur, address, (uint32_t)bytes, 1);
    else
        race_update_range(cur, address, bytes, 0);
}

/* Handles a range in pieces, between which garbage may be collected. */
enum { PIECE_BYTES = 1 << 20 };

void races_range(struct races *r, uint32_t task, uint64_t address, uint64_t bytes, bool write)
{
    struct current_access cur;
    uint32_t kind = race_kind_of_task(r, timelines_note(r->timelines, task), write);
    pthread_mutex_lock(&r->range_lock);
    struct race_block *b = r->range;
    b->order = order_task_start(r->order, task);
    b->races = r;
    race_set_task(b, task);
    if (b->order)
        order_inherit(b->order, timelines_published(r->timelines, task));
    for (uint64_t at = 0; at < bytes && begin_task(&cur, r, b, kind); at += PIECE_BYTES) {
        update_as_task(&cur, address + at, bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
        race_gc(r);
    }
    order_block_end(b->order);
    b->order = NULL;
    pthread_mutex_unlock(&r->range_lock);
}

/* The host's accesses until it next waits or submits work are one task. What the host has acquired
 * from threads stays known. */
static void set_host_task(struct races *r, uint32_t task)
{
    struct race_block *b = r->host;
    b->races = r;
    if (!b->order || b->task != task)
        b->order = order_host_start(r->order, task, b->order);
    race_set_task(b, task);
}

/* A release is recorded before the write is performed, an acquire after the read: so nobody
 * observes a write that is not recorded yet, and a read counts as having observed all that was
 * written by then. */
static uint32_t host_synchronises(struct current_access *cur, const struct host_access *a, bool done)
{
    struct strong_access s = {.address = a->address,
                              .bytes = (uint32_t)a->bytes,
                              .reads = done,
                              .writes = !done,
                              .acquires = done,
                              .releases = !done,
                              .scope = SCOPE_SYS};
    if (!done) {
        order_release(cur->b->order, 0, 0, &s);
        return 0;
    }
    return order_observe(cur->b->order, 0, 1, &s);
}

uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done)
{
    struct current_access cur;
    uint32_t learnt = 0, kind = race_kind_of_host(r, timelines_note(r->timelines, task), where, a);
    pthread_mutex_lock(&r->range_lock);
    race_gc(r);
    order_lock(r->order);
    set_host_task(r, task);
    if (begin_task(&cur, r, r->host, kind)) {
        if (cur.kind->strong && done)
            learnt = host_synchronises(&cur, a, true);
        if (done != a->write)
            update_as_task(&cur, a->address, a->bytes);
        if (cur.kind->strong && a->write && !done)
            host_synchronises(&cur, a, false);
    }
    if (!a->whole && a->write && !done && r->host->order)
        order_weak_write(r->host->order, a->address, (uint32_t)a->bytes);
    order_unlock(r->order);
    pthread_mutex_unlock(&r->range_lock);
    return learnt;
}

void races_forget(struct races *r, uint64_t address, uint64_t bytes)
{
    pthread_mutex_lock(&r->range_lock);
    cells_forget(&r->cells, address, bytes);
    pthread_mutex_unlock(&r->range_lock);
}
