/* The order of tasks (src/check/order/strands.h): against reachability in random graphs, and rule by rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "check/order/strands.h"

static const struct task_note copy = {.kind = TASK_COPY}, mark = {.kind = TASK_MARK}, call = {.kind = TASK_CALL};

static uint32_t submit(struct strands *s, uint32_t *strand, uint32_t after)
{
    uint32_t t = strands_submit(s, strand, &copy, &after, 1);
    strands_begin(s, t);
    strands_end(s, t);
    return t;
}

/* ---- rules ---- */

static void tasks_of_a_stream_are_ordered(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, t = submit(s, &a, 0), u = submit(s, &a, 0), v = submit(s, &a, 0);
    assert_true(strands_before(s, t, u) && strands_before(s, t, v) && strands_before(s, u, v));
    assert_false(strands_before(s, u, t) || strands_before(s, t, t));
    assert_int_equal(strands_floor(s, v), u);
    strands_free(s);
}

static void streams_are_ordered_by_what_they_wait_for_alone(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), u = submit(s, &b, 0), v = submit(s, &b, t), w = submit(s, &b, 0);
    assert_false(strands_before(s, t, u) || strands_before(s, u, t));
    assert_true(strands_before(s, t, v) && strands_before(s, t, w));
    assert_int_equal(strands_floor(s, u), 0);
    assert_int_equal(strands_floor(s, w), v);
    strands_free(s);
}

static void what_the_host_has_waited_for_is_before_what_it_submits(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), u = submit(s, &b, 0);
    strands_wait(s, &t, 1);
    uint32_t v = submit(s, &b, 0), w = submit(s, &a, 0);
    assert_true(strands_before(s, t, v) && !strands_before(s, u, w));
    strands_free(s);
}

static void accesses_of_the_host_are_after_what_it_has_waited_for_and_before_what_it_submits(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, first = strands_host(s);
    assert_int_equal(strands_host(s), first);
    uint32_t t = submit(s, &a, 0), second = strands_host(s);
    assert_true(strands_before(s, first, t) && strands_before(s, first, second));
    assert_false(strands_before(s, t, second) || strands_before(s, second, t));
    strands_wait(s, &t, 1);
    uint32_t third = strands_host(s), u = submit(s, &a, 0);
    assert_true(strands_before(s, t, third) && strands_before(s, second, u) && strands_before(s, third, u));
    assert_false(strands_before(s, t, second));
    strands_free(s);
}

static void a_task_is_not_after_what_the_host_does_once_it_is_submitted(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, t = strands_submit(s, &a, &copy, NULL, 0), host = strands_host(s);
    strands_begin(s, t);
    assert_false(strands_before(s, host, t) || strands_before(s, t, host));
    strands_free(s);
}

static void host_functions_are_acts_of_the_host(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, t = submit(s, &a, 0), f = strands_submit(s, &a, &call, NULL, 0),
             u = strands_submit(s, &a, &copy, NULL, 0), before = strands_host(s);
    strands_begin(s, f);
    uint32_t within = strands_host(s);
    strands_end(s, f);
    strands_begin(s, u);
    uint32_t after = strands_host(s);
    assert_false(strands_before(s, t, before));
    assert_true(strands_before(s, t, within) && strands_before(s, t, after));
    assert_true(strands_before(s, before, u) && strands_before(s, within, u));
    assert_false(strands_before(s, after, u) || strands_before(s, u, after));
    strands_free(s);
}

static void a_gate_is_behind_what_has_begun(void **state)
{
    (void)state;
    static const struct task_note gate = {.kind = TASK_GATE};
    struct strands *s = strands_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), g = strands_submit(s, &b, &gate, NULL, 0),
             later = strands_submit(s, &a, &copy, NULL, 0), u = strands_submit(s, &b, &copy, NULL, 0);
    strands_begin(s, g);
    strands_end(s, g);
    strands_begin(s, later);
    strands_begin(s, u);
    assert_true(strands_before(s, t, u));
    assert_false(strands_before(s, later, u) || strands_before(s, u, later));
    strands_free(s);
}

static void marks_need_not_be_waited_for(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, t = submit(s, &a, 0);
    assert_false(strands_is_synchronized(s));
    strands_wait(s, &t, 1);
    assert_true(strands_is_synchronized(s));
    strands_begin(s, strands_submit(s, &a, &mark, NULL, 0));
    assert_true(strands_is_synchronized(s));
    submit(s, &a, 0);
    assert_false(strands_is_synchronized(s));
    strands_free(s);
}

static void streams_that_have_gone_make_room_and_order_nothing(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, b = 0, c = 0, t = submit(s, &a, 0);
    strands_close(s, a);
    uint32_t u = submit(s, &b, 0);
    assert_true(b != a && !strands_before(s, t, u));
    strands_wait(s, (uint32_t[]){t, u}, 2);
    strands_close(s, b);
    uint32_t v = submit(s, &c, 0);
    assert_true((c == a || c == b) && strands_before(s, t, v) && strands_before(s, u, v));
    strands_free(s);
}

static void tasks_keep_what_they_are(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    char name[] = "kernel";
    uint32_t a = 0;
    uint32_t t = strands_submit(s, &a, &(struct task_note){.kind = TASK_LAUNCH, .name = name, .stream = 7}, NULL, 0);
    memset(name, 0, sizeof name);
    assert_string_equal(strands_note(s, t)->name, "kernel");
    assert_int_equal(strands_note(s, t)->stream, 7);
    strands_free(s);
}

/* ---- random graphs ---- */

enum { TASKS = 300, STRANDS = 6, HOST = STRANDS };

/* What comes before what, by its definition: reach[b][a]. `host` is all that the host's next act comes after. */
struct reference {
    bool reach[TASKS + 1][TASKS + 1], host[TASKS + 1];
    uint32_t last[STRANDS + 1], n;
};

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void add_all(bool *to, const bool *from)
{
    for (uint32_t i = 0; i <= TASKS; i++)
        to[i] |= from[i];
}

static void add_task(const struct reference *r, bool *to, uint32_t task)
{
    if (task) {
        to[task] = true;
        add_all(to, r->reach[task]);
    }
}

static void put(struct reference *r, struct strands *s, uint32_t strand[], uint64_t *seed)
{
    uint32_t k = next(seed) % STRANDS, n = next(seed) % 3, after[2];
    for (uint32_t i = 0; i < n; i++)
        after[i] = next(seed) % (r->n + 1);
    uint32_t t = strands_submit(s, &strand[k], &copy, after, n);
    assert_int_equal(t, r->n + 1);
    strands_begin(s, t);
    add_all(r->reach[t], r->host);
    add_task(r, r->reach[t], r->last[k]);
    for (uint32_t i = 0; i < n; i++)
        add_task(r, r->reach[t], after[i]);
    r->last[k] = r->n = t;
}

static void access_memory(struct reference *r, struct strands *s)
{
    uint32_t t = strands_host(s);
    if (t == r->last[HOST])
        return; /* still the same stretch */
    assert_int_equal(t, r->n + 1);
    add_all(r->reach[t], r->host);
    r->host[t] = true;
    r->last[HOST] = r->n = t;
}

static void compare(const struct reference *r, const struct strands *s)
{
    for (uint32_t b = 1; b <= r->n; b++) {
        uint32_t floor = 0;
        for (uint32_t a = 1; a <= r->n; a++)
            assert_int_equal(strands_before(s, a, b), r->reach[b][a]);
        while (floor + 1 < b && r->reach[b][floor + 1])
            floor++;
        assert_int_equal(strands_floor(s, b), floor);
    }
}

/* Of two streams one is always behind: the host never waits for all. */
static void what_is_before_all_that_comes_is_settled_and_forgotten(void **state)
{
    (void)state;
    struct strands *s = strands_new();
    uint32_t a = 0, b = 0, early = submit(s, &a, 0), unwaited = 0, last = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t waited = submit(s, &a, 0);
        if (unwaited)
            assert_true(strands_settled(s) < unwaited);
        if (i == 15000)
            unwaited = submit(s, &b, 0);
        last = strands_submit(s, &a, &copy, NULL, 0);
        strands_begin(s, last);
        strands_wait(s, &waited, 1);
        assert_true(strands_before(s, early, last) && strands_before(s, waited, last));
        assert_true(strands_floor(s, last) >= strands_settled(s) && strands_settled(s) < last);
        assert_true(i > 15000 || strands_settled(s) + 2 >= waited);
        strands_end(s, last);
    }
    assert_false(strands_before(s, unwaited, last));
    strands_wait(s, &unwaited, 1);
    assert_true(strands_settled(s) > last - 4);
    assert_int_equal(strands_note(s, last)->kind, TASK_COPY);
    assert_int_not_equal(strands_note(s, early)->kind, TASK_COPY); /* it is forgotten */
    strands_free(s);
}

static void random_graphs_are_ordered_as_reachability_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct strands *s = strands_new();
        struct reference *r = calloc(1, sizeof *r);
        uint32_t strand[STRANDS] = {0}, waited[2];
        uint64_t random = seed;
        while (r->n < TASKS) {
            uint32_t what = next(&random) % 8;
            if (what < 5) {
                put(r, s, strand, &random);
            } else if (what < 7) {
                access_memory(r, s);
            } else {
                for (int i = 0; i < 2; i++) {
                    waited[i] = next(&random) % (r->n + 1);
                    add_task(r, r->host, waited[i]);
                }
                strands_wait(s, waited, 2);
            }
        }
        compare(r, s);
        free(r);
        strands_free(s);
    }
}

/* Clocks of the branches of a fan know of what is before them all, not of each other. */
static void a_wide_fan_costs_what_its_tasks_do(void **state)
{
    enum { N = 20000, MOST_SECONDS = 3 };
    (void)state;
    struct strands *s = strands_new();
    static uint32_t branches[N], ends[N];
    uint32_t stream = 0, first = submit(s, &stream, 0);
    clock_t begun = clock();
    for (int i = 0; i < N; i++)
        ends[i] = submit(s, &branches[i], first);
    uint32_t last = strands_submit(s, &stream, &copy, ends, N);
    strands_begin(s, last);
    strands_end(s, last);
    assert_true(strands_before(s, first, ends[N - 1]) && strands_before(s, ends[7], last));
    assert_false(strands_before(s, ends[7], ends[8]) || strands_before(s, ends[8], ends[7]));
    assert_int_equal(strands_floor(s, ends[N / 2]), first);
    assert_int_equal(strands_floor(s, last), last - 1);
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < MOST_SECONDS);
    strands_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_a_stream_are_ordered),
        cmocka_unit_test(streams_are_ordered_by_what_they_wait_for_alone),
        cmocka_unit_test(what_the_host_has_waited_for_is_before_what_it_submits),
        cmocka_unit_test(accesses_of_the_host_are_after_what_it_has_waited_for_and_before_what_it_submits),
        cmocka_unit_test(a_task_is_not_after_what_the_host_does_once_it_is_submitted),
        cmocka_unit_test(host_functions_are_acts_of_the_host),
        cmocka_unit_test(a_gate_is_behind_what_has_begun),
        cmocka_unit_test(marks_need_not_be_waited_for),
        cmocka_unit_test(streams_that_have_gone_make_room_and_order_nothing),
        cmocka_unit_test(tasks_keep_what_they_are),
        cmocka_unit_test(what_is_before_all_that_comes_is_settled_and_forgotten),
        cmocka_unit_test(random_graphs_are_ordered_as_reachability_says),
        cmocka_unit_test(a_wide_fan_costs_what_its_tasks_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
