/* Facts about a kernel's instructions, found once before it runs.
 *
 * A site is an operation that accesses memory, or starts such an access. Blocks of code and sites
 * are numbered across all functions of the kernel, so that counts are plain arrays.
 */
#ifndef HEDDLE_EXPLAIN_SITES_H
#define HEDDLE_EXPLAIN_SITES_H

#include "exec/code.h"
#include "explain/counters.h"

struct access_site {
    const struct op *op;
    /* Enum access_kind, by enum site_space; asynchronous copies by what counts there. */
    uint8_t kind[3];
    bool ignored; /* parameters of functions, which are registers in machine code */
    bool past_l1; /* loads: L1 is bypassed (.cg, .cv, volatile, relaxed, ...) */
    /* Of atomics, as ptxas translates them: */
    /* REDUX sums up the lanes, and one of them does the operation: an integer add at a provably
       uniform address */
    bool summed;
    bool increments; /* adds the constant 1 in shared memory: ATOMS.POPC.INC */
    /* wgmma: what the four warps together read from shared memory; no event reports it */
    uint32_t warpgroup_bytes;
};

/* The space that an access went to: a generic address may lead to any. */
enum site_space { SITE_GLOBAL, SITE_SHARED, SITE_LOCAL, SITE_SPACES };
static inline enum site_space site_space(enum ptx_space space)
{
    return space == SPACE_SHARED ? SITE_SHARED : space == SPACE_LOCAL ? SITE_LOCAL : SITE_GLOBAL;
}

struct function_sites {
    const struct code *code;
    uint32_t first_block;  /* number of the function's first block of code */
    const uint32_t *of_op; /* by operation: 1 + number of its site, or 0 */
};

struct sites {
    struct function_sites *functions; /* by index, as in kernel->functions */
    uint32_t n_functions, n_blocks, n;
    struct access_site *at;
    uint32_t *of_site; /* by the numbers of exec/site.h: 1 + the number of the access_site, or 0 */
};

/* Allocated in the arena; NULL if memory is exhausted. */
struct sites *sites_find(const struct kernel *k, struct arena *arena);

#endif
