/* The text of cudaGraphDebugDotPrint, of each kind of node, with each flag, beside an H200's (dots.txt.xz; CUDA 13.0). Addresses and
 * handles are replaced by names. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>
#define CK(x) do { int e_ = (int)(x); if (e_) printf("  line %d: %d\n", __LINE__, e_), cudaGetLastError(); } while (0)
struct known { unsigned long long at, n; std::string name; };
static std::vector<known> names;
static void name(const void *p, size_t n, const char *s) { names.push_back({(unsigned long long)p, n, s}); }
static std::string clean(const std::string &s) {
    std::string r;
    for (size_t i = 0; i < s.size();) {
        if (s[i] != '0' || i + 1 == s.size() || s[i + 1] != 'x') { r += s[i++]; continue; }
        char *end; unsigned long long v = strtoull(s.c_str() + i, &end, 16); size_t n = end - (s.c_str() + i);
        std::string w = v > 65535 && s.compare(i, 14, "0x000109951162") ? "<address>" : s.substr(i, n);
        if (w == "<address>") for (auto &k : names) if (v >= k.at && v < k.at + k.n) { w = "<" + k.name + "+" + std::to_string(v - k.at) + ">"; break; }
        r += w; i += n;
    }
    return r;
}
static void print(cudaGraph_t g, unsigned f) {
    char n[60]; snprintf(n, 60, "dots%d.dot", (int)getpid()); remove(n); int e = cudaGraphDebugDotPrint(g, n, f); printf("--- flags %u: %d\n", f, e); cudaGetLastError();
    FILE *x = fopen(n, "r"); std::string s; char b[4096]; size_t k; while (x && (k = fread(b, 1, sizeof b, x)) > 0) s.append(b, k); if (x) fclose(x); remove(n); fputs(clean(s).c_str(), stdout);
}
__global__ void add(int *p, int v) { atomicAdd(p, v); }
struct big { int a[3]; double d; char c; };
__global__ void many(int *p, float f, double d, big b, char c, unsigned long long u, short s) { *p = (int)(f + d + b.a[0] + c + u + s); }
template <class T, int N> __global__ void temp(T *p) { *p = N; }
extern "C" __global__ void plain() {}
__global__ void __cluster_dims__(2, 1, 1) clustered(int *p) { *p = 1; }
__device__ int symbol[64];
static void host_fn(void *p) { ++*(int *)p; }
static cudaGraphNode_t kern(cudaGraph_t g, std::vector<cudaGraphNode_t> deps, void *f, std::vector<void *> args, dim3 grid = 1, dim3 block = 1, unsigned sh = 0) { cudaGraphNode_t n = 0; cudaKernelNodeParams p = {}; p.func = f; p.gridDim = grid; p.blockDim = block; p.kernelParams = args.data(); p.sharedMemBytes = sh; CK(cudaGraphAddKernelNode(&n, g, deps.data(), deps.size(), &p)); name(n, 1, "node"); return n; }
static cudaGraph_t graph() { cudaGraph_t g; CK(cudaGraphCreate(&g, 0)); name(g, 1, "graph"); return g; }
static const unsigned some[] = {0, 1, 1024}; static const unsigned each[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65535, 3, 1025, 65536, 0x80000000u};
static void show(cudaGraph_t g, const char *what, unsigned flag, bool every = false) { size_t n = 0; CK(cudaGraphGetNodes(g, 0, &n)); std::vector<cudaGraphNode_t> v(n); if (n) CK(cudaGraphGetNodes(g, v.data(), &n)); char s[20]; for (size_t i = 0; i < n; i++) snprintf(s, 20, "node%zu", i), names.insert(names.begin(), {(unsigned long long)v[i], 1, s}); printf("=== %s\n", what); if (every) for (unsigned f : each) print(g, f); else { for (unsigned f : some) print(g, f); print(g, flag); print(g, flag | 2); print(g, 3); print(g, 16384 | 1); } }
int main() {
    int *p; CK(cudaMalloc(&p, 4096)); int *q; CK(cudaMallocManaged(&q, 4096)); int *hp; CK(cudaMallocHost(&hp, 4096)); static int pageable[256]; cudaEvent_t ev; CK(cudaEventCreate(&ev));
    name(p, 4096, "P"); name(q, 4096, "Q"); name(hp, 4096, "PINNED"); name(pageable, 1024, "H"); name(ev, 1, "EVENT"); void *sy; CK(cudaGetSymbolAddress(&sy, symbol)); name(sy, 256, "SYMBOL"); name((void *)host_fn, 1, "FN");
    auto fn = [&](const void *f, const char *n) { cudaFunction_t h; CK(cudaGetFuncBySymbol(&h, f)); name(h, 1, n); name(f, 1, (std::string("stub_") + n).c_str()); cudaKernel_t k; if (!cudaGetKernel(&k, f)) name(k, 1, (std::string("kernel_") + n).c_str()); };
    fn((void *)add, "ADD"); fn((void *)many, "MANY"); fn((void *)temp<float, 3>, "TEMP"); fn((void *)plain, "PLAIN"); fn((void *)clustered, "CLUSTERED"); CUcontext cx; CK(cuCtxGetCurrent(&cx)); name(cx, 1, "CONTEXT");
    int one = 1; float f = 2.5f; double d = 3.25; big b = {{1, 2, 3}, 4.5, 'x'}; char c = 'c'; unsigned long long u = 7; short s = -5;
    { auto g = graph(); show(g, "empty graph", 0, true); }
    { auto g = graph(); kern(g, {}, (void *)add, {&p, &one}, dim3(3, 2, 1), dim3(32, 4, 2), 128); show(g, "kernel", 4, true); }
    { auto g = graph(); kern(g, {}, (void *)many, {&p, &f, &d, &b, &c, &u, &s}); kern(g, {}, (void *)plain, {}); kern(g, {}, (void *)temp<float, 3>, {&p}); kern(g, {}, (void *)clustered, {&p}, 4); show(g, "kernels", 4); print(g, 512); }
    { auto g = graph(); for (int k = 0; k < 12; k++) { auto n = kern(g, {}, (void *)add, {&p, &one}, 4, 32); cudaKernelNodeAttrValue v; memset(&v, 0, sizeof v); int e = 0;
        switch (k) { case 0: v.accessPolicyWindow.base_ptr = p; v.accessPolicyWindow.num_bytes = 1024; v.accessPolicyWindow.hitRatio = .5f; v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting; v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &v); break;
        case 1: v.cooperative = 1; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v); break;
        case 2: v.clusterDim = {2, 1, 1}; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterDimension, &v); break;
        case 3: v.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterSchedulingPolicyPreference, &v); break;
        case 4: v.priority = -3; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v); break;
        case 5: v.memSyncDomain = cudaLaunchMemSyncDomainRemote; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomain, &v); break;
        case 6: v.memSyncDomainMap.default_ = 1; v.memSyncDomainMap.remote = 2; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomainMap, &v); break;
        case 7: v.sharedMemCarveout = 50; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePreferredSharedMemoryCarveout, &v); break;
        case 8: v.deviceUpdatableKernelNode.deviceUpdatable = 1; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v); break;
        case 9: v.programmaticStreamSerializationAllowed = 1; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeProgrammaticStreamSerialization, &v); break;
        case 10: v.preferredClusterDim = {2, 1, 1}; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePreferredClusterDimension, &v); break;
        default: v.nvlinkUtilCentricScheduling = 1; e = cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeNvlinkUtilCentricScheduling, &v); } printf("attribute %d: %d\n", k, e); cudaGetLastError(); } show(g, "attributes", 512); }
    auto copy = [&](const char *what, bool every, auto add_it) { auto g = graph(); cudaGraphNode_t n = 0; int e = add_it(&n, g); if (e) printf("%s: %d\n", what, e), cudaGetLastError(); show(g, what, 8, every); };
    copy("copy d to d", true, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, p + 8, p, 16, cudaMemcpyDeviceToDevice); });
    copy("copy h to d", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, p, pageable, 100, cudaMemcpyHostToDevice); });
    copy("copy d to h", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, pageable + 1, p, 100, cudaMemcpyDeviceToHost); });
    copy("copy h to h", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, pageable + 1, hp, 100, cudaMemcpyHostToHost); });
    copy("copy default", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, p, hp, 100, cudaMemcpyDefault); });
    copy("copy managed", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNode1D(n, g, 0, 0, q, p, 100, cudaMemcpyDefault); });
    copy("copy to symbol", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNodeToSymbol(n, g, 0, 0, symbol, p, 32, 16, cudaMemcpyDeviceToDevice); });
    copy("copy from symbol", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { return cudaGraphAddMemcpyNodeFromSymbol(n, g, 0, 0, hp, symbol, 32, 16, cudaMemcpyDeviceToHost); });
    cudaArray_t a1, a2; auto cd = cudaCreateChannelDesc<float>(); CK(cudaMallocArray(&a1, &cd, 64, 32)); CK(cudaMalloc3DArray(&a2, &cd, make_cudaExtent(16, 16, 4))); name(a1, 1, "ARRAY1"); name(a2, 1, "ARRAY2");
    copy("copy 2d", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { cudaMemcpy3DParms m = {}; m.srcPtr = make_cudaPitchedPtr(pageable, 64, 64, 8); m.dstPtr = make_cudaPitchedPtr(p, 128, 128, 8); m.extent = make_cudaExtent(40, 4, 1); m.kind = cudaMemcpyHostToDevice; return cudaGraphAddMemcpyNode(n, g, 0, 0, &m); });
    copy("copy 3d", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { cudaMemcpy3DParms m = {}; m.srcPtr = make_cudaPitchedPtr(p, 64, 60, 8); m.srcPos = make_cudaPos(4, 1, 1); m.dstPtr = make_cudaPitchedPtr(hp, 32, 32, 16); m.dstPos = make_cudaPos(8, 2, 0); m.extent = make_cudaExtent(12, 3, 2); m.kind = cudaMemcpyDeviceToHost; return cudaGraphAddMemcpyNode(n, g, 0, 0, &m); });
    copy("copy to array", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { cudaMemcpy3DParms m = {}; m.srcPtr = make_cudaPitchedPtr(p, 256, 64, 8); m.dstArray = a1; m.dstPos = make_cudaPos(3, 2, 0); m.extent = make_cudaExtent(10, 3, 1); m.kind = cudaMemcpyDeviceToDevice; return cudaGraphAddMemcpyNode(n, g, 0, 0, &m); });
    copy("copy from array to array", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { cudaMemcpy3DParms m = {}; m.srcArray = a2; m.srcPos = make_cudaPos(1, 2, 3); m.dstArray = a1; m.extent = make_cudaExtent(8, 8, 1); m.kind = cudaMemcpyDeviceToDevice; return cudaGraphAddMemcpyNode(n, g, 0, 0, &m); });
    copy("copy from array to host", false, [&](cudaGraphNode_t *n, cudaGraph_t g) { cudaMemcpy3DParms m = {}; m.srcArray = a2; m.dstPtr = make_cudaPitchedPtr(pageable, 64, 16, 16); m.extent = make_cudaExtent(8, 2, 1); m.kind = cudaMemcpyDeviceToHost; return cudaGraphAddMemcpyNode(n, g, 0, 0, &m); });
    auto set = [&](const char *what, bool every, unsigned value, unsigned size, size_t w, size_t h, size_t pitch) { auto g = graph(); cudaGraphNode_t n; cudaMemsetParams m = {}; m.dst = p + 4; m.value = value; m.elementSize = size; m.width = w; m.height = h; m.pitch = pitch; CK(cudaGraphAddMemsetNode(&n, g, 0, 0, &m)); show(g, what, 16, every); };
    set("fill bytes", true, 0xab, 1, 100, 1, 0); set("fill words", false, 0x01020304, 4, 10, 1, 0); set("fill halves in rows", false, 0x1234, 2, 6, 3, 64);
    { auto g = graph(); cudaGraphNode_t n; static int calls; name(&calls, 4, "CALLS"); cudaHostNodeParams h = {host_fn, &calls}; CK(cudaGraphAddHostNode(&n, g, 0, 0, &h)); show(g, "host", 32, true); }
    { auto g = graph(); cudaGraphNode_t n; CK(cudaGraphAddEmptyNode(&n, g, 0, 0)); show(g, "empty", 0, true); }
    { auto g = graph(); cudaGraphNode_t n; CK(cudaGraphAddEventRecordNode(&n, g, 0, 0, ev)); CK(cudaGraphAddEventWaitNode(&n, g, &n, 1, ev)); show(g, "events", 64, true); }
    { auto g = graph(), h = graph(), i = graph(); kern(i, {}, (void *)add, {&p, &one}); cudaGraphNode_t n; CK(cudaGraphAddChildGraphNode(&n, h, 0, 0, i)); CK(cudaGraphAddChildGraphNode(&n, g, 0, 0, h)); CK(cudaGraphAddChildGraphNode(&n, g, &n, 1, h)); cudaGraph_t got; CK(cudaGraphChildGraphNodeGetGraph(n, &got)); name(got, 1, "child"); show(g, "children", 0, true); show(h, "child itself", 0); }
    { auto g = graph(); cudaGraphNode_t n, m; cudaMemAllocNodeParams a = {}; a.poolProps.allocType = cudaMemAllocationTypePinned; a.poolProps.location = {cudaMemLocationTypeDevice, 0}; a.bytesize = 1000; CK(cudaGraphAddMemAllocNode(&n, g, 0, 0, &a)); name(a.dptr, 1000, "ALLOCATED"); CK(cudaGraphAddMemFreeNode(&m, g, &n, 1, a.dptr)); show(g, "memory", 2048 | 4096, true);
      auto h = graph(); cudaMemAccessDesc ad[1] = {}; ad[0].location = {cudaMemLocationTypeDevice, 0}; ad[0].flags = cudaMemAccessFlagsProtReadWrite; a.accessDescs = ad; a.accessDescCount = 1; a.bytesize = 5 << 20; CK(cudaGraphAddMemAllocNode(&n, h, 0, 0, &a)); name(a.dptr, 1000, "ALLOCATED2"); show(h, "memory with access", 2048 | 4096); }
    for (int t = 0; t < 4; t++) { auto g = graph(); cudaGraphConditionalHandle h; CK(cudaGraphConditionalHandleCreate(&h, g, t, t & 1)); name((void *)h, 1, "HANDLE"); cudaGraphNodeParams q2 = {}; q2.type = cudaGraphNodeTypeConditional; q2.conditional.handle = h; q2.conditional.type = t < 2 ? cudaGraphCondTypeIf : t == 2 ? cudaGraphCondTypeWhile : cudaGraphCondTypeSwitch; q2.conditional.size = t == 1 ? 2 : t == 3 ? 3 : 1; cudaGraphNode_t n, k = kern(g, {}, (void *)plain, {}); CK(cudaGraphAddNode(&n, g, &k, 0, 1, &q2)); for (unsigned i = 0; i < q2.conditional.size; i++) kern(q2.conditional.phGraph_out[i], {}, (void *)add, {&p, &one}), name(q2.conditional.phGraph_out[i], 1, "body"); show(g, t == 0 ? "if" : t == 1 ? "if else" : t == 2 ? "while" : "switch", 32768, t == 1); }
    { auto g = graph(); CUstreamBatchMemOpParams o[3]; memset(o, 0, sizeof o); o[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32; o[0].writeValue.address = (CUdeviceptr)p; o[0].writeValue.value = 5; o[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32; o[1].waitValue.address = (CUdeviceptr)p; o[1].waitValue.value = 5; o[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ; o[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64; o[2].writeValue.address = (CUdeviceptr)(p + 2); o[2].writeValue.value64 = 1ull << 40; CUDA_BATCH_MEM_OP_NODE_PARAMS bp = {}; bp.ctx = cx; bp.count = 3; bp.paramArray = o; CUgraphNode n; CK(cuGraphAddBatchMemOpNode(&n, g, 0, 0, &bp)); show(g, "batch", 8192, true); }
    { auto g = graph(); auto k = kern(g, {}, (void *)add, {&p, &one}); cudaGraphNode_t n[4]; for (auto &x : n) CK(cudaGraphAddEmptyNode(&x, g, &k, 1)); auto l = kern(g, {n[0], n[1], n[2]}, (void *)add, {&p, &one}); cudaGraphEdgeData e = {}; e.type = cudaGraphDependencyTypeProgrammatic; e.from_port = cudaGraphKernelNodePortProgrammatic; auto m = kern(g, {}, (void *)add, {&p, &one}); CK(cudaGraphAddDependencies(g, &l, &m, &e, 1)); e.from_port = cudaGraphKernelNodePortLaunchCompletion; auto o = kern(g, {}, (void *)add, {&p, &one}); CK(cudaGraphAddDependencies(g, &l, &o, &e, 1)); e.type = cudaGraphDependencyTypeDefault; auto r = kern(g, {}, (void *)add, {&p, &one}); e.from_port = 0; CK(cudaGraphAddDependencies(g, &o, &r, &e, 1)); show(g, "edges", 16384, true); CK(cudaGraphDestroyNode(n[3])); CK(cudaGraphDestroyNode(n[0])); show(g, "edges without two nodes", 16384); cudaGraph_t cl; CK(cudaGraphClone(&cl, g)); name(cl, 1, "clone"); show(cl, "clone", 16384); }
    { cudaStream_t st; CK(cudaStreamCreate(&st)); cudaGraph_t g; CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal)); CK(cudaMemsetAsync(p, 1, 256, st)); CK(cudaMemset2DAsync(p, 64, 2, 32, 3, st)); add<<<2, 3, 4, st>>>(p, 1); CK(cudaMemcpyAsync(hp, p, 64, cudaMemcpyDeviceToHost, st)); CK(cudaLaunchHostFunc(st, host_fn, pageable)); CK(cudaEventRecordWithFlags(ev, st, cudaEventRecordExternal)); void *m; CK(cudaMallocAsync(&m, 512, st)); name(m, 512, "ASYNC"); CK(cudaFreeAsync(m, st)); CK(cudaStreamEndCapture(st, &g)); name(g, 1, "captured"); show(g, "captured", 65535); }
}
