/* Explores all executions of a launch that PTX's memory model allows.
 *
 * The launch starts with the machine's memory, which stays unchanged. */
#ifndef HEDDLE_EXPLORE_EXPLORE_H
#define HEDDLE_EXPLORE_EXPLORE_H

#include <stdatomic.h>

#include "exec/launch.h"
#include "explore/execution.h"
#include "explore/interleave.h"
#include "explore/program.h"
#include "explore/verdict.h"
#include "ranks/ranks.h"

/* A word of memory whose final value is a part of the outcome. */
struct observed {
    uint32_t block;   /* GLOBAL_MEMORY, or the block whose shared memory it is in */
    uint64_t address; /* as in struct location */
    uint8_t bytes;
    const char *name; /* as the user wrote it */
};

struct explore_options {
    /* bound for iterations of a loop that reads its condition from memory, and writes; 0: the
       default */
    uint64_t unroll;
    /* Executions that differ only by a permutation of threads are explored once. */
    bool symmetric;
    uint32_t n_threads;             /* threads that search in parallel */
    uint64_t step_limit;            /* limit on the search's steps; 0: none */
    const atomic_bool *interrupted; /* ends the search when it becomes true; NULL: never */
    const struct changes *changes;  /* to the kernel's orders, scopes and fences; NULL: none */
    /* ends the search at the first execution that shows it: verdict.caught; NULL: none */
    const struct wanted *wanted;
    const struct observed *observed;
    uint32_t n_observed;
    const struct claim *claims; /* condition.h: an outcome that violates one is a finding */
    unsigned n_claims;
    bool interleave; /* also finds interleavings, with one thread */
    /* explore the same launch together, with the same options; NULL: this process is alone */
    struct ranks *ranks;
};

struct explore_result {
    struct arena arena;
    struct verdict verdict;
    struct interleavings *interleavings; /* or NULL */
    /* A part of the first rank's results: this one has no verdict. */
    bool is_part;
    bool complete;         /* nothing was cut off */
    const char *bounds[6]; /* what was cut off, in words */
    const struct ir_insn *bound_at[6];
    unsigned n_bounds;
    /* If text is not NULL: what cannot be explored; there is no verdict then. */
    struct refusal refusal;
    uint64_t n_events; /* the number of executed events, over all runs of threads */
    uint32_t n_threads, threads_per_block;
};

/* A checked launch, as in exec/launch.h. */
struct explore_launch {
    const struct kernel *kernel;
    struct mem *mem;
    struct launch_dims dims;
    const void *params;       /* packed */
    const void *grid_barrier; /* of a cooperative launch, as in struct launch; else NULL */
};

void explore(const struct explore_launch *l, const struct explore_options *o, struct explore_result *r);
void explore_free(struct explore_result *r);

#endif
