#include "stories.h"
static cudaGraph_t g, g2, b;
static cudaGraphNode_t n, n2, nc, nd;
static cudaGraphExec_t x, y;
static cudaGraphConditionalHandle h, h2;
static cudaGraphNodeParams c = {};
static cudaGraphExecUpdateResultInfo r;
static void update(cudaGraphExec_t x, cudaGraph_t g) { r = {}; SAY(cudaGraphExecUpdate(x, g, &r)); VALUE(r.result); VALUE(r.errorNode != nullptr); VALUE(r.errorFromNode != nullptr); }
STORY(handle_arguments)
{
    g = new_graph();
    SAY(cudaGraphConditionalHandleCreate(nullptr, g)); SAY(cudaGraphConditionalHandleCreate(&h, nullptr)); SAY(cudaGraphConditionalHandleCreate(&h, g, 0, 2)); SAY(cudaGraphConditionalHandleCreate(&h, g, 5, 0)); SAY(cudaGraphConditionalHandleCreate(&h, g, 0xffffffffu, cudaGraphCondAssignDefault));
    SAY(cudaGraphConditionalHandleCreate(&h2, g)); VALUE(h != 0); VALUE(h != h2);
    SAY(cudaGraphInstantiate(&x, g, 0)); cudaGraphInstantiateParams p = {}; SAY(cudaGraphInstantiateWithParams(&x, g, &p)); VALUE(p.result_out); VALUE(p.errNode_out != nullptr);
}
STORY(node_arguments)
{
    g = new_graph(); g2 = new_graph(); SAY(cudaGraphConditionalHandleCreate(&h, g)); SAY(cudaGraphConditionalHandleCreate(&h2, g2));
    c = condition(h, cudaGraphCondTypeIf, 1);
    SAY(cudaGraphAddNode(nullptr, g, nullptr, nullptr, 0, &c)); SAY(cudaGraphAddNode(&n, nullptr, nullptr, nullptr, 0, &c)); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, nullptr)); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 1, &c));
    c = condition(0, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h + 12345, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h2, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, (cudaGraphConditionalNodeType)3, 1); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeIf, 0); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeIf, 3); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeWhile, 2); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeWhile, 0); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeSwitch, 0); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    c = condition(h, cudaGraphCondTypeIf, 1); c.reserved0[1] = 1; SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c)); c = condition(h, cudaGraphCondTypeIf, 1); c.reserved2 = 1; SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c)); c = condition(h, cudaGraphCondTypeIf, 1); c.reserved1[28] = 1; SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c));
    VALUE(count_nodes(g));
    c = condition(h, cudaGraphCondTypeSwitch, 5); SAY(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c)); VALUE(type_of(n)); VALUE(c.conditional.phGraph_out != nullptr);
    c = condition(h, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n2, g, nullptr, nullptr, 0, &c));
    SAY(cudaGraphInstantiate(&x, g, 0)); launch(x);
    SAY(cudaGraphDestroyNode(n)); SAY(cudaGraphAddNode(&n2, g, nullptr, nullptr, 0, &c)); SAY(cudaGraphInstantiate(&y, g, 0));
    unsigned e = 9; SAY(cudaGraphNodeSetEnabled(x, n, 0)); SAY(cudaGraphNodeGetEnabled(x, n, &e));
    c = condition(h2, cudaGraphCondTypeIf, 2); SAY(cudaGraphAddNode(&n, g2, nullptr, nullptr, 0, &c)); SAY(cudaGraphNodeSetParams(n, &c)); cudaGraphInstantiate(&x, g2, 0); SAY(cudaGraphExecNodeSetParams(x, n, &c));
    cudaGraph_t got = 0; SAY(cudaGraphChildGraphNodeGetGraph(n, &got)); 
}
STORY(bodies)
{
    int *p = device_ints(4), v = 1; static int host[4]; g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0];
    SAY(cudaGraphDestroy(b)); SAY(cudaGraphInstantiate(&x, b, 0)); SAY(cudaGraphClone(&g2, b)); cudaGraph_t o = new_graph(); SAY(cudaGraphAddChildGraphNode(&n, o, nullptr, 0, b)); VALUE(count_nodes(b));
    cudaHostNodeParams hp = {[](void *) {}, nullptr}; SAY(cudaGraphAddHostNode(&n, b, nullptr, 0, &hp)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n));
    cudaEvent_t e; cudaEventCreate(&e); SAY(cudaGraphAddEventRecordNode(&n, b, nullptr, 0, e)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n)); SAY(cudaGraphAddEventWaitNode(&n, b, nullptr, 0, e)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n));
    auto m = memory(64); SAY(cudaGraphAddMemAllocNode(&n, b, nullptr, 0, &m)); VALUE(count_nodes(b));
    SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, host, p, 4, cudaMemcpyDeviceToHost)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n));
    int *pin; cudaMallocHost(&pin, 16); SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, pin, p, 4, cudaMemcpyDeviceToHost)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n));
    SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, p + 1, p, 4, cudaMemcpyDeviceToDevice)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n));
    cudaMemsetParams ms = {p, 0, 7, 4, 2, 1}; SAY(cudaGraphAddMemsetNode(&n, b, nullptr, 0, &ms)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphAddEmptyNode(&n2, b, &n, 1)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroyNode(n)); 
    cudaGraph_t ch = new_graph(); add_node(ch, p, 1); SAY(cudaGraphAddChildGraphNode(&n, b, nullptr, 0, ch)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); VALUE(at(p));
    cudaGraphAddHostNode(&n, ch, nullptr, 0, &hp); SAY(cudaGraphAddChildGraphNode(&n, b, nullptr, 0, ch)); SAY(cudaGraphInstantiate(&y, g, 0)); cudaGraphInstantiateParams ip = {}; SAY(cudaGraphInstantiateWithParams(&y, g, &ip)); VALUE(ip.result_out); VALUE(ip.errNode_out != nullptr); VALUE(ip.errNode_out == n); VALUE(ip.errNode_out == nc);
    SAY(cudaGraphDestroyNode(n)); n = add_node(g, p, 1); n2 = add_node(b, p, 1); SAY(cudaGraphAddDependencies(g, &n, &n2, nullptr, 1)); SAY(cudaGraphAddEmptyNode(&nd, b, &n, 1)); (void)v;
}
STORY(copies)
{
    int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; n = add_node(b, p, 1);
    SAY(cudaGraphClone(&g2, g)); cudaGraph_t o = new_graph(); SAY(cudaGraphAddChildGraphNode(&nd, o, nullptr, 0, g)); VALUE(count_nodes(o)); cudaGraphNodeParams q = {}; q.type = cudaGraphNodeTypeGraph; q.graph.graph = g; q.graph.ownership = cudaGraphChildGraphOwnershipMove; 
    SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphInstantiate(&y, g, 0)); launch(x); launch(y); VALUE(at(p));
    update(x, g);
    SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphExecDestroy(y)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); VALUE(at(p));
    int v = 10; void *a[] = {&p, &v}; auto k = kernel((void *)add, a); SAY(cudaGraphExecKernelNodeSetParams(x, n, &k)); launch(x); VALUE(at(p)); SAY(cudaGraphNodeSetEnabled(x, n, 0)); launch(x); VALUE(at(p)); SAY(cudaGraphKernelNodeSetParams(n, &k)); launch(x); VALUE(at(p)); update(x, g); launch(x); VALUE(at(p));
    add_node(b, p, 100, {n}); update(x, g); SAY(cudaGraphDestroyNode(nc)); SAY(cudaGraphGetNodes(b, nullptr, nullptr)); launch(x); VALUE(at(p)); SAY(cudaGraphDestroy(g)); launch(x); VALUE(at(p));
    SAY(cudaGraphAddNode(&nd, o, nullptr, nullptr, 0, &q));
}
STORY(copied_bodies)
{
    int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 0, 0); n = select_node(g, h, 1); c = condition(h, cudaGraphCondTypeIf, 2); cudaGraphAddNode(&nc, g, &n, nullptr, 1, &c); add_node(c.conditional.phGraph_out[0], p, 1); add_node(c.conditional.phGraph_out[1], p, 100);
    SAY(cudaGraphClone(&g2, g)); VALUE(count_nodes(g2)); SAY(cudaGraphNodeFindInClone(&nd, nc, g2)); VALUE(nd != nc); VALUE(type_of(nd)); SAY(cudaGraphInstantiate(&x, g2, 0)); launch(x); VALUE(at(p)); SAY(cudaGraphInstantiate(&y, g, 0)); launch(y); VALUE(at(p)); launch(x); VALUE(at(p));
    cudaGraph_t o = new_graph(); SAY(cudaGraphAddChildGraphNode(&nd, o, nullptr, 0, g)); VALUE(count_nodes(o));
}
STORY(updates)
{
    int *p = device_ints(4); cudaGraph_t gs[6]; for (int i = 0; i < 6; i++) { g = gs[i] = new_graph(); cudaGraphConditionalHandleCreate(&h, g, i == 5 ? 0 : 1, cudaGraphCondAssignDefault); c = condition(h, i == 1 ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf, i == 2 ? 2 : 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; if (i == 3) cudaGraphAddEmptyNode(&n, b, nullptr, 0); else add_node(b, p, i == 4 ? 1000 : 1); if (i == 1) select_node(b, h, 0); }
    for (int i = 0; i < 6; i++) SAY(cudaGraphInstantiate(&x, gs[i], 0)); SAY(cudaGraphInstantiate(&x, gs[0], 0));
    for (int i = 0; i < 6; i++) { update(x, gs[i]); launch(x); VALUE(at(p)); }
}
STORY(defaults)
{
    int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, 0); cudaGraphConditionalHandleCreate(&h2, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 2); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); add_node(c.conditional.phGraph_out[0], p, 1); add_node(c.conditional.phGraph_out[1], p, 10); nd = select_node(g, h, 3, {nc}); 
    c = condition(h2, cudaGraphCondTypeIf, 2); cudaGraphAddNode(&n, g, &nd, nullptr, 1, &c); add_node(c.conditional.phGraph_out[0], p, 100); add_node(c.conditional.phGraph_out[1], p, 1000); select_node(g, h2, 0, {n});
    SAY(cudaGraphInstantiate(&x, g, 0)); for (int i = 0; i < 3; i++) { launch(x); VALUE(at(p)); } SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); VALUE(at(p));
}
STORY(switches)
{
    int *p = device_ints(4), *v = device_ints(1); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g); n = select_node(g, h, 0); c = condition(h, cudaGraphCondTypeSwitch, 3); cudaGraphAddNode(&nc, g, &n, nullptr, 1, &c); for (int i = 0, w = 1; i < 3; i++, w *= 10) add_node(c.conditional.phGraph_out[i], p, w); add_node(g, p, 1000, {nc}); SAY(cudaGraphInstantiate(&x, g, 0));
    for (unsigned i : {0u, 1u, 2u, 3u, 4u, 0xffffffffu}) { void *a[] = {&h, &i}; auto k = kernel((void *)put_value, a); SAY(cudaGraphExecKernelNodeSetParams(x, n, &k)); launch(x); VALUE(at(p)); } (void)v;
}
STORY(nested)
{
    int *p = device_ints(4); cudaGraphConditionalHandle hi, hw; cudaGraphNode_t a; g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); cudaGraphConditionalHandleCreate(&hw, g, 1, cudaGraphCondAssignDefault); cudaGraphConditionalHandleCreate(&hi, g, 0, 0);
    c = condition(h, cudaGraphCondTypeWhile, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; n = select_node(b, hw, 1); c = condition(hw, cudaGraphCondTypeWhile, 1); SAY(cudaGraphAddNode(&n2, b, &n, nullptr, 1, &c)); g2 = c.conditional.phGraph_out[0]; 
    a = add_node(g2, p, 1); choose_node(g2, hw, p, 5, {a}); a = add_node(b, p + 1, 1, {n2}); nd = choose_node(b, h, p + 1, 3, {a}); a = choose_node(b, hi, p + 1, 2, {a}); c = condition(hi, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&a, b, &a, nullptr, 1, &c)); add_node(c.conditional.phGraph_out[0], p + 2, 1);
    SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); for (int i = 0; i < 3; i++) VALUE(at(p + i)); launch(x); for (int i = 0; i < 3; i++) VALUE(at(p + i));
    cudaGraph_t other = new_graph(); cudaGraphConditionalHandleCreate(&h2, b, 1, cudaGraphCondAssignDefault); c = condition(h2, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&a, b, nullptr, nullptr, 0, &c)); SAY(cudaGraphInstantiate(&y, g, 0)); (void)other;
}
STORY(captured_bodies)
{
    int *p = device_ints(4); cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t); auto mode = cudaStreamCaptureModeGlobal; cudaStreamCaptureStatus st; const cudaGraphNode_t *deps; size_t nd = 0; const cudaGraphEdgeData *ed;
    SAY(cudaStreamBeginCapture(s, mode)); add<<<1, 1, 0, s>>>(p, 1); SAY(cudaStreamGetCaptureInfo(s, &st, nullptr, &g, &deps, &ed, &nd)); VALUE(st); VALUE(nd); VALUE(ed != nullptr); SAY(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault)); c = condition(h, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, g, deps, ed, nd, &c)); b = c.conditional.phGraph_out[0];
    SAY(cudaStreamUpdateCaptureDependencies(s, &n, nullptr, 1, cudaStreamSetCaptureDependencies)); add<<<1, 1, 0, s>>>(p, 100); 
    SAY(cudaStreamBeginCaptureToGraph(t, b, nullptr, nullptr, 0, mode)); add<<<1, 1, 0, t>>>(p, 10); SAY(cudaStreamBeginCaptureToGraph(t, b, nullptr, nullptr, 0, mode)); SAY(cudaStreamEndCapture(t, &g2)); VALUE(g2 == b); VALUE(count_nodes(b));
    SAY(cudaStreamEndCapture(s, &g2)); VALUE(g2 == g); VALUE(count_nodes(g)); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x, s); VALUE(at(p));
    SAY(cudaStreamBeginCaptureToGraph(t, b, nullptr, nullptr, 0, mode)); SAY(cudaLaunchHostFunc(t, [](void *) {}, nullptr)); SAY(cudaStreamEndCapture(t, &g2)); SAY(cudaGraphInstantiate(&y, g, 0));
    g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; void *q; SAY(cudaStreamBeginCaptureToGraph(t, b, nullptr, nullptr, 0, mode)); SAY(cudaMallocAsync(&q, 64, t)); SAY(cudaStreamEndCapture(t, &g2)); SAY(cudaGraphInstantiate(&y, g, 0)); SAY(cudaGraphGetNodes(b, nullptr, &nd)); 
    SAY(cudaStreamBeginCaptureToGraph(t, b, nullptr, nullptr, 0, mode)); SAY(cudaMalloc(&q, 64)); SAY(cudaStreamEndCapture(t, &g2)); }
STORY(outside) { g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); int *p = device_ints(1); add_node(c.conditional.phGraph_out[0], p, 1); put_value<<<1, 1>>>(h, 1); SAY(cudaDeviceSynchronize()); SAY(cudaGraphInstantiate(&x, g, 0)); put_value<<<1, 1>>>(h, 0); SAY(cudaDeviceSynchronize()); launch(x); VALUE(at(p)); SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphDestroy(g)); put_value<<<1, 1>>>(h, 0); SAY(cudaDeviceSynchronize()); }
STORY(forged) { put_value<<<1, 1>>>(0, 1); SAY(cudaDeviceSynchronize()); }
STORY(forged_large) { put_value<<<1, 1>>>(0x123456789abcull, 1); SAY(cudaDeviceSynchronize()); }
STORY(fault_in_body) { int *p = device_ints(1); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeWhile, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); add_node(c.conditional.phGraph_out[0], (int *)64, 1); add_node(g, p, 1, {nc}); SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); }
STORY(handles_in_other_graphs) { int *p = device_ints(1); g = new_graph(); g2 = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 0, 0); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); add_node(c.conditional.phGraph_out[0], p, 1); select_node(g2, h, 1); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphInstantiate(&y, g2, 0)); launch(y); launch(x); VALUE(at(p)); }

STORY(nodes_in_bodies)
{
    int *p = device_ints(8), *pin; cudaMallocHost(&pin, 16); static int host[4]; cudaMemsetParams ms = {p, 0, 7, 4, 2, 1};
    for (int i = 0; i < 9; i++) {
        g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; g2 = new_graph();
        if (i == 0) SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, host, p, 4, cudaMemcpyDeviceToHost));
        if (i == 1) SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, p, host, 4, cudaMemcpyHostToDevice));
        if (i == 2) SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, pin, p, 4, cudaMemcpyDeviceToHost));
        if (i == 3) SAY(cudaGraphAddMemcpyNode1D(&n, b, nullptr, 0, p + 1, p, 4, cudaMemcpyDeviceToDevice));
        if (i == 4) SAY(cudaGraphAddMemsetNode(&n, b, nullptr, 0, &ms));
        if (i == 5) SAY(cudaGraphAddEmptyNode(&n, b, nullptr, 0));
        if (i == 6) { add_node(g2, p, 1); SAY(cudaGraphAddChildGraphNode(&n, b, nullptr, 0, g2)); }
        if (i == 7) { cudaHostNodeParams hp = {[](void *) {}, nullptr}; cudaGraphAddHostNode(&n, g2, nullptr, 0, &hp); SAY(cudaGraphAddChildGraphNode(&n, b, nullptr, 0, g2)); }
        if (i == 8) { cudaHostNodeParams hp = {[](void *) {}, nullptr}; cudaGraphAddHostNode(&n, b, nullptr, 0, &hp); }
        cudaGraphInstantiateParams ip = {}; SAY(cudaGraphInstantiateWithParams(&x, g, &ip)); VALUE(ip.result_out); VALUE(ip.errNode_out != nullptr); VALUE(ip.errNode_out == n); VALUE(ip.errNode_out == nc);
    }
}
STORY(handles_of_bodies)
{
    int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeWhile, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; SAY(cudaGraphConditionalHandleCreate(&h2, b, 1, cudaGraphCondAssignDefault)); c = condition(h2, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&n, b, nullptr, nullptr, 0, &c)); add_node(c.conditional.phGraph_out[0], p, 1); select_node(c.conditional.phGraph_out[0], h2, 0); n2 = add_node(b, p + 1, 1, {n}); choose_node(b, h, p + 1, 3, {n2});
    SAY(cudaGraphInstantiate(&x, g, 0)); launch(x); VALUE(at(p)); VALUE(at(p + 1)); launch(x); VALUE(at(p)); VALUE(at(p + 1));
}
STORY(parameters) { int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c)); add_node(c.conditional.phGraph_out[0], p, 1); SAY(cudaGraphNodeSetParams(nc, &c)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphExecNodeSetParams(x, nc, &c)); unsigned e = 5; SAY(cudaGraphNodeSetEnabled(x, nc, 0)); SAY(cudaGraphNodeGetEnabled(x, nc, &e)); cudaGraph_t got = 0; SAY(cudaGraphChildGraphNodeGetGraph(nc, &got)); c.conditional.size = 2; SAY(cudaGraphNodeSetParams(nc, &c)); SAY(cudaGraphDestroyNode(nc)); SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphInstantiate(&x, g, 0)); cudaGraphConditionalHandleCreate(&h2, g, 1, 1); c = condition(h, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c)); c = condition(h2, (cudaGraphConditionalNodeType)7, 1); SAY(cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c)); c = condition(h2, cudaGraphCondTypeIf, 1); SAY(cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c)); }
STORY(in_a_row) { int *p = device_ints(4); cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t); g = new_graph(); cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault); c = condition(h, cudaGraphCondTypeWhile, 1); cudaGraphAddNode(&nc, g, nullptr, nullptr, 0, &c); b = c.conditional.phGraph_out[0]; n = add_node(b, p, 1); choose_node(b, h, p, 100, {n}); SAY(cudaGraphInstantiate(&x, g, 0)); for (int i = 0; i < 20; i++) cudaGraphLaunch(x, i & 1 ? s : t); SAY(cudaDeviceSynchronize()); VALUE(at(p)); void *a[] = {&p, &c}; (void)a; cudaGraphLaunch(x, s); SAY(cudaGraphExecDestroy(x)); SAY(cudaGraphDestroy(g)); SAY(cudaDeviceSynchronize()); VALUE(at(p)); }
