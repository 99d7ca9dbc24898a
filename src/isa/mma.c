/* See mma.h. Compiled once per CPU level, with MMA_NAME the name of the table.
 *
 * Of floating point, one pass finds the exponent that the terms of each element of D are aligned to, a second one adds the terms
 * as integers: a product of f32 is exact here, a multiplication by a power of two puts the grid's unit at 1, and the conversion to
 * an integer cuts as the hardware does. Elements with a NaN or an infinity among their terms are computed anew, one by one.
 * Exponents of f16 and of 8-bit floats, and their sums, are bytes: the first pass adds and compares four columns in a vector.
 */
#include "isa/mma.h"

#include "isa/isa.h"
#include "isa/sem.h"
#include "isa/sem_mma.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#if defined __AVX512F__
enum { W = 16 }; /* lanes of a vector */
#elif defined __AVX2__
enum { W = 8 };
#else
enum { W = 4 };
#endif
enum {
    COLUMNS = 4,     /* computed together, so that a row's factors are loaded once for them */
    NEVER = 1 << 20, /* subtracted from exponents of 0 */
    /* In bytes, the exponent of 0: with that of another factor (-14 to 15), or of 0, it is less than NEAR. */
    NARROW_NEVER = -64,
    NEAR = -48 /* products of narrow factors that are not 0 have greater exponents */
};

typedef f32 vf __attribute__((vector_size(4 * W)));
typedef s32 vi __attribute__((vector_size(4 * W)));
typedef u32 vu __attribute__((vector_size(4 * W)));
typedef s8 vb __attribute__((vector_size(COLUMNS * W))); /* of W rows of a column, and of the next one, .. */

/* Macros, as functions would pass vectors in ways that depend on the level. */
#define LOAD(v, at)     memcpy(&(v), (at), sizeof(v))
#define STORE(at, v)    memcpy((at), &(v), sizeof(v))
#define SELECT(m, x, y) (((x) & (m)) | ((y) & ~(m)))
/* gcc 12 makes two instructions of a comparison and a selection. */
#if defined __AVX512BW__
#define MAX_BYTES(x, y) ((vb)_mm512_max_epi8((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
#define MAX_BYTES(x, y) ((vb)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#elif defined __SSE4_1__
#define MAX_BYTES(x, y) ((vb)_mm_max_epi8((__m128i)(x), (__m128i)(y)))
#else
#define MAX_BYTES(x, y) SELECT((vb)((x) > (y)), x, y)
#endif
#if defined __AVX512F__
#define MAX(x, y) ((vi)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
#define MIN(x, y) ((vi)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
#define MAX(x, y) ((vi)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MIN(x, y) ((vi)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#elif defined __SSE4_1__
#define MAX(x, y) ((vi)_mm_max_epi32((__m128i)(x), (__m128i)(y)))
#define MIN(x, y) ((vi)_mm_min_epi32((__m128i)(x), (__m128i)(y)))
#else
#define MAX(x, y) SELECT((x) > (y), x, y)
#define MIN(x, y) SELECT((x) < (y), x, y)
#endif

/* Factors taken apart. */
struct factors {
    f32 value[MMA_MAX_A]
        __attribute__((aligned(64))); /* or the significand alone, where f32 does not hold the products */
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
};

/* ---- bytes ---- */

/* (gcc 12 converts vectors of bytes one by one.) */
INLINE void store_bytes(vi v, s8 *to)
{
#if defined __AVX512F__
    __m128i bytes = _mm512_cvtepi32_epi8((__m512i)v);
    __asm__("" : "+v"(bytes)); /* not to memory in one instruction, which takes Zen 4 many times as long as two */
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
#define ROWS(c) [c * W... c * W + W - 1] = c
        ROWS(0), ROWS(1), ROWS(2), ROWS(3)
#undef ROWS
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

/* Codes of f16 as f32: exact but for what a NaN says. */
INLINE vf widen_f16(vu code)
{
#if defined __AVX512F__
    return (vf)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)code));
#elif defined __F16C__
    __m256i words = _mm256_packus_epi32((__m256i)code, (__m256i)code);
    return (vf)_mm256_cvtph_ps(_mm256_castsi256_si128(_mm256_permute4x64_epi64(words, 0x08)));
#else
    vf v = (vf)(((vi)code & 0x7fff) << 13) *
           (vf)((vi){0} + ((254 - 15) << 23)); /* f32 with the bits is off by a power of two */
    return (vf)((vu)v | (code & 0x8000) << 16);
#endif
}

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

INLINE bool any_lane(vi v)
{
#if defined __AVX512F__
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#elif defined __AVX2__
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#elif defined __SSE4_1__
    return !_mm_testz_si128((__m128i)v, (__m128i)v);
#else
    s32 any = 0;
    for (unsigned l = 0; l < W; l++)
        any |= v[l];
    return any != 0;
#endif
}

/* True where any is a NaN or an infinity. */
INLINE bool take_apart(struct mma_format f, bool wide, const u32 *code, unsigned n, struct factors *to)
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
    struct mma_number x = mma_take(f, code);
    return x.is_nan || x.is_infinite;
}

/* Sparse A with zeros where it has no elements; false where two are for one place, which no metadata should say. */
static bool expand(const struct block *x, u32 *dense)
{
    bool distinct = true;
    memset(dense, 0, sizeof *dense * x->b_rows * x->m);
    for (unsigned i = 0; i < x->k * x->m; i++) {
        u32 *at = &dense[x->selected[i] * x->m + i % x->m];
        bool is_zero = !mma_take(x->fa, x->a[i]).significand;
        distinct &= !*at || is_zero;
        *at = is_zero ? *at : x->a[i];
    }
    return distinct;
}

/* ---- one by one ---- */

static u32 element_of(const struct block *x, unsigned m, unsigned n)
{
    u32 a[MMA_MAX_K], b[MMA_MAX_K];
    for (unsigned k = 0; k < x->k; k++) {
        a[k] = x->a[k * x->m + m];
        b[k] = x->b[(x->selected ? x->selected[k * x->m + m] : k) * x->n + n];
    }
    return sem_mma_block(x->unit, x->fa, x->fb, x->k, a, b, x->c[n * x->m + m]);
}

/* All elements, or those with something special in their row, column or c. */
static void compute_singly(const struct block *x, bool all)
{
    bool row[MMA_MAX_M] = {false}, column[MMA_MAX_N] = {false};
    for (unsigned i = 0; i < x->k * x->m; i++)
        row[i % x->m] |= is_special(x->fa, x->a[i]);
    for (unsigned i = 0; i < x->b_rows * x->n; i++)
        column[i % x->n] |= is_special(x->fb, x->b[i]);
    for (unsigned n = 0; n < x->n; n++)
        for (unsigned m = 0; m < x->m; m++)
            if (all || row[m] || column[n] || is_special(x->unit.is_f16 ? mma_f16 : mma_f32, x->c[n * x->m + m]))
                x->d[n * x->m + m] = element_of(x, m, n);
}

/* ---- results ---- */

/* Sums of 24 bits with the last one set where others have been cut off, * 2^(top - fraction): rounded to nearest even as f16, at the
 * last place, by adding and subtracting what has it as its own last place. */
INLINE void round_f16(vf sum, u32 *d)
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
    code |= (vi)((vu)sign >> 16) & (bits != 0);
    STORE(d, code);
}

/* A sum as f32, cut to 24 bits. */
INLINE vf cut(vi sum)
{
#if defined __AVX512F__
    return (vf)_mm512_cvt_roundepi32_ps((__m512i)sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    vi is_negative = sum >> 31, magnitude = (sum ^ is_negative) - is_negative;
    vf f = __builtin_convertvector(magnitude, vf); /* to nearest */
    vi back = __builtin_convertvector(f, vi), above = (back > magnitude) | (back < 0);
    return (vf)(((vi)f + above) | (is_negative & INT32_MIN));
#endif
}

/* The products' sum and c, which is 0 where `is_something` is, in units of 2^(top - fraction). Gives something else than 0 where f32
 * and 32 bits do not hold what there is on the way: a sum of more bits, terms near f32's least and largest exponents. */
INLINE vi finish(struct mma_unit unit, bool wide, vi products, vi c, vi top, vi is_something, u32 *d)
{
    vi sum = (vi)((vu)products + (vu)c), overflows = (products ^ sum) & (c ^ sum) & INT32_MIN;
    vi is_far = ((top < -100) | (wide ? top > 150 : (vi){0})) & (sum | is_something);
    vf f = cut(sum), unit_value = (vf)((top - unit.fraction_bits + 127) << 23);
    if (unit.is_f16) {
        vi rest = __builtin_convertvector(f, vi) != sum;
        round_f16((vf)((vi)f | (rest & 1)) * unit_value, d);
    } else {
        f = (vf)((vi)f & -(1 << (23 - unit.result_bits))) * unit_value;
        vi bits = (vi)f & (sum != 0); /* the unit of a 0 may be none of f32 */
        STORE(d, bits);
    }
    return overflows | is_far;
}

/* ---- blocks ---- */

/* The accumulators: their exponents, and what they are, positive or not. */
struct accumulator {
    vi exponent;
    vf value;
};

/* An f32 is what it is; its exponent is too small by one where it is subnormal, which finish() finds out. Of f16 the significand
 * with an exponent apart. */
INLINE struct accumulator take_accumulator(bool is_f16, const u32 *at)
{
    struct accumulator x;
    vu code;
    LOAD(code, at);
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

/* The greatest exponents of products, of rows m to m + W - 1 of COLUMNS columns from n on. */
INLINE void find_tops(const struct block *x, bool wide, const struct factors *a, const struct factors *b,
                      unsigned k_count, unsigned n, unsigned m, vi top[COLUMNS])
{
    if (wide) {
        for (unsigned k = 0; k < k_count; k++) {
            vi e;
            LOAD(e, a->exponent + k * x->m + m);
            for (unsigned j = 0; j < COLUMNS; j++)
                top[j] = MAX(top[j], e + b->exponent[k * x->n + n + j]);
        }
        return;
    }
    vb all = repeat_rows(a->narrow + m) + repeat_columns(b->narrow + n);
    for (unsigned k = 1; k < k_count; k++)
        all = MAX_BYTES(all, repeat_rows(a->narrow + k * x->m + m) + repeat_columns(b->narrow + k * x->n + n));
    for (unsigned j = 0; j < COLUMNS; j++)
        top[j] = MAX(top[j], widen_rows(&all, j));
}

/* Where all exponents of a tile are at least NEAR, f32 has all units and scales, and a sum of 0 is a positive 0. Without that, products
 * that are 0 do not count.
 */
INLINE bool are_near(vi top[COLUMNS])
{
    vi least = MIN(MIN(top[0], top[1]), MIN(top[2], top[3])), below = least < NEAR;
    if (!any_lane(below))
        return true;
    for (unsigned j = 0; j < COLUMNS; j++)
        top[j] -= (top[j] < NEAR) & NEVER;
    return false;
}

/* finish() of such tiles; the sum's unit is 1 / scale. Gives negative numbers where 32 bits do not hold a sum. */
INLINE vi finish_near(struct mma_unit unit, vi products, vi c, vf scale, u32 *d)
{
    vi sum = (vi)((vu)products + (vu)c), overflows = (products ^ sum) & (c ^ sum);
    vf f = cut(sum), unit_value = (vf)(((vi){0} + (254 << 23)) - (vi)scale);
    if (unit.is_f16) {
        vi rest = __builtin_convertvector(f, vi) != sum;
        round_f16((vf)((vi)f | (rest & 1)) * unit_value, d);
    } else {
        f = (vf)((vi)f & -(1 << (23 - unit.result_bits))) * unit_value;
        STORE(d, f);
    }
    return overflows;
}

/* Adds the terms, aligned to exponents top. `wide`: exponents are beyond f32's, so that terms are scaled one by one. Gives something else
 * than 0 where some elements are to be computed singly.
 */
INLINE vi add_tile(const struct block *x, struct mma_unit unit, bool wide, bool near, const struct factors *a,
                   const struct factors *b, unsigned k_count, unsigned n, unsigned m, const vi top[COLUMNS])
{
    const s32 fraction = unit.fraction_bits;
    const unsigned m_count = x->m, n_count = x->n;
    vi sum[COLUMNS], none = {0}, odd = {0};
    vf scale[COLUMNS];
    for (unsigned j = 0; j < COLUMNS; j++) {
        vi exponent = none + (127 + fraction) - top[j];
        scale[j] = (vf)((near ? exponent : MAX(MIN(exponent, none + 254), none)) << 23);
        sum[j] = none;
    }
    for (unsigned k = 0; k < k_count; k++) {
        vf v;
        vi e = none;
        LOAD(v, a->value + k * m_count + m);
        if (wide)
            LOAD(e, a->exponent + k * m_count + m);
        for (unsigned j = 0; j < COLUMNS; j++) {
            unsigned at = k * n_count + n + j;
            vf own = scale[j];
            if (wide)
                own = (vf)(MAX(e + (127 + fraction) + b->exponent[at] - top[j], none) << 23);
            sum[j] += __builtin_convertvector(v * b->value[at] * own, vi);
        }
    }
    for (unsigned j = 0; j < COLUMNS; j++) {
        struct accumulator c = take_accumulator(unit.is_f16, x->c + (n + j) * m_count + m);
        vi own = __builtin_convertvector(c.value * scale[j], vi);
        u32 *d = x->d + (n + j) * m_count + m;
        odd |= near ? finish_near(unit, sum[j], own, scale[j], d)
                    : finish(unit, wide, sum[j], own, top[j], (vi)c.value << 1, d);
    }
    return near ? odd & INT32_MIN : odd;
}

/* Rows m to m + W - 1 of COLUMNS columns from n on. */
INLINE vi multiply_tile(const struct block *x, struct mma_unit unit, bool wide, const struct factors *a,
                        const struct factors *b, unsigned k_count, unsigned n, unsigned m)
{
    const vi least = (vi){0} + mma_least_exponent(unit);
    vi top[COLUMNS];
    for (unsigned j = 0; j < COLUMNS; j++)
        top[j] = MAX(take_accumulator(unit.is_f16, x->c + (n + j) * x->m + m).exponent, least);
    find_tops(x, wide, a, b, k_count, n, m, top);
    if (wide)
        return add_tile(x, unit, true, false, a, b, k_count, n, m, top);
    if (are_near(top))
        return add_tile(x, unit, false, true, a, b, k_count, n, m, top);
    for (unsigned j = 0; j < COLUMNS; j++)
        top[j] = MAX(top[j], MAX(take_accumulator(unit.is_f16, x->c + (n + j) * x->m + m).exponent, least));
    return add_tile(x, unit, false, false, a, b, k_count, n, m, top);
}

/* False where some elements are to be computed singly. */
INLINE bool multiply_block(const struct block *x, struct mma_unit unit, bool wide, const struct factors *a,
                           const struct factors *b, unsigned k_count)
{
    vi odd = {0};
    for (unsigned n = 0; n < x->n; n += COLUMNS)
        for (unsigned m = 0; m < x->m; m += W)
            odd |= multiply_tile(x, unit, wide, a, b, k_count, n, m);
    return !any_lane(odd);
}

static bool run_wide(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    return multiply_block(x, mma_unit_f32, true, a, b, k);
}

static bool run_narrow(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    if (x->unit.fraction_bits == 25)
        return x->unit.is_f16 ? multiply_block(x, mma_unit_f16, false, a, b, k)
                              : multiply_block(x, mma_unit_f32, false, a, b, k);
    return x->unit.is_f16 ? multiply_block(x, mma_unit_fp8_f16, false, a, b, k)
                          : multiply_block(x, mma_unit_fp8_f32, false, a, b, k);
}

static bool take_factors(struct mma_format f, const u32 *code, unsigned n, struct factors *to)
{
    if (f.exponent_bits == 8)
        return f.mantissa_bits == 7 ? take_apart(mma_bf16, true, code, n, to) : take_apart(mma_tf32, true, code, n, to);
    if (f.exponent_bits == 4)
        return take_apart(mma_e4m3, false, code, n, to);
    return f.mantissa_bits == 10 ? take_apart(mma_f16, false, code, n, to) : take_apart(mma_e5m2, false, code, n, to);
}

static bool has_special(struct mma_format f, const u32 *code, unsigned n)
{
    u32 found = 0, ones = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    for (unsigned i = 0; i < n; i++)
        found |= (code[i] & ones) == ones;
    return found;
}

static void run_block(const struct block *given)
{
    struct block x = *given;
    struct factors a, b;
    u32 dense[MMA_MAX_A], c[MMA_MAX_D];
    unsigned k = x.selected ? x.b_rows : x.k;
    if (x.c == x.d) { /* which is still needed when some of it has been written */
        memcpy(c, x.c, sizeof *c * x.m * x.n);
        x.c = c;
    }
    bool distinct = !x.selected || expand(&x, dense);
    bool special = take_factors(x.fa, x.selected ? dense : x.a, k * x.m, &a);
    special |= take_factors(x.fb, x.b, x.n * k, &b);
    special |= has_special(x.unit.is_f16 ? mma_f16 : mma_f32, x.c, x.m * x.n);
    bool done = x.fa.exponent_bits == 8 ? run_wide(&x, &a, &b, k) : run_narrow(&x, &a, &b, k);
    if (special || !distinct || !done)
        compute_singly(&x, !distinct || !done);
}

/* ---- 8-bit floats of mma ---- */

/* The elements of A with 4i and 4i + 1, or the others, as f16; those of B are all there, and selected. */
static unsigned take_half(const struct mma_product *p, struct mma_format f, const u32 *a, const u8 *selected,
                          unsigned half, u32 *to, u8 *to_selected)
{
    unsigned n = 0;
    for (unsigned k = 0; k < p->k; k++) {
        if ((k >> 1 & 1) != half)
            continue;
        for (unsigned m = 0; m < p->m; m++) {
            to[n * p->m + m] = mma_widen_fp8(f, a[k * p->m + m]);
            to_selected[n * p->m + m] = selected ? selected[k * p->m + m] : (u8)k;
        }
        n++;
    }
    return n;
}

static struct mma_format format_of(enum isa_type type)
{
    switch (type) {
    case TYPE_f16: return mma_f16;
    case TYPE_bf16: return mma_bf16;
    case TYPE_tf32: return mma_tf32;
    case TYPE_e4m3: return mma_e4m3;
    default: return mma_e5m2;
    }
}

static void multiply_fp8(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                         const u8 *selected)
{
    bool is_f16 = p->d_type == TYPE_f16;
    unsigned b_rows = selected ? 2 * p->k : p->k;
    u32 wide_a[MMA_MAX_A], wide_b[MMA_MAX_B], sum[MMA_MAX_D] = {0};
    u8 at[MMA_MAX_A];
    struct mma_format fa = format_of((enum isa_type)p->a_type), fb = format_of((enum isa_type)p->b_type);
    for (unsigned i = 0; i < b_rows * p->n; i++)
        wide_b[i] = mma_widen_fp8(fb, b[i]);
    for (unsigned half = 0; half < 2; half++) {
        unsigned k = take_half(p, fa, a, selected, half, wide_a, at);
        struct block x = {is_f16 ? mma_unit_f16 : mma_unit_f32,
                          mma_f16,
                          mma_f16,
                          p->m,
                          p->n,
                          k,
                          b_rows,
                          wide_a,
                          wide_b,
                          sum,
                          at,
                          sum};
        run_block(&x);
    }
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++)
        d[i] = is_f16 ? mma_f16_of_f32(mma_f32_of_f16(c[i]) + mma_f32_of_f16(sum[i]))
                      : mma_canonical(f32_of(c[i]) + f32_of(sum[i]));
}

/* ---- floating point ---- */

/* wmma of tf32: the first half of k, and then the second one. */
static void run_halves(struct block x)
{
    x.k = x.b_rows = x.k / 2;
    run_block(&x);
    x.a += x.k * x.m;
    x.b += x.k * x.n;
    x.c = x.d;
    run_block(&x);
}

static void multiply_floats(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                            const u8 *selected)
{
    bool is_fp8 = p->a_type == TYPE_e4m3 || p->a_type == TYPE_e5m2;
    bool narrows = p->d_type == TYPE_f16 && p->c_type != TYPE_f16,
         widens = p->d_type != TYPE_f16 && p->c_type == TYPE_f16;
    bool is_f16 = p->d_type == TYPE_f16 && !narrows;
    unsigned count = (unsigned)p->m * p->n;
    u32 wide[MMA_MAX_D];
    if (is_fp8 && !p->is_warpgroup) {
        multiply_fp8(p, a, b, c, d, selected);
        return;
    }
    for (unsigned i = 0; widens && i < count; i++)
        wide[i] = mma_canonical(mma_f32_of_f16(c[i]));
    struct block x = {.unit = is_fp8 ? (is_f16 ? mma_unit_fp8_f16 : mma_unit_fp8_f32)
                                     : (is_f16 ? mma_unit_f16 : mma_unit_f32),
                      .fa = format_of((enum isa_type)p->a_type),
                      .fb = format_of((enum isa_type)p->b_type),
                      .m = p->m,
                      .n = p->n,
                      .k = p->k,
                      .b_rows = selected ? 2u * p->k : p->k,
                      .a = a,
                      .b = b,
                      .c = widens ? wide : c,
                      .selected = selected,
                      .d = d};
    if (p->is_wmma && p->a_type == TYPE_tf32)
        run_halves(x);
    else
        run_block(&x);
    for (unsigned i = 0; narrows && i < count; i++)
        d[i] = mma_f16_of_f32(f32_of(d[i]));
}

static void multiply_quads(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++) {
        u32 row[4], column[4];
        for (unsigned k = 0; k < 4; k++) {
            row[k] = a[k * p->m + i % p->m];
            column[k] = b[k * p->n + i / p->m];
        }
        d[i] = sem_mma_quad(p->d_type == TYPE_f16, row, column,
                            p->c_type == TYPE_f16 ? mma_f32_of_f16(c[i]) : f32_of(c[i]));
    }
}

static void multiply_f64(const struct mma_product *p, const u64 *a, const u64 *b, const u64 *c, u64 *d)
{
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++) {
        u64 sum = c[i];
        for (unsigned k = 0; k < p->k; k++)
            sum = sem_mma_fma(a[k * p->m + i % p->m], b[k * p->n + i / p->m], sum);
        d[i] = sum;
    }
}

/* ---- integers ---- */

static s32 integer_of(enum isa_type type, u32 code)
{
    switch (type) {
    case TYPE_s8: return (s8)code;
    case TYPE_s4: return (s32)(code << 28) >> 28;
    default: return (s32)code;
    }
}

/* Sums of products of bytes are exact in f32, whose multiplications are the fastest: 128 products are less than 2^23. */
static void multiply_integers(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                              const u8 *selected)
{
    f32 av[MMA_MAX_A] __attribute__((aligned(64))) = {0}, bv[MMA_MAX_B];
    unsigned k_count = selected ? 2u * p->k : p->k;
    for (unsigned i = 0; i < (unsigned)p->k * p->m; i++)
        av[selected ? selected[i] * p->m + i % p->m : i] += (f32)integer_of((enum isa_type)p->a_type, a[i]);
    for (unsigned i = 0; i < k_count * p->n; i++)
        bv[i] = (f32)integer_of((enum isa_type)p->b_type, b[i]);
    for (unsigned n = 0; n < p->n; n++)
        for (unsigned m = 0; m < p->m; m += W) {
            vf sum = {0};
            for (unsigned k = 0; k < k_count; k++) {
                vf v;
                LOAD(v, av + k * p->m + m);
                sum += v * bv[k * p->n + n];
            }
            vi exact = __builtin_convertvector(sum, vi);
            for (unsigned l = 0; l < W; l++)
                d[n * p->m + m + l] = sem_mma_add(c[n * p->m + m + l], exact[l], p->saturates);
        }
}

static void multiply_bits(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    u32 flip = p->bit_op == MOD_xor;
    for (unsigned n = 0; n < p->n; n++)
        for (unsigned m = 0; m < p->m; m++) {
            u32 sum = c[n * p->m + m];
            for (unsigned k = 0; k < p->k; k++) {
                u32 x = a[k * p->m + m], y = b[k * p->n + n];
                sum += (u32)__builtin_popcount(flip ? x ^ y : x & y);
            }
            d[n * p->m + m] = sum;
        }
}

#if defined __AVX512F__
extern const struct mma_fns mma_v3; /* for matrices of eight rows */
#endif

static void multiply(const struct mma_product *p, const void *a, const void *b, const void *c, void *d,
                     const uint8_t *selected)
{
#if defined __AVX512F__
    if (p->m % W) {
        mma_v3.multiply(p, a, b, c, d, selected);
        return;
    }
#endif
    if (p->is_quad)
        multiply_quads(p, a, b, c, d);
    else if (p->a_type == TYPE_f64)
        multiply_f64(p, a, b, c, d);
    else if (p->a_type == TYPE_b1)
        multiply_bits(p, a, b, c, d);
    else if (p->d_type == TYPE_s32)
        multiply_integers(p, a, b, c, d, selected);
    else
        multiply_floats(p, a, b, c, d, selected);
}

/* ---- fragments ---- */

#if defined __AVX2__
enum { PARTS = 32 / W, EIGHTS = W / 8 }; /* vectors of a row; groups of eight lanes in one */
typedef u32 v8 __attribute__((vector_size(32)));

/* Lanes 4 r + t of a row, by t: eight of them behind the other; and back. */
#if defined __AVX512F__
INLINE void part_lanes(const u32 *row, vu out[PARTS])
{
    vu r[PARTS];
    LOAD(r[0], row);
    LOAD(r[1], row + W);
    out[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    out[1] = __builtin_shufflevector(r[0], r[1], 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
}

INLINE void join_lanes(const vu in[PARTS], u32 *row)
{
    vu low = __builtin_shufflevector(in[0], in[1], 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    vu high = __builtin_shufflevector(in[0], in[1], 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    STORE(row, low);
    STORE(row + W, high);
}
#else
INLINE void part_lanes(const u32 *row, vu out[4])
{
    vu r[4];
    for (unsigned i = 0; i < 4; i++)
        LOAD(r[i], row + 8 * i);
    vu a = __builtin_shufflevector(r[0], r[1], 0, 4, 8, 12, 1, 5, 9, 13),
       b = __builtin_shufflevector(r[2], r[3], 0, 4, 8, 12, 1, 5, 9, 13);
    vu c = __builtin_shufflevector(r[0], r[1], 2, 6, 10, 14, 3, 7, 11, 15),
       d = __builtin_shufflevector(r[2], r[3], 2, 6, 10, 14, 3, 7, 11, 15);
    out[0] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    out[1] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    out[2] = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
    out[3] = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
}

INLINE void join_lanes(const vu in[4], u32 *row)
{
    vu a = __builtin_shufflevector(in[0], in[1], 0, 8, 1, 9, 2, 10, 3, 11),
       b = __builtin_shufflevector(in[0], in[1], 4, 12, 5, 13, 6, 14, 7, 15);
    vu c = __builtin_shufflevector(in[2], in[3], 0, 8, 1, 9, 2, 10, 3, 11),
       d = __builtin_shufflevector(in[2], in[3], 4, 12, 5, 13, 6, 14, 7, 15);
    vu out[4] = {__builtin_shufflevector(a, c, 0, 1, 8, 9, 2, 3, 10, 11),
                 __builtin_shufflevector(a, c, 4, 5, 12, 13, 6, 7, 14, 15),
                 __builtin_shufflevector(b, d, 0, 1, 8, 9, 2, 3, 10, 11),
                 __builtin_shufflevector(b, d, 4, 5, 12, 13, 6, 7, 14, 15)};
    for (unsigned i = 0; i < 4; i++)
        STORE(row + 8 * i, out[i]);
}

#endif

/* Group t of those that are in `parts`. */
INLINE v8 get_eight(const vu parts[PARTS], unsigned t)
{
    v8 v;
    memcpy(&v, (const char *)&parts[t / EIGHTS] + t % EIGHTS * sizeof v, sizeof v);
    return v;
}

INLINE void set_eight(vu parts[PARTS], unsigned t, v8 v)
{
    memcpy((char *)&parts[t / EIGHTS] + t % EIGHTS * sizeof v, &v, sizeof v);
}

INLINE void take_rows(const struct mma_map *map, const u32 *const *rows, const unsigned per, const unsigned bits,
                      u32 *to)
{
    const u32 ones = bits == 32 ? UINT32_MAX : (1u << bits % 32) - 1;
    for (unsigned r = 0; r * per < map->n; r++) {
        vu lanes[PARTS];
        part_lanes(rows[r], lanes);
        for (unsigned i = 0; i < per; i++)
            for (unsigned t = 0; t < 4; t++) {
                v8 v = get_eight(lanes, t) >> i * bits & ones;
                STORE(to + map->number[r * per + i] + map->lane[t], v);
            }
    }
}

static void take_by_eights(const struct mma_map *map, const u32 *const *rows, u32 *to)
{
    switch (map->per) {
    case 1: take_rows(map, rows, 1, 32, to); break;
    case 2: take_rows(map, rows, 2, 16, to); break;
    case 4: take_rows(map, rows, 4, 8, to); break;
    default: take_rows(map, rows, 8, 4, to); break;
    }
}

/* Of 32 or 16 bits: results, and matrices that are transposed. */
INLINE void put_rows(const struct mma_map *map, const u32 *from, const unsigned per, u32 *const *rows)
{
    for (unsigned r = 0; r * per < map->n; r++) {
        vu lanes[PARTS];
        for (unsigned t = 0; t < 4; t++) {
            v8 low, high = {0};
            LOAD(low, from + map->number[r * per] + map->lane[t]);
            if (per > 1)
                LOAD(high, from + map->number[r * per + 1] + map->lane[t]);
            set_eight(lanes, t, low | high << 16);
        }
        join_lanes(lanes, rows[r]);
    }
}

static void put_by_eights(const struct mma_map *map, const u32 *from, u32 *const *rows)
{
    if (map->per == 1)
        put_rows(map, from, 1, rows);
    else
        put_rows(map, from, 2, rows);
}
#endif

/* Stored as it will be loaded: by whole vectors. */
static void load_quads(const uint8_t *const place[8], u32 *row)
{
    typedef u32 v4 __attribute__((vector_size(16)));
    for (unsigned r = 0; r < 8; r += 2) {
        v4 low, high;
        LOAD(low, place[r]);
        LOAD(high, place[r + 1]);
        typeof(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)) both =
            __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
        STORE(row + 4 * r, both);
    }
}

static void load_halves(const uint8_t *const low[4], const uint8_t *const high[4], u32 *row)
{
#if defined __AVX2__
    vu lanes[PARTS];
    for (unsigned t = 0; t < 4; t++) {
        __m256i l = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)low[t]));
        __m256i h = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)high[t]));
        set_eight(lanes, t, (v8)_mm256_or_si256(l, _mm256_slli_epi32(h, 16)));
    }
    join_lanes(lanes, row);
#else
    for (unsigned l = 0; l < 32; l++) {
        u16 half[2];
        memcpy(&half[0], low[l % 4] + l / 4 * 2, 2);
        memcpy(&half[1], high[l % 4] + l / 4 * 2, 2);
        row[l] = half[0] | (u32)half[1] << 16;
    }
#endif
}

static void take(const struct mma_map *map, const u32 *const *rows, u32 *to)
{
    u32 ones = map->bits == 32 ? UINT32_MAX : (1u << map->bits) - 1;
#if defined __AVX2__
    if (map->by_eights) {
        take_by_eights(map, rows, to);
        return;
    }
#endif
    for (unsigned e = 0; e < map->n; e++)
        for (unsigned l = 0; l < 32; l++)
            to[map->number[e] + map->lane[l]] = rows[e / map->per][l] >> e % map->per * map->bits & ones;
}

static void put(const struct mma_map *map, const u32 *from, u32 *const *rows)
{
#if defined __AVX2__
    if (map->by_eights && map->per <= 2) {
        put_by_eights(map, from, rows);
        return;
    }
#endif
    for (unsigned e = 0; e < map->n; e++)
        for (unsigned l = 0; l < 32; l++) {
            u32 v = from[map->number[e] + map->lane[l]] << e % map->per * map->bits;
            rows[e / map->per][l] = e % map->per ? rows[e / map->per][l] | v : v;
        }
}

extern const struct mma_fns MMA_NAME;
const struct mma_fns MMA_NAME = {take, put, load_halves, load_quads, multiply};
