/* Blocks: setting one up, letting its warps take turns, putting it away. */
#include "exec/block.h"
#include "exec/access.h"
#include "exec/device.h"
#include "exec/fault.h"
#include "exec/emit_events.h"
#include "exec/interp.h"
#include "exec/launch.h"
#include "exec/lockstep.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/rows.h"
#include "exec/spin_cost.h"
#include "exec/stall.h"
#include "exec/worker.h"

static void splat_row(uint8_t *row, unsigned width, uint64_t value)
{
    if (width == 1) {
        uint32_t mask = value ? UINT32_MAX : 0;
        memcpy(row, &mask, 4);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(row + l * width / 8, &value, width / 8);
}

/* The place of a block's cluster among the clusters, or of the block in its cluster, in one
 * direction. */
static uint32_t cluster_of(const struct block *b, unsigned c)
{
    return c < 3 ? b->ctaid[c] / b->launch->request->dims.cluster[c] : 0;
}

static uint32_t place_in_cluster(const struct block *b, unsigned c)
{
    return c < 3 ? b->ctaid[c] % b->launch->request->dims.cluster[c] : 0;
}

/* As on an H200: each block has a window of addresses by its rank, and at its start what the system
 * keeps. A kernel for which the blocks of a cluster need not be told apart has its shared memory at
 * 0. */
static uint32_t start_of_shared(const struct block *b)
{
    const struct launch *l = b->launch;
    if (!l->kernel->clustered)
        return 0;
    return (block_rank(b) << SHARED_WINDOW_LOG2) + l->machine->model->shared_bytes_reserved;
}

/* The value of a special register that holds for a block or longer. */
static uint64_t block_value(const struct block *b, uint32_t sreg)
{
    const struct launch *l = b->launch;
    const struct launch_dims *dims = &l->request->dims;
    unsigned c = sreg % 4;
    if (sreg == IR_PARAM_BASE)
        return (uint64_t)(uintptr_t)l->params;
    if (sreg == IR_SHARED_START)
        return b->shared_start;
    if (sreg >= IR_ENVREG) { /* 1 and 2: the upper and the lower half of an address */
        uint64_t barrier = (uint64_t)(uintptr_t)l->grid_barrier;
        return sreg == IR_ENVREG + 1 ? barrier >> 32 : sreg == IR_ENVREG + 2 ? (uint32_t)barrier : 0;
    }
    switch ((enum isa_sreg)(sreg / 4)) {
    case SREG_ntid: return c < 3 ? dims->block[c] : 1;
    case SREG_ctaid: return c < 3 ? b->ctaid[c] : 0;
    case SREG_nctaid: return c < 3 ? dims->grid[c] : 1;
    case SREG_clusterid: return cluster_of(b, c);
    case SREG_nclusterid: return c < 3 ? dims->grid[c] / dims->cluster[c] : 1;
    case SREG_cluster_ctaid: return place_in_cluster(b, c);
    case SREG_cluster_nctaid: return c < 3 ? dims->cluster[c] : 1;
    case SREG_cluster_ctarank: return block_rank(b);
    case SREG_cluster_nctarank: return l->blocks_per_cluster;
    case SREG_is_explicit_cluster: return dims->explicit_cluster;
    case SREG_nwarpid: return l->machine->model->max_threads / WARP_LANES;
    case SREG_smid: return b->worker->id % l->machine->model->multiprocessors;
    case SREG_nsmid: return l->machine->model->multiprocessors;
    case SREG_gridid: return l->number;
    case SREG_current_graph_exec: return l->request->graph;
    case SREG_total_smem_size: /* in units of 128 bytes */
        return (l->kernel->static_shared_bytes + dims->shared_bytes + 127) & ~127ull;
    case SREG_aggr_smem_size: /* with what the system has of it */
        return l->kernel->static_shared_bytes + dims->shared_bytes + l->machine->model->shared_bytes_reserved;
    case SREG_dynamic_smem_size: return dims->shared_bytes;
    case SREG_reserved_smem_offset_begin:
    case SREG_reserved_smem_offset_0: return b->shared_start + l->reserved_shared_start;
    case SREG_reserved_smem_offset_1: return b->shared_start + l->reserved_shared_start + l->reserved_shared_bytes / 2;
    case SREG_reserved_smem_offset_end: return b->shared_start + l->reserved_shared_start + l->reserved_shared_bytes;
    case SREG_reserved_smem_offset_cap: return l->reserved_shared_bytes;
    default: return 0;
    }
}

static uint32_t lane_value(enum isa_sreg s, unsigned l)
{
    switch (s) {
    case SREG_laneid: return l;
    case SREG_lanemask_eq: return 1u << l;
    case SREG_lanemask_lt: return (1u << l) - 1;
    case SREG_lanemask_le: return (2u << l) - 1;
    case SREG_lanemask_gt: return ~((2u << l) - 1);
    default: return ~((1u << l) - 1); /* lanemask_ge */
    }
}

/* Does this value differ between blocks of a launch? Only values that depend on the block's number
 * do. */
static bool is_of_block(uint32_t sreg)
{
    if (sreg == IR_SHARED_START)
        return true;
    switch (sreg < IR_ENVREG ? (enum isa_sreg)(sreg / 4) : SREG_COUNT) {
    case SREG_ctaid:
    case SREG_clusterid:
    case SREG_cluster_ctaid:
    case SREG_cluster_ctarank:
    case SREG_reserved_smem_offset_begin:
    case SREG_reserved_smem_offset_end:
    case SREG_reserved_smem_offset_0:
    case SREG_reserved_smem_offset_1: return true;
    default: return false;
    }
}

/* `again`: the rows already hold the values of another block of the launch. */
static void fill_rows(struct block *b, bool again)
{
    const struct kernel *k = b->launch->kernel;
    for (uint32_t i = 0; i < k->block_rows.list.n; i++) {
        const struct row_fill *f = &k->block_rows.list.at[i];
        uint8_t *row = b->sregs + f->at;
        if (again && !is_of_block(f->sreg))
            continue;
        if (f->width == 32 && is_of_block(f->sreg)) {
            /* Which most kernels have, and no others. */
            bool is_ctaid = f->sreg / 4 == SREG_ctaid && f->sreg % 4 < 3;
            uint32_t value = is_ctaid ? b->ctaid[f->sreg % 4] : (uint32_t)block_value(b, f->sreg);
            if (!again || *(uint32_t *)row != value)
                b->launch->rows->splat32((uint32_t *)row, value);
        } else if (f->sreg < IR_ENVREG && isa_sreg_info((enum isa_sreg)(f->sreg / 4))->when == WHEN_LANE)
            for (unsigned l = 0; l < WARP_LANES; l++)
                ((uint32_t *)row)[l] = lane_value((enum isa_sreg)(f->sreg / 4), l);
        else
            splat_row(row, f->width, block_value(b, f->sreg));
    }
}

/* Blocks of a cluster are consecutive, in the order of their ranks. */
static void number_in_clusters(struct block *b, uint64_t index)
{
    const struct launch *l = b->launch;
    const struct launch_dims *dims = &l->request->dims;
    uint64_t rank = index % l->blocks_per_cluster, cluster = index / l->blocks_per_cluster;
    for (unsigned c = 0; c < 3; c++) {
        uint32_t clusters = dims->grid[c] / dims->cluster[c];
        b->ctaid[c] = (uint32_t)(cluster % clusters * dims->cluster[c] + rank % dims->cluster[c]);
        cluster /= clusters;
        rank /= dims->cluster[c];
    }
}

/* `again`: it was another one, mostly the one before. */
static void number_block(struct block *b, uint64_t index, bool again)
{
    const struct launch *l = b->launch;
    const uint32_t *grid = l->request->dims.grid;
    if (l->blocks_per_cluster > 1) {
        number_in_clusters(b, index);
    } else if (again && index == b->index + 1) {
        for (unsigned c = 0; c < 3 && ++b->ctaid[c] == grid[c]; c++)
            b->ctaid[c] = 0;
    } else {
        b->ctaid[0] = (uint32_t)(index % grid[0]);
        b->ctaid[1] = (uint32_t)(index / grid[0] % grid[1]);
        b->ctaid[2] = (uint32_t)(index / grid[0] / grid[1]);
    }
    b->index = index;
}

static size_t block_bytes(const struct launch *l)
{
    return sizeof(struct block) + l->warps_per_block * sizeof(struct warp);
}

static void start_warps(struct block *b)
{
    const struct launch *l = b->launch;
    for (uint32_t i = 0; i < b->n_warps; i++) {
        uint32_t left = l->threads_per_block - i * WARP_LANES;
        struct warp *w = &b->warps[i];
        *w = (struct warp){.block = b,
                           .index = i,
                           .lane_budget = BUDGET,
                           .exists = left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1,
                           .events = l->events,
                           .sregs = l->warp_rows + (size_t)i * WARP_ROWS_BYTES};
    }
}

static void tell(const struct block *b, enum event_kind kind)
{
    struct schedule_event e = {.kind = kind, .block = b->told, .steps = b->worker->warp_instructions};
    EVENT_TELL(b->launch->events, kind, schedule, &e);
}

/* What a warp does between turns. */
static void wait_of(const struct warp *w, struct schedule_event *e)
{
    const struct wait *t = w->state == WARP_WAITING ? w->waits : NULL;
    e->state = w->state == WARP_DONE ? TURN_DONE : !t ? TURN_READY : t->op->kind == OP_BAR ? TURN_BARRIER : TURN_MASK;
    e->id = e->state == TURN_BARRIER ? t->barrier : e->state == TURN_MASK ? t->membermask : 0;
}

static void tell_turn(const struct warp *w, enum event_kind kind)
{
    struct schedule_event e = {.kind = kind,
                               .block = w->block->told,
                               .warp = w->index,
                               .first = w->state == WARP_FRESH,
                               .steps = w->block->worker->warp_instructions};
    if (!event_is_wanted(w->events, kind))
        return;
    if (kind == EVENT_TURN_END)
        wait_of(w, &e);
    EVENT_TELL(w->events, kind, schedule, &e);
}

static void free_block(struct block *b)
{
    struct worker *k = b->worker;
    const struct launch *l = b->launch;
    tell_close_block(b);
    pool_give_window(k, b->shared, l->shared_bytes + 16);
    pool_give(k, b->sregs, l->kernel->block_rows.bytes + 64);
    pool_give(k, b, block_bytes(l));
}

static struct block *make_block(struct worker *k, struct launch *l)
{
    struct block *b = pool_take(k, block_bytes(l));
    if (!b)
        return NULL;
    *b = (struct block){.launch = l, .worker = k, .n_warps = l->warps_per_block};
    b->shared = pool_take_window(k, l->shared_bytes + 16);
    b->sregs = pool_take(k, l->kernel->block_rows.bytes + 64);
    if (b->shared && b->sregs && (!l->events || tell_open_block(b)))
        return b;
    free_block(b);
    return NULL;
}

static void begin(struct block *b, uint64_t index, bool again)
{
    number_block(b, index, again);
    b->shared_start = start_of_shared(b);
    b->live = b->n_warps == MAX_WARPS ? UINT32_MAX : (1u << b->n_warps) - 1;
    b->n_done = 0;
    b->open_barriers = 0;
    b->peer = b;
    b->phase = BLOCK_FRESH;
    b->compiled = false;
    /* The block before has left its own, or another kernel, or the host. */
    memset(b->shared, 0, b->launch->shared_bytes);
    fill_rows(b, again);
}

/* A block that ran in lockstep is as good as new: its warps are where they ended until they begin
 * (lockstep.c). */
bool block_can_be_next(const struct block *b)
{
    return b->clean;
}

void block_be_next(struct block *b, uint64_t index)
{
    begin(b, index, true);
}

struct block *block_start(struct worker *k, struct launch *l, uint64_t index, struct block *first)
{
    struct block *b = k->kept ? k->kept : make_block(k, l);
    bool again = k->kept;
    if (!b)
        return NULL;
    k->kept = NULL;
    b->next = NULL;
    begin(b, index, again);
    if (!again)
        start_warps(b);
    if (first) {
        b->peer = first->peer;
        first->peer = b;
    }
    if (l->events) {
        tell_begin_block(b, first);
        tell(b, EVENT_BLOCK_START);
    }
    return b;
}

void block_run_warp(struct warp *w)
{
    struct block *b = w->block;
    if (w->state == WARP_FRESH && !warp_take_local(w)) {
        warp_fault(w, FAULT_out_of_memory, NULL, 0);
        return;
    }
    tell_turn(w, EVENT_TURN_START);
    warp_run(w);
    tell_turn(w, EVENT_TURN_END);
    if (w->state == WARP_DONE) {
        warp_give_local(w);
        b->n_done++;
    }
}

static bool can_run(const struct warp *w)
{
    return w->state == WARP_FRESH || w->state == WARP_RUNNABLE;
}

static bool has_no_turn(const struct block *b)
{
    for (uint32_t i = 0; i < b->n_warps; i++)
        if (can_run(&b->warps[i]))
            return false;
    return b->n_done < b->n_warps && (b->phase != BLOCK_FRESH || !b->clean);
}

static bool waits_for_cluster(const struct block *b)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < b->n_warps; i++)
        lanes |= b->warps[i].at_barrier[CLUSTER_BARRIER];
    return lanes;
}

/* A block that waits at the cluster's barrier may be released by other blocks. */
bool block_is_stuck(const struct block *b)
{
    if (!has_no_turn(b))
        return false;
    for (const struct block *peer = b->peer; peer != b && waits_for_cluster(b); peer = peer->peer)
        if (!has_no_turn(peer))
            return false;
    return true;
}

bool block_round(struct block *b, bool *progress)
{
    /* By a warp that stall.c has let go on: it stands nowhere any more. */
    if (launch_has_failed(b->launch))
        return true;
    if (b->phase == BLOCK_FRESH || b->phase == BLOCK_ALIGNED) {
        bool done = b->phase == BLOCK_FRESH ? block_run_lockstep(b) : block_resume_lockstep(b);
        *progress = true;
        if (done || launch_has_failed(b->launch))
            return true;
        /* After many barrier phases it has given way, at a barrier. */
        if (b->phase == BLOCK_ALIGNED)
            return false;
    }
    for (uint32_t i = 0; i < b->n_warps; i++) {
        struct warp *w = &b->warps[i];
        if (!can_run(w))
            continue;
        if (w->backoff_quanta) {
            w->backoff_quanta--;
            continue;
        }
        block_run_warp(w);
        *progress |= !can_run(w) || b->phase == BLOCK_ALIGNED;
        if (b->phase == BLOCK_ALIGNED && block_resume_lockstep(b))
            return true;
        if (launch_has_failed(b->launch))
            return true;
        if (b->phase == BLOCK_ALIGNED)
            return false;
    }
    if (block_is_stuck(b)) {
        stall_report_deadlock(b);
        return true;
    }
    return b->n_done == b->n_warps;
}

uint32_t block_least_backoff(const struct block *b)
{
    uint32_t least = UINT32_MAX;
    for (const struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        if (can_run(w) && w->backoff_quanta < least)
            least = w->backoff_quanta;
    return least;
}

void block_skip_backoff(struct block *b, uint32_t quanta)
{
    for (struct warp *w = b->warps; w < b->warps + b->n_warps; w++)
        if (can_run(w))
            w->backoff_quanta -= quanta;
}

void block_finish(struct block *b)
{
    struct worker *k = b->worker;
    if (b->told)
        tell(b, EVENT_BLOCK_END);
    if (block_can_be_next(b) && !k->kept) {
        k->kept = b;
        return;
    }
    for (uint32_t i = 0; i < b->n_warps; i++)
        warp_free(&b->warps[i]);
    free_block(b);
}

void block_drop_kept(struct worker *k)
{
    struct block *b = k->kept;
    k->kept = NULL;
    for (uint32_t i = 0; b && i < b->n_warps; i++)
        warp_free(&b->warps[i]);
    if (b)
        free_block(b);
}
