/* cublasLtMatmul: D = epilogue(scales * alpha * op(A) * op(B) + beta *
 * C), as a task of the stream. */
#include "libraries/cublasLt/lt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sparse.h"
#include "isa/sem.h"

struct matmul {
    struct operation o;
    struct layout a, b, c, d;
    const void *pa, *pb, *pc;
    void *pd;
    const void *alpha, *beta; /* device addresses, if the pointer mode says so */
    double alpha_value[2], beta_value[2];
};

/* ---- one problem of a batch, on plain addresses ---- */

struct problem {
    const struct matmul *t;
    struct product product;
    int64_t index;
    const float *bias; /* widened, for each row */
    char *aux;
    cudaDataType aux_type;
    float d_scale;
    float *largest; /* for each column, before d_scale; or NULL */
    float *whole;   /* D before it is scaled and rounded, for a bias's gradient; or NULL */
};

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* Floats: by the GPU's approximate tanh, with the roundings that give an H200's bits. */
static float gelu_tanh(float x)
{
    return mufu_tanh(0.797884583f * x * fmaf(0.044715f * x, x, 1));
}

static float gelu_float(float x, bool narrowed)
{
    const float half = 0.5f * x, t = gelu_tanh(x);
    return narrowed ? fmaf(half, t, half) : half * (1 + t);
}

static float gelu_slope_float(float x)
{
    const float t = gelu_tanh(x), inner = fmaf((float)(3 * 0.044715 * 0.7978845608028654) * x, x, 0.797884583f);
    return 0.5f * (1 + t) + 0.5f * x * (fmaf(-t, t, 1) * inner);
}

static double gelu_slope(double x)
{
    const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x), t = tanh(u);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/* The auxiliary matrix: bits, a byte for eight rows, or values; its columns correspond to D's. */
static unsigned char *aux_bits(const struct problem *p, int64_t row, int64_t column)
{
    return (unsigned char *)p->aux + (column * p->t->o.aux_ld + row) / 8;
}

static struct matrix aux_matrix(const struct problem *p)
{
    return (struct matrix){p->aux, p->t->o.aux_ld, p->aux_type, p->t->d.order, 0};
}

static void finish_value(const struct problem *p, int64_t row, int64_t column, double *v, double aux)
{
    const uint32_t e = p->t->o.epilogue;
    const bool wide = p->product.precision == PRECISION_D;
    if (e & CUBLASLT_EPILOGUE_BIAS)
        *v = wide ? *v + (double)p->bias[row] : (double)((float)*v + p->bias[row]);
    if (e == CUBLASLT_EPILOGUE_DRELU || e == CUBLASLT_EPILOGUE_DRELU_BGRAD)
        *v = *aux_bits(p, row, column) >> row % 8 & 1 ? *v : 0;
    if (e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD)
        *v = wide ? *v * gelu_slope(aux) : (double)((float)*v * gelu_slope_float((float)aux));
    if (e & CUBLASLT_EPILOGUE_RELU) {
        if (e & 128) {
            const unsigned char bit = (unsigned char)(1 << row % 8);
            *aux_bits(p, row, column) =
                (unsigned char)(*v >= 0 ? *aux_bits(p, row, column) | bit : *aux_bits(p, row, column) & ~bit);
        }
        *v = *v > 0 || *v != *v ? *v : 0;
    }
    if (e & CUBLASLT_EPILOGUE_GELU)
        *v = wide ? gelu(*v) : (double)gelu_float((float)*v, p->t->d.type != CUDA_R_32F);
}

static void finish_column(const struct product *product, int64_t column, void *values)
{
    const struct problem *p = product->finish_data;
    const uint32_t e = p->t->o.epilogue;
    const bool wide = product->precision == PRECISION_D;
    const bool reads = e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD, writes = (e & 160) == 160;
    const struct matrix aux = aux_matrix(p);
    float largest = 0;
    for (int64_t i = 0; i < product->m; i++) {
        double v = wide ? ((double *)values)[i] : (double)((float *)values)[i], x = 0;
        if (reads)
            matrix_read(PRECISION_D, &x, &aux, i, column, 1);
        if (writes) {
            const double before = e & CUBLASLT_EPILOGUE_BIAS ? v + (double)p->bias[i] : v;
            matrix_write(PRECISION_D, &before, &aux, i, column, 1);
        }
        finish_value(p, i, column, &v, x);
        largest = fmaxf(largest, (float)fabs(v));
        if (p->whole)
            p->whole[column * product->m + i] = (float)v;
        v *= (double)p->d_scale;
        if (wide)
            ((double *)values)[i] = p->t->d.type == CUDA_R_8I ? (double)(float)v : v;
        else
            ((float *)values)[i] = (float)v;
    }
    if (p->largest)
        p->largest[column] = largest;
}

/* Sums of D's rows, before they are rounded, or sums of op(A) or op(B) along k. */
static bool put_bias_gradient(const struct problem *p, void *bias, cudaDataType type)
{
    const struct product *q = &p->product;
    const uint32_t e = p->t->o.epilogue;
    const struct matrix whole = {p->whole, q->m, CUDA_R_32F, CUBLASLT_ORDER_COL, 0}, *d = p->whole ? &whole : &q->d;
    const struct matrix *from = e == CUBLASLT_EPILOGUE_BGRADA ? &q->a : e == CUBLASLT_EPILOGUE_BGRADB ? &q->b : d;
    const int64_t n = e == CUBLASLT_EPILOGUE_BGRADB ? q->n : q->m, along = from == d ? q->n : q->k;
    double *sums = calloc((size_t)n + 1, sizeof *sums), *column = malloc(((size_t)n + 1) * sizeof *column);
    for (int64_t j = 0; sums && column && j < along; j++) {
        matrix_read(PRECISION_D, column, from, 0, j, n);
        for (int64_t i = 0; i < n; i++)
            sums[i] += column[i];
    }
    const bool ok = sums && column;
    if (ok)
        elements_narrow(PRECISION_D, sums, type, bias, 1, (size_t)n);
    free(sums);
    free(column);
    return ok;
}

static bool is_byte_type(cudaDataType t)
{
    return element_bytes(t) == 1;
}

/* The bias has C's type if results are narrow, and is float for bytes with float scalars. */
static cudaDataType bias_type(const struct matmul *t)
{
    return t->o.bias_type != -1                                                           ? (cudaDataType)t->o.bias_type
           : t->d.type == CUDA_R_8I                                                       ? CUDA_R_32F
           : is_byte_type(t->d.type)                                                      ? t->c.type
           : is_byte_type(t->a.type) && t->a.type != CUDA_R_8I && t->d.type == CUDA_R_32F ? CUDA_R_16BF
                                                                                          : t->d.type;
}

static cudaDataType aux_type(const struct matmul *t)
{
    return t->o.aux_type != -1 ? (cudaDataType)t->o.aux_type : t->d.type;
}

static float scale_at(const void *scale)
{
    return scale ? *(const float *)library_view(scale) : 1;
}

static enum precision precision_of(cudaDataType a)
{
    return a == CUDA_R_64F || a == CUDA_R_8I ? PRECISION_D
           : a == CUDA_C_64F                 ? PRECISION_Z
           : element_is_complex(a)           ? PRECISION_C
                                             : PRECISION_S;
}

static void read_scalars(const struct matmul *t, bool integers, double alpha[2], double beta[2], int32_t integer[2],
                         const float **row_alpha)
{
    const enum precision p = precision_of(t->a.type);
    const bool vector = t->o.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
    const void *a = t->o.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ? library_view(t->alpha) : t->alpha_value;
    const void *b = t->o.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ? library_view(t->beta) : t->beta_value;
    if (integers) {
        integer[0] = *(const int32_t *)a;
        integer[1] = *(const int32_t *)b;
        return;
    }
    elements_widen(p, beta, t->o.scale_type, b, 1, 1);
    const float one = 1;
    if (vector) {
        *row_alpha = library_view(t->alpha);
        elements_widen(p, alpha, CUDA_R_32F, &one, 1, 1);
    } else
        elements_widen(p, alpha, t->o.scale_type, a, 1, 1);
    const float ab = scale_at(t->o.a_scale) * scale_at(t->o.b_scale), c = scale_at(t->o.c_scale);
    if (p == PRECISION_S) {
        *(float *)alpha *= ab;
        *(float *)beta *= c;
    }
}

bool lt_matrix(struct matrix *m, const struct layout *l, const void *at, int64_t i)
{
    const void *first = l->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY
                            ? ((void *const *)library_view(at))[i]
                            : (const char *)at + i * l->batch_stride * (int64_t)element_bytes(layout_type(l));
    const struct library_shape shape = layout_shape(l);
    void *view, *imaginary;
    const bool found = library_reach(&view, first, shape);
    *m = (struct matrix){view, l->ld, layout_type(l), l->order, 0};
    if (!found || !layout_is_planar(l) || !view)
        return found;
    const bool both = library_reach(&imaginary, (const char *)first + l->plane_offset, shape);
    m->plane = (char *)imaginary - (char *)view;
    return both;
}

static hd_result run_problem(const struct matmul *t, int64_t i)
{
    double alpha[2] = {0}, beta[2] = {0};
    int32_t integer[2];
    const float *row_alpha = NULL;
    const bool integers = t->o.scale_type == CUDA_R_32I;
    const bool tf32 = (t->a.type == CUDA_R_32F || t->a.type == CUDA_C_32F) &&
                      (t->o.compute == CUBLAS_COMPUTE_32F_FAST_16F || t->o.compute == CUBLAS_COMPUTE_32F_FAST_16BF ||
                       t->o.compute == CUBLAS_COMPUTE_32F_FAST_TF32);
    const uint32_t e = t->o.epilogue;
    const cudaDataType bias = bias_type(t), aux = aux_type(t);
    read_scalars(t, integers, alpha, beta, integer, &row_alpha);
    struct problem p = {.t = t, .index = i, .aux_type = aux, .d_scale = scale_at(t->o.d_scale)};
    p.product = (struct product){.ta = (cublasOperation_t)t->o.ta,
                                 .tb = (cublasOperation_t)t->o.tb,
                                 .m = (int64_t)t->d.rows,
                                 .n = (int64_t)t->d.columns,
                                 .k = (int64_t)(t->o.ta == CUBLAS_OP_N ? t->a.columns : t->a.rows),
                                 .precision = precision_of(t->a.type),
                                 .integers = integers,
                                 .tf32 = tf32,
                                 .zero_times = true,
                                 .half_sum = t->o.scale_type == CUDA_R_16F,
                                 .alpha = integers ? (const void *)&integer[0] : alpha,
                                 .beta = integers ? (const void *)&integer[1] : beta,
                                 .row_alpha = row_alpha};
    /* a C that beta leaves out may lie nowhere, or have less memory than its layout says */
    const bool reads_c = t->pc && (integers ? integer[1] != 0 : beta[0] != 0 || beta[1] != 0);
    if (!lt_matrix(&p.product.a, &t->a, t->pa, i) || !lt_matrix(&p.product.b, &t->b, t->pb, i) ||
        !lt_matrix(&p.product.d, &t->d, t->pd, i) || (reads_c && !lt_matrix(&p.product.c, &t->c, t->pc, i)))
        return HD_ERROR_ILLEGAL_ADDRESS;
    if (!reads_c)
        p.product.c = p.product.d;
    const bool needs = e != CUBLASLT_EPILOGUE_DEFAULT || t->o.d_scale || t->o.amax_d || t->d.type == CUDA_R_8I;
    if (needs && p.product.precision <= PRECISION_D && !integers) {
        p.product.finish = finish_column;
        p.product.finish_data = &p;
    }
    float *wide_bias = e & CUBLASLT_EPILOGUE_BIAS ? malloc((size_t)p.product.m * sizeof(float) + 1) : NULL;
    char *bias_at =
        t->o.bias ? (char *)library_view(t->o.bias) + i * t->o.bias_stride * (int64_t)element_bytes(bias) : NULL;
    if (wide_bias)
        elements_widen(PRECISION_S, wide_bias, bias, bias_at, 1, (size_t)p.product.m);
    p.bias = wide_bias;
    if (e & 128)
        p.aux = (char *)library_view(t->o.aux) + (e & (CUBLASLT_EPILOGUE_RELU | 8)
                                                      ? i * t->o.aux_stride / 8
                                                      : i * t->o.aux_stride * (int64_t)element_bytes(aux));
    p.largest = t->o.amax_d ? calloc((size_t)p.product.n + 1, sizeof(float)) : NULL;
    const bool rounds = e & 16 && p.product.precision == PRECISION_S && t->d.type != CUDA_R_32F;
    p.whole = rounds ? malloc((size_t)(p.product.m * p.product.n) * sizeof(float) + 1) : NULL;
    bool ok = (wide_bias || !(e & CUBLASLT_EPILOGUE_BIAS)) && (p.largest || !t->o.amax_d) && (p.whole || !rounds) &&
              product_run(&p.product);
    if (ok && p.largest) {
        float largest = 0;
        for (int64_t j = 0; j < p.product.n; j++)
            largest = fmaxf(largest, p.largest[j]);
        *(float *)library_view(t->o.amax_d) = largest;
    }
    if (ok && e & (16 | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB))
        ok = put_bias_gradient(&p, bias_at, bias);
    free(wide_bias);
    free(p.largest);
    free(p.whole);
    return ok ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

static hd_result run(void *args)
{
    const struct matmul *t = args;
    hd_result result = HD_SUCCESS;
    for (int64_t i = 0; i < t->d.batch_count && !result; i++)
        result = run_problem(t, i);
    return result;
}

/* ---- the memory that it uses ---- */

static bool has_device_scalars(const struct matmul *t)
{
    return t->o.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
}

/* How C and D are used where they are one matrix. */
static unsigned result_use(const struct matmul *t)
{
    const double zero[2] = {0};
    if (has_device_scalars(t))
        return HD_READS | HD_WRITES | LIBRARY_BY_BETA;
    return memcmp(t->beta_value, zero, sizeof zero) != 0 ? HD_READS | HD_WRITES : HD_WRITES;
}

/* Adds the auxiliary matrix, of bits or values, and the bias or its gradient, of all problems. */
static void add_epilogue(struct ranges *r, const struct matmul *t)
{
    const uint32_t e = t->o.epilogue;
    const bool bits = e & (CUBLASLT_EPILOGUE_RELU | 8), row = t->d.order == CUBLASLT_ORDER_ROW;
    const bool writes_aux = e & (CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_GELU);
    const bool gradient = e & (16 | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB);
    const size_t bias = element_bytes(bias_type(t)), aux = element_bytes(aux_type(t));
    const size_t rows = row && !bits ? t->d.columns : t->d.rows, columns = row && !bits ? t->d.rows : t->d.columns;
    const size_t n = e == CUBLASLT_EPILOGUE_BGRADB ? t->d.columns : t->d.rows;
    for (int64_t i = 0; i < t->d.batch_count && (i == 0 || t->o.aux_stride || t->o.bias_stride); i++) {
        if (e & 128 && t->o.aux)
            ranges_add(r, (char *)t->o.aux + i * t->o.aux_stride * (bits ? 1 : (int64_t)aux * 8) / 8,
                       bits ? (rows + 7) / 8 : rows * aux, columns, (size_t)t->o.aux_ld * (bits ? 1 : aux * 8) / 8,
                       writes_aux ? HD_WRITES : HD_READS);
        if ((e & CUBLASLT_EPILOGUE_BIAS || gradient) && t->o.bias)
            ranges_add(r, (const char *)t->o.bias + i * t->o.bias_stride * (int64_t)bias, n * bias, 1, 0,
                       gradient ? HD_WRITES : HD_READS);
    }
}

static struct ranges find_uses(const struct matmul *t)
{
    struct ranges r = {0};
    const unsigned use = result_use(t);
    const size_t scalar = element_bytes(t->o.scale_type);
    ranges_add_matrix(&r, &t->a, t->pa, HD_READS);
    ranges_add_matrix(&r, &t->b, t->pb, HD_READS);
    if (t->pc != t->pd && use & HD_READS)
        ranges_add_matrix(&r, &t->c, t->pc, use & ~(unsigned)HD_WRITES);
    ranges_add_matrix(&r, &t->d, t->pd, t->pc == t->pd ? use : HD_WRITES);
    if (t->o.pointer_mode != CUBLASLT_POINTER_MODE_HOST)
        ranges_add(&r, t->alpha, has_device_scalars(t) ? scalar : (size_t)t->d.rows * scalar, 1, 0, HD_READS);
    if (has_device_scalars(t))
        ranges_add(&r, t->beta, scalar, 1, 0, HD_READS);
    add_epilogue(&r, t);
    const void *const scales[] = {t->o.a_scale, t->o.b_scale, t->o.c_scale, t->o.d_scale};
    for (int i = 0; i < 4; i++)
        if (scales[i])
            ranges_add(&r, scales[i], sizeof(float), 1, 0, HD_READS);
    if (t->o.amax_d)
        ranges_add(&r, t->o.amax_d, sizeof(float), 1, 0, HD_WRITES);
    return r;
}

static hd_used *find_addressed(const void *args, size_t *count)
{
    const struct matmul *t = args;
    const double zero[2] = {0};
    struct ranges r = {0};
    const bool read = has_device_scalars(t) ? memcmp(library_view(t->beta), zero, element_bytes(t->o.scale_type)) != 0
                                            : result_use(t) & HD_READS;
    ranges_add_addressed(&r, &t->a, t->pa, HD_READS);
    ranges_add_addressed(&r, &t->b, t->pb, HD_READS);
    if (read)
        ranges_add_addressed(&r, &t->c, t->pc, HD_READS);
    ranges_add_addressed(&r, &t->d, t->pd, HD_WRITES);
    *count = r.n;
    return r.at;
}

/* ---- the call ---- */

static bool scales_are_aligned(const struct operation *o)
{
    return !(((uintptr_t)o->a_scale | (uintptr_t)o->b_scale | (uintptr_t)o->c_scale | (uintptr_t)o->d_scale) % 16);
}

static hd_unit unit_of(const struct matmul *t)
{
    switch (t->a.type) {
    case CUDA_R_64F:
    case CUDA_C_64F: return HD_UNIT_FP64;
    case CUDA_R_16F:
    case CUDA_R_16BF: return HD_UNIT_TENSOR_FP16;
    case CUDA_R_8I: return HD_UNIT_TENSOR_INT8;
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return HD_UNIT_TENSOR_FP8;
    default: return t->o.compute == CUBLAS_COMPUTE_32F ? HD_UNIT_FP32 : HD_UNIT_TENSOR_TF32;
    }
}

/* Is a host scalar 0? On an H200 that decides whether operands are checked. */
static bool is_zero(const struct matmul *t, const void *scalar)
{
    return t->o.pointer_mode == CUBLASLT_POINTER_MODE_HOST && bytes_are_zero(scalar, element_bytes(t->o.scale_type));
}

API cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void *alpha, const void *A,
                   cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
                   const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                   const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes, cudaStream_t stream)
{
    static const char name[] = "cublasLtMatmul";
    CUcontext context;
    LOGGER_CALL(name,
                "A=%p Adesc=%p B=%p Bdesc=%p C=%p Cdesc=%p D=%p Ddesc=%p computeDesc=%p algo=%p workSpace=%p "
                "workSpaceSizeInBytes=%zu stream=%p",
                A, (void *)Adesc, B, (void *)Bdesc, C, (void *)Cdesc, D, (void *)Ddesc, (void *)computeDesc,
                (const void *)algo, workspace, workspaceSizeInBytes, (void *)stream);
    if (!lightHandle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!Cdesc) /* C lies as D does */
        Cdesc = Ddesc;
    const cublasStatus_t status =
        matmul_check(name, (void *)computeDesc, (void *)Adesc, (void *)Bdesc, (void *)Cdesc, (void *)Ddesc);
    if (status)
        return status;
    struct matmul t = {.o = *(const struct operation *)computeDesc,
                       .a = *(const struct layout *)Adesc,
                       .b = *(const struct layout *)Bdesc,
                       .c = *(const struct layout *)Cdesc,
                       .d = *(const struct layout *)Ddesc,
                       .pa = A,
                       .pb = B,
                       .pc = C,
                       .pd = D,
                       .alpha = alpha,
                       .beta = beta};
    if (algo && !is_algorithm((const void *)algo)) {
        library_failed(name, "the algorithm has not been initialised");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!alpha || !beta || ((((!A || !B) && !is_zero(&t, alpha)) || !D) && t.d.rows && t.d.columns) ||
        (t.o.epilogue & CUBLASLT_EPILOGUE_BIAS && !t.o.bias) || (t.o.epilogue & 128 && !t.o.aux)) {
        library_failed(name, "a scalar, a matrix, the bias or the auxiliary matrix is NULL");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if ((t.o.epilogue == CUBLASLT_EPILOGUE_DRELU || t.o.epilogue == CUBLASLT_EPILOGUE_DGELU) && t.o.bias) {
        library_failed(name, "this epilogue has no bias");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!scales_are_aligned(&t.o)) {
        library_failed(name, "a scale's address is not a multiple of 16");
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (t.o.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) {
        static const char help[] = "for a scalar in device memory, set the attribute CUBLASLT_MATMUL_DESC_POINTER_MODE";
        heddle_library_host(t.o.pointer_mode == CUBLASLT_POINTER_MODE_HOST ? alpha : NULL, false, help);
        heddle_library_host(beta, false, help);
        if (t.o.pointer_mode == CUBLASLT_POINTER_MODE_HOST)
            memcpy(t.alpha_value, alpha, element_bytes(t.o.scale_type));
        memcpy(t.beta_value, beta, element_bytes(t.o.scale_type));
    }
    if (heddle_library_context(&context))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!C && t.o.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE && (t.beta_value[0] != 0 || t.beta_value[1] != 0)) {
        library_failed(name, "C is NULL, and beta is not 0");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    struct ranges used = find_uses(&t);
    const double k = (double)(t.o.ta == CUBLAS_OP_N ? t.a.columns : t.a.rows);
    struct library_task task = {.name = name,
                                .run = run,
                                .args = &t,
                                .arg_bytes = sizeof t,
                                .find_used = find_addressed,
                                .beta = has_device_scalars(&t) ? beta : NULL,
                                .beta_bytes = element_bytes(t.o.scale_type),
                                .flops = 2 * (double)t.d.rows * (double)t.d.columns * k * t.d.batch_count,
                                .unit = unit_of(&t)};
    return ranges_put(&used, &task, stream);
}
