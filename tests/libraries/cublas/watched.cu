// What a call reads and writes is one task's: `heddle check` finds nothing in a vector that is added to itself, and a kernel's race with it.
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void set(float *p)
{
    p[threadIdx.x] = 1;
}

__global__ void touch(float *a, int ld, int rows, int columns, int part)
{
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
        const int row = i % rows, column = i / rows;
        if (part == 0 ? row > column : part == 1 ? row <= column : row == 1 && column == 0)
            a[row + column * ld] = 1;
    }
}

// A call that reads or writes part of a matrix, beside a kernel that writes the rest of it, or what the call uses, too.
static void parts(const char *call, bool races)
{
    const int n = 37, ld = 41;
    const float one = 1, zero = 0;
    float *a, *x, *y;
    cublasHandle_t blas;
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&a, ld * 80 * sizeof *a);
    cudaMalloc(&x, ld * n * sizeof *x);
    cudaMalloc(&y, ld * n * sizeof *x);
    cudaMemset(a, 0, ld * 80 * sizeof *a);
    cudaMemset(x, 0, ld * n * sizeof *x);
    cublasCreate(&blas);
    cudaDeviceSynchronize();
    if (!strcmp(call, "upper")) {
        cublasSsymv(blas, CUBLAS_FILL_MODE_UPPER, n, &one, a, ld, x, 1, &zero, y, 1);
        touch<<<1, 64, 0, other>>>(a, ld, n, n, races);
    } else if (!strcmp(call, "lower")) {
        cublasSsyrk(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, 2, &one, x, ld, &zero, a, ld);
        touch<<<1, 64, 0, other>>>(a + (races ? 0 : ld), ld, n - 1, n - 1, 1);
    } else if (!strcmp(call, "band")) { // of one diagonal above the main one: the first place of its row is not used
        cublasSsbmv(blas, CUBLAS_FILL_MODE_UPPER, n, 1, &one, a, ld, x, 1, &zero, y, 1);
        touch<<<1, 64, 0, other>>>(races ? a : a - 1, ld, 2, 1, 2);
    } else if (!strcmp(call, "addresses")) {
        float *addresses[3][8], **in_memory;
        for (int k = 0; k < 8; k++) {
            addresses[0][k] = a + k * 8 * ld;
            addresses[1][k] = x + k * 20;
            addresses[2][k] = y + k * 20;
        }
        cudaMalloc(&in_memory, sizeof addresses);
        cudaMemcpy(in_memory, addresses, sizeof addresses, cudaMemcpyHostToDevice);
        cublasSgemmBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, 5, 4, 4, &one, in_memory, ld, in_memory + 8, 5, &zero, in_memory + 16, 5, 8);
        touch<<<1, 64, 0, other>>>(a + 7 * 8 * ld + (races ? 3 : 4), ld, 2, 1, 2);
    } else { // the last of eight matrices, 8 columns apart, and what lies between its columns
        cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, 5, 4, 4, &one, a, ld, 8 * ld, x, 5, 20, &zero, y, 5, 20, 8);
        touch<<<1, 64, 0, other>>>(a + 7 * 8 * ld + (races ? 3 : 4), ld, 2, 1, 2);
    }
    cudaDeviceSynchronize();
}

// A call of one device reads the memory of another, which a kernel there writes.
static void devices(bool races)
{
    const float two = 2;
    float *near, *far;
    cublasHandle_t blas;
    cudaEvent_t written;
    cudaMalloc(&near, 64 * sizeof *near);
    cudaEventCreate(&written);
    cudaSetDevice(1);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaMalloc(&far, 64 * sizeof *far);
    cudaMemset(far, 0, 64 * sizeof *far);
    cublasCreate(&blas);
    cudaSetDevice(0);
    set<<<1, 64>>>(near);
    cudaEventRecord(written);
    cudaSetDevice(1);
    if (!races)
        cudaStreamWaitEvent(0, written, 0);
    cublasSaxpy(blas, 64, &two, near, 1, far, 1);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[2], "devices")) {
        devices(!strcmp(argv[1], "races"));
        return 0;
    }
    if (argc > 2) {
        parts(argv[2], !strcmp(argv[1], "races"));
        return 0;
    }
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
