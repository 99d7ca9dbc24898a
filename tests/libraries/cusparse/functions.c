/* libcusparse as its users have it: what it computes beside the same with dense matrices, and what
 * it answers to what is no matrix. */
#include <complex.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cuda/tap.h"

typedef float complex number;
#define DONE(call) CHECK((call) == 0)

enum { M = 5, N = 4, K = 3, NNZ = 7 };
/* 5 x 4, from index `base`; row 2 is empty */
static const int rows[NNZ] = {0, 0, 1, 3, 3, 3, 4}, columns[NNZ] = {0, 3, 2, 0, 1, 3, 1},
                 offsets[M + 1] = {0, 2, 3, 3, 6, 7};
static const number values[NNZ] = {1, 2 - I, -3, 4 + 2 * I, 5, I, -2};

static cusparseHandle_t handle;

static void *managed(size_t bytes)
{
    void *p = NULL;
    DONE(cudaMallocManaged(&p, bytes ? bytes : 1, cudaMemAttachGlobal));
    memset(p, 0, bytes);
    return p;
}

static void *indices(const int *from, int n, int base, cusparseIndexType_t type)
{
    void *p = managed((size_t)n * 8);
    for (int i = 0; i < n; i++)
        if (type == CUSPARSE_INDEX_64I)
            ((int64_t *)p)[i] = from[i] + base;
        else
            ((int *)p)[i] = from[i] + base;
    return p;
}

static cusparseSpMatDescr_t matrix(cusparseFormat_t format, int base, cusparseIndexType_t type)
{
    /* by columns */
    static const int csc_offsets[N + 1] = {0, 2, 4, 5, 7}, csc_rows[NNZ] = {0, 3, 3, 4, 1, 0, 3},
                                     order[NNZ] = {0, 3, 4, 6, 2, 1, 5};
    number *v = managed(sizeof values);
    cusparseSpMatDescr_t a = NULL;
    for (int i = 0; i < NNZ; i++)
        v[i] = values[format == CUSPARSE_FORMAT_CSC ? order[i] : i];
    if (format == CUSPARSE_FORMAT_CSR)
        DONE(cusparseCreateCsr(&a, M, N, NNZ, indices(offsets, M + 1, base, type), indices(columns, NNZ, base, type), v,
                               type, type, (cusparseIndexBase_t)base, CUDA_C_32F));
    if (format == CUSPARSE_FORMAT_CSC)
        DONE(cusparseCreateCsc(&a, M, N, NNZ, indices(csc_offsets, N + 1, base, type),
                               indices(csc_rows, NNZ, base, type), v, type, type, (cusparseIndexBase_t)base,
                               CUDA_C_32F));
    if (format == CUSPARSE_FORMAT_COO)
        DONE(cusparseCreateCoo(&a, M, N, NNZ, indices(rows, NNZ, base, type), indices(columns, NNZ, base, type), v,
                               type, (cusparseIndexBase_t)base, CUDA_C_32F));
    return a;
}

static void a_matrix_may_have_room_behind_its_last_offset(void)
{
    float y[2][M] = {{0}}, x[N] = {1, 2, 3, 4}, one = 1, zero = 0, *v = managed((NNZ + 2) * sizeof *v);
    for (int i = 0; i < NNZ; i++)
        v[i] = (float)i + 1;
    for (int room = 0; room < 3; room += 2) {
        float *to = managed(sizeof y[0]), *from = managed(sizeof x);
        memcpy(from, x, sizeof x);
        cusparseSpMatDescr_t a;
        cusparseDnVecDescr_t dx, dy;
        DONE(cusparseCreateCsr(&a, M, N, NNZ + room, indices(offsets, M + 1, 0, CUSPARSE_INDEX_32I),
                               indices(columns, NNZ, 0, CUSPARSE_INDEX_32I), v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        DONE(cusparseCreateDnVec(&dx, N, from, CUDA_R_32F));
        DONE(cusparseCreateDnVec(&dy, M, to, CUDA_R_32F));
        DONE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, dx, &zero, dy, CUDA_R_32F,
                          CUSPARSE_SPMV_ALG_DEFAULT, to));
        DONE(cudaDeviceSynchronize());
        memcpy(y[room / 2], to, sizeof y[0]);
    }
    CHECK(y[0][0] == 1 + 2 * 4 && memcmp(y[0], y[1], sizeof y[0]) == 0);
}

static void a_captured_product_of_vectors_is_the_hosts_when_the_graph_has_run(void)
{
    static const int at[2] = {0, 2};
    float *x = managed(2 * sizeof *x), *y = managed(3 * sizeof *y), dot = -1;
    cusparseSpVecDescr_t sparse;
    cusparseDnVecDescr_t dense;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    x[0] = 2, x[1] = 3, y[0] = 5, y[2] = 7;
    DONE(cusparseCreateSpVec(&sparse, 3, 2, indices(at, 2, 0, CUSPARSE_INDEX_32I), x, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    DONE(cusparseCreateDnVec(&dense, 3, y, CUDA_R_32F));
    DONE(cudaStreamCreate(&stream));
    DONE(cusparseSetStream(handle, stream));
    DONE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    DONE(cusparseSpVV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, sparse, dense, &dot, CUDA_R_32F, y));
    DONE(cudaStreamEndCapture(stream, &graph));
    CHECK(dot == -1);
    DONE(cudaGraphInstantiate(&ready, graph, 0));
    DONE(cudaGraphLaunch(ready, stream));
    DONE(cudaStreamSynchronize(stream));
    CHECK(dot == 2 * 5 + 3 * 7);
    DONE(cusparseSetStream(handle, NULL));
}

static number of(const number *a, int ld, cusparseOperation_t op, int i, int j)
{
    number x = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? a[i + j * ld] : a[j + i * ld];
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjf(x) : x;
}

static void product(cusparseFormat_t format, int base, cusparseIndexType_t type, cusparseOperation_t op_a,
                    cusparseOperation_t op_b)
{
    number dense[M * N] = {0}, alpha = 2 + I, beta = -1;
    int m = op_a ? N : M, k = op_a ? M : N;
    for (int i = 0; i < NNZ; i++)
        dense[rows[i] + columns[i] * M] = values[i];
    number *b = managed(sizeof *b * M * M), *c = managed(sizeof *c * M * M), want[M * M];
    for (int i = 0; i < M * M; i++) {
        b[i] = i % 5 - 2 + I * (float)(i % 3);
        c[i] = want[i] = i % 4;
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < K; j++) {
            number sum = 0;
            for (int l = 0; l < k; l++)
                sum += of(dense, M, op_a, i, l) * of(b, M, op_b, l, j);
            want[i + j * M] = alpha * sum + beta * want[i + j * M];
        }
    cusparseSpMatDescr_t a = matrix(format, base, type);
    cusparseDnMatDescr_t db, dc;
    DONE(cusparseCreateDnMat(&db, op_b ? K : k, op_b ? k : K, M, b, CUDA_C_32F, CUSPARSE_ORDER_COL));
    DONE(cusparseCreateDnMat(&dc, m, K, M, c, CUDA_C_32F, CUSPARSE_ORDER_COL));
    DONE(cusparseSpMM(handle, op_a, op_b, &alpha, a, db, &beta, dc, CUDA_C_32F, CUSPARSE_SPMM_ALG_DEFAULT, c));
    DONE(cudaDeviceSynchronize());
    CHECK(memcmp(c, want, sizeof want) == 0);
    DONE(cusparseDestroySpMat(a));
    DONE(cusparseDestroyDnMat(db));
    DONE(cusparseDestroyDnMat(dc));
    cudaFree(b);
    cudaFree(c);
}

static void products_of_all_formats_indices_and_operations_are_those_of_dense_matrices(void)
{
    static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};
    for (int f = 0; f < 3; f++)
        for (int base = 0; base < 2; base++)
            for (int type = CUSPARSE_INDEX_32I; type <= CUSPARSE_INDEX_64I; type++)
                for (int op = 0; op < 9; op++)
                    product(formats[f], base, (cusparseIndexType_t)type, (cusparseOperation_t)(op / 3),
                            (cusparseOperation_t)(op % 3));
}

static void a_sparse_vector_meets_a_dense_one(void)
{
    enum { SIZE = 6, FEW = 3 };
    static const int at[FEW] = {1, 3, 5};
    float *x = managed(FEW * sizeof *x), *y = managed(SIZE * sizeof *y), alpha = 2, beta = 3, dot = 0, cosine = 0,
          sine = 1;
    for (int i = 0; i < SIZE; i++)
        y[i] = (float)i;
    for (int i = 0; i < FEW; i++)
        x[i] = (float)(10 * i);
    cusparseSpVecDescr_t sparse;
    cusparseDnVecDescr_t dense;
    DONE(cusparseCreateSpVec(&sparse, SIZE, FEW, indices(at, FEW, 1, CUSPARSE_INDEX_32I), x, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    DONE(cusparseCreateDnVec(&dense, SIZE, y, CUDA_R_32F));
    DONE(cusparseSpVV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, sparse, dense, &dot, CUDA_R_32F, y));
    CHECK(dot == 10 * 3 + 20 * 5);
    DONE(cusparseAxpby(handle, &alpha, sparse, &beta, dense));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 0 && y[1] == 3 && y[2] == 6 && y[3] == 9 + 20 && y[5] == 15 + 40);
    DONE(cusparseRot(handle, &cosine, &sine, sparse, dense));
    DONE(cudaDeviceSynchronize());
    CHECK(x[0] == 3 && x[1] == 29 && x[2] == 55 && y[1] == 0 && y[3] == -10 && y[5] == -20);
    DONE(cusparseScatter(handle, sparse, dense));
    DONE(cudaDeviceSynchronize());
    CHECK(y[1] == 3 && y[2] == 6 && y[3] == 29 && y[5] == 55);
    y[3] = 7;
    DONE(cusparseGather(handle, dense, sparse));
    DONE(cudaDeviceSynchronize());
    CHECK(x[0] == 3 && x[1] == 7 && x[2] == 55);
}

static void the_older_descriptors_keep_what_is_set(void)
{
    cusparseMatDescr_t d;
    DONE(cusparseCreateMatDescr(&d));
    CHECK(cusparseGetMatIndexBase(d) == CUSPARSE_INDEX_BASE_ZERO &&
          cusparseGetMatType(d) == CUSPARSE_MATRIX_TYPE_GENERAL);
    DONE(cusparseSetMatIndexBase(d, CUSPARSE_INDEX_BASE_ONE));
    DONE(cusparseSetMatFillMode(d, CUSPARSE_FILL_MODE_UPPER));
    CHECK(cusparseGetMatIndexBase(d) == CUSPARSE_INDEX_BASE_ONE &&
          cusparseGetMatFillMode(d) == CUSPARSE_FILL_MODE_UPPER);
    CHECK(cusparseSetMatType(d, (cusparseMatrixType_t)7) == CUSPARSE_STATUS_INVALID_VALUE);
    DONE(cusparseDestroyMatDescr(d));
}

/* ---- real matrices, by rows ---- */

static cusparseSpMatDescr_t real(int m, int n, int nnz, const int *row, const int *column, const float *value)
{
    cusparseSpMatDescr_t a = NULL;
    float *v = managed((size_t)(nnz + 1) * sizeof *v);
    memcpy(v, value, (size_t)nnz * sizeof *v);
    DONE(cusparseCreateCsr(&a, m, n, nnz, indices(row, m + 1, 0, CUSPARSE_INDEX_32I),
                           indices(column, nnz, 0, CUSPARSE_INDEX_32I), v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return a;
}

/* [2 . .; 3 4 .; . 5 -1], with an element above the diagonal that is not looked at */
static const int l_row[] = {0, 2, 4, 6}, l_column[] = {0, 2, 0, 1, 1, 2};
static const float l_value[] = {2, 99, 3, 4, 5, -1};

static void triangular_systems_are_solved(void)
{
    cusparseSpMatDescr_t a = real(3, 3, 6, l_row, l_column, l_value);
    float one = 1, *b = managed(3 * sizeof *b), *x = managed(3 * sizeof *x);
    cusparseDnVecDescr_t vb, vx;
    cusparseDnMatDescr_t mb, mx;
    cusparseSpSVDescr_t sv;
    cusparseSpSMDescr_t sm;
    size_t n;
    b[0] = 2, b[1] = 11, b[2] = 7; /* L (1, 2, 3) */
    DONE(cusparseCreateDnVec(&vb, 3, b, CUDA_R_32F));
    DONE(cusparseCreateDnVec(&vx, 3, x, CUDA_R_32F));
    DONE(cusparseSpSV_createDescr(&sv));
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE, t = CUSPARSE_OPERATION_TRANSPOSE;
    CHECK(cusparseSpSV_solve(handle, op, &one, a, vb, vx, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, sv) != 0);
    DONE(cusparseSpSV_bufferSize(handle, op, &one, a, vb, vx, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, sv, &n));
    DONE(cusparseSpSV_analysis(handle, op, &one, a, vb, vx, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, sv, managed(n)));
    DONE(cusparseSpSV_solve(handle, op, &one, a, vb, vx, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, sv));
    DONE(cudaDeviceSynchronize());
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3);
    DONE(cusparseSpSV_solve(handle, op, &one, a, vb, vb, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, sv));
    DONE(cudaDeviceSynchronize());
    CHECK(b[0] == 1 && b[1] == 2 && b[2] == 3);
    b[0] = 8, b[1] = 23, b[2] = -3; /* its transpose's */
    DONE(cusparseCreateDnMat(&mb, 3, 1, 3, b, CUDA_R_32F, CUSPARSE_ORDER_COL));
    DONE(cusparseCreateDnMat(&mx, 3, 1, 3, x, CUDA_R_32F, CUSPARSE_ORDER_COL));
    DONE(cusparseSpSM_createDescr(&sm));
    DONE(cusparseSpSM_analysis(handle, t, op, &one, a, mb, mx, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, sm, managed(n)));
    DONE(cusparseSpSM_solve(handle, t, op, &one, a, mb, mx, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, sm));
    DONE(cudaDeviceSynchronize());
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3);
    DONE(cusparseSpSV_destroyDescr(sv));
    DONE(cusparseSpSM_destroyDescr(sm));
}

static void a_sparse_product_tells_its_size_and_is_copied(void)
{
    static const int none[4] = {0};
    cusparseSpMatDescr_t a = real(3, 3, 6, l_row, l_column, l_value), c = real(3, 3, 0, none, none, l_value);
    float two = 2, zero = 0;
    cusparseSpGEMMDescr_t g;
    size_t n = 0;
    int64_t rows_of, columns_of, nnz;
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    DONE(cusparseSpGEMM_createDescr(&g));
    DONE(cusparseSpGEMM_workEstimation(handle, op, op, &two, a, a, &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g, &n,
                                       NULL));
    DONE(cusparseSpGEMM_workEstimation(handle, op, op, &two, a, a, &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g, &n,
                                       managed(n)));
    DONE(
        cusparseSpGEMM_compute(handle, op, op, &two, a, a, &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g, &n, NULL));
    DONE(cusparseSpGEMM_compute(handle, op, op, &two, a, a, &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g, &n,
                                managed(n)));
    DONE(cusparseSpMatGetSize(c, &rows_of, &columns_of, &nnz));
    CHECK(nnz == 9);
    int *row = managed(4 * sizeof *row), *column = managed((size_t)nnz * sizeof *column);
    float *value = managed((size_t)nnz * sizeof *value), want[9] = {8, 990, 198, 36, 32, 594, 30, 30, 2};
    DONE(cusparseCsrSetPointers(c, row, column, value));
    DONE(cusparseSpGEMM_copy(handle, op, op, &two, a, a, &zero, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g));
    DONE(cudaDeviceSynchronize());
    CHECK(row[0] == 0 && row[1] == 3 && row[2] == 6 && row[3] == 9 && column[1] == 1 && column[8] == 2);
    CHECK(memcmp(value, want, sizeof want) == 0);
    DONE(cusparseSpGEMM_destroyDescr(g));
}

static void a_matrix_of_nothing_is_compressed_to_nothing(void)
{
    cusparseMatDescr_t d;
    int *offsets_of = managed(4 * sizeof *offsets_of), *of_row = managed(3 * sizeof *of_row), total = 9;
    DONE(cusparseCreateMatDescr(&d));
    of_row[1] = 7;
    DONE(cusparseSnnz_compress(handle, 3, d, NULL, offsets_of, of_row, &total, 0));
    DONE(cudaDeviceSynchronize());
    CHECK(total == 0 && of_row[1] == 0);
    int *to = managed(4 * sizeof *to);
    DONE(cusparseScsr2csr_compress(handle, 3, 3, d, NULL, NULL, offsets_of, 0, of_row, NULL, NULL, to, 0));
    DONE(cudaDeviceSynchronize());
    offsets_of[3] = 1;
    CHECK(cusparseSnnz_compress(handle, 3, d, NULL, offsets_of, of_row, &total, 0) == CUSPARSE_STATUS_INVALID_VALUE);
    DONE(cusparseDestroyMatDescr(d));
}

static void dense_matrices_are_sampled_and_become_sparse(void)
{
    cusparseSpMatDescr_t c = real(3, 3, 6, l_row, l_column, l_value), s;
    float one = 1, zero = 0, *a = managed(9 * sizeof *a), *value;
    cusparseDnMatDescr_t d;
    size_t n;
    int64_t m, columns_of, nnz;
    for (int i = 0; i < 9; i++)
        a[i] = (float)(i % 4);
    DONE(cusparseCreateDnMat(&d, 3, 3, 3, a, CUDA_R_32F, CUSPARSE_ORDER_ROW)); /* 0 1 2; 3 0 1; 2 3 0 */
    DONE(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d, d, &zero, c,
                       CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, managed(16)));
    DONE(cusparseSpMatGetValues(c, (void **)&value));
    DONE(cudaDeviceSynchronize());
    CHECK(value[0] == 7 && value[1] == 1 && value[2] == 2 && value[3] == 6 && value[4] == 2 && value[5] == 7);
    int *row = managed(4 * sizeof *row), *column = managed(9 * sizeof *column);
    DONE(cusparseCreateCsr(&s, 3, 3, 0, row, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    DONE(cusparseDenseToSparse_bufferSize(handle, d, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &n));
    DONE(cusparseDenseToSparse_analysis(handle, d, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, managed(n)));
    DONE(cusparseSpMatGetSize(s, &m, &columns_of, &nnz));
    CHECK(nnz == 6 && row[3] == 7);
    DONE(cusparseCsrSetPointers(s, row, column, value));
    DONE(cusparseDenseToSparse_convert(handle, d, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, managed(16)));
    DONE(cudaDeviceSynchronize());
    CHECK(column[0] == 2 && column[2] == 1 && value[1] == 2 && value[2] == 3 && value[5] == 3);
    memset(a, 0x55, 9 * sizeof *a);
    DONE(cusparseSparseToDense(handle, s, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, managed(16)));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < 9; i++)
        CHECK(a[i] == (float)(i % 4));
}

static void elements_are_put_in_order_with_their_permutation(void)
{
    static const int some_rows[] = {2, 0, 2, 1}, some_columns[] = {1, 3, 0, 2};
    int *row = indices(some_rows, 4, 0, CUSPARSE_INDEX_32I), *column = indices(some_columns, 4, 0, CUSPARSE_INDEX_32I);
    int *p = managed(4 * sizeof *p), want[] = {1, 3, 2, 0};
    DONE(cusparseCreateIdentityPermutation(handle, 4, p));
    DONE(cusparseXcoosortByRow(handle, 3, 4, 4, row, column, p, p));
    DONE(cudaDeviceSynchronize());
    CHECK(memcmp(p, want, sizeof want) == 0 && row[0] == 0 && row[3] == 2 && column[2] == 0 && column[3] == 1);
}

static void sums_have_the_elements_of_both(void)
{
    static const int b_row[] = {0, 1, 1, 2}, b_column[] = {1, 2};
    static const float b_value[] = {7, 1};
    float two = 2, one = 1, want[] = {4, 7, 198, 6, 8, 10, -1}, *c = managed(sizeof want);
    float *av = managed(sizeof l_value), *bv = managed(sizeof b_value);
    memcpy(av, l_value, sizeof l_value);
    memcpy(bv, b_value, sizeof b_value);
    int *ar = indices(l_row, 4, 0, CUSPARSE_INDEX_32I), *ac = indices(l_column, 6, 0, CUSPARSE_INDEX_32I);
    int *br = indices(b_row, 4, 0, CUSPARSE_INDEX_32I), *bc = indices(b_column, 2, 0, CUSPARSE_INDEX_32I);
    int *cr = managed(4 * sizeof *cr), *cc = managed(7 * sizeof *cc), nnz = 0, *of_row = managed(3 * sizeof *of_row);
    cusparseMatDescr_t d;
    DONE(cusparseCreateMatDescr(&d));
    DONE(cusparseXcsrgeam2Nnz(handle, 3, 3, d, 6, ar, ac, d, 2, br, bc, d, cr, &nnz, cr));
    CHECK(nnz == 7 && cr[3] == 7);
    DONE(cusparseScsrgeam2(handle, 3, 3, &two, d, 6, av, ar, ac, &one, d, 2, bv, br, bc, d, c, cr, cc, NULL));
    DONE(cudaDeviceSynchronize());
    CHECK(memcmp(c, want, sizeof want) == 0 && cc[1] == 1 && cc[6] == 2);
    DONE(cusparseSnnz(handle, CUSPARSE_DIRECTION_ROW, 3, 2, d, av, 3, of_row, &nnz));
    CHECK(nnz == 6 && of_row[2] == 2);
}

/* Where nothing fills in, the factors are whole: A is [4 2 .; 2 10 3; . 3 2]. */
static void incomplete_factors_are_in_the_pattern_and_tell_a_zero_pivot(void)
{
    static const int a_row[] = {0, 2, 5, 7}, a_column[] = {0, 1, 0, 1, 2, 1, 2};
    static const float a[] = {4, 2, 2, 10, 3, 3, 2}, lu[] = {4, 2, 0.5f, 9, 3, 1.0f / 3, 1},
                       l[] = {2, 2, 1, 3, 3, 1, 1};
    int *row = indices(a_row, 4, 1, CUSPARSE_INDEX_32I), *column = indices(a_column, 7, 1, CUSPARSE_INDEX_32I), at = 0,
        bytes;
    float *v = managed(sizeof a);
    const cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
    cusparseMatDescr_t d;
    csrilu02Info_t ilu;
    csric02Info_t ic;
    DONE(cusparseCreateMatDescr(&d));
    DONE(cusparseSetMatIndexBase(d, CUSPARSE_INDEX_BASE_ONE));
    DONE(cusparseCreateCsrilu02Info(&ilu));
    DONE(cusparseCreateCsric02Info(&ic));
    memcpy(v, a, sizeof a);
    DONE(cusparseScsrilu02_bufferSize(handle, 3, 7, d, v, row, column, ilu, &bytes));
    DONE(cusparseScsrilu02_analysis(handle, 3, 7, d, v, row, column, ilu, policy, v));
    DONE(cusparseScsrilu02(handle, 3, 7, d, v, row, column, ilu, policy, NULL));
    DONE(cusparseXcsrilu02_zeroPivot(handle, ilu, &at));
    DONE(cudaDeviceSynchronize());
    CHECK(at == -1 && memcmp(v, lu, sizeof lu) == 0);
    memcpy(v, a, sizeof a);
    DONE(cusparseScsric02_analysis(handle, 3, 7, d, v, row, column, ic, policy, v));
    DONE(cusparseScsric02(handle, 3, 7, d, v, row, column, ic, policy, NULL));
    DONE(cusparseXcsric02_zeroPivot(handle, ic, &at));
    for (int i = 0; i < 7; i++)
        CHECK(i == 1 || i == 4 ? v[i] == a[i] : v[i] == l[i]);
    memcpy(v, a, sizeof a);
    v[3] = 1; /* 1 - 2 * 2 / 4 */
    DONE(cusparseScsrilu02(handle, 3, 7, d, v, row, column, ilu, policy, NULL));
    CHECK(cusparseXcsrilu02_zeroPivot(handle, ilu, &at) == CUSPARSE_STATUS_ZERO_PIVOT && at == 2);
    DONE(cusparseDestroyCsrilu02Info(ilu));
    DONE(cusparseDestroyCsric02Info(ic));
}

/* What an H200 answered. */
static void tridiagonal_work_sizes_are_an_h200s(void)
{
    static const struct {
        int m, n;
        size_t pivots[3], batches[2];
    } known[] = {
        {3, 1, {15488, 30336, 60032}, {128, 512}},
        {513, 3, {38528, 75904, 150784}, {49200, 196800}},
        {1000, 64, {59008, 116992, 232832}, {2072576, 8290304}},
        {2000, 9, {176768, 350464, 469632}, {435456, 1741824}},
        {8192, 2, {278656, 549120, 1090560}, {294912, 1179648}},
        {20000, 3, {761984, 1503488, 2986624}, {1058304, 4233216}},
        {100000, 5, {5177600, 10240896, 20368896}, {8163840, 32655360}},
        {1000000, 1, {31463424, 60829696, 119025664}, {16032768, 64131072}},
    };
    void *p = managed(16);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int m = known[i].m, n = known[i].n;
        size_t bytes[7], one = (size_t)m * (size_t)n * sizeof(float);
        DONE(cusparseSgtsv2_bufferSizeExt(handle, m, n, p, p, p, p, m, &bytes[0]));
        DONE(cusparseDgtsv2_bufferSizeExt(handle, m, n, p, p, p, p, m, &bytes[1]));
        DONE(cusparseZgtsv2_bufferSizeExt(handle, m, n, p, p, p, p, m, &bytes[2]));
        CHECK(memcmp(bytes, known[i].pivots, sizeof known[i].pivots) == 0);
        DONE(cusparseSgtsv2StridedBatch_bufferSizeExt(handle, m, p, p, p, p, n, m, &bytes[0]));
        DONE(cusparseZgtsv2StridedBatch_bufferSizeExt(handle, m, p, p, p, p, n, m, &bytes[1]));
        CHECK(memcmp(bytes, known[i].batches, sizeof known[i].batches) == 0);
        for (int algorithm = 0; algorithm < 3; algorithm++)
            DONE(cusparseSgtsvInterleavedBatch_bufferSizeExt(handle, algorithm, m, p, p, p, p, n, &bytes[algorithm]));
        DONE(cusparseSgpsvInterleavedBatch_bufferSizeExt(handle, 0, m, p, p, p, p, p, p, n, &bytes[3]));
        CHECK(bytes[0] == 128 && bytes[1] == one && bytes[2] == one && bytes[3] == 2 * one);
    }
}

/* ---- what is no matrix ---- */

enum spoilt { LARGE_INDEX, NEGATIVE_INDEX, FALLING_OFFSETS, NO_COLUMNS, NO_VALUES, SPOILT };

/* In a process of its own, as the context is lost. */
static bool is_an_illegal_address(enum spoilt what)
{
    number one = 1, zero = 0, *x, *y;
    int64_t r, c, n;
    void *row, *column, *v;
    cusparseIndexType_t row_type, column_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseDnVecDescr_t dx, dy;
    cusparseCreate(&handle);
    cusparseSpMatDescr_t a = matrix(CUSPARSE_FORMAT_CSR, 0, CUSPARSE_INDEX_32I);
    x = managed(M * sizeof *x);
    y = managed(M * sizeof *y);
    cusparseCsrGet(a, &r, &c, &n, &row, &column, &v, &row_type, &column_type, &base, &type);
    ((int *)column)[4] = what == LARGE_INDEX ? 1000000000 : what == NEGATIVE_INDEX ? -1 : 1;
    if (what == FALLING_OFFSETS)
        ((int *)row)[2] = -7;
    cusparseCsrSetPointers(a, row, what == NO_COLUMNS ? NULL : column, what == NO_VALUES ? NULL : v);
    cusparseCreateDnVec(&dx, N, x, CUDA_C_32F);
    cusparseCreateDnVec(&dy, M, y, CUDA_C_32F);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, dx, &zero, dy, CUDA_C_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT, y);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}

static void what_leads_out_of_a_matrix_is_an_illegal_address(void)
{
    for (int what = 0; what < SPOILT; what++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(is_an_illegal_address((enum spoilt)what) ? 0 : 1);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
}

int main(void)
{
    RUN(what_leads_out_of_a_matrix_is_an_illegal_address); /* first: a child has no driver of its parent's */
    DONE(cusparseCreate(&handle));
    RUN(products_of_all_formats_indices_and_operations_are_those_of_dense_matrices);
    RUN(a_sparse_vector_meets_a_dense_one);
    RUN(a_matrix_may_have_room_behind_its_last_offset);
    RUN(a_captured_product_of_vectors_is_the_hosts_when_the_graph_has_run);
    RUN(the_older_descriptors_keep_what_is_set);
    RUN(triangular_systems_are_solved);
    RUN(a_sparse_product_tells_its_size_and_is_copied);
    RUN(a_matrix_of_nothing_is_compressed_to_nothing);
    RUN(dense_matrices_are_sampled_and_become_sparse);
    RUN(elements_are_put_in_order_with_their_permutation);
    RUN(sums_have_the_elements_of_both);
    RUN(incomplete_factors_are_in_the_pattern_and_tell_a_zero_pivot);
    RUN(tridiagonal_work_sizes_are_an_h200s);
    return summary();
}
