/* Graphs: put together by hand, and captured from streams. */
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include "kernels.h"
#include "tap.h"

static CUmodule module;
static CUcontext context;

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUdeviceptr zeros(size_t words)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, 4 * words));
    OK(cuMemsetD32(p, 0, words));
    return p;
}

static uint32_t word(CUdeviceptr p)
{
    uint32_t v = 0;
    OK(cuMemcpyDtoH(&v, p, 4));
    return v;
}

static CUDA_KERNEL_NODE_PARAMS adds(CUdeviceptr *p, uint32_t *n, void *params[2])
{
    params[0] = p;
    params[1] = n;
    return (CUDA_KERNEL_NODE_PARAMS){.func = kernel("add"),
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

static void count_calls(void *data)
{
    ++*(uint32_t *)data;
}

static void nodes_run_after_those_they_depend_on(void)
{
    CUgraph g;
    CUgraphNode fill, add, copy, host, nodes[8];
    CUgraphExec x;
    CUdeviceptr p = zeros(1);
    uint32_t five = 5, seen = 0, calls = 0;
    void *params[2];
    size_t n = 8;
    CUgraphNodeType type;
    OK(cuGraphCreate(&g, 0));
    CUDA_KERNEL_NODE_PARAMS k = adds(&p, &five, params);
    OK(cuGraphAddKernelNode(&add, g, NULL, 0, &k));
    CUDA_MEMSET_NODE_PARAMS f = {.dst = p, .value = 100, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &f, context));
    OK(cuGraphAddDependencies(g, &fill, &add, NULL, 1)); /* the later made comes first */
    CUDA_MEMCPY3D m = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = &seen,
                       .WidthInBytes = 4,
                       .Height = 1,
                       .Depth = 1};
    OK(cuGraphAddMemcpyNode(&copy, g, &add, 1, &m, context));
    CUDA_HOST_NODE_PARAMS h = {count_calls, &calls};
    OK(cuGraphAddHostNode(&host, g, &copy, 1, &h));
    OK(cuGraphGetRootNodes(g, nodes, &n));
    CHECK(n == 1 && nodes[0] == fill);
    n = 8;
    OK(cuGraphGetNodes(g, nodes, &n));
    CHECK(n == 4);
    OK(cuGraphNodeGetType(copy, &type));
    CHECK(type == CU_GRAPH_NODE_TYPE_MEMCPY);
    five = 6; /* parameters were read when the node was made */
    OK(cuGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(x, 0));
    OK(cuCtxSynchronize());
    CHECK(seen == 105 && calls == 3);
    five = 7;
    OK(cuGraphExecKernelNodeSetParams(x, add, &k));
    OK(cuGraphLaunch(x, 0));
    OK(cuCtxSynchronize());
    CHECK(seen == 107);
    OK(cuGraphNodeSetEnabled(x, add, 0));
    OK(cuGraphLaunch(x, 0));
    OK(cuCtxSynchronize());
    CHECK(seen == 100);
    OK(cuGraphAddDependencies(g, &host, &fill, NULL, 1));
    CUgraphExec ring;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&ring, g, 0));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&g, 1));
    OK(cuMemFree(p));
}

/* One of two branches waits for the other one; what depends on both sees that each has ended. */
static struct {
    sem_t semaphore;
    int waited, posted, joined;
} branches;

static void wait_for_branch(void *data)
{
    struct timespec end;
    (void)data;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    branches.waited += sem_timedwait(&branches.semaphore, &end) == 0;
}

static void post_branch(void *data)
{
    (void)data;
    sem_post(&branches.semaphore);
    branches.posted++;
}

static void join_branches(void *data)
{
    (void)data;
    branches.joined += branches.waited == branches.posted;
}

static void branches_run_beside_each_other(void)
{
    CUgraph g;
    CUgraphNode both[2], last;
    CUgraphExec x;
    CUstream a, b;
    sem_init(&branches.semaphore, 0, 0);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddHostNode(&both[0], g, NULL, 0, &(CUDA_HOST_NODE_PARAMS){wait_for_branch, NULL}));
    OK(cuGraphAddHostNode(&both[1], g, NULL, 0, &(CUDA_HOST_NODE_PARAMS){post_branch, NULL}));
    OK(cuGraphAddHostNode(&last, g, both, 2, &(CUDA_HOST_NODE_PARAMS){join_branches, NULL}));
    OK(cuGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(x, i & 1 ? a : b)); /* each after the one before */
    OK(cuStreamSynchronize(a));
    CHECK(branches.waited == 10 && branches.posted == 10 && branches.joined == 10);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

static void a_stream_is_captured(void)
{
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUdeviceptr p = zeros(1);
    uint32_t one = 1;
    CUstreamCaptureStatus status;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &g));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamIsCapturing(s, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(p, 10, 1, s));
    for (int i = 0; i < 4; i++)
        OK(cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &one}, NULL));
    OK(cuStreamEndCapture(s, &g));
    OK(cuStreamSynchronize(s));
    CHECK(word(p) == 0); /* nothing has run */
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    CHECK(word(p) == 14);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
}

static void capturing_follows_events_into_other_streams(void)
{
    CUstream a, b;
    CUevent fork, join;
    CUgraph g;
    CUgraphExec x;
    CUdeviceptr p = zeros(2), q = p + 4;
    uint32_t one = 1, two = 2;
    size_t n = 0;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, a, (void *[]){&p, &one}, NULL));
    OK(cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, b, (void *[]){&q, &two}, NULL));
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    OK(cuEventDestroy(fork));
    OK(cuStreamEndCapture(a, &g));
    OK(cuGraphGetNodes(g, NULL, &n));
    CHECK(n == 2);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, a));
    OK(cuStreamSynchronize(a));
    CHECK(word(p) == 1 && word(q) == 2);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    /* A stream that never comes back. */
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(join, a));
    OK(cuStreamWaitEvent(b, join, 0));
    OK(cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, b, (void *[]){&q, &two}, NULL));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(a, &g));
    OK(cuStreamSynchronize(b));
    OK(cuEventDestroy(join));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(p));
}

static void user_objects_live_as_long_as_graphs_need_them(void)
{
    CUgraph graph, clone;
    CUgraphExec exec;
    CUuserObject object;
    int destroyed = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &destroyed, count_calls, 1, 0));
    OK(cuUserObjectCreate(&object, &destroyed, count_calls, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRetain(object, 2));
    OK(cuUserObjectRelease(object, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 2));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, 0));
    OK(cuGraphExecDestroy(exec));
    CHECK(destroyed == 0);
    OK(cuGraphDestroy(clone));
    CHECK(destroyed == 1);
}

/* Of a capture into a child's graph, whoever ends first: the child stays its node's, and its
 * parents stay until then. */
static void a_captured_child_and_its_parents_stay(void)
{
    CUgraph inner, middle, outer, child, grandchild, made;
    CUgraphNode node, in_outer, in_middle;
    CUstream s, t;
    size_t n = 1;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&inner, 0));
    OK(cuGraphCreate(&middle, 0));
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphAddEmptyNode(&node, inner, NULL, 0));
    OK(cuGraphAddChildGraphNode(&node, middle, NULL, 0, inner));
    OK(cuGraphAddChildGraphNode(&in_outer, outer, NULL, 0, middle));
    OK(cuGraphChildGraphNodeGetGraph(in_outer, &child));
    OK(cuGraphGetNodes(child, &in_middle, &n));
    OK(cuGraphChildGraphNodeGetGraph(in_middle, &grandchild));
    for (int ends = 0; ends < 2; ends++) {
        OK(cuStreamBeginCaptureToGraph(s, grandchild, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuStreamBeginCaptureToGraph(t, outer, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
        GIVES(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(in_middle));
        GIVES(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(outer));
        OK(cuStreamDestroy(t)); /* which abandons its capture */
        OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
        GIVES(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(in_outer));
        GIVES(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(outer));
        if (ends == 0) {
            OK(cuStreamDestroy(s));
            OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        } else {
            OK(cuStreamEndCapture(s, &made));
            CHECK(made == grandchild);
        }
        OK(cuGraphGetNodes(grandchild, NULL, &n));
        CHECK(n == 1);
    }
    OK(cuGraphDestroy(outer));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(grandchild, NULL, &n));
    OK(cuGraphDestroy(middle));
    OK(cuGraphDestroy(inner));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
}

int main(void)
{
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, kernels)) {
        printf("Bail out! CUDA cannot be initialized\n");
        return 1;
    }
    RUN(nodes_run_after_those_they_depend_on);
    RUN(branches_run_beside_each_other);
    RUN(a_stream_is_captured);
    RUN(capturing_follows_events_into_other_streams);
    RUN(user_objects_live_as_long_as_graphs_need_them);
    RUN(a_captured_child_and_its_parents_stay);
    return summary();
}
