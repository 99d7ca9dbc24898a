/* Garbage collection: histories, site epochs, splits and incarnations that no cell names any more
 * are given back while blocks run, and their numbers are used again; see state.h.
 *
 * Mark and sweep. The roots are the cells: a cell names its split or its history, a history its
 * site epochs, these their incarnations. Nothing else is ever looked up:
 *   - numbers of global memory are taken, put into cells and followed from there with the lock of
 *     a cell held, and the collector holds all locks; those of shared memory belong to its
 *     worker, who collects them;
 *   - what is cached by number without a cell (struct transition, struct recent_site_epoch, struct
 *     current_access) holds for a generation, and a collection begins another one;
 *     have_no_effect(), which looks without a lock, compares the generation before and after;
 *   - incarnations are also looked up by blocks that run and by sync variables
 *     (order_keep_incarnations), and their numbers are not used again, as clocks have them.
 *
 * So what is given back changes no answer. Besides, cells are emptied all of whose accesses are
 * retired (timelines_retired).
 *
 * A collection begins when four times as much has been made as cells and the last collection's
 * survivors take, so that it costs little beside the making; when little room is left, a quarter as
 * much.
 */
#include "check/race/current.h"

/* ---- when ---- */

enum { LEAST_BYTES = 64 << 20, LEAST_SHARED_BYTES = 4 << 20 };

/* The state of the collection, for the three kinds of numbers and the incarnations. */
struct account {
    uint64_t kept, since; /* bytes after the last collection, and taken since then */
    bool is_short;        /* less than an eighth of some room is left */
};

static void add(struct account *a, const struct numbered *n)
{
    a->kept += n->kept * n->each_bytes;
    a->since += numbered_bytes_since(n);
    a->is_short |= numbered_bytes_left(n) < n->most * n->each_bytes / 8;
}

bool race_gc_is_due(struct races *r, const struct histories *h)
{
    bool global = h == &r->global;
    struct account a = {.is_short = budget_left(r->budget) < r->budget->limit_bytes / 8};
    add(&a, &h->site_epochs);
    add(&a, &h->histories);
    add(&a, &h->splits);
    if (global)
        add(&a, order_incarnations(r->order));
    /* What it costs to collect them. */
    uint64_t marked = a.kept + (global ? cells_bytes(&r->cells) : 0);
    uint64_t least = global ? LEAST_BYTES : LEAST_SHARED_BYTES;
    if (least > r->budget->limit_bytes / 8)
        least = r->budget->limit_bytes / 8;
    return a.since > (4 * marked > least ? 4 * marked : least) || (a.is_short && a.since > marked / 4);
}

/* ---- what is kept ---- */

struct marking {
    struct histories *h;
    struct order *order; /* NULL: of shared memory, whose incarnation is the block's */
    uint32_t retired;    /* tasks up to it are before whatever comes */
};

static void keep_history(const struct marking *c, uint32_t number)
{
    const struct access_history *h = history_at(c->h, number);
    if (!numbered_mark(&c->h->histories, number, history_units(h->n)))
        return;
    for (uint32_t i = 0; i < h->n; i++)
        if (numbered_mark(&c->h->site_epochs, h->at[i].site_epoch, 1) && c->order)
            order_keep_incarnation(c->order, history_site_epoch(c->h, h->at[i].site_epoch)->incarnation);
}

/* The cell, or 0 where it is retired. */
static cell keep(const struct marking *c, cell at)
{
    uint32_t number = cell_history(at);
    if (!at)
        return 0;
    if (c->order && !numbered_is_marked(&c->h->histories, number) && history_at(c->h, number)->newest <= c->retired)
        return 0;
    keep_history(c, number);
    return at;
}

static cell keep_split(const struct marking *c, cell at)
{
    uint32_t number = at & ~CELL_SPLIT;
    struct split *s = numbered_at(&c->h->splits, number);
    cell left = 0;
    for (unsigned i = 0; i < 4; i++)
        left |= s->byte[i] = keep(c, s->byte[i]);
    if (left)
        numbered_mark(&c->h->splits, number, 1);
    return left ? at : 0;
}

/* Neighbours often have the same history. */
static bool name_the_same(cell a, cell b)
{
    return a == b || !((a ^ b) & (CELL_SPLIT | CELL_HISTORY) || a & CELL_SPLIT);
}

enum { FETCHED_EACH = 16, FETCHED_AHEAD = 128 };

static void keep_cells(void *data, cell *at, uint32_t count)
{
    const struct marking *c = data;
    cell before = 0, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        cell now = at[i];
        if (i % FETCHED_EACH == 0 && i + FETCHED_AHEAD < count)
            __builtin_prefetch(history_at(c->h, cell_history(at[i + FETCHED_AHEAD])));
        if (!name_the_same(now, before))
            kept = now & CELL_SPLIT ? keep_split(c, now) : keep(c, now);
        before = now;
        if (now && !kept)
            __atomic_store_n(&at[i], 0, __ATOMIC_RELEASE);
    }
}

static void begin_generation(struct histories *h)
{
    h->generation += 2;
    h->gc_due = false;
}

static bool unmark(struct histories *h)
{
    return numbered_unmark(&h->site_epochs) && numbered_unmark(&h->histories) && numbered_unmark(&h->splits);
}

static void sweep(struct histories *h)
{
    numbered_sweep(&h->site_epochs);
    numbered_sweep(&h->histories);
    numbered_sweep(&h->splits);
}

static void collect(struct races *r)
{
    struct marking c = {.h = &r->global, .order = r->order, .retired = timelines_retired(r->timelines)};
    begin_generation(&r->global);
    for (struct race_worker *k = atomic_load(&r->workers); k; k = k->next)
        k->reservations = (struct reservations){0};
    if (!unmark(&r->global) || !order_keep_incarnations(r->order))
        return;
    cells_each(&r->cells, keep_cells, &c);
    sweep(&r->global);
    order_drop_incarnations(r->order);
}

void race_gc_now(struct races *r)
{
    order_lock(r->order);
    race_lock_all(r);
    if (r->global.gc_due)
        collect(r);
    race_unlock_all(r);
    order_unlock(r->order);
}

void race_gc_shared_now(struct race_block *b)
{
    struct marking c = {.h = &b->shared};
    begin_generation(&b->shared);
    b->shared_reservations = (struct reservations){0};
    if (!unmark(&b->shared))
        return;
    if (b->updated_from < b->updated_to)
        keep_cells(&c, b->shared_cells + b->updated_from, b->updated_to - b->updated_from);
    sweep(&b->shared);
}
