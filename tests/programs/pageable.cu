/* Memory of malloc, which kernels reach where the device says so. */
#include "program.h"

KERNEL add_to(int *p, int n, int value) BODY(
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
)
REGISTER_KERNEL(add_to)

enum { N = 100000 };

static cudaError_t add(int *p, int n, int value)
{
    cudaError_t launched = LAUNCH(add_to, (n + 255) / 256, 256, 0, 0, &p, &n, &value);
    return launched ? launched : cudaDeviceSynchronize();
}

int main(void)
{
    int *plain = (int *)calloc(N, sizeof(int)), can = -1, uses_tables = -1;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, 0));
    CHECK(cudaDeviceGetAttribute(&uses_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
    expect((can == 0 || can == 1) && can == uses_tables, "the device says whether it reaches pageable memory");

    /* Half of it is registered, and only the pages of that half are the device's in any case. */
    EXPECT_ERROR(cudaHostRegister(plain, N / 2 * sizeof(int), cudaHostRegisterDefault), cudaSuccess);
    EXPECT_ERROR(add(plain, N / 2, 3), cudaSuccess);
    EXPECT_ERROR(add(plain, N / 2, 1), cudaSuccess);
    expect(plain[0] == 4 && plain[N / 2 - 1] == 4 && plain[N / 2] == 0, "a kernel writes the registered half");
    EXPECT_ERROR(add(plain, N, 1), can ? cudaSuccess : cudaErrorIllegalAddress);
    expect(plain[N - 1] == can, "and the other half where the device says so");
    if (can) {
        EXPECT_ERROR(cudaHostUnregister(plain), cudaSuccess);
        EXPECT_ERROR(add(plain, N, 5), cudaSuccess);
        expect(plain[0] == 10 && plain[N - 1] == 6, "and all of it without registration");
    } else {
        /* A program goes on with another device, or ends. */
        EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    }
    return done();
}
