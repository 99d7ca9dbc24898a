/* Integer and bit instructions (PTX ISA 9.7.1, 9.7.2, 9.7.8): included by sem.h. */

static inline u32 u32_min(u32 a, u32 b)
{
    return a < b ? a : b;
}

/* add.sat, sub.sat, mad.hi.sat clamp to the range of s32. */
static inline s32 sem_sat_s32(s64 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x;
}

static inline u64 sem_mulhi_u64(u64 a, u64 b)
{
    return (u64)((unsigned __int128)a * b >> 64);
}

static inline u64 sem_mulhi_s64(s64 a, s64 b)
{
    return (u64)((__int128)a * b >> 64);
}

/* mul24: the low 24 bits of each operand, sign-extended where signed; .hi gives bits 47..16 of the
 * product.
 */
static inline s64 sem_s24(s32 a)
{
    return (s64)(s32)((u32)a << 8) >> 8;
}

static inline u64 sem_u24(u32 a)
{
    return a & 0xffffff;
}

/* 9.7.1.8, 9.7.1.9: division by zero has no defined result; the code that the assembler makes for
 * the H200 gives all ones, as quotient and as remainder, at every width. INT_MIN / -1 wraps.
 * Quotients of 32 bits are those of f64, which the host divides as vectors: rounding does not reach
 * the next integer, which is at least 1/b away. */
static inline u32 sem_div_u32(u32 a, u32 b)
{
    const u32 top = 0x80000000, zero = b == 0;
    f64 x = (f64)(s32)(a ^ top) + 0x1p31, y = (f64)(s32)((b | zero) ^ top) + 0x1p31;
    u32 quotient = (u32)(s32)(__builtin_floor(x / y) - 0x1p31) ^ top;
    return quotient | (0 - zero);
}

static inline u32 sem_rem_u32(u32 a, u32 b)
{
    return (a - sem_div_u32(a, b) * b) | (0 - (u32)(b == 0));
}

/* x, or -x where mask is -1 instead of 0. */
static inline u32 u32_negate_if(s32 x, s32 mask)
{
    return ((u32)x ^ (u32)mask) - (u32)mask;
}

static inline s32 sem_div_s32(s32 a, s32 b)
{
    u32 magnitude = sem_div_u32(u32_negate_if(a, a >> 31), u32_negate_if(b, b >> 31));
    return (s32)(u32_negate_if((s32)magnitude, (a ^ b) >> 31) | (0 - (u32)(b == 0)));
}

static inline s32 sem_rem_s32(s32 a, s32 b)
{
    u32 magnitude = sem_rem_u32(u32_negate_if(a, a >> 31), u32_negate_if(b, b >> 31));
    return (s32)(u32_negate_if((s32)magnitude, a >> 31) | (0 - (u32)(b == 0)));
}

static inline u64 sem_div_u64(u64 a, u64 b)
{
    return b ? a / b : UINT64_MAX;
}

static inline u64 sem_rem_u64(u64 a, u64 b)
{
    return b ? a % b : UINT64_MAX;
}

static inline s64 sem_div_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? (s64)(0u - (u64)a) : a / b;
}

static inline s64 sem_rem_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}

static inline u32 sem_clz_b32(u32 a)
{
    return a ? (u32)__builtin_clz(a) : 32;
}

static inline u32 sem_clz_b64(u64 a)
{
    return a ? (u32)__builtin_clzll(a) : 64;
}

/* bfind: the position of the highest bit that is not a sign bit, all ones where there is none. */
static inline u32 sem_bfind_u32(u32 a)
{
    return 31 - sem_clz_b32(a);
}

static inline u32 sem_bfind_u64(u64 a)
{
    return 63 - sem_clz_b64(a);
}

static inline u32 sem_bfind_s32(s32 a)
{
    return sem_bfind_u32((u32)(a ^ a >> 31));
}

static inline u32 sem_bfind_s64(s64 a)
{
    return sem_bfind_u64((u64)(a ^ a >> 63));
}

/* .shiftamt: how far to shift the found bit to the top. */
static inline u32 sem_shiftamt(u32 position, u32 msb)
{
    return position == UINT32_MAX ? UINT32_MAX : msb - position;
}

static inline u32 sem_brev_b32(u32 a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static inline u64 sem_brev_b64(u64 a)
{
    return (u64)sem_brev_b32((u32)a) << 32 | sem_brev_b32((u32)(a >> 32));
}

/* 9.7.1.17 fns: from bit `base` on, the |offset|-th set bit upwards (or downwards where negative);
 * 0 asks for bit `base` itself. There is no bit above 31. */
static inline u32 sem_fns(u32 mask, u32 base, s32 offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    s32 step = offset < 0 ? -1 : 1;
    u32 left = u32_negate_if(offset, offset >> 31);
    for (s32 i = (s32)base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && --left == 0)
            return (u32)i;
    return UINT32_MAX;
}

/* 9.7.1.19 bfe: the 32-bit forms take position and length modulo 256, as the ISA says for both
 * widths; the H200 takes all bits of them in the 64-bit forms. A length of 0, or a field that
 * starts past the top, gives 0, or the sign bit all over for a signed field past the top. */
static inline u32 sem_bfe_u32(u32 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u32 field = position > 31 ? 0 : a >> position;
    return length > 31 ? field : field & ((1u << length) - 1);
}

static inline u64 sem_bfe_u64(u64 a, u32 position, u32 length)
{
    u64 field = position > 63 ? 0 : a >> position;
    return length > 63 ? field : field & ((1ull << length) - 1);
}

static inline s32 sem_bfe_s32(s32 a, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    if (length == 0)
        return 0;
    u32 top = position + length - 1;
    s32 sign = a >> u32_min(top, 31) & 1;
    u32 field = sem_bfe_u32((u32)(a >> u32_min(position, 31)), 0, length);
    return length > 31 ? (s32)(a >> u32_min(position, 31)) : (s32)(field | (sign ? ~0u << length : 0));
}

static inline s64 sem_bfe_s64(s64 a, u32 position, u32 length)
{
    position = u32_min(position, 64);
    length = u32_min(length, 64);
    if (length == 0)
        return 0;
    u32 top = position + length - 1;
    s64 sign = a >> u32_min(top, 63) & 1;
    u64 field = sem_bfe_u64((u64)(a >> u32_min(position, 63)), 0, length);
    return length > 63 ? a >> u32_min(position, 63) : (s64)(field | (sign ? ~0ull << length : 0));
}

/* 9.7.1.20 bfi: bits of a, `length` many, into b at `position`. */
static inline u32 sem_bfi_b32(u32 a, u32 b, u32 position, u32 length)
{
    position &= 255;
    length &= 255;
    u32 ones = length > 31 ? ~0u : (1u << length) - 1;
    u32 field = position > 31 ? 0 : ones << position;
    return (b & ~field) | (position > 31 ? 0 : a << position & field);
}

static inline u64 sem_bfi_b64(u64 a, u64 b, u32 position, u32 length)
{
    u64 ones = length > 63 ? ~0ull : (1ull << length) - 1;
    u64 field = position > 63 ? 0 : ones << position;
    return (b & ~field) | (position > 63 ? 0 : a << position & field);
}

/* 9.7.1.21 szext: keeps the low n bits and extends; n is clamped to 32 or wrapped to 0..31. */
static inline u32 sem_szext(u32 a, u32 n, bool wrap, bool is_signed)
{
    n = wrap ? n & 31 : n;
    if (n > 31)
        return a;
    u32 ones = (1u << n) - 1;
    bool negative = is_signed && n && a >> (n - 1) & 1;
    return negative ? a | ~ones : a & ones;
}

/* 9.7.1.22 bmsk: `n` ones from bit `position` on. */
static inline u32 sem_bmsk(u32 position, u32 n, bool wrap)
{
    position = wrap ? position & 31 : position;
    n = wrap ? n & 31 : n;
    u32 ones = n > 31 ? ~0u : (1u << n) - 1;
    return position > 31 ? 0 : ones << position;
}

static inline u32 sem_byte(u32 x, int i, bool is_signed)
{
    u32 byte = x >> 8 * i & 255;
    return is_signed ? (u32)(s32)(s8)byte : byte;
}

static inline u32 sem_half(u32 x, int i, bool is_signed)
{
    u32 half = x >> 16 * i & 0xffff;
    return is_signed ? (u32)(s32)(s16)half : half;
}

static inline u32 sem_dp4a(u32 a, u32 b, u32 c, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 4; i++)
        c += sem_byte(a, i, a_signed) * sem_byte(b, i, b_signed);
    return c;
}

static inline u32 sem_dp2a(u32 a, u32 b, u32 c, bool a_signed, bool b_signed, bool high)
{
    for (int i = 0; i < 2; i++)
        c += sem_half(a, i, a_signed) * sem_byte(b, i + 2 * high, b_signed);
    return c;
}

/* 9.7.8.6 lop3: bit (a, b, c) of the table, for every bit position at once. */
static inline u32 sem_lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    for (u32 i = 0; i < 8; i++) {
        u32 term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        r |= term & (0u - (table >> i & 1));
    }
    return r;
}

/* 9.7.8.7 shf: b:a shifted, the high word of a left shift, the low word of a right shift. */
static inline u32 sem_shf(u32 a, u32 b, u32 c, bool right, bool wrap)
{
    u32 n = wrap ? c & 31 : u32_min(c, 32);
    u64 both = (u64)b << 32 | a;
    return right ? (u32)(both >> n) : (u32)(both << n >> 32);
}

/* 9.7.9.7 prmt: each nibble of the selector picks a byte of b:a, or (bit 3) its sign all over. */
static inline u32 sem_prmt(u32 a, u32 b, u32 selector)
{
    u64 bytes = (u64)b << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        u32 pick = selector >> 4 * i & 15;
        u32 byte = (u32)(bytes >> 8 * (pick & 7)) & 255;
        byte = pick & 8 ? (byte & 128 ? 255 : 0) : byte;
        r |= byte << 8 * i;
    }
    return r;
}

/* The special modes of prmt as selectors of the general one; c is taken modulo 4. */
static inline u32 sem_prmt_f4e(u32 c)
{
    c &= 3;
    return c | (c + 1) << 4 | (c + 2) << 8 | (c + 3) << 12;
}

static inline u32 sem_prmt_b4e(u32 c)
{
    c &= 3;
    return c | (c + 7) % 8 << 4 | (c + 6) % 8 << 8 | (c + 5) % 8 << 12;
}

static inline u32 sem_prmt_rc8(u32 c)
{
    return (c & 3) * 0x1111;
}

static inline u32 sem_prmt_ecl(u32 c)
{
    c &= 3;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++)
        r |= (i > c ? i : c) << 4 * i;
    return r;
}

static inline u32 sem_prmt_ecr(u32 c)
{
    c &= 3;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++)
        r |= (i < c ? i : c) << 4 * i;
    return r;
}

static inline u32 sem_prmt_rc16(u32 c)
{
    return c & 1 ? 0x3232 : 0x1010;
}

/* 9.7.2: a + b + carry, with the carry out. */
static inline u32 sem_add_carry_32(u32 a, u32 b, u32 *carry)
{
    u64 sum = (u64)a + b + *carry;
    *carry = (u32)(sum >> 32);
    return (u32)sum;
}

static inline u64 sem_add_carry_64(u64 a, u64 b, u32 *carry)
{
    u64 sum = a + b, both = sum + *carry;
    *carry = (sum < a) | (both < sum);
    return both;
}
