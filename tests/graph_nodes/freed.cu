/* Memory of a graph that is used before (g) and after its free node: by a kernel of the graph (a), by a launch (l), by a copy (c). */
#include <cstdio>

__global__ void write(int *p, int v)
{
    p[threadIdx.x] = v;
}
__global__ void read(const int *p, int *o)
{
    o[threadIdx.x] = p[threadIdx.x];
}

static cudaGraphNode_t kernel(cudaGraph_t g, void *f, void **args, cudaGraphNode_t after)
{
    cudaKernelNodeParams k = {};
    cudaGraphNode_t n;
    k.func = f;
    k.gridDim = 1;
    k.blockDim = 32;
    k.kernelParams = args;
    if (cudaGraphAddKernelNode(&n, g, &after, 1, &k))
        puts("no kernel node");
    return n;
}

int main(int argc, char **argv)
{
    int *o, v = 7, h[4], which = argc > 1 ? argv[1][0] : 'g';
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t allocates, frees;
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 4096;
    cudaMalloc(&o, 128);
    cudaGraphCreate(&g, 0);
    cudaGraphAddMemAllocNode(&allocates, g, nullptr, 0, &m);
    int *p = (int *)m.dptr;
    void *writes[] = {&p, &v}, *reads[] = {&p, &o};
    cudaGraphNode_t last = kernel(g, (void *)write, writes, allocates);
    if (which == 'g')
        last = kernel(g, (void *)read, reads, last);
    cudaGraphAddMemFreeNode(&frees, g, &last, 1, p);
    if (which == 'a')
        kernel(g, (void *)read, reads, frees);
    cudaGraphInstantiate(&x, g, 0);
    cudaGraphLaunch(x, 0);
    if (which == 'l')
        read<<<1, 32>>>(p, o);
    if (which == 'c')
        cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    return cudaDeviceSynchronize();
}
