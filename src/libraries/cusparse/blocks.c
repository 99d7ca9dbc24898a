/* The older functions for matrices of square blocks: products, and triangular systems in the
 * blocks' elements. */
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

/* ---- products of some rows ---- */

/* at: the mask, the begins and ends of rows of blocks, and their columns. Other rows of y stay
 * unchanged. */
static hd_result run_masked(const struct call *c)
{
    const int *mask = library_view(c->at[0]), *begin = library_view(c->at[1]), *end = library_view(c->at[2]),
              *column = c->nnz ? library_view(c->at[3]) : NULL;
    number alpha = scalar_value(c, &c->alpha), beta = scalar_value(c, &c->beta);
    int64_t dimension = c->a.block_rows, base = c->a.base;
    for (int64_t t = 0; t < c->n; t++) {
        int64_t row = mask[t] - base;
        if (row < 0 || row >= c->m)
            return HD_ERROR_ILLEGAL_ADDRESS;
        for (int64_t i = 0; i < dimension; i++) {
            number sum = {0, 0};
            for (int64_t k = begin[row] - base; k < end[row] - base; k++) {
                int64_t across = k < 0 || k >= c->nnz ? -1 : column[k] - base;
                if (across < 0 || across >= c->x.rows / dimension)
                    return HD_ERROR_ILLEGAL_ADDRESS;
                for (int64_t j = 0; j < dimension; j++)
                    sum = number_add(
                        sum, number_times(number_at(c->a.type, c->a.values, sparse_block_element(&c->a, k, i, j)),
                                          number_at(c->x.type, c->x.values, across * dimension + j)));
            }
            number_blend(alpha, sum, beta, c->y.type, c->y.values, row * dimension + i);
        }
    }
    return HD_SUCCESS;
}

#define MASKED(X, T, TYPE)                                                                                             \
    LIBRARY_API cusparseStatus_t cusparse##X##bsrxmv(                                                                  \
        cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int masks, int m, int n,       \
        int nnz, const T *alpha, const cusparseMatDescr_t descriptor, const T *values, const int *mask,                \
        const int *offsets, const int *ends, const int *columns, int dimension, const T *x, const T *beta, T *y)       \
    {                                                                                                                  \
        MATRIX_CHECKED;                                                                                                \
        NEED(masks >= 0 && n >= 0 && alpha && beta && ends && mask);                                                   \
        NEED(op == CUSPARSE_OPERATION_NON_TRANSPOSE && dimension > 1);                                                 \
        struct call c = {.name = __func__,                                                                             \
                         .run = run_masked,                                                                            \
                         .a = bsr_of(d, TYPE, m, n, nnz, values, NULL, NULL, direction, dimension, dimension),         \
                         .x = vector_of(TYPE, (int64_t)n * dimension, x),                                              \
                         .y = vector_of(TYPE, (int64_t)m * dimension, y),                                              \
                         .at = {(void *)mask, (void *)offsets, (void *)ends, (void *)columns},                         \
                         .m = m,                                                                                       \
                         .n = masks,                                                                                   \
                         .nnz = nnz,                                                                                   \
                         .compute = TYPE,                                                                              \
                         .flops = 2.0 * nnz * dimension * dimension};                                                  \
        call_scalars(&c, s, alpha, beta);                                                                              \
        call_vector(&c, mask, masks, sizeof *mask, HD_READS);                                                          \
        call_vector(&c, offsets, m, sizeof *offsets, HD_READS);                                                        \
        call_vector(&c, ends, m, sizeof *ends, HD_READS);                                                              \
        call_vector(&c, columns, nnz, sizeof *columns, HD_READS);                                                      \
        call_vector(&c, values, c.a.nnz, sizeof *values, HD_READS);                                                    \
        call_dense(&c, &c.x, HD_READS);                                                                                \
        call_dense(&c, &c.y, HD_READS | HD_WRITES);                                                                    \
        return call_put(s, &c);                                                                                        \
    }
EACH_TYPE(MASKED)

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

/* Triangular systems: LEAD and SIDES are the additional parameters of functions with several
 * right-hand sides, VECTORS the arguments for b and x. */
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
