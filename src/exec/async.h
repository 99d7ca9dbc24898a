/* Asynchronous work: copies and reductions that are done when something says so (PTX ISA 9.7.9.25),
 * not when they are issued.
 *
 * A warp keeps what its lanes have issued and what is not done yet, in order. Three completion
 * mechanisms have it done:
 *
 *     groups of a thread's copies         cp.async.wait_group, wait_all
 *     bulk groups of a thread's           cp.async.bulk.wait_group; .read has only the sources read
 *     an mbarrier                         a test of its phase that would fail, in any warp of the cluster
 *
 * Nothing is done earlier, so that a program that does not wait meets the memory as it was: but all
 * is done where nothing else moves, so that polling ends; where memory for it grows too large; when
 * a block has ended whose memory it touches. Under the policy `random` some of it is done at random
 * points. All warps of a cluster are on one thread.
 *
 * Addresses are checked when work is issued, by the lane that issues it. An allocation that ends
 * before a copy is done is noticed then.
 *
 * Compiled code does a plain cp.async at once, which never becomes a piece of work: ir_is_copy(),
 * docs/JIT.md.
 */
#ifndef HEDDLE_EXEC_ASYNC_H
#define HEDDLE_EXEC_ASYNC_H

#include "exec/tensor_map.h"
#include "exec/warp.h"

struct worker;

/* Some bytes. */
struct async_part {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes, taken; /* written, and read: the others are zeroes */
    uint32_t group;        /* of the lane's, by how many came before */
};

/* The usual copies of a warp, whose lanes are all in one place and count as many groups: where each
 * lane's bytes are. */
struct async_rows {
    uint64_t to[WARP_LANES], from[WARP_LANES];
    uint32_t bytes, group;
};

/* What lanes have issued with one instruction: a part for each lane, or one for the only lane. */
struct async_work {
    struct async_work *next;
    struct warp *warp;
    const struct op *op;
    uint32_t lanes;        /* whose parts are not done */
    uint32_t n;            /* parts; 0: in their place stands a struct async_rows */
    uint32_t room;         /* bytes of this record */
    uint64_t version;      /* of the machine's memory, when addresses were checked */
    uint64_t shift;        /* from addresses of global memory to where it is accessed: mem_shift() */
    uint8_t *buffer;       /* sources that have been read before their work is done (.read), or NULL */
    struct block *writes;  /* whose shared memory is written; NULL: global memory */
    struct block *reads;   /* the same of the sources */
    uint64_t source;       /* of bulk copies: the address there, before .read has moved it */
    struct block *signals; /* whose mbarrier hears of it; NULL: groups */
    uint64_t object;       /* the mbarrier, in its shared memory; of arrivals each lane's is parts[lane].group */
    uint64_t value[4];     /* st.async, red.async: what `from` points to; .v4.b64 has most */
    struct async_part parts[];
};

/* Of a warp that has issued some. */
struct async_queue {
    struct async_work *first, *last;
    bool parted;                 /* not all lanes have committed as often */
    uint32_t n;                  /* of them */
    uint32_t groups[WARP_LANES]; /* that each lane has committed */
    uint32_t bulk_groups[WARP_LANES];
};

/* What a copy by a tensor map has behind its part. */
struct async_tensor {
    struct tensor_map map;
    struct tensor_at at;
};

/* OP_ASYNC, OP_GROUP; false after a fault. */
bool async_issue(struct warp *w, struct activation *a, uint8_t *const base[4], const struct op *o, uint32_t mask);
bool async_group(struct warp *w, const struct op *o, uint32_t mask);

/* Has the block's cluster work that is not done? */
bool async_is_pending(const struct block *b);
/* All that the cluster would tell the mbarrier at `address` of the block's shared memory; false
 * after a fault. */
bool async_finish_for(struct block *owner, uint64_t address);
/* All of the worker's blocks; true where there was some. */
bool async_finish_all(struct worker *k);
/* Under `random`: perhaps one piece of the cluster's. */
void async_finish_some(struct block *b);
/* A block has ended: its own, and what others do with its memory. Where the launch has failed it is
 * dropped. */
void async_end_block(struct block *b);

/* For messages and for check/: the first piece of the block's cluster that is not done and that an
 * access to bytes of the block's shared memory, or of global memory (owner NULL), is not to come
 * before; NULL where there is none. *written: the piece is to write them, and not to read what the
 * access `writes`. */
const struct async_work *async_find(const struct block *cluster, const struct block *owner, uint64_t address,
                                    uint64_t bytes, bool writes, bool *written);

/* ---- mbarrier.c ---- */

/* What the machine does to an mbarrier by itself: false after a fault. `announces`: it takes one
 * more arrival in this phase. */
struct mbarrier_signal {
    uint32_t bytes; /* of transactions that are complete */
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
