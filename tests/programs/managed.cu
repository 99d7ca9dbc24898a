/* Host and kernel count in the same memory at the same time (CUDA Programming Guide, "Atomic functions": the example). */
#include "program.h"

#include <pthread.h>

KERNEL count(int *total, volatile int *begun, int times) BODY(
    *begun = 1;
    for (int i = 0; i < times; i++)
        atomicAdd_system(total, 10);
)
REGISTER_KERNEL(count)
MANAGED(int, shared_total)
REGISTER_MANAGED(shared_total)
KERNEL count_variable(int times) BODY(
    for (int i = 0; i < times; i++)
        atomicAdd_system(&shared_total, 1);
)
REGISTER_KERNEL(count_variable)

enum { BLOCKS = 8, THREADS = 64, TIMES = 200, HOST_TIMES = 200000 };

int main(void)
{
    int *p, times = TIMES, overlapped = 0;
    CHECK(cudaMallocManaged((void **)&p, 2 * sizeof *p, cudaMemAttachGlobal));
    int *begun = p + 1;
    p[0] = p[1] = 0;
    CHECK(LAUNCH(count, BLOCKS, THREADS, 0, 0, &p, &begun, &times));
    while (!*(volatile int *)begun) {
    }
    for (int i = 0; i < HOST_TIMES; i++) {
        overlapped += i % 1000 == 0 && cudaStreamQuery(0) == cudaErrorNotReady;
        __sync_fetch_and_add(p, 1);
    }
    cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    printf("# %d of %d looks found the kernel running\n", overlapped, HOST_TIMES / 1000);
    expect(*p == 10 * BLOCKS * THREADS * TIMES + HOST_TIMES, "atomicAdd_system and the host's atomics lose nothing");

    HOST(shared_total) = 5;
    CHECK(LAUNCH(count_variable, 2, 32, 0, 0, &times));
    __sync_fetch_and_add(&HOST(shared_total), 7);
    CHECK(cudaDeviceSynchronize());
    expect(HOST(shared_total) == 5 + 7 + 2 * 32 * TIMES, "a __managed__ variable is the host's, too");

    struct cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, p));
    expect(a.type == cudaMemoryTypeManaged && a.devicePointer == p && a.hostPointer == p && a.device == 0,
           "managed memory says so");
    int concurrent = 0;
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    expect(concurrent == 1, "concurrentManagedAccess is 1");
    struct cudaMemLocation here;
    here.type = cudaMemLocationTypeDevice, here.id = 0;
    EXPECT_ERROR(cudaMemPrefetchAsync(p, 4, here, 0, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, here), cudaSuccess);
    EXPECT_ERROR(cudaFree(p), cudaSuccess);
    return done();
}
