/* Memory in the order of a stream, from pools. */
#include "program.h"

KERNEL set(int *p, int value) BODY(
    p[threadIdx.x] = value;
)
REGISTER_KERNEL(set)

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
    return done();
}
