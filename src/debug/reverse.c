/* How a launch goes back: it takes snapshots, and keeps what the launch has changed in global
 * memory since each; see debugger.h.
 *
 * The snapshots are a stack. To go back, the debugger restores the latest snapshot that is early
 * enough, drops the later ones, and runs forward from there. If memory runs short, every other
 * snapshot is dropped, and its changes are merged with those since the snapshot before.
 */
#include <stdlib.h>

#include "debug/debugger.h"
#include "exec/heap_log.h"
#include "exec/worker.h"

enum { APART = 1 << 12, MOST_SNAPSHOTS = 256 };
/* Determines the distance between snapshots, so that they take little of a run's time: an operation
 * of a warp takes as long as copying several times this many bytes. */
enum { BYTES_PER_OPERATION = 4 };

struct undo *back_since(struct run *r)
{
    return r->kept.n ? &r->kept.at[r->kept.n - 1].undo : &r->undo;
}

static void drop_snapshot(struct run *r, struct kept *k)
{
    r->left_bytes += snapshot_drop(k->of, r->launch->launcher);
}

/* Drops the i-th snapshot. False: memory is exhausted. */
static bool drop(struct run *r, uint32_t i)
{
    struct kept *k = &r->kept.at[i];
    if (!undo_merge(i ? &k[-1].undo : &r->undo, &k->undo, &r->left_bytes))
        return false;
    drop_snapshot(r, k);
    VEC_REMOVE(&r->kept, i, 1);
    return true;
}

/* Drops every other snapshot, or the only one; false if there was none. */
static bool thin(struct run *r)
{
    bool any = false;
    for (uint32_t i = r->kept.n > 1 ? (r->kept.n - 1) | 1 : 0; r->kept.n && i < UINT32_MAX - 1; i -= 2)
        any |= i < r->kept.n && drop(r, i);
    r->apart *= 2;
    return any;
}

void back_keep(struct run *r, uint64_t at, uint64_t bytes)
{
    while (!r->lost && !r->no_way_back && !undo_keep(back_since(r), at, bytes, &r->left_bytes))
        r->lost = !thin(r);
}

static void take(struct run *r, struct worker *worker, const struct turns *t)
{
    struct snapshot *s = snapshot_take(worker, t);
    uint64_t held = 0, bytes = s ? snapshot_bytes(s, &held) : 0, now = r->stopper.now;
    if (bytes > r->left_bytes && r->kept.n > 1)
        thin(r);
    struct kept *to = s && bytes <= r->left_bytes ? VEC_ADD(&r->kept) : NULL;
    if (to) {
        *to = (struct kept){.of = s, .time = now, .last = r->stopper.last, .heap = r->heap.now};
        r->left_bytes -= bytes;
    } else if (s) {
        snapshot_drop(s, worker);
    }
    uint64_t pause = held / BYTES_PER_OPERATION;
    r->next_snapshot = now + (pause > r->apart ? pause : r->apart);
}

/* The stopper's. */
void back_turn(void *data, struct worker *worker, const struct turns *t)
{
    struct run *r = data;
    r->launch = worker->launch;
    if (r->stopper.now < r->next_snapshot || r->lost || r->no_way_back)
        return;
    if (r->kept.n >= MOST_SNAPSHOTS)
        thin(r);
    take(r, worker, t);
}

static void drop_all(struct run *r)
{
    while (r->kept.n)
        if (!drop(r, r->kept.n - 1)) { /* no more of it can be kept */
            r->lost = true;
            undo_free(back_since(r), &r->left_bytes);
        }
}

static void restore(struct run *r, struct kept *to, struct worker *worker, struct turns *t)
{
    struct mem *m = &r->machine->mem;
    heap_log_reopen(&r->heap, m, to->heap);
    for (struct kept *k = &r->kept.at[r->kept.n - 1]; k >= to; k--)
        undo_all(&k->undo);
    heap_log_back(&r->heap, m, to->heap);
    while (to < &r->kept.at[r->kept.n - 1]) {
        struct kept *k = &r->kept.at[--r->kept.n];
        undo_free(&k->undo, &r->left_bytes);
        drop_snapshot(r, k);
    }
    snapshot_restore(to->of, worker, t);
    r->stopper.now = to->time;
    r->stopper.last = to->last;
    r->next_snapshot = to->time + r->apart;
}

/* The stopper's. */
bool back_goes(void *data, struct worker *worker, struct turns *t)
{
    struct run *r = data;
    r->launch = worker->launch;
    if (!r->again)
        move_end(r);
    uint32_t n = r->again && !r->d->gone && !r->d->kills && !r->lost ? r->kept.n : 0;
    while (n && r->kept.at[n - 1].time > r->from)
        n--;
    if (!n) {
        drop_all(r);
        return false;
    }
    restore(r, &r->kept.at[n - 1], worker, t);
    move_again(r, r->stopper.now);
    return true;
}

void back_restart(struct run *r)
{
    heap_log_reopen(&r->heap, &r->machine->mem, 0);
    undo_all(&r->undo);
    heap_log_back(&r->heap, &r->machine->mem, 0);
    r->machine->heap_used = r->heap_used;
}

void back_open(struct run *r)
{
    r->left_bytes = r->d->snapshot_bytes;
    r->apart = APART;
    r->heap_used = r->machine->heap_used;
    if (!r->d->snapshot_bytes)
        r->no_way_back = "nothing is kept to go back (--snapshots 0)";
    if (r->kernel->nests && r->names->checks)
        r->no_way_back = "the kernel launches other kernels, which can be undone only without --check";
    else if (r->kernel->nests && r->request->graph_run)
        r->no_way_back = "the kernel launches graphs, which cannot be undone";
    if (r->no_way_back || r->names->checks)
        return;
    r->stopper.heap = &r->heap;
    if (r->kernel->nests) /* what it has launched is forgotten as a whole: it runs again from its start */
        return;
    r->stopper.turn = back_turn;
    r->stopper.goes_back = back_goes;
}

void back_close(struct run *r)
{
    heap_log_end(&r->heap, &r->machine->mem);
    undo_free(&r->undo, &r->left_bytes);
    free(r->kept.at);
}
