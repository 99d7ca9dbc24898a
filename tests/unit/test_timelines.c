/* The order of tasks (src/check/order/timelines.h): against reachability in random graphs, and rule
 * by rule. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "check/order/clock.h"
#include "check/order/timelines.h"

static const struct task_note copy = {.kind = TASK_COPY}, mark = {.kind = TASK_MARK}, call = {.kind = TASK_CALL},
                              launch = {.kind = TASK_LAUNCH};

static uint32_t submit(struct timelines *s, uint32_t *timeline, uint32_t after)
{
    uint32_t t = timelines_submit(s, timeline, &copy, &after, 1, NULL);
    timelines_begin(s, t);
    timelines_end(s, t);
    return t;
}

/* ---- rules ---- */

static void tasks_of_a_stream_are_ordered(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, t = submit(s, &a, 0), u = submit(s, &a, 0), v = submit(s, &a, 0);
    assert_true(timelines_before(s, t, u) && timelines_before(s, t, v) && timelines_before(s, u, v));
    assert_false(timelines_before(s, u, t) || timelines_before(s, t, t));
    assert_int_equal(timelines_frontier(s, v), u);
    timelines_free(s);
}

static void streams_are_ordered_by_what_they_wait_for_alone(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), u = submit(s, &b, 0), v = submit(s, &b, t), w = submit(s, &b, 0);
    assert_false(timelines_before(s, t, u) || timelines_before(s, u, t));
    assert_true(timelines_before(s, t, v) && timelines_before(s, t, w));
    assert_int_equal(timelines_frontier(s, u), 0);
    assert_int_equal(timelines_frontier(s, w), v);
    timelines_free(s);
}

static void what_the_host_has_waited_for_is_before_what_it_submits(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), u = submit(s, &b, 0);
    timelines_wait(s, &t, 1);
    uint32_t v = submit(s, &b, 0), w = submit(s, &a, 0);
    assert_true(timelines_before(s, t, v) && !timelines_before(s, u, w));
    timelines_free(s);
}

static void accesses_of_the_host_are_after_what_it_has_waited_for_and_before_what_it_submits(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, first = timelines_host(s);
    assert_int_equal(timelines_host(s), first);
    uint32_t t = submit(s, &a, 0), second = timelines_host(s);
    assert_true(timelines_before(s, first, t) && timelines_before(s, first, second));
    assert_false(timelines_before(s, t, second) || timelines_before(s, second, t));
    timelines_wait(s, &t, 1);
    uint32_t third = timelines_host(s), u = submit(s, &a, 0);
    assert_true(timelines_before(s, t, third) && timelines_before(s, second, u) && timelines_before(s, third, u));
    assert_false(timelines_before(s, t, second));
    timelines_free(s);
}

static void a_task_is_not_after_what_the_host_does_once_it_is_submitted(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, t = timelines_submit(s, &a, &copy, NULL, 0, NULL), host = timelines_host(s);
    timelines_begin(s, t);
    assert_false(timelines_before(s, host, t) || timelines_before(s, t, host));
    timelines_free(s);
}

static void host_functions_are_acts_of_the_host(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, t = submit(s, &a, 0), f = timelines_submit(s, &a, &call, NULL, 0, NULL),
             u = timelines_submit(s, &a, &copy, NULL, 0, NULL), before = timelines_host(s);
    timelines_begin(s, f);
    uint32_t within = timelines_host(s);
    timelines_end(s, f);
    timelines_begin(s, u);
    uint32_t after = timelines_host(s);
    assert_false(timelines_before(s, t, before));
    assert_true(timelines_before(s, t, within) && timelines_before(s, t, after));
    assert_true(timelines_before(s, before, u) && timelines_before(s, within, u));
    assert_false(timelines_before(s, after, u) || timelines_before(s, u, after));
    timelines_free(s);
}

static void a_gate_is_behind_what_has_begun(void **state)
{
    (void)state;
    static const struct task_note gate = {.kind = TASK_GATE};
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, t = submit(s, &a, 0), g = timelines_submit(s, &b, &gate, NULL, 0, NULL),
             later = timelines_submit(s, &a, &copy, NULL, 0, NULL), u = timelines_submit(s, &b, &copy, NULL, 0, NULL);
    timelines_begin(s, g);
    timelines_end(s, g);
    timelines_begin(s, later);
    timelines_begin(s, u);
    assert_true(timelines_before(s, t, u));
    assert_false(timelines_before(s, later, u) || timelines_before(s, u, later));
    timelines_free(s);
}

static void marks_need_not_be_waited_for(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, t = submit(s, &a, 0);
    assert_false(timelines_is_synchronized(s));
    timelines_wait(s, &t, 1);
    assert_true(timelines_is_synchronized(s));
    timelines_begin(s, timelines_submit(s, &a, &mark, NULL, 0, NULL));
    assert_true(timelines_is_synchronized(s));
    submit(s, &a, 0);
    assert_false(timelines_is_synchronized(s));
    timelines_free(s);
}

static void streams_that_have_gone_make_room_and_order_nothing(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, c = 0, t = submit(s, &a, 0);
    timelines_close(s, a);
    uint32_t u = submit(s, &b, 0);
    assert_true(b != a && !timelines_before(s, t, u));
    timelines_wait(s, (uint32_t[]){t, u}, 2);
    timelines_close(s, b);
    uint32_t v = submit(s, &c, 0);
    assert_true((c == a || c == b) && timelines_before(s, t, v) && timelines_before(s, u, v));
    timelines_free(s);
}

static void tasks_keep_what_they_are(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    char name[] = "kernel";
    uint32_t a = 0;
    uint32_t t =
        timelines_submit(s, &a, &(struct task_note){.kind = TASK_LAUNCH, .name = name, .stream = 7}, NULL, 0, NULL);
    memset(name, 0, sizeof name);
    assert_string_equal(timelines_note(s, t)->name, "kernel");
    assert_int_equal(timelines_note(s, t)->stream, 7);
    timelines_free(s);
}

/* ---- random graphs ---- */

enum { TASKS = 300, STRANDS = 6, HOST = STRANDS };

/* What comes before what, by its definition: reach[b][a]. `host` is all that the host's next act
 * comes after. */
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

static void put(struct reference *r, struct timelines *s, uint32_t timeline[], uint64_t *seed)
{
    uint32_t k = next(seed) % STRANDS, n = next(seed) % 3, after[2];
    for (uint32_t i = 0; i < n; i++)
        after[i] = next(seed) % (r->n + 1);
    uint32_t t = timelines_submit(s, &timeline[k], &copy, after, n, NULL);
    assert_int_equal(t, r->n + 1);
    timelines_begin(s, t);
    add_all(r->reach[t], r->host);
    add_task(r, r->reach[t], r->last[k]);
    for (uint32_t i = 0; i < n; i++)
        add_task(r, r->reach[t], after[i]);
    r->last[k] = r->n = t;
}

static void access_memory(struct reference *r, struct timelines *s)
{
    uint32_t t = timelines_host(s);
    if (t == r->last[HOST])
        return; /* still the same segment */
    assert_int_equal(t, r->n + 1);
    add_all(r->reach[t], r->host);
    r->host[t] = true;
    r->last[HOST] = r->n = t;
}

static void compare(const struct reference *r, const struct timelines *s)
{
    for (uint32_t b = 1; b <= r->n; b++) {
        uint32_t frontier = 0;
        for (uint32_t a = 1; a <= r->n; a++)
            assert_int_equal(timelines_before(s, a, b), r->reach[b][a]);
        while (frontier + 1 < b && r->reach[b][frontier + 1])
            frontier++;
        assert_int_equal(timelines_frontier(s, b), frontier);
    }
}

/* Of two streams one is always behind: the host never waits for all. */
static void what_is_before_all_that_comes_is_settled_and_forgotten(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, early = submit(s, &a, 0), unwaited = 0, last = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t waited = submit(s, &a, 0);
        if (unwaited)
            assert_true(timelines_retired(s) < unwaited);
        if (i == 15000)
            unwaited = submit(s, &b, 0);
        last = timelines_submit(s, &a, &copy, NULL, 0, NULL);
        timelines_begin(s, last);
        timelines_wait(s, &waited, 1);
        assert_true(timelines_before(s, early, last) && timelines_before(s, waited, last));
        assert_true(timelines_frontier(s, last) >= timelines_retired(s) && timelines_retired(s) < last);
        assert_true(i > 15000 || timelines_retired(s) + 2 >= waited);
        timelines_end(s, last);
    }
    assert_false(timelines_before(s, unwaited, last));
    timelines_wait(s, &unwaited, 1);
    assert_true(timelines_retired(s) > last - 4);
    assert_int_equal(timelines_note(s, last)->kind, TASK_COPY);
    assert_int_not_equal(timelines_note(s, early)->kind, TASK_COPY); /* it is forgotten */
    timelines_free(s);
}

static void random_graphs_are_ordered_as_reachability_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct timelines *s = timelines_new();
        struct reference *r = calloc(1, sizeof *r);
        uint32_t timeline[STRANDS] = {0}, waited[2];
        uint64_t random = seed;
        while (r->n < TASKS) {
            uint32_t what = next(&random) % 8;
            if (what < 5) {
                put(r, s, timeline, &random);
            } else if (what < 7) {
                access_memory(r, s);
            } else {
                for (int i = 0; i < 2; i++) {
                    waited[i] = next(&random) % (r->n + 1);
                    add_task(r, r->host, waited[i]);
                }
                timelines_wait(s, waited, 2);
            }
        }
        compare(r, s);
        free(r);
        timelines_free(s);
    }
}

/* Clocks of the branches of a fan know of what is before them all, not of each other: of the second
 * fan, of each branch of the first. */
static void wide_fans_cost_what_their_tasks_do(void **state)
{
    enum { N = 20000, FANS = 3, MOST_SECONDS = 5, MOST_BYTES = 100 << 20 };
    (void)state;
    struct timelines *s = timelines_new();
    static uint32_t branches[N], ends[N];
    uint32_t stream = 0, before_all = submit(s, &stream, 0);
    size_t bytes = mallinfo2().uordblks;
    clock_t begun = clock();
    for (int fan = 0; fan < FANS; fan++) {
        uint32_t first = submit(s, &stream, 0), earlier = fan ? ends[7] : before_all;
        for (int i = 0; i < N; i++)
            ends[i] = submit(s, &branches[i], first);
        uint32_t last = timelines_submit(s, &stream, &copy, ends, N, NULL);
        timelines_begin(s, last);
        timelines_end(s, last);
        assert_true(timelines_before(s, earlier, ends[7]) && timelines_before(s, earlier, ends[8]));
        assert_true(timelines_before(s, first, ends[N - 1]) && timelines_before(s, ends[7], last));
        assert_false(timelines_before(s, ends[7], ends[8]) || timelines_before(s, ends[8], ends[7]));
        assert_int_equal(timelines_frontier(s, ends[N / 2]), first);
        assert_int_equal(timelines_frontier(s, last), last - 1);
    }
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < MOST_SECONDS);
    assert_true(mallinfo2().uordblks - bytes < MOST_BYTES);
    timelines_free(s);
}

/* What a task learns while it runs is before what comes after it, also where a gate has counted the
 * task before. */
static void what_is_learnt_behind_a_gate_counts(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, c = 0, d = 0, e = 0, other, runs, gate, last;
    runs = timelines_submit(s, &a, &launch, NULL, 0, NULL);
    timelines_begin(s, runs);
    gate = timelines_submit(s, &b, &(struct task_note){.kind = TASK_GATE}, NULL, 0, NULL);
    timelines_begin(s, gate);
    timelines_end(s, gate);
    other = timelines_submit(s, &c, &launch, NULL, 0, NULL);
    timelines_begin(s, other);
    timelines_learn(s, runs, other);
    timelines_end(s, other);
    timelines_end(s, runs);
    uint32_t alone = submit(s, &d, gate);
    last = timelines_submit(s, &e, &copy, (uint32_t[]){gate, runs}, 2, NULL);
    timelines_begin(s, last);
    assert_true(timelines_before(s, runs, alone) && !timelines_before(s, other, alone));
    assert_true(timelines_before(s, runs, last) && timelines_before(s, other, last));
    timelines_free(s);
}

static void what_is_published_for_a_task_holds_for_its_successors(void **state)
{
    (void)state;
    struct timelines *s = timelines_new();
    uint32_t a = 0, b = 0, c = 0, first, second, next, behind, apart;
    struct clock *of_first = NULL, *of_second = NULL;
    assert_true(clock_add_lane(&of_first, 1, 0, 0, 5) && clock_add_lane(&of_second, 2, 0, 0, 5));
    first = timelines_submit(s, &a, &launch, NULL, 0, of_first);
    second = timelines_submit(s, &b, &launch, NULL, 0, of_second);
    next = timelines_submit(s, &a, &mark, NULL, 0, NULL);
    behind = timelines_submit(s, &b, &launch, &next, 1, NULL);
    apart = timelines_submit(s, &c, &launch, NULL, 0, NULL);
    assert_ptr_equal(timelines_published(s, first), of_first);
    assert_ptr_equal(timelines_published(s, second), of_second);
    assert_ptr_equal(timelines_published(s, next), of_first);
    assert_int_equal(clock_before(timelines_published(s, behind), 1, 0, 1, 4), 1);
    assert_int_equal(clock_before(timelines_published(s, behind), 2, 0, 1, 4), 1);
    assert_null(timelines_published(s, apart));
    timelines_free(s);
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
        cmocka_unit_test(wide_fans_cost_what_their_tasks_do),
        cmocka_unit_test(what_is_learnt_behind_a_gate_counts),
        cmocka_unit_test(what_is_published_for_a_task_holds_for_its_successors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
