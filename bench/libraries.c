/* What calls of cuBLAS and cuFFT cost, and how near large ones come to what they stand on (OpenBLAS
 * on as many threads, pocketfft), in turns with it in one run. */
#include "bench.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <pthread.h>
#include <unistd.h>

#include "libraries/cufft/lines.h"
#include "libraries/openblas/openblas.h"

enum { ROUNDS = 5, CALLS = 2000, SMALL = 8, LARGE = 1024, POINTS = 1 << 20, MOST_THREADS = 64 };

static const float one = 1, zero = 0;
static CUstream stream;
static cublasHandle_t blas;

static void *allocate(size_t bytes)
{
    CUdeviceptr p;
    bench_must(cuMemAlloc(&p, bytes) == CUDA_SUCCESS && cuMemsetD8(p, 0, bytes) == CUDA_SUCCESS, "no memory");
    return (void *)(uintptr_t)p;
}

static void multiply(int n, const float *a, const float *b, float *c)
{
    bench_must(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n) ==
                   CUBLAS_STATUS_SUCCESS,
               "cublasSgemm has failed");
}

static void finish(void)
{
    bench_must(cuStreamSynchronize(stream) == CUDA_SUCCESS, "the stream has failed");
}

/* Microseconds a call. */
static double small_products(bool waited, float *at)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();
        for (int i = 0; i < CALLS; i++) {
            multiply(SMALL, at, at, at + SMALL * SMALL);
            if (waited)
                finish();
        }
        double put = bench_now();
        finish();
        double each = 1e6 * (put - begin) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}

/* ---- large ones ---- */

struct part {
    const float *a, *b;
    float *c;
    int columns;
};

static void *multiply_part(void *data)
{
    const struct part *p = data;
    const int n = LARGE;
    heddle_openblas.gemm[PRECISION_S]("N", "N", &n, &p->columns, &n, &one, p->a, &n, p->b, &n, &zero, p->c, &n);
    return NULL;
}

static void multiply_by_openblas(const float *a, const float *b, float *c)
{
    pthread_t threads[MOST_THREADS];
    struct part parts[MOST_THREADS];
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : n;
    for (long i = 0; i < n; i++) {
        size_t from = (size_t)(LARGE * i / n), end = (size_t)(LARGE * (i + 1) / n);
        parts[i] = (struct part){a, b + from * LARGE, c + from * LARGE, (int)(end - from)};
        bench_must(pthread_create(&threads[i], NULL, multiply_part, &parts[i]) == 0, "no thread");
    }
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static double faster(double best, double begin)
{
    double now = bench_now() - begin;
    return now < best ? now : best;
}

static void large_products(void)
{
    float *a = allocate(LARGE * LARGE * sizeof *a), *c = allocate(LARGE * LARGE * sizeof *c);
    float *own = calloc(2 * LARGE * LARGE, sizeof *own);
    double ours = 1e9, theirs = 1e9;
    bench_must(own, "no memory");
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();
        multiply(LARGE, a, a, c);
        finish();
        ours = faster(ours, begin);
        begin = bench_now();
        multiply_by_openblas(own, own, own + LARGE * LARGE);
        theirs = faster(theirs, begin);
    }
    free(own);
    bench_line("cublasSgemm, 1024 x 1024 x 1024", 2e-9 * LARGE * LARGE * LARGE / ours, "GFLOP/s");
    bench_at_least("  beside OpenBLAS on as many threads", theirs / ours, "of its speed", 0.9);
}

static void transforms(void)
{
    cufftHandle plan = 0;
    cufftComplex *x = allocate(POINTS * sizeof *x), *own = calloc(POINTS, sizeof *own);
    const ptrdiff_t stride[LINES_AXES] = {sizeof *own, sizeof *own, sizeof *own, sizeof *own};
    struct lines line = {.kind = LINES_COMPLEX, .n = {POINTS, 1, 1, 1}, .from = own, .to = own};
    double ours = 1e9, theirs = 1e9;
    bench_must(own && cufftPlan1d(&plan, POINTS, CUFFT_C2C, 1) == CUFFT_SUCCESS, "no plan");
    bench_must(cufftSetStream(plan, (void *)stream) == CUFFT_SUCCESS, "no stream");
    for (int i = 0; i < LINES_AXES; i++)
        line.from_stride[i] = line.to_stride[i] = stride[i];
    for (int round = 0; round <= ROUNDS; round++) { /* the first makes tables */
        double begin = bench_now();
        bench_must(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_SUCCESS, "cufftExecC2C has failed");
        finish();
        ours = faster(ours, begin);
        begin = bench_now();
        bench_must(lines_transform(&line), "no memory");
        theirs = faster(theirs, begin);
    }
    cufftDestroy(plan);
    free(own);
    bench_line("cufftExecC2C, 2^20 points", 1e3 * ours, "ms");
    bench_at_least("  beside pocketfft", theirs / ours, "of its speed", 0.8);
}

int main(void)
{
    CUcontext c = NULL;
    bench_must(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&c, 0) == CUDA_SUCCESS, "no device");
    bench_must(cuCtxSetCurrent(c) == CUDA_SUCCESS && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS,
               "no stream");
    bench_must(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS && cublasSetStream(blas, (void *)stream) == 0, "no cuBLAS");
    float *small = allocate(2 * SMALL * SMALL * sizeof *small);
    bench_title("calls of libraries");
    bench_at_most("an 8 x 8 cublasSgemm, put into a stream", small_products(false, small), "us", 5);
    bench_at_most("  and waited for", small_products(true, small), "us", 15);
    large_products();
    transforms();
    return 0;
}
