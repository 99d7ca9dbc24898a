/* Access histories: what the race detector knows of a cell of memory.
 *
 * A history is the set of earlier accesses to a cell that a later one can still race with, each with who made it: a *site epoch* (an
 * access of a place in the program, by a warp of an incarnation, between two of its synchronisations) and lanes. Histories are made
 * once and never change; a cell holds the number of its own, so that cells with the same past share one, and what an access makes
 * of a history is computed once and then looked up (struct transition). 0 is the empty history. Those that no cell names any more are
 * given back now and then (gc.c).
 *
 * Which entries a new access replaces, so that every pair of places that can race is still found:
 *   - one of the same place and kind that happens before it: whatever is unordered with that one is unordered with the new one;
 *   - one that happens before everything that can still come: of a launch that all have synchronised with, or, in shared memory, of
 *     before a barrier of the whole block;
 *   - of three of the same place and kind in a launch whose threads synchronise by whole blocks and warps alone, one: a later access
 *     is of one warp, and of two of different warps (or blocks) at least one is unordered with it. (Elsewhere all are kept.) Of weak
 *     ones the third changes nothing; of strong ones the last are needed, for what they have observed;
 *   - of reads in such a launch of what the launch does not write (written.h), one: a later write is of another launch, copy or host,
 *     with all of whose threads it is ordered alike.
 */
#ifndef HEDDLE_CHECK_HISTORY_H
#define HEDDLE_CHECK_HISTORY_H

#include "check/shadow/numbered.h"
#include "check/order/order.h"

/* A place in the program and what it does to memory. */
struct access_kind {
    const struct site
        *site;      /* of a kernel's instruction: one of those that are made of it; NULL: of the host, or of a task */
    uint32_t place; /* number of the instruction, or of the host's place; findings are about pairs of these */
    uint32_t next;  /* kind in the bucket of the races, or 0 */
    uint8_t bytes;  /* of an element */
    uint8_t lane_shift; /* log2 of the bytes of a lane */
    bool reads, writes, strong, atomic;
    bool issued;      /* by work that a lane has issued and an mbarrier hears of: order_issued_before() */
    bool torn;        /* a strong read of what several writes have left: it has observed none (8.9.2) */
    bool is_init;     /* mbarrier.init */
    bool read_only;   /* a weak read of what nobody writes in its launch: written.h */
    bool is_mbarrier; /* another operation of an mbarrier: these are made for each other, whatever their scopes */
    enum scope scope; /* of a strong one */
    const struct task_note *note; /* of a task that is no launch; else NULL: */
    const void *where;            /* whose it is, as hd_checker_options.place says it; or NULL */
};

struct site_epoch {
    uint32_t kind; /* number of the access_kind */
    uint32_t incarnation;
    uint32_t epoch;
    uint32_t warp;
};

/* Lanes of a warp are relative to the one that a cell names (cells.h): lane l is bit (l - lane) % 32. So cells that consecutive
 * lanes have accessed have one history, and so have those that other lanes of the warp access alike. A task that is no launch has
 * bit 0. */
struct history_entry {
    uint32_t site_epoch;
    uint32_t lanes;
};

/* Whose the bytes of a word are: all the same lanes'; or each is, or each two are, of lanes that are one further. */
enum lane_mapping { LANES_SAME, LANES_BY_BYTE, LANES_BY_HALF };
static inline unsigned mapping_lane(enum lane_mapping s, unsigned byte)
{
    return s == LANES_SAME ? 0 : byte >> (s - LANES_BY_BYTE);
}

struct access_history {
    uint16_t n : 11;
    uint16_t is_strong : 1;  /* all of one launch, strong for all threads of the device, and of the same size */
    uint16_t only_reads : 1; /* weak ones, by one task alone */
    uint16_t only_tasks : 1; /* no accesses of kernels */
    uint16_t mapping : 2;    /* enum lane_mapping */
    /* Of a history that is_strong: how many entries at its beginning only read; the bytes of an element. Of one that only_reads:
     * reads of this phase (race_phase) that would change nothing, by their kinds; from a number on, a bit for each in `enough`,
     * which is 0 in all other histories. */
    union {
        uint16_t n_reads, enough_from;
    };
    union {
        uint32_t element_bytes, phase;
    };
    uint32_t enough;
    uint32_t newest; /* of the tasks that the accesses are of */
    struct history_entry at[];
};
_Static_assert(sizeof(struct access_history) == 16, "HISTORY_UNIT holds a history of two entries");
enum { HISTORY_UNIT = 32 }; /* bytes; histories are numbered by these */

/* Of global memory, whose numbers are taken, and hold, under the lock of a cell; or of a block's shared memory, which its worker
 * has. A number that is not in a cell holds for a generation. */
struct histories {
    struct numbered site_epochs; /* struct site_epoch */
    struct numbered histories;   /* by HISTORY_UNIT */
    struct numbered splits;      /* struct split: cells.h */
    _Atomic uint32_t generation;
    _Atomic bool gc_due; /* to be collected */
};

/* Entries of a history, at most, and of one that has strong accesses alone: further reads are left out, and for a write the oldest
 * goes. Writes that may race with what was left out are counted. */
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

/* The lanes of an entry where a cell names this lane. */
static inline uint32_t rotate_left(uint32_t x, unsigned n)
{
    return x << (n & 31) | x >> (-n & 31);
}
#endif
