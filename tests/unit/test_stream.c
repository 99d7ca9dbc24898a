/* Streams, events and contexts of the library (include/heddle.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle.h"

/* add: *p += n.  await: spins until *p is n.  wild: writes through a null pointer. */
static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
                           "    .reg .u64 %rd<2>;\n    .reg .u32 %r<3>;\n"
                           "    ld.param.u64 %rd1, [p];\n    ld.param.u32 %r1, [n];\n"
                           "    atom.global.add.u32 %r2, [%rd1], %r1;\n    ret;\n}\n"
                           ".visible .entry await(.param .u64 p, .param .u32 n)\n{\n"
                           "    .reg .u64 %rd<2>;\n    .reg .u32 %r<3>;\n    .reg .pred %p<2>;\n"
                           "    ld.param.u64 %rd1, [p];\n    ld.param.u32 %r1, [n];\n"
                           "again:\n    ld.relaxed.sys.global.u32 %r2, [%rd1];\n"
                           "    setp.ne.u32 %p1, %r1, %r2;\n    @%p1 bra again;\n    ret;\n}\n"
                           ".visible .entry wild()\n{\n    .reg .u64 %rd<2>;\n"
                           "    mov.u64 %rd1, 0;\n    st.global.u64 [%rd1], %rd1;\n    ret;\n}\n";

struct fixture {
    hd_machine *machine;
    hd_context *context;
    hd_module *module;
    hd_kernel *add, *await, *wild;
    uint32_t *cell; /* 64 of them, zero */
    unsigned faults;
    char report[512];
};

static void on_fault(void *data, hd_result result, hd_report *report)
{
    struct fixture *f = data;
    (void)result;
    f->faults++;
    strncpy(f->report, hd_report_text(report), sizeof f->report - 1);
}

static int set_up_policy(void **state, const char *policy)
{
    struct fixture *f = calloc(1, sizeof *f);
    hd_machine_options options = {.workers = 2, .memory_bytes = 1 << 24, .policy = policy};
    hd_source source = {"stream.ptx", text, sizeof text - 1};
    hd_context_options context = {.fault = on_fault, .data = f};
    assert_int_equal(hd_machine_create(&options, &f->machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(f->machine, &source, 1, &f->module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(f->module, "add", &f->add, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(f->module, "await", &f->await, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(f->module, "wild", &f->wild, NULL), HD_SUCCESS);
    assert_int_equal(hd_context_create(f->machine, &context, &f->context), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 256, (void **)&f->cell), HD_SUCCESS);
    memset(f->cell, 0, 256);
    *state = f;
    return 0;
}

static int set_up(void **state)
{
    return set_up_policy(state, NULL);
}

static int set_up_random(void **state)
{
    return set_up_policy(state, "random:5");
}

static int set_up_serial(void **state)
{
    return set_up_policy(state, "serial");
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    hd_context_destroy(f->context);
    hd_machine_destroy(f->machine);
    free(f);
    return 0;
}

static hd_result launch(hd_stream *s, hd_kernel *k, uint32_t *p, uint32_t n)
{
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = (const void *[]){&p, &n}};
    return hd_stream_launch(s, k, &c, NULL);
}

/* What a kernel waits for. */
static void release(struct fixture *f, unsigned cell)
{
    __atomic_store_n(&f->cell[cell], 1, __ATOMIC_SEQ_CST);
}

static hd_stream *new_stream(struct fixture *f, unsigned flags)
{
    hd_stream *s;
    assert_int_equal(hd_stream_create(f->context, flags, &s), HD_SUCCESS);
    return s;
}

static void host_sets(void *data, hd_result status)
{
    assert_int_equal(status, HD_SUCCESS);
    __atomic_store_n((uint32_t *)data, 1, __ATOMIC_SEQ_CST);
}

static void a_launch_returns_before_its_kernel_is_done(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    assert_int_equal(launch(s, f->await, &f->cell[0], 7), HD_SUCCESS);
    assert_int_equal(hd_stream_query(s), HD_ERROR_NOT_READY);
    __atomic_store_n(&f->cell[0], 7, __ATOMIC_SEQ_CST);
    assert_int_equal(hd_stream_synchronize(s), HD_SUCCESS);
    assert_int_equal(hd_stream_query(s), HD_SUCCESS);
}

static void a_brief_launch_is_done_when_it_returns(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0), *other = new_stream(f, 0);
    assert_int_equal(launch(s, f->add, &f->cell[0], 7), HD_SUCCESS);
    assert_true(hd_stream_is_done(s));
    assert_int_equal(__atomic_load_n(&f->cell[0], __ATOMIC_SEQ_CST), 7);
    assert_int_equal(launch(other, f->await, &f->cell[1], 1), HD_SUCCESS);
    assert_int_equal(launch(other, f->add, &f->cell[0], 7), HD_SUCCESS); /* which waits for that */
    assert_false(hd_stream_is_done(other));
    assert_int_equal(__atomic_load_n(&f->cell[0], __ATOMIC_SEQ_CST), 7);
    release(f, 1);
    assert_int_equal(hd_stream_synchronize(other), HD_SUCCESS);
    assert_int_equal(__atomic_load_n(&f->cell[0], __ATOMIC_SEQ_CST), 14);
}

static void a_stream_keeps_its_order(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    uint32_t seen[2] = {0, 0};
    hd_copy first = {.to = &seen[0], .from = &f->cell[0], .width = 4, .height = 1, .depth = 1};
    hd_copy second = {.to = &seen[1], .from = &f->cell[0], .width = 4, .height = 1, .depth = 1};
    hd_fill fill = {.to = f->cell, .value = 5, .element_bytes = 4, .width = 1, .height = 1};
    assert_int_equal(launch(s, f->await, &f->cell[1], 1), HD_SUCCESS); /* all else waits for this */
    assert_int_equal(hd_stream_fill(s, &fill, false), HD_SUCCESS);
    assert_int_equal(hd_stream_copy(s, &first, false), HD_SUCCESS);
    for (int i = 0; i < 2000; i++) { /* more than may be pending */
        if (i == 100)
            __atomic_store_n(&f->cell[1], 1, __ATOMIC_SEQ_CST);
        assert_int_equal(launch(s, f->add, &f->cell[0], 1), HD_SUCCESS);
    }
    assert_int_equal(hd_stream_copy(s, &second, true), HD_SUCCESS);
    assert_int_equal(seen[0], 5);
    assert_int_equal(seen[1], 2005);
}

static hd_result count_up(void *data)
{
    uint32_t **cell = data;
    ++*cell[0];
    return HD_SUCCESS;
}

static hd_result give_up(void *data)
{
    (void)data;
    return HD_ERROR_OUT_OF_MEMORY;
}

static void count_drop(void *data)
{
    uint32_t **cell = data;
    ++*cell[1];
}

/* Small work of an idle stream is the caller's, all else has its turn; dropped is all. */
static void work_has_its_turn_in_a_stream(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    uint32_t drops = 0, *cells[2] = {&f->cell[0], &drops};
    hd_used used = {.at = f->cell, .width = 4, .height = 1, .use = HD_READS | HD_WRITES};
    hd_work work = {
        .name = "count", .run = count_up, .drop = count_drop, .data = cells, .used = &used, .used_count = 1};
    assert_int_equal(hd_stream_work(s, &work, HD_NO_WAIT), HD_SUCCESS);
    assert_int_equal(f->cell[0], 1);
    assert_int_equal(launch(s, f->await, &f->cell[1], 1), HD_SUCCESS);
    assert_int_equal(hd_stream_work(s, &work, HD_NO_WAIT), HD_SUCCESS);
    assert_int_equal(f->cell[0], 1);
    __atomic_store_n(&f->cell[1], 1, __ATOMIC_SEQ_CST);
    assert_int_equal(hd_stream_work(s, &work, HD_WAIT), HD_SUCCESS);
    assert_int_equal(f->cell[0], 3);
    assert_int_equal(hd_stream_synchronize(s), HD_SUCCESS);
    assert_int_equal(drops, 3);
}

static void work_on_memory_that_is_not_there_is_a_fault(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    void *memory;
    uint32_t drops = 0, *cells[2] = {&f->cell[0], &drops};
    hd_work work = {.name = "count", .run = count_up, .drop = count_drop, .data = cells};
    assert_int_equal(hd_alloc(f->machine, 1024, &memory), HD_SUCCESS);
    hd_used used = {.at = memory, .width = 512, .height = 3, .pitch = 512, .use = HD_WRITES};
    work.used = &used;
    work.used_count = 1;
    assert_int_equal(hd_stream_work(s, &work, HD_WAIT), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(f->cell[0], 0);
    assert_int_equal(hd_stream_work(s, &work, HD_NO_WAIT), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(drops, 2);
}

/* Counts its steps in what is its own, until the others have come so far. */
static hd_result wait_for_cell(void *data, void **state)
{
    uint32_t **cells = data;
    *state = (char *)*state + 1;
    if (__atomic_load_n(cells[0], __ATOMIC_SEQ_CST) < 4)
        return HD_ERROR_NOT_READY;
    *cells[1] = (uint32_t)(uintptr_t)*state;
    *state = NULL;
    return HD_SUCCESS;
}

static hd_result count_until_4(void *data, void **state)
{
    uint32_t *cell = data;
    (void)state;
    return __atomic_add_fetch(cell, 1, __ATOMIC_SEQ_CST) < 4 ? HD_ERROR_NOT_READY : HD_SUCCESS;
}

/* More of it than there are threads, which waits for what comes last. */
static void work_in_steps_leaves_others_their_turn(void **state)
{
    enum { WAITING = 70 };
    struct fixture *f = *state;
    uint32_t steps[WAITING] = {0}, *cells[WAITING][2];
    hd_stream *streams[WAITING + 1];
    for (int i = 0; i <= WAITING; i++)
        streams[i] = new_stream(f, 0);
    for (int i = 0; i < WAITING; i++) {
        cells[i][0] = &f->cell[0];
        cells[i][1] = &steps[i];
        const hd_work work = {.name = "wait", .step = wait_for_cell, .data = cells[i]};
        assert_int_equal(hd_stream_work(streams[i], &work, HD_NO_WAIT), HD_SUCCESS);
    }
    const hd_work work = {.name = "count", .step = count_until_4, .data = &f->cell[0]};
    assert_int_equal(hd_stream_work(streams[WAITING], &work, HD_WAIT), HD_SUCCESS);
    for (int i = 0; i < WAITING; i++) {
        assert_int_equal(hd_stream_synchronize(streams[i]), HD_SUCCESS);
        assert_true(steps[i] > 0);
    }
}

static void work_that_fails_is_a_fault(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    const hd_work work = {.name = "give up", .run = give_up};
    hd_result r = hd_stream_work(s, &work, HD_NO_WAIT); /* may know it already */
    assert_true(r == HD_SUCCESS || r == HD_ERROR_OUT_OF_MEMORY);
    assert_int_equal(hd_stream_synchronize(s), HD_ERROR_OUT_OF_MEMORY);
}

static void a_kernel_that_waits_for_the_host_stops_no_other_stream(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0), *c = new_stream(f, 0);
    assert_int_equal(launch(a, f->await, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(launch(b, f->await, &f->cell[1], 1), HD_SUCCESS);
    assert_int_equal(launch(c, f->add, &f->cell[2], 9), HD_SUCCESS);
    assert_int_equal(hd_stream_call(c, host_sets, &f->cell[0], false), HD_SUCCESS);
    assert_int_equal(hd_stream_synchronize(c), HD_SUCCESS);
    assert_int_equal(hd_stream_synchronize(a), HD_SUCCESS);
    assert_int_equal(hd_stream_query(b), HD_ERROR_NOT_READY);
    assert_int_equal(f->cell[2], 9);
    release(f, 1);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
}

static void kernels_in_two_streams_meet(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0);
    assert_int_equal(launch(a, f->await, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(launch(b, f->add, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
}

/* Each kernel lets the one that was put before it go on. */
static void kernels_in_more_streams_than_threads_meet(void **state)
{
    enum { N = 24 };
    struct fixture *f = *state;
    for (unsigned i = 0; i < N; i++) {
        hd_stream *s = new_stream(f, HD_STREAM_NON_BLOCKING);
        assert_int_equal(launch(s, f->await, &f->cell[i + 1], 1), HD_SUCCESS);
        assert_int_equal(launch(s, f->add, &f->cell[i], 1), HD_SUCCESS);
    }
    hd_stream *last = new_stream(f, HD_STREAM_NON_BLOCKING);
    assert_int_equal(launch(last, f->add, &f->cell[N], 1), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    assert_int_equal(f->cell[0], 1);
}

static void events_order_streams(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, HD_STREAM_NON_BLOCKING), *b = new_stream(f, HD_STREAM_NON_BLOCKING);
    hd_event *e, *end;
    double seconds = -1;
    uint32_t seen = 0;
    hd_copy copy = {.to = &seen, .from = &f->cell[1], .width = 4, .height = 1, .depth = 1};
    assert_int_equal(hd_event_create(&e), HD_SUCCESS);
    assert_int_equal(hd_event_create(&end), HD_SUCCESS);
    assert_int_equal(hd_event_query(e), HD_SUCCESS);
    assert_int_equal(hd_event_elapsed(e, end, &seconds), HD_ERROR_INVALID_VALUE);
    assert_int_equal(launch(a, f->await, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(launch(a, f->add, &f->cell[1], 3), HD_SUCCESS);
    assert_int_equal(hd_event_record(e, a), HD_SUCCESS);
    assert_int_equal(hd_stream_wait_event(b, e), HD_SUCCESS);
    assert_int_equal(hd_stream_copy(b, &copy, false), HD_SUCCESS);
    assert_int_equal(hd_event_record(end, b), HD_SUCCESS);
    assert_int_equal(hd_event_query(e), HD_ERROR_NOT_READY);
    usleep(2000);
    release(f, 0);
    assert_int_equal(hd_event_synchronize(end), HD_SUCCESS);
    assert_int_equal(seen, 3);
    assert_int_equal(hd_event_elapsed(e, end, &seconds), HD_SUCCESS);
    assert_true(seconds >= 0 && seconds < 60);
    hd_event_destroy(e);
    hd_event_destroy(end);
}

static void the_default_stream_waits_for_blocking_streams_and_they_for_it(void **state)
{
    struct fixture *f = *state;
    hd_stream *zero = hd_context_default_stream(f->context), *a = new_stream(f, 0);
    hd_stream *free_one = new_stream(f, HD_STREAM_NON_BLOCKING);
    assert_int_equal(launch(a, f->await, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(launch(zero, f->add, &f->cell[1], 1), HD_SUCCESS); /* after a */
    assert_int_equal(launch(a, f->add, &f->cell[2], 1), HD_SUCCESS);    /* after zero */
    assert_int_equal(launch(free_one, f->add, &f->cell[3], 1), HD_SUCCESS);
    assert_int_equal(hd_stream_synchronize(free_one), HD_SUCCESS);
    assert_int_equal(f->cell[3], 1);
    assert_int_equal(hd_stream_query(zero), HD_ERROR_NOT_READY);
    assert_int_equal(f->cell[1] + f->cell[2], 0);
    release(f, 0);
    assert_int_equal(hd_stream_synchronize(a), HD_SUCCESS);
    assert_int_equal(f->cell[1] + f->cell[2], 2);
}

static void note_status(void *data, hd_result status)
{
    *(hd_result *)data = status;
}

static void a_fault_is_the_end_of_its_context_alone(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0), *b = new_stream(f, 0), *other;
    hd_context *second;
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    hd_result seen = HD_SUCCESS, not_seen = HD_SUCCESS;
    assert_int_equal(hd_stream_launch(a, f->wild, &c, NULL), HD_SUCCESS);
    (void)hd_stream_call(a, note_status, &seen, true);
    (void)hd_stream_call(a, note_status, &not_seen, false);
    assert_int_equal(hd_stream_synchronize(a), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(seen, HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(not_seen, HD_SUCCESS);
    assert_int_equal(f->faults, 1);
    assert_non_null(strstr(f->report, "kernel `wild`"));
    assert_int_equal(launch(b, f->add, &f->cell[0], 1), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(hd_context_status(f->context), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(hd_context_create(f->machine, NULL, &second), HD_SUCCESS);
    assert_int_equal(hd_stream_create(second, 0, &other), HD_SUCCESS);
    assert_int_equal(launch(other, f->add, &f->cell[0], 1), HD_SUCCESS);
    hd_context_destroy(second);
    assert_int_equal(f->cell[0], 1);
}

/* How many have begun and not ended. */
static unsigned running(const struct fixture *f)
{
    hd_progress p;
    hd_machine_get_progress(f->machine, &p);
    return p.launches;
}

/* They have given way to each other, and hold what they have to give back. */
static void a_fault_ends_kernels_of_its_context_that_have_begun(void **state)
{
    enum { N = 24 };
    struct fixture *f = *state;
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    hd_context *second;
    hd_stream *other;
    assert_int_equal(hd_context_create(f->machine, NULL, &second), HD_SUCCESS);
    assert_int_equal(hd_stream_create(second, 0, &other), HD_SUCCESS);
    assert_int_equal(launch(other, f->await, &f->cell[0], 1), HD_SUCCESS);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(launch(new_stream(f, HD_STREAM_NON_BLOCKING), f->await, &f->cell[0], 1), HD_SUCCESS);
    while (running(f) < N + 1)
        usleep(100);
    hd_stream *last = new_stream(f, HD_STREAM_NON_BLOCKING);
    assert_int_equal(hd_stream_launch(last, f->wild, &c, NULL), HD_SUCCESS);
    assert_int_equal(hd_stream_synchronize(last), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(running(f), 1); /* another context's */
    assert_int_equal(hd_stream_query(other), HD_ERROR_NOT_READY);
    release(f, 0);
    assert_int_equal(hd_context_synchronize(second), HD_SUCCESS);
    hd_context_destroy(second);
    assert_int_equal(running(f), 0);
}

static void a_machine_is_held_while_a_kernel_waits_for_the_host(void **state)
{
    struct fixture *f = *state;
    hd_stream *a = new_stream(f, 0);
    assert_int_equal(launch(a, f->await, &f->cell[0], 1), HD_SUCCESS);
    for (int i = 0; i < 3; i++) {
        usleep(2000);
        hd_machine_hold(f->machine);
        hd_machine_release(f->machine);
    }
    assert_int_equal(running(f), 1);
    release(f, 0);
    assert_int_equal(hd_stream_synchronize(a), HD_SUCCESS);
}

static void a_destroyed_stream_finishes_its_work(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(launch(s, f->add, &f->cell[0], 1), HD_SUCCESS);
    hd_stream_destroy(s);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    assert_int_equal(f->cell[0], 50);
}

static void memory_is_freed_in_the_order_of_its_stream(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = new_stream(f, 0);
    uint32_t *p;
    hd_memory_info info;
    assert_int_equal(hd_alloc(f->machine, 4, (void **)&p), HD_SUCCESS);
    assert_true(hd_find(f->machine, p, &info) && info.start == p && info.bytes == 4 && info.allocated);
    *p = 0;
    assert_int_equal(launch(s, f->await, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(launch(s, f->add, p, 1), HD_SUCCESS);
    assert_int_equal(hd_stream_free(s, p), HD_SUCCESS);
    assert_true(hd_find(f->machine, p, &info));
    release(f, 0);
    assert_int_equal(hd_stream_synchronize(s), HD_SUCCESS);
    assert_false(hd_find(f->machine, p, &info));
}

static void boxes_are_copied_and_filled_row_by_row(void **state)
{
    struct fixture *f = *state;
    hd_stream *s = hd_context_default_stream(f->context);
    uint8_t to[60], from[60];
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)i;
    memset(to, 255, sizeof to);
    hd_copy copy = {to, from, 3, 2, 2, 10, 30, 5, 20, false};
    assert_int_equal(hd_stream_copy(s, &copy, true), HD_SUCCESS);
    const uint8_t want[] = {0, 1, 2, 5, 6, 7, 20, 21, 22, 25, 26, 27};
    const unsigned at[] = {0, 10, 30, 40};
    for (int i = 0; i < 4; i++)
        assert_memory_equal(to + at[i], want + 3 * i, 3);
    assert_int_equal(to[3], 255);
    uint16_t words[12] = {0};
    hd_fill fill = {.to = words, .value = 0x1234, .element_bytes = 2, .width = 2, .height = 3, .pitch = 8};
    assert_int_equal(hd_stream_fill(s, &fill, false), HD_SUCCESS);
    assert_int_equal(hd_stream_synchronize(s), HD_SUCCESS);
    for (int i = 0; i < 12; i++)
        assert_int_equal(words[i], i % 4 < 2 ? 0x1234 : 0);
}

/* ---- checkers ---- */

struct watch {
    unsigned launches, fresh;
};

static void count_launch(void *data, const char *kernel, bool fresh)
{
    struct watch *w = data;
    assert_string_equal(kernel, w->launches ? "wild" : "add");
    w->launches++;
    w->fresh += fresh;
}

/* What the checker has found: the code of the only finding, and its count; NULL where there is
 * none. */
static const char *found(hd_checker *checker, uint64_t *count)
{
    static char code[64];
    hd_report *report;
    hd_diagnostic d;
    assert_int_equal(hd_checker_report(checker, &report), HD_SUCCESS);
    if (!report)
        return NULL;
    assert_int_equal(hd_report_count(report), 1);
    assert_true(hd_report_get(report, 0, &d));
    snprintf(code, sizeof code, "%s", d.code);
    *count = d.count;
    hd_report_free(report);
    return code;
}

static void launches_of_all_streams_are_watched(void **state)
{
    struct fixture *f = *state;
    hd_checker *checker, *second;
    struct watch w = {0};
    uint64_t count;
    hd_checker_options o = {.launched = count_launch, .data = &w};
    assert_int_equal(hd_checker_create(f->machine, &o, &checker), HD_SUCCESS);
    assert_int_equal(hd_checker_create(f->machine, &o, &second), HD_ERROR_INVALID_VALUE);
    assert_int_equal(launch(new_stream(f, 0), f->add, &f->cell[0], 1), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    assert_null(found(checker, &count));
    for (int i = 0; i < 2; i++) { /* the bad access is left out, and nothing fails */
        assert_int_equal(launch(new_stream(f, 0), f->wild, NULL, 0), HD_SUCCESS);
        assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    }
    assert_string_equal(found(checker, &count), "illegal-address");
    assert_int_equal(count, 2);
    assert_int_equal(w.launches, 3);
    assert_int_equal(w.fresh, 1);
    assert_int_equal(f->faults, 0);
    hd_checker_destroy(checker);
    assert_int_equal(launch(new_stream(f, 0), f->wild, NULL, 0), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_ERROR_ILLEGAL_ADDRESS);
}

static void launches_of_several_streams_are_watched_at_once(void **state)
{
    enum { STREAMS = 6, LAUNCHES = 40 };
    struct fixture *f = *state;
    hd_checker *checker;
    hd_stream *streams[STREAMS];
    hd_launch_config c = {.grid = {3, 1, 1}, .block = {64, 1, 1}};
    uint64_t count;
    assert_int_equal(hd_checker_create(f->machine, NULL, &checker), HD_SUCCESS);
    for (unsigned s = 0; s < STREAMS; s++)
        streams[s] = new_stream(f, HD_STREAM_NON_BLOCKING);
    for (unsigned i = 0; i < LAUNCHES; i++)
        for (unsigned s = 0; s < STREAMS; s++)
            assert_int_equal(hd_stream_launch(streams[s], f->wild, &c, NULL), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    assert_string_equal(found(checker, &count), "illegal-address");
    assert_int_equal(count, STREAMS * LAUNCHES * 3 * 64);
    hd_checker_destroy(checker);
}

/* How often `add` has read what nobody has written, once it has run on a cell. */
static uint64_t undefined_reads(struct fixture *f, uint32_t *cell)
{
    uint64_t count = 0;
    assert_int_equal(launch(hd_context_default_stream(f->context), f->add, cell, 1), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    found(hd_machine_checker(f->machine), &count);
    return count;
}

static void copies_and_fills_write_what_they_copy(void **state)
{
    struct fixture *f = *state;
    hd_checker *checker;
    uint32_t *a, *b, *c, host[64];
    hd_stream *s = hd_context_default_stream(f->context);
    assert_int_equal(hd_checker_create(f->machine, NULL, &checker), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 256, (void **)&a), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 256, (void **)&b), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 256, (void **)&c), HD_SUCCESS);
    hd_checker_mark_undefined(checker, a, 256, "a");
    hd_checker_mark_undefined(checker, b, 256, "b");
    hd_checker_mark_undefined(checker, c, 256, "c");
    hd_fill fill = {.to = a, .value = 7, .element_bytes = 4, .width = 32, .height = 1, .pitch = 128};
    hd_copy copy = {.to = b, .from = a, .width = 256, .height = 1, .depth = 1};
    assert_int_equal(hd_stream_fill(s, &fill, HD_NO_WAIT), HD_SUCCESS);
    assert_int_equal(hd_stream_copy(s, &copy, HD_WAIT), HD_SUCCESS);
    assert_int_equal(hd_checker_defined_bytes(checker, a, 256), 128);
    assert_int_equal(hd_checker_defined_bytes(checker, b, 256), 128);
    assert_int_equal(undefined_reads(f, &a[31]), 0);
    assert_int_equal(undefined_reads(f, &b[31]), 0);
    assert_int_equal(undefined_reads(f, &b[32]), 1); /* what was copied had not been written either */
    assert_int_equal(undefined_reads(f, &b[32]), 1); /* but now it has */
    hd_copy out = {.to = host, .from = a, .width = 256, .height = 1, .depth = 1};
    assert_int_equal(hd_stream_copy(s, &out, HD_WAIT), HD_SUCCESS);
    memset(host, 0, sizeof host); /* which nobody sees: memory of the host counts as written */
    hd_copy in = {.to = c, .from = host, .width = 256, .height = 1, .depth = 1};
    assert_int_equal(hd_stream_copy(s, &in, HD_WAIT), HD_SUCCESS);
    assert_int_equal(undefined_reads(f, &c[63]), 1);
    assert_int_equal(hd_free(f->machine, c), HD_SUCCESS); /* nothing is known of it then */
    assert_int_equal(hd_checker_defined_bytes(checker, c, 256), 256);
    hd_checker_mark_undefined(checker, a, 256, "a");
    hd_checker_mark_defined(checker, NULL, SIZE_MAX); /* no memory, and no time either */
    hd_checker_mark_defined(checker, a, SIZE_MAX);
    hd_checker_mark_copied(checker, a, b, SIZE_MAX);
    assert_int_equal(hd_checker_mark_undefined(checker, a, SIZE_MAX, "a"), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_checker_undefined_bytes(checker, NULL, SIZE_MAX), 0);
    assert_int_equal(hd_checker_undefined_bytes(checker, a, 256), 256);
    hd_checker_destroy(checker);
}

static void findings_outlive_their_module(void **state)
{
    struct fixture *f = *state;
    hd_checker *checker;
    hd_report *report;
    assert_int_equal(hd_checker_create(f->machine, NULL, &checker), HD_SUCCESS);
    assert_int_equal(launch(new_stream(f, 0), f->wild, NULL, 0), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    hd_module_unload(f->module);
    assert_int_equal(hd_checker_report(checker, &report), HD_SUCCESS);
    assert_non_null(strstr(hd_report_text(report), "st.global.u64 [%rd1], %rd1;"));
    hd_report_free(report);
    hd_checker_destroy(checker);
}

static void a_launch_that_is_not_to_be_checked_fails_as_ever(void **state)
{
    struct fixture *f = *state;
    hd_checker *checker;
    uint64_t count;
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .flags = HD_LAUNCH_UNCHECKED};
    assert_int_equal(hd_checker_create(f->machine, NULL, &checker), HD_SUCCESS);
    assert_int_equal(hd_stream_launch(new_stream(f, 0), f->wild, &c, NULL), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_ERROR_ILLEGAL_ADDRESS);
    assert_null(found(checker, &count));
    hd_checker_destroy(checker);
}

static void a_bad_access_ends_what_it_is_to_end(void **state)
{
    struct fixture *f = *state;
    hd_checker *checker;
    hd_checker_options o = {.on_error = HD_ON_ERROR_KERNEL};
    assert_int_equal(hd_checker_create(f->machine, &o, &checker), HD_SUCCESS);
    assert_int_equal(launch(new_stream(f, 0), f->wild, NULL, 0), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_SUCCESS);
    assert_int_equal(f->faults, 1);
    hd_checker_destroy(checker);
    o.on_error = HD_ON_ERROR_CONTEXT;
    assert_int_equal(hd_checker_create(f->machine, &o, &checker), HD_SUCCESS);
    assert_int_equal(launch(new_stream(f, 0), f->wild, NULL, 0), HD_SUCCESS);
    assert_int_equal(hd_context_synchronize(f->context), HD_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(f->faults, 2);
    hd_checker_destroy(checker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_launch_returns_before_its_kernel_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_brief_launch_is_done_when_it_returns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stream_keeps_its_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_has_its_turn_in_a_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_on_memory_that_is_not_there_is_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_that_fails_is_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_in_steps_leaves_others_their_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_that_waits_for_the_host_stops_no_other_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_in_two_streams_meet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_in_more_streams_than_threads_meet, set_up, tear_down),
        {"kernels_in_more_streams_than_threads_meet_by_turns", kernels_in_more_streams_than_threads_meet, set_up_serial,
         tear_down, NULL},
        {"kernels_in_more_streams_than_threads_meet_at_random", kernels_in_more_streams_than_threads_meet,
         set_up_random, tear_down, NULL},
        cmocka_unit_test_setup_teardown(events_order_streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_default_stream_waits_for_blocking_streams_and_they_for_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_fault_is_the_end_of_its_context_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_fault_ends_kernels_of_its_context_that_have_begun, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_machine_is_held_while_a_kernel_waits_for_the_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_machine_is_held_while_a_kernel_waits_for_the_host, set_up_serial, tear_down),
        cmocka_unit_test_setup_teardown(a_machine_is_held_while_a_kernel_waits_for_the_host, set_up_random, tear_down),
        cmocka_unit_test_setup_teardown(a_destroyed_stream_finishes_its_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_freed_in_the_order_of_its_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_are_copied_and_filled_row_by_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_of_all_streams_are_watched, set_up_serial, tear_down),
        cmocka_unit_test_setup_teardown(findings_outlive_their_module, set_up_serial, tear_down),
        cmocka_unit_test_setup_teardown(launches_of_several_streams_are_watched_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies_and_fills_write_what_they_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_launch_that_is_not_to_be_checked_fails_as_ever, set_up_serial, tear_down),
        cmocka_unit_test_setup_teardown(a_bad_access_ends_what_it_is_to_end, set_up_serial, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
