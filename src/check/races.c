/* Data races; see races.h. Events become accesses (race_now.h) of blocks, of tasks that are no launches, and of the host. */
#include "check/race_now.h"

#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "exec/launch.h"
#include "exec/worker.h"

/* ---- events ---- */

static uint32_t class_of(struct race_block *b, const struct op *op, bool in_vain)
{
    struct race_worker *k = b->worker;
    struct known_op *p = &k->ops[((unsigned)((uintptr_t)op / sizeof *op) + in_vain) % OPS];
    if (p->op != op || p->in_vain != in_vain) {
        p->op = op;
        p->in_vain = in_vain;
        p->class = race_class(b->races, op, in_vain);
    }
    return p->class;
}

static void use_class(struct now *n, uint32_t class)
{
    n->class_number = class;
    n->class = class ? race_class_at(n->r, class) : NULL;
    n->record = 0;
}

static struct race_block *block_of(const struct block *b)
{
    return b->client[CLIENT_RACES];
}

/* Memory has run out. `k`: the kernel of the launch of that number, or NULL. */
static void go_blind(struct races *r, const struct kernel *k, uint64_t launch)
{
    pthread_mutex_lock(&r->lock);
    if (!r->blind.now) {
        r->blind.now = true;
        r->blind.times++;
        if (!r->blind.launch)
            r->blind.launch = k ? arena_printf(&r->arena, "launch %llu, of kernel `%s`", (unsigned long long)launch,
                                               demangle(k->func->symbol.name, &r->arena))
                                : "a copy or a fill";
    }
    pthread_mutex_unlock(&r->lock);
}

static bool begin(struct now *n, const struct access_event *e, struct race_block *b)
{
    const struct launch *l = e->warp->block->launch;
    if (atomic_load_explicit(&b->races->no_memory, memory_order_relaxed)) {
        if (!b->is_blind)
            go_blind(b->races, l->kernel, l->number);
        b->is_blind = true;
        return false;
    }
    n->r = b->races;
    n->b = b;
    n->warp = e->warp->index;
    n->kernel = l->kernel;
    n->shared = e->space == SPACE_SHARED;
    use_class(n, class_of(b, e->op, false));
    n->h = n->shared ? &b->shared : &b->races->global;
    n->stocks = n->shared ? &b->shared_stocks : &b->worker->stocks;
    n->last.record = 0;
    return n->class;
}

/* Shared memory of another block of the cluster: what orders others is followed there, what races is not. */
static bool is_of_other(const struct access_event *e)
{
    return e->owner && e->owner != e->warp->block;
}

/* To be added to addresses: where they are on the host. */
static uint64_t start_of(const struct access_event *e)
{
    return e->owner ? (uint64_t)(uintptr_t)e->owner->shared : 0;
}

/* A place that strong operations have made a sync variable of is written by a weak one. */
static void forget_releases(const struct now *n, const struct access_event *e, uint32_t lanes)
{
    uint64_t from = start_of(e);
    for (; lanes; lanes &= lanes - 1)
        order_weak_write(n->b->order, from + access_address(e, (unsigned)__builtin_ctz(lanes)), e->bytes);
}

/* What comes after this launch comes after what one of its threads has learnt of another task, too. */
static void learn_from_task(const struct now *n, uint32_t task)
{
    if (task)
        strands_learn(n->r->strands, n->b->task, task);
}

static void observe_elements(struct now *n, const struct access_event *e, uint32_t lanes, struct strong_access *s,
                             uint64_t from)
{
    bool returns = e->op->origin->origin->inst->kind != KIND_RED; /* else it is no read of an acquire pattern (8.8) */
    for (uint32_t at = 0; s->reads && returns && at < e->bytes; at += s->bytes) {
        s->address = from + access_address(e, (unsigned)__builtin_ctz(lanes)) + at;
        learn_from_task(n, order_observe(n->b->order, n->warp, lanes, s));
    }
}

static void release_elements(struct now *n, const struct access_event *e, unsigned lane, struct strong_access *s,
                             uint64_t from)
{
    for (uint32_t at = 0; at < e->bytes; at += s->bytes) {
        s->address = from + access_address(e, lane) + at;
        order_release(n->b->order, n->warp, lane, s);
    }
}

/* The next of the lanes that are left, from place *i of their order on: one that has written, or one and those behind it that read the
 * same, as nobody has written there between them. */
static uint32_t next_lanes(const struct access_event *e, unsigned order, uint32_t left, unsigned *i)
{
    uint32_t lanes = 0, wrote = e->wrote & left;
    if (order == 0)
        *i = (unsigned)__builtin_ctz(left);
    if (wrote >> (*i ^ order) & 1)
        return 1u << (*i ^ order);
    if (order == 0 && e->pattern == ACCESS_UNIFORM)
        return left & ((wrote & (0 - wrote)) - 1);
    for (uint64_t address = 0; *i < WARP_LANES; ++*i) {
        unsigned l = *i ^ order;
        if (!(left >> l & 1))
            continue;
        if (lanes && (wrote >> l & 1 || access_address(e, l) != address))
            break;
        lanes |= 1u << l;
        address = access_address(e, l);
        if (wrote >> l & 1)
            break;
    }
    return lanes;
}

/* Lanes one after the other, as they have performed it. */
static void touch_strong(struct now *n, const struct access_event *e)
{
    const struct mem_access *x = &e->op->access->mem;
    uint64_t from = start_of(e);
    struct strong_access s = {.bytes = x->bytes,
                              .acquires = x->order == ORDER_ACQUIRE || x->order == ORDER_ACQ_REL,
                              .releases = x->order == ORDER_RELEASE || x->order == ORDER_ACQ_REL,
                              .reads = e->reads,
                              .owner = n->shared ? block_of(e->owner)->order->number : 0,
                              .reach = order_reach((enum isa_mod)x->scope)};
    unsigned order = e->op->kind == OP_ST ? mem_access_store_order(x) : 0;
    race_fetch(n, e);
    unsigned i = 0;
    for (uint32_t left = e->lanes, lanes; left; left &= ~lanes) {
        lanes = next_lanes(e, order, left, &i);
        unsigned l = (unsigned)__builtin_ctz(lanes);
        s.writes = e->wrote >> l & 1;
        use_class(n, class_of(n->b, e->op, e->writes && !s.writes));
        if (n->b->traits.releases)
            observe_elements(n, e, lanes, &s, from);
        if (n->class && !is_of_other(e))
            race_touch(n, access_address(e, l), e->bytes, lanes);
        if (n->b->traits.releases && s.writes)
            release_elements(n, e, l, &s, from);
    }
}

/* mbarrier.inval: libcu++'s pipelines have it done by a lane that match.sync alone orders behind the arrivals of the others, which is
 * nothing to the memory model. */
static bool is_invalidation(const struct op *o)
{
    return o->kind == OP_MBARRIER && o->mode == MBARRIER_INVAL;
}

/* Asynchronous copies are not followed. */
static bool is_watched(const struct access_event *e)
{
    return block_of(e->warp->block) && !e->is_async && (e->space == SPACE_GLOBAL || e->space == SPACE_SHARED) &&
           e->op->access && !e->op->access->mem.is_const && !is_invalidation(e->op);
}

static bool is_cas(const struct op *o)
{
    return o->kind == OP_ATOM && o->access->mem.atom == ATOM_cas;
}

/* Must it be known what the access has seen, or whether it has written? */
static bool waits_for_result(const struct race_block *b, const struct access_event *e)
{
    return e->strong && (b->traits.releases || b->traits.stores_strongly || is_cas(e->op));
}

/* Then others wait until it has been performed: what is told of is in the order of memory. Shared memory is its worker's. */
static bool holds_order(const struct race_block *b, const struct access_event *e)
{
    return e->strong && (b->traits.releases || (b->traits.stores_strongly && e->space == SPACE_GLOBAL));
}

static void on_access(void *data, const struct access_event *e)
{
    struct now n;
    struct race_block *b = block_of(e->warp->block);
    (void)data;
    if (!is_watched(e))
        return;
    race_collect(b->races);
    race_collect_shared(b);
    if (holds_order(b, e))
        order_lock(b->races->order);
    if (waits_for_result(b, e))
        return;
    if (!begin(&n, e, b))
        return;
    if (!is_of_other(e))
        race_touch_event(&n, e, e->lanes);
    if (e->writes && !e->strong && b->traits.releases)
        forget_releases(&n, e, e->lanes);
}

/* Lanes one by one where it makes a difference which was the last. */
static void touch_performed(struct now *n, const struct access_event *e)
{
    if (n->b->traits.releases || is_cas(e->op) || (e->op->kind == OP_ST && e->pattern != ACCESS_LINEAR))
        touch_strong(n, e);
    else if (!is_of_other(e))
        race_touch_event(n, e, e->lanes);
}

static void on_performed(void *data, const struct access_event *e)
{
    struct now n;
    struct race_block *b = block_of(e->warp->block);
    (void)data;
    if (!is_watched(e) || !waits_for_result(b, e))
        return;
    if (begin(&n, e, b))
        touch_performed(&n, e);
    if (holds_order(b, e))
        order_unlock(b->races->order);
}

/* What is known of them by number holds for a generation; make_block() says whose are which. */
static void clear_histories(struct histories *h, uint64_t keep_bytes)
{
    numbered_clear(&h->records, keep_bytes);
    numbered_clear(&h->histories, keep_bytes);
    numbered_clear(&h->splits, keep_bytes);
    h->due = false;
    h->generation += 2;
}

/* What a block that has needed more keeps of the memory of its histories, and what these may be until they are made anew. */
enum { FEW_BYTES = 256 << 10, MANY_BYTES = 1 << 20 };

static void clear_shared(struct race_block *b)
{
    clear_histories(&b->shared, FEW_BYTES);
    b->shared_stocks = (struct stocks){0};
}

/* A phase of shared memory ends, at a stamp, all of whose accesses are before what comes. What is known of its histories holds in the next one, too,
 * if nothing has ordered accesses within it: then it depends on warps, lanes and operations alone. */
static void end_phase(struct race_block *b, uint32_t stamp)
{
    bool is_plain = !b->order->irregular && stamp == b->shared_from;
    if (b->touched_from < b->touched_to)
        memset((void *)(b->shared_cells + b->touched_from), 0,
               (b->touched_to - b->touched_from) * sizeof *b->shared_cells);
    b->touched_from = UINT32_MAX;
    b->touched_to = 0;
    b->phase++;
    if (!is_plain || numbered_bytes(&b->shared.histories) > MANY_BYTES)
        clear_shared(b);
}

/* Behind a barrier of all its threads, whose accesses have another stamp now, nothing in shared memory can race with what was before. */
static void barrier_opens(struct race_block *b, const struct sync_event *e)
{
    uint32_t was = b->order->stamp;
    if (e->id >= BARRIERS || !order_barrier_opens(b->order, e) || b->order->least_exit_floor != UINT32_MAX)
        return;
    end_phase(b, was);
    b->shared_from = b->order->floor;
}

static enum reach fence_reach(const struct isa_inst *i)
{
    return order_reach(isa_has(i, MOD_cta)       ? MOD_cta
                       : isa_has(i, MOD_cluster) ? MOD_cluster
                       : isa_has(i, MOD_sys)     ? MOD_sys
                                                 : MOD_gpu);
}

static void fence(struct race_block *b, const struct sync_event *e)
{
    const struct isa_inst *i = e->op->origin->origin->inst;
    bool acquire_only = isa_has(i, MOD_acquire), release_only = isa_has(i, MOD_release);
    order_fence(b->order, e->warp->index, e->lanes, !release_only, !acquire_only, fence_reach(i));
}

/* The object may be another block's. */
static void mbarrier(struct race_block *owner, const struct sync_event *e)
{
    struct race_block *b = block_of(e->warp->block);
    for (uint32_t lanes = b ? e->lanes : 0; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        if (e->kind == SYNC_MBARRIER_ARRIVE)
            order_mbarrier_arrive(b->order, e->warp->index, lane, owner->order, e);
        else
            order_mbarrier_wait(b->order, e->warp->index, lane, owner->order, e);
    }
}

static void on_sync(void *data, const struct sync_event *e)
{
    struct race_block *b = block_of(e->block);
    (void)data;
    if (!b)
        return;
    switch (e->kind) {
    case SYNC_BARRIER_OPEN: barrier_opens(b, e); break;
    case SYNC_BARRIER_ARRIVE:
        if (e->op->mode == BAR_ARRIVE)
            order_barrier_arrive(b->order, e->warp->index, e->lanes, e->id);
        break;
    case SYNC_COLLECTIVE:
        if (e->op->mode == COLLECTIVE_SYNC) /* of shfl, vote, match and redux the ISA says nothing about memory */
            order_warp_meets(b->order, e->warp, e->lanes);
        break;
    case SYNC_FENCE: fence(b, e); break;
    case SYNC_CLUSTER_ARRIVE:
        order_cluster_arrive(b->order, e->warp->index, e->lanes, e->order == ORDER_RELEASE);
        break;
    case SYNC_CLUSTER_OPEN: order_cluster_opens(b->order); break;
    case SYNC_CLUSTER_WAIT: order_cluster_wait(b->order, e->warp->index, e->lanes); break;
    case SYNC_MBARRIER_ARRIVE:
    case SYNC_MBARRIER_WAIT: mbarrier(b, e); break;
    case SYNC_EXIT: order_exit(b->order, e->warp, e->lanes); break;
    default: break;
    }
}

/* ---- kernels ---- */

static bool is_const_row(row_ref r)
{
    return (r & 3) == ROW_CONST;
}

static bool has_full_mask(const struct code *c, const struct op *o)
{
    return is_const_row(o->f) && *(const uint32_t *)(c->consts + (o->f & ~3u)) == UINT32_MAX;
}

static void add_traits(struct kernel_traits *t, const struct code *c, const struct op *o)
{
    const struct mem_access *m = o->kind == OP_LD || o->kind == OP_ST || o->kind == OP_ATOM ? &o->access->mem : NULL;
    t->accesses += m != NULL;
    t->accesses += is_cas(o); /* it is another one in vain */
    if (o->kind == OP_FENCE || (m && m->order > ORDER_RELAXED))
        t->releases = t->irregular = true;
    t->stores_strongly |= o->kind == OP_ST && mem_access_is_strong(m);
    if (o->kind == OP_FENCE ? fence_reach(o->origin->origin->inst) < REACH_GPU
                            : m && (m->order == ORDER_ACQUIRE || m->order == ORDER_ACQ_REL) &&
                                  order_reach((enum isa_mod)m->scope) < REACH_GPU)
        t->acquires_narrowly = true;
    if (o->kind == OP_MBARRIER)
        t->irregular = true;
    if (o->kind == OP_BAR &&
        (o->mode == BAR_ARRIVE || o->mode == BAR_CLUSTER_ARRIVE || o->has_b || !is_const_row(o->a)))
        t->irregular = true;
    if (o->kind == OP_COLLECTIVE && o->mode == COLLECTIVE_SYNC && !has_full_mask(c, o))
        t->irregular = true;
}

static struct kernel_traits traits_of(const struct kernel *k)
{
    struct kernel_traits t = {.kernel = k};
    for (uint32_t f = 0; f < k->functions.n; f++)
        for (uint32_t i = 0; i < k->functions.at[f]->n_ops; i++)
            add_traits(&t, k->functions.at[f], &k->functions.at[f]->ops[i]);
    return t;
}

static struct kernel_traits find_traits(struct races *r, const struct kernel *k)
{
    struct kernel_traits t = {
        .kernel = k, .releases = true, .acquires_narrowly = true, .stores_strongly = true, .irregular = true};
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->kernels.n; i++)
        if (r->kernels.at[i].kernel == k)
            t = r->kernels.at[i];
    pthread_mutex_unlock(&r->lock);
    return t;
}

/* ---- blocks ---- */

static struct race_worker *worker_of(struct races *r, const struct worker *of)
{
    struct race_worker *k = atomic_load(&r->workers);
    while (k && k->of != of)
        k = k->next;
    if (k || !(k = calloc(1, sizeof *k)))
        return k;
    k->of = of;
    k->next = atomic_load(&r->workers);
    while (!atomic_compare_exchange_weak(&r->workers, &k->next, k))
        ;
    return k;
}

/* Of the launch that a block is of. */
static struct kernel_traits traits_for(struct race_worker *k, struct races *r, const struct launch *launch)
{
    if (k->launch != launch->number || k->traits.kernel != launch->kernel) {
        k->traits = find_traits(r, launch->kernel);
        k->launch = launch->number;
    }
    return k->traits;
}

static bool open_histories(struct histories *h, uint32_t records, uint32_t histories, uint32_t splits,
                           struct budget *budget)
{
    return numbered_open(&h->records, sizeof(struct record), records, budget) &&
           numbered_open(&h->histories, HISTORY_UNIT, histories, budget) &&
           numbered_open(&h->splits, sizeof(struct split), splits, budget);
}

static void close_histories(struct histories *h)
{
    numbered_close(&h->records);
    numbered_close(&h->histories);
    numbered_close(&h->splits);
}

static void free_block(struct race_block *b)
{
    if (!b)
        return;
    order_block_end(b->order);
    close_histories(&b->shared);
    free((void *)b->shared_cells);
    free(b->recent);
    free(b->recent_shared);
    free(b);
}

static bool make_recent(struct race_block *b, uint32_t n_warps, const struct kernel_traits *t)
{
    uint32_t each = 16;
    while (each < t->accesses && each < RECENT_SHARED_MOST)
        each *= 2;
    if (b->recent_shared && each == b->recent_each)
        return true;
    free(b->recent_shared);
    b->recent_shared = calloc(n_warps, each * sizeof *b->recent_shared);
    b->recent_each = each;
    return b->recent_shared;
}

/* Generations of shared histories are odd, and of no two blocks of a worker the same; that of the global ones is even. */
static struct race_block *make_block(const struct block *block, struct budget *budget)
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
    if (!b->shared_cells || !b->recent || !open_histories(&b->shared, 1u << 24, 1u << 23, 1u << 22, budget)) {
        free((void *)b->shared_cells);
        free(b->recent);
        free(b);
        return NULL;
    }
    b->touched_from = UINT32_MAX;
    b->phase = 1;
    return b;
}

/* One that the worker has left over, where it is large enough. */
static struct race_block *reuse_block(struct race_worker *k, const struct block *block)
{
    struct race_block *b = k->free_blocks;
    if (!b)
        return NULL;
    k->free_blocks = b->next;
    uint32_t words = (block->launch->shared_bytes + 3) / 4 + 1;
    if (words > b->shared_words || block->n_warps > b->n_warps) {
        free_block(b);
        return NULL;
    }
    end_phase(b, b->order->stamp);
    if (b->launch != block->launch->number)
        clear_shared(b);
    for (uint32_t w = 0; w < block->n_warps; w++)
        memset(b->recent[w], 0, sizeof b->recent[w]);
    order_block_end(b->order);
    b->order = NULL;
    return b;
}

static void set_task(struct race_block *b, uint32_t task)
{
    const struct strands *s = b->races->strands;
    uint32_t newest = atomic_load(&b->races->newest);
    while (newest < task && !atomic_compare_exchange_weak(&b->races->newest, &newest, task))
        ;
    b->task = task;
    b->floor = strands_floor(s, task);
    b->settled = strands_settled(s);
}

static void join_cluster(struct race_block *b, const struct block *block)
{
    for (const struct block *peer = block->peer; peer && peer != block; peer = peer->peer)
        if (block_of(peer)) {
            order_join_cluster(b->order, block_of(peer)->order);
            return;
        }
}

/* It makes no accesses that could say so. */
static void block_without_memory(struct races *r, const struct block *block)
{
    atomic_store(&r->no_memory, true);
    go_blind(r, block->launch->kernel, block->launch->number);
}

static void block_starts(struct races *r, struct block *block)
{
    struct race_worker *k = worker_of(r, block->worker);
    struct race_block *b = k ? reuse_block(k, block) : NULL;
    block->client[CLIENT_RACES] = NULL;
    if (!k || (!b && !(b = make_block(block, r->budget)))) {
        block_without_memory(r, block);
        return;
    }
    b->races = r;
    b->worker = k;
    b->is_blind = false;
    b->traits = traits_for(k, r, block->launch);
    b->launch = block->launch->number;
    if (b->traits.acquires_narrowly)
        order_part_releases(r->order);
    set_task(b, block->launch->task);
    b->order = make_recent(b, b->n_warps, &b->traits) ? order_block_start(r->order, block, b->task) : NULL;
    if (b->order) {
        b->shared_from = b->order->floor;
        block->client[CLIENT_RACES] = b;
        join_cluster(b, block);
        return;
    }
    block_without_memory(r, block);
    free_block(b);
}

static void block_ends(struct block *block)
{
    struct race_block *b = block_of(block);
    if (!b)
        return;
    order_block_ended(b->order);
    b->next = b->worker->free_blocks;
    b->worker->free_blocks = b;
    block->client[CLIENT_RACES] = NULL;
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    if (e->kind == SCHEDULE_BLOCK_START)
        block_starts(data, (struct block *)e->block);
    else if (e->kind == SCHEDULE_BLOCK_END)
        block_ends((struct block *)e->block);
}

/* What malloc gives has no past: free and malloc are in the machine's hands. */
static void on_heap(void *data, const struct heap_event *e)
{
    if (!e->is_free)
        races_forget(data, e->p, e->bytes);
}

/* ---- life ---- */

/* Of one thread. */
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

struct races *races_new(struct machine *m, struct strands *strands, struct budget *budget)
{
    struct races *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->machine = m;
    r->strands = strands;
    r->budget = budget;
    cells_open(&r->cells, budget);
    r->order = order_new(budget);
    if (!r->order || !open_histories(&r->global, 1u << 30, CELL_HISTORY, 1u << 28, budget) ||
        !numbered_open(&r->classes, sizeof(struct access_class), 1u << 24, NULL)) {
        order_free(r->order);
        free(r);
        return NULL;
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->range_lock, NULL);
    r->range = make_task_block();
    r->host = make_task_block();
    if (!r->range || !r->host) {
        races_free(r);
        return NULL;
    }
    r->regular = (struct hooks){.data = r,
                                .access = on_access,
                                .performed = on_performed,
                                .sync = on_sync,
                                .sync_kinds = 1u << SYNC_BARRIER_OPEN | 1u << SYNC_COLLECTIVE | 1u << SYNC_FENCE |
                                              1u << SYNC_EXIT,
                                .heap = on_heap,
                                .schedule = on_schedule};
    r->irregular = r->regular;
    r->irregular.sync_kinds |= 1u << SYNC_BARRIER_ARRIVE | 1u << SYNC_CLUSTER_ARRIVE | 1u << SYNC_CLUSTER_OPEN |
                               1u << SYNC_CLUSTER_WAIT | 1u << SYNC_MBARRIER_ARRIVE | 1u << SYNC_MBARRIER_WAIT;
    return r;
}

void races_free(struct races *r)
{
    if (!r)
        return;
    for (struct race_worker *k = r->workers, *next; k; k = next) {
        next = k->next;
        for (struct race_block *b = k->free_blocks, *more; b; b = more) {
            more = b->next;
            free_block(b);
        }
        free(k);
    }
    free_task_block(r->range);
    free_task_block(r->host);
    close_histories(&r->global);
    numbered_close(&r->classes);
    cells_close(&r->cells);
    order_free(r->order);
    arena_free(&r->arena);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

const struct hooks *races_hooks(struct races *r, const struct kernel *k)
{
    return find_traits(r, k).irregular ? &r->irregular : &r->regular;
}

void races_begin(struct races *r, const struct kernel *k)
{
    struct kernel_traits t = traits_of(k);
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->kernels.n; i++)
        if (r->kernels.at[i].kernel == k)
            r->kernels.at[i] = r->kernels.at[--r->kernels.n];
    *VEC_PUSH(&r->arena, &r->kernels) = t;
    pthread_mutex_unlock(&r->lock);
}

/* ---- what is settled ---- */

/* Of histories that tell nothing any more so much is kept: they cost time to take anew. */
enum { KEPT_BYTES = 4 << 20 };

static uint64_t bytes_of_histories(const struct histories *h)
{
    return numbered_bytes(&h->records) + numbered_bytes(&h->histories) + numbered_bytes(&h->splits);
}

static void forget_global(struct races *r)
{
    uint64_t keep_bytes = UINT64_MAX;
    if (budget_is_short(r->budget) || r->no_memory) {
        cells_close(&r->cells);
        keep_bytes = 0;
    }
    cells_clear(&r->cells);
    clear_histories(&r->global, keep_bytes);
    for (struct race_worker *k = r->workers; k; k = k->next)
        k->stocks = (struct stocks){0};
    order_forget_instances(r->order);
    atomic_store(&r->newest, 0);
    r->blind.now = false;
    atomic_store(&r->no_memory, false);
}

void races_rest(struct races *r)
{
    pthread_mutex_lock(&r->range_lock);
    if (atomic_load(&r->newest) <= strands_settled(r->strands)) {
        order_block_end(r->host->order);
        r->host->order = NULL;
        order_forget_releases(r->order);
        if (bytes_of_histories(&r->global) >= KEPT_BYTES || budget_is_short(r->budget) || r->no_memory)
            forget_global(r);
    }
    pthread_mutex_unlock(&r->range_lock);
}

/* ---- tasks that are no launches ---- */

/* Its block stands for one thread. With the range's lock held; false where memory is exhausted. */
static bool begin_task(struct now *n, struct races *r, struct race_block *b, uint32_t class)
{
    b->worker = worker_of(r, NULL);
    b->races = r;
    if (!b->worker || !b->order || !class)
        atomic_store(&r->no_memory, true);
    if (atomic_load(&r->no_memory)) {
        go_blind(r, NULL, 0);
        return false;
    }
    *n = (struct now){.r = r,
                      .b = b,
                      .h = &r->global,
                      .class_number = class,
                      .class = race_class_at(r, class),
                      .stocks = &b->worker->stocks};
    return true;
}

static void touch_as_task(struct now *n, uint64_t address, uint64_t bytes)
{
    memset(n->b->recent[0], 0, sizeof n->b->recent[0]);
    if (n->class->strong)
        race_touch(n, address, (uint32_t)bytes, 1);
    else
        race_touch_range(n, address, bytes);
}

/* Of a range at a time: then histories may be due to be collected. */
enum { PIECE_BYTES = 1 << 20 };

void races_range(struct races *r, uint32_t task, const void *p, uint64_t bytes, bool write)
{
    struct now n;
    uint32_t class = race_class_of_task(r, strands_note(r->strands, task), write);
    pthread_mutex_lock(&r->range_lock);
    struct race_block *b = r->range;
    b->order = order_task_start(r->order, task);
    b->races = r;
    set_task(b, task);
    for (uint64_t at = 0; at < bytes && begin_task(&n, r, b, class); at += PIECE_BYTES) {
        touch_as_task(&n, (uint64_t)(uintptr_t)p + at, bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
        race_collect(r);
    }
    order_block_end(b->order);
    b->order = NULL;
    pthread_mutex_unlock(&r->range_lock);
}

/* Its accesses until it waits or submits are one task; what it has learnt from threads it knows for good. */
static void set_host_task(struct races *r, uint32_t task)
{
    struct race_block *b = r->host;
    b->races = r;
    if (!b->order || b->task != task)
        b->order = order_host_start(r->order, task, b->order);
    set_task(b, task);
}

/* What releases is told before it is done, what acquires when it is: so nobody observes what is not told yet, and a read is taken
 * for one that has seen all that had been written when it is told. */
static uint32_t host_synchronises(struct now *n, const struct host_access *a, bool done)
{
    struct strong_access s = {.address = a->address,
                              .bytes = (uint32_t)a->bytes,
                              .reads = done,
                              .writes = !done,
                              .acquires = done,
                              .releases = !done,
                              .reach = REACH_SYS};
    if (!done) {
        order_release(n->b->order, 0, 0, &s);
        return 0;
    }
    return order_observe(n->b->order, 0, 1, &s);
}

uint32_t races_host(struct races *r, uint32_t task, const void *where, const struct host_access *a, bool done)
{
    struct now n;
    uint32_t learnt = 0, class = race_class_of_host(r, strands_note(r->strands, task), where, a);
    pthread_mutex_lock(&r->range_lock);
    race_collect(r);
    order_lock(r->order);
    set_host_task(r, task);
    if (begin_task(&n, r, r->host, class)) {
        if (n.class->strong && done)
            learnt = host_synchronises(&n, a, true);
        if (done != a->write)
            touch_as_task(&n, a->address, a->bytes);
        if (n.class->strong && a->write && !done)
            host_synchronises(&n, a, false);
    }
    order_unlock(r->order);
    if (!a->whole && a->write && !done && r->host->order)
        order_weak_write(r->host->order, a->address, (uint32_t)a->bytes);
    pthread_mutex_unlock(&r->range_lock);
    return learnt;
}

void races_forget(struct races *r, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&r->range_lock);
    cells_forget(&r->cells, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&r->range_lock);
}
