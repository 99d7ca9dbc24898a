/* The interface of compiled code and the engine: how compiled code is entered and left, what it
 * calls, and which members of the engine's records it reads and writes (abi.def). The compiler
 * knows nothing else of these records (scripts/check-layers).
 *
 * abi_number() is part of the names of code on disk, and both sides of a connection to the
 * compiler compare theirs. It changes with any offset here; ABI_VERSION changes with the meaning
 * of a member, a number or a function.
 */
#ifndef HEDDLE_EXEC_ABI_H
#define HEDDLE_EXEC_ABI_H

#include "exec/code.h"

enum { ABI_VERSION = 2 };

/* Offsets and sizes: abi.warp_budget, abi.warp_size, ... */
struct abi {
#define FIELD(record, bytes, member) uint32_t record##_##member;
#define ARRAY(record, member)        uint32_t record##_##member;
#define SIZE(record)                 uint32_t record##_size;
#include "exec/abi.def"
};
extern const struct abi abi;

uint32_t abi_number(void);

struct warp;
struct activation;
struct compiled_calls;

typedef uint32_t compiled_fn(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                             const struct compiled_calls *calls);

/* How a block runs. With compiled code it starts in lockstep; otherwise its warps take turns.
 * Lockstep ends with the block, or becomes turns when a warp leaves on its own. Turns end with
 * the block or, in a `compiled` block, when lockstep can resume. Compiled code compares: the
 * first two, which are less than all others, are lockstep. */
enum block_phase {
    BLOCK_LOCKSTEP, /* compiled code continues with the next warp itself: lockstep.c */
    /* The same, up to the first barrier behind turns: registers may be the interpreter's. */
    BLOCK_RESUMED,
    BLOCK_FRESH, /* it has not begun */
    BLOCK_TURNS,
    /* turns; every warp waited as a whole at a barrier that has opened, so lockstep can resume
     * there */
    BLOCK_ALIGNED,
};

/* Exit reasons of compiled code; registers and pending lanes are back in their records. */
enum leave {
    /* Nothing was run: the block is not an entry, or the lanes did not arrive in order. */
    LEAVE_REFUSED,
    LEAVE_AT, /* the lanes w->mask are at w->op of block w->at_block */
    /* the same, at a barrier; some rows have only seeds, and COMPILED_FILL of block op->next
     * makes them whole */
    LEAVE_SEEDS,
    LEAVE_YIELD, /* the budget is spent: they are at the start of w->at_block */
    LEAVE_ON,    /* the same, with budget left: after a serial part */
    LEAVE_FAULT,
    /* in lockstep: the last warp of the block is at a barrier or has ended, and no phase follows
     * automatically */
    LEAVE_PHASE,
};

/* Added to the block at which compiled code is entered, or to its end: runs nothing, and makes
 * rows of the seeds that lockstep keeps between barrier phases. */
#define COMPILED_FILL (1u << 31)

/* Added to the block that a warp enters in lockstep: it begins at the block's terminator, where
 * its gang has dissolved. */
enum { COMPILED_END_SHIFT = 30 };
#define COMPILED_END (1u << 30)

/* Bits of block->arrived, where warps in lockstep have arrived: bit n is barrier n, ARRIVED_END the
 * end. In a kernel without barriers nothing is recorded. */
enum { ARRIVED_END = 1 << 16 };

/* After this number of barrier phases a block in lockstep yields, so that other resident blocks
 * make progress. */
enum { LOCKSTEP_PHASES = 1 << 10 };

/* The allocation that an access to global memory last hit. The access is in bounds if
 * rotate_right(address - lo, log2 of its bytes) < n. With a private histogram (histogram.c), an
 * addition changes sums that lie `shift` bytes after its locations. */
struct inline_cache {
    uint64_t lo, n, shift;
};

/* The shape of a register on which compiled code relies: lane l is the first lane of its piece
 * plus `lane_offsets[l]`. */
struct compiled_shape {
    uint32_t slot, width;
    uint64_t piece_lanes;
    const int64_t *lane_offsets;
};

/* An access of a basic block: its operation there, the number of its cache, and the distance
 * from its first lane's bytes to its last lane's. */
struct compiled_access {
    uint32_t op, cache;
    uint64_t span;
};

/* What compiled code calls. */
struct compiled_calls {
    /* Runs one operation on the rows of the activation, as the interpreter does; false after a
     * fault. For an access to global memory, fills *cache for the next time; `span` is the
     * distance from the first lane's bytes to the last lane's. */
    bool (*op)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    bool (*access)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, struct inline_cache *cache,
                   uint64_t span);
    /* Lanes reach a collective: false if they would have to wait; then nothing was done. */
    bool (*collective)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    void (*park)(struct activation *a, uint32_t block, uint32_t lanes);
    /* Do n registers have their shapes in the lanes of mask? Compiled code asks after lanes have
     * run out of order. */
    bool (*holds)(const struct activation *a, uint32_t mask, const struct compiled_shape *shapes, uint32_t n);
    /* Makes whole rows of n registers from their seeds, the values in the first lanes of pieces. */
    void (*fill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n);
    /* Writes n registers in the lanes of mask, from the values of the first lanes of their
     * pieces, stored consecutively. */
    void (*spill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n, const uint64_t *seeds,
                  uint32_t mask);
    /* Lanes are at a block of a serial part: serial_run(). */
    uint32_t (*serial)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
    /* A lane of a serial part has failed `tries` times: pauses. Returns whether to try again. */
    bool (*back_off)(struct warp *w, uint32_t tries);
    /* Runs a basic block up to its branch, on rows, and fills the inline caches of n accesses;
     * false after a fault. */
    bool (*iteration)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                      const struct compiled_access *accesses, uint32_t n);
};

/* The function of a serial part returns the block that all lanes of the mask have reached, or
 * one of these. */
enum serial {
    SERIAL_PARKED =
        NO_BLOCK, /* lanes wait at several blocks, stored in their records; w->out are those after the part */
    SERIAL_FAULT = NO_BLOCK - 1,
};

/* The tries of a lane before it backs off. A lane that finds a new value at the first try
 * usually succeeds at the second. */
enum { FREE_TRIES = 2 };

/* May an atomic operation use a private histogram (histogram.c)? True for an addition whose
 * result is not used. */
static inline bool histogram_takes(const struct mem_access *m, bool has_result)
{
    return m->n == 1 && !has_result && m->space != SPACE_SHARED && m->order <= ORDER_RELAXED && m->scope != MOD_sys &&
           atom_cell_sums(mem_access_cell(m, false));
}

#endif
