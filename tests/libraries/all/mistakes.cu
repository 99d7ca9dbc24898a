/* Handles that are gone, and scalars and results in device memory where the pointer mode says host: PROGRAM CASE. */
#include <cstdio>
#include <cstring>

#include <cublas_v2.h>
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

static float *a, *d;

static void handles()
{
    cublasHandle_t blas;
    curandGenerator_t generator;
    cufftHandle plan;
    cusolverDnHandle_t solver;
    cusparseHandle_t sparse;
    const float one = 1;
    size_t bytes;
    cublasCreate(&blas);
    cublasDestroy(blas);
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandDestroyGenerator(generator);
    cufftPlan1d(&plan, 16, CUFFT_C2C, 1);
    cufftDestroy(plan);
    cusolverDnCreate(&solver);
    cusolverDnDestroy(solver);
    cusparseCreate(&sparse);
    cusparseDestroy(sparse);
    printf("%d %d %d %d %d %d\n", cublasSscal(blas, 4, &one, a, 1), cublasSetStream(blas, nullptr),
           curandGenerateUniform(generator, a, 10), cufftExecC2C(plan, (cufftComplex *)a, (cufftComplex *)a, CUFFT_FORWARD),
           cusolverDnSgetrf(solver, 4, 4, a, 4, a, (int *)a, (int *)a),
           cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, nullptr, nullptr, &one, nullptr, CUDA_R_32F,
                                   CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
}

static void scalars()
{
    cublasHandle_t blas;
    cublasLtHandle_t light;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t layout;
    cusparseHandle_t sparse;
    cusparseSpVecDescr_t x;
    cusparseDnVecDescr_t y;
    const float one = 1;
    float result;
    cublasCreate(&blas);
    cublasSaxpy(blas, 4, d, a, 1, a + 8, 1);
    cublasSdot(blas, 4, a, 1, a, 1, d);
    cublasSrotg(blas, d, d + 1, &result, &result);
    cublasLtCreate(&light);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 4, 4, 4);
    cublasLtMatmul(light, product, d, a, layout, a, layout, &one, a, layout, a, layout, nullptr, nullptr, 0, nullptr);
    cusparseCreate(&sparse);
    cusparseCreateSpVec(&x, 4, 2, (int *)a, a, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&y, 4, a + 8, CUDA_R_32F);
    cusparseAxpby(sparse, d, x, &one, y);
    /* managed and pinned memory is the host's, too */
    float *managed, *pinned;
    cudaMallocManaged(&managed, sizeof one);
    cudaMallocHost(&pinned, sizeof one);
    *managed = *pinned = 0;
    cublasSaxpy(blas, 4, managed, a, 1, a + 8, 1);
    cublasSdot(blas, 4, a, 1, a, 1, pinned);
}

int main(int, char **argv)
{
    cudaMalloc(&a, 1024);
    cudaMemset(a, 0, 1024);
    cudaMalloc(&d, 2 * sizeof *d);
    cudaMemset(d, 0, 2 * sizeof *d);
    strcmp(argv[1], "handles") ? scalars() : handles();
    return cudaDeviceSynchronize();
}
