/* The conversion functions of a width (CUDA Math API, "FP8 Intrinsics" and its kind). Included once
 * for each: with FP (fp8), PAIR (fp8x2), STORAGE, STORAGE2, INTERPRETATION, HEDDLE_BITS of each in
 * a pair; OPTIONS, what a conversion is told, and NARROW(x), WIDEN(code), conversions by what these
 * are called; NARROW_DOUBLE(x) where that of a double differs.
 */
#ifndef NARROW_DOUBLE
#define NARROW_DOUBLE NARROW
#endif
#define HEDDLE_JOIN4(a, b, c, d) a##b##c##d
#define HEDDLE_NAME4(a, b, c, d) HEDDLE_JOIN4(a, b, c, d)
#define HEDDLE_TO(type, from, code)                                                                                    \
    HEDDLE_BOTH STORAGE HEDDLE_NAME4(__nv_cvt_, type, _to_, FP)(const from v, OPTIONS)                                 \
    {                                                                                                                  \
        return code;                                                                                                   \
    }
HEDDLE_TO(double, double, NARROW_DOUBLE(v))
HEDDLE_TO(float, float, NARROW(v))
HEDDLE_TO(halfraw, __half_raw, NARROW(heddle_half_widen(v.x)))
HEDDLE_TO(bfloat16raw, __nv_bfloat16_raw, NARROW(heddle_bfloat16_widen(v.x)))
#undef HEDDLE_TO

#define HEDDLE_TO2(type, from2, narrow, x_of, y_of)                                                                    \
    HEDDLE_BOTH STORAGE2 HEDDLE_NAME4(__nv_cvt_, type, _to_, PAIR)(const from2 v, OPTIONS)                             \
    {                                                                                                                  \
        return narrow(x_of) | narrow(y_of) << HEDDLE_BITS;                                                             \
    }
HEDDLE_TO2(double2, double2, NARROW_DOUBLE, v.x, v.y)
HEDDLE_TO2(float2, float2, NARROW, v.x, v.y)
HEDDLE_TO2(halfraw2, __half2_raw, NARROW, heddle_half_widen(v.x), heddle_half_widen(v.y))
HEDDLE_TO2(bfloat16raw2, __nv_bfloat162_raw, NARROW, heddle_bfloat16_widen(v.x), heddle_bfloat16_widen(v.y))
#undef HEDDLE_TO2

HEDDLE_BOTH __half_raw HEDDLE_NAME4(__nv_cvt_, FP, _to_, halfraw)(const STORAGE x, const INTERPRETATION interpretation
                                                                  __attribute__((unused)))
{
    return {heddle_half_narrow(WIDEN(x))};
}
HEDDLE_BOTH __half2_raw HEDDLE_NAME4(__nv_cvt_, PAIR, _to_, halfraw2)(const STORAGE2 x,
                                                                      const INTERPRETATION interpretation
                                                                      __attribute__((unused)))
{
    return {heddle_half_narrow(WIDEN(heddle_tiny_at(x, 0, HEDDLE_BITS))),
            heddle_half_narrow(WIDEN(heddle_tiny_at(x, 1, HEDDLE_BITS)))};
}

#undef HEDDLE_NAME4
#undef HEDDLE_JOIN4
#undef FP
#undef PAIR
#undef STORAGE
#undef STORAGE2
#undef INTERPRETATION
#undef HEDDLE_BITS
#undef OPTIONS
#undef NARROW
#undef NARROW_DOUBLE
#undef WIDEN
