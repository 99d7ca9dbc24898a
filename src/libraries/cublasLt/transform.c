/* cublasLtMatrixTransform: C = alpha * op(A) + beta * op(B), between types and orders. */
#include "libraries/cublasLt/lt.h"

#include <math.h>
#include <string.h>

struct transform {
    struct transformation t;
    struct layout a, b, c;
    const void *pa, *pb;
    void *pc;
    const void *alpha, *beta;
    double alpha_value, beta_value;
};

static double scalar(const struct transform *t, const void *device, const double *kept)
{
    double v = 0;
    elements_widen(PRECISION_D, &v, t->t.scale_type,
                   t->t.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ? library_view(device) : kept, 1, 1);
    return v;
}

static double element(const struct matrix *m, int op, int64_t i, int64_t j)
{
    double v;
    matrix_read(PRECISION_D, &v, m, op == CUBLAS_OP_N ? i : j, op == CUBLAS_OP_N ? j : i, 1);
    return v;
}

static hd_result run(void *args)
{
    const struct transform *t = args;
    const double alpha = scalar(t, t->alpha, &t->alpha_value), beta = t->pb ? scalar(t, t->beta, &t->beta_value) : 0;
    for (int64_t k = 0; k < t->c.batch_count; k++) {
        struct matrix a, b = {0}, c;
        if (!lt_matrix(&a, &t->a, t->pa, k) || !lt_matrix(&c, &t->c, t->pc, k) ||
            (t->pb && !lt_matrix(&b, &t->b, t->pb, k)))
            return HD_ERROR_ILLEGAL_ADDRESS;
        for (int64_t j = 0; j < (int64_t)t->c.columns; j++)
            for (int64_t i = 0; i < (int64_t)t->c.rows; i++) {
                const double v = (alpha == 0 ? 0 : alpha * element(&a, t->t.ta, i, j)) +
                                 (beta == 0 ? 0 : beta * element(&b, t->t.tb, i, j));
                const double rounded = t->t.scale_type == CUDA_R_32F ? (double)(float)v : v;
                if (t->c.type == CUDA_R_8I) /* truncated, with wrap-around, as on an H200 */
                    ((int8_t *)c.at)[matrix_offset(&c, i, j)] = (int8_t)(fabs(rounded) < 0x1p31 ? (int32_t)rounded : 0);
                else
                    matrix_write(PRECISION_D, &rounded, &c, i, j, 1);
            }
    }
    return HD_SUCCESS;
}

static hd_used *find_addressed(const void *args, size_t *count)
{
    const struct transform *t = args;
    struct ranges r = {0};
    ranges_add_addressed(&r, &t->a, t->pa, HD_READS);
    ranges_add_addressed(&r, &t->b, t->pb, HD_READS);
    ranges_add_addressed(&r, &t->c, t->pc, HD_WRITES);
    *count = r.n;
    return r.at;
}

/* Tiled orders exist for bytes and 32-bit integers only. */
static bool order_fits(const struct layout *l)
{
    return l->order <= CUBLASLT_ORDER_ROW ||
           ((unsigned)l->order <= CUBLASLT_ORDER_COL32_2R_4R4 && (l->type == CUDA_R_8I || l->type == CUDA_R_32I));
}

static bool fits(const struct layout *l, int op, const struct layout *c)
{
    return op == CUBLAS_OP_N ? l->rows == c->rows && l->columns == c->columns
                             : l->rows == c->columns && l->columns == c->rows;
}

API cublasLtMatrixTransform(cublasLtHandle_t lightHandle, cublasLtMatrixTransformDesc_t transformDesc,
                            const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc, const void *beta,
                            const void *B, cublasLtMatrixLayout_t Bdesc, void *C, cublasLtMatrixLayout_t Cdesc,
                            cudaStream_t stream)
{
    static const char name[] = "cublasLtMatrixTransform";
    CUcontext context;
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!transformDesc || !alpha || !A || !Adesc || !C || !Cdesc || (B && (!Bdesc || !beta))) {
        library_failed(name, "a descriptor, a scalar or a matrix is NULL");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    struct transform t = {.t = *(const struct transformation *)transformDesc,
                          .a = *(const struct layout *)Adesc,
                          .c = *(const struct layout *)Cdesc,
                          .pa = A,
                          .pb = B,
                          .pc = C,
                          .alpha = alpha,
                          .beta = beta};
    t.b = B ? *(const struct layout *)Bdesc : t.a;
    if (!fits(&t.a, t.t.ta, &t.c) || (B && !fits(&t.b, t.t.tb, &t.c)) || t.a.batch_count != t.c.batch_count) {
        library_failed(name, "sizes of the matrices do not fit each other");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if ((t.a.type == CUDA_R_8I) != (t.c.type == CUDA_R_8I) || element_is_complex(t.a.type) ||
        element_is_complex(t.c.type) || !element_bytes(t.a.type) || !element_bytes(t.c.type) || !order_fits(&t.a) ||
        !order_fits(&t.b) || !order_fits(&t.c) || t.t.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
        library_failed(name, "this type, order or mode is not supported");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if ((C == A && t.t.ta != CUBLAS_OP_N) || (C == B && t.t.tb != CUBLAS_OP_N)) {
        library_failed(name, "a matrix cannot be transposed in place");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (t.t.pointer_mode == CUBLASLT_POINTER_MODE_HOST) {
        memcpy(&t.alpha_value, alpha, element_bytes(t.t.scale_type));
        if (B)
            memcpy(&t.beta_value, beta, element_bytes(t.t.scale_type));
    }
    if (heddle_library_context(&context))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    struct ranges used = {0};
    ranges_add_matrix(&used, &t.a, A, HD_READS);
    ranges_add_matrix(&used, &t.b, B, HD_READS);
    ranges_add_matrix(&used, &t.c, C, HD_WRITES);
    struct library_task task = {
        .name = name, .run = run, .args = &t, .arg_bytes = sizeof t, .find_used = find_addressed};
    return ranges_put(&used, &task, stream);
}
