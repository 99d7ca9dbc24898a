/* The kernels' heap ends with the context, and its limits begin anew. */
#include "program.h"
#include <cuda.h>

DEVICE char *kept;
KERNEL take(int n, int bytes, int *got) BODY(
    *got = 0;
    for (int i = 0; i < n; i++) {
        char *p = (char *)malloc(bytes);
        if (p) {
            p[0] = 1;
            kept = p;
            ++*got;
        }
    }
)
REGISTER_KERNEL(take)

static int taken(int n, int bytes)
{
    int got = -1, *p = (int *)device_memory(sizeof *p);
    CHECK(LAUNCH(take, 1, 1, 0, 0, &n, &bytes, &p));
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    return got;
}

static size_t limit(void)
{
    size_t bytes = 0;
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    return bytes;
}

int main(void)
{
    int part = 1 << 20, first = taken(20, part);
    expect(first > 0 && first <= 8 && taken(20, part) == 0, "a heap of 8 MiB is full after at most 8 blocks of one");
    for (int i = 0; i < 3; i++) {
        CHECK(cudaDeviceReset());
        expect(taken(20, part) == first, "it is empty after cudaDeviceReset()");
    }
    EXPECT_ERROR(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)32 << 20), cudaErrorInvalidValue);
    CHECK(cudaDeviceReset());
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)32 << 20));
    int most = taken(60, part);
    expect(most > 20 && most <= 32 && limit() == (size_t)32 << 20, "it is as large as was asked for before its first use");
    CHECK(cudaDeviceReset());
    expect(limit() == (size_t)8 << 20 && taken(60, part) == first, "the first limit counts again after a reset");

    /* blocks of other contexts stay */
    CUcontext other;
    int got = 0;
    cudaDeviceReset();
    taken(2, part);
    expect(cuCtxCreate(&other, NULL, 0, 0) == CUDA_SUCCESS, "another context");
    got = taken(2, part);
    expect(cuCtxDestroy(other) == CUDA_SUCCESS && got == 2, "it has blocks of its own");
    CHECK(cudaSetDevice(0));
    expect(taken(20, part) == first - 2, "those of the first are left when it has ended, and no others");
    return done();
}
