/* mem/window: whatever 32 bits add to where a block's memory is, there is memory of the same kind,
 * or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/window.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int pipe_ends[2];

/* Asked of the system, which says so without a signal. */
static bool can_be_read(const uint8_t *p)
{
    char byte;
    if (write(pipe_ends[1], p, 1) != 1)
        return false;
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    return true;
}

static void offsets_of_32_bits_stay_between_the_guards(void **state)
{
    (void)state;
    struct window_area a;
    window_init(&a);
    if (!a.start)
        skip();
    uint8_t *blocks[3];
    for (int k = 0; k < 3; k++) {
        blocks[k] = window_take(&a, 100000);
        assert_non_null(blocks[k]);
        memset(blocks[k], k, 100000);
        assert_true(window_has(&a, blocks[k]) && window_has(&a, blocks[k] + 99999));
    }
    const int64_t offsets[] = {0,
                               -1,
                               4096,
                               -4096,
                               1ll << 24,
                               1ll << 30,
                               -(1ll << 30),
                               (1ll << 31) - 1,
                               1ll << 31,
                               -(1ll << 31),
                               (1ll << 32) - 4,
                               (1ll << 32) + (1 << 30),
                               -(1ll << 31) - (1 << 30)};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            const uint8_t *p = blocks[k] + offsets[i];
            assert_int_equal(can_be_read(p), window_has(&a, p));
            assert_true(p >= a.reserved && p < a.start + WINDOW_AREA + WINDOW_GUARD_BEHIND);
        }
    window_destroy(&a);
}

static void the_last_is_the_last(void **state)
{
    (void)state;
    struct window_area a;
    window_init(&a);
    if (!a.start)
        skip();
    assert_null(window_take(&a, UINT64_MAX));
    assert_null(window_take(&a, UINT64_MAX - WINDOW_UNIT));
    assert_null(window_take(&a, WINDOW_AREA + 1));
    uint8_t *p = window_take(&a, WINDOW_AREA - WINDOW_UNIT);
    assert_ptr_equal(p, a.start);
    assert_non_null(window_take(&a, 1));
    assert_null(window_take(&a, 1));
    window_destroy(&a);
    assert_null(window_take(&a, 1));
}

static void who_limits_addresses_has_none(void **state)
{
    (void)state;
    struct rlimit old, limit;
    struct window_area a;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    limit = (struct rlimit){1ull << 40, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    window_init(&a);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_null(a.start);
    assert_null(window_take(&a, 1));
    window_destroy(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_of_32_bits_stay_between_the_guards),
        cmocka_unit_test(the_last_is_the_last),
        cmocka_unit_test(who_limits_addresses_has_none),
    };
    if (pipe(pipe_ends) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
