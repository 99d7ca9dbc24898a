/* Level 1 ("cuBLAS Library", 2.5), and its forms of mixed types (2.8: AxpyEx, DotEx, ...). Halves
 * are computed in float. */
#include "libraries/cublas/call.h"

#include <stdlib.h>

#include "libraries/blas/level1.h"

/* ---- vectors of any type, as vectors of the precision ---- */

struct vector {
    void *at;
    int64_t inc;
    bool own; /* a widened copy; narrowed back if it was changed */
};

static enum precision vector_precision(const struct call *c)
{
    return element_precision(operand_type(c, 0));
}

/* With a negative increment the last element comes first in memory. */
static char *first(const struct call *c, int i)
{
    const struct operand *o = &c->op[i];
    return (char *)o->at - (o->ld < 0 ? (c->n - 1) * o->ld * (int64_t)element_bytes(operand_type(c, i)) : 0);
}

static bool open_vector(const struct call *c, int i, struct vector *v)
{
    const enum precision p = vector_precision(c);
    *v = (struct vector){(void *)c->op[i].at, c->op[i].ld, false};
    if (operand_type(c, i) == precision_type(p))
        return true;
    v->at = malloc((size_t)c->n * element_bytes(precision_type(p)) + 1);
    if (v->at)
        elements_widen(p, v->at, operand_type(c, i), first(c, i), c->op[i].ld, (size_t)c->n);
    v->inc = 1;
    v->own = true;
    return v->at;
}

static void close_vector(const struct call *c, int i, struct vector *v, bool changed)
{
    if (v->own && v->at && changed)
        elements_narrow(vector_precision(c), v->at, operand_type(c, i), first(c, i), c->op[i].ld, (size_t)c->n);
    if (v->own)
        free(v->at);
}

/* Stores a result or scalar in the precision, or in its real type. */
static void put_result(const struct call *c, int i, const void *value)
{
    const cudaDataType type = operand_type(c, i);
    const bool real = !element_is_complex(type);
    const enum precision p = vector_precision(c);
    elements_narrow(real && p >= PRECISION_C ? p - PRECISION_C : p, value, type, (void *)c->op[i].at, 1, 1);
}

/* ---- what they use ---- */

static void one_changes(const struct call *c, struct region r[])
{
    r[0] = (struct region){REGION_VECTOR, c->n, 1, HD_READS | HD_WRITES, false};
}

static void second_changes(const struct call *c, struct region r[])
{
    r[0] = (struct region){REGION_VECTOR, c->n, 1, HD_READS, false};
    r[1] = (struct region){REGION_VECTOR, c->n, 1, HD_READS | HD_WRITES, false};
}

static void second_is_written(const struct call *c, struct region r[])
{
    r[0] = (struct region){REGION_VECTOR, c->n, 1, HD_READS, false};
    r[1] = (struct region){REGION_VECTOR, c->n, 1, HD_WRITES, false};
}

static void both_change(const struct call *c, struct region r[])
{
    r[0] = r[1] = (struct region){REGION_VECTOR, c->n, 1, HD_READS | HD_WRITES, false};
}

static void one_and_result(const struct call *c, struct region r[])
{
    r[0] = (struct region){REGION_VECTOR, c->n, 1, HD_READS, false};
    r[1] = (struct region){REGION_SCALAR, 1, 1, HD_WRITES, false};
}

static void two_and_result(const struct call *c, struct region r[])
{
    r[0] = r[1] = (struct region){REGION_VECTOR, c->n, 1, HD_READS, false};
    r[2] = (struct region){REGION_SCALAR, 1, 1, HD_WRITES, false};
}

/* ---- what they do ---- */

static bool run_axpy(const struct call *c)
{
    struct vector x, y = {0};
    const bool ok = open_vector(c, 0, &x) && open_vector(c, 1, &y);
    if (ok)
        level1[vector_precision(c)].axpy(c->n, c->alpha, x.at, x.inc, y.at, y.inc);
    close_vector(c, 0, &x, false);
    close_vector(c, 1, &y, ok);
    return ok;
}

static bool run_copy(const struct call *c)
{
    const cudaDataType type = operand_type(c, 0);
    if (type == CUDA_R_16F || type == CUDA_R_16BF) { /* copies the bits */
        const uint16_t *x = (const uint16_t *)first(c, 0);
        uint16_t *y = (uint16_t *)first(c, 1);
        for (int64_t i = 0; i < c->n; i++)
            y[i * c->op[1].ld] = x[i * c->op[0].ld];
    } else
        level1[vector_precision(c)].copy(c->n, c->op[0].at, c->op[0].ld, (void *)c->op[1].at, c->op[1].ld);
    return true;
}

static bool run_swap(const struct call *c)
{
    const cudaDataType type = operand_type(c, 0);
    if (type == CUDA_R_16F || type == CUDA_R_16BF) {
        uint16_t *x = (uint16_t *)first(c, 0), *y = (uint16_t *)first(c, 1);
        for (int64_t i = 0; i < c->n; i++) {
            const uint16_t t = x[i * c->op[0].ld];
            x[i * c->op[0].ld] = y[i * c->op[1].ld];
            y[i * c->op[1].ld] = t;
        }
    } else
        level1[vector_precision(c)].swap(c->n, (void *)c->op[0].at, c->op[0].ld, (void *)c->op[1].at, c->op[1].ld);
    return true;
}

static bool run_scal(const struct call *c)
{
    const enum precision p = vector_precision(c);
    struct vector x;
    const bool ok = open_vector(c, 0, &x);
    double alpha[2] = {0};
    elements_widen(p, alpha, c->scalar_type, c->alpha, 1, 1);
    if (ok)
        level1[p].scal(c->n, alpha, x.at, x.inc);
    close_vector(c, 0, &x, ok);
    return ok;
}

static bool run_dot_as(const struct call *c, bool conjugate)
{
    struct vector x = {0}, y = {0};
    double sum[2] = {0};
    const bool ok = !c->n || (open_vector(c, 0, &x) && open_vector(c, 1, &y));
    if (ok && c->n)
        level1[vector_precision(c)].dot(c->n, x.at, x.inc, y.at, y.inc, conjugate, sum);
    close_vector(c, 0, &x, false);
    close_vector(c, 1, &y, false);
    put_result(c, 2, sum);
    return ok;
}

static bool run_dot(const struct call *c)
{
    return run_dot_as(c, false);
}

static bool run_dotc(const struct call *c)
{
    return run_dot_as(c, true);
}

static bool reduce(const struct call *c, void (*function)(int64_t n, const void *x, int64_t incx, void *result))
{
    struct vector x = {0};
    double sum[2] = {0};
    const bool ok = !c->n || open_vector(c, 0, &x);
    if (ok && c->n)
        function(c->n, x.at, x.inc, sum);
    close_vector(c, 0, &x, false);
    put_result(c, 1, sum);
    return ok;
}

static bool run_asum(const struct call *c)
{
    return reduce(c, level1[vector_precision(c)].asum);
}

static bool run_nrm2(const struct call *c)
{
    return reduce(c, level1[vector_precision(c)].nrm2);
}

static bool find(const struct call *c, int64_t (*function)(int64_t n, const void *x, int64_t incx))
{
    struct vector x = {0};
    const bool ok = !c->n || open_vector(c, 0, &x);
    const int64_t at = ok && c->n ? function(c->n, x.at, x.inc) : 0;
    close_vector(c, 0, &x, false);
    if (operand_type(c, 1) == CUDA_R_64I)
        *(int64_t *)c->op[1].at = at;
    else
        *(int32_t *)c->op[1].at = (int32_t)at;
    return ok;
}

static bool run_iamax(const struct call *c)
{
    return find(c, level1[vector_precision(c)].iamax);
}

static bool run_iamin(const struct call *c)
{
    return find(c, level1[vector_precision(c)].iamin);
}

/* alpha is c, which has a type of its own if the vectors are complex; beta is s. */
static bool run_rot(const struct call *c)
{
    const enum precision p = vector_precision(c), real = p >= PRECISION_C ? p - PRECISION_C : p;
    struct vector x, y = {0};
    const bool ok = open_vector(c, 0, &x) && open_vector(c, 1, &y);
    double cosine = 0, sine[2] = {0};
    elements_widen(real, &cosine, c->compute_type, c->alpha, 1, 1);
    elements_widen(p, sine, c->scalar_type, c->beta, 1, 1);
    if (ok)
        level1[p].rot(c->n, x.at, x.inc, y.at, y.inc, &cosine, sine);
    close_vector(c, 0, &x, ok);
    close_vector(c, 1, &y, ok);
    return ok;
}

static bool run_rotm(const struct call *c)
{
    level1[vector_precision(c)].rotm(c->n, (void *)c->op[0].at, c->op[0].ld, (void *)c->op[1].at, c->op[1].ld,
                                     c->alpha);
    return true;
}

static double two_each(const struct call *c)
{
    return 2.0 * (double)c->n * (element_is_complex(operand_type(c, 0)) ? 4 : 1);
}

static const struct routine
    axpy = {USES_N | USES_ALPHA | LEVEL_1, 0, second_changes, NULL, run_axpy, two_each},
    copy = {USES_N | LEVEL_1, 0, second_is_written, NULL, run_copy, NULL},
    swap = {USES_N | LEVEL_1, 0, both_change, NULL, run_swap, NULL},
    scal = {USES_N | USES_ALPHA | LEVEL_1 | POSITIVE_INC, 0, one_changes, NULL, run_scal, two_each},
    dot = {USES_N | LEVEL_1 | NULL_IS_MAPPING_ERROR, 0, two_and_result, NULL, run_dot, two_each},
    dotc = {USES_N | LEVEL_1 | NULL_IS_MAPPING_ERROR, 0, two_and_result, NULL, run_dotc, two_each},
    asum = {USES_N | LEVEL_1 | POSITIVE_INC, 0, one_and_result, NULL, run_asum, two_each},
    nrm2 = {USES_N | LEVEL_1 | POSITIVE_INC, 0, one_and_result, NULL, run_nrm2, two_each},
    iamax = {USES_N | LEVEL_1 | POSITIVE_INC, 0, one_and_result, NULL, run_iamax, NULL},
    iamin = {USES_N | LEVEL_1 | POSITIVE_INC, 0, one_and_result, NULL, run_iamin, NULL},
    rot = {USES_N | USES_ALPHA | USES_BETA | LEVEL_1 | ALPHA_REAL, 0, both_change, NULL, run_rot, two_each},
    rotm = {USES_N | USES_ALPHA | LEVEL_1, 5, both_change, NULL, run_rotm, two_each};

/* ---- entry points: X is the type's letter ---- */

#define HANDLE_N                cublasHandle_t handle, INT n
#define TYPED(at_, inc_, type_) {.at = (at_), .ld = (inc_), .type = (type_)}
#define INDEX_TYPE(INT)         (sizeof(INT) == 8 ? CUDA_R_64I : CUDA_R_32I)

#define AXPY(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##axpy##SUFFIX(cublasHandle_t handle, INT n, const T *alpha, const T *x, INT incx, T *y, INT incy)    \
        CALL("cublas" #X "axpy", axpy, .type = D, .scalar_type = D, .n = n, .alpha = alpha,                            \
             .op = {OPERAND(x, incx), OPERAND(y, incy)})
#define COPY(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##copy##SUFFIX(cublasHandle_t handle, INT n, const T *x, INT incx, T *y, INT incy)                    \
        CALL("cublas" #X "copy", copy, .type = D, .n = n, .op = {OPERAND(x, incx), OPERAND(y, incy)})
#define SWAP(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##swap##SUFFIX(cublasHandle_t handle, INT n, T *x, INT incx, T *y, INT incy)                          \
        CALL("cublas" #X "swap", swap, .type = D, .n = n, .op = {OPERAND(x, incx), OPERAND(y, incy)})
#define SCAL(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##scal##SUFFIX(cublasHandle_t handle, INT n, const T *alpha, T *x, INT incx)                          \
        CALL("cublas" #X "scal", scal, .type = D, .scalar_type = D, .n = n, .alpha = alpha, .op = {OPERAND(x, incx)})
#define REAL_SCAL(X, T, R, D, SUFFIX, INT)                                                                             \
    API cublas##X##scal##SUFFIX(cublasHandle_t handle, INT n, const R *alpha, T *x, INT incx)                          \
        CALL("cublas" #X "scal", scal, .mixed = true, .scalar_type = real_type(D), .n = n, .alpha = alpha,             \
             .op = {TYPED(x, incx, D)})
#define DOT(X, T, D, NAME, ROUTINE, SUFFIX, INT)                                                                       \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, INT n, const T *x, INT incx, const T *y, INT incy, T *result)   \
        CALL("cublas" #X #NAME, ROUTINE, .type = D, .n = n,                                                            \
             .op = {OPERAND(x, incx), OPERAND(y, incy), OPERAND(result, 1)})
#define REAL_DOT(X, T, D, SUFFIX, INT) DOT(X, T, D, dot, dot, SUFFIX, INT)
#define COMPLEX_DOTS(X, T, D, SUFFIX, INT)                                                                             \
    DOT(X, T, D, dotu, dot, SUFFIX, INT)                                                                               \
    DOT(X, T, D, dotc, dotc, SUFFIX, INT)
#define REDUCTION(X, T, R, D, NAME, SUFFIX, INT)                                                                       \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, INT n, const T *x, INT incx, R *result) CALL(                   \
        "cublas" #X #NAME, NAME, .mixed = true, .n = n, .op = {TYPED(x, incx, D), TYPED(result, 1, real_type(D))})
#define REDUCTIONS(NAME)                                                                                               \
    REDUCTION(S, float, float, CUDA_R_32F, NAME, _v2, int)                                                             \
    REDUCTION(S, float, float, CUDA_R_32F, NAME, _v2_64, int64_t)                                                      \
    REDUCTION(D, double, double, CUDA_R_64F, NAME, _v2, int)                                                           \
    REDUCTION(D, double, double, CUDA_R_64F, NAME, _v2_64, int64_t)                                                    \
    REDUCTION(Sc, cuComplex, float, CUDA_C_32F, NAME, _v2, int)                                                        \
    REDUCTION(Sc, cuComplex, float, CUDA_C_32F, NAME, _v2_64, int64_t)                                                 \
    REDUCTION(Dz, cuDoubleComplex, double, CUDA_C_64F, NAME, _v2, int)                                                 \
    REDUCTION(Dz, cuDoubleComplex, double, CUDA_C_64F, NAME, _v2_64, int64_t)
#define SEARCH(X, T, D, NAME, ROUTINE, SUFFIX, INT)                                                                    \
    API cublasI##X##NAME##SUFFIX(cublasHandle_t handle, INT n, const T *x, INT incx, INT *result)                      \
        CALL("cublasI" #X #NAME, ROUTINE, .mixed = true, .n = n,                                                       \
             .op = {TYPED(x, incx, D), TYPED(result, 1, INDEX_TYPE(INT))})
#define SEARCHES(X, T, D, SUFFIX, INT)                                                                                 \
    SEARCH(X, T, D, amax, iamax, SUFFIX, INT)                                                                          \
    SEARCH(X, T, D, amin, iamin, SUFFIX, INT)
#define ROT(NAME, T, R, S, D, S_TYPE, SUFFIX, INT)                                                                     \
    API cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, T *x, INT incx, T *y, INT incy, const R *c, const S *s)     \
        CALL("cublas" #NAME, rot, .type = D, .scalar_type = S_TYPE, .compute_type = real_type(D), .n = n, .alpha = c,  \
             .beta = s, .op = {OPERAND(x, incx), OPERAND(y, incy)})
#define ROTS(SUFFIX, INT)                                                                                              \
    ROT(Srot, float, float, float, CUDA_R_32F, CUDA_R_32F, SUFFIX, INT)                                                \
    ROT(Drot, double, double, double, CUDA_R_64F, CUDA_R_64F, SUFFIX, INT)                                             \
    ROT(Crot, cuComplex, float, cuComplex, CUDA_C_32F, CUDA_C_32F, SUFFIX, INT)                                        \
    ROT(Csrot, cuComplex, float, float, CUDA_C_32F, CUDA_R_32F, SUFFIX, INT)                                           \
    ROT(Zrot, cuDoubleComplex, double, cuDoubleComplex, CUDA_C_64F, CUDA_C_64F, SUFFIX, INT)                           \
    ROT(Zdrot, cuDoubleComplex, double, double, CUDA_C_64F, CUDA_R_64F, SUFFIX, INT)
#define ROTM(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##rotm##SUFFIX(cublasHandle_t handle, INT n, T *x, INT incx, T *y, INT incy, const T *param)          \
        CALL("cublas" #X "rotm", rotm, .type = D, .scalar_type = D, .n = n, .alpha = param,                            \
             .op = {OPERAND(x, incx), OPERAND(y, incy)})

V2(ALL_TYPES, AXPY)
V2(ALL_TYPES, COPY)
V2(ALL_TYPES, SWAP)
V2(ALL_TYPES, SCAL)
REAL_SCAL(Cs, cuComplex, float, CUDA_C_32F, _v2, int)
REAL_SCAL(Cs, cuComplex, float, CUDA_C_32F, _v2_64, int64_t)
REAL_SCAL(Zd, cuDoubleComplex, double, CUDA_C_64F, _v2, int)
REAL_SCAL(Zd, cuDoubleComplex, double, CUDA_C_64F, _v2_64, int64_t)
V2(REAL_TYPES, REAL_DOT)
V2(COMPLEX_TYPES, COMPLEX_DOTS)
REDUCTIONS(asum)
REDUCTIONS(nrm2)
/* With the type's letter in lower case. */
#define SMALL_TYPES(ROW, ...)                                                                                          \
    ROW(s, float, CUDA_R_32F, __VA_ARGS__)                                                                             \
    ROW(d, double, CUDA_R_64F, __VA_ARGS__)                                                                            \
    ROW(c, cuComplex, CUDA_C_32F, __VA_ARGS__)                                                                         \
    ROW(z, cuDoubleComplex, CUDA_C_64F, __VA_ARGS__)
V2(SMALL_TYPES, SEARCHES)
ROTS(_v2, int)
ROTS(_v2_64, int64_t)
V2(REAL_TYPES, ROTM)

/* ---- mixed types ---- */

/* Valid combinations of types: elements; scalars or result; computation. A type that cuBLAS knows
 * is "not supported" in a wrong combination; other values are invalid. */
static cublasStatus_t known(cudaDataType type)
{
    return element_bytes(type) && type != CUDA_R_8F_E4M3 && type != CUDA_R_8F_E5M2 ? CUBLAS_STATUS_NOT_SUPPORTED
                                                                                   : CUBLAS_STATUS_INVALID_VALUE;
}

static cublasStatus_t wrong_types(const char *name, cudaDataType a, cudaDataType b, cudaDataType c)
{
    library_failed(name, "this combination of types is not supported");
    return known(a) == CUBLAS_STATUS_INVALID_VALUE || known(b) == CUBLAS_STATUS_INVALID_VALUE ||
                   known(c) == CUBLAS_STATUS_INVALID_VALUE
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_NOT_SUPPORTED;
}

static bool is_half(cudaDataType t)
{
    return t == CUDA_R_16F || t == CUDA_R_16BF;
}

static bool is_blas(cudaDataType t)
{
    return t == CUDA_R_32F || t == CUDA_R_64F || t == CUDA_C_32F || t == CUDA_C_64F;
}

/* Scalars for halves are floats; results are halves. */
static bool fits(cudaDataType x, cudaDataType scalar, cudaDataType half_scalar, cudaDataType execution)
{
    return is_half(x) ? scalar == half_scalar && execution == CUDA_R_32F : is_blas(x) && scalar == x && execution == x;
}

#define AXPY_EX(SUFFIX, INT)                                                                                           \
    API cublasAxpyEx##SUFFIX(cublasHandle_t handle, INT n, const void *alpha, cudaDataType alphaType, const void *x,   \
                             cudaDataType xType, INT incx, void *y, cudaDataType yType, INT incy,                      \
                             cudaDataType executiontype)                                                               \
    {                                                                                                                  \
        if (handle_of(handle) && (xType != yType || !fits(xType, alphaType, CUDA_R_32F, executiontype)))               \
            return wrong_types("cublasAxpyEx", xType, yType, alphaType);                                               \
        CALL("cublasAxpyEx", axpy, .mixed = true, .scalar_type = alphaType, .n = n, .alpha = alpha,                    \
             .op = {TYPED(x, incx, xType), TYPED(y, incy, yType)})                                                     \
    }
#define MOVE_EX(NAME, ROUTINE, CONST, SUFFIX, INT)                                                                     \
    API cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, CONST void *x, cudaDataType xType, INT incx, void *y,       \
                             cudaDataType yType, INT incy)                                                             \
    {                                                                                                                  \
        if (handle_of(handle) && (xType != yType || !(is_half(xType) || is_blas(xType))))                              \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        CALL("cublas" #NAME, ROUTINE, .mixed = true, .n = n, .op = {TYPED(x, incx, xType), TYPED(y, incy, yType)})     \
    }
#define SCAL_EX(SUFFIX, INT)                                                                                           \
    API cublasScalEx##SUFFIX(cublasHandle_t handle, INT n, const void *alpha, cudaDataType alphaType, void *x,         \
                             cudaDataType xType, INT incx, cudaDataType executionType)                                 \
    {                                                                                                                  \
        if (handle_of(handle) && !fits(xType, alphaType, CUDA_R_32F, executionType))                                   \
            return wrong_types("cublasScalEx", xType, alphaType, executionType);                                       \
        CALL("cublasScalEx", scal, .mixed = true, .scalar_type = alphaType, .n = n, .alpha = alpha,                    \
             .op = {TYPED(x, incx, xType)})                                                                            \
    }
#define DOT_EX(NAME, ROUTINE, SUFFIX, INT)                                                                             \
    API cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, const void *x, cudaDataType xType, INT incx, const void *y, \
                             cudaDataType yType, INT incy, void *result, cudaDataType resultType,                      \
                             cudaDataType executionType)                                                               \
    {                                                                                                                  \
        if (handle_of(handle) && (xType != yType || !fits(xType, resultType, xType, executionType)))                   \
            return wrong_types("cublas" #NAME, xType, yType, resultType);                                              \
        CALL("cublas" #NAME, ROUTINE, .mixed = true, .n = n,                                                           \
             .op = {TYPED(x, incx, xType), TYPED(y, incy, yType), TYPED(result, 1, resultType)})                       \
    }
#define NRM2_EX(SUFFIX, INT)                                                                                           \
    API cublasNrm2Ex##SUFFIX(cublasHandle_t handle, INT n, const void *x, cudaDataType xType, INT incx, void *result,  \
                             cudaDataType resultType, cudaDataType executionType)                                      \
    {                                                                                                                  \
        const bool half = is_half(xType) && resultType == xType && executionType == CUDA_R_32F;                        \
        const bool blas = is_blas(xType) && resultType == real_type(xType) && executionType == resultType;             \
        if (handle_of(handle) && !half && !blas)                                                                       \
            return wrong_types("cublasNrm2Ex", xType, resultType, executionType);                                      \
        CALL("cublasNrm2Ex", nrm2, .mixed = true, .n = n, .op = {TYPED(x, incx, xType), TYPED(result, 1, resultType)}) \
    }
#define ASUM_EX(SUFFIX, INT)                                                                                           \
    API cublasAsumEx##SUFFIX(cublasHandle_t handle, INT n, const void *x, cudaDataType xType, INT incx, void *result,  \
                             cudaDataType resultType, cudaDataType executionType)                                      \
    {                                                                                                                  \
        const bool half = is_half(xType) && resultType == CUDA_R_32F && executionType == CUDA_R_32F;                   \
        const bool blas = is_blas(xType) && resultType == real_type(xType) && executionType == xType;                  \
        if (handle_of(handle) && !half && !blas)                                                                       \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        CALL("cublasAsumEx", asum, .mixed = true, .n = n, .op = {TYPED(x, incx, xType), TYPED(result, 1, resultType)}) \
    }
#define SEARCH_EX(NAME, ROUTINE, SUFFIX, INT)                                                                          \
    API cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, const void *x, cudaDataType xType, INT incx, INT *result)   \
    {                                                                                                                  \
        if (handle_of(handle) && !is_half(xType) && !is_blas(xType))                                                   \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        CALL("cublas" #NAME, ROUTINE, .mixed = true, .n = n,                                                           \
             .op = {TYPED(x, incx, xType), TYPED(result, 1, INDEX_TYPE(INT))})                                         \
    }
/* c and s of complex vectors both have the vectors' type, or are both real. */
#define ROT_EX(SUFFIX, INT)                                                                                            \
    API cublasRotEx##SUFFIX(cublasHandle_t handle, INT n, void *x, cudaDataType xType, INT incx, void *y,              \
                            cudaDataType yType, INT incy, const void *c, const void *s, cudaDataType csType,           \
                            cudaDataType executiontype)                                                                \
    {                                                                                                                  \
        const bool half = is_half(xType) && csType == xType && executiontype == CUDA_R_32F;                            \
        const bool blas = is_blas(xType) && (csType == xType || csType == real_type(xType)) && executiontype == xType; \
        if (handle_of(handle) && (xType != yType || (!half && !blas)))                                                 \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        CALL("cublasRotEx", rot, .mixed = true, .scalar_type = csType, .compute_type = real_type(csType), .n = n,      \
             .alpha = c, .beta = s, .op = {TYPED(x, incx, xType), TYPED(y, incy, yType)})                              \
    }
#define ROTM_EX(SUFFIX, INT)                                                                                           \
    API cublasRotmEx##SUFFIX(cublasHandle_t handle, INT n, void *x, cudaDataType xType, INT incx, void *y,             \
                             cudaDataType yType, INT incy, const void *param, cudaDataType paramType,                  \
                             cudaDataType executiontype)                                                               \
    {                                                                                                                  \
        const bool fits = (xType == CUDA_R_32F || xType == CUDA_R_64F) && yType == xType && paramType == xType;        \
        if (handle_of(handle) && (!fits || executiontype != xType))                                                    \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        CALL("cublasRotmEx", rotm, .type = xType, .scalar_type = xType, .n = n, .alpha = param,                        \
             .op = {OPERAND(x, incx), OPERAND(y, incy)})                                                               \
    }
#define EX(SUFFIX, INT)                                                                                                \
    AXPY_EX(SUFFIX, INT)                                                                                               \
    MOVE_EX(CopyEx, copy, const, SUFFIX, INT)                                                                          \
    MOVE_EX(SwapEx, swap, , SUFFIX, INT)                                                                               \
    SCAL_EX(SUFFIX, INT)                                                                                               \
    DOT_EX(DotEx, dot, SUFFIX, INT)                                                                                    \
    DOT_EX(DotcEx, dotc, SUFFIX, INT)                                                                                  \
    NRM2_EX(SUFFIX, INT)                                                                                               \
    ASUM_EX(SUFFIX, INT)                                                                                               \
    SEARCH_EX(IamaxEx, iamax, SUFFIX, INT)                                                                             \
    SEARCH_EX(IaminEx, iamin, SUFFIX, INT)                                                                             \
    ROT_EX(SUFFIX, INT)                                                                                                \
    ROTM_EX(SUFFIX, INT)
EX(, int)
EX(_64, int64_t)
