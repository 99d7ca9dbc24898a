/* See mma.h. Compiled once per CPU level, with MMA_NAME the name of the table.
 *
 * Of floating point, one pass finds the exponent that the terms of each element of D are aligned to, a second one adds the terms
 * as integers: a product of f32 is exact here, a multiplication by a power of two puts the grid's unit at 1, and the conversion to
 * an integer cuts as the hardware does. Elements with a NaN or an infinity among their terms are computed anew, one by one.
 */
#include "isa/mma.h"

#include "isa/isa.h"
#include "isa/sem.h"
#include "isa/sem_mma.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    W = 8,
    MOST_A = 4096,
    MOST_B = MMA_MAX_N * MMA_MAX_K,
    MOST_C = 1024,
    NEVER = 1 << 20 /* subtracted from exponents of 0 */
};

typedef f32 vf __attribute__((vector_size(4 * W)));
typedef s32 vi __attribute__((vector_size(4 * W)));
typedef u32 vu __attribute__((vector_size(4 * W)));
typedef f64 vd __attribute__((vector_size(8 * W)));
typedef s64 vl __attribute__((vector_size(8 * W)));

/* Macros, as functions would pass vectors in ways that depend on the level. */
#define LOAD(v, at)     memcpy(&(v), (at), sizeof(v))
#define STORE(at, v)    memcpy((at), &(v), sizeof(v))
#define SELECT(m, x, y) (((x) & (m)) | ((y) & ~(m)))
#define MAX(x, y)       SELECT((x) > (y), x, y)
#define MIN(x, y)       SELECT((x) < (y), x, y)

/* Factors taken apart. */
struct factors {
    f32 value[MOST_A] __attribute__((aligned(64))); /* or the significand alone, where f32 does not hold the products */
    s32 exponent[MOST_A] __attribute__((aligned(64)));
};

/* A block of floating point. */
struct block {
    struct mma_unit unit;
    struct mma_format fa, fb;
    unsigned m, n, k, b_stride; /* k: stored elements of A */
    const u32 *a, *b, *c;
    const u8 *selected;
    u32 *d;
};

/* ---- factors ---- */

/* True where any is a NaN or an infinity. */
INLINE bool take_apart(struct mma_format f, bool wide, const u32 *code, unsigned n, struct factors *to)
{
    const s32 top = (1 << f.exponent_bits) - 1, ones = (1 << f.mantissa_bits) - 1, bias = top >> 1;
    vi special = {0};
    for (unsigned i = 0; i < n; i += W) {
        vu c;
        LOAD(c, code + i);
        c >>= f.unused_bits;
        vi mantissa = (vi)c & ones, field = (vi)(c >> f.mantissa_bits) & top;
        vi is_normal = field != 0, significand = mantissa | (is_normal & (1 << f.mantissa_bits));
        vi exponent = field + 1 + is_normal - bias;
        vu sign = c >> (f.exponent_bits + f.mantissa_bits) << 31;
        special |= (field == top) & (f.has_infinity ? (vi){0} == (vi){0} : mantissa == ones);
        vf v = __builtin_convertvector(significand, vf);
        vi scale = wide ? (vi){0} + ((127 - f.mantissa_bits) << 23) : (exponent + (127 - f.mantissa_bits)) << 23;
        v *= (vf)scale;
        v = (vf)((vu)v | sign);
        exponent -= (significand == 0) & NEVER;
        STORE(to->value + i, v);
        STORE(to->exponent + i, exponent);
    }
    s32 any = 0;
    for (unsigned l = 0; l < W; l++)
        any |= special[l];
    return any != 0;
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
    memset(dense, 0, sizeof *dense * x->b_stride * x->m);
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
        b[k] = x->b[n * x->b_stride + (x->selected ? x->selected[k * x->m + m] : k)];
    }
    return sem_mma_block(x->unit, x->fa, x->fb, x->k, a, b, x->c[n * x->m + m]);
}

/* All elements, or those with something special in their row, column or c; `c` is x->c, which d may be. */
static void compute_singly(const struct block *x, const u32 *c, bool all)
{
    bool row[MMA_MAX_M] = {false}, column[MMA_MAX_N] = {false};
    struct block copy = *x;
    copy.c = c;
    for (unsigned i = 0; i < x->k * x->m; i++)
        row[i % x->m] |= is_special(x->fa, x->a[i]);
    for (unsigned i = 0; i < x->b_stride * x->n; i++)
        column[i / x->b_stride] |= is_special(x->fb, x->b[i]);
    for (unsigned n = 0; n < x->n; n++)
        for (unsigned m = 0; m < x->m; m++)
            if (all || row[m] || column[n] || is_special(x->unit.is_f16 ? mma_f16 : mma_f32, c[n * x->m + m]))
                x->d[n * x->m + m] = element_of(&copy, m, n);
}

/* ---- results ---- */

/* value * 2^0, exact, to f16: rounded at the last place by adding and subtracting what has it as its own last place. */
INLINE void round_f16(vd value, u32 *d)
{
    vl exponent = ((vl)value >> 52 & 0x7ff) - 1023;
    exponent = MAX(exponent, (vl){0} - 14);
    vd magic = (vd)((exponent + (52 - 10 + 1023)) << 52 | 1ll << 51);
    vd rounded = (value + magic) - magic;
    vi bits = (vi) __builtin_convertvector(rounded, vf);
    vi magnitude = bits & INT32_MAX;
    vi subnormal = __builtin_convertvector((vf)magnitude * 0x1p24f, vi);
    vi code = SELECT(magnitude < (127 - 14) << 23, subnormal, (magnitude >> 13) - (112 << 10));
    code = SELECT(magnitude >= (127 + 16) << 23, (vi){0} + 0x7c00, code);
    code |= (bits >> 16 & 0x8000) & (magnitude != 0);
    STORE(d, code);
}

/* The sums of a and b and c, in units of 2^(top - fraction), cut to f32. */
INLINE void cut_f32(struct mma_unit unit, vi a, vi b, vi c, vi top, u32 *d)
{
    vd sum = __builtin_convertvector(a, vd) + __builtin_convertvector(b, vd) + __builtin_convertvector(c, vd);
    vl scale = (__builtin_convertvector(top, vl) + (1023 - unit.fraction_bits)) << 52;
    vl bits = (vl)(sum * (vd)scale), magnitude = bits & INT64_MAX;
    vl small = (magnitude < (1023ll - 126) << 52) & (magnitude != 0);
    vd cut = (vd)(bits & -(1ll << (52 - unit.result_bits)));
    vf result = __builtin_convertvector(cut, vf);
    STORE(d, result);
    s64 any = 0;
    for (unsigned l = 0; l < W; l++)
        any |= small[l];
    for (unsigned l = 0; any && l < W; l++) { /* subnormal: bits are cut off as of one with the least exponent */
        s64 exact = (s64)a[l] + b[l] + c[l];
        d[l] =
            mma_cut_f32(exact < 0, exact < 0 ? (u64)-exact : (u64)exact, top[l] - unit.fraction_bits, unit.result_bits);
    }
}

/* ---- blocks ---- */

/* `wide`: exponents are beyond f32's, so that terms are scaled one by one. */
INLINE void multiply_block(const struct block *x, struct mma_unit unit, bool wide, const struct factors *a,
                           const struct factors *b, unsigned k_count)
{
    const s32 fraction = unit.fraction_bits, least = mma_least_exponent(unit);
    const struct mma_format fc = unit.is_f16 ? mma_f16 : mma_f32;
    const unsigned m_count = x->m, half = k_count / 2;
    for (unsigned n = 0; n < x->n; n++)
        for (unsigned m = 0; m < m_count; m += W) {
            const f32 *bv = b->value + n * k_count;
            const s32 *be = b->exponent + n * k_count;
            vu code;
            LOAD(code, x->c + n * m_count + m);
            vi field = (vi)(code >> fc.mantissa_bits) & ((1 << fc.exponent_bits) - 1), is_normal = field != 0;
            vi significand = ((vi)code & ((1 << fc.mantissa_bits) - 1)) | (is_normal & (1 << fc.mantissa_bits));
            vi exponent = field + 1 + is_normal - ((1 << (fc.exponent_bits - 1)) - 1);
            exponent -= (significand == 0) & NEVER;
            vi top = MAX(exponent, (vi){0} + least);
            for (unsigned k = 0; k < k_count; k++) {
                vi e;
                LOAD(e, a->exponent + k * m_count + m);
                e += be[k];
                top = MAX(top, e);
            }
            vi shift = exponent - top + (127 + fraction - fc.mantissa_bits);
            vf z = __builtin_convertvector(significand, vf) * (vf)(MAX(shift, (vi){0}) << 23);
            vi is_negative = (vi)code << (31 - fc.exponent_bits - fc.mantissa_bits) >> 31;
            vi sum_c = (__builtin_convertvector(z, vi) ^ is_negative) - is_negative;
            vi sums[2] = {{0}, {0}}, limit = {0};
            vf scale = (vf)(MIN((vi){0} + (127 + fraction) - top, limit + 254) << 23);
            for (unsigned part = 0; part < 2; part++)
                for (unsigned k = part ? half : 0; k < (part ? k_count : half); k++) {
                    vf p;
                    LOAD(p, a->value + k * m_count + m);
                    p *= bv[k];
                    if (wide) {
                        vi e;
                        LOAD(e, a->exponent + k * m_count + m);
                        e += (127 + fraction) + be[k];
                        e -= top;
                        p *= (vf)(MAX(e, limit) << 23);
                    } else {
                        p *= scale;
                    }
                    sums[part] += __builtin_convertvector(p, vi);
                }
            if (!unit.is_f16) {
                cut_f32(unit, sums[0], sums[1], sum_c, top, x->d + n * m_count + m);
                continue;
            }
            vd sum = __builtin_convertvector(sums[0], vd) + __builtin_convertvector(sums[1], vd) +
                     __builtin_convertvector(sum_c, vd);
            vl power = (__builtin_convertvector(top, vl) + (1023 - fraction)) << 52;
            round_f16(sum * (vd)power, x->d + n * m_count + m);
        }
}

static void run_wide(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    multiply_block(x, mma_unit_f32, true, a, b, k);
}

static void run_narrow(const struct block *x, const struct factors *a, const struct factors *b, unsigned k)
{
    if (x->unit.fraction_bits == 25 && !x->unit.is_f16)
        multiply_block(x, mma_unit_f32, false, a, b, k);
    else if (x->unit.fraction_bits == 25)
        multiply_block(x, mma_unit_f16, false, a, b, k);
    else if (!x->unit.is_f16)
        multiply_block(x, mma_unit_fp8_f32, false, a, b, k);
    else
        multiply_block(x, mma_unit_fp8_f16, false, a, b, k);
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

static void run_block(const struct block *x)
{
    struct factors a, b;
    u32 dense[MOST_A], c[MOST_C];
    unsigned k = x->selected ? x->b_stride : x->k;
    bool distinct = !x->selected || expand(x, dense);
    bool special = take_factors(x->fa, x->selected ? dense : x->a, k * x->m, &a);
    special |= take_factors(x->fb, x->b, x->n * k, &b);
    special |= has_special(x->unit.is_f16 ? mma_f16 : mma_f32, x->c, x->m * x->n);
    if (special || !distinct)
        memcpy(c, x->c, sizeof *c * x->m * x->n);
    if (x->fa.exponent_bits == 8)
        run_wide(x, &a, &b, k);
    else
        run_narrow(x, &a, &b, k);
    if (special || !distinct)
        compute_singly(x, c, !distinct);
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
    unsigned b_stride = selected ? 2 * p->k : p->k;
    u32 wide_a[MOST_A], wide_b[MOST_B], sum[MOST_C] = {0};
    u8 at[MOST_A];
    struct mma_format fa = format_of((enum isa_type)p->a_type), fb = format_of((enum isa_type)p->b_type);
    for (unsigned i = 0; i < b_stride * p->n; i++)
        wide_b[i] = mma_widen_fp8(fb, b[i]);
    for (unsigned half = 0; half < 2; half++) {
        unsigned k = take_half(p, fa, a, selected, half, wide_a, at);
        struct block x = {is_f16 ? mma_unit_f16 : mma_unit_f32,
                          mma_f16,
                          mma_f16,
                          p->m,
                          p->n,
                          k,
                          b_stride,
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
    u32 half[MOST_B];
    const u32 *b = x.b;
    x.k = x.b_stride = x.k / 2;
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned i = 0; i < x.n * x.k; i++)
            half[i] = b[i / x.k * 2 * x.k + part * x.k + i % x.k];
        x.b = half;
        run_block(&x);
        x.a += x.k * x.m;
        x.c = x.d;
    }
}

static void multiply_floats(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                            const u8 *selected)
{
    bool is_fp8 = p->a_type == TYPE_e4m3 || p->a_type == TYPE_e5m2;
    bool narrows = p->d_type == TYPE_f16 && p->c_type != TYPE_f16,
         widens = p->d_type != TYPE_f16 && p->c_type == TYPE_f16;
    bool is_f16 = p->d_type == TYPE_f16 && !narrows;
    unsigned count = (unsigned)p->m * p->n;
    u32 wide[MOST_C];
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
                      .b_stride = selected ? 2u * p->k : p->k,
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
            column[k] = b[i / p->m * p->k + k];
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
            sum = sem_mma_fma(a[k * p->m + i % p->m], b[i / p->m * p->k + k], sum);
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
    f32 av[MOST_A] __attribute__((aligned(64))) = {0}, bv[MOST_B];
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
                sum += v * bv[n * k_count + k];
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
                u32 x = a[k * p->m + m], y = b[n * p->k + k];
                sum += (u32)__builtin_popcount(flip ? x ^ y : x & y);
            }
            d[n * p->m + m] = sum;
        }
}

static void multiply(const struct mma_product *p, const void *a, const void *b, const void *c, void *d,
                     const uint8_t *selected)
{
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

extern const struct mma_fns MMA_NAME;
const struct mma_fns MMA_NAME = {multiply};
