/* A batch of products, whose parts are computed by several threads, is equal to the same products one by one. Two threads with handles
 * of their own multiply at once. Prints what differs. */
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>

typedef cublasOperation_t op;

static cublasStatus_t multiply(cublasHandle_t h, op a, op b, int m, int n, int k, float *x, float *y, float *z, int batch)
{
    float one = 1, zero = 0;
    return cublasSgemmStridedBatched(h, a, b, m, n, k, &one, x, a ? k : m, m * k, y, b ? n : k, k * n, &zero, z, m, m * n, batch);
}
static cublasStatus_t multiply(cublasHandle_t h, op a, op b, int m, int n, int k, double *x, double *y, double *z, int batch)
{
    double one = 1, zero = 0;
    return cublasDgemmStridedBatched(h, a, b, m, n, k, &one, x, a ? k : m, m * k, y, b ? n : k, k * n, &zero, z, m, m * n, batch);
}
static cublasStatus_t multiply(cublasHandle_t h, op a, op b, int m, int n, int k, cuComplex *x, cuComplex *y, cuComplex *z, int batch)
{
    cuComplex one = {1, 0}, zero = {0, 0};
    return cublasCgemmStridedBatched(h, a, b, m, n, k, &one, x, a ? k : m, m * k, y, b ? n : k, k * n, &zero, z, m, m * n, batch);
}
static cublasStatus_t multiply(cublasHandle_t h, op a, op b, int m, int n, int k, cuDoubleComplex *x, cuDoubleComplex *y, cuDoubleComplex *z, int batch)
{
    cuDoubleComplex one = {1, 0}, zero = {0, 0};
    return cublasZgemmStridedBatched(h, a, b, m, n, k, &one, x, a ? k : m, m * k, y, b ? n : k, k * n, &zero, z, m, m * n, batch);
}

enum { BATCH = 64, ROUNDS = 30 };

template <class T, class Real> static T *random_numbers(size_t n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    for (size_t i = 0; i < n * sizeof(T) / sizeof(Real); i++)
        ((Real *)p)[i] = (Real)(rand() / (double)RAND_MAX - 0.5);
    return p;
}

template <class T, class Real> static int differ(const char *type, op a, op b, int m, int n, int k)
{
    T *x = random_numbers<T, Real>(BATCH * m * k), *y = random_numbers<T, Real>(BATCH * k * n), *alone = random_numbers<T, Real>(BATCH * m * n);
    int wrong = 0;
    cublasHandle_t h;
    cublasCreate(&h);
    for (int i = 0; i < BATCH; i++)
        multiply(h, a, b, m, n, k, x + i * m * k, y + i * k * n, alone + i * m * n, 1);
    cudaDeviceSynchronize();
    auto rounds = [&](int *found) {
        T *z;
        cublasHandle_t own;
        cudaStream_t s;
        cudaMallocManaged(&z, BATCH * m * n * sizeof(T));
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cublasCreate(&own);
        cublasSetStream(own, s);
        for (int i = 0; i < ROUNDS; i++) {
            multiply(own, a, b, m, n, k, x, y, z, BATCH);
            cudaStreamSynchronize(s);
            *found += memcmp(z, alone, BATCH * m * n * sizeof(T)) != 0;
        }
        cublasDestroy(own);
        cudaStreamDestroy(s);
        cudaFree(z);
    };
    rounds(&wrong);
    int other = 0;
    std::thread second(rounds, &other);
    rounds(&wrong);
    second.join();
    if (wrong + other)
        printf("%s %d %d, %d x %d x %d: %d of %d batches differ\n", type, a, b, m, n, k, wrong + other, 3 * ROUNDS);
    cublasDestroy(h);
    cudaFree(x);
    cudaFree(y);
    cudaFree(alone);
    return wrong + other;
}

int main()
{
    static const int sizes[][3] = {{12, 12, 8}, {8, 5, 16}, {33, 17, 40}, {64, 64, 4}};
    int wrong = 0;
    for (auto &s : sizes)
        for (op a : {CUBLAS_OP_N, CUBLAS_OP_T})
            for (op b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
                wrong += differ<float, float>("float", a, b, s[0], s[1], s[2]);
                wrong += differ<double, double>("double", a, b, s[0], s[1], s[2]);
                wrong += differ<cuComplex, float>("complex", a, b, s[0], s[1], s[2]);
                wrong += differ<cuDoubleComplex, double>("double complex", a, b, s[0], s[1], s[2]);
            }
    return wrong != 0;
}
