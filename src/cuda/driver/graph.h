/* What the entry points of graphs share. Private to cuda/driver/. */
#ifndef HEDDLE_CUDA_DRIVER_GRAPH_H
#define HEDDLE_CUDA_DRIVER_GRAPH_H

#include "cuda/state/graph.h"

/* Checks a node, and adds it. All by their handles; the context may be NULL: the current one. */
CUresult graph_add_node(CUgraph graph, CUgraphNodeType type, const struct work *w, CUcontext context,
                        const CUgraphNode *after, size_t n, CUgraphNode *node);

#endif
