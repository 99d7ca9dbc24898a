/* Shared by the files of captures: capture.h. Private to capture*.c. */
#ifndef HEDDLE_CUDA_STATE_CAPTURE_STATE_H
#define HEDDLE_CUDA_STATE_CAPTURE_STATE_H

#include <stdatomic.h>

#include "cuda/state/capture.h"

struct tail {
    CUgraphNode *at;       /* handles; may contain duplicates until tail_unify() */
    CUgraphEdgeData *data; /* of the edges to the next node */
    size_t n, capacity;
};

struct capture {
    struct capture *next;
    struct CUgraph_st *graph; /* is not destroyed while the capture lasts */
    struct CUstream_st *origin;
    uint64_t thread; /* the thread that began it */
    CUstreamCaptureMode mode;
    cuuint64_t id;
    bool invalid;
    struct member {
        struct member *next;
        struct CUstream_st *stream; /* NULL: destroyed */
        struct tail tail;
    } *members;
    struct captured {
        struct captured *next, **link;
        struct CUevent_st *event;
        struct tail tail;
    } *events;
};

/* All captures that have begun. Calls that captures forbid first check their number. */
extern struct captures {
    pthread_mutex_t lock;
    struct capture *first;
    atomic_uint n;
    uint64_t looks; /* a counter: each examination of a tail gets a number */
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
/* *made: the node, if one was added. */
CUresult capture_add_node(struct CUstream_st *s, const struct work *w, CUgraphNode *made);
/* Makes the event stand for a part of the last kernel; call with the lock held. */
CUresult capture_record_port(struct CUstream_st *s, struct CUevent_st *e, const CUgraphEdgeData *port);

#endif
