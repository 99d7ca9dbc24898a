/* Limits, clones, nodes that are switched off, edges, copies, flags, children that read textures, limits in use,
 * updates of all pairs of nodes: see stories.h. */
#include "stories.h"
static int *dv() { static int *p; if (!p) cudaMalloc(&p, 1 << 20); cudaMemset(p, 0, 1 << 20); return p; }
static int read_int(int *p) { int v = -1; cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v; }
__global__ void nothing() {}
__global__ void mul(int *p, int a, int b) { *p = *p * a + b; }
__global__ void fill(float *p, int n, float v) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) p[i] = v; }
__global__ void wait_for(volatile int *go, int *p) { while (!*go) ; atomicAdd(p, 1); }
__global__ void wait_and_read(volatile int *go, cudaTextureObject_t t, float *p) { while (!*go) ; *p = tex2D<float>(t, 1.5f, 1.5f); }
static cudaArray_t picture(unsigned flags = 0) { float v[64]; for (int i = 0; i < 64; i++) v[i] = i + 1; cudaArray_t a; cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); cudaMallocArray(&a, &d, 8, 8, flags); cudaMemcpy2DToArray(a, 0, 0, v, 32, 32, 8, cudaMemcpyHostToDevice); return a; }
static cudaTextureObject_t texture_of(cudaArray_t a) { cudaResourceDesc r = {}; cudaTextureDesc t = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a; cudaTextureObject_t o = 0; cudaCreateTextureObject(&o, &r, &t, 0); return o; }
STORY(limits) {
    cudaFree(0); static const size_t values[] = {0, 1, 7, 100, 1000, 1024, 1025, 4096, 65536, 100000, 1 << 20, (1 << 20) + 1, 8 << 20, 512 << 10, (size_t)1 << 30};
    for (int l = 0; l < 8; l++) { size_t g = 77; int e = cudaDeviceGetLimit(&g, (cudaLimit)l); printf("  limit %d: %d %zu\n", l, e, g);
        for (size_t v : values) { if (l == 2 && v > (512 << 20)) continue; if (l == 0 && v > 100000) continue; if (l == 1 && v > (64 << 20)) continue; g = 77; e = cudaDeviceSetLimit((cudaLimit)l, v); cudaGetLastError(); int f = cudaDeviceGetLimit(&g, (cudaLimit)l); cudaGetLastError(); printf("    %zu: %d, %d %zu\n", v, e, f, g); } }
    SAY(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20)); SAY(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40)); SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50)); SAY(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, (size_t)1 << 50)); SAY(cudaDeviceGetLimit(0, cudaLimitStackSize));
}
static cudaGraphNode_t kernel_node(cudaGraph_t g, int *p, int a, int b, std::vector<cudaGraphNode_t> after = {}) { cudaKernelNodeParams k = {}; void *args[] = {&p, &a, &b}; k.func = (void *)mul; k.gridDim = 1; k.blockDim = 1; k.kernelParams = args; cudaGraphNode_t n = 0; cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &k); return n; }
static void host_add(void *p) { ++*(int *)p; }
static cudaGraph_t variant(int v, int *p, int *host) {
    cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphNode_t a = kernel_node(g, p, v == 1 ? 3 : 2, 1), b = 0, c = 0; cudaMemsetParams m = {}; m.dst = p + 8; m.elementSize = v == 2 ? 1 : 4; m.width = v == 3 ? 2 : 4; m.height = 1; m.value = 5;
    if (v == 4) { cudaHostNodeParams h = {host_add, host}; cudaGraphAddHostNode(&b, g, &a, 1, &h); } else cudaGraphAddMemsetNode(&b, g, v == 5 ? nullptr : &a, v == 5 ? 0 : 1, &m);
    if (v == 6) cudaGraphAddMemcpyNode1D(&c, g, &b, 1, p + 32, p + 8, 8, cudaMemcpyDeviceToDevice); else if (v != 7) cudaGraphAddMemcpyNode1D(&c, g, &b, 1, p + 16, p + 8, 16, cudaMemcpyDeviceToDevice);
    if (v == 8) { cudaGraphNode_t d; cudaGraphAddEmptyNode(&d, g, &c, 1); } if (v == 9) { cudaKernelNodeParams k = {}; k.func = (void *)nothing; k.gridDim = 1; k.blockDim = 1; SAY(cudaGraphKernelNodeSetParams(a, &k)); }
    if (v == 10) { cudaKernelNodeParams k = {}; int x = 2, y = 1; void *args[] = {&p, &x, &y}; k.func = (void *)mul; k.gridDim = 1; k.blockDim = 1; k.kernelParams = args; k.sharedMemBytes = 100; k.gridDim = dim3(2, 1, 1); SAY(cudaGraphKernelNodeSetParams(a, &k)); }
    if (v == 11) { cudaGraph_t child; cudaGraphCreate(&child, 0); kernel_node(child, p, 1, 1); cudaGraphNode_t d; cudaGraphAddChildGraphNode(&d, g, &c, 1, child); }
    return g;
}
STORY(clones) {
    int *p = dv(), host = 0; cudaGraph_t g = variant(11, p, &host), c = 0, d = 0; SAY(cudaGraphClone(&c, g)); size_t n = 0; cudaGraphGetNodes(g, 0, &n); VALUE(n); std::vector<cudaGraphNode_t> ns(n); cudaGraphGetNodes(g, ns.data(), &n); cudaGraphNode_t f = 0;
    for (auto x : ns) { SAY(cudaGraphNodeFindInClone(&f, x, c)); VALUE(f != x); } SAY(cudaGraphNodeFindInClone(&f, f, g)); SAY(cudaGraphNodeFindInClone(0, ns[0], c)); SAY(cudaGraphNodeFindInClone(&f, 0, c)); SAY(cudaGraphClone(0, g)); SAY(cudaGraphClone(&d, 0));
    SAY(cudaGraphDestroyNode(ns[1])); SAY(cudaGraphNodeFindInClone(&f, ns[0], c)); SAY(cudaGraphDestroy(g)); cudaGraphExec_t x; SAY(cudaGraphInstantiate(&x, c, 0)); SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); VALUE(read_int(p + 16)); SAY(cudaGraphDestroy(c)); SAY(cudaGraphDestroy(c)); SAY(cudaGraphLaunch(x, 0)); SAY(cudaGraphExecDestroy(x));
    cudaGraph_t e; cudaGraphCreate(&e, 0); cudaMemAllocNodeParams m = {}; m.poolProps.allocType = cudaMemAllocationTypePinned; m.poolProps.location.type = cudaMemLocationTypeDevice; m.bytesize = 1000; cudaGraphNode_t an, cn; SAY(cudaGraphAddMemAllocNode(&an, e, 0, 0, &m)); SAY(cudaGraphClone(&c, e)); cudaGraph_t o; cudaGraphCreate(&o, 0); SAY(cudaGraphAddChildGraphNode(&cn, o, 0, 0, e)); SAY(cudaGraphDestroyNode(an));
}
STORY(enabled) {
    int *p = dv(), host = 0; cudaGraph_t g = variant(4, p, &host); cudaGraphExec_t x; cudaGraphInstantiate(&x, g, 0); size_t n = 8; cudaGraphNode_t ns[8]; cudaGraphGetNodes(g, ns, &n); for (size_t i = 0; i < n; i++) { unsigned is = 7; SAY(cudaGraphNodeGetEnabled(x, ns[i], &is)); VALUE(is); SAY(cudaGraphNodeSetEnabled(x, ns[i], 0)); is = 7; SAY(cudaGraphNodeGetEnabled(x, ns[i], &is)); VALUE(is); SAY(cudaGraphNodeSetEnabled(x, ns[i], 5)); cudaGraphNodeGetEnabled(x, ns[i], &is); VALUE(is); SAY(cudaGraphNodeSetEnabled(x, ns[i], 0)); }
    SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); VALUE(host); cudaKernelNodeParams k = {}; int a = 4, b = 9; void *args[] = {&p, &a, &b}; k.func = (void *)mul; k.gridDim = 1; k.blockDim = 1; k.kernelParams = args; SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k)); SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); SAY(cudaGraphNodeSetEnabled(x, ns[0], 1)); SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); k.gridDim = 0; SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k)); k.gridDim = 1; k.blockDim = dim3(2000); SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k)); k.blockDim = 1; k.func = (void *)host_add; SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k)); k.func = 0; SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k)); k.func = (void *)mul; SAY(cudaGraphExecKernelNodeSetParams(x, ns[1], &k)); k.sharedMemBytes = 300000; SAY(cudaGraphExecKernelNodeSetParams(x, ns[0], &k));
}
STORY(edges_and_cycles) {
    int *p = dv(); cudaGraph_t g, h; cudaGraphCreate(&g, 0); cudaGraphCreate(&h, 0); cudaGraphNode_t a = kernel_node(g, p, 1, 1), b = kernel_node(g, p, 2, 0), c = kernel_node(g, p, 3, 0), z = kernel_node(h, p, 1, 1); cudaGraphNode_t from[] = {a, b, a, a}, to[] = {b, c, c, c};
    SAY(cudaGraphAddDependencies(g, from, to, nullptr, 3)); SAY(cudaGraphAddDependencies(g, &a, &b, nullptr, 1)); SAY(cudaGraphAddDependencies(g, &c, &a, nullptr, 1)); SAY(cudaGraphAddDependencies(g, &a, &a, nullptr, 1)); SAY(cudaGraphAddDependencies(g, &a, &z, nullptr, 1)); SAY(cudaGraphAddDependencies(g, from, to, nullptr, 0)); SAY(cudaGraphAddDependencies(g, 0, 0, nullptr, 1));
    size_t n = 99; SAY(cudaGraphGetEdges(g, 0, 0, nullptr, &n)); VALUE(n); cudaGraphExec_t x; SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphRemoveDependencies(g, &c, &a, nullptr, 1)); SAY(cudaGraphRemoveDependencies(g, &c, &b, nullptr, 1)); SAY(cudaGraphRemoveDependencies(g, &a, &c, nullptr, 1)); SAY(cudaGraphRemoveDependencies(g, &a, &c, nullptr, 1)); n = 2; cudaGraphNode_t r[4] = {}; SAY(cudaGraphGetRootNodes(g, r, &n)); VALUE(n); VALUE(r[0] == a); n = 1; cudaGraphNode_t f1, t1; SAY(cudaGraphGetEdges(g, &f1, &t1, nullptr, &n)); VALUE(n); VALUE(f1 == a); n = 4; SAY(cudaGraphNodeGetDependencies(c, r, nullptr, &n)); VALUE(n); n = 4; SAY(cudaGraphNodeGetDependentNodes(b, r, nullptr, &n)); VALUE(n); SAY(cudaGraphNodeGetDependencies(0, r, nullptr, &n)); SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); SAY(cudaGraphDestroyNode(b)); n = 9; SAY(cudaGraphGetEdges(g, 0, 0, nullptr, &n)); VALUE(n); SAY(cudaGraphDestroyNode(0)); cudaGraphNode_t q; SAY(cudaGraphAddEmptyNode(&q, g, &z, 1)); cudaGraphNode_t twice[] = {a, a}; SAY(cudaGraphAddEmptyNode(&q, g, twice, 2)); SAY(cudaGraphAddEmptyNode(&q, 0, 0, 0)); SAY(cudaGraphAddEmptyNode(0, g, 0, 0)); SAY(cudaGraphAddEmptyNode(&q, g, 0, 1));
}
STORY(memory_copies) {
    int *p = dv(), host[8] = {1, 2, 3, 4}; cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphNode_t n, m; static const unsigned sizes[] = {0, 1, 2, 3, 4, 8};
    for (unsigned s : sizes) for (size_t h : {(size_t)0, (size_t)1, (size_t)2}) { cudaMemsetParams q = {}; q.dst = p; q.elementSize = s; q.width = 4; q.height = h; q.pitch = h > 1 ? 16 : 0; q.value = 0x1ff; int e = cudaGraphAddMemsetNode(&m, g, 0, 0, &q); cudaGetLastError(); printf("  memset of %u, %zu rows: %d\n", s, h, e); }
    cudaMemsetParams q = {}; q.dst = p; q.elementSize = 4; q.width = 0; q.height = 1; SAY(cudaGraphAddMemsetNode(&m, g, 0, 0, &q)); q.width = 4; q.dst = 0; SAY(cudaGraphAddMemsetNode(&m, g, 0, 0, &q)); q.dst = host; SAY(cudaGraphAddMemsetNode(&m, g, 0, 0, &q)); q.dst = (char *)p + 1; SAY(cudaGraphAddMemsetNode(&m, g, 0, 0, &q)); q.dst = p; q.height = 3; q.pitch = 8; SAY(cudaGraphAddMemsetNode(&m, g, 0, 0, &q));
    for (int k = 0; k < 6; k++) { int e = cudaGraphAddMemcpyNode1D(&n, g, 0, 0, p, host, 16, (cudaMemcpyKind)k), f = cudaGraphAddMemcpyNode1D(&n, g, 0, 0, host, p, 16, (cudaMemcpyKind)k), d = cudaGraphAddMemcpyNode1D(&n, g, 0, 0, p + 8, p, 16, (cudaMemcpyKind)k); cudaGetLastError(); printf("  kind %d: %d %d %d\n", k, e, f, d); }
    SAY(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, p, p + 4, 0, cudaMemcpyDefault)); SAY(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, 0, p + 4, 4, cudaMemcpyDefault)); SAY(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, p, p + 4, (size_t)1 << 40, cudaMemcpyDefault));
    cudaGraph_t o; cudaGraphCreate(&o, 0); SAY(cudaGraphAddMemcpyNode1D(&n, o, 0, 0, p, host, 16, cudaMemcpyHostToDevice)); cudaGraphExec_t x; SAY(cudaGraphInstantiate(&x, o, 0)); host[0] = 40; SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p)); SAY(cudaGraphExecMemcpyNodeSetParams1D(x, n, p + 4, host, 16, cudaMemcpyHostToDevice)); SAY(cudaGraphExecMemcpyNodeSetParams1D(x, n, p + 4, p, 16, cudaMemcpyDeviceToDevice)); SAY(cudaGraphExecMemcpyNodeSetParams1D(x, n, p + 4, host, 8, cudaMemcpyHostToDevice)); SAY(cudaGraphLaunch(x, 0)); cudaDeviceSynchronize(); VALUE(read_int(p + 4)); SAY(cudaGraphExecMemcpyNodeSetParams1D(x, m, p + 4, host, 16, cudaMemcpyHostToDevice));
    cudaArray_t a = picture(); cudaMemcpy3DParms c = {}; c.srcArray = a; c.dstPtr = make_cudaPitchedPtr(p, 64, 64, 8); c.extent = make_cudaExtent(8, 8, 1); c.kind = cudaMemcpyDeviceToDevice; SAY(cudaGraphAddMemcpyNode(&n, o, 0, 0, &c)); c.extent.width = 9; SAY(cudaGraphAddMemcpyNode(&n, o, 0, 0, &c)); c.extent.width = 8; c.srcPtr = c.dstPtr; SAY(cudaGraphAddMemcpyNode(&n, o, 0, 0, &c));
}
STORY(flags_and_attributes) {
    int *p = dv(); cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphNode_t n = kernel_node(g, p, 1, 1); cudaGraphExec_t x; for (unsigned f = 0; f < 33; f++) { x = 0; int e = cudaGraphInstantiate(&x, g, f); cudaGetLastError(); unsigned long long got = 99; int q = x ? cudaGraphExecGetFlags(x, &got) : -1; printf("  flags %u: %d %d %llu\n", f, e, q, got); if (x) cudaGraphExecDestroy(x); }
    for (int a = 0; a < 18; a++) { cudaLaunchAttributeValue v; memset(&v, 0, sizeof v); int e = cudaGraphKernelNodeGetAttribute(n, (cudaLaunchAttributeID)a, &v); cudaGetLastError(); printf("  attribute %d: %d %d\n", a, e, a == 1 ? 0 : v.cooperative); v.cooperative = 1; e = cudaGraphKernelNodeSetAttribute(n, (cudaLaunchAttributeID)a, &v); cudaGetLastError(); memset(&v, 0, sizeof v); int f = cudaGraphKernelNodeGetAttribute(n, (cudaLaunchAttributeID)a, &v); cudaGetLastError(); printf("    set: %d, %d %d\n", e, f, a == 1 ? 0 : v.cooperative); }
    SAY(cudaGraphDebugDotPrint(g, "/no/such/folder/x.dot", 0)); SAY(cudaGraphDebugDotPrint(g, 0, 0)); SAY(cudaGraphUpload(0, 0)); SAY(cudaGraphLaunch(0, 0)); SAY(cudaGraphCreate(&g, 1)); SAY(cudaGraphCreate(0, 0)); SAY(cudaGraphDestroy(0)); SAY(cudaGraphExecDestroy(0));
}
__global__ void child_reads(cudaTextureObject_t t, float *o) { o[threadIdx.x] = tex2D<float>(t, threadIdx.x, 1); }
__global__ void parent_reads(cudaTextureObject_t t, cudaSurfaceObject_t s, float *o) { if (threadIdx.x == 0) surf2Dwrite(77.f, s, 8, 1); __syncthreads(); if (threadIdx.x == 0) { child_reads<<<1, 8>>>(t, o); child_reads<<<1, 8, 0, cudaStreamTailLaunch>>>(t, o + 8); } }
__global__ void fib(int n, int *o) { if (n < 2) { atomicAdd(o, n); return; } fib<<<1, 1>>>(n - 1, o); fib<<<1, 1, 0, cudaStreamFireAndForget>>>(n - 2, o); }
__global__ void diamond(int *o) { cudaStream_t a, b, c; cudaEvent_t e, f; cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking); cudaEventCreateWithFlags(&e, cudaEventDisableTiming); cudaEventCreateWithFlags(&f, cudaEventDisableTiming); mul<<<1, 1, 0, a>>>(o, 1, 5); cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); mul<<<1, 1, 0, b>>>(o, 3, 1); cudaEventRecord(f, b); cudaStreamWaitEvent(c, f, 0); mul<<<1, 1, 0, c>>>(o, 10, 7); mul<<<1, 1, 0, cudaStreamTailLaunch>>>(o, 2, 0); o[1] = cudaGetLastError(); }
__global__ void sync_in_block(int *o) { if (threadIdx.x % 32 == 0) mul<<<1, 1, 0, cudaStreamTailLaunch>>>(o, 2, threadIdx.x / 32); }
STORY(nested_mix) {
    cudaArray_t a = picture(cudaArraySurfaceLoadStore); cudaTextureObject_t t = texture_of(a); cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a; cudaSurfaceObject_t s; cudaCreateSurfaceObject(&s, &r); float *o = (float *)dv(), v[16]; parent_reads<<<1, 32>>>(t, s, o); SAY(cudaDeviceSynchronize()); cudaMemcpy(v, o, 64, cudaMemcpyDeviceToHost); for (float f : v) printf(" %g", f); puts("");
    int *p = dv(); fib<<<1, 1>>>(10, p); SAY(cudaDeviceSynchronize()); VALUE(read_int(p)); p = dv(); diamond<<<1, 1>>>(p); SAY(cudaDeviceSynchronize()); VALUE(read_int(p)); VALUE(read_int(p + 1)); p = dv(); sync_in_block<<<1, 128>>>(p); SAY(cudaDeviceSynchronize()); VALUE(read_int(p) >= 0);
}
/* Limits that are in use, updates of all pairs of nodes, a texture that ends before its kernel, what a kernel asks, a parent in a loop. */
static cudaGraph_t g; static cudaGraphExec_t x; static cudaGraphNode_t n;
__global__ void heap(int **p, int do_it) { if (do_it) *p = (int *)malloc(64); }
__global__ void leaf(int *p) { atomicAdd(p, 1); }
__global__ void parent0(int *p) { leaf<<<1, 1>>>(p); }
__global__ void says() { printf("  said\n"); }
static size_t limit(cudaLimit l) { size_t v = 0; cudaDeviceGetLimit(&v, l); return v; }
#define LIMIT(l, v) SAY(cudaDeviceSetLimit(l, v)); VALUE(limit(l))
STORY(heap_in_code) { int **p = (int **)device_ints(4); heap<<<1, 1>>>(p, 0); LIMIT(cudaLimitMallocHeapSize, 64 << 20); SAY(cudaDeviceSynchronize()); LIMIT(cudaLimitMallocHeapSize, 64 << 20); LIMIT(cudaLimitMallocHeapSize, 8 << 20); LIMIT(cudaLimitMallocHeapSize, 4 << 20); }
STORY(heap_used) { int **p = (int **)device_ints(4); heap<<<1, 1>>>(p, 1); SAY(cudaDeviceSynchronize()); LIMIT(cudaLimitMallocHeapSize, 64 << 20); LIMIT(cudaLimitMallocHeapSize, 8 << 20); LIMIT(cudaLimitMallocHeapSize, 8650752); LIMIT(cudaLimitMallocHeapSize, 4 << 20); LIMIT(cudaLimitMallocHeapSize, 8388607); }
STORY(heap_loaded) { cudaFuncAttributes a; SAY(cudaFuncGetAttributes(&a, heap)); LIMIT(cudaLimitMallocHeapSize, 64 << 20); int **p = (int **)device_ints(4); heap<<<1, 1>>>(p, 1); SAY(cudaDeviceSynchronize()); LIMIT(cudaLimitMallocHeapSize, 128 << 20); SAY(cudaDeviceReset()); LIMIT(cudaLimitMallocHeapSize, 128 << 20); }
STORY(fifo_used) { says<<<1, 1>>>(); LIMIT(cudaLimitPrintfFifoSize, 4 << 20); SAY(cudaDeviceSynchronize()); LIMIT(cudaLimitPrintfFifoSize, 4 << 20); LIMIT(cudaLimitPrintfFifoSize, 1 << 20); LIMIT(cudaLimitStackSize, 4096); LIMIT(cudaLimitStackSize, 512); }
enum { KERNEL, EMPTY, SET, HOST, CHILD1, CHILD2, CHILD_EMPTY, CHILD_CHILD, CHILD_SET, COND, N_KINDS };
static void CUDART_CB no_call(void *) {}
static cudaGraphNode_t some(cudaGraph_t in, int kind, int *p, std::vector<cudaGraphNode_t> after = {}) {
    cudaGraphNode_t node = nullptr; cudaGraph_t c;
    switch (kind) {
    case KERNEL: return add_node(in, p, 1, after);
    case EMPTY: cudaGraphAddEmptyNode(&node, in, after.data(), after.size()); return node;
    case SET: { cudaMemsetParams s = {}; s.dst = p; s.elementSize = 4; s.width = 1; s.height = 1; cudaGraphAddMemsetNode(&node, in, after.data(), after.size(), &s); return node; }
    case HOST: { cudaHostNodeParams h = {no_call, nullptr}; cudaGraphAddHostNode(&node, in, after.data(), after.size(), &h); return node; }
    case COND: { cudaGraphConditionalHandle h; cudaGraphConditionalHandleCreate(&h, in, 0, 1); auto q = condition(h, cudaGraphCondTypeIf, 1); cudaGraphAddNode(&node, in, after.data(), nullptr, after.size(), &q); add_node(q.conditional.phGraph_out[0], p, 1); return node; }
    }
    c = new_graph();
    if (kind == CHILD1) add_node(c, p, 1);
    if (kind == CHILD2) { auto f = add_node(c, p, 1); add_node(c, p, 2, {f}); }
    if (kind == CHILD_CHILD) some(c, CHILD1, p);
    if (kind == CHILD_SET) some(c, SET, p);
    int e = cudaGraphAddChildGraphNode(&node, in, after.data(), after.size(), c);
    if (e) printf("  (child %d: %d)\n", kind, e);
    cudaGraphDestroy(c);
    return node;
}
static const char *name_of(cudaGraph_t in, cudaGraphNode_t node) { static char text[16]; if (!node) return "none"; std::vector<cudaGraphNode_t> v(count_nodes(in)); size_t k = v.size(); cudaGraphGetNodes(in, v.data(), &k); for (size_t i = 0; i < k; i++) if (v[i] == node) { sprintf(text, "%d", (int)i); return text; } return "other"; }
static void updated(cudaGraph_t from, cudaGraph_t to, int a, int b) {
    cudaGraphExec_t e; int made = cudaGraphInstantiate(&e, from, 0);
    if (made) { printf("  %d %d: made %d\n", a, b, made); cudaGetLastError(); return; }
    cudaGraphExecUpdateResultInfo i = {}; int r = cudaGraphExecUpdate(e, to, &i); cudaGetLastError();
    printf("  %d to %d: %d result %d", a, b, r, i.result); printf(" node %s", name_of(to, i.errorNode)); printf(" from %s\n", name_of(to, i.errorFromNode)); cudaGraphExecDestroy(e);
}
STORY(update_middle) {
    int *p = device_ints(4);
    for (int a = 0; a < N_KINDS; a++) for (int b = 0; b < N_KINDS; b++) {
        cudaGraph_t gs[2]; for (int i = 0; i < 2; i++) { cudaGraph_t q = gs[i] = new_graph(); auto f = add_node(q, p, 1); auto s = some(q, i ? b : a, p, {f}); add_node(q, p, 1, {s}); }
        updated(gs[0], gs[1], a, b); cudaGraphDestroy(gs[0]); cudaGraphDestroy(gs[1]); }
}
__global__ void late(cudaTextureObject_t t, volatile int *go, int *o) { while (!*go); *o = tex1Dfetch<int>(t, 3); }
STORY(destroyed_early) { int *p = device_ints(8), *o = device_ints(1), *go; set<<<1, 8>>>(p, 8, 70); cudaHostAlloc(&go, 4, cudaHostAllocMapped); *go = 0; cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = p; r.res.linear.desc = cudaCreateChannelDesc<int>(); r.res.linear.sizeInBytes = 32; cudaTextureDesc d = {}; cudaTextureObject_t t; SAY(cudaCreateTextureObject(&t, &r, &d, nullptr)); SAY(cudaDeviceSynchronize()); late<<<1, 1>>>(t, go, o); SAY(cudaDestroyTextureObject(t)); *(volatile int *)go = 1; SAY(cudaDeviceSynchronize()); VALUE(at(o)); }
__global__ void ask(int *o) { int v = -1, k = 0; o[k++] = cudaGetDevice(&v); o[k++] = v; o[k++] = cudaGetDeviceCount(&v); o[k++] = v; o[k++] = cudaDeviceGetAttribute(&v, cudaDevAttrMaxThreadsPerBlock, 0); o[k++] = v; o[k++] = cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 3); o[k++] = cudaRuntimeGetVersion(&v); o[k++] = v; o[k++] = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0); size_t s = 0; o[k++] = cudaDeviceGetLimit(&s, cudaLimitStackSize); o[k++] = (int)s; o[k++] = cudaDeviceGetLimit(&s, cudaLimitDevRuntimePendingLaunchCount); o[k++] = (int)s; cudaSharedMemConfig c; cudaFuncCache f; o[k++] = cudaDeviceGetCacheConfig(&f); (void)c; o[k++] = cudaGetLastError(); const char *t = cudaGetErrorString(cudaErrorInvalidValue); o[k++] = t[0]; o[k++] = cudaGetErrorName(cudaErrorInvalidValue)[5]; }
STORY(asked_by_kernels) { int *o = device_ints(32); ask<<<1, 1>>>(o); SAY(cudaDeviceSynchronize()); for (int i = 0; i < 19; i++) VALUE(at(o + i)); }
STORY(parent_in_a_loop) { int *p = device_ints(4); g = new_graph(); cudaGraphConditionalHandle w; cudaGraphConditionalHandleCreate(&w, g, 1, cudaGraphCondAssignDefault); auto c = condition(w, cudaGraphCondTypeWhile, 1); cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &c); cudaGraph_t b = c.conditional.phGraph_out[0]; void *a[] = {&p}; auto k = kernel((void *)parent0, a); cudaGraphNode_t f = nullptr; SAY(cudaGraphAddKernelNode(&f, b, nullptr, 0, &k)); choose_node(b, w, p, 9, {f}); SAY(cudaGraphInstantiate(&x, g, 0)); if (x) { launch(x); VALUE(at(p)); } }
