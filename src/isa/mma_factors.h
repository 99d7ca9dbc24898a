/* Factors of floating-point products taken apart, and bytes of exponents, a block at a time
 * (mma_floats.c). */
#ifndef HEDDLE_ISA_MMA_FACTORS_H
#define HEDDLE_ISA_MMA_FACTORS_H

#include "isa/isa.h"
#include "isa/mma_floats.h"
#include "isa/mma_parts.h"
#include "isa/mma_quads.h"

enum { COLUMNS = 4 }; /* computed together, so that a row's factors are loaded once for them */

/* Factors taken apart. */
struct factors {
    /* Or the significand alone, where f32 does not hold the products. */
    f32 value[MMA_MAX_A] __attribute__((aligned(64)));
    union {
        s32 exponent[MMA_MAX_A];
        s8 narrow[MMA_MAX_A];
    } __attribute__((aligned(64)));
};

/* A block of floating point. */
struct block {
    struct mma_unit unit;
    struct mma_format fa, fb;
    unsigned m, n, k, b_rows; /* k: stored elements of A; those of B */
    const u32 *a, *b, *c;
    const u8 *selected;
    u32 *d;
    /* C and D are in rows of registers, and factors in an order of their own; else dense. */
    const struct mma_places *places;
    const u32 *const *c_rows;
    u32 (*d_rows)[32];
};

/* ---- bytes ---- */

/* (gcc 12 converts vectors of bytes one by one.) */
INLINE void store_bytes(vi v, s8 *to)
{
#if defined __AVX512F__
    __m128i bytes = _mm512_cvtepi32_epi8((__m512i)v);
    /* Not to memory in one instruction, which takes Zen 4 many times as long as two. */
    __asm__("" : "+v"(bytes));
    _mm_storeu_si128((__m128i *)to, bytes);
#elif defined __AVX2__
    __m256i words = _mm256_packs_epi32((__m256i)v, (__m256i)v), bytes = _mm256_packs_epi16(words, words);
    s32 low = _mm256_extract_epi32(bytes, 0), high = _mm256_extract_epi32(bytes, 4);
    memcpy(to, &low, 4);
    memcpy(to + 4, &high, 4);
#elif defined __SSE4_1__
    __m128i words = _mm_packs_epi32((__m128i)v, (__m128i)v);
    s32 bytes = _mm_cvtsi128_si32(_mm_packs_epi16(words, words));
    memcpy(to, &bytes, 4);
#else
    for (unsigned l = 0; l < W; l++)
        to[l] = (s8)v[l];
#endif
}

/* Row by row of those of a column, and of the next one, ..: the same in all columns. */
INLINE vb repeat_rows(const s8 *rows)
{
    vb v;
#if defined __AVX512BW__
    v = (vb)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)rows));
#elif defined __AVX2__
    s64 eight;
    memcpy(&eight, rows, 8);
    v = (vb)_mm256_set1_epi64x(eight);
#else
    s32 four;
    memcpy(&four, rows, 4);
    v = (vb)((vi){0} + four);
#endif
    return v;
}

/* A column's own in all of its rows. */
INLINE vb repeat_columns(const s8 *columns)
{
    vb v;
#if defined __SSSE3__
    static const u8 column_of[64] __attribute__((aligned(64))) = {
        [0 ... W - 1] = 0,
        [W... 2 * W - 1] = 1,
        [2 * W... 3 * W - 1] = 2,
        [3 * W... 4 * W - 1] = 3,
    };
    s32 four;
    memcpy(&four, columns, 4);
#endif
#if defined __AVX512BW__
    v = (vb)_mm512_shuffle_epi8(_mm512_set1_epi32(four), _mm512_load_si512(column_of));
#elif defined __AVX2__
    v = (vb)_mm256_shuffle_epi8(_mm256_set1_epi32(four), _mm256_load_si256((const __m256i *)column_of));
#elif defined __SSSE3__
    v = (vb)_mm_shuffle_epi8(_mm_set1_epi32(four), _mm_load_si128((const __m128i *)column_of));
#else
    for (unsigned c = 0; c < COLUMNS; c++)
        memset((s8 *)&v + c * W, columns[c], W);
#endif
    return v;
}

INLINE vi widen_rows(const vb *v, unsigned column)
{
    const char *at = (const char *)v + column * W;
#if defined __AVX512F__
    return (vi)_mm512_cvtepi8_epi32(_mm_load_si128((const __m128i *)at));
#elif defined __AVX2__
    return (vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)at));
#elif defined __SSE4_1__
    s32 four;
    memcpy(&four, at, 4);
    return (vi)_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four));
#else
    vi rows;
    for (unsigned l = 0; l < W; l++)
        rows[l] = (s8)at[l];
    return rows;
#endif
}

/* ---- factors ---- */

/* Factors whose exponents f32 has, and those of the products, too. */
INLINE vi take_narrow(struct mma_format f, vu code, struct factors *to, unsigned at)
{
    const s32 bits = f.exponent_bits + f.mantissa_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
    vi magnitude = (vi)code & ((1 << bits) - 1), unit = (vi){0} + ((254 - bias) << 23);
    vi exponent = MAX(magnitude >> f.mantissa_bits, (vi){0} + 1) - bias, sign = (vi)(code << (31 - bits)) & INT32_MIN;
    vf v = (vf)(magnitude << (23 - f.mantissa_bits)) * (vf)unit;
    v = f.mantissa_bits == 10 ? widen_f16(code) : (vf)((vi)v | sign);
    exponent = SELECT(magnitude == 0, (vi){0} + NARROW_NEVER, exponent);
    STORE(to->value + at, v);
    store_bytes(exponent, to->narrow + at);
    return f.has_infinity ? magnitude >= ((1 << f.exponent_bits) - 1) << f.mantissa_bits : magnitude == (1 << bits) - 1;
}

/* Factors of f32's range, significand and exponent apart. */
INLINE vi take_wide(struct mma_format f, vu code, struct factors *to, unsigned at)
{
    const s32 top = (1 << f.exponent_bits) - 1;
    code >>= f.unused_bits;
    vi mantissa = (vi)code & ((1 << f.mantissa_bits) - 1), field = (vi)(code >> f.mantissa_bits) & top;
    vi is_normal = field != 0, significand = mantissa | (is_normal & (1 << f.mantissa_bits));
    vi exponent = field + 1 + is_normal - (top >> 1) - ((significand == 0) & NEVER);
    vf v = __builtin_convertvector(significand, vf) * (vf)((vi){0} + ((127 - f.mantissa_bits) << 23));
    v = (vf)((vu)v | code >> (f.exponent_bits + f.mantissa_bits) << 31);
    STORE(to->value + at, v);
    STORE(to->exponent + at, exponent);
    return field == top;
}

/* True where any is a NaN or an infinity. */
INLINE bool mma_take_apart(struct mma_format f, bool wide, const u32 *code, unsigned n, struct factors *to)
{
    vi special = {0};
    for (unsigned i = 0; i < n; i += W) {
        vu c;
        LOAD(c, code + i);
        special |= wide ? take_wide(f, c, to, i) : take_narrow(f, c, to, i);
    }
    return any_lane(special);
}

static bool is_special(struct mma_format f, u32 code)
{
    struct mma_number x = mma_number_of(f, code);
    return x.is_nan || x.is_infinite;
}

/* Sparse A with zeros where it has no elements; false where two are for one place, which no
 * metadata should say. */
static bool mma_expand(const struct block *x, u32 *dense)
{
    bool distinct = true;
    memset(dense, 0, sizeof *dense * x->b_rows * x->m);
    for (unsigned i = 0; i < x->k * x->m; i++) {
        u32 *at = &dense[x->selected[i] * x->m + i % x->m];
        bool is_zero = !mma_number_of(x->fa, x->a[i]).significand;
        distinct &= !*at || is_zero;
        *at = is_zero ? *at : x->a[i];
    }
    return distinct;
}

#endif
