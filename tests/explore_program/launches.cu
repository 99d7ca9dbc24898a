/* Launches that are explored, by the program's first argument. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

struct node {
    unsigned value;
    node *next;
};

__device__ unsigned total;
__device__ unsigned long long pair[2];
__managed__ unsigned shown[2];
__constant__ unsigned step = 1;

__global__ void list(node *nodes, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        nodes[i] = {i + 10, i + 1 < n ? &nodes[i + 1] : nullptr};
}

/* A race between reading and writing the counter; all else is atomic. */
__global__ void add(unsigned *counter, unsigned long long *wide, const node *first, unsigned *mapped)
{
    unsigned sum = 0;
    for (const node *at = first; at; at = at->next)
        sum += at->value;
    unsigned now = counter[0];
    counter[0] = now + step;
    atomicAdd(wide, (unsigned long long)sum << 32);
    atomicAdd(&total, 1u);
    atomicAdd(&pair[1], 4ull);
    atomicAdd(&shown[1], 2u);
    atomicAdd(mapped, 1u);
}

template <typename T> __global__ void bump(T *p)
{
    atomicAdd(p, T(1));
}

/* A block's threads hand a value on by dynamic shared memory. */
__global__ void hand_on(unsigned *out, bool wait)
{
    extern __shared__ unsigned values[];
    values[threadIdx.x] = threadIdx.x + 1;
    if (wait)
        __syncthreads();
    if (threadIdx.x == 0)
        *out = values[blockDim.x - 1];
}

/* Millions of executions. */
__global__ void many(unsigned *order)
{
    for (int i = 0; i < 4; i++)
        atomicExch(&order[i], atomicAdd(&order[8], 1u) + 8 * threadIdx.x);
}

/* Updates may be lost; who finds `wrong` there traps. A block may wait for ever for another one's mark. */
__global__ void update(unsigned *counter, unsigned *seen, unsigned wrong)
{
    volatile unsigned *at = counter, *mark = &counter[1];
    unsigned now = *at;
    *at = now + 1;
    seen[blockIdx.x] = now;
    if (now == wrong)
        __trap();
    while (now == 2 * wrong && *mark == 0)
        ;
}

__global__ void meet(unsigned *values)
{
    values[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    values[2 + blockIdx.x] = values[1 - blockIdx.x];
}

static unsigned *zeros(unsigned n)
{
    unsigned *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemset(p, 0, n * sizeof *p);
    return p;
}

static void launch_add(unsigned times)
{
    node *nodes;
    unsigned *counter = zeros(1), *mapped, *on_device, start = 5, by = 3;
    unsigned long long *wide = (unsigned long long *)zeros(2);
    cudaMalloc(&nodes, 3 * sizeof *nodes);
    cudaMemcpy(counter, &start, sizeof start, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(step, &by, sizeof by);
    cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&on_device, mapped, 0);
    *mapped = 50;
    shown[1] = 100;
    list<<<1, 1>>>(nodes, 3);
    for (unsigned i = 0; i < times; i++)
        add<<<2, 1>>>(counter, wide, nodes, on_device);
    bump<<<1, 2>>>(counter);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(&start, counter, sizeof start, cudaMemcpyDeviceToHost);
    printf("counter %u, shown %u, mapped %u, %s\n", start, shown[1], *mapped, cudaGetErrorName(e));
}

static void launch_graph()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    unsigned *p = zeros(1), *out = zeros(1);
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    bump<<<1, 1, 0, s>>>(p);
    hand_on<<<1, 64, 64 * sizeof(unsigned), s>>>(out, true);
    bump<<<1, 2, 0, s>>>(p);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
    cudaGraphLaunch(exec, s);
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(s)));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (strcmp(what, "add") == 0) {
        launch_add(n);
    } else if (strcmp(what, "graph") == 0) {
        launch_graph();
    } else if (strcmp(what, "hand-on") == 0) {
        hand_on<<<1, 64, 64 * sizeof(unsigned)>>>(zeros(1), n);
        cudaDeviceSynchronize();
    } else if (strcmp(what, "many") == 0) {
        many<<<1, n>>>(zeros(16));
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    } else if (strcmp(what, "update") == 0) { /* the second launch is that of 10, 11 */
        unsigned *counter = zeros(2), *seen = zeros(2), wrong = argc > 3 ? (unsigned)atoi(argv[3]) : 99, got[3];
        for (unsigned i = 0; i < n; i++) {
            cudaMemset(counter, 0, sizeof *counter);
            bump<<<1, 1>>>(counter);
            bump<<<1, 9>>>(counter);
            update<<<2, 1>>>(counter, seen, wrong);
        }
        printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
        cudaMemcpy(got, counter, sizeof *counter, cudaMemcpyDeviceToHost);
        cudaMemcpy(got + 1, seen, 2 * sizeof *seen, cudaMemcpyDeviceToHost);
        printf(" %u %u %u\n", got[0], got[1], got[2]);
    } else if (strcmp(what, "meet") == 0) {
        unsigned *values = zeros(4);
        void *arguments[] = {&values};
        cudaLaunchCooperativeKernel((void *)meet, 2, 1, arguments, 0, 0);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    } else if (strcmp(what, "leave") == 0) { /* without waiting for it */
        bump<<<1, 2>>>(zeros(1));
    } else if (strcmp(what, "die") == 0) {
        many<<<1, 8>>>(zeros(16));
        sleep(1);
        abort();
    } else if (strcmp(what, "large") == 0) {
        bump<<<1 << 20, 1024>>>(zeros(1));
        cudaDeviceSynchronize();
    } else if (strcmp(what, "wrong") == 0) {
        bump<<<1, 4096>>>(zeros(1));
        printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    } else if (strcmp(what, "fail") == 0) {
        bump<<<1, 2>>>(zeros(1));
        cudaDeviceSynchronize();
        return 7;
    }
    return 0;
}
