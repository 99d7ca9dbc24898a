/* Access histories: what the race detector remembers of a shadow cell (docs/RACES.md).
 *
 * A history is the set of earlier accesses to a cell that a later one can still race with. An entry
 * is a *site epoch* (an access kind, by a warp of an incarnation, in an epoch) and lanes. Histories
 * are immutable and numbered; a cell holds a number, so that cells that were accessed alike share
 * one history, and what an access makes of a history is computed once and then looked up (struct
 * transition). 0 is the empty history. Histories that no cell names any more are garbage (gc.c).
 *
 * A new access drops these entries, and every pair of places that can race is still found:
 *   - one of the same kind that happens before it: whatever is unordered with that one is
 *     unordered with the new one;
 *   - one that is retired: it happens before everything that can still come, as it is of a task
 *     that all have waited for, or, in shared memory, from before a barrier of the whole block;
 *   - in a launch whose threads synchronise by whole blocks and warps only, all but two of one
 *     kind, of different blocks or warps: a later access is of one warp, and unordered with
 *     one of the two. A third weak access changes nothing; of strong ones the last are kept,
 *     for what they have observed;
 *   - in such a launch, all but one read of what the launch does not write
 *     (exec/launch_writes.h): a later write is by another launch, a copy or the host, which is
 *     ordered alike with all threads of the launch.
 */
#ifndef HEDDLE_CHECK_HISTORY_H
#define HEDDLE_CHECK_HISTORY_H

#include "check/shadow/numbered.h"
#include "check/order/order.h"

/* A site in the program and one kind of access there. */
struct access_kind {
    /* one of the instruction's sites; NULL: of the host, or of a task that is not a launch */
    const struct site *site;
    /* Number of the instruction, or of the host's place; findings are about pairs of places. */
    uint32_t place;
    uint32_t next;      /* the next in its bucket, or 0 */
    uint8_t bytes;      /* bytes of an element */
    uint8_t lane_shift; /* log2 of the bytes of a lane */
    bool reads, writes, strong, atomic;
    /* by an asynchronous operation that a lane issued and an mbarrier tracks:
     * order_issued_before() */
    bool issued;
    /* A strong read of bytes of several writes: it observes none (8.9.2). */
    bool torn;
    bool is_init; /* mbarrier.init */
    /* A weak read of memory that nobody writes in its launch: exec/launch_writes.h. */
    bool read_only;
    bool is_mbarrier;             /* another mbarrier operation; these never race with each other */
    enum scope scope;             /* the scope of a strong access */
    const struct task_note *note; /* of a task that is not a launch; else NULL */
    /* Its place in the host program (hd_checker_options.place); or NULL. */
    const void *where;
};

struct site_epoch {
    uint32_t kind; /* the number of its access kind */
    uint32_t incarnation;
    uint32_t epoch;
    uint32_t warp;
};

/* Lanes are relative to the lane that the cell names (cells.h): lane l is bit (l - lane) % 32.
 * So cells that consecutive lanes have accessed share one history. A task that is not a launch
 * has bit 0. */
struct history_entry {
    uint32_t site_epoch;
    uint32_t lanes;
};

/* How a word's four bytes map to lanes. SAME: all belong to the same lanes. BY_BYTE: byte i belongs
 * to lane + i. BY_HALF: bytes 2i and 2i + 1 belong to lane + i. */
enum lane_mapping { LANES_SAME, LANES_BY_BYTE, LANES_BY_HALF };
static inline unsigned mapping_lane(enum lane_mapping s, unsigned byte)
{
    return s == LANES_SAME ? 0 : byte >> (s - LANES_BY_BYTE);
}

struct access_history {
    uint16_t n : 11;
    /* all are in one launch, strong, with at least the device's scope, and of one size */
    uint16_t is_strong : 1;
    uint16_t only_reads : 1; /* all are weak reads, by one task */
    uint16_t only_tasks : 1; /* no entry is an access of a kernel */
    uint16_t mapping : 2;    /* enum lane_mapping */
    /* If is_strong: the number of reads, which are the first entries; the bytes of an element.
     * If only_reads: which kinds of reads change nothing in this phase (race_phase), as a bit of
     * `enough` for each number from enough_from on. Otherwise `enough` is 0. */
    union {
        uint16_t n_reads, enough_from;
    };
    union {
        uint32_t element_bytes, phase;
    };
    uint32_t enough;
    uint32_t newest; /* the newest task among its accesses */
    struct history_entry at[];
};
_Static_assert(sizeof(struct access_history) == 16, "HISTORY_UNIT holds a history of two entries");
enum { HISTORY_UNIT = 32 }; /* bytes; histories are numbered in these units */

/* The histories of global memory, or of a block's shared memory, which belongs to its worker. In
 * global memory, numbers are taken, and are valid, under the lock of a cell. A number that is in
 * no cell is valid for a generation. */
struct histories {
    struct numbered site_epochs; /* struct site_epoch */
    struct numbered histories;   /* by HISTORY_UNIT */
    struct numbered splits;      /* struct split: cells.h */
    _Atomic uint32_t generation;
    _Atomic bool gc_due; /* a garbage collection is due */
};

/* The maximum number of entries of a history, and of one with only strong accesses. Then further
 * reads are left out, and a write replaces the oldest entry. Writes that may race with dropped
 * entries are reported. */
enum { HISTORY_MOST = 256, HISTORY_STRONG_MOST = 64 };

static inline const struct site_epoch *history_site_epoch(const struct histories *h, uint32_t site_epoch)
{
    return numbered_at(&h->site_epochs, site_epoch);
}
static inline const struct access_history *history_at(const struct histories *h, uint32_t number)
{
    return numbered_at(&h->histories, number);
}

static inline uint32_t history_units(unsigned entries)
{
    return (uint32_t)(sizeof(struct access_history) + entries * sizeof(struct history_entry) + HISTORY_UNIT - 1) /
           HISTORY_UNIT;
}

/* The lanes of an entry, seen from a cell that names a lane. */
static inline uint32_t rotate_left(uint32_t x, unsigned n)
{
    return x << (n & 31) | x >> (-n & 31);
}
#endif
