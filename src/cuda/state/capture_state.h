/* What the files of captures share: capture.h. Private to capture*.c. */
#ifndef HEDDLE_CUDA_STATE_CAPTURE_STATE_H
#define HEDDLE_CUDA_STATE_CAPTURE_STATE_H

#include <stdatomic.h>

#include "cuda/state/capture.h"

struct tail {
    CUgraphNode *at;       /* handles; some may be there twice until tail_unify() */
    CUgraphEdgeData *data; /* of the edges to what comes next */
    size_t n, capacity;
};

struct capture {
    struct capture *next;
    struct CUgraph_st *graph; /* which is not destroyed meanwhile */
    struct CUstream_st *origin;
    uint64_t thread; /* that began it */
    CUstreamCaptureMode mode;
    cuuint64_t id;
    bool invalid;
    struct member {
        struct member *next;
        struct CUstream_st *stream; /* NULL: it was destroyed */
        struct tail tail;
    } *members;
    struct captured {
        struct captured *next, **link;
        struct CUevent_st *event;
        struct tail tail;
    } *events;
};

/* All that have begun. Calls that captures forbid look at their number first. */
extern struct captures {
    pthread_mutex_t lock;
    struct capture *first;
    atomic_uint n;
    uint64_t looks; /* at all of a tail: a number for each */
} captures;

void captures_lock(void);
CUresult captures_unlock(CUresult r);
struct member *capture_member(struct CUstream_st *s);
void tail_unify(struct tail *t);
/* data NULL: plain edges. */
CUresult tail_add(struct tail *t, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t n);
void tail_free(struct tail *t);
CUresult capture_join(struct capture *c, struct CUstream_st *s);
void capture_invalidate(struct capture *c);
/* *made: the node, where it has become one. */
CUresult capture_add_node(struct CUstream_st *s, const struct work *w, CUgraphNode *made);
/* The event stands for a part of the last kernel; with the lock held. */
CUresult capture_record_port(struct CUstream_st *s, struct CUevent_st *e, const CUgraphEdgeData *port);

#endif
