/* The conversion functions of a width (CUDA Math API, "FP8 Intrinsics" and its kind). Included
 * once for each: with HEDDLE_FP (fp8), HEDDLE_PAIR (fp8x2), HEDDLE_STORAGE, HEDDLE_STORAGE2,
 * HEDDLE_INTERPRETATION, HEDDLE_BITS of each in a pair; HEDDLE_OPTIONS, what a conversion is told,
 * and HEDDLE_TINY_NARROW(x), HEDDLE_TINY_WIDEN(code), conversions by what these are called;
 * HEDDLE_TINY_NARROW_DOUBLE(x) where that of a double differs.
 */
#ifndef HEDDLE_TINY_NARROW_DOUBLE
#define HEDDLE_TINY_NARROW_DOUBLE HEDDLE_TINY_NARROW
#endif
#define HEDDLE_JOIN4(a, b, c, d) a##b##c##d
#define HEDDLE_NAME4(a, b, c, d) HEDDLE_JOIN4(a, b, c, d)
#define HEDDLE_TO(type, from, code)                                                                                    \
    HEDDLE_BOTH HEDDLE_STORAGE HEDDLE_NAME4(__nv_cvt_, type, _to_, HEDDLE_FP)(const from v, HEDDLE_OPTIONS)            \
    {                                                                                                                  \
        return code;                                                                                                   \
    }
HEDDLE_TO(double, double, HEDDLE_TINY_NARROW_DOUBLE(v))
HEDDLE_TO(float, float, HEDDLE_TINY_NARROW(v))
HEDDLE_TO(halfraw, __half_raw, HEDDLE_TINY_NARROW(heddle_half_widen(v.x)))
HEDDLE_TO(bfloat16raw, __nv_bfloat16_raw, HEDDLE_TINY_NARROW(heddle_bfloat16_widen(v.x)))
#undef HEDDLE_TO

#define HEDDLE_TO2(type, from2, narrow, x_of, y_of)                                                                    \
    HEDDLE_BOTH HEDDLE_STORAGE2 HEDDLE_NAME4(__nv_cvt_, type, _to_, HEDDLE_PAIR)(const from2 v, HEDDLE_OPTIONS)        \
    {                                                                                                                  \
        return narrow(x_of) | narrow(y_of) << HEDDLE_BITS;                                                             \
    }
HEDDLE_TO2(double2, double2, HEDDLE_TINY_NARROW_DOUBLE, v.x, v.y)
HEDDLE_TO2(float2, float2, HEDDLE_TINY_NARROW, v.x, v.y)
HEDDLE_TO2(halfraw2, __half2_raw, HEDDLE_TINY_NARROW, heddle_half_widen(v.x), heddle_half_widen(v.y))
HEDDLE_TO2(bfloat16raw2, __nv_bfloat162_raw, HEDDLE_TINY_NARROW, heddle_bfloat16_widen(v.x), heddle_bfloat16_widen(v.y))
#undef HEDDLE_TO2

HEDDLE_BOTH __half_raw HEDDLE_NAME4(__nv_cvt_, HEDDLE_FP, _to_, halfraw)(const HEDDLE_STORAGE x,
                                                                         const HEDDLE_INTERPRETATION interpretation
                                                                         __attribute__((unused)))
{
    return {heddle_half_narrow(HEDDLE_TINY_WIDEN(x))};
}
HEDDLE_BOTH __half2_raw HEDDLE_NAME4(__nv_cvt_, HEDDLE_PAIR, _to_, halfraw2)(const HEDDLE_STORAGE2 x,
                                                                             const HEDDLE_INTERPRETATION interpretation
                                                                             __attribute__((unused)))
{
    return {heddle_half_narrow(HEDDLE_TINY_WIDEN(heddle_tiny_at(x, 0, HEDDLE_BITS))),
            heddle_half_narrow(HEDDLE_TINY_WIDEN(heddle_tiny_at(x, 1, HEDDLE_BITS)))};
}

#undef HEDDLE_NAME4
#undef HEDDLE_JOIN4
#undef HEDDLE_FP
#undef HEDDLE_PAIR
#undef HEDDLE_STORAGE
#undef HEDDLE_STORAGE2
#undef HEDDLE_INTERPRETATION
#undef HEDDLE_BITS
#undef HEDDLE_OPTIONS
#undef HEDDLE_TINY_NARROW
#undef HEDDLE_TINY_NARROW_DOUBLE
#undef HEDDLE_TINY_WIDEN
