/* f64 arithmetic (PTX ISA 9.7.3): included by sem.h.
 *
 * To nearest it is the host's. In a direction, sums take their exact error from f64_two_sum;
 * products, quotients and roots compare significands as 128-bit integers, which is exact over the
 * whole range of exponents. NaNs keep their payload, made quiet; an invalid operation gives
 * 0xfff8000000000000 (recorded on an H200).
 */

typedef unsigned __int128 u128;

/* ---- NaNs ---- */

static inline f64 f64_quiet(f64 nan)
{
    return f64_of(f64_bits(nan) | 1ull << 51);
}

/* r, the result of an operation on a, b and c; or, where that is NaN, the NaN that the hardware
 * gives: that of the last operand which is one. (Recorded on an H200 of all pairs and triples of 20
 * values, 12 of them NaNs, in tests/arithmetic; the order of an fma's operands there is the first
 * factor, the addend, the second factor.) */
static inline f64 f64_result(f64 r, f64 a, f64 b, f64 c)
{
    f64 nan = a != a ? f64_quiet(a) : f64_of(0xfff8000000000000);
    nan = b != b ? f64_quiet(b) : nan;
    nan = c != c ? f64_quiet(c) : nan;
    return r == r ? r : nan;
}

static inline f64 f64_saturate(f64 x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

/* ---- rounding in a direction ---- */

/* As f32_directed. */
static inline f64 f64_directed(f64 x, f64 error, enum rnd rnd)
{
    u64 u = f64_bits(x);
    bool negative = u >> 63, below = error < 0, above = error > 0;
    bool shrink = negative ? above : below, grow = negative ? below : above;
    switch (rnd) {
    case RND_rn: return x;
    case RND_rm: return f64_of(u + (negative && grow) - (!negative && shrink));
    case RND_rp: return f64_of(u + (!negative && grow) - (negative && shrink));
    default: return f64_of(u - shrink);
    }
}

/* A finite |x| as significand * 2^exponent, the leading bit at place 52; 0 where x is 0. */
struct f64_parts {
    u64 significand;
    s32 exponent;
};

static inline struct f64_parts f64_split(f64 x)
{
    u64 u = f64_bits(x), fraction = u & ((1ull << 52) - 1);
    s32 field = (s32)(u >> 52 & 0x7ff);
    s32 up = __builtin_clzll(fraction | 1) - 11;
    return field ? (struct f64_parts){fraction | 1ull << 52, field - 1075}
                 : (struct f64_parts){fraction << up, -1074 - up};
}

static inline u128 shift_right_jam(u128 x, s32 n)
{
    return n == 0 ? x : n > 127 ? x != 0 : x >> n | ((x << (128 - n)) != 0);
}

/* significand * 2^exponent, not zero, rounded to an f64. Bit 0 may stand for all that lies below
 * it. */
static inline f64 f64_join(bool negative, u128 significand, s32 exponent, enum rnd rnd)
{
    u64 top = (u64)(significand >> 64);
    s32 zeros = top ? __builtin_clzll(top) : 64 + __builtin_clzll((u64)significand | 1);
    s32 lead = exponent + 127 - zeros; /* the value is in [2^lead, 2^(lead + 1)) */
    s32 drop = 75 + (lead < -1022 ? -1022 - lead : 0);
    significand = shift_right_jam(significand << zeros, drop > 126 ? drop - 126 : 0);
    drop = drop > 126 ? 126 : drop;
    u64 kept = (u64)(significand >> drop);
    u128 rest = significand << (128 - drop), half = (u128)1 << 127;
    bool up = rnd == RND_rn ? rest > half || (rest == half && (kept & 1))
                            : rest && (rnd == RND_rm   ? negative
                                       : rnd == RND_rp ? !negative
                                                       : false);
    /* The leading bit adds 1 to the field. */
    u64 u = kept + up + (lead < -1022 ? 0 : (u64)(lead + 1022) << 52);
    u64 infinity = 0x7ffull << 52;
    bool to_infinity = rnd == RND_rn || rnd == (negative ? RND_rm : RND_rp);
    if (lead > 1023 || u >= infinity)
        u = to_infinity ? infinity : infinity - 1;
    return f64_of(u | (u64)negative << 63);
}

/* a * b + c with one rounding, for finite operands: the product of the significands is exact, the
 * smaller addend is shifted to the larger's place with a sticky bit. */
static inline f64 f64_fma_exact(f64 a, f64 b, f64 c, enum rnd rnd)
{
    bool negative = f64_bits(a) >> 63 ^ f64_bits(b) >> 63, c_negative = f64_bits(c) >> 63;
    struct f64_parts x = f64_split(a), y = f64_split(b), z = f64_split(c);
    if (!x.significand || !y.significand)
        return f64_two_sum(a * b, c, rnd).hi;
    u128 product = (u128)x.significand * y.significand << 20, addend = (u128)z.significand << 73;
    s32 exponent = x.exponent + y.exponent - 20, addend_exponent = z.exponent - 73;
    if (!addend)
        return f64_join(negative, product, exponent, rnd);
    if (exponent < addend_exponent) {
        product = shift_right_jam(product, addend_exponent - exponent);
        exponent = addend_exponent;
    } else {
        addend = shift_right_jam(addend, exponent - addend_exponent);
    }
    if (negative == c_negative)
        return f64_join(negative, product + addend, exponent, rnd);
    if (product == addend)
        return rnd == RND_rm ? -0.0 : 0.0;
    bool product_wins = product > addend;
    return f64_join(product_wins ? negative : c_negative, product_wins ? product - addend : addend - product, exponent,
                    rnd);
}

/* The sign of |z| - |x * y|, for finite values of which x * y is near z. */
static inline f64 f64_beyond_product(f64 z, f64 x, f64 y)
{
    struct f64_parts p = f64_split(x), q = f64_split(y), w = f64_split(z);
    u128 product = (u128)p.significand * q.significand;
    s32 up = w.exponent - p.exponent - q.exponent;
    u128 whole = up >= 0 && up < 75 ? (u128)w.significand << up : 0;
    return product == 0 || whole > product ? 1 : whole < product ? -1 : 0;
}

static inline bool f64_finite(f64 x)
{
    return __builtin_fabs(x) < __builtin_inf();
}

/* Is the remainder of a product or quotient that is near x, as an fma gives it, exact, and its sign
 * right? Where its last bit is above the smallest number: it lies at most 106 places below. */
static inline bool f64_has_remainder(f64 x)
{
    return HOST_HAS_FMA && __builtin_fabs(x) > 0x1p-960 && f64_finite(x);
}

/* ---- arithmetic ---- */

static inline f64 sem_add_f64(f64 a, f64 b, enum rnd rnd)
{
    struct f64_sum sum = f64_two_sum(a, b, rnd);
    return f64_result(f64_directed(sum.hi, sum.lo, rnd), a, b, 0);
}

static inline f64 sem_sub_f64(f64 a, f64 b, enum rnd rnd)
{
    struct f64_sum sum = f64_two_sum(a, -b, rnd);
    return f64_result(f64_directed(sum.hi, sum.lo, rnd), a, b, 0);
}

static inline f64 sem_fma_f64(f64 a, f64 b, f64 c, enum rnd rnd)
{
    f64 r;
    if (rnd == RND_rn && HOST_HAS_FMA)
        r = __builtin_fma(a, b, c);
    else if (f64_finite(a) && f64_finite(b) && f64_finite(c))
        r = f64_fma_exact(a, b, c, rnd);
    else
        r = (f64_finite(a) && f64_finite(b) ? 0 : a * b) + c;
    return f64_result(r, a, c, b);
}

/* The sum of atom and red on global memory: unlike add, it leaves a NaN as it is, signaling too
 * (recorded). */
static inline f64 sem_atom_add_f64(f64 a, f64 b)
{
    f64 nan = b != b ? b : a;
    return a != a || b != b ? nan : sem_add_f64(a, b, RND_rn);
}

static inline f64 sem_mul_f64(f64 a, f64 b, enum rnd rnd)
{
    f64 r = a * b;
    if (rnd != RND_rn && f64_has_remainder(r))
        r = f64_directed(r, __builtin_fma(a, b, -r), rnd);
    else if (rnd != RND_rn && f64_finite(a) && f64_finite(b) && a != 0 && b != 0)
        r = f64_fma_exact(a, b, 0, rnd);
    return f64_result(r, a, b, 0);
}

static inline f64 sem_div_f64(f64 a, f64 b, enum rnd rnd)
{
    f64 r = a / b;
    if (rnd != RND_rn && f64_has_remainder(r) && f64_has_remainder(a)) {
        f64 rest = __builtin_fma(-r, b, a);
        r = f64_directed(r, b < 0 ? -rest : rest, rnd);
    } else if (rnd != RND_rn && f64_finite(a) && f64_finite(b) && a != 0 && b != 0) {
        f64 error = f64_finite(r) ? f64_beyond_product(a, r, b) : -1;
        r = f64_directed(r, f64_bits(r) >> 63 ? -error : error, rnd);
    }
    return f64_result(r, b, a, 0); /* of two NaNs, division keeps the dividend's */
}

static inline f64 sem_sqrt_f64(f64 a, enum rnd rnd)
{
    f64 r = __builtin_sqrt(a);
    if (rnd != RND_rn && a > 0 && f64_has_remainder(a))
        r = f64_directed(r, __builtin_fma(-r, r, a), rnd);
    else if (rnd != RND_rn && a > 0 && f64_finite(a))
        r = f64_directed(r, f64_beyond_product(a, r, r), rnd);
    return f64_result(r, a, 0, 0);
}

/* abs and neg leave the sign of a NaN, and make it quiet. */
static inline f64 sem_abs_f64(f64 a)
{
    return a == a ? __builtin_fabs(a) : f64_quiet(a);
}

static inline f64 sem_neg_f64(f64 a)
{
    return a == a ? -a : f64_quiet(a);
}

static inline s64 f64_key(f64 x)
{
    s64 s = (s64)f64_bits(x);
    return s ^ (s >> 63 & INT64_MAX);
}

static inline f64 sem_minmax_f64(f64 a, f64 b, bool max)
{
    bool first = (f64_key(a) < f64_key(b)) != max;
    return f64_result((b != b) | (first & (a == a)) ? a : b, a, b, 0);
}

static inline bool sem_normal_f64(f64 a)
{
    return a == 0 || (__builtin_fabs(a) >= 0x1p-1022 && f64_finite(a));
}

static inline bool sem_subnormal_f64(f64 a)
{
    return __builtin_fabs(a) < 0x1p-1022 && a != 0;
}

static inline u64 sem_copysign_f64(u64 a, u64 b)
{
    return (a & 1ull << 63) | (b & INT64_MAX);
}
