/* What an H200 counts for one memory instruction of a warp, from the addresses of its lanes.
 *
 * The rules were found with Nsight Compute on an H200 (sm_90), by tables of patterns with one warp
 * and one instruction each. The counts are the test of these functions (tests/unit/test_rules.c):
 * all recorded patterns agree exactly. docs/EXPLAIN.md states the rules in words.
 */
#ifndef HEDDLE_EXPLAIN_RULES_H
#define HEDDLE_EXPLAIN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RULE_LANES = 32, SECTOR_BYTES = 32, LINE_BYTES = 128, LINE_SECTORS = LINE_BYTES / SECTOR_BYTES };

/* The lanes that take part in an instruction, with their addresses. A lane's bytes are aligned to
 * their number, except in local memory. */
struct lanes {
    uint32_t mask;           /* not 0 */
    uint32_t bytes;          /* of each lane */
    const uint64_t *address; /* by lane; NULL: lane l at base + l * step */
    uint64_t base;
    int64_t step;
};

static inline uint64_t lane_address(const struct lanes *a, unsigned lane)
{
    return a->address ? a->address[lane] : a->base + (uint64_t)lane * (uint64_t)a->step;
}

/* Returns true with the step if all lanes have one; a single lane's step is its bytes. */
bool rule_step(const struct lanes *a, int64_t *step);

/* ---- global memory ---- */

struct line {
    uint64_t number;  /* address / LINE_BYTES */
    uint32_t sectors; /* a bit for each sector */
};

/* The lines that the lanes touch, each once, at most one for each lane; returns their number. */
unsigned rule_lines(const struct lanes *a, struct line lines[RULE_LANES]);
/* The number of sectors that the lanes do not fill. */
unsigned rule_partial_sectors(const struct lanes *a);
/* For red and atom: the sectors with the operations of each; returns the number of sectors. Lanes
 * at one word are serialised, each accessing the sector again; lanes at different words of a sector
 * go together. The sum of operations is what is counted as sectors. */
struct sector_operations {
    uint64_t sector; /* address / SECTOR_BYTES */
    uint32_t operations;
};
unsigned rule_atomic_sectors(const struct lanes *a, struct sector_operations sectors[RULE_LANES]);
/* The number of different addresses. */
unsigned rule_distinct(const struct lanes *a);

/* ---- cp.async ---- */

/* The traffic of cp.async, in which a lane's bytes go from one sector of a line of global memory to
 * one sector of a line of shared memory. `bypasses`: L1 is bypassed, by .cg with 16 bytes for each
 * lane. */
struct copy_traffic {
    /* Lines of global memory; if L1 is bypassed, once for each line of shared memory that they
     * go to. */
    unsigned tags;
    /* The same for sectors; if L1 is bypassed, sectors of shared memory of each line. */
    unsigned sectors;
    /* If L1 is bypassed: once for each sector of shared memory that they go to. */
    unsigned l2_sectors;
    unsigned wavefronts, ideal_wavefronts; /* in shared memory */
};
struct copy_traffic rule_copy(const struct lanes *from, const struct lanes *to, bool bypasses);

/* ---- local memory: addresses are offsets in a thread's; words of the 32 lanes lie side by side
 * ---- */

struct local_traffic {
    unsigned requests, sectors, lines;
};
struct local_traffic rule_local(const struct lanes *a);

/* ---- shared memory ---- */

enum shared_kind {
    SHARED_LD,
    SHARED_ST,
    SHARED_ATOM,      /* lanes at one word are serialised, */
    SHARED_INCREMENT, /* unless they all add 1 (ATOMS.POPC.INC) */
};

struct wavefronts {
    unsigned all, ideal; /* ideal: without bank conflicts; the conflicts are all - ideal */
};
struct wavefronts rule_wavefronts(const struct lanes *a, enum shared_kind kind);

#endif
