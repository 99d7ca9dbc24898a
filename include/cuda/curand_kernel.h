/* Random numbers in device code: cuRAND's device API ("Device API Overview") for XORWOW (Marsaglia, "Xorshift RNGs", with a
 * Weyl sequence) and Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3"). Seeds, subsequences
 * (2^67 apart) and offsets give the sequences that cuRAND gives; normal numbers come by Box and Muller.
 */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

/* Memory for states is the host's to allocate, which another compiler may have compiled: members are cuRAND's. `boxmuller_flag`, `_double`:
 * there is a second number of a pair of normal ones. */
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

/* ---- uniform in (0, 1], normal, log-normal, for both generators ---- */

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
    const float r = sqrtf(-2 * logf(heddle_uniform(x))), angle = __fmaf_rn((float)y, 0x1.921fb6p-30f, 0x1.921fb6p-31f);
    float s, c;
    sincosf(angle, &s, &c);
    return make_float2(r * s, r * c);
}
HEDDLE_RANDOM double2 heddle_box_muller_double(double u, double v)
{
    const double r = sqrt(-2 * log(u));
    double s, c;
    sincospi(2 * v, &s, &c);
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
        return expf(mean + stddev * curand_normal(s));                                                                 \
    }                                                                                                                  \
    HEDDLE_RANDOM double curand_log_normal_double(State *s, double mean, double stddev)                                \
    {                                                                                                                  \
        return exp(mean + stddev * curand_normal_double(s));                                                           \
    }
HEDDLE_DISTRIBUTIONS(curandStateXORWOW_t)
HEDDLE_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef HEDDLE_DISTRIBUTIONS

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

#undef HEDDLE_RANDOM

#endif

#endif
