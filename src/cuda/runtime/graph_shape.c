/* Inquiries about edges of graphs ("CUDA Runtime API", 6.30). Since CUDA 13 they include the edges'
 * data; in CUDA 12 the functions with _v2 do. Compiled once for each version.
 */
#include "cuda/runtime/runtime.h"

/* Defines a function under the name that this version gives it. */
#define NAMED(local, name, parameters, call)                                                                           \
    RT_API cudaError_t local parameters __asm__(name);                                                                 \
    cudaError_t local parameters                                                                                       \
    {                                                                                                                  \
        RT_CALL(call);                                                                                                 \
    }

#if CUDART_MAJOR == 13
#define WITH_DATA(name) #name
#elif CUDART_MAJOR == 12
#define WITH_DATA(name) #name "_v2"
#endif

#if CUDART_MAJOR > 11
NAMED(edges_with_data, WITH_DATA(cudaGraphGetEdges),
      (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *n),
      cuGraphGetEdges_v2(graph, from, to, (CUgraphEdgeData *)data, n))
NAMED(dependencies_with_data, WITH_DATA(cudaGraphNodeGetDependencies),
      (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *n),
      cuGraphNodeGetDependencies_v2(node, nodes, (CUgraphEdgeData *)data, n))
NAMED(dependents_with_data, WITH_DATA(cudaGraphNodeGetDependentNodes),
      (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *n),
      cuGraphNodeGetDependentNodes_v2(node, nodes, (CUgraphEdgeData *)data, n))
NAMED(remove_with_data, WITH_DATA(cudaGraphRemoveDependencies),
      (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
       size_t n),
      cuGraphRemoveDependencies_v2(graph, from, to, (const CUgraphEdgeData *)data, n))
RT_API cudaError_t add_node_with_data(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                      const cudaGraphEdgeData *data, size_t n,
                                      struct cudaGraphNodeParams *p) __asm__(WITH_DATA(cudaGraphAddNode));
cudaError_t add_node_with_data(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                               const cudaGraphEdgeData *data, size_t n, struct cudaGraphNodeParams *p)
{
    return rt_add_node(node, graph, after, data, n, p);
}
#endif

#if CUDART_MAJOR == 12
RT_API cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
                            struct cudaGraphNodeParams *p) __asm__("cudaGraphAddNode");
cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
                     struct cudaGraphNodeParams *p)
{
    return rt_add_node(node, graph, after, NULL, n, p);
}
#endif

#if CUDART_MAJOR < 13
NAMED(edges, "cudaGraphGetEdges", (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n),
      cuGraphGetEdges_v2(graph, from, to, NULL, n))
NAMED(dependencies, "cudaGraphNodeGetDependencies", (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n),
      cuGraphNodeGetDependencies_v2(node, nodes, NULL, n))
NAMED(dependents, "cudaGraphNodeGetDependentNodes", (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n),
      cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, n))
NAMED(remove_edges, "cudaGraphRemoveDependencies",
      (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n),
      cuGraphRemoveDependencies_v2(graph, from, to, NULL, n))
#endif
