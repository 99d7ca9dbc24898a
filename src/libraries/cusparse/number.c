/* See number.h. */
#include "libraries/cusparse/number.h"

#include <math.h>
#include <string.h>

/* The type of a number's parts. */
static cudaDataType part_of(cudaDataType type)
{
    switch (type) {
    case CUDA_C_16F: return CUDA_R_16F;
    case CUDA_C_16BF: return CUDA_R_16BF;
    case CUDA_C_32F: return CUDA_R_32F;
    case CUDA_C_64F: return CUDA_R_64F;
    default: return type;
    }
}

bool type_is_complex(cudaDataType type)
{
    return part_of(type) != type;
}

static size_t part_bytes(cudaDataType part)
{
    switch (part) {
    case CUDA_R_8I: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32I:
    case CUDA_R_32F: return 4;
    case CUDA_R_64F: return 8;
    default: return 0;
    }
}

size_t type_bytes(cudaDataType type)
{
    return part_bytes(part_of(type)) * (type_is_complex(type) ? 2 : 1);
}

static double part_at(cudaDataType part, const void *from, int64_t i)
{
    switch (part) {
    case CUDA_R_8I: return ((const int8_t *)from)[i];
    case CUDA_R_16F: return (double)((const _Float16 *)from)[i];
    case CUDA_R_16BF: {
        uint32_t bits = (uint32_t)((const uint16_t *)from)[i] << 16;
        float x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    case CUDA_R_32I: return ((const int32_t *)from)[i];
    case CUDA_R_32F: return ((const float *)from)[i];
    case CUDA_R_64F: return ((const double *)from)[i];
    default: return 0;
    }
}

static uint16_t bfloat_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Integers keep their low bits, as sums on a GPU do. */
static int32_t integer_of(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int32_t)(uint32_t)(int64_t)rint(x) : 0;
}

/* A GPU sums halves and bfloats as floats, and rounds again. */
static void part_set(cudaDataType part, void *to, int64_t i, double x)
{
    switch (part) {
    case CUDA_R_8I: ((int8_t *)to)[i] = (int8_t)integer_of(x); break;
    case CUDA_R_16F: ((_Float16 *)to)[i] = (_Float16)(float)x; break;
    case CUDA_R_16BF: ((uint16_t *)to)[i] = bfloat_of((float)x); break;
    case CUDA_R_32I: ((int32_t *)to)[i] = integer_of(x); break;
    case CUDA_R_32F: ((float *)to)[i] = (float)x; break;
    case CUDA_R_64F: ((double *)to)[i] = x; break;
    default: break;
    }
}

number number_at(cudaDataType type, const void *from, int64_t i)
{
    cudaDataType part = part_of(type);
    if (part == type)
        return (number){part_at(part, from, i), 0};
    return (number){part_at(part, from, 2 * i), part_at(part, from, 2 * i + 1)};
}

void number_set(cudaDataType type, void *to, int64_t i, number x)
{
    cudaDataType part = part_of(type);
    if (part == type) {
        part_set(part, to, i, x.re);
        return;
    }
    part_set(part, to, 2 * i, x.re);
    part_set(part, to, 2 * i + 1, x.im);
}

/* Smith's algorithm: divides by the larger part of the divisor, which avoids overflow of
 * representable results. */
number number_over(number a, number b)
{
    if (b.im == 0)
        return (number){a.re / b.re, a.im == 0 ? 0 : a.im / b.re};
    if (fabs(b.re) >= fabs(b.im)) {
        double r = b.im / b.re, d = b.re + b.im * r;
        return (number){(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    double r = b.re / b.im, d = b.re * r + b.im;
    return (number){(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
