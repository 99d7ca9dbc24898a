/* A type of 8 bits and less, and those of two and four. Included once for each: with HEDDLE_TINY,
 * HEDDLE_TINY2, HEDDLE_TINY4 (the types), HEDDLE_STORAGE1, HEDDLE_STORAGE2, HEDDLE_STORAGE4,
 * HEDDLE_BITS of each in a pair, and HEDDLE_TINY_NARROW(x), HEDDLE_TINY_WIDEN(code);
 * HEDDLE_TINY_NARROW_DOUBLE(x) where that of a double differs. Members and meanings: CUDA Math
 * API, "FP8 Conversion and Data Movement", "C++ struct for handling fp8 data type" and its kind.
 */
#ifndef HEDDLE_TINY_NARROW_DOUBLE
#define HEDDLE_TINY_NARROW_DOUBLE HEDDLE_TINY_NARROW
#endif
struct HEDDLE_TINY {
    HEDDLE_STORAGE1 __x;

    HEDDLE_TINY() = default;
#ifndef HEDDLE_NO_CONVERSIONS
#define HEDDLE_FROM(T)                                                                                                 \
    explicit HEDDLE_HD HEDDLE_TINY(T x) : __x(HEDDLE_TINY_NARROW((double)x)) {}
    HEDDLE_FROM(float)
    HEDDLE_FROM(short)
    HEDDLE_FROM(unsigned short)
    HEDDLE_FROM(int)
    HEDDLE_FROM(unsigned)
#undef HEDDLE_FROM
#define HEDDLE_FROM(T)                                                                                                 \
    explicit HEDDLE_HD HEDDLE_TINY(T x) : __x(HEDDLE_TINY_NARROW(heddle_sticky(x))) {}
    HEDDLE_FROM(long)
    HEDDLE_FROM(unsigned long)
    HEDDLE_FROM(long long)
    HEDDLE_FROM(unsigned long long)
#undef HEDDLE_FROM
    explicit HEDDLE_HD HEDDLE_TINY(double x) : __x(HEDDLE_TINY_NARROW_DOUBLE(x)) {}
    explicit HEDDLE_HD HEDDLE_TINY(__half x) : HEDDLE_TINY(__half2float(x)) {}
    explicit HEDDLE_HD HEDDLE_TINY(__nv_bfloat16 x) : HEDDLE_TINY(__bfloat162float(x)) {}

#ifndef HEDDLE_NO_CONVERSION_OPERATORS
    explicit HEDDLE_HD operator float() const
    {
        return HEDDLE_TINY_WIDEN(__x);
    }
#define HEDDLE_TO(T)                                                                                                   \
    explicit HEDDLE_HD operator T() const                                                                              \
    {                                                                                                                  \
        return T((float)*this);                                                                                        \
    }
    HEDDLE_TO(double)
#undef HEDDLE_TO
    explicit HEDDLE_HD operator __half() const
    {
        return __float2half((float)*this);
    }
    explicit HEDDLE_HD operator __nv_bfloat16() const
    {
        return __float2bfloat16((float)*this);
    }
#define HEDDLE_TO(T)                                                                                                   \
    explicit HEDDLE_HD operator T() const                                                                              \
    {                                                                                                                  \
        return heddle_integer<T>((float)*this, HEDDLE_RZ);                                                             \
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
    explicit HEDDLE_HD operator bool() const
    {
        return (float)*this != 0;
    }
#endif
#endif
};

struct HEDDLE_TINY2 {
    HEDDLE_STORAGE2 __x;

    HEDDLE_TINY2() = default;
#ifndef HEDDLE_NO_CONVERSIONS
    explicit HEDDLE_HD HEDDLE_TINY2(double2 v)
        : __x(HEDDLE_TINY_NARROW_DOUBLE(v.x) | HEDDLE_TINY_NARROW_DOUBLE(v.y) << HEDDLE_BITS)
    {
    }
    explicit HEDDLE_HD HEDDLE_TINY2(float2 v) : __x(HEDDLE_TINY_NARROW(v.x) | HEDDLE_TINY_NARROW(v.y) << HEDDLE_BITS) {}
    explicit HEDDLE_HD HEDDLE_TINY2(__half2 v) : HEDDLE_TINY2(__half22float2(v)) {}
    explicit HEDDLE_HD HEDDLE_TINY2(__nv_bfloat162 v) : HEDDLE_TINY2(__bfloat1622float2(v)) {}

#ifndef HEDDLE_NO_CONVERSION_OPERATORS
    explicit HEDDLE_HD operator float2() const
    {
        return {HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 0, HEDDLE_BITS)),
                HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 1, HEDDLE_BITS))};
    }
    explicit HEDDLE_HD operator __half2() const
    {
        return __float22half2_rn((float2) * this);
    }
#ifdef HEDDLE_MAKES_BFLOAT162
    explicit HEDDLE_HD operator __nv_bfloat162() const
    {
        return __float22bfloat162_rn((float2) * this);
    }
#endif
#endif
#endif
};

struct HEDDLE_TINY4 {
    HEDDLE_STORAGE4 __x;

    HEDDLE_TINY4() = default;
#ifndef HEDDLE_NO_CONVERSIONS
    explicit HEDDLE_HD HEDDLE_TINY4(double4 v)
        : __x(HEDDLE_TINY_NARROW_DOUBLE(v.x) | HEDDLE_TINY_NARROW_DOUBLE(v.y) << HEDDLE_BITS |
              HEDDLE_TINY_NARROW_DOUBLE(v.z) << 2 * HEDDLE_BITS |
              (HEDDLE_STORAGE4)HEDDLE_TINY_NARROW_DOUBLE(v.w) << 3 * HEDDLE_BITS)
    {
    }
    explicit HEDDLE_HD HEDDLE_TINY4(double4_16a v) : HEDDLE_TINY4(double4{v.x, v.y, v.z, v.w}) {}
    explicit HEDDLE_HD HEDDLE_TINY4(double4_32a v) : HEDDLE_TINY4(double4{v.x, v.y, v.z, v.w}) {}
    explicit HEDDLE_HD HEDDLE_TINY4(float4 v)
        : __x(HEDDLE_TINY_NARROW(v.x) | HEDDLE_TINY_NARROW(v.y) << HEDDLE_BITS |
              HEDDLE_TINY_NARROW(v.z) << 2 * HEDDLE_BITS | (HEDDLE_STORAGE4)HEDDLE_TINY_NARROW(v.w) << 3 * HEDDLE_BITS)
    {
    }
    explicit HEDDLE_HD HEDDLE_TINY4(__half2 low, __half2 high)
        : HEDDLE_TINY4(float4{__low2float(low), __high2float(low), __low2float(high), __high2float(high)})
    {
    }
    explicit HEDDLE_HD HEDDLE_TINY4(__nv_bfloat162 low, __nv_bfloat162 high)
        : HEDDLE_TINY4(float4{__low2float(low), __high2float(low), __low2float(high), __high2float(high)})
    {
    }

#ifndef HEDDLE_NO_CONVERSION_OPERATORS
    explicit HEDDLE_HD operator float4() const
    {
        return {HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 0, HEDDLE_BITS)),
                HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 1, HEDDLE_BITS)),
                HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 2, HEDDLE_BITS)),
                HEDDLE_TINY_WIDEN(heddle_tiny_at(__x, 3, HEDDLE_BITS))};
    }
#endif
#endif
};

#undef HEDDLE_TINY
#undef HEDDLE_TINY2
#undef HEDDLE_TINY4
#undef HEDDLE_STORAGE1
#undef HEDDLE_STORAGE2
#undef HEDDLE_STORAGE4
#undef HEDDLE_BITS
#undef HEDDLE_TINY_NARROW
#undef HEDDLE_TINY_NARROW_DOUBLE
#undef HEDDLE_TINY_WIDEN
#undef HEDDLE_MAKES_BFLOAT162
