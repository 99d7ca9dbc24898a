/* Memory in the order of a stream, from pools. */
#include "program.h"

KERNEL set(int *p, int value) BODY(
    p[threadIdx.x] = value;
)
REGISTER_KERNEL(set)

enum { MB = 1 << 20, MOST = 100000 };

/* How many of a size a pool with a maxSize gives out; then the last one's place is free once more. */
static int given_out(size_t most, size_t size, enum cudaMemAllocationHandleType handles, cudaStream_t s)
{
    static void *p[MOST];
    struct cudaMemPoolProps props;
    cudaMemPool_t pool;
    cudaError_t e = cudaSuccess;
    int n = 0;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.handleTypes = handles;
    props.maxSize = most;
    CHECK(cudaMemPoolCreate(&pool, &props));
    while (n < MOST && !(e = cudaMallocFromPoolAsync(&p[n], size, pool, s)))
        n++;
    if (n < MOST && e != cudaErrorMemoryAllocation)
        n = -1;
    if (n > 0) {
        CHECK(cudaFreeAsync(p[n - 1], s));
        CHECK(cudaMallocFromPoolAsync(&p[n - 1], size, pool, s));
        if (n < MOST && cudaMallocFromPoolAsync(&p[n], size, pool, s) != cudaErrorMemoryAllocation)
            n = -1;
    }
    cudaGetLastError();
    for (int i = 0; i < n; i++)
        CHECK(cudaFreeAsync(p[i], s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemPoolDestroy(pool));
    return n;
}

/* As an H200 has them: in steps of 32 MiB, of which memory takes units of 512 bytes. */
static void largest_sizes_are_kept_to(cudaStream_t s)
{
    static const struct {
        size_t most, size;
        int n;
    } cases[] = {{4 * MB, 64 * MB, 0},  {4 * MB, 32 * MB, 1},    {1, 32 * MB, 1},          {33 * MB, 64 * MB, 1},
                 {4 * MB, 1 * MB, 32},  {4 * MB, 3 * MB, 10},    {4 * MB, 1536000, 21},    {4 * MB, 1000, 32768},
                 {40 * MB, 3 * MB, 21}, {40 * MB, 1536000, 43},  {64 * MB, 16 * MB, 4},    {32 * MB, 33 * MB, 0},
                 {100 * MB, 128 * MB, 1}};
    struct cudaMemPoolProps props;
    cudaMemPool_t pool;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int n = given_out(cases[i].most, cases[i].size, cudaMemHandleTypeNone, s);
        if (n != cases[i].n)
            printf("# maxSize %zu: %d of %zu bytes\n", cases[i].most, n, cases[i].size);
        expect(n == cases[i].n, "maxSize");
    }
    expect(given_out(4 * MB, 3 * MB, cudaMemHandleTypePosixFileDescriptor, s) == 10, "of a pool that can be shared");
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = ~(size_t)0;
    EXPECT_ERROR(cudaMemPoolCreate(&pool, &props), cudaErrorMemoryAllocation);
    cudaGetLastError();
}

int main(void)
{
    cudaStream_t s;
    cudaMemPool_t standard, mine;
    struct cudaMemPoolProps props;
    unsigned long long keep = 1 << 20, got = 0;
    int *p = NULL, *q = NULL, host[64], value = 7, supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    expect(supported == 1, "the device has pools");
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocAsync((void **)&p, sizeof host, s));
    CHECK(LAUNCH(set, 1, 64, 0, s, &p, &value));
    CHECK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaStreamSynchronize(s));
    expect(host[0] == 7 && host[63] == 7, "allocate, launch, copy and free in a stream");
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &got));
    expect(got == keep, "an attribute of the device's pool");
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&mine, &props));
    CHECK(cudaMallocFromPoolAsync((void **)&q, sizeof host, mine, s));
    value = 9;
    CHECK(LAUNCH(set, 1, 64, 0, s, &q, &value));
    CHECK(cudaMemcpyAsync(host, q, sizeof host, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    expect(host[5] == 9, "memory of a pool of one's own");
    CHECK(cudaMemPoolGetAttribute(mine, cudaMemPoolAttrUsedMemCurrent, &got));
    expect(got >= sizeof host, "a pool counts what is used");
    EXPECT_ERROR(cudaFree(q), cudaSuccess);
    EXPECT_ERROR(cudaMemPoolTrimTo(mine, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemPoolDestroy(mine), cudaSuccess);
    largest_sizes_are_kept_to(s);
    return done();
}
