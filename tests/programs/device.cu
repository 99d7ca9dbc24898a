/* What the device says it is: properties and attributes agree, limits hold. */
#include "program.h"

#include <cuda_profiler_api.h>

static int attribute(enum cudaDeviceAttr a)
{
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

int main(void)
{
    struct cudaDeviceProp p;
    char bus[32] = "";
    int n = 0, device = -1;
    size_t stack = 0;
    CHECK(cudaGetDeviceCount(&n));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&p, 0));
    expect(n == 1 && device == 0, "there is one device");
    expect(strlen(p.name) > 4 && p.totalGlobalMem > 1 << 20, "it has a name and memory");
    expect(p.major == 9 && p.minor == 0 && p.warpSize == 32 && p.multiProcessorCount == 132, "an H200");
    expect(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 2147483647 &&
               p.maxGridSize[2] == 65535 && p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 232448 &&
               p.regsPerBlock == 65536 && p.maxBlocksPerMultiProcessor == 32 && p.totalConstMem == 65536,
           "its limits");
    expect(p.maxThreadsPerMultiProcessor == attribute(cudaDevAttrMaxThreadsPerMultiProcessor) &&
               p.l2CacheSize == attribute(cudaDevAttrL2CacheSize) &&
               p.hostNativeAtomicSupported == attribute(cudaDevAttrHostNativeAtomicSupported) &&
               p.clusterLaunch == attribute(cudaDevAttrClusterLaunch) &&
               p.ipcEventSupported == attribute(cudaDevAttrIpcEventSupport) &&
               p.memoryPoolsSupported == attribute(cudaDevAttrMemoryPoolsSupported) &&
               p.hostNumaId == attribute(cudaDevAttrHostNumaId),
           "properties are attributes");
    expect(p.managedMemory && p.concurrentManagedAccess && p.hostNativeAtomicSupported &&
               p.unifiedAddressing && p.canMapHostMemory && !p.pageableMemoryAccess,
           "host and device share memory that CUDA has allocated");
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    expect(stack == 4096, "a limit that was set");
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    device = -1;
    CHECK(cudaDeviceGetByPCIBusId(&device, bus));
    expect(device == 0, "the device by its place on the bus");
    EXPECT_ERROR(cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"), cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), cudaSuccess);
    unsigned flags = 0;
    CHECK(cudaGetDeviceFlags(&flags));
    expect(flags & cudaDeviceScheduleBlockingSync, "flags that were set");
    EXPECT_ERROR(cudaProfilerStart(), cudaSuccess);
    return done();
}
