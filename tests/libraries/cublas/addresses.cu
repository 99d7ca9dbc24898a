// Batches whose arrays hold addresses that lead nowhere: PROGRAM CALL CASE prints the call's status and what waiting for it says.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

enum { N = 4, BATCH = 2 };

static int product(float **matrices)
{
    cublasHandle_t blas;
    cublasCreate(&blas);
    const float one = 1, zero = 0;
    return cublasSgemmBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, matrices, N, matrices, N, &zero, matrices,
                              N, BATCH);
}

static int factors(float **matrices)
{
    cublasHandle_t blas;
    int *info;
    cublasCreate(&blas);
    cudaMalloc(&info, BATCH * sizeof *info);
    return cublasSgetrfBatched(blas, N, matrices, N, nullptr, info, BATCH);
}

static int cholesky(float **matrices)
{
    cusolverDnHandle_t solver;
    int *info;
    cusolverDnCreate(&solver);
    cudaMalloc(&info, BATCH * sizeof *info);
    return cusolverDnSpotrfBatched(solver, CUBLAS_FILL_MODE_LOWER, N, matrices, N, info, BATCH);
}

int main(int, char **argv)
{
    float *memory, *freed, **matrices;
    cudaMalloc(&memory, BATCH * N * N * sizeof(float));
    cudaMalloc(&freed, N * N * sizeof(float));
    cudaMalloc(&matrices, BATCH * sizeof *matrices);
    float ones[BATCH * N * N] = {};
    for (int i = 0; i < BATCH * N; i++)
        ones[i * N + i % N] = 1;
    cudaMemcpy(memory, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaFree(freed);
    float *const second[] = {memory + N * N, nullptr, (float *)(uintptr_t)0x1234, memory + BATCH * N * N - 1, freed};
    float *const addresses[BATCH] = {memory, second[atoi(argv[2])]};
    cudaMemcpy(matrices, addresses, sizeof addresses, cudaMemcpyHostToDevice);
    int (*const calls[])(float **) = {product, factors, cholesky};
    const int status = calls[atoi(argv[1])](matrices);
    printf("%d %d\n", status, (int)cudaDeviceSynchronize());
}
