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
    k.func = (void *)add;
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

int main(void)
{
    captured();
    by_hand();
    shape();
    return done();
}
