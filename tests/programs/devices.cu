/* Two devices (heddle run --devices 2): each with memory, streams and variables of its own. */
#include "program.h"

DEVICE int where;
KERNEL set_where(int value) BODY(
    where = value;
)
REGISTER_KERNEL(set_where)
REGISTER_VARIABLE(where)

int main(void)
{
    int n = 0, value, got = -1, can = 0, *p[2], device = -1;
    CHECK(cudaGetDeviceCount(&n));
    expect(n == 2, "there are two devices");
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        p[i] = (int *)device_memory(4);
        value = 10 + i;
        CHECK(LAUNCH(set_where, 1, 1, 0, 0, &value));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMemcpyFromSymbol(&got, (const void *)&where, 4, 0, cudaMemcpyDeviceToHost));
        expect(got == 10 + i, "a variable of the current device");
    }
    CHECK(cudaGetDevice(&device));
    expect(device == 1, "the current device");
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    expect(can == 1, "they reach each other's memory");
    EXPECT_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
    EXPECT_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cudaMemset(p[1], 0x77, 4));
    CHECK(cudaMemcpyPeer(p[0], 0, p[1], 1, 4));
    CHECK(cudaMemcpy(&got, p[0], 4, cudaMemcpyDeviceToHost));
    expect(got == 0x77777777, "a copy between devices");
    struct cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, p[0]));
    expect(a.device == 0, "memory knows its device");
    CHECK(cudaPointerGetAttributes(&a, p[1]));
    expect(a.device == 1, "the other memory, too");
    cudaStream_t s;
    CHECK(cudaMallocAsync((void **)&p[0], 1 << 20, 0)); /* device 1's */
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&s));
    EXPECT_ERROR(cudaFreeAsync(p[0], s), cudaSuccess);
    EXPECT_ERROR(cudaStreamSynchronize(s), cudaSuccess);
    EXPECT_ERROR(cudaFreeAsync(p[0], s), cudaErrorInvalidValue);
    return done();
}
