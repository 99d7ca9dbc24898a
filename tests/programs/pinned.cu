/* Memory of the host that the device reaches: pinned, mapped, registered. Plain memory: pageable.cu. */
#include "program.h"

KERNEL add_to(int *p, int n, int value) BODY(
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
)
REGISTER_KERNEL(add_to)

enum { N = 1000 };

static int all_are(const int *p, int value)
{
    for (int i = 0; i < N; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

static int add(int *p, int value)
{
    int n = N;
    return LAUNCH(add_to, (N + 255) / 256, 256, 0, 0, &p, &n, &value) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
}

int main(void)
{
    struct cudaPointerAttributes a;
    int *pinned, *mapped, *device, *plain = (int *)calloc(N, sizeof(int));
    unsigned flags = 99;
    CHECK(cudaMallocHost((void **)&pinned, N * sizeof(int)));
    CHECK(cudaHostAlloc((void **)&mapped, N * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
    memset(pinned, 0, N * sizeof(int));
    memset(mapped, 0, N * sizeof(int));
    expect(add(pinned, 1) && all_are(pinned, 1), "a kernel writes pinned memory");
    CHECK(cudaHostGetDevicePointer((void **)&device, mapped, 0));
    expect(add(device, 2) && all_are(mapped, 2), "a kernel writes mapped memory");
    CHECK(cudaHostGetFlags(&flags, mapped));
    expect(flags == cudaHostAllocMapped, "flags of pinned memory");
    CHECK(cudaPointerGetAttributes(&a, mapped));
    expect(a.type == cudaMemoryTypeHost && a.hostPointer == mapped && a.devicePointer == device,
           "pinned memory says so");

    CHECK(cudaPointerGetAttributes(&a, plain));
    expect(a.type == cudaMemoryTypeUnregistered, "memory of malloc is unregistered");
    EXPECT_ERROR(cudaHostRegister(plain, N * sizeof(int), cudaHostRegisterMapped), cudaSuccess);
    EXPECT_ERROR(cudaHostRegister(plain, N * sizeof(int), 0), cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostGetDevicePointer((void **)&device, plain, 0));
    expect(add(device, 3) && all_are(plain, 3), "a kernel writes registered memory");
    CHECK(cudaPointerGetAttributes(&a, plain));
    expect(a.type == cudaMemoryTypeHost, "registered memory is the host's");
    EXPECT_ERROR(cudaHostUnregister(plain), cudaSuccess);
    EXPECT_ERROR(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);

    EXPECT_ERROR(cudaHostRegister(plain, 5 * sizeof(int), 0), cudaSuccess);
    EXPECT_ERROR(cudaHostRegister(plain + 5, (N - 6) * sizeof(int) + 1, 0), cudaSuccess);
    expect(add(plain, 4) && all_are(plain, 7), "pages are reached as a whole, however they are registered");
    EXPECT_ERROR(cudaHostUnregister(plain), cudaSuccess);
    EXPECT_ERROR(cudaHostUnregister(plain + 5), cudaSuccess);

    int *d = (int *)device_memory(N * sizeof(int));
    CHECK(cudaPointerGetAttributes(&a, d));
    expect(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == d, "device memory says so");
    CHECK(cudaMemcpyAsync(d, pinned, N * sizeof(int), cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(plain, d, N * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    expect(all_are(plain, 1), "asynchronous copies from pinned to pageable memory");
    EXPECT_ERROR(cudaFreeHost(pinned), cudaSuccess);
    EXPECT_ERROR(cudaFreeHost(mapped), cudaSuccess);
    return done();
}
