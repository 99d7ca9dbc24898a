// Why should atomics be used sparingly? All threads that update one address take turns. The same sum in three ways.
// `heddle explain ./13_atomics_sparingly` says how often the busiest address is changed: "8,192 at the hottest sector", "512 at
// the hottest sector", "64 at the hottest sector"; on the page, "Estimated time" shows when atomics are no longer the bound.
#include "course.h"

const int THREADS = 256, BLOCKS = 64, EACH = 16;

__global__ void every_time(unsigned *sum)
{
    for (int i = 0; i < EACH; i++)
        atomicAdd(sum, threadIdx.x & 3); // an atomic operation for every addend
}

__global__ void once_a_thread(unsigned *sum)
{
    unsigned own = 0;
    for (int i = 0; i < EACH; i++)
        own += threadIdx.x & 3;
    atomicAdd(sum, own);
}

__global__ void once_a_block(unsigned *sum)
{
    __shared__ unsigned part[THREADS];
    unsigned own = 0;
    for (int i = 0; i < EACH; i++)
        own += threadIdx.x & 3;
    part[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

float best_ms(void (*kernel)(unsigned *), unsigned *sum)
{
    cudaEvent_t start, stop;
    float best = 1e9f;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = 0; i < 5; i++) {
        float ms;
        *sum = 0;
        CHECK(cudaEventRecord(start));
        kernel<<<BLOCKS, THREADS>>>(sum);
        CHECK(cudaEventRecord(stop));
        CHECK_LAUNCH();
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = ms < best ? ms : best;
        expect(*sum == BLOCKS * EACH * THREADS / 4 * (0 + 1 + 2 + 3), "the sum");
    }
    return best;
}

int main()
{
    unsigned *sum = managed<unsigned>(1);
    const int all = BLOCKS * THREADS * EACH;
    float a = best_ms(every_time, sum), b = best_ms(once_a_thread, sum), c = best_ms(once_a_block, sum);
    printf("%7d atomic operations: an addend each\n", all);
    printf("%7d atomic operations: a thread each\n", BLOCKS * THREADS);
    printf("%7d atomic operations: a block each\n", BLOCKS);
    printf("time: %.3f ms, %.3f ms, %.3f ms: the first takes %.1f times as long as the second\n", a, b, c, a / b);
}
