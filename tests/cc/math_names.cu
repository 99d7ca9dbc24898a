/* Every function of the CUDA Math API by all of its names and overloads: the type and the value of each call stand in
 * math_names.txt, as nvcc gives them. With WHERE = __device__ in a kernel, with WHERE = __host__ on the host. pow(float, int) is
 * left out: its type is double in nvcc and float in clang's headers.
 */
#include <cmath>
#include <cstdio>

#define NAME_OF(T)                                                                                                     \
    WHERE inline const char *type_of(T)                                                                                \
    {                                                                                                                  \
        return #T;                                                                                                     \
    }
NAME_OF(float)
NAME_OF(double)
NAME_OF(int)
NAME_OF(unsigned)
NAME_OF(long)
NAME_OF(unsigned long)
NAME_OF(long long)
NAME_OF(unsigned long long)

/* isnan and its kind give bool or int. */
#define TEST(call) printf("%s = %d\n", #call, (call) ? 1 : 0);
#define SHOW(call) printf("%s -> %s %.6g\n", #call, type_of(call), (double)(call));
#define ONE(name)  SHOW(name(x)) SHOW(name##f(f)) SHOW(name(f))
#define C_ONE(name) ONE(name) SHOW(name(i))
#define TWO(name)  SHOW(name(x, 1.5)) SHOW(name##f(f, 1.5f)) SHOW(name(f, 1.5f)) SHOW(name(f, 1.5)) SHOW(name(x, i))
#define LEAST(least, most, a, b) SHOW(least(a, b)) SHOW(most(a, b))

/* nvcc has these on the device alone. */
#define TWO_HERE(name) SHOW(name(x, 1.5)) SHOW(name##f(f, 1.5f))
#define FOR_DEVICES                                                                                                    \
    ONE(cyl_bessel_i0) ONE(cyl_bessel_i1) TWO_HERE(rhypot) TWO_HERE(fdivide) SHOW(norm3d(x, 2., 3.))                   \
    SHOW(norm3df(f, 2.f, 3.f)) SHOW(norm4d(x, 2., 3., 4.)) SHOW(norm4df(f, 2.f, 3.f, 4.f)) SHOW(rnorm3d(x, 2., 3.))    \
    SHOW(rnorm3df(f, 2.f, 3.f)) SHOW(rnorm4d(x, 2., 3., 4.)) SHOW(rnorm4df(f, 2.f, 3.f, 4.f))                          \
    double v[] = {x, 2, 3};                                                                                            \
    float w[] = {f, 2, 3};                                                                                             \
    SHOW(norm(3, v)) SHOW(normf(3, w)) SHOW(rnorm(3, v)) SHOW(rnormf(3, w))

WHERE void all(double x, float f, int i, long l)
{
    C_ONE(acos) C_ONE(asin) C_ONE(asinh) C_ONE(atan) C_ONE(atanh) C_ONE(cbrt) C_ONE(ceil) C_ONE(cos) C_ONE(cosh)
    C_ONE(erf) C_ONE(erfc) C_ONE(exp) C_ONE(exp2) C_ONE(expm1) C_ONE(fabs) C_ONE(floor) C_ONE(lgamma) C_ONE(log)
    C_ONE(log10) C_ONE(log1p) C_ONE(log2) C_ONE(logb) C_ONE(nearbyint) C_ONE(rint) C_ONE(round) C_ONE(sin) C_ONE(sinh)
    C_ONE(sqrt) C_ONE(tan) C_ONE(tanh) C_ONE(tgamma) C_ONE(trunc)
    C_ONE(ilogb) C_ONE(lrint) C_ONE(lround) C_ONE(llrint) C_ONE(llround)
    SHOW(acosh(x + 1)) SHOW(acoshf(f + 1)) SHOW(acosh(f + 1))
    ONE(cospi) ONE(sinpi) ONE(erfcinv) ONE(erfcx) ONE(erfinv) ONE(exp10) ONE(j0) ONE(j1) ONE(y0) ONE(y1) ONE(normcdf)
    ONE(normcdfinv) ONE(rcbrt) ONE(rsqrt)
    TWO(atan2) TWO(copysign) TWO(fdim) TWO(fmax) TWO(fmin) TWO(fmod) TWO(hypot) TWO(nextafter) TWO(remainder)
    SHOW(pow(x, 1.5)) SHOW(powf(f, 1.5f)) SHOW(pow(f, 1.5f)) SHOW(pow(f, 1.5)) SHOW(pow(x, 2)) SHOW(pow(i + 2, 3))
    int n;
    double d, e;
    float g, h;
    SHOW(frexp(x + 40, &n) + n) SHOW(frexpf(f + 40, &n) + n) SHOW(frexp(f + 40, &n))
    SHOW(modf(x + 40, &d) + d) SHOW(modff(f + 40, &g) + g) SHOW(modf(f + 40, &g))
    SHOW(remquo(x + 40, 3., &n)) SHOW(remquof(f + 40, 3.f, &n)) SHOW(remquo(f + 40, 3.f, &n)) SHOW(n & 7)
    SHOW(jn(2, x)) SHOW(jnf(2, f)) SHOW(jn(2, f)) SHOW(yn(2, x)) SHOW(ynf(2, f)) SHOW(yn(2, f))
    SHOW(ldexp(x, 3)) SHOW(ldexpf(f, 3)) SHOW(ldexp(f, 3)) SHOW(scalbn(x, 3)) SHOW(scalbnf(f, 3)) SHOW(scalbn(f, 3))
    SHOW(scalbln(x, 3l)) SHOW(scalblnf(f, 3l)) SHOW(scalbln(f, 3l)) SHOW(fma(x, x, x)) SHOW(fmaf(f, f, f)) SHOW(fma(f, f, f))
    sincos(x, &d, &e);
    SHOW(d) SHOW(e)
    sincosf(f, &g, &h);
    SHOW(g) SHOW(h)
    sincos(f, &g, &h);
    SHOW(g) SHOW(h)
    sincospi(x, &d, &e);
    SHOW(d) SHOW(e)
    sincospif(f, &g, &h);
    SHOW(g) SHOW(h)
    sincospi(f, &g, &h);
    SHOW(g) SHOW(h)
    TEST(isnan(nan(""))) TEST(isnan(nanf("1"))) TEST(isnan(x)) TEST(isnan(f)) TEST(isinf(x)) TEST(isinf(1 / (f - f)))
    TEST(isfinite(x)) TEST(isfinite(f)) TEST(signbit(-x)) TEST(signbit(f)) TEST(std::isnan(f)) TEST(std::isinf(x))
    TEST(std::signbit(-f)) TEST(std::isfinite(x))
    SHOW(abs(i - 3)) SHOW(abs(l - 3)) SHOW(abs((long long)l - 3)) SHOW(abs(f - 3)) SHOW(abs(x - 3)) SHOW(labs(l - 3))
    SHOW(llabs((long long)l - 3)) SHOW(std::abs(f - 3)) SHOW(std::sqrt(f)) SHOW(std::pow(f, 2.f)) SHOW(std::sin(x))
    LEAST(min, max, i, 2) LEAST(min, max, (unsigned)i, 2u) LEAST(min, max, i, 2u) LEAST(min, max, l, 2l)
    LEAST(min, max, (unsigned long)l, 2l) LEAST(min, max, (long long)i, 2ll) LEAST(min, max, 2ull, (long long)i)
    LEAST(min, max, 2ull, 3ull) LEAST(min, max, f, 2.5f) LEAST(min, max, x, 2.5) LEAST(min, max, f, 2.5)
    LEAST(min, max, x, 2.5f) LEAST(min, max, nan(""), x) LEAST(min, max, f, nanf("")) LEAST(umin, umax, 1u, 2u)
    LEAST(llmin, llmax, -1ll, 2ll) LEAST(ullmin, ullmax, 1ull, 2ull)
#ifndef HOST_OF_NVCC
    FOR_DEVICES
#endif
}

#ifdef IN_A_KERNEL
__global__ void kernel(double x, float f, int i, long l)
{
    all(x, f, i, l);
}
int main()
{
    kernel<<<1, 1>>>(0.375, 0.375f, 1, 1);
    return cudaDeviceSynchronize();
}
#else
int main()
{
    all(0.375, 0.375f, 1, 1);
}
#endif
