#include <cstdio>
#include <cuda.h>

int main()
{
    int values[] = {1, 2, 3, 4}, n = 4;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    void *args[] = {&memory};
    bool ok = !cuInit(0) && !cuDeviceGet(&device, 0) && !cuDevicePrimaryCtxRetain(&context, device) && !cuCtxSetCurrent(context) &&
              !cuModuleLoad(&module, KERNEL) && !cuModuleGetFunction(&function, module, "square") &&
              !cuMemAlloc(&memory, sizeof values) && !cuMemcpyHtoD(memory, values, sizeof values) &&
              !cuLaunchKernel(function, 1, 1, 1, n, 1, 1, 0, nullptr, args, nullptr) &&
              !cuMemcpyDtoH(values, memory, sizeof values);
    printf("%d %d %d\n", ok, values[0], values[3]);
    return !(ok && values[3] == 16);
}
