/* past CASE ROUNDS [race]: what leaves a past of memory that grows with the rounds, and is never all waited for; hardly any of it is still
 * needed. The race is made behind it all, with an access that has been there since the beginning, or with the last ones. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1 << 16, BLOCK = 32, STREAMS = 3 };

__device__ int lock, counter;

/* Blocks, whose accesses nothing orders within a launch, in launch after launch. */
__global__ void update(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void writes(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 7; // @early
}

__global__ void reads(const int *p, int *sum)
{
    atomicAdd(sum, p[blockIdx.x * blockDim.x + threadIdx.x]); // @reads
}

/* What each block knows of those that have had the lock before. */
__global__ void count(bool race)
{
    if (race) {
        counter++; // @unlocked
        return;
    }
    while (atomicCAS(&lock, 0, 1))
        ;
    __threadfence();
    counter++; // @locked
    __threadfence();
    atomicExch(&lock, 0);
}

/* One launch, barrier after barrier. */
__global__ void one(int *p, int rounds, bool race)
{
    int *mine = p + blockIdx.x * blockDim.x, t = threadIdx.x, n = blockDim.x;
    for (int i = 0; i < rounds; i++) {
        mine[(t + i) % n] += 1; // @turn
        __syncthreads();
    }
    mine[t] = 0; // @last
    if (!race)
        __syncthreads();
    p[N + blockIdx.x * blockDim.x + t] = mine[n - 1 - t]; // @other
}

/* Shared memory of a block of which a warp has gone: barriers of the others do not end its past. */
__global__ void shared(int *p, int rounds, bool race)
{
    __shared__ int part[256];
    int t = threadIdx.x;
    if (t >= 64)
        return;
    for (int i = 0; i < rounds; i++) {
        part[(t + i) % 64] = t;
        __syncthreads();
    }
    part[t] = 0; // @shared_last
    if (!race)
        __syncthreads();
    p[t] = part[63 - t]; // @shared_other
}

int main(int argc, char **argv)
{
    const char *name = argv[1];
    int rounds = atoi(argv[2]), *p[STREAMS], *sum;
    bool race = argc > 3;
    cudaStream_t s[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        cudaMalloc(&p[i], 2 * N * sizeof(int));
        cudaMemset(p[i], 0, 2 * N * sizeof(int));
        cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    }
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    cudaDeviceSynchronize();
    if (!strcmp(name, "one"))
        one<<<8, 256, 0, s[0]>>>(p[0], rounds, race);
    if (!strcmp(name, "shared"))
        shared<<<1, 128, 0, s[0]>>>(p[0], rounds, race);
    bool waits = !strcmp(name, "waits"); /* for one of the streams, while the other one has what it has never waited for */
    if (waits || !strcmp(name, "launches")) {
        writes<<<N / BLOCK, BLOCK, 0, s[0]>>>(p[0] + N);
        for (int i = 0; i < rounds; i++) {
            update<<<N / BLOCK, BLOCK, 0, s[i % 2]>>>(p[i % 2]);
            if (waits)
                cudaStreamSynchronize(s[1]);
        }
        reads<<<N / BLOCK, BLOCK, 0, s[race ? 2 : 0]>>>(p[0] + N, sum);
    }
    for (int i = 0; i < rounds && !strcmp(name, "locks"); i++)
        count<<<64, 1, 0, s[i % 2]>>>(false);
    if (!strcmp(name, "locks") && race)
        count<<<1, 1, 0, s[2]>>>(true);
    printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "ok" : "failed");
    return 0;
}
