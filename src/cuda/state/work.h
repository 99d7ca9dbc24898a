/* Work for streams: what the driver's functions submit, and what graph nodes do. It names functions
 * and events by handles, which may be destroyed before it runs. Private to cuda/. */
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
    WORK_GIVE, /* allocates a graph's memory */
    WORK_TAKE,
    WORK_BODIES, /* a conditional node, whose graph runs it: graph_condition.h */
};

struct work_launch {
    CUfunction function; /* its handle */
    int cooperative;     /* as the program specified it */
    hd_launch_config config;
    CUevent event;               /* a handle: recorded behind the launch, or NULL; in a capture, */
    CUgraphEdgeData event_port;  /* what it then stands for */
    struct updatable *updatable; /* for a node that kernels update, or NULL */
    bool wants_updates;          /* the node is to be updatable */
};

struct work {
    enum work_kind kind;
    unsigned char from_type, to_type; /* copies: CUmemorytype, as the program specified it; */
    bool later;                       /* it uses a graph's memory that is not allocated yet */
    /* Copies and fills: enum memory_kind at the time of the call. */
    unsigned char from_kind, to_kind;
    union {
        struct work_launch launch;
        struct {
            hd_copy copy;
            CUarray from_array, to_array; /* handles, or NULL */
            /* As the program described it, who has it; NULL: bytes in a row. */
            const CUDA_MEMCPY3D *box;
        };
        hd_fill fill;
        struct {
            CUhostFn function;
            void *data;
        } call;
        CUevent event; /* a handle: the event to record, or to wait for */
        struct library_work *library;
        struct memops *memops;
        struct {
            struct graph_memory *at;
            size_t bytes; /* allocated bytes */
        } memory;
        struct {
            struct condition *of;
            CUgraphConditionalNodeType type;
            unsigned n; /* the number of the node's bodies */
        } condition;
    };
};

/* Submits work to a stream; `wait`: returns when it is done. In a capturing stream it becomes a
 * node. */
CUresult work_put(CUstream stream, const struct work *w, bool wait);

/* In a graph, pageable memory is read and written when the work runs, not when it is submitted. */
enum work_how { WORK_ASYNC, WORK_SYNC, WORK_IN_GRAPH };
/* Submits the work to a stream for execution. */
CUresult work_run(hd_stream *stream, CUcontext c, const struct work *w, enum work_how how);

/* Can it run as it is? And: does a launch have its parameters? */
CUresult work_check(const struct work *w, CUcontext c);
CUresult work_parameters(const struct work *w, CUcontext c);
static inline bool work_is_nothing(const struct work *w)
{
    return (w->kind == WORK_COPY && w->copy.width * w->copy.height * w->copy.depth == 0) ||
           (w->kind == WORK_FILL && w->fill.width * w->fill.height == 0);
}

/* Applies an attribute: some are honoured, some are hints without effect, others are refused. */
CUresult launch_apply(CUlaunchAttributeID id, const CUlaunchAttributeValue *value, struct work_launch *l);
/* The `extra` of a launch: its packed parameters. */
CUresult launch_read_extra(void **extra, hd_launch_config *c);
/* A checked copy of bytes as work. */
CUresult work_of_bytes(void *to, enum watch_side to_side, const void *from, enum watch_side from_side, size_t bytes,
                       struct work *w);
/* A checked copy of boxes as work, which refers to *m. An empty copy has width 0. */
CUresult work_of_copy(const CUDA_MEMCPY3D *m, struct work *w);
/* A copy as the program described it. */
CUDA_MEMCPY3D work_box(const struct work *w);
/* Is all graph memory of a copy or fill allocated? */
CUresult work_check_given(const struct work *w);
/* Is a fill possible: does writable memory exist there? */
CUresult fill_check(struct work *w);

/* ---- summary.c ---- */

/* Counts work for the summary of `heddle run -v`. */
void summary_count(const struct work *w);

#endif
