/* See product.h. */
#include "libraries/blas/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libraries/common/library.h"

/* ---- matrices ---- */

/* cublasLt's orders with 32 columns ("cublasLtOrder_t"): composite tiles, stored one column of
 * tiles after the other. */
static int64_t tiled_offset(const struct matrix *m, int64_t row, int64_t column)
{
    const int64_t in_strip = column % 32, strip = column / 32 * m->ld;
    if (m->order == CUBLASLT_ORDER_COL32)
        return strip + row * 32 + in_strip;
    /* 8 x 32: its even rows, then its odd ones, four columns at a time */
    if (m->order == CUBLASLT_ORDER_COL4_4R2_8C)
        return strip + row / 8 * 256 + row % 2 * 128 + in_strip / 4 * 16 + row % 8 / 2 * 4 + in_strip % 4;
    /* 32 x 32: rows in the order of tensor cores' operands */
    return strip + row / 32 * 1024 + (row % 8 / 2 * 4 + row % 32 / 8) * 64 + row % 2 * 32 + in_strip;
}

int64_t matrix_offset(const struct matrix *m, int64_t row, int64_t column)
{
    return m->order == CUBLASLT_ORDER_COL   ? row + column * m->ld
           : m->order == CUBLASLT_ORDER_ROW ? row * m->ld + column
                                            : tiled_offset(m, row, column);
}

static char *element(const struct matrix *m, int64_t row, int64_t column)
{
    return (char *)m->at + matrix_offset(m, row, column) * (int64_t)element_bytes(m->type);
}

/* The number of a column's elements with one stride: all, except in tiled matrices. */
static int64_t run_of(const struct matrix *m, int64_t rows)
{
    return m->order <= CUBLASLT_ORDER_ROW ? rows : 1;
}

static ptrdiff_t stride_of(const struct matrix *m)
{
    return m->order == CUBLASLT_ORDER_ROW ? m->ld : 1;
}

enum { PLANAR_ROWS = 64 };

/* The parts of a planar matrix: of the real numbers, and of the imaginary ones. */
static void find_planes(struct matrix planes[2], const struct matrix *m)
{
    planes[0] = planes[1] = *m;
    planes[0].plane = planes[1].plane = 0;
    planes[1].at = (const char *)m->at + m->plane;
}

static int64_t planar_rows(int64_t rows, int64_t done)
{
    return rows - done < PLANAR_ROWS ? rows - done : PLANAR_ROWS;
}

static void read_planes(float *to, const struct matrix *m, int64_t row, int64_t column, int64_t rows)
{
    float parts[PLANAR_ROWS];
    struct matrix planes[2];
    find_planes(planes, m);
    for (int64_t i = 0; i < rows; i += PLANAR_ROWS)
        for (int part = 0; part < 2; part++) {
            const int64_t n = planar_rows(rows, i);
            matrix_read(PRECISION_S, parts, &planes[part], row + i, column, n);
            for (int64_t j = 0; j < n; j++)
                to[2 * (i + j) + part] = parts[j];
        }
}

static void write_planes(const float *from, const struct matrix *m, int64_t row, int64_t column, int64_t rows)
{
    float parts[PLANAR_ROWS];
    struct matrix planes[2];
    find_planes(planes, m);
    for (int64_t i = 0; i < rows; i += PLANAR_ROWS)
        for (int part = 0; part < 2; part++) {
            const int64_t n = planar_rows(rows, i);
            for (int64_t j = 0; j < n; j++)
                parts[j] = from[2 * (i + j) + part];
            matrix_write(PRECISION_S, parts, &planes[part], row + i, column, n);
        }
}

void matrix_read(enum precision p, void *to, const struct matrix *m, int64_t row, int64_t column, int64_t rows)
{
    const int64_t bytes = (int64_t)element_bytes(precision_type(p)), run = run_of(m, rows);
    if (m->plane) {
        read_planes(to, m, row, column, rows);
        return;
    }
    for (int64_t i = 0; i < rows; i += run)
        elements_widen(p, (char *)to + i * bytes, m->type, element(m, row + i, column), stride_of(m), (size_t)run);
}

void matrix_write(enum precision p, const void *from, const struct matrix *m, int64_t row, int64_t column, int64_t rows)
{
    const int64_t bytes = (int64_t)element_bytes(precision_type(p)), run = run_of(m, rows);
    if (m->plane) {
        write_planes(from, m, row, column, rows);
        return;
    }
    for (int64_t i = 0; i < rows; i += run)
        elements_narrow(p, (const char *)from + i * bytes, m->type, element(m, row + i, column), stride_of(m),
                        (size_t)run);
}

#define ADD(T)                                                                                                         \
    do {                                                                                                               \
        T *const x = (T *)to->at;                                                                                      \
        const T *const y = added->at, s = *(const T *)scale;                                                           \
        for (int64_t i = 0; i < rows; i++)                                                                             \
            x[i] = s == 0 ? y[i] : s * x[i] + y[i];                                                                    \
    } while (0)

void matrix_add(enum precision p, int64_t rows, const void *scale, struct matrix *to, const struct matrix *added)
{
    switch (p) {
    case PRECISION_S: ADD(float); break;
    case PRECISION_D: ADD(double); break;
    case PRECISION_C: ADD(float _Complex); break;
    case PRECISION_Z: ADD(double _Complex); break;
    }
}

/* ---- tiles ---- */

/* A grid of tiles of the result, one for each thread; small results are one tile. */
struct tiles {
    int64_t rows, columns; /* of each tile */
    size_t down, across;
};

static struct tiles cut(int64_t m, int64_t n, int64_t k)
{
    const unsigned threads = library_threads();
    const double flops = 2.0 * (double)m * (double)n * (double)k;
    size_t down = 1, across = 1;
    for (size_t pieces = 1; pieces * 2 <= threads && flops / (double)pieces > 4e6; pieces *= 2)
        if (n / (int64_t)across >= m / (int64_t)down)
            across *= 2;
        else
            down *= 2;
    struct tiles t = {(m + (int64_t)down - 1) / (int64_t)down, (n + (int64_t)across - 1) / (int64_t)across, 0, 0};
    t.rows = (t.rows + 15) / 16 * 16;
    t.columns = (t.columns + 15) / 16 * 16;
    t.down = (size_t)((m + t.rows - 1) / t.rows);
    t.across = (size_t)((n + t.columns - 1) / t.columns);
    return t;
}

struct tile {
    int64_t row, column, rows, columns;
};

static struct tile tile_of(const struct product *p, const struct tiles *t, size_t i)
{
    struct tile r = {(int64_t)(i % t->down) * t->rows, (int64_t)(i / t->down) * t->columns, t->rows, t->columns};
    r.rows = p->m - r.row < r.rows ? p->m - r.row : r.rows;
    r.columns = p->n - r.column < r.columns ? p->n - r.column : r.columns;
    return r;
}

static char letter(cublasOperation_t op)
{
    return "NTC"[op];
}

/* Computes C += op(A) * op(B), or a similar product, for one tile by OpenBLAS; `t` gives the rows
 * of op(A) and columns of op(B). */
static void multiply(const struct product *p, const struct tile *t, const void *a, int64_t lda, const void *b,
                     int64_t ldb, const void *alpha, const void *beta, void *c, int64_t ldc)
{
    const int64_t bytes = (int64_t)element_bytes(precision_type(p->precision));
    const char ta = letter(p->ta), tb = letter(p->tb);
    const int m = (int)t->rows, n = (int)t->columns, k = (int)p->k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
    const char *at = (const char *)a + (p->ta == CUBLAS_OP_N ? t->row : t->row * lda) * bytes;
    const char *bt = (const char *)b + (p->tb == CUBLAS_OP_N ? t->column * ldb : t->column) * bytes;
    heddle_openblas.gemm[p->precision](&ta, &tb, &m, &n, &k, alpha, at, &la, bt, &lb, beta,
                                       (char *)c + (t->row + t->column * ldc) * bytes, &lc);
}

/* ---- matrices that OpenBLAS takes as they are ---- */

static bool plain(const struct product *p, const struct matrix *m)
{
    return m->type == precision_type(p->precision) && m->order == CUBLASLT_ORDER_COL;
}

static bool is_direct(const struct product *p)
{
    return plain(p, &p->a) && plain(p, &p->b) && plain(p, &p->d) && p->c.at == p->d.at && p->c.ld == p->d.ld &&
           p->c.type == p->d.type && p->c.order == p->d.order && !p->finish && !p->integers && !p->tf32 &&
           p->through == CUDA_R_32F && !p->row_alpha && !p->half_sum && !p->c_transposed;
}

struct pieces {
    const struct product *p;
    struct tiles tiles;
    void *a, *b, *sum; /* widened: op(A) and op(B) as stored, m x n */
    int64_t a_rows, b_rows;
    _Atomic bool out_of_memory;
};

static void direct_piece(void *data, size_t i)
{
    const struct pieces *s = data;
    const struct product *p = s->p;
    const struct tile t = tile_of(p, &s->tiles, i);
    multiply(p, &t, p->a.at, p->a.ld, p->b.at, p->b.ld, p->alpha, p->beta, (void *)p->d.at, p->d.ld);
}

/* ---- all others ---- */

static void round_inputs(const struct product *p, void *column, int64_t n)
{
    float *f = column;
    const size_t parts = (size_t)n * (p->precision == PRECISION_C ? 2 : 1);
    if (p->tf32)
        for (size_t i = 0; i < parts; i++)
            f[i] = element_tf32(f[i]);
    else if (p->through != CUDA_R_32F)
        for (size_t i = 0; i < parts; i++)
            f[i] = element_through(p->through, f[i]);
}

enum { COLUMNS_AT_ONCE = 16 };

static void widen_piece(const struct product *p, const struct matrix *m, void *to, int64_t rows, int64_t columns,
                        size_t i)
{
    const size_t bytes = element_bytes(precision_type(p->precision));
    const int64_t first = (int64_t)i * COLUMNS_AT_ONCE,
                  end = first + COLUMNS_AT_ONCE < columns ? first + COLUMNS_AT_ONCE : columns;
    for (int64_t j = first; j < end; j++) {
        char *column = (char *)to + (size_t)(j * rows) * bytes;
        matrix_read(p->precision, column, m, 0, j, rows);
        round_inputs(p, column, rows);
    }
}

static void widen_a(void *data, size_t i)
{
    const struct pieces *s = data;
    widen_piece(s->p, &s->p->a, s->a, s->a_rows, s->a_rows == s->p->m && s->p->ta == CUBLAS_OP_N ? s->p->k : s->p->m,
                i);
}

static void widen_b(void *data, size_t i)
{
    const struct pieces *s = data;
    widen_piece(s->p, &s->p->b, s->b, s->b_rows, s->p->tb == CUBLAS_OP_N ? s->p->n : s->p->k, i);
}

static void sum_piece(void *data, size_t i)
{
    static const double one[2] = {1}, zero[2];
    static const float one_f[2] = {1}, zero_f[2];
    const struct pieces *s = data;
    const bool wide = s->p->precision == PRECISION_D || s->p->precision == PRECISION_Z;
    const struct tile t = tile_of(s->p, &s->tiles, i);
    multiply(s->p, &t, s->a, s->a_rows, s->b, s->b_rows, wide ? (const void *)one : one_f,
             wide ? (const void *)zero : zero_f, s->sum, s->p->m);
}

/* values = alpha * values + beta * c, for a column */
#define COMBINE(name, T)                                                                                               \
    static void name(const struct product *p, T *values, const T *c)                                                   \
    {                                                                                                                  \
        const T alpha = *(const T *)p->alpha, beta = *(const T *)p->beta;                                              \
        for (int64_t i = 0; i < p->m; i++)                                                                             \
            values[i] = alpha * values[i];                                                                             \
        if (p->row_alpha)                                                                                              \
            for (int64_t i = 0; i < p->m; i++)                                                                         \
                values[i] *= p->row_alpha[i];                                                                          \
        if (c)                                                                                                         \
            for (int64_t i = 0; i < p->m; i++)                                                                         \
                values[i] += beta * c[i];                                                                              \
    }
COMBINE(combine_s, float)
COMBINE(combine_d, double)
COMBINE(combine_c, float _Complex)
COMBINE(combine_z, double _Complex)

static bool is_zero(const struct product *p, const void *scalar)
{
    switch (p->precision) {
    case PRECISION_S: return *(const float *)scalar == 0;
    case PRECISION_D: return p->integers ? *(const int32_t *)scalar == 0 : *(const double *)scalar == 0;
    case PRECISION_C: return *(const float _Complex *)scalar == 0;
    case PRECISION_Z: return *(const double _Complex *)scalar == 0;
    }
    return false;
}

/* Integers wrap: keeps the low 32 bits. */
static void finish_integers(const struct product *p, const double *sum, int64_t column)
{
    const uint32_t alpha = *(const uint32_t *)p->alpha, beta = *(const uint32_t *)p->beta;
    for (int64_t i = 0; i < p->m; i++) {
        int32_t *d = (int32_t *)element(&p->d, i, column);
        const uint32_t c = beta ? *(const uint32_t *)element(&p->c, i, column) : 0;
        *d = (int32_t)(alpha * (uint32_t)(int64_t)sum[i] + beta * c);
    }
}

static void finish_column(const struct product *p, void *values, void *c, int64_t column)
{
    if (c)
        matrix_read(p->precision, c, &p->c, 0, column, p->m);
    if (p->half_sum)
        for (int64_t i = 0; i < p->m; i++)
            ((float *)values)[i] = element_through(CUDA_R_16F, ((float *)values)[i]);
    switch (p->precision) {
    case PRECISION_S: combine_s(p, values, c); break;
    case PRECISION_D: combine_d(p, values, c); break;
    case PRECISION_C: combine_c(p, values, c); break;
    case PRECISION_Z: combine_z(p, values, c); break;
    }
    if (p->finish)
        p->finish(p, column, values);
    matrix_write(p->precision, values, &p->d, 0, column, p->m);
}

static void finish_piece(void *data, size_t i)
{
    struct pieces *s = data;
    const struct product *p = s->p;
    const size_t bytes = element_bytes(precision_type(p->precision));
    const int64_t first = (int64_t)i * COLUMNS_AT_ONCE,
                  end = first + COLUMNS_AT_ONCE < p->n ? first + COLUMNS_AT_ONCE : p->n;
    void *c = is_zero(p, p->beta) || p->integers ? NULL : malloc((size_t)p->m * bytes);
    if (!c && !is_zero(p, p->beta) && !p->integers)
        s->out_of_memory = true;
    else
        for (int64_t j = first; j < end; j++) {
            void *column = (char *)s->sum + (size_t)(j * p->m) * bytes;
            if (p->integers)
                finish_integers(p, column, j);
            else
                finish_column(p, column, c, j);
        }
    free(c);
}

static size_t groups(int64_t columns)
{
    return (size_t)((columns + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE);
}

static bool widened(const struct product *p)
{
    const size_t bytes = element_bytes(precision_type(p->precision));
    struct pieces s = {.p = p, .tiles = cut(p->m, p->n, p->k)};
    const int64_t a_columns = p->ta == CUBLAS_OP_N ? p->k : p->m, b_columns = p->tb == CUBLAS_OP_N ? p->n : p->k;
    s.a_rows = p->ta == CUBLAS_OP_N ? p->m : p->k;
    s.b_rows = p->tb == CUBLAS_OP_N ? p->k : p->n;
    s.a = malloc((size_t)(p->m * p->k) * bytes + 1);
    s.b = malloc((size_t)(p->k * p->n) * bytes + 1);
    s.sum = calloc((size_t)(p->m * p->n) + 1, bytes);
    bool ok = s.a && s.b && s.sum;
    if (ok && p->k > 0) {
        library_parallel(groups(a_columns), widen_a, &s);
        library_parallel(groups(b_columns), widen_b, &s);
        library_parallel(s.tiles.down * s.tiles.across, sum_piece, &s);
    }
    if (ok)
        library_parallel(groups(p->n), finish_piece, &s);
    free(s.a);
    free(s.b);
    free(s.sum);
    return ok && !s.out_of_memory;
}

bool product_run(const struct product *p)
{
    if (!p->m || !p->n)
        return true;
    const bool zero = is_zero(p, p->alpha);
    struct product scaled = *p;
    if (zero && !p->zero_times) { /* A and B are not read */
        scaled.k = 0;
        p = &scaled;
    }
    if (!is_direct(p) || (zero && p->zero_times)) /* OpenBLAS does not multiply by an alpha of 0 */
        return widened(p);
    struct pieces s = {.p = p, .tiles = cut(p->m, p->n, p->k)};
    library_parallel(s.tiles.down * s.tiles.across, direct_piece, &s);
    return true;
}
