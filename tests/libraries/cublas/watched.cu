// What a call reads and writes is one task's: `heddle check` finds nothing in a vector that is added to itself, and a kernel's race with it.
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void set(float *p)
{
    p[threadIdx.x] = 1;
}

int main(int, char **argv)
{
    const float two = 2, one = 1;
    float *p;
    cublasHandle_t blas;
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&p, 64 * sizeof *p);
    set<<<1, 64>>>(p);
    cublasCreate(&blas);
    cublasSaxpy(blas, 64, &two, p, 1, p, 1);
    // parts of one matrix of 8 x 8
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, p, 8, p + 4, 8, &one, p + 32, 8);
    if (!strcmp(argv[1], "races"))
        set<<<1, 64, 0, other>>>(p);
    cudaDeviceSynchronize();
}
