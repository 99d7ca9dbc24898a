// What loggers say of a good call and of a bad one: of cuBLAS (argument "blas"), cuBLASLt ("lt"), cuSPARSE ("sparse"), to stdout, a file or
// a callback ("stdout", "file", "callback").
#include <cstdio>
#include <cstring>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

static void blas_line(const char *line)
{
    printf("callback: %s", line);
}

static void line(int level, const char *function, const char *message)
{
    printf("callback: %d %s %s\n", level, function, message);
}

static void blas(const char *to, float *x)
{
    cublasLogCallback callback = nullptr;
    const bool calls = !strcmp(to, "callback");
    const float alpha = 2;
    cublasHandle_t h;
    if (calls)
        cublasSetLoggerCallback(blas_line);
    cublasGetLoggerCallback(&callback);
    printf("%d %d\n", (int)cublasLoggerConfigure(1, !strcmp(to, "stdout"), 0, strcmp(to, "file") ? nullptr : "log.txt"), calls == (callback == blas_line));
    cublasCreate(&h);
    cublasSscal(h, 3, &alpha, x, 1);
    cublasLoggerConfigure(0, 0, 0, nullptr);
    cublasSscal(h, 4, &alpha, x, 1);
    cublasDestroy(h);
}

static void lt(const char *to, float *x)
{
    cublasLtHandle_t h;
    cublasLtMatrixLayout_t a, b;
    cublasLtMatmulDesc_t d;
    const float alpha = 2, beta = 0;
    if (!strcmp(to, "callback"))
        cublasLtLoggerSetCallback(line);
    if (!strcmp(to, "file"))
        cublasLtLoggerOpenFile("log.txt");
    printf("%d %d %d\n", (int)cublasLtLoggerSetLevel(5), (int)cublasLtLoggerSetLevel(9), (int)cublasLtLoggerOpenFile("/dev/null/log"));
    cublasLtCreate(&h);
    cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 4, 4, 4);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 3, 4, 3);
    cublasLtMatmul(h, d, &alpha, x, a, x, a, &beta, x, a, x, a, nullptr, nullptr, 0, 0);
    cublasLtMatmul(h, d, &alpha, x, a, x, b, &beta, x, a, x, a, nullptr, nullptr, 0, 0);
    cublasLtLoggerForceDisable();
    cublasLtLoggerSetLevel(5);
    cublasLtDestroy(h);
}

static void sparse(const char *to, float *x)
{
    cusparseHandle_t h;
    cusparseDnVecDescr_t v;
    cusparseSpVecDescr_t s;
    const float alpha = 2;
    if (!strcmp(to, "callback"))
        cusparseLoggerSetCallback(line);
    if (!strcmp(to, "file"))
        cusparseLoggerOpenFile("log.txt");
    printf("%d %d\n", (int)cusparseLoggerSetLevel(5), (int)cusparseLoggerSetLevel(9));
    cusparseCreate(&h);
    cusparseCreateDnVec(&v, 8, x, CUDA_R_32F);
    cusparseCreateSpVec(&s, 8, 2, x + 16, x + 32, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseAxpby(h, &alpha, s, &alpha, v);
    cusparseLoggerSetMask(1); // errors alone
    cusparseAxpby(h, &alpha, s, &alpha, v);
    cusparseCreateDnVec(&v, -2, x, CUDA_R_32F);
    cusparseLoggerForceDisable();
    cusparseCreateDnVec(&v, -2, x, CUDA_R_32F);
}

int main(int, char **argv)
{
    float *x;
    cudaMalloc(&x, 4096);
    cudaMemset(x, 0, 4096);
    (!strcmp(argv[1], "blas") ? blas : !strcmp(argv[1], "lt") ? lt : sparse)(argv[2], x);
    return cudaDeviceSynchronize();
}
