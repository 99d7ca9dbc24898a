/* Private histograms: each worker adds up, in memory of its own, what its lanes add to a small
 * array of global memory, such as the bins of a histogram. Now and then it adds the sums to the
 * array.
 *
 * Additions whose results nobody reads commute. Relaxed operations on different locations have no
 * order for others unless something synchronizes (PTX ISA 8.9.5, 8.10). So a thread can notice the
 * delay in two ways only: it reads the array, or it learns in some other way that an addition was
 * made.
 *
 * The first is excluded by inline caches. While an array has a private histogram, only such
 * additions of compiled code have inline caches for it. All other accesses of this worker go to
 * the engine, which adds the sums to the array first. The second is excluded by the choice of
 * kernels: those with fences, or with other strong operations than such additions, have no private
 * histograms.
 *
 * A worker adds its sums to the array after each turn of its blocks, and before it says that it is
 * done. So others see every addition in the end. The inline cache of an addition tells compiled
 * code how far the sums are from the array (inline_cache.shift).
 */
#include "exec/abi.h"
#include "exec/histogram.h"
#include "exec/launch.h"
#include "exec/machine.h"
#include "exec/pool.h"
#include "exec/worker.h"

enum { LARGEST_ARRAY = 16 << 10, LINE_BYTES = 64 };

/* Beyond these limits on closed histograms, or on settlements for the engine, a worker stops using
 * histograms in the launch: they no longer pay. */
enum { MAX_CLOSED = 2, MAX_SETTLED = 256 };

/* Can no block learn from this operation what another has done? */
static bool keeps_apart(const struct op *o)
{
    switch ((enum op_kind)o->kind) {
    case OP_LD:
    case OP_ST: return o->access->mem.space == SPACE_SHARED || !mem_access_is_strong(&o->access->mem);
    case OP_ATOM:
        return o->access->mem.space == SPACE_SHARED ||
               (!o->access->has_reg[0] && o->access->mem.order <= ORDER_RELAXED);
    case OP_FENCE:
    case OP_CALL:
    case OP_NANOSLEEP: return false;
    case OP_BAR: return o->mode != BAR_CLUSTER_WAIT;
    default: return true;
    }
}

static bool blocks_keep_apart(const struct kernel *kernel)
{
    for (uint32_t f = 0; f < kernel->functions.n; f++)
        for (const struct op *o = kernel->functions.at[f]->ops, *end = o + kernel->functions.at[f]->n_ops; o < end; o++)
            if (!keeps_apart(o))
                return false;
    return true;
}

/* ---- sums ---- */

static void add_line(struct histogram *h, uint64_t at)
{
    for (uint64_t end = at + LINE_BYTES; at < end; at += h->cell_bytes) {
        if (h->cell_bytes == 4 && *(uint32_t *)(h->sums + at))
            __atomic_fetch_add((uint32_t *)(h->start + at), *(uint32_t *)(h->sums + at), __ATOMIC_RELAXED);
        if (h->cell_bytes == 8 && *(uint64_t *)(h->sums + at))
            __atomic_fetch_add((uint64_t *)(h->start + at), *(uint64_t *)(h->sums + at), __ATOMIC_RELAXED);
    }
}

static bool has_sums(const uint64_t *line)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < LINE_BYTES / 8; i++)
        any |= line[i];
    return any;
}

static void settle(struct worker *k, struct histogram *h)
{
    struct mem_block b;
    /* Not freed. */
    bool stands = mem_find(&k->machine->mem, h->start, &b) && b.start == h->start && b.size == h->bytes;
    for (uint64_t at = 0; at < h->room; at += LINE_BYTES) {
        if (!has_sums((const uint64_t *)(h->sums + at)))
            continue;
        if (stands)
            add_line(h, at);
        memset(h->sums + at, 0, LINE_BYTES);
    }
}

void histogram_settle_all(struct worker *k)
{
    for (unsigned i = 0; i < k->histograms.n; i++)
        settle(k, &k->histograms.at[i]);
}

/* ---- histograms ---- */

/* All inline caches begin anew: none covers an array with a private histogram, and none has the
 * sums of one that is closed. */
static void clear_inline_caches(struct worker *k)
{
    memset(k->inline_caches, 0, k->n_inline_caches * sizeof *k->inline_caches);
}

void histogram_close_all(struct worker *k)
{
    histogram_settle_all(k);
    for (unsigned i = 0; i < k->histograms.n; i++)
        pool_give(k, k->histograms.at[i].sums, k->histograms.at[i].room);
    if (k->histograms.n)
        clear_inline_caches(k);
    k->histograms.n = 0;
}

void histogram_settle_for_engine(struct worker *k)
{
    histogram_settle_all(k);
    if (++k->histograms.n_settled < MAX_SETTLED)
        return;
    histogram_close_all(k);
    k->histograms.state = HISTOGRAMS_REFUSED;
}

static struct histogram *find(struct worker *k, uint64_t start)
{
    for (unsigned i = 0; i < k->histograms.n; i++)
        if (k->histograms.at[i].start == start)
            return &k->histograms.at[i];
    return NULL;
}

static bool may_open(struct worker *k, const struct mem_block *b)
{
    if (k->histograms.state == HISTOGRAMS_UNKNOWN)
        k->histograms.state = blocks_keep_apart(k->launch->kernel) ? HISTOGRAMS_ALLOWED : HISTOGRAMS_REFUSED;
    return k->histograms.state == HISTOGRAMS_ALLOWED && b->size <= LARGEST_ARRAY && k->histograms.n < MAX_HISTOGRAMS &&
           (b->kind == MEM_DEVICE || b->kind == MEM_VARIABLE || b->kind == MEM_MANAGED_VARIABLE);
}

static struct histogram *open_histogram(struct worker *k, const struct mem_block *b, uint64_t cell_bytes)
{
    uint64_t room = (b->size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    uint8_t *sums = may_open(k, b) ? pool_take(k, room) : NULL;
    if (!sums)
        return NULL;
    memset(sums, 0, room);
    clear_inline_caches(k);
    struct histogram *h = &k->histograms.at[k->histograms.n++];
    *h = (struct histogram){.start = b->start, .bytes = b->size, .room = room, .cell_bytes = cell_bytes, .sums = sums};
    return h;
}

uint64_t histogram_shift(struct worker *k, const struct op *o, const struct mem_block *b)
{
    bool adds = o->kind == OP_ATOM && histogram_takes(&o->access->mem, o->access->has_reg[0]);
    struct histogram *h = find(k, b->start);
    if (!h && adds)
        h = open_histogram(k, b, o->access->mem.bytes);
    if (!h)
        return 0;
    if (adds && h->cell_bytes == o->access->mem.bytes && h->bytes == b->size)
        return (uint64_t)(uintptr_t)h->sums - h->start;
    histogram_close_all(k);
    if (++k->histograms.n_closed >= MAX_CLOSED)
        k->histograms.state = HISTOGRAMS_REFUSED;
    return 0;
}

void histogram_begin(struct worker *k)
{
    k->histograms = (struct histograms){.state = HISTOGRAMS_UNKNOWN};
}
