/* src/check/shadow: pages from addresses, prototypes, what has been written, shadow cells, from
 * several threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "check/shadow/cells.h"
#include "check/shadow/defined.h"

enum { PAGE = 4096, STATE = 64 };

static const uint64_t BASE = 0x7f1234000000;

static void pages_are_made_on_demand_and_begin_as_zeros(void **state)
{
    struct shadow s;
    (void)state;
    assert_true(shadow_init(&s, 12, STATE, NULL, NULL));
    assert_null(shadow_find(&s, BASE));
    uint8_t *page = shadow_demand(&s, BASE + 5);
    assert_non_null(page);
    for (unsigned i = 0; i < STATE; i++)
        assert_int_equal(page[i], 0);
    page[7] = 1;
    assert_ptr_equal(shadow_demand(&s, BASE + PAGE - 1), page);
    assert_ptr_equal(shadow_find(&s, BASE), page);
    assert_null(shadow_find(&s, BASE + PAGE));
    assert_null(shadow_find(&s, BASE - 1));
    assert_null(shadow_find(&s, 1ull << SHADOW_ADDRESS_BITS));
    assert_null(shadow_demand(&s, UINT64_MAX));
    assert_int_equal(s.bytes, STATE);
    shadow_destroy(&s);
}

static void a_prototype_stands_for_many_until_one_is_changed(void **state)
{
    static const uint8_t prototype[STATE] = {42};
    struct shadow s;
    (void)state;
    assert_true(shadow_init(&s, 12, STATE, prototype, NULL));
    assert_true(shadow_fill(&s, BASE, BASE + 9 * PAGE, true));
    assert_int_equal(s.bytes, 0);
    assert_ptr_equal(shadow_find(&s, BASE + 9 * PAGE + 100), prototype);
    assert_null(shadow_find(&s, BASE + 10 * PAGE));
    uint8_t *own = shadow_demand(&s, BASE);
    assert_ptr_not_equal(own, prototype);
    assert_int_equal(own[0], 42);
    assert_ptr_equal(shadow_find(&s, BASE), own);
    assert_ptr_equal(shadow_find(&s, BASE + PAGE), prototype);
    assert_true(shadow_fill(&s, BASE, BASE + 9 * PAGE, false));
    assert_null(shadow_find(&s, BASE));
    assert_int_equal(s.bytes, STATE); /* others may still look at it */
    assert_int_equal(own[0], 42);
    shadow_reclaim(&s);
    assert_int_equal(s.bytes, 0);
    shadow_destroy(&s);
}

static void a_limit_is_kept_to(void **state)
{
    struct shadow s;
    struct budget budget;
    (void)state;
    budget_init(&budget, 2 * STATE);
    assert_true(shadow_init(&s, 12, STATE, NULL, &budget));
    assert_non_null(shadow_demand(&s, BASE));
    assert_non_null(shadow_demand(&s, BASE + PAGE));
    assert_null(shadow_demand(&s, BASE + 2 * PAGE));
    assert_int_equal(s.refused, 1);
    assert_int_equal(budget.bytes, 2 * STATE);
    shadow_clear(&s);
    shadow_reclaim(&s);
    assert_non_null(shadow_demand(&s, BASE + 2 * PAGE));
    shadow_destroy(&s);
}

/* ---- what has been written: against a byte for each byte ---- */

enum { SPAN = 6 * PAGE };

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void marks_are_exact_to_the_byte(void **state)
{
    static uint8_t undefined[SPAN];
    struct defined d;
    uint64_t seed = 1;
    (void)state;
    assert_true(defined_init(&d, NULL));
    for (unsigned step = 0; step < 3000; step++) {
        uint32_t at = draw(&seed) % SPAN, most = draw(&seed) % 4 ? 200 : SPAN, n = draw(&seed) % most + 1;
        n = at + n > SPAN ? SPAN - at : n;
        bool any = memchr(undefined + at, 1, n), all = !memchr(undefined + at, 0, n);
        switch (draw(&seed) % 3) {
        case 0:
            assert_true(defined_set_undefined(&d, BASE + at, n));
            memset(undefined + at, 1, n);
            break;
        case 1:
            assert_int_equal(defined_set(&d, BASE + at, n), any);
            memset(undefined + at, 0, n);
            break;
        default:
            assert_int_equal(defined_has(&d, BASE + at, n), !any);
            assert_int_equal(defined_bytes(&d, BASE + at, n),
                             any ? (uint8_t *)memchr(undefined + at, 1, n) - undefined - at : (ptrdiff_t)n);
            assert_int_equal(undefined_bytes(&d, BASE + at, n) == n, all);
        }
    }
    defined_set_all(&d, BASE, SPAN);
    assert_true(defined_has(&d, BASE, SPAN));
    defined_destroy(&d);
}

static void all_of_the_address_space_is_filled_at_once(void **state)
{
    struct defined d;
    clock_t begin = clock();
    (void)state;
    assert_true(defined_init(&d, NULL));
    assert_true(defined_set_undefined(&d, BASE, 3 * PAGE));
    defined_set_all(&d, PAGE, (1ull << SHADOW_ADDRESS_BITS) - PAGE);
    assert_true(defined_has(&d, BASE, 3 * PAGE));
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    defined_destroy(&d);
}

static void what_cannot_be_followed_counts_as_written(void **state)
{
    struct defined d;
    struct budget budget;
    (void)state;
    budget_init(&budget, sizeof(struct undefined_page));
    assert_true(defined_init(&d, &budget));
    assert_true(defined_set_undefined(&d, BASE, 4 * PAGE));
    assert_true(defined_set(&d, BASE, 4));
    assert_false(defined_set(&d, BASE + PAGE, 4)); /* there is no memory for another page */
    assert_true(defined_has(&d, BASE + PAGE, PAGE));
    assert_false(defined_has(&d, BASE + 4, 4));
    assert_int_equal(d.lost_bytes, PAGE);
    defined_destroy(&d);
}

struct writer {
    struct defined *d;
    unsigned index;
    bool fresh;
};

enum { WRITERS = 4, PAGES = 300 };

/* Each writes bytes of its own in all pages. */
static void *write_all(void *data)
{
    struct writer *w = data;
    w->fresh = true;
    for (uint64_t at = w->index; at < PAGES * PAGE; at += WRITERS)
        w->fresh &= defined_set(w->d, BASE + at, 1);
    return NULL;
}

static void several_threads_write_to_one_page(void **state)
{
    struct defined d;
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    (void)state;
    assert_true(defined_init(&d, NULL));
    assert_true(defined_set_undefined(&d, BASE, PAGES * PAGE + 1));
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){&d, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_true(writers[i].fresh);
    assert_true(defined_has(&d, BASE, PAGES * PAGE));
    assert_false(defined_has(&d, BASE, PAGES * PAGE + 1));
    defined_destroy(&d);
}

/* ---- rows ---- */

static void expect_runs(const struct access_event *e)
{
    uint32_t left = e->lanes, lanes = 0;
    uint64_t bytes = 0;
    struct run r;
    while (next_run(e, &left, &r)) {
        assert_int_equal(r.address, access_address(e, r.lane));
        assert_true(e->lanes >> r.lane & 1);
        bytes += r.bytes;
        for (uint32_t m = e->lanes; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (access_address(e, l) - r.address < r.bytes)
                lanes |= 1u << l;
        }
    }
    assert_int_equal(lanes, e->lanes); /* every lane's bytes are in a run */
    bool once = e->pattern != ACCESS_UNIFORM && e->pattern != ACCESS_UNIFORM_HALVES;
    if (once)
        assert_int_equal(bytes, (uint64_t)__builtin_popcount(e->lanes) * e->bytes);
}

static void rows_fall_into_runs(void **state)
{
    static const uint32_t masks[] = {UINT32_MAX, 1,          0x80000000, 0xffff,     0xffff0000,
                                     0x0ff0ff00, 0x7fffffff, 0xfffffffe, 0x00018000, 0x55555555};
    uint64_t linear[WARP_LANES], equal[WARP_LANES], any[WARP_LANES];
    (void)state;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        linear[l] = 4096 * (l / HALF_WARP) + 4 * (l % HALF_WARP);
        equal[l] = 4096 * (l / HALF_WARP);
        any[l] = 100 * l;
    }
    for (unsigned i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        struct access_event e = {.lanes = masks[i], .bytes = 4, .base = 64};
        for (e.pattern = ACCESS_ANY; e.pattern <= ACCESS_LINEAR_HALVES; e.pattern++) {
            e.address = e.pattern == ACCESS_ANY              ? any
                        : e.pattern == ACCESS_LINEAR_HALVES  ? linear
                        : e.pattern == ACCESS_UNIFORM_HALVES ? equal
                                                             : NULL;
            expect_runs(&e);
        }
    }
}

static void shared_and_local_memory_are_undefined_at_first(void **state)
{
    struct block_memory *b = block_memory_new(1000, 2);
    (void)state;
    block_memory_clear(b);
    assert_int_equal(b->n_undefined, 1000);
    assert_true(shared_set(b, 60, 8));
    assert_false(shared_set(b, 60, 8));
    assert_false(bits_any(b->shared, 60, 8));
    assert_true(bits_any(b->shared, 59, 8) && bits_any(b->shared, 61, 8));
    assert_true(shared_set(b, 0, 1000));
    assert_int_equal(b->n_undefined, 0);
    assert_int_equal(local_undefined(&b->local[1], 40, 4, 0xff), 0xff);
    local_set(&b->local[1], 40, 4, 0x0f);
    assert_int_equal(local_undefined(&b->local[1], 40, 4, 0xff), 0xf0);
    assert_int_equal(local_undefined(&b->local[1], 41, 4, 0xff), 0xff);
    assert_int_equal(local_undefined(&b->local[0], 40, 4, 0x0f), 0x0f);
    block_memory_clear(b);
    assert_int_equal(b->n_undefined, 1000);
    assert_int_equal(local_undefined(&b->local[1], 40, 4, 0x0f), 0x0f);
    block_memory_free(b);
}

/* ---- shadow cells ---- */

static void count_cells(void *data, cell *first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        *(unsigned *)data += first[i] != 0;
}

static unsigned count(const struct cells *c)
{
    unsigned n = 0;
    cells_each(c, count_cells, &n);
    return n;
}

static void cells_are_empty_when_an_era_begins(void **state)
{
    enum { PART = 1 << CELLS_PART_BITS, MEMORY_PAGE = 1 << CELLS_PAGE_BITS };
    struct cells c;
    (void)state;
    assert_true(cells_open(&c, NULL));
    for (uint64_t at = 0; at < 3 * PART; at += 4)
        *cells_find(&c, BASE + at) = 7;
    *cells_find(&c, BASE + MEMORY_PAGE + 12) = 8;
    assert_ptr_equal(cells_find(&c, BASE + 20), cells_find(&c, BASE + 16) + 1);
    assert_int_equal(count(&c), 3 * PART / 4 + 1);
    cells_forget(&c, BASE + PART - 6, 8); /* the words that the bytes are in, on both sides of a part's end */
    assert_int_equal(*cells_find(&c, BASE + PART - 12), 7);
    assert_int_equal(*cells_find(&c, BASE + PART - 8), 0);
    assert_int_equal(*cells_find(&c, BASE + PART), 0);
    assert_int_equal(*cells_find(&c, BASE + PART + 4), 7);
    cells_forget(&c, BASE + 9ull * MEMORY_PAGE, MEMORY_PAGE); /* of which there are none */
    cells_clear(&c, false);
    assert_int_equal(count(&c), 0);
    *cells_find(&c, BASE + PART) = 9;
    assert_int_equal(count(&c), 1);
    assert_int_equal(*cells_find(&c, BASE + PART + 4), 0);
    assert_int_equal(*cells_find(&c, BASE + 4), 0);
    uint64_t bytes = cells_bytes(&c);
    cells_clear(&c, true);
    assert_true(bytes >= 2 * MEMORY_PAGE && cells_bytes(&c) == 0);
    assert_int_equal(*cells_find(&c, BASE + PART), 0);
    assert_null(cells_find(&c, UINT64_MAX));
    cells_close(&c);
}

static void cells_stop_at_the_limit(void **state)
{
    struct budget budget;
    struct cells c;
    (void)state;
    budget_init(&budget, 3 << 19);
    assert_true(cells_open(&c, &budget));
    assert_non_null(cells_find(&c, BASE));
    assert_null(cells_find(&c, BASE + (1 << CELLS_PAGE_BITS)));
    cells_clear(&c, true);
    assert_non_null(cells_find(&c, BASE + (1 << CELLS_PAGE_BITS)));
    cells_close(&c);
    assert_int_equal(budget.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_made_on_demand_and_begin_as_zeros),
        cmocka_unit_test(a_prototype_stands_for_many_until_one_is_changed),
        cmocka_unit_test(a_limit_is_kept_to),
        cmocka_unit_test(marks_are_exact_to_the_byte),
        cmocka_unit_test(all_of_the_address_space_is_filled_at_once),
        cmocka_unit_test(what_cannot_be_followed_counts_as_written),
        cmocka_unit_test(several_threads_write_to_one_page),
        cmocka_unit_test(rows_fall_into_runs),
        cmocka_unit_test(shared_and_local_memory_are_undefined_at_first),
        cmocka_unit_test(cells_are_empty_when_an_era_begins),
        cmocka_unit_test(cells_stop_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
