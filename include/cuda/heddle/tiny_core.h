/* Numbers of 8 bits and less, rounded and widened: what the types of cuda_fp8.h, cuda_fp6.h and
 * cuda_fp4.h share. A format is its mantissa's bits, its exponent's, and `end`, the first code
 * behind all finite numbers: OCP's 8-bit specification (e5m2 has infinities and NaNs, e4m3 one NaN)
 * and its Microscaling specification (e3m2, e2m3 and e2m1 have neither).
 */
#ifndef HEDDLE_TINY_CORE_H
#define HEDDLE_TINY_CORE_H

#include <assert.h> /* as the original does: programs count on it */

#include "../cuda_fp16.h"
#include "../cuda_bf16.h"
#include "../device_types.h"

/* x in the format. NaN is 0x7f in 8 bits, and the greatest number where there is none. */
template <int mantissa, int exponent, unsigned end>
HEDDLE_BOTH unsigned char heddle_tiny_narrow(double x, bool is_finite, cudaRoundMode mode)
{
    const bool has_nan = mantissa + exponent == 7;
    const heddle_rounding modes[] = {HEDDLE_RN, HEDDLE_RZ, HEDDLE_RU, HEDDLE_RD};
    if (x != x)
        return has_nan ? 0x7f : end - 1;
    const unsigned short wide = heddle_narrow<mantissa, exponent, end>(x, modes[mode]);
    const unsigned code = wide & 0x7fff;
    return (code == end && is_finite ? end - 1 : code) | (wide >> 15 << (mantissa + exponent));
}

template <int mantissa, int exponent, unsigned end> HEDDLE_BOTH float heddle_tiny_widen(unsigned char x)
{
    const unsigned code = x & ((1u << (mantissa + exponent)) - 1), e = code >> mantissa;
    const unsigned m = (code & ((1u << mantissa) - 1)) + (e ? 1u << mantissa : 0);
    const int bias = (1 << (exponent - 1)) - 1;
    const float unit = __builtin_bit_cast(float, (127 - bias - mantissa + (e ? e : 1)) << 23);
    const float value = code < end                     ? (float)m * unit
                        : code == end && mantissa == 2 ? __builtin_inff()
                                                       : __builtin_nanf("");
    return x >> (mantissa + exponent) & 1 ? -value : value;
}

/* Of a pair or four, the one at `at`, where each has so many bits. */
HEDDLE_BOTH unsigned char heddle_tiny_at(unsigned packed, int at, int bits)
{
    return packed >> (at * bits) & ((1u << bits) - 1);
}

#endif
