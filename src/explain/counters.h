/* What an H200 would count of a launch: the record that counting (explain/count.h) fills and
 * everything else of this folder reads.
 *
 * An instruction is one of PTX here, not of the machine code that ptxas makes of it. "Warp
 * instruction": one that a warp executes with at least one active lane; "thread instructions": its
 * active lanes, predicated off or not.
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
#include "explain/counters.def"
#undef ACCESS
    int64_t stride; /* of `strided` requests: bytes from a lane to the next; INT64_MIN: not all agree */
};

/* Of branches and barriers. */
struct control_counters {
    uint64_t branches, divergent; /* warp instructions; those whose lanes parted */
    uint64_t taken;               /* threads that took the branch */
    uint64_t barrier_warps;       /* that came to the barrier */
    uint64_t barrier_wait,
        barrier_longest; /* instructions that others executed while these waited: all; the longest time */
};

/* An instruction of PTX. What lowering made of it counts as one. */
struct insn_counters {
    const struct ptx_insn *insn;
    struct place place; /* PTX; place.cuda: of CUDA, or NULL */
    uint64_t warp_instructions, thread_instructions;
    struct control_counters control;
    struct access_counters access[ACCESS_KINDS];
};

/* A line of CUDA, or of PTX where there is no line information: the sum of its instructions. */
struct line_counters {
    const char *file;
    uint32_t line;
    struct insn_counters sum; /* without an instruction and a place */
};

/* A sector of global memory at which atomics meet: `offset` bytes into an allocation or a variable
 * of so many bytes; 0 bytes: what it is of is not known. */
struct hot_place {
    uint64_t operations, offset, bytes;
    const char *name; /* or NULL */
};
enum { HOT_PLACES = 4 };

struct kernel_counters {
    /* The launch: */
    const char *name, *mangled;
    const char *launched_by;                /* the kernel, by its name in PTX; NULL: the host */
    uint32_t number;                        /* of the kernel, in the order of first launches */
    bool sampled;                           /* it was not counted: these are the figures of one like it (sample.h) */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none */
    uint32_t threads_per_block, warps_per_block;
    uint64_t blocks, warps;
    uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes; /* of a block; of a thread */
    uint32_t registers;     /* of a thread: ptxas's own, where the machine code for the device is beside the PTX, */
    bool registers_guessed; /* else an estimate */
    uint32_t spilled_bytes; /* of a thread, of registers that it has no room for */
    uint32_t sms;           /* multiprocessors that the model of L1 has taken */
    /* Instructions: */
    uint64_t warp_instructions, thread_instructions;
    struct control_counters control;
    double classes[COST_CLASSES]; /* warp instructions of PTX */
    double tensor[PRODUCT_TYPES]; /* operations of tensor cores */
    double flops, flops64;        /* operations of f32 and f64 of all threads; an FMA is two */
    /* Estimated: warp instructions that load and store spilled registers. `access` and the
     * instructions do not have them: PTX does not. */
    double spill_loads, spill_stores;
    double busiest_sm; /* share of them that the multiprocessor with the most has, where blocks are given out in turn */
    /* Memory: */
    struct access_counters access[ACCESS_KINDS];
    /* Distinct ones in global memory, without constants; atomics read and write. Pairs: 64 bytes,
     * what DRAM reads. */
    uint64_t read_sectors, read_pairs, written_sectors, touched_sectors, touched_lines;
    /* The sectors with the most operations of red and atom, down to 0; those of a warp that ptxas
     * sums up are one. */
    struct hot_place hottest[HOT_PLACES];
    /* Barriers: times that one opened; barrier_wait by the number of the warp in its block, of all
     * blocks. */
    uint64_t barriers, barrier_wait_of_warp[MAX_WARPS];
    /* Clocks of warps, in cycles: a warp's dependent instructions one after the other, warps of a
     * block together where a barrier opens (explain/cost.h): */
    double sum_warp_clock[CLOCK_LEVELS], max_warp_clock[CLOCK_LEVELS];
    double sum_block_clock[CLOCK_LEVELS], max_block_clock[CLOCK_LEVELS]; /* a block's: of its latest warp */
    struct timeline *timeline; /* of one block, of a kernel's first launch; else NULL */
    /* Where: */
    VEC(struct insn_counters) insns; /* executed at least once, in the order of the PTX text */
    VEC(struct line_counters) lines; /* in the order of files and lines */
};

/* Blocks of a cluster of the launch: 1 where there are none. */
static inline uint32_t cluster_blocks(const struct kernel_counters *c)
{
    return c->cluster[0] ? c->cluster[0] * c->cluster[1] * c->cluster[2] : 1;
}

/* How many launches of a kernel there were; how many of these were sampled, and how far off that is
 * at most (sample.h). */
struct kernel_launches {
    uint64_t all, sampled;
    double error;
};

#endif
