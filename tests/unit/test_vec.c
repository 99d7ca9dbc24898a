/* base/vec on the heap: growth that fails, or is more than can be counted, leaves the array as it
 * was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/vec.h"

static void elements_stay_when_the_array_grows(void **state)
{
    VEC(int) v = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        *VEC_ADD(&v) = i;
    assert_int_equal(v.n, 1000);
    assert_true(v.capacity >= 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i);
    free(v.at);
}

static void elements_are_inserted_before_others_and_removed(void **state)
{
    VEC(int) v = {0};
    (void)state;
    for (int i = 0; i < 100; i++) /* the odd ones behind the even ones */
        *VEC_INSERT(&v, i % 2 ? v.n : (uint32_t)i / 2) = i;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(v.at[i], 2 * i);
        assert_int_equal(v.at[50 + i], 2 * i + 1);
    }
    VEC_REMOVE(&v, 1, 98);
    assert_int_equal(v.n, 2);
    assert_int_equal(v.at[0], 0);
    assert_int_equal(v.at[1], 99);
    VEC_REMOVE(&v, 1, 1); /* nothing is behind it */
    assert_int_equal(v.n, 1);
    free(v.at);
}

static void room_is_made_for_many_at_once(void **state)
{
    struct {
        char *at;
        size_t n, capacity;
    } v = {0};
    (void)state;
    assert_true(VEC_RESERVE(&v, 5000));
    assert_true(v.capacity >= 5000);
    v.n = v.capacity;
    assert_true(VEC_RESERVE(&v, 1));
    assert_true(v.capacity > v.n);
    free(v.at);
}

static void what_cannot_be_counted_is_refused(void **state)
{
    VEC(uint64_t) narrow = {0};
    struct {
        uint64_t *at;
        size_t n, capacity;
    } wide = {0};
    (void)state;
    *VEC_ADD(&narrow) = 7;
    *VEC_ADD(&wide) = 7;
    uint64_t *before = narrow.at;
    assert_false(VEC_RESERVE(&narrow, UINT32_MAX));     /* 1 + UINT32_MAX elements */
    assert_false(VEC_RESERVE(&wide, SIZE_MAX));         /* a number of elements that wraps */
    assert_false(VEC_RESERVE(&wide, SIZE_MAX / 8 + 1)); /* a number of bytes that wraps */
    assert_false(VEC_RESERVE(&wide, SIZE_MAX / 8 - 8)); /* bytes that nobody has */
    assert_ptr_equal(narrow.at, before);
    assert_int_equal(narrow.n, 1);
    assert_int_equal(wide.n, 1);
    assert_int_equal(wide.at[0], 7);
    free(narrow.at);
    free(wide.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_when_the_array_grows),
        cmocka_unit_test(elements_are_inserted_before_others_and_removed),
        cmocka_unit_test(room_is_made_for_many_at_once),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
