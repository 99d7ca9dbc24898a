/* Occupancy as its limits have it, rates with their sources, and what the model of time says of
 * launches that are known by heart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "explain/cost.h"
#include "explain/model.h"
#include "explain/sample.h"

static struct device_occupancy on(const char *device, uint32_t threads, uint32_t shared_bytes, uint32_t registers)
{
    return device_occupancy(device_model_of_report(device), threads, shared_bytes, registers);
}

/* What Nsight Compute says of an H200. */
static void occupancy_is_an_h200s(void **state)
{
    (void)state;
    static const struct {
        uint32_t threads, shared, registers, by_threads, by_registers, by_shared, blocks;
    } recorded[] = {
        {1024, 0, 32, 2, 2, 228, 2},     {256, 0, 128, 8, 2, 228, 2},   {128, 102400, 16, 16, 32, 2, 2},
        {32, 4096, 16, 64, 128, 45, 32}, {32, 65536, 48, 64, 40, 3, 3}, {64, 512, 32, 32, 32, 152, 32},
        {512, 4096, 16, 4, 8, 45, 4},    {1024, 4096, 25, 2, 2, 45, 2}, {128, 0, 40, 16, 12, 228, 12},
    };
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        struct device_occupancy o = on("H200", recorded[i].threads, recorded[i].shared, recorded[i].registers);
        assert_int_equal(o.by_threads, recorded[i].by_threads);
        assert_int_equal(o.by_registers, recorded[i].by_registers);
        assert_int_equal(o.by_shared, recorded[i].by_shared);
        assert_int_equal(o.blocks, recorded[i].blocks);
    }
    assert_int_equal(on("H200", 1025, 0, 16).blocks, 0);
    assert_int_equal(on("H200", 32, 233472, 16).blocks, 0);
}

/* What cudaOccupancyMaxActiveClusters says on an H200 of clusters of 1 to 16 blocks, by how many of
 * them a multiprocessor has room for. */
static void clusters_lie_within_gpcs(void **state)
{
    (void)state;
    const struct device_model *d = device_model("H200");
    static const struct {
        uint32_t blocks, clusters[16];
    } recorded[] = {
        {1, {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7}},
        {2, {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14}},
        {3, {396, 198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21}},
        {4, {528, 264, 163, 124, 94, 79, 69, 62, 51, 44, 37, 37, 30, 30, 28, 28}},
        {5, {660, 330, 203, 154, 124, 101, 84, 77, 60, 58, 51, 44, 42, 37, 37, 35}},
        {6, {792, 396, 248, 186, 146, 124, 101, 92, 74, 65, 58, 58, 51, 44, 44, 42}},
        {8, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
    };
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++)
        for (uint32_t size = 1; size <= 16; size++)
            assert_int_equal(device_clusters(d, recorded[i].blocks, size), recorded[i].clusters[size - 1]);
    static const struct {
        uint32_t threads, shared, of_two;
    } of_blocks[] = {{64, 0, 528},      {128, 16384, 528}, {192, 32768, 396},  {256, 50000, 264}, {384, 0, 330},
                     {512, 65536, 198}, {640, 75000, 198}, {768, 100000, 132}, {1024, 232448, 66}};
    for (size_t i = 0; i < sizeof of_blocks / sizeof of_blocks[0]; i++)
        assert_int_equal(device_clusters(d, on("H200", of_blocks[i].threads, of_blocks[i].shared, 16).blocks, 2),
                         of_blocks[i].of_two);
    assert_int_equal(device_cluster_multiprocessors(d, 16), 112);
    assert_int_equal(device_cluster_multiprocessors(device_model("A100"), 1), 108);
}

/* The lecture's questions: tiles of 16 x 16 with 2 KB of shared memory, 16 KB and 8 blocks of a
 * multiprocessor. */
static void occupancy_is_the_lectures_g80s(void **state)
{
    (void)state;
    struct device_occupancy o = on("G80", 256, 2048, 10);
    assert_int_equal(o.by_shared, 8);
    assert_int_equal(o.by_blocks, 8);
    assert_int_equal(o.by_threads, 3);
    assert_int_equal(o.by_registers, 3);
    assert_int_equal(o.blocks, 3);
    assert_int_equal(on("G80", 256, 2048, 11).blocks, 2); /* one register more, a third of the threads less */
    assert_int_equal(on("G80", 1024, 0, 10).blocks, 0);
    assert_null(device_model("G80")); /* no machine claims to be one */
    assert_null(device_model("10"));
    assert_non_null(device_model("H100"));
}

static void rates_have_sources(void **state)
{
    (void)state;
    bool known;
    for (enum rate r = 0; r < RATE_COUNT; r++) {
        assert_non_null(device_rate("H200", r).from);
        assert_true(device_rate("H200", r).value > 0);
        assert_non_null(device_rate("H100", r).from);
    }
    device_rates("H200", &known);
    assert_true(known);
    assert_true(device_rates("G80", &known).dram == 86.4);
    assert_false(known);
}

/* So many blocks of 256 threads that do nothing but what is added. */
static struct kernel_counters launch_of(uint64_t blocks)
{
    return (struct kernel_counters){
        .blocks = blocks, .warps = 8 * blocks, .threads_per_block = 256, .warps_per_block = 8, .registers = 32};
}

static struct model_time time_on(const char *device, const struct kernel_counters *c)
{
    bool known;
    struct device_rates rates = device_rates(device, &known);
    return model_time(c, device_model_of_report(device), &rates, &model_fit);
}

static void a_launch_takes_what_bounds_it(void **state)
{
    (void)state;
    struct kernel_counters empty = launch_of(1), fma = launch_of(132 * 8), dram = launch_of(132 * 64);
    assert_true(fabs(time_on("H200", &empty).ns - 3232) < 50);

    fma.classes[COST_fma32] = 132 * 4 * 1e6; /* a million cycles of a multiprocessor: 505 us at 1.98 GHz */
    struct model_time t = time_on("H200", &fma);
    assert_true(t.first == BOUND_fma || t.first == BOUND_issue);
    assert_true(t.ns > 500e3 && t.ns < 560e3);

    struct access_counters *ld = &dram.access[KIND_of_global_ld];
    ld->requests = ld->tags = ld->l1_miss_tags = 8 << 20;
    ld->sectors = ld->l1_miss_sectors = 4 * ld->tags;
    ld->bytes = 128 * ld->tags, ld->pairs = 2 * ld->tags; /* 1 GiB: 247 us at 4.3 TB/s */
    dram.touched_lines = ld->tags;
    t = time_on("H200", &dram);
    assert_int_equal(t.first, BOUND_dram);
    assert_true(t.ns > 240e3 && t.ns < 290e3);
    assert_true(time_on("H100", &dram).ns > 1.3 * t.ns);               /* its memory is slower, */
    assert_true(time_on("H100", &fma).ns == time_on("H200", &fma).ns); /* its multiprocessors are the same */

    dram.touched_lines = 1 << 10; /* the same traffic, but within L2 */
    assert_true(time_on("H200", &dram).ns < 0.8 * t.ns);
}

/* Warps hide each other's latency: twice as many take less than twice as long, until a pipe is
 * full. */
static void more_warps_hide_latency(void **state)
{
    (void)state;
    double one = 0, before = 0;
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
        struct kernel_counters c = {
            .blocks = 132, .warps = 132 * warps, .threads_per_block = 32 * warps, .warps_per_block = warps};
        for (unsigned level = 0; level < CLOCK_LEVELS; level++)
            c.sum_block_clock[level] = 132 * 1e5, c.max_block_clock[level] = 1e5;
        c.classes[COST_fp32] = 132.0 * warps * 2.5e4; /* a quarter of its chain is work */
        double ns = time_on("H200", &c).ns;
        one = one > 0 ? one : ns;
        assert_true(ns >= before);
        before = ns;
        if (warps <= 4) /* a scheduler each */
            assert_true(ns < 1.05 * one);
    }
    assert_true(before > 1.9 * one && before < 3 * one); /* 8 warps of a scheduler ask for twice what it has */
}

static void nothing_fits_nothing_runs(void **state)
{
    (void)state;
    struct kernel_counters c = launch_of(1);
    c.dynamic_shared_bytes = 1 << 20;
    assert_true(time_on("H200", &c).ns == 0);
}

/* Launches that it stands for may have begun. */
static void what_stands_for_launches_stays_where_memory_runs_out(void **state)
{
    (void)state;
    enum { BLOCKS = 1 << 20 }; /* tables of which malloc asks the system for */
    struct block_tally *blocks = calloc(BLOCKS, sizeof *blocks);
    struct sites sites = {.n_blocks = BLOCKS};
    struct tables counted = {.blocks = blocks};
    struct launch_shape shape = {0};
    struct kernel_counters c = {.warp_instructions = 100, .thread_instructions = 3200};
    struct rlimit before, none;
    blocks[BLOCKS - 1].executed = 1;
    assert_true(shape_keep(&shape, &c, &counted, &sites) == 0);
    assert_true(shape.is_known);
    getrlimit(RLIMIT_AS, &before);
    none = before;
    none.rlim_cur = 0;
    blocks[BLOCKS - 1].executed = 2;
    c.warp_instructions = 80;
    setrlimit(RLIMIT_AS, &none);
    double off = shape_keep(&shape, &c, &counted, &sites);
    setrlimit(RLIMIT_AS, &before);
    assert_true(fabs(off - 0.2) < 1e-9);
    assert_true(shape.is_known);
    assert_int_equal(shape.last.warp_instructions, 80);
    assert_int_equal(shape.tables.blocks[BLOCKS - 1].executed, 2);
    tables_free(&shape.tables);
    free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy_is_an_h200s),
        cmocka_unit_test(occupancy_is_the_lectures_g80s),
        cmocka_unit_test(clusters_lie_within_gpcs),
        cmocka_unit_test(rates_have_sources),
        cmocka_unit_test(a_launch_takes_what_bounds_it),
        cmocka_unit_test(more_warps_hide_latency),
        cmocka_unit_test(nothing_fits_nothing_runs),
        cmocka_unit_test(what_stands_for_launches_stays_where_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
