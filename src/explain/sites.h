/* What is known of a kernel's instructions before it runs: made once a kernel.
 *
 * A site is an operation that accesses memory, or has it accessed. Blocks of code and sites are
 * numbered through all functions of the kernel, so that what is counted of them stands in plain
 * arrays.
 */
#ifndef HEDDLE_EXPLAIN_SITES_H
#define HEDDLE_EXPLAIN_SITES_H

#include "exec/code.h"
#include "explain/counters.h"

struct access_site {
    const struct op *op;
    uint8_t kind[3]; /* enum access_kind, by enum site_space; of asynchronous copies by what is counted there */
    bool ignored;    /* parameters of a function: registers in machine code */
    bool past_l1;    /* of loads: L1 is not asked (.cg, .cv, volatile, relaxed, ...) */
    /* Of atomics, as ptxas translates them: */
    bool summed; /* lanes are summed up by REDUX, and one of them goes on: an integer add at one address, provably */
    bool increments;          /* shared memory, adds the constant 1: ATOMS.POPC.INC */
    uint32_t warpgroup_bytes; /* of wgmma: what the four warps read from shared memory together; nothing tells of it */
};

/* Where an access has gone: generic addresses may lead to each. */
enum site_space { SITE_GLOBAL, SITE_SHARED, SITE_LOCAL, SITE_SPACES };
static inline enum site_space site_space(enum ptx_space space)
{
    return space == SPACE_SHARED ? SITE_SHARED : space == SPACE_LOCAL ? SITE_LOCAL : SITE_GLOBAL;
}

struct function_sites {
    const struct code *code;
    uint32_t first_block;  /* number of its first block of code */
    const uint32_t *of_op; /* by operation: 1 + number of its site, or 0 */
};

struct sites {
    struct function_sites *functions; /* as in kernel->functions */
    uint32_t n_functions, n_blocks, n;
    struct access_site *at;
    uint32_t *of_site; /* by the numbers of exec/site.h: 1 + the number of the access_site, or 0 */
};

/* Lives in the arena; NULL where memory is exhausted. */
struct sites *sites_find(const struct kernel *k, struct arena *arena);

#endif
