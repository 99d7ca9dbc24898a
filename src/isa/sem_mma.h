/* The meaning of the products of matrices: one element of D = A B + C, as the tensor cores of an
 * H200 compute it.
 *
 * The PTX ISA says of sums of floating-point products that neither their order nor their rounding
 * is specified (9.7.14, "the accumulation order, rounding and handling of subnormal inputs are
 * unspecified"). What stands here was found on an H200: formulas that agree with it on 17 thousand
 * million dot products of all types, shapes and kinds of operands, to the bit.
 *
 * Floating point: a block is c plus n products, as many as the hardware's instruction has, and
 * there is no order in it. Products are exact, with the exponent that their factors' add up to, and
 * not normalised; subnormal factors keep the lowest exponent. All terms are aligned to the greatest
 * exponent of those that are not 0, and cut there, toward zero, to a number of bits behind the
 * point. The sum of what is left is exact; it is cut to f32, or rounded once to f16. NaNs are
 * canonical, and zeros positive.
 *
 *     unit                                bits behind the point   result
 *     f16, bf16, tf32                     25                      f32 cut to 24 bits; f16 to nearest even
 *     e4m3, e5m2 by wgmma                 13                      f32 cut to 14 bits; f16 to nearest even
 *     e4m3, e5m2 by mma                   two blocks of f16 from zero (elements 4i and 4i + 1, then the others), and c is added
 *     tf32 by wmma                        two blocks, of half of k each
 *     f16, m8n8k4                         fused operations of f32, and c is added
 *     f16 result, f32 accumulator (wmma)  as an f32 result, which is rounded to f16
 *     f64                                 a chain of fma
 *     integers                            exact, and wraps or saturates at the end
 *
 * mma_floats.c computes whole matrices at once, and is held to this by tests/unit/test_mma.c.
 */
#ifndef HEDDLE_ISA_SEM_MMA_H
#define HEDDLE_ISA_SEM_MMA_H

#include "isa/sem.h"

/* A format of floating-point factors, in the low bits of a word. */
struct mma_format {
    u8 exponent_bits, mantissa_bits, unused_bits; /* unused: below the mantissa, of tf32 */
    bool has_infinity;
};

static const struct mma_format mma_f16 = {5, 10, 0, true}, mma_bf16 = {8, 7, 0, true}, mma_tf32 = {8, 10, 13, true},
                               mma_e4m3 = {4, 3, 0, false}, mma_e5m2 = {5, 2, 0, true}, mma_f32 = {8, 23, 0, true};

/* What a block keeps, and what it gives. */
struct mma_unit {
    u8 fraction_bits; /* behind the point, where terms are cut */
    u8 result_bits;   /* of an f32 result, behind the leading one */
    bool is_f16;      /* c and the result */
};

static const struct mma_unit mma_unit_f32 = {25, 23, false}, mma_unit_f16 = {25, 10, true},
                             mma_unit_fp8_f32 = {13, 13, false}, mma_unit_fp8_f16 = {13, 10, true};

/* No term has a lower exponent when they are aligned. */
static inline s32 mma_least_exponent(struct mma_unit unit)
{
    return unit.is_f16 ? -21 : -133;
}

/* significand * 2^(exponent - mantissa bits) */
struct mma_number {
    bool negative, is_nan, is_infinite;
    s32 exponent;
    u32 significand;
};

static inline struct mma_number mma_number_of(struct mma_format f, u32 code)
{
    code >>= f.unused_bits;
    u32 top = (1u << f.exponent_bits) - 1, mantissa = code & ((1u << f.mantissa_bits) - 1);
    u32 field = code >> f.mantissa_bits & top;
    bool all_ones = field == top && (f.has_infinity || mantissa == (1u << f.mantissa_bits) - 1);
    return (struct mma_number){.negative = code >> (f.exponent_bits + f.mantissa_bits) & 1,
                               .is_nan = all_ones && mantissa,
                               .is_infinite = all_ones && !mantissa,
                               .exponent = (s32)(field ? field : 1) - (s32)(top >> 1),
                               .significand = mantissa | (field ? 1u << f.mantissa_bits : 0)};
}

/* magnitude * 2^exponent cut to `keep` bits behind the leading one, as f32; 0 is positive. */
static inline u32 mma_cut_f32(bool negative, u64 magnitude, s32 exponent, s32 keep)
{
    if (!magnitude)
        return 0;
    s32 lead = 63 - __builtin_clzll(magnitude) + exponent; /* of the number */
    s32 last = (lead < -126 ? -126 : lead) - keep, cut = last - exponent;
    u64 kept = cut <= 0 ? magnitude << -cut : cut > 63 ? 0 : magnitude >> cut;
    if (!kept)
        return 0;
    if (lead > 127)
        return (u32)negative << 31 | 0x7f800000;
    u32 mantissa = (u32)kept << (23 - keep);
    u32 field = lead < -126 ? 0 : (u32)(lead + 126); /* the leading one adds 1 */
    return ((u32)negative << 31) | ((field << 23) + mantissa);
}

/* The same rounded to nearest even, as f16. */
static inline u32 mma_round_f16(bool negative, u64 magnitude, s32 exponent)
{
    if (!magnitude)
        return 0;
    s32 lead = 63 - __builtin_clzll(magnitude) + exponent;
    s32 last = (lead < -14 ? -14 : lead) - 10, cut = last - exponent;
    u64 kept = cut <= 0 ? magnitude << -cut : cut > 63 ? 0 : magnitude >> cut;
    if (cut > 0 && cut <= 63) {
        u64 rest = magnitude & ((1ull << cut) - 1), half = 1ull << (cut - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    if (!kept)
        return 0;
    u32 code = ((lead < -14 ? 0 : (u32)(lead + 14)) << 10) + (u32)kept;
    return (u32)negative << 15 | (lead > 15 || code >= 0x7c00 ? 0x7c00 : code);
}

/* A term's magnitude cut to the grid of 2^(top - fraction bits). The exponent of a term of 0 may be
 * above all others' top. */
static inline s64 mma_align(bool negative, u64 significand, s32 exponent, s32 bits, s32 top, struct mma_unit unit)
{
    if (!significand)
        return 0;
    s32 shift = unit.fraction_bits - bits - (top - exponent);
    u64 cut = shift >= 0 ? significand << shift : shift < -63 ? 0 : significand >> -shift;
    return negative ? -(s64)cut : (s64)cut;
}

/* One block: c + a[0] b[0] + ... + a[n - 1] b[n - 1]. */
static inline u32 sem_mma_block(struct mma_unit unit, struct mma_format fa, struct mma_format fb, unsigned n,
                                const u32 *a, const u32 *b, u32 c)
{
    struct mma_format fc = unit.is_f16 ? mma_f16 : mma_f32;
    struct mma_number z = mma_number_of(fc, c);
    bool is_nan = z.is_nan, infinite[2] = {z.is_infinite && !z.negative, z.is_infinite && z.negative};
    s32 top = mma_least_exponent(unit);
    if (z.significand && z.exponent > top)
        top = z.exponent;
    for (unsigned i = 0; i < n; i++) {
        struct mma_number x = mma_number_of(fa, a[i]), y = mma_number_of(fb, b[i]);
        bool is_zero = !x.significand || !y.significand;
        is_nan |= x.is_nan || y.is_nan || ((x.is_infinite || y.is_infinite) && is_zero);
        infinite[x.negative ^ y.negative] |= x.is_infinite || y.is_infinite;
        if (!is_zero && x.exponent + y.exponent > top)
            top = x.exponent + y.exponent;
    }
    if (is_nan || (infinite[0] && infinite[1]))
        return unit.is_f16 ? 0x7fff : 0x7fffffff;
    if (infinite[0] || infinite[1])
        return (unit.is_f16 ? 0x7c00u : 0x7f800000u) | (u32)infinite[1] << (unit.is_f16 ? 15 : 31);
    s64 sum = mma_align(z.negative, z.significand, z.exponent, fc.mantissa_bits, top, unit);
    for (unsigned i = 0; i < n; i++) {
        struct mma_number x = mma_number_of(fa, a[i]), y = mma_number_of(fb, b[i]);
        sum += mma_align(x.negative ^ y.negative, (u64)x.significand * y.significand, x.exponent + y.exponent,
                         fa.mantissa_bits + fb.mantissa_bits, top, unit);
    }
    u64 magnitude = sum < 0 ? 0 - (u64)sum : (u64)sum;
    return unit.is_f16 ? mma_round_f16(sum < 0, magnitude, top - unit.fraction_bits)
                       : mma_cut_f32(sum < 0, magnitude, top - unit.fraction_bits, unit.result_bits);
}

static inline u32 mma_f16_of_fp8(struct mma_format f, u32 code)
{
    return f.has_infinity ? f16_of_e5m2(code, 0) : f16_of_e4m3(code, 0);
}

/* m8n8k4 of f16: emulated, too, by fma in f32. For an f32 result a chain of four, which is added to
 * c; for one of f16 two of two. */
static inline u32 sem_mma_quad(bool is_f16, const u32 *a, const u32 *b, f32 c)
{
    f32 sum = f32_of_f16((u16)a[0]) * f32_of_f16((u16)b[0]);
    for (unsigned i = 1; i < 4; i++) {
        f32 x = f32_of_f16((u16)a[i]), y = f32_of_f16((u16)b[i]);
        if (is_f16 && i == 2) {
            c += sum;
            sum = x * y;
        } else {
            sum = sem_fma_f32(x, y, sum, RND_rn, false, false);
        }
    }
    return is_f16 ? f16_of_f32(c + sum, RND_rn) : f32_bits(f32_canonical(c + sum));
}

/* a b + c of f64. A NaN is that of b, else of c, else of a, made quiet; else a new one. */
static inline u64 sem_mma_fma(u64 a, u64 b, u64 c)
{
    f64 r = sem_fma_f64(f64_of(a), f64_of(b), f64_of(c), RND_rn);
    const u64 magnitude = ~0ull >> 1, infinity = 0x7ffull << 52, quiet = 1ull << 51;
    if (r == r)
        return f64_bits(r);
    return (b & magnitude) > infinity   ? b | quiet
           : (c & magnitude) > infinity ? c | quiet
           : (a & magnitude) > infinity ? a | quiet
                                        : 0xfff8000000000000ull;
}

/* c + sum of integers, exact until here. */
static inline u32 sem_mma_add(u32 c, s32 sum, bool saturates)
{
    s64 total = (s64)(s32)c + sum;
    if (saturates)
        total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
    return (u32)total;
}

#endif
