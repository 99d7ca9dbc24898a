/* What is explored: a kernel with its launch, its memory as it is before, and the places of memory
 * that its threads share.
 *
 * A location is a place that some execution accesses, with the size of that access: one entry a
 * place for all executions, so that a graph (graph.h) names it by a number. Overlapping locations
 * of different places or sizes are mixed-size accesses, which the model does not cover (PTX ISA
 * 9.0, 8.7.2): they are refused where one of them is written. */
#ifndef HEDDLE_EXPLORE_PROGRAM_H
#define HEDDLE_EXPLORE_PROGRAM_H

#include "exec/code.h"
#include "explore/change.h"

enum { NO_EVENT = UINT16_MAX, NO_LOCATION = UINT16_MAX, MAX_LOCATIONS = UINT16_MAX - 1 };
enum { GLOBAL_MEMORY = UINT32_MAX }; /* in place of a block */

struct location {
    uint64_t address; /* global: the machine's; shared: from the start of the block's */
    uint32_t block;   /* whose shared memory it is, or GLOBAL_MEMORY */
    uint8_t bytes;
    uint64_t initial;
    bool overlapped;         /* by another location */
    const char *observed_as; /* its name, if it is; else NULL */
    enum {
        WRITES_NOT_ASKED,
        WRITES_STRONG,
        WRITES_WEAK
    } writes; /* passed.c: are all its writes strong, in the gpu's scope at least? */
};

/* Where a thread stands in the grid. Threads of one warp that do nothing but meet at the same
 * barriers are one, with all their lanes (search.h). */
struct place_in_grid {
    uint32_t block, warp, lane; /* lane: the lowest */
    uint32_t lanes;
    uint32_t tid[3], ctaid[3];
    uint32_t cluster, rank;
};

/* Of polls that are alike one stands for all (polls.c): who comes to instruction `from` of a block
 * goes to the block `to`. */
struct detour {
    uint32_t from, to; /* to: NO_BLOCK: there is none */
};

/* What a loop can be, of a block at which it begins (loop_kinds.c). */
struct loop_kind {
    bool heads;   /* a loop begins here */
    bool entry;   /* no header, but another way into a loop */
    bool awaits;  /* a round may only read, and leave all as it was: none counts */
    bool several; /* reads in it */
    bool swaps;   /* compare-and-swaps are among them, of several */
    struct detour detour;
};

/* What only takes time (idle.c). */
struct idle {
    bool *insns;  /* by instruction: it is passed over; NULL: none is */
    uint32_t *to; /* by block that ends with such a branch: the block where it goes on */
};

/* What an exploration cannot do: the reason, and the instruction that has it (NULL: none). */
struct refusal {
    const struct ir_insn *insn;
    const char *text;
};

struct program {
    struct arena *arena;
    const struct kernel *kernel;
    const struct mem *mem;
    lane_fn *const *lane;
    uint32_t grid[3], block[3], cluster[3]; /* cluster: 1 where there are none */
    bool explicit_cluster;
    uint32_t shared_bytes, dynamic_shared_bytes;
    const uint8_t *params;         /* packed */
    uint64_t grid_barrier;         /* its address, or 0 */
    const struct changes *changes; /* of its orders, scopes and fences; NULL: none */
    uint32_t n_blocks, threads_per_block, blocks_per_cluster;
    struct ir_live *live;     /* by function of the kernel */
    uint64_t **constants;     /* likewise: by constant */
    struct loop_kind **loops; /* likewise: by block */
    struct idle *idle;        /* likewise */
    bool swaps_left_out;      /* rounds with compare-and-swaps that have failed are, as rounds of loads are (loops.c) */
    bool has_swaps;           /* some loop has such */
    VEC(struct location) locations;
    uint16_t *buckets; /* by a hash of the place: 1 + the newest; chained by `next` */
    VEC(uint16_t) next;
    struct refusal refusal; /* the first; text NULL: none */
};

/* loop_kinds.c: of all blocks of a function with detours. */
struct loop_kind *find_loop_kinds(struct program *p, const struct ir_func *f, const uint64_t *constants,
                                  const struct detour *detours);

/* The function with instructions and blocks that may be changed. */
static inline struct ir_func *with_own_code(struct arena *arena, const struct ir_func *f)
{
    struct ir_func *other = ARENA_NEW(arena, struct ir_func);
    *other = *f;
    other->insns.at = ARENA_ARRAY(arena, struct ir_insn, f->insns.n);
    other->blocks.at = ARENA_ARRAY(arena, struct ir_block, f->blocks.n);
    memcpy(other->insns.at, f->insns.at, f->insns.n * sizeof *f->insns.at);
    memcpy(other->blocks.at, f->blocks.at, f->blocks.n * sizeof *f->blocks.at);
    return other;
}

/* polls.c: by block, of a function without what idle.c has found; and the function with these. */
struct detour *find_detours(struct arena *arena, const struct ir_func *f, const uint64_t *constants,
                            const struct ir_live *live);
const struct ir_func *with_detours(struct arena *arena, const struct ir_func *f, const struct detour *detours);

/* idle.c: of a function; and the function without that, for analyses. */
struct idle find_idle(struct arena *arena, const struct ir_func *f);
const struct ir_func *without_idle(struct arena *arena, const struct ir_func *f, const struct idle *idle);

/* False with p->refusal where memory or work of the analyses does not suffice. */
bool program_begin(struct program *p);

void program_place(const struct program *p, uint32_t block, uint32_t thread, struct place_in_grid *at);
/* A special register of a thread: `number` as in ir/ir.h. */
uint64_t program_special(const struct program *p, const struct place_in_grid *at, uint32_t number);
/* The constant of a function. */
uint64_t program_constant(const struct program *p, const struct code *c, uint32_t index);
/* The function's code, or NULL; by an address that a kernel computed. */
const struct code *program_function(const struct program *p, const struct ptx_func *f);

/* What an address leads to. */
enum target { TARGET_LOCATION, TARGET_LOCAL, TARGET_CONSTANT, TARGET_NOTHING, TARGET_READ_ONLY };
struct found {
    enum target target;
    uint16_t location;
    uint64_t local;       /* TARGET_LOCAL: the offset */
    const uint8_t *bytes; /* TARGET_CONSTANT */
};
/* What is observed there in another size, or at an overlapping place; NULL: nothing is. */
const struct location *program_observed_at(const struct program *p, const struct location *l);
/* What the launch begins with: of memory that a kernel may use. False: it is none. */
bool program_memory(const struct mem *m, uint64_t address, uint8_t bytes, uint64_t *value);
struct found program_find(struct program *p, const struct place_in_grid *at, enum ptx_space space, uint64_t address,
                          uint8_t bytes, bool writes);

void program_refuse(struct program *p, const struct ir_insn *insn, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The line of the PTX text; 0 of none. */
uint32_t program_line(const struct ir_insn *insn);

#endif
