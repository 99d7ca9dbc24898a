/* Level 3 except general products (gemm.c; "cuBLAS Library", 2.7), by OpenBLAS; large calls in
 * independent pieces. */
#include "libraries/cublas/call.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/product.h"

static const unsigned BOTH = HD_READS | HD_WRITES;

static int64_t order_of(const struct call *c)
{
    return c->side == CUBLAS_SIDE_LEFT ? c->m : c->n;
}

static struct region triangle(const struct call *c, int64_t n, unsigned use)
{
    return (struct region){c->uplo == CUBLAS_FILL_MODE_UPPER ? REGION_UPPER : REGION_LOWER, n, n, use,
                           c->routine->uses & USES_DIAG && c->diag == CUBLAS_DIAG_UNIT};
}

static void symm_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, order_of(c), HD_READS);
    r[1] = region_matrix(c->m, c->n, HD_READS);
    r[2] = region_matrix(c->m, c->n, BOTH);
}

static void syrk_regions(const struct call *c, struct region r[])
{
    r[0] = c->ta == CUBLAS_OP_N ? region_matrix(c->n, c->k, HD_READS) : region_matrix(c->k, c->n, HD_READS);
    r[2] = triangle(c, c->n, BOTH);
}

static void syr2k_regions(const struct call *c, struct region r[])
{
    syrk_regions(c, r);
    r[1] = r[0];
}

static void trmm_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, order_of(c), HD_READS);
    r[1] = region_matrix(c->m, c->n, HD_READS);
    r[2] = region_matrix(c->m, c->n, c->op[1].at == c->op[2].at ? BOTH : HD_WRITES);
}

static void trsm_regions(const struct call *c, struct region r[])
{
    r[0] = triangle(c, order_of(c), HD_READS);
    r[1] = region_matrix(c->m, c->n, BOTH);
}

/* ---- pieces: columns of the result from the left, rows from the right ---- */

struct strips {
    const struct call *c;
    void (*one)(const struct call *c);
    int64_t each, all;
};

static void run_strip(void *data, size_t i)
{
    const struct strips *s = data;
    struct call part = *s->c;
    const int64_t from = (int64_t)i * s->each, n = s->all - from < s->each ? s->all - from : s->each;
    const int64_t bytes = (int64_t)element_bytes(part.type);
    for (int k = 1; k <= 2; k++)
        if (part.op[k].at)
            part.op[k].at =
                (const char *)part.op[k].at + from * bytes * (part.side == CUBLAS_SIDE_LEFT ? part.op[k].ld : 1);
    *(part.side == CUBLAS_SIDE_LEFT ? &part.n : &part.m) = n;
    s->one(&part);
}

static void in_strips(const struct call *c, void (*one)(const struct call *c))
{
    const int64_t all = c->side == CUBLAS_SIDE_LEFT ? c->n : c->m;
    const double flops = 2.0 * (double)c->m * (double)c->n * (double)order_of(c);
    const int64_t pieces = flops < 4e6 ? 1 : library_threads(), each = ((all + pieces - 1) / pieces + 15) / 16 * 16;
    struct strips s = {c, one, each, all};
    library_parallel((size_t)((all + each - 1) / each), run_strip, &s);
}

struct choices {
    char side, uplo, ta, diag;
    int m, n, k, lda, ldb, ldc;
};

static struct choices choices(const struct call *c)
{
    return (struct choices){c->side == CUBLAS_SIDE_LEFT ? 'L' : 'R',
                            c->uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L',
                            "NTC"[c->ta],
                            c -> diag == CUBLAS_DIAG_UNIT ? 'U' : 'N',
                            (int)c->m,
                            (int)c->n,
                            (int)c->k,
                            (int)c->op[0].ld,
                            (int)c->op[1].ld,
                            (int)c->op[2].ld};
}

#define SYMMETRIC(family)                                                                                              \
    static void family##_strip(const struct call *c)                                                                   \
    {                                                                                                                  \
        const struct choices s = choices(c);                                                                           \
        heddle_openblas.family[call_precision(c)](&s.side, &s.uplo, &s.m, &s.n, c->alpha, c->op[0].at, &s.lda,         \
                                                  c->op[1].at, &s.ldb, c->beta, (void *)c->op[2].at, &s.ldc);          \
    }                                                                                                                  \
    static bool run_##family(const struct call *c)                                                                     \
    {                                                                                                                  \
        in_strips(c, family##_strip);                                                                                  \
        return true;                                                                                                   \
    }
SYMMETRIC(symm)
SYMMETRIC(hemm)

/* Works in place, on trmm's operand or trsm's right side. */
static void by_triangle(const struct call *c, void(*const routines[]) TRIANGLE_PRODUCT, const struct operand *b)
{
    const struct choices s = choices(c);
    const int ld = (int)b->ld;
    routines[call_precision(c)](&s.side, &s.uplo, &s.ta, &s.diag, &s.m, &s.n, c->alpha, c->op[0].at, &s.lda,
                                (void *)b->at, &ld);
}

/* Copies B to C first, because the product is computed in place. */
static void trmm_strip(const struct call *c)
{
    const size_t bytes = element_bytes(c->type);
    for (int64_t j = 0; j < c->n && c->op[1].at != c->op[2].at; j++)
        memcpy((char *)c->op[2].at + (size_t)(j * c->op[2].ld) * bytes,
               (const char *)c->op[1].at + (size_t)(j * c->op[1].ld) * bytes, (size_t)c->m * bytes);
    by_triangle(c, heddle_openblas.trmm, &c->op[2]);
}

static void trsm_strip(const struct call *c)
{
    by_triangle(c, heddle_openblas.trsm, &c->op[1]);
}

static bool run_trmm(const struct call *c)
{
    in_strips(c, trmm_strip);
    return true;
}

static bool run_trsm(const struct call *c)
{
    in_strips(c, trsm_strip);
    return true;
}

/* ---- products with a transposed matrix ---- */

/* The routine itself determines whether a transposed matrix is conjugated. */
static char transposed(const struct call *c, bool hermitian)
{
    return c->ta == CUBLAS_OP_N ? 'N' : hermitian ? 'C' : 'T';
}

#define RANK_K_OF(family, hermitian)                                                                                   \
    static bool run_##family(const struct call *c)                                                                     \
    {                                                                                                                  \
        const struct choices s = choices(c);                                                                           \
        const char trans = transposed(c, hermitian);                                                                   \
        heddle_openblas.family[call_precision(c)](&s.uplo, &trans, &s.n, &s.k, c->alpha, c->op[0].at, &s.lda, c->beta, \
                                                  (void *)c->op[2].at, &s.ldc);                                        \
        return true;                                                                                                   \
    }
#define RANK_2K_OF(family, hermitian)                                                                                  \
    static bool run_##family(const struct call *c)                                                                     \
    {                                                                                                                  \
        const struct choices s = choices(c);                                                                           \
        const char trans = transposed(c, hermitian);                                                                   \
        heddle_openblas.family[call_precision(c)](&s.uplo, &trans, &s.n, &s.k, c->alpha, c->op[0].at, &s.lda,          \
                                                  c->op[1].at, &s.ldb, c->beta, (void *)c->op[2].at, &s.ldc);          \
        return true;                                                                                                   \
    }
RANK_K_OF(syrk, false)
RANK_K_OF(herk, true)
RANK_2K_OF(syr2k, false)
RANK_2K_OF(her2k, true)

/* Computes A * B^T in full beside C, and stores one triangle. beta is real if the result is
 * Hermitian. */
static bool run_rank_kx(const struct call *c, bool hermitian)
{
    const enum precision p = call_precision(c);
    const size_t bytes = element_bytes(c->type);
    const double zero[2] = {0};
    char *product = calloc((size_t)(c->n * c->n) + 1, bytes);
    const struct matrix d = {product, c->n, c->type, CUBLASLT_ORDER_COL, 0};
    const cublasOperation_t t = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    const struct product whole = {.ta = c->ta == CUBLAS_OP_N ? CUBLAS_OP_N : t,
                                  .tb = c->ta == CUBLAS_OP_N ? t : CUBLAS_OP_N,
                                  .m = c->n,
                                  .n = c->n,
                                  .k = c->k,
                                  .precision = p,
                                  .alpha = c->alpha,
                                  .beta = zero,
                                  .a = {c->op[0].at, c->op[0].ld, c->type, CUBLASLT_ORDER_COL, 0},
                                  .b = {c->op[1].at, c->op[1].ld, c->type, CUBLASLT_ORDER_COL, 0},
                                  .c = d,
                                  .d = d};
    const bool ok = product && product_run(&whole);
    double beta[2] = {0};
    elements_widen(p, beta, hermitian ? real_type(c->type) : c->type, c->beta, 1, 1);
    for (int64_t j = 0; ok && j < c->n; j++) {
        const int64_t from = c->uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j,
                      end = c->uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : c->n;
        const struct operand *o = &c->op[2];
        struct matrix column = {(const char *)o->at + (size_t)(j * o->ld + from) * bytes, end - from, c->type,
                                CUBLASLT_ORDER_COL, 0};
        struct matrix added = {product + (size_t)(j * c->n + from) * bytes, end - from, c->type, CUBLASLT_ORDER_COL, 0};
        matrix_add(p, end - from, beta, &column, &added);
        if (hermitian && p == PRECISION_C)
            ((float *)o->at)[2 * (j + j * o->ld) + 1] = 0;
        else if (hermitian)
            ((double *)o->at)[2 * (j + j * o->ld) + 1] = 0;
    }
    free(product);
    return ok;
}

static bool run_syrkx(const struct call *c)
{
    return run_rank_kx(c, false);
}

static bool run_herkx(const struct call *c)
{
    return run_rank_kx(c, true);
}

static double times(const struct call *c)
{
    return element_is_complex(c->type) ? 4 : 1;
}

static double side_flops(const struct call *c)
{
    return 2.0 * (double)c->m * (double)c->n * (double)order_of(c) * times(c) / (c->routine->uses & USES_DIAG ? 2 : 1);
}

static double rank_flops(const struct call *c)
{
    return (double)c->n * (double)c->n * (double)c->k * times(c) * (c->op[1].at ? 2 : 1);
}

enum {
    SIDES = USES_SIDE | USES_UPLO | USES_M | USES_N | USES_ALPHA | USES_BETA | ZERO_TIMES,
    TRIANGULAR = USES_SIDE | USES_UPLO | USES_TA | USES_DIAG | USES_M | USES_N | USES_ALPHA,
    RANK = USES_UPLO | USES_TA | USES_N | USES_K | USES_ALPHA | USES_BETA | NO_K_NEEDED | ZERO_TIMES,
};

static const struct routine symm = {SIDES, 0, symm_regions, NULL, run_symm, side_flops},
                            hemm = {SIDES, 0, symm_regions, NULL, run_hemm, side_flops},
                            trmm = {TRIANGULAR | ZERO_TIMES | ZERO_TIMES_ALWAYS | SQUARE_OF_TRIANGLE | NULL_IS_INVALID,
                                    0,
                                    trmm_regions,
                                    NULL,
                                    run_trmm,
                                    side_flops},
                            trsm = {TRIANGULAR, 0, trsm_regions, NULL, run_trsm, side_flops},
                            syrk = {RANK, 0, syrk_regions, NULL, run_syrk, rank_flops},
                            herk = {RANK | ALPHA_REAL | BETA_REAL, 0, syrk_regions, NULL, run_herk, rank_flops},
                            syr2k = {RANK, 0, syr2k_regions, NULL, run_syr2k, rank_flops},
                            her2k = {RANK | BETA_REAL, 0, syr2k_regions, NULL, run_her2k, rank_flops},
                            syrkx = {RANK, 0, syr2k_regions, NULL, run_syrkx, rank_flops},
                            herkx = {RANK | BETA_REAL, 0, syr2k_regions, NULL, run_herkx, rank_flops};

/* ---- entry points ---- */

#define SYMM(X, T, D, NAME, SUFFIX, INT)                                                                               \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, INT m, INT n,     \
                                const T *alpha, const T *A, INT lda, const T *B, INT ldb, const T *beta, T *C,         \
                                INT ldc)                                                                               \
        CALL("cublas" #X #NAME, NAME, .type = D, .side = side, .uplo = uplo, .m = m, .n = n, .alpha = alpha,           \
             .beta = beta, .op = {OPERAND(A, lda), OPERAND(B, ldb), OPERAND(C, ldc)})
#define TRMM(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##trmm##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                   \
                                cublasOperation_t trans, cublasDiagType_t diag, INT m, INT n, const T *alpha,          \
                                const T *A, INT lda, const T *B, INT ldb, T *C, INT ldc)                               \
        CALL("cublas" #X "trmm", trmm, .type = D, .side = side, .uplo = uplo, .ta = trans, .diag = diag, .m = m,       \
             .n = n, .alpha = alpha, .op = {OPERAND(A, lda), OPERAND(B, ldb), OPERAND(C, ldc)})
#define TRSM(X, T, D, SUFFIX, INT)                                                                                     \
    API cublas##X##trsm##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                   \
                                cublasOperation_t trans, cublasDiagType_t diag, INT m, INT n, const T *alpha,          \
                                const T *A, INT lda, T *B, INT ldb)                                                    \
        CALL("cublas" #X "trsm", trsm, .type = D, .side = side, .uplo = uplo, .ta = trans, .diag = diag, .m = m,       \
             .n = n, .alpha = alpha, .op = {OPERAND(A, lda), OPERAND(B, ldb)})
#define TRSM_BATCHED(X, T, D, SUFFIX, INT)                                                                             \
    API cublas##X##trsmBatched##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                       cublasOperation_t trans, cublasDiagType_t diag, INT m, INT n, const T *alpha,   \
                                       const T *const A[], INT lda, T *const B[], INT ldb, INT batchCount)             \
        CALL("cublas" #X "trsmBatched", trsm, .type = D, .side = side, .uplo = uplo, .ta = trans, .diag = diag,        \
             .m = m, .n = n, .alpha = alpha, .batched = true, .arrays = true, .batch = batchCount,                     \
             .op = {OPERAND(A, lda), OPERAND(B, ldb)})
#define RANK_K_CALL(X, T, AL, D, NAME, SUFFIX, INT)                                                                    \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, INT n, INT k,   \
                                const AL *alpha, const T *A, INT lda, const AL *beta, T *C, INT ldc)                   \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .ta = trans, .n = n, .k = k, .alpha = alpha,            \
             .beta = beta, .op = {OPERAND(A, lda), {0}, OPERAND(C, ldc)})
#define RANK_2K_CALL(X, T, BE, D, NAME, SUFFIX, INT)                                                                   \
    API cublas##X##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, INT n, INT k,   \
                                const T *alpha, const T *A, INT lda, const T *B, INT ldb, const BE *beta, T *C,        \
                                INT ldc)                                                                               \
        CALL("cublas" #X #NAME, NAME, .type = D, .uplo = uplo, .ta = trans, .n = n, .k = k, .alpha = alpha,            \
             .beta = beta, .op = {OPERAND(A, lda), OPERAND(B, ldb), OPERAND(C, ldc)})
#define VERSION_2(X, T, D, SUFFIX, INT)                                                                                \
    SYMM(X, T, D, symm, SUFFIX, INT)                                                                                   \
    TRMM(X, T, D, SUFFIX, INT)                                                                                         \
    TRSM(X, T, D, SUFFIX, INT)                                                                                         \
    RANK_K_CALL(X, T, T, D, syrk, SUFFIX, INT)                                                                         \
    RANK_2K_CALL(X, T, T, D, syr2k, SUFFIX, INT)
#define VERSION_1(X, T, D, SUFFIX, INT)                                                                                \
    RANK_2K_CALL(X, T, T, D, syrkx, SUFFIX, INT)                                                                       \
    TRSM_BATCHED(X, T, D, SUFFIX, INT)
#define HERMITIAN(X, T, R, D, SUFFIX, INT)                                                                             \
    RANK_K_CALL(X, T, R, D, herk, SUFFIX, INT)                                                                         \
    RANK_2K_CALL(X, T, R, D, her2k, SUFFIX, INT)
#define HEMM(X, T, D, SUFFIX, INT) SYMM(X, T, D, hemm, SUFFIX, INT)

V2(ALL_TYPES, VERSION_2)
PLAIN(ALL_TYPES, VERSION_1)
V2(COMPLEX_TYPES, HEMM)
HERMITIAN(C, cuComplex, float, CUDA_C_32F, _v2, int)
HERMITIAN(C, cuComplex, float, CUDA_C_32F, _v2_64, int64_t)
HERMITIAN(Z, cuDoubleComplex, double, CUDA_C_64F, _v2, int)
HERMITIAN(Z, cuDoubleComplex, double, CUDA_C_64F, _v2_64, int64_t)
RANK_2K_CALL(C, cuComplex, float, CUDA_C_32F, herkx, , int)
RANK_2K_CALL(C, cuComplex, float, CUDA_C_32F, herkx, _64, int64_t)
RANK_2K_CALL(Z, cuDoubleComplex, double, CUDA_C_64F, herkx, , int)
RANK_2K_CALL(Z, cuDoubleComplex, double, CUDA_C_64F, herkx, _64, int64_t)

/* ---- complex bytes or floats in, complex floats out (CsyrkEx and its neighbours) ---- */

static bool run_rank_k_any(const struct call *c, bool hermitian)
{
    struct call wide = *c;
    const enum precision p = PRECISION_C;
    const int64_t rows = c->ta == CUBLAS_OP_N ? c->n : c->k, columns = c->ta == CUBLAS_OP_N ? c->k : c->n;
    const struct matrix a = {c->op[0].at, c->op[0].ld, c->op[0].type, CUBLASLT_ORDER_COL, 0};
    float *copy = malloc((size_t)(rows * columns) * 8 + 1);
    for (int64_t j = 0; copy && j < columns; j++)
        matrix_read(p, copy + 2 * j * rows, &a, 0, j, rows);
    wide.type = CUDA_C_32F;
    wide.mixed = false;
    wide.op[0] = (struct operand){.at = copy, .ld = at_least_1(rows)};
    if (copy)
        (hermitian ? run_herk : run_syrk)(&wide);
    free(copy);
    return copy;
}

static bool run_syrk_any(const struct call *c)
{
    return run_rank_k_any(c, false);
}

static bool run_herk_any(const struct call *c)
{
    return run_rank_k_any(c, true);
}

static cublasStatus_t check_rank_k_any(const struct call *c)
{
    const bool fits = (c->op[0].type == CUDA_C_8I || c->op[0].type == CUDA_C_32F) && c->op[2].type == CUDA_C_32F;
    return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static const struct routine syrk_any = {RANK & ~ZERO_TIMES, 0,         syrk_regions, check_rank_k_any,
                                        run_syrk_any,       rank_flops},
                            herk_any = {(RANK & ~ZERO_TIMES) | ALPHA_REAL | BETA_REAL,
                                        0,
                                        syrk_regions,
                                        check_rank_k_any,
                                        run_herk_any,
                                        rank_flops};

#define RANK_K_EX(NAME, ROUTINE, AL, SUFFIX, INT)                                                                      \
    API cublas##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, INT n, INT k,      \
                             const AL *alpha, const void *A, cudaDataType Atype, INT lda, const AL *beta, void *C,     \
                             cudaDataType Ctype, INT ldc)                                                              \
        CALL("cublas" #NAME, ROUTINE, .mixed = true, .scalar_type = CUDA_C_32F, .uplo = uplo, .ta = trans, .n = n,     \
             .k = k, .alpha = alpha, .beta = beta, .op = {{A, lda, 0, Atype}, {0}, {C, ldc, 0, Ctype}})
#define RANK_K_EXS(SUFFIX, INT)                                                                                        \
    RANK_K_EX(CsyrkEx, syrk_any, cuComplex, SUFFIX, INT)                                                               \
    RANK_K_EX(Csyrk3mEx, syrk_any, cuComplex, SUFFIX, INT)                                                             \
    RANK_K_EX(CherkEx, herk_any, float, SUFFIX, INT)                                                                   \
    RANK_K_EX(Cherk3mEx, herk_any, float, SUFFIX, INT)
RANK_K_EXS(, int)
RANK_K_EXS(_64, int64_t)
