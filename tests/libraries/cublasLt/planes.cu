/* Complex halves in planes: a product beside the host's. */
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <cublasLt.h>
#include <cuda_fp16.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if (int status = (int)(call))                                                                                  \
            printf("%s: %d\n", #call, status);                                                                         \
    } while (0)

enum { M = 20, N = 24, K = 40 };
static cublasLtHandle_t lt;

template <class T> static T *managed(size_t n)
{
    T *p;
    OK(cudaMallocManaged(&p, n * sizeof(T)));
    for (size_t i = 0; i < n; i++)
        p[i] = T((int)(i * 7 % 11) - 5);
    return p;
}

static cublasLtMatrixLayout_t planes(int rows, int columns, int64_t offset)
{
    cublasLtMatrixLayout_t l;
    OK(cublasLtMatrixLayoutCreate(&l, CUDA_C_16F, rows, columns, rows));
    if (offset)
        OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &offset, sizeof offset));
    return l;
}

static void in_planes()
{
    /* A's imaginary plane is an allocation of its own; C's has a gap before it */
    __half *ar = managed<__half>(M * K), *ai = managed<__half>(M * K), *b = managed<__half>(2 * K * N), *c = managed<__half>(2 * M * N + 8);
    std::vector<__half> before(c, c + 2 * M * N + 8);
    cublasLtMatrixLayout_t la = planes(M, K, (char *)ai - (char *)ar), lb = planes(N, K, K * N * 2), lc = planes(M, N, M * N * 2 + 16);
    std::complex<float> alpha(2, 1), beta(1, -1);
    cublasLtMatmulDesc_t d;
    cublasOperation_t h = CUBLAS_OP_C;
    OK(cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_C_32F));
    OK(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &h, sizeof h));
    OK(cublasLtMatmul(lt, d, &alpha, ar, la, b, lb, &beta, c, lc, c, lc, nullptr, nullptr, 0, 0));
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            std::complex<float> sum = 0, was(before[i + j * M], before[M * N + 8 + i + j * M]), is(c[i + j * M], c[M * N + 8 + i + j * M]);
            for (int k = 0; k < K; k++)
                sum += std::complex<float>(ar[i + k * M], ai[i + k * M]) * std::conj(std::complex<float>(b[j + k * N], b[K * N + j + k * N]));
            sum = alpha * sum + beta * was;
            wrong += __half(sum.real()) != __half(is.real()) || __half(sum.imag()) != __half(is.imag());
        }
    printf("planes: %d wrong; without them status %d\n", wrong,
           cublasLtMatmul(lt, d, &alpha, ar, planes(M, K, 0), b, lb, &beta, c, lc, c, lc, nullptr, nullptr, 0, 0));
}

int main()
{
    OK(cublasLtCreate(&lt));
    in_planes();
}
