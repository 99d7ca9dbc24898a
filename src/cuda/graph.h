/* Graphs: work with an order between its pieces, put together by hand or captured from streams, and launched as often as
 * wanted. A launch puts the nodes into one stream, each after those it depends on. Private to cuda/.
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
    int mark;        /* while they are sorted */
};

struct CUgraph_st {
    enum handle_kind kind;
    CUgraphNode first, *end;
    size_t n;
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
