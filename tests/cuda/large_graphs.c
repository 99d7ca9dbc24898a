/* Graphs of 100,000 nodes: what is done with them takes time and memory in proportion to their nodes and edges. */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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
    return summary();
}
