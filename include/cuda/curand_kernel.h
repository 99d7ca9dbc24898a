/* Random numbers in device code: cuRAND's device API ("Device API Overview") for XORWOW (Marsaglia,
 * "Xorshift RNGs", with a Weyl sequence), Philox 4x32-10 (Salmon and others, "Parallel random
 * numbers: as easy as 1, 2, 3"), MRG32k3a, MTGP32 and Sobol's sequences. Seeds, subsequences (2^67
 * or 2^76 apart) and offsets give the sequences that cuRAND gives; normal numbers come by Box and
 * Muller, or by the inverse of their distribution.
 */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

/* Memory for states is the host's to allocate, which another compiler may have compiled: members
 * are cuRAND's. `boxmuller_flag`, `_double`: there is a second number of a pair of normal ones. */
struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE; /* words of the output that have been used */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

struct curandStateSobol32 {
    unsigned i, x, c, direction_vectors[32];
};
typedef struct curandStateSobol32 curandStateSobol32_t;

struct curandStateScrambledSobol32 {
    unsigned i, x, c, direction_vectors[32];
};
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;

struct curandStateSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
typedef struct curandStateSobol64 curandStateSobol64_t;

struct curandStateScrambledSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

/* What curandCreatePoissonDistribution() makes: a histogram in bins of one width, each of two
 * values. */
struct curandHistogramM2_st {
    const double *V, *host_V;
    const unsigned *K, *host_K;
};
struct curandDistributionM2Shift_st {
    struct curandHistogramM2_st *histogram, *host_histogram;
    unsigned shift, length;
};
struct curandDiscreteDistribution_st {
    struct curandDiscreteDistribution_st *self_host_ptr;
    struct curandDistributionM2Shift_st *M2, *host_M2;
    double stddev, mean;
    int method;
    unsigned host_gen;
};
typedef struct curandDiscreteDistribution_st *curandDiscreteDistribution_t;

#include "curand_mtgp32.h"

#ifdef __CUDA__ /* the host knows the states, the functions are the device's */

#include "heddle/xorwow_jumps.h"

#define HEDDLE_RANDOM static __device__ __inline__ __attribute__((nodebug))

/* ---- XORWOW ---- */

HEDDLE_RANDOM unsigned curand(curandStateXORWOW_t *s)
{
    const unsigned t = s->v[0] ^ (s->v[0] >> 2);
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = s->v[4];
    s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
    s->d += 362437;
    return s->v[4] + s->d;
}

/* The sum of those states, step by step, whose bit is in the polynomial. */
HEDDLE_RANDOM void heddle_xorwow_jump(curandStateXORWOW_t *s, const unsigned *polynomial)
{
    const unsigned d = s->d;
    unsigned sum[5] = {};
    for (int bit = 0; bit < 160; bit++) {
        if (polynomial[bit / 32] >> bit % 32 & 1)
            for (int i = 0; i < 5; i++)
                sum[i] ^= s->v[i];
        curand(s);
    }
    for (int i = 0; i < 5; i++)
        s->v[i] = sum[i];
    s->d = d;
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t *s)
{
    for (int i = 0; n >> i; i++)
        if (n >> i & 1)
            heddle_xorwow_jump(s, heddle_xorwow_offset[i]);
    s->d += 362437u * (unsigned)n;
}
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s)
{
    for (int i = 0; n >> i; i++)
        if (n >> i & 1)
            heddle_xorwow_jump(s, heddle_xorwow_sequence[i]);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateXORWOW_t *s)
{
    const unsigned a = 1099087573u * ((unsigned)seed ^ 0xaad26b49u),
                   b = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
    *s = {6615241u + b + a, {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a}, 0, 0, 0, 0};
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- Philox ---- */

HEDDLE_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long p = 0xd2511f53ull * c.x, q = 0xcd9e8d57ull * c.z;
        c = make_uint4((unsigned)(q >> 32) ^ c.y ^ k.x, (unsigned)q, (unsigned)(p >> 32) ^ c.w ^ k.y, (unsigned)p);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
HEDDLE_RANDOM void heddle_philox_add(curandStatePhilox4_32_10_t *s, unsigned long long low, unsigned long long high)
{
    const unsigned long long before = (unsigned long long)s->ctr.y << 32 | s->ctr.x, sum = before + low;
    high += ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + (sum < low);
    s->ctr = make_uint4((unsigned)sum, (unsigned)(sum >> 32), (unsigned)high, (unsigned)(high >> 32));
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s)
{
    const unsigned used = s->STATE + (unsigned)(n & 3);
    s->STATE = used & 3;
    heddle_philox_add(s, (n >> 2) + (used >> 2), 0);
}
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s)
{
    heddle_philox_add(s, 0, n);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStatePhilox4_32_10_t *s)
{
    *s = {};
    s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}
HEDDLE_RANDOM unsigned curand(curandStatePhilox4_32_10_t *s)
{
    const uint4 o = s->output;
    const unsigned result = s->STATE == 0 ? o.x : s->STATE == 1 ? o.y : s->STATE == 2 ? o.z : o.w;
    if (++s->STATE == 4) {
        s->STATE = 0;
        heddle_philox_add(s, 1, 0);
    }
    return result;
}
HEDDLE_RANDOM uint4 curand4(curandStatePhilox4_32_10_t *s)
{
    const unsigned x = curand(s), y = curand(s), z = curand(s);
    return make_uint4(x, y, z, curand(s));
}

/* ---- MRG32k3a (L'Ecuyer); subsequences are 2^76 apart, sequences 2^127 ---- */

#define HEDDLE_MRG_M1 4294967087ull
#define HEDDLE_MRG_M2 4294944443ull

/* The difference of the two recurrences, 1 to M1. */
HEDDLE_RANDOM unsigned heddle_mrg_next(curandStateMRG32k3a_t *s)
{
    const unsigned p = (1403580ull * s->s1[1] + 810728ull * (HEDDLE_MRG_M1 - s->s1[0])) % HEDDLE_MRG_M1,
                   q = (527612ull * s->s2[2] + 1370589ull * (HEDDLE_MRG_M2 - s->s2[0])) % HEDDLE_MRG_M2;
    s->s1[0] = s->s1[1];
    s->s1[1] = s->s1[2];
    s->s1[2] = p;
    s->s2[0] = s->s2[1];
    s->s2[1] = s->s2[2];
    s->s2[2] = q;
    return p > q ? p - q : p - q + (unsigned)HEDDLE_MRG_M1;
}
HEDDLE_RANDOM double curand_MRG32k3a(curandStateMRG32k3a_t *s)
{
    return heddle_mrg_next(s);
}
HEDDLE_RANDOM unsigned curand(curandStateMRG32k3a_t *s)
{
    return (unsigned)(heddle_mrg_next(s) * 0x1.000000d1006f5p0);
}
HEDDLE_RANDOM void heddle_mrg_square(unsigned a[3][3], unsigned long long m)
{
    unsigned b[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + 1ull * a[i][k] * a[k][j] % m) % m;
            b[i][j] = (unsigned)sum;
        }
    for (int i = 0; i < 9; i++)
        a[i / 3][i % 3] = b[i / 3][i % 3];
}
HEDDLE_RANDOM void heddle_mrg_apply(const unsigned a[3][3], unsigned v[3], unsigned long long m)
{
    unsigned w[3];
    for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; k++)
            sum = (sum + 1ull * a[i][k] * v[k] % m) % m;
        w[i] = (unsigned)sum;
    }
    for (int i = 0; i < 3; i++)
        v[i] = w[i];
}
/* n times 2^log steps. */
HEDDLE_RANDOM void heddle_mrg_skip(unsigned long long n, int log, curandStateMRG32k3a_t *s)
{
    unsigned a[3][3] = {{0, 1, 0}, {0, 0, 1}, {(unsigned)(HEDDLE_MRG_M1 - 810728), 1403580, 0}},
             b[3][3] = {{0, 1, 0}, {0, 0, 1}, {(unsigned)(HEDDLE_MRG_M2 - 1370589), 0, 527612}};
    for (int i = 0; i < log && n; i++) {
        heddle_mrg_square(a, HEDDLE_MRG_M1);
        heddle_mrg_square(b, HEDDLE_MRG_M2);
    }
    for (; n; n >>= 1) {
        if (n & 1) {
            heddle_mrg_apply(a, s->s1, HEDDLE_MRG_M1);
            heddle_mrg_apply(b, s->s2, HEDDLE_MRG_M2);
        }
        heddle_mrg_square(a, HEDDLE_MRG_M1);
        heddle_mrg_square(b, HEDDLE_MRG_M2);
    }
}
HEDDLE_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a_t *s)
{
    heddle_mrg_skip(n, 0, s);
}
HEDDLE_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *s)
{
    heddle_mrg_skip(n, 76, s);
}
HEDDLE_RANDOM void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *s)
{
    heddle_mrg_skip(n, 127, s);
}
HEDDLE_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateMRG32k3a_t *s)
{
    const unsigned long long a = (unsigned)seed ^ 0x55555555u, b = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
    *s = {};
    for (int i = 0; i < 3; i++) {
        s->s1[i] = seed ? (i == 1 ? b : a) * 12345 % HEDDLE_MRG_M1 : 12345;
        s->s2[i] = seed ? (i == 1 ? a : b) * 12345 % HEDDLE_MRG_M2 : 12345;
    }
    skipahead_subsequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- Sobol's sequences, of 32 and of 64 bits, and scrambled: numbers in the order of Gray's code
 * ---- */

#define HEDDLE_SOBOL(State, Word, bits, lowest)                                                                        \
    HEDDLE_RANDOM void heddle_sobol_start(const Word *vectors, Word constant, Word offset, State *s)                   \
    {                                                                                                                  \
        s->i = 0;                                                                                                      \
        s->c = s->x = constant;                                                                                        \
        for (int k = 0; k < bits; k++)                                                                                 \
            s->direction_vectors[k] = vectors[k];                                                                      \
        skipahead(offset, s);                                                                                          \
    }                                                                                                                  \
    HEDDLE_RANDOM Word curand(State *s)                                                                                \
    {                                                                                                                  \
        const Word x = s->x;                                                                                           \
        const int k = lowest(~s->i) - 1;                                                                               \
        s->x ^= s->direction_vectors[k < 0 ? bits - 1 : k];                                                            \
        s->i++;                                                                                                        \
        return x;                                                                                                      \
    }
#define HEDDLE_SOBOL_SKIP(State, Word, bits)                                                                           \
    template <class N> HEDDLE_RANDOM void skipahead(N n, State *s)                                                     \
    {                                                                                                                  \
        s->i += (Word)n;                                                                                               \
        s->x = s->c;                                                                                                   \
        for (int k = 0; k < bits; k++)                                                                                 \
            if ((s->i ^ s->i >> 1) >> k & 1)                                                                           \
                s->x ^= s->direction_vectors[k];                                                                       \
    }
HEDDLE_SOBOL_SKIP(curandStateSobol32_t, unsigned, 32)
HEDDLE_SOBOL_SKIP(curandStateScrambledSobol32_t, unsigned, 32)
HEDDLE_SOBOL_SKIP(curandStateSobol64_t, unsigned long long, 64)
HEDDLE_SOBOL_SKIP(curandStateScrambledSobol64_t, unsigned long long, 64)
HEDDLE_SOBOL(curandStateSobol32_t, unsigned, 32, __ffs)
HEDDLE_SOBOL(curandStateScrambledSobol32_t, unsigned, 32, __ffs)
HEDDLE_SOBOL(curandStateSobol64_t, unsigned long long, 64, __ffsll)
HEDDLE_SOBOL(curandStateScrambledSobol64_t, unsigned long long, 64, __ffsll)
#undef HEDDLE_SOBOL
#undef HEDDLE_SOBOL_SKIP

typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

HEDDLE_RANDOM void curand_init(curandDirectionVectors32_t vectors, unsigned offset, curandStateSobol32_t *s)
{
    heddle_sobol_start(vectors, 0, offset, s);
}
HEDDLE_RANDOM void curand_init(curandDirectionVectors32_t vectors, unsigned scramble, unsigned offset,
                               curandStateScrambledSobol32_t *s)
{
    heddle_sobol_start(vectors, scramble, offset, s);
}
HEDDLE_RANDOM void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset, curandStateSobol64_t *s)
{
    heddle_sobol_start(vectors, 0, offset, s);
}
HEDDLE_RANDOM void curand_init(curandDirectionVectors64_t vectors, unsigned long long scramble,
                               unsigned long long offset, curandStateScrambledSobol64_t *s)
{
    heddle_sobol_start(vectors, scramble, offset, s);
}

/* ---- MTGP32 ---- */

HEDDLE_RANDOM unsigned curand(curandStateMtgp32_t *s)
{
    const unsigned n = blockDim.x * blockDim.y * blockDim.z,
                   index = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return heddle_mtgp32(s, index, n);
}

/* ---- uniform in (0, 1], normal, log-normal ---- */

template <class Float> HEDDLE_RANDOM Float heddle_horner(Float, Float y)
{
    return y;
}
template <class Float, class... More> HEDDLE_RANDOM Float heddle_horner(Float x, Float y, Float c, More... more)
{
    if constexpr (sizeof(Float) == sizeof(float))
        return heddle_horner<Float>(x, __fmaf_rn(y, x, c), (Float)more...);
    else
        return heddle_horner<Float>(x, __fma_rn(y, x, c), (Float)more...);
}
#define HEDDLE_APPROXIMATE(name, Float, f, instruction)                                                                \
    HEDDLE_RANDOM Float name(Float x)                                                                                  \
    {                                                                                                                  \
        Float y;                                                                                                       \
        asm(instruction " %0, %1;" : "=" f(y) : f(x));                                                                 \
        return y;                                                                                                      \
    }
HEDDLE_APPROXIMATE(heddle_random_ex2, float, "f", "ex2.approx.ftz.f32")
HEDDLE_APPROXIMATE(heddle_random_lg2, float, "f", "lg2.approx.ftz.f32")
HEDDLE_APPROXIMATE(heddle_random_lg2_f32, float, "f", "lg2.approx.f32")
HEDDLE_APPROXIMATE(heddle_random_rsqrt, float, "f", "rsqrt.approx.ftz.f32")
HEDDLE_APPROXIMATE(heddle_random_rcp_f64, double, "d", "rcp.approx.ftz.f64")
HEDDLE_APPROXIMATE(heddle_random_rsqrt_ftz_f64, double, "d", "rsqrt.approx.ftz.f64")
HEDDLE_APPROXIMATE(heddle_random_rsqrt_f64, double, "d", "rsqrt.approx.f64")
#undef HEDDLE_APPROXIMATE
#define RANDOM_MATH               HEDDLE_RANDOM
#define RANDOM_HORNER_F32(x, ...) heddle_horner<float>(x, __VA_ARGS__)
#define RANDOM_HORNER(x, ...)     heddle_horner<double>(x, __VA_ARGS__)
#define RANDOM_FMA_F32(a, b, c)   __fmaf_rn(a, b, c)
#define RANDOM_FMA(a, b, c)       __fma_rn(a, b, c)
#define RANDOM_BITS_F32(x)        __float_as_uint(x)
#define RANDOM_F32_OF(bits)       __uint_as_float(bits)
#define RANDOM_BITS_F64(x)        ((unsigned long long)__double_as_longlong(x))
#define RANDOM_F64_OF(bits)       __longlong_as_double((long long)(bits))
#define RANDOM_EX2(x)             heddle_random_ex2(x)
#define RANDOM_LG2(x)             heddle_random_lg2(x)
#define RANDOM_LG2_F32(x)         heddle_random_lg2_f32(x)
#define RANDOM_RSQRT(x)           heddle_random_rsqrt(x)
#define RANDOM_RCP_F64(x)         heddle_random_rcp_f64(x)
#define RANDOM_RSQRT_FTZ_F64(x)   heddle_random_rsqrt_ftz_f64(x)
#define RANDOM_RSQRT_F64(x)       heddle_random_rsqrt_f64(x)
#include "heddle/random_math.h"
#undef RANDOM_MATH
#undef RANDOM_HORNER_F32
#undef RANDOM_HORNER
#undef RANDOM_FMA_F32
#undef RANDOM_FMA
#undef RANDOM_BITS_F32
#undef RANDOM_F32_OF
#undef RANDOM_BITS_F64
#undef RANDOM_F64_OF
#undef RANDOM_EX2
#undef RANDOM_LG2
#undef RANDOM_LG2_F32
#undef RANDOM_RSQRT
#undef RANDOM_RCP_F64
#undef RANDOM_RSQRT_FTZ_F64
#undef RANDOM_RSQRT_F64

HEDDLE_RANDOM float heddle_uniform(unsigned x)
{
    return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f);
}
HEDDLE_RANDOM double heddle_uniform_double(unsigned x, unsigned y)
{
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << (53 - 32);
    return __fma_rn((double)z, 0x1p-53, 0x1p-54);
}
/* Two normal numbers of two uniform ones. */
HEDDLE_RANDOM float2 heddle_box_muller(unsigned x, unsigned y)
{
    const float r = __fsqrt_rn(-2 * heddle_random_logf(heddle_uniform(x))),
                angle = __fmaf_rn((float)y, 0x1.921fb6p-30f, 0x1.921fb6p-31f);
    float s, c;
    __sincosf(angle, &s, &c);
    return make_float2(r * s, r * c);
}
HEDDLE_RANDOM double2 heddle_box_muller_double(double u, double v)
{
    const double r = __dsqrt_rn(-2 * heddle_random_log(u));
    double s, c;
    heddle_random_sincospi(2 * v, &s, &c);
    return make_double2(r * s, r * c);
}

/* 53 bits of two words; Philox takes one word for 32 bits, as cuRAND does. */
HEDDLE_RANDOM double curand_uniform_double(curandStateXORWOW_t *s)
{
    const unsigned x = curand(s);
    return heddle_uniform_double(x, curand(s));
}
HEDDLE_RANDOM double curand_uniform_double(curandStatePhilox4_32_10_t *s)
{
    return __fma_rn((double)curand(s), 0x1p-32, 0x1p-32);
}

#define HEDDLE_DISTRIBUTIONS(State)                                                                                    \
    HEDDLE_RANDOM float curand_uniform(State *s)                                                                       \
    {                                                                                                                  \
        return heddle_uniform(curand(s));                                                                              \
    }                                                                                                                  \
    HEDDLE_RANDOM float2 curand_normal2(State *s)                                                                      \
    {                                                                                                                  \
        const unsigned x = curand(s);                                                                                  \
        return heddle_box_muller(x, curand(s));                                                                        \
    }                                                                                                                  \
    HEDDLE_RANDOM float curand_normal(State *s)                                                                        \
    {                                                                                                                  \
        s->boxmuller_flag = !s->boxmuller_flag;                                                                        \
        if (!s->boxmuller_flag)                                                                                        \
            return s->boxmuller_extra;                                                                                 \
        const float2 pair = curand_normal2(s);                                                                         \
        s->boxmuller_extra = pair.y;                                                                                   \
        return pair.x;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_RANDOM double2 curand_normal2_double(State *s)                                                              \
    {                                                                                                                  \
        const unsigned x = curand(s), y = curand(s), z = curand(s);                                                    \
        return heddle_box_muller_double(heddle_uniform_double(x, y), heddle_uniform_double(z, curand(s)));             \
    }                                                                                                                  \
    HEDDLE_RANDOM double curand_normal_double(State *s)                                                                \
    {                                                                                                                  \
        s->boxmuller_flag_double = !s->boxmuller_flag_double;                                                          \
        if (!s->boxmuller_flag_double)                                                                                 \
            return s->boxmuller_extra_double;                                                                          \
        const double2 pair = curand_normal2_double(s);                                                                 \
        s->boxmuller_extra_double = pair.y;                                                                            \
        return pair.x;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_RANDOM float curand_log_normal(State *s, float mean, float stddev)                                          \
    {                                                                                                                  \
        return heddle_random_expf(__fmaf_rn(stddev, curand_normal(s), mean));                                          \
    }                                                                                                                  \
    HEDDLE_RANDOM double curand_log_normal_double(State *s, double mean, double stddev)                                \
    {                                                                                                                  \
        return heddle_random_exp(__fma_rn(stddev, curand_normal_double(s), mean));                                     \
    }
HEDDLE_DISTRIBUTIONS(curandStateXORWOW_t)
HEDDLE_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef HEDDLE_DISTRIBUTIONS

/* Of generators with pairs of normal numbers. */
template <class State> HEDDLE_RANDOM float2 curand_log_normal2(State *s, float mean, float stddev)
{
    const float2 x = curand_normal2(s);
    return make_float2(heddle_random_expf(__fmaf_rn(stddev, x.x, mean)),
                       heddle_random_expf(__fmaf_rn(stddev, x.y, mean)));
}
template <class State> HEDDLE_RANDOM double2 curand_log_normal2_double(State *s, double mean, double stddev)
{
    const double2 x = curand_normal2_double(s);
    return make_double2(heddle_random_exp(__fma_rn(stddev, x.x, mean)), heddle_random_exp(__fma_rn(stddev, x.y, mean)));
}

/* MRG32k3a has numbers of its modulus. */
HEDDLE_RANDOM double curand_uniform_double(curandStateMRG32k3a_t *s)
{
    return heddle_mrg_next(s) * 0x1.000000d10000bp-32;
}
HEDDLE_RANDOM float curand_uniform(curandStateMRG32k3a_t *s)
{
    return (float)curand_uniform_double(s);
}
HEDDLE_RANDOM float2 curand_normal2(curandStateMRG32k3a_t *s)
{
    const float r = __fsqrt_rn(-2 * heddle_random_logf(curand_uniform(s))), angle = curand_uniform(s) * 0x1.921fb6p2f;
    float sine, cosine;
    __sincosf(angle, &sine, &cosine);
    return make_float2(r * sine, r * cosine);
}
HEDDLE_RANDOM double2 curand_normal2_double(curandStateMRG32k3a_t *s)
{
    const double u = curand_uniform_double(s);
    return heddle_box_muller_double(u, curand_uniform_double(s));
}

/* Sobol's numbers and MTGP32's are made normal one by one, by the inverse of the distribution: of
 * the half that they are in. */
HEDDLE_RANDOM float heddle_inverse(unsigned x)
{
    const bool upper = x > 0x80000000u;
    const float z = heddle_random_erfcinvf(2 * heddle_uniform(upper ? ~x : x));
    return (upper ? 0x1.6a09e6p0f : -0x1.6a09e6p0f) * z;
}
HEDDLE_RANDOM double heddle_inverse_double(unsigned x)
{
    const bool upper = x > 0x80000000u;
    const double p = __fma_rn((double)(upper ? ~x : x), 0x1p-32, 0x1p-33), z = heddle_random_erfcinv(p + p);
    return (upper ? 0x1.6a09e667f3bcdp0 : -0x1.6a09e667f3bcdp0) * z;
}
HEDDLE_RANDOM double heddle_inverse_double(unsigned long long x)
{
    const bool upper = x > 1ull << 63;
    const double p = __fma_rn((double)((upper ? ~x : x) >> 11), 0x1p-53, 0x1p-54), z = heddle_random_erfcinv(p + p);
    return (upper ? 0x1.6a09e667f3bcdp0 : -0x1.6a09e667f3bcdp0) * z;
}
#define HEDDLE_DISTRIBUTIONS(State, upper)                                                                             \
    HEDDLE_RANDOM float curand_uniform(State *s)                                                                       \
    {                                                                                                                  \
        return heddle_uniform((unsigned)(curand(s) >> upper));                                                         \
    }                                                                                                                  \
    HEDDLE_RANDOM float curand_normal(State *s)                                                                        \
    {                                                                                                                  \
        return heddle_inverse((unsigned)(curand(s) >> upper));                                                         \
    }                                                                                                                  \
    HEDDLE_RANDOM double curand_normal_double(State *s)                                                                \
    {                                                                                                                  \
        return heddle_inverse_double(curand(s));                                                                       \
    }                                                                                                                  \
    HEDDLE_RANDOM float curand_log_normal(State *s, float mean, float stddev)                                          \
    {                                                                                                                  \
        return heddle_random_expf(__fmaf_rn(stddev, curand_normal(s), mean));                                          \
    }                                                                                                                  \
    HEDDLE_RANDOM double curand_log_normal_double(State *s, double mean, double stddev)                                \
    {                                                                                                                  \
        return heddle_random_exp(__fma_rn(stddev, curand_normal_double(s), mean));                                     \
    }
#define HEDDLE_UNIFORM_32(State)                                                                                       \
    HEDDLE_RANDOM double curand_uniform_double(State *s)                                                               \
    {                                                                                                                  \
        return __fma_rn((double)curand(s), 0x1p-32, 0x1p-32);                                                          \
    }
#define HEDDLE_UNIFORM_64(State)                                                                                       \
    HEDDLE_RANDOM double curand_uniform_double(State *s)                                                               \
    {                                                                                                                  \
        return __fma_rn((double)(curand(s) >> 11), 0x1p-53, 0x1p-54);                                                  \
    }
HEDDLE_UNIFORM_32(curandStateSobol32_t)
HEDDLE_UNIFORM_32(curandStateScrambledSobol32_t)
HEDDLE_UNIFORM_32(curandStateMtgp32_t)
HEDDLE_UNIFORM_64(curandStateSobol64_t)
HEDDLE_UNIFORM_64(curandStateScrambledSobol64_t)
HEDDLE_DISTRIBUTIONS(curandStateSobol32_t, 0)
HEDDLE_DISTRIBUTIONS(curandStateScrambledSobol32_t, 0)
HEDDLE_DISTRIBUTIONS(curandStateMtgp32_t, 0)
HEDDLE_DISTRIBUTIONS(curandStateSobol64_t, 32)
HEDDLE_DISTRIBUTIONS(curandStateScrambledSobol64_t, 32)
#undef HEDDLE_DISTRIBUTIONS
#undef HEDDLE_UNIFORM_32
#undef HEDDLE_UNIFORM_64

/* The pairs of MRG32k3a, one after the other. */
HEDDLE_RANDOM float curand_normal(curandStateMRG32k3a_t *s)
{
    s->boxmuller_flag = !s->boxmuller_flag;
    if (!s->boxmuller_flag)
        return s->boxmuller_extra;
    const float2 pair = curand_normal2(s);
    s->boxmuller_extra = pair.y;
    return pair.x;
}
HEDDLE_RANDOM double curand_normal_double(curandStateMRG32k3a_t *s)
{
    s->boxmuller_flag_double = !s->boxmuller_flag_double;
    if (!s->boxmuller_flag_double)
        return s->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(s);
    s->boxmuller_extra_double = pair.y;
    return pair.x;
}
HEDDLE_RANDOM float curand_log_normal(curandStateMRG32k3a_t *s, float mean, float stddev)
{
    return heddle_random_expf(__fmaf_rn(stddev, curand_normal(s), mean));
}
HEDDLE_RANDOM double curand_log_normal_double(curandStateMRG32k3a_t *s, double mean, double stddev)
{
    return heddle_random_exp(__fma_rn(stddev, curand_normal_double(s), mean));
}

/* ---- Poisson's numbers: products of uniform ones (Knuth), rounded normal ones, or one by the
 * inverse of the distribution ---- */

HEDDLE_RANDOM unsigned heddle_poisson_of(double u, double lambda)
{
    unsigned k = (unsigned)lambda;
    /* Of k; of less than k. */
    double p = exp(k * log(lambda) - lambda - lgamma(k + 1.0)), below = 0, q = p;
    for (unsigned i = k; i > 0 && q > 0x1p-100; i--)
        below += q *= i / lambda;
    for (; u <= below && k > 0; k--) {
        p *= k / lambda;
        below -= p;
    }
    for (; u > below + p && p > 0x1p-60; k++) {
        below += p;
        p *= lambda / (k + 1);
    }
    return k;
}
template <class State> HEDDLE_RANDOM unsigned heddle_poisson_of_normal(State *s, double deviation, double mean)
{
    return (unsigned)(deviation * curand_normal_double(s) + mean + 0.5);
}
template <class State> HEDDLE_RANDOM unsigned curand_poisson(State *s, double lambda)
{
    if (lambda > 4000)
        return heddle_poisson_of_normal(s, sqrt(lambda), lambda);
    if (lambda >= 64)
        return heddle_poisson_of(curand_uniform_double(s), lambda);
    const double least = exp(-lambda);
    unsigned k = 0;
    for (double p = curand_uniform(s); p > least; p *= curand_uniform(s))
        k++;
    return k;
}
/* A uniform number in the middle of what a word stands for. */
HEDDLE_RANDOM double heddle_middle(unsigned x)
{
    return __fma_rn((double)x, 0x1p-32, 0x1p-33);
}
HEDDLE_RANDOM double heddle_middle(unsigned long long x)
{
    return __fma_rn((double)(x >> 11), 0x1p-53, 0x1p-54);
}
/* One number of a quasirandom sequence gives one number, and threads that share a state draw
 * equally many. */
#define HEDDLE_POISSON(State)                                                                                          \
    HEDDLE_RANDOM unsigned curand_poisson(State *s, double lambda)                                                     \
    {                                                                                                                  \
        return lambda > 4000  ? heddle_poisson_of_normal(s, sqrt(lambda), lambda)                                      \
               : lambda >= 64 ? heddle_poisson_of(curand_uniform_double(s), lambda)                                    \
                              : heddle_poisson_of(heddle_middle(curand(s)), lambda);                                   \
    }
HEDDLE_POISSON(curandStateMtgp32_t)
HEDDLE_POISSON(curandStateSobol32_t)
HEDDLE_POISSON(curandStateScrambledSobol32_t)
HEDDLE_POISSON(curandStateSobol64_t)
HEDDLE_POISSON(curandStateScrambledSobol64_t)
#undef HEDDLE_POISSON

/* ---- distributions that the host has made ---- */

HEDDLE_RANDOM double heddle_discrete_uniform(curandStateMRG32k3a_t *s)
{
    return curand_uniform_double(s);
}
template <class State> HEDDLE_RANDOM double heddle_discrete_uniform(State *s)
{
    return heddle_middle(curand(s));
}
template <class State> HEDDLE_RANDOM unsigned curand_discrete(State *s, curandDiscreteDistribution_t d)
{
    const int by_histogram = 5; /* CURAND_M2 */
    if (d->method != by_histogram)
        return heddle_poisson_of_normal(s, d->stddev, d->mean);
    const struct curandDistributionM2Shift_st *m = d->M2;
    const double u = heddle_discrete_uniform(s);
    unsigned bin = (unsigned)(u * m->length);
    bin = bin < m->length ? bin : m->length - 1;
    return m->shift + (u < m->histogram->V[bin] ? bin : m->histogram->K[bin]);
}

/* ---- four numbers of Philox at a time ---- */

HEDDLE_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    return make_float4(heddle_uniform(x.x), heddle_uniform(x.y), heddle_uniform(x.z), heddle_uniform(x.w));
}
HEDDLE_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    const float2 a = heddle_box_muller(x.x, x.y), b = heddle_box_muller(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10_t *s, float mean, float stddev)
{
    const float4 x = curand_normal4(s);
    return make_float4(
        heddle_random_expf(__fmaf_rn(stddev, x.x, mean)), heddle_random_expf(__fmaf_rn(stddev, x.y, mean)),
        heddle_random_expf(__fmaf_rn(stddev, x.z, mean)), heddle_random_expf(__fmaf_rn(stddev, x.w, mean)));
}
HEDDLE_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    return make_double2(heddle_uniform_double(x.x, x.y), heddle_uniform_double(x.z, x.w));
}
HEDDLE_RANDOM double4 curand_uniform4_double(curandStatePhilox4_32_10_t *s)
{
    const double2 a = curand_uniform2_double(s), b = curand_uniform2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM double4 curand_normal4_double(curandStatePhilox4_32_10_t *s)
{
    const double4 u = curand_uniform4_double(s);
    const double2 a = heddle_box_muller_double(u.x, u.y), b = heddle_box_muller_double(u.z, u.w);
    return make_double4(a.x, a.y, b.x, b.y);
}
HEDDLE_RANDOM double4 curand_log_normal4_double(curandStatePhilox4_32_10_t *s, double mean, double stddev)
{
    const double4 x = curand_normal4_double(s);
    return make_double4(heddle_random_exp(__fma_rn(stddev, x.x, mean)), heddle_random_exp(__fma_rn(stddev, x.y, mean)),
                        heddle_random_exp(__fma_rn(stddev, x.z, mean)), heddle_random_exp(__fma_rn(stddev, x.w, mean)));
}
HEDDLE_RANDOM uint4 curand_discrete4(curandStatePhilox4_32_10_t *s, curandDiscreteDistribution_t d)
{
    const unsigned x = curand_discrete(s, d), y = curand_discrete(s, d), z = curand_discrete(s, d);
    return make_uint4(x, y, z, curand_discrete(s, d));
}
HEDDLE_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10_t *s, double lambda)
{
    const unsigned x = curand_poisson(s, lambda), y = curand_poisson(s, lambda), z = curand_poisson(s, lambda);
    return make_uint4(x, y, z, curand_poisson(s, lambda));
}

#undef HEDDLE_RANDOM

#endif

#endif
