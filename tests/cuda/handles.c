/* Each function that takes a handle (handles.def), with handles that are none: of what was
 * destroyed, of a context that was reset or destroyed, of another kind, and with addresses and
 * small numbers.
 */
#include <cuda_runtime_api.h>
#include <stdint.h>

#include "tap.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .u32 v;\n"
                          ".visible .entry k(.param .u32 p) { ret; }\n";

/* ---- what calls need beside the handle ---- */

static CUcontext ctx;
static CUdeviceptr memory;
static CUmodule module;
static CUfunction function;
static CUstream stream;
static CUevent event;
static CUgraph graph, other;
static CUgraphNode node, kernel_node;
static CUgraphExec ex;
static CUuserObject object;
static CUmemoryPool pool;
static unsigned number;
static void *params[] = {&number};
static char out[4096] __attribute__((aligned(16)));
static void nothing(void *data)
{
    (void)data;
}

static const struct dim3 one = {1, 1, 1};
static const CUlaunchConfig config = {
    .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
static CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 1, .width = 16, .height = 1};
static const CUDA_HOST_NODE_PARAMS call = {.fn = nothing};

static void nothing_called(CUstream s, CUresult r, void *data)
{
    (void)s, (void)r, (void)data;
}

static const CUmemAllocationProp of_physical = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
static const CUmemPoolProps of_pool = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUdeviceptr map_here(void)
{
    CUdeviceptr at = 0;
    OK(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0));
    return at;
}

/* In the current context. */
static void set_up(void)
{
    OK(cuMemAlloc(&memory, 4096));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    fill.dst = memory;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphAddKernelNode(&kernel_node, graph, NULL, 0,
                            &(CUDA_KERNEL_NODE_PARAMS){function, 1, 1, 1, 1, 1, 1, 0, params, NULL, NULL, NULL}));
    OK(cuGraphInstantiateWithFlags(&ex, graph, 0));
    OK(cuUserObjectCreate(&object, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuMemPoolCreate(&pool, &of_pool));
}

/* ---- kinds: a new one, and its end ---- */

enum kind {
    MODULE,
    FUNCTION,
    STREAM,
    EVENT, /* so far, what ends with a context */
    LIBRARY,
    KERNEL,
    CONTEXT,
    GRAPH,
    NODE,
    KERNEL_NODE,
    EXEC,
    LINK,
    OBJECT,
    POOL,
    PHYSICAL,
    N_KINDS
};

struct made {
    void *handle, *owner; /* what it is destroyed with, where that is not itself */
};

static struct made make(enum kind k)
{
    struct made m = {0};
    CUmemGenericAllocationHandle physical = 0;
    switch (k) {
    case MODULE: OK(cuModuleLoadData((CUmodule *)&m.handle, ptx)); break;
    case FUNCTION:
        OK(cuModuleLoadData((CUmodule *)&m.owner, ptx));
        OK(cuModuleGetFunction((CUfunction *)&m.handle, m.owner, "k"));
        break;
    case LIBRARY: OK(cuLibraryLoadData((CUlibrary *)&m.handle, ptx, NULL, NULL, 0, NULL, NULL, 0)); break;
    case KERNEL:
        OK(cuLibraryLoadData((CUlibrary *)&m.owner, ptx, NULL, NULL, 0, NULL, NULL, 0));
        OK(cuLibraryGetKernel((CUkernel *)&m.handle, m.owner, "k"));
        break;
    case STREAM: OK(cuStreamCreate((CUstream *)&m.handle, 0)); break;
    case EVENT: OK(cuEventCreate((CUevent *)&m.handle, 0)); break;
    case CONTEXT:
        OK(cuCtxCreate((CUcontext *)&m.handle, NULL, 0, 0));
        OK(cuCtxPopCurrent(NULL));
        break;
    case GRAPH: OK(cuGraphCreate((CUgraph *)&m.handle, 0)); break;
    case NODE: OK(cuGraphAddEmptyNode((CUgraphNode *)&m.handle, graph, NULL, 0)); break;
    case KERNEL_NODE:
        OK(cuGraphAddKernelNode((CUgraphNode *)&m.handle, graph, NULL, 0,
                                &(CUDA_KERNEL_NODE_PARAMS){function, 1, 1, 1, 1, 1, 1, 0, params, NULL, NULL, NULL}));
        break;
    case EXEC: OK(cuGraphInstantiateWithFlags((CUgraphExec *)&m.handle, graph, 0)); break;
    case LINK: OK(cuLinkCreate(0, NULL, NULL, (CUlinkState *)&m.handle)); break;
    case OBJECT:
        OK(cuUserObjectCreate((CUuserObject *)&m.handle, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
        break;
    case POOL: OK(cuMemPoolCreate((CUmemoryPool *)&m.handle, &of_pool)); break;
    case PHYSICAL:
        OK(cuMemCreate(&physical, 2 << 20, &of_physical, 0));
        m.handle = (void *)(uintptr_t)physical;
        break;
    case N_KINDS: break;
    }
    return m;
}

static void destroy(enum kind k, struct made m)
{
    switch (k) {
    case MODULE: OK(cuModuleUnload(m.handle)); break;
    case FUNCTION: OK(cuModuleUnload(m.owner)); break;
    case LIBRARY: OK(cuLibraryUnload(m.handle)); break;
    case KERNEL: OK(cuLibraryUnload(m.owner)); break;
    case STREAM: OK(cuStreamDestroy(m.handle)); break;
    case EVENT: OK(cuEventDestroy(m.handle)); break;
    case CONTEXT: OK(cuCtxDestroy(m.handle)); break;
    case GRAPH: OK(cuGraphDestroy(m.handle)); break;
    case NODE:
    case KERNEL_NODE: OK(cuGraphDestroyNode(m.handle)); break;
    case EXEC: OK(cuGraphExecDestroy(m.handle)); break;
    case LINK: OK(cuLinkDestroy(m.handle)); break;
    case OBJECT: OK(cuUserObjectRelease(m.handle, 1)); break;
    case POOL: OK(cuMemPoolDestroy(m.handle)); break;
    case PHYSICAL: OK(cuMemRelease((CUmemGenericAllocationHandle)(uintptr_t)m.handle)); break;
    case N_KINDS: break;
    }
}

/* ---- the calls ---- */

#define P(type) ((type *)(void *)out)
#define ROW(kind, name, call)                                                                                          \
    static int row_##name(void *h)                                                                                     \
    {                                                                                                                  \
        return (int)(call);                                                                                            \
    }
#include "handles.def"
#undef ROW

static const struct row {
    enum kind kind;
    const char *name;
    int (*call)(void *h);
} rows[] = {
#define ROW(kind, name, call) {kind, #name, row_##name},
#include "handles.def"
#undef ROW
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* An exec has no step of a node that is none: it has not been asked about the node itself. */
static int expected(const struct row *r)
{
    static const char *const of_exec[] = {"cuGraphNodeSetEnabled",          "cuGraphNodeGetEnabled",
                                          "cuGraphExecKernelNodeSetParams", "cuGraphExecHostNodeSetParams",
                                          "cuGraphExecMemsetNodeSetParams", "cuGraphExecEventRecordNodeSetEvent"};
    for (size_t i = 0; i < sizeof of_exec / sizeof of_exec[0]; i++)
        if (strcmp(r->name, of_exec[i]) == 0)
            return CUDA_ERROR_INVALID_VALUE;
    return r->kind == CONTEXT                    ? CUDA_ERROR_INVALID_CONTEXT
           : r->kind == GRAPH || r->kind == EXEC ? CUDA_ERROR_INVALID_VALUE
                                                 : CUDA_ERROR_INVALID_HANDLE;
}

static void use(const struct row *r, void *handle, int result)
{
    int got = r->call(handle);
    if (got == result)
        return;
    printf("# %s of %p is %d, not %d\n", r->name, handle, got, result);
    bad++;
}

static void use_all(enum kind first, enum kind last, void *const *handles)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].kind >= first && rows[i].kind <= last)
            use(&rows[i], handles[rows[i].kind], expected(&rows[i]));
}

/* The same for all. */
static void use_everywhere(void *handle, enum kind but)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].kind != but)
            use(&rows[i], handle, expected(&rows[i]));
}

/* Nothing has been disturbed. */
static void all_else_works(void)
{
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuGraphLaunch(ex, stream));
    OK(cuCtxSynchronize());
}

/* ---- tests ---- */

static void what_was_destroyed_is_no_handle(void)
{
    void *handles[N_KINDS];
    for (enum kind k = 0; k < N_KINDS; k++) {
        struct made m = make(k);
        destroy(k, m);
        handles[k] = m.handle;
    }
    use_all(0, N_KINDS - 1, handles);
    all_else_works();
}

/* Others in the same places. */
static void a_new_one_does_not_answer_for_the_old(void)
{
    enum { MANY = 40 };
    static struct made old[N_KINDS][MANY], fresh[N_KINDS][MANY];
    for (enum kind k = 0; k < N_KINDS; k++) {
        for (int i = 0; i < MANY; i++)
            old[k][i] = make(k);
        for (int i = 0; i < MANY; i++)
            destroy(k, old[k][i]);
        for (int i = 0; i < MANY; i++)
            fresh[k][i] = make(k);
    }
    for (int i = 0; i < MANY; i += MANY - 1) {
        void *handles[N_KINDS];
        for (enum kind k = 0; k < N_KINDS; k++)
            handles[k] = old[k][i].handle;
        use_all(0, N_KINDS - 1, handles);
    }
    for (enum kind k = 0; k < N_KINDS; k++)
        for (int i = 0; i < MANY; i++)
            destroy(k, fresh[k][i]);
    all_else_works();
}

static void numbers_and_addresses_are_no_handles(void)
{
    int here[16] = {0};
    void *on_heap = calloc(1, 4096);
    void *const none[] = {(void *)3,
                          (void *)7,
                          (void *)0x1000,
                          (void *)-1,
                          here,
                          on_heap,
                          (void *)memory,
                          (void *)ptx,
                          (char *)event + 1,
                          (char *)event + (1L << 50),
                          (void *)(uintptr_t)nothing};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        use_everywhere(none[i], N_KINDS);
    free(on_heap);
    all_else_works();
}

static void a_handle_of_another_kind_is_none(void)
{
    use_everywhere(event, EVENT);
    use_everywhere(stream, STREAM);
    use_everywhere(ctx, CONTEXT);
    use_everywhere(object, OBJECT);
    use_everywhere(pool, POOL);
    use_everywhere(graph, GRAPH);
    all_else_works();
}

static void nothing_is_no_handle(void)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].kind != STREAM && rows[i].kind != CONTEXT)
            CHECK(rows[i].call(NULL) != 0);
    all_else_works();
}

static void what_a_reset_ends_is_no_handle(void)
{
    void *handles[N_KINDS];
    for (enum kind k = 0; k <= EVENT; k++)
        handles[k] = make(k).handle;
    OK(cuDevicePrimaryCtxReset(0));
    set_up();
    use_all(0, EVENT, handles);
    all_else_works();
}

static void what_ends_with_its_context_is_no_handle(void)
{
    void *handles[N_KINDS];
    struct made mine = make(CONTEXT);
    OK(cuCtxPushCurrent(mine.handle));
    for (enum kind k = 0; k <= EVENT; k++)
        handles[k] = make(k).handle;
    OK(cuCtxDestroy(mine.handle));
    use_all(0, EVENT, handles);
    all_else_works();
}

/* A graph, and one that was made ready, outlive what they name. */
static void graphs_tell_of_functions_events_and_contexts_that_have_gone(void)
{
    struct made f = make(FUNCTION), e = make(EVENT), mine = make(CONTEXT);
    CUgraph g, copy;
    CUgraphNode of_function, of_event;
    CUgraphExec with_function, with_event, other;
    CUDA_KERNEL_NODE_PARAMS p = {f.handle, 1, 1, 1, 1, 1, 1, 0, params, NULL, NULL, NULL};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddKernelNode(&of_function, g, NULL, 0, &p));
    OK(cuGraphInstantiateWithFlags(&with_function, g, 0));
    OK(cuGraphLaunch(with_function, stream));
    destroy(FUNCTION, f);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(with_function, stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphInstantiateWithFlags(&other, g, 0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphClone(&copy, g));
    OK(cuGraphDestroyNode(of_function));
    OK(cuGraphAddEventRecordNode(&of_event, g, NULL, 0, e.handle));
    OK(cuGraphInstantiateWithFlags(&with_event, g, 0));
    destroy(EVENT, e);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(with_event, stream));
    OK(cuCtxPushCurrent(mine.handle));
    OK(cuGraphAddEmptyNode(&of_event, g, NULL, 0));
    OK(cuCtxDestroy(mine.handle));
    OK(cuGraphExecDestroy(with_function));
    OK(cuGraphExecDestroy(with_event));
    OK(cuGraphDestroy(g));
    all_else_works();
}

static void a_context_that_is_current_says_that_it_was_destroyed(void)
{
    struct made mine = make(CONTEXT);
    CUcontext current;
    CUdeviceptr p;
    OK(cuCtxPushCurrent(mine.handle));
    OK(cuCtxPushCurrent(ctx));
    OK(cuCtxDestroy(mine.handle));
    OK(cuCtxPopCurrent(&current));
    OK(cuCtxGetCurrent(&current));
    CHECK(current == mine.handle);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&p, 16));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize(NULL));
    OK(cuCtxPopCurrent(&current));
    all_else_works();
}

/* A capture holds on to streams, events, nodes and its graph. */
static void what_is_destroyed_while_it_is_captured_is_told(void)
{
    struct made mine = make(CONTEXT);
    CUstream s, joined;
    CUevent e;
    CUgraph g;
    CUstreamCaptureStatus status;
    OK(cuCtxPushCurrent(mine.handle));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuCtxPushCurrent(ctx));
    OK(cuStreamCreate(&joined, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(joined, e, 0));
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxDestroy(mine.handle));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamEndCapture(s, &g));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamIsCapturing(s, &status));
    OK(cuStreamDestroy(joined));
    all_else_works();
}

static void a_user_object_that_was_released_too_often_has_gone(void)
{
    struct made o = make(OBJECT);
    CUgraph g;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphRetainUserObject(g, o.handle, 1, 0));
    OK(cuUserObjectRelease(o.handle, 2));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuUserObjectRetain(o.handle, 1));
    OK(cuGraphDestroy(g));
    all_else_works();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    set_up();
    RUN(what_was_destroyed_is_no_handle);
    RUN(a_new_one_does_not_answer_for_the_old);
    RUN(numbers_and_addresses_are_no_handles);
    RUN(a_handle_of_another_kind_is_none);
    RUN(nothing_is_no_handle);
    RUN(graphs_tell_of_functions_events_and_contexts_that_have_gone);
    RUN(a_context_that_is_current_says_that_it_was_destroyed);
    RUN(what_is_destroyed_while_it_is_captured_is_told);
    RUN(a_user_object_that_was_released_too_often_has_gone);
    RUN(what_ends_with_its_context_is_no_handle);
    RUN(what_a_reset_ends_is_no_handle);
    return summary();
}
