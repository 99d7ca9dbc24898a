/* check/numbered: numbers that are taken, kept and taken again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/shadow/numbered.h"

enum { MOST = 1 << 20, TAKEN = 20000 };

static uint32_t take(struct numbered *n, struct reservation *s, uint32_t count)
{
    if (s->left < count && !numbered_refill(n, s, count))
        return 0;
    s->left -= count;
    s->next += count;
    return s->next - count;
}

/* Of each three in a row the first is kept. */
static void keep_some(struct numbered *n)
{
    assert_true(numbered_unmark(n));
    for (uint32_t i = 1; i < TAKEN; i += 3)
        assert_true(numbered_mark(n, i, 1));
    assert_false(numbered_mark(n, 1, 1));
    numbered_sweep(n);
}

static void numbers_that_are_not_kept_are_taken_again(void **state)
{
    struct numbered n;
    struct reservation s = {0};
    static uint8_t times[MOST];
    (void)state;
    memset(times, 0, sizeof times);
    assert_true(numbered_open(&n, 8, MOST, NULL));
    for (uint32_t i = 1; i < TAKEN; i++)
        assert_int_equal(take(&n, &s, 1), i);
    uint64_t before = numbered_bytes(&n);
    keep_some(&n);
    s = (struct reservation){0};
    assert_int_equal(numbered_bytes_since(&n), 0);
    for (uint32_t i = 0; i < TAKEN / 2; i++) {
        uint32_t number = take(&n, &s, 1);
        assert_true(number % 3 != 1 || number >= TAKEN);
        assert_int_equal(times[number]++, 0);
    }
    assert_int_equal(numbered_bytes(&n), before);
    assert_true(numbered_bytes_since(&n) >= TAKEN / 2 * 8);
    numbered_close(&n);
}

static void rows_are_taken_again_where_they_fit(void **state)
{
    struct numbered n;
    struct reservation pairs = {0}, rows = {0};
    (void)state;
    assert_true(numbered_open(&n, 8, MOST, NULL));
    uint32_t all = numbered_take_many(&n, TAKEN);
    keep_some(&n);
    uint32_t pair = take(&n, &pairs, 2);
    assert_true(pair % 3 == 2 && pair < all + TAKEN);
    uint32_t row = take(&n, &rows, 3);
    assert_true(row >= all + TAKEN);
    numbered_close(&n);
}

static void none_is_taken_twice_without_marks(void **state)
{
    struct numbered n;
    struct reservation s = {0};
    (void)state;
    assert_true(numbered_open(&n, 8, MOST, NULL));
    numbered_take_many(&n, TAKEN);
    keep_some(&n);
    assert_true(numbered_unmark(&n)); /* and is not swept */
    assert_true(take(&n, &s, 1) > TAKEN);
    numbered_close(&n);
}

static void memory_of_those_that_are_dropped_goes(void **state)
{
    struct numbered n;
    struct budget budget;
    (void)state;
    budget_init(&budget, 1 << 24);
    assert_true(numbered_open(&n, 64, MOST, &budget));
    uint32_t first = numbered_take_many(&n, TAKEN), kept = first + TAKEN / 2;
    memset(numbered_at(&n, first), 7, (size_t)TAKEN * 64);
    for (int turn = 0; turn < 2; turn++) { /* those that have gone stay so */
        assert_true(numbered_unmark(&n));
        numbered_mark(&n, kept, 1);
        numbered_drop(&n);
        assert_int_equal(*(uint8_t *)numbered_at(&n, kept), 7);
        assert_int_equal(*(uint8_t *)numbered_at(&n, first + 100), 0);
        assert_in_range(budget.bytes, 64, 4 * 4096);
    }
    assert_int_equal(numbered_take(&n), first + TAKEN);
    numbered_close(&n);
    assert_int_equal(budget.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_not_kept_are_taken_again),
        cmocka_unit_test(rows_are_taken_again_where_they_fit),
        cmocka_unit_test(none_is_taken_twice_without_marks),
        cmocka_unit_test(memory_of_those_that_are_dropped_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
