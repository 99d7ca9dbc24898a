/* Operations on a sparse and a dense vector: sums, products, rotations, gather and scatter. */
#include "libraries/cusparse/call.h"

/* The index in the dense vector, or -1. */
static int64_t place(const struct call *c, int64_t k)
{
    int64_t i = index_at(c->v.index, c->v.indices, k) - c->v.base;
    return i >= 0 && i < c->y.rows ? i : -1;
}

/* For each element of the sparse vector: `k` is its index there, `i` in the dense one. */
#define EACH(c, k, i)                                                                                                  \
    for (int64_t k = 0, i; k < (c)->v.nnz; k++)                                                                        \
        if ((i = place(c, k)) < 0)                                                                                     \
            return HD_ERROR_ILLEGAL_ADDRESS;                                                                           \
        else

static hd_result run_axpby(const struct call *c)
{
    number alpha = scalar_value(c, &c->alpha), beta = scalar_value(c, &c->beta);
    for (int64_t i = 0; i < c->y.rows; i++)
        number_blend((number){0, 0}, (number){0, 0}, beta, c->y.type, c->y.values, i);
    EACH(c, k, i)
    number_blend(alpha, number_at(c->v.type, c->v.values, k), (number){1, 0}, c->y.type, c->y.values, i);
    return HD_SUCCESS;
}

static hd_result run_gather(const struct call *c)
{
    EACH(c, k, i)
    number_set(c->v.type, c->v.values, k, number_at(c->y.type, c->y.values, i));
    return HD_SUCCESS;
}

static hd_result run_scatter(const struct call *c)
{
    EACH(c, k, i)
    number_set(c->y.type, c->y.values, i, number_at(c->v.type, c->v.values, k));
    return HD_SUCCESS;
}

static hd_result run_rotate(const struct call *c)
{
    number cosine = scalar_value(c, &c->alpha), sine = scalar_value(c, &c->beta);
    number minus_sine = {-sine.re, sine.im}; /* the conjugate */
    EACH(c, k, i)
    {
        number x = number_at(c->v.type, c->v.values, k), y = number_at(c->y.type, c->y.values, i);
        number_set(c->v.type, c->v.values, k, number_add(number_times(cosine, x), number_times(sine, y)));
        number_set(c->y.type, c->y.values, i, number_add(number_times(cosine, y), number_times(minus_sine, x)));
    }
    return HD_SUCCESS;
}

static hd_result run_dot(const struct call *c)
{
    number sum = {0, 0};
    EACH(c, k, i)
    {
        number x = number_at(c->v.type, c->v.values, k);
        if (c->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
            x = number_conjugate(x);
        sum = number_add(sum, number_times(x, number_at(c->y.type, c->y.values, i)));
    }
    number_set(c->compute, c->at[0] ? c->at[0] : library_view(c->at[1]), 0, sum);
    return HD_SUCCESS;
}

/* ---- the calls ---- */

#define VECTORS(x, y)                                                                                                  \
    CONTEXT(s, handle);                                                                                                \
    const struct sparse_vector *sparse = handle_find(&library_handles, x, KIND_SPARSE_VECTOR);                         \
    const struct dense_vector *dense = handle_find(&library_handles, y, KIND_DENSE_VECTOR);                            \
    NEED(sparse &&dense);                                                                                              \
    NEED(sparse->size == dense->size)

static struct call call_of(const char *name, call_run *run, const struct sparse_vector *x, const struct dense_vector *y)
{
    return (struct call){.name = name, .run = run, .v = *x, .y = dense_of(y), .flops = 2.0 * (double)x->nnz};
}

static cusparseStatus_t put(const struct context *s, struct call *c, unsigned sparse_use, unsigned dense_use)
{
    call_sparse_vector(c, &c->v, sparse_use);
    call_dense(c, &c->y, dense_use);
    return call_put(s, c);
}

/* The compute type for vectors of a type. */
static cudaDataType computed(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return CUDA_R_32F;
    case CUDA_C_16F:
    case CUDA_C_16BF: return CUDA_C_32F;
    default: return type;
    }
}

static bool is_floating(cudaDataType type)
{
    return type != CUDA_R_8I && type != CUDA_R_32I;
}

/* Arguments of sums and rotations. */
#define SCALED(first, second)                                                                                          \
    VECTORS(x, y);                                                                                                     \
    NEED((first) && (second));                                                                                         \
    SUPPORTED(sparse->type == dense->type);                                                                            \
    NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, is_floating(sparse->type))

LIBRARY_API cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x,
                                           const void *beta, cusparseDnVecDescr_t y)
{
    SCALED(alpha, beta);
    struct call c = call_of(__func__, run_axpby, sparse, dense);
    c.compute = computed(sparse->type);
    unsigned updates = call_scalars(&c, s, alpha, beta);
    return put(s, &c, HD_READS, updates);
}

LIBRARY_API cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                            cusparseSpVecDescr_t x)
{
    VECTORS(x, y);
    SUPPORTED(sparse->type == dense->type);
    struct call c = call_of(__func__, run_gather, sparse, dense);
    return put(s, &c, HD_WRITES, HD_READS);
}

/* The written elements of the dense vector are not known yet: all of it counts as updated. */
LIBRARY_API cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                             cusparseDnVecDescr_t y)
{
    VECTORS(x, y);
    SUPPORTED(sparse->type == dense->type);
    struct call c = call_of(__func__, run_scatter, sparse, dense);
    return put(s, &c, HD_READS, HD_WRITES);
}

LIBRARY_API cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void *cosine, const void *sine,
                                         cusparseSpVecDescr_t x, cusparseDnVecDescr_t y)
{
    SCALED(cosine, sine);
    struct call c = call_of(__func__, run_rotate, sparse, dense);
    c.compute = computed(sparse->type);
    call_scalars(&c, s, cosine, sine);
    return put(s, &c, HD_READS | HD_WRITES, HD_READS | HD_WRITES);
}

static bool is_dot(cudaDataType x, cudaDataType y, cudaDataType compute)
{
    if (x == CUDA_R_8I)
        return y == x && (compute == CUDA_R_32I || compute == CUDA_R_32F);
    return x == y && compute == computed(x);
}

#define DOT                                                                                                            \
    VECTORS(x, y);                                                                                                     \
    NEED(result);                                                                                                      \
    NEED(op == CUSPARSE_OPERATION_NON_TRANSPOSE ||                                                                     \
         (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && type_is_complex(sparse->type)));                             \
    SUPPORTED(is_dot(sparse->type, dense->type, compute))

LIBRARY_API cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                                     cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                                     const void *result, cudaDataType compute, size_t *bytes)
{
    DOT;
    NEED(bytes);
    *bytes = 16; /* nothing is needed, but some programs refuse to allocate nothing */
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                                          cusparseConstDnVecDescr_t y, void *result, cudaDataType compute, void *buffer)
{
    DOT;
    NEED(buffer);
    struct call c = call_of(__func__, run_dot, sparse, dense);
    c.op_a = op;
    c.compute = compute;
    bool is_host = s->mode == CUSPARSE_POINTER_MODE_HOST;
    c.at[is_host ? 0 : 1] = result;
    c.waits = is_host && !call_is_captured(s); /* a graph writes it when it runs */
    call_sparse_vector(&c, &c.v, HD_READS);
    call_dense(&c, &c.y, HD_READS);
    if (is_host)
        call_host_scalar(result, true);
    else
        call_vector(&c, result, 1, type_bytes(compute), HD_WRITES);
    return call_put(s, &c);
}

/* ---- a dense matrix times a sparse vector, of the older functions ---- */

/* y = alpha op(A) v + beta y. */
static hd_result run_gemvi(const struct call *c)
{
    number alpha = scalar_value(c, &c->alpha), beta = scalar_value(c, &c->beta);
    for (int64_t i = 0; i < c->y.rows; i++) {
        number sum = {0, 0};
        for (int64_t k = 0; k < c->v.nnz; k++) {
            int64_t j = index_at(c->v.index, c->v.indices, k) - c->v.base;
            if (j < 0 || j >= c->v.size)
                return HD_ERROR_ILLEGAL_ADDRESS;
            sum =
                number_add(sum, number_times(dense_at(&c->x, 0, c->op_a, i, j), number_at(c->v.type, c->v.values, k)));
        }
        number_blend(alpha, sum, beta, c->y.type, c->y.values, i);
    }
    return HD_SUCCESS;
}

#define GEMVI(X, T, TYPE)                                                                                              \
    LIBRARY_API cusparseStatus_t cusparse##X##gemvi_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, int m, \
                                                               int n, int nnz, int *bytes)                             \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        NEED(is_operation(op) && m >= 0 && n >= 0 && nnz >= 0 && bytes);                                               \
        *bytes = 0;                                                                                                    \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gemvi(                                                                   \
        cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const T *alpha, const T *a, int ld, int nnz,    \
        const T *x, const int *indices, const T *beta, T *y, cusparseIndexBase_t base, void *buffer)                   \
    {                                                                                                                  \
        CONTEXT(s, handle);                                                                                            \
        (void)buffer;                                                                                                  \
        NEED(is_operation(op) && m >= 0 && n >= 0 && nnz >= 0 && alpha && beta && is_base(base));                      \
        NEED(op != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || type_is_complex(TYPE));                                   \
        bool is_straight = op == CUSPARSE_OPERATION_NON_TRANSPOSE;                                                     \
        const struct dense_vector to = {is_straight ? m : n, y, TYPE};                                                 \
        struct call c = {.name = __func__,                                                                             \
                         .run = run_gemvi,                                                                             \
                         .x = {m, n, ld, (void *)a, TYPE, CUSPARSE_ORDER_COL, 1, 0},                                   \
                         .y = dense_of(&to),                                                                           \
                         .v = {is_straight ? n : m, nnz, (void *)indices, (void *)x, CUSPARSE_INDEX_32I, base, TYPE},  \
                         .op_a = op,                                                                                   \
                         .compute = TYPE,                                                                              \
                         .flops = 2.0 * (double)to.size * nnz};                                                        \
        unsigned updates = call_scalars(&c, s, alpha, beta);                                                           \
        call_dense(&c, &c.x, HD_READS);                                                                                \
        call_sparse_vector(&c, &c.v, HD_READS);                                                                        \
        call_dense(&c, &c.y, updates);                                                                                 \
        return call_put(s, &c);                                                                                        \
    }
EACH_TYPE(GEMVI)
