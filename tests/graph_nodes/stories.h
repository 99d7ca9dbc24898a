/* What the stories share: each call and what it says, line by line. */
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

#define SAY(call)                                                                                                      \
    do {                                                                                                               \
        int said_ = (int)(call);                                                                                       \
        printf("  %s: %d\n", #call, said_);                                                                            \
        fflush(stdout);                                                                                                \
        cudaGetLastError();                                                                                            \
    } while (0)
#define VALUE(what)                                                                                                    \
    do {                                                                                                               \
        printf("  %s = %lld\n", #what, (long long)(what));                                                             \
        fflush(stdout);                                                                                                \
    } while (0)

struct story {
    const char *name;
    void (*tell)();
    story *next;
    static story *first, **end;
    story(const char *n, void (*f)()) : name(n), tell(f), next(nullptr)
    {
        *end = this;
        end = &next;
    }
};
story *story::first, **story::end = &story::first;
#define STORY(name)                                                                                                    \
    static void name();                                                                                                \
    static story story_##name(#name, name);                                                                            \
    static void name()

int main(int argc, char **argv)
{
    if (argc < 2)
        for (story *s = story::first; s; s = s->next)
            puts(s->name);
    for (int i = 1; i < argc; i++)
        for (story *s = story::first; s; s = s->next)
            if (!strcmp(s->name, argv[i])) {
                printf("%s\n", s->name);
                s->tell();
                printf("  end: %d\n", (int)cudaDeviceSynchronize());
            }
}

__device__ int cell[16];
__global__ void add(int *p, int v)
{
    atomicAdd(p, v);
}
__global__ void set(int *p, int n, int v)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = v + i;
}
__global__ void sum(const int *p, int n, int *o)
{
    int s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += p[i];
    atomicAdd(o, s);
}
__global__ void choose(cudaGraphConditionalHandle h, const int *p, int least)
{
    cudaGraphSetConditional(h, *p < least);
}
__global__ void put_value(cudaGraphConditionalHandle h, unsigned v)
{
    cudaGraphSetConditional(h, v);
}
__global__ void copy_to(const int *p, int *o)
{
    *o = *p;
}

static cudaKernelNodeParams kernel(void *f, void **args, int grid = 1, int block = 1)
{
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = dim3(grid);
    p.blockDim = dim3(block);
    p.kernelParams = args;
    return p;
}
static cudaGraph_t new_graph()
{
    cudaGraph_t g = nullptr;
    cudaGraphCreate(&g, 0);
    return g;
}
static cudaGraphNode_t add_node(cudaGraph_t g, int *p, int v, std::vector<cudaGraphNode_t> after = {})
{
    void *a[] = {&p, &v};
    auto k = kernel((void *)add, a);
    cudaGraphNode_t n = nullptr;
    int e = cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &k);
    if (e)
        printf("  (a kernel node: %d)\n", e);
    return n;
}
static int *device_ints(int n)
{
    int *p = nullptr;
    cudaMalloc(&p, n * 4);
    cudaMemset(p, 0, n * 4);
    return p;
}
static int at(const int *p)
{
    int v = -1;
    cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
    return v;
}
static cudaMemAllocNodeParams memory(size_t bytes)
{
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = bytes;
    return m;
}
static void *alloc_node(cudaGraph_t g, size_t bytes, cudaGraphNode_t *n, std::vector<cudaGraphNode_t> after = {})
{
    auto m = memory(bytes);
    int e = cudaGraphAddMemAllocNode(n, g, after.data(), after.size(), &m);
    if (e)
        printf("  (an allocation node: %d)\n", e);
    return m.dptr;
}
static int count_nodes(cudaGraph_t g)
{
    size_t n = 0;
    cudaGraphGetNodes(g, nullptr, &n);
    return (int)n;
}
static int type_of(cudaGraphNode_t n)
{
    cudaGraphNodeType t = (cudaGraphNodeType)-1;
    cudaGraphNodeGetType(n, &t);
    return t;
}
static cudaGraphNodeParams condition(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams c = {};
    c.type = cudaGraphNodeTypeConditional;
    c.conditional.handle = h;
    c.conditional.type = type;
    c.conditional.size = size;
    return c;
}
static cudaGraphNode_t select_node(cudaGraph_t g, cudaGraphConditionalHandle h, unsigned v,
                                   std::vector<cudaGraphNode_t> after = {})
{
    void *a[] = {&h, &v};
    auto k = kernel((void *)put_value, a);
    cudaGraphNode_t n = nullptr;
    int e = cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &k);
    if (e)
        printf("  (a kernel node: %d)\n", e);
    return n;
}
static cudaGraphNode_t choose_node(cudaGraph_t g, cudaGraphConditionalHandle h, int *p, int least,
                                   std::vector<cudaGraphNode_t> after = {})
{
    void *a[] = {&h, &p, &least};
    auto k = kernel((void *)choose, a);
    cudaGraphNode_t n = nullptr;
    int e = cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &k);
    if (e)
        printf("  (a kernel node: %d)\n", e);
    return n;
}
static void launch(cudaGraphExec_t x, cudaStream_t s = 0)
{
    SAY(cudaGraphLaunch(x, s));
    SAY(cudaStreamSynchronize(s));
}
