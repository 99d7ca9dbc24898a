/* What graphs refuse: their topology, their nodes' parameters, updates, attributes, flags, copies
 * of them; and the limits of a context. */
#include "rules.h"

static CUgraph g;
static CUgraphNode n1, n2, n3, n4;
static CUgraphExec x;
static char host[4096];
static unsigned two = 2;
static void *params[] = {&memory, &two};
static size_t count;
static CUgraphNodeType type;

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

static CUDA_MEMSET_NODE_PARAMS fill(void)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = memory, .value = 1, .elementSize = 4, .width = 4, .height = 1, .pitch = 0};
}

static CUDA_MEMCPY3D copy(void)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = other_memory,
                           .WidthInBytes = 16,
                           .Height = 1,
                           .Depth = 1};
}

static CUDA_MEMCPY3D copy_out(void)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = host,
                           .WidthInBytes = 16,
                           .Height = 1,
                           .Depth = 1};
}

static CUDA_MEMCPY3D copy_in(void)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = host,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = memory,
                           .WidthInBytes = 16,
                           .Height = 1,
                           .Depth = 1};
}

static void CUDA_CB call(void *data)
{
    (void)data;
}

static void CUDA_CB call_too(void *data)
{
    (void)data;
}

static CUgraph new_graph(void)
{
    CUgraph made = NULL;
    NEEDED(cuGraphCreate(&made, 0));
    return made;
}

static CUgraphNode add_kernel(CUgraph to, CUgraphNode before, CUfunction f)
{
    CUDA_KERNEL_NODE_PARAMS k = kernel(f);
    CUgraphNode n = NULL;
    NEEDED(cuGraphAddKernelNode(&n, to, before ? &before : NULL, before != NULL, &k));
    return n;
}

static int edges_of(CUgraph of)
{
    size_t links = 0;
    return cuGraphGetEdges(of, NULL, NULL, NULL, &links) ? -1 : (int)links;
}

static int nodes_of(CUgraph of)
{
    size_t nodes = 0;
    return cuGraphGetNodes(of, NULL, &nodes) ? -1 : (int)nodes;
}

static void topology(void)
{
    CUgraph other = new_graph();
    CUgraphNode foreign = add_kernel(other, NULL, add);
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, NULL, mul), n3 = add_kernel(g, NULL, add);
    SAY(cuGraphCreate(NULL, 0));
    CUgraph bad;
    SAY(cuGraphCreate(&bad, 1));
    SAY(cuGraphAddDependencies(g, &n1, &n2, NULL, 1));
    SAY(cuGraphAddDependencies(g, &n1, &n2, NULL, 1)); /* twice */
    SAY(cuGraphAddDependencies(g, &n1, &n1, NULL, 1)); /* on itself */
    VALUE(edges_of(g));
    SAY(cuGraphAddDependencies(g, &n1, &foreign, NULL, 1));
    SAY(cuGraphAddDependencies(g, &foreign, &n1, NULL, 1));
    SAY(cuGraphAddDependencies(other, &n1, &n2, NULL, 1));
    SAY(cuGraphAddDependencies(g, NULL, NULL, NULL, 0));
    SAY(cuGraphAddDependencies(g, &n1, &n2, NULL, 0));
    SAY(cuGraphAddDependencies(g, NULL, NULL, NULL, 1));
    SAY(cuGraphAddDependencies(g, (CUgraphNode[]){NULL}, &n2, NULL, 1));
    SAY(cuGraphAddDependencies(NULL, &n1, &n2, NULL, 1));
    SAY(cuGraphAddDependencies(g, (CUgraphNode[]){n2, n2}, (CUgraphNode[]){n3, n3}, NULL, 2)); /* twice in one call */
    VALUE(edges_of(g));
    SAY(cuGraphAddDependencies(g, (CUgraphNode[]){n2, n1}, (CUgraphNode[]){n3, n2}, NULL, 2)); /* the second is there */
    VALUE(edges_of(g));
    SAY(cuGraphAddDependencies(g, (CUgraphNode[]){n2, n3}, (CUgraphNode[]){n3, n3}, NULL, 2));
    VALUE(edges_of(g));
    SAY(cuGraphAddDependencies(g, &n2, &n3, NULL, 1));
    SAY(cuGraphAddDependencies(g, &n3, &n1, NULL, 1)); /* a circle */
    VALUE(edges_of(g));
    SAY(cuGraphInstantiate(&x, g, 0));
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    SAY(cuGraphInstantiateWithParams(&x, g, &p));
    VALUE(p.result_out);
    VALUE(p.hErrNode_out != NULL);
    SAY(cuGraphClone(&bad, g));
    SAY(cuGraphRemoveDependencies(g, &n3, &n1, NULL, 1));
    SAY(cuGraphRemoveDependencies(g, &n3, &n1, NULL, 1));
    SAY(cuGraphRemoveDependencies(g, &n1, &foreign, NULL, 1));
    SAY(cuGraphRemoveDependencies(g, NULL, NULL, NULL, 0));
    SAY(cuGraphRemoveDependencies(g, NULL, NULL, NULL, 1));
    SAY(cuGraphRemoveDependencies(g, (CUgraphNode[]){n1, n1}, (CUgraphNode[]){n2, n2}, NULL, 2));
    VALUE(edges_of(g));
    SAY(cuGraphRemoveDependencies(g, (CUgraphNode[]){n2, n1}, (CUgraphNode[]){n3, n3}, NULL,
                                  2)); /* the second is not there */
    VALUE(edges_of(g));
    CUgraphEdgeData data = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, .from_port = 1};
    SAY(cuGraphAddDependencies(g, &n1, &n3, &data, 1));
    data = (CUgraphEdgeData){.type = 9};
    SAY(cuGraphAddDependencies(g, &n3, &n1, &data, 1));
    data = (CUgraphEdgeData){.to_port = 3};
    SAY(cuGraphAddDependencies(g, &n3, &n1, &data, 1));
    VALUE(edges_of(g));
    SAY(cuGraphDestroyNode(NULL));
    SAY(cuGraphDestroyNode(n2));
    VALUE(edges_of(g));
    VALUE(nodes_of(g));
    SAY(cuGraphDestroy(NULL));
}

static void adding_nodes(void)
{
    CUgraph other = new_graph();
    CUgraphNode foreign = add_kernel(other, NULL, add), nodes[3];
    g = new_graph();
    n1 = add_kernel(g, NULL, add);
    SAY(cuGraphAddEmptyNode(&n2, g, &n1, 1));
    SAY(cuGraphAddEmptyNode(NULL, g, NULL, 0));
    SAY(cuGraphAddEmptyNode(&n3, NULL, NULL, 0));
    SAY(cuGraphAddEmptyNode(&n3, g, NULL, 1));
    SAY(cuGraphAddEmptyNode(&n3, g, &n1, 0));
    SAY(cuGraphAddEmptyNode(&n3, g, &foreign, 1));
    nodes[0] = nodes[1] = n1;
    SAY(cuGraphAddEmptyNode(&n3, g, nodes, 2)); /* the same twice */
    nodes[1] = NULL;
    SAY(cuGraphAddEmptyNode(&n3, g, nodes, 2));
    nodes[1] = foreign;
    SAY(cuGraphAddEmptyNode(&n3, g, nodes, 2));
    VALUE(nodes_of(g));
    VALUE(edges_of(g));
}

static void kernels(void)
{
    CUDA_KERNEL_NODE_PARAMS k = kernel(add);
    CUfunction bounded, many;
    NEEDED(cuModuleGetFunction(&bounded, module, "bounded"));
    NEEDED(cuModuleGetFunction(&many, module, "many"));
    CUdevice d;
    g = new_graph();
    (void)d;
    SAY(cuGraphAddKernelNode(&n1, g, NULL, 0, NULL));
    SAY(cuGraphAddKernelNode(&n1, g, NULL, 0, &k));
#define TRY_KERNEL(change)                                                                                             \
    do {                                                                                                               \
        k = kernel(add);                                                                                               \
        change;                                                                                                        \
        printf(" %s\n", #change);                                                                                      \
        SAY(cuGraphAddKernelNode(&n2, g, NULL, 0, &k));                                                                \
        SAY(cuGraphKernelNodeSetParams(n1, &k));                                                                       \
        SAY(cuGraphExecKernelNodeSetParams(x, n1, &k));                                                                \
    } while (0)
    SAY(cuGraphInstantiate(&x, g, 0));
    TRY_KERNEL(k.gridDimX = 2);
    TRY_KERNEL(k.gridDimX = 0);
    TRY_KERNEL(k.gridDimY = 0);
    TRY_KERNEL(k.gridDimX = 0x7fffffff);
    TRY_KERNEL(k.gridDimX = 0x80000000u);
    TRY_KERNEL(k.gridDimY = 65535);
    TRY_KERNEL(k.gridDimY = 65536);
    TRY_KERNEL(k.gridDimZ = 65536);
    TRY_KERNEL(k.blockDimX = 0);
    TRY_KERNEL(k.blockDimX = 1024);
    TRY_KERNEL(k.blockDimX = 1025);
    TRY_KERNEL(k.blockDimX = 2000);
    TRY_KERNEL((k.blockDimX = 32, k.blockDimY = 33));
    TRY_KERNEL(k.blockDimZ = 65);
    TRY_KERNEL(k.sharedMemBytes = 48 << 10);
    TRY_KERNEL(k.sharedMemBytes = (48 << 10) + 1);
    TRY_KERNEL(k.sharedMemBytes = 1 << 20);
    TRY_KERNEL(k.kernelParams = NULL);
    TRY_KERNEL(k.func = NULL);
    TRY_KERNEL(k.func = mul);
    TRY_KERNEL((k.func = bounded, k.blockDimX = 64));
    TRY_KERNEL((k.func = bounded, k.blockDimX = 65));
    TRY_KERNEL((k.func = bounded, k.blockDimX = 128));
    size_t bytes = 12;
    char packed[16] = {0};
    memcpy(packed, &memory, 8);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    TRY_KERNEL(k.extra = extra);
    TRY_KERNEL((k.kernelParams = NULL, k.extra = extra));
    bytes = 11;
    TRY_KERNEL((k.kernelParams = NULL, k.extra = extra));
    bytes = 16;
    TRY_KERNEL((k.kernelParams = NULL, k.extra = extra));
    bytes = 100;
    TRY_KERNEL((k.kernelParams = NULL, k.extra = extra));
    TRY_KERNEL(k.ctx = context);
    CUgraphNode empty;
    SAY(cuGraphAddEmptyNode(&empty, g, NULL, 0));
    k = kernel(add);
    SAY(cuGraphKernelNodeSetParams(empty, &k));
    SAY(cuGraphKernelNodeSetParams(NULL, &k));
    SAY(cuGraphKernelNodeSetParams(n1, NULL));
    SAY(cuGraphExecKernelNodeSetParams(x, empty, &k)); /* not of the exec */
    SAY(cuGraphExecKernelNodeSetParams(x, NULL, &k));
    SAY(cuGraphExecKernelNodeSetParams(NULL, n1, &k));
    SAY(cuGraphExecKernelNodeSetParams(x, n1, NULL));
    CUgraph clone;
    CUgraphNode in_clone;
    SAY(cuGraphClone(&clone, g));
    SAY(cuGraphNodeFindInClone(&in_clone, n1, clone));
    SAY(cuGraphExecKernelNodeSetParams(x, in_clone, &k));
    CUgraph other = new_graph();
    SAY(cuGraphExecKernelNodeSetParams(x, add_kernel(other, NULL, add), &k));
    CUDA_KERNEL_NODE_PARAMS got;
    memset(&got, 0, sizeof got);
    SAY(cuGraphKernelNodeGetParams(n1, &got));
    VALUE(got.gridDimX);
    VALUE(got.func == add);
    VALUE(got.kernelParams != NULL);
    VALUE(got.extra != NULL);
    VALUE(got.ctx == context);
    SAY(cuGraphKernelNodeGetParams(empty, &got));
    SAY(cuGraphKernelNodeGetParams(n1, NULL));
    SAY(cuGraphKernelNodeGetParams(NULL, &got));
}

static void copies(void)
{
    CUDA_MEMCPY3D m = copy();
    g = new_graph();
    SAY(cuGraphAddMemcpyNode(&n1, g, NULL, 0, &m, context));
    m = copy_out();
    SAY(cuGraphAddMemcpyNode(&n2, g, NULL, 0, &m, context));
    m = copy();
    m.WidthInBytes = 32, m.Height = 4, m.srcPitch = m.dstPitch = 64;
    SAY(cuGraphAddMemcpyNode(&n3, g, NULL, 0, &m, context));
    SAY(cuGraphAddMemcpyNode(&n4, g, NULL, 0, NULL, context));
    SAY(cuGraphAddMemcpyNode(&n4, g, NULL, 0, &m, NULL));
    SAY(cuGraphInstantiate(&x, g, 0));
#define TRY_COPY(start, change)                                                                                        \
    do {                                                                                                               \
        m = start();                                                                                                   \
        change;                                                                                                        \
        printf(" %s, %s\n", #start, #change);                                                                          \
        SAY(cuGraphAddMemcpyNode(&n4, g, NULL, 0, &m, context));                                                       \
        SAY(cuGraphExecMemcpyNodeSetParams(x, n1, &m, context));                                                       \
        SAY(cuGraphExecMemcpyNodeSetParams(x, n2, &m, context));                                                       \
        SAY(cuGraphExecMemcpyNodeSetParams(x, n3, &m, context));                                                       \
    } while (0)
    TRY_COPY(copy, m.WidthInBytes = 16);
    TRY_COPY(copy, m.WidthInBytes = 32);
    TRY_COPY(copy, m.WidthInBytes = 0);
    TRY_COPY(copy, m.Height = 0);
    TRY_COPY(copy, (m.Height = 4, m.srcPitch = m.dstPitch = 64));
    TRY_COPY(copy, (m.Height = 4, m.srcPitch = m.dstPitch = 8));
    TRY_COPY(copy, m.WidthInBytes = 2 << 20);
    TRY_COPY(copy, m.srcDevice = 0);
    TRY_COPY(copy, m.srcDevice = 0x10);
    TRY_COPY(copy, m.srcMemoryType = CU_MEMORYTYPE_UNIFIED);
    TRY_COPY(copy, (m.srcMemoryType = CU_MEMORYTYPE_HOST, m.srcHost = NULL));
    TRY_COPY(copy, m.srcMemoryType = (CUmemorytype)9);
    TRY_COPY(copy, m.srcXInBytes = 8);
    TRY_COPY(copy, m.srcLOD = 1);
    TRY_COPY(copy_out, m.WidthInBytes = 16);
    TRY_COPY(copy_in, m.WidthInBytes = 16);
    TRY_COPY(copy_in, (m.dstMemoryType = CU_MEMORYTYPE_HOST, m.dstHost = host + 64));
    m = copy();
    SAY(cuGraphExecMemcpyNodeSetParams(x, n1, &m, NULL));
    SAY(cuGraphExecMemcpyNodeSetParams(x, n1, NULL, context));
    SAY(cuGraphExecMemcpyNodeSetParams(x, n4, &m, context));
    SAY(cuGraphExecMemcpyNodeSetParams(NULL, n1, &m, context));
    SAY(cuGraphMemcpyNodeGetParams(n1, &m));
    VALUE(m.WidthInBytes);
    SAY(cuGraphMemcpyNodeSetParams(n1, &m));
    m.WidthInBytes = 0;
    SAY(cuGraphMemcpyNodeSetParams(n1, &m));
    m = copy_out();
    SAY(cuGraphMemcpyNodeSetParams(n1, &m));
    SAY(cuGraphMemcpyNodeSetParams(n1, NULL));
    SAY(cuGraphMemcpyNodeGetParams(n1, NULL));
}

static void fills(void)
{
    CUDA_MEMSET_NODE_PARAMS m = fill();
    g = new_graph();
    SAY(cuGraphAddMemsetNode(&n1, g, NULL, 0, &m, context));
    m.height = 4, m.pitch = 64;
    SAY(cuGraphAddMemsetNode(&n2, g, NULL, 0, &m, context));
    SAY(cuGraphAddMemsetNode(&n3, g, NULL, 0, NULL, context));
    SAY(cuGraphAddMemsetNode(&n3, g, NULL, 0, &m, NULL));
    SAY(cuGraphInstantiate(&x, g, 0));
    CUdeviceptr managed;
    NEEDED(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    void *pinned;
    NEEDED(cuMemAllocHost(&pinned, 4096));
#define TRY_FILL(change)                                                                                               \
    do {                                                                                                               \
        m = fill();                                                                                                    \
        change;                                                                                                        \
        printf(" %s\n", #change);                                                                                      \
        SAY(cuGraphAddMemsetNode(&n3, g, NULL, 0, &m, context));                                                       \
        SAY(cuGraphExecMemsetNodeSetParams(x, n1, &m, context));                                                       \
        SAY(cuGraphExecMemsetNodeSetParams(x, n2, &m, context));                                                       \
    } while (0)
    TRY_FILL(m.value = 9);
    TRY_FILL(m.width = 8);
    TRY_FILL(m.width = 0);
    TRY_FILL(m.height = 0);
    TRY_FILL((m.height = 4, m.pitch = 64));
    TRY_FILL((m.height = 4, m.pitch = 8));
    TRY_FILL((m.height = 4, m.pitch = 0));
    TRY_FILL((m.height = 4, m.pitch = 63));
    TRY_FILL((m.height = 8, m.pitch = 64));
    TRY_FILL(m.elementSize = 1);
    TRY_FILL(m.elementSize = 2);
    TRY_FILL(m.elementSize = 3);
    TRY_FILL(m.elementSize = 0);
    TRY_FILL(m.elementSize = 8);
    TRY_FILL((m.elementSize = 1, m.value = 0x1ff));
    TRY_FILL((m.elementSize = 2, m.value = 0x1ffff));
    TRY_FILL(m.dst = 0);
    TRY_FILL(m.dst = memory + 1);
    TRY_FILL(m.dst = memory + 64);
    TRY_FILL(m.dst = managed);
    TRY_FILL(m.dst = (CUdeviceptr)pinned);
    TRY_FILL(m.dst = (CUdeviceptr)host);
    TRY_FILL(m.width = 1 << 20);
    m = fill();
    SAY(cuGraphExecMemsetNodeSetParams(x, n1, &m, NULL));
    SAY(cuGraphExecMemsetNodeSetParams(x, n1, NULL, context));
    SAY(cuGraphExecMemsetNodeSetParams(x, NULL, &m, context));
    SAY(cuGraphMemsetNodeGetParams(n1, &m));
    VALUE(m.width);
    VALUE(m.pitch);
    SAY(cuGraphMemsetNodeSetParams(n1, &m));
    m.width = 0;
    SAY(cuGraphMemsetNodeSetParams(n1, &m));
    m = fill(), m.height = 4, m.pitch = 64;
    SAY(cuGraphMemsetNodeSetParams(n1, &m));
    SAY(cuGraphMemsetNodeSetParams(n1, NULL));
}

static void calls_and_events(void)
{
    CUDA_HOST_NODE_PARAMS h = {call, NULL};
    CUevent e, timed, destroyed;
    NEEDED(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&timed, 0));
    (void)destroyed;
    g = new_graph();
    SAY(cuGraphAddHostNode(&n1, g, NULL, 0, &h));
    h.fn = NULL;
    SAY(cuGraphAddHostNode(&n4, g, NULL, 0, &h));
    SAY(cuGraphAddHostNode(&n4, g, NULL, 0, NULL));
    SAY(cuGraphAddEventRecordNode(&n2, g, NULL, 0, e));
    SAY(cuGraphAddEventRecordNode(&n4, g, NULL, 0, timed));
    SAY(cuGraphAddEventRecordNode(&n4, g, NULL, 0, NULL));
    SAY(cuGraphAddEventWaitNode(&n3, g, NULL, 0, e));
    SAY(cuGraphAddEventWaitNode(&n4, g, NULL, 0, NULL));
    SAY(cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphExecHostNodeSetParams(x, n1, &h));
    SAY(cuGraphExecHostNodeSetParams(x, n1, NULL));
    h.fn = call_too;
    SAY(cuGraphExecHostNodeSetParams(x, n1, &h));
    SAY(cuGraphExecHostNodeSetParams(x, n2, &h));
    SAY(cuGraphExecHostNodeSetParams(x, NULL, &h));
    SAY(cuEventQuery(e));
    SAY(cuGraphLaunch(x, 0));
    SAY(cuCtxSynchronize());
    SAY(cuEventQuery(e));
    CUDA_HOST_NODE_PARAMS got;
    CUevent of;
    SAY(cuGraphHostNodeGetParams(n1, &got));
    SAY(cuGraphHostNodeSetParams(n1, &h));
    SAY(cuGraphHostNodeSetParams(n1, &(CUDA_HOST_NODE_PARAMS){NULL, NULL}));
    SAY(cuGraphHostNodeSetParams(n2, &h));
    SAY(cuGraphEventRecordNodeGetEvent(n2, &of));
    VALUE(of == e);
    SAY(cuGraphEventRecordNodeSetEvent(n2, timed));
    SAY(cuGraphEventRecordNodeSetEvent(n2, NULL));
    SAY(cuGraphEventRecordNodeSetEvent(n3, timed));
    SAY(cuGraphEventWaitNodeGetEvent(n3, &of));
    SAY(cuGraphEventWaitNodeGetEvent(n2, &of));
    SAY(cuGraphEventWaitNodeSetEvent(n3, timed));
    SAY(cuGraphExecEventRecordNodeSetEvent(x, n2, timed));
    SAY(cuGraphExecEventRecordNodeSetEvent(x, n2, NULL));
    SAY(cuGraphExecEventRecordNodeSetEvent(x, n3, timed));
    SAY(cuGraphExecEventRecordNodeSetEvent(x, NULL, timed));
    SAY(cuGraphExecEventWaitNodeSetEvent(x, n3, timed));
    SAY(cuGraphExecEventWaitNodeSetEvent(x, n2, timed));
}

static void instantiation(void)
{
    g = new_graph();
    SAY(cuGraphInstantiate(&x, g, 0)); /* empty */
    SAY(cuGraphLaunch(x, 0));
    SAY(cuGraphInstantiate(NULL, g, 0));
    SAY(cuGraphInstantiate(&x, NULL, 0));
    SAY(cuGraphLaunch(NULL, 0));
    SAY(cuGraphUpload(NULL, 0));
    SAY(cuGraphUpload(x, 0));
    SAY(cuGraphExecDestroy(NULL));
    add_kernel(g, NULL, add);
    for (int bit = 0; bit < 24; bit++) {
        CUresult r = cuGraphInstantiate(&x, g, 1ull << bit);
        cuuint64_t flags = 99;
        int r2 = r ? 0 : (int)cuGraphExecGetFlags(x, &flags);
        printf("  flag 1 << %d: %d, then %d %d\n", bit, (int)r, r2, (int)flags);
        if (!r)
            cuGraphExecDestroy(x);
    }
    static const int several[] = {3, 5, 6, 7, 9, 12, 13, 15};
    for (int i = 0; i < 8; i++) {
        CUresult r = cuGraphInstantiate(&x, g, (unsigned long long)several[i]);
        printf("  flags %d: %d\n", several[i], (int)r);
        CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = (cuuint64_t)several[i]};
        r = cuGraphInstantiateWithParams(&x, g, &p);
        printf("  with params: %d, result %d\n", (int)r, (int)p.result_out);
    }
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = 1 << 20};
    SAY(cuGraphInstantiateWithParams(&x, g, &p));
    VALUE(p.result_out);
    SAY(cuGraphInstantiateWithParams(&x, g, NULL));
    SAY(cuGraphInstantiateWithParams(NULL, g, &p));
    SAY(cuGraphExecGetFlags(x, NULL));
    SAY(cuGraphExecGetFlags(NULL, &p.flags));
    p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    SAY(cuGraphInstantiateWithParams(&x, g, &p));
    VALUE(p.result_out);
}

/* Changes of a graph, and what an update of one that was instantiated before says of them. The
 * graph: kernel, copy, fill, call, empty, in a row, and a kernel beside. */
enum change {
    NO_CHANGE,
    OTHER_FUNCTION,
    OTHER_GRID,
    OTHER_SHARED,
    OTHER_ARGUMENT,
    COOPERATIVE,
    CLUSTER,
    PRIORITY,
    COPY_LONGER,
    COPY_ELSEWHERE,
    COPY_TO_HOST,
    COPY_2D,
    FILL_VALUE,
    FILL_WIDTH,
    FILL_ELSEWHERE,
    FILL_2D,
    FILL_MANAGED,
    FILL_ELEMENT,
    OTHER_CALL,
    CALL_DATA,
    ONE_MORE,
    ONE_LESS,
    EDGE_MORE,
    EDGE_LESS,
    EDGE_ELSEWHERE,
    KERNEL_EMPTY,
    KERNEL_FILL,
    EMPTY_CALL,
    OTHER_ORDER,
    CHANGES
};

static CUdeviceptr updates_managed;

static CUgraph changed(enum change c)
{
    static int data;
    CUgraph made = new_graph();
    CUgraphNode at[8] = {NULL};
    CUDA_KERNEL_NODE_PARAMS k = kernel(c == OTHER_FUNCTION ? mul : add);
    CUDA_MEMCPY3D m = c == COPY_TO_HOST ? copy_out() : copy();
    CUDA_MEMSET_NODE_PARAMS f = fill();
    CUDA_HOST_NODE_PARAMS h = {c == OTHER_CALL ? call_too : call, c == CALL_DATA ? &data : NULL};
    static unsigned three = 3;
    void *other_params[] = {&other_memory, &three};
    if (c == OTHER_GRID)
        k.gridDimX = 2, k.blockDimX = 32;
    if (c == OTHER_SHARED)
        k.sharedMemBytes = 1024;
    if (c == OTHER_ARGUMENT)
        k.kernelParams = other_params;
    if (c == CLUSTER)
        k.gridDimX = 2;
    if (c == COPY_LONGER)
        m.WidthInBytes = 64;
    if (c == COPY_ELSEWHERE)
        m.dstDevice += 64;
    if (c == COPY_2D)
        m.Height = 2, m.srcPitch = m.dstPitch = 64;
    if (c == FILL_VALUE)
        f.value = 9;
    if (c == FILL_WIDTH)
        f.width = 9;
    if (c == FILL_ELSEWHERE)
        f.dst = other_memory;
    if (c == FILL_2D)
        f.height = 2, f.pitch = 64;
    if (c == FILL_MANAGED)
        f.dst = updates_managed;
    if (c == FILL_ELEMENT)
        f.elementSize = 1;
    if (c == OTHER_ORDER) /* the one beside is made first */
        NEEDED(cuGraphAddKernelNode(&at[5], made, NULL, 0, &k));
    if (c == KERNEL_EMPTY)
        NEEDED(cuGraphAddEmptyNode(&at[0], made, NULL, 0));
    else if (c == KERNEL_FILL)
        NEEDED(cuGraphAddMemsetNode(&at[0], made, NULL, 0, &f, context));
    else
        NEEDED(cuGraphAddKernelNode(&at[0], made, NULL, 0, &k));
    NEEDED(cuGraphAddMemcpyNode(&at[1], made, &at[0], 1, &m, context));
    NEEDED(cuGraphAddMemsetNode(&at[2], made, &at[c == EDGE_ELSEWHERE ? 0 : 1], 1, &f, context));
    NEEDED(cuGraphAddHostNode(&at[3], made, c == EDGE_LESS ? NULL : &at[2], c != EDGE_LESS, &h));
    if (c == EMPTY_CALL)
        NEEDED(cuGraphAddHostNode(&at[4], made, &at[3], 1, &h));
    else if (c != ONE_LESS)
        NEEDED(cuGraphAddEmptyNode(&at[4], made, &at[3], 1));
    k = kernel(add);
    if (c != OTHER_ORDER)
        NEEDED(cuGraphAddKernelNode(&at[5], made, NULL, 0, &k));
    if (c == ONE_MORE)
        NEEDED(cuGraphAddEmptyNode(&at[6], made, NULL, 0));
    if (c == EDGE_MORE)
        NEEDED(cuGraphAddDependencies(made, &at[5], &at[3], NULL, 1));
    CUlaunchAttributeValue v = {0};
    v.cooperative = 1;
    if (c == COOPERATIVE)
        NEEDED(cuGraphKernelNodeSetAttribute(at[0], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    v = (CUlaunchAttributeValue){0};
    v.clusterDim.x = 2, v.clusterDim.y = v.clusterDim.z = 1;
    if (c == CLUSTER)
        NEEDED(cuGraphKernelNodeSetAttribute(at[0], CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v));
    v = (CUlaunchAttributeValue){0};
    v.priority = -2;
    if (c == PRIORITY)
        NEEDED(cuGraphKernelNodeSetAttribute(at[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    return made;
}

static int index_in(CUgraph of, CUgraphNode n)
{
    CUgraphNode at[16];
    size_t nodes = 16;
    if (!n || cuGraphGetNodes(of, at, &nodes))
        return -1;
    for (size_t i = 0; i < nodes; i++)
        if (at[i] == n)
            return (int)i;
    return -2;
}

static void updates(void)
{
    NEEDED(cuMemAllocManaged(&updates_managed, 4096, CU_MEM_ATTACH_GLOBAL));
    for (int c = 0; c < CHANGES; c++)
        for (int back = 0; back < 2; back++) {
            CUgraph first = changed(back ? (enum change)c : NO_CHANGE),
                    then = changed(back ? NO_CHANGE : (enum change)c);
            NEEDED(cuGraphInstantiate(&x, first, 0));
            CUgraphExecUpdateResultInfo info = {0};
            CUresult r = cuGraphExecUpdate(x, then, &info), l = cuGraphLaunch(x, 0);
            CUresult y = cuCtxSynchronize();
            printf("  %s %d: %d, result %d, node %d, from %d, launch %d %d\n", back ? "from" : "to", c, (int)r,
                   (int)info.result, index_in(then, info.errorNode), index_in(then, info.errorFromNode), (int)l,
                   (int)y);
        }
    CUgraphExecUpdateResultInfo info;
    SAY(cuGraphExecUpdate(NULL, g, &info));
    SAY(cuGraphExecUpdate(x, NULL, &info));
    SAY(cuGraphExecUpdate(x, changed(NO_CHANGE), NULL));
    /* nodes that the exec does not have any more, or has not yet */
    CUgraph first = new_graph(), then = new_graph();
    n1 = add_kernel(first, NULL, add), n2 = add_kernel(then, NULL, mul);
    SAY(cuGraphInstantiate(&x, first, 0));
    SAY(cuGraphExecUpdate(x, then, &info));
    CUDA_KERNEL_NODE_PARAMS k = kernel(add);
    SAY(cuGraphExecKernelNodeSetParams(x, n1, &k));
    SAY(cuGraphExecKernelNodeSetParams(x, n2, &k));
    SAY(cuGraphDestroy(first));
    SAY(cuGraphExecUpdate(x, then, &info));
    SAY(cuGraphExecKernelNodeSetParams(x, n2, &k));
    CUgraph more = new_graph();
    n3 = add_kernel(more, NULL, add), n4 = add_kernel(more, NULL, add);
    SAY(cuGraphExecUpdate(x, more, &info));
    SAY(cuGraphExecUpdate(x, new_graph(), &info));
    VALUE(info.result);
    SAY(cuGraphInstantiate(&x, more, 0));
    SAY(cuGraphAddDependencies(more, &n4, &n3, NULL, 1)); /* after it was instantiated */
    SAY(cuGraphExecUpdate(x, more, &info));
    VALUE(info.result);
    SAY(cuGraphDestroyNode(n4));
    SAY(cuGraphExecUpdate(x, more, &info));
    VALUE(info.result);
    SAY(cuGraphExecKernelNodeSetParams(x, n3, &k));
}

static void enabling(void)
{
    CUDA_HOST_NODE_PARAMS h = {call, NULL};
    CUDA_MEMCPY3D m = copy();
    CUDA_MEMSET_NODE_PARAMS f = fill();
    CUgraphNode at[8];
    CUevent e;
    unsigned on = 9;
    NEEDED(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    g = new_graph();
    at[0] = add_kernel(g, NULL, add);
    NEEDED(cuGraphAddMemcpyNode(&at[1], g, NULL, 0, &m, context));
    NEEDED(cuGraphAddMemsetNode(&at[2], g, NULL, 0, &f, context));
    NEEDED(cuGraphAddHostNode(&at[3], g, NULL, 0, &h));
    NEEDED(cuGraphAddEmptyNode(&at[4], g, NULL, 0));
    NEEDED(cuGraphAddEventRecordNode(&at[5], g, NULL, 0, e));
    NEEDED(cuGraphAddEventWaitNode(&at[6], g, NULL, 0, e));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 7; i++) {
        int set = cuGraphNodeSetEnabled(x, at[i], 0), get = cuGraphNodeGetEnabled(x, at[i], &on);
        printf("  node %d: %d %d %d\n", i, set, get, (int)on);
    }
    SAY(cuGraphNodeSetEnabled(x, at[0], 5));
    SAY(cuGraphNodeGetEnabled(x, at[0], &on));
    VALUE(on);
    SAY(cuGraphNodeSetEnabled(x, NULL, 1));
    SAY(cuGraphNodeSetEnabled(NULL, at[0], 1));
    SAY(cuGraphNodeGetEnabled(x, at[0], NULL));
    at[7] = add_kernel(g, NULL, add);
    SAY(cuGraphNodeSetEnabled(x, at[7], 1));
    SAY(cuGraphNodeSetEnabled(x, at[0], 0));
    CUDA_KERNEL_NODE_PARAMS k = kernel(mul);
    SAY(cuGraphExecKernelNodeSetParams(x, at[0], &k));
    SAY(cuGraphNodeGetEnabled(x, at[0], &on));
    VALUE(on);
    SAY(cuGraphDestroyNode(at[7]));
    CUgraphExecUpdateResultInfo info;
    SAY(cuGraphExecUpdate(x, g, &info));
    SAY(cuGraphNodeGetEnabled(x, at[0], &on));
    VALUE(on);
    SAY(cuGraphLaunch(x, 0));
    SAY(cuCtxSynchronize());
}

static void attributes(void)
{
    CUlaunchAttributeValue v;
    CUgraphNode empty;
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, NULL, add);
    NEEDED(cuGraphAddEmptyNode(&empty, g, NULL, 0));
    for (int id = 0; id < 20; id++) {
        memset(&v, 0, sizeof v);
        int get = cuGraphKernelNodeGetAttribute(n1, (CUlaunchAttributeID)id, &v), r[2];
        printf("  get %d: %d, %d %d %d\n", id, get, ((int *)&v)[0], ((int *)&v)[1], ((int *)&v)[2]);
        for (int one = 0; one < 2; one++) {
            memset(&v, 0, sizeof v);
            ((int *)&v)[0] = one;
            if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || id == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)
                ((int *)&v)[1] = ((int *)&v)[2] = one;
            int skip = id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                       id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT || id == 13;
            r[one] = skip ? -1 : (int)cuGraphKernelNodeSetAttribute(n2, (CUlaunchAttributeID)id, &v);
        }
        printf("  set %d: %d %d\n", id, r[0], r[1]);
    }
#define SET(attribute, change)                                                                                         \
    do {                                                                                                               \
        memset(&v, 0, sizeof v);                                                                                       \
        change;                                                                                                        \
        printf(" %s, %s\n", #attribute, #change);                                                                      \
        SAY(cuGraphKernelNodeSetAttribute(n1, CU_LAUNCH_ATTRIBUTE_##attribute, &v));                                   \
        memset(&v, 0, sizeof v);                                                                                       \
        SAY(cuGraphKernelNodeGetAttribute(n1, CU_LAUNCH_ATTRIBUTE_##attribute, &v));                                   \
        if (CU_LAUNCH_ATTRIBUTE_##attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)                               \
            printf("  a window of %d\n", (int)v.accessPolicyWindow.num_bytes);                                         \
        else                                                                                                           \
            printf("  %d %d %d\n", ((int *)&v)[0], ((int *)&v)[1], ((int *)&v)[2]);                                    \
    } while (0)
    SET(PRIORITY, v.priority = -3);
    SET(PRIORITY, v.priority = -5);
    SET(PRIORITY, v.priority = -9);
    SET(PRIORITY, v.priority = 4);
    SET(COOPERATIVE, v.cooperative = 7);
    SET(COOPERATIVE, v.cooperative = 0);
    SET(MEM_SYNC_DOMAIN, v.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    SET(MEM_SYNC_DOMAIN, v.memSyncDomain = (CUlaunchMemSyncDomain)9);
    SET(MEM_SYNC_DOMAIN_MAP, (v.memSyncDomainMap.default_ = 2, v.memSyncDomainMap.remote = 3));
    SET(MEM_SYNC_DOMAIN_MAP, (v.memSyncDomainMap.default_ = 8, v.memSyncDomainMap.remote = 3));
    SET(CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        v.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
    SET(CLUSTER_SCHEDULING_POLICY_PREFERENCE, v.clusterSchedulingPolicyPreference = (CUclusterSchedulingPolicy)9);
    SET(SYNCHRONIZATION_POLICY, v.syncPolicy = CU_SYNC_POLICY_YIELD);
    SET(SYNCHRONIZATION_POLICY, v.syncPolicy = (CUsynchronizationPolicy)9);
    SET(PREFERRED_SHARED_MEMORY_CARVEOUT, v.sharedMemCarveout = 50);
    SET(PREFERRED_SHARED_MEMORY_CARVEOUT, v.sharedMemCarveout = -1);
    SET(PREFERRED_SHARED_MEMORY_CARVEOUT, v.sharedMemCarveout = 101);
    SET(PREFERRED_SHARED_MEMORY_CARVEOUT, v.sharedMemCarveout = -2);
    SET(PROGRAMMATIC_STREAM_SERIALIZATION, v.programmaticStreamSerializationAllowed = 1);
    SET(ACCESS_POLICY_WINDOW,
        (v.accessPolicyWindow.base_ptr = (void *)memory, v.accessPolicyWindow.num_bytes = 1024,
         v.accessPolicyWindow.hitRatio = 0.5f, v.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING));
    SET(ACCESS_POLICY_WINDOW, (v.accessPolicyWindow.num_bytes = 1024, v.accessPolicyWindow.hitRatio = 2));
    SET(ACCESS_POLICY_WINDOW, v.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING);
    SET(ACCESS_POLICY_WINDOW, v.accessPolicyWindow.num_bytes = (size_t)1 << 40);
    CUDA_KERNEL_NODE_PARAMS k = kernel(add);
#define CLUSTERS(grid, cx, cy, cz)                                                                                     \
    do {                                                                                                               \
        k = kernel(add);                                                                                               \
        k.gridDimX = grid;                                                                                             \
        CUgraph fresh = new_graph();                                                                                   \
        CUgraphNode n;                                                                                                 \
        NEEDED(cuGraphAddKernelNode(&n, fresh, NULL, 0, &k));                                                          \
        memset(&v, 0, sizeof v);                                                                                       \
        v.clusterDim.x = cx, v.clusterDim.y = cy, v.clusterDim.z = cz;                                                 \
        int set = cuGraphKernelNodeSetAttribute(n, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v);                         \
        memset(&v, 0, sizeof v);                                                                                       \
        cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v);                                   \
        int made = cuGraphInstantiate(&x, fresh, 0);                                                                   \
        k.gridDimX = 3;                                                                                                \
        int then = made ? -1 : (int)cuGraphExecKernelNodeSetParams(x, n, &k);                                          \
        int own = cuGraphKernelNodeSetParams(n, &k);                                                                   \
        printf("  clusters %d %d %d of %d: %d, is %u %u %u, %d, a grid of 3: %d %d\n", cx, cy, cz, grid, set,          \
               v.clusterDim.x, v.clusterDim.y, v.clusterDim.z, made, then, own);                                       \
    } while (0)
    CLUSTERS(8, 3, 1, 1);
    CLUSTERS(8, 2, 1, 1);
    CLUSTERS(8, 8, 1, 1);
    CLUSTERS(16, 16, 1, 1);
    CLUSTERS(32, 32, 1, 1);
    CLUSTERS(8, 1, 2, 1);
    CLUSTERS(8, 0, 0, 0);
    CLUSTERS(8, 2, 0, 1);
    CLUSTERS(8, 2, 0, 0);
    CLUSTERS(7, 7, 1, 1);
    SAY(cuGraphKernelNodeSetAttribute(empty, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    SAY(cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    SAY(cuGraphKernelNodeSetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    n3 = add_kernel(g, NULL, add);
    v.cooperative = 1;
    SAY(cuGraphKernelNodeSetAttribute(n3, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    memset(&v, 0, sizeof v), v.priority = -2;
    SAY(cuGraphKernelNodeSetAttribute(n3, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    n4 = add_kernel(g, NULL, mul);
    SAY(cuGraphKernelNodeCopyAttributes(n4, n3));
    memset(&v, 0, sizeof v);
    SAY(cuGraphKernelNodeGetAttribute(n4, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    VALUE(v.cooperative);
    memset(&v, 0, sizeof v);
    SAY(cuGraphKernelNodeGetAttribute(n4, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    VALUE(v.priority);
    SAY(cuGraphKernelNodeCopyAttributes(n4, empty));
    SAY(cuGraphKernelNodeCopyAttributes(empty, n4));
    SAY(cuGraphKernelNodeCopyAttributes(NULL, n4));
    SAY(cuGraphKernelNodeCopyAttributes(n4, NULL));
    k = kernel(add);
    k.gridDimX = 100000, k.blockDimX = 1024;
    SAY(cuGraphKernelNodeSetParams(n4, &k)); /* cooperative, more than there is room for */
    CUgraph coop = new_graph();
    CUgraphNode big;
    SAY(cuGraphAddKernelNode(&big, coop, NULL, 0, &k));
    memset(&v, 0, sizeof v), v.cooperative = 1;
    SAY(cuGraphKernelNodeSetAttribute(big, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    SAY(cuGraphInstantiate(&x, coop, 0));
    /* what a capture gives its nodes */
    CUstream s;
    CUgraph captured;
    CUgraphNode nodes[2];
    NEEDED(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -4));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(launch(add, s));
    SAY(cuStreamEndCapture(s, &captured));
    count = 1;
    SAY(cuGraphGetNodes(captured, nodes, &count));
    SAY(cuGraphKernelNodeGetAttribute(nodes[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    VALUE(v.priority);
}

static void questions(void)
{
    CUgraphNode nodes[8], to[8];
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, n1, add), n3 = add_kernel(g, n2, add),
    n4 = add_kernel(g, n1, mul);
#define ASK(f, of, room)                                                                                               \
    do {                                                                                                               \
        memset(nodes, 0xff, sizeof nodes);                                                                             \
        count = room;                                                                                                  \
        int r = f(of, nodes, &count);                                                                                  \
        printf("  " #f " " #of " room %d: %d, %d, first %d, last %d\n", room, r, (int)count, index_in(g, nodes[0]),    \
               nodes[3] == NULL          ? -1                                                                          \
               : nodes[3] == (void *)-1l ? -3                                                                          \
                                         : index_in(g, nodes[3]));                                                     \
    } while (0)
#define DEPENDENCIES(of, at, number)    cuGraphNodeGetDependencies(of, at, NULL, number)
#define DEPENDENT_NODES(of, at, number) cuGraphNodeGetDependentNodes(of, at, NULL, number)
    ASK(cuGraphGetNodes, g, 0);
    ASK(cuGraphGetNodes, g, 2);
    ASK(cuGraphGetNodes, g, 4);
    ASK(cuGraphGetNodes, g, 6);
    ASK(cuGraphGetRootNodes, g, 0);
    ASK(cuGraphGetRootNodes, g, 1);
    ASK(cuGraphGetRootNodes, g, 6);
    ASK(DEPENDENCIES, n3, 0);
    ASK(DEPENDENCIES, n3, 4);
    ASK(DEPENDENT_NODES, n1, 1);
    ASK(DEPENDENT_NODES, n1, 6);
    SAY(cuGraphGetNodes(g, NULL, NULL));
    SAY(cuGraphGetNodes(g, nodes, NULL));
    SAY(cuGraphGetNodes(NULL, NULL, &count));
    SAY(cuGraphGetRootNodes(g, NULL, NULL));
    SAY(cuGraphGetEdges(g, NULL, NULL, NULL, NULL));
    count = 8;
    SAY(cuGraphGetEdges(g, nodes, NULL, NULL, &count));
    count = 8;
    SAY(cuGraphGetEdges(g, nodes, to, NULL, &count));
    VALUE(count);
    count = 1;
    SAY(cuGraphGetEdges(g, nodes, to, NULL, &count));
    VALUE(count);
    SAY(cuGraphNodeGetDependencies(n1, NULL, NULL, NULL));
    SAY(cuGraphNodeGetDependencies(NULL, NULL, NULL, &count));
    SAY(cuGraphNodeGetType(n1, &type));
    SAY(cuGraphNodeGetType(n1, NULL));
    SAY(cuGraphNodeGetType(NULL, &type));
}

static void clones(void)
{
    CUgraph clone = NULL, second = NULL;
    CUgraphNode in_clone = NULL, in_second;
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, n1, mul);
    SAY(cuGraphClone(NULL, g));
    SAY(cuGraphClone(&clone, NULL));
    SAY(cuGraphClone(&clone, g));
    SAY(cuGraphNodeFindInClone(&in_clone, n1, clone));
    SAY(cuGraphNodeFindInClone(&in_second, n1, g));
    SAY(cuGraphNodeFindInClone(&in_second, in_clone, g));
    SAY(cuGraphNodeFindInClone(&in_second, in_clone, clone));
    SAY(cuGraphNodeFindInClone(NULL, n1, clone));
    SAY(cuGraphNodeFindInClone(&in_second, NULL, clone));
    SAY(cuGraphNodeFindInClone(&in_second, n1, NULL));
    SAY(cuGraphClone(&second, clone));
    SAY(cuGraphNodeFindInClone(&in_second, in_clone, second));
    SAY(cuGraphNodeFindInClone(&in_second, n1, second)); /* of the clone's original */
    n3 = add_kernel(g, NULL, add);                       /* after the copy */
    SAY(cuGraphNodeFindInClone(&in_second, n3, clone));
    SAY(cuGraphDestroyNode(in_clone));
    SAY(cuGraphNodeFindInClone(&in_second, n1, clone));
    VALUE(nodes_of(g));
    VALUE(nodes_of(clone));
    VALUE(edges_of(clone));
    SAY(cuGraphInstantiate(&x, clone, 0));
    CUgraphExecUpdateResultInfo info;
    SAY(cuGraphExecUpdate(x, g, &info));
    VALUE(info.result);
    SAY(cuGraphDestroy(g));
    SAY(cuGraphInstantiate(&x, clone, 0));
    SAY(cuGraphDestroy(clone));
    SAY(cuGraphInstantiate(&x, second, 0));
    SAY(cuGraphExecUpdate(x, second, &info));
}

static void user_objects(void)
{
    CUuserObject o = NULL, p;
    g = new_graph();
    SAY(cuUserObjectCreate(&o, NULL, call, 3, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuUserObjectCreate(&p, NULL, call, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuUserObjectCreate(&p, NULL, call, 1, 0));
    SAY(cuUserObjectCreate(&p, NULL, call, 1, 3));
    SAY(cuUserObjectCreate(&p, NULL, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuUserObjectCreate(NULL, NULL, call, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuUserObjectCreate(&p, NULL, call, 0x80000000u, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuUserObjectRetain(o, 1));
    SAY(cuUserObjectRetain(o, 0));
    SAY(cuUserObjectRetain(NULL, 1));
    SAY(cuUserObjectRelease(o, 0));
    SAY(cuUserObjectRelease(NULL, 1));
    SAY(cuGraphRetainUserObject(g, o, 1, 0));
    SAY(cuGraphRetainUserObject(g, o, 0, 0));
    SAY(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    SAY(cuGraphRetainUserObject(g, o, 1, 2));
    SAY(cuGraphRetainUserObject(NULL, o, 1, 0));
    SAY(cuGraphRetainUserObject(g, NULL, 1, 0));
    SAY(cuGraphReleaseUserObject(g, o, 0));
    SAY(cuGraphReleaseUserObject(NULL, o, 1));
    SAY(cuGraphReleaseUserObject(g, o, 1));
    SAY(cuGraphReleaseUserObject(g, o, 1));
    SAY(cuGraphReleaseUserObject(g, o, 1)); /* more than it has */
    SAY(cuGraphReleaseUserObject(new_graph(), o, 1));
    SAY(cuUserObjectRelease(o, 100)); /* more than there are */
}

static void limits(void)
{
    static const size_t values[] = {0, 1, 4, 1024, 65536, 1 << 20, (size_t)1 << 30, (size_t)1 << 40};
    for (int id = 0; id < 12; id++) {
        size_t now = 0;
        int get = cuCtxGetLimit(&now, (CUlimit)id);
        printf("  get %d: %d", id, get);
        if (id != CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
            printf(", %zu", now);
        printf("\n");
    }
    for (int id = 0; id < 12; id++)
        for (int i = 0; i < 8; i++) {
            size_t now = 0;
            if (id == CU_LIMIT_MALLOC_HEAP_SIZE && i > 5)
                continue; /* as much as the device has */
            int set = cuCtxSetLimit((CUlimit)id, values[i]), get = cuCtxGetLimit(&now, (CUlimit)id);
            printf("  set %d to %zu: %d, then %d %zu\n", id, values[i], set, get, now);
        }
    SAY(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    SAY(cuCtxSetLimit((CUlimit)99, 1));
}

static void say_update(const char *what, CUgraph then)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUresult r = cuGraphExecUpdate(x, then, &info);
    printf("  %s: %d, result %d, node %d, from %d\n", what, (int)r, (int)info.result, index_in(then, info.errorNode),
           index_in(then, info.errorFromNode));
}

static void updates_of_boxes(void)
{
    CUDA_MEMCPY3D m = copy();
    CUDA_MEMSET_NODE_PARAMS f = fill();
    CUgraph then;
#define COPY(change)                                                                                                   \
    do {                                                                                                               \
        m = copy();                                                                                                    \
        m.WidthInBytes = 32, m.Height = 4, m.srcPitch = m.dstPitch = 64;                                               \
        change;                                                                                                        \
        then = new_graph();                                                                                            \
        NEEDED(cuGraphAddMemcpyNode(&n2, then, NULL, 0, &m, context));                                                 \
        say_update("copy, " #change, then);                                                                            \
        printf("  exec: %d\n", (int)cuGraphExecMemcpyNodeSetParams(x, n1, &m, context));                               \
    } while (0)
    m.WidthInBytes = 32, m.Height = 4, m.srcPitch = m.dstPitch = 64;
    g = new_graph();
    NEEDED(cuGraphAddMemcpyNode(&n1, g, NULL, 0, &m, context));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    COPY((void)0);
    COPY(m.dstDevice += 1024);
    COPY(m.Height = 5);
    COPY(m.WidthInBytes = 16);
    COPY(m.srcPitch = 128);
    COPY(m.srcXInBytes = 4);
    COPY((m.srcMemoryType = CU_MEMORYTYPE_UNIFIED));
    COPY((m.Height = 1));
#define FILL(change)                                                                                                   \
    do {                                                                                                               \
        f = fill();                                                                                                    \
        f.height = 4, f.pitch = 64;                                                                                    \
        change;                                                                                                        \
        then = new_graph();                                                                                            \
        NEEDED(cuGraphAddMemsetNode(&n2, then, NULL, 0, &f, context));                                                 \
        say_update("fill, " #change, then);                                                                            \
        printf("  exec: %d\n", (int)cuGraphExecMemsetNodeSetParams(x, n1, &f, context));                               \
    } while (0)
    f.height = 4, f.pitch = 64;
    g = new_graph();
    NEEDED(cuGraphAddMemsetNode(&n1, g, NULL, 0, &f, context));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    FILL((void)0);
    FILL(f.value = 7);
    FILL(f.dst += 1024);
    FILL(f.width = 8);
    FILL(f.height = 3);
    FILL(f.pitch = 128);
    FILL((f.elementSize = 2));
    FILL((f.elementSize = 1, f.width = 16));
    FILL((f.height = 1));
    /* one dimension: other widths and elements, many bytes */
    f = fill();
    g = new_graph();
    NEEDED(cuGraphAddMemsetNode(&n1, g, NULL, 0, &f, context));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    for (int w = 1; w <= 1 << 18; w *= 8) {
        f.width = (size_t)w;
        printf("  width %d: %d\n", w, (int)cuGraphExecMemsetNodeSetParams(x, n1, &f, context));
    }
    /* copies by capture, which are of unified memory */
    CUstream s;
    NEEDED(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    static char other_host[64];
    for (int way = 0; way < 6; way++) {
        CUgraph made[2];
        for (int i = 0; i < 2; i++) {
            NEEDED(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
            int kind = i ? way : 0;
            if (kind == 0)
                NEEDED(cuMemcpyAsync(memory, other_memory, 16, s));
            if (kind == 1)
                NEEDED(cuMemcpyDtoDAsync(memory, other_memory, 16, s));
            if (kind == 2)
                NEEDED(cuMemcpyHtoDAsync(memory, host, 16, s));
            if (kind == 3)
                NEEDED(cuMemcpyDtoHAsync(host, memory, 16, s));
            if (kind == 4)
                NEEDED(cuMemcpyAsync(memory, (CUdeviceptr)other_host, 16, s));
            if (kind == 5)
                NEEDED(cuMemcpyAsync(memory, other_memory, 64, s));
            NEEDED(cuStreamEndCapture(s, &made[i]));
        }
        NEEDED(cuGraphInstantiate(&x, made[0], 0));
        printf(" captured, way %d\n", way);
        say_update("update", made[1]);
    }
}

static void updates_of_events(void)
{
    CUevent e, f;
    NEEDED(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&f, 0));
    g = new_graph();
    NEEDED(cuGraphAddEventRecordNode(&n1, g, NULL, 0, e));
    NEEDED(cuGraphAddEventWaitNode(&n2, g, &n1, 1, e));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    CUgraph then = new_graph();
    NEEDED(cuGraphAddEventRecordNode(&n3, then, NULL, 0, f));
    NEEDED(cuGraphAddEventWaitNode(&n4, then, &n3, 1, f));
    say_update("other events", then);
    SAY(cuGraphLaunch(x, 0));
    SAY(cuCtxSynchronize());
    /* a graph that cannot be made ready */
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, n1, add);
    NEEDED(cuGraphInstantiate(&x, g, 0));
    NEEDED(cuGraphAddDependencies(g, &n2, &n1, NULL, 1));
    say_update("a circle", g);
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    SAY(cuGraphInstantiateWithParams(&x, g, &p));
    printf("  node %d\n", index_in(g, p.hErrNode_out));
    for (int flags = 0; flags < 16; flags++) {
        CUgraph one = new_graph();
        add_kernel(one, NULL, add);
        CUgraphExec y = NULL;
        p = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = (cuuint64_t)flags};
        cuuint64_t got = 99;
        int r = cuGraphInstantiateWithParams(&y, one, &p);
        if (!r)
            cuGraphExecGetFlags(y, &got);
        printf("  flags %d: %d %d\n", flags, r, (int)got);
    }
    /* edges crossed: of two that depend on two, in another order */
    g = new_graph();
    n1 = add_kernel(g, NULL, add), n2 = add_kernel(g, NULL, mul);
    SAY(cuGraphAddEmptyNode(&n3, g, (CUgraphNode[]){n1, n2}, 2));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    then = new_graph();
    n1 = add_kernel(then, NULL, add), n2 = add_kernel(then, NULL, mul);
    SAY(cuGraphAddEmptyNode(&n3, then, (CUgraphNode[]){n2, n1}, 2));
    say_update("edges in another order", then);
    then = new_graph();
    n2 = add_kernel(then, NULL, mul), n1 = add_kernel(then, NULL, add);
    SAY(cuGraphAddEmptyNode(&n3, then, (CUgraphNode[]){n1, n2}, 2));
    say_update("nodes in another order", then);
    /* a diamond, and one whose sides meet elsewhere */
    g = new_graph();
    n1 = add_kernel(g, NULL, add);
    SAY(cuGraphAddEmptyNode(&n2, g, &n1, 1));
    SAY(cuGraphAddEmptyNode(&n3, g, &n1, 1));
    SAY(cuGraphAddEmptyNode(&n4, g, (CUgraphNode[]){n2, n3}, 2));
    NEEDED(cuGraphInstantiate(&x, g, 0));
    then = new_graph();
    CUgraphNode root = add_kernel(then, NULL, add);
    SAY(cuGraphAddEmptyNode(&n2, then, &root, 1));
    SAY(cuGraphAddEmptyNode(&n3, then, &n2, 1));
    SAY(cuGraphAddEmptyNode(&n4, then, (CUgraphNode[]){n2, n3}, 2));
    say_update("a diamond became a triangle", then);
}

static void children(void)
{
    CUgraph child = new_graph(), got = NULL, shape = new_graph(), grown = new_graph();
    n1 = add_kernel(child, NULL, add);
    add_kernel(shape, NULL, mul);
    add_kernel(grown, add_kernel(grown, NULL, add), mul);
    g = new_graph();
    SAY(cuGraphAddChildGraphNode(&n2, g, NULL, 0, child));
    SAY(cuGraphChildGraphNodeGetGraph(n2, &got));
    VALUE(got == child);
    SAY(cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphExecChildGraphNodeSetParams(x, n2, shape));
    SAY(cuGraphExecChildGraphNodeSetParams(x, n2, grown));
    SAY(cuGraphExecChildGraphNodeSetParams(x, n1, shape));
    SAY(cuGraphNodeSetEnabled(x, n2, 0));
    CUDA_KERNEL_NODE_PARAMS k = kernel(mul);
    SAY(cuGraphExecKernelNodeSetParams(x, n1, &k));
    CUgraphNode inner;
    count = 1;
    SAY(cuGraphGetNodes(got, &inner, &count));
    SAY(cuGraphExecKernelNodeSetParams(x, inner, &k));
    SAY(cuGraphNodeSetEnabled(x, inner, 0));
    SAY(cuGraphNodeFindInClone(&n3, n1, got));
    CUgraph clone;
    SAY(cuGraphClone(&clone, g));
    VALUE(nodes_of(clone));
    SAY(cuGraphLaunch(x, 0));
    SAY(cuCtxSynchronize());
    say_update("the same", g);
    CUgraph then = new_graph();
    SAY(cuGraphAddChildGraphNode(&n3, then, NULL, 0, grown));
    say_update("a grown child", then);
    SAY(cuGraphDestroyNode(inner));
    say_update("less in the child", g);
    SAY(cuGraphDestroyNode(n2));
    SAY(cuGraphInstantiate(&x, g, 0));
}

static const struct {
    const char *name;
    void (*run)(void);
} rules[] = {{"topology", topology},
             {"adding nodes", adding_nodes},
             {"kernels", kernels},
             {"copies", copies},
             {"fills", fills},
             {"calls and events", calls_and_events},
             {"instantiation", instantiation},
             {"updates", updates},
             {"enabling", enabling},
             {"attributes", attributes},
             {"questions", questions},
             {"clones", clones},
             {"user objects", user_objects},
             {"limits", limits},
             {"updates of boxes", updates_of_boxes},
             {"updates of events", updates_of_events},
             {"children", children}};

int main(int argc, char **argv)
{
    begin_rules();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (argc > 1 && strcmp(argv[1], rules[i].name))
            continue;
        printf("%s\n", rules[i].name);
        rules[i].run();
    }
    return 0;
}
