/* Factorizations of small matrices for one type of elements: included by factor.c with T, its real
 * type R, and NAME(function). Columns lie `ld` elements apart; rows and columns of results count
 * from 1. */

#define AT(i, j) a[(i) + (j) * lda]

/* LU, with row exchanges if `pivots` is given. A zero on the diagonal ends it: returns its row, and
 * leaves the rest. */
static int NAME(lu)(int64_t n, void *matrix, int64_t lda, int *pivots)
{
    T *a = matrix;
    for (int64_t j = 0; pivots && j < n; j++)
        pivots[j] = (int)j + 1;
    for (int64_t j = 0; j < n; j++) {
        int64_t p = j;
        for (int64_t i = j + 1; pivots && i < n; i++)
            if (SIZE(AT(i, j)) > SIZE(AT(p, j)))
                p = i;
        if (AT(p, j) == 0)
            return (int)j + 1;
        if (pivots)
            pivots[j] = (int)p + 1;
        for (int64_t k = 0; p != j && k < n; k++) {
            const T t = AT(j, k);
            AT(j, k) = AT(p, k);
            AT(p, k) = t;
        }
        for (int64_t i = j + 1; i < n; i++)
            AT(i, j) /= AT(j, j);
        for (int64_t k = j + 1; k < n; k++)
            for (int64_t i = j + 1; i < n; i++)
                AT(i, k) -= AT(i, j) * AT(j, k);
    }
    return 0;
}

/* Replaces one column b by L \ b or U \ b, or solves with the
 * transposed (and conjugated) matrix. */
static void NAME(lower)(int64_t n, const T *a, int64_t lda, T *b)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j + 1; i < n; i++)
            b[i] -= AT(i, j) * b[j];
}

static void NAME(upper)(int64_t n, const T *a, int64_t lda, T *b)
{
    for (int64_t j = n - 1; j >= 0; j--) {
        b[j] /= AT(j, j);
        for (int64_t i = 0; i < j; i++)
            b[i] -= AT(i, j) * b[j];
    }
}

static void NAME(upper_transposed)(int64_t n, const T *a, int64_t lda, T *b, bool conjugate)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < j; i++)
            b[j] -= (conjugate ? CONJ(AT(i, j)) : AT(i, j)) * b[i];
        b[j] /= conjugate ? CONJ(AT(j, j)) : AT(j, j);
    }
}

static void NAME(lower_transposed)(int64_t n, const T *a, int64_t lda, T *b, bool conjugate)
{
    for (int64_t j = n - 1; j >= 0; j--)
        for (int64_t i = j + 1; i < n; i++)
            b[j] -= (conjugate ? CONJ(AT(i, j)) : AT(i, j)) * b[i];
}

static void NAME(exchange)(int64_t n, const int *pivots, T *b, bool backwards)
{
    for (int64_t k = 0; pivots && k < n; k++) {
        const int64_t j = backwards ? n - 1 - k : k, p = pivots[j] - 1;
        const T t = b[j];
        b[j] = b[p];
        b[p] = t;
    }
}

static void NAME(solve)(int trans, int64_t n, int64_t columns, const void *lu, int64_t lda, const int *pivots,
                        void *right, int64_t ldb)
{
    const T *a = lu;
    for (int64_t c = 0; c < columns; c++) {
        T *b = (T *)right + c * ldb;
        if (trans == 0) {
            NAME(exchange)(n, pivots, b, false);
            NAME(lower)(n, a, lda, b);
            NAME(upper)(n, a, lda, b);
        } else {
            NAME(upper_transposed)(n, a, lda, b, trans == 2);
            NAME(lower_transposed)(n, a, lda, b, trans == 2);
            NAME(exchange)(n, pivots, b, true);
        }
    }
}

/* The first zero of the diagonal, from 1; 0 if there is none. */
static int NAME(first_zero)(int64_t n, const T *a, int64_t lda)
{
    for (int64_t j = 0; j < n; j++)
        if (AT(j, j) == 0)
            return (int)j + 1;
    return 0;
}

/* Computes the inverse by columns of the identity; returns the first zero on the diagonal. */
static int NAME(invert)(int64_t n, const void *lu, int64_t lda, const int *pivots, void *inverse, int64_t ldc)
{
    const T *a = lu;
    for (int64_t c = 0; c < n; c++) {
        T *b = (T *)inverse + c * ldc;
        for (int64_t i = 0; i < n; i++)
            b[i] = i == c;
        NAME(solve)(0, n, 1, a, lda, pivots, b, ldc);
    }
    return NAME(first_zero)(n, a, lda);
}

/* A reflector that makes x[1..] zero (LAPACK's larfg): x[0] becomes what remains, x[1..] the rest
 * of the reflector; returns its factor. */
static T NAME(reflector)(int64_t n, T *x)
{
    double rest = 0;
    for (int64_t i = 1; i < n; i++)
        rest += (double)(REAL(x[i]) * REAL(x[i]) + IMAG(x[i]) * IMAG(x[i]));
    if (n < 1 || (rest == 0 && IMAG(x[0]) == 0))
        return 0;
    const R norm = (R)sqrt((double)(REAL(x[0]) * REAL(x[0]) + IMAG(x[0]) * IMAG(x[0])) + rest),
            beta = REAL(x[0]) >= 0 ? -norm : norm;
    const T tau = (beta - x[0]) / beta, scale = 1 / (x[0] - beta);
    for (int64_t i = 1; i < n; i++)
        x[i] *= scale;
    x[0] = beta;
    return tau;
}

/* Computes (I - factor * v * v^H) * c, where v[0] is 1. */
static void NAME(reflect)(int64_t n, const T *v, T factor, T *c)
{
    T sum = c[0];
    for (int64_t i = 1; i < n; i++)
        sum += CONJ(v[i]) * c[i];
    sum *= factor;
    c[0] -= sum;
    for (int64_t i = 1; i < n; i++)
        c[i] -= v[i] * sum;
}

/* LAPACK's geqrf: R above the diagonal, reflectors below it, H = I - tau * v * v^H. */
static void NAME(qr)(int64_t m, int64_t n, void *matrix, int64_t lda, void *taus)
{
    T *a = matrix, *tau = taus;
    for (int64_t j = 0; j < (m < n ? m : n); j++) {
        tau[j] = NAME(reflector)(m - j, &AT(j, j));
        for (int64_t k = j + 1; k < n; k++)
            NAME(reflect)(m - j, &AT(j, j), CONJ(tau[j]), &AT(j, k));
    }
}

/* Solves a * x = b by least squares, m >= n; the residuals are behind x in b. Returns a zero on R's
 * diagonal. `taus`: n elements. */
static int NAME(least_squares)(int64_t m, int64_t n, int64_t columns, void *matrix, int64_t lda, void *right,
                               int64_t ldb, void *taus)
{
    T *a = matrix, *tau = taus;
    NAME(qr)(m, n, a, lda, tau);
    for (int64_t c = 0; c < columns; c++) {
        T *b = (T *)right + c * ldb;
        for (int64_t j = 0; j < n; j++)
            NAME(reflect)(m - j, &AT(j, j), CONJ(tau[j]), b + j);
        NAME(upper)(n, a, lda, b);
    }
    return NAME(first_zero)(n, a, lda);
}

#undef AT
#undef T
#undef R
#undef NAME
#undef REAL
#undef IMAG
#undef CONJ
#undef SIZE
