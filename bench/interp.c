/* interp [--json]: what the interpreter's parts cost on this machine. One line a figure, with the bound that the project
 * sets itself where there is one. `make bench` runs it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "heddle.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what, hd_report *report)
{
    fprintf(stderr, "bench: %s\n%s", what, hd_report_text(report));
    exit(1);
}

/* ---- kernels ---- */

#define HEAD    ".version 8.0\n.target sm_80\n.address_size 64\n"
#define FOUR(x) x x x x

static const char text[] = HEAD
    ".visible .entry empty() { ret; }\n"
    /* 24 arithmetic instructions a round */
    ".visible .entry arithmetic(.param .u64 out, .param .u32 rounds) {\n"
    ".reg .b32 r<12>; .reg .b64 d<3>; .reg .pred p;\n"
    "ld.param.u64 d0, [out]; ld.param.u32 r9, [rounds]; mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x;\n"
    "mov.u32 r2, %ntid.x; mad.lo.s32 r3, r1, r2, r0; mov.u32 r4, r3; mov.u32 r5, 12345; mov.u32 r6, r0;\n"
    "mov.u32 r7, r1; mov.u32 r8, 0;\n"
    "L: " FOUR(
        "mad.lo.s32 r4, r4, r5, r6; xor.b32 r6, r6, r4; add.s32 r7, r7, r4; and.b32 r10, r7, r6;\n"
        "or.b32 r11, r10, r4; sub.s32 r5, r5, r11;\n") "add.s32 r8, r8, 1; setp.lt.u32 p, r8, r9; @p bra L;\n"
                                                       "mul.wide.u32 d1, r3, 4; add.s64 d2, d0, d1; add.s32 r4, r4, "
                                                       "r5; add.s32 r4, r4, r7; st.global.u32 [d2], r4; ret; }\n"
                                                       /* 4 loads and 4 stores a round */
                                                       ".visible .entry memory(.param .u64 out, .param .u32 rounds) {\n"
                                                       ".reg .b32 r<12>; .reg .b64 d<8>; .reg .pred p;\n"
                                                       "ld.param.u64 d0, [out]; ld.param.u32 r9, [rounds]; mov.u32 r0, "
                                                       "%tid.x; mov.u32 r1, %ctaid.x;\n"
                                                       "mov.u32 r2, %ntid.x; mad.lo.s32 r3, r1, r2, r0; mul.wide.u32 "
                                                       "d1, r3, 4; add.s64 d2, d0, d1; mov.u32 r8, 0;\n"
                                                       "L: ld.global.u32 r4, [d2]; ld.global.u32 r5, [d2+65536]; "
                                                       "ld.global.u32 r6, [d2+131072];\n"
                                                       "ld.global.u32 r7, [d2+196608]; st.global.u32 [d2], r5; "
                                                       "st.global.u32 [d2+65536], r6;\n"
                                                       "st.global.u32 [d2+131072], r7; st.global.u32 [d2+196608], r4;\n"
                                                       "add.s32 r8, r8, 1; setp.lt.u32 p, r8, r9; @p bra L; ret; }\n"
                                                       /* a barrier a round */
                                                       ".visible .entry barriers(.param .u64 out, .param .u32 rounds) "
                                                       "{\n"
                                                       ".reg .b32 r<4>; .reg .pred p; ld.param.u32 r1, [rounds]; "
                                                       "mov.u32 r0, 0;\n"
                                                       "L: bar.sync 0; add.s32 r0, r0, 1; setp.lt.u32 p, r0, r1; @p "
                                                       "bra L; ret; }\n"
                                                       /* a warp gives way each round */
                                                       ".visible .entry yields(.param .u64 out, .param .u32 rounds) {\n"
                                                       ".reg .b32 r<4>; .reg .pred p; ld.param.u32 r1, [rounds]; "
                                                       "mov.u32 r0, 0;\n"
                                                       "L: nanosleep.u32 1; add.s32 r0, r0, 1; setp.lt.u32 p, r0, r1; "
                                                       "@p bra L; ret; }\n"
                                                       /* a histogram: an atomic operation a round whose result nobody needs, and the loop does not wait for anything */
                                                       ".visible .entry histogram(.param .u64 out, .param .u32 rounds) "
                                                       "{\n"
                                                       ".reg .b32 r<8>; .reg .b64 d<4>; .reg .pred p; ld.param.u64 d0, "
                                                       "[out]; ld.param.u32 r1, [rounds];\n"
                                                       "mov.u32 r0, 0; mov.u32 r2, %tid.x;\n"
                                                       "L: mad.lo.u32 r2, r2, 1664525, 1013904223; shr.u32 r3, r2, 24; "
                                                       "mul.wide.u32 d1, r3, 4; add.s64 d2, d0, d1;\n"
                                                       "atom.global.add.u32 r4, [d2], 1; add.s32 r0, r0, 1; "
                                                       "setp.lt.u32 p, r0, r1; @p bra L; ret; }\n";

/* ---- running ---- */

struct machine {
    hd_machine *m;
    hd_module *module;
    void *buffer;
};

enum { BUFFER_BYTES = 1 << 20 };

static struct machine open_machine(unsigned workers, const char *policy)
{
    struct machine x;
    hd_machine_options o = {.workers = workers, .memory_bytes = 256 << 20, .policy = policy};
    hd_report *report = NULL;
    hd_source s = {"bench.ptx", text, sizeof text - 1};
    if (hd_machine_create(&o, &x.m, NULL) || hd_alloc(x.m, BUFFER_BYTES, &x.buffer))
        fail("no machine", NULL);
    if (hd_module_load(x.m, &s, 1, &x.module, &report))
        fail("the kernels do not load", report);
    memset(x.buffer, 0, BUFFER_BYTES);
    return x;
}

/* Seconds of the best of a few launches. */
static double best(struct machine *x, const char *kernel, unsigned grid, unsigned block, unsigned rounds, int times,
                   hd_launch_stats *stats)
{
    hd_kernel *k;
    hd_report *report = NULL;
    const void *args[] = {&x->buffer, &rounds};
    hd_launch_config c = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = args};
    double least = 1e9;
    if (hd_module_get_kernel(x->module, kernel, &k, &report))
        fail(kernel, report);
    for (int i = 0; i < times; i++) {
        double start = now();
        if (hd_launch(k, &c, stats, &report))
            fail(kernel, report);
        double t = now() - start;
        least = t < least ? t : least;
    }
    return least;
}

static void line(const char *what, double value, const char *unit, const char *bound)
{
    printf("%-58s %10.3g %-22s %s\n", what, value, unit, bound);
    fflush(stdout);
}

static void measure_rates(unsigned cores)
{
    struct machine one = open_machine(1, NULL), all = open_machine(cores, NULL);
    double a1 = 24e-9 * 32 * 256 * 3000 / best(&one, "arithmetic", 64, 128, 3000, 5, NULL);
    double aN = 24e-9 * 32 * 256 * 3000 / best(&all, "arithmetic", 64, 128, 3000, 5, NULL);
    double m1 = 8e-9 * 32 * 256 * 3000 / best(&one, "memory", 64, 128, 3000, 5, NULL);
    double mN = 8e-9 * 32 * 256 * 3000 / best(&all, "memory", 64, 128, 3000, 5, NULL);
    line("arithmetic, one core", a1, "G lane instructions/s", "at least 3 (with AVX-512)");
    line("checked loads and stores, one core", m1, "G lane instructions/s", "at least 1");
    printf("on %u cores: arithmetic x %.2f, loads and stores x %.2f\n", cores, aN / a1, mN / m1);
    hd_machine_destroy(one.m);
    hd_machine_destroy(all.m);
}

static void measure_launches(void)
{
    struct machine one = open_machine(0, NULL);
    line("empty launch, one block", 1e6 * best(&one, "empty", 1, 32, 0, 2000, NULL), "us", "at most 5");
    line("empty launch, 64 blocks", 1e6 * best(&one, "empty", 64, 256, 0, 500, NULL), "us", "");
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double t = best(&one, "empty", 1 << 20, 64, 0, 1, NULL);
    getrusage(RUSAGE_SELF, &after);
    line("2^20 empty blocks of 64 threads", 1e9 * t / (1 << 20), "ns a block", "");
    line("  memory that they needed", (double)(after.ru_maxrss - before.ru_maxrss) / 1024, "MB", "bounded");
    hd_machine_destroy(one.m);
}

static void measure_waiting(void)
{
    struct machine one = open_machine(1, NULL);
    enum { ROUNDS = 20000 };
    line("barrier of 8 warps", 1e9 * best(&one, "barriers", 1, 256, ROUNDS, 5, NULL) / ROUNDS / 8, "ns a warp", "");
    line("yield: a warp gives way to the next of its block",
         1e9 * best(&one, "yields", 1, 256, ROUNDS, 5, NULL) / ROUNDS / 8, "ns", "");
    line("yield: a block gives way to the next", 1e9 * best(&one, "yields", 8, 32, ROUNDS, 5, NULL) / ROUNDS / 8, "ns",
         "");
    hd_machine_destroy(one.m);
}

/* Fairness costs a test at each branch backwards; random scheduling a choice every few accesses. */
static void measure_policies(void)
{
    struct machine fair = open_machine(1, NULL), serial = open_machine(1, "serial"), wild = open_machine(1, "random:1");
    double f = best(&fair, "histogram", 16, 128, 2000, 5, NULL), s = best(&serial, "histogram", 16, 128, 2000, 5, NULL);
    double r = best(&wild, "histogram", 16, 128, 2000, 5, NULL);
    line("histogram by global atomics", 1e9 * f / (16 * 4 * 2000.0 * 32), "ns an atomic", "");
    line("  serial against fair", s / f, "x", "about 1: fairness costs nothing");
    line("  random against fair", r / f, "x", "at most 5");
    hd_machine_destroy(fair.m);
    hd_machine_destroy(serial.m);
    hd_machine_destroy(wild.m);
}

int main(void)
{
    hd_machine_info info;
    struct machine x = open_machine(0, NULL);
    hd_machine_get_info(x.m, &info);
    printf("CPU level %s, %u cores\n", info.cpu_level, info.workers);
    hd_machine_destroy(x.m);
    measure_rates(info.workers);
    measure_launches();
    measure_waiting();
    measure_policies();
    return 0;
}
