/* Floats of 8, 6 and 4 bits. What each code means is written out from the specification (OCP 8-bit floating point, OCP
 * Microscaling); a number becomes the code next to it, of two equally near ones the even one.
 */
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cmath>

#include "tap.h"

/* The meaning of a code; 2^8 is the bias's place. */
static double meaning(unsigned code, int mantissa, int exponent, int greatest)
{
    const int bias = (1 << (exponent - 1)) - 1, e = code >> mantissa & ((1 << exponent) - 1);
    const double m = code & ((1 << mantissa) - 1), unit = 1 << mantissa;
    const double value = e ? ldexp(1 + m / unit, e - bias) : ldexp(m / unit, 1 - bias);
    const int magnitude = code & ((1 << (mantissa + exponent)) - 1);
    const double finite = magnitude <= greatest ? value : mantissa == 2 && magnitude == greatest + 1 ? INFINITY : NAN;
    return code >> (mantissa + exponent) ? -finite : finite;
}

/* The code next to x, which has no sign; beyond the greatest, that one. */
static unsigned nearest(double x, int mantissa, int exponent, int greatest)
{
    unsigned best = 0;
    for (int code = 0; code <= greatest; code++) {
        const double now = fabs(meaning(code, mantissa, exponent, greatest) - x);
        const double before = fabs(meaning(best, mantissa, exponent, greatest) - x);
        if (now < before || (now == before && code % 2 == 0))
            best = code;
    }
    return best;
}

template <class T> __global__ void convert(const float *x, const double *d, T *from_float, T *from_double, float *back)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    from_float[i] = T(x[i]);
    from_double[i] = T(d[i]);
    T code;
    code.__x = i;
    back[i] = (float)code;
}

static bool same(double a, double b)
{
    return a == b || (a != a && b != b);
}

template <class T> static void check(const char *name, int mantissa, int exponent, int greatest)
{
    const int n = 4096, codes = 2 << (mantissa + exponent);
    float *x = shared_memory<float>(n), *back = shared_memory<float>(n);
    double *d = shared_memory<double>(n);
    T *f = shared_memory<T>(n), *g = shared_memory<T>(n);
    const double most = meaning(greatest, mantissa, exponent, greatest);
    for (int i = 0; i < n; i++) {
        /* numbers, what lies just between two, and a little off that */
        const double a = meaning(i / 4 % greatest, mantissa, exponent, greatest);
        const double b = meaning(i / 4 % greatest + 1, mantissa, exponent, greatest);
        d[i] = i % 4 == 0 ? a : (a + b) / 2 * (1 + (i % 4 - 2) * 1e-15);
        d[i] *= i < n / 2 ? 1 : -1;
        x[i] = i % 5 ? (float)d[i] : (float)(most * i / 1000 + i * 1e-9);
    }
    convert<<<n / 256, 256>>>(x, d, f, g, back);
    CUDA(cudaDeviceSynchronize());
    bool rounded = true, widened = true, host = true;
    for (int i = 0; i < n; i++) {
        const unsigned from_float =
            nearest(fabs(x[i]), mantissa, exponent, greatest) | (std::signbit(x[i]) ? codes / 2 : 0);
        const unsigned from_double =
            nearest(fabs(d[i]), mantissa, exponent, greatest) | (std::signbit(d[i]) ? codes / 2 : 0);
        rounded = rounded && f[i].__x == from_float && g[i].__x == from_double;
        host = host && T(x[i]).__x == from_float && T(d[i]).__x == from_double;
    }
    for (int i = 0; i < codes; i++)
        widened = widened && same(back[i], meaning(i, mantissa, exponent, greatest));
    CHECK(rounded, "%s: rounded on the device", name);
    CHECK(host, "%s: rounded on the host", name);
    CHECK(widened, "%s: widened", name);
    T big(1e30f), negative(-INFINITY), zero(-0.0f);
    CHECK(big.__x == greatest && negative.__x == greatest + codes / 2 && zero.__x == codes / 2, "%s: ends", name);
    CHECK((int)T(2.5f) == 2 && (unsigned char)T(-1.f) == 0 && (bool)T(1) && !(bool)zero && (float)T((short)-1) == -1,
          "%s: integers", name);
}

/* A double is converted by integer arithmetic: its NaN keeps the sign, and rounding towards zero never leaves the finite
 * numbers. A float goes through the instruction, whose NaN is positive. `minus` is -1. */
static __host__ __device__ unsigned special_codes(double minus, unsigned *codes)
{
    const double nan = copysign(NAN, minus), great = -1e300 * minus;
    unsigned n = 0;
    codes[n++] = __nv_cvt_double_to_fp8(nan, __NV_NOSAT, __NV_E4M3);
    codes[n++] = __nv_cvt_double_to_fp8(nan, __NV_SATFINITE, __NV_E5M2);
    codes[n++] = __nv_cvt_double2_to_fp8x2(double2{-minus, nan}, __NV_NOSAT, __NV_E4M3);
    codes[n++] = __nv_fp8_e5m2(nan).__x;
    codes[n++] = __nv_fp8x2_e4m3(double2{nan, 1}).__x;
    codes[n++] = __nv_fp8x4_e5m2(double4{1, nan, 2, nan}).__x;
    codes[n++] = __nv_fp8_e4m3((float)nan).__x;
    codes[n++] = __nv_fp8x2_e5m2(float2{(float)nan, 1}).__x;
    codes[n++] = __nv_fp8x4_e4m3(float4{1, (float)nan, 2, 1}).__x;
    codes[n++] = __nv_cvt_double_to_e8m0(great, __NV_NOSAT, cudaRoundZero);
    codes[n++] = __nv_cvt_double_to_e8m0(great, __NV_NOSAT, cudaRoundPosInf);
    codes[n++] = __nv_cvt_double_to_e8m0(great * 1e300, __NV_NOSAT, cudaRoundZero);
    codes[n++] = __nv_cvt_float_to_e8m0((float)great, __NV_NOSAT, cudaRoundZero);
    return n;
}
__global__ void special_codes_there(double minus, unsigned *codes)
{
    special_codes(minus, codes);
}
static bool special_codes_are_right(const unsigned *codes)
{
    const unsigned right[] = {0xff, 0xfe, 0xff38, 0xfe, 0x38ff, 0xfe40fe3c, 0x7f, 0x3c7f, 0x38407f38, 0xfe, 0xff, 0xff, 0xff};
    bool all = true;
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
        if (codes[i] != right[i])
            printf("# code %u is %x, not %x\n", i, codes[i], right[i]);
        all = all && codes[i] == right[i];
    }
    return all;
}

int main()
{
    check<__nv_fp8_e4m3>("e4m3", 3, 4, 0x7e);
    check<__nv_fp8_e5m2>("e5m2", 2, 5, 0x7b);
    check<__nv_fp6_e2m3>("e2m3", 3, 2, 0x1f);
    check<__nv_fp6_e3m2>("e3m2", 2, 3, 0x1f);
    check<__nv_fp4_e2m1>("e2m1", 1, 2, 7);

    CHECK(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) == 0x7f &&
              __nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2) == 0xfc,
          "without an end at the greatest number");
    CHECK((__nv_fp8_e4m3(NAN).__x & 0x7f) == 0x7f && __nv_fp6_e3m2(NAN).__x == 0x1f && __nv_fp4_e2m1(NAN).__x == 7,
          "NaN");
    CHECK(__nv_cvt_float_to_fp6(27.9f, __NV_E3M2, cudaRoundZero) == 0x1e, "rounding towards zero");

    const __nv_fp8x4_e4m3 four(float4{1, -2, 0.5f, 448});
    const float4 f = (float4)four;
    CHECK(four.__x == 0x7e30c038 && f.x == 1 && f.y == -2 && f.z == 0.5f && f.w == 448, "four of 8 bits");
    const __nv_fp4x2_e2m1 two(float2{6, -1});
    CHECK(two.__x == 0xa7 && ((float2)two).y == -1 && __nv_fp4x4_e2m1(float4{6, -1, 0, 0.5f}).__x == 0x10a7,
          "pairs of 4 bits");
    const __half2 halves(__nv_cvt_fp8x2_to_halfraw2(0x3cc0, __NV_E5M2));
    CHECK((float)halves.x == -2 && (float)halves.y == 1, "halves");

    CHECK(__nv_cvt_float_to_e8m0(5, __NV_SATFINITE, cudaRoundZero) == 129 &&
              __nv_cvt_float_to_e8m0(5, __NV_SATFINITE, cudaRoundPosInf) == 130 &&
              __nv_cvt_float_to_e8m0(INFINITY, __NV_SATFINITE, cudaRoundZero) == 254 &&
              __nv_cvt_float_to_e8m0(INFINITY, __NV_NOSAT, cudaRoundZero) == 255 && __nv_fp8_e8m0(0.f).__x == 0,
          "e8m0: rounded");
    __nv_fp8_e8m0 scale;
    scale.__x = 0;
    CHECK((float)scale == 0x1p-127f && (float)__nv_fp8_e8m0(8.f) == 8, "e8m0: widened");

    unsigned *codes = shared_memory<unsigned>(16);
    special_codes_there<<<1, 1>>>(-1, codes);
    CUDA(cudaDeviceSynchronize());
    CHECK(special_codes_are_right(codes), "NaN and overflow of double, on the device");
    volatile double minus = -1;
    special_codes(minus, codes);
    CHECK(special_codes_are_right(codes), "NaN and overflow of double, on the host");
    return done();
}
