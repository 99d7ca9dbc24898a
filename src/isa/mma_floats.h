/* Steps of floating-point products of matrices that do not depend on where elements are (mma.h):
 * factors of f16, the exponents that terms are aligned to, and what becomes of their sums.
 *
 * One pass finds the exponent that the terms of each element of D are aligned to, a second one adds
 * the terms as integers: a product of f32 is exact here, a multiplication by a power of two puts
 * the grid's unit at 1, and the conversion to an integer cuts as the hardware does. Exponents of
 * f16 and of 8-bit floats, and their sums, are bytes: the first pass adds and compares four times
 * as many.
 */
#ifndef HEDDLE_ISA_MMA_FLOATS_H
#define HEDDLE_ISA_MMA_FLOATS_H

#include "isa/mma_vectors.h"
#include "isa/sem_mma.h"

enum {
    NEVER = 1 << 20, /* subtracted from exponents of 0 */
    /* In bytes, the exponent of 0: with that of another factor (-14 to 15), or of 0, it is less
     * than NEAR. */
    NARROW_NEVER = -64,
    NEAR = -48 /* products of narrow factors that are not 0 have greater exponents */
};

/* Codes of f16, in the low halves of words, as f32: exact but for what a NaN says. */
INLINE vf widen_f16(vu words)
{
#if defined __AVX512F__
    return (vf)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)words));
#elif defined __F16C__
    __m256i low = (__m256i)(words & 0xffff), halves = _mm256_packus_epi32(low, low);
    return (vf)_mm256_cvtph_ps(_mm256_castsi256_si128(_mm256_permute4x64_epi64(halves, 0x08)));
#else
    vf v = (vf)(((vi)words & 0x7fff) << 13) *
           (vf)((vi){0} + ((254 - 15) << 23)); /* f32 with the bits is off by a power of two */
    return (vf)((vu)v | (words & 0x8000) << 16);
#endif
}

/* Sums of 24 bits with the last one set where others have been cut off, * 2^(top - fraction):
 * rounded to nearest even as f16, at the last place, by adding and subtracting what has it as its
 * own last place. */
INLINE vi round_f16(vf sum)
{
    vi sign = (vi)sum & INT32_MIN;
    vf magnitude = (vf)((vi)sum ^ sign);
    vi exponent = ((vi)magnitude >> 23) - 127;
    exponent = MAX(exponent, (vi){0} - 14);
    vf magic = (vf)((exponent + (23 - 10 + 127)) << 23 | 1 << 22);
    vi bits = (vi)((magnitude + magic) - magic);
    vi subnormal = __builtin_convertvector((vf)bits * 0x1p24f, vi);
    vi code = SELECT(bits < (127 - 14) << 23, subnormal, (bits >> 13) - (112 << 10));
    code = SELECT(bits >= (127 + 16) << 23, (vi){0} + 0x7c00, code);
    return code | ((vi)((vu)sign >> 16) & (bits != 0));
}

/* A sum as f32, cut to 24 bits. */
INLINE vf mma_cut(vi sum)
{
#if defined __AVX512F__
    return (vf)_mm512_cvt_roundepi32_ps((__m512i)sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    /* Of -|sum|, for all of these are integers of 32 bits, and so is each one's nearest f32. */
    vi sign = sum >> 31, negative = sign - (sum ^ sign);
    vf f = __builtin_convertvector(negative, vf); /* to nearest */
    vi above = __builtin_convertvector(f, vi) < negative;
    return (vf)(((vi)f + above) & (sign | INT32_MAX));
#endif
}

/* A sum in units of `unit_value`, as an element of D. */
INLINE vi as_element(struct mma_unit unit, vi sum, vf unit_value)
{
    vf f = mma_cut(sum);
    if (unit.is_f16) {
        vi rest = __builtin_convertvector(f, vi) != sum;
        return round_f16((vf)((vi)f | (rest & 1)) * unit_value);
    }
    return (vi)((vf)((vi)f & -(1 << (23 - unit.result_bits))) * unit_value);
}

/* The products' sum and c, which is 0 where `is_something` is, in units of 2^(top - fraction).
 * Gives something else than 0 where f32 and 32 bits do not hold what there is on the way: a sum of
 * more bits, terms near f32's least and largest exponents. */
INLINE vi mma_finish(struct mma_unit unit, bool wide, vi products, vi c, vi top, vi is_something, vi *d)
{
    vi sum = (vi)((vu)products + (vu)c), overflows = (products ^ sum) & (c ^ sum) & INT32_MIN;
    vi is_far = ((top < -100) | (wide ? top > 150 : (vi){0})) & (sum | is_something);
    *d = as_element(unit, sum, (vf)((top - unit.fraction_bits + 127) << 23));
    if (!unit.is_f16)
        *d &= sum != 0; /* the unit of a 0 may be none of f32 */
    return overflows | is_far;
}

/* The accumulators: their exponents, and what they are, positive or not. */
struct accumulator {
    vi exponent;
    vf value;
};

/* An f32 is what it is; its exponent is too small by one where it is subnormal, which mma_finish()
 * finds out. Of f16 the significand with an exponent apart. */
INLINE struct accumulator take_accumulator(bool is_f16, vu code)
{
    struct accumulator x;
    x.exponent = (vi)(code >> 23 & 255) - 127;
    x.value = (vf)code;
    if (is_f16) {
        vi field = (vi)(code >> 10) & 31, is_normal = field != 0;
        vi significand = ((vi)code & 1023) | (is_normal & 1024);
        x.exponent = field + 1 + is_normal - 15;
        vf v = __builtin_convertvector(significand, vf) * (vf)((x.exponent + (127 - 10)) << 23);
        x.value = (vf)((vu)v | (code & 0x8000) << 16);
        x.exponent -= (significand == 0) & NEVER;
    }
    return x;
}

/* mma_finish() where all exponents are at least NEAR: f32 has all units and scales, and a sum of 0
 * is a positive 0. The sum's unit is 1 / scale. Gives negative numbers where 32 bits do not hold a
 * sum. */
INLINE vi mma_finish_near(struct mma_unit unit, vi products, vi c, vf scale, vi *d)
{
    vi sum = (vi)((vu)products + (vu)c), overflows = (products ^ sum) & (c ^ sum);
    *d = as_element(unit, sum, (vf)(((vi){0} + (254 << 23)) - (vi)scale));
    return overflows;
}

/* What terms of exponent 0 are multiplied by, to be aligned to `top`. */
INLINE vf scale_of(struct mma_unit unit, bool near, vi top)
{
    vi none = {0}, exponent = none + (127 + unit.fraction_bits) - top;
    return (vf)((near ? exponent : MAX(MIN(exponent, none + 254), none)) << 23);
}

#endif
