/* What the entry points of graphs share. Private to cuda/driver/. */
#ifndef HEDDLE_CUDA_DRIVER_GRAPH_H
#define HEDDLE_CUDA_DRIVER_GRAPH_H

#include "cuda/state/graph.h"

/* Checks a node and adds it. All objects are given by handles; the context may be NULL for the
   current one. */
CUresult graph_add_node(CUgraph graph, CUgraphNodeType type, const struct work *w, CUcontext context,
                        const CUgraphNode *after, size_t n, CUgraphNode *node);

CUresult graph_add_conditional(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                               CUDA_CONDITIONAL_NODE_PARAMS *p);
CUresult graph_add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                         const CUDA_CHILD_GRAPH_NODE_PARAMS *p);
CUresult graph_set_child(CUgraphNode node, CUgraph graph);
CUresult graph_add_memops(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p);
CUresult graph_set_memops(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p);
CUresult graph_exec_set_memops(CUgraphExec exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p);

#endif
