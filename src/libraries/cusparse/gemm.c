/* Products of two sparse matrices: C = alpha A B + beta C. The descriptor keeps the computed
 * product, because the host must know its nnz before the program allocates C. */
#include "libraries/cusparse/call.h"

#include <stdlib.h>

struct gemm {
    struct csr product; /* A B only */
    bool computed;
    int64_t products;
};

static hd_result multiply(const struct csr *a, const struct csr *b, struct gemm *g)
{
    struct csr *to = &g->product;
    int64_t all = 0, most = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t terms = 0;
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++)
            terms += b->begin[a->column[k] + 1] - b->begin[a->column[k]];
        all += terms;
        most = terms > most ? terms : most;
    }
    struct term *term;
    bool ready = csr_begin(to, a->rows, b->columns, all, &term, most);
    for (int64_t i = 0; ready && i < a->rows; i++) {
        int64_t terms = 0;
        for (int64_t k = a->begin[i]; k < a->begin[i + 1]; k++)
            for (int64_t l = b->begin[a->column[k]]; l < b->begin[a->column[k] + 1]; l++, terms++)
                term[terms] = (struct term){b->column[l], terms,
                                            a->value ? number_times(a->value[k], b->value[l]) : (number){0, 0}};
        csr_add_row(to, term, terms);
        to->begin[i + 1] = to->nnz;
    }
    free(term);
    g->products = all;
    g->computed = ready;
    return ready ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

/* `values` false: only the pattern. */
static hd_result compute(const struct call *c, bool values, struct gemm *g)
{
    struct csr a = {0}, b = {0};
    csr_free(&g->product);
    hd_result r = csr_load(&c->a, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, values, &a);
    if (!r)
        r = csr_load(&c->b, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, values, &b);
    if (!r)
        r = multiply(&a, &b, g);
    csr_free(&a);
    csr_free(&b);
    return r;
}

static hd_result run_compute(const struct call *c)
{
    return compute(c, true, c->at[0]);
}

static hd_result run_pattern(const struct call *c)
{
    return compute(c, false, c->at[0]);
}

static hd_result run_count(const struct call *c)
{
    struct gemm counted = {0}, *g = c->at[0];
    hd_result r = compute(c, false, &counted);
    g->products = counted.products;
    csr_free(&counted.product);
    return r;
}

static void copy_pattern(const struct call *c, const struct csr *from)
{
    csr_store_offsets(from, &c->c);
    csr_store_columns(from, &c->c);
}

static void copy_values(const struct call *c, const struct csr *from)
{
    number alpha = scalar_value(c, &c->alpha), beta = scalar_value(c, &c->beta);
    for (int64_t k = 0; k < from->nnz; k++)
        number_blend(alpha, from->value[k], beta, c->c.type, c->c.values, k);
}

static hd_result run_copy(const struct call *c)
{
    const struct gemm *g = c->at[0];
    copy_pattern(c, &g->product);
    copy_values(c, &g->product);
    return HD_SUCCESS;
}

static hd_result run_copy_pattern(const struct call *c)
{
    const struct gemm *g = c->at[0];
    copy_pattern(c, &g->product);
    return HD_SUCCESS;
}

/* C already has the pattern: only its values change. */
static hd_result run_reuse(const struct call *c)
{
    struct gemm g = {0};
    hd_result r = compute(c, true, &g);
    if (!r && g.product.nnz != c->c.nnz)
        r = HD_ERROR_ILLEGAL_ADDRESS;
    if (!r)
        copy_values(c, &g.product);
    csr_free(&g.product);
    return r;
}

/* ---- the calls ---- */

LIBRARY_API cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descriptor)
{
    IN_CALL;
    NEED(descriptor);
    const struct gemm none = {0};
    return record_add(descriptor, KIND_SPGEMM, &none, sizeof none);
}

static void gemm_free(void *record)
{
    struct gemm *g = record;
    csr_free(&g->product);
    free(g);
}

LIBRARY_API cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor)
{
    return record_destroy_by(descriptor, KIND_SPGEMM, gemm_free);
}

#define MULTIPLY                                                                                                       \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,                    \
        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c,            \
        cudaDataType compute, cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor
#define OPERANDS                                                                                                       \
    CONTEXT(s, handle);                                                                                                \
    const struct sparse *left = handle_find(&library_handles, a, KIND_SPARSE);                                         \
    const struct sparse *right = handle_find(&library_handles, b, KIND_SPARSE);                                        \
    struct sparse *to = handle_find(&library_handles, c, KIND_SPARSE);                                                 \
    struct gemm *g = handle_find(&library_handles, descriptor, KIND_SPGEMM);                                           \
    NEED(left &&right &&to &&g);                                                                                       \
    NEED(is_operation(op_a) && is_operation(op_b) && (unsigned)algorithm <= CUSPARSE_SPGEMM_ALG3);                     \
    NEED(left->columns == right->rows && left->rows == to->rows && right->columns == to->columns);                     \
    SUPPORTED(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b == CUSPARSE_OPERATION_NON_TRANSPOSE);                   \
    SUPPORTED(!left->is_triangle && !right->is_triangle && !to->is_triangle);                                          \
    SUPPORTED(left->format == CUSPARSE_FORMAT_CSR && right->format == CUSPARSE_FORMAT_CSR &&                           \
              to->format == CUSPARSE_FORMAT_CSR);                                                                      \
    SUPPORTED(left->batch <= 1 && right->batch <= 1 && to->batch <= 1)
#define MULTIPLY_CHECKED                                                                                               \
    OPERANDS;                                                                                                          \
    NEED(alpha &&beta);                                                                                                \
    SUPPORTED(left->type == right->type && left->type == to->type && is_computed(to->type, compute))

static bool is_computed(cudaDataType type, cudaDataType compute)
{
    return type != CUDA_R_8I && type != CUDA_R_32I && compute == type;
}

/* The host must know the nnz of the product. */
static cusparseStatus_t put_product(const struct context *s, const char *name, call_run *run, const struct sparse *left,
                                    const struct sparse *right, struct sparse *to, struct gemm *g, cudaDataType compute)
{
    struct call k = {.name = name, .run = run, .a = *left, .b = *right, .at = {g}, .compute = compute, .waits = true};
    unsigned values = run == run_compute ? HD_READS : 0;
    call_sparse(&k, &k.a, HD_READS, values);
    call_sparse(&k, &k.b, HD_READS, values);
    g->computed = false;
    cusparseStatus_t r = call_put(s, &k);
    if (!r && !g->computed)
        r = CUSPARSE_STATUS_EXECUTION_FAILED;
    if (!r)
        to->nnz = g->product.nnz;
    return r;
}

/* The host knows the number of products after the estimate. */
static cusparseStatus_t put_count(const struct context *s, const char *name, const struct sparse *left,
                                  const struct sparse *right, struct gemm *g)
{
    struct call k = {.name = name, .run = run_count, .a = *left, .b = *right, .at = {g}, .waits = true};
    call_sparse(&k, &k.a, HD_READS, 0);
    call_sparse(&k, &k.b, HD_READS, 0);
    return call_put(s, &k);
}

/* Without a buffer, returns its size. */
LIBRARY_API cusparseStatus_t cusparseSpGEMM_workEstimation(MULTIPLY, size_t *bytes, void *buffer)
{
    MULTIPLY_CHECKED;
    NEED(bytes);
    if (buffer)
        return put_count(s, __func__, left, right, g);
    *bytes = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpGEMM_compute(MULTIPLY, size_t *bytes, void *buffer)
{
    MULTIPLY_CHECKED;
    NEED(bytes);
    if (!buffer) {
        *bytes = 16;
        return CUSPARSE_STATUS_SUCCESS;
    }
    return put_product(s, __func__, run_compute, left, right, to, g, compute);
}

LIBRARY_API cusparseStatus_t cusparseSpGEMM_copy(MULTIPLY)
{
    MULTIPLY_CHECKED;
    if (!g->computed)
        return CUSPARSE_STATUS_SUCCESS; /* an H200 copies nothing then */
    NEED(to->nnz == g->product.nnz);
    NEED_OR(CUSPARSE_STATUS_INTERNAL_ERROR, to->offsets && (to->nnz == 0 || (to->indices && to->values)));
    struct call k = {.name = __func__, .run = run_copy, .c = *to, .at = {g}, .compute = compute, .waits = true};
    unsigned updates = call_scalars(&k, s, alpha, beta);
    call_sparse(&k, &k.c, HD_WRITES, updates);
    return call_put(s, &k);
}

LIBRARY_API cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t *products)
{
    IN_CALL;
    const struct gemm *g = handle_find(&library_handles, descriptor, KIND_SPGEMM);
    NEED(g && products);
    *products = g->products;
    return CUSPARSE_STATUS_SUCCESS;
}

/* The later two algorithms process a part of the products at a time: no memory is needed for it
 * here. */
LIBRARY_API cusparseStatus_t cusparseSpGEMM_estimateMemory(MULTIPLY, float fraction, size_t *bytes3, void *buffer3,
                                                           size_t *bytes2)
{
    MULTIPLY_CHECKED;
    NEED(bytes3 && (!buffer3 || bytes2));
    NEED(algorithm == CUSPARSE_SPGEMM_ALG2 || algorithm == CUSPARSE_SPGEMM_ALG3);
    (void)fraction;
    if (buffer3)
        *bytes2 = 16;
    else
        *bytes3 = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- the pattern once, the values often ---- */

#define REUSE                                                                                                          \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,          \
        cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm,                            \
        cusparseSpGEMMDescr_t descriptor
#define REUSE_CHECKED                                                                                                  \
    OPERANDS;                                                                                                          \
    SUPPORTED(left->type == right->type && left->type == to->type)

LIBRARY_API cusparseStatus_t cusparseSpGEMMreuse_workEstimation(REUSE, size_t *bytes, void *buffer)
{
    REUSE_CHECKED;
    NEED(bytes);
    if (!buffer)
        *bytes = 16;
    return CUSPARSE_STATUS_SUCCESS;
}

LIBRARY_API cusparseStatus_t cusparseSpGEMMreuse_nnz(REUSE, size_t *bytes2, void *buffer2, size_t *bytes3,
                                                     void *buffer3, size_t *bytes4, void *buffer4)
{
    REUSE_CHECKED;
    NEED(bytes2 && bytes3 && bytes4);
    if (!buffer2 || !buffer3 || !buffer4) {
        *bytes2 = *bytes3 = *bytes4 = 16;
        return CUSPARSE_STATUS_SUCCESS;
    }
    return put_product(s, __func__, run_pattern, left, right, to, g, to->type);
}

LIBRARY_API cusparseStatus_t cusparseSpGEMMreuse_copy(REUSE, size_t *bytes, void *buffer)
{
    REUSE_CHECKED;
    NEED(bytes);
    if (!buffer) {
        *bytes = 16;
        return CUSPARSE_STATUS_SUCCESS;
    }
    NEED(g->computed && to->nnz == g->product.nnz);
    struct call k = {.name = __func__, .run = run_copy_pattern, .c = *to, .at = {g}, .waits = true};
    call_sparse(&k, &k.c, HD_WRITES, 0);
    return call_put(s, &k);
}

LIBRARY_API cusparseStatus_t cusparseSpGEMMreuse_compute(MULTIPLY)
{
    MULTIPLY_CHECKED;
    struct call k = {.name = __func__,
                     .run = run_reuse,
                     .a = *left,
                     .b = *right,
                     .c = *to,
                     .compute = compute,
                     .flops = 2.0 * (double)g->products};
    unsigned updates = call_scalars(&k, s, alpha, beta);
    call_sparse(&k, &k.a, HD_READS, HD_READS);
    call_sparse(&k, &k.b, HD_READS, HD_READS);
    call_sparse(&k, &k.c, 0, updates);
    return call_put(s, &k);
}
