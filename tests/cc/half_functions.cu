/* Functions of half and bfloat16 numbers by all 65,536 inputs, conversions of NaNs, and the signs of zeros: equal to an H200's,
 * recorded from nvcc's build of the same functions. FUNCTION(name, hash of half's results, of bfloat16's).
 */
#include "tap.h"

#include <climits>
#include <cmath>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { INPUTS = 1 << 16 };

/* FNV-1a, by words */
static unsigned long long hash_of(const unsigned short *v)
{
    unsigned long long h = 0xcbf29ce484222325;
    for (int i = 0; i < INPUTS; i++)
        h = (h ^ v[i]) * 0x100000001b3;
    return h;
}

/* clang-format off */
#define FUNCTIONS                                                                                                      \
    FUNCTION(hsqrt, 0xc1142978bebbc136, 0xf05fbe90820b9eec) \
    FUNCTION(hrsqrt, 0xff1850733c6d97b9, 0x68d44c88667cd4ae) \
    FUNCTION(hrcp, 0x05bbfe5392695e15, 0xe289637d893f0ad1) \
    FUNCTION(hexp, 0x5e46f34870d9c24a, 0x12618ca55748dba1) \
    FUNCTION(hexp2, 0x86bcd1b16d971049, 0x6ca9b716a483a027) \
    FUNCTION(hexp10, 0x1bb7c81d0cb5bbb4, 0x38d8e0177eaa53bd) \
    FUNCTION(hlog, 0x2a6afd6a6e20c0f3, 0x20c985081f836025) \
    FUNCTION(hlog2, 0x0352547aa688dd43, 0x4cd47af3425a8755) \
    FUNCTION(hlog10, 0x6c2e53942cc8911e, 0x961428cc0e72c6d9) \
    FUNCTION(hsin, 0x56bff3176698a04d, 0x48d3b0e368735625) \
    FUNCTION(hcos, 0x433b7463889c78e9, 0x17994338c98ce34d) \
    FUNCTION(htanh, 0x2993c614ab7aafc9, 0xea230ac6925c6ab5) \
    FUNCTION(hceil, 0x26d6c5a1910f8725, 0x1f48cd0aaf6856a5) \
    FUNCTION(hfloor, 0xddd961e70f0e8f25, 0x93c0ba1477fb84a5) \
    FUNCTION(htrunc, 0x06f64b51eaaa4b25, 0xd5eac986331fa6a5) \
    FUNCTION(hrint, 0x4789b14c5f1d9325, 0x24c8e5a1a5a334a5) \
    FUNCTION(__habs, 0x6495b6feacb00f25, 0x9d60a7c614e5e0a5) \
    FUNCTION(__hneg, 0x0ef652c1d3be8f25, 0xeb752b0dc50460a5)
/* clang-format on */

template <class T> __device__ T of_bits(unsigned bits)
{
    const unsigned short x = (unsigned short)bits;
    T t;
    memcpy(&t, &x, sizeof t);
    return t;
}

#define FUNCTION(f, half, bfloat16)                                                                                    \
    template <class T> __global__ void all_of_##f(unsigned short *results)                                             \
    {                                                                                                                  \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        const T r = f(of_bits<T>(i));                                                                                  \
        memcpy(results + i, &r, sizeof r);                                                                             \
    }
FUNCTIONS
#undef FUNCTION

/* What a NaN becomes: the conversions to 64 bits have another integer than the rest. */
template <class T> __global__ void of_nan(const unsigned *nan, long long *r);
#define OF_NAN(T, name)                                                                                                \
    template <> __global__ void of_nan<T>(const unsigned *nan, long long *r)                                           \
    {                                                                                                                  \
        const T x = of_bits<T>(*nan);                                                                                  \
        r[0] = __##name##2char_rz(x) | __##name##2uchar_rz(x) | __##name##2short_rn(x) | __##name##2ushort_ru(x) |     \
               __##name##2int_rd(x) | (long long)__##name##2uint_rz(x);                                                \
        r[1] = __##name##2ll_rn(x) & __##name##2ll_rz(x) & __##name##2ll_ru(x) & __##name##2ll_rd(x);                  \
        r[2] = (long long)(__##name##2ull_rn(x) & __##name##2ull_rz(x) & __##name##2ull_ru(x) & __##name##2ull_rd(x)); \
    }
OF_NAN(__half, half)
OF_NAN(__nv_bfloat16, bfloat16)

__global__ void single(double nan, unsigned short *r, const float *zero)
{
    r[0] = __half_as_ushort(__double2half(nan));
    r[1] = __bfloat16_as_ushort(__double2bfloat16(nan));
    r[2] = __half_as_ushort(__hfma_relu(__float2half(*zero), __float2half(1), __float2half(*zero)));
    r[3] = __half_as_ushort(htanh_approx(__float2half(0.5f)));
    r[4] = __bfloat16_as_ushort(htanh_approx(__float2bfloat16(0.5f)));
    r[5] = __half_as_ushort(__low2half(h2tanh_approx(__float2half2_rn(-0.5f))));
}

/* A sum of +0 and -0 is +0, which none of these may return for -0. */
__global__ void of_zero(const float *zero, double *r)
{
    const double d = *zero;
    const float f = *zero;
    const double all[] = {atan(d),  expm1(d), erf(d),   tanh(d),  asin(d),  sinh(d),  asinh(d), atanh(d),
                          log1p(d), cbrt(d),  tan(d),   sin(d),   atan(f),  expm1(f), erf(f),   tanh(f),
                          asin(f),  sinh(f),  asinh(f), atanh(f), log1p(f), cbrt(f),  tan(f),   sin(f)};
    for (int i = 0; i < 24; i++)
        r[i] = all[i];
    r[24] = normcdfinv(0.5 + d);
    r[25] = normcdfinvf(0.5f + f);
}

int main()
{
    unsigned short *results = shared_memory<unsigned short>(INPUTS);
#define FUNCTION(f, half, bfloat16)                                                                                    \
    all_of_##f<__half><<<INPUTS / 256, 256>>>(results);                                                                \
    CUDA(cudaDeviceSynchronize());                                                                                     \
    CHECK(hash_of(results) == half, #f " of half");                                                                    \
    all_of_##f<__nv_bfloat16><<<INPUTS / 256, 256>>>(results);                                                         \
    CUDA(cudaDeviceSynchronize());                                                                                     \
    CHECK(hash_of(results) == bfloat16, #f " of bfloat16");
    FUNCTIONS

    unsigned *nan = shared_memory<unsigned>(1);
    long long *r = shared_memory<long long>(6);
    *nan = 0xffc1;
    of_nan<__half><<<1, 1>>>(nan, r);
    of_nan<__nv_bfloat16><<<1, 1>>>(nan, r + 3);
    CUDA(cudaDeviceSynchronize());
    CHECK(r[0] == 0 && r[3] == 0, "a NaN becomes an integer of 32 bits, or of less");
    CHECK(r[1] == LLONG_MIN && r[2] == LLONG_MIN && r[4] == LLONG_MIN && r[5] == LLONG_MIN,
          "a NaN becomes an integer of 64 bits");

    float *zero = shared_memory<float>(1);
    double *zeros = shared_memory<double>(26), payload;
    const unsigned long long bits = 0xfff82468a0000000;
    memcpy(&payload, &bits, sizeof payload);
    *zero = -0.0f;
    single<<<1, 1>>>(payload, results, zero);
    of_zero<<<1, 1>>>(zero, zeros);
    CUDA(cudaDeviceSynchronize());
    CHECK(results[0] == 0xfe09 && results[1] == 0xffc1, "a NaN of double keeps what it has");
    CHECK(results[2] == 0, "relu has no -0");
    CHECK(results[3] == 0x3764 && results[4] == 0x3eec && results[5] == 0xb764, "approximate tanh");
    int kept = 0;
    for (int i = 0; i < 24; i++)
        kept += zeros[i] == 0 && std::signbit(zeros[i]);
    CHECK(kept == 24, "functions keep the sign of -0: %d of 24", kept);
    CHECK(zeros[24] == 0 && !std::signbit(zeros[24]) && zeros[25] == 0 && !std::signbit(zeros[25]),
          "normcdfinv(0.5) is +0");
    return done();
}
