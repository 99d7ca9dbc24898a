/* isa/: products of matrices (mma.h), dense and in place, on all CPU levels, against sem_mma.h and
 * a second formulation of the same model: terms are doubles that trunc() cuts, and the host's
 * rounding modes round their sum.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "isa/lanes.h"
#include "isa/mma.h"
#include "isa/sem.h"
#include "isa/sem_mma.h"

enum { MAX = 4096, CASES = 8 };

static u64 seed = 88172645463325252ull;

static u32 random_word(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (u32)(seed >> 16);
}

static struct mma_format format_of(enum isa_type t)
{
    return t == TYPE_f16    ? mma_f16
           : t == TYPE_bf16 ? mma_bf16
           : t == TYPE_tf32 ? mma_tf32
           : t == TYPE_e4m3 ? mma_e4m3
           : t == TYPE_e5m2 ? mma_e5m2
                            : mma_f32;
}

/* Kinds of factors: all bits; any exponent; near 1; of both signs and few values; subnormal; near
 * the largest; near the smallest; mostly 1 with a NaN or an infinity at times; zeros. */
enum { KINDS = 9 };

static u32 make_code(enum isa_type t, unsigned kind)
{
    struct mma_format f = format_of(t);
    unsigned bits = isa_type_bits(t);
    u32 r = random_word(), top = (1u << f.exponent_bits) - 1, mantissa = random_word() & ((1u << f.mantissa_bits) - 1),
        field;
    bool is_integer = t == TYPE_s32 || t == TYPE_s8 || t == TYPE_u8 || t == TYPE_s4 || t == TYPE_u4;
    if (kind == 0 || is_integer)
        return bits == 32 ? r : r & ((1u << bits) - 1);
    switch (kind) {
    case 1: field = random_word() % top; break;
    case 2: field = top / 2 - 2 + random_word() % 4; break;
    case 3:
        field = top / 2;
        mantissa &= 1;
        break;
    case 4: field = 0; break;
    case 5: field = top - 1 - random_word() % 2; break;
    case 6: field = random_word() % 3; break;
    case 7: field = random_word() % 60 ? top / 2 : top; break;
    default:
        field = random_word() % 3 ? 0 : top / 2;
        mantissa = field ? mantissa : 0;
        break;
    }
    return ((r & 1) << (f.exponent_bits + f.mantissa_bits) | field << f.mantissa_bits | mantissa) << f.unused_bits |
           (f.unused_bits ? random_word() & ((1u << f.unused_bits) - 1) : 0);
}

/* ---- the second formulation ---- */

static double value_of(enum isa_type t, u32 code)
{
    struct mma_number x = mma_number_of(format_of(t), code);
    double v = x.is_nan        ? (double)NAN
               : x.is_infinite ? (double)INFINITY
                               : ldexp(x.significand, x.exponent - format_of(t).mantissa_bits);
    return x.negative ? -v : v;
}

static int exponent_of(enum isa_type t, u32 code)
{
    return mma_number_of(format_of(t), code).exponent;
}

static u32 f16_of(double v)
{
    if (isinf(v))
        return v < 0 ? 0xfc00 : 0x7c00;
    double rounded = fabs(v) < 0x1p-14 ? nearbyint(v * 0x1p24) * 0x1p-24
                                       : nearbyint(ldexp(v, 10 - ilogb(v))) * ldexp(1, ilogb(v) - 10);
    u32 sign = v < 0 && rounded != 0 ? 0x8000 : 0;
    rounded = fabs(rounded);
    if (rounded >= 65536)
        return sign | 0x7c00;
    if (rounded < 0x1p-14)
        return sign | (u32)(rounded * 0x1p24);
    return sign | (u32)(ilogb(rounded) + 15) << 10 | ((u32)ldexp(rounded, 10 - ilogb(rounded)) & 0x3ff);
}

static u32 f32_toward_zero(double v, int keep)
{
    if (fabs(v) >= 0x1p128)
        return v < 0 ? 0xff800000 : 0x7f800000;
    int last = (v == 0 || ilogb(v) < -126 ? -126 : ilogb(v)) - keep;
    float cut = (float)ldexp(trunc(ldexp(v, -last)), last);
    return cut == 0 ? 0 : f32_bits(cut);
}

struct terms {
    enum isa_type a_type, b_type, result;
    unsigned n;
    int fraction, keep;
};

static u32 second_block(const struct terms *t, const u32 *a, const u32 *b, u32 c)
{
    bool is_f16 = t->result == TYPE_f16;
    double special = value_of(t->result, c), sum;
    int top = is_f16 ? -21 : -133;
    if (special != 0 && exponent_of(t->result, c) > top)
        top = exponent_of(t->result, c);
    for (unsigned i = 0; i < t->n; i++) {
        double p = value_of(t->a_type, a[i]) * value_of(t->b_type, b[i]);
        int e = exponent_of(t->a_type, a[i]) + exponent_of(t->b_type, b[i]);
        special = isfinite(special) && isfinite(p) ? 0 : special + p;
        top = p != 0 && e > top ? e : top;
    }
    if (isnan(special))
        return is_f16 ? 0x7fff : 0x7fffffff;
    if (isinf(special))
        return is_f16 ? f16_of(special) : f32_bits((float)special);
    sum = trunc(ldexp(value_of(t->result, c), t->fraction - top));
    for (unsigned i = 0; i < t->n; i++)
        sum += trunc(ldexp(value_of(t->a_type, a[i]) * value_of(t->b_type, b[i]), t->fraction - top));
    sum = ldexp(sum, top - t->fraction);
    return is_f16 ? f16_of(sum) : f32_toward_zero(sum, t->keep);
}

static u32 second_fp8(const struct mma_product *p, const u32 *a, const u32 *b, u32 c)
{
    u32 x[MMA_MAX_K], y[MMA_MAX_K], sum = 0;
    for (unsigned half = 0; half < 2; half++) {
        struct terms t = {TYPE_f16, TYPE_f16, (enum isa_type)p->d_type, 0, 25, 23};
        for (unsigned i = 0; i < p->k; i++)
            if ((i % 4 >= 2) == half) {
                double v = value_of((enum isa_type)p->a_type, a[i]), w = value_of((enum isa_type)p->b_type, b[i]);
                x[t.n] = isnan(v) ? 0x7fff : f16_of(v);
                y[t.n++] = isnan(w) ? 0x7fff : f16_of(w);
            }
        sum = second_block(&t, x, y, sum);
    }
    double total = value_of((enum isa_type)p->d_type, c) + value_of((enum isa_type)p->d_type, sum);
    if (p->d_type == TYPE_f16)
        return isnan(total) ? 0x7fff : f16_of(total);
    return isnan(total) ? 0x7fffffff : f32_bits(f32_of(c) + f32_of(sum));
}

static u32 second_integer(const struct mma_product *p, const u32 *a, const u32 *b, u32 c)
{
    s64 sum = (s32)c;
    for (unsigned i = 0; i < p->k; i++) {
        s32 x = p->a_type == TYPE_s8 ? (s8)a[i] : p->a_type == TYPE_s4 ? (s32)(a[i] ^ 8) - 8 : (s32)a[i];
        s32 y = p->b_type == TYPE_s8 ? (s8)b[i] : p->b_type == TYPE_s4 ? (s32)(b[i] ^ 8) - 8 : (s32)b[i];
        sum += x * y;
    }
    return p->saturates && sum > INT32_MAX ? INT32_MAX : p->saturates && sum < INT32_MIN ? (u32)INT32_MIN : (u32)sum;
}

static u32 second(const struct mma_product *p, const u32 *a, const u32 *b, u32 c)
{
    bool is_fp8 = p->a_type == TYPE_e4m3 || p->a_type == TYPE_e5m2;
    struct terms t = {(enum isa_type)p->a_type, (enum isa_type)p->b_type, (enum isa_type)p->d_type, p->k, 25, 23};
    if (p->d_type == TYPE_s32)
        return second_integer(p, a, b, c);
    if (is_fp8 && !p->is_warpgroup)
        return second_fp8(p, a, b, c);
    if (is_fp8)
        t.fraction = t.keep = 13;
    if (!p->is_wmma || p->a_type != TYPE_tf32)
        return second_block(&t, a, b, c);
    t.n = p->k / 2;
    return second_block(&t, a + t.n, b + t.n, second_block(&t, a, b, c));
}

/* ---- cases ---- */

struct operands {
    u32 a[MAX], b[MAX], c[MAX], d[MAX];
    u8 selected[MAX];
};

static void fill(const struct mma_product *p, bool sparse, struct operands *x)
{
    unsigned kind_a = random_word() % KINDS, kind_b = random_word() % KINDS, kind_c = random_word() % KINDS;
    for (unsigned i = 0; i < (unsigned)p->m * p->k; i++)
        x->a[i] = make_code((enum isa_type)p->a_type, kind_a);
    for (unsigned i = 0; i < (unsigned)p->n * p->k * (1 + sparse); i++)
        x->b[i] = make_code((enum isa_type)p->b_type, kind_b);
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++)
        x->c[i] = make_code((enum isa_type)p->d_type, kind_c);
    for (unsigned i = 0; i < (unsigned)p->m * p->k; i++) {
        unsigned k = i / p->m, other = k % 2 ? x->selected[i - p->m] % 4 : 0;
        x->selected[i] = (u8)(k / 2 * 4 + (k % 2 ? other + 1 + random_word() % (3 - other) : random_word() % 3));
    }
}

static void compare(const struct mma_product *p, bool sparse, struct operands *x, const char *level)
{
    mma_for_level(level)->multiply(p, x->a, x->b, x->c, x->d, sparse ? x->selected : NULL);
    for (unsigned n = 0; n < p->n; n++)
        for (unsigned m = 0; m < p->m; m++) {
            u32 a[MMA_MAX_K], b[MMA_MAX_K], at = n * p->m + m;
            for (unsigned k = 0; k < p->k; k++) {
                a[k] = x->a[k * p->m + m];
                b[k] = x->b[(sparse ? x->selected[k * p->m + m] : k) * p->n + n];
            }
            u32 want = second(p, a, b, x->c[at]);
            if (x->d[at] != want)
                fail_msg("%s, %s times %s: element (%u, %u) is 0x%x, and not 0x%x", level,
                         isa_type_name((enum isa_type)p->a_type), isa_type_name((enum isa_type)p->b_type), m, n,
                         x->d[at], want);
        }
}

static void compare_all(const struct mma_product *p, bool sparse)
{
    static struct operands x;
    for (unsigned l = 0; lane_level(l); l++)
        for (unsigned i = 0; lane_table(lane_level(l), NULL) && i < CASES; i++) {
            fill(p, sparse, &x);
            compare(p, sparse, &x, lane_level(l));
        }
}

static void products_agree(void **state)
{
    static const uint8_t types[][3] = {
        {TYPE_f16, TYPE_f16, TYPE_f32},   {TYPE_f16, TYPE_f16, TYPE_f16},   {TYPE_bf16, TYPE_bf16, TYPE_f32},
        {TYPE_tf32, TYPE_tf32, TYPE_f32}, {TYPE_e4m3, TYPE_e5m2, TYPE_f32}, {TYPE_e5m2, TYPE_e4m3, TYPE_f16},
        {TYPE_e5m2, TYPE_e5m2, TYPE_f32}, {TYPE_e4m3, TYPE_e4m3, TYPE_f16}, {TYPE_s8, TYPE_u8, TYPE_s32},
        {TYPE_u8, TYPE_u8, TYPE_s32},     {TYPE_s4, TYPE_u4, TYPE_s32},
    };
    static const uint16_t shapes[][2] = {{16, 8}, {8, 32}, {32, 8}, {16, 16}, {8, 8}};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (unsigned way = 0; way < 8; way++)
            for (size_t s = (t + way) % 2; s < sizeof shapes / sizeof shapes[0]; s += 2) {
                unsigned bits = isa_type_bits((enum isa_type)types[t][0]);
                struct mma_product p = {.a_type = types[t][0],
                                        .b_type = types[t][1],
                                        .c_type = types[t][2],
                                        .d_type = types[t][2],
                                        .is_warpgroup = way & 1,
                                        .is_wmma = way == 2,
                                        .saturates = way & 1,
                                        .m = shapes[s][0],
                                        .n = shapes[s][1],
                                        .k = (uint16_t)(256 / bits)};
                compare_all(&p, way & 4);
            }
}

/* 16 products of the greatest significands and c have a sum of 64 or -64, or next to it. In units
 * of 2^-25 32 bits hold -2^31 and 2^31 - 1, and neither 2^31 nor less than -2^31. */
static void sums_at_the_end_of_32_bits_agree(void **state)
{
    static struct operands x;
    static const struct mma_product p = {
        .a_type = TYPE_f16, .b_type = TYPE_f16, .c_type = TYPE_f32, .d_type = TYPE_f32, .m = 16, .n = 8, .k = 16};
    const float rest = 64 - 16 * 0x1.ffcp0f * 0x1.ffcp0f, c[] = {rest, rest - 0x1p-25f, rest + 0x1p-25f};
    (void)state;
    for (unsigned i = 0; i < 2 * 3; i++) {
        u32 sign = i % 2;
        for (unsigned k = 0; k < MAX; k++) {
            x.a[k] = 0x3fff;
            x.b[k] = 0x3fff | sign << 15;
            x.c[k] = f32_bits(c[i / 2]) | sign << 31;
        }
        for (unsigned l = 0; lane_level(l); l++)
            if (lane_table(lane_level(l), NULL))
                compare(&p, false, &x, lane_level(l));
    }
}

/* ---- in place ---- */

enum { LANES = 32, REGS = 8 };

/* Fragments in registers, by struct mma_eights. */
struct fragments {
    struct mma_places places;
    u32 left[REGS][LANES], right[REGS][LANES], c[REGS][LANES];
};

/* Numbers registers from the last on, so that none is where it would be by chance. */
static void place_eights(struct mma_eights *e, unsigned rows, unsigned columns, unsigned per)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++)
            for (unsigned odd = 0; odd < 2; odd++)
                e->reg[r][c][odd] =
                    (uint8_t)((rows * columns - 1 - (r * columns + c)) * (per == 1 ? 2 : 1) + (per == 1 ? odd : 0));
}

/* Where element (row, column) is: a word, or its low or high half. */
static u32 *word_of(const struct mma_eights *e, u32 regs[REGS][LANES], unsigned row, unsigned column)
{
    return &regs[e->reg[row / 8][column / 8][column % 2]][row % 8 * 4 + column % 8 / 2];
}

static u32 get(const struct mma_eights *e, u32 regs[REGS][LANES], unsigned row, unsigned column, bool halves)
{
    u32 word = *word_of(e, regs, row, column);
    return halves ? word >> 16 * (column % 2) & 0xffff : word;
}

static void put(const struct mma_eights *e, u32 regs[REGS][LANES], unsigned row, unsigned column, bool halves, u32 code)
{
    u32 *word = word_of(e, regs, row, column), shift = 16 * (column % 2);
    *word = halves ? (*word & ~(0xffffu << shift)) | code << shift : code;
}

static void fill_side(const struct mma_eights *e, u32 regs[REGS][LANES], unsigned rows, unsigned columns,
                      enum isa_type t, unsigned kind)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++)
            put(e, regs, r, c, isa_type_bits(t) == 16, make_code(t, kind));
}

static void check_in_place(struct fragments *x, const struct mma_fns *fns, const char *level, bool is_easy)
{
    struct mma_places *p = &x->places;
    enum isa_type type = (enum isa_type)p->type, d_type = (enum isa_type)p->d_type;
    const u32 *left[REGS], *right[REGS], *c[REGS];
    u32 *d[REGS], before[REGS][LANES];
    for (unsigned r = 0; r < REGS; r++) {
        left[r] = x->left[r];
        right[r] = x->right[r];
        c[r] = x->c[r];
        d[r] = x->c[r]; /* as in most programs: the accumulators are the result's */
    }
    memcpy(before, x->c, sizeof before);
    bool done = fns->multiply_in_place(p, left, right, c, d);
    assert_true(done || !is_easy);
    if (!done) {
        assert_memory_equal(before, x->c, sizeof before);
        return;
    }
    struct terms t = {type, type, d_type, 8u * p->k_blocks, 25, 23};
    bool halves = d_type == TYPE_f16;
    for (unsigned row = 0; row < 8u * p->row_blocks; row++)
        for (unsigned column = 0; column < 8u * p->column_blocks; column++) {
            u32 a[MMA_MAX_K], b[MMA_MAX_K];
            for (unsigned k = 0; k < t.n; k++) {
                a[k] = get(&p->left, x->left, row, k, true);
                b[k] = get(&p->right, x->right, column, k, true);
            }
            u32 want = second_block(&t, a, b, get(&p->d, before, row, column, halves)),
                got = get(&p->d, x->c, row, column, halves);
            if (got != want)
                fail_msg("%s, %s: element (%u, %u) is 0x%x, and not 0x%x", level, isa_type_name(type), row, column, got,
                         want);
        }
}

/* Registers as they are, or nothing: a product that is not done has written nothing. */
static void products_in_place_agree(void **state)
{
    static const uint8_t types[][2] = {{TYPE_f16, TYPE_f32}, {TYPE_f16, TYPE_f16}, {TYPE_bf16, TYPE_f32}};
    static const uint8_t blocks[][3] = {{2, 1, 1}, {2, 1, 2}, {2, 2, 2}, {4, 1, 2}}; /* of rows, columns, k */
    static struct fragments x;
    (void)state;
    for (unsigned i = 0; i < 3 * 4 * 120; i++) {
        const uint8_t *t = types[i % 3], *b = blocks[i / 3 % 4];
        enum { NEAR_1 = 2 };
        unsigned kinds[3] = {random_word() % KINDS, random_word() % KINDS, random_word() % KINDS};
        if (i % 5 == 0)
            kinds[0] = kinds[1] = kinds[2] = NEAR_1;
        x.places = (struct mma_places){
            .type = t[0], .d_type = t[1], .row_blocks = b[0], .column_blocks = b[1], .k_blocks = b[2]};
        place_eights(&x.places.left, b[0], b[2], 2);
        place_eights(&x.places.right, b[1], b[2], 2);
        place_eights(&x.places.d, b[0], b[1], t[1] == TYPE_f16 ? 2 : 1);
        fill_side(&x.places.left, x.left, 8u * b[0], 8u * b[2], (enum isa_type)t[0], kinds[0]);
        fill_side(&x.places.right, x.right, 8u * b[1], 8u * b[2], (enum isa_type)t[0], kinds[1]);
        for (unsigned l = 0; lane_level(l); l++) {
            fill_side(&x.places.d, x.c, 8u * b[0], 8u * b[1], (enum isa_type)t[1], kinds[2]);
            if (lane_table(lane_level(l), NULL))
                check_in_place(&x, mma_for_level(lane_level(l)), lane_level(l), i % 5 == 0);
        }
    }
}

/* One term far above the others, terms that cancel, sums at the edge of overflow and of what is
 * kept. */
static void blocks_agree_at_edges(void **state)
{
    static const u32 codes[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0x7c00, 0xfc00};
    static const u32 adds[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                               0x00800000, 0x33800000, 0x33800001, 0x4b800000, 0xcb800001,
                               0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
    enum { N = sizeof codes / sizeof codes[0] };
    (void)state;
    for (unsigned i = 0; i < N * N * N * N; i++)
        for (unsigned k = 0; k < sizeof adds / sizeof adds[0]; k++) {
            const u32 a[2] = {codes[i % N], codes[i / N % N]}, b[2] = {codes[i / N / N % N], codes[i / N / N / N]};
            struct terms t = {TYPE_f16, TYPE_f16, TYPE_f32, 2, 25, 23}, h = {TYPE_f16, TYPE_f16, TYPE_f16, 2, 25, 10};
            assert_int_equal(sem_mma_block(mma_unit_f32, mma_f16, mma_f16, 2, a, b, adds[k]),
                             second_block(&t, a, b, adds[k]));
            assert_int_equal(sem_mma_block(mma_unit_f16, mma_f16, mma_f16, 2, a, b, codes[k % N]),
                             second_block(&h, a, b, codes[k % N]));
        }
}

/* Known figures: 2^24 + 1 loses its last bit, and so does the sum of terms 2^26 apart; a tie of f16
 * goes to even. */
static void results_are_cut(void **state)
{
    const u32 one[2] = {0x3c00, 0x3c00}, ones[2] = {0x3c00, 0x3c00};
    (void)state;
    assert_int_equal(sem_mma_block(mma_unit_f32, mma_f16, mma_f16, 1, one, ones, 0x4b800000), 0x4b800000);
    assert_int_equal(sem_mma_block(mma_unit_f32, mma_f16, mma_f16, 2, one, ones, 0x4b800000), 0x4b800001);
    assert_int_equal(sem_mma_block(mma_unit_f32, mma_f16, mma_f16, 2, one, ones, 0xcb800001), 0xcb800000);
    assert_int_equal(sem_mma_block(mma_unit_f16, mma_f16, mma_f16, 1, one, ones, 0x6800), 0x6800);
    assert_int_equal(sem_mma_block(mma_unit_f16, mma_f16, mma_f16, 1, one, ones, 0x6801), 0x6802);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree),          cmocka_unit_test(sums_at_the_end_of_32_bits_agree),
        cmocka_unit_test(products_in_place_agree), cmocka_unit_test(blocks_agree_at_edges),
        cmocka_unit_test(results_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
