/* Host and kernel count in the same memory at the same time (CUDA Programming Guide, "Atomic functions": the example). */
#include "program.h"

#include <cuda.h>

#include <pthread.h>

KERNEL count(int *total, volatile int *begun, int times) BODY(
    *begun = 1;
    for (int i = 0; i < times; i++)
        atomicAdd_system(total, 10);
)
REGISTER_KERNEL(count)
MANAGED(int, shared_total)
REGISTER_MANAGED(shared_total)
MANAGED(int, other)
REGISTER_MANAGED(other)
KERNEL count_variable(int times) BODY(
    for (int i = 0; i < times; i++)
        atomicAdd_system(&shared_total, 1);
)
REGISTER_KERNEL(count_variable)

/* As an H200 answers of a variable of an nvcc-built program. */
static void variable_is_managed_in_every_query(int *v)
{
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_RANGE_SIZE,   CU_POINTER_ATTRIBUTE_CONTEXT};
    unsigned type = 0, is_managed = 0, sync = 0, flags = 0;
    CUdeviceptr device = 0, start = 0;
    void *host = NULL, *mapped = NULL, *symbol = NULL;
    size_t size = 0, range = 0, symbol_size = 0;
    CUcontext context = (CUcontext)v;
    struct cudaPointerAttributes a;
    struct cudaMemLocation here, there;
    cudaIpcMemHandle_t handle;
    cudaStream_t s;
    here.type = cudaMemLocationTypeDevice, here.id = 0;
    there.type = cudaMemLocationTypeHost, there.id = 0;
    void *values[] = {&type, &device, &host, &is_managed, &size, &context};
    CHECK(cudaPointerGetAttributes(&a, v));
    expect(a.type == cudaMemoryTypeManaged && a.device == 0 && a.devicePointer == v && a.hostPointer == v,
           "cudaPointerGetAttributes of a variable");
    expect(!cuPointerGetAttributes(6, what, values, (CUdeviceptr)v) && type == CU_MEMORYTYPE_DEVICE &&
               device == (CUdeviceptr)v && host == v && is_managed == 1 && size == 4 && !context,
           "cuPointerGetAttributes");
    expect(!cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)v) && is_managed == 1 &&
               !cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)v) && type == 2 &&
               !cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, (CUdeviceptr)v) && host == v &&
               !cuPointerGetAttribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)v) && sync == 1,
           "cuPointerGetAttribute, one by one");
    expect(!cuMemGetAddressRange(&start, &range, (CUdeviceptr)v) && start == (CUdeviceptr)v && range == 4,
           "cuMemGetAddressRange");
    EXPECT_ERROR(cudaGetSymbolAddress(&symbol, v), cudaSuccess);
    EXPECT_ERROR(cudaGetSymbolSize(&symbol_size, v), cudaSuccess);
    expect(symbol == v && symbol_size == 4, "its symbol is itself");
    EXPECT_ERROR(cudaMemPrefetchAsync(v, 4, here, 0, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemPrefetchAsync(v, 4, there, 0, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemAdvise(v, 4, cudaMemAdviseSetReadMostly, here), cudaSuccess);
    EXPECT_ERROR(cudaMemAdvise(v, 4, cudaMemAdviseSetAccessedBy, there), cudaSuccess);
    EXPECT_ERROR(cudaMemAdvise(v, 5, cudaMemAdviseSetReadMostly, here), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemPrefetchAsync(v, 5, here, 0, 0), cudaErrorInvalidValue);
    CHECK(cudaStreamCreate(&s));
    EXPECT_ERROR(cudaStreamAttachMemAsync(s, v, 0, cudaMemAttachSingle), cudaSuccess);
    EXPECT_ERROR(cudaStreamAttachMemAsync(s, v, 4, cudaMemAttachGlobal), cudaSuccess);
    EXPECT_ERROR(cudaStreamAttachMemAsync(s, v, 2, cudaMemAttachGlobal), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaHostGetDevicePointer(&mapped, v, 0), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaHostGetFlags(&flags, v), cudaSuccess);
    EXPECT_ERROR(cudaIpcGetMemHandle(&handle, v), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaHostRegister(v, 4, 0), cudaErrorInvalidValue);
}

static int told(const void *p, size_t bytes, enum cudaMemRangeAttribute what)
{
    int v = 77;
    cudaError_t e = cudaMemRangeGetAttribute(&v, sizeof v, what, p, bytes);
    return e ? 1000 + (int)e : v;
}

/* By pages, as an H200 tells it: 5 pages of cudaMallocManaged, or a variable within one. */
static void advice_is_told(char *p, size_t bytes)
{
    const enum cudaMemRangeAttribute mostly = cudaMemRangeAttributeReadMostly,
                                     preferred = cudaMemRangeAttributePreferredLocation,
                                     last = cudaMemRangeAttributeLastPrefetchLocation;
    enum cudaMemRangeAttribute two[2] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocationType};
    size_t page = bytes > 4096 ? 4096 : bytes, sizes[2] = {4, 4};
    char *q = bytes > 4096 ? p + 4096 : p;
    int by[4] = {77, 77, 77, 77}, a = 77, b = 77;
    void *values[2] = {&a, &b};
    struct cudaMemLocation here, there, far;
    here.type = cudaMemLocationTypeDevice, here.id = 0;
    there.type = cudaMemLocationTypeHost, there.id = 0;
    far.type = cudaMemLocationTypeDevice, far.id = 7;
    expect(told(p, bytes, mostly) == 0 && told(p, bytes, preferred) == -2 && told(p, bytes, last) == -2 &&
               told(p, bytes, cudaMemRangeAttributePreferredLocationType) == 0,
           "nothing has been advised");
    CHECK(cudaMemAdvise(q, page, cudaMemAdviseSetReadMostly, here));
    expect(told(q, page, mostly) == 1 && (q == p || (told(p, bytes, mostly) == 0 && told(p, 4, mostly) == 0)),
           "read mostly, of a part");
    CHECK(cudaMemAdvise(q, 4, cudaMemAdviseSetPreferredLocation, here));
    expect(told(q, page, preferred) == 0 && (q == p || told(p, bytes, preferred) == -2), "preferred, by pages");
    CHECK(cudaMemRangeGetAttributes(values, sizes, two, 2, q, page));
    expect(a == 1 && b == cudaMemLocationTypeDevice, "two attributes");
    CHECK(cudaMemAdvise(q, page, cudaMemAdviseSetPreferredLocation, there));
    expect(told(q, page, preferred) == -1 && told(q, page, cudaMemRangeAttributePreferredLocationId) == -1,
           "the host is -1");
    CHECK(cudaMemAdvise(q, page, cudaMemAdviseUnsetPreferredLocation, here));
    CHECK(cudaMemAdvise(q, page, cudaMemAdviseUnsetReadMostly, here));
    expect(told(q, page, preferred) == -2 && told(q, page, mostly) == 0, "advice is taken back");
    CHECK(cudaMemPrefetchAsync(p, bytes, here, 0, 0));
    expect(told(p, bytes, last) == 0, "the last prefetch");
    CHECK(cudaMemPrefetchAsync(q, page, there, 0, 0));
    expect(told(q, page, last) == -1 && told(q, 4, cudaMemRangeAttributeLastPrefetchLocationType) == 2 &&
               (q == p || told(p, bytes, last) == -2),
           "of a part, to the host");
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, there));
    CHECK(cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, here));
    CHECK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, bytes));
    expect(by[0] == 0 && by[1] == -1 && by[2] == -2 && by[3] == -2, "accessed by");
    CHECK(cudaMemAdvise(q, page, cudaMemAdviseUnsetAccessedBy, here));
    CHECK(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, bytes));
    expect(by[0] == -1 && by[1] == -2, "not by the device any more, as far as all of it goes");
    EXPECT_ERROR(cudaMemRangeGetAttribute(by, 6, cudaMemRangeAttributeAccessedBy, p, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemRangeGetAttribute(by, 8, mostly, p, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemRangeGetAttribute(by, 4, (enum cudaMemRangeAttribute)99, p, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemRangeGetAttribute(by, 4, mostly, p, 0), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemRangeGetAttribute(by, 4, mostly, p, bytes + 1), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, far), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemPrefetchAsync(p, bytes, far, 0, 0), cudaErrorInvalidDevice);
}

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
    CHECK(cudaPointerGetAttributes(&a, NULL));
    expect(a.type == cudaMemoryTypeUnregistered && a.device == cudaInvalidDeviceId, "a null pointer is none of CUDA's");
    int concurrent = 0;
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    expect(concurrent == 1, "concurrentManagedAccess is 1");
    struct cudaMemLocation here;
    here.type = cudaMemLocationTypeDevice, here.id = 0;
    EXPECT_ERROR(cudaMemPrefetchAsync(p, 4, here, 0, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, here), cudaSuccess);
    EXPECT_ERROR(cudaFree(p), cudaSuccess);
    variable_is_managed_in_every_query(&HOST(shared_total));
    for (int again = 0; again < 2; again++) { /* what is freed is forgotten */
        CHECK(cudaMallocManaged((void **)&p, 5 << 12, cudaMemAttachGlobal));
        advice_is_told((char *)p, 5 << 12);
        CHECK(cudaFree(p));
    }
    advice_is_told((char *)&HOST(other), 4);
    return done();
}
