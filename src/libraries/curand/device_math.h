/* cuda/heddle/random_math.h compiled for the host. Private to this folder. */
#ifndef HEDDLE_LIBRARIES_CURAND_DEVICE_MATH_H
#define HEDDLE_LIBRARIES_CURAND_DEVICE_MATH_H

#include "isa/sem.h"

#include <math.h>

/* Horner's rule: c[0] is the highest coefficient. */
static inline float device_horner_f32(float x, const float *c, int n)
{
    float y = c[0];
    for (int i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

static inline double device_horner(double x, const double *c, int n)
{
    double y = c[0];
    for (int i = 1; i < n; i++)
        y = fma(y, x, c[i]);
    return y;
}

#define RANDOM_HORNER_F32(x, ...)                                                                                      \
    device_horner_f32(x, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))
#define RANDOM_HORNER(x, ...)                                                                                          \
    device_horner(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

#define RANDOM_MATH             static inline
#define RANDOM_FMA_F32(a, b, c) fmaf(a, b, c)
#define RANDOM_FMA(a, b, c)     fma(a, b, c)
#define RANDOM_BITS_F32(x)      f32_bits(x)
#define RANDOM_F32_OF(bits)     f32_of(bits)
#define RANDOM_BITS_F64(x)      f64_bits(x)
#define RANDOM_F64_OF(bits)     f64_of(bits)
#define RANDOM_EX2(x)           mufu_ex2(x)
#define RANDOM_LG2(x)           mufu_lg2(x)
#define RANDOM_LG2_F32(x)       sem_lg2_approx_f32(x)
#define RANDOM_RSQRT(x)         mufu_rsqrt(x)
#define RANDOM_RCP_F64(x)       sem_rcp_approx_f64(x)
#define RANDOM_RSQRT_FTZ_F64(x) sem_rsqrt_approx_ftz_f64(x)
#define RANDOM_RSQRT_F64(x)     sem_rsqrt_approx_f64(x)
#include "cuda/heddle/random_math.h"

#endif
