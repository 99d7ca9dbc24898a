/* One call with one address that kernels cannot use: PROGRAM CALL KIND prints the call's status, and what the device
 * says next. Kinds: wild, host, null, protected. Without arguments: the calls. nvcc -std=c++17 -arch=sm_90 pointers.cu
 * -lcublas -lcufft -lcurand -lcusparse -lcusolver */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include <sys/mman.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

static float *memory()
{
    void *p;
    cudaMalloc(&p, 1 << 16);
    cudaMemset(p, 0, 1 << 16);
    return (float *)p;
}

static curandGenerator_t generator(curandRngType_t type)
{
    curandGenerator_t g;
    curandCreateGenerator(&g, type);
    return g;
}

static cufftHandle plan(cufftType type)
{
    cufftHandle p;
    cufftPlan1d(&p, 1024, type, 1);
    return p;
}

/* A unit matrix of four rows. */
static int product(int *rows, int *columns, float *values, float *x, float *y)
{
    cusparseHandle_t s;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t vx, vy;
    const float one = 1;
    size_t bytes;
    cusparseCreate(&s);
    cusparseCreateCsr(&a, 4, 4, 4, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_32F);
    cusparseCreateDnVec(&vx, 4, x, CUDA_R_32F);
    cusparseCreateDnVec(&vy, 4, y, CUDA_R_32F);
    cusparseSpMV_bufferSize(s, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &one, vy, CUDA_R_32F,
                            CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    return cusparseSpMV(s, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &one, vy, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, memory());
}

int main(int argc, char **argv)
{
    const char kind = argc > 2 ? argv[2][0] : 'w';
    float *bad = kind == 'w' ? (float *)0x1234567890 : kind == 'h' ? (float *)calloc(1, 1 << 16) : nullptr;
    if (kind == 'p')
        bad = (float *)mmap(nullptr, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float *a = memory(), *b = memory(), *c = memory(), one = 1, result;
    int *info = (int *)memory(), *pivots = (int *)memory(), *rows = (int *)memory(), *columns = (int *)memory(), index;
    const int numbers[] = {0, 1, 2, 3, 4};
    cudaMemcpy(rows, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemcpy(columns, numbers, 4 * sizeof(int), cudaMemcpyHostToDevice);
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cublasCreate(&blas);
    cusolverDnCreate(&solver);
    const auto N = CUBLAS_OP_N;
    auto device = [&] { cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE); };
    const struct {
        const char *name;
        std::function<int()> run;
    } calls[] = {
        {"draw", [&] { return curandGenerate(generator(CURAND_RNG_PSEUDO_XORWOW), (unsigned *)bad, 1000); }},
        {"normal", [&] { return curandGenerateNormal(generator(CURAND_RNG_PSEUDO_XORWOW), bad, 1000, 0, 1); }},
        {"sobol", [&] { return curandGenerateUniform(generator(CURAND_RNG_QUASI_SOBOL32), bad, 1000); }},
        {"twister", [&] { return curandGenerate(generator(CURAND_RNG_PSEUDO_MT19937), (unsigned *)bad, 1000); }},
        {"gemm_c", [&] { return cublasSgemm(blas, N, N, 16, 16, 16, &one, a, 16, b, 16, &one, bad, 16); }},
        {"gemm_a", [&] { return cublasSgemm(blas, N, N, 16, 16, 16, &one, bad, 16, b, 16, &one, c, 16); }},
        {"axpy", [&] { return cublasSaxpy(blas, 100, &one, a, 1, bad, 1); }},
        {"dot", [&] { return cublasSdot(blas, 100, a, 1, bad, 1, &result); }},
        {"amax", [&] { return cublasIsamax(blas, 100, bad, 1, &index); }},
        {"gemv", [&] { return cublasSgemv(blas, N, 16, 16, &one, a, 16, bad, 1, &one, c, 1); }},
        {"c2c_in", [&] { return cufftExecC2C(plan(CUFFT_C2C), (cufftComplex *)bad, (cufftComplex *)c, CUFFT_FORWARD); }},
        {"c2c_out", [&] { return cufftExecC2C(plan(CUFFT_C2C), (cufftComplex *)a, (cufftComplex *)bad, CUFFT_FORWARD); }},
        {"r2c", [&] { return cufftExecR2C(plan(CUFFT_R2C), bad, (cufftComplex *)c); }},
        {"spmv_rows", [&] { return product((int *)bad, columns, a, b, c); }},
        {"spmv_columns", [&] { return product(rows, (int *)bad, a, b, c); }},
        {"spmv_values", [&] { return product(rows, columns, bad, b, c); }},
        {"spmv_x", [&] { return product(rows, columns, a, bad, c); }},
        {"spmv_y", [&] { return product(rows, columns, a, b, bad); }},
        {"getrf", [&] { return cusolverDnSgetrf(solver, 16, 16, bad, 16, a, pivots, info); }},
        {"getrf_pivots", [&] { return cusolverDnSgetrf(solver, 16, 16, a, 16, b, (int *)bad, info); }},
        {"getrf_info", [&] { return cusolverDnSgetrf(solver, 16, 16, a, 16, b, pivots, (int *)bad); }},
        {"potrf", [&] { return cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, 16, bad, 16, b, 4096, info); }},
        {"set_vector", [&] { return cublasSetVector(64, 4, calloc(64, 4), 1, bad, 1); }},
        {"get_vector", [&] { return cublasGetVector(64, 4, bad, 1, calloc(64, 4), 1); }},
        {"axpy_alpha", [&] { return device(), cublasSaxpy(blas, 100, bad, a, 1, c, 1); }},
        {"dot_result", [&] { return device(), cublasSdot(blas, 100, a, 1, c, 1, bad); }},
        {"gemm_scalars", [&] { return device(), cublasSgemm(blas, N, N, 16, 16, 16, &one, a, 16, b, 16, &one, c, 16); }},
        {"batched", [&] { return cublasSgemmBatched(blas, N, N, 4, 4, 4, &one, (float **)bad, 4, (float **)bad, 4, &one, (float **)bad, 4, 2); }},
    };
    for (auto &call : calls)
        if (argc < 2)
            puts(call.name);
        else if (!strcmp(call.name, argv[1])) {
            const int status = call.run();
            printf("%d,%d\n", status, (int)cudaDeviceSynchronize());
        }
}
