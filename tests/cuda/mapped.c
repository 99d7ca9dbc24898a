/* Virtual memory management: addresses and memory, the one mapped to the other. */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "tap.h"

static CUmodule module;
static size_t granule;

static const CUmemAllocationProp on_device_0 = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUresult allow(CUdeviceptr p, size_t bytes, CUmemAccess_flags flags)
{
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(p, bytes, &d, 1);
}

/* p[0] += n, by a kernel. */
static CUresult add(CUdeviceptr p, unsigned n)
{
    CUfunction f;
    CUresult r = cuModuleGetFunction(&f, module, "add");
    r = r ? r : cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&p, &n}, NULL);
    return r ? r : cuCtxSynchronize();
}

static unsigned read_word(CUdeviceptr p)
{
    unsigned v = 0;
    OK(cuMemcpyDtoH(&v, p, 4));
    return v;
}

static void two_pieces_make_one_range(void)
{
    CUdeviceptr p;
    CUmemGenericAllocationHandle a, b;
    size_t before, now, total;
    unsigned *host = malloc(2 * granule);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAddressReserve(&p, 4 * granule, 0, 0, 0));
    CHECK(p % granule == 0);
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemCreate(&b, granule, &on_device_0, 0));
    OK(cuMemGetInfo(&now, &total));
    CHECK(now == before - 2 * granule);
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(p + granule, granule, 0, b, 0));
    OK(allow(p, 2 * granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    for (size_t i = 0; i < 2 * granule / 4; i++)
        host[i] = (unsigned)i;
    OK(cuMemcpyHtoD(p, host, 2 * granule));
    OK(cuMemsetD32(p + granule - 4, 100, 2));
    OK(add(p + granule - 4, 11));
    OK(add(p + granule, 22));
    CHECK(read_word(p + granule - 4) == 111 && read_word(p + granule) == 122);
    OK(cuMemcpyDtoD(p, p + granule, granule));
    CHECK(read_word(p) == 122 && read_word(p + 8) == (unsigned)granule / 4 + 2);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p + granule, granule + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p + 2 * granule, 1));
    OK(cuMemUnmap(p, 2 * granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 4 * granule));
    OK(cuMemGetInfo(&now, &total));
    CHECK(now == before);
    free(host);
}

static void memory_lives_on_while_it_is_mapped_and_can_be_mapped_twice(void)
{
    CUdeviceptr p, q;
    CUmemGenericAllocationHandle a, again;
    CUmemAllocationProp prop;
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemAddressReserve(&q, granule, 8 * granule, 0, 0));
    CHECK(q % (8 * granule) == 0);
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(q, granule, 0, a, 0));
    OK(cuMemRelease(a));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(allow(q, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD32(p, 5, 1));
    OK(add(q, 6));
    CHECK(read_word(p) == 11);
    OK(cuMemUnmap(p, granule));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(q + 100)));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, again));
    CHECK(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.id == 0);
    OK(cuMemUnmap(q, granule));
    OK(cuMemMap(p, granule, 0, again, 0));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    CHECK(read_word(p) == 11);
    OK(cuMemUnmap(p, granule));
    OK(cuMemRelease(again));
    OK(cuMemAddressFree(p, granule));
    OK(cuMemAddressFree(q, granule));
}

static void memory_is_exported_and_imported(void)
{
    CUdeviceptr p, q;
    CUmemGenericAllocationHandle a, b;
    int file, pipes[2];
    OK(cuMemAddressReserve(&p, 2 * granule, 0, 0, 0));
    q = p + granule;
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemExportToShareableHandle(&file, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&b, (void *)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(q, granule, 0, b, 0));
    OK(allow(p, 2 * granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD32(p, 77, 1));
    CHECK(read_word(q) == 77);
    OK(cuMemUnmap(p, 2 * granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * granule));
    CHECK(pipe(pipes) == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemImportFromShareableHandle(&b, (void *)(intptr_t)pipes[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static void what_cannot_be_is_refused(void)
{
    CUdeviceptr p, other;
    CUmemGenericAllocationHandle a, b;
    CUmemAllocationProp elsewhere = on_device_0;
    unsigned long long flags;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, granule + 1, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, granule, 3, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&a, granule / 2, &on_device_0, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&a, (size_t)1 << 50, &on_device_0, 0));
    elsewhere.location.id = 7;
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&a, granule, &elsewhere, 0));
    OK(cuMemAddressReserve(&p, 2 * granule, 0, 0, 0));
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemCreate(&b, 2 * granule, &on_device_0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, 2 * granule, 0, a, 0));                     /* more than there is */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p + granule, 2 * granule, 0, b, 0));           /* beyond the range */
    GIVES(CUDA_ERROR_INVALID_VALUE, allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)); /* nothing there */
    OK(cuMemMap(p, granule, 0, a, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, granule, 0, a, 0)); /* taken */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * granule));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, granule / 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, 2 * granule));
    OK(cuMemGetAccess(&flags, &on_device_0.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    OK(cuMemGetAccess(&flags, &on_device_0.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuMemAlloc(&other, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(other, 4));
    OK(cuMemFree(other));
    OK(cuMemUnmap(p, granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * granule));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * granule));
}

/* The last tests: a fault ends the context, so each is a process of its own. */
static int fault_of(bool mapped)
{
    CUdeviceptr p;
    CUmemGenericAllocationHandle a;
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    if (mapped) {
        OK(cuMemMap(p, granule, 0, a, 0));
        OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    }
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, add(p, 1));
    return bad;
}

static bool start(void)
{
    CUcontext c;
    return !cuInit(0) && !cuDevicePrimaryCtxRetain(&c, 0) && !cuCtxSetCurrent(c) &&
           !cuModuleLoadData(&module, kernels) &&
           !cuMemGetAllocationGranularity(&granule, &on_device_0, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static void in_child(bool mapped)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(!start() || fault_of(mapped));
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

static void kernels_cannot_touch_what_is_not_mapped(void)
{
    in_child(false);
}

static void kernels_cannot_write_what_is_only_to_be_read(void)
{
    in_child(true);
}

int main(void)
{
    RUN(kernels_cannot_touch_what_is_not_mapped);
    RUN(kernels_cannot_write_what_is_only_to_be_read);
    if (!start()) {
        printf("Bail out! CUDA cannot be initialized\n");
        return 1;
    }
    RUN(two_pieces_make_one_range);
    RUN(memory_lives_on_while_it_is_mapped_and_can_be_mapped_twice);
    RUN(memory_is_exported_and_imported);
    RUN(what_cannot_be_is_refused);
    return summary();
}
