/* All of a type of 16 bits and of the pair of two. Included once for each: with HEDDLE_HALF,
 * HEDDLE_HALF2 (the types), HEDDLE_RAW, HEDDLE_RAW2, HEDDLE_OTHER (such a type, too), HEDDLE_WORD
 * (its word in names like __float2half), HEDDLE_MANTISSA, HEDDLE_EXPONENT, and HEDDLE_WIDEN and
 * HEDDLE_NARROW, to and from float; HEDDLE_NO_CONVERSIONS, HEDDLE_NO_INTEGERS, HEDDLE_NO_OPERATORS
 * and HEDDLE_NO_OPERATORS2 leave C++'s ways out, so that nothing here uses them: HEDDLE_OF(bits),
 * HEDDLE_ROUNDED(float) and HEDDLE_WIDE(half) convert. Names and meanings: CUDA Math API, "Half
 * Precision Intrinsics" and "Bfloat16 Precision Intrinsics". Arithmetic is done in float and
 * rounded, which is exact for + - * / and sqrt: 24 bits are more than twice 11 and two.
 */
#define HEDDLE_JOIN3(a, b, c) a##b##c
#define HEDDLE_NAME(a, n, c)  HEDDLE_JOIN3(a, n, c)

struct HEDDLE_RAW {
    unsigned short x;
};
struct alignas(4) HEDDLE_RAW2 {
    unsigned short x, y;
};

struct alignas(2) HEDDLE_HALF {
    unsigned short __x;

    HEDDLE_HALF() = default;
    __host__ __device__ constexpr HEDDLE_HALF(const HEDDLE_RAW &raw) : __x(raw.x) {}
#ifndef HEDDLE_NO_CONVERSIONS
    explicit __host__ __device__ HEDDLE_HALF(HEDDLE_OTHER x); /* cuda_bf16.h */
    __host__ __device__ HEDDLE_HALF(float f) : __x(HEDDLE_NARROW(f)) {}
    __host__ __device__ HEDDLE_HALF(double d) : __x(heddle_narrow<HEDDLE_MANTISSA, HEDDLE_EXPONENT>(d, HEDDLE_RN)) {}
    __host__ __device__ operator float() const
    {
        return HEDDLE_WIDEN(__x);
    }
#ifndef HEDDLE_NO_INTEGERS
#define HEDDLE_FROM(T)                                                                                                 \
    __host__ __device__ HEDDLE_HALF(T i)                                                                               \
        : __x(heddle_narrow<HEDDLE_MANTISSA, HEDDLE_EXPONENT>(heddle_sticky(i), HEDDLE_RN))                            \
    {                                                                                                                  \
    }
    HEDDLE_FROM(short)
    HEDDLE_FROM(unsigned short)
    HEDDLE_FROM(int)
    HEDDLE_FROM(unsigned)
    HEDDLE_FROM(long)
    HEDDLE_FROM(unsigned long)
    HEDDLE_FROM(long long)
    HEDDLE_FROM(unsigned long long)
#undef HEDDLE_FROM
#define HEDDLE_TO(T)                                                                                                   \
    __host__ __device__ operator T() const                                                                             \
    {                                                                                                                  \
        return heddle_integer<T>(HEDDLE_WIDEN(__x), HEDDLE_RZ);                                                        \
    }
    HEDDLE_TO(char)
    HEDDLE_TO(signed char)
    HEDDLE_TO(unsigned char)
    HEDDLE_TO(short)
    HEDDLE_TO(unsigned short)
    HEDDLE_TO(int)
    HEDDLE_TO(unsigned)
    HEDDLE_TO(long)
    HEDDLE_TO(unsigned long)
    HEDDLE_TO(long long)
    HEDDLE_TO(unsigned long long)
#undef HEDDLE_TO
    __host__ __device__ constexpr operator bool() const
    {
        return (__x & 0x7fff) != 0;
    }
#endif
#endif
    __host__ __device__ operator HEDDLE_RAW() const
    {
        return {__x};
    }
    __host__ __device__ operator HEDDLE_RAW() const volatile
    {
        return {__x};
    }
    __host__ __device__ HEDDLE_HALF &operator=(const HEDDLE_RAW &raw)
    {
        __x = raw.x;
        return *this;
    }
    __host__ __device__ volatile HEDDLE_HALF &operator=(const HEDDLE_RAW &raw) volatile
    {
        __x = raw.x;
        return *this;
    }
    __host__ __device__ volatile HEDDLE_HALF &operator=(const volatile HEDDLE_RAW &raw) volatile
    {
        __x = raw.x;
        return *this;
    }
};
struct alignas(4) HEDDLE_HALF2 {
    HEDDLE_HALF x, y;

    HEDDLE_HALF2() = default;
    __host__ __device__ constexpr HEDDLE_HALF2(const HEDDLE_HALF &a, const HEDDLE_HALF &b) : x(a), y(b) {}
    __host__ __device__ constexpr HEDDLE_HALF2(const HEDDLE_RAW2 &raw) : x(HEDDLE_RAW{raw.x}), y(HEDDLE_RAW{raw.y}) {}
    __host__ __device__ operator HEDDLE_RAW2() const
    {
        return {x.__x, y.__x};
    }
};

HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(heddle_, HEDDLE_WORD, _of)(unsigned short bits)
{
    return HEDDLE_RAW{bits};
}
#define HEDDLE_OF                HEDDLE_NAME(heddle_, HEDDLE_WORD, _of)
#define HEDDLE_WIDE(a)           HEDDLE_WIDEN((a).__x)
#define HEDDLE_ROUNDED(f)        HEDDLE_OF(HEDDLE_NARROW(f))
#define HEDDLE_ROUNDED_DOUBLE(d) HEDDLE_OF(heddle_narrow<HEDDLE_MANTISSA, HEDDLE_EXPONENT>(d, HEDDLE_RN))

/* ---- conversions ---- */

HEDDLE_BOTH float HEDDLE_NAME(__, HEDDLE_WORD, 2float)(HEDDLE_HALF a)
{
    return HEDDLE_WIDE(a);
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__float2, HEDDLE_WORD, )(float a)
{
    return HEDDLE_ROUNDED(a);
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__double2, HEDDLE_WORD, )(double a)
{
#if defined HEDDLE_PTX_OF_DOUBLE && defined __CUDA_ARCH__
    unsigned short x; /* keeps what a NaN has */
    __asm__("cvt.rn." HEDDLE_PTX_TYPE ".f64 %0, %1;" : "=h"(x) : "d"(a));
    return HEDDLE_OF(x);
#else
    return HEDDLE_ROUNDED_DOUBLE(a);
#endif
}
#define HEDDLE_ROUNDINGS(row) row(_rn, HEDDLE_RN) row(_rz, HEDDLE_RZ) row(_ru, HEDDLE_RU) row(_rd, HEDDLE_RD)
#define HEDDLE_FLOAT_ROW(suffix, mode)                                                                                 \
    HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__float2, HEDDLE_WORD, suffix)(float a)                                        \
    {                                                                                                                  \
        return mode == HEDDLE_RN ? HEDDLE_ROUNDED(a)                                                                   \
                                 : HEDDLE_OF(heddle_narrow<HEDDLE_MANTISSA, HEDDLE_EXPONENT>(a, mode));                \
    }
HEDDLE_ROUNDINGS(HEDDLE_FLOAT_ROW)
#undef HEDDLE_FLOAT_ROW
#define HEDDLE_INTEGER_ROW(word, T, suffix, mode)                                                                      \
    HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__##word##2, HEDDLE_WORD, suffix)(T a)                                         \
    {                                                                                                                  \
        return HEDDLE_OF(heddle_narrow<HEDDLE_MANTISSA, HEDDLE_EXPONENT>(heddle_sticky(a), mode));                     \
    }                                                                                                                  \
    HEDDLE_BOTH T HEDDLE_NAME(__, HEDDLE_WORD, 2##word##suffix)(HEDDLE_HALF a)                                         \
    {                                                                                                                  \
        return heddle_integer<T>(HEDDLE_WIDE(a), mode);                                                                \
    }
#define HEDDLE_INTEGER_ROWS(suffix, mode)                                                                              \
    HEDDLE_INTEGER_ROW(short, short, suffix, mode)                                                                     \
    HEDDLE_INTEGER_ROW(ushort, unsigned short, suffix, mode)                                                           \
    HEDDLE_INTEGER_ROW(int, int, suffix, mode)                                                                         \
    HEDDLE_INTEGER_ROW(uint, unsigned, suffix, mode)                                                                   \
    HEDDLE_INTEGER_ROW(ll, long long, suffix, mode)                                                                    \
    HEDDLE_INTEGER_ROW(ull, unsigned long long, suffix, mode)
HEDDLE_ROUNDINGS(HEDDLE_INTEGER_ROWS)
#undef HEDDLE_INTEGER_ROWS
#undef HEDDLE_INTEGER_ROW
#undef HEDDLE_ROUNDINGS
HEDDLE_BOTH signed char HEDDLE_NAME(__, HEDDLE_WORD, 2char_rz)(HEDDLE_HALF a)
{
    return heddle_integer<signed char>(HEDDLE_WIDE(a), HEDDLE_RZ);
}
HEDDLE_BOTH unsigned char HEDDLE_NAME(__, HEDDLE_WORD, 2uchar_rz)(HEDDLE_HALF a)
{
    return heddle_integer<unsigned char>(HEDDLE_WIDE(a), HEDDLE_RZ);
}

HEDDLE_BOTH short HEDDLE_NAME(__, HEDDLE_WORD, _as_short)(HEDDLE_HALF a)
{
    return (short)a.__x;
}
HEDDLE_BOTH unsigned short HEDDLE_NAME(__, HEDDLE_WORD, _as_ushort)(HEDDLE_HALF a)
{
    return a.__x;
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__short_as_, HEDDLE_WORD, )(short a)
{
    return HEDDLE_OF((unsigned short)a);
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__ushort_as_, HEDDLE_WORD, )(unsigned short a)
{
    return HEDDLE_OF(a);
}

/* ---- pairs ---- */

HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(make_, HEDDLE_WORD, 2)(HEDDLE_HALF x, HEDDLE_HALF y)
{
    return {x, y};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__halves2, HEDDLE_WORD, 2)(HEDDLE_HALF x, HEDDLE_HALF y)
{
    return {x, y};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(HEDDLE_NAME(__, HEDDLE_WORD, 2), HEDDLE_WORD, 2)(HEDDLE_HALF a)
{
    return {a, a};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__float2, HEDDLE_WORD, 2_rn)(float a)
{
    return {HEDDLE_ROUNDED(a), HEDDLE_ROUNDED(a)};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__floats2, HEDDLE_WORD, 2_rn)(float a, float b)
{
    return {HEDDLE_ROUNDED(a), HEDDLE_ROUNDED(b)};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__float22, HEDDLE_WORD, 2_rn)(float2 a)
{
    return {HEDDLE_ROUNDED(a.x), HEDDLE_ROUNDED(a.y)};
}
HEDDLE_BOTH float2 HEDDLE_NAME(__, HEDDLE_WORD, 22float2)(HEDDLE_HALF2 a)
{
    return make_float2(HEDDLE_WIDE(a.x), HEDDLE_WIDE(a.y));
}
HEDDLE_BOTH float __low2float(HEDDLE_HALF2 a)
{
    return HEDDLE_WIDE(a.x);
}
HEDDLE_BOTH float __high2float(HEDDLE_HALF2 a)
{
    return HEDDLE_WIDE(a.y);
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__low2, HEDDLE_WORD, )(HEDDLE_HALF2 a)
{
    return a.x;
}
HEDDLE_BOTH HEDDLE_HALF HEDDLE_NAME(__high2, HEDDLE_WORD, )(HEDDLE_HALF2 a)
{
    return a.y;
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__low2, HEDDLE_WORD, 2)(HEDDLE_HALF2 a)
{
    return {a.x, a.x};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__high2, HEDDLE_WORD, 2)(HEDDLE_HALF2 a)
{
    return {a.y, a.y};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__lows2, HEDDLE_WORD, 2)(HEDDLE_HALF2 a, HEDDLE_HALF2 b)
{
    return {a.x, b.x};
}
HEDDLE_BOTH HEDDLE_HALF2 HEDDLE_NAME(__highs2, HEDDLE_WORD, 2)(HEDDLE_HALF2 a, HEDDLE_HALF2 b)
{
    return {a.y, b.y};
}
HEDDLE_BOTH HEDDLE_HALF2 __lowhigh2highlow(HEDDLE_HALF2 a)
{
    return {a.y, a.x};
}

/* ---- arithmetic ---- */

/* name on HEDDLE_HALF and name2 on both of a pair; `f` is in float. `but`: rows of
 * HEDDLE_BUT(input, result). */
#define HEDDLE_BUT(input, result) a.__x == input ? HEDDLE_OF(result):
#define HEDDLE_ARITHMETIC1_BUT(name, name2, f, but)                                                                    \
    HEDDLE_BOTH HEDDLE_HALF name(HEDDLE_HALF a)                                                                        \
    {                                                                                                                  \
        const float x = HEDDLE_WIDE(a);                                                                                \
        return but HEDDLE_ROUNDED(f);                                                                                  \
    }                                                                                                                  \
    HEDDLE_BOTH HEDDLE_HALF2 name2(HEDDLE_HALF2 a)                                                                     \
    {                                                                                                                  \
        return {name(a.x), name(a.y)};                                                                                 \
    }
#define HEDDLE_ARITHMETIC1(name, name2, f) HEDDLE_ARITHMETIC1_BUT(name, name2, f, )
#define HEDDLE_ARITHMETIC2(name, name2, f)                                                                             \
    HEDDLE_BOTH HEDDLE_HALF name(HEDDLE_HALF a, HEDDLE_HALF b)                                                         \
    {                                                                                                                  \
        const float x = HEDDLE_WIDE(a), y = HEDDLE_WIDE(b);                                                            \
        return HEDDLE_ROUNDED(f);                                                                                      \
    }                                                                                                                  \
    HEDDLE_BOTH HEDDLE_HALF2 name2(HEDDLE_HALF2 a, HEDDLE_HALF2 b)                                                     \
    {                                                                                                                  \
        return {name(a.x, b.x), name(a.y, b.y)};                                                                       \
    }
#define HEDDLE_SATURATED(f) __builtin_fminf(__builtin_fmaxf(f, 0.0f), 1.0f) /* NaN becomes 0 */
HEDDLE_ARITHMETIC2(__hadd, __hadd2, x + y)
HEDDLE_ARITHMETIC2(__hsub, __hsub2, x - y)
HEDDLE_ARITHMETIC2(__hmul, __hmul2, x *y)
HEDDLE_ARITHMETIC2(__hdiv, __h2div, x / y)
HEDDLE_ARITHMETIC2(__hadd_rn, __hadd2_rn, x + y)
HEDDLE_ARITHMETIC2(__hsub_rn, __hsub2_rn, x - y)
HEDDLE_ARITHMETIC2(__hmul_rn, __hmul2_rn, x *y)
HEDDLE_ARITHMETIC2(__hadd_sat, __hadd2_sat, HEDDLE_SATURATED(x + y))
HEDDLE_ARITHMETIC2(__hsub_sat, __hsub2_sat, HEDDLE_SATURATED(x - y))
HEDDLE_ARITHMETIC2(__hmul_sat, __hmul2_sat, HEDDLE_SATURATED(x *y))
#ifdef __CUDA_ARCH__
#define HEDDLE_MAX __builtin_fmaxf(x, y)
#define HEDDLE_MIN __builtin_fminf(x, y)
#else /* which of two zeros C's functions give is not defined; the instructions give the greater one */
#define HEDDLE_MAX (x == y ? __builtin_signbit(x) ? y : x : __builtin_fmaxf(x, y))
#define HEDDLE_MIN (x == y ? __builtin_signbit(x) ? x : y : __builtin_fminf(x, y))
#endif
HEDDLE_ARITHMETIC2(__hmax, __hmax2, HEDDLE_MAX)
HEDDLE_ARITHMETIC2(__hmin, __hmin2, HEDDLE_MIN)
HEDDLE_ARITHMETIC2(__hmax_nan, __hmax2_nan, x != x || y != y ? __builtin_nanf("") : HEDDLE_MAX)
HEDDLE_ARITHMETIC2(__hmin_nan, __hmin2_nan, x != x || y != y ? __builtin_nanf("") : HEDDLE_MIN)
#undef HEDDLE_MAX
#undef HEDDLE_MIN
HEDDLE_BOTH bool __hisnan(HEDDLE_HALF a)
{
    return HEDDLE_WIDE(a) != HEDDLE_WIDE(a);
}
HEDDLE_BOTH HEDDLE_HALF __habs(HEDDLE_HALF a)
{
    return __hisnan(a) ? HEDDLE_OF(0x7fff) : HEDDLE_OF(a.__x & 0x7fff); /* as the instruction does */
}
HEDDLE_BOTH HEDDLE_HALF2 __habs2(HEDDLE_HALF2 a)
{
    return {__habs(a.x), __habs(a.y)};
}
HEDDLE_BOTH HEDDLE_HALF __hneg(HEDDLE_HALF a)
{
    return __hisnan(a) ? HEDDLE_OF(0x7fff) : HEDDLE_OF(a.__x ^ 0x8000);
}
HEDDLE_BOTH HEDDLE_HALF2 __hneg2(HEDDLE_HALF2 a)
{
    return {__hneg(a.x), __hneg(a.y)};
}
/* a * b is exact in double; one rounding of the sum, and it goes to the side that the format's
 * rounding needs (Boldo and Melquiond: to odd). */
HEDDLE_BOTH HEDDLE_HALF __hfma(HEDDLE_HALF a, HEDDLE_HALF b, HEDDLE_HALF c)
{
    const double p = (double)HEDDLE_WIDE(a) * (double)HEDDLE_WIDE(b), q = HEDDLE_WIDE(c), s = p + q;
    if (!(__builtin_fabs(s) < __builtin_inf()))
        return HEDDLE_ROUNDED_DOUBLE(s);
    const double t = s - p, rest = (p - (s - t)) + (q - t);
    long long bits = __builtin_bit_cast(long long, s);
    if (rest != 0 && !(bits & 1))
        bits += (rest > 0) == (s > 0) ? 1 : -1;
    return HEDDLE_ROUNDED_DOUBLE(__builtin_bit_cast(double, bits));
}
HEDDLE_BOTH HEDDLE_HALF2 __hfma2(HEDDLE_HALF2 a, HEDDLE_HALF2 b, HEDDLE_HALF2 c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
HEDDLE_BOTH HEDDLE_HALF __hfma_sat(HEDDLE_HALF a, HEDDLE_HALF b, HEDDLE_HALF c)
{
    const float x = HEDDLE_WIDE(__hfma(a, b, c));
    return HEDDLE_ROUNDED(HEDDLE_SATURATED(x));
}
HEDDLE_BOTH HEDDLE_HALF2 __hfma2_sat(HEDDLE_HALF2 a, HEDDLE_HALF2 b, HEDDLE_HALF2 c)
{
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
HEDDLE_BOTH HEDDLE_HALF __hfma_relu(HEDDLE_HALF a, HEDDLE_HALF b, HEDDLE_HALF c)
{
    const HEDDLE_HALF r = __hfma(a, b, c);
    return HEDDLE_WIDE(r) <= 0 ? HEDDLE_OF(0) : r; /* also of -0 */
}
HEDDLE_BOTH HEDDLE_HALF2 __hfma2_relu(HEDDLE_HALF2 a, HEDDLE_HALF2 b, HEDDLE_HALF2 c)
{
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
/* a * b + c of complex numbers */
HEDDLE_BOTH HEDDLE_HALF2 __hcmadd(HEDDLE_HALF2 a, HEDDLE_HALF2 b, HEDDLE_HALF2 c)
{
    return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
#undef HEDDLE_SATURATED

/* ---- comparisons: of one, of both lanes as 1.0, as a mask, and all together; with u, NaN compares
 * true ---- */

#define HEDDLE_COMPARE(name, op)                                                                                       \
    HEDDLE_BOTH bool __h##name(HEDDLE_HALF a, HEDDLE_HALF b)                                                           \
    {                                                                                                                  \
        return HEDDLE_WIDE(a) op HEDDLE_WIDE(b);                                                                       \
    }                                                                                                                  \
    HEDDLE_COMPARE_PAIRS(name)
#define HEDDLE_COMPARE_UNORDERED(name, op)                                                                             \
    HEDDLE_BOTH bool __h##name(HEDDLE_HALF a, HEDDLE_HALF b)                                                           \
    {                                                                                                                  \
        const float x = HEDDLE_WIDE(a), y = HEDDLE_WIDE(b);                                                            \
        return x != x || y != y || x op y;                                                                             \
    }                                                                                                                  \
    HEDDLE_COMPARE_PAIRS(name)
#define HEDDLE_COMPARE_PAIRS(name)                                                                                     \
    HEDDLE_BOTH HEDDLE_HALF2 __h##name##2(HEDDLE_HALF2 a, HEDDLE_HALF2 b)                                              \
    {                                                                                                                  \
        return {HEDDLE_ROUNDED(__h##name(a.x, b.x) ? 1.0f : 0.0f), HEDDLE_ROUNDED(__h##name(a.y, b.y) ? 1.0f : 0.0f)}; \
    }                                                                                                                  \
    HEDDLE_BOTH unsigned __h##name##2_mask(HEDDLE_HALF2 a, HEDDLE_HALF2 b)                                             \
    {                                                                                                                  \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);                          \
    }                                                                                                                  \
    HEDDLE_BOTH bool __hb##name##2(HEDDLE_HALF2 a, HEDDLE_HALF2 b)                                                     \
    {                                                                                                                  \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                             \
    }
HEDDLE_BOTH bool __hne(HEDDLE_HALF a, HEDDLE_HALF b)
{
    const float x = HEDDLE_WIDE(a), y = HEDDLE_WIDE(b);
    return x == x && y == y && x != y;
}
HEDDLE_COMPARE_PAIRS(ne)
HEDDLE_COMPARE(eq, ==)
HEDDLE_COMPARE(lt, <)
HEDDLE_COMPARE(le, <=)
HEDDLE_COMPARE(gt, >)
HEDDLE_COMPARE(ge, >=)
HEDDLE_COMPARE_UNORDERED(equ, ==)
HEDDLE_COMPARE_UNORDERED(neu, !=)
HEDDLE_COMPARE_UNORDERED(ltu, <)
HEDDLE_COMPARE_UNORDERED(leu, <=)
HEDDLE_COMPARE_UNORDERED(gtu, >)
HEDDLE_COMPARE_UNORDERED(geu, >=)
#undef HEDDLE_COMPARE
#undef HEDDLE_COMPARE_UNORDERED
#undef HEDDLE_COMPARE_PAIRS
HEDDLE_BOTH int __hisinf(HEDDLE_HALF a)
{
    const float x = HEDDLE_WIDE(a);
    return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}
HEDDLE_BOTH HEDDLE_HALF2 __hisnan2(HEDDLE_HALF2 a)
{
    return {HEDDLE_ROUNDED(__hisnan(a.x) ? 1.0f : 0.0f), HEDDLE_ROUNDED(__hisnan(a.y) ? 1.0f : 0.0f)};
}

/* ---- operators: __CUDA_NO_HALF_OPERATORS__ and its kind leave them out ---- */

#define HEDDLE_OPERATOR(op, T, f)                                                                                      \
    HEDDLE_BOTH T operator op(const T &a, const T &b)                                                                  \
    {                                                                                                                  \
        return f(a, b);                                                                                                \
    }                                                                                                                  \
    HEDDLE_BOTH T &operator op##=(T & a, const T & b)                                                                  \
    {                                                                                                                  \
        return a = f(a, b);                                                                                            \
    }
#define HEDDLE_COMPARISON(op, T, f)                                                                                    \
    HEDDLE_BOTH bool operator op(const T &a, const T &b)                                                               \
    {                                                                                                                  \
        return f(a, b);                                                                                                \
    }
#define HEDDLE_SIGNS_AND_STEPS(T, negate, one)                                                                         \
    HEDDLE_BOTH T operator-(const T &a)                                                                                \
    {                                                                                                                  \
        return negate(a);                                                                                              \
    }                                                                                                                  \
    HEDDLE_BOTH T operator+(const T &a)                                                                                \
    {                                                                                                                  \
        return a;                                                                                                      \
    }                                                                                                                  \
    HEDDLE_BOTH T &operator++(T &a)                                                                                    \
    {                                                                                                                  \
        return a = a + one;                                                                                            \
    }                                                                                                                  \
    HEDDLE_BOTH T &operator--(T &a)                                                                                    \
    {                                                                                                                  \
        return a = a - one;                                                                                            \
    }                                                                                                                  \
    HEDDLE_BOTH T operator++(T &a, int)                                                                                \
    {                                                                                                                  \
        const T before = a;                                                                                            \
        ++a;                                                                                                           \
        return before;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_BOTH T operator--(T &a, int)                                                                                \
    {                                                                                                                  \
        const T before = a;                                                                                            \
        --a;                                                                                                           \
        return before;                                                                                                 \
    }
/* b and n are of the functions' names: nothing for __heq, b and 2 for __hbeq2 of pairs. */
#define HEDDLE_COMPARISONS(COMPARISON, T, b, n)                                                                        \
    COMPARISON(==, T, __h##b##eq##n)                                                                                   \
    COMPARISON(!=, T, __h##b##neu##n)                                                                                  \
    COMPARISON(<, T, __h##b##lt##n)                                                                                    \
    COMPARISON(<=, T, __h##b##le##n)                                                                                   \
    COMPARISON(>, T, __h##b##gt##n)                                                                                    \
    COMPARISON(>=, T, __h##b##ge##n)
#define HEDDLE_OPERATORS(T, b, n, one)                                                                                 \
    HEDDLE_OPERATOR(+, T, __hadd##n)                                                                                   \
    HEDDLE_OPERATOR(-, T, __hsub##n)                                                                                   \
    HEDDLE_OPERATOR(*, T, __hmul##n)                                                                                   \
    HEDDLE_OPERATOR(/, T, __h##n##div)                                                                                 \
    HEDDLE_COMPARISONS(HEDDLE_COMPARISON, T, b, n)                                                                     \
    HEDDLE_SIGNS_AND_STEPS(T, __hneg##n, one)
#ifndef HEDDLE_NO_OPERATORS
HEDDLE_OPERATORS(HEDDLE_HALF, , , HEDDLE_ROUNDED(1.0f))
#elif defined __CUDA__
/* In a template that is never instantiated, nvcc takes comparisons for which there is no operator;
 * clang looks at those that do not depend on the template. These are for two of exactly this type:
 * what is only converted to it finds them no more than without. */
#ifndef HEDDLE_EXACTLY
#define HEDDLE_EXACTLY
template <class> struct __heddle_exactly;
#endif
template <> struct __heddle_exactly<HEDDLE_HALF> {
    typedef bool type;
};
#define HEDDLE_EXACT_COMPARISON(op, T, f)                                                                              \
    template <class T> HEDDLE_BOTH typename __heddle_exactly<T>::type operator op(const T &a, const T &b)              \
    {                                                                                                                  \
        return f(a, b);                                                                                                \
    }
#ifndef HEDDLE_EXACT_COMPARISONS /* once: the type chooses */
#define HEDDLE_EXACT_COMPARISONS
HEDDLE_COMPARISONS(HEDDLE_EXACT_COMPARISON, T, , )
#endif
#undef HEDDLE_EXACT_COMPARISON
#endif
#ifndef HEDDLE_NO_OPERATORS2
HEDDLE_OPERATORS(HEDDLE_HALF2, b, 2, (HEDDLE_HALF2{HEDDLE_ROUNDED(1.0f), HEDDLE_ROUNDED(1.0f)}))
#endif
#undef HEDDLE_OPERATORS
#undef HEDDLE_COMPARISONS
#undef HEDDLE_SIGNS_AND_STEPS
#undef HEDDLE_OPERATOR
#undef HEDDLE_COMPARISON

/* ---- on the device: functions, shuffles, memory ---- */

#ifdef __CUDA__
#undef HEDDLE_BOTH
#define HEDDLE_BOTH HEDDLE_INLINE
HEDDLE_ARITHMETIC1(hsqrt, h2sqrt, sqrtf(x))
HEDDLE_ARITHMETIC1(hrsqrt, h2rsqrt, rsqrtf(x))
HEDDLE_ARITHMETIC1(hrcp, h2rcp, 1 / x)
HEDDLE_ARITHMETIC1_BUT(hexp, h2exp, expf(x), HEDDLE_EXP_BUT)
HEDDLE_ARITHMETIC1_BUT(hexp2, h2exp2, exp2f(x), HEDDLE_EXP2_BUT)
HEDDLE_ARITHMETIC1_BUT(hexp10, h2exp10, exp10f(x), HEDDLE_EXP10_BUT)
HEDDLE_ARITHMETIC1_BUT(hlog, h2log, logf(x), HEDDLE_LOG_BUT)
HEDDLE_ARITHMETIC1(hlog2, h2log2, log2f(x))
HEDDLE_ARITHMETIC1_BUT(hlog10, h2log10, log10f(x), HEDDLE_LOG10_BUT)
HEDDLE_ARITHMETIC1_BUT(hsin, h2sin, sinf(x), HEDDLE_SIN_BUT)
HEDDLE_ARITHMETIC1_BUT(hcos, h2cos, cosf(x), HEDDLE_COS_BUT)
HEDDLE_ARITHMETIC1(htanh, h2tanh, tanhf(x))
HEDDLE_ARITHMETIC1(hceil, h2ceil, ceilf(x))
HEDDLE_ARITHMETIC1(hfloor, h2floor, floorf(x))
HEDDLE_ARITHMETIC1(htrunc, h2trunc, truncf(x))
HEDDLE_ARITHMETIC1(hrint, h2rint, rintf(x))
#ifdef HEDDLE_TANH_APPROX
HEDDLE_INLINE HEDDLE_HALF htanh_approx(HEDDLE_HALF a)
{
    unsigned short x;
    __asm__("tanh.approx." HEDDLE_PTX_TYPE " %0, %1;" : "=h"(x) : "h"(a.__x));
    return HEDDLE_OF(x);
}
HEDDLE_INLINE HEDDLE_HALF2 h2tanh_approx(HEDDLE_HALF2 a)
{
    return {htanh_approx(a.x), htanh_approx(a.y)};
}
#endif
#undef HEDDLE_ARITHMETIC1
#undef HEDDLE_ARITHMETIC1_BUT
#undef HEDDLE_ARITHMETIC2
#undef HEDDLE_BUT

#define HEDDLE_SHUFFLE(name, Second)                                                                                   \
    HEDDLE_INLINE HEDDLE_HALF name(unsigned mask, HEDDLE_HALF value, Second second, int width = 32)                    \
    {                                                                                                                  \
        return HEDDLE_OF((unsigned short)name(mask, (unsigned)value.__x, second, width));                              \
    }                                                                                                                  \
    HEDDLE_INLINE HEDDLE_HALF2 name(unsigned mask, HEDDLE_HALF2 value, Second second, int width = 32)                  \
    {                                                                                                                  \
        return __builtin_bit_cast(HEDDLE_HALF2, name(mask, __builtin_bit_cast(unsigned, value), second, width));       \
    }
HEDDLE_SHUFFLE(__shfl_sync, int)
HEDDLE_SHUFFLE(__shfl_up_sync, unsigned)
HEDDLE_SHUFFLE(__shfl_down_sync, unsigned)
HEDDLE_SHUFFLE(__shfl_xor_sync, int)
#undef HEDDLE_SHUFFLE

#define HEDDLE_LOAD_ROW(name)                                                                                          \
    HEDDLE_INLINE HEDDLE_HALF name(const HEDDLE_HALF *address)                                                         \
    {                                                                                                                  \
        return HEDDLE_OF(name((const unsigned short *)address));                                                       \
    }                                                                                                                  \
    HEDDLE_INLINE HEDDLE_HALF2 name(const HEDDLE_HALF2 *address)                                                       \
    {                                                                                                                  \
        return __builtin_bit_cast(HEDDLE_HALF2, name((const unsigned *)address));                                      \
    }
#define HEDDLE_STORE_ROW(name)                                                                                         \
    HEDDLE_INLINE void name(HEDDLE_HALF *address, HEDDLE_HALF value)                                                   \
    {                                                                                                                  \
        name((unsigned short *)address, value.__x);                                                                    \
    }                                                                                                                  \
    HEDDLE_INLINE void name(HEDDLE_HALF2 *address, HEDDLE_HALF2 value)                                                 \
    {                                                                                                                  \
        name((unsigned *)address, __builtin_bit_cast(unsigned, value));                                                \
    }
HEDDLE_LOAD_ROW(__ldg)
HEDDLE_LOAD_ROW(__ldca)
HEDDLE_LOAD_ROW(__ldcg)
HEDDLE_LOAD_ROW(__ldcs)
HEDDLE_LOAD_ROW(__ldlu)
HEDDLE_LOAD_ROW(__ldcv)
HEDDLE_STORE_ROW(__stwb)
HEDDLE_STORE_ROW(__stcg)
HEDDLE_STORE_ROW(__stcs)
HEDDLE_STORE_ROW(__stwt)
#undef HEDDLE_LOAD_ROW
#undef HEDDLE_STORE_ROW

/* ---- sums: by the instruction where the device has it, else by compare and swap of the word. Of a
 * pair, each half is atomic for itself. ---- */

HEDDLE_INLINE HEDDLE_HALF HEDDLE_NAME(heddle_, HEDDLE_WORD, _sum)(HEDDLE_HALF a, HEDDLE_HALF b)
{
    return __hadd(a, b);
}
HEDDLE_INLINE HEDDLE_HALF2 HEDDLE_NAME(heddle_, HEDDLE_WORD, _sum)(HEDDLE_HALF2 a, HEDDLE_HALF2 b)
{
    return __hadd2(a, b);
}
template <class Word, class T>
HEDDLE_INLINE T HEDDLE_NAME(heddle_, HEDDLE_WORD, _add_by_cas)(T *address, T value, int scope)
{
    Word old = heddle_load((const Word *)address, __NV_ATOMIC_RELAXED, scope), assumed;
    do {
        assumed = old;
        const T sum = HEDDLE_NAME(heddle_, HEDDLE_WORD, _sum)(__builtin_bit_cast(T, assumed), value);
        old = heddle_cas((Word *)address, assumed, __builtin_bit_cast(Word, sum), __NV_ATOMIC_RELAXED, scope);
    } while (old != assumed);
    return __builtin_bit_cast(T, old);
}
#define HEDDLE_ADD_INSTRUCTION(T, Word, letter, type, scope)                                                           \
    Word old;                                                                                                          \
    __asm__ __volatile__("atom" scope ".add.noftz." type " %0, [%1], %2;"                                              \
                         : "=" letter(old)                                                                             \
                         : "l"(address), letter(__builtin_bit_cast(Word, value))                                       \
                         : "memory");                                                                                  \
    return __builtin_bit_cast(T, old);
#define HEDDLE_ADD_BY_CAS(T, Word, scope)                                                                              \
    return HEDDLE_NAME(heddle_, HEDDLE_WORD, _add_by_cas)<Word>(address, value, scope);
/* Both kinds in all scopes; a device that is too old for one says so. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= HEDDLE_ADD1_SM
#define HEDDLE_ADD1(name, ptx_scope, scope)                                                                            \
    HEDDLE_INLINE HEDDLE_HALF name(HEDDLE_HALF *address, HEDDLE_HALF value)                                            \
    {                                                                                                                  \
        HEDDLE_ADD_INSTRUCTION(HEDDLE_HALF, unsigned short, "h", HEDDLE_PTX_TYPE, ptx_scope)                           \
    }
#elif __CUDA_ARCH__ >= 700
#define HEDDLE_ADD1(name, ptx_scope, scope)                                                                            \
    HEDDLE_INLINE HEDDLE_HALF name(HEDDLE_HALF *address, HEDDLE_HALF value)                                            \
    {                                                                                                                  \
        HEDDLE_ADD_BY_CAS(HEDDLE_HALF, unsigned short, scope)                                                          \
    }
#else
#define HEDDLE_ADD1(name, ptx_scope, scope)                                                                            \
    HEDDLE_NEEDS("70") HEDDLE_HALF name(HEDDLE_HALF *address, HEDDLE_HALF value);
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= HEDDLE_ADD2_SM
#define HEDDLE_ADD2(name, ptx_scope, scope)                                                                            \
    HEDDLE_INLINE HEDDLE_HALF2 name(HEDDLE_HALF2 *address, HEDDLE_HALF2 value)                                         \
    {                                                                                                                  \
        HEDDLE_ADD_INSTRUCTION(HEDDLE_HALF2, unsigned, "r", HEDDLE_PTX_TYPE "x2", ptx_scope)                           \
    }
#elif __CUDA_ARCH__ >= 600
#define HEDDLE_ADD2(name, ptx_scope, scope)                                                                            \
    HEDDLE_INLINE HEDDLE_HALF2 name(HEDDLE_HALF2 *address, HEDDLE_HALF2 value)                                         \
    {                                                                                                                  \
        HEDDLE_ADD_BY_CAS(HEDDLE_HALF2, unsigned, scope)                                                               \
    }
#else
#define HEDDLE_ADD2(name, ptx_scope, scope)                                                                            \
    HEDDLE_NEEDS("60") HEDDLE_HALF2 name(HEDDLE_HALF2 *address, HEDDLE_HALF2 value);
#endif
#define HEDDLE_ADD(suffix, ptx_scope, scope)                                                                           \
    HEDDLE_ADD1(atomicAdd##suffix, ptx_scope, scope) HEDDLE_ADD2(atomicAdd##suffix, ptx_scope, scope)
HEDDLE_ADD(, "", __NV_THREAD_SCOPE_DEVICE)
HEDDLE_ADD(_block, ".cta", __NV_THREAD_SCOPE_BLOCK)
HEDDLE_ADD(_system, ".sys", __NV_THREAD_SCOPE_SYSTEM)
#undef HEDDLE_ADD
#undef HEDDLE_ADD1
#undef HEDDLE_ADD2
#undef HEDDLE_ADD_BY_CAS
#undef HEDDLE_ADD_INSTRUCTION
#undef HEDDLE_BOTH
#define HEDDLE_BOTH static __host__ __device__ __forceinline__ HEDDLE_NODEBUG
#endif

#undef HEDDLE_OF
#undef HEDDLE_WIDE
#undef HEDDLE_ROUNDED
#undef HEDDLE_ROUNDED_DOUBLE
#undef HEDDLE_NAME
#undef HEDDLE_JOIN3
