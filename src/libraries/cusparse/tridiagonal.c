/* Tridiagonal and pentadiagonal systems: one matrix with many right-hand sides, and batches of
 * matrices, strided and interleaved. */
#include "libraries/cusparse/call.h"

#include <math.h>
#include <stdlib.h>

/* A band by rows: row i has columns i - w to i + 2 w, because row exchanges widen it. */
struct band {
    int64_t n, w;
    number *at, *x;
};

static number *element(const struct band *b, int64_t i, int64_t j)
{
    return &b->at[i * (3 * b->w + 1) + (j - i + b->w)];
}

static number less(number a, number f, number b)
{
    number product = number_times(f, b);
    return (number){a.re - product.re, a.im - product.im};
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void swap(number *a, number *b)
{
    number old = *a;
    *a = *b;
    *b = old;
}

static void pivot(const struct band *b, int64_t k)
{
    int64_t best = k;
    for (int64_t i = k + 1; i <= lower(k + b->w, b->n - 1); i++)
        if (hypot(element(b, i, k)->re, element(b, i, k)->im) > hypot(element(b, best, k)->re, element(b, best, k)->im))
            best = i;
    if (best == k)
        return;
    for (int64_t j = k; j <= lower(k + 2 * b->w, b->n - 1); j++)
        swap(element(b, k, j), element(b, best, j));
    swap(&b->x[k], &b->x[best]);
}

static void solve_band(const struct band *b, bool pivots)
{
    for (int64_t k = 0; k < b->n; k++) {
        if (pivots)
            pivot(b, k);
        for (int64_t i = k + 1; i <= lower(k + b->w, b->n - 1); i++) {
            number f = number_over(*element(b, i, k), *element(b, k, k));
            for (int64_t j = k + 1; j <= lower(k + 2 * b->w, b->n - 1); j++)
                *element(b, i, j) = less(*element(b, i, j), f, *element(b, k, j));
            b->x[i] = less(b->x[i], f, b->x[k]);
        }
    }
    for (int64_t i = b->n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j <= lower(i + 2 * b->w, b->n - 1); j++)
            b->x[i] = less(b->x[i], *element(b, i, j), b->x[j]);
        b->x[i] = number_over(b->x[i], *element(b, i, i));
    }
}

/* at[0..4]: the diagonals, lowest first, laid out like x; NULL if
 * absent. y: the right-hand sides. */
static hd_result run_band(const struct call *c)
{
    struct band b = {.n = c->y.rows, .w = c->at[0] ? 2 : 1};
    size_t row = 3 * (size_t)b.w + 1;
    b.at = malloc(((size_t)b.n * row + 1) * sizeof *b.at);
    b.x = malloc(((size_t)b.n + 1) * sizeof *b.x);
    const void *diagonals[5] = {0};
    for (int64_t i = 2 - b.w; i <= 2 + b.w; i++)
        diagonals[i] = library_view(c->at[i]);
    for (int64_t k = 0; b.at && b.x && k < c->y.columns; k++) {
        for (int64_t i = 0; i < b.n * (int64_t)row; i++)
            b.at[i] = (number){0, 0};
        for (int64_t i = 0; i < b.n; i++)
            for (int64_t j = -b.w; j <= b.w; j++)
                if (i + j >= 0 && i + j < b.n)
                    *element(&b, i, i + j) = number_at(c->compute, diagonals[2 + j], dense_index(&c->x, 0, i, k));
        for (int64_t i = 0; i < b.n; i++)
            b.x[i] = number_at(c->compute, c->y.values, dense_index(&c->y, 0, i, k));
        solve_band(&b, c->m);
        for (int64_t i = 0; i < b.n; i++)
            number_set(c->compute, c->y.values, dense_index(&c->y, 0, i, k), b.x[i]);
    }
    hd_result r = b.at && b.x ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
    free(b.at);
    free(b.x);
    return r;
}

/* Elements outside the matrix, such as the first of a lower diagonal, are not read, but are
 * declared as used. */
static cusparseStatus_t put(const struct context *s, const char *name, bool pivots, const void *const diagonals[5],
                            struct dense layout, struct dense x)
{
    struct call c = {.name = name,
                     .run = run_band,
                     .x = layout,
                     .y = x,
                     .compute = x.type,
                     .m = pivots,
                     .flops = 8.0 * (double)x.rows * (double)x.columns};
    for (int i = 0; i < 5; i++) {
        c.at[i] = (void *)diagonals[i];
        struct dense d = layout;
        d.values = c.at[i];
        if (d.values)
            call_dense(&c, &d, HD_READS);
    }
    call_dense(&c, &c.y, HD_READS | HD_WRITES);
    return x.columns > 0 ? call_put(s, &c) : CUSPARSE_STATUS_SUCCESS;
}

/* ---- an H200's work sizes ---- */

#define SIZE(of)                                                                                                       \
    NEED(bytes);                                                                                                       \
    *bytes = (of);                                                                                                     \
    return CUSPARSE_STATUS_SUCCESS

static size_t power_from(size_t n)
{
    size_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static size_t multiple_from(size_t n, size_t of)
{
    return (n + of - 1) / of * of;
}

/* Without pivoting: cyclic reduction, for long systems after halving until few rows are left. */
static size_t reduction_bytes(size_t m, size_t n, size_t element)
{
    size_t rows = m;
    while (rows >= 4096)
        rows = (rows + 1) / 2;
    return (2 * power_from(rows) + (m > rows ? m : 0)) * (n + 3) * element;
}

static size_t batch_bytes(size_t m, size_t count, size_t element)
{
    size_t rows = m;
    if (m > 512)
        do
            rows /= 2;
        while (rows >= 1000);
    return (8 * power_from(rows) + (m > 512 ? 4 * m : 0)) * count * element;
}

/* With pivoting: `blocks` blocks of `threads` threads solve tiles of 16 rows for each thread,
 * and then what couples them (Chang and others, "A Scalable, Numerically Stable,
 * High-performance Tridiagonal Solver using GPUs", SC 2012). More blocks are used while they add
 * less than a fifth of the rows. */
static size_t pivoting_bytes(size_t m, size_t n, size_t element)
{
    enum { TILE = 16, WARP = 32, ALIGNED = 128, MOST_AT_ONCE = 8 };
    const size_t most_threads = element == 4   ? 256
                                : element == 8 ? 128
                                               : 64,
                 most_blocks = 2 * most_threads, few = m / (TILE * WARP) * WARP,
                 at_once = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
    const size_t threads = few < WARP ? WARP : few < most_threads ? few : most_threads;
    size_t blocks = 1, rows = multiple_from(m, threads * TILE);
    while (threads == most_threads && blocks < most_blocks) {
        const size_t padded = multiple_from(m, 2 * blocks * threads * TILE);
        if ((double)(padded - m) > 0.2 * (double)m)
            break;
        blocks *= 2;
        rows = padded;
    }
    return (6 + at_once) * rows * element + rows + 4 * blocks * threads * element +
           multiple_from((4 + 2 * at_once) * blocks * element, ALIGNED);
}

#define MANY_CHECKED                                                                                                   \
    CONTEXT(s, handle);                                                                                                \
    NEED(m >= 3 && n >= 0 && ldb >= m);                                                                                \
    NEED(dl &&d &&du && (n == 0 || x))

/* One matrix with n right-hand sides. */
#define MANY(X, T, TYPE, name, pivots)                                                                                 \
    LIBRARY_API cusparseStatus_t cusparse##X##name##_bufferSizeExt(cusparseHandle_t handle, int m, int n, const T *dl, \
                                                                   const T *d, const T *du, const T *x, int ldb,       \
                                                                   size_t *bytes)                                      \
    {                                                                                                                  \
        MANY_CHECKED;                                                                                                  \
        SIZE((pivots ? pivoting_bytes : reduction_bytes)((size_t)m, (size_t)n, sizeof(T)));                            \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##name(cusparseHandle_t handle, int m, int n, const T *dl, const T *d,     \
                                                   const T *du, T *x, int ldb, void *buffer)                           \
    {                                                                                                                  \
        MANY_CHECKED;                                                                                                  \
        (void)buffer;                                                                                                  \
        const struct dense one = {m, 1, 0, NULL, TYPE, CUSPARSE_ORDER_COL, 1, 0};                                      \
        const struct dense all = {m, n, ldb, x, TYPE, CUSPARSE_ORDER_COL, 1, 0};                                       \
        const void *const diagonals[5] = {NULL, dl, d, du, NULL};                                                      \
        return put(s, __func__, pivots, diagonals, one, all);                                                          \
    }

#define STRIDED_CHECKED                                                                                                \
    CONTEXT(s, handle);                                                                                                \
    NEED(m >= 3 && count >= 0 && stride >= m);                                                                         \
    NEED(count == 0 || (dl && d && du && x))

#define STRIDED(X, T, TYPE)                                                                                            \
    LIBRARY_API cusparseStatus_t cusparse##X##gtsv2StridedBatch_bufferSizeExt(                                         \
        cusparseHandle_t handle, int m, const T *dl, const T *d, const T *du, const T *x, int count, int stride,       \
        size_t *bytes)                                                                                                 \
    {                                                                                                                  \
        STRIDED_CHECKED;                                                                                               \
        SIZE(batch_bytes((size_t)m, (size_t)count, sizeof(T)));                                                        \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gtsv2StridedBatch(cusparseHandle_t handle, int m, const T *dl,           \
                                                                const T *d, const T *du, T *x, int count, int stride,  \
                                                                void *buffer)                                          \
    {                                                                                                                  \
        STRIDED_CHECKED;                                                                                               \
        (void)buffer;                                                                                                  \
        const struct dense all = {m, count, stride, x, TYPE, CUSPARSE_ORDER_COL, 1, 0};                                \
        const void *const diagonals[5] = {NULL, dl, d, du, NULL};                                                      \
        return put(s, __func__, false, diagonals, all, all);                                                           \
    }

#define INTERLEAVED_CHECKED(algorithms, rows)                                                                          \
    CONTEXT(s, handle);                                                                                                \
    NEED((unsigned)algorithm < (algorithms) && m >= (rows) && count >= 0);                                             \
    NEED(count == 0 || (dl && d && du && x))

/* Algorithm 0 for three diagonals is Thomas's, without pivoting. */
#define INTERLEAVED(X, T, TYPE)                                                                                        \
    LIBRARY_API cusparseStatus_t cusparse##X##gtsvInterleavedBatch_bufferSizeExt(                                      \
        cusparseHandle_t handle, int algorithm, int m, const T *dl, const T *d, const T *du, const T *x, int count,    \
        size_t *bytes)                                                                                                 \
    {                                                                                                                  \
        INTERLEAVED_CHECKED(3, 1);                                                                                     \
        SIZE(algorithm ? (size_t)m *(size_t)count * sizeof(T) : 128);                                                  \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m,      \
                                                                   T *dl, T *d, T *du, T *x, int count, void *buffer)  \
    {                                                                                                                  \
        INTERLEAVED_CHECKED(3, 1);                                                                                     \
        (void)buffer;                                                                                                  \
        const struct dense all = {m, count, count, x, TYPE, CUSPARSE_ORDER_ROW, 1, 0};                                 \
        const void *const diagonals[5] = {NULL, dl, d, du, NULL};                                                      \
        return put(s, __func__, algorithm != 0, diagonals, all, all);                                                  \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gpsvInterleavedBatch_bufferSizeExt(                                      \
        cusparseHandle_t handle, int algorithm, int m, const T *ds, const T *dl, const T *d, const T *du, const T *dw, \
        const T *x, int count, size_t *bytes)                                                                          \
    {                                                                                                                  \
        INTERLEAVED_CHECKED(1, 1);                                                                                     \
        NEED(count == 0 || (ds && dw));                                                                                \
        SIZE(2 * (size_t)m * (size_t)count * sizeof(T));                                                               \
    }                                                                                                                  \
    LIBRARY_API cusparseStatus_t cusparse##X##gpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m,      \
                                                                   T *ds, T *dl, T *d, T *du, T *dw, T *x, int count,  \
                                                                   void *buffer)                                       \
    {                                                                                                                  \
        INTERLEAVED_CHECKED(1, 1);                                                                                     \
        NEED(count == 0 || (ds && dw));                                                                                \
        (void)buffer;                                                                                                  \
        const struct dense all = {m, count, count, x, TYPE, CUSPARSE_ORDER_ROW, 1, 0};                                 \
        const void *const diagonals[5] = {ds, dl, d, du, dw};                                                          \
        return put(s, __func__, true, diagonals, all, all);                                                            \
    }

#define ALL(X, T, TYPE)                                                                                                \
    MANY(X, T, TYPE, gtsv2, true)                                                                                      \
    MANY(X, T, TYPE, gtsv2_nopivot, false)                                                                             \
    STRIDED(X, T, TYPE)                                                                                                \
    INTERLEAVED(X, T, TYPE)
EACH_TYPE(ALL)
