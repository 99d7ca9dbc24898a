/* Snapshots of a launch that one thread runs by a schedule: what it is between two turns of its
 * warps, so that it can be put back there. Who debugs it takes them (stops.h).
 *
 * A snapshot has all that the launch's worker holds of its pool (blocks, their shared memory,
 * warps, registers, local memory, work that is not done) at the addresses where it lies, and the
 * counters of the launch, its worker and its schedule. What did not change since the snapshot
 * before is shared with it. Not in it: global memory, whose writes whoever takes it has to keep,
 * and what is given to events' clients. */
#ifndef HEDDLE_EXEC_SNAPSHOT_H
#define HEDDLE_EXEC_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot;
struct warp;
struct worker;

/* Whose turn it is, of those that can run; a warp's `listed` is its place in the list, plus one. */
struct turns {
    struct warp **list;
    uint32_t n;
    uint32_t idle; /* in so many turns nothing came on */
    uint64_t turn;
};

/* From then on it is known what the worker holds; it holds nothing now. False where memory is
 * exhausted. */
bool snapshots_begin(struct worker *k);
/* All snapshots have been dropped. */
void snapshots_end(struct worker *k);

/* NULL where memory is exhausted. */
struct snapshot *snapshot_take(struct worker *k, const struct turns *t);
/* The latest that there is; it stays, and can be restored again. */
void snapshot_restore(const struct snapshot *s, struct worker *k, struct turns *t);
/* The latest, or any other. Returns how many bytes are kept no more. */
uint64_t snapshot_drop(struct snapshot *s, struct worker *k);
/* What it keeps that none before it does; *held: what there was to keep. */
uint64_t snapshot_bytes(const struct snapshot *s, uint64_t *held);

/* ---- for pool.c: what a worker takes and gives back ---- */

struct ledger;

/* False where memory is exhausted. */
bool ledger_take(struct ledger *g, void *p, size_t bytes, bool window);
/* True where a snapshot needs it: it is not to be taken again. */
bool ledger_give(struct ledger *g, void *p);

#endif
