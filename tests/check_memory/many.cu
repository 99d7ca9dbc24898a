/* many LAUNCHES STREAMS [RACE]: launches in so many streams in turn, waited for after each turn; prints by how many KiB the process has
 * grown from the first tenth on. The RACE is made behind them all. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1 << 16, BLOCK = 256, MOST_STREAMS = 8 };

__global__ void update(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void writes(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 7; // @writes
}

__global__ void reads(const int *p, int *sum)
{
    atomicAdd(sum, p[blockIdx.x * blockDim.x + threadIdx.x]); // @reads
}

static long resident_kib()
{
    long total, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    bool ok = f && fscanf(f, "%ld %ld", &total, &resident) == 2;
    if (f)
        fclose(f);
    return ok ? 4 * resident : 0;
}

int main(int argc, char **argv)
{
    int launches = atoi(argv[1]), streams = atoi(argv[2]);
    const char *race = argc > 3 ? argv[3] : "";
    int *p[MOST_STREAMS], *shared;
    cudaStream_t s[MOST_STREAMS];
    for (int i = 0; i < streams; i++) {
        cudaMalloc(&p[i], N * sizeof(int));
        cudaMemset(p[i], 0, N * sizeof(int));
        cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    }
    cudaMallocManaged(&shared, N * sizeof(int));
    cudaDeviceSynchronize();
    long before = 0;
    for (int i = 0; i < launches; i += streams) {
        for (int k = 0; k < streams; k++)
            update<<<N / BLOCK, BLOCK, 0, s[k]>>>(p[k]);
        cudaDeviceSynchronize();
        if (i < launches / 10)
            before = resident_kib();
    }
    printf("%ld\n", resident_kib() - before);
    if (!strcmp(race, "streams")) {
        writes<<<N / BLOCK, BLOCK, 0, s[0]>>>(p[0]);
        reads<<<N / BLOCK, BLOCK, 0, s[1]>>>(p[0], shared);
    } else if (!strcmp(race, "host")) {
        writes<<<N / BLOCK, BLOCK, 0, s[0]>>>(shared);
        shared[5] = 1; // @host
    }
    cudaDeviceSynchronize();
    return 0;
}
