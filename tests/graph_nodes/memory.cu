#include "stories.h"
static cudaGraph_t g, g2;
static cudaGraphNode_t a, f, k, k2, n;
static cudaGraphExec_t x, y;
static void *d, *d2;
static void amount(const char *when)
{
    unsigned long long v[4] = {};
    for (int i = 0; i < 4; i++) cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)i, &v[i]);
    printf("  %s: used %llu high %llu reserved %llu high %llu\n", when, v[0], v[1], v[2], v[3]);
}
STORY(alloc_arguments)
{
    g = new_graph();
    auto m = memory(4000);
    SAY(cudaGraphAddMemAllocNode(nullptr, g, nullptr, 0, &m));
    SAY(cudaGraphAddMemAllocNode(&a, nullptr, nullptr, 0, &m));
    SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, nullptr));
    SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 1, &m));
    m = memory(0); SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m)); VALUE(m.dptr != nullptr);
    m = memory(64); m.poolProps.allocType = cudaMemAllocationTypeInvalid; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.allocType = (cudaMemAllocationType)7; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.location.type = cudaMemLocationTypeInvalid; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.location.type = cudaMemLocationTypeHost; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.location.id = 99; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.location.id = -1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.handleTypes = (cudaMemAllocationHandleType)64; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.maxSize = 4096; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory(64); m.poolProps.usage = 1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    m = memory((size_t)1 << 50); SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m)); VALUE(m.dptr != nullptr);
    m = memory((size_t)1 << 40); SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m)); VALUE(m.dptr != nullptr);
    cudaMemAccessDesc acc = {}; acc.location.type = cudaMemLocationTypeDevice; acc.location.id = 0; acc.flags = cudaMemAccessFlagsProtReadWrite;
    m = memory(64); m.accessDescs = &acc; m.accessDescCount = 1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    acc.location.id = 42; m = memory(64); m.accessDescs = &acc; m.accessDescCount = 1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    acc.location.id = 0; acc.flags = cudaMemAccessFlagsProtNone; m = memory(64); m.accessDescs = &acc; m.accessDescCount = 1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    acc.flags = cudaMemAccessFlagsProtRead; m = memory(64); m.accessDescs = &acc; m.accessDescCount = 1; SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m));
    VALUE(count_nodes(g));
    m = memory(4000); SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m)); VALUE((size_t)m.dptr % 512); VALUE(type_of(a));
    cudaMemAllocNodeParams q; memset(&q, 0x55, sizeof q);
    SAY(cudaGraphMemAllocNodeGetParams(a, &q)); VALUE(q.dptr == m.dptr); VALUE(q.bytesize); VALUE(q.poolProps.allocType); VALUE(q.poolProps.handleTypes); VALUE(q.poolProps.location.type); VALUE(q.poolProps.location.id); VALUE(q.poolProps.maxSize); VALUE(q.accessDescCount); VALUE(q.accessDescs != nullptr);
    SAY(cudaGraphMemAllocNodeGetParams(a, nullptr)); SAY(cudaGraphMemAllocNodeGetParams(nullptr, &q));
    void *fp; SAY(cudaGraphMemFreeNodeGetParams(a, &fp));
    n = add_node(g, device_ints(1), 1); SAY(cudaGraphMemAllocNodeGetParams(n, &q));
}
STORY(free_arguments)
{
    g = new_graph(); d = alloc_node(g, 4000, &a);
    SAY(cudaGraphAddMemFreeNode(nullptr, g, &a, 1, d));
    SAY(cudaGraphAddMemFreeNode(&f, nullptr, &a, 1, d));
    SAY(cudaGraphAddMemFreeNode(&f, g, &a, 1, nullptr));
    SAY(cudaGraphAddMemFreeNode(&f, g, &a, 1, (char *)d + 16));
    SAY(cudaGraphAddMemFreeNode(&f, g, &a, 1, device_ints(4)));
    SAY(cudaGraphAddMemFreeNode(&f, g, nullptr, 0, d)); VALUE(count_nodes(g));
    SAY(cudaGraphAddMemFreeNode(&n, g, &a, 1, d)); VALUE(count_nodes(g));
    SAY(cudaGraphAddMemFreeNode(&k, g, &n, 1, d)); VALUE(count_nodes(g));
    VALUE(type_of(f));
    SAY(cudaGraphInstantiate(&x, g, 0));
    g2 = new_graph(); d = alloc_node(g2, 4000, &a); k = add_node(g2, (int *)d, 1, {a});
    SAY(cudaGraphAddMemFreeNode(&f, g2, &k, 1, d));
    n = add_node(g2, (int *)d, 1, {f}); VALUE(n != nullptr);
    void *fp = nullptr; SAY(cudaGraphMemFreeNodeGetParams(f, &fp)); VALUE(fp == d); SAY(cudaGraphMemFreeNodeGetParams(f, nullptr)); SAY(cudaGraphMemFreeNodeGetParams(k, &fp)); SAY(cudaGraphMemFreeNodeGetParams(nullptr, &fp));
    SAY(cudaGraphInstantiate(&x, g2, 0));
}
STORY(unordered_use)
{
    g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, (int *)d, 1); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x);
}
STORY(rules)
{
    int *o = device_ints(1);
    g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, (int *)d, 1, {a}); k2 = add_node(g, o, 1, {k}); cudaGraphAddMemFreeNode(&f, g, &k2, 1, d);
    SAY(cudaGraphDestroyNode(a)); SAY(cudaGraphDestroyNode(f)); SAY(cudaGraphDestroyNode(k)); VALUE(count_nodes(g));
    SAY(cudaGraphRemoveDependencies(g, &a, &k, nullptr, 1)); SAY(cudaGraphRemoveDependencies(g, &k2, &f, nullptr, 1));
    n = add_node(g, o, 1); SAY(cudaGraphAddDependencies(g, &a, &n, nullptr, 1)); SAY(cudaGraphRemoveDependencies(g, &a, &n, nullptr, 1)); SAY(cudaGraphDestroyNode(n));
    SAY(cudaGraphClone(&g2, g));
    cudaGraph_t p = new_graph(); SAY(cudaGraphAddChildGraphNode(&n, p, nullptr, 0, g)); VALUE(count_nodes(p));
    cudaGraphNodeParams c = {}; c.type = cudaGraphNodeTypeGraph; c.graph.graph = g; c.graph.ownership = cudaGraphChildGraphOwnershipMove;
    SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphInstantiate(&y, g, 0));
    SAY(cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c)); VALUE(count_nodes(p));
    unsigned en = 7; SAY(cudaGraphNodeSetEnabled(x, a, 0)); SAY(cudaGraphNodeGetEnabled(x, a, &en)); SAY(cudaGraphNodeSetEnabled(x, f, 0)); SAY(cudaGraphNodeSetEnabled(x, k, 0)); SAY(cudaGraphNodeSetEnabled(x, k, 1));
    cudaGraphExecUpdateResultInfo r = {}; SAY(cudaGraphExecUpdate(x, g, &r)); VALUE(r.result); VALUE(r.errorNode == a); VALUE(r.errorNode != nullptr); VALUE(r.errorFromNode != nullptr);
    SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); launch(x); VALUE(at(o));
    cudaGraphNodeParams np = {}; np.type = cudaGraphNodeTypeMemAlloc; np.alloc = *(cudaMemAllocNodeParamsV2 *)&c; memset(&np.alloc, 0, sizeof np.alloc); np.alloc.poolProps.allocType = cudaMemAllocationTypePinned; np.alloc.poolProps.location.type = cudaMemLocationTypeDevice; np.alloc.bytesize = 64;
    SAY(cudaGraphNodeSetParams(a, &np)); SAY(cudaGraphExecNodeSetParams(x, a, &np));
    SAY(cudaGraphDestroy(g)); launch(x); VALUE(at(o)); SAY(cudaGraphExecDestroy(x));
}
STORY(move)
{
    int *o = device_ints(1); cudaGraph_t p = new_graph();
    g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, o, 5, {a}); cudaGraphAddMemFreeNode(&f, g, &k, 1, d);
    cudaGraphNodeParams c = {}; c.type = cudaGraphNodeTypeGraph; c.graph.graph = g; c.graph.ownership = cudaGraphChildGraphOwnershipMove;
    SAY(cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c)); VALUE(count_nodes(p)); VALUE(c.graph.graph == g);
    SAY(cudaGraphChildGraphNodeGetGraph(n, &g2)); VALUE(g2 == g); VALUE(count_nodes(g));
    SAY(cudaGraphDestroy(g)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphAddNode(&n, new_graph(), nullptr, nullptr, 0, &c));
    auto m = memory(64); SAY(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &m)); SAY(cudaGraphInstantiate(&x, p, 0)); launch(x); launch(x); VALUE(at(o));
    SAY(cudaGraphClone(&g2, p)); SAY(cudaGraphExecUpdate(x, g, nullptr)); SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphDestroy(p));
    p = new_graph(); g = new_graph(); add_node(g, o, 7); c.graph.graph = g; c.graph.ownership = cudaGraphChildGraphOwnershipClone; SAY(cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c)); SAY(cudaGraphChildGraphNodeGetGraph(n, &g2)); VALUE(g2 == g); VALUE(c.graph.graph == g);
    c.graph.ownership = (cudaGraphChildGraphNodeOwnership)9; SAY(cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c)); c.graph.ownership = cudaGraphChildGraphOwnershipMove; c.graph.graph = p; SAY(cudaGraphAddNode(&n, p, nullptr, nullptr, 0, &c));
}
STORY(kept)
{
    int *o = device_ints(1), v = 0; amount("at first");
    g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, (int *)d, 1, {a}); cudaPointerAttributes at = {};
    SAY(cudaMemset(d, 0, 16)); SAY(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost)); SAY(cudaFree(d)); SAY(cudaFreeAsync(d, 0)); SAY(cudaPointerGetAttributes(&at, d)); VALUE(at.type); VALUE(at.device);
    amount("made"); SAY(cudaGraphInstantiate(&x, g, 0)); amount("ready"); launch(x); amount("launched");
    SAY(cudaPointerGetAttributes(&at, d)); VALUE(at.type); VALUE(at.device); VALUE(at.devicePointer == d);
    SAY(cudaMemset(d, 0, 16)); SAY(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost)); VALUE(v);
    SAY(cudaMemset(d, 0, 4001)); SAY(cudaMemset(d, 0, 65536));
    SAY(cudaGraphLaunch(x, 0)); SAY(cudaGraphUpload(x, 0)); SAY(cudaDeviceSynchronize());
    SAY(cudaFreeAsync(d, 0)); SAY(cudaFreeAsync(d, 0)); SAY(cudaDeviceSynchronize()); amount("freed");
    launch(x); amount("again"); SAY(cudaFree(d)); SAY(cudaFree(d)); amount("freed by cudaFree"); launch(x);
    g2 = new_graph(); SAY(cudaGraphAddMemFreeNode(&f, g2, nullptr, 0, d)); SAY(cudaGraphInstantiate(&y, g2, 0)); launch(y); amount("freed by a graph"); SAY(cudaGraphLaunch(y, 0)); SAY(cudaDeviceSynchronize());
    SAY(cudaDeviceGraphMemTrim(0)); amount("trimmed"); launch(x); SAY(cudaGraphExecDestroy(x)); amount("the graph is gone"); SAY(cudaMemset(d, 0, 16)); SAY(cudaGraphDestroy(g)); SAY(cudaMemset(d, 0, 16)); SAY(cudaFree(d)); SAY(cudaDeviceGraphMemTrim(0)); amount("all is gone");
}
STORY(auto_free)
{
    int *o = device_ints(1); g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, o, 1, {a}); unsigned long long flags = 0;
    SAY(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch)); SAY(cudaGraphExecGetFlags(x, &flags)); VALUE(flags);
    for (int i = 0; i < 3; i++) launch(x); amount("three"); VALUE(at(o)); SAY(cudaMemset(d, 0, 16)); SAY(cudaFree(d)); launch(x); SAY(cudaGraphExecDestroy(x)); SAY(cudaFree(d)); amount("freed");
}
STORY(attributes)
{
    unsigned long long v = 0; amount("at first");
    SAY(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)4, &v)); SAY(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nullptr)); SAY(cudaDeviceGetGraphMemAttribute(9, cudaGraphMemAttrUsedMemCurrent, &v));
    SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v)); SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &v)); SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v)); v = 5; SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v)); SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr)); SAY(cudaDeviceSetGraphMemAttribute(9, cudaGraphMemAttrUsedMemHigh, &v)); SAY(cudaDeviceSetGraphMemAttribute(0, (cudaGraphMemAttributeType)4, &v)); SAY(cudaDeviceGraphMemTrim(9));
    g = new_graph(); cudaGraphNode_t f1, f2, a2; d = alloc_node(g, 40 << 20, &a); cudaGraphAddMemFreeNode(&f1, g, &a, 1, d); d2 = alloc_node(g, 40 << 20, &a2, {f1}); cudaGraphAddMemFreeNode(&f2, g, &a2, 1, d2); VALUE(d == d2); SAY(cudaGraphInstantiate(&x, g, 0)); amount("ready"); launch(x); amount("launched");
    g2 = new_graph(); d = alloc_node(g2, 1000, &a); d2 = alloc_node(g2, 100 << 20, &a2); VALUE(d == d2); cudaGraphAddMemFreeNode(&f1, g2, &a, 1, d); cudaGraphAddMemFreeNode(&f2, g2, &a2, 1, d2); SAY(cudaGraphInstantiate(&y, g2, 0)); launch(y); amount("another"); v = 0; SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v)); SAY(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &v)); amount("reset"); SAY(cudaDeviceGraphMemTrim(0)); amount("trimmed"); SAY(cudaGraphExecDestroy(x)); SAY(cudaDeviceGraphMemTrim(0)); amount("one gone"); SAY(cudaGraphExecDestroy(y)); SAY(cudaDeviceGraphMemTrim(0)); amount("both gone");
}
STORY(captured)
{
    cudaStream_t s; cudaStreamCreate(&s); int *o = device_ints(1), *p = nullptr, *q = nullptr; size_t k = 0; cudaGraphNode_t nodes[16]; auto mode = cudaStreamCaptureModeGlobal;
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 4000, s)); set<<<1, 32, 0, s>>>(p, 1000, 1); sum<<<1, 32, 0, s>>>(p, 1000, o); SAY(cudaFreeAsync(p, s)); SAY(cudaStreamEndCapture(s, &g)); k = 16; SAY(cudaGraphGetNodes(g, nodes, &k)); VALUE(k); for (size_t i = 0; i < k; i++) VALUE(type_of(nodes[i]));
    SAY(cudaGraphInstantiate(&x, g, 0)); launch(x, s); launch(x, s); VALUE(at(o));
    cudaMemAllocNodeParams m = {}; SAY(cudaGraphMemAllocNodeGetParams(nodes[0], &m)); VALUE(m.dptr == p); VALUE(m.bytesize); VALUE(m.poolProps.allocType); VALUE(m.poolProps.location.type); VALUE(m.accessDescCount);
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaFreeAsync(o, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 0, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync((void **)nullptr, 16, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, (size_t)1 << 50, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaMallocAsync(&q, 4000, s)); SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaFreeAsync(q, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 4000, s)); SAY(cudaFreeAsync(p, s)); SAY(cudaFreeAsync(p, s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 4000, s)); SAY(cudaFree(p)); SAY(cudaStreamEndCapture(s, &g));
    cudaMemPool_t pool; SAY(cudaDeviceGetDefaultMemPool(&pool, 0)); SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocFromPoolAsync(&p, 4000, pool, s)); SAY(cudaStreamEndCapture(s, &g)); VALUE(count_nodes(g));
    cudaMemPoolProps pp = {}; pp.allocType = cudaMemAllocationTypePinned; pp.location.type = cudaMemLocationTypeDevice; SAY(cudaMemPoolCreate(&pool, &pp)); SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocFromPoolAsync(&p, 4000, pool, s)); SAY(cudaStreamEndCapture(s, &g)); VALUE(count_nodes(g));
    SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); SAY(cudaMallocAsync(&p, 4000, s)); set<<<1, 32, 0, s>>>(p, 1000, 1); SAY(cudaStreamEndCapture(s, &g)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x, s); VALUE(at(p + 7)); SAY(cudaFreeAsync(p, s)); launch(x, s); SAY(cudaFree(p));
    cudaStream_t t; cudaStreamCreate(&t); cudaEvent_t e, e2; cudaEventCreate(&e); cudaEventCreate(&e2); SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 4000, s)); cudaEventRecord(e, s); cudaStreamWaitEvent(t, e); set<<<1, 32, 0, t>>>(p, 1000, 1); cudaEventRecord(e2, t); SAY(cudaFreeAsync(p, s)); cudaStreamWaitEvent(s, e2); SAY(cudaStreamEndCapture(s, &g)); SAY(cudaGraphInstantiate(&x, g, 0));
    SAY(cudaStreamBeginCapture(s, mode)); SAY(cudaMallocAsync(&p, 4000, t)); SAY(cudaStreamEndCapture(s, &g));
}
STORY(others)
{
    int *o = device_ints(1); cudaStream_t s; cudaStreamCreate(&s); g = new_graph(); d = alloc_node(g, 4000, &a); k = add_node(g, (int *)d, 1, {a}); cudaGraphInstantiate(&x, g, 0); launch(x);
    int *p = nullptr; g2 = new_graph(); n = add_node(g2, (int *)d, 1); cudaGraphAddMemFreeNode(&f, g2, &n, 1, d); cudaGraphInstantiate(&y, g2, 0); launch(y); SAY(cudaMemset(d, 0, 16));
    SAY(cudaGraphLaunch(x, s)); SAY(cudaGraphLaunch(y, s)); SAY(cudaGraphLaunch(x, s)); SAY(cudaGraphLaunch(y, s)); SAY(cudaStreamSynchronize(s));
    SAY(cudaGraphLaunch(y, s)); SAY(cudaStreamSynchronize(s)); (void)p; (void)o;
}
STORY(freed_use) { g = new_graph(); d = alloc_node(g, 4000, &a); cudaGraphAddMemFreeNode(&f, g, &a, 1, d); k = add_node(g, (int *)d, 1, {f}); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); SAY(cudaDeviceGraphMemTrim(0)); add<<<1, 1>>>((int *)d, 1); SAY(cudaDeviceSynchronize()); }
STORY(in_a_body) { g = new_graph(); cudaGraphConditionalHandle h; cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); auto c = condition(h, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c)); auto m = memory(64); SAY(cudaGraphAddMemAllocNode(&a, c.conditional.phGraph_out[0], nullptr, 0, &m)); SAY(cudaGraphInstantiate(&x, g, 0)); }
