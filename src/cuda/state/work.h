/* Work for streams: what the driver's functions put there, and what graphs are made of. It names
 * functions and events by their handles, which may end before it runs. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_WORK_H
#define HEDDLE_CUDA_STATE_WORK_H

#include "cuda/state/library_work.h"
#include "cuda/state/memory_kind.h"
#include "cuda/state/state.h"
#include "cuda/watch/watch.h"

enum work_kind {
    WORK_EMPTY,
    WORK_LAUNCH,
    WORK_COPY,
    WORK_FILL,
    WORK_CALL,
    WORK_RECORD,
    WORK_WAIT,
    WORK_LIBRARY,
    WORK_MEMOPS,
    WORK_GIVE, /* of a graph's memory */
    WORK_TAKE,
    WORK_BODIES, /* of a conditional node, which its graph runs: graph_condition.h */
};

struct work_launch {
    CUfunction function; /* its handle */
    int cooperative;     /* as the program has said it */
    hd_launch_config config;
    CUevent event;               /* its handle: to be recorded after the launch, or NULL; in a capture */
    CUgraphEdgeData event_port;  /* what it then stands for */
    struct updatable *updatable; /* of a node that kernels update, or NULL */
    bool wants_updates;          /* to become one */
};

struct work {
    enum work_kind kind;
    unsigned char from_type, to_type; /* of a copy: CUmemorytype, as the program has said it; */
    bool later;                       /* it uses memory of a graph that is not given yet */
    unsigned char from_kind, to_kind; /* of a copy or fill: enum memory_kind, as it was when the call was made */
    union {
        struct work_launch launch;
        struct {
            hd_copy copy;
            CUarray from_array, to_array; /* handles, or NULL */
        };
        hd_fill fill;
        struct {
            CUhostFn function;
            void *data;
        } call;
        CUevent event; /* its handle: to record, to wait for */
        struct library_work *library;
        struct memops *memops;
        struct {
            struct graph_memory *at;
            size_t bytes; /* that are given */
        } memory;
        struct {
            struct condition *of;
            CUgraphConditionalNodeType type;
            unsigned n; /* bodies, which the node has */
        } condition;
    };
};

/* Puts work into a stream; `wait`: returns when it is done. Into a stream that is being captured it
 * goes as a node. */
CUresult work_put(CUstream stream, const struct work *w, bool wait);

/* As a graph does, pageable memory is read and written when the work runs, not when it is put. */
enum work_how { WORK_ASYNC, WORK_SYNC, WORK_IN_GRAPH };
/* Puts it where it runs. */
CUresult work_run(hd_stream *stream, CUcontext c, const struct work *w, enum work_how how);

/* Whether it can be run as it is; and whether a launch has been given its parameters. */
CUresult work_check(const struct work *w, CUcontext c);
CUresult work_parameters(const struct work *w, CUcontext c);
static inline bool work_is_nothing(const struct work *w)
{
    return (w->kind == WORK_COPY && w->copy.width * w->copy.height * w->copy.depth == 0) ||
           (w->kind == WORK_FILL && w->fill.width * w->fill.height == 0);
}

/* Attributes are honoured, are hints without a meaning here, or refused. */
CUresult launch_apply(CUlaunchAttributeID id, const CUlaunchAttributeValue *value, struct work_launch *l);
/* The `extra` of a launch: its packed parameters. */
CUresult launch_read_extra(void **extra, hd_launch_config *c);
/* A copy of bytes as work, checked. */
CUresult work_of_bytes(void *to, enum watch_side to_side, const void *from, enum watch_side from_side, size_t bytes,
                       struct work *w);
/* A box copy as work, checked. Nothing to be copied has width 0. */
CUresult work_of_copy(const CUDA_MEMCPY3D *m, struct work *w);
/* Whether a copy or fill has no memory of graphs that is not given. */
CUresult work_check_given(const struct work *w);
/* Can a fill be done: is there memory for it that may be written? */
CUresult fill_check(struct work *w);

/* ---- summary.c ---- */

/* Counts a work for what `heddle run -v` says in the end. */
void summary_count(const struct work *w);

#endif
