/* Triangular systems: op(A) y = alpha x for a vector, op(A) C = alpha op(B) for a dense matrix. A's
 * attributes select the triangle and a unit diagonal; other elements are ignored. */
#include "libraries/cusparse/info.h"

#include <stdlib.h>

/* Keeps the first such row of all calls. at[0]: its destination, or NULL. */
static void zero_pivot(const struct call *c, int64_t row)
{
    struct info *info = c->at[0];
    int position = info_position(&c->a, row);
    if (info && (info->pivot < 0 || position < info->pivot))
        info->pivot = position;
}

/* Solves row i of a column, which needs the rows before it, or behind it in an upper triangle. */
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
    if (c->a.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT) {
        if (number_is_zero(diagonal))
            zero_pivot(c, i);
        sum = number_over(sum, diagonal);
    }
    number_set(c->y.type, c->y.values, dense_index(&c->y, of_batch, i, j), sum);
}

/* Contents of SpSV's and SpSM's descriptors: the analysed matrix, and values that replace its own,
 * if any. */
struct solution {
    bool analysed;
    struct sparse a;
    number *values, *diagonal;
};

/* Uses the values given in place of the matrix's. */
static void replace_values(const struct call *c, struct csr *a)
{
    const struct solution *solution = c->at[1];
    for (int64_t i = 0; solution && i < a->rows; i++)
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++) {
            if (solution->diagonal && a->column[k] == i)
                a->value[k] = solution->diagonal[i];
            else if (solution->values)
                a->value[k] = solution->values[a->from[k]];
            else
                continue;
            if (c->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
                a->value[k] = number_conjugate(a->value[k]);
        }
}

static hd_result run_solve(const struct call *c)
{
    bool lower = (c->a.fill == CUSPARSE_FILL_MODE_LOWER) == (c->op_a == CUSPARSE_OPERATION_NON_TRANSPOSE);
    number alpha = scalar_value(c, &c->alpha);
    hd_result r = HD_SUCCESS;
    for (int b = 0; !r && b < c->y.batch; b++) {
        struct csr a;
        r = csr_load(&c->a, b, c->op_a, true, &a);
        if (!r)
            replace_values(c, &a);
        for (int64_t j = 0; !r && j < c->y.columns; j++)
            for (int64_t i = 0; i < a.rows; i++)
                solve_row(c, &a, b, alpha, lower, lower ? i : a.rows - 1 - i, j);
        csr_free(&a);
    }
    return r;
}

/* ---- the calls ---- */

static bool is_solved(cusparseFormat_t format)
{
    return format != CUSPARSE_FORMAT_CSC && format != CUSPARSE_FORMAT_BSR && format != CUSPARSE_FORMAT_BLOCKED_ELL;
}

static cusparseStatus_t check_matrix(const struct equation *p)
{
    bool is_type =
        p->a->type == CUDA_R_32F || p->a->type == CUDA_R_64F || p->a->type == CUDA_C_32F || p->a->type == CUDA_C_64F;
    if (!p->alpha || !is_operation(p->op_a) || !is_operation(p->op_b))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "alpha is not NULL, and operations are cuSPARSE's");
    if (p->a->rows != p->a->columns)
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the matrix is square");
    if (!is_type)
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED, "all types are equal: float, double, or complex");
    if (p->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && !type_is_complex(p->a->type))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "only complex matrices are conjugated");
    if (!is_solved(p->a->format) || p->op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED,
                          "the matrix is CSR, COO or Sliced-ELL, and no side is conjugated");
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check(const struct equation *p)
{
    bool straight = p->op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseStatus_t wrong = check_matrix(p);
    if (wrong)
        return wrong;
    if (p->c.rows != p->a->rows || (straight ? p->b.rows : p->b.columns) != p->c.rows ||
        (straight ? p->b.columns : p->b.rows) != p->c.columns)
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the sizes of the operands fit together");
    if (p->a->type != p->compute || p->b.type != p->compute || p->c.type != p->compute)
        return call_wrong(p->name, CUSPARSE_STATUS_NOT_SUPPORTED, "all types are equal: float, double, or complex");
    if ((p->a->batch > 1 && p->a->batch != p->c.batch) || (p->b.batch > 1 && p->b.batch != p->c.batch))
        return call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "the operands have the same batch count, or 1");
    return CUSPARSE_STATUS_SUCCESS;
}

/* Right-hand side and solution are not checked. */
static cusparseStatus_t size_of(const struct equation *p, size_t *bytes)
{
    cusparseStatus_t wrong = check_matrix(p);
    if (!wrong && !bytes)
        wrong = call_wrong(p->name, CUSPARSE_STATUS_INVALID_VALUE, "bufferSize is not NULL");
    if (!wrong)
        *bytes = 16;
    return wrong;
}

static void forget_values(struct solution *solution)
{
    free(solution->values);
    free(solution->diagonal);
    solution->values = solution->diagonal = NULL;
}

static cusparseStatus_t analyse(const struct equation *p, struct solution *solution)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong) {
        forget_values(solution);
        solution->analysed = true;
        solution->a = *p->a;
    }
    return wrong;
}

/* The host waits if the task reads a descriptor, which may be destroyed after the call, or writes
 * an info. */
static cusparseStatus_t put_solution(const struct context *s, const struct equation *p, struct info *info,
                                     const struct solution *solution)
{
    bool is_updated = solution && (solution->values || solution->diagonal);
    struct call c = {.name = p->name,
                     .run = run_solve,
                     .a = *p->a,
                     .x = p->b,
                     .y = p->c,
                     .op_a = p->op_a,
                     .op_b = p->op_b,
                     .compute = p->compute,
                     .at = {info, is_updated ? (void *)solution : NULL},
                     .waits = (info && info_waits(s, info)) || is_updated,
                     .flops = 2.0 * (double)p->a->nnz * (double)p->c.columns * p->c.batch};
    c.alpha = call_scalar(&c, s, p->alpha);
    call_sparse(&c, &c.a, HD_READS, HD_READS);
    bool in_place = c.x.values == c.y.values;
    call_dense(&c, &c.x, in_place ? HD_READS | HD_WRITES : HD_READS);
    if (!in_place)
        call_dense(&c, &c.y, HD_WRITES);
    return call_put(s, &c);
}

static cusparseStatus_t put(const struct context *s, const struct equation *p, const struct solution *solution)
{
    cusparseStatus_t wrong = check(p);
    if (!wrong && !solution->analysed)
        wrong = call_wrong(p->name, CUSPARSE_STATUS_NOT_INITIALIZED, "the system was analysed before");
    return wrong ? wrong : put_solution(s, p, NULL, solution);
}

cusparseStatus_t equation_solve(const struct context *s, const struct equation *p, struct info *info)
{
    return put_solution(s, p, info, NULL);
}

/* ---- other values in the place of a matrix's ---- */

static hd_result run_update(const struct call *c)
{
    struct solution *solution = c->at[0];
    bool is_diagonal = c->m;
    number **to = is_diagonal ? &solution->diagonal : &solution->values;
    free(*to);
    *to = malloc(((size_t)c->n + 1) * sizeof **to);
    for (int64_t k = 0; *to && k < c->n; k++)
        (*to)[k] = number_at(c->compute, library_view(c->at[1]), k);
    return *to ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

static cusparseStatus_t update(const struct context *s, const char *name, struct solution *solution, void *values,
                               bool is_diagonal)
{
    int64_t n = is_diagonal ? solution->a.rows : solution->a.nnz;
    struct call c = {.name = name,
                     .run = run_update,
                     .at = {solution, values},
                     .m = is_diagonal,
                     .n = n,
                     .compute = solution->a.type,
                     .waits = true};
    if (n == 0)
        return CUSPARSE_STATUS_SUCCESS;
    call_vector(&c, values, n, type_bytes(c.compute), HD_READS);
    return call_put(s, &c);
}

static void solution_free(void *record)
{
    forget_values(record);
    free(record);
}

#define DESCRIPTIONS(Name, kind)                                                                                       \
    LIBRARY_API cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t *descriptor)                     \
    {                                                                                                                  \
        IN_CALL;                                                                                                       \
        NEED(descriptor);                                                                                              \
        const struct solution none = {0};                                                                              \
        return record_add(descriptor, kind, &none, sizeof none);                                                       \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descriptor)                     \
    {                                                                                                                  \
        return record_destroy_by(descriptor, kind, solution_free);                                                     \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_updateMatrix(                                                        \
        cusparseHandle_t handle, cusparse##Name##Descr_t descriptor, void *values, cusparse##Name##Update_t part)      \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        struct solution *solution = handle_find(&library_handles, descriptor, kind);                                   \
        NEED(solution &&values && (unsigned)part <= 1);                                                                \
        NEED(solution->analysed);                                                                                      \
        return update(s, __func__, solution, values, part == 1);                                                       \
    }
DESCRIPTIONS(SpSV, KIND_SPSV)
DESCRIPTIONS(SpSM, KIND_SPSM)

#define SOLVE_VECTOR                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a,                   \
        cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVAlg_t algorithm,        \
        cusparseSpSVDescr_t descriptor
#define SOLVE_MATRIX                                                                                                   \
    cusparseHandle_t handle, cusparseOperation_t op, cusparseOperation_t op_b, const void *alpha,                      \
        cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t x, cusparseDnMatDescr_t y, cudaDataType compute,        \
        cusparseSpSMAlg_t algorithm, cusparseSpSMDescr_t descriptor
#define VECTORS(p, solution)                                                                                           \
    CONTEXT(s, handle);                                                                                                \
    struct solution *solution = handle_find(&library_handles, descriptor, KIND_SPSV);                                  \
    struct equation p = {.name = __func__, .alpha = alpha, .op_a = op, .compute = compute};                            \
    NEED(solution &&equation_of_vectors(&p, a, x, y));                                                                 \
    NEED(algorithm == CUSPARSE_SPSV_ALG_DEFAULT);                                                                      \
    SUPPORTED(p.a->batch <= 1)
#define MATRICES(p, solution)                                                                                          \
    CONTEXT(s, handle);                                                                                                \
    struct solution *solution = handle_find(&library_handles, descriptor, KIND_SPSM);                                  \
    struct equation p = {.name = __func__, .alpha = alpha, .op_a = op, .op_b = op_b, .compute = compute};              \
    NEED(solution &&equation_of_matrices(&p, a, x, y));                                                                \
    NEED(algorithm == CUSPARSE_SPSM_ALG_DEFAULT)

#define SIZED(p, kind, wanted)                                                                                         \
    CONTEXT(s, handle);                                                                                                \
    struct equation p = {.name = __func__,                                                                             \
                         .alpha = alpha,                                                                               \
                         .a = handle_find(&library_handles, a, KIND_SPARSE),                                           \
                         .op_a = op,                                                                                   \
                         .compute = compute};                                                                          \
    NEED(p.a &&handle_find(&library_handles, descriptor, kind));                                                       \
    (void)x, (void)y;                                                                                                  \
    NEED(algorithm == (wanted))
#define VECTOR_SIZED(p) SIZED(p, KIND_SPSV, CUSPARSE_SPSV_ALG_DEFAULT)
#define MATRIX_SIZED(p)                                                                                                \
    SIZED(p, KIND_SPSM, CUSPARSE_SPSM_ALG_DEFAULT);                                                                    \
    NEED(x);                                                                                                           \
    p.op_b = op_b

#define SOLUTION(Name, ARGUMENTS, SIZED, CHECKED)                                                                      \
    LIBRARY_API cusparseStatus_t cusparse##Name##_bufferSize(ARGUMENTS, size_t *bytes)                                 \
    {                                                                                                                  \
        SIZED(p);                                                                                                      \
        return size_of(&p, bytes);                                                                                     \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_analysis(ARGUMENTS, void *buffer)                                    \
    {                                                                                                                  \
        CHECKED(p, solution);                                                                                          \
        NEED(buffer);                                                                                                  \
        return analyse(&p, solution);                                                                                  \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##Name##_solve(ARGUMENTS)                                                     \
    {                                                                                                                  \
        CHECKED(p, solution);                                                                                          \
        return put(s, &p, solution);                                                                                   \
    }
SOLUTION(SpSV, SOLVE_VECTOR, VECTOR_SIZED, VECTORS)
SOLUTION(SpSM, SOLVE_MATRIX, MATRIX_SIZED, MATRICES)
