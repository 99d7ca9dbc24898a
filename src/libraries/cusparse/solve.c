/* Triangular systems: op(A) y = alpha x for a vector, op(A) C = alpha op(B) for a dense matrix. The attributes of A say which triangle it is,
 * and whether its diagonal is ones; what lies outside of that is not looked at. */
#include "libraries/cusparse/call.h"

/* Row i of a column of the solution, which the rows before it, or behind it in an upper triangle, have. */
static void solve_row(const struct call *c, const struct csr *a, int of_batch, number alpha, bool lower, int64_t i,
                      int64_t j)
{
    number sum = number_times(alpha, dense_at(&c->x, of_batch, c->op_b, i, j)), diagonal = {0, 0};
    for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++) {
        int64_t column = a->column[k];
        if (column == i)
            diagonal = a->value[k];
        if (lower ? column >= i : column <= i)
            continue;
        number known = number_at(c->y.type, c->y.values, dense_index(&c->y, of_batch, column, j));
        number product = number_times(a->value[k], known);
        sum = (number){sum.re - product.re, sum.im - product.im};
    }
    if (c->a.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT)
        sum = number_over(sum, diagonal);
    number_set(c->y.type, c->y.values, dense_index(&c->y, of_batch, i, j), sum);
}

static hd_result run_solve(const struct call *c)
{
    bool lower = (c->a.fill == CUSPARSE_FILL_MODE_LOWER) == (c->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE);
    number alpha = scalar_value(c, &c->alpha);
    hd_result r = HD_SUCCESS;
    for (int b = 0; !r && b < c->y.batch; b++) {
        struct csr a;
        r = csr_load(&c->a, b, c->op_a, true, &a);
        for (int64_t j = 0; !r && j < c->y.columns; j++)
            for (int64_t i = 0; i < a.rows; i++)
                solve_row(c, &a, b, alpha, lower, lower ? i : a.rows - 1 - i, j);
        csr_free(&a);
    }
    return r;
}

/* ---- the calls ---- */

/* What SpSV's and SpSM's descriptors keep: there is nothing to prepare. */
struct solution {
    bool analysed;
};

struct solve_arguments {
    const char *name;
    const void *alpha;
    const struct sparse *a;
    struct dense b, c;
    cusparseOperation_t op_a, op_b;
    cudaDataType compute;
    struct solution *solution;
};

static cusparseStatus_t check(const struct solve_arguments *p)
{
    bool straight = p->op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (!p->alpha || !is_operation(p->op_a) || !is_operation(p->op_b))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "alpha is not NULL, and operations are cuSPARSE's");
    if (p->a->rows != p->a->columns || p->c.rows != p->a->rows || (straight ? p->b.rows : p->b.columns) != p->c.rows ||
        (straight ? p->b.columns : p->b.rows) != p->c.columns)
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the sizes of the operands fit together");
    bool is_type =
        p->compute == CUDA_R_32F || p->compute == CUDA_R_64F || p->compute == CUDA_C_32F || p->compute == CUDA_C_64F;
    if (!is_type || p->a->type != p->compute || p->b.type != p->compute || p->c.type != p->compute)
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED, "all types are one: a float, a double, or complex");
    if (p->a->format == CUSPARSE_FORMAT_CSC)
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED, "the matrix is CSR or COO");
    if ((p->a->batch > 1 && p->a->batch != p->c.batch) || (p->b.batch > 1 && p->b.batch != p->c.batch))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "operands have one batch count, or 1");
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t size_of(const struct solve_arguments *p, size_t *bytes)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong && !bytes)
        wrong = call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "bufferSize is not NULL");
    if (!wrong)
        *bytes = 16;
    return wrong;
}

static cusparseStatus_t analyse(const struct solve_arguments *p)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong)
        p->solution->analysed = true;
    return wrong;
}

static cusparseStatus_t put(const struct context *s, const struct solve_arguments *p)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong && !p->solution->analysed)
        wrong = call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the system was analysed before");
    if (wrong)
        return wrong;
    struct call c = {.name = p->name,
                     .run = run_solve,
                     .a = *p->a,
                     .x = p->b,
                     .y = p->c,
                     .op_a = p->op_a,
                     .op_b = p->op_b,
                     .compute = p->compute,
                     .flops = 2.0 * (double)p->a->nnz * (double)p->c.columns * p->c.batch};
    c.alpha = call_scalar(&c, s, p->alpha);
    call_sparse(&c, &c.a, HD_READS, HD_READS);
    bool in_place = c.x.values == c.y.values;
    call_dense(&c, &c.x, in_place ? HD_READS | HD_WRITES : HD_READS);
    if (!in_place)
        call_dense(&c, &c.y, HD_WRITES);
    return call_put(s, &c);
}

#define DESCRIPTOR(Name, kind)                                                                                         \
    LIBRARY_API cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t *descriptor)                     \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(descriptor);                                                                                              \
        const struct solution none = {false};                                                                          \
        return record_add(descriptor, kind, &none, sizeof none);                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descriptor)                     \
    {                                                                                                                  \
        return record_destroy(descriptor, kind);                                                                       \
    }
DESCRIPTOR(SpSV, KIND_SPSV)
DESCRIPTOR(SpSM, KIND_SPSM)

#define SOLVE_VECTOR                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a,                   \
        cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVAlg_t algorithm,        \
        cusparseSpSVDescr_t descriptor
#define VECTOR_ARGUMENTS(p)                                                                                            \
    CONTEXT(s, handle);                                                                                                \
    const struct sparse *matrix = handle_find(&library_handles, a, KIND_SPARSE);                                       \
    const struct dense_vector *from = handle_find(&library_handles, x, KIND_DENSE_VECTOR);                             \
    const struct dense_vector *to = handle_find(&library_handles, y, KIND_DENSE_VECTOR);                               \
    struct solution *solution = handle_find(&library_handles, descriptor, KIND_SPSV);                                  \
    NEED(matrix &&from &&to &&solution);                                                                               \
    NEED(algorithm == CUSPARSE_SPSV_ALG_DEFAULT);                                                                      \
    SUPPORTED(matrix->batch <= 1);                                                                                     \
    const struct solve_arguments p = {.name = __func__,                                                                \
                                      .alpha = alpha,                                                                  \
                                      .a = matrix,                                                                     \
                                      .b = dense_of(from),                                                             \
                                      .c = dense_of(to),                                                               \
                                      .op_a = op,                                                                      \
                                      .compute = compute,                                                              \
                                      .solution = solution}

LIBRARY_API cusparseStatus_t cusparseSpSV_bufferSize(SOLVE_VECTOR, size_t *bytes)
{
    VECTOR_ARGUMENTS(p);
    return size_of(&p, bytes);
}

LIBRARY_API cusparseStatus_t cusparseSpSV_analysis(SOLVE_VECTOR, void *buffer)
{
    VECTOR_ARGUMENTS(p);
    (void)buffer;
    return analyse(&p);
}

LIBRARY_API cusparseStatus_t cusparseSpSV_solve(SOLVE_VECTOR)
{
    VECTOR_ARGUMENTS(p);
    return put(s, &p);
}

#define SOLVE_MATRIX                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,                    \
        cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType compute,        \
        cusparseSpSMAlg_t algorithm, cusparseSpSMDescr_t descriptor
#define MATRIX_ARGUMENTS(p)                                                                                            \
    CONTEXT(s, handle);                                                                                                \
    const struct sparse *matrix = handle_find(&library_handles, a, KIND_SPARSE);                                       \
    const struct dense *from = handle_find(&library_handles, b, KIND_DENSE);                                           \
    const struct dense *to = handle_find(&library_handles, c, KIND_DENSE);                                             \
    struct solution *solution = handle_find(&library_handles, descriptor, KIND_SPSM);                                  \
    NEED(matrix &&from &&to &&solution);                                                                               \
    NEED(algorithm == CUSPARSE_SPSM_ALG_DEFAULT);                                                                      \
    const struct solve_arguments p = {.name = __func__,                                                                \
                                      .alpha = alpha,                                                                  \
                                      .a = matrix,                                                                     \
                                      .b = *from,                                                                      \
                                      .c = *to,                                                                        \
                                      .op_a = op_a,                                                                    \
                                      .op_b = op_b,                                                                    \
                                      .compute = compute,                                                              \
                                      .solution = solution}

LIBRARY_API cusparseStatus_t cusparseSpSM_bufferSize(SOLVE_MATRIX, size_t *bytes)
{
    MATRIX_ARGUMENTS(p);
    return size_of(&p, bytes);
}

LIBRARY_API cusparseStatus_t cusparseSpSM_analysis(SOLVE_MATRIX, void *buffer)
{
    MATRIX_ARGUMENTS(p);
    (void)buffer;
    return analyse(&p);
}

LIBRARY_API cusparseStatus_t cusparseSpSM_solve(SOLVE_MATRIX)
{
    MATRIX_ARGUMENTS(p);
    return put(s, &p);
}
