/* Graphs of 100,000 nodes: what is done with them takes time and memory in proportion to their
 * nodes and edges. */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "kernels.h"
#include "tap.h"

enum { N = 100000 };
static const double most_seconds = 2;

static CUmodule module;
static CUcontext context;
static CUgraph graph;
static CUgraphNode nodes[N];

/* Of this process, on all cores: other processes do not count. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define WITHIN_TIME(doing)                                                                                             \
    do {                                                                                                               \
        double begun = seconds();                                                                                      \
        doing;                                                                                                         \
        double took = seconds() - begun;                                                                               \
        CHECK(took < most_seconds);                                                                                    \
        if (took >= most_seconds)                                                                                      \
            printf("# %.1f seconds: %s\n", took, #doing);                                                              \
    } while (0)

/* Empty nodes and no edges. */
static void make_nodes(void)
{
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < N; i++)
        OK(cuGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
}

static void order(int earlier, int node)
{
    OK(cuGraphAddDependencies(graph, &nodes[earlier], &nodes[node], NULL, 1));
}

/* Each of nodes `first` and on depends on the one behind it. */
static void make_backward_chain(int first)
{
    for (int i = first; i + 1 < N; i++)
        order(i + 1, i);
}

static void all_leave(int hub)
{
    size_t n;
    for (int i = N - 1; i >= 0; i--)
        if (i != hub)
            OK(cuGraphDestroyNode(nodes[i]));
    OK(cuGraphNodeGetDependentNodes(nodes[hub], NULL, NULL, &n));
    CHECK(n == 0);
    OK(cuGraphNodeGetDependencies(nodes[hub], NULL, NULL, &n));
    CHECK(n == 0);
}

static void a_chain_that_was_made_from_its_end_is_instantiated(void)
{
    CUgraphExec x;
    WITHIN_TIME(make_nodes());
    WITHIN_TIME(make_backward_chain(0));
    WITHIN_TIME(OK(cuGraphInstantiate(&x, graph, 0)));
    WITHIN_TIME(OK(cuGraphLaunch(x, 0)); OK(cuCtxSynchronize()));
    WITHIN_TIME(OK(cuGraphExecDestroy(x)));
    order(0, N - 1);
    WITHIN_TIME(GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&x, graph, 0)));
    WITHIN_TIME(OK(cuGraphDestroy(graph)));
}

/* A hub that all others depend on, and then one that depends on all others. */
static void edges_of_a_hub_come_and_go(void)
{
    static CUgraphNode hub[N], others[N];
    size_t n = N;
    make_nodes();
    for (int i = 0; i < N; i++) {
        hub[i] = nodes[N / 2];
        others[i] = nodes[i < N / 2 ? i : i + 1];
    }
    WITHIN_TIME(OK(cuGraphAddDependencies(graph, hub, others, NULL, N - 1)));
    WITHIN_TIME(OK(cuGraphRemoveDependencies(graph, hub, others, NULL, N - 1)));
    WITHIN_TIME(OK(cuGraphAddDependencies(graph, others, hub, NULL, N - 1)));
    WITHIN_TIME(OK(cuGraphNodeGetDependencies(hub[0], others, NULL, &n)));
    CHECK(n == N - 1 && others[0] == nodes[0] && others[N - 2] == nodes[N - 1]);
    WITHIN_TIME(OK(cuGraphRemoveDependencies(graph, others + 1, hub, NULL, N - 2)));
    OK(cuGraphNodeGetDependencies(hub[0], NULL, NULL, &n));
    CHECK(n == 1);
    WITHIN_TIME(OK(cuGraphAddDependencies(graph, hub, others + 1, NULL, N - 2)));
    WITHIN_TIME(all_leave(N / 2));
    OK(cuGraphDestroy(graph));
}

static void ask_each(CUgraph clone)
{
    CUgraphNode found, next;
    size_t n;
    bool right = true;
    for (int i = 1; i < N; i++) {
        right &= cuGraphNodeFindInClone(&found, nodes[i], clone) == CUDA_SUCCESS;
        n = 1;
        right &= cuGraphNodeGetDependentNodes(found, &next, NULL, &n) == CUDA_SUCCESS && n == 1;
        right &= cuGraphNodeFindInClone(&found, nodes[i - 1], clone) == CUDA_SUCCESS && next == found;
    }
    CHECK(right);
}

static void each_node_is_found_in_a_clone(void)
{
    CUgraph clone;
    CUgraphNode found;
    make_nodes();
    make_backward_chain(0);
    WITHIN_TIME(OK(cuGraphClone(&clone, graph)));
    WITHIN_TIME(ask_each(clone));
    OK(cuGraphNodeFindInClone(&found, nodes[7], clone));
    OK(cuGraphDestroyNode(found));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, nodes[7], clone));
    OK(cuGraphNodeFindInClone(&found, nodes[8], clone));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
}

static void count_calls(void *data)
{
    ++*(uint32_t *)data;
}

static void change_each(CUgraphExec x, uint32_t *calls)
{
    CUDA_HOST_NODE_PARAMS h = {count_calls, calls};
    for (int i = 0; i < N; i++)
        OK(cuGraphExecHostNodeSetParams(x, nodes[i], &h));
}

static void each_node_of_what_is_instantiated_is_changed(void)
{
    CUgraphExec x;
    uint32_t before = 0, after = 0;
    CUDA_HOST_NODE_PARAMS h = {count_calls, &before};
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < N; i++)
        OK(cuGraphAddHostNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0, &h));
    OK(cuGraphInstantiate(&x, graph, 0));
    WITHIN_TIME(change_each(x, &after));
    WITHIN_TIME(OK(cuGraphLaunch(x, 0)); OK(cuCtxSynchronize()));
    CHECK(before == 0 && after == N);
    CUgraphExecUpdateResultInfo info;
    WITHIN_TIME(OK(cuGraphExecUpdate(x, graph, &info)));
    OK(cuGraphLaunch(x, 0));
    OK(cuCtxSynchronize());
    CHECK(before == N && after == N);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(graph));
}

/* ---- launches ---- */

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUdeviceptr zero(void)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    return p;
}

static uint32_t word(CUdeviceptr p)
{
    uint32_t v = 0;
    OK(cuMemcpyDtoH(&v, p, 4));
    return v;
}

/* A kernel of parameters p and n. */
static CUgraphNode add_kernel(CUgraph g, CUfunction f, unsigned blocks, unsigned threads, CUdeviceptr p, uint32_t n,
                              const CUgraphNode *after, size_t n_after)
{
    void *params[] = {&p, &n};
    CUDA_KERNEL_NODE_PARAMS k = {.func = f,
                                 .gridDimX = blocks,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = threads,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    CUgraphNode node = NULL;
    OK(cuGraphAddKernelNode(&node, g, after, n_after, &k));
    return node;
}

/* A line of /proc/self/status. */
static long status(const char *line)
{
    char text[256];
    long value = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(text, sizeof text, f))
        if (strncmp(text, line, strlen(line)) == 0)
            value = strtol(text + strlen(line), NULL, 10);
    if (f)
        fclose(f);
    return value;
}

/* The program's own, and what is there for other reasons: the compiler's, clocks. */
static long most_threads(void)
{
    return 4 * sysconf(_SC_NPROCESSORS_ONLN) + 4;
}

enum shape { CHAIN, FAN, EIGHT_EDGES };

static size_t edges_of(enum shape shape, int i, CUgraphNode after[8])
{
    static uint32_t random = 1;
    size_t n = shape == CHAIN && i ? 1 : 0;
    after[0] = i ? nodes[i - 1] : NULL;
    for (int k = 0; shape == EIGHT_EDGES && i && k < 8; k++) {
        random = random * 1664525 + 1013904223;
        CUgraphNode earlier = nodes[i - 1 - (int)((random >> 8) % (uint32_t)(i < 1000 ? i : 1000))];
        bool again = false;
        for (size_t j = 0; j < n; j++)
            again |= after[j] == earlier;
        if (!again)
            after[n++] = earlier;
    }
    return n;
}

static void make_kernels(enum shape shape, CUdeviceptr p)
{
    CUfunction f = kernel("gather"); /* none waits: n is 0 */
    CUgraphNode after[8];
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < N; i++)
        nodes[i] = add_kernel(graph, f, 1, 1, p, 0, after, edges_of(shape, i, after));
}

static void launches_of_a_shape_cost_little(enum shape shape)
{
    const long most_kilobytes = 300000;
    CUgraph clone;
    CUgraphExec x;
    CUdeviceptr p = zero();
    WITHIN_TIME(make_kernels(shape, p));
    WITHIN_TIME(OK(cuGraphInstantiate(&x, graph, 0)));
    WITHIN_TIME(OK(cuGraphClone(&clone, graph)));
    WITHIN_TIME(OK(cuGraphLaunch(x, 0)); OK(cuCtxSynchronize()));
    CHECK(word(p) == N);
    CHECK(status("Threads:") <= most_threads());
    CHECK(status("VmHWM:") < most_kilobytes);
    WITHIN_TIME(OK(cuGraphExecDestroy(x)); OK(cuGraphDestroy(clone)); OK(cuGraphDestroy(graph)));
    OK(cuMemFree(p));
}

static void a_chain_of_100000_launches_costs_little(void)
{
    launches_of_a_shape_cost_little(CHAIN);
}

static void a_fan_of_100000_launches_costs_little(void)
{
    launches_of_a_shape_cost_little(FAN);
}

static void launches_with_8_edges_each_cost_little(void)
{
    launches_of_a_shape_cost_little(EIGHT_EDGES);
}

/* A fan of launches none of which can end before all have begun. */
static void a_fan_meets(uint32_t branches, unsigned blocks, unsigned threads)
{
    CUgraphExec x;
    CUdeviceptr p = zero();
    OK(cuGraphCreate(&graph, 0));
    for (uint32_t i = 0; i < branches; i++)
        add_kernel(graph, kernel("gather"), blocks, threads, p, branches * blocks * threads, NULL, 0);
    OK(cuGraphInstantiate(&x, graph, 0));
    OK(cuGraphLaunch(x, 0));
    OK(cuCtxSynchronize());
    CHECK(word(p) == branches * blocks * threads);
    CHECK(status("Threads:") <= most_threads());
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(p));
}

static void launches_of_128_branches_wait_for_each_other(void)
{
    a_fan_meets(128, 1, 1);
    a_fan_meets(128, 3, 64);
}

/* Each waits for the one that was put behind it. */
static void launches_of_200_streams_wait_for_each_other(void)
{
    enum { STREAMS = 200 };
    CUstream streams[STREAMS];
    CUdeviceptr p = zero();
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t turn = STREAMS - 1 - i;
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cuLaunchKernel(kernel("relay"), 1, 1, 1, 1, 1, 1, 0, streams[i], (void *[]){&p, &turn}, NULL));
    }
    OK(cuCtxSynchronize());
    CHECK(word(p) == STREAMS);
    CHECK(status("Threads:") <= most_threads());
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuMemFree(p));
}

/* Gates, functions of the host and launches that wait, more of each than there are threads; the
 * last that is put opens the first. */
static void what_waits_of_400_streams_keeps_no_thread(void)
{
    enum { STREAMS = 400 };
    CUstream streams[STREAMS];
    CUdeviceptr p = zero();
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t turn = STREAMS - 1 - i, next = turn + 1;
        OK(cuStreamCreate(&streams[i], i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        if (i % 4 == 0) {
            OK(cuLaunchKernel(kernel("relay"), 1, 1, 1, 1, 1, 1, 0, streams[i], (void *[]){&p, &turn}, NULL));
        } else {
            OK(cuStreamWaitValue32(streams[i], p, turn, CU_STREAM_WAIT_VALUE_EQ));
            OK(cuStreamWriteValue32(streams[i], p, next, 0));
        }
    }
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamSynchronize(streams[i]));
    CHECK(word(p) == STREAMS);
    CHECK(status("Threads:") <= most_threads());
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuMemFree(p));
}

/* Before the stream is let go on, all of two launches have been put. */
static void large_launches_are_put_while_their_stream_waits(void)
{
    CUgraphExec x;
    CUstream s;
    CUdeviceptr p = zero(), gate = zero();
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    make_kernels(CHAIN, p);
    OK(cuGraphInstantiate(&x, graph, 0));
    OK(cuStreamWaitValue32(s, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuGraphLaunch(x, s));
    OK(cuGraphLaunch(x, s));
    CHECK(cuStreamQuery(s) == CUDA_ERROR_NOT_READY);
    CUstream opens;
    OK(cuStreamCreate(&opens, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWriteValue32(opens, gate, 1, 0));
    OK(cuStreamSynchronize(s));
    CHECK(word(p) == 2 * N);
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(opens));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(p));
    OK(cuMemFree(gate));
}

static void capture_launches(CUstream s, CUdeviceptr p)
{
    CUfunction f = kernel("gather");
    uint32_t none = 0;
    for (int i = 0; i < N; i++)
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &none}, NULL));
}

enum { BRANCHES = 10000 };

/* A branch for each stream, all of which the first one waits for. */
static void capture_fan(CUstream s, CUdeviceptr p, const CUstream *streams, const CUevent *events)
{
    CUfunction f = kernel("gather");
    uint32_t none = 0;
    CUevent fork;
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(fork, s));
    for (int i = 0; i < BRANCHES; i++) {
        OK(cuStreamWaitEvent(streams[i], fork, 0));
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, streams[i], (void *[]){&p, &none}, NULL));
        OK(cuEventRecord(events[i], streams[i]));
        OK(cuStreamWaitEvent(s, events[i], 0));
        OK(cuStreamWaitEvent(s, events[i], 0)); /* once more is the same */
    }
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &none}, NULL));
    OK(cuEventDestroy(fork));
}

static void what_was_captured_runs(CUstream s, CUdeviceptr p, uint32_t launches, size_t edges)
{
    CUgraphExec x;
    size_t n = 0;
    WITHIN_TIME(OK(cuStreamEndCapture(s, &graph)));
    OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    CHECK(n == edges);
    WITHIN_TIME(OK(cuGraphInstantiate(&x, graph, 0)));
    OK(cuMemsetD32(p, 0, 1));
    WITHIN_TIME(OK(cuGraphLaunch(x, s)); OK(cuStreamSynchronize(s)));
    CHECK(word(p) == launches);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(graph));
}

static void many_launches_and_streams_are_captured(void)
{
    static CUstream streams[BRANCHES];
    static CUevent events[BRANCHES];
    CUstream s;
    CUdeviceptr p = zero();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    WITHIN_TIME(capture_launches(s, p));
    what_was_captured_runs(s, p, N, N - 1);
    for (int i = 0; i < BRANCHES; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    WITHIN_TIME(capture_fan(s, p, streams, events));
    what_was_captured_runs(s, p, BRANCHES + 1, BRANCHES);
    for (int i = 0; i < BRANCHES; i++) {
        OK(cuStreamDestroy(streams[i]));
        OK(cuEventDestroy(events[i]));
    }
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
}

static void come_and_go(CUevent e, bool in_order)
{
    static CUstream streams[N];
    for (int i = 0; i < N; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_DEFAULT));
        OK(cuStreamWaitEvent(streams[i], e, 0));
    }
    for (int i = 0; i < N; i++)
        OK(cuStreamDestroy(streams[in_order ? i : N - 1 - i]));
}

static void a_program_has_100000_streams(void)
{
    CUevent e;
    CUdeviceptr p = zero();
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    OK(cuStreamWaitValue32(s, p, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(e, s));
    WITHIN_TIME(come_and_go(e, true));
    WITHIN_TIME(come_and_go(e, false));
    CUstream opens;
    OK(cuStreamCreate(&opens, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWriteValue32(opens, p, 1, 0));
    WITHIN_TIME(OK(cuCtxSynchronize()));
    CHECK(status("Threads:") <= most_threads());
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(opens));
    OK(cuEventDestroy(e));
    OK(cuMemFree(p));
}

int main(void)
{
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, kernels)) {
        printf("Bail out! CUDA cannot be initialized\n");
        return 1;
    }
    RUN(a_chain_that_was_made_from_its_end_is_instantiated);
    RUN(edges_of_a_hub_come_and_go);
    RUN(each_node_is_found_in_a_clone);
    RUN(each_node_of_what_is_instantiated_is_changed);
    RUN(a_chain_of_100000_launches_costs_little);
    RUN(a_fan_of_100000_launches_costs_little);
    RUN(launches_with_8_edges_each_cost_little);
    RUN(launches_of_128_branches_wait_for_each_other);
    RUN(launches_of_200_streams_wait_for_each_other);
    RUN(what_waits_of_400_streams_keeps_no_thread);
    RUN(large_launches_are_put_while_their_stream_waits);
    RUN(many_launches_and_streams_are_captured);
    RUN(a_program_has_100000_streams);
    return summary();
}
