/* Level 1 for one type of elements: included by level1.c with T, its real type R, COMPLEX, and
 * NAME(function). Complex products are the plain formula, as on a GPU. A vector's first element
 * lies at its lowest address, or, with a negative increment, at its highest. */

#define FIRST(x, inc, n) ((inc) < 0 ? (x) - ((n) - 1) * (inc) : (x))

static void NAME(axpy)(int64_t n, const void *alpha, const void *xs, int64_t incx, void *ys, int64_t incy)
{
    const T a = *(const T *)alpha, *x = FIRST((const T *)xs, incx, n);
    T *y = FIRST((T *)ys, incy, n);
    if (a == 0)
        return;
    for (int64_t i = 0; i < n; i++)
        y[i * incy] = FMA(a, x[i * incx], y[i * incy]);
}

static void NAME(copy)(int64_t n, const void *xs, int64_t incx, void *ys, int64_t incy)
{
    const T *x = FIRST((const T *)xs, incx, n);
    T *y = FIRST((T *)ys, incy, n);
    for (int64_t i = 0; i < n; i++)
        y[i * incy] = x[i * incx];
}

static void NAME(swap)(int64_t n, void *xs, int64_t incx, void *ys, int64_t incy)
{
    T *x = FIRST((T *)xs, incx, n), *y = FIRST((T *)ys, incy, n);
    for (int64_t i = 0; i < n; i++) {
        const T t = x[i * incx];
        x[i * incx] = y[i * incy];
        y[i * incy] = t;
    }
}

static void NAME(scal)(int64_t n, const void *alpha, void *xs, int64_t incx)
{
    const T a = *(const T *)alpha;
    T *x = xs;
    for (int64_t i = 0; i < n; i++)
        x[i * incx] *= a;
}

/* Sums in parallel accumulators, which is faster and has smaller errors. The halves of a long
 * vector are summed separately, so that errors grow with the logarithm of its length, as with many
 * threads of a GPU. */
enum { NAME(BLOCK) = 4096 };

static T NAME(dot_of)(int64_t n, const T *x, int64_t incx, const T *y, int64_t incy, bool conjugate)
{
    T sums[8] = {0}, sum = 0;
    if (n > NAME(BLOCK)) {
        const int64_t half = n / 2;
        return NAME(dot_of)(half, x, incx, y, incy, conjugate) +
               NAME(dot_of)(n - half, x + half * incx, incx, y + half * incy, incy, conjugate);
    }
    for (int64_t i = 0; i < n; i++)
        sums[i % 8] += (conjugate ? CONJ(x[i * incx]) : x[i * incx]) * y[i * incy];
    for (int i = 0; i < 8; i++)
        sum += sums[i];
    return sum;
}

static void NAME(dot)(int64_t n, const void *xs, int64_t incx, const void *ys, int64_t incy, bool conjugate,
                      void *result)
{
    *(T *)result = NAME(dot_of)(n, FIRST((const T *)xs, incx, n), incx, FIRST((const T *)ys, incy, n), incy, conjugate);
}

/* Complex: |re| + |im|. */
static inline R NAME(size)(T x)
{
#if COMPLEX
    return ABS(REAL(x)) + ABS(IMAG(x));
#else
    return ABS(x);
#endif
}

static R NAME(asum_of)(int64_t n, const T *x, int64_t incx)
{
    R sums[8] = {0}, sum = 0;
    if (n > NAME(BLOCK))
        return NAME(asum_of)(n / 2, x, incx) + NAME(asum_of)(n - n / 2, x + n / 2 * incx, incx);
    for (int64_t i = 0; i < n; i++)
        sums[i % 8] += NAME(size)(x[i * incx]);
    for (int i = 0; i < 8; i++)
        sum += sums[i];
    return sum;
}

static void NAME(asum)(int64_t n, const void *xs, int64_t incx, void *result)
{
    *(R *)result = NAME(asum_of)(n, xs, incx);
}

/* Scaled if squares would leave the range. Subnormal parts count as 0; an infinity beside a NaN
 * gives infinity. */
static void NAME(nrm2)(int64_t n, const void *xs, int64_t incx, void *result)
{
    const T *x = xs;
    double sum = 0, most = 0;
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        const R parts[2] = {ABS(REAL(x[i * incx])), COMPLEX ? ABS(IMAG(x[i * incx])) : 0};
        for (int k = 0; k < 1 + COMPLEX; k++) {
            const double part = parts[k] < LEAST ? 0 : (double)parts[k];
            sum += part * part;
            most = fmax(most, part);
            nan |= part != part;
        }
    }
    if (isinf(most) || nan)
        *(R *)result = isinf(most) ? (R)most : (R)NAN;
    else if (!most || (sum > 0x1p-900 && !isinf(sum)))
        *(R *)result = (R)sqrt(sum);
    else {
        int exponent;
        frexp(most, &exponent);
        sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const double re = ldexp((double)REAL(x[i * incx]), -exponent),
                         im = ldexp((double)IMAG(x[i * incx]), -exponent);
            sum += re * re + im * im;
        }
        *(R *)result = (R)ldexp(sqrt(sum), exponent);
    }
}

/* The first of the largest, or smallest, elements, from 1. NaNs are skipped; if all are NaN,
 * returns the first. */
static int64_t NAME(iamax)(int64_t n, const void *xs, int64_t incx)
{
    const T *x = xs;
    int64_t best = 0;
    R most = -1;
    for (int64_t i = 0; i < n; i++) {
        const R size = NAME(size)(x[i * incx]);
        if (size > most)
            most = size, best = i;
    }
    return best + 1;
}

static int64_t NAME(iamin)(int64_t n, const void *xs, int64_t incx)
{
    const T *x = xs;
    int64_t best = 0;
    R least = (R)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const R size = NAME(size)(x[i * incx]);
        if (size < least)
            least = size, best = i;
    }
    return best + 1;
}

static void NAME(rot)(int64_t n, void *xs, int64_t incx, void *ys, int64_t incy, const void *cosine, const void *sine)
{
    T *x = FIRST((T *)xs, incx, n), *y = FIRST((T *)ys, incy, n);
    const R c = *(const R *)cosine;
    const T s = *(const T *)sine;
    for (int64_t i = 0; i < n; i++) {
        const T a = x[i * incx], b = y[i * incy];
        x[i * incx] = ROT(c, a, s * b);
        y[i * incy] = ROT(c, b, -(CONJ(s) * a));
    }
}

#if COMPLEX
static void NAME(rotg)(void *a_, const void *b_, void *c_, void *s_)
{
    T *a = a_, *s = s_;
    const T b = *(const T *)b_;
    R *c = c_;
    const double size_a = hypot((double)REAL(*a), (double)IMAG(*a)), size_b = hypot((double)REAL(b), (double)IMAG(b)),
                 r = hypot(size_a, size_b);
    if (size_a == 0) {
        *c = 0;
        *s = 1;
        *a = b;
        return;
    }
    const double _Complex unit = (double _Complex) * a / size_a;
    *c = (R)(size_a / r);
    *s = (T)(unit * conj((double _Complex)b) / r);
    *a = (T)(unit * r);
}
#else
static void NAME(rotg)(void *a_, void *b_, void *c_, void *s_)
{
    R *a = a_, *b = b_, *c = c_, *s = s_;
    const R larger = ABS(*a) > ABS(*b) ? *a : *b;
    if (*a == 0 && *b == 0) {
        *c = 1;
        *s = *a = *b = 0;
        return;
    }
    const R r = (R)copysign(hypot((double)*a, (double)*b), (double)larger);
    *c = *a / r;
    *s = *b / r;
    *b = ABS(*a) > ABS(*b) ? *s : *c != 0 ? 1 / *c : 1;
    *a = r;
}

/* "Modified Givens rotation": H by its flag; -2 is the identity. */
static void NAME(rotm)(int64_t n, void *xs, int64_t incx, void *ys, int64_t incy, const void *parameters)
{
    const R *p = parameters, flag = p[0];
    R *x = FIRST((R *)xs, incx, n), *y = FIRST((R *)ys, incy, n);
    if (flag == -2)
        return;
    const R h11 = flag == 0 ? 1 : p[1], h21 = flag == 1 ? -1 : p[2], h12 = flag == 1 ? 1 : p[3],
            h22 = flag == 0 ? 1 : p[4];
    for (int64_t i = 0; i < n; i++) {
        const R a = x[i * incx], b = y[i * incy];
        x[i * incx] = h11 * a + h12 * b;
        y[i * incy] = h21 * a + h22 * b;
    }
}

/* As in reference BLAS, with its rescaling by 4096. */
static void NAME(rotmg)(void *d1_, void *d2_, void *x1_, const void *y1_, void *parameters)
{
    R *d1 = d1_, *d2 = d2_, *x1 = x1_, *p = parameters, flag, h11 = 0, h21 = 0, h12 = 0, h22 = 0;
    const R y1 = *(const R *)y1_, gamma = 4096, most = gamma * gamma, least = 1 / most;
    const R p2 = *d2 * y1, p1 = *d1 * *x1, q2 = p2 * y1, q1 = p1 * *x1;
    if (*d1 < 0)
        flag = -1;
    else if (p2 == 0) {
        p[0] = -2;
        return;
    } else if (ABS(q1) > ABS(q2)) {
        h21 = -y1 / *x1;
        h12 = p2 / p1;
        const R u = 1 - h12 * h21;
        flag = u > 0 ? 0 : -1;
        if (u > 0) {
            *d1 /= u;
            *d2 /= u;
            *x1 *= u;
        }
    } else if (q2 < 0)
        flag = -1;
    else {
        flag = 1;
        h11 = p1 / p2;
        h22 = *x1 / y1;
        const R u = 1 + h11 * h22, t = *d2 / u;
        *d2 = *d1 / u;
        *d1 = t;
        *x1 = y1 * u;
    }
    if (flag == -1)
        h11 = h21 = h12 = h22 = *d1 = *d2 = *x1 = 0;
#define FULL_H()                                                                                                       \
    do {                                                                                                               \
        if (flag == 0)                                                                                                 \
            h11 = h22 = 1;                                                                                             \
        else if (flag == 1)                                                                                            \
            h21 = -1, h12 = 1;                                                                                         \
        flag = -1;                                                                                                     \
    } while (0)
    while (*d1 != 0 && (*d1 <= least || *d1 >= most)) {
        const bool small = *d1 <= least;
        FULL_H();
        *d1 = small ? *d1 * most : *d1 / most;
        *x1 = small ? *x1 / gamma : *x1 * gamma;
        h11 = small ? h11 / gamma : h11 * gamma;
        h12 = small ? h12 / gamma : h12 * gamma;
    }
    while (*d2 != 0 && (ABS(*d2) <= least || ABS(*d2) >= most)) {
        const bool small = ABS(*d2) <= least;
        FULL_H();
        *d2 = small ? *d2 * most : *d2 / most;
        h21 = small ? h21 / gamma : h21 * gamma;
        h22 = small ? h22 / gamma : h22 * gamma;
    }
#undef FULL_H
    p[0] = flag;
    if (flag != 0)
        p[1] = h11, p[4] = h22;
    if (flag != 1)
        p[2] = h21, p[3] = h12;
}
#endif

#undef FIRST
#undef T
#undef R
#undef COMPLEX
#undef NAME
#undef ABS
#undef REAL
#undef IMAG
#undef CONJ
#undef LEAST
#undef FMA
#undef ROT
