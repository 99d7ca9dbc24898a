/* Captures from their beginnings to their ends, and after: what becomes of streams and events, of
 * several streams, threads and captures at once.
 */
#include "rules.h"

static CUstream a, b, c;
static CUevent e, f;
static CUgraph g, h;
static CUstreamCaptureStatus status;
static cuuint64_t id;
static const CUgraphNode *after;
static const CUgraphEdgeData *edges;
static size_t n;

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

static int status_of(CUstream s)
{
    status = (CUstreamCaptureStatus)9;
    CUresult r = cuStreamIsCapturing(s, &status);
    return r ? (int)r : (int)status;
}
#define STATUS(s)      printf("  status of " #s ": %d\n", status_of(s))
#define BEGIN(s, mode) SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_##mode))
#define END(s)                                                                                                         \
    do {                                                                                                               \
        g = NULL;                                                                                                      \
        SAY(cuStreamEndCapture(s, &g));                                                                                \
        nodes_of(g);                                                                                                   \
    } while (0)

static void nodes_of(CUgraph graph)
{
    size_t nodes = 0, links = 0;
    if (graph && !cuGraphGetNodes(graph, NULL, &nodes) && !cuGraphGetEdges(graph, NULL, NULL, NULL, &links))
        printf("  %d nodes, %d edges\n", (int)nodes, (int)links);
    else
        printf("  no graph\n");
}

static void types_of(CUgraph graph)
{
    CUgraphNode at[16];
    size_t count = 16;
    CUgraphNodeType type;
    if (!graph || cuGraphGetNodes(graph, at, &count))
        return;
    printf("  types:");
    for (size_t i = 0; i < count; i++)
        printf(" %d", cuGraphNodeGetType(at[i], &type) ? -1 : (int)type);
    printf("\n");
}

static void *in_thread(void *function)
{
    cuCtxSetCurrent(context);
    ((void (*)(void))function)();
    return NULL;
}

static void elsewhere(void (*function)(void))
{
    pthread_t t;
    pthread_create(&t, NULL, in_thread, (void *)function);
    pthread_join(t, NULL);
}

static void fresh(unsigned flags)
{
    cuStreamCreate(&a, flags), cuStreamCreate(&b, flags), cuStreamCreate(&c, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&e, CU_EVENT_DISABLE_TIMING), cuEventCreate(&f, CU_EVENT_DISABLE_TIMING);
    g = h = NULL;
}

static void nothing_captured(void)
{
    END(a);
    END(CU_STREAM_LEGACY);
    END(CU_STREAM_PER_THREAD);
    BEGIN(CU_STREAM_LEGACY, GLOBAL);
    BEGIN(CU_STREAM_LEGACY, RELAXED);
    BEGIN(CU_STREAM_PER_THREAD, GLOBAL);
    STATUS(CU_STREAM_PER_THREAD);
    SAY(launch(add, CU_STREAM_PER_THREAD));
    END(CU_STREAM_PER_THREAD);
    BEGIN(a, GLOBAL);
    BEGIN(a, GLOBAL);
    STATUS(a);
    END(a);
    BEGIN(a, RELAXED);
    END(a);
    END(a);
}

static void the_legacy_stream(void)
{
    BEGIN(a, GLOBAL);
    STATUS(0);
    SAY(launch(add, 0));
    STATUS(0);
    STATUS(a);
    END(a);
    STATUS(0);
    SAY(launch(add, 0));
    BEGIN(a, RELAXED);
    STATUS(0);
    SAY(launch(add, 0));
    STATUS(a);
    SAY(launch(add, a));
    END(a);
    BEGIN(c, GLOBAL); /* it does not wait for the legacy stream */
    STATUS(0);
    SAY(launch(add, 0));
    SAY(cuMemcpyDtoD(memory, other_memory, 4));
    STATUS(c);
    END(c);
    BEGIN(c, RELAXED);
    SAY(cuMemcpyDtoD(memory, other_memory, 4));
    SAY(cuMemsetD8(memory, 0, 4));
    SAY(cuCtxSynchronize());
    END(c);
    BEGIN(a, GLOBAL);
    SAY(launch(add, b)); /* another blocking stream */
    SAY(cuStreamSynchronize(b));
    STATUS(a);
    SAY(cuEventRecord(e, 0));
    STATUS(a);
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuStreamWaitEvent(0, e, 0));
    STATUS(a);
    END(a);
    BEGIN(a, GLOBAL);
    BEGIN(b, GLOBAL);
    SAY(launch(add, 0)); /* which of two? */
    STATUS(a);
    STATUS(b);
    END(b);
    END(a);
}

static void an_invalid_capture(void)
{
    void *p;
    unsigned word;
    BEGIN(a, THREAD_LOCAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuEventRecord(f, b));
    SAY(cuMemAllocHost(&p, 64));
    STATUS(a);
    STATUS(b);
    SAY(launch(add, a));
    SAY(launch(add, b));
    SAY(cuMemsetD8Async(memory, 0, 4, a));
    SAY(cuMemcpyDtoDAsync(memory, other_memory, 4, a));
    SAY(cuLaunchHostFunc(a, nothing, NULL));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(a, f, 0));
    SAY(cuStreamWaitEvent(c, f, 0));
    STATUS(c);
    SAY(cuStreamWaitEvent(a, e, 0));
    SAY(cuEventQuery(e));
    SAY(cuEventSynchronize(f));
    SAY(cuStreamQuery(a));
    SAY(cuStreamSynchronize(b));
    SAY(cuStreamGetFlags(a, &word));
    id = 0, after = NULL, n = 99;
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &h, &after, &edges, &n));
    printf("  info: status %d, id %d, graph %d, after %d, n %d\n", (int)status, id != 0, h != NULL, after != NULL,
           (int)n);
    SAY(cuMemAllocHost(&p, 64)); /* still forbidden? */
    BEGIN(a, GLOBAL);
    BEGIN(b, GLOBAL);
    END(b);
    STATUS(b);
    STATUS(a);
    END(a);
    STATUS(a);
    STATUS(b);
    SAY(cuEventQuery(e));
    SAY(cuEventQuery(f));
    SAY(cuStreamWaitEvent(a, e, 0));
    SAY(cuStreamWaitEvent(c, f, 0));
    SAY(launch(add, a));
    SAY(launch(add, b));
    SAY(cuEventRecord(e, a));
    SAY(cuEventSynchronize(e));
    SAY(cuStreamSynchronize(a));
    SAY(cuMemAllocHost(&p, 64));
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    END(a);
}

static void events_after_a_capture(void)
{
    float ms;
    CUevent t1, t2;
    cuEventCreate(&t1, 0), cuEventCreate(&t2, 0);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuEventRecord(t1, a));
    END(a);
    SAY(cuEventQuery(e));
    SAY(cuEventSynchronize(e));
    SAY(cuStreamWaitEvent(b, e, 0));
    STATUS(b);
    SAY(cuStreamWaitEvent(0, e, 0));
    SAY(cuEventRecord(t2, a));
    SAY(cuEventSynchronize(t2));
    SAY(cuEventElapsedTime(&ms, t1, t2));
    BEGIN(a, GLOBAL);
    SAY(cuStreamWaitEvent(a, e, 0)); /* of a capture that has ended */
    STATUS(a);
    END(a);
    SAY(cuEventRecord(e, a));
    SAY(cuEventQuery(e) == CUDA_SUCCESS || cuEventSynchronize(e) == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, a));
    SAY(cuEventRecord(e, c)); /* outside, meanwhile */
    SAY(cuStreamWaitEvent(b, e, 0));
    STATUS(b);
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(cuEventDestroy(e));
    STATUS(b);
    SAY(launch(add, b));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(a, f, 0));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecordWithFlags(f, a, CU_EVENT_RECORD_EXTERNAL));
    SAY(cuStreamWaitEvent(a, f, CU_EVENT_WAIT_EXTERNAL));
    SAY(cuStreamWaitEvent(a, f, 0));
    SAY(cuEventQuery(f));
    END(a);
    types_of(g);
    SAY(cuEventQuery(f));
    BEGIN(a, GLOBAL);
    SAY(cuStreamWaitEvent(a, t2, CU_EVENT_WAIT_EXTERNAL));
    SAY(cuEventRecordWithFlags(t2, a, CU_EVENT_RECORD_EXTERNAL));
    END(a);
    types_of(g);
}

static void unjoined(void)
{
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0)); /* without work of its own */
    END(a);
    STATUS(b);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, a)); /* nothing yet */
    SAY(cuStreamWaitEvent(b, e, 0));
    STATUS(b);
    SAY(launch(add, b));
    STATUS(a);
    END(a);
    STATUS(a);
    STATUS(b);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(a, f, 0));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(a, f, 0));
    SAY(launch(add, b)); /* after it was joined */
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(c, f, 0)); /* through a third */
    SAY(launch(add, b));
    SAY(cuEventRecord(e, b));
    SAY(cuStreamWaitEvent(c, e, 0));
    SAY(launch(add, c));
    SAY(cuEventRecord(f, c));
    SAY(cuStreamWaitEvent(a, f, 0));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    END(b); /* not where it began */
    STATUS(a);
    STATUS(b);
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(a, f, 0));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(launch(add, b));
    SAY(cuEventRecord(f, b));
    SAY(launch(add, a));
    SAY(launch(add, b));
    SAY(cuStreamWaitEvent(a, f, 0)); /* the last is not waited for */
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(cuStreamDestroy(b));
    STATUS(a);
    END(a);
}

static void a_destroyed_stream(void)
{
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamDestroy(a)); /* the one where it began */
    SAY(cuEventQuery(e));
    SAY(cuStreamWaitEvent(b, e, 0));
    STATUS(b);
    void *p;
    SAY(cuMemAllocHost(&p, 64));
    SAY(cuCtxSynchronize());
}

static void merges(void)
{
    BEGIN(a, GLOBAL);
    BEGIN(b, GLOBAL);
    SAY(launch(add, a));
    SAY(launch(add, b));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    STATUS(a);
    STATUS(b);
    END(b);
    END(a);
    BEGIN(a, RELAXED);
    BEGIN(b, THREAD_LOCAL);
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(c, e, 0));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamWaitEvent(c, f, 0));
    STATUS(a);
    STATUS(b);
    STATUS(c);
    SAY(cuEventRecord(e, b)); /* an event of one, recorded in the other */
    SAY(cuStreamWaitEvent(c, e, 0));
    STATUS(c);
    END(b);
    END(a);
    STATUS(c);
}

static void isolation(void)
{
    SAY(cuEventRecord(e, b));
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuStreamWaitEvent(a, e, 0));
    STATUS(a);
    SAY(launch(add, a));
    END(a);
    BEGIN(a, RELAXED);
    SAY(cuStreamWaitEvent(a, f, 0)); /* never recorded */
    STATUS(a);
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, c));
    SAY(cuStreamWaitEvent(a, e, 0));
    STATUS(a);
    END(a);
}

static void end_a(void)
{
    END(a);
    STATUS(a);
}

static void launch_in_a(void)
{
    SAY(launch(add, a));
}

static void begin_in_b(void)
{
    BEGIN(b, GLOBAL);
    SAY(launch(add, b));
}

static void allocates(void)
{
    CUdeviceptr q;
    SAY(cuMemAlloc(&q, 64));
}

static void allocates_thread_local(void)
{
    CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    SAY(cuThreadExchangeStreamCaptureMode(&m));
    VALUE(m);
    allocates();
}

static void threads(void)
{
    BEGIN(a, GLOBAL);
    elsewhere(end_a);
    STATUS(a);
    SAY(launch(add, a));
    END(a);
    BEGIN(a, THREAD_LOCAL);
    elsewhere(end_a);
    END(a);
    BEGIN(a, RELAXED);
    elsewhere(end_a);
    END(a);
    BEGIN(a, THREAD_LOCAL);
    elsewhere(launch_in_a);
    END(a);
    BEGIN(a, GLOBAL);
    elsewhere(launch_in_a);
    END(a);
    elsewhere(begin_in_b); /* a capture that another thread began */
    STATUS(b);
    allocates();
    STATUS(b);
    END(b);
    elsewhere(end_a);
    allocates();
    cuStreamDestroy(b);
    allocates();
    cuStreamCreate(&b, 0);
    BEGIN(a, GLOBAL);
    BEGIN(b, THREAD_LOCAL);
    BEGIN(c, RELAXED);
    elsewhere(allocates);
    STATUS(a);
    STATUS(b);
    STATUS(c);
    allocates();
    STATUS(b);
    STATUS(c);
    END(a);
    END(b);
    END(c);
    BEGIN(a, GLOBAL);
    elsewhere(allocates_thread_local);
    STATUS(a);
    END(a);
    BEGIN(a, RELAXED);
    allocates();
    elsewhere(allocates);
    STATUS(a);
    END(a);
    CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_RELAXED;
    SAY(cuThreadExchangeStreamCaptureMode(&m));
    VALUE(m);
    BEGIN(a, GLOBAL);
    allocates();
    m = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    SAY(cuThreadExchangeStreamCaptureMode(&m));
    VALUE(m);
    allocates();
    END(a);
    m = (CUstreamCaptureMode)5;
    SAY(cuThreadExchangeStreamCaptureMode(&m));
    m = CU_STREAM_CAPTURE_MODE_GLOBAL;
    SAY(cuThreadExchangeStreamCaptureMode(&m));
    VALUE(m);
}

static void info(void)
{
    CUgraphNode *no_nodes = NULL;
    (void)no_nodes;
    id = 77, n = 99, after = (void *)1, h = NULL;
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &h, &after, &edges, &n));
    printf("  info: status %d, id %d, graph %d, after %d, n %d\n", (int)status, (int)id, h != NULL, after != (void *)1,
           (int)n);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(launch(add, a));
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &h, &after, &edges, &n));
    printf("  info: status %d, graph %d, after %d, n %d\n", (int)status, h != NULL, after != NULL, (int)n);
    SAY(cuStreamGetCaptureInfo(a, NULL, &id, &h, &after, &edges, &n));
    SAY(cuStreamGetCaptureInfo(a, &status, NULL, NULL, NULL, NULL, NULL));
    SAY(cuGraphDestroy(h));
    STATUS(a);
    END(a);
}

static void graphs_in_captures(void)
{
    CUgraphExec x;
    CUgraphNode node;
    CUgraph small;
    cuGraphCreate(&small, 0);
    cuGraphAddEmptyNode(&node, small, NULL, 0);
    SAY(cuGraphInstantiate(&x, small, 0));
    BEGIN(a, GLOBAL);
    SAY(cuGraphLaunch(x, a));
    SAY(launch(add, a));
    END(a);
    types_of(g);
    SAY(cuGraphInstantiate(&x, g, 0));
    SAY(cuGraphLaunch(x, b));
    SAY(cuStreamSynchronize(b));
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    CUgraph open = NULL;
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &open, &after, &edges, &n));
    SAY(cuGraphAddEmptyNode(&node, open, after, n));
    SAY(launch(add, a));
    END(a);
    types_of(g);
}

static void updates_of_dependencies(void)
{
    CUgraphNode nodes[2];
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &h, &after, &edges, &n));
    SAY(cuGraphAddEmptyNode(&nodes[0], h, NULL, 0));
    SAY(cuStreamUpdateCaptureDependencies(a, &nodes[0], NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    SAY(launch(add, a));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuStreamUpdateCaptureDependencies(a, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SAY(launch(add, a));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuStreamUpdateCaptureDependencies(a, &nodes[0], NULL, 1,
                                          CU_STREAM_SET_CAPTURE_DEPENDENCIES)); /* of another graph */
    STATUS(a);
    END(a);
    SAY(cuStreamUpdateCaptureDependencies(a, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CUgraph into;
    CUgraphNode first;
    cuGraphCreate(&into, 0);
    cuGraphAddEmptyNode(&first, into, NULL, 0);
    SAY(cuStreamBeginCaptureToGraph(a, into, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(launch(add, a));
    END(a);
    printf("  the same graph: %d\n", g == into);
    SAY(cuStreamBeginCaptureToGraph(a, into, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(launch(add, a));
    CUdeviceptr q;
    SAY(cuMemAlloc(&q, 64));
    END(a);
    nodes_of(into);
    SAY(cuStreamBeginCaptureToGraph(a, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCaptureToGraph(a, into, &nodes[0], NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    STATUS(a);
}

static void destroyed_members(void)
{
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuStreamDestroy(b)); /* with work that nobody has waited for */
    STATUS(a);
    END(a);
    cuStreamCreate(&b, 0);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuEventRecord(f, b));
    SAY(cuStreamDestroy(b)); /* its event is waited for later */
    SAY(cuStreamWaitEvent(a, f, 0));
    END(a);
    cuStreamCreate(&b, 0);
}

static void the_legacy_stream_is_asked(void)
{
    unsigned word;
    int number;
    unsigned long long number64;
    CUcontext ctx;
    CUdevice d;
    CUstreamAttrValue v = {0};
    static int nonblocking;
    static CUstream s;
    for (nonblocking = 0; nonblocking < 2; nonblocking++) {
        s = nonblocking ? c : a;
        BEGIN(s, RELAXED);
        SAY(launch(add, s));
        SAY(cuEventRecord(e, s));
        SAY(cuStreamGetPriority(0, &number));
        STATUS(s);
        SAY(cuStreamGetCtx(0, &ctx));
        STATUS(s);
        SAY(cuStreamGetAttribute(0, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
        STATUS(s);
        SAY(cuStreamSetAttribute(0, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
        STATUS(s);
        SAY(cuStreamCopyAttributes(0, b));
        STATUS(s);
        SAY(cuStreamGetCaptureInfo(0, NULL, NULL, NULL, NULL, NULL, NULL));
        SAY(cuStreamIsCapturing(0, NULL));
        STATUS(s);
        SAY(cuStreamGetFlags(0, &word));
        STATUS(s);
        SAY(cuStreamGetId(0, &number64));
        STATUS(s);
        SAY(cuStreamGetDevice(0, &d));
        STATUS(s);
        SAY(cuStreamWaitEvent(0, e, 0));
        STATUS(s);
        SAY(cuStreamDestroy(0));
        STATUS(s);
        END(s);
    }
    BEGIN(c, GLOBAL); /* non-blocking */
    SAY(cuStreamSynchronize(0));
    STATUS(c);
    END(c);
    BEGIN(c, GLOBAL);
    SAY(cuStreamQuery(0));
    STATUS(c);
    END(c);
    BEGIN(c, GLOBAL);
    CUdeviceptr q;
    SAY(cuMemAllocAsync(&q, 64, 0));
    STATUS(c);
    END(c);
    BEGIN(c, GLOBAL);
    SAY(cuStreamBeginCapture(0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    STATUS(c);
    SAY(cuStreamEndCapture(0, &g));
    STATUS(c);
    SAY(cuEventRecordWithFlags(f, 0, CU_EVENT_RECORD_EXTERNAL));
    SAY(cuStreamWaitEvent(0, f, CU_EVENT_WAIT_EXTERNAL));
    SAY(cuStreamAddCallback(0, (CUstreamCallback)0, NULL, 0));
    STATUS(c);
    END(c);
    BEGIN(a, GLOBAL); /* a member alone is blocking */
    END(a);
    BEGIN(c, GLOBAL);
    SAY(cuEventRecord(e, c));
    SAY(cuStreamWaitEvent(a, e, 0));
    SAY(launch(add, 0));
    STATUS(c);
    END(c);
    BEGIN(CU_STREAM_PER_THREAD, GLOBAL);
    SAY(launch(add, 0));
    STATUS(CU_STREAM_PER_THREAD);
    END(CU_STREAM_PER_THREAD);
    BEGIN(CU_STREAM_PER_THREAD, GLOBAL);
    SAY(cuMemcpy(memory, other_memory, 4));
    END(CU_STREAM_PER_THREAD);
}

static void bad_arguments(void)
{
    unsigned v = 1;
    BEGIN(a, GLOBAL);
    SAY(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, a, NULL, NULL));
    STATUS(a);
    SAY(cuMemcpyDtoDAsync(0, memory, 16, a));
    STATUS(a);
    SAY(cuMemcpyDtoDAsync(memory, other_memory, (size_t)1 << 40, a));
    STATUS(a);
    SAY(cuMemsetD32Async(memory + 1, 0, 4, a));
    STATUS(a);
    SAY(cuMemsetD32Async(memory, 0, (size_t)1 << 40, a));
    STATUS(a);
    SAY(cuMemsetD2D8Async(memory, 4, 0, 16, 4, a));
    STATUS(a);
    SAY(cuMemsetD2D8Async(memory, 64, 0, 0, 4, a));
    SAY(cuEventRecord(NULL, a));
    STATUS(a);
    SAY(cuStreamWaitEvent(a, NULL, 0));
    STATUS(a);
    SAY(cuGraphLaunch(NULL, a));
    STATUS(a);
    SAY(cuStreamAddCallback(a, NULL, NULL, 0));
    STATUS(a);
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuLaunchKernel(add, 8, 1, 1, 1, 1, 1, 0, a, (void *[]){&memory, &v}, (void *[]){CU_LAUNCH_PARAM_END}));
    STATUS(a);
    CUlaunchAttribute at[1] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {3, 1, 1}}};
    CUlaunchConfig config = {.gridDimX = 8,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = a,
                             .attrs = at,
                             .numAttrs = 1};
    SAY(cuLaunchKernelEx(&config, add, (void *[]){&memory, &v}, NULL));
    STATUS(a);
    END(a);
    BEGIN(a, GLOBAL);
    at[0].id = (CUlaunchAttributeID)77;
    SAY(cuLaunchKernelEx(&config, add, (void *[]){&memory, &v}, NULL));
    STATUS(a);
    at[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    memset(&at[0].value, 0, sizeof at[0].value);
    at[0].value.programmaticStreamSerializationAllowed = 1;
    SAY(cuLaunchKernelEx(&config, add, (void *[]){&memory, &v}, NULL));
    STATUS(a);
    SAY(cuLaunchKernelEx(&config, add, (void *[]){&memory, &v}, NULL));
    END(a);
    size_t m = 0;
    SAY(cuGraphGetEdges(g, NULL, NULL, NULL, &m));
    /* packed parameters of other sizes, outside of captures */
    char packed[32] = {0};
    memcpy(packed, &memory, 8);
    for (size_t bytes = 8; bytes <= 24; bytes += bytes == 8 ? 3 : 1) {
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                         CU_LAUNCH_PARAM_END};
        printf("  %d bytes: %d\n", (int)bytes, (int)cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, b, NULL, extra));
    }
    SAY(cuStreamSynchronize(b));
}

static void ended_contexts(void)
{
    CUcontext other;
    CUstream s;
    CUdeviceptr q;
    SAY(cuCtxCreate(&other, NULL, 0, device));
    SAY(cuStreamCreate(&s, 0));
    BEGIN(s, GLOBAL);
    SAY(cuCtxSetCurrent(context));
    SAY(cuCtxSynchronize()); /* of another context */
    STATUS(s);
    SAY(launch(add, 0));
    STATUS(s);
    SAY(cuMemAlloc(&q, 64));
    STATUS(s);
    SAY(cuCtxDestroy(other));
    SAY(cuMemAlloc(&q, 64));
}

static void graphs_of_captures(void)
{
    CUgraph open = NULL;
    CUgraphNode node, nodes[2];
    CUgraphExec x;
    CUuserObject o;
    BEGIN(a, RELAXED);
    SAY(launch(add, a));
    SAY(launch(add, a));
    SAY(cuStreamGetCaptureInfo(a, &status, &id, &open, &after, &edges, &n));
    size_t count = 2;
    SAY(cuGraphGetNodes(open, nodes, &count));
    SAY(cuGraphRemoveDependencies(open, &nodes[0], &nodes[1], NULL, 1));
    SAY(cuGraphAddDependencies(open, &nodes[0], &nodes[1], NULL, 1));
    SAY(cuGraphDestroyNode(nodes[0]));
    SAY(cuGraphInstantiate(&x, open, 0));
    SAY(cuUserObjectCreate(&o, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    SAY(cuGraphRetainUserObject(open, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUDA_KERNEL_NODE_PARAMS k;
    SAY(cuGraphKernelNodeGetParams(nodes[0], &k));
    SAY(cuGraphKernelNodeSetParams(nodes[0], &k));
    STATUS(a);
    SAY(cuGraphAddEmptyNode(&node, open, &nodes[1], 1));
    STATUS(a);
    END(a); /* a node that a does not know comes last */
    SAY(cuGraphDestroy(g));
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuStreamGetCaptureInfo(b, &status, &id, &open, &after, &edges, &n));
    SAY(cuGraphAddEmptyNode(&node, open, after, n)); /* behind b's last, by hand */
    END(a);
    BEGIN(a, GLOBAL);
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuStreamUpdateCaptureDependencies(b, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES)); /* b forgets it */
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(b, e, 0));
    SAY(launch(add, b));
    SAY(cuStreamGetCaptureInfo(b, &status, &id, &open, &after, &edges, &n));
    SAY(cuStreamUpdateCaptureDependencies(a, (CUgraphNode *)after, NULL, n, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    END(a);
    BEGIN(a, GLOBAL);
    CUdeviceptr q;
    SAY(cuMemAlloc(&q, 64));
    SAY(cuStreamUpdateCaptureDependencies(a, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SAY(cuStreamUpdateCaptureDependencies(a, NULL, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    END(a);
    BEGIN(a, GLOBAL);
    SAY(cuStreamUpdateCaptureDependencies(a, NULL, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SAY(cuStreamUpdateCaptureDependencies(0, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    STATUS(a);
    END(a);
    CUgraph into;
    SAY(cuGraphCreate(&into, 0));
    SAY(cuGraphAddEmptyNode(&node, into, NULL, 0));
    SAY(cuStreamBeginCaptureToGraph(a, into, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuGraphDestroy(into));
    SAY(cuGraphDestroyNode(node));
    SAY(cuStreamBeginCaptureToGraph(b, into, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(launch(add, a));
    SAY(cuEventRecord(e, a));
    SAY(cuStreamWaitEvent(c, e, 0));
    SAY(launch(add, c));
    END(a); /* not joined */
    nodes_of(into);
    SAY(cuGraphCreate(&into, 0));
    SAY(cuStreamBeginCaptureToGraph(a, into, NULL, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCaptureToGraph(a, into, NULL, NULL, 0, (CUstreamCaptureMode)7));
    SAY(cuStreamBeginCaptureToGraph(0, into, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    STATUS(a);
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {{"nothing captured", nothing_captured},
               {"the legacy stream", the_legacy_stream},
               {"an invalid capture", an_invalid_capture},
               {"events after a capture", events_after_a_capture},
               {"unjoined", unjoined},
               {"merges", merges},
               {"isolation", isolation},
               {"threads", threads},
               {"info", info},
               {"graphs in captures", graphs_in_captures},
               {"a destroyed stream", a_destroyed_stream},
               {"updates of dependencies", updates_of_dependencies},
               {"destroyed members", destroyed_members},
               {"the legacy stream is asked", the_legacy_stream_is_asked},
               {"bad arguments", bad_arguments},
               {"ended contexts", ended_contexts},
               {"graphs of captures", graphs_of_captures}};

int main(int argc, char **argv)
{
    begin_rules();
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        if (argc > 1 && strcmp(argv[1], stories[i].name))
            continue;
        printf("%s\n", stories[i].name);
        fresh(CU_STREAM_DEFAULT);
        stories[i].run();
    }
    return 0;
}
