/* DPX functions: CUDA C++ Programming Guide, "DPX", and CUDA Math API, "SIMD Intrinsics": minima
 * and maxima of two or three words or pairs of halfwords, of a sum, with 0 (relu), with a
 * predicate. On the host and on devices of all kinds. Sums wrap.
 */
#ifndef HEDDLE_DPX_H
#define HEDDLE_DPX_H

#include "define.h"

#define HEDDLE_DPX static __host__ __device__ __forceinline__ __attribute__((nodebug))

template <class T> HEDDLE_DPX constexpr T heddle_max(T x, T y)
{
    return x < y ? y : x;
}
template <class T> HEDDLE_DPX constexpr T heddle_min(T x, T y)
{
    return y < x ? y : x;
}

/* name(a, b, c) is an expression of type T, of words, or of both halfwords of a word. */
#define HEDDLE_DPX_WORD(name, type, expression)                                                                        \
    HEDDLE_DPX type name(type a, type b, type c)                                                                       \
    {                                                                                                                  \
        typedef type T;                                                                                                \
        return expression;                                                                                             \
    }
#define HEDDLE_DPX_HALVES(name, type, expression)                                                                      \
    HEDDLE_DPX unsigned name(unsigned x, unsigned y, unsigned z)                                                       \
    {                                                                                                                  \
        typedef type T;                                                                                                \
        unsigned result = 0;                                                                                           \
        for (int shift = 0; shift < 32; shift += 16) {                                                                 \
            const T a = (T)(x >> shift), b = (T)(y >> shift), c = (T)(z >> shift);                                     \
            result |= (unsigned)(unsigned short)(expression) << shift;                                                 \
        }                                                                                                              \
        return result;                                                                                                 \
    }
#define HEDDLE_DPX_SIGNED(name, suffix, expression)                                                                    \
    HEDDLE_DPX_WORD(name##_s32##suffix, int, expression)                                                               \
    HEDDLE_DPX_HALVES(name##_s16x2##suffix, short, expression)
#define HEDDLE_DPX_ALL(name, expression)                                                                               \
    HEDDLE_DPX_SIGNED(name, , expression)                                                                              \
    HEDDLE_DPX_WORD(name##_u32, unsigned, expression)                                                                  \
    HEDDLE_DPX_HALVES(name##_u16x2, unsigned short, expression)                                                        \
    HEDDLE_DPX_SIGNED(name, _relu, heddle_max<T>(expression, 0))
#define HEDDLE_DPX_SUM (T)((unsigned)a + (unsigned)b)

HEDDLE_DPX_ALL(__vimax3, heddle_max<T>(heddle_max(a, b), c))
HEDDLE_DPX_ALL(__vimin3, heddle_min<T>(heddle_min(a, b), c))
HEDDLE_DPX_ALL(__viaddmax, heddle_max<T>(HEDDLE_DPX_SUM, c))
HEDDLE_DPX_ALL(__viaddmin, heddle_min<T>(HEDDLE_DPX_SUM, c))

HEDDLE_DPX int __vimax_s32_relu(int a, int b)
{
    return __vimax3_s32(a, b, 0);
}
HEDDLE_DPX int __vimin_s32_relu(int a, int b)
{
    return heddle_max(heddle_min(a, b), 0);
}
HEDDLE_DPX unsigned __vimax_s16x2_relu(unsigned a, unsigned b)
{
    return __vimax3_s16x2(a, b, 0);
}
HEDDLE_DPX unsigned __vimin_s16x2_relu(unsigned a, unsigned b)
{
    return __vimin3_s16x2_relu(a, b, b);
}

/* With a predicate for each lane: whether the result is a, also where both are equal. */
#define HEDDLE_DPX_WHICH(name, type, half, word_name, half_name, test)                                                 \
    HEDDLE_DPX type name##word_name(type a, type b, bool *is_a)                                                        \
    {                                                                                                                  \
        *is_a = a test b;                                                                                              \
        return *is_a ? a : b;                                                                                          \
    }                                                                                                                  \
    HEDDLE_DPX unsigned name##half_name(unsigned a, unsigned b, bool *high_is_a, bool *low_is_a)                       \
    {                                                                                                                  \
        *high_is_a = (half)(a >> 16) test(half)(b >> 16);                                                              \
        *low_is_a = (half)a test(half) b;                                                                              \
        return ((*high_is_a ? a : b) & 0xffff0000u) | ((*low_is_a ? a : b) & 0xffffu);                                 \
    }
HEDDLE_DPX_WHICH(__vibmax, int, short, _s32, _s16x2, >=)
HEDDLE_DPX_WHICH(__vibmax, unsigned, unsigned short, _u32, _u16x2, >=)
HEDDLE_DPX_WHICH(__vibmin, int, short, _s32, _s16x2, <=)
HEDDLE_DPX_WHICH(__vibmin, unsigned, unsigned short, _u32, _u16x2, <=)

#undef HEDDLE_DPX_WHICH
#undef HEDDLE_DPX_SUM
#undef HEDDLE_DPX_ALL
#undef HEDDLE_DPX_SIGNED
#undef HEDDLE_DPX_HALVES
#undef HEDDLE_DPX_WORD
#undef HEDDLE_DPX

#endif
