/* isa/: every lane function gives the same bits on every CPU level that this machine has, and is
 * what its entry says that it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/lanes.h"
#include "isa/lane_ids.h"
#include "isa/video.h"

enum { ROUNDS = 300, MAX_ROW_BYTES = WARP_LANES * 16 };

static const struct types {
    const char *name, *e, *a, *b, *c;
} types[LANE_COUNT] = {
    {"", "_", "_", "_", "_"},
#define LANE(name, D, E, A, B, C, is, unit, expr) {#name, #E, #A, #B, #C},
#include "isa/lanes.def"
#undef LANE
};

static uint64_t random_bits(void)
{
    static uint64_t x = 88172645463325252;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

/* A value of `bits` bits: anything, or small, or near a power of two, as an integer or as a number
 * with `exponent` bits of exponent: zeros, subnormals, ones, infinities and NaNs come up often. */
static uint64_t value_of(unsigned bits, unsigned exponent)
{
    uint64_t r = random_bits(), any = random_bits(), sign = (r >> 8 & 1) << (bits - 1);
    unsigned fraction = bits - 1 - exponent;
    uint64_t few = any & any >> 7 & any >> 13, field;
    switch (r % 8) {
    case 0: return any & 15;
    case 1: return 0 - (any & 15);
    case 2: return (1ull << any % bits) - (any >> 32) % 3;
    case 3: return few;
    case 4: field = 0; break;
    case 5: field = (1ull << exponent) - 1 - (r >> 16 & 1); break;
    case 6: field = (1ull << (exponent - 1)) - 4 + (r >> 16 & 7); break;
    default: return any;
    }
    uint64_t low = r >> 20 & 1 ? any : r >> 21 & 1 ? few : 0 - (r >> 22 & 1);
    return sign | field << fraction | (low & ((1ull << fraction) - 1));
}

static void fill(void *row, const char *type)
{
    unsigned bits = type[0] == 'b' ? 64 : type[0] == 'p' || type[0] == '_' ? 32 : (unsigned)atoi(type + 1);
    uint8_t *at = row;
    for (unsigned l = 0; l < MAX_ROW_BYTES * 8 / 64; l++) {
        static const unsigned exponents[] = {5, 8, 8, 11};
        unsigned e = bits < 64 ? bits < 32 ? exponents[random_bits() % 2] : 8 : 11;
        uint64_t v = value_of(bits < 16 ? 16 : bits, e);
        if (bits == 32 && random_bits() % 2) /* two halves */
            v = value_of(16, 5) << 16 | value_of(16, 5);
        memcpy(at + l * (bits < 16 ? 16 : bits) / 8, &v, 8);
        if ((l + 2) * (bits < 16 ? 16 : bits) / 8 + 8 > MAX_ROW_BYTES)
            break;
    }
}

/* The constant of a call: a table of lop3, an element to unpack, or selectors and modifiers of a
 * video instruction. */
static uint64_t constant_for(const char *name)
{
    static const uint16_t parts[] = {0 | 32 << 8, 0 | 8 << 8, 8 | 8 << 8, 16 | 16 << 8};
    static const uint8_t places[] = {15, 1, 4, 12};
    uint64_t r = random_bits();
    bool simd = strchr(name, '2') || strchr(name, '4');
    if (strncmp(name, "lop3", 4) == 0)
        return r & 255;
    if (name[0] != 'v')
        return r & 1;
    return video_to_imm((struct video){
        .a = simd ? r & 0x7777 : parts[r & 3],
        .b = simd ? r >> 16 & 0x7777 : parts[r >> 2 & 3],
        .bytes = simd ? 1 + (r >> 32) % 15 : places[r >> 32 & 3],
        .flags = (uint8_t)(r >> 40),
        .second = r >> 48 & 3,
        .scale = (r >> 56 & 1) * 7,
    });
}

/* Rows of one call; e is also a destination. */
struct rows {
    _Alignas(64) uint8_t d[MAX_ROW_BYTES], e[MAX_ROW_BYTES], a[MAX_ROW_BYTES], b[MAX_ROW_BYTES], c[MAX_ROW_BYTES];
};

static void compare(lane_id id, lane_fn *one, lane_fn *other, const char *level, uint64_t imm, const struct rows *in)
{
    struct rows x = *in, y = *in;
    const struct lane_info *info = lane_info(id);
    unsigned bytes = row_bytes(info->d);
    one(x.d, x.e, x.a, x.b, x.c, imm);
    other(y.d, y.e, y.a, y.b, y.c, imm);
    if (memcmp(x.d, y.d, bytes) == 0 && memcmp(x.e, y.e, WARP_LANES * 4) == 0)
        return;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unsigned n = info->d / 8u ? info->d / 8u : 1, a = info->a / 8u, b = info->b / 8u, c = info->c / 8u;
        uint64_t v[5] = {0};
        if (info->d > 1 && memcmp(x.d + l * n, y.d + l * n, n) == 0)
            continue;
        memcpy(&v[0], x.d + l * n, n < 8 ? n : 8);
        memcpy(&v[1], y.d + l * n, n < 8 ? n : 8);
        memcpy(&v[2], x.a + l * a, a < 8 ? a : 8);
        memcpy(&v[3], x.b + l * b, b < 8 ? b : 8);
        memcpy(&v[4], x.c + l * c, c < 8 ? c : 8);
        fail_msg("%s, lane %u: 0x%llx on %s, 0x%llx on %s, of 0x%llx 0x%llx 0x%llx", info->name, l,
                 (unsigned long long)v[0], lane_level(0), (unsigned long long)v[1], level, (unsigned long long)v[2],
                 (unsigned long long)v[3], (unsigned long long)v[4]);
    }
    fail_msg("%s: the carry differs between %s and %s", info->name, lane_level(0), level);
}

static void levels_agree(void **state)
{
    (void)state;
    static struct rows in;
    lane_fn *const *best = lane_table(lane_level(0), NULL);
    for (unsigned id = 1; id < LANE_COUNT; id++) {
        const struct types *t = &types[id];
        for (unsigned round = 0; round < ROUNDS; round++) {
            fill(in.a, t->a);
            fill(in.b, t->b);
            fill(in.c, t->c);
            for (unsigned l = 0; l < WARP_LANES; l++) /* a carry, or the fourth source */
                ((uint32_t *)in.e)[l] = (uint32_t)(strcmp(t->e, "u4") == 0 ? value_of(32, 8) : random_bits() & 1);
            uint64_t constant = constant_for(t->name);
            for (size_t i = 1; lane_level(i); i++)
                compare((lane_id)id, best[id], lane_table(lane_level(i), NULL)[id], lane_level(i), constant, &in);
        }
    }
}

static uint64_t lane_value(const void *row, unsigned width, unsigned lane)
{
    uint64_t v = 0;
    if (width == 1)
        return *(const uint32_t *)row >> lane & 1;
    memcpy(&v, (const uint8_t *)row + lane * width / 8, width / 8);
    return v;
}

static int64_t as_signed(uint64_t v, unsigned width)
{
    return (int64_t)(v << (64 - width)) >> (64 - width);
}

/* What the column `is` promises, for operands of a width; the caller cuts it to the result's. */
static uint64_t meaning(enum lane_is is, unsigned width, uint64_t a, uint64_t b, uint64_t c)
{
    int64_t sa = as_signed(a, width), sb = as_signed(b, width);
    uint64_t by = b & UINT32_MAX;
    switch (is) {
    case IS_COPY:
    case IS_TRUNC:
    case IS_ZEXT: return a;
    case IS_SEXT: return (uint64_t)sa;
    case IS_ADD: return a + b;
    case IS_SUB: return a - b;
    case IS_NEG: return -a;
    case IS_MUL:
    case IS_MUL_WIDE_U: return a * b;
    case IS_MAD:
    case IS_MAD_WIDE_U: return a * b + c;
    case IS_MUL_WIDE_S: return (uint64_t)sa * (uint64_t)sb;
    case IS_MAD_WIDE_S: return (uint64_t)sa * (uint64_t)sb + c;
    case IS_SHL: return by < width ? a << by : 0;
    case IS_LSHR: return by < width ? a >> by : 0;
    case IS_ASHR: return (uint64_t)(sa >> (by < width ? by : width - 1));
    case IS_AND: return a & b;
    case IS_OR: return a | b;
    case IS_XOR: return a ^ b;
    case IS_NOT: return ~a;
    case IS_EQ: return a == b;
    case IS_NE: return a != b;
    case IS_UGT: return a > b;
    case IS_UGE: return a >= b;
    case IS_ULT: return a < b;
    case IS_ULE: return a <= b;
    case IS_SGT: return sa > sb;
    case IS_SGE: return sa >= sb;
    case IS_SLT: return sa < sb;
    case IS_SLE: return sa <= sb;
    default: fail(); return 0;
    }
}

static void entries_are_what_they_say(void **state)
{
    (void)state;
    static struct rows x;
    unsigned known = 0;
    for (unsigned id = 1; id < LANE_COUNT; id++) {
        const struct lane_info *info = lane_info((lane_id)id);
        const struct types *t = &types[id];
        for (unsigned round = 0; info->is && round < ROUNDS; round++) {
            fill(x.a, t->a);
            fill(x.b, t->b);
            fill(x.c, t->c);
            if (round % 2) /* shifts by less than the width, operands that are equal */
                for (unsigned l = 0; l < WARP_LANES; l++)
                    x.b[l * info->b / 8] = info->is < IS_EQ ? l : x.a[l * info->a / 8];
            lane_table(NULL, NULL)[id](x.d, x.e, x.a, x.b, x.c, 0);
            for (unsigned l = 0; l < WARP_LANES; l++) {
                uint64_t v = meaning(info->is, info->a, lane_value(x.a, info->a, l), lane_value(x.b, info->b, l),
                                     lane_value(x.c, info->c, l));
                assert_int_equal(lane_value(x.d, info->d, l), v << (64 - info->d) >> (64 - info->d));
            }
        }
        known += info->is != IS__;
    }
    assert_in_range(known, 100, LANE_COUNT);
}

static void comparisons_turn_round(void **state)
{
    (void)state;
    for (int is = IS_EQ; is <= IS_SLE; is++)
        for (uint64_t a = 0; a < 4; a++)
            for (uint64_t b = 0; b < 4; b++) {
                uint64_t holds = meaning((enum lane_is)is, 2, a, b, 0);
                assert_int_equal(meaning(lane_inverse((enum lane_is)is), 2, a, b, 0), !holds);
                assert_int_equal(meaning(lane_mirrored((enum lane_is)is), 2, b, a, 0), holds);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_agree), cmocka_unit_test(entries_are_what_they_say),
                                       cmocka_unit_test(comparisons_turn_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
