/* Level 2 ("cuBLAS Library", 2.6): products of matrices and vectors, by
 * OpenBLAS, and batched ones. */
#include "libraries/cublas/call.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/product.h"

/* ---- letters and integers as Fortran takes them ---- */

struct choices {
    char ta, uplo, diag;
    int m, n, k, kl, ku, lda, incx, incy;
};

static struct choices choices(const struct call *c)
{
    return (struct choices){"NTC"[c->ta],
                            c -> uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L',
                            c->diag == CUBLAS_DIAG_UNIT ? 'U' : 'N',
                            (int)c->m,
                            (int)c->n,
                            (int)c->k,
                            (int)c->kl,
                            (int)c->ku,
                            (int)c->op[0].ld,
                            (int)c->op[1].ld,
                            (int)c->op[2].ld};
}

/* ---- what they use: the matrix, x, y; of rank-one and rank-two updates x, y, the matrix ---- */

static const unsigned BOTH = HD_READS | HD_WRITES;

static struct region vector(int64_t n, unsigned use)
{
    return (struct region){REGION_VECTOR, n, 1, use, false};
}

static struct region triangle(const struct call *c, int64_t n, unsigned use)
{
    return (struct region){c->uplo == CUBLAS_FILL_MODE_UPPER ? REGION_UPPER : REGION_LOWER, n, n, use,
                           c->routine->uses & USES_DIAG && c->diag == CUBLAS_DIAG_UNIT};
}

static struct region packed(int64_t n, unsigned use)
{
    return (struct region){REGION_PACKED, n * (n + 1) / 2, 1, use, false};
}

static void gemv_regions(const struct call *c, struct region r[])
{
    const int64_t x = c->ta == CUBLAS_OP_N ? c->n : c->m, y = c->ta == CUBLAS_OP_N ? c->m : c->n;
    r[0] = region_matrix(c->m, c->n, HD_READS);
    r[1] = vector(x, HD_READS);
    r[2] = vector(y, BOTH);
}

static struct region band(const struct call *c, int64_t diagonals)
{
    return (struct region){REGION_BAND, diagonals, c->n, HD_READS,
                           c->routine->uses & USES_DIAG && c->diag == CUBLAS_DIAG_UNIT};
}

static void gbmv_regions(const struct call *c, struct region r[])
{
    gemv_regions(c, r);
    r[0] = band(c, c->kl + c->ku + 1);
}

static void trmv_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, c->n, HD_READS);
    r[1] = vector(c->n, BOTH);
}

static void tbmv_regions(const struct call *c, struct region r[])
{
    r[0] = band(c, c->k + 1);
    r[1] = vector(c->n, BOTH);
}

static void tpmv_regions(const struct call *c, struct region r[])
{
    r[0] = packed(c->n, c->diag == CUBLAS_DIAG_UNIT ? 0 : HD_READS);
    r[1] = vector(c->n, BOTH);
}

static void symv_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, c->n, HD_READS);
    r[1] = vector(c->n, HD_READS);
    r[2] = vector(c->n, BOTH);
}

static void sbmv_regions(const struct call *c, struct region r[])
{
    symv_regions(c, r);
    r[0] = band(c, c->k + 1);
}

static void spmv_regions(const struct call *c, struct region r[])
{
    symv_regions(c, r);
    r[0] = packed(c->n, HD_READS);
}

static void ger_regions(const struct call *c, struct region r[])
{
    r[0] = vector(c->m, HD_READS);
    r[1] = vector(c->n, HD_READS);
    r[2] = region_matrix(c->m, c->n, BOTH);
}

static void syr_regions(const struct call *c, struct region r[])
{
    r[0] = vector(c->n, HD_READS);
    r[2] = triangle(c, c->n, BOTH);
}

static void spr_regions(const struct call *c, struct region r[])
{
    r[0] = vector(c->n, HD_READS);
    r[2] = packed(c->n, BOTH);
}

static void syr2_regions(const struct call *c, struct region r[])
{
    syr_regions(c, r);
    r[1] = vector(c->n, HD_READS);
}

static void spr2_regions(const struct call *c, struct region r[])
{
    spr_regions(c, r);
    r[1] = vector(c->n, HD_READS);
}

/* ---- what they do ---- */

#define RUN(family, ...)                                                                                               \
    static bool run_##family(const struct call *c)                                                                     \
    {                                                                                                                  \
        const struct choices s = choices(c);                                                                           \
        const void *const p = c->op[0].at, *const q = c->op[1].at;                                                     \
        void *const out = (void *)c->op[2].at, *const x = (void *)q;                                                   \
        (void)p, (void)q, (void)out, (void)x;                                                                          \
        heddle_openblas.family[call_precision(c)](__VA_ARGS__);                                                        \
        return true;                                                                                                   \
    }
static bool run_plain_gemv(const struct call *c)
{
    const struct choices s = choices(c);
    heddle_openblas.gemv[call_precision(c)](&s.ta, &s.m, &s.n, c->alpha, c->op[0].at, &s.lda, c->op[1].at, &s.incx,
                                            c->beta, (void *)c->op[2].at, &s.incy);
    return true;
}
RUN(gbmv, &s.ta, &s.m, &s.n, &s.kl, &s.ku, c->alpha, p, &s.lda, q, &s.incx, c->beta, out, &s.incy)
RUN(trmv, &s.uplo, &s.ta, &s.diag, &s.n, p, &s.lda, x, &s.incx)
RUN(trsv, &s.uplo, &s.ta, &s.diag, &s.n, p, &s.lda, x, &s.incx)
RUN(tbmv, &s.uplo, &s.ta, &s.diag, &s.n, &s.k, p, &s.lda, x, &s.incx)
RUN(tbsv, &s.uplo, &s.ta, &s.diag, &s.n, &s.k, p, &s.lda, x, &s.incx)
RUN(tpmv, &s.uplo, &s.ta, &s.diag, &s.n, p, x, &s.incx)
RUN(tpsv, &s.uplo, &s.ta, &s.diag, &s.n, p, x, &s.incx)
RUN(symv, &s.uplo, &s.n, c->alpha, p, &s.lda, q, &s.incx, c->beta, out, &s.incy)
RUN(hemv, &s.uplo, &s.n, c->alpha, p, &s.lda, q, &s.incx, c->beta, out, &s.incy)
RUN(sbmv, &s.uplo, &s.n, &s.k, c->alpha, p, &s.lda, q, &s.incx, c->beta, out, &s.incy)
RUN(hbmv, &s.uplo, &s.n, &s.k, c->alpha, p, &s.lda, q, &s.incx, c->beta, out, &s.incy)
RUN(spmv, &s.uplo, &s.n, c->alpha, p, q, &s.incx, c->beta, out, &s.incy)
RUN(hpmv, &s.uplo, &s.n, c->alpha, p, q, &s.incx, c->beta, out, &s.incy)
/* The order is x, y, A: the increments belong to the first two operands. */
RUN(ger, &s.m, &s.n, c->alpha, p, &s.lda, q, &s.incx, out, &s.incy)
RUN(gerc, &s.m, &s.n, c->alpha, p, &s.lda, q, &s.incx, out, &s.incy)
RUN(syr, &s.uplo, &s.n, c->alpha, p, &s.lda, out, &s.incy)
RUN(her, &s.uplo, &s.n, c->alpha, p, &s.lda, out, &s.incy)
RUN(spr, &s.uplo, &s.n, c->alpha, p, &s.lda, out)
RUN(hpr, &s.uplo, &s.n, c->alpha, p, &s.lda, out)
/* OpenBLAS 0.3.21 treats a complex vector with a negative increment as one that begins at its
 * lowest address: passes a copy with a positive increment. */
static void *forwards(const struct call *c, int i)
{
    const size_t bytes = element_bytes(c->type);
    const int64_t inc = c->op[i].ld;
    char *copy = malloc((size_t)c->n * bytes);
    for (int64_t k = 0; copy && k < c->n; k++)
        memcpy(copy + (size_t)k * bytes, (const char *)c->op[i].at + (size_t)((c->n - 1 - k) * -inc) * bytes, bytes);
    return copy;
}

static bool run_syr2(const struct call *c)
{
    struct call straight = *c;
    void *copies[2] = {0};
    bool ok = true;
    for (int i = 0; i < 2; i++)
        if (c->op[i].ld < 0 && element_is_complex(c->type)) {
            straight.op[i].at = copies[i] = forwards(c, i);
            straight.op[i].ld = 1;
            ok &= copies[i] != NULL;
        }
    const struct choices s = choices(&straight);
    if (ok)
        heddle_openblas.syr2[call_precision(c)](&s.uplo, &s.n, c->alpha, straight.op[0].at, &s.lda, straight.op[1].at,
                                                &s.incx, (void *)c->op[2].at, &s.incy);
    free(copies[0]);
    free(copies[1]);
    return ok;
}

RUN(her2, &s.uplo, &s.n, c->alpha, p, &s.lda, q, &s.incx, out, &s.incy)
RUN(spr2, &s.uplo, &s.n, c->alpha, p, &s.lda, q, &s.incx, out)
RUN(hpr2, &s.uplo, &s.n, c->alpha, p, &s.lda, q, &s.incx, out)

/* ---- matrix by vector: halves, and increments of 0, as a product of two matrices ---- */

/* The first element of a vector of n: the last one in memory if the increment is negative. */
static const char *first_element(const struct call *c, int operand, int64_t n)
{
    const struct operand *o = &c->op[operand];
    return (const char *)o->at - (o->ld < 0 ? (n - 1) * o->ld * (int64_t)element_bytes(operand_type(c, operand)) : 0);
}

static bool run_gemv(const struct call *c)
{
    if (!c->mixed && c->op[1].ld && c->op[2].ld)
        return run_plain_gemv(c);
    const bool n = c->ta == CUBLAS_OP_N;
    const struct operand *o = c->op;
    /* Treats x as a matrix of one column: its rows are an increment apart. */
    const char *x = first_element(c, 1, n ? c->n : c->m), *y = first_element(c, 2, n ? c->m : c->n);
    const struct product p = {.ta = c->ta,
                              .tb = CUBLAS_OP_N,
                              .m = n ? c->m : c->n,
                              .n = 1,
                              .k = n ? c->n : c->m,
                              .precision = c->mixed ? PRECISION_S : call_precision(c),
                              .zero_times = !c->mixed || c->device_scalars,
                              .alpha = c->alpha,
                              .beta = c->beta,
                              .a = {o[0].at, o[0].ld, operand_type(c, 0), CUBLASLT_ORDER_COL, 0},
                              .b = {x, o[1].ld, operand_type(c, 1), CUBLASLT_ORDER_ROW, 0},
                              .c = {y, o[2].ld, operand_type(c, 2), CUBLASLT_ORDER_ROW, 0},
                              .d = {y, o[2].ld, operand_type(c, 2), CUBLASLT_ORDER_ROW, 0}};
    return product_run(&p);
}

static double flops(const struct call *c)
{
    const double columns = (double)c->n, rows = c->routine->uses & USES_M ? (double)c->m : columns;
    return 2 * rows * columns * (element_is_complex(operand_type(c, 0)) ? 4 : 1);
}

enum {
    MATRIX_VECTOR = USES_TA | USES_M | USES_N | USES_ALPHA | USES_BETA,
    TRIANGLE_VECTOR = USES_UPLO | USES_TA | USES_DIAG | USES_N,
    SYMMETRIC_MATRIX_VECTOR = USES_UPLO | USES_N | USES_ALPHA | USES_BETA,
    UPDATE = USES_UPLO | USES_N | USES_ALPHA,
};

#define ROUTINE(family, uses, regions)                                                                                 \
    static const struct routine family = {uses, 0, regions, NULL, run_##family, flops};
/* An invalid operation means transposed. */
#define GEMV_OP(trans) ((unsigned)(trans) > CUBLAS_OP_C ? CUBLAS_OP_T : (trans))
ROUTINE(gemv, MATRIX_VECTOR | LOOSE | LATE_LD | BATCH_FAILS | NULL_IS_INVALID, gemv_regions)
ROUTINE(gbmv, MATRIX_VECTOR | USES_BAND | ZERO_TIMES, gbmv_regions)
ROUTINE(trmv, TRIANGLE_VECTOR | SQUARE_OF_TRIANGLE, trmv_regions)
ROUTINE(trsv, TRIANGLE_VECTOR, trmv_regions)
ROUTINE(tbmv, TRIANGLE_VECTOR | USES_K | NO_K_NEEDED, tbmv_regions)
ROUTINE(tbsv, TRIANGLE_VECTOR | USES_K | NO_K_NEEDED, tbmv_regions)
ROUTINE(tpmv, TRIANGLE_VECTOR | SQUARE_OF_TRIANGLE, tpmv_regions)
ROUTINE(tpsv, TRIANGLE_VECTOR, tpmv_regions)
ROUTINE(symv, SYMMETRIC_MATRIX_VECTOR | LATE_LD | ZERO_TIMES | ZERO_TIMES_ALWAYS, symv_regions)
ROUTINE(hemv, SYMMETRIC_MATRIX_VECTOR | LATE_LD | ZERO_TIMES | ZERO_TIMES_ALWAYS, symv_regions)
ROUTINE(sbmv, SYMMETRIC_MATRIX_VECTOR | USES_K | NO_K_NEEDED | ZERO_TIMES, sbmv_regions)
ROUTINE(hbmv, SYMMETRIC_MATRIX_VECTOR | USES_K | NO_K_NEEDED | ZERO_TIMES, sbmv_regions)
ROUTINE(spmv, SYMMETRIC_MATRIX_VECTOR | ZERO_TIMES, spmv_regions)
ROUTINE(hpmv, SYMMETRIC_MATRIX_VECTOR | ZERO_TIMES, spmv_regions)
ROUTINE(ger, USES_M | USES_N | USES_ALPHA, ger_regions)
ROUTINE(gerc, USES_M | USES_N | USES_ALPHA, ger_regions)
ROUTINE(syr, UPDATE, syr_regions)
ROUTINE(her, UPDATE | ALPHA_REAL, syr_regions)
ROUTINE(spr, UPDATE, spr_regions)
ROUTINE(hpr, UPDATE | ALPHA_REAL, spr_regions)
ROUTINE(syr2, UPDATE, syr2_regions)
ROUTINE(her2, UPDATE, syr2_regions)
ROUTINE(spr2, UPDATE, spr2_regions)
ROUTINE(hpr2, UPDATE, spr2_regions)

/* ---- entry points ---- */

#define GEMV(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##gemv##SUFFIX(cublasHandle_t handle, cublasOperation_t trans, INT m, INT n, const T *alpha,          \
                                const T *A, INT lda, const T *x, INT incx, const T *beta, T *y, INT incy)              \
        CALL("cublas" #X "gemv", gemv, .type = D, .ta = GEMV_OP(trans), .m = m, .n = n, .alpha = alpha, .beta = beta,  \
             .op = {OPERAND(A, lda), OPERAND(x, incx), OPERAND(y, incy)})
#define GBMV(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##gbmv##SUFFIX(cublasHandle_t handle, cublasOperation_t trans, INT m, INT n, INT kl, INT ku,          \
                                const T *alpha, const T *A, INT lda, const T *x, INT incx, const T *beta, T *y,        \
                                INT incy)                                                                              \
        CALL("cublas" #X "gbmv", gbmv, .type = D, .ta = trans, .m = m, .n = n, .kl = kl, .ku = ku, .alpha = alpha,     \
             .beta = beta, .op = {OPERAND(A, lda), OPERAND(x, incx), OPERAND(y, incy)})
#define FULL(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                cublasDiagType_t diag, INT n, const T *A, INT lda, T *x, INT incx)                     \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .ta = trans, .diag = diag, .n = n,                      \
             .op = {OPERAND(A, lda), OPERAND(x, incx)})
#define BAND(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                cublasDiagType_t diag, INT n, INT k, const T *A, INT lda, T *x, INT incx)              \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .ta = trans, .diag = diag, .n = n, .k = k,              \
             .op = {OPERAND(A, lda), OPERAND(x, incx)})
#define PACKED(X, T, D, NAME, SUFFIX, INT)                                                                             \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,                 \
                                cublasDiagType_t diag, INT n, const T *AP, T *x, INT incx)                             \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .ta = trans, .diag = diag, .n = n,                      \
             .op = {OPERAND(AP, 1), OPERAND(x, incx)})
#define TRIANGLES(X, T, D, SUFFIX, INT)                                                                                \
    FULL(X, T, D, trmv, SUFFIX, INT)                                                                                   \
    FULL(X, T, D, trsv, SUFFIX, INT)                                                                                   \
    BAND(X, T, D, tbmv, SUFFIX, INT)                                                                                   \
    BAND(X, T, D, tbsv, SUFFIX, INT)                                                                                   \
    PACKED(X, T, D, tpmv, SUFFIX, INT)                                                                                 \
    PACKED(X, T, D, tpsv, SUFFIX, INT)
#define SYMV(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const T *alpha, const T *A,       \
                                INT lda, const T *x, INT incx, const T *beta, T *y, INT incy)                          \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .alpha = alpha, .beta = beta,                   \
             .op = {OPERAND(A, lda), OPERAND(x, incx), OPERAND(y, incy)})
#define SBMV(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, INT k, const T *alpha,            \
                                const T *A, INT lda, const T *x, INT incx, const T *beta, T *y, INT incy)              \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .k = k, .alpha = alpha, .beta = beta,           \
             .op = {OPERAND(A, lda), OPERAND(x, incx), OPERAND(y, incy)})
#define SPMV(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const T *alpha, const T *AP,      \
                                const T *x, INT incx, const T *beta, T *y, INT incy)                                   \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .alpha = alpha, .beta = beta,                   \
             .op = {OPERAND(AP, 1), OPERAND(x, incx), OPERAND(y, incy)})
#define SYMVS(X, T, D, SUFFIX, INT) SYMV(X, T, D, symv, SUFFIX, INT)
#define REAL_SYMMETRIC(X, T, D, SUFFIX, INT)                                                                           \
    SBMV(X, T, D, sbmv, SUFFIX, INT)                                                                                   \
    SPMV(X, T, D, spmv, SUFFIX, INT)
#define HERMITIAN(X, T, D, SUFFIX, INT)                                                                                \
    SYMV(X, T, D, hemv, SUFFIX, INT)                                                                                   \
    SBMV(X, T, D, hbmv, SUFFIX, INT)                                                                                   \
    SPMV(X, T, D, hpmv, SUFFIX, INT)
#define GER(X, T, D, NAME, ROUTINE, SUFFIX, INT)                                                                       \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, INT m, INT n, const T *alpha, const T *x, INT incx, const T *y, \
                                INT incy, T *A, INT lda)                                                               \
        CALL("cublas" #X #NAME, ROUTINE, .type = D, .m = m, .n = n, .alpha = alpha,                                    \
             .op = {OPERAND(x, incx), OPERAND(y, incy), OPERAND(A, lda)})
#define REAL_GER(X, T, D, SUFFIX, INT) GER(X, T, D, ger, ger, SUFFIX, INT)
#define COMPLEX_GERS(X, T, D, SUFFIX, INT)                                                                             \
    GER(X, T, D, geru, ger, SUFFIX, INT)                                                                               \
    GER(X, T, D, gerc, gerc, SUFFIX, INT)
#define SYR(X, T, R, D, NAME, SUFFIX, INT)                                                                             \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const R *alpha, const T *x,       \
                                INT incx, T *A, INT lda)                                                               \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .alpha = alpha,                                 \
             .op = {OPERAND(x, incx), {0}, OPERAND(A, lda)})
#define SPR(X, T, R, D, NAME, SUFFIX, INT)                                                                             \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const R *alpha, const T *x,       \
                                INT incx, T *AP) CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n,        \
                                                      .alpha = alpha, .op = {OPERAND(x, incx), {0}, OPERAND(AP, 1)})
#define SYR2(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const T *alpha, const T *x,       \
                                INT incx, const T *y, INT incy, T *A, INT lda)                                         \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .alpha = alpha,                                 \
             .op = {OPERAND(x, incx), OPERAND(y, incy), OPERAND(A, lda)})
#define SPR2(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, INT n, const T *alpha, const T *x,       \
                                INT incx, const T *y, INT incy, T *AP)                                                 \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .n = n, .alpha = alpha,                                 \
             .op = {OPERAND(x, incx), OPERAND(y, incy), OPERAND(AP, 1)})
#define SYRS(X, T, D, SUFFIX, INT)                                                                                     \
    SYR(X, T, T, D, syr, SUFFIX, INT)                                                                                  \
    SYR2(X, T, D, syr2, SUFFIX, INT)
#define SPRS(X, T, D, SUFFIX, INT)                                                                                     \
    SPR(X, T, T, D, spr, SUFFIX, INT)                                                                                  \
    SPR2(X, T, D, spr2, SUFFIX, INT)
#define HERS(X, T, D, SUFFIX, INT)                                                                                     \
    SYR2(X, T, D, her2, SUFFIX, INT)                                                                                   \
    SPR2(X, T, D, hpr2, SUFFIX, INT)
#define REAL_ALPHA(SUFFIX, INT)                                                                                        \
    SYR(C, cuComplex, float, CUDA_C_32F, her, SUFFIX, INT)                                                             \
    SYR(Z, cuDoubleComplex, double, CUDA_C_64F, her, SUFFIX, INT)                                                      \
    SPR(C, cuComplex, float, CUDA_C_32F, hpr, SUFFIX, INT)                                                             \
    SPR(Z, cuDoubleComplex, double, CUDA_C_64F, hpr, SUFFIX, INT)

V2(ALL_TYPES, GEMV)
V2(ALL_TYPES, GBMV)
V2(ALL_TYPES, TRIANGLES)
V2(ALL_TYPES, SYMVS)
V2(REAL_TYPES, REAL_SYMMETRIC)
V2(COMPLEX_TYPES, HERMITIAN)
V2(REAL_TYPES, REAL_GER)
V2(COMPLEX_TYPES, COMPLEX_GERS)
V2(ALL_TYPES, SYRS)
V2(REAL_TYPES, SPRS)
V2(COMPLEX_TYPES, HERS)
REAL_ALPHA(_v2, int)
REAL_ALPHA(_v2_64, int64_t)

/* ---- batches ---- */

/* TA, TX, TY are C's types of A, x and y, AD and YD cuBLAS's; S is the scalars'. */
#define GEMV_BATCHES(X, TA, TY, S, AD, YD, MIXED, SUFFIX, INT)                                                         \
    API cublas##X##gemvBatched##SUFFIX(cublasHandle_t handle, cublasOperation_t trans, INT m, INT n, const S *alpha,   \
                                       const TA *const Aarray[], INT lda, const TA *const xarray[], INT incx,          \
                                       const S *beta, TY *const yarray[], INT incy, INT batchCount)                    \
        CALL("cublas" #X "gemvBatched", gemv, .type = AD, .mixed = MIXED, .ta = GEMV_OP(trans), .m = m, .n = n,        \
             .alpha = alpha, .beta = beta, .batched = true, .arrays = true, .batch = batchCount,                       \
             .op = {{Aarray, lda, 0, AD}, {xarray, incx, 0, AD}, {yarray, incy, 0, YD}})                               \
            API cublas##X##gemvStridedBatched##SUFFIX(cublasHandle_t handle, cublasOperation_t trans, INT m, INT n,    \
                                                      const S *alpha, const TA *A, INT lda, long long int strideA,     \
                                                      const TA *x, INT incx, long long int stridex, const S *beta,     \
                                                      TY *y, INT incy, long long int stridey, INT batchCount)          \
                CALL("cublas" #X "gemvStridedBatched", gemv, .type = AD, .mixed = MIXED, .ta = GEMV_OP(trans), .m = m, \
                     .n = n, .alpha = alpha, .beta = beta, .batched = true, .batch = batchCount,                       \
                     .op = {{A, lda, strideA, AD}, {x, incx, stridex, AD}, {y, incy, stridey, YD}})
#define OWN_BATCHES(X, T, D, SUFFIX, INT) GEMV_BATCHES(X, T, T, T, D, D, false, SUFFIX, INT)
#define HALF_BATCHES(SUFFIX, INT)                                                                                      \
    GEMV_BATCHES(HSH, __half, __half, float, CUDA_R_16F, CUDA_R_16F, true, SUFFIX, INT)                                \
    GEMV_BATCHES(HSS, __half, float, float, CUDA_R_16F, CUDA_R_32F, true, SUFFIX, INT)                                 \
    GEMV_BATCHES(TST, __nv_bfloat16, __nv_bfloat16, float, CUDA_R_16BF, CUDA_R_16BF, true, SUFFIX, INT)                \
    GEMV_BATCHES(TSS, __nv_bfloat16, float, float, CUDA_R_16BF, CUDA_R_32F, true, SUFFIX, INT)
PLAIN(ALL_TYPES, OWN_BATCHES)
HALF_BATCHES(, int)
HALF_BATCHES(_64, int64_t)
