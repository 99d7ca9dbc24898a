/* What compiled code and the engine know of each other: how one is entered and left, what it calls,
 * and which members of the engine's records it reads and writes (abi.def). The compiler knows
 * nothing else of these records (scripts/check-layers).
 *
 * abi_number() is part of the names of code on disk, and both sides of a connection to the compiler
 * compare theirs. It changes with any offset here; ABI_VERSION is for what a member, a number or a
 * function means.
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

/* How a block runs. With compiled code it goes from its start into lockstep, else its warps take
 * turns. Lockstep ends with the block, or in turns, where a warp leaves by itself; turns end with
 * the block, or, of one that is `compiled`, where lockstep can go on. Compiled code takes the first
 * two, which are less than all others, for lockstep. */
enum block_phase {
    BLOCK_LOCKSTEP, /* compiled code goes on with the next warp by itself: lockstep.c */
    BLOCK_RESUMED,  /* the same, up to the first barrier behind turns: registers may be the interpreter's */
    BLOCK_FRESH,    /* it has not begun */
    BLOCK_TURNS,
    BLOCK_ALIGNED, /* turns; a barrier has opened at which each warp stood as a whole, and lockstep can go on there */
};

/* Exit reasons of compiled code; registers and pending lanes are back in their records. */
enum leave {
    LEAVE_REFUSED, /* nothing was run: this block is no entry, or the lanes did not come here in order */
    LEAVE_AT,      /* lanes w->mask stand at w->op of block w->at_block */
    LEAVE_SEEDS, /* the same, at a barrier, but some rows have seeds only: COMPILED_FILL of block op->next makes them whole */
    LEAVE_YIELD, /* the budget is spent: they stand at the start of w->at_block */
    LEAVE_ON,    /* the same, with budget left: behind a serial part */
    LEAVE_FAULT,
    LEAVE_PHASE, /* in lockstep: the last warp of the block stands at a barrier, or has ended; no phase follows by itself */
};

/* Added to the block that compiled code is entered at, or to its end: nothing runs, but rows are
 * made of the seeds that lockstep keeps between barrier phases. */
#define COMPILED_FILL (1u << 31)

/* Added to the block that a warp enters, in lockstep: it begins at the block's terminator, where
 * its gang has dissolved. */
enum { COMPILED_END_SHIFT = 30 };
#define COMPILED_END (1u << 30)

/* Bits of block->arrived, where warps in lockstep have arrived: bit n is barrier n, ARRIVED_END the
 * end. In a kernel without barriers nothing is recorded. */
enum { ARRIVED_END = 1 << 16 };

/* After so many barrier phases a block in lockstep gives way, so that other resident blocks can
 * make progress. */
enum { LOCKSTEP_PHASES = 1 << 10 };

/* Of an access to global memory, the allocation where it was last. The access is inside if
 * rotate_right(address - lo, log2 of its bytes) < n. An addition changes sums that stand `shift`
 * behind its cells, if there is a private histogram (histogram.c). */
struct inline_cache {
    uint64_t lo, n, shift;
};

/* The shape that compiled code relies on, of a register: lane l is the first lane of its piece plus
 * `lane_offsets[l]`. */
struct compiled_shape {
    uint32_t slot, width;
    uint64_t piece_lanes;
    const int64_t *lane_offsets;
};

/* An access of a block of code: its operation there, its cache by number, and the distance from its
 * first lane's bytes to its last's. */
struct compiled_access {
    uint32_t op, cache;
    uint64_t span;
};

/* What compiled code calls. */
struct compiled_calls {
    /* Runs one operation on the rows of the activation, as the interpreter does; false after a
     * fault. Of an access to global memory, *cache is filled for the next time; `span` is the
     * distance from the first lane's bytes to those of the last. */
    bool (*op)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    bool (*access)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask, struct inline_cache *cache,
                   uint64_t span);
    /* Lanes come to a collective: false where they would have to wait, and nothing has been done. */
    bool (*collective)(struct warp *w, struct activation *a, const struct op *o, uint32_t mask);
    void (*park)(struct activation *a, uint32_t block, uint32_t lanes);
    /* Do n registers have their shapes in the lanes of mask? Compiled code asks where lanes did not
     * run in order. */
    bool (*holds)(const struct activation *a, uint32_t mask, const struct compiled_shape *shapes, uint32_t n);
    /* Makes whole rows of n registers from their seeds, the values in the first lanes of pieces. */
    void (*fill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n);
    /* Writes n registers in the lanes of mask, from the values of the first lanes of their pieces,
     * one after the other. */
    void (*spill)(struct activation *a, const struct compiled_shape *shapes, uint32_t n, const uint64_t *seeds,
                  uint32_t mask);
    /* Lanes stand at a block of a serial part: serial_run(). */
    uint32_t (*serial)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask);
    /* A lane of a serial part has tried in vain so often: pauses. Is it to try again? */
    bool (*back_off)(struct warp *w, uint32_t tries);
    /* Runs a block of code up to its branch, on rows, and fills the inline caches of n accesses;
     * false after a fault. */
    bool (*iteration)(struct warp *w, struct activation *a, uint32_t block, uint32_t mask,
                      const struct compiled_access *accesses, uint32_t n);
};

/* The function of a serial part returns the block that all lanes of the mask have come to, or one
 * of these. */
enum serial {
    SERIAL_PARKED =
        NO_BLOCK, /* lanes wait in several blocks, which their records say; w->out are those behind the part */
    SERIAL_FAULT = NO_BLOCK - 1,
};

/* Tries of a lane before it backs off: a lane that finds a new value at the first comes through at
 * the second. */
enum { FREE_TRIES = 2 };

/* May an atomic operation go to a private histogram (histogram.c)? An addition whose result nobody
 * reads. */
static inline bool histogram_takes(const struct mem_access *m, bool has_result)
{
    return m->n == 1 && !has_result && m->space != SPACE_SHARED && m->order <= ORDER_RELAXED && m->scope != MOD_sys &&
           atom_cell_sums(mem_access_cell(m, false));
}

#endif
