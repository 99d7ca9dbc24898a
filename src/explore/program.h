/* The object of an exploration: a kernel with its launch, the initial memory, and the places of
 * memory that its threads share.
 *
 * A location is a place that some execution accesses, with the size of that access. All executions
 * share one table of them, so that a graph (graph.h) names a location by its number. Overlapping
 * locations with different places or sizes are mixed-size accesses, which the model does not cover
 * (PTX ISA 9.0, 8.7.2): they are refused if one of them is written. */
#ifndef HEDDLE_EXPLORE_PROGRAM_H
#define HEDDLE_EXPLORE_PROGRAM_H

#include "exec/code.h"
#include "explore/change.h"

enum { NO_EVENT = UINT16_MAX, NO_LOCATION = UINT16_MAX, MAX_LOCATIONS = UINT16_MAX - 1 };
enum { GLOBAL_MEMORY = UINT32_MAX }; /* instead of a block's number */

struct location {
    uint64_t address; /* global: in the machine; shared: offset in the block's memory */
    uint32_t block;   /* the block whose shared memory it is in, or GLOBAL_MEMORY */
    uint8_t bytes;
    uint64_t initial;
    bool overlapped;         /* by another location */
    const char *observed_as; /* its name if it is observed; else NULL */
    enum {
        WRITES_NOT_ASKED,
        WRITES_STRONG,
        WRITES_WEAK
    } writes; /* stale_writes.c: are all its writes strong, at least in the gpu's scope? */
};

/* A thread's position in the grid. Threads of a warp that do nothing but meet at the same barriers
 * count as one thread, with all their lanes (search.h). */
struct place_in_grid {
    uint32_t block, warp, lane; /* lane: the lowest of them */
    uint32_t lanes;
    uint32_t tid[3], ctaid[3];
    uint32_t cluster, rank;
};

/* One poll stands for all that are alike (polls.c): control that reaches instruction `from` of a
 * block goes to the block `to` instead. */
struct detour {
    uint32_t from, to; /* to: NO_BLOCK if there is none */
};

/* Properties of the loop that begins at a block (loop_kinds.c). */
struct loop_kind {
    bool heads;   /* a loop begins here */
    bool entry;   /* another entry of a loop, not its header */
    bool awaits;  /* an iteration may only read and leave the state unchanged; else all count */
    bool several; /* such an iteration has several reads */
    bool swaps;   /* several reads, compare-and-swaps among them */
    struct detour detour;
};

/* Instructions that only pass time (idle.c). */
struct idle {
    bool *insns;  /* by instruction: it is skipped; NULL: none is */
    uint32_t *to; /* by block that ends with such a branch: where it continues */
};

/* Why a launch cannot be explored, and the instruction responsible (NULL: none). */
struct refusal {
    const struct ir_insn *insn;
    const char *text;
};

struct program {
    struct arena *arena;
    const struct kernel *kernel;
    const struct mem *mem;
    lane_fn *const *lane;
    uint32_t grid[3], block[3], cluster[3]; /* cluster: 1 without clusters */
    bool explicit_cluster;
    uint32_t shared_bytes, dynamic_shared_bytes;
    const uint8_t *params;         /* packed */
    uint64_t grid_barrier;         /* its address, or 0 */
    const struct changes *changes; /* to its orders, scopes and fences; NULL: none */
    uint32_t n_blocks, threads_per_block, blocks_per_cluster;
    struct ir_live *live;     /* by function of the kernel */
    uint64_t **constants;     /* likewise: by constant */
    struct loop_kind **loops; /* likewise: by block */
    struct idle *idle;        /* likewise */
    /* iterations with failed compare-and-swaps are left out like those with loads (loops.c) */
    bool swaps_left_out;
    bool has_swaps; /* some loop has such iterations */
    VEC(struct location) locations;
    uint16_t *buckets; /* hash table of places: 1 + the newest; linked by `next` */
    VEC(uint16_t) next;
    struct refusal refusal; /* the first one; text NULL: none */
    /* run_try() is at work: what it does may never happen, so it must leave nothing behind. */
    bool tries;
};

/* loop_kinds.c: for all blocks of a function with detours. */
struct loop_kind *find_loop_kinds(struct program *p, const struct ir_func *f, const uint64_t *constants,
                                  const struct detour *detours);

/* A copy of the function whose instructions and blocks may be changed. */
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

/* polls.c: detours by block, for a function without what idle.c found;
 * then the function with them. */
struct detour *find_detours(struct arena *arena, const struct ir_func *f, const uint64_t *constants,
                            const struct ir_live *live);
const struct ir_func *with_detours(struct arena *arena, const struct ir_func *f, const struct detour *detours);

/* idle.c: for a function; then the function without these instructions, for analyses. */
struct idle find_idle(struct arena *arena, const struct ir_func *f);
const struct ir_func *without_idle(struct arena *arena, const struct ir_func *f, const struct idle *idle);

/* Returns false with p->refusal if memory or the work allowed for analyses does not suffice. */
bool program_begin(struct program *p);

void program_place(const struct program *p, uint32_t block, uint32_t thread, struct place_in_grid *at);
/* A thread's special register: `number` as in ir/ir.h. */
uint64_t program_special(const struct program *p, const struct place_in_grid *at, uint32_t number);
/* A function's constant. */
uint64_t program_constant(const struct program *p, const struct code *c, uint32_t index);
/* The code of a function by an address that a kernel computed; or NULL. */
const struct code *program_function(const struct program *p, const struct ptx_func *f);

/* What an address refers to. */
enum target { TARGET_LOCATION, TARGET_LOCAL, TARGET_CONSTANT, TARGET_NOTHING, TARGET_READ_ONLY };
struct found {
    enum target target;
    uint16_t location;
    uint64_t local;       /* TARGET_LOCAL: its offset */
    const uint8_t *bytes; /* TARGET_CONSTANT */
};
/* The observed location that overlaps with another place or size; NULL if there is none. */
const struct location *program_observed_at(const struct program *p, const struct location *l);
/* Initial contents of memory that a kernel may use; false for other memory. */
bool program_memory(const struct mem *m, uint64_t address, uint8_t bytes, uint64_t *value);
struct found program_find(struct program *p, const struct place_in_grid *at, enum ptx_space space, uint64_t address,
                          uint8_t bytes, bool writes);

void program_refuse(struct program *p, const struct ir_insn *insn, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The line of the PTX text; 0 if there is none. */
uint32_t program_line(const struct ir_insn *insn);

#endif
