/* base/handle_table and base/calls: handles that cannot lie, and records that stay while a call may
 * use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/calls.h"
#include "base/handle_table.h"

enum { SHEEP = 1, GOAT = 15, MANY = 3 * HANDLE_CHUNK };

static struct handle_table *new_table(void)
{
    struct handle_table *t = calloc(1, sizeof *t);
    assert_non_null(t);
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* In tests as long as a process. */
static void drop_table(struct handle_table *t)
{
    for (int i = 0; i < HANDLE_CHUNKS; i++)
        free(t->chunks[i]);
    free(t->free);
    free(t);
}

static void a_handle_is_of_its_record_and_kind_until_it_is_taken(void **state)
{
    struct handle_table *t = new_table();
    int record, owner;
    (void)state;
    void *h = handle_add(t, SHEEP, &record, &owner);
    assert_non_null(h);
    assert_int_equal((uintptr_t)h % 16, 0);
    assert_true((uintptr_t)h >> 48 != 0); /* no address */
    assert_true((intptr_t)h > 0);
    assert_ptr_equal(handle_find(t, h, SHEEP), &record);
    assert_null(handle_find(t, h, GOAT));
    assert_null(handle_take(t, h, GOAT));
    assert_ptr_equal(handle_take(t, h, SHEEP), &record);
    assert_null(handle_find(t, h, SHEEP));
    assert_null(handle_take(t, h, SHEEP));
    drop_table(t);
}

static void what_is_no_handle_is_nothing(void **state)
{
    struct handle_table *t = new_table();
    int record;
    (void)state;
    char *h = handle_add(t, SHEEP, &record, NULL);
    const char *const others[] = {NULL,
                                  (char *)1,
                                  (char *)2,
                                  (char *)16,
                                  (char *)&record,
                                  (char *)t,
                                  (char *)-1,
                                  (char *)-16,
                                  h + 1,
                                  h + 8,
                                  h + 16,
                                  h - 16,
                                  h + ((uintptr_t)1 << 28),
                                  h - ((uintptr_t)1 << 28),
                                  h + ((uintptr_t)1 << 62),
                                  (char *)((uintptr_t)1 << 62)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        for (unsigned kind = 1; kind <= 15; kind++) {
            assert_null(handle_find(t, others[i], kind));
            assert_null(handle_take(t, others[i], kind));
        }
    srand(1);
    for (int i = 0; i < 100000; i++) {
        uint64_t any = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();
        if (any != (uintptr_t)h)
            assert_null(handle_find(t, (void *)(uintptr_t)any, SHEEP));
    }
    drop_table(t);
}

static void no_handle_is_given_out_twice(void **state)
{
    struct handle_table *t = new_table();
    static void *taken[MANY], *held[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++)
        assert_non_null(taken[i] = handle_add(t, SHEEP, &taken[i], NULL));
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(handle_take(t, taken[i], SHEEP), &taken[i]);
    for (int i = 0; i < MANY; i++)
        assert_non_null(held[i] = handle_add(t, SHEEP, &held[i], NULL));
    assert_int_equal(t->n, MANY); /* in the same places */
    for (int i = 0; i < MANY; i++) {
        assert_null(handle_find(t, taken[i], SHEEP));
        assert_ptr_equal(handle_find(t, held[i], SHEEP), &held[i]);
    }
    drop_table(t);
}

static void visit(void *data, void *record)
{
    assert_non_null(record);
    ++*(int *)data;
}

static void what_ends_with_an_owner_is_taken_one_after_the_other(void **state)
{
    struct handle_table *t = new_table();
    int a, b, n = 0, seen = 0;
    uint32_t at = 0;
    unsigned kind;
    void *of_a[10], *of_b[10];
    (void)state;
    for (int i = 0; i < 10; i++) {
        of_a[i] = handle_add(t, GOAT, &a, &a);
        of_b[i] = handle_add(t, SHEEP, &b, &b);
    }
    while (handle_take_owned(t, &a, &at, &kind)) {
        assert_int_equal(kind, GOAT);
        n++;
    }
    assert_int_equal(n, 10);
    for (int i = 0; i < 10; i++) {
        assert_null(handle_find(t, of_a[i], GOAT));
        assert_ptr_equal(handle_find(t, of_b[i], SHEEP), &b);
    }
    handle_each(t, SHEEP, visit, &seen);
    assert_int_equal(seen, 10);
    handle_replace(t, of_b[3], &a);
    assert_ptr_equal(handle_find(t, of_b[3], SHEEP), &a);
    drop_table(t);
}

/* ---- calls ---- */

static int ended[8], n_ended;

static void note_end(void *data)
{
    ended[n_ended++] = *(int *)data;
}

static void what_is_put_off_waits_for_the_calls_before_it_and_no_others(void **state)
{
    int numbers[] = {0, 1, 2};
    (void)state;
    n_ended = 0;
    _Atomic uint32_t *before = call_begin(), *own = call_begin();
    call_later(note_end, &numbers[0]);
    call_later(note_end, &numbers[1]);
    call_end(own);
    assert_int_equal(n_ended, 0);
    _Atomic uint32_t *after = call_begin();
    for (int i = 0; i < 10; i++)
        call_end(call_begin());
    assert_int_equal(n_ended, 0);
    call_end(before);
    call_end(call_begin());
    assert_int_equal(n_ended, 2); /* though `after` has not ended */
    call_later(note_end, &numbers[2]);
    call_end(call_begin());
    assert_int_equal(n_ended, 2);
    call_end(after);
    assert_int_equal(n_ended, 3);
    assert_int_equal(ended[0] | ended[1] << 4 | ended[2] << 8, 0x210);
}

/* ---- both, by many threads ---- */

enum { THREADS = 6, ROUNDS = 20000 };

static struct {
    struct handle_table *table;
    void *_Atomic handle;
    atomic_int ends;
} shared;

struct record {
    uint64_t alive;
};

static void free_record(void *data)
{
    struct record *r = data;
    r->alive = 0;
    free(r);
    atomic_fetch_add(&shared.ends, 1);
}

static void *use_and_destroy(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    uintptr_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        _Atomic uint32_t *call = call_begin();
        void *h = atomic_load(&shared.handle);
        struct record *r = handle_find(shared.table, h, SHEEP);
        seed = seed * 1664525 + 1013904223;
        if (r)
            wrong += r->alive != 1;
        if (seed >> 28 == 0 && (r = handle_take(shared.table, h, SHEEP)) != NULL) {
            call_later(free_record, r);
            struct record *next = calloc(1, sizeof *next);
            next->alive = 1;
            atomic_store(&shared.handle, handle_add(shared.table, SHEEP, next, NULL));
            wrong += r->alive != 1;
        }
        call_end(call);
    }
    return (void *)wrong;
}

static void a_record_stays_while_a_call_has_it(void **state)
{
    pthread_t threads[THREADS];
    struct record *first = calloc(1, sizeof *first);
    (void)state;
    shared.table = new_table();
    first->alive = 1;
    atomic_store(&shared.handle, handle_add(shared.table, SHEEP, first, NULL));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_and_destroy, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    call_end(call_begin());
    assert_true(atomic_load(&shared.ends) > THREADS);
    free(handle_take(shared.table, atomic_load(&shared.handle), SHEEP));
    drop_table(shared.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_is_of_its_record_and_kind_until_it_is_taken),
        cmocka_unit_test(what_is_no_handle_is_nothing),
        cmocka_unit_test(no_handle_is_given_out_twice),
        cmocka_unit_test(what_ends_with_an_owner_is_taken_one_after_the_other),
        cmocka_unit_test(what_is_put_off_waits_for_the_calls_before_it_and_no_others),
        cmocka_unit_test(a_record_stays_while_a_call_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
