/* Random graphs, and graphs that differ from them a little: changes of their edges and nodes,
 * updates, clones. A line is a seed. */
#include "rules.h"

enum { MOST = 8 };

static unsigned state;
static char host[256];

static unsigned below(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % n;
}

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

/* A graph as numbers: each node's type and variant, and what it depends on, of those before it, in
 * an order. */
struct plan {
    int n, type[MOST], variant[MOST], n_after[MOST], after[MOST][MOST];
};

static void plan_random(struct plan *p)
{
    p->n = 2 + (int)below(MOST - 2);
    for (int i = 0; i < p->n; i++) {
        p->type[i] = (int)below(6);
        p->variant[i] = (int)below(4);
        p->n_after[i] = 0;
        for (int k = 0; k < i; k++)
            if (below(10) < 4)
                p->after[i][p->n_after[i]++] = k;
    }
}

static void forget_node(struct plan *p)
{
    p->n--;
}

static void change(struct plan *p)
{
    int i = (int)below((unsigned)p->n), k;
    switch (below(8)) {
    case 0: p->type[i] = (int)below(6); break;
    case 1:
    case 2: p->variant[i] = (int)below(4); break;
    case 3: /* an edge less */
        if (p->n_after[i])
            p->n_after[i]--;
        break;
    case 4: /* one more */
        for (k = 0; k < i; k++) {
            int there = 0;
            for (int j = 0; j < p->n_after[i]; j++)
                there |= p->after[i][j] == k;
            if (!there) {
                p->after[i][p->n_after[i]++] = k;
                return;
            }
        }
        break;
    case 5: /* their order */
        if (p->n_after[i] > 1) {
            int t = p->after[i][0];
            p->after[i][0] = p->after[i][p->n_after[i] - 1];
            p->after[i][p->n_after[i] - 1] = t;
        }
        break;
    case 6: /* another edge */
        if (p->n_after[i]) {
            int to = (int)below((unsigned)i), there = 0;
            for (int j = 0; j < p->n_after[i]; j++)
                there |= p->after[i][j] == to;
            if (!there)
                p->after[i][below((unsigned)p->n_after[i])] = to;
        }
        break;
    default:
        if (p->n > 2 && below(2))
            forget_node(p);
        break;
    }
}

static CUevent event;

static CUgraph build(const struct plan *p, CUgraphNode *at)
{
    static unsigned two = 2;
    static void *params[] = {&memory, &two};
    CUgraph g;
    NEEDED(cuGraphCreate(&g, 0));
    for (int i = 0; i < p->n; i++) {
        CUgraphNode after[MOST];
        size_t n = (size_t)p->n_after[i];
        unsigned v = (unsigned)p->variant[i];
        for (size_t k = 0; k < n; k++)
            after[k] = at[p->after[i][k]];
        CUDA_KERNEL_NODE_PARAMS kernel = {.func = v & 1 ? mul : add,
                                          .gridDimX = 1 + (v >> 1),
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = params};
        CUDA_MEMSET_NODE_PARAMS fill = {.dst = v & 1 ? memory : other_memory,
                                        .value = v,
                                        .elementSize = 4,
                                        .width = 4 + v,
                                        .height = v == 3 ? 2 : 1,
                                        .pitch = v == 3 ? 64 : 0};
        CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = memory,
                              .dstMemoryType = v == 2 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                              .dstHost = host,
                              .dstDevice = other_memory,
                              .WidthInBytes = 16 + 4 * v,
                              .Height = v == 3 ? 2 : 1,
                              .Depth = 1,
                              .srcPitch = 64,
                              .dstPitch = 64};
        CUDA_HOST_NODE_PARAMS call = {nothing, v & 1 ? host : NULL};
        switch (p->type[i]) {
        case 0: NEEDED(cuGraphAddKernelNode(&at[i], g, after, n, &kernel)); break;
        case 1: NEEDED(cuGraphAddMemsetNode(&at[i], g, after, n, &fill, context)); break;
        case 2: NEEDED(cuGraphAddMemcpyNode(&at[i], g, after, n, &copy, context)); break;
        case 3: NEEDED(cuGraphAddHostNode(&at[i], g, after, n, &call)); break;
        case 4: NEEDED(cuGraphAddEmptyNode(&at[i], g, after, n)); break;
        default: NEEDED(cuGraphAddEventRecordNode(&at[i], g, after, n, event)); break;
        }
    }
    return g;
}

static int index_of(const CUgraphNode *at, int n, CUgraphNode node)
{
    for (int i = 0; i < n; i++)
        if (at[i] == node)
            return i;
    return node ? -2 : -1;
}

static int count(CUgraph g, int edges)
{
    size_t n = 0;
    CUresult r = edges ? cuGraphGetEdges(g, NULL, NULL, NULL, &n) : cuGraphGetNodes(g, NULL, &n);
    return r ? -(int)r : (int)n;
}

static void run(unsigned seed)
{
    struct plan p, q;
    CUgraphNode a[MOST], b[MOST];
    CUgraphExec x = NULL;
    state = seed * 2654435761u + 1;
    plan_random(&p);
    q = p;
    unsigned changes = below(3);
    for (unsigned i = 0; i < changes; i++)
        change(&q);
    CUgraph first = build(&p, a), then = build(&q, b);
    printf("%u: %d nodes %d edges", seed, count(first, 0), count(first, 1));
    NEEDED(cuGraphInstantiate(&x, first, 0));
    CUgraphExecUpdateResultInfo info = {0};
    CUresult r = cuGraphExecUpdate(x, then, &info);
    printf(", update %d %d %d %d", (int)r, (int)info.result, index_of(b, q.n, info.errorNode),
           index_of(b, q.n, info.errorFromNode));
    printf(", launch %d", (int)cuGraphLaunch(x, 0));
    printf(" %d", (int)cuCtxSynchronize());
    /* the graph itself, by hand */
    printf(",");
    for (int i = 0; i < 8; i++) {
        CUgraphNode from = a[below((unsigned)p.n)], to = a[below((unsigned)p.n)];
        unsigned what = below(5);
        int e = what < 3 ? (int)cuGraphAddDependencies(first, &from, &to, NULL, 1)
                         : (int)cuGraphRemoveDependencies(first, &from, &to, NULL, 1);
        printf(" %c%d", what < 3 ? '+' : '-', e);
    }
    CUgraph clone = NULL;
    CUgraphExec y = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    int made = (int)cuGraphInstantiateWithParams(&y, first, &params);
    printf(", %d edges, ready %d %d %d", count(first, 1), made, (int)params.result_out, params.hErrNode_out != NULL);
    info = (CUgraphExecUpdateResultInfo){0};
    r = cuGraphExecUpdate(x, first, &info);
    printf(", update %d %d %d %d", (int)r, (int)info.result, index_of(a, p.n, info.errorNode),
           index_of(a, p.n, info.errorFromNode));
    printf(", clone %d", (int)cuGraphClone(&clone, first));
    int gone = (int)below((unsigned)p.n);
    printf(", destroyed %d", (int)cuGraphDestroyNode(a[gone]));
    printf(", %d nodes %d edges, clone %d nodes %d edges\n", count(first, 0), count(first, 1), count(clone, 0),
           count(clone, 1));
    if (y)
        cuGraphExecDestroy(y);
    cuGraphExecDestroy(x);
    cuGraphDestroy(clone);
    cuGraphDestroy(then);
    cuGraphDestroy(first);
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, n = argc > 2 ? (unsigned)atoi(argv[2]) : 800;
    begin_rules();
    NEEDED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (unsigned seed = first; seed < first + n; seed++)
        run(seed);
    return 0;
}
