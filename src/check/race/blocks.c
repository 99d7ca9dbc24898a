/* What the race detector keeps of kernels, workers and the blocks that run. */
#include "check/race/current.h"

#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"

/* ---- kernels ---- */

static void add_traits(struct kernel_traits *t, const struct site *s)
{
    bool stores = s->kind == SITE_STORE;
    const struct mem_access *m = s->kind == SITE_LOAD || stores || site_is_atomic(s) ? &s->access : NULL;
    t->accesses += m != NULL;
    t->accesses += s->kind == SITE_COPY ? 2 : 0; /* what it reads, what it writes */
    t->accesses += site_is_cas(s);               /* one that fails is another access */
    bool fences = s->kind == SITE_FENCE && s->order != ORDER_WEAK;
    t->irregular |= s->kind == SITE_FENCE || s->kind == SITE_MBARRIER;
    if (fences || (m && m->order > ORDER_RELAXED))
        t->releases = t->irregular = true;
    t->writes_weakly |= stores && !mem_access_is_strong(m) && m->space != SPACE_SHARED && m->space != SPACE_LOCAL;
    t->stores_strongly |= stores && mem_access_is_strong(m);
    bool acquires = m && (m->order == ORDER_ACQUIRE || m->order == ORDER_ACQ_REL);
    t->acquires |= acquires;
    if (fences ? order_scope((enum isa_mod)s->scope) < SCOPE_GPU
               : acquires && order_scope((enum isa_mod)m->scope) < SCOPE_GPU)
        t->acquires_narrowly = true;
    if ((s->kind == SITE_BARRIER || (s->kind == SITE_COLLECTIVE && s->mode == COLLECTIVE_SYNC)) && !s->whole)
        t->irregular = true;
}

struct kernel_traits race_traits_of(const struct site_table *k)
{
    struct kernel_traits t = {.kernel = k};
    for (uint32_t i = 0; i < k->n; i++)
        add_traits(&t, &k->at[i]);
    return t;
}

/* ---- blocks ---- */

void race_stop_watching(struct races *r, const struct event_launch *launch)
{
    pthread_mutex_lock(&r->lock);
    if (!r->unwatched.now) {
        r->unwatched.now = true;
        r->unwatched.times++;
        if (!r->unwatched.launch)
            r->unwatched.launch =
                launch ? arena_printf(&r->arena, "launch %llu, of kernel `%s`", (unsigned long long)launch->number,
                                      demangle(launch->kernel->kernel, &r->arena))
                       : "a copy or a fill";
    }
    pthread_mutex_unlock(&r->lock);
}

/* Cached numbers are valid for a generation: see make_block(). */
void race_clear_histories(struct histories *h, uint64_t keep_bytes)
{
    numbered_clear(&h->site_epochs, keep_bytes);
    numbered_clear(&h->histories, keep_bytes);
    numbered_clear(&h->splits, keep_bytes);
    h->gc_due = false;
    h->generation += 2;
}

/* How much memory of its histories a block keeps, and how much they may take before they are
 * cleared. */
enum { FEW_BYTES = 256 << 10, MANY_BYTES = 1 << 20 };

static void clear_shared(struct race_block *b)
{
    race_clear_histories(&b->shared, FEW_BYTES);
    b->shared_reservations = (struct reservations){0};
}

/* Histories and transitions stay valid in the next phase if nothing has ordered accesses within
 * this one: then they depend on warps, lanes and operations only. */
void race_end_phase(struct race_block *b, uint32_t epoch)
{
    bool is_plain = !b->order->irregular && epoch == b->shared_from;
    race_phase_ends(&b->phases, is_plain);
    if (b->updated_from < b->updated_to)
        memset((void *)(b->shared_cells + b->updated_from), 0,
               (b->updated_to - b->updated_from) * sizeof *b->shared_cells);
    b->updated_from = UINT32_MAX;
    b->updated_to = 0;
    b->phase++;
    if (!is_plain || numbered_bytes(&b->shared.histories) > MANY_BYTES)
        clear_shared(b);
}

struct race_worker *race_worker_of(struct races *r, const void *of)
{
    struct race_worker *k = atomic_load(&r->workers);
    while (k && k->of != of)
        k = k->next;
    if (k || !(k = aligned_alloc(_Alignof(struct race_worker), sizeof *k)))
        return k;
    memset(k, 0, sizeof *k);
    k->of = of;
    k->next = atomic_load(&r->workers);
    while (!atomic_compare_exchange_weak(&r->workers, &k->next, k))
        ;
    return k;
}

/* The traits of the kernel of a launch. */
static struct kernel_traits traits_for(struct race_worker *k, const struct event_launch *launch)
{
    if (k->launch != launch->number || k->traits.kernel != launch->kernel) {
        k->traits = race_traits_of(launch->kernel);
        k->written = k->traits.irregular ? (struct event_writes){0} : written_by(launch);
        k->launch = launch->number;
    }
    return k->traits;
}

bool race_open_histories(struct histories *h, uint32_t site_epochs, uint32_t histories, uint32_t splits,
                         struct budget *budget)
{
    return numbered_open(&h->site_epochs, sizeof(struct site_epoch), site_epochs, budget) &&
           numbered_open(&h->histories, HISTORY_UNIT, histories, budget) &&
           numbered_open(&h->splits, sizeof(struct split), splits, budget);
}

void race_close_histories(struct histories *h)
{
    numbered_close(&h->site_epochs);
    numbered_close(&h->histories);
    numbered_close(&h->splits);
}

void race_free_block(struct race_block *b)
{
    if (!b)
        return;
    order_block_end(b->order);
    race_close_histories(&b->shared);
    race_phases_free(&b->phases);
    free((void *)b->shared_cells);
    free(b->recent);
    free(b->recent_shared);
    free(b);
}

static bool make_recent(struct race_block *b)
{
    uint32_t each = 16;
    while (each < b->traits.accesses && each < RECENT_SHARED_MOST)
        each *= 2;
    if (b->recent_shared && each == b->recent_each)
        return true;
    free(b->recent_shared);
    b->recent_shared = calloc(b->n_warps, each * sizeof *b->recent_shared);
    b->recent_each = each;
    return b->recent_shared;
}

/* Generations of shared histories are odd, and differ between the blocks of a worker; those of
 * global ones are even. */
static struct race_block *make_block(const struct event_block *block, struct budget *budget)
{
    static _Atomic uint32_t generations;
    struct race_block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->shared_words = (block->launch->shared_bytes + 3) / 4 + 1;
    b->shared_cells = calloc(b->shared_words, sizeof *b->shared_cells);
    b->recent = calloc(block->n_warps, sizeof *b->recent);
    b->n_warps = block->n_warps;
    b->shared.generation = 1 + (atomic_fetch_add(&generations, 1) << 20);
    if (!b->shared_cells || !b->recent || !race_open_histories(&b->shared, 1u << 24, 1u << 23, 1u << 22, budget)) {
        free((void *)b->shared_cells);
        free(b->recent);
        free(b);
        return NULL;
    }
    b->updated_from = UINT32_MAX;
    b->phase = 1;
    b->launch = UINT64_MAX;
    return b;
}

/* The worker's last free record, where it is large enough. */
static struct race_block *reuse_block(struct race_worker *k, const struct event_block *block)
{
    struct race_block *b = k->free_blocks;
    if (!b)
        return NULL;
    k->free_blocks = b->next;
    uint32_t words = (block->launch->shared_bytes + 3) / 4 + 1;
    if (words > b->shared_words || block->n_warps > b->n_warps) {
        race_free_block(b);
        return NULL;
    }
    race_end_phase(b, b->order->epoch);
    if (b->launch != block->launch->number)
        clear_shared(b);
    for (uint32_t w = 0; w < block->n_warps; w++)
        memset(b->recent[w], 0, sizeof b->recent[w]);
    order_block_end(b->order);
    b->order = NULL;
    return b;
}

void race_set_task(struct race_block *b, uint32_t task)
{
    const struct timelines *s = b->races->timelines;
    uint32_t newest = atomic_load(&b->races->newest);
    while (newest < task && !atomic_compare_exchange_weak(&b->races->newest, &newest, task))
        ;
    b->task = task;
    b->frontier = timelines_frontier(s, task);
    b->retired = timelines_retired(s);
}

static void join_cluster(struct race_block *b, const struct event_block *block)
{
    for (const struct event_block *peer = block->peer; peer && peer != block; peer = peer->peer)
        if (race_block_of(peer)) {
            order_join_cluster(b->order, race_block_of(peer)->order);
            return;
        }
}

/* The block has no record by which its accesses could report that. */
static void block_without_memory(struct races *r, const struct event_block *block)
{
    atomic_store(&r->no_memory, true);
    race_stop_watching(r, block->launch);
}

unsigned race_slot;

void race_block_starts(struct races *r, struct event_block *block)
{
    struct race_worker *k = race_worker_of(r, block->worker);
    struct race_block *b = k ? reuse_block(k, block) : NULL;
    if (!k || (!b && !(b = make_block(block, r->budget)))) {
        block_without_memory(r, block);
        return;
    }
    b->races = r;
    b->worker = k;
    b->is_unwatched = false;
    b->traits = traits_for(k, block->launch);
    b->written = k->written;
    bool is_of_new_launch = b->launch != block->launch->number;
    b->launch = block->launch->number;
    race_set_task(b, block->launch->task);
    b->order = make_recent(b) ? order_block_start(r->order, block, b->task) : NULL;
    if (b->order) {
        order_inherit(b->order, timelines_published(r->timelines, b->task));
        b->shared_from = b->order->frontier;
        event_keep(block, race_slot, b);
        join_cluster(b, block);
        b->is_clustered = block->launch->blocks_per_cluster > 1 && block->launch->kernel->clustered;
        if (b->is_clustered)
            race_clear_shared(r, block);
        race_phases_begin(&b->phases, !b->traits.irregular && !b->is_clustered && !block->launch->kernel->has_async,
                          is_of_new_launch);
        return;
    }
    block_without_memory(r, block);
    race_free_block(b);
}

struct clock *races_publish(const struct event_block *block, unsigned warp, unsigned lane)
{
    struct race_block *b = race_slot ? race_block_of(block) : NULL;
    return b && b->order ? order_publish_all(b->order, warp, lane) : NULL;
}

void race_block_ends(struct event_block *block)
{
    struct race_block *b = race_block_of(block);
    if (!b)
        return;
    if (b->is_clustered)
        race_check_ends(b, block);
    order_block_ended(b->order);
    b->next = b->worker->free_blocks;
    b->worker->free_blocks = b;
    event_keep(block, race_slot, NULL);
}
