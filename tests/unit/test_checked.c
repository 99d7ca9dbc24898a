/* base/checked: what does not fit is lost, at every edge; and ways whose ends are inside stay
 * inside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked.h"

static const int64_t edges[] = {0,
                                1,
                                -1,
                                INT32_MAX,
                                INT32_MIN,
                                UINT32_MAX,
                                1ll << 31,
                                1ll << 32,
                                -(1ll << 32),
                                (1ll << 32) + 1,
                                1ll << 62,
                                -(1ll << 62),
                                INT64_MAX - 1,
                                INT64_MAX,
                                INT64_MIN,
                                INT64_MIN + 1};
enum { N_EDGES = sizeof edges / sizeof edges[0] };

static void expect(struct checked got, __int128 exact)
{
    bool fits = exact >= INT64_MIN && exact <= INT64_MAX;
    assert_int_equal(got.lost, !fits);
    assert_int_equal(got.v, fits ? (int64_t)exact : 0);
}

static void results_are_exact_or_lost(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_EDGES; i++)
        for (unsigned k = 0; k < N_EDGES; k++) {
            struct checked a = checked(edges[i]), b = checked(edges[k]);
            expect(checked_add(a, b), (__int128)edges[i] + edges[k]);
            expect(checked_sub(a, b), (__int128)edges[i] - edges[k]);
            expect(checked_mul(a, b), (__int128)edges[i] * edges[k]);
        }
}

static void what_is_lost_stays_lost(void **state)
{
    (void)state;
    struct checked lost = checked_add(checked(INT64_MAX), checked(1)), zero = checked(0);
    assert_true(checked_add(lost, zero).lost && checked_add(zero, lost).lost);
    assert_true(checked_sub(lost, lost).lost);
    assert_true(checked_mul(lost, zero).lost && checked_mul(zero, lost).lost);
    assert_false(checked_is_within(lost, INT64_MIN, INT64_MAX));
    assert_true(checked_is_within(checked(INT64_MIN), INT64_MIN, INT64_MAX));
    assert_false(checked_is_within(checked(5), 6, 7));
    assert_false(checked_is_within(checked(8), 6, 7));
}

/* Against sums that cannot wrap. */
static void ranges_are_those_of_wide_numbers(void **state)
{
    (void)state;
    const uint64_t at[] = {0,         1, 31, 32, 4096, 1ull << 31, 1ull << 32, 1ull << 47, 1ull << 63, UINT64_MAX - 31,
                           UINT64_MAX};
    const uint64_t bytes[] = {0, 1, 4, 32, 1ull << 32, UINT64_MAX};
    enum { N = sizeof at / sizeof at[0], N_BYTES = sizeof bytes / sizeof bytes[0] };
    for (unsigned lo = 0; lo < N; lo++)
        for (unsigned hi = 0; hi < N; hi++)
            for (unsigned first = 0; first < N; first++)
                for (unsigned last = 0; last < N; last++)
                    for (unsigned k = 0; k < N_BYTES; k++) {
                        unsigned __int128 end = (unsigned __int128)at[last] + bytes[k];
                        bool inside = at[lo] <= at[first] && at[first] <= at[last] && end <= at[hi];
                        assert_int_equal(range_holds(at[lo], at[hi], at[first], at[last], bytes[k]), inside);
                    }
}

static void alignment_is_a_power_of_two_and_does_not_wrap(void **state)
{
    (void)state;
    uint64_t at;
    assert_true(range_align(0, 64, &at) && at == 0);
    assert_true(range_align(65, 64, &at) && at == 128);
    assert_true(range_align(UINT64_MAX - 63, 64, &at) && at == UINT64_MAX - 63);
    assert_false(range_align(UINT64_MAX - 62, 64, &at));
    assert_true(range_align(1, 1ull << 63, &at) && at == 1ull << 63);
    assert_false(range_align((1ull << 63) + 1, 1ull << 63, &at));
    assert_false(range_align(1, 0, &at));
    assert_false(range_align(1, 3, &at));
}

/* The argument of checked.h at its bounds: of all ways whose ends are inside an allocation, every
 * round is. */
static void a_way_with_both_ends_inside_is_inside(void **state)
{
    (void)state;
    const uint64_t lo = 0x7f0000000000, hi = lo + (1 << 20);
    const uint64_t iterations[] = {0, 1, 2, 3, 1000, (1ull << ITERATIONS_LOG2) - 1};
    const int64_t steps[] = {0,
                             1,
                             -1,
                             4,
                             -4,
                             1 << 18,
                             -(1 << 18),
                             1ll << 31,
                             -(1ll << 31),
                             (1ll << STEP_LOG2) - 1,
                             -(1ll << STEP_LOG2),
                             1ll << STEP_LOG2};
    for (unsigned r = 0; r < sizeof iterations / sizeof iterations[0]; r++)
        for (unsigned s = 0; s < sizeof steps / sizeof steps[0]; s++)
            for (uint64_t first = lo; first < hi; first += 4096) {
                __int128 exact = (__int128)first + (__int128)steps[s] * (__int128)iterations[r];
                uint64_t last = first + (uint64_t)steps[s] * iterations[r];
                assert_int_equal(last >= lo && last < hi, exact >= lo && exact < hi);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_exact_or_lost),
        cmocka_unit_test(what_is_lost_stays_lost),
        cmocka_unit_test(ranges_are_those_of_wide_numbers),
        cmocka_unit_test(alignment_is_a_power_of_two_and_does_not_wrap),
        cmocka_unit_test(a_way_with_both_ends_inside_is_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
