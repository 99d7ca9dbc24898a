/* Sums and scalings of matrices for one type of elements: included by dense.c with T,
 * NAME(function), CONJ(x) and FMA(a, b, c). */

static inline T NAME(at)(int op, const T *a, int64_t ld, int64_t i, int64_t j)
{
    return op == 0 ? a[i + j * ld] : op == 1 ? a[j + i * ld] : CONJ(a[j + i * ld]);
}

/* A matrix whose factor is 0 is not read. */
static void NAME(geam)(int ta, int tb, int64_t m, int64_t n, const void *alpha_, const void *a_, int64_t lda,
                       const void *beta_, const void *b_, int64_t ldb, void *c_, int64_t ldc)
{
    const T alpha = *(const T *)alpha_, beta = *(const T *)beta_, *a = a_, *b = b_;
    T *c = c_;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const T x = alpha == 0 ? 0 : alpha * NAME(at)(ta, a, lda, i, j);
            c[i + j * ldc] = beta == 0 ? x : FMA(beta, NAME(at)(tb, b, ldb, i, j), x);
        }
}

static void NAME(dgmm)(bool rows, int64_t m, int64_t n, const void *a_, int64_t lda, const void *x_, int64_t incx,
                       void *c_, int64_t ldc)
{
    const T *a = a_, *x = x_;
    T *c = c_;
    x -= incx < 0 ? ((rows ? m : n) - 1) * incx : 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            c[i + j * ldc] = a[i + j * lda] * x[(rows ? i : j) * incx];
}

#undef T
#undef NAME
#undef CONJ
#undef FMA
