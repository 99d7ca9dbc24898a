/* What a running launch tells those who watch it: detectors (check/), timelines and counters (explain/), exploration.
 *
 * A client fills a struct hooks with the functions it wants and hands it to a launch. Functions are called on the
 * thread that runs the warp, in the order of events on that thread; several threads call at once unless the launch
 * runs under a schedule. Where a launch has no hooks an event costs a test of a pointer that is in a register.
 *
 * `struct warp`, `struct op` and `struct activation` (exec/warp.h, exec/code.h) may be read, not changed.
 */
#ifndef HEDDLE_EXEC_HOOKS_H
#define HEDDLE_EXEC_HOOKS_H

#include "exec/warp.h"

/* Lanes access memory: after addresses have been checked, before anything is read or written. */
struct access_event {
    const struct warp *warp;
    const struct op *op; /* op->access: bytes, elements, order, scope, atomic operation; NULL there of a call, whose
                            parameters and results the machine copies */
    uint32_t lanes;
    uint32_t bytes; /* of one lane */
    bool reads, writes;
    enum ptx_space space[WARP_LANES]; /* GLOBAL, SHARED or LOCAL, by lane; constants and parameters are GLOBAL */
    uint64_t address[WARP_LANES];     /* in that space; global addresses are the host's */
};

/* A lane is about to fault. */
struct fault_event {
    const struct warp *warp;
    const struct op *op;
    unsigned lane;
    enum fault_kind kind;
    enum ptx_space space;
    uint64_t address;
    uint32_t bytes;
    uint64_t window; /* bytes of the space, shared and local */
};

enum sync_kind {
    SYNC_BARRIER_ARRIVE, /* lanes come to barrier `id`, which they give `threads` (0: all of the block) */
    SYNC_BARRIER_OPEN,   /* barrier `id` of the block opens; warp and op are not set */
    SYNC_COLLECTIVE,     /* lanes meet, those of membermask that have not exited; op is that of one of them */
    SYNC_FENCE,
    SYNC_EXIT, /* lanes end */
};

struct sync_event {
    enum sync_kind kind;
    const struct block *block;
    const struct warp *warp;
    const struct op *op;
    uint32_t lanes, id, threads, membermask;
    const uint8_t *source_lane; /* SYNC_COLLECTIVE of shfl: the lane that each lane reads; else NULL */
};

/* Lanes enter a block of code. */
struct control_event {
    const struct warp *warp;
    const struct activation *act;
    uint32_t block; /* of act->code */
    uint32_t lanes;
};

enum schedule_kind { SCHEDULE_BLOCK_START, SCHEDULE_BLOCK_END, SCHEDULE_TURN_START, SCHEDULE_TURN_END };

/* Blocks start and end; warps have a turn on a worker. warp is NULL for blocks. */
struct schedule_event {
    enum schedule_kind kind;
    const struct block *block;
    const struct warp *warp;
};

/* A kernel takes memory from its heap or gives it back. */
struct heap_event {
    const struct warp *warp;
    const struct op *op;
    unsigned lane;
    bool is_free;
    void *p;
    uint64_t bytes;
};

struct hooks {
    void *data;
    void (*access)(void *data, const struct access_event *e);
    /* True: the lane's access is left out (a load gives 0) and the launch goes on; false: the launch fails. */
    bool (*fault)(void *data, const struct fault_event *e);
    void (*sync)(void *data, const struct sync_event *e);
    void (*control)(void *data, const struct control_event *e);
    void (*heap)(void *data, const struct heap_event *e);
    void (*schedule)(void *data, const struct schedule_event *e);
};

enum { MAX_HOOKS = 4 };

/* The clients of a launch. */
struct hook_list {
    unsigned n;
    const struct hooks *at[MAX_HOOKS];
};

static inline bool hooks_want_access(const struct hook_list *list)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i]->access || list->at[i]->fault)
            return true;
    return false;
}

#define HOOKS_CALL(list, name, event)                                                                                  \
    do {                                                                                                               \
        for (unsigned hook_ = 0; hook_ < (list)->n; hook_++)                                                           \
            if ((list)->at[hook_]->name)                                                                               \
                (list)->at[hook_]->name((list)->at[hook_]->data, (event));                                             \
    } while (0)

#endif
