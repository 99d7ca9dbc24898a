/* Asynchronous work: copies and reductions that complete at a later event (PTX ISA 9.7.9.25), not
 * when they are issued.
 *
 * A warp keeps its lanes' unfinished work, in order. Three completion mechanisms finish it:
 *
 *     groups of a thread's copies     cp.async.wait_group, wait_all
 *     bulk groups of a thread         cp.async.bulk.wait_group; .read only reads the sources
 *     an mbarrier                     a failing test of its phase, in any warp of the cluster
 *
 * Work is not done earlier, so that a program that lacks a wait sees the old memory. But all work
 * is done if nothing else can move, so that polling ends; if its memory grows too large; and when a
 * block whose memory it touches has ended. Under the policy `random` some of it is done at random
 * points. All warps of a cluster are on one thread.
 *
 * The issuing lane checks addresses when it issues work. If an allocation ends before a copy is
 * done, that is noticed then.
 *
 * Compiled code performs a plain cp.async at once, which then never is a piece of work:
 * ir_is_copy(), docs/JIT.md.
 */
#ifndef HEDDLE_EXEC_ASYNC_H
#define HEDDLE_EXEC_ASYNC_H

#include "exec/tensor_map.h"
#include "exec/warp.h"

struct worker;

/* A range of bytes. */
struct async_part {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes, taken; /* bytes to write; bytes of these to read, the others are zeroes */
    uint32_t group;        /* the lane's group, by the number of earlier ones */
};

/* The usual copies of a warp whose lanes are together and have committed equally many groups:
 * each lane's bytes. */
struct async_rows {
    uint64_t to[WARP_LANES], from[WARP_LANES];
    uint32_t bytes, group;
};

/* The work issued by one instruction: a part for each lane, or one part for a single lane. */
struct async_work {
    struct async_work *next;
    struct warp *warp;
    const struct op *op;
    uint32_t lanes;   /* the lanes whose parts are not done */
    uint32_t n;       /* the number of parts; 0: a struct async_rows instead */
    uint32_t room;    /* bytes of this record */
    uint64_t version; /* the version of the machine's memory when addresses were checked */
    /* From addresses of global memory to the machine's pointers: mem_shift(). */
    uint64_t shift;
    /* Sources that have been read before their work is done (.read), or NULL. */
    uint8_t *buffer;
    struct block *writes;  /* the block whose shared memory is written; NULL: global memory */
    struct block *reads;   /* the same of the sources */
    uint64_t source;       /* of bulk copies: the address there, before .read has moved it */
    struct block *signals; /* the block whose mbarrier tracks it; NULL: groups do */
    /* The mbarrier, in its shared memory; of arrivals each lane's is parts[lane].group. */
    uint64_t object;
    uint64_t value[4]; /* st.async, red.async: what `from` points to; .v4.b64 has most */
    struct async_part parts[];
};

/* The queue of a warp that has issued work. */
struct async_queue {
    struct async_work *first, *last;
    bool parted;                 /* lanes have committed different numbers of groups */
    uint32_t n;                  /* the number of pieces of work */
    uint32_t groups[WARP_LANES]; /* the number of groups that each lane has committed */
    uint32_t bulk_groups[WARP_LANES];
};

/* The data of a tensor-map copy, after its part. */
struct async_tensor {
    struct tensor_map map;
    struct tensor_at at;
};

/* OP_ASYNC, OP_GROUP; false after a fault. */
bool async_issue(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool async_group(struct warp *w, const struct op *o, uint32_t mask);

/* Has the block's cluster unfinished work? */
bool async_is_pending(const struct block *b);
/* Finishes all work of the cluster that the mbarrier at `address` of the block's shared memory
 * tracks; false after a fault. */
bool async_finish_for(struct block *owner, uint64_t address);
/* Finishes all work of the worker's blocks; true if there was some. */
bool async_finish_all(struct worker *k);
/* Under `random`: may finish one piece of the cluster's work. */
void async_finish_some(struct block *b);
/* A block has ended: finishes its own work, and others' work on its memory. If the launch has
 * failed, drops it. */
void async_end_block(struct block *b);

/* For messages and for check/: the first unfinished piece of work of the block's cluster that
 * must come before an access to bytes of the block's shared memory, or of global memory (owner
 * NULL); NULL if there is none. *written: the work will write these bytes, else it will read
 * bytes that the access `writes`. */
const struct async_work *async_find(const struct block *cluster, const struct block *owner, uint64_t address,
                                    uint64_t bytes, bool writes, bool *written);

/* ---- mbarrier.c ---- */

/* An operation of the machine itself on an mbarrier: false after a fault. `announces`: this
 * phase expects one more arrival. */
struct mbarrier_signal {
    uint32_t bytes; /* bytes of completed transactions */
    bool arrives, announces;
};
bool mbarrier_signal(struct warp *w, const struct op *o, unsigned lane, struct block *owner, uint64_t address,
                     const struct mbarrier_signal *signal);
struct mbarrier_state {
    uint32_t pending;
    int32_t transactions;
    bool parity;
};
struct mbarrier_state mbarrier_state(const struct block *owner, uint64_t address);

#endif
