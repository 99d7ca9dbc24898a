/* Waits for values in memory and writes of values, in stream order and as graph nodes ("CUDA Driver
 * API", 6.20, 6.23). */
#include "cuda/state/memops.h"

#include "cuda/driver/graph.h"
#include "cuda/state/capture.h"
#include "cuda/state/streams.h"

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

/* ---- in streams ---- */

static CUresult put(CUstream s, const CUstreamBatchMemOpParams *ops, unsigned count)
{
    hd_stream *stream;
    CUcontext c;
    CUstream object;
    TRY(stream_object(s, &object, &c));
    if (object && object->capture) {
        struct work w = {.kind = WORK_MEMOPS, .memops = memops_new(c->handle, ops, count)};
        CUresult r = w.memops ? memops_check(ops, count) : CUDA_ERROR_OUT_OF_MEMORY;
        r = r ? r : capture_work(object, &w);
        if (w.memops)
            memops_release(w.memops);
        return r;
    }
    TRY(stream_run(s, &stream, &c));
    TRY(memops_check(ops, count));
    return memops_run(stream, c, ops, count);
}

#define MEMOP(name, bits, type, member, kind, field)                                                                   \
    CU_API CUresult name##bits##_v2(CUstream s, CUdeviceptr address, type value, unsigned flags)                       \
    {                                                                                                                  \
        CUstreamBatchMemOpParams p = {.pad = {0}};                                                                     \
        p.member.operation = kind;                                                                                     \
        p.member.address = address;                                                                                    \
        p.member.field = value;                                                                                        \
        p.member.flags = flags;                                                                                        \
        return put(s, &p, 1);                                                                                          \
    }                                                                                                                  \
    CU_API CUresult name##bits##_v2_ptsz(CUstream s, CUdeviceptr address, type value, unsigned flags)                  \
    {                                                                                                                  \
        return name##bits##_v2(OR_OWN(s), address, value, flags);                                                      \
    }

MEMOP(cuStreamWaitValue, 32, cuuint32_t, waitValue, CU_STREAM_MEM_OP_WAIT_VALUE_32, value)
MEMOP(cuStreamWaitValue, 64, cuuint64_t, waitValue, CU_STREAM_MEM_OP_WAIT_VALUE_64, value64)
MEMOP(cuStreamWriteValue, 32, cuuint32_t, writeValue, CU_STREAM_MEM_OP_WRITE_VALUE_32, value)
MEMOP(cuStreamWriteValue, 64, cuuint64_t, writeValue, CU_STREAM_MEM_OP_WRITE_VALUE_64, value64)

CU_API CUresult cuStreamBatchMemOp_v2(CUstream s, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags)
{
    TRY(state_ready());
    NEED(flags == 0);
    return put(s, ops, count);
}

CU_API CUresult cuStreamBatchMemOp_v2_ptsz(CUstream s, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags)
{
    return cuStreamBatchMemOp_v2(OR_OWN(s), count, ops, flags);
}

/* ---- as nodes ---- */

static CUresult work_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p, struct work *w)
{
    NEED(p && record_of(p->ctx, HANDLE_CONTEXT) && p->flags == 0);
    TRY(memops_check(p->paramArray, p->count));
    *w = (struct work){.kind = WORK_MEMOPS, .memops = memops_new(p->ctx, p->paramArray, p->count)};
    return w->memops ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult graph_add_memops(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                          const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p)
{
    struct work w;
    TRY(work_of(p, &w));
    CUresult r = graph_add_node(graph, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &w, p->ctx, after, n, node);
    memops_release(w.memops);
    return r;
}

CUresult graph_set_memops(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p)
{
    struct work w;
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(n->work.kind == WORK_MEMOPS);
    TRY(work_of(p, &w));
    memops_release(n->work.memops);
    n->work = w;
    return CUDA_SUCCESS;
}

CUresult graph_exec_set_memops(CUgraphExec exec, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p)
{
    struct work w;
    CUgraphExec x;
    TRY(exec_of(exec, &x));
    struct step *s = exec_step(x, node);
    NEED(s && s->work.kind == WORK_MEMOPS);
    TRY(work_of(p, &w));
    exec_settle(x);
    memops_release(s->work.memops);
    s->work = w;
    return CUDA_SUCCESS;
}

/* The two versions have equal members. */
static CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 second(const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return (CUDA_BATCH_MEM_OP_NODE_PARAMS_v2){p->ctx, p->count, p->paramArray, p->flags};
}

CU_API CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                                         const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    NEED(p);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 v2 = second(p);
    return graph_add_memops(node, g, after, n, &v2);
}

CU_API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode n, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    NEED(p);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 v2 = second(p);
    return graph_set_memops(n, &v2);
}

CU_API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    NEED(p);
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 v2 = second(p);
    return graph_exec_set_memops(x, n, &v2);
}

CU_API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    CUgraphNode n;
    TRY(node_of(node, &n));
    NEED(p && n->work.kind == WORK_MEMOPS);
    *p = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = n->work.memops->context, .count = n->work.memops->count, .paramArray = n->work.memops->at};
    return CUDA_SUCCESS;
}
