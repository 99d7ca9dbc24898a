/* The sites of a kernel, which events name (events.h): a table with an entry for each
 * operation.
 *
 * A site is self-contained: what the instruction does to memory and other threads by the PTX
 * ISA, and its place in the sources. Sites live as long as their kernel. Equal addresses mean
 * equal sites.
 */
#ifndef HEDDLE_EXEC_SITE_H
#define HEDDLE_EXEC_SITE_H

#include "base/diag.h"
#include "ir/ir.h"

/* PTX's numbered barriers, and the cluster's; the maximum of warps in a block. */
enum { BARRIERS = 16, CLUSTER_BARRIER = BARRIERS, ALL_BARRIERS, MAX_WARPS = 32 };

enum site_kind {
    SITE_OTHER, /* computes or branches */
    SITE_LOAD,
    SITE_STORE,
    SITE_ATOM, /* returns the old value */
    SITE_RED,
    SITE_FENCE,      /* fence, membar, griddepcontrol: `fence` */
    SITE_BARRIER,    /* mode: enum bar_mode */
    SITE_MBARRIER,   /* mode: enum mbarrier_mode */
    SITE_COPY,       /* an asynchronous access; mode: enum async_mode */
    SITE_GROUP,      /* mode: enum group_mode; imm: how many groups may be left */
    SITE_COLLECTIVE, /* of a warp; mode: enum collective */
    SITE_MATRIX,     /* wmma, mma, ldmatrix, stmatrix */
    SITE_WGMMA,
    SITE_CALL,
    SITE_EXIT,
};

/* What a fence does. */
enum site_fence {
    FENCE_ACQUIRES = 1,
    FENCE_RELEASES = 2,
    FENCE_INITS = 4, /* fence.mbarrier_init */
    FENCE_GRIDS = 8, /* griddepcontrol */
    FENCE_PROXY = 16,
    FENCE_PROXY_SHARED = 32, /* fence.proxy.async for accesses to shared memory */
    FENCE_PROXY_GLOBAL = 64, /* fence.proxy.async for accesses to global memory */
};

struct site {
    uint32_t number; /* in its kernel's table */
    uint8_t kind, mode;
    uint8_t fence;        /* enum site_fence */
    uint8_t order, scope; /* of a fence: enum ir_order, enum isa_mod */
    bool reads, writes;
    bool aligned; /* a barrier that all threads of the warp must execute together */
    /* All threads take part: of the block (barrier number in the text), or of the warp (mask in
     * the text). */
    bool whole;
    bool active;  /* a collective without a mask, for the lanes that arrive together */
    bool signals; /* a copy that an mbarrier tracks */
    bool accesses;
    struct mem_access access; /* if it `accesses` memory, itself or asynchronously */
    uint64_t imm;
    uint32_t function, block;  /* the function in its kernel; the basic block in that */
    const void *instruction;   /* in the PTX; equal in all kernels' copies of a function; or NULL */
    struct str opcode;         /* as written */
    struct place place;        /* in PTX and in CUDA */
    const struct ptx_loc *loc; /* as the PTX has it; or NULL */
};

static inline bool site_is_atomic(const struct site *s)
{
    return s->kind == SITE_ATOM || s->kind == SITE_RED;
}
static inline bool site_is_cas(const struct site *s)
{
    return site_is_atomic(s) && s->access.atom == ATOM_cas;
}
/* Volatile, relaxed, ordered. */
static inline bool site_is_strong(const struct site *s)
{
    return site_is_atomic(s) || mem_access_is_strong(&s->access);
}

/* "file.cu:12" for the middle of a sentence, "PTX line 7" without line information. */
const char *site_line(const struct site *s, struct arena *arena); /* NULL is allowed */

struct kernel;

/* A variable in shared memory. */
struct site_variable {
    struct str name;
    uint32_t at;
    uint64_t bytes;
};

/* A kernel in events. */
struct site_table {
    struct str kernel; /* its name in PTX */
    const struct site *at;
    uint32_t n;
    const struct site_variable *shared;
    uint32_t n_shared, static_shared_bytes;
    bool clustered;            /* blocks reach each other's shared memory */
    bool has_async;            /* it has asynchronous accesses */
    const struct kernel *code; /* for analyses before the launch; NULL: not available */
};

/* Does the predicate hold for any of its sites? */
static inline bool sites_any(const struct site_table *k, bool (*is)(const struct site *s))
{
    for (uint32_t i = 0; i < k->n; i++)
        if (is(&k->at[i]))
            return true;
    return false;
}

/* The variable that holds an address of shared memory, or NULL. */
static inline const struct site_variable *sites_shared_at(const struct site_table *k, uint64_t address)
{
    for (uint32_t i = 0; i < k->n_shared; i++)
        if (address - k->shared[i].at < k->shared[i].bytes)
            return &k->shared[i];
    return NULL;
}

/* Made on first use, freed with the kernel; NULL: out of memory. */
const struct site_table *kernel_sites(struct kernel *k);
void kernel_free_sites(struct kernel *k);

#endif
