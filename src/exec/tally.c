/* Tallies: what a worker's lanes add to a small array of global memory, as to the bins of a histogram, is summed up beside it,
 * in memory of the worker's own, and brought to the array now and then.
 *
 * Additions whose results nobody reads commute, and relaxed operations at different cells have no order for others unless something
 * synchronizes (PTX ISA 8.9.5, 8.10). So all that can tell such a sum from its parts is a thread that looks at the array, or that
 * learns from elsewhere that an addition has been made. The first: while an array has a tally no inline cache of compiled code
 * covers it but those of such additions, so each other access of this worker comes to the engine, which settles the tally before it
 * performs anything. The second: kernels with other strong operations than such additions, or a fence, whose blocks could tell each
 * other, have no tallies. A worker settles whenever its blocks have had their turns, so others see every sum in the end; and before
 * it says that it is done.
 *
 * The compiled code of an addition finds in its inline cache how far the sums are from the cells: inline_cache.shift.
 */
#include "exec/machine.h"

enum { LARGEST_ARRAY = 16 << 10, LINE_BYTES = 64 };

/* Of a worker in a launch: closed tallies, and settled for an operation of the engine; who has more is better off without. */
enum { MAX_CLOSED = 2, MAX_SETTLED = 256 };

/* Can no block learn from this operation what another has done? */
static bool keeps_apart(const struct op *o)
{
    switch ((enum op_kind)o->kind) {
    case OP_LD:
    case OP_ST: return o->access->space == SPACE_SHARED || !op_access_is_strong(o->access);
    case OP_ATOM:
        return o->access->space == SPACE_SHARED || (!o->access->has_reg[0] && o->access->order <= ORDER_RELAXED);
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

static void add_line(struct tally *t, uint64_t at)
{
    for (uint64_t end = at + LINE_BYTES; at < end; at += t->cell_bytes) {
        if (t->cell_bytes == 4 && *(uint32_t *)(t->sums + at))
            __atomic_fetch_add((uint32_t *)(t->start + at), *(uint32_t *)(t->sums + at), __ATOMIC_RELAXED);
        if (t->cell_bytes == 8 && *(uint64_t *)(t->sums + at))
            __atomic_fetch_add((uint64_t *)(t->start + at), *(uint64_t *)(t->sums + at), __ATOMIC_RELAXED);
    }
}

static bool has_sums(const uint64_t *line)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < LINE_BYTES / 8; i++)
        any |= line[i];
    return any;
}

static void settle(struct worker *k, struct tally *t)
{
    struct mem_block b;
    bool stands = mem_find(&k->machine->mem, t->start, &b) && b.start == t->start && b.size == t->bytes; /* not freed */
    for (uint64_t at = 0; at < t->room; at += LINE_BYTES) {
        if (!has_sums((const uint64_t *)(t->sums + at)))
            continue;
        if (stands)
            add_line(t, at);
        memset(t->sums + at, 0, LINE_BYTES);
    }
}

void tally_settle_all(struct worker *k)
{
    for (unsigned i = 0; i < k->tallies.n; i++)
        settle(k, &k->tallies.at[i]);
}

/* ---- tallies ---- */

/* All inline caches begin anew: none covers an array with a tally, and none has the sums of one that is closed. */
static void clear_inline_caches(struct worker *k)
{
    memset(k->inline_caches, 0, k->n_inline_caches * sizeof *k->inline_caches);
}

void tally_close_all(struct worker *k)
{
    tally_settle_all(k);
    for (unsigned i = 0; i < k->tallies.n; i++)
        pool_give(k, k->tallies.at[i].sums, k->tallies.at[i].room);
    if (k->tallies.n)
        clear_inline_caches(k);
    k->tallies.n = 0;
}

void tally_settle_for_engine(struct worker *k)
{
    tally_settle_all(k);
    if (++k->tallies.n_settled < MAX_SETTLED)
        return;
    tally_close_all(k);
    k->tallies.state = TALLIES_REFUSED;
}

static struct tally *find(struct worker *k, uint64_t start)
{
    for (unsigned i = 0; i < k->tallies.n; i++)
        if (k->tallies.at[i].start == start)
            return &k->tallies.at[i];
    return NULL;
}

static bool may_open(struct worker *k, const struct mem_block *b)
{
    if (k->tallies.state == TALLIES_UNKNOWN)
        k->tallies.state = blocks_keep_apart(k->launch->kernel) ? TALLIES_ALLOWED : TALLIES_REFUSED;
    return k->tallies.state == TALLIES_ALLOWED && b->size <= LARGEST_ARRAY && k->tallies.n < MAX_TALLIES &&
           (b->kind == MEM_DEVICE || b->kind == MEM_VARIABLE);
}

static struct tally *open_tally(struct worker *k, const struct mem_block *b, uint64_t cell_bytes)
{
    uint64_t room = (b->size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    uint8_t *sums = may_open(k, b) ? pool_take(k, room) : NULL;
    if (!sums)
        return NULL;
    memset(sums, 0, room);
    clear_inline_caches(k);
    struct tally *t = &k->tallies.at[k->tallies.n++];
    *t = (struct tally){.start = b->start, .bytes = b->size, .room = room, .cell_bytes = cell_bytes, .sums = sums};
    return t;
}

uint64_t tally_shift(struct worker *k, const struct op *o, const struct mem_block *b)
{
    bool adds = tally_takes(o);
    struct tally *t = find(k, b->start);
    if (!t && adds)
        t = open_tally(k, b, o->access->bytes);
    if (!t)
        return 0;
    if (adds && t->cell_bytes == o->access->bytes && t->bytes == b->size)
        return (uint64_t)(uintptr_t)t->sums - t->start;
    tally_close_all(k);
    if (++k->tallies.n_closed >= MAX_CLOSED)
        k->tallies.state = TALLIES_REFUSED;
    return 0;
}

void tally_begin(struct worker *k)
{
    k->tallies = (struct tallies){.state = TALLIES_UNKNOWN};
}
