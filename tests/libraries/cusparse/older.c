/* libcusparse's blocks, slices and bands beside the same with dense matrices. */
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <math.h>
#include <stdbool.h>

#include "../../cuda/tap.h"

#define DONE(call) CHECK((call) == 0)

enum { N = 6, BLOCK = 2, BLOCKS = 5, SIDES = 3, VALUES = BLOCKS * BLOCK * BLOCK };

/* 3 x 3 blocks of 2 x 2: (0,0) (1,0) (1,1) (2,1) (2,2), from index `base` */
static const int offsets[] = {0, 1, 3, 5}, columns[] = {0, 0, 1, 1, 2};

static cusparseHandle_t handle;
static cusparseMatDescr_t general;

static void *managed(const void *from, size_t bytes)
{
    void *p = NULL;
    DONE(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal));
    if (from)
        memcpy(p, from, bytes);
    else
        memset(p, 0, bytes);
    return p;
}

/* Of a matrix that is larger on its diagonal. */
static double value(int block, int i, int j)
{
    bool is_diagonal = block == 0 || block == 2 || block == 4;
    return is_diagonal && i == j ? 8 + block : 0.5 * (i - 2 * j) - block / 4.0;
}

static double *values_of(cusparseDirection_t direction)
{
    double *v = managed(NULL, VALUES * sizeof *v);
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++)
                v[b * 4 + (direction == CUSPARSE_DIRECTION_ROW ? 2 * i + j : 2 * j + i)] = value(b, i, j);
    return v;
}

static void dense_of_blocks(double a[N][N])
{
    memset(a, 0, N * N * sizeof(double));
    for (int r = 0; r < N / BLOCK; r++)
        for (int b = offsets[r]; b < offsets[r + 1]; b++)
            for (int i = 0; i < BLOCK; i++)
                for (int j = 0; j < BLOCK; j++)
                    a[2 * r + i][2 * columns[b] + j] = value(b, i, j);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static double side(int i, int j)
{
    return i + 1 - 3 * j;
}

static void *sides(void)
{
    double *x = managed(NULL, N * SIDES * sizeof *x);
    for (int j = 0; j < SIDES; j++)
        for (int i = 0; i < N; i++)
            x[i + j * N] = side(i, j);
    return x;
}

static void blocks_are_multiplied_by_vectors_and_matrices(void)
{
    double a[N][N], alpha = 2, beta = -1;
    dense_of_blocks(a);
    int *row = managed(offsets, sizeof offsets), *column = managed(columns, sizeof columns);
    for (int direction = 0; direction < 2; direction++) {
        double *v = values_of((cusparseDirection_t)direction), *x = sides(), *y = sides(), *c = sides();
        DONE(cusparseDbsrmv(handle, (cusparseDirection_t)direction, CUSPARSE_OPERATION_NON_TRANSPOSE, 3, 3, BLOCKS,
                            &alpha, general, v, row, column, BLOCK, x, &beta, y));
        DONE(cusparseDbsrmm(handle, (cusparseDirection_t)direction, CUSPARSE_OPERATION_NON_TRANSPOSE,
                            CUSPARSE_OPERATION_NON_TRANSPOSE, 3, SIDES, 3, BLOCKS, &alpha, general, v, row, column,
                            BLOCK, x, N, &beta, c, N));
        DONE(cudaDeviceSynchronize());
        for (int j = 0; j < SIDES; j++)
            for (int i = 0; i < N; i++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum += a[i][k] * side(k, j);
                CHECK(is_near(c[i + j * N], 2 * sum - side(i, j)));
                CHECK(j > 0 || is_near(y[i], 2 * sum - side(i, j)));
            }
    }
}

/* As an H200 has it. */
static void rows_of_a_mask_alone_are_multiplied(void)
{
    float *v = managed((const float[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 48),
          *x = managed((const float[]){1, 1, 1, 1}, 16), *y = managed((const float[]){100, 100, 100, 100}, 16), one = 1;
    int *mask = managed((const int[]){1}, 4), *begin = managed((const int[]){0, 1}, 8),
        *end = managed((const int[]){1, 3}, 8), *column = managed((const int[]){0, 0, 1}, 12);
    DONE(cusparseSbsrxmv(handle, CUSPARSE_DIRECTION_ROW, CUSPARSE_OPERATION_NON_TRANSPOSE, 1, 2, 2, 3, &one, general, v,
                         mask, begin, end, column, 2, x, &one, y));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 100 && y[1] == 100 && y[2] == 130 && y[3] == 138);
}

/* op: of b and x */
static void triangle(cusparseFillMode_t fill, cusparseDiagType_t diagonal, cusparseOperation_t op)
{
    double a[N][N], alpha = 2;
    dense_of_blocks(a);
    int *row = managed(offsets, sizeof offsets), *column = managed(columns, sizeof columns), bytes, position = 0;
    double *v = values_of(CUSPARSE_DIRECTION_COLUMN), *b = managed(NULL, N * N * sizeof *b), *x = sides();
    int ld = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? N : SIDES;
    for (int j = 0; j < SIDES; j++)
        for (int i = 0; i < N; i++)
            b[op == CUSPARSE_OPERATION_NON_TRANSPOSE ? i + j * ld : j + i * ld] = side(i, j);
    bsrsm2Info_t info;
    DONE(cusparseSetMatFillMode(general, fill));
    DONE(cusparseSetMatDiagType(general, diagonal));
    DONE(cusparseCreateBsrsm2Info(&info));
    DONE(cusparseDbsrsm2_bufferSize(handle, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, op, 3, SIDES,
                                    BLOCKS, general, v, row, column, BLOCK, info, &bytes));
    DONE(cusparseDbsrsm2_analysis(handle, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, op, 3, SIDES,
                                  BLOCKS, general, v, row, column, BLOCK, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, b));
    DONE(cusparseDbsrsm2_solve(handle, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, op, 3, SIDES,
                               BLOCKS, &alpha, general, v, row, column, BLOCK, info, b, ld, x, ld,
                               CUSPARSE_SOLVE_POLICY_NO_LEVEL, b));
    DONE(cusparseXbsrsm2_zeroPivot(handle, info, &position));
    DONE(cudaDeviceSynchronize());
    CHECK(position == -1);
    for (int j = 0; j < SIDES; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++) {
                double of = k == i && diagonal == CUSPARSE_DIAG_TYPE_UNIT ? 1
                            : fill == CUSPARSE_FILL_MODE_LOWER            ? (k <= i ? a[i][k] : 0)
                                                                          : (k >= i ? a[i][k] : 0);
                sum += of * x[op == CUSPARSE_OPERATION_NON_TRANSPOSE ? k + j * ld : j + k * ld];
            }
            CHECK(is_near(sum, 2 * side(i, j)));
        }
    DONE(cusparseDestroyBsrsm2Info(info));
    DONE(cusparseSetMatFillMode(general, CUSPARSE_FILL_MODE_LOWER));
    DONE(cusparseSetMatDiagType(general, CUSPARSE_DIAG_TYPE_NON_UNIT));
}

static void triangles_of_blocks_are_solved(void)
{
    for (int of = 0; of < 8; of++)
        triangle((cusparseFillMode_t)(of & 1), (cusparseDiagType_t)(of >> 1 & 1), (cusparseOperation_t)(of >> 2));
}

/* The product of the factors is the matrix where there are blocks. */
static void blocks_are_factored_in_their_pattern_and_a_missing_one_is_told(void)
{
    double a[N][N], f[N][N] = {{0}};
    dense_of_blocks(a);
    int *row = managed(offsets, sizeof offsets), *column = managed(columns, sizeof columns), position = 0;
    double *v = values_of(CUSPARSE_DIRECTION_ROW);
    bsrilu02Info_t info;
    DONE(cusparseCreateBsrilu02Info(&info));
    DONE(cusparseDbsrilu02_analysis(handle, CUSPARSE_DIRECTION_ROW, 3, BLOCKS, general, v, row, column, BLOCK, info,
                                    CUSPARSE_SOLVE_POLICY_NO_LEVEL, v));
    DONE(cusparseDbsrilu02(handle, CUSPARSE_DIRECTION_ROW, 3, BLOCKS, general, v, row, column, BLOCK, info,
                           CUSPARSE_SOLVE_POLICY_NO_LEVEL, v));
    DONE(cusparseXbsrilu02_zeroPivot(handle, info, &position));
    CHECK(position == -1);
    for (int r = 0; r < N / BLOCK; r++)
        for (int b = offsets[r]; b < offsets[r + 1]; b++)
            for (int i = 0; i < 4; i++)
                f[2 * r + i / 2][2 * columns[b] + i % 2] = v[4 * b + i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k <= i && k <= j; k++)
                sum += (k == i ? 1 : f[i][k]) * f[k][j];
            CHECK(a[i][j] == 0 || is_near(sum, a[i][j]));
        }
    column[2] = 0; /* (1,1) is no more */
    DONE(cusparseDbsrilu02_analysis(handle, CUSPARSE_DIRECTION_ROW, 3, BLOCKS, general, v, row, column, BLOCK, info,
                                    CUSPARSE_SOLVE_POLICY_NO_LEVEL, v));
    CHECK(cusparseXbsrilu02_zeroPivot(handle, info, &position) == CUSPARSE_STATUS_ZERO_PIVOT && position == 1);
    DONE(cusparseDestroyBsrilu02Info(info));
}

/* A small pivot is replaced when that is asked for. */
static void pivots_are_boosted(void)
{
    int *row = managed((const int[]){0, 2, 4}, 12), *column = managed((const int[]){0, 1, 0, 1}, 16), position;
    double *v = managed((const double[]){2, 1, 1, 0.5}, 32), tolerance = 0.5, boost = 3;
    csrilu02Info_t info;
    DONE(cusparseCreateCsrilu02Info(&info));
    DONE(cusparseDcsrilu02_analysis(handle, 2, 4, general, v, row, column, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, v));
    DONE(cusparseDcsrilu02_numericBoost(handle, info, 1, &tolerance, &boost));
    DONE(cusparseDcsrilu02(handle, 2, 4, general, v, row, column, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, v));
    DONE(cusparseXcsrilu02_zeroPivot(handle, info, &position));
    CHECK(v[0] == 2 && v[2] == 0.5 && v[3] == 3 && position == -1);
    DONE(cusparseDestroyCsrilu02Info(info));
}

/* The band (-1, 4, 2), and with -3 and 1 beyond, times x. */
static double banded(bool five, const double *x, int stride, int n, int i)
{
    static const double of[5] = {-3, -1, 9, 2, 1};
    double sum = 0;
    for (int j = five ? -2 : -1; j <= (five ? 2 : 1); j++)
        if (i + j >= 0 && i + j < n)
            sum += of[2 + j] * x[(i + j) * stride];
    return sum;
}

static void bands_are_solved_in_all_layouts(void)
{
    enum { SIZE = 7, COUNT = 2, ALL = SIZE * COUNT };
    static const double of[5] = {-3, -1, 9, 2, 1};
    double *d[5], *x;
    for (int layout = 0; layout < 5; layout++) {
        int step = layout >= 3 ? COUNT : 1, next = layout >= 3 ? 1 : SIZE;
        x = managed(NULL, ALL * sizeof *x);
        for (int k = 0; k < 5; k++) {
            d[k] = managed(NULL, ALL * sizeof **d);
            for (int i = 0; i < ALL; i++)
                d[k][i] = of[k];
        }
        for (int i = 0; i < ALL; i++)
            x[i] = i + 1;
        switch (layout) {
        case 0: DONE(cusparseDgtsv2(handle, SIZE, COUNT, d[1], d[2], d[3], x, SIZE, x)); break;
        case 1: DONE(cusparseDgtsv2_nopivot(handle, SIZE, COUNT, d[1], d[2], d[3], x, SIZE, x)); break;
        case 2: DONE(cusparseDgtsv2StridedBatch(handle, SIZE, d[1], d[2], d[3], x, COUNT, SIZE, x)); break;
        case 3: DONE(cusparseDgtsvInterleavedBatch(handle, 1, SIZE, d[1], d[2], d[3], x, COUNT, x)); break;
        default: DONE(cusparseDgpsvInterleavedBatch(handle, 0, SIZE, d[0], d[1], d[2], d[3], d[4], x, COUNT, x));
        }
        DONE(cudaDeviceSynchronize());
        for (int b = 0; b < COUNT; b++)
            for (int i = 0; i < SIZE; i++)
                CHECK(is_near(banded(layout == 4, x + b * next, step, SIZE, i), i * step + b * next + 1));
    }
}

/* The same matrix in blocks, in blocked and in sliced ELL. */
static cusparseSpMatDescr_t in_format(cusparseFormat_t format)
{
    cusparseSpMatDescr_t a = NULL;
    if (format == CUSPARSE_FORMAT_BSR) {
        DONE(cusparseCreateBsr(&a, 3, 3, BLOCKS, BLOCK, BLOCK, managed(offsets, sizeof offsets),
                               managed(columns, sizeof columns), values_of(CUSPARSE_DIRECTION_COLUMN),
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F,
                               CUSPARSE_ORDER_COL));
        return a;
    }
    double dense[N][N];
    dense_of_blocks(dense);
    /* slices of 4 rows: 4 columns kept, and then those of the last two rows */
    int *slices = managed((const int[]){0, 16, 32}, 12), *column = managed(NULL, 32 * sizeof *column);
    double *v = managed(NULL, 32 * sizeof *v);
    for (int k = 0; k < 32; k++)
        column[k] = -1;
    for (int i = 0; i < N; i++)
        for (int j = 0, n = 0; j < N; j++)
            if (dense[i][j] != 0) {
                column[i / 4 * 16 + n * 4 + i % 4] = j;
                v[i / 4 * 16 + n++ * 4 + i % 4] = dense[i][j];
            }
    DONE(cusparseCreateSlicedEll(&a, N, N, 20, 32, 4, slices, column, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    return a;
}

static void blocks_and_slices_are_multiplied_as_the_same_in_rows(void)
{
    static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_BSR, CUSPARSE_FORMAT_SLICED_ELLPACK};
    double a[N][N], one = 1, zero = 0;
    dense_of_blocks(a);
    for (int f = 0; f < 2; f++) {
        double *x = sides(), *y = sides();
        cusparseSpMatDescr_t m = in_format(formats[f]);
        cusparseDnVecDescr_t dx, dy;
        DONE(cusparseCreateDnVec(&dx, N, x, CUDA_R_64F));
        DONE(cusparseCreateDnVec(&dy, N, y, CUDA_R_64F));
        DONE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, dx, &zero, dy, CUDA_R_64F,
                          CUSPARSE_SPMV_ALG_DEFAULT, x));
        DONE(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * side(k, 0);
            CHECK(is_near(y[i], sum));
        }
        DONE(cusparseDestroySpMat(m));
    }
}

/* The pattern is found once; the values are computed again after they have changed. */
static void a_sparse_product_is_computed_again_with_other_values(void)
{
    int *row = managed((const int[]){0, 1, 2}, 12), *column = managed((const int[]){1, 0}, 8), *to = managed(NULL, 12),
        *to_column = managed(NULL, 8);
    double *v = managed((const double[]){2, 3}, 16), *w = managed((const double[]){1, 1}, 16), one = 1, zero = 0;
    size_t bytes[5];
    int64_t rows, across, nnz;
    cusparseSpMatDescr_t a, c;
    cusparseSpGEMMDescr_t g;
    DONE(cusparseCreateCsr(&a, 2, 2, 2, row, column, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    DONE(cusparseCreateCsr(&c, 2, 2, 0, to, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    DONE(cusparseSpGEMM_createDescr(&g));
#define OPERANDS handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE
    DONE(cusparseSpGEMMreuse_workEstimation(OPERANDS, a, a, c, CUSPARSE_SPGEMM_DEFAULT, g, &bytes[0], NULL));
    DONE(cusparseSpGEMMreuse_nnz(OPERANDS, a, a, c, CUSPARSE_SPGEMM_DEFAULT, g, &bytes[1], v, &bytes[2], v, &bytes[3],
                                 v));
    DONE(cusparseSpMatGetSize(c, &rows, &across, &nnz));
    CHECK(nnz == 2);
    DONE(cusparseCsrSetPointers(c, to, to_column, w));
    DONE(cusparseSpGEMMreuse_copy(OPERANDS, a, a, c, CUSPARSE_SPGEMM_DEFAULT, g, &bytes[4], v));
    DONE(cusparseSpGEMMreuse_compute(OPERANDS, &one, a, a, &zero, c, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, g));
    DONE(cudaDeviceSynchronize());
    CHECK(to[2] == 2 && to_column[0] == 0 && to_column[1] == 1 && w[0] == 6 && w[1] == 6);
    v[0] = 5;
    DONE(cusparseSpGEMMreuse_compute(OPERANDS, &one, a, a, &one, c, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, g));
    DONE(cudaDeviceSynchronize());
    CHECK(w[0] == 6 + 15 && w[1] == 6 + 15);
    DONE(cusparseSpGEMM_destroyDescr(g));
}

static void a_system_is_solved_with_values_that_take_the_place_of_the_matrix_s(void)
{
    int *row = managed((const int[]){0, 1, 3}, 12), *column = managed((const int[]){0, 0, 1}, 12);
    double *v = managed((const double[]){1, 1, 1}, 24), *w = managed((const double[]){2, 4, 4}, 24),
           *d = managed((const double[]){1, 2}, 16), *x = managed((const double[]){2, 8}, 16), *y = managed(NULL, 16),
           one = 1;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t dx, dy;
    cusparseSpSVDescr_t s;
    DONE(cusparseCreateCsr(&a, 2, 2, 3, row, column, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    DONE(cusparseCreateDnVec(&dx, 2, x, CUDA_R_64F));
    DONE(cusparseCreateDnVec(&dy, 2, y, CUDA_R_64F));
    DONE(cusparseSpSV_createDescr(&s));
#define SYSTEM handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, dx, dy, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, s
    DONE(cusparseSpSV_analysis(SYSTEM, y));
    DONE(cusparseSpSV_solve(SYSTEM));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 2 && y[1] == 6);
    DONE(cusparseSpSV_updateMatrix(handle, s, w, CUSPARSE_SPSV_UPDATE_GENERAL));
    DONE(cusparseSpSV_solve(SYSTEM));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 1 && y[1] == 1);
    DONE(cusparseSpSV_updateMatrix(handle, s, d, CUSPARSE_SPSV_UPDATE_DIAGONAL));
    DONE(cusparseSpSV_solve(SYSTEM));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 2 && y[1] == 0);
    DONE(cusparseSpSV_destroyDescr(s));
}

/* Of rows of a dense matrix, as an H200 has it: by a threshold, which a percentage of all elements
 * may say; and of CSR, compressed. */
static void what_is_small_is_left_out(void)
{
    static const struct {
        float percentage;
        int nnz;
    } kept[] = {{0, 10}, {10, 10}, {30, 7}, {50, 4}, {90, 1}, {100, 0}};
    static const float of[] = {1, -2, 3, 0, 0.5F, -0.5F, 0, 4, -0.25F, 2, 1, -1};
    static const int columns_of[] = {0, 0, 2, 0, 2, 1, 2};
    float *a = managed(of, sizeof of), *v = managed(NULL, sizeof of), *w = managed(NULL, sizeof of), threshold = 0.5F;
    int *row = managed(NULL, 20), *column = managed(NULL, sizeof of), *to = managed(NULL, 20),
        *to_column = managed(NULL, sizeof of), *of_row = managed(NULL, 16), nnz = -1;
    pruneInfo_t info;
    DONE(cusparseCreatePruneInfo(&info));
    for (int i = 0; i < 6; i++) {
        DONE(cusparseSpruneDense2csrNnzByPercentage(handle, 4, 3, a, 4, kept[i].percentage, general, row, &nnz, info,
                                                    v));
        CHECK(nnz == kept[i].nnz);
    }
    DONE(cusparseSpruneDense2csrNnz(handle, 4, 3, a, 4, &threshold, general, row, &nnz, v));
    DONE(cusparseSpruneDense2csr(handle, 4, 3, a, 4, &threshold, general, v, row, column, v));
    DONE(cudaDeviceSynchronize());
    CHECK(nnz == 7 && row[1] == 1 && row[4] == 7 && v[0] == 1 && v[1] == -2 && v[6] == -1);
    for (int i = 0; i < 7; i++)
        CHECK(column[i] == columns_of[i]);
    DONE(cusparseSnnz_compress(handle, 4, general, v, row, of_row, &nnz, 1));
    CHECK(nnz == 4 && of_row[0] == 0 && of_row[1] == 2 && of_row[2] == 1 && of_row[3] == 1);
    DONE(cusparseScsr2csr_compress(handle, 4, 3, general, v, column, row, 7, of_row, w, to_column, to, 1));
    DONE(cudaDeviceSynchronize());
    CHECK(to[1] == 0 && to[2] == 2 && to[4] == 4 && to_column[1] == 2 && w[0] == -2 && w[1] == 2 && w[3] == 4);
    DONE(cusparseDestroyPruneInfo(info));
}

/* 4 x 3 in blocks of 2 x 2 and 2 x 3, whose last columns hang over; as an H200 has them. */
static void rows_become_blocks_and_rows_again(void)
{
    static const float blocks[] = {1, 2, 3, 0, 0, 0, 4, 0, 0, 5, 7, 8, 6, 0, 0, 0},
                       wide[] = {1, 2, 0, 3, 0, 4, 0, 5, 6, 7, 8, 0}, rows[] = {1, 2, 0, 0, 3, 0, 4, 0};
    int *row = managed((const int[]){0, 2, 4, 6, 8}, 20), *column = managed((const int[]){0, 1, 0, 2, 1, 2, 0, 1}, 32),
        *to = managed(NULL, 20), *to_column = managed(NULL, 64), *back = managed(NULL, 20),
        *back_column = managed(NULL, 64), nnz = -1;
    float *v = managed((const float[]){1, 2, 3, 4, 5, 6, 7, 8}, 32), *w = managed(NULL, 64), *x = managed(NULL, 64);
    const cusparseDirection_t by_rows = CUSPARSE_DIRECTION_ROW;
    DONE(cusparseXcsr2bsrNnz(handle, by_rows, 4, 3, general, row, column, 2, general, to, &nnz));
    CHECK(nnz == 4);
    DONE(cusparseScsr2bsr(handle, by_rows, 4, 3, general, v, row, column, 2, general, w, to, to_column));
    DONE(cusparseSbsr2csr(handle, by_rows, 2, 2, general, w, to, to_column, 2, general, x, back, back_column));
    DONE(cudaDeviceSynchronize());
    CHECK(memcmp(w, blocks, sizeof blocks) == 0 && memcmp(x, rows, sizeof rows) == 0);
    CHECK(to[1] == 2 && to[2] == 4 && to_column[1] == 1 && to_column[2] == 0 && back[1] == 4 && back[4] == 16);
    DONE(cusparseSgebsr2gebsc(handle, 2, 2, 4, w, to, to_column, 2, 2, x, back_column, back, CUSPARSE_ACTION_NUMERIC,
                              CUSPARSE_INDEX_BASE_ZERO, x));
    DONE(cudaDeviceSynchronize());
    CHECK(back[1] == 2 && back_column[1] == 1 && x[0] == 1 && x[5] == 5 && x[10] == 4);
    DONE(cusparseXgebsr2gebsrNnz(handle, by_rows, 2, 2, 4, general, to, to_column, 2, 2, general, back, 4, 4, &nnz, x));
    CHECK(nnz == 1);
    DONE(cusparseXcsr2gebsrNnz(handle, by_rows, 4, 3, general, row, column, general, to, 2, 3, &nnz, x));
    CHECK(nnz == 2);
    DONE(cusparseScsr2gebsr(handle, by_rows, 4, 3, general, v, row, column, general, w, to, to_column, 2, 3, x));
    DONE(cudaDeviceSynchronize());
    CHECK(memcmp(w, wide, sizeof wide) == 0);
}

static void a_dense_matrix_meets_a_sparse_vector(void)
{
    double *a = managed(NULL, 96), *y = managed((const double[]){1, 1, 1, 1}, 32),
           *x = managed((const double[]){1, 2}, 16), one = 1, two = 2;
    int *at = managed((const int[]){1, 3}, 8);
    for (int i = 0; i < 12; i++)
        a[i] = i + 1;
    DONE(cusparseDgemvi(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, 4, 3, &one, a, 4, 2, x, at, &two, y,
                        CUSPARSE_INDEX_BASE_ONE, NULL));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK(y[i] == 19 + 3 * i + 2);
    DONE(cusparseDgemvi(handle, CUSPARSE_OPERATION_TRANSPOSE, 4, 3, &one, a, 4, 2, x, at, &two, y,
                        CUSPARSE_INDEX_BASE_ONE, NULL));
    DONE(cudaDeviceSynchronize());
    CHECK(y[0] == 2 * 21 + 1 + 2 * 3 && y[2] == 2 * 27 + 9 + 2 * 11 && y[3] == 30);
}

static void sizes_whose_products_do_not_fit_are_refused(void)
{
    cusparseSpMatDescr_t a = NULL;
    int64_t most = INT64_MAX / 2 + 1;
    for (int which = 0; which < 3; which++)
        CHECK(cusparseCreateBsr(&a, which == 0 ? most : 1, which == 1 ? most : 1, which == 2 ? most : 1, 2, 2, general,
                                general, general, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO,
                                CUDA_R_32F, CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_INVALID_VALUE);
    CHECK(cusparseCreateBlockedEll(&a, most, most, 2, most, general, general, CUSPARSE_INDEX_64I,
                                   CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
    CHECK(cusparseCreateBlockedEll(&a, 0, 0, most, 0, general, general, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO,
                                   CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
}

int main(void)
{
    DONE(cusparseCreate(&handle));
    DONE(cusparseCreateMatDescr(&general));
    RUN(blocks_are_multiplied_by_vectors_and_matrices);
    RUN(rows_of_a_mask_alone_are_multiplied);
    RUN(triangles_of_blocks_are_solved);
    RUN(blocks_are_factored_in_their_pattern_and_a_missing_one_is_told);
    RUN(pivots_are_boosted);
    RUN(bands_are_solved_in_all_layouts);
    RUN(blocks_and_slices_are_multiplied_as_the_same_in_rows);
    RUN(a_sparse_product_is_computed_again_with_other_values);
    RUN(a_system_is_solved_with_values_that_take_the_place_of_the_matrix_s);
    RUN(rows_become_blocks_and_rows_again);
    RUN(a_dense_matrix_meets_a_sparse_vector);
    RUN(what_is_small_is_left_out);
    RUN(sizes_whose_products_do_not_fit_are_refused);
    return summary();
}
