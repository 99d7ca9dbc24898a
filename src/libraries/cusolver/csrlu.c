/* LU of a sparse matrix on the host, step by step (cusolverSp_LOWLEVEL_PREVIEW.h): P A Q^T = L U
 * with Q the identity. cusolverRf starts from its factors.
 */
#include "cuda/cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libraries/cusolver/sparse.h"
#include "libraries/cusolver/sparse_lu.h"

#include <stdlib.h>

struct lu_info {
    int n;
    bool analysed, factored;
    enum precision precision;
    struct sparse_lu f;
};

static void info_free(void *record)
{
    sparse_lu_free(&((struct lu_info *)record)->f);
    free(record);
}

LIBRARY_API cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info)
{
    IN_CALL;
    if (!info)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct lu_info *i = calloc(1, sizeof *i);
    *info = library_add_handle(KIND_LU, i);
    return *info ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

LIBRARY_API cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info)
{
    IN_CALL;
    void *i = handle_take(&library_handles, info, KIND_LU);
    if (i)
        call_later(info_free, i);
    return i || !info ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

/* ---- the steps ---- */

#define LU_INFO                                                                                                        \
    SPARSE(s, handle);                                                                                                 \
    struct lu_info *i = handle_find(&library_handles, info, KIND_LU);                                                  \
    NEED(i)

static cusolverStatus_t check_matrix(const char *name, const struct lu_info *i, const struct matrix *m)
{
    cusolverStatus_t wrong = sparse_check(name, m);
    if (wrong)
        return wrong;
    NEED(i->analysed && i->n == m->n);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t sizes(const char *name, cusolverSpHandle_t handle, const struct matrix *m, csrluInfoHost_t info,
                              size_t *internal, size_t *workspace)
{
    LU_INFO;
    cusolverStatus_t wrong = check_matrix(name, i, m);
    if (wrong)
        return wrong;
    NEED(internal && workspace);
    /* Nothing is needed, but some programs refuse to allocate nothing. */
    *internal = *workspace = 16;
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t factor(const char *name, cusolverSpHandle_t handle, enum precision p, const struct matrix *m,
                               csrluInfoHost_t info, double threshold)
{
    LU_INFO;
    cusolverStatus_t wrong = check_matrix(name, i, m);
    if (wrong)
        return wrong;
    const struct csr a = {p, m->n, sparse_base(m->descriptor), m->rows, m->columns, m->values};
    NEED(csr_is_valid(&a));
    sparse_lu_free(&i->f);
    i->factored = sparse_lu_factor(&i->f, &a, threshold);
    i->precision = p;
    return i->factored ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

static cusolverStatus_t zero_pivot(const char *name, cusolverSpHandle_t handle, csrluInfoHost_t info, double tolerance,
                                   int *position)
{
    LU_INFO;
    NEED(i->factored && position);
    *position = sparse_lu_singular(&i->f, tolerance);
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t solve(const char *name, cusolverSpHandle_t handle, enum precision p, int n, const void *b,
                              void *x, csrluInfoHost_t info)
{
    LU_INFO;
    NEED(i->factored && i->precision == p && i->n == n && b && x);
    return sparse_lu_solve(&i->f, p, b, x) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

/* A triangle in the program's arrays, with the index base of its descriptor. */
struct output {
    cusparseMatDescr_t descriptor;
    void *values;
    int *rows, *columns;
};

/* L is returned without its diagonal, which is the last element of each row. */
static void extract(enum precision p, int n, const struct triangle *from, bool lower, const struct output *to)
{
    int base = sparse_base(to->descriptor), count = 0;
    for (int i = 0; i < n; i++) {
        to->rows[i] = count + base;
        for (int k = from->row[i]; k < from->row[i + 1] - lower; k++) {
            to->columns[count] = from->column[k] + base;
            element_set(p, to->values, count++, from->values[k]);
        }
    }
    to->rows[n] = count + base;
}

static cusolverStatus_t extract_both(const char *name, cusolverSpHandle_t handle, enum precision p, int *P, int *Q,
                                     const struct output *lower, const struct output *upper, csrluInfoHost_t info)
{
    LU_INFO;
    NEED(i->factored && i->precision == p);
    NEED(P && Q && lower->rows && upper->rows && upper->columns && upper->values);
    NEED((lower->columns && lower->values) || i->f.lower.row[i->n] == i->n);
    for (int row = 0; row < i->n; row++) {
        P[row] = i->f.order[row];
        Q[row] = row;
    }
    extract(p, i->n, &i->f.lower, true, lower);
    extract(p, i->n, &i->f.upper, false, upper);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- their names ---- */

LIBRARY_API cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnz,
                                                          const cusparseMatDescr_t descriptor, const int *rows,
                                                          const int *columns, csrluInfoHost_t info)
{
    const char *const name = __func__;
    LU_INFO;
    NEED(n > 0 && nnz > 0);
    cusolverStatus_t wrong = sparse_check(name, &(const struct matrix){n, nnz, descriptor, rows, rows, columns});
    i->n = n;
    i->analysed = !wrong;
    return wrong;
}

LIBRARY_API cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzL, int *nnzU,
                                                     csrluInfoHost_t info)
{
    const char *const name = __func__;
    LU_INFO;
    NEED(i->factored && nnzL && nnzU);
    *nnzL = i->f.lower.row[i->n] - i->n;
    *nnzU = i->f.upper.row[i->n];
    return CUSOLVER_STATUS_SUCCESS;
}

#define MATRIX_OF(T)                                                                                                   \
    int n, int nnz, const cusparseMatDescr_t descriptor, const T *values, const int *rows, const int *columns
#define M                                                                                                              \
    &(const struct matrix)                                                                                             \
    {                                                                                                                  \
        n, nnz, descriptor, values, rows, columns                                                                      \
    }
#define LU(X, unused, T, R, p)                                                                                         \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrluBufferInfoHost(                                                   \
        cusolverSpHandle_t handle, MATRIX_OF(T), csrluInfoHost_t info, size_t *internal, size_t *workspace)            \
    {                                                                                                                  \
        return sizes(__func__, handle, M, info, internal, workspace);                                                  \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrluFactorHost(cusolverSpHandle_t handle, MATRIX_OF(T),               \
                                                                csrluInfoHost_t info, R threshold, void *buffer)       \
    {                                                                                                                  \
        (void)buffer;                                                                                                  \
        return factor(__func__, handle, p, M, info, threshold);                                                        \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info,    \
                                                                   R tolerance, int *position)                         \
    {                                                                                                                  \
        return zero_pivot(__func__, handle, info, tolerance, position);                                                \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrluSolveHost(cusolverSpHandle_t handle, int n, const T *b, T *x,     \
                                                               csrluInfoHost_t info, void *buffer)                     \
    {                                                                                                                  \
        (void)buffer;                                                                                                  \
        return solve(__func__, handle, p, n, b, x, info);                                                              \
    }                                                                                                                  \
    LIBRARY_API cusolverStatus_t cusolverSp##X##csrluExtractHost(                                                      \
        cusolverSpHandle_t handle, int *P, int *Q, const cusparseMatDescr_t descrL, T *L, int *L_rows, int *L_columns, \
        const cusparseMatDescr_t descrU, T *U, int *U_rows, int *U_columns, csrluInfoHost_t info, void *buffer)        \
    {                                                                                                                  \
        (void)buffer;                                                                                                  \
        return extract_both(__func__, handle, p, P, Q, &(const struct output){descrL, L, L_rows, L_columns},           \
                            &(const struct output){descrU, U, U_rows, U_columns}, info);                               \
    }
FOR_ALL(LU, lu, lu)
