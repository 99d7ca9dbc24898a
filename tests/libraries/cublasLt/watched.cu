// What calls read and write, told apart to the byte. `clean`: kernels use what a call leaves alone, and read what it has written; a result
// that beta, in the device's memory, keeps from being read is not initialized. `races`: a kernel in another stream writes what the call uses.
#include <cstring>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <cusparse.h>

__global__ void sum(const unsigned char *from, int n, unsigned *to)
{
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s += from[i];
    *to = s;
}

__global__ void set(float *at)
{
    *at = 1;
}

enum { ROWS = 32, LD = 40, STEP = LD * ROWS + 16, BATCH = 20 };
static float *a, *b, *d, *scalars;
static unsigned *total;
static cudaStream_t other;

static float *zeros(size_t n)
{
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemset(p, 0, n * sizeof *p);
    return p;
}

static cublasLtMatrixLayout_t layout(int32_t batch, int64_t step, bool addresses)
{
    cublasLtMatrixLayout_t l;
    cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, ROWS, ROWS, LD);
    cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step);
    const cublasLtBatchMode_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    if (addresses)
        cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode);
    return l;
}

template <class T> static void attribute(cublasLtMatmulDesc_t e, cublasLtMatmulDescAttributes_t which, T value)
{
    cublasLtMatmulDescSetAttribute(e, which, &value, sizeof value);
}

static void product(bool races, bool addresses)
{
    const float one = 1, zero = 0;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t e;
    cublasLtCreate(&lt);
    cublasLtMatmulDescCreate(&e, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayout_t l = layout(BATCH, STEP, addresses);
    float *at[3][BATCH], **in_memory = NULL;
    for (int i = 0; i < BATCH; i++)
        at[0][i] = a + i * STEP, at[1][i] = b + i * STEP, at[2][i] = d + i * STEP;
    cudaMalloc(&in_memory, sizeof at);
    cudaMemcpy(in_memory, at, sizeof at, cudaMemcpyHostToDevice);
    if (addresses)
        cublasLtMatmul(lt, e, &one, in_memory, l, in_memory + BATCH, l, &zero, in_memory + 2 * BATCH, l, in_memory + 2 * BATCH, l, NULL, NULL, 0, 0);
    else
        /* a C that beta leaves out has less memory than its layout says */
        cublasLtMatmul(lt, e, &one, a, l, b, l, &zero, races ? d : scalars, l, d, l, NULL, NULL, 0, 0);
    float *last = d + (BATCH - 1) * STEP + (ROWS - 1) * LD;
    set<<<1, 1, 0, other>>>(last + (races ? ROWS - 1 : ROWS));
    if (!races)
        sum<<<1, 1>>>((unsigned char *)last, ROWS * sizeof *last, total);
}

static void epilogue(bool races)
{
    const float one = 1, zero = 0;
    unsigned char *mask;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t e;
    cublasLtCreate(&lt);
    cudaMalloc(&mask, ROWS * 16);
    cublasLtMatmulDescCreate(&e, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    attribute(e, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
    attribute(e, CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void *)scalars);
    attribute(e, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (void *)mask);
    attribute(e, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)128);
    cublasLtMatrixLayout_t l = layout(1, 0, false);
    cublasLtMatmul(lt, e, &one, a, l, b, l, &zero, d, l, d, l, NULL, NULL, 0, 0);
    if (races)
        set<<<1, 1, 0, other>>>((float *)mask + (ROWS - 1) * 4);
    else
        sum<<<1, 1>>>(mask + (ROWS - 1) * 16, ROWS / 8, total);
}

static void beta(bool reads)
{
    const int n = 16;
    cublasHandle_t blas;
    cublasCreate(&blas);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    cudaMemset(scalars, 0, sizeof *scalars);
    if (reads)
        set<<<1, 1>>>(scalars);
    cublasSgemv(blas, CUBLAS_OP_N, n, n, scalars + 1, a, n, b, 1, scalars, d, 1);
    cusparseHandle_t sparse;
    cusparseCreate(&sparse);
    cusparseSetPointerMode(sparse, CUSPARSE_POINTER_MODE_DEVICE);
    cusparseSpMatDescr_t m;
    cusparseDnVecDescr_t x, y;
    cusparseCreateCsr(&m, n, n, 0, a, a, a, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&x, n, b, CUDA_R_32F);
    cusparseCreateDnVec(&y, n, d + 64, CUDA_R_32F);
    cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, scalars + 1, m, x, scalars, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, b);
    sum<<<1, 1>>>((unsigned char *)(d + 64), n * sizeof *d, total);
}

static void factors(bool races)
{
    const int n = 24;
    cusolverDnHandle_t solver;
    float *at[BATCH], **in_memory;
    int *info;
    cudaMalloc(&info, sizeof at);
    cudaMalloc(&in_memory, sizeof at);
    for (int i = 0; i < BATCH; i++)
        at[i] = a + i * STEP;
    cudaMemcpy(in_memory, at, sizeof at, cudaMemcpyHostToDevice);
    cusolverDnCreate(&solver);
    cusolverDnSpotrfBatched(solver, CUBLAS_FILL_MODE_LOWER, n, in_memory, LD, info, BATCH);
    set<<<1, 1, 0, other>>>(a + 7 * STEP + (races ? 5 * LD + 5 : 5 * LD + 4));
}

int main(int, char **argv)
{
    const bool races = !strcmp(argv[1], "races");
    a = zeros(STEP * BATCH);
    b = zeros(STEP * BATCH);
    scalars = zeros(ROWS);
    cudaMalloc(&d, STEP * BATCH * sizeof *d);
    cudaMalloc(&total, sizeof *total);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    if (!strcmp(argv[2], "beta"))
        beta(races);
    else if (!strcmp(argv[2], "factors"))
        factors(races);
    else if (!strcmp(argv[2], "epilogue"))
        epilogue(races);
    else
        product(races, !strcmp(argv[2], "addresses"));
    return cudaDeviceSynchronize() != cudaSuccess;
}
