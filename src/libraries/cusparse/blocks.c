/* The older functions of matrices of square blocks: products, and triangular systems, which are those of the blocks' elements. */
#include "libraries/cusparse/info.h"

#define MATRIX_CHECKED                                                                                                 \
    CONTEXT(s, handle);                                                                                                \
    const struct mat_descr *d = handle_find(&library_handles, descriptor, KIND_MAT_DESCR);                             \
    NEED(m >= 0 && nnz >= 0 && dimension > 0);                                                                         \
    NEED((unsigned)direction <= CUSPARSE_DIRECTION_COLUMN && is_operation(op));                                        \
    NEED(d &&offsets && (nnz == 0 || (values && columns)));                                                            \
    NEED_OR(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, d->type == CUSPARSE_MATRIX_TYPE_GENERAL)

static struct dense vector_of(cudaDataType type, int64_t size, const void *values)
{
    const struct dense_vector v = {size, (void *)values, type};
    return dense_of(&v);
}

/* As it is, or transposed. */
static struct dense dense_by_op(cudaDataType type, cusparseOperation_t op, int64_t rows, int64_t columns,
                                const void *values, int64_t ld)
{
    cusparseOrder_t order = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    return (struct dense){rows, columns, ld, (void *)values, type, order, 1, 0};
}

#define PRODUCTS(X, T, TYPE)                                                                                           \
    LIBRARY_API cusparseStatus_t cusparse##X##bsrmv(                                                                   \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int m, int n, int nnz,         \
        const T *alpha, const cusparseMatDescr_t descriptor, const T *values, const int *offsets, const int *columns,  \
        int dimension, const T *x, const T *beta, T *y)                                                                \
    {                                                                                                                  \
        MATRIX_CHECKED;                                                                                                \
        NEED(n >= 0 && alpha && beta);                                                                                 \
        NEED(op == CUSPARSE_OPERATION_NON_TRANSPOSE && dimension > 1);                                                 \
        const struct sparse a = bsr_of(d, TYPE, m, n, nnz, values, offsets, columns, direction, dimension, dimension); \
        const struct equation e = {.name = __func__,                                                                   \
                                   .alpha = alpha,                                                                     \
                                   .beta = beta,                                                                       \
                                   .a = &a,                                                                            \
                                   .b = vector_of(TYPE, a.columns, x),                                                 \
                                   .c = vector_of(TYPE, a.rows, y),                                                    \
                                   .op_a = op,                                                                         \
                                   .compute = TYPE};                                                                   \
        return equation_multiply(s, &e);                                                                               \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##bsrmm(                                                                   \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, cusparseOperation_t op_b,      \
        int m, int n, int k, int nnz, const T *alpha, const cusparseMatDescr_t descriptor, const T *values,            \
        const int *offsets, const int *columns, int dimension, const T *b, int ldb, const T *beta, T *c, int ldc)      \
    {                                                                                                                  \
        MATRIX_CHECKED;                                                                                                \
        NEED(n >= 0 && k >= 0 && alpha && beta && b && c && dimension > 1);                                            \
        NEED(op == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);                \
        const struct sparse a = bsr_of(d, TYPE, m, k, nnz, values, offsets, columns, direction, dimension, dimension); \
        const struct equation e = {.name = __func__,                                                                   \
                                   .alpha = alpha,                                                                     \
                                   .beta = beta,                                                                       \
                                   .a = &a,                                                                            \
                                   .b = dense_by_op(TYPE, op_b, a.columns, n, b, ldb),                                 \
                                   .c = dense_by_op(TYPE, CUSPARSE_OPERATION_NON_TRANSPOSE, a.rows, n, c, ldc),        \
                                   .op_a = op,                                                                         \
                                   .compute = TYPE};                                                                   \
        return equation_multiply(s, &e);                                                                               \
    }
EACH_TYPE(PRODUCTS)

/* ---- triangular systems ---- */

static cusparseStatus_t solve(const struct context *s, const char *name, struct info *info, const struct sparse *a,
                              cusparseOperation_t op, const void *alpha, struct dense b, struct dense x)
{
    const struct equation e = {.name = name, .alpha = alpha, .a = a, .b = b, .c = x, .op_a = op, .compute = a->type};
    return equation_solve(s, &e, info);
}

#define SYSTEM_CHECKED(family, SIDES_CHECKED)                                                                          \
    MATRIX_CHECKED;                                                                                                    \
    struct info *record = info_find(info, family);                                                                     \
    NEED(record);                                                                                                      \
    SIDES_CHECKED

/* LEAD and SIDES are what an entry point of several right-hand sides is told before, VECTORS what it is given; of them b and x are made. */
#define SYSTEM(X, T, TYPE, name, family, LEAD, SIDES, SIDES_CHECKED, VECTORS, B, SOLUTION)                             \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_bufferSize(                                                       \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, LEAD int m, SIDES int nnz,     \
        const cusparseMatDescr_t descriptor, T *values, const int *offsets, const int *columns, int dimension,         \
        name##Info_t info, int *bytes)                                                                                 \
    {                                                                                                                  \
        SYSTEM_CHECKED(family, SIDES_CHECKED);                                                                         \
        NEED(bytes);                                                                                                   \
        *bytes = 16;                                                                                                   \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_analysis(                                                         \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, LEAD int m, SIDES int nnz,     \
        const cusparseMatDescr_t descriptor, const T *values, const int *offsets, const int *columns, int dimension,   \
        name##Info_t info, cusparseSolvePolicy_t policy, void *buffer)                                                 \
    {                                                                                                                  \
        SYSTEM_CHECKED(family, SIDES_CHECKED);                                                                         \
        (void)policy;                                                                                                  \
        NEED(buffer);                                                                                                  \
        NEED(op != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || type_is_complex(TYPE));                                   \
        const struct sparse a = bsr_of(d, TYPE, m, m, nnz, values, offsets, columns, direction, dimension, dimension); \
        return info_analyse(s, __func__, record, &a, d->diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT);                      \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_solve(                                                            \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, LEAD int m, SIDES int nnz,     \
        const T *alpha, const cusparseMatDescr_t descriptor, const T *values, const int *offsets, const int *columns,  \
        int dimension, name##Info_t info, VECTORS(T), cusparseSolvePolicy_t policy, void *buffer)                      \
    {                                                                                                                  \
        SYSTEM_CHECKED(family, SIDES_CHECKED);                                                                         \
        (void)policy;                                                                                                  \
        NEED(buffer);                                                                                                  \
        NEED(op != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || type_is_complex(TYPE));                                   \
        NEED(alpha && (m == 0 || (b && x)));                                                                           \
        NEED(record->analysed);                                                                                        \
        const struct sparse a = bsr_of(d, TYPE, m, m, nnz, values, offsets, columns, direction, dimension, dimension); \
        return solve(s, __func__, record, &a, op, alpha, B(TYPE), SOLUTION(TYPE));                                     \
    }

#define ONE_VECTOR(T)                const T *b, T *x
#define ONE_B(TYPE)                  vector_of(TYPE, a.rows, b)
#define ONE_X(TYPE)                  vector_of(TYPE, a.rows, x)
#define SYSTEM_OF_VECTOR(X, T, TYPE) SYSTEM(X, T, TYPE, bsrsv2, FAMILY_BSRSV, , , (void)0, ONE_VECTOR, ONE_B, ONE_X)
EACH_TYPE(SYSTEM_OF_VECTOR)

#define OP_B  cusparseOperation_t op_b,
#define COUNT int n,
#define MANY_CHECKED                                                                                                   \
    NEED(n >= 0);                                                                                                      \
    SUPPORTED(op_b == CUSPARSE_OPERATION_NON_TRANSPOSE || op_b == CUSPARSE_OPERATION_TRANSPOSE)
#define MATRICES(T)  const T *b, int ldb, T *x, int ldx
#define MANY_B(TYPE) dense_by_op(TYPE, op_b, a.rows, n, b, ldb)
#define MANY_X(TYPE) dense_by_op(TYPE, op_b, a.rows, n, x, ldx)
#define SYSTEM_OF_MATRIX(X, T, TYPE)                                                                                   \
    SYSTEM(X, T, TYPE, bsrsm2, FAMILY_BSRSM, OP_B, COUNT, MANY_CHECKED, MATRICES, MANY_B, MANY_X)
EACH_TYPE(SYSTEM_OF_MATRIX)
