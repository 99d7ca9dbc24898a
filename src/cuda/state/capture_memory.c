/* Memory that streams allocate and free during a capture: graph nodes. See capture.h. */
#include "cuda/state/capture_state.h"
#include "cuda/state/graph.h"
#include "cuda/state/graph_memory.h"

static CUresult usable(const struct CUstream_st *s)
{
    return !s->capture           ? CUDA_ERROR_ILLEGAL_STATE
           : s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                 : CUDA_SUCCESS;
}

static CUresult alloc(struct CUstream_st *s, struct device *d, size_t bytes, CUdeviceptr *pointer)
{
    struct work w = {.kind = WORK_GIVE, .memory = {.bytes = bytes}};
    CUgraphNode node;
    TRY(usable(s));
    struct tail *t = &capture_member(s)->tail;
    tail_unify(t);
    TRY(graph_find_memory(s->capture->graph, d, bytes, t->at, t->n, &w.memory.at));
    CUresult r = capture_add_node(s, &w, &node);
    if (!r)
        *pointer = (CUdeviceptr)(uintptr_t)graph_memory_start(w.memory.at);
    graph_memory_release(w.memory.at);
    return r;
}

CUresult capture_alloc(struct CUstream_st *s, struct device *d, size_t bytes, CUdeviceptr *pointer)
{
    captures_lock();
    return captures_unlock(alloc(s, d, bytes, pointer));
}

static CUresult free_in(struct CUstream_st *s, const void *start)
{
    struct work w = {.kind = WORK_TAKE};
    CUgraphNode node;
    TRY(usable(s));
    TRY(graph_find_freed(s->capture->graph, start, &w.memory.at));
    CUresult r = capture_add_node(s, &w, &node);
    graph_memory_release(w.memory.at);
    return r;
}

CUresult capture_free(struct CUstream_st *s, const void *start)
{
    captures_lock();
    return captures_unlock(free_in(s, start));
}
