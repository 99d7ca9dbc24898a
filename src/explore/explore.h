/* Explores all executions of a launch that PTX's memory model allows.
 *
 * The memory of the machine is what the launch begins with; it stays as it is. */
#ifndef HEDDLE_EXPLORE_EXPLORE_H
#define HEDDLE_EXPLORE_EXPLORE_H

#include <stdatomic.h>

#include "exec/launch.h"
#include "explore/execution.h"
#include "explore/interleave.h"
#include "explore/program.h"
#include "explore/verdict.h"
#include "ranks/ranks.h"

/* A word of memory whose final values make an outcome. */
struct observed {
    uint32_t block;   /* GLOBAL_MEMORY, or whose shared memory it is of */
    uint64_t address; /* as in struct location */
    uint8_t bytes;
    const char *name; /* as it was asked for */
};

struct explore_options {
    uint64_t unroll;     /* rounds of a loop that goes on because of what it reads, and writes; 0: the default */
    bool symmetric;      /* executions that differ by an exchange of threads are explored once */
    uint32_t n_threads;  /* that search at once */
    uint64_t step_limit; /* of the search; 0: none */
    const atomic_bool *interrupted; /* ends the search when it becomes true; NULL: never */
    const struct changes *changes;  /* of the kernel's orders, scopes and fences; NULL: none */
    const struct wanted *wanted;    /* ends the search where it is seen: verdict.caught; NULL: nothing does */
    const struct observed *observed;
    uint32_t n_observed;
    const struct claim *claims; /* condition.h: an outcome that breaks one is something that has been found */
    unsigned n_claims;
    bool interleave;     /* finds interleavings, too; on one thread */
    struct ranks *ranks; /* that explore the same launch, each with these options; NULL: this process is alone */
};

struct explore_result {
    struct arena arena;
    struct verdict verdict;
    struct interleavings *interleavings; /* or NULL */
    bool is_part;                        /* of what the first rank has: there is no verdict here */
    bool complete;                       /* nothing was cut off */
    const char *bounds[6];               /* what was, in words */
    const struct ir_insn *bound_at[6];
    unsigned n_bounds;
    struct refusal refusal; /* text not NULL: what is not explored; there is no verdict then */
    uint64_t n_events;      /* of all that were executed: runs of threads */
    uint32_t n_threads, threads_per_block;
};

/* A launch as exec/launch.h has it, checked. */
struct explore_launch {
    const struct kernel *kernel;
    struct mem *mem;
    struct launch_dims dims;
    const void *params;       /* packed */
    const void *grid_barrier; /* of a cooperative launch, as struct launch has it; else NULL */
};

void explore(const struct explore_launch *l, const struct explore_options *o, struct explore_result *r);
void explore_free(struct explore_result *r);

#endif
