/* The runtime and the driver API in one program: the same contexts, streams, memory and kernels. */
#include "program.h"

#include <cuda.h>

KERNEL twice(int *p) BODY(
    p[threadIdx.x] *= 2;
)
REGISTER_KERNEL(twice)

static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry three(.param .u64 p)\n{\n.reg .u64 %rd<2>;\n"
                           "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 3;\nret;\n}\n";

int main(void)
{
    CUcontext current = NULL, primary = NULL;
    CUdevice device = -1;
    CUmodule module;
    CUfunction three, function;
    cudaKernel_t kernel;
    CUdeviceptr p;
    CUstream s;
    cudaLibrary_t library;
    int host[4] = {1, 2, 3, 4}, version = 0, driver = 0;
    size_t free_bytes, total;
    CHECK(cudaSetDevice(0));
    expect(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current, "cudaSetDevice makes a context current");
    expect(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS && primary == current, "the primary one");
    expect(cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0, "of the device");
    cuDevicePrimaryCtxRelease(0);
    expect(cuMemAlloc(&p, sizeof host) == CUDA_SUCCESS && cuStreamCreate(&s, 0) == CUDA_SUCCESS,
           "memory and a stream of the driver");
    CHECK(cudaMemcpyAsync((void *)p, host, sizeof host, cudaMemcpyHostToDevice, s));
    CHECK(LAUNCH(twice, 1, 4, 0, s, &p));
    CHECK(cudaGetKernel(&kernel, (const void *)twice));
    void *args[] = {&p};
    expect(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 4, 1, 1, 0, s, args, NULL) == CUDA_SUCCESS,
           "the driver launches a kernel of the program");
    CHECK(cudaGetFuncBySymbol(&function, (const void *)twice));
    expect(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, s, args, NULL) == CUDA_SUCCESS, "and a function");
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(host, (void *)p, sizeof host, cudaMemcpyDefault));
    expect(host[0] == 8 && host[3] == 32, "work of both in one stream");
    expect(cuModuleLoadData(&module, text) == CUDA_SUCCESS &&
               cuModuleGetFunction(&three, module, "three") == CUDA_SUCCESS &&
               cuLaunchKernel(three, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL) == CUDA_SUCCESS,
           "a module of PTX text");
    CHECK(cudaMemcpy(host, (void *)p, sizeof host, cudaMemcpyDeviceToHost));
    expect(host[0] == 3, "its kernel has run");
    CHECK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "three"));
    CHECK(cudaMemset((void *)p, 0, sizeof host));
    CHECK(LAUNCH(kernel, 1, 1, 0, 0, &p));
    CHECK(cudaMemcpy(host, (void *)p, sizeof host, cudaMemcpyDeviceToHost));
    expect(host[0] == 3, "a kernel of a library, launched by cudaLaunchKernel");
    EXPECT_ERROR(cudaLibraryUnload(library), cudaSuccess);
    EXPECT_ERROR(cudaFree((void *)p), cudaSuccess);
    CHECK(cudaRuntimeGetVersion(&version));
    CHECK(cudaDriverGetVersion(&driver));
    expect(version >= 11000 && driver >= version, "the driver is at least as new as the runtime");
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    expect(free_bytes > 0 && free_bytes <= total, "free memory");

    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &status));
    expect(entry == (void *)&cuMemAlloc_v2 && status == cudaDriverEntryPointSuccess, "an entry point of the driver");
    CHECK(cudaGetDriverEntryPointByVersion("cuNothing", &entry, 12000, cudaEnableDefault, &status));
    expect(!entry && status == cudaDriverEntryPointSymbolNotFound, "one that is none");
    EXPECT_ERROR(cudaDeviceReset(), cudaSuccess);
    int *again = (int *)device_memory(sizeof host);
    CHECK(LAUNCH(twice, 1, 4, 0, 0, &again));
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    return done();
}
