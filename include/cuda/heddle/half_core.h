/* Numbers of 16 bits, rounded and widened: what __half and __nv_bfloat16 share. A format is its
 * mantissa's bits and its exponent's (10 and 5, 7 and 8). The device converts between float and
 * half by cvt; all else is integer arithmetic, the same on host and device.
 */
#ifndef HEDDLE_HALF_CORE_H
#define HEDDLE_HALF_CORE_H

#include <cstring> /* as the original does: programs count on it */

#include "../cuda_runtime.h"

#define HEDDLE_BOTH static __host__ __device__ __forceinline__ HEDDLE_NODEBUG

enum heddle_rounding { HEDDLE_RN, HEDDLE_RZ, HEDDLE_RU, HEDDLE_RD };

/* x in the format, rounded once. Infinity is the first code behind all finite numbers. */
template <int mantissa, int exponent, unsigned infinity = ((1u << exponent) - 1) << mantissa>
HEDDLE_BOTH unsigned short heddle_narrow(double x, heddle_rounding mode)
{
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned sign = (unsigned)(bits >> 63) << 15;
    const int bias = (1 << (exponent - 1)) - 1, e = (int)(bits >> 52 & 2047) - 1023;
    if (x != x)
        return 0x7fff; /* as the hardware's NaN */
    if (e == 1024)
        return sign | infinity;
    if (x == 0)
        return sign;
    const int below = e < 1 - bias ? 1 - bias - e : 0; /* how far under the least normal number */
    const int shift = 52 - mantissa + (below < 60 - 52 + mantissa ? below : 60 - 52 + mantissa);
    const unsigned long long m = (bits & 0xfffffffffffff) | (e == -1023 ? 0 : 1ull << 52);
    const unsigned long long rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    unsigned kept = (unsigned)(m >> shift);
    bool up = false;
    if (mode == HEDDLE_RN)
        up = rest > half || (rest == half && (kept & 1));
    else if (mode != HEDDLE_RZ)
        up = rest != 0 && (mode == HEDDLE_RU) == (sign == 0);
    kept += up;
    const unsigned result = e < 1 - bias ? kept : ((unsigned)(e + bias - 1) << mantissa) + kept;
    if (result < infinity)
        return sign | result;
    const bool grows = mode == HEDDLE_RN || (mode != HEDDLE_RZ && (mode == HEDDLE_RU) == (sign == 0));
    return sign | (grows ? infinity : infinity - 1);
}

/* An integer as a double that rounds to the same number of 16 bits: what double has no room for
 * becomes its last bit. */
template <class T> HEDDLE_BOTH double heddle_sticky(T x)
{
    if (sizeof(T) < 8)
        return (double)x;
    const bool negative = x < 0;
    unsigned long long u = negative ? 0 - (unsigned long long)x : (unsigned long long)x;
    if (u >> 53)
        u = (u & ~4095ull) | (u & 4095 ? 2048 : 0);
    return negative ? -(double)u : (double)u;
}

/* x as an integer; out of range is the nearest that there is, and NaN is 0. */
template <class T> HEDDLE_BOTH T heddle_integer(float x, heddle_rounding mode)
{
    const bool is_signed = (T)-1 < 0;
    const int bits = 8 * sizeof(T) - is_signed;
    const double y = mode == HEDDLE_RN   ? __builtin_rint((double)x)
                     : mode == HEDDLE_RZ ? __builtin_trunc((double)x)
                     : mode == HEDDLE_RU ? __builtin_ceil((double)x)
                                         : __builtin_floor((double)x);
    const double end = 2.0 * (double)(1ull << (bits - 1));
    const T greatest = (T)(~0ull >> (64 - bits));
    if (x != x)
        return sizeof(T) == 8 ? (T)(1ull << 63) : 0; /* as the instructions do */
    return y >= end ? greatest : y < (is_signed ? -end : 0) ? (is_signed ? (T)(-greatest - 1) : 0) : (T)y;
}

#endif
