#include <cstdio>
#include <cuda_runtime.h>

int main()
{
    cudaDeviceProp properties;
    int version = 0, *memory = nullptr, value = 42, back = 0;
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    cudaRuntimeGetVersion(&version);
    if (!error)
        error = cudaMalloc(reinterpret_cast<void **>(&memory), sizeof *memory);
    cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice);
    cudaMemcpy(&back, memory, sizeof back, cudaMemcpyDeviceToHost);
    printf("%s %d %d %s\n", properties.name, version, back, cudaGetErrorString(error));
    return error || version != CUDART_VERSION || back != value || properties.major != 9;
}
