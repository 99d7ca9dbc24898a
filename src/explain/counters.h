/* What an H200 would count for a launch: the record that counting (explain/count.h) fills and the
 * rest of this folder reads.
 *
 * An instruction is one of PTX here, not of ptxas's machine code. "Warp instruction": executed by a
 * warp with at least one active lane; "thread instructions": its active lanes, predicated off or
 * not.
 */
#ifndef HEDDLE_EXPLAIN_COUNTERS_H
#define HEDDLE_EXPLAIN_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/vec.h"
#include "exec/warp.h"
#include "explain/cost.h"

struct timeline;
struct ptx_insn;

enum access_kind {
#define KIND(name, ncu) KIND_of_##name,
#include "explain/counters.def"
#undef KIND
    ACCESS_KINDS
};

struct access_counters {
#define ACCESS(name, meaning) uint64_t name;
/* Of `strided` requests: bytes from one lane to the next; INT64_MIN: they differ. */
#include "explain/counters.def"
#undef ACCESS
    int64_t stride;
};

/* Counts of branches and barriers. */
struct control_counters {
    uint64_t branches, divergent; /* warp instructions; those that diverged */
    uint64_t taken;               /* threads that took the branch */
    uint64_t barrier_warps;       /* warps that arrived at the barrier */
    /* Instructions that others executed while these waited: the sum; the longest wait. */
    uint64_t barrier_wait, barrier_longest;
};

/* An instruction of PTX. The operations that it was lowered to count as one. */
struct insn_counters {
    const struct ptx_insn *insn;
    struct place place; /* in the PTX; place.cuda: in CUDA, or NULL */
    uint64_t warp_instructions, thread_instructions;
    struct control_counters control;
    struct access_counters access[ACCESS_KINDS];
};

/* The sum of the instructions of a line of CUDA, or of PTX if there is no line information. */
struct line_counters {
    const char *file;
    uint32_t line;
    struct insn_counters sum; /* without an instruction and a place */
};

/* A sector of global memory that atomics access: `offset` bytes into an allocation or variable of
 * `bytes` bytes; 0 bytes if it is not known which. */
struct hot_place {
    uint64_t operations, offset, bytes;
    const char *name; /* or NULL */
};
enum { HOT_PLACES = 4 };

struct kernel_counters {
    /* The launch: */
    const char *name, *mangled;
    const char *launched_by; /* the kernel, by its name in PTX; NULL: the host */
    uint32_t number;         /* the kernel's, in the order of first launches */
    /* not counted: the figures are those of a launch like it (sample.h) */
    bool sampled;
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none */
    uint32_t threads_per_block, warps_per_block;
    uint64_t blocks, warps;
    /* Of a block, of a block, of a thread. */
    uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
    /* Of a thread: ptxas's number if machine code for the device is beside the PTX; else an
     * estimate. */
    uint32_t registers;
    bool registers_guessed;
    uint32_t spilled_bytes; /* of a thread, for registers that do not fit */
    uint32_t sms;           /* multiprocessors that the model of L1 simulates */
    /* Instructions: */
    uint64_t warp_instructions, thread_instructions;
    struct control_counters control;
    double classes[COST_CLASSES]; /* warp instructions of PTX */
    double tensor[PRODUCT_TYPES]; /* operations of tensor cores */
    double flops, flops64;        /* operations of f32 and f64 of all threads; an FMA is two */
    /* Estimated warp instructions that load and store spilled registers. `access` and the
     * instructions do not include them, since PTX has none. */
    double spill_loads, spill_stores;
    /* The largest share of them on one multiprocessor, if blocks are assigned in turn. */
    double busiest_sm;
    /* Memory: */
    struct access_counters access[ACCESS_KINDS];
    /* Distinct sectors of global memory, without constants; atomics read and write. Pairs: 64
     * bytes, the unit of DRAM reads. */
    uint64_t read_sectors, read_pairs, written_sectors, touched_sectors, touched_lines;
    /* The sectors with most operations of red and atom, down to 0. Operations that ptxas sums up in
     * a warp count as one. */
    struct hot_place hottest[HOT_PLACES];
    /* Barriers: how often one opened. barrier_wait_of_warp: by the warp's number in its block,
     * summed over blocks. */
    uint64_t barriers, barrier_wait_of_warp[MAX_WARPS];
    /* Clocks of warps, in cycles: a warp's dependent instructions follow each other, and a block's
     * warps meet when a barrier opens (explain/cost.h): */
    double sum_warp_clock[CLOCK_LEVELS], max_warp_clock[CLOCK_LEVELS];
    /* Of a block's latest warp. */
    double sum_block_clock[CLOCK_LEVELS], max_block_clock[CLOCK_LEVELS];
    struct timeline *timeline; /* of one block of a kernel's first launch; else NULL */
    /* By place: */
    VEC(struct insn_counters) insns; /* executed at least once, in the order of the PTX text */
    VEC(struct line_counters) lines; /* in the order of files and lines */
};

/* The number of blocks in a cluster of the launch; 1 without clusters. */
static inline uint32_t cluster_blocks(const struct kernel_counters *c)
{
    return c->cluster[0] ? c->cluster[0] * c->cluster[1] * c->cluster[2] : 1;
}

/* How many launches a kernel had, how many of them were sampled, and by how much at most sampled
 * figures may be off (sample.h). */
struct kernel_launches {
    uint64_t all, sampled;
    double error;
};

#endif
