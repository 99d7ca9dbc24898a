/* What an H200 counts for one memory instruction of a warp, from the addresses of its lanes.
 *
 * The rules were found with Nsight Compute on an H200 (sm_90), by tables of patterns: one warp, one
 * instruction a pattern. What it counted there is these functions' test (tests/unit/test_rules.c);
 * docs/EXPLAIN.md has the rules in words. All agree exactly, of every pattern recorded.
 */
#ifndef HEDDLE_EXPLAIN_RULES_H
#define HEDDLE_EXPLAIN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RULE_LANES = 32, SECTOR_BYTES = 32, LINE_BYTES = 128, LINE_SECTORS = LINE_BYTES / SECTOR_BYTES };

/* The lanes that take part in an instruction, and where. Every lane's bytes are aligned to their
 * number, but in local memory. */
struct lanes {
    uint32_t mask;           /* not 0 */
    uint32_t bytes;          /* of one lane */
    const uint64_t *address; /* by lane; NULL: lane l at base + l * step */
    uint64_t base;
    int64_t step;
};

static inline uint64_t lane_address(const struct lanes *a, unsigned lane)
{
    return a->address ? a->address[lane] : a->base + (uint64_t)lane * (uint64_t)a->step;
}

/* The step where all lanes agree with one: true. Of a single lane: its bytes. */
bool rule_step(const struct lanes *a, int64_t *step);

/* ---- global memory ---- */

struct line {
    uint64_t number;  /* address / LINE_BYTES */
    uint32_t sectors; /* bits */
};

/* The lines that the lanes touch, each once; how many. At most one a lane. */
unsigned rule_lines(const struct lanes *a, struct line lines[RULE_LANES]);
/* Sectors of them that the lanes do not fill. */
unsigned rule_partial_sectors(const struct lanes *a);
/* Of red and atom: the sectors, and the operations that each has; how many sectors. Lanes at one
 * word go one after the other, each time with its sector again; those at different words of a
 * sector go together. The sum of the operations is what counts as sectors. */
struct sector_operations {
    uint64_t sector; /* address / SECTOR_BYTES */
    uint32_t operations;
};
unsigned rule_atomic_sectors(const struct lanes *a, struct sector_operations sectors[RULE_LANES]);
/* Different addresses. */
unsigned rule_distinct(const struct lanes *a);

/* ---- cp.async ---- */

/* `bypasses`: of .cg, 16 bytes a lane. A lane's bytes go from a sector of a line of global memory
 * to a sector of a line of shared memory. */
struct copy_traffic {
    unsigned
        tags; /* lines of global memory; of those that bypass L1 once for each line of shared memory that they go to */
    unsigned sectors;    /* the same of sectors: of those that bypass L1, sectors of shared memory of each line */
    unsigned l2_sectors; /* of those that bypass L1: once for each sector of shared memory that they go to */
    unsigned wavefronts, ideal_wavefronts; /* of shared memory */
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
    SHARED_ATOM,      /* lanes at one word go one after the other, */
    SHARED_INCREMENT, /* but where they all add 1 (ATOMS.POPC.INC) */
};

struct wavefronts {
    unsigned all, ideal; /* ideal: with no bank conflict; all - ideal is what counts as conflicts */
};
struct wavefronts rule_wavefronts(const struct lanes *a, enum shared_kind kind);

#endif
