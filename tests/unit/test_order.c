/* What the library tells a checker of the order of streams' work: CUDA's rules, whatever was done
 * already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/handles.h"
#include "check/order/timelines.h"

enum { MOST = 64 };

struct fixture {
    hd_machine *machine;
    hd_checker *checker;
    hd_context *context;
    struct timelines *timelines;
    char *memory;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    hd_machine_options options = {.workers = 1, .memory_bytes = 1 << 24, .policy = "serial"};
    assert_int_equal(hd_machine_create(&options, &f->machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_checker_create(f->machine, NULL, &f->checker), HD_SUCCESS);
    assert_int_equal(hd_context_create(f->machine, NULL, &f->context), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 4096, (void **)&f->memory), HD_SUCCESS);
    f->timelines = checker_timelines(f->checker->checker);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    hd_context_destroy(f->context);
    hd_checker_destroy(f->checker);
    hd_machine_destroy(f->machine);
    free(f);
    return 0;
}

static hd_stream *new_stream(struct fixture *f, unsigned flags)
{
    hd_stream *s;
    assert_int_equal(hd_stream_create(f->context, flags, &s), HD_SUCCESS);
    return s;
}

/* Some work in a stream, done when it returns, of which the host does not know. */
static void work(struct fixture *f, hd_stream *s, enum hd_wait wait)
{
    hd_fill fill = {.to = f->memory, .element_bytes = 1, .width = 16, .height = 1};
    assert_int_equal(hd_stream_fill(s, &fill, wait), HD_SUCCESS);
    while (!hd_stream_is_done(s))
        ;
}

/* The n-th work, or access of the host, from 1: those up to it are found by their numbers. */
static uint32_t nth(struct fixture *f, unsigned n)
{
    unsigned seen = 0;
    for (uint32_t t = 1; t < MOST; t++) {
        enum task_kind kind = timelines_note(f->timelines, t)->kind;
        seen += kind != TASK_MARK;
        if (seen == n)
            return t;
    }
    fail();
    return 0;
}

static bool before(struct fixture *f, unsigned a, unsigned b)
{
    return timelines_before(f->timelines, nth(f, a), nth(f, b));
}

static bool is_unordered(struct fixture *f, unsigned a, unsigned b)
{
    return !before(f, a, b) && !before(f, b, a);
}

/* ---- streams ---- */

static void streams_are_unordered_though_one_was_done_before_the_other_began(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0);
    work(f, a, HD_NO_WAIT);
    work(f, b, HD_NO_WAIT);
    work(f, a, HD_NO_WAIT);
    assert_true(is_unordered(f, 1, 2) && is_unordered(f, 2, 3) && before(f, 1, 3));
}

static void the_default_stream_is_ordered_with_blocking_streams_alone(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *n = new_stream(f, HD_STREAM_NON_BLOCKING),
              *zero = hd_context_default_stream(f->context);
    work(f, a, HD_NO_WAIT);
    work(f, n, HD_NO_WAIT);
    work(f, zero, HD_NO_WAIT);
    work(f, a, HD_NO_WAIT);
    work(f, n, HD_NO_WAIT);
    assert_true(before(f, 1, 3) && before(f, 3, 4) && before(f, 1, 4));
    assert_true(is_unordered(f, 2, 3) && is_unordered(f, 3, 5) && is_unordered(f, 1, 2));
}

static void the_default_stream_is_behind_streams_that_were_destroyed(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *n = new_stream(f, HD_STREAM_NON_BLOCKING);
    work(f, a, HD_NO_WAIT);
    work(f, n, HD_NO_WAIT);
    hd_stream_destroy(a);
    hd_stream_destroy(n);
    work(f, hd_context_default_stream(f->context), HD_NO_WAIT);
    assert_true(before(f, 1, 3) && is_unordered(f, 2, 3));
    hd_context_synchronize(f->context);
    work(f, new_stream(f, 0), HD_NO_WAIT);
    assert_true(before(f, 1, 4) && before(f, 2, 4) && before(f, 3, 4));
}

/* ---- events ---- */

static void a_stream_is_behind_the_events_that_it_waits_for(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0);
    hd_event *e;
    assert_int_equal(hd_event_create(&e), HD_SUCCESS);
    work(f, a, HD_NO_WAIT);
    hd_event_record(e, a);
    work(f, a, HD_NO_WAIT);
    work(f, b, HD_NO_WAIT);
    hd_stream_wait_event(b, e);
    work(f, b, HD_NO_WAIT);
    assert_true(is_unordered(f, 1, 3) && before(f, 1, 4) && is_unordered(f, 2, 4));
    hd_event_destroy(e);
}

static void what_an_event_was_recorded_as_is_what_is_waited_for(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0), *c = new_stream(f, 0);
    hd_event *e;
    assert_int_equal(hd_event_create(&e), HD_SUCCESS);
    work(f, a, HD_NO_WAIT);
    hd_event_record(e, a);
    hd_stream_wait_event(c, e);
    work(f, b, HD_NO_WAIT);
    hd_event_record(e, b);
    work(f, c, HD_NO_WAIT);
    assert_true(before(f, 1, 3) && is_unordered(f, 2, 3));
    hd_event_destroy(e);
}

static void streams_of_two_machines_are_ordered_alike(void **state)
{
    struct fixture *f = *state, other = *f;
    hd_machine_options options = {.workers = 1, .memory_bytes = 1 << 24};
    hd_checker_options with = {.with = f->checker};
    hd_event *e;
    assert_int_equal(hd_machine_create(&options, &other.machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_checker_create(other.machine, &with, &other.checker), HD_SUCCESS);
    assert_int_equal(hd_context_create(other.machine, NULL, &other.context), HD_SUCCESS);
    assert_int_equal(hd_alloc(other.machine, 4096, (void **)&other.memory), HD_SUCCESS);
    assert_int_equal(hd_event_create(&e), HD_SUCCESS);
    hd_stream *a = new_stream(f, 0), *b = new_stream(&other, 0);
    work(f, a, HD_NO_WAIT);
    work(&other, b, HD_NO_WAIT);
    hd_event_record(e, a);
    hd_stream_wait_event(b, e);
    work(&other, b, HD_NO_WAIT);
    assert_true(is_unordered(f, 1, 2) && before(f, 1, 3) && before(f, 2, 3));
    hd_event_destroy(e);
    hd_context_destroy(other.context);
    hd_checker_destroy(other.checker);
    hd_machine_destroy(other.machine);
}

/* ---- the host ---- */

typedef void wait_fn(struct fixture *f, hd_stream *a, hd_event *e);

static void by_stream(struct fixture *f, hd_stream *a, hd_event *e)
{
    (void)f, (void)e;
    hd_stream_synchronize(a);
}

static void by_context(struct fixture *f, hd_stream *a, hd_event *e)
{
    (void)a, (void)e;
    hd_context_synchronize(f->context);
}

static void by_event(struct fixture *f, hd_stream *a, hd_event *e)
{
    (void)f, (void)a;
    hd_event_synchronize(e);
}

/* "A return value of cudaSuccess is equivalent to having called cudaStreamSynchronize()",
 * cudaEventSynchronize(). */
static void by_stream_query(struct fixture *f, hd_stream *a, hd_event *e)
{
    (void)f, (void)e;
    assert_int_equal(hd_stream_query(a), HD_SUCCESS);
}

static void by_event_query(struct fixture *f, hd_stream *a, hd_event *e)
{
    (void)f, (void)a;
    while (hd_event_query(e) != HD_SUCCESS)
        ;
}

static void the_host_knows_what_it_has_waited_for(void **state)
{
    static wait_fn *const ways[] = {by_stream, by_context, by_event, by_stream_query, by_event_query};
    struct fixture *f = *state;
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++, n += 4) {
        hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0);
        hd_event *e;
        assert_int_equal(hd_event_create(&e), HD_SUCCESS);
        work(f, a, HD_NO_WAIT);
        hd_event_record(e, a);
        uint32_t host = timelines_host(f->timelines);
        while (!hd_stream_is_done(a)) /* that alone is no order */
            ;
        assert_int_equal(timelines_host(f->timelines), host);
        assert_true(is_unordered(f, n + 1, n + 2));
        ways[i](f, a, e);
        assert_true(timelines_before(f->timelines, nth(f, n + 1), timelines_host(f->timelines)));
        work(f, b, HD_NO_WAIT);
        assert_true(before(f, n + 1, n + 4));
        hd_event_destroy(e);
    }
}

static void a_copy_is_waited_for_where_it_is_promised(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0);
    for (enum hd_wait wait = HD_NO_WAIT; wait <= HD_WAIT_UNPROMISED; wait++) {
        work(f, a, wait);
        assert_int_equal(before(f, 2 * wait + 1, (timelines_host(f->timelines), 2 * wait + 2)), wait == HD_WAIT);
    }
}

static void on_call(void *data, hd_result status)
{
    struct fixture *f = data;
    (void)status;
    assert_true(before(f, 1, (timelines_host(f->timelines), 3)));
}

static void a_host_function_is_an_act_of_the_host(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0);
    work(f, a, HD_NO_WAIT);
    hd_stream_call(a, on_call, f, 0);
    while (!hd_stream_is_done(a))
        ;
    uint32_t after = timelines_host(f->timelines);
    assert_true(timelines_before(f->timelines, nth(f, 1), after) && timelines_before(f->timelines, nth(f, 2), after));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(streams_are_unordered_though_one_was_done_before_the_other_began),
        TEST(the_default_stream_is_ordered_with_blocking_streams_alone),
        TEST(the_default_stream_is_behind_streams_that_were_destroyed),
        TEST(a_stream_is_behind_the_events_that_it_waits_for),
        TEST(what_an_event_was_recorded_as_is_what_is_waited_for),
        TEST(streams_of_two_machines_are_ordered_alike),
        TEST(the_host_knows_what_it_has_waited_for),
        TEST(a_copy_is_waited_for_where_it_is_promised),
        TEST(a_host_function_is_an_act_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
