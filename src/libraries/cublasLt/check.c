/* The products that cuBLASLt supports ("cuBLAS Library", 3.4.25: the tables of cublasLtMatmul), by
 * an H200's answers. */
#include "libraries/cublasLt/lt.h"

/* ---- types: what is computed in, scalars, A and B, C, D ---- */

static const struct {
    cublasComputeType_t compute;
    cudaDataType scale, a, b, c, d;
} combinations[] = {
    {CUBLAS_COMPUTE_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F}, /* planar, these four */
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_16F, CUDA_C_16F, CUDA_C_32F, CUDA_C_32F},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F, CUDA_C_32F},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUBLAS_COMPUTE_32I, CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I, CUDA_R_8I},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
};

static bool is_fp8(cudaDataType t)
{
    return t == CUDA_R_8F_E4M3 || t == CUDA_R_8F_E5M2;
}

static cublasComputeType_t family(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUBLAS_COMPUTE_32I;
    default: return compute;
    }
}

/* 8-bit floats: A and B are not both E5M2. D may have one of their types with a C of halves; E5M2
 * only if an operand has it. */
static bool fits_fp8(const struct operation *o, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d)
{
    const bool e5m2 = a == CUDA_R_8F_E5M2 || b == CUDA_R_8F_E5M2;
    if (family(o->compute) != CUBLAS_COMPUTE_32F || o->compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
        o->scale_type != CUDA_R_32F || (a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2))
        return false;
    if (c == CUDA_R_32F)
        return d == CUDA_R_32F;
    return (c == CUDA_R_16F || c == CUDA_R_16BF) && (d == c || d == CUDA_R_8F_E4M3 || (d == CUDA_R_8F_E5M2 && e5m2));
}

static bool is_combination(const struct operation *o, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d,
                           bool any_scale)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].compute == family(o->compute) && (any_scale || combinations[i].scale == o->scale_type) &&
            combinations[i].a == a && combinations[i].b == b && combinations[i].c == c && combinations[i].d == d)
            return true;
    return false;
}

static bool types_fit(const struct operation *o, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d)
{
    return is_fp8(a) && is_fp8(b) ? fits_fp8(o, a, b, c, d) : is_combination(o, a, b, c, d, false);
}

/* ---- sizes ---- */

static bool ld_fits(const struct layout *l)
{
    return l->order > CUBLASLT_ORDER_ROW || l->ld >= (int64_t)(l->order == CUBLASLT_ORDER_COL ? l->rows : l->columns);
}

static bool sizes_fit(const struct operation *o, const struct layout *a, const struct layout *b, const struct layout *c,
                      const struct layout *d)
{
    const uint64_t m = o->ta == CUBLAS_OP_N ? a->rows : a->columns, k = o->ta == CUBLAS_OP_N ? a->columns : a->rows;
    const uint64_t k2 = o->tb == CUBLAS_OP_N ? b->rows : b->columns, n = o->tb == CUBLAS_OP_N ? b->columns : b->rows;
    return k == k2 && d->rows == m && d->columns == n && c->rows == m && c->columns == n && ld_fits(a) && ld_fits(b) &&
           ld_fits(c) && ld_fits(d) && c->order == d->order && a->batch_count == d->batch_count &&
           b->batch_count == d->batch_count && c->batch_count == d->batch_count && d->batch_count >= 1;
}

/* Tensor cores need 8-bit floats with k innermost, and 16-byte alignment. */
static bool fp8_shapes_fit(const struct operation *o, const struct layout *a, const struct layout *b,
                           const struct layout *d)
{
    return o->ta != CUBLAS_OP_N && o->tb == CUBLAS_OP_N && a->rows % 16 == 0 && a->ld % 16 == 0 && b->ld % 16 == 0 &&
           (d->rows == 1 || d->rows * element_bytes(d->type) % 16 == 0);
}

/* Bytes: with a result of bytes, A is transposed and B is not; with integers, what an H200 has
 * kernels for (cublas/gemm.c). */
static bool byte_shapes_fit(const struct operation *o, const struct layout *d)
{
    const bool ta = o->ta != CUBLAS_OP_N, tb = o->tb != CUBLAS_OP_N;
    if ((ta && !tb) || d->type == CUDA_R_32F)
        return true;
    return d->type == CUDA_R_32I && product_of_bytes_exists(ta, tb, (int64_t)d->rows, (int64_t)d->columns);
}

/* Complex halves are planar, with their result; others are not. */
static bool planes_fit(const struct operation *o, const struct layout *a, const struct layout *b,
                       const struct layout *c, const struct layout *d)
{
    const bool planar = a->type == CUDA_C_16F || a->type == CUDA_C_16BF;
    return !(planar && o->compute == CUBLAS_COMPUTE_32F_PEDANTIC) && layout_is_planar(a) == planar &&
           layout_is_planar(b) == planar && layout_is_planar(c) == planar && layout_is_planar(d) == planar;
}

/* An H200 has no kernels for planes of halves that are conjugated into floats. */
static bool conjugates_fit(const struct operation *o, const struct layout *a, const struct layout *d)
{
    return !layout_is_planar(a) || d->type != CUDA_C_32F || (o->ta != CUBLAS_OP_C && o->tb != CUBLAS_OP_C);
}

/* ---- epilogues ---- */

enum { AUX = 128, ROUND_LD = 128 };

/* Valid combinations of epilogue bits. */
static bool is_epilogue(uint32_t e)
{
    switch (e) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: return true;
    default: return false;
    }
}

/* Gradients of a bias along A or B require k outermost in that matrix. */
static bool epilogue_fits(const struct operation *o, const struct layout *d)
{
    const uint32_t e = o->epilogue;
    const bool real = !element_is_complex(d->type) && d->type != CUDA_R_32I;
    const bool gradient = e == CUBLASLT_EPILOGUE_DRELU || e == CUBLASLT_EPILOGUE_DRELU_BGRAD ||
                          e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD;
    return e == CUBLASLT_EPILOGUE_DEFAULT ||
           (real && !(gradient && is_fp8(d->type)) && !(e == CUBLASLT_EPILOGUE_BGRADA && o->ta != CUBLAS_OP_N) &&
            !(e == CUBLASLT_EPILOGUE_BGRADB && o->tb == CUBLAS_OP_N));
}

static bool aux_fits(const struct operation *o, const struct layout *d)
{
    const bool bits = o->epilogue & (CUBLASLT_EPILOGUE_RELU | 8);
    if (!(o->epilogue & AUX))
        return true;
    return o->aux_ld >= (int64_t)(d->order == CUBLASLT_ORDER_ROW ? d->columns : d->rows) &&
           (!bits || (o->aux_ld && o->aux_ld % ROUND_LD == 0));
}

static bool modes_fit(const struct operation *o, const struct layout *a)
{
    for (int i = 0; i < 5; i++)
        if (o->scale_modes[i] != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F)
            return false;
    return o->pointer_mode == CUBLASLT_POINTER_MODE_HOST || o->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE ||
           (o->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST && a->type == CUDA_R_8I &&
            o->scale_type == CUDA_R_32F);
}

/* Only products of 8-bit floats have scales, and only such a result has
 * one, and a largest value. */
static bool scales_fit(const struct operation *o, const struct layout *a, const struct layout *d)
{
    const bool of_result = o->d_scale || o->amax_d;
    if (a->type == CUDA_R_8I)
        return true;
    return is_fp8(a->type) ? is_fp8(d->type) || !of_result : !(of_result || o->a_scale || o->b_scale || o->c_scale);
}

cublasStatus_t matmul_check(const char *say, const struct operation *o, const struct layout *a, const struct layout *b,
                            const struct layout *c, const struct layout *d)
{
    const char *wrong = NULL;
    bool typed = false;
    if (!o || !a || !b || !c || !d)
        wrong = "a descriptor is NULL";
    else if ((unsigned)o->ta > CUBLAS_OP_C || (unsigned)o->tb > CUBLAS_OP_C || !is_epilogue(o->epilogue))
        wrong = "an operation or the epilogue is invalid";
    else if (!sizes_fit(o, a, b, c, d))
        wrong = "sizes, orders, leading dimensions or counts of the matrices do not fit each other";
    else if (a->type != b->type && !(is_fp8(a->type) && is_fp8(b->type)))
        wrong = "A and B are of different types";
    else if ((typed = types_fit(o, a->type, b->type, c->type, d->type)) && !aux_fits(o, d))
        wrong = "the leading dimension of the auxiliary matrix (EPILOGUE_AUX_LD) is less than D's rows (columns, if "
                "row-major) or, with a ReLU mask, not a multiple of 128";
    else if (typed && !scales_fit(o, a, d))
        wrong = "a scale or an amax address is set for a matrix that is not of 8-bit floats";
    else if (!typed && is_combination(o, a->type, b->type, c->type, d->type, true))
        wrong = "alpha and beta do not have the type that these matrices need";
    if (wrong) {
        library_failed(say, "%s", wrong);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!typed)
        wrong = "this combination of types is not supported";
    else if (!epilogue_fits(o, d))
        wrong = "this epilogue is not supported for these types and operations";
    else if (!modes_fit(o, a) || o->tc != CUBLAS_OP_N || o->fill_mode != CUBLAS_FILL_MODE_FULL)
        wrong = "this pointer mode, scale mode, fill mode or mode of C is not supported";
    else if (is_fp8(a->type) && !fp8_shapes_fit(o, a, b, d))
        wrong = "8-bit floats need A transposed, B not transposed, and rows of a multiple of 16 bytes";
    else if (a->type == CUDA_R_8I && !byte_shapes_fit(o, d))
        wrong = "8-bit integer matrices of this shape need A transposed and B not transposed";
    else if (a->order > CUBLASLT_ORDER_ROW || b->order > CUBLASLT_ORDER_ROW || d->order > CUBLASLT_ORDER_ROW)
        wrong = "tiled memory orders are not supported in matrix products";
    else if (!planes_fit(o, a, b, c, d))
        wrong = "matrices of complex halves, and their results, need a plane offset; other types have none";
    else if (!conjugates_fit(o, a, d))
        wrong = "complex halves cannot be conjugated in a product whose result is of CUDA_C_32F";
    else if (d->rows > INT32_MAX || d->columns > INT32_MAX || a->rows > INT32_MAX || a->columns > INT32_MAX ||
             a->ld > INT32_MAX || b->ld > INT32_MAX || d->ld > INT32_MAX)
        wrong = "a size over 2147483647 is not supported";
    if (!wrong)
        return CUBLAS_STATUS_SUCCESS;
    library_failed(say, "%s", wrong);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
