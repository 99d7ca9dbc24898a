/* Limits of launches, as the library's users see them: a launch that exceeds one fails soon, and
 * the machine goes on. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle.h"

static const char text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry barriers(.param .u64 p)\n{\n.reg .u32 %r<3>;\n.reg .u64 %rd<2>;\n"
    "ld.param.u64 %rd1, [p];\n"
    "LOOP: bar.sync 0;\nld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\n"
    "bar.sync 0;\nst.volatile.global.u32 [%rd1], %r1;\nbra LOOP;\n}\n"
    ".visible .entry counts(.param .u64 p)\n{\n.reg .u32 %r<3>;\n.reg .pred %q;\n"
    "mov.u32 %r1, 0;\n"
    "LOOP: add.u32 %r1, %r1, 3;\nsetp.ne.u32 %q, %r1, 1;\n@%q bra LOOP;\nbra LOOP;\n}\n"
    ".visible .entry locks(.param .u64 p)\n{\n.reg .u32 %r<3>;\n.reg .u64 %rd<2>;\n.reg .pred %q;\n"
    "ld.param.u64 %rd1, [p];\n"
    "TRY: atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %q, %r1, 0;\n@%q bra TRY;\n"
    "ld.volatile.global.u32 %r2, [%rd1+4];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd1+4], %r2;\n"
    "atom.release.gpu.global.exch.b32 %r1, [%rd1], 0;\nbra TRY;\n}\n"
    ".func g();\n.func f()\n{\ncall g;\ncall g;\nret;\n}\n.func g()\n{\ncall f;\nret;\n}\n"
    ".func h(.param .u32 n)\n{\n.reg .u32 %r<2>;\n.reg .pred %q;\nld.param.u32 %r1, [n];\n"
    "setp.eq.u32 %q, %r1, 0;\n@%q ret;\nsub.u32 %r1, %r1, 1;\n"
    "{\n.param .u32 a;\nst.param.u32 [a], %r1;\ncall h, (a);\n}\n"
    "{\n.param .u32 a;\nst.param.u32 [a], %r1;\ncall h, (a);\n}\nret;\n}\n"
    ".visible .entry falls(.param .u64 p)\n{\ncall f;\nret;\n}\n"
    ".visible .entry branches(.param .u64 p)\n{\n.param .u32 a;\nst.param.u32 [a], 60;\ncall h, (a);\nret;\n}\n"
    ".visible .entry sleeps(.param .u64 p)\n{\nLOOP: nanosleep.u32 1000000;\nbra LOOP;\n}\n"
    ".visible .entry ends(.param .u64 p)\n{\n.reg .u32 %r<2>;\n.reg .u64 %rd<2>;\n"
    "ld.param.u64 %rd1, [p];\natom.global.add.u32 %r1, [%rd1], 1;\nret;\n}\n"
    ".visible .entry is_empty(.param .u64 p)\n{\nret;\n}\n";

struct fixture {
    hd_machine *machine;
    hd_module *module;
    uint32_t *cells;
};

static void start(struct fixture *f, hd_machine_options options)
{
    hd_source source = {"limits.ptx", text, strlen(text)};
    hd_report *report = NULL;
    assert_int_equal(hd_machine_create(&options, &f->machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(f->machine, 4096, (void **)&f->cells), HD_SUCCESS);
    hd_result r = hd_module_load(f->machine, &source, 1, &f->module, &report);
    if (r)
        print_error("%s", hd_report_text(report));
    assert_int_equal(r, HD_SUCCESS);
}

static hd_result launch(struct fixture *f, const char *name, unsigned grid, unsigned block, double timeout,
                        hd_launch_stats *stats)
{
    hd_kernel *k;
    hd_launch_config c = {
        .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = (const void *[]){&f->cells}, .timeout_seconds = timeout};
    memset(f->cells, 0, 4096);
    assert_int_equal(hd_module_get_kernel(f->module, name, &k, NULL), HD_SUCCESS);
    return hd_launch(k, &c, stats, NULL);
}

static const hd_engine engines[] = {HD_ENGINE_INTERP, HD_ENGINE_AUTO, HD_ENGINE_JIT};

static bool has_compiler(void)
{
    struct fixture f;
    start(&f, (hd_machine_options){.workers = 1, .engine = HD_ENGINE_JIT, .memory_bytes = 64 << 20});
    hd_result r = launch(&f, "ends", 1, 1, 0, NULL);
    hd_machine_destroy(f.machine);
    return r == HD_SUCCESS;
}

static size_t n_engines(void)
{
    static size_t n;
    return n = n ? n : has_compiler() ? 3 : 2;
}

static void check_limit(struct fixture *f, const char *name, unsigned grid, unsigned block, uint64_t limit)
{
    hd_launch_stats stats;
    hd_result r = launch(f, name, grid, block, 0, &stats);
    if (r != HD_ERROR_LAUNCH_TIMEOUT || stats.warp_instructions < limit ||
        stats.warp_instructions > limit + limit / 10 + 100)
        print_error("%s %u %u: %s, %llu of %llu\n", name, grid, block, hd_result_name(r),
                    (unsigned long long)stats.warp_instructions, (unsigned long long)limit);
    assert_int_equal(r, HD_ERROR_LAUNCH_TIMEOUT);
    assert_in_range(stats.warp_instructions, limit, limit + limit / 10 + 100);
}

/* All blocks and workers together. */
static void a_launch_executes_hardly_more_than_its_limit(void **state)
{
    static const uint64_t limits[] = {1, 1000, 2000000};
    static const unsigned workers[] = {1, 3};
    (void)state;
    for (size_t e = 0; e < n_engines(); e++)
        for (size_t w = 0; w < 2; w++)
            for (size_t i = 0; i < 3; i++) {
                struct fixture f;
                start(&f, (hd_machine_options){.workers = workers[w], .engine = engines[e], .step_limit = limits[i]});
                check_limit(&f, "barriers", 1, 32, limits[i]);
                check_limit(&f, "barriers", 3, 200, limits[i]);
                check_limit(&f, "counts", 5, 96, limits[i]);
                check_limit(&f, "locks", 2, 64, limits[i]);
                check_limit(&f, "branches", 2, 64, limits[i]);
                check_limit(&f, "is_empty", 2147483647, 1, limits[i]);
                hd_machine_destroy(f.machine);
            }
}

/* Exactly what its statistics say is enough, whoever runs it. */
static void a_launch_that_needs_no_more_than_its_limit_is_not_ended(void **state)
{
    enum { BLOCKS = 2000, BLOCK = 320, NEEDED = BLOCKS * (BLOCK / 32) * 3 };
    (void)state;
    for (size_t e = 0; e < n_engines(); e++)
        for (unsigned workers = 1; workers <= 4; workers *= 2)
            for (unsigned less = 0; less < 2; less++) {
                struct fixture f;
                hd_launch_stats stats;
                start(&f, (hd_machine_options){.workers = workers, .engine = engines[e], .step_limit = NEEDED - less});
                assert_int_equal(launch(&f, "ends", BLOCKS, BLOCK, 0, &stats),
                                 less ? HD_ERROR_LAUNCH_TIMEOUT : HD_SUCCESS);
                assert_int_equal(stats.warp_instructions, NEEDED);
                assert_true(less || f.cells[0] == BLOCKS * BLOCK);
                hd_machine_destroy(f.machine);
            }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_launch_ends_when_its_time_is_over(void **state)
{
    static const char *const names[] = {"barriers", "counts", "locks", "branches"};
    static const char *const policies[] = {"fair", "serial", "random:3"};
    (void)state;
    for (size_t e = 0; e < n_engines(); e++)
        for (size_t p = 0; p < (engines[e] == HD_ENGINE_INTERP ? 3 : 1); p++) {
            struct fixture f;
            start(&f, (hd_machine_options){.workers = 2, .engine = engines[e], .policy = policies[p]});
            assert_int_equal(launch(&f, "ends", 1, 32, NAN, NULL), HD_ERROR_INVALID_VALUE);
            assert_int_equal(launch(&f, "ends", 1, 32, -1, NULL), HD_ERROR_INVALID_VALUE);
            assert_int_equal(launch(&f, "ends", 1, 32, INFINITY, NULL), HD_ERROR_INVALID_VALUE);
            for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
                double begin = now();
                assert_int_equal(launch(&f, names[i], 3, 64, 0.05, NULL), HD_ERROR_LAUNCH_TIMEOUT);
                assert_true(now() - begin < 1);
            }
            assert_int_equal(launch(&f, "ends", 1, 32, 100, NULL), HD_SUCCESS);
            assert_int_equal(f.cells[0], 32);
            hd_machine_destroy(f.machine);
        }
}

static void recursion_without_an_end_overflows_the_stack(void **state)
{
    (void)state;
    for (size_t e = 0; e < n_engines(); e++) {
        struct fixture f;
        start(&f, (hd_machine_options){.workers = 2, .engine = engines[e]});
        assert_int_equal(launch(&f, "falls", 4, 64, 0, NULL), HD_ERROR_STACK);
        assert_int_equal(launch(&f, "ends", 1, 32, 0, NULL), HD_SUCCESS);
        hd_machine_destroy(f.machine);
    }
}

/* What running threads need counts, and is given back. */
static void threads_that_need_more_memory_than_there_is_fail(void **state)
{
    (void)state;
    struct fixture f;
    void *most;
    start(&f, (hd_machine_options){.workers = 2, .memory_bytes = 8 << 20, .stack_bytes = 1 << 20});
    assert_int_equal(launch(&f, "falls", 1, 32, 0, NULL), HD_ERROR_OUT_OF_MEMORY); /* a stack for each lane */
    assert_int_equal(hd_machine_set_limit(f.machine, HD_LIMIT_STACK_BYTES, 4096), HD_SUCCESS);
    assert_int_equal(launch(&f, "ends", 4, 1024, 0, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(f.machine, 7 << 20, &most), HD_SUCCESS);
    hd_machine_destroy(f.machine);
}

static void *cancel_soon(void *machine)
{
    usleep(50000);
    hd_machine_cancel(machine);
    return NULL;
}

static void cancelling_ends_what_a_budget_does_not(void **state)
{
    (void)state;
    for (size_t e = 0; e < n_engines(); e++) {
        struct fixture f;
        pthread_t thread;
        double begin = now();
        start(&f, (hd_machine_options){.workers = 2, .engine = engines[e]});
        pthread_create(&thread, NULL, cancel_soon, f.machine);
        hd_result r = launch(&f, "branches", 3, 64, 0, NULL);
        pthread_join(thread, NULL);
        assert_int_equal(r, HD_ERROR_CANCELLED);
        assert_true(now() - begin < 1);
        assert_int_equal(launch(&f, "ends", 1, 32, 0, NULL), HD_SUCCESS);
        hd_machine_destroy(f.machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_executes_hardly_more_than_its_limit),
        cmocka_unit_test(a_launch_that_needs_no_more_than_its_limit_is_not_ended),
        cmocka_unit_test(a_launch_ends_when_its_time_is_over),
        cmocka_unit_test(recursion_without_an_end_overflows_the_stack),
        cmocka_unit_test(threads_that_need_more_memory_than_there_is_fail),
        cmocka_unit_test(cancelling_ends_what_a_budget_does_not),
    };
    const char *temporary = getenv("TMPDIR");
    char cache[256]; /* what is compiled serves this program again */
    snprintf(cache, sizeof cache, "%s/heddle-test-XXXXXX", temporary ? temporary : "/tmp");
    setenv("HEDDLE_CACHE", mkdtemp(cache), 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hd_cache_clear();
    rmdir(cache);
    return failed;
}
