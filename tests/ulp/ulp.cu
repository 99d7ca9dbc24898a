/* ulp: the greatest error of each device math function, in ulps from the correctly rounded result, beside the bound that CUDA
 * documents. Compiled by `heddle cc`, with MPFR (-lmpfr) for the right results.
 *
 * usage: ulp [SAMPLES]     prints the table of docs/MATH.md; exit status 1 where an error is above its bound
 */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <mpfr.h>

enum { BITS = 400 };

/* ---- the device's side: a kernel for each function and type ---- */

template <class T, T (*f)(T)> __global__ void apply1(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = f(x[i]);
}
template <class T, T (*f)(T, T)> __global__ void apply2(const T *x, const T *x2, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = f(x[i], x2[i]);
}
#define ULP(name, bound, boundf, least, greatest, kind)                                                                \
    __device__ double device_##name(double x) { return name(x); }                                                      \
    __device__ float devicef_##name(float x) { return name##f(x); }
#define ULP2(name, bound, boundf, arguments)                                                                           \
    __device__ double device_##name(double x, double y) { return name arguments; }                                     \
    __device__ float devicef_##name(float x, float y) { return name##f arguments; }
#include "functions.def"
#undef ULP
#undef ULP2

/* ---- references that MPFR lacks, to many more bits than are compared ---- */

struct number {
    mpfr_t v;
    explicit number(double d = 0) { mpfr_init2(v, BITS); mpfr_set_d(v, d, MPFR_RNDN); }
    number(const number &) = delete;
    ~number() { mpfr_clear(v); }
};
typedef void reference1(mpfr_t y, const mpfr_t x);
typedef void reference2(mpfr_t y, const mpfr_t a, const mpfr_t b);

#define N MPFR_RNDN
static void own_rsqrt(mpfr_t y, const mpfr_t x) { mpfr_rec_sqrt(y, x, N); }
static void own_rcbrt(mpfr_t y, const mpfr_t x) { mpfr_cbrt(y, x, N); mpfr_ui_div(y, 1, y, N); }
static void own_tgamma(mpfr_t y, const mpfr_t x) { mpfr_gamma(y, x, N); }
static void own_lgamma(mpfr_t y, const mpfr_t x) { int sign; mpfr_lgamma(y, &sign, x, N); }
static void own_erfcx(mpfr_t y, const mpfr_t x)
{
    number e;
    mpfr_sqr(e.v, x, N);
    mpfr_exp(e.v, e.v, N);
    mpfr_erfc(y, x, N);
    mpfr_mul(y, y, e.v, N);
}
/* y = f^-1(x) for f = erf or erfc, by Newton's iteration from a guess in double. */
static void inverse(mpfr_t y, const mpfr_t x, bool complement)
{
    number t, d, slope;
    const double c = mpfr_get_d(x, N), w = sqrt(-log(complement ? c < 1 ? c : 2 - c : 1 - fabs(c)));
    double guess = complement ? (c > 0.5 && c < 1.5 ? 0 : c < 1 ? w : -w) : fabs(c) < 0.5 ? c : copysign(w, c);
    if (complement ? c == 0 || c == 2 : fabs(c) == 1) {
        mpfr_set_inf(y, complement ? (c == 0 ? 1 : -1) : (c > 0 ? 1 : -1));
        return;
    }
    mpfr_set_d(y, guess, N);
    for (int i = 0; i < 60; i++) {
        (complement ? mpfr_erfc : mpfr_erf)(t.v, y, N);
        mpfr_sub(t.v, t.v, x, N); /* f(y) - x */
        mpfr_sqr(slope.v, y, N);
        mpfr_exp(slope.v, slope.v, N);
        mpfr_const_pi(d.v, N);
        mpfr_sqrt(d.v, d.v, N);
        mpfr_mul(d.v, d.v, slope.v, N);
        mpfr_mul(d.v, d.v, t.v, N);
        mpfr_div_ui(d.v, d.v, 2, N); /* the step, up to its sign, and Halley's correction of it */
        if (!complement)
            mpfr_neg(d.v, d.v, N);
        mpfr_mul(t.v, y, d.v, N);
        mpfr_ui_sub(t.v, 1, t.v, N);
        mpfr_div(d.v, d.v, t.v, N);
        mpfr_add(y, y, d.v, N);
        if (mpfr_zero_p(d.v) || (!mpfr_zero_p(y) && mpfr_get_exp(d.v) < mpfr_get_exp(y) - 200))
            break;
    }
}
static void own_erfinv(mpfr_t y, const mpfr_t x) { inverse(y, x, false); }
static void own_erfcinv(mpfr_t y, const mpfr_t x) { inverse(y, x, true); }
static void own_normcdf(mpfr_t y, const mpfr_t x)
{
    number t;
    mpfr_sqrt_ui(t.v, 2, N);
    mpfr_div(t.v, x, t.v, N);
    mpfr_neg(t.v, t.v, N);
    mpfr_erfc(y, t.v, N);
    mpfr_div_ui(y, y, 2, N);
}
static void own_normcdfinv(mpfr_t y, const mpfr_t x)
{
    number t;
    mpfr_mul_ui(t.v, x, 2, N);
    inverse(y, t.v, true);
    mpfr_sqrt_ui(t.v, 2, N);
    mpfr_mul(y, y, t.v, N);
    mpfr_neg(y, y, N);
}
/* I_n(x): sum of (x/2)^(2k+n) / (k! (k+n)!) */
static void modified_bessel(mpfr_t y, const mpfr_t x, unsigned n)
{
    number h, square, term;
    mpfr_div_ui(h.v, x, 2, N);
    mpfr_sqr(square.v, h.v, N);
    mpfr_set_ui(term.v, 1, N);
    if (n)
        mpfr_set(term.v, h.v, N);
    mpfr_set(y, term.v, N);
    for (unsigned k = 1; k < 100000 && !mpfr_zero_p(term.v); k++) {
        mpfr_mul(term.v, term.v, square.v, N);
        mpfr_div_ui(term.v, term.v, k, N);
        mpfr_div_ui(term.v, term.v, k + n, N);
        mpfr_add(y, y, term.v, N);
        if (mpfr_get_exp(term.v) < mpfr_get_exp(y) - 200)
            break;
    }
}
static void own_cyl_bessel_i0(mpfr_t y, const mpfr_t x) { modified_bessel(y, x, 0); }
static void own_cyl_bessel_i1(mpfr_t y, const mpfr_t x) { modified_bessel(y, x, 1); }
static void own_rhypot(mpfr_t y, const mpfr_t a, const mpfr_t b) { mpfr_hypot(y, a, b, N); mpfr_ui_div(y, 1, y, N); }
static void own_norm3d(mpfr_t y, const mpfr_t a, const mpfr_t b) { mpfr_hypot(y, a, b, N); mpfr_hypot(y, y, b, N); }
static void own_rnorm3d(mpfr_t y, const mpfr_t a, const mpfr_t b) { own_norm3d(y, a, b); mpfr_ui_div(y, 1, y, N); }
static void own_norm4d(mpfr_t y, const mpfr_t a, const mpfr_t b) { own_norm3d(y, a, b); mpfr_hypot(y, y, a, N); }
static void own_rnorm4d(mpfr_t y, const mpfr_t a, const mpfr_t b) { own_norm4d(y, a, b); mpfr_ui_div(y, 1, y, N); }
#define own_hypot(y, a, b)     mpfr_hypot(y, a, b, N)
#define own_atan2(y, a, b)     mpfr_atan2(y, a, b, N)
#define own_pow(y, a, b)       mpfr_pow(y, a, b, N)
#define own_fmod(y, a, b)      mpfr_fmod(y, a, b, N)
#define own_remainder(y, a, b) mpfr_remainder(y, a, b, N)

#define REFERENCE_MPFR(name) [](mpfr_t y, const mpfr_t x) { mpfr_##name(y, x, N); }
#define REFERENCE_OWN(name)  own_##name

/* ---- errors ---- */

template <class T> struct format;
template <> struct format<double> {
    typedef uint64_t bits;
    static constexpr int precision = 53, least = -1073, greatest = 1024;
};
template <> struct format<float> {
    typedef uint32_t bits;
    static constexpr int precision = 24, least = -148, greatest = 128;
};

/* The exact value, rounded once to T, subnormal or infinite where it has to be. */
template <class T> static T rounded(const mpfr_t exact)
{
    mpfr_t t;
    mpfr_init2(t, format<T>::precision);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    int inexact = mpfr_set(t, exact, N);
    mpfr_set_emin(format<T>::least);
    mpfr_set_emax(format<T>::greatest);
    inexact = mpfr_check_range(t, inexact, N);
    mpfr_subnormalize(t, inexact, N);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    T result = (T)mpfr_get_d(t, N);
    mpfr_clear(t);
    return result;
}

/* Numbers of T count upwards by their bits. */
template <class T> static int64_t place(T x)
{
    typename format<T>::bits b;
    memcpy(&b, &x, sizeof b);
    const auto sign = (typename format<T>::bits)1 << (8 * sizeof b - 1);
    return b & sign ? -(int64_t)(b - sign) : (int64_t)b;
}
template <class T> static uint64_t distance(T a, T b)
{
    if (a != a || b != b)
        return a != a && b != b ? 0 : UINT64_MAX;
    const int64_t p = place(a), q = place(b);
    return p > q ? (uint64_t)p - (uint64_t)q : (uint64_t)q - (uint64_t)p;
}

static uint64_t state = 1;
static uint64_t random_bits()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 32 ^ state << 29) * 0x9e3779b97f4a7c15u;
}

/* A number between: by turns even, of any magnitude, or near an end. */
template <class T> static T argument(double least, double greatest, int i)
{
    const double huge = sizeof(T) == 8 ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
    const double a = least < -huge ? -huge : least, b = greatest > huge ? huge : greatest;
    const double u = (double)(random_bits() >> 11) * 0x1p-53;
    for (;;) {
        double x;
        switch (i % 4) {
        case 0: x = a / 2 + (b / 2 - a / 2) * u, x *= 2, x = x < a ? a : x > b ? b : x; break;
        case 1: {
            typename format<T>::bits bits = (typename format<T>::bits)random_bits();
            T t;
            memcpy(&t, &bits, sizeof t);
            x = t;
            break;
        }
        case 2: x = (u - 0.5) * 20; break;
        default: x = (random_bits() & 1 ? a : b) * (1 - ldexp(u, -(int)(random_bits() % 50)));
        }
        const T t = (T)x;
        if (t >= (T)a && t <= (T)b)
            return t;
        i++;
    }
}

struct worst {
    uint64_t ulps = 0;
    double x = 0, y = 0, got = 0, right = 0;
};

template <class T, class Launch, class Reference>
static worst measure(int n, int arguments, double least, double greatest, Launch launch, Reference reference)
{
    std::vector<T> x(n), x2(n), y(n);
    T *dx, *dx2, *dy;
    for (int i = 0; i < n; i++) {
        x[i] = argument<T>(least, greatest, i);
        x2[i] = argument<T>(least, greatest, i / 4);
    }
    cudaMalloc(&dx, n * sizeof(T));
    cudaMalloc(&dx2, n * sizeof(T));
    cudaMalloc(&dy, n * sizeof(T));
    cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(dx2, x2.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    launch(dx, dx2, dy);
    const cudaError_t error = cudaMemcpy(y.data(), dy, n * sizeof(T), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        fprintf(stderr, "ulp: %s\n", cudaGetErrorString(error));
        exit(1);
    }
    worst w;
    number exact, a, b;
    for (int i = 0; i < n; i++) {
        mpfr_set_d(a.v, x[i], N);
        mpfr_set_d(b.v, x2[i], N);
        reference(exact.v, a.v, b.v);
        const T right = rounded<T>(exact.v);
        const uint64_t d = distance(y[i], right);
        if (d > w.ulps)
            w = {d, (double)x[i], (double)x2[i], (double)y[i], (double)right};
    }
    cudaFree(dx);
    cudaFree(dx2);
    cudaFree(dy);
    (void)arguments;
    return w;
}

static int failures;
static void show(const char *name, const char *suffix, worst w, unsigned bound, int arguments)
{
    const bool bad = w.ulps > bound;
    printf("| `%s%s` | %llu | %u |\n", name, suffix, (unsigned long long)w.ulps, bound);
    if (!bad)
        return;
    failures++;
    fprintf(stderr, "ulp: %s%s(%a%s", name, suffix, w.x, arguments == 2 ? ", " : "");
    if (arguments == 2)
        fprintf(stderr, "%a", w.y);
    fprintf(stderr, ") is %a, not %a: %llu ulps, above %u\n", w.got, w.right, (unsigned long long)w.ulps, bound);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 20000, blocks = (n + 255) / 256;
    puts("| function | worst error, ulp | CUDA's bound |\n|---|---|---|");
#define ULP(name, bound, boundf, least, greatest, kind)                                                                \
    {                                                                                                                  \
        reference1 *f = REFERENCE_##kind(name);                                                                        \
        auto reference = [=](mpfr_t y, const mpfr_t a, const mpfr_t) { f(y, a); };                                     \
        show(#name, "", measure<double>(n, 1, least, greatest, [=](double *x, double *, double *y) {                   \
            apply1<double, device_##name><<<blocks, 256>>>(x, y, n); }, reference), bound, 1);                         \
        show(#name, "f", measure<float>(n, 1, least, greatest, [=](float *x, float *, float *y) {                      \
            apply1<float, devicef_##name><<<blocks, 256>>>(x, y, n); }, reference), boundf, 1);                        \
    }
#define ULP2(name, bound, boundf, arguments)                                                                           \
    {                                                                                                                  \
        auto reference = [=](mpfr_t y, const mpfr_t a, const mpfr_t b) { own_##name(y, a, b); };                       \
        show(#name, "", measure<double>(n, 2, -HUGE_VAL, HUGE_VAL, [=](double *x, double *x2, double *y) {             \
            apply2<double, device_##name><<<blocks, 256>>>(x, x2, y, n); }, reference), bound, 2);                     \
        show(#name, "f", measure<float>(n, 2, -HUGE_VAL, HUGE_VAL, [=](float *x, float *x2, float *y) {                \
            apply2<float, devicef_##name><<<blocks, 256>>>(x, x2, y, n); }, reference), boundf, 2);                    \
    }
#include "functions.def"
    return failures > 0;
}
