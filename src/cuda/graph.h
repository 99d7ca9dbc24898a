/* Graphs: work with an order between its pieces, put together by hand or captured from streams, and launched as often as
 * wanted. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_GRAPH_H
#define HEDDLE_CUDA_GRAPH_H

#include "cuda/work.h"

struct CUgraphNode_st {
    enum handle_kind kind;
    CUgraphNode next; /* in the graph, in the order of making */
    CUgraph graph;
    CUgraphNode original; /* in the graph that this one is a clone of, or NULL */
    CUgraphNodeType type;
    CUcontext context;
    struct work work;   /* with parameters of its own */
    CUgraphNode *after; /* the nodes that it depends on */
    size_t n_after;
    size_t n_before; /* how many depend on it */
    int mark;        /* while they are sorted, */
    size_t place;    /* and then their place */
};

struct CUgraph_st {
    enum handle_kind kind;
    CUgraphNode first, *end;
    size_t n;
    struct kept *kept;
};

/* References to a user object. */
struct kept {
    struct kept *next;
    CUuserObject object;
    unsigned count;
};

/* A graph made ready: its nodes in an order in which each comes after those it depends on. */
struct CUgraphExec_st {
    enum handle_kind kind;
    cuuint64_t flags;
    size_t n, n_branches; /* branches: graph_branch.c */
    hd_stream **streams;  /* by branch */
    uint64_t streams_of;  /* the context's id */
    struct kept *kept;
    hd_event *begun, *ended; /* the last launch, */
    uint64_t launched_in;    /* in the stream with this number */
    struct step {
        CUgraphNode node; /* of the graph, as a key */
        CUgraphNodeType type;
        CUcontext context;
        struct work work;
        bool disabled;
        bool is_first, is_last; /* it depends on nothing, nothing depends on it */
        size_t branch;
        struct step **waits_for; /* in other branches */
        size_t n_waits;
        hd_event *event; /* its end, where others wait for it, or NULL */
    } steps[];
};

CUgraph graph_new(void);
void graph_free(CUgraph g);
void node_free(CUgraphNode n);
/* Copies the work, its parameters with it. */
CUresult graph_add(CUgraph g, CUgraphNodeType type, const struct work *w, CUcontext c, const CUgraphNode *after,
                   size_t n, CUgraphNode *node);
/* `node` also depends on `earlier`. */
CUresult graph_order(CUgraphNode earlier, CUgraphNode node);

/* Work with a copy of its parameters, as they are now; frees that copy. */
CUresult work_own(const struct work *w, CUcontext c, struct work *own);
void work_disown(struct work *own);

/* References to the same user objects; where that fails, those that there are so far. */
CUresult kept_copy(const struct kept *from, struct kept **to);
void kept_release(struct kept **list);

/* ---- launching: graph_branch.c ---- */

/* To be called once, when the steps are there. */
CUresult branches_find(CUgraphExec x);
void branches_free(CUgraphExec x);
CUresult branches_launch(CUgraphExec x, hd_stream *stream, CUcontext c);

/* ---- capturing: driver_capture.c ---- */

/* The stream's work becomes nodes. */
bool is_capturing(CUstream s);
CUresult capture_work(CUstream s, const struct work *w);
/* An event of a captured stream, and a stream that waits for it. False where they have nothing to do with capturing. */
bool capture_record(CUevent e, CUstream s, CUresult *result);
bool capture_wait(CUstream s, CUevent e, CUresult *result);
/* The event is about to be destroyed. */
void capture_forget(CUevent e);

#endif
