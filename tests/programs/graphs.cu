/* Graphs: captured from streams, and put together by hand; launched again and again, and changed in between. */
#include "program.h"

KERNEL add(int *p, int value) BODY(
    p[threadIdx.x] += value;
)
KERNEL twice(int *p) BODY(
    p[threadIdx.x] *= 2;
)
REGISTER_KERNEL(add)
REGISTER_KERNEL(twice)

enum { N = 32 };

static void note(void *data)
{
    ++*(int *)data;
}

static void captured(void)
{
    int *p = (int *)device_memory(N * sizeof(int)), host[N], value = 3;
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    enum cudaStreamCaptureStatus status;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(a, &status));
    expect(status == cudaStreamCaptureStatusActive, "a stream captures");
    CHECK(cudaMemsetAsync(p, 0, N * sizeof(int), a));
    CHECK(LAUNCH(add, 1, N, 0, a, &p, &value));
    CHECK(cudaEventRecord(fork, a));
    CHECK(cudaStreamWaitEvent(b, fork, 0));
    CHECK(LAUNCH(twice, 1, N, 0, b, &p));
    CHECK(cudaEventRecord(join, b));
    CHECK(cudaStreamWaitEvent(a, join, 0));
    CHECK(LAUNCH(add, 1, N, 0, a, &p, &value));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    expect(nodes == 4, "two streams became a graph of four nodes");
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    value = 100; /* arguments were read when they were captured */
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    expect(host[0] == 9 && host[N - 1] == 9, "its launches do what the streams would have done");
    EXPECT_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_ERROR(cudaGraphDestroy(graph), cudaSuccess);
}

static void by_hand(void)
{
    int *p = (int *)device_memory(N * sizeof(int)), source[N], result[N] = {0}, value = 5, called = 0;
    void *args[] = {&p, &value}, *only_p[] = {&p};
    struct cudaKernelNodeParams k;
    struct cudaMemcpy3DParms c;
    struct cudaHostNodeParams h;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t in, first, second, out, host;
    enum cudaGraphNodeType type;
    for (int i = 0; i < N; i++)
        source[i] = i;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&in, graph, NULL, 0, p, source, sizeof source, cudaMemcpyHostToDevice));
    memset(&k, 0, sizeof k);
    k.func = (void *)add;
    k.gridDim = size3(1, 1, 1);
    k.blockDim = size3(N, 1, 1);
    k.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&first, graph, &in, 1, &k));
    k.func = (void *)twice;
    k.kernelParams = only_p;
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &k));
    CHECK(cudaGraphAddMemcpyNode1D(&out, graph, &second, 1, result, p, sizeof result, cudaMemcpyDeviceToHost));
    h.fn = note;
    h.userData = &called;
    CHECK(cudaGraphAddHostNode(&host, graph, &out, 1, &h));
    CHECK(cudaGraphNodeGetType(host, &type));
    expect(type == cudaGraphNodeTypeHost, "the type of a node");
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(called == 1 && result[0] == 10 && result[7] == 24, "a graph put together by hand");
    value = 1;
    memset(&k, 0, sizeof k);
    CHECK(cudaGraphKernelNodeGetParams(first, &k));
    expect(k.func == (void *)add && k.blockDim.x == N && *(int *)k.kernelParams[1] == 5, "a kernel says how it is launched");
    CHECK(cudaGraphMemcpyNodeGetParams(out, &c));
    expect(c.extent.width == sizeof result && c.dstPtr.ptr == result && c.kind == cudaMemcpyDeviceToHost,
           "a copy says what it copies");
    k.kernelParams = args;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &k));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(called == 2 && result[0] == 2 && result[7] == 16, "with a kernel's arguments changed");
    CHECK(cudaGraphNodeSetEnabled(exec, second, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(result[0] == 1 && result[7] == 8, "with a node left out");
    EXPECT_ERROR(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_ERROR(cudaGraphDestroy(graph), cudaSuccess);
}

static void shape(void)
{
    cudaGraph_t graph, clone;
    cudaGraphNode_t a, b, c, nodes[4], to[4];
    struct cudaHostNodeParams h;
    cudaGraphExec_t exec;
    int called = 0;
    size_t n = 4;
    CHECK(cudaGraphCreate(&graph, 0));
    h.fn = note;
    h.userData = &called;
    CHECK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    CHECK(cudaGraphAddHostNode(&b, graph, &a, 1, &h));
    CHECK(cudaGraphAddHostNode(&c, graph, &b, 1, &h));
    CHECK(cudaGraphAddDependencies(graph, &a, &c, NULL, 1));
    CHECK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &n));
    expect(n == 3, "a graph says how many edges it has");
    n = 4;
    CHECK(cudaGraphGetEdges(graph, nodes, to, NULL, &n));
    expect(n == 3 && nodes[0] == a && to[0] == b && nodes[3] == NULL, "and which");
    n = 4;
    CHECK(cudaGraphNodeGetDependencies(c, nodes, NULL, &n));
    expect(n == 2 && nodes[0] == b && nodes[1] == a, "a node says what it depends on");
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&nodes[0], b, clone));
    expect(nodes[0] != b, "a clone has nodes of its own");
    EXPECT_ERROR(cudaGraphNodeFindInClone(&nodes[1], nodes[0], clone), cudaErrorInvalidValue);
    CHECK(cudaGraphDestroyNode(b));
    CHECK(cudaGraphRemoveDependencies(graph, &a, &c, NULL, 1));
    n = 4;
    CHECK(cudaGraphNodeGetDependentNodes(a, nodes, NULL, &n));
    expect(n == 0, "a node without those that depended on it");
    EXPECT_ERROR(cudaGraphRemoveDependencies(graph, &a, &c, NULL, 1), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(called == 1, "the graph without a node runs");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiateWithFlags(&exec, clone, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(called == 3, "its clone as it was");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(clone));
}

/* Nodes of a graph that are changed before it is made ready, and events after. */
static void changed(void)
{
    int *p = (int *)device_memory(N * sizeof(int)), first[N], result = 0, called = 0, other = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, copy, host, record;
    cudaEvent_t a, b, seen;
    struct cudaMemsetParams m;
    struct cudaHostNodeParams h;
    memset(&m, 0, sizeof m);
    m.dst = p, m.value = 1, m.elementSize = 4, m.width = N, m.height = 1;
    h.fn = note, h.userData = &called;
    CHECK(cudaEventCreateWithFlags(&a, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&b, cudaEventDisableTiming));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &m));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, first, p, sizeof first, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &h));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &host, 1, a));
    m.value = 7;
    CHECK(cudaGraphMemsetNodeSetParams(fill, &m));
    memset(&m, 0, sizeof m);
    CHECK(cudaGraphMemsetNodeGetParams(fill, &m));
    expect(m.value == 7 && m.width == N, "a fill says what it is to do");
    CHECK(cudaGraphMemcpyNodeSetParams1D(copy, &result, p + 1, sizeof result, cudaMemcpyDeviceToHost));
    h.userData = &other;
    CHECK(cudaGraphHostNodeSetParams(host, &h));
    CHECK(cudaGraphHostNodeGetParams(host, &h));
    expect(h.fn == note && h.userData == &other, "a call says what it calls");
    CHECK(cudaGraphEventRecordNodeGetEvent(record, &seen));
    expect(seen == a, "a record says its event");
    EXPECT_ERROR(cudaGraphEventWaitNodeGetEvent(record, &seen), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, b));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaEventSynchronize(b));
    expect(result == 7 && called == 0 && other == 1, "the graph does what it was changed to");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

/* A stream goes on in a graph that was begun by hand, beside what it has captured. */
static void captured_into(void)
{
    int *p = (int *)device_memory(N * sizeof(int)), host[N], value = 5;
    cudaGraph_t graph, ended;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, beside;
    cudaStream_t s;
    struct cudaMemsetParams m;
    size_t n = 0;
    memset(&m, 0, sizeof m);
    m.dst = p, m.value = 1, m.elementSize = 4, m.width = N, m.height = 1;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &m));
    CHECK(cudaStreamBeginCaptureToGraph(s, graph, &fill, NULL, 1, cudaStreamCaptureModeGlobal));
    CHECK(LAUNCH(add, 1, N, 0, s, &p, &value));
    CHECK(cudaGraphAddEmptyNode(&beside, graph, NULL, 0));
    CHECK(cudaStreamUpdateCaptureDependencies(s, &beside, NULL, 1, cudaStreamAddCaptureDependencies));
    CHECK(LAUNCH(twice, 1, N, 0, s, &p));
    CHECK(cudaStreamEndCapture(s, &ended));
    CHECK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &n));
    expect(ended == graph && n == 3, "a capture goes on in a graph, behind its nodes");
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    expect(host[0] == 12 && host[N - 1] == 12, "and runs as one");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static int run(cudaGraphExec_t exec, const int *p)
{
    int host;
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    return host;
}

/* A graph in a graph in a graph, between a fill and a kernel. */
static void children(void)
{
    int *p = (int *)device_memory(N * sizeof(int)), value = 3;
    void *args[] = {&p, &value}, *only_p[] = {&p};
    cudaGraph_t inner, middle, outer, got, clone;
    cudaGraphExec_t exec, of_clone;
    cudaGraphNode_t fill, child, grandchild, kernel, last, found;
    struct cudaKernelNodeParams k;
    struct cudaMemsetParams m;
    cudaGraphExecUpdateResultInfo info;
    size_t n = 0;
    memset(&k, 0, sizeof k);
    k.func = (void *)add, k.gridDim = size3(1, 1, 1), k.blockDim = size3(N, 1, 1), k.kernelParams = args;
    memset(&m, 0, sizeof m);
    m.dst = p, m.value = 1, m.elementSize = 4, m.width = N, m.height = 1;
    CHECK(cudaGraphCreate(&inner, 0));
    CHECK(cudaGraphCreate(&middle, 0));
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphAddKernelNode(&kernel, inner, NULL, 0, &k));
    CHECK(cudaGraphAddChildGraphNode(&grandchild, middle, NULL, 0, inner));
    CHECK(cudaGraphAddMemsetNode(&fill, outer, NULL, 0, &m));
    CHECK(cudaGraphAddChildGraphNode(&child, outer, &fill, 1, middle));
    k.func = (void *)twice, k.kernelParams = only_p;
    CHECK(cudaGraphAddKernelNode(&last, outer, &child, 1, &k));
    CHECK(cudaGraphDestroy(inner)); /* the nodes have copies */
    CHECK(cudaGraphInstantiateWithFlags(&exec, outer, 0));
    expect(run(exec, p) == 8, "a graph runs its child's child in its place");
    CHECK(cudaGraphClone(&clone, outer));
    CHECK(cudaGraphGetNodes(clone, NULL, &n));
    expect(n == 3, "a clone has as many nodes");
    CHECK(cudaGraphInstantiateWithFlags(&of_clone, clone, 0));
    expect(run(of_clone, p) == 8, "and children");
    CHECK(cudaGraphExecUpdate(of_clone, outer, &info));
    expect(run(of_clone, p) == 8, "an update finds the same graph");
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &got));
    EXPECT_ERROR(cudaGraphDestroy(got), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphNodeFindInClone(&found, grandchild, got));
    CHECK(cudaGraphChildGraphNodeGetGraph(found, &got));
    n = 1;
    CHECK(cudaGraphGetNodes(got, &kernel, &n));
    value = 10;
    k.func = (void *)add, k.kernelParams = args;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    expect(run(exec, p) == 22, "a kernel of a child is changed");
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, child, middle));
    expect(run(exec, p) == 8, "a child is changed as a whole");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(of_clone));
    CHECK(cudaGraphDestroy(outer));
    EXPECT_ERROR(cudaGraphGetNodes(got, NULL, &n), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphDestroy(middle));
    CHECK(cudaGraphDestroy(clone));
}

int main(void)
{
    captured();
    by_hand();
    shape();
    changed();
    captured_into();
    children();
    return done();
}
