// A graph whose branches all come after one kernel, and before another: launched three times. Prints how many KiB the process has at most.
// Usage: branches N [race]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <vector>

__global__ void touch(int *p)
{
    *p = 1; // @writes
}

static cudaGraphNode_t add(cudaGraph_t graph, int *p, const std::vector<cudaGraphNode_t> &after)
{
    void *args[] = {&p};
    cudaKernelNodeParams params = {};
    params.func = (void *)touch;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = args;
    cudaGraphNode_t node;
    if (cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params))
        exit(2);
    return node;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), *cells;
    bool race = argc > 2 && strcmp(argv[2], "race") == 0;
    cudaMalloc(&cells, (n + 1) * sizeof *cells);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphCreate(&graph, 0);
    std::vector<cudaGraphNode_t> branches;
    cudaGraphNode_t first = add(graph, cells, {});
    for (int i = 0; i < n; i++)
        branches.push_back(add(graph, cells + 1 + (race && i == n - 1 ? 0 : i), {first}));
    add(graph, cells, branches);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(exec, 0);
    if (cudaDeviceSynchronize())
        return 3;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_maxrss);
}
