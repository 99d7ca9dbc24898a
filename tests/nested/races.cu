/* Parents and children that share memory: each case is right, or has one mistake, whose line has a mark. */
#include <cuda_runtime.h>

__global__ void child(int *d, int n)
{
    d[n + threadIdx.x] = d[threadIdx.x] + 1; /* child */
}
__global__ void next(int *d)
{
    d[3] = d[66];
}

/* What the threads have written that the launching one has met at a barrier, children see; who comes after the parent sees what they wrote. */
__global__ void good(int *d)
{
    d[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        child<<<1, 64>>>(d, 64);
}
/* A tail comes after the parent and after the other children. */
__global__ void tail(int *d)
{
    if (threadIdx.x == 0) {
        child<<<1, 64>>>(d, 64);
        child<<<1, 64, 0, cudaStreamTailLaunch>>>(d + 64, 64);
    }
    d[threadIdx.x + 256] = 1;
    d[threadIdx.x + 128] = 1;
}
__global__ void in_order(int *d)
{
    child<<<1, 64>>>(d, 64);
    child<<<1, 64>>>(d + 64, 64);
}
__global__ void by_event(int *d)
{
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    child<<<1, 64, 0, s>>>(d, 64);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    child<<<1, 64, 0, t>>>(d + 64, 64);
}
__global__ void copies(int *d)
{
    d[0] = 1;
    cudaMemcpyAsync(d + 1, d, 4, cudaMemcpyDeviceToDevice, 0);
    child<<<1, 2>>>(d, 64);
}
/* What one thread has written before its launch comes before what another puts behind that, though the two order nothing else. */
__global__ void behind_another_threads(int *d)
{
    if (threadIdx.x == 0) {
        d[66] = 1;
        child<<<1, 1>>>(d, 64);
        atomicExch(d + 300, 1);
    } else if (threadIdx.x == 32) {
        while (!atomicAdd(d + 300, 0))
            ;
        next<<<1, 1>>>(d);
    }
}
__global__ void no_barrier(int *d)
{
    d[threadIdx.x] = threadIdx.x; /* no_barrier */
    if (threadIdx.x == 0)
        child<<<1, 64>>>(d, 64);
}
__global__ void reads_back(int *d)
{
    child<<<1, 64>>>(d, 64);
    d[200] = d[70]; /* reads_back */
}
__global__ void writes_later(int *d)
{
    child<<<1, 64>>>(d, 64);
    d[5] = 1; /* writes_later */
}
__global__ void siblings(int *d)
{
    child<<<1, 64, 0, cudaStreamFireAndForget>>>(d, 64);
    child<<<1, 64, 0, cudaStreamFireAndForget>>>(d, 64); /* siblings: child */
}

int main(int argc, char **argv)
{
    int *d;
    cudaMalloc(&d, 4096);
    cudaMemset(d, 0, 4096);
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'g': good<<<1, 64>>>(d); break;
    case 't': tail<<<1, 64>>>(d); break;
    case 'i': in_order<<<1, 1>>>(d); break;
    case 'e': by_event<<<1, 1>>>(d); break;
    case 'c': copies<<<1, 1>>>(d); break;
    case 'b': behind_another_threads<<<1, 64>>>(d); break;
    case 'n': no_barrier<<<1, 64>>>(d); break;
    case 'r': reads_back<<<1, 1>>>(d); break;
    case 'w': writes_later<<<1, 1>>>(d); break;
    case 's': siblings<<<1, 1>>>(d); break;
    }
    next<<<1, 1>>>(d);
    return cudaDeviceSynchronize();
}
