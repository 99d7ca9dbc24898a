/* cusolverRf ("cuSOLVER", 2.6): factors P A Q^T = L U repeatedly for matrices with one pattern,
 * without pivoting, starting from a first L and U. The calls have no stream: their tasks go to the
 * default stream, and the calls wait.
 */
#include "libraries/cusolver/refactorization.h"

#include <stdlib.h>
#include <string.h>

/* ---- handles and settings ---- */

LIBRARY_API cusolverStatus_t cusolverRfCreate(cusolverRfHandle_t *handle)
{
    IN_CALL;
    CUcontext context;
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (heddle_library_context(&context))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct refactorization *f = calloc(1, sizeof *f);
    if (f)
        f->solution = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
    *handle = library_add_handle(KIND_REFACTORIZATION, f);
    return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

LIBRARY_API cusolverStatus_t cusolverRfDestroy(cusolverRfHandle_t handle)
{
    IN_CALL;
    struct refactorization *f = handle_take(&library_handles, handle, KIND_REFACTORIZATION);
    if (!f)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    for (size_t i = 0; i < sizeof f->shown / sizeof *f->shown; i++)
        if (f->shown[i])
            cuMemFree(f->shown[i]);
    call_later(refactorization_free, f);
    return CUSOLVER_STATUS_SUCCESS;
}

#define RF(handle)                                                                                                     \
    IN_CALL;                                                                                                           \
    __attribute__((unused)) const char *const name = __func__;                                                         \
    struct refactorization *f = handle_find(&library_handles, handle, KIND_REFACTORIZATION);                           \
    if (!f)                                                                                                            \
    return CUSOLVER_STATUS_NOT_INITIALIZED

/* TWO_SETTINGS(Name, first's type, its member, second's type, its member, what must hold) */
#define TWO_SETTINGS(Name, T1, one, T2, two, condition)                                                                \
    LIBRARY_API cusolverStatus_t cusolverRfSet##Name(cusolverRfHandle_t handle, T1 first, T2 second)                   \
    {                                                                                                                  \
        RF(handle);                                                                                                    \
        NEED(condition);                                                                                               \
        f->one = first;                                                                                                \
        f->two = second;                                                                                               \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverRfGet##Name(cusolverRfHandle_t handle, T1 *first, T2 *second)                 \
    {                                                                                                                  \
        RF(handle);                                                                                                    \
        if (first)                                                                                                     \
            *first = f->one;                                                                                           \
        if (second)                                                                                                    \
            *second = f->two;                                                                                          \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }
TWO_SETTINGS(MatrixFormat, cusolverRfMatrixFormat_t, format, cusolverRfUnitDiagonal_t, unit,
             first <= CUSOLVERRF_MATRIX_FORMAT_CSC && second <= CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U)
TWO_SETTINGS(NumericProperties, double, zero, double, boost, first >= 0 && second >= 0)
TWO_SETTINGS(Algs, cusolverRfFactorization_t, algorithm, cusolverRfTriangularSolve_t, solution,
             first <= CUSOLVERRF_FACTORIZATION_ALG2 &&
                 (first == CUSOLVERRF_FACTORIZATION_ALG0 || second != CUSOLVERRF_TRIANGULAR_SOLVE_ALG1))

LIBRARY_API cusolverStatus_t cusolverRfSetResetValuesFastMode(cusolverRfHandle_t handle,
                                                              cusolverRfResetValuesFastMode_t mode)
{
    RF(handle);
    NEED(mode == CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF || mode == CUSOLVERRF_RESET_VALUES_FAST_MODE_ON);
    f->fast = mode;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverRfGetResetValuesFastMode(cusolverRfHandle_t handle,
                                                              cusolverRfResetValuesFastMode_t *mode)
{
    RF(handle);
    NEED(mode);
    *mode = f->fast;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverRfGetNumericBoostReport(cusolverRfHandle_t handle,
                                                             cusolverRfNumericBoostReport_t *report)
{
    RF(handle);
    NEED(report);
    *report = f->boosted ? CUSOLVERRF_NUMERIC_BOOST_USED : CUSOLVERRF_NUMERIC_BOOST_NOT_USED;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- the calls ---- */

#define HOST_PART(X)                                                                                                   \
    &(const struct part)                                                                                               \
    {                                                                                                                  \
        nnz##X, rows##X, columns##X, values##X                                                                         \
    }
#define PART(X) int nnz##X, int *rows##X, int *columns##X, double *values##X
#define HAS(X)  rows##X &&columns##X &&values##X

LIBRARY_API cusolverStatus_t cusolverRfSetupHost(int n, PART(A), PART(L), PART(U), int *P, int *Q,
                                                 cusolverRfHandle_t handle)
{
    RF(handle);
    NEED(n > 0 && nnzA > 0 && nnzL >= 0 && nnzU >= 0 && HAS(A) && HAS(L) && HAS(U) && P && Q);
    return refactorization_set_up(f, 1, n, nnzA, HOST_PART(L), HOST_PART(U));
}

LIBRARY_API cusolverStatus_t cusolverRfBatchSetupHost(int batch, int n, int nnzA, int *rowsA, int *columnsA,
                                                      double *valuesA[], PART(L), PART(U), int *P, int *Q,
                                                      cusolverRfHandle_t handle)
{
    RF(handle);
    NEED(batch > 0 && n > 0 && nnzA > 0 && nnzL >= 0 && nnzU >= 0 && HAS(A) && HAS(L) && HAS(U) && P && Q);
    return refactorization_set_up(f, batch, n, nnzA, HOST_PART(L), HOST_PART(U));
}

/* A copy of device memory; NULL if it failed. */
static void *fetched(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to && cuMemcpyDtoH(to, (CUdeviceptr)from, bytes)) {
        free(to);
        return NULL;
    }
    return to;
}

LIBRARY_API cusolverStatus_t cusolverRfSetupDevice(int n, PART(A), PART(L), PART(U), int *P, int *Q,
                                                   cusolverRfHandle_t handle)
{
    RF(handle);
    NEED(n > 0 && nnzA > 0 && nnzL >= 0 && nnzU >= 0 && HAS(A) && HAS(L) && HAS(U) && P && Q);
    struct part part[2];
    const struct part given[2] = {{nnzL, rowsL, columnsL, valuesL}, {nnzU, rowsU, columnsU, valuesU}};
    bool done = true;
    for (int i = 0; i < 2; i++) {
        const size_t nnz = (size_t)given[i].nnz;
        part[i] =
            (struct part){given[i].nnz, fetched(given[i].row, ((size_t)n + 1) * sizeof(int)),
                          fetched(given[i].column, nnz * sizeof(int)), fetched(given[i].values, nnz * sizeof(double))};
        done = done && part[i].row && part[i].column && part[i].values;
    }
    cusolverStatus_t r =
        done ? refactorization_set_up(f, 1, n, nnzA, &part[0], &part[1]) : CUSOLVER_STATUS_INTERNAL_ERROR;
    for (int i = 0; i < 2; i++) {
        free((void *)part[i].row);
        free((void *)part[i].column);
        free((void *)part[i].values);
    }
    return r;
}

static const struct solver default_stream;

/* Adds the vectors of a batch by addresses. */
static void name_vectors(struct call *c, enum operand o, int n, unsigned use)
{
    void *const *at = library_view(c->at[o]);
    for (int b = 0; b < c->batch; b++)
        call_vector(c, o, at[b], n, sizeof(double), use);
}

static void name_values(struct call *c)
{
    name_vectors(c, OP_A, ((const struct refactorization *)c->host)->nnz_a, HD_READS);
}

static void name_solutions(struct call *c)
{
    name_vectors(c, OP_B, ((const struct refactorization *)c->host)->n, HD_READS | HD_WRITES);
}

static cusolverStatus_t analyse(const char *name, struct refactorization *f)
{
    NEED(f->solution >= CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 && f->solution <= CUSOLVERRF_TRIANGULAR_SOLVE_ALG3);
    f->analysed = true;
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t reset(const char *name, struct refactorization *f, int batch, int n, int nnz, const int *rows,
                              const int *columns, const void *values, bool addresses, const int *P, const int *Q)
{
    NEED(f->n > 0 && n == f->n && nnz == f->nnz_a && batch == f->batch);
    NEED(rows && columns && values && P && Q);
    struct call c = call_new(name, PRECISION_D, refactorization_reset);
    c.host = f;
    c.waits = true;
    c.flags = addresses;
    c.batch = batch;
    c.name_addressed = addresses ? name_values : NULL;
    call_vector(&c, OP_ROWS, rows, n + 1, sizeof *rows, HD_READS);
    call_vector(&c, OP_COLUMNS, columns, nnz, sizeof *columns, HD_READS);
    call_vector(&c, OP_A, values, addresses ? batch : nnz, sizeof(double), HD_READS);
    call_vector(&c, OP_PIVOTS, P, n, sizeof *P, HD_READS);
    call_vector(&c, OP_X, Q, n, sizeof *Q, HD_READS);
    cusolverStatus_t r = call_put(&default_stream, &c);
    NEED(r || f->reset);
    return r;
}

/* Before the set-up this does nothing, as on an H200. */
static cusolverStatus_t refactor(const char *name, struct refactorization *f)
{
    if (f->n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    NEED(f->analysed);
    struct call c = call_new(name, PRECISION_D, refactorization_factor);
    c.host = f;
    c.waits = true;
    return call_put(&default_stream, &c);
}

static cusolverStatus_t solve(const char *name, struct refactorization *f, const int *P, const int *Q, int nrhs,
                              double *room, int ldt, void *x, bool addresses, int ldx)
{
    if (f->n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    NEED(f->factored && P && Q && room && x && nrhs == 1 && ldt >= f->n && ldx >= f->n);
    struct call c = call_new(name, PRECISION_D, refactorization_solve);
    c.host = f;
    c.flags = addresses;
    c.batch = f->batch;
    c.name_addressed = addresses ? name_solutions : NULL;
    c.waits = true;
    call_vector(&c, OP_PIVOTS, P, f->n, sizeof *P, HD_READS);
    call_vector(&c, OP_X, Q, f->n, sizeof *Q, HD_READS);
    call_vector(&c, OP_B, x, addresses ? f->batch : f->n, sizeof(double), addresses ? HD_READS : HD_READS | HD_WRITES);
    call_vector(&c, OP_W, room, f->n, sizeof *room, HD_WRITES);
    return call_put(&default_stream, &c);
}

LIBRARY_API cusolverStatus_t cusolverRfAnalyze(cusolverRfHandle_t handle)
{
    RF(handle);
    return analyse(name, f);
}

LIBRARY_API cusolverStatus_t cusolverRfBatchAnalyze(cusolverRfHandle_t handle)
{
    RF(handle);
    return analyse(name, f);
}

LIBRARY_API cusolverStatus_t cusolverRfResetValues(int n, PART(A), int *P, int *Q, cusolverRfHandle_t handle)
{
    RF(handle);
    return reset(name, f, 1, n, nnzA, rowsA, columnsA, valuesA, false, P, Q);
}

LIBRARY_API cusolverStatus_t cusolverRfBatchResetValues(int batch, int n, int nnzA, int *rowsA, int *columnsA,
                                                        double *valuesA[], int *P, int *Q, cusolverRfHandle_t handle)
{
    RF(handle);
    return reset(name, f, batch, n, nnzA, rowsA, columnsA, valuesA, true, P, Q);
}

LIBRARY_API cusolverStatus_t cusolverRfRefactor(cusolverRfHandle_t handle)
{
    RF(handle);
    cusolverStatus_t r = refactor(name, f);
    return r ? r : f->n > 0 && f->zero_pivot[0] >= 0 ? CUSOLVER_STATUS_ZERO_PIVOT : CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverRfBatchRefactor(cusolverRfHandle_t handle)
{
    RF(handle);
    return refactor(name, f);
}

LIBRARY_API cusolverStatus_t cusolverRfSolve(cusolverRfHandle_t handle, int *P, int *Q, int nrhs, double *Temp, int ldt,
                                             double *XF, int ldxf)
{
    RF(handle);
    return solve(name, f, P, Q, nrhs, Temp, ldt, XF, false, ldxf);
}

LIBRARY_API cusolverStatus_t cusolverRfBatchSolve(cusolverRfHandle_t handle, int *P, int *Q, int nrhs, double *Temp,
                                                  int ldt, double *XF[], int ldxf)
{
    RF(handle);
    return solve(name, f, P, Q, nrhs, Temp, ldt, XF, true, ldxf);
}

LIBRARY_API cusolverStatus_t cusolverRfBatchZeroPivot(cusolverRfHandle_t handle, int *position)
{
    RF(handle);
    NEED(f->factored && position);
    bool any = false;
    for (int b = 0; b < f->batch; b++) {
        position[b] = f->zero_pivot[b];
        any |= position[b] >= 0;
    }
    return any ? CUSOLVER_STATUS_ZERO_PIVOT : CUSOLVER_STATUS_SUCCESS;
}

/* ---- what they are ---- */

static void *copied(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    return to ? memcpy(to, from, bytes) : NULL;
}

LIBRARY_API cusolverStatus_t cusolverRfExtractBundledFactorsHost(cusolverRfHandle_t handle, int *nnz, int **rows,
                                                                 int **columns, double **values)
{
    RF(handle);
    NEED(f->n > 0 && nnz && rows && columns && values);
    *nnz = (int)refactorization_nnz(f);
    *rows = copied(f->row, ((size_t)f->n + 1) * sizeof **rows);
    *columns = copied(f->column, refactorization_nnz(f) * sizeof **columns);
    *values = copied(f->values, refactorization_nnz(f) * sizeof **values);
    return *rows && *columns && *values ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

LIBRARY_API cusolverStatus_t cusolverRfAccessBundledFactorsDevice(cusolverRfHandle_t handle, int *nnz, int **rows,
                                                                  int **columns, double **values)
{
    RF(handle);
    NEED(f->n > 0 && nnz && rows && columns && values);
    const void *const from[3] = {f->row, f->column, f->values};
    const size_t bytes[3] = {((size_t)f->n + 1) * sizeof(int), refactorization_nnz(f) * sizeof(int),
                             refactorization_nnz(f) * sizeof(double)};
    for (int i = 0; i < 3; i++) {
        if (f->shown[i])
            cuMemFree(f->shown[i]);
        f->shown[i] = 0;
        if (cuMemAlloc(&f->shown[i], bytes[i]))
            return CUSOLVER_STATUS_ALLOC_FAILED;
        if (cuMemcpyHtoD(f->shown[i], from[i], bytes[i]))
            return CUSOLVER_STATUS_INTERNAL_ERROR;
    }
    *nnz = (int)refactorization_nnz(f);
    *rows = (int *)f->shown[0];
    *columns = (int *)f->shown[1];
    *values = (double *)f->shown[2];
    return CUSOLVER_STATUS_SUCCESS;
}

/* Extracts L or U from M, with the diagonal if M or the program stores it. */
static cusolverStatus_t split(const struct refactorization *f, bool lower, int *nnz, int **rows, int **columns,
                              double **values)
{
    bool unit = lower ? !refactorization_unit_upper(f) : refactorization_unit_upper(f);
    bool stored = !unit || f->unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_L || f->unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_U;
    *rows = malloc(((size_t)f->n + 1) * sizeof **rows);
    *columns = malloc((refactorization_nnz(f) + (size_t)f->n) * sizeof **columns);
    *values = malloc((refactorization_nnz(f) + (size_t)f->n) * sizeof **values);
    if (!*rows || !*columns || !*values)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    int count = 0;
    for (int i = 0; i < f->n; i++) {
        (*rows)[i] = count;
        int begin = lower ? f->row[i] : f->diagonal[i], end = lower ? f->diagonal[i] + 1 : f->row[i + 1];
        for (int k = begin; k < end; k++) {
            if (f->column[k] == i && !stored)
                continue;
            (*columns)[count] = f->column[k];
            (*values)[count++] = f->column[k] == i && unit ? 1 : f->values[k];
        }
    }
    *nnz = (*rows)[f->n] = count;
    return CUSOLVER_STATUS_SUCCESS;
}

LIBRARY_API cusolverStatus_t cusolverRfExtractSplitFactorsHost(cusolverRfHandle_t handle, int *nnzL, int **rowsL,
                                                               int **columnsL, double **valuesL, int *nnzU, int **rowsU,
                                                               int **columnsU, double **valuesU)
{
    RF(handle);
    NEED(f->n > 0 && nnzL && HAS(L) && nnzU && HAS(U));
    cusolverStatus_t r = split(f, true, nnzL, rowsL, columnsL, valuesL);
    return r ? r : split(f, false, nnzU, rowsU, columnsU, valuesU);
}
