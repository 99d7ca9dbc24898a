/* explain/rules: of every pattern of lanes that was recorded on an H200 the rules say what Nsight
 * Compute counted. */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

#include "explain/rules.h"

enum { PATTERNS = 48 };

/* ---- the patterns: offset of a lane's element; false where the lane takes no part ---- */

static uint32_t mix32(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

typedef bool pattern_fn(unsigned p, unsigned i, unsigned bytes, uint64_t *offset);

static bool plain(unsigned p, unsigned i, unsigned b, uint64_t *offset)
{
    const unsigned shapes[] = {31 - i, i / 2,      i / 4, i % 4, i % 2 * 64 + i / 2, i / 8 * 32 + i % 8,
                               i ^ 5u, i % 16 * 33};
    if (p < 34)
        *offset = (uint64_t)i * p * b;
    else if (p < 42)
        *offset = (uint64_t)shapes[p - 34] * b;
    else if (p == 42)
        *offset = i * b + 64;
    else
        *offset = (uint64_t)(mix32(p * 32 + i + 77777 * b) & ((32u << (p - 43)) - 1)) * b;
    return true;
}

static bool global(unsigned p, unsigned i, unsigned b, uint64_t *offset)
{
    if (p < 8 || p >= 24)
        return plain(p, i, b, offset);
    *offset = i * b + (p - 8) * (b > 8 ? b : 8) + (b == 4 ? 4 : 0);
    return true;
}

static bool some(unsigned p, unsigned i, unsigned b, uint64_t *offset)
{
    unsigned m1 = i & ~1u, m2 = i & ~2u, r = mix32(p * 32 + i + 4242), thirds[] = {m1, m2, i};
    const struct {
        unsigned at;
        bool on;
    } shapes[] = {
        {m1, true},
        {m2, true},
        {i & ~4u, true},
        {i & ~8u, true},
        {i & ~16u, true},
        {i < 16 ? m1 : i, true},
        {i < 16 ? i : m1, true},
        {i < 16 ? m1 : m2, true},
        {i / 8 % 2 ? m1 : m2, true},
        {i / 8 == 1 ? m2 : m1, true},
        {i / 2 * 17, true},
        {i / 2 * 16, true},
        {i / 2 * 8, true},
        {m2 * 4, true},
        {mix32(p * 32 + i / 2) & 63, true},
        {mix32(p * 32 + m2) & 63, true},
        {mix32(p * 32 + i / 4) & 255, true},
        {mix32(p * 32 + i / 8) & 255, true},
        {i, i % 2 == 0},
        {i, i < 16},
        {i, i >= 16},
        {i, i % 4 == 0},
        {i, i == 0},
        {i, i % 16 == 0},
        {i, i == 0 || i == 8},
        {m1, i < 16 || i % 2 == 0},
        {m1, r & 1},
        {i, r & 1},
        {i, i < 8},
        {i, i % 16 < 8},
        {i / 2 * 16, i % 2 == 0},
        {i * 3, i % 4 < 2},
        {mix32(p * 32 + thirds[p % 3] + 99) & (p < 40 ? 31 : 127), p % 4 < 2 || r >> 9 & 3},
    };
    unsigned last = sizeof shapes / sizeof shapes[0] - 1, n = p < last ? p : last;
    *offset = (uint64_t)shapes[n].at * b;
    return shapes[n].on;
}

static struct lanes lanes_of(pattern_fn *f, unsigned p, unsigned bytes, uint64_t address[RULE_LANES])
{
    struct lanes a = {.bytes = bytes, .address = address};
    for (unsigned i = 0; i < RULE_LANES; i++)
        if (f(p, i, bytes, &address[i]))
            a.mask |= 1u << i;
    return a;
}

/* ---- what was recorded ---- */

enum { LD = SHARED_LD, ST = SHARED_ST, ATOM = SHARED_ATOM };

struct shared_row {
    const char *kernel;
    unsigned bytes;
    enum shared_kind kind;
    pattern_fn *patterns;
    int wavefronts[PATTERNS];
};
static const struct shared_row shared_rows[] = {
#define WAVEFRONTS(kernel, bytes, kind, patterns, ...) {#kernel, bytes, (enum shared_kind)kind, patterns, __VA_ARGS__},
#include "patterns_h200.def"
#undef WAVEFRONTS
};

static const struct {
    const char *kernel;
    unsigned bytes;
    enum shared_kind kind;
    pattern_fn *patterns;
    unsigned wavefronts, conflicts;
} sum_rows[] = {
#define SUMS(kernel, bytes, kind, patterns, wavefronts, conflicts)                                                     \
    {#kernel, bytes, (enum shared_kind)kind, patterns, wavefronts, conflicts},
#include "patterns_h200.def"
#undef SUMS
};

struct lines_row {
    const char *kernel;
    unsigned bytes;
    pattern_fn *patterns;
    unsigned counts[PATTERNS][2];
};
static const struct lines_row lines_rows[] = {
#define LINES(kernel, bytes, patterns, ...) {#kernel, bytes, patterns, __VA_ARGS__},
#include "patterns_h200.def"
#undef LINES
};

static const struct {
    const char *kernel;
    unsigned sectors;
} atomic_rows[] = {
#define ATOMIC(kernel, sectors) {#kernel, sectors},
#include "patterns_h200.def"
#undef ATOMIC
};

/* ---- tests ---- */

static void wavefronts_of_each_instruction_are_the_hardware_s(void **state)
{
    unsigned compared = 0;
    (void)state;
    for (size_t k = 0; k < sizeof shared_rows / sizeof shared_rows[0]; k++)
        for (unsigned p = 0; p < PATTERNS; p++) {
            const struct shared_row *r = &shared_rows[k];
            uint64_t address[RULE_LANES];
            struct lanes a = lanes_of(r->patterns, p, r->bytes, address);
            if (r->wavefronts[p] < 0)
                continue;
            compared++;
            if (rule_wavefronts(&a, r->kind).all != (unsigned)r->wavefronts[p])
                fail_msg("%s, pattern %u: %u for %d", r->kernel, p, rule_wavefronts(&a, r->kind).all, r->wavefronts[p]);
        }
    assert_true(compared > 350);
}

static void sums_of_wavefronts_and_conflicts_are_the_hardware_s(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sum_rows / sizeof sum_rows[0]; k++) {
        unsigned wavefronts = 0, conflicts = 0;
        for (unsigned p = 0; p < PATTERNS; p++) {
            uint64_t address[RULE_LANES];
            struct lanes a = lanes_of(sum_rows[k].patterns, p, sum_rows[k].bytes, address);
            struct wavefronts w = rule_wavefronts(&a, sum_rows[k].kind);
            wavefronts += w.all;
            conflicts += w.all - w.ideal;
        }
        if (wavefronts != sum_rows[k].wavefronts || conflicts != sum_rows[k].conflicts)
            fail_msg("%s: %u wavefronts for %u, %u conflicts for %u", sum_rows[k].kernel, wavefronts,
                     sum_rows[k].wavefronts, conflicts, sum_rows[k].conflicts);
    }
}

static int compare_counts(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

static void count_lines(const struct lanes *a, unsigned counts[2])
{
    struct line lines[RULE_LANES];
    counts[0] = rule_lines(a, lines);
    counts[1] = 0;
    for (unsigned i = 0; i < counts[0]; i++)
        counts[1] += (unsigned)__builtin_popcount(lines[i].sectors);
}

/* The recording does not tell the instructions apart: it is compared as a multiset. */
static void lines_and_sectors_of_each_instruction_are_the_hardware_s(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof lines_rows / sizeof lines_rows[0]; k++) {
        const struct lines_row *r = &lines_rows[k];
        unsigned counts[PATTERNS][2];
        for (unsigned p = 0; p < PATTERNS; p++) {
            uint64_t address[RULE_LANES];
            struct lanes a = lanes_of(r->patterns, p, r->bytes, address);
            count_lines(&a, counts[p]);
        }
        qsort(counts, PATTERNS, sizeof counts[0], compare_counts);
        if (memcmp(counts, r->counts, sizeof counts) != 0)
            fail_msg("%s differs", r->kernel);
    }
}

static void sectors_of_atomics_are_the_hardware_s(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof atomic_rows / sizeof atomic_rows[0]; k++) {
        unsigned sectors = 0;
        for (unsigned p = 0; p < PATTERNS; p++) {
            uint64_t address[RULE_LANES];
            struct sector_operations of[RULE_LANES];
            struct lanes a = lanes_of(plain, p, 4, address);
            for (unsigned n = rule_atomic_sectors(&a, of); n; n--)
                sectors += of[n - 1].operations;
        }
        assert_int_equal(sectors, atomic_rows[k].sectors);
    }
}

/* What holds for addresses one by one holds for lanes that are told by a step. */
static void steps_are_as_good_as_addresses(void **state)
{
    static const int64_t steps[] = {0, 1, 2, 4, 8, 12, 16, 32, 36, 128, 4096, -4, -64};
    static const uint32_t masks[] = {UINT32_MAX, 1, 0x80000000, 0x55555555, 0x0000ffff, 0xffff0000, 0x00f00f00};
    (void)state;
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
        for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
            for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
                uint64_t address[RULE_LANES], base = 1 << 20 | (bytes < 32 ? 0x50 : 0);
                struct lanes by_step = {.mask = masks[m], .bytes = bytes, .base = base, .step = steps[s]};
                struct lanes by_lane = {.mask = masks[m], .bytes = bytes, .address = address};
                struct line x[RULE_LANES], y[RULE_LANES];
                int64_t step;
                if (steps[s] % bytes)
                    continue;
                for (unsigned l = 0; l < RULE_LANES; l++)
                    address[l] = lane_address(&by_step, l);
                unsigned n = rule_lines(&by_step, x), sectors = 0;
                assert_int_equal(n, rule_lines(&by_lane, y));
                for (unsigned i = 0; i < n; i++)
                    sectors += (unsigned)__builtin_popcount(x[i].sectors) - (unsigned)__builtin_popcount(y[i].sectors);
                assert_int_equal(sectors, 0);
                assert_int_equal(rule_partial_sectors(&by_step), rule_partial_sectors(&by_lane));
                assert_int_equal(rule_distinct(&by_step), rule_distinct(&by_lane));
                for (int kind = SHARED_LD; kind <= SHARED_INCREMENT; kind++) {
                    struct wavefronts v = rule_wavefronts(&by_step, (enum shared_kind)kind),
                                      w = rule_wavefronts(&by_lane, (enum shared_kind)kind);
                    assert_int_equal(v.all, w.all);
                    assert_int_equal(v.ideal, w.ideal);
                }
                assert_true(rule_step(&by_lane, &step));
                if (masks[m] & (masks[m] - 1))
                    assert_int_equal(step, steps[s]);
            }
}

static void a_step_is_found_only_where_all_lanes_agree(void **state)
{
    uint64_t address[RULE_LANES];
    struct lanes a = {.mask = UINT32_MAX, .bytes = 4, .address = address};
    int64_t step;
    (void)state;
    for (unsigned l = 0; l < RULE_LANES; l++)
        address[l] = 1000 + 12 * l;
    assert_true(rule_step(&a, &step));
    assert_int_equal(step, 12);
    address[31] += 4;
    assert_false(rule_step(&a, &step));
    a.mask = 0x7fffffff;
    assert_true(rule_step(&a, &step));
    a.mask = 1u << 31 | 1;
    assert_false(rule_step(&a, &step)); /* 376 bytes are not 31 steps */
}

/* Words of the 32 lanes lie side by side: a word at one offset takes 128 bytes. */
static void local_memory_is_interleaved(void **state)
{
    uint64_t address[RULE_LANES];
    struct lanes same = {.mask = UINT32_MAX, .bytes = 4, .base = 64}, wide = {.mask = 0xff, .bytes = 16, .base = 64};
    struct lanes apart = {.mask = UINT32_MAX, .bytes = 4, .address = address};
    struct local_traffic t = rule_local(&same);
    (void)state;
    for (unsigned l = 0; l < RULE_LANES; l++)
        address[l] = 4 * l;
    assert_int_equal(t.requests, 1);
    assert_int_equal(t.sectors, 4);
    t = rule_local(&wide);
    assert_int_equal(t.requests, 4);
    assert_int_equal(t.sectors, 4);
    t = rule_local(&apart);
    assert_int_equal(t.requests, 1);
    assert_int_equal(t.sectors, 32);
}

static void sectors_that_stores_do_not_fill_are_partial(void **state)
{
    struct lanes row = {.mask = UINT32_MAX, .bytes = 4, .base = 4096, .step = 4};
    (void)state;
    assert_int_equal(rule_partial_sectors(&row), 0);
    row.base += 4;
    assert_int_equal(rule_partial_sectors(&row), 2);
    row.step = 8;
    row.base = 4096;
    assert_int_equal(rule_partial_sectors(&row), 8);
    row.step = 0;
    assert_int_equal(rule_partial_sectors(&row), 1);
}

/* ---- cp.async: `lanes` of them copy bytes side by side, in rows `stride` bytes apart in shared
 * memory and 4,096 in global memory ---- */

struct copied {
    unsigned bytes;
    bool bypasses;
    unsigned lanes, stride, to, from, swizzle;
    /* As an H200 counted them. Wavefronts 0: of rows that begin in the middle of a sector of either
     * memory, or of .ca and lie in two lines of shared memory, it has a few more than the rule. */
    unsigned tags, sectors, l2_sectors, wavefronts, conflicts;
};

static const struct copied copied[] = {
    // clang-format off
    {16, true, 32, 512, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, true, 8, 128, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, true, 8, 144, 0, 0, 0, 7, 18, 24, 10, 0},
    {16, true, 8, 160, 0, 0, 0, 7, 16, 16, 7, 0},
    {16, true, 8, 176, 0, 0, 0, 7, 18, 24, 10, 0},
    {16, true, 8, 192, 0, 0, 0, 6, 16, 16, 6, 0},
    {16, true, 4, 64, 0, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 80, 0, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 4, 96, 0, 0, 0, 10, 16, 16, 10, 0},
    {16, true, 4, 112, 0, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 4, 128, 0, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 2, 32, 0, 0, 0, 16, 16, 16, 16, 0},
    {16, true, 2, 48, 0, 0, 0, 18, 24, 24, 24, 0},
    {16, true, 2, 64, 0, 0, 0, 16, 16, 16, 16, 0},
    {16, true, 2, 80, 0, 0, 0, 18, 24, 24, 24, 0},
    {16, true, 2, 96, 0, 0, 0, 16, 16, 16, 16, 0},
    {16, true, 1, 16, 0, 0, 0, 32, 32, 32, 32, 0},
    {16, true, 1, 32, 0, 0, 0, 32, 32, 32, 32, 0},
    {16, true, 1, 48, 0, 0, 0, 32, 32, 32, 32, 0},
    {16, true, 1, 64, 0, 0, 0, 32, 32, 32, 32, 0},
    {16, true, 1, 80, 0, 0, 0, 32, 32, 32, 32, 0},
    {16, true, 32, 512, 16, 0, 0, 8, 20, 32, 12, 0},
    {16, true, 4, 64, 16, 0, 0, 12, 24, 32, 20, 0},
    {16, true, 4, 80, 16, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 16, 0, 0, 8, 20, 32, 12, 0},
    {16, true, 32, 512, 32, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 32, 0, 0, 12, 16, 16, 12, 0},
    {16, true, 4, 80, 32, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 32, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 32, 512, 48, 0, 0, 8, 20, 32, 16, 0},
    {16, true, 4, 64, 48, 0, 0, 12, 24, 32, 20, 0},
    {16, true, 4, 80, 48, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 48, 0, 0, 8, 20, 32, 16, 0},
    {16, true, 32, 512, 64, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 64, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 80, 64, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 64, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 32, 512, 96, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 96, 0, 0, 12, 16, 16, 12, 0},
    {16, true, 4, 80, 96, 0, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 96, 0, 0, 8, 16, 16, 8, 0},
    {16, true, 32, 512, 0, 16, 0, 8, 20, 32, 12, 0},
    {16, true, 4, 64, 0, 16, 0, 8, 16, 32, 16, 0},
    {16, true, 4, 80, 0, 16, 0, 11, 20, 28, 0, 0},
    {16, true, 8, 128, 0, 16, 0, 8, 20, 32, 12, 0},
    {16, true, 32, 512, 0, 32, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 0, 32, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 80, 0, 32, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 0, 32, 0, 8, 16, 16, 8, 0},
    {16, true, 32, 512, 0, 64, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 0, 64, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 80, 0, 64, 0, 11, 20, 24, 15, 0},
    {16, true, 8, 128, 0, 64, 0, 8, 16, 16, 8, 0},
    {16, true, 4, 64, 0, 0, 1, 8, 16, 16, 8, 0},
    {16, true, 8, 128, 0, 0, 1, 4, 16, 16, 4, 0},
    {16, true, 4, 64, 0, 0, 2, 8, 16, 16, 8, 0},
    {16, true, 8, 128, 0, 0, 2, 4, 16, 16, 4, 0},
    {16, true, 4, 64, 0, 0, 3, 8, 16, 16, 8, 0},
    {16, true, 8, 128, 0, 0, 3, 4, 16, 16, 4, 0},
    {16, false, 32, 512, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, false, 8, 128, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, false, 8, 144, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, false, 8, 192, 0, 0, 0, 4, 16, 16, 4, 0},
    {16, false, 4, 64, 0, 0, 0, 8, 16, 16, 8, 4},
    {16, false, 4, 80, 0, 0, 0, 8, 16, 16, 0, 0},
    {16, false, 4, 128, 0, 0, 0, 8, 16, 16, 8, 4},
    {16, false, 1, 16, 0, 0, 0, 32, 32, 32, 32, 28},
    {16, false, 1, 32, 0, 0, 0, 32, 32, 32, 32, 28},
    {16, false, 1, 80, 0, 0, 0, 32, 32, 32, 32, 28},
    {4, false, 32, 128, 0, 0, 0, 1, 4, 4, 1, 0},
    {8, false, 32, 256, 0, 0, 0, 2, 8, 8, 2, 0},
    {4, false, 8, 32, 0, 0, 0, 4, 4, 4, 4, 3},
    {8, false, 8, 64, 0, 0, 0, 4, 8, 8, 4, 2},
    {4, false, 8, 36, 0, 0, 0, 4, 4, 4, 0, 0},
    {8, false, 8, 72, 0, 0, 0, 4, 8, 8, 0, 0},
    {4, false, 8, 64, 0, 0, 0, 4, 4, 4, 4, 3},
    {8, false, 8, 128, 0, 0, 0, 4, 8, 8, 4, 2},
    // clang-format on
};

static uint64_t copied_to(const struct copied *c, unsigned lane)
{
    unsigned row = lane / c->lanes, chunk = lane % c->lanes;
    unsigned swizzled[] = {chunk, chunk ^ row % c->lanes, chunk ^ row / 2 % c->lanes, c->lanes - 1 - chunk};
    return c->to + (uint64_t)row * c->stride + (uint64_t)swizzled[c->swizzle] * c->bytes;
}

static void copies_are_counted_by_lines_at_both_ends(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        const struct copied *c = &copied[i];
        uint64_t from[RULE_LANES], to[RULE_LANES];
        for (unsigned lane = 0; lane < RULE_LANES; lane++) {
            from[lane] = c->from + lane / c->lanes * 4096 + lane % c->lanes * c->bytes;
            to[lane] = copied_to(c, lane);
        }
        struct copy_traffic t =
            rule_copy(&(struct lanes){.mask = UINT32_MAX, .bytes = c->bytes, .address = from},
                      &(struct lanes){.mask = UINT32_MAX, .bytes = c->bytes, .address = to}, c->bypasses);
        assert_int_equal(t.tags, c->tags);
        assert_int_equal(t.sectors, c->sectors);
        assert_int_equal(t.l2_sectors, c->l2_sectors);
        if (!c->wavefronts)
            continue;
        assert_int_equal(t.wavefronts, c->wavefronts);
        assert_int_equal(t.wavefronts - t.ideal_wavefronts, c->conflicts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_counted_by_lines_at_both_ends),
        cmocka_unit_test(wavefronts_of_each_instruction_are_the_hardware_s),
        cmocka_unit_test(sums_of_wavefronts_and_conflicts_are_the_hardware_s),
        cmocka_unit_test(lines_and_sectors_of_each_instruction_are_the_hardware_s),
        cmocka_unit_test(sectors_of_atomics_are_the_hardware_s),
        cmocka_unit_test(steps_are_as_good_as_addresses),
        cmocka_unit_test(a_step_is_found_only_where_all_lanes_agree),
        cmocka_unit_test(local_memory_is_interleaved),
        cmocka_unit_test(sectors_that_stores_do_not_fill_are_partial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
