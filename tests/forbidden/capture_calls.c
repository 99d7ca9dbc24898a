/* Every call that a program might make while a stream captures, by mode of the capture, by thread
 * (the one that began it, another) and by the mode of that thread: what the call says, what has
 * become of the capture, what its end says.
 *
 * A line is a call and six groups: in captures begun as global, thread-local and relaxed, by the
 * thread itself, then by another. A group is ERROR/STATUS/END, or, where the calling thread's own
 * mode (global, thread-local, relaxed) makes a difference, three of them. Behind END's 0 stands how
 * many nodes there are.
 */
#include "rules.h"

static CUstream s, blocking, nonblocking, idle; /* s captures */
static CUevent captured, plain, fresh, timed, timed2, spare;
static CUdeviceptr q, async_memory, managed;
static CUgraph graph, built, captured_graph;
static CUgraphExec exec, spare_exec;
static CUgraphNode node;
static CUmodule spare_module, loaded;
static CUlibrary library;
static CUmemoryPool pool, own_pool;
static CUstream made;
static CUevent made_event;
static CUcontext made_context;
static void *pinned, *made_pinned;
static char pageable[4096], registered[8192] __attribute__((aligned(4096)));
static size_t size, size2;
static int number;
static unsigned word;
static float ms;
static CUstreamCaptureStatus status;
static cuuint64_t id;
static const CUgraphNode *after;
static size_t n_after;
static CUstreamCaptureMode mode;
static CUmemGenericAllocationHandle physical;
static CUdeviceptr range;
static CUlinkState linker;
static CUuserObject object;
static CUstreamAttrValue attribute;
static CUmemAllocationProp properties;
static CUmemPoolProps pool_properties;
static const CUgraphEdgeData *edges;

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

static void CUDA_CB nothing_of(CUstream stream, CUresult r, void *data)
{
    (void)stream, (void)r, (void)data;
}

static CUDA_MEMCPY2D box2(void)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .srcPitch = 64,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = other_memory,
                           .dstPitch = 64,
                           .WidthInBytes = 16,
                           .Height = 4};
}
static CUDA_MEMCPY2D box;

static CUresult destroy(CUstream *stream)
{
    CUresult r = cuStreamDestroy(*stream);
    *stream = NULL;
    return r;
}

/* The nth call, or its text alone. -1: there are not so many. */
static int nth(int want, const char **text, int run)
{
    int i = 0;
#define C(call)                                                                                                        \
    if (i++ == want) {                                                                                                 \
        *text = #call;                                                                                                 \
        return run ? (int)(call) : 0;                                                                                  \
    }
    /* contexts and devices */
    C(cuCtxSynchronize())
    C(cuCtxGetCurrent(&made_context))
    C(cuCtxSetCurrent(context))
    C(cuCtxGetDevice(&device))
    C(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048))
    C(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20))
    C(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20))
    C(cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE))
    C(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE))
    C(cuCtxGetStreamPriorityRange(&number, &number))
    C(cuCtxResetPersistingL2Cache())
    C(cuDevicePrimaryCtxRetain(&made_context, device))
    C(cuDevicePrimaryCtxRelease(device))
    C(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device))
    C(cuDeviceGetDefaultMemPool(&pool, device))
    C(cuDeviceSetMemPool(device, pool))
    C(cuDeviceCanAccessPeer(&number, device, device))
    C(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, add))
    C(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024))
    C(cuFuncSetCacheConfig(add, CU_FUNC_CACHE_PREFER_NONE))
    C(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, add, 128, 0))
    /* modules */
    C(cuModuleLoadData(&loaded, ptx))
    C(cuModuleUnload(spare_module))
    C(cuModuleGetFunction(&mul, module, "mul"))
    C(cuModuleGetGlobal(&q, &size, module, "total"))
    C(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0))
    C(cuLinkCreate(0, NULL, NULL, &linker))
    /* memory */
    C(cuMemAlloc(&q, 16))
    C(cuMemAllocPitch(&q, &size, 16, 16, 4))
    C(cuMemFree(async_memory))
    C(cuMemFree(0))
    C(cuMemAllocHost(&made_pinned, 64))
    C(cuMemHostAlloc(&made_pinned, 64, 0))
    C(cuMemFreeHost(pinned))
    C(cuMemAllocManaged(&q, 64, CU_MEM_ATTACH_GLOBAL))
    C(cuMemHostRegister(registered, 4096, 0))
    C(cuMemHostUnregister(registered + 4096))
    C(cuMemHostGetDevicePointer(&q, pinned, 0))
    C(cuMemHostGetFlags(&word, pinned))
    C(cuMemGetInfo(&size, &size2))
    C(cuMemGetAddressRange(&q, &size, memory))
    C(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory))
    C(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, other_memory))
    C(cuMemCreate(&physical, 2 << 20, &properties, 0))
    C(cuMemAddressReserve(&range, 2 << 20, 0, 0, 0))
    C(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM))
    /* copies and fills */
    C(cuMemcpy(memory, other_memory, 16))
    C(cuMemcpyHtoD(memory, pageable, 16))
    C(cuMemcpyDtoH(pageable, memory, 16))
    C(cuMemcpyDtoD(memory, other_memory, 16))
    C(cuMemcpyPeer(memory, context, other_memory, context, 16))
    C(cuMemcpy2D(&box))
    C(cuMemcpyHtoD(memory, pageable, 0))
    C(cuMemcpyAsync(memory, other_memory, 16, s))
    C(cuMemcpyHtoDAsync(memory, pageable, 16, s))
    C(cuMemcpyDtoHAsync(pageable, memory, 16, s))
    C(cuMemcpyHtoDAsync(memory, pinned, 16, s))
    C(cuMemcpyDtoDAsync(memory, other_memory, 16, s))
    C(cuMemcpyDtoDAsync(memory, other_memory, 0, s))
    C(cuMemcpy2DAsync(&box, s))
    C(cuMemcpyDtoDAsync(memory, other_memory, 16, 0))
    C(cuMemcpyDtoDAsync(memory, other_memory, 16, CU_STREAM_PER_THREAD))
    C(cuMemcpyDtoDAsync(memory, other_memory, 16, blocking))
    C(cuMemcpyDtoDAsync(memory, other_memory, 16, nonblocking))
    C(cuMemcpyHtoDAsync(0x10, pageable, 16, s))
    C(cuMemsetD8(memory, 0, 16))
    C(cuMemsetD32(memory, 0, 16))
    C(cuMemsetD2D8(memory, 64, 0, 16, 4))
    C(cuMemsetD8Async(memory, 0, 16, s))
    C(cuMemsetD8Async(memory, 0, 0, s))
    C(cuMemsetD32Async(memory, 0, 16, 0))
    C(cuMemsetD32Async(memory, 0, 16, nonblocking))
    C(cuMemsetD32Async(0x10, 0, 16, s))
    C(cuMemPrefetchAsync(managed, 64, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, s))
    C(cuMemPrefetchAsync(managed, 64, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, nonblocking))
    C(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}))
    C(cuStreamAttachMemAsync(s, managed, 0, CU_MEM_ATTACH_GLOBAL))
    /* pools */
    C(cuMemAllocAsync(&q, 64, s))
    C(cuMemAllocAsync(&q, 64, nonblocking))
    C(cuMemAllocAsync(&q, 64, blocking))
    C(cuMemAllocAsync(&q, 64, 0))
    C(cuMemFreeAsync(async_memory, s))
    C(cuMemFreeAsync(async_memory, nonblocking))
    C(cuMemFreeAsync(async_memory, 0))
    C(cuMemPoolCreate(&pool, &pool_properties))
    C(cuMemPoolDestroy(own_pool))
    C(cuMemPoolTrimTo(own_pool, 0))
    C(cuMemPoolSetAttribute(own_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &id))
    C(cuMemPoolGetAttribute(own_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &id))
    /* streams */
    C(cuStreamCreate(&made, 0))
    C(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING))
    C(cuStreamCreateWithPriority(&made, CU_STREAM_NON_BLOCKING, -1))
    C(destroy(&idle))
    C(cuStreamSynchronize(s))
    C(cuStreamSynchronize(blocking))
    C(cuStreamSynchronize(nonblocking))
    C(cuStreamSynchronize(0))
    C(cuStreamSynchronize(CU_STREAM_PER_THREAD))
    C(cuStreamQuery(s))
    C(cuStreamQuery(blocking))
    C(cuStreamQuery(nonblocking))
    C(cuStreamQuery(0))
    C(cuStreamQuery(CU_STREAM_PER_THREAD))
    C(cuStreamGetFlags(s, &word))
    C(cuStreamGetPriority(s, &number))
    C(cuStreamGetCtx(s, &made_context))
    C(cuStreamGetId(s, (unsigned long long *)&id))
    C(cuStreamGetDevice(s, &device))
    C(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &attribute))
    C(cuStreamCopyAttributes(s, blocking))
    C(cuStreamAddCallback(s, nothing_of, NULL, 0))
    C(cuStreamAddCallback(nonblocking, nothing_of, NULL, 0))
    C(cuStreamAddCallback(0, nothing_of, NULL, 0))
    C(cuStreamWaitValue32(s, memory, 0, CU_STREAM_WAIT_VALUE_GEQ))
    C(cuStreamWriteValue32(s, memory, 0, 0))
    C(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL))
    C(cuStreamBeginCapture(0, CU_STREAM_CAPTURE_MODE_GLOBAL))
    C(cuStreamBeginCapture(s, (CUstreamCaptureMode)7))
    C(cuStreamEndCapture(idle, &captured_graph))
    C(cuStreamEndCapture(0, &captured_graph))
    C(cuStreamEndCapture(s, NULL))
    C(cuStreamIsCapturing(s, &status))
    C(cuStreamIsCapturing(blocking, &status))
    C(cuStreamIsCapturing(0, &status))
    C(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status))
    C(cuStreamIsCapturing(s, NULL))
    C(cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after))
    C(cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, NULL, &n_after))
    C(cuStreamGetCaptureInfo(0, &status, &id, &graph, &after, &edges, &n_after))
    /* work */
    C(launch(add, s))
    C(launch(add, 0))
    C(launch(add, CU_STREAM_LEGACY))
    C(launch(add, CU_STREAM_PER_THREAD))
    C(launch(add, blocking))
    C(launch(add, nonblocking))
    C(cuLaunchKernel(add, 1, 1, 1, 2000, 1, 1, 0, s, (void *[]){&memory, &word}, NULL))
    C(cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, s, (void *[]){&memory, &word}, NULL))
    C(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 1 << 20, s, (void *[]){&memory, &word}, NULL))
    C(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL))
    C(cuLaunchCooperativeKernel(add, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&memory, &word}))
    C(cuLaunchCooperativeKernel(add, 100000, 1, 1, 1024, 1, 1, 0, s, (void *[]){&memory, &word}))
    C(cuLaunchHostFunc(s, nothing, NULL))
    C(cuLaunchHostFunc(s, NULL, NULL))
    C(cuLaunchHostFunc(nonblocking, nothing, NULL))
    C(cuLaunchHostFunc(0, nothing, NULL))
    /* events */
    C(cuEventCreate(&made_event, 0))
    C(cuEventDestroy(captured))
    C(cuEventDestroy(spare))
    C(cuEventRecord(fresh, s))
    C(cuEventRecord(captured, s))
    C(cuEventRecord(captured, nonblocking))
    C(cuEventRecord(fresh, nonblocking))
    C(cuEventRecord(fresh, blocking))
    C(cuEventRecord(fresh, 0))
    C(cuEventRecord(fresh, CU_STREAM_PER_THREAD))
    C(cuEventRecordWithFlags(fresh, s, CU_EVENT_RECORD_EXTERNAL))
    C(cuEventRecordWithFlags(fresh, nonblocking, CU_EVENT_RECORD_EXTERNAL))
    C(cuEventRecordWithFlags(fresh, s, 8))
    C(cuEventQuery(captured))
    C(cuEventQuery(plain))
    C(cuEventQuery(fresh))
    C(cuEventSynchronize(captured))
    C(cuEventSynchronize(plain))
    C(cuEventSynchronize(fresh))
    C(cuEventElapsedTime(&ms, timed, timed2))
    C(cuEventElapsedTime(&ms, timed, captured))
    C(cuStreamWaitEvent(s, captured, 0))
    C(cuStreamWaitEvent(s, plain, 0))
    C(cuStreamWaitEvent(s, fresh, 0))
    C(cuStreamWaitEvent(s, plain, CU_EVENT_WAIT_EXTERNAL))
    C(cuStreamWaitEvent(s, captured, CU_EVENT_WAIT_EXTERNAL))
    C(cuStreamWaitEvent(s, plain, 8))
    C(cuStreamWaitEvent(nonblocking, captured, 0))
    C(cuStreamWaitEvent(blocking, captured, 0))
    C(cuStreamWaitEvent(0, captured, 0))
    C(cuStreamWaitEvent(CU_STREAM_PER_THREAD, captured, 0))
    C(cuStreamWaitEvent(nonblocking, captured, CU_EVENT_WAIT_EXTERNAL))
    C(cuStreamWaitEvent(nonblocking, plain, 0))
    C(cuStreamWaitEvent(0, plain, 0))
    /* graphs */
    C(cuGraphCreate(&graph, 0))
    C(cuGraphAddEmptyNode(&node, built, NULL, 0))
    C(cuGraphInstantiate(&spare_exec, built, 0))
    C(cuGraphClone(&graph, built))
    C(cuGraphExecUpdate(exec, built, &(CUgraphExecUpdateResultInfo){0}))
    C(cuGraphLaunch(exec, s))
    C(cuGraphLaunch(exec, 0))
    C(cuGraphLaunch(exec, blocking))
    C(cuGraphLaunch(exec, nonblocking))
    C(cuGraphUpload(exec, s))
    C(cuGraphUpload(exec, nonblocking))
    C(cuGraphUpload(exec, 0))
    C(cuUserObjectCreate(&object, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
    C((cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after),
       cuGraphAddEmptyNode(&node, graph, NULL, 0)))
    C((cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after),
       cuGraphInstantiate(&spare_exec, graph, 0)))
    C((cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after), cuGraphClone(&graph, graph)))
    C((cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after), cuGraphGetNodes(graph, NULL, &size)))
    C((cuStreamGetCaptureInfo(s, &status, &id, &graph, &after, &edges, &n_after), cuGraphDestroyNode(after[0])))
    *text = NULL;
    return -1;
}

/* ---- one capture ---- */

struct seen {
    int error, status, end, nodes;
};

struct wanted {
    int call;
    CUstreamCaptureMode thread_mode;
    int error;
};

static void *calls(void *data)
{
    struct wanted *w = data;
    const char *text;
    CUstreamCaptureMode m = w->thread_mode;
    cuCtxSetCurrent(context);
    cuThreadExchangeStreamCaptureMode(&m);
    if (sigsetjmp(after_crash, 1))
        w->error = -11;
    else
        w->error = nth(w->call, &text, 1);
    cuThreadExchangeStreamCaptureMode(&m);
    return NULL;
}

static void prepare(const char *text)
{
    NEEDED(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    NEEDED(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    NEEDED(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    NEEDED(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
    NEEDED(cuEventCreate(&captured, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&fresh, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&spare, CU_EVENT_DISABLE_TIMING));
    NEEDED(cuEventCreate(&timed, 0));
    NEEDED(cuEventCreate(&timed2, 0));
    NEEDED(cuEventRecord(plain, nonblocking));
    NEEDED(cuEventRecord(timed, nonblocking));
    NEEDED(cuEventRecord(timed2, nonblocking));
    NEEDED(cuMemAllocAsync(&async_memory, 64, nonblocking));
    if (strstr(text, "spare_module"))
        NEEDED(cuModuleLoadData(&spare_module, ptx));
    NEEDED(cuMemAllocHost(&pinned, 4096));
    if (strstr(text, "registered"))
        NEEDED(cuMemHostRegister(registered + 4096, 4096, 0));
    if (strstr(text, "own_pool"))
        NEEDED(cuMemPoolCreate(&own_pool, &pool_properties));
    NEEDED(cuGraphCreate(&built, 0));
    NEEDED(cuGraphAddEmptyNode(&node, built, NULL, 0));
    NEEDED(cuGraphInstantiate(&exec, built, 0));
    NEEDED(cuCtxSynchronize());
    loaded = NULL, library = NULL, q = 0, made = NULL, made_event = NULL, physical = 0, range = 0;
}

/* Most of what the calls leave behind goes with its context: here is what would add up. */
static void clear(const char *text)
{
    cuCtxSetCurrent(context);
    cuCtxSynchronize();
    CUstream streams[] = {s, blocking, nonblocking, idle, made};
    for (int i = 0; i < 5; i++)
        if (streams[i])
            cuStreamDestroy(streams[i]);
    CUevent events[] = {captured, plain, fresh, spare, timed, timed2};
    for (int i = 0; i < 6 && !strstr(text, "cuEventDestroy"); i++)
        cuEventDestroy(events[i]);
    cuGraphExecDestroy(exec);
    cuGraphDestroy(built);
    if (strstr(text, "registered")) {
        cuMemHostUnregister(registered);
        cuMemHostUnregister(registered + 4096);
    }
    if (physical)
        cuMemRelease(physical);
    if (range)
        cuMemAddressFree(range, 2 << 20);
    if (loaded)
        cuModuleUnload(loaded);
    if (library)
        cuLibraryUnload(library);
    if (!strstr(text, "cuMemFreeHost"))
        cuMemFreeHost(pinned);
}

static struct seen one(const char *text, int call, int capture_mode, int thread_mode, int by_other)
{
    struct wanted w = {call, (CUstreamCaptureMode)thread_mode, 0};
    struct seen seen = {0, 0, 0, -1};
    CUgraph g = NULL;
    size_t n = 0;
    prepare(text);
    NEEDED(cuStreamBeginCapture(s, (CUstreamCaptureMode)capture_mode));
    NEEDED(launch(add, s));
    NEEDED(cuEventRecord(captured, s));
    if (by_other) {
        pthread_t t;
        pthread_create(&t, NULL, calls, &w);
        pthread_join(t, NULL);
    } else {
        calls(&w);
    }
    seen.error = w.error;
    CUstreamCaptureStatus now = (CUstreamCaptureStatus)9;
    cuStreamIsCapturing(s, &now);
    seen.status = now;
    seen.end = cuStreamEndCapture(s, &g);
    if (!seen.end && g) {
        cuGraphGetNodes(g, NULL, &n);
        seen.nodes = (int)n;
        cuGraphDestroy(g);
    }
    clear(text);
    return seen;
}

static int same(struct seen a, struct seen b)
{
    return !memcmp(&a, &b, sizeof a);
}

static void put(struct seen a)
{
    printf("%d/%d/%d", a.error, a.status, a.end);
    if (!a.end)
        printf("+%d", a.nodes);
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : 10000;
    const char *text;
    begin_rules();
    properties =
        (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    pool_properties =
        (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    box = box2();
    NEEDED(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    NEEDED(cuDeviceGetDefaultMemPool(&pool, device));
    for (int call = first; call < last && nth(call, &text, 0) == 0; call++) {
        printf("%s:", text);
        for (int by_other = 0; by_other < 2; by_other++)
            for (int capture_mode = 0; capture_mode < 3; capture_mode++) {
                struct seen at[3];
                for (int thread_mode = 0; thread_mode < 3; thread_mode++)
                    at[thread_mode] = one(text, call, capture_mode, thread_mode, by_other);
                printf(" ");
                put(at[0]);
                for (int i = 1; i < 3 && !(same(at[0], at[1]) && same(at[0], at[2])); i++) {
                    printf("|");
                    put(at[i]);
                }
            }
        printf("\n");
    }
    return 0;
}
