// What joins the libraries to the rest, on a machine's own thread or several: a round calls each of them once, on one stream, with handles of its
// own, and its results are a sum of bits. "calls": one round; "threads": two threads, ten rounds each; "graph": a round captured, the draw launched once and the rest three times.
#include <cstdio>
#include <cstring>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <thread>
#include <vector>
#define OK(call)                                                                                                                                               \
    do {                                                                                                                                                       \
        int status = (int)(call);                                                                                                                              \
        if (status)                                                                                                                                            \
            printf("%s: %d\n", #call, status), exit(1);                                                                                                        \
    } while (0)
enum { N = 48, ROUNDS = 10 };
struct worker {
    cudaStream_t stream;
    cublasHandle_t blas;
    curandGenerator_t rand;
    cufftHandle fft;
    cusolverDnHandle_t solver;
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t x, y;
    float *m, *v, *w, *work, *values, *factors;
    int *pivots, *info, *rows, *columns;
    void *room;
    size_t bytes = 0;
    worker()
    {
        float one = 1, zero = 0;
        int lwork = 0, first[N + 1], column[N];
        std::vector<float> ones(N, 1.5f);
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (float **p : {&m, &v, &w, &values, &factors})
            OK(cudaMalloc(p, N * N * sizeof **p));
        for (int **p : {&pivots, &info, &rows, &columns})
            OK(cudaMalloc(p, (N + 1) * sizeof **p));
        for (int i = 0; i < N; i++)
            first[i] = i, column[i] = N - 1 - i;
        first[N] = N;
        OK(cudaMemcpy(rows, first, sizeof first, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(columns, column, sizeof column, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(values, ones.data(), N * sizeof(float), cudaMemcpyHostToDevice));
        OK(cublasCreate(&blas));
        OK(cublasSetStream(blas, stream));
        OK(curandCreateGenerator(&rand, CURAND_RNG_PSEUDO_PHILOX4_32_10));
        OK(curandSetStream(rand, stream));
        OK(curandSetPseudoRandomGeneratorSeed(rand, 7));
        OK(curandGenerateSeeds(rand));
        OK(cufftPlan1d(&fft, N * N / 2, CUFFT_C2C, 1));
        OK(cufftSetStream(fft, stream));
        OK(cusolverDnCreate(&solver));
        OK(cusolverDnSetStream(solver, stream));
        OK(cusolverDnSgetrf_bufferSize(solver, N, N, m, N, &lwork));
        OK(cudaMalloc(&work, (lwork + 1) * sizeof *work));
        OK(cusparseCreate(&sparse));
        OK(cusparseSetStream(sparse, stream));
        OK(cusparseCreateCsr(&a, N, N, N, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        OK(cusparseCreateDnVec(&x, N, v, CUDA_R_32F));
        OK(cusparseCreateDnVec(&y, N, w, CUDA_R_32F));
        OK(cudaMemset(w, 0, N * N * sizeof *w));
        OK(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
        OK(cudaMalloc(&room, bytes + 1));
        OK(cudaDeviceSynchronize());
    }
    void draw() { OK(curandGenerateUniform(rand, m, N * N)); }
    // The square of the random matrix; that transformed; factors of a copy of the matrix; a sparse matrix and a row.
    void rest()
    {
        float one = 1, zero = 0;
        OK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, m, N, m, N, &zero, v, N));
        OK(cufftExecC2C(fft, (cufftComplex *)v, (cufftComplex *)v, CUFFT_FORWARD));
        OK(cublasScopy(blas, N * N, m, 1, factors, 1));
        OK(cusolverDnSgetrf(solver, N, N, factors, N, work, pivots, info));
        OK(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, room));
    }
    void round()
    {
        OK(curandSetGeneratorOffset(rand, 0));
        draw();
        rest();
    }
    unsigned long long sum()
    {
        unsigned long long sum = 0;
        std::vector<unsigned> bits(N * N);
        OK(cudaStreamSynchronize(stream));
        for (float *p : {m, v, w, factors}) {
            OK(cudaMemcpy(bits.data(), p, N * N * sizeof *p, cudaMemcpyDeviceToHost));
            for (unsigned b : bits)
                sum = sum * 31 + b;
        }
        return sum;
    }
    ~worker()
    {
        OK(cusparseDestroySpMat(a));
        OK(cusparseDestroyDnVec(x));
        OK(cusparseDestroyDnVec(y));
        OK(cublasDestroy(blas));
        OK(curandDestroyGenerator(rand));
        OK(cufftDestroy(fft));
        OK(cusolverDnDestroy(solver));
        OK(cusparseDestroy(sparse));
        for (void *p : {(void *)m, (void *)v, (void *)w, (void *)work, (void *)values, (void *)factors, (void *)pivots, (void *)info, (void *)rows, (void *)columns, room})
            OK(cudaFree(p));
        OK(cudaStreamDestroy(stream));
    }
};
static unsigned long long rounds(int n)
{
    worker w;
    for (int i = 0; i < n; i++)
        w.round();
    return w.sum();
}
// What `calls` put into the stream, captured and launched so often.
template <typename F> static void replay(worker &w, int times, F calls)
{
    cudaGraph_t g;
    cudaGraphExec_t e;
    size_t nodes = 0;
    OK(cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeThreadLocal));
    calls();
    OK(cudaStreamEndCapture(w.stream, &g));
    OK(cudaGraphGetNodes(g, nullptr, &nodes));
    OK(cudaGraphInstantiate(&e, g, 0));
    for (int i = 0; i < times; i++)
        OK(cudaGraphLaunch(e, w.stream));
    OK(cudaStreamSynchronize(w.stream));
    OK(cudaGraphExecDestroy(e));
    OK(cudaGraphDestroy(g));
    puts(nodes ? "captured" : "nothing was captured");
}
static unsigned long long graph()
{
    worker w;
    replay(w, 1, [&] { w.draw(); });
    replay(w, 3, [&] { w.rest(); });
    return w.sum();
}
int main(int, char **argv)
{
    unsigned long long expected = rounds(1), got[2] = {expected, expected};
    if (!strcmp(argv[1], "threads")) {
        std::thread other([&] { got[0] = rounds(ROUNDS); });
        got[1] = rounds(ROUNDS);
        other.join();
    } else if (!strcmp(argv[1], "graph")) {
        got[0] = graph();
    }
    puts(got[0] == expected && got[1] == expected ? "all rounds are equal" : "rounds differ");
}
