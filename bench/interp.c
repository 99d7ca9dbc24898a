/* bench-interp: what the interpreter's parts cost on this machine; a table (bench.h).
 *
 * Figures of one core are processor time, the best of a few launches; those of launches and of
 * several cores are time on the clock, and want an idle machine. The kernels are in interp.ptx.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "heddle.h"

enum { BUFFER_BYTES = 1 << 20 };

static void fail(const char *what, hd_report *report)
{
    fprintf(stderr, "bench-interp: %s\n%s", what, report ? hd_report_text(report) : "");
    exit(1);
}

struct machine {
    hd_machine *m;
    hd_module *module;
    void *buffer;
};

static hd_source kernels(void)
{
    static char text[1 << 16];
    FILE *f = fopen(BENCH_DIR "/interp.ptx", "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (!n)
        fail("cannot read " BENCH_DIR "/interp.ptx", NULL);
    fclose(f);
    return (hd_source){"interp.ptx", text, n};
}

static struct machine open_machine(unsigned workers, const char *policy)
{
    struct machine x;
    hd_machine_options o = {
        .workers = workers, .memory_bytes = 256 << 20, .policy = policy, .engine = HD_ENGINE_INTERP};
    hd_report *report = NULL;
    hd_source s = kernels();
    if (hd_machine_create(&o, &x.m, NULL) || hd_alloc(x.m, BUFFER_BYTES, &x.buffer))
        fail("no machine", NULL);
    if (hd_module_load(x.m, &s, 1, &x.module, &report))
        fail("the kernels do not load", report);
    memset(x.buffer, 0, BUFFER_BYTES);
    return x;
}

/* Seconds of the best of a few launches by `clock`. */
static double best(struct machine *x, const char *kernel, unsigned grid, unsigned block, unsigned rounds, int times,
                   double (*clock)(void))
{
    hd_kernel *k;
    hd_report *report = NULL;
    const void *args[] = {&x->buffer, &rounds};
    hd_launch_config c = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = args};
    double least = 1e9;
    if (hd_module_get_kernel(x->module, kernel, &k, &report))
        fail(kernel, report);
    for (int i = 0; i < times; i++) {
        double start = clock();
        if (hd_launch(k, &c, NULL, &report))
            fail(kernel, report);
        double t = clock() - start;
        least = t < least ? t : least;
    }
    return least;
}

/* ---- rates ---- */

enum { WARPS = 256, ROUNDS = 2000 };

/* Thousands of millions of lane instructions a second, of `each` instructions a round. */
static double rate(struct machine *x, const char *kernel, unsigned each, double (*clock)(void))
{
    return 1e-9 * each * 32 * WARPS * ROUNDS / best(x, kernel, WARPS / 4, 128, ROUNDS, 7, clock);
}

static void measure_rates(unsigned cores)
{
    struct machine one = open_machine(1, NULL), all = open_machine(cores, NULL);
    char what[64];
    bench_at_least("integer arithmetic, one core", rate(&one, "arithmetic", 24, bench_cpu), "G lane instructions/s", 3);
    bench_at_least("f32 arithmetic, one core", rate(&one, "floats", 16, bench_cpu), "G lane instructions/s", 3);
    bench_at_least("checked loads and stores, one core", rate(&one, "memory", 8, bench_cpu), "G lane instructions/s",
                   1);
    bench_line("  of vectors of four words", rate(&one, "vectors", 4, bench_cpu), "G lane instructions/s");
    bench_line("  of bytes", rate(&one, "bytes", 4, bench_cpu), "G lane instructions/s");
    double a = rate(&all, "arithmetic", 24, bench_now) / rate(&one, "arithmetic", 24, bench_now);
    double m = rate(&all, "memory", 8, bench_now) / rate(&one, "memory", 8, bench_now);
    snprintf(what, sizeof what, "%u cores against one: integer arithmetic", cores);
    bench_at_least(what, a, "x", 0.9 * cores);
    snprintf(what, sizeof what, "%u cores against one: loads and stores", cores);
    bench_at_least(what, m, "x", 0.9 * cores);
    hd_machine_destroy(one.m);
    hd_machine_destroy(all.m);
}

/* ---- launches ---- */

static double run_command(void)
{
    extern char **environ;
    static char *const argv[] = {HEDDLE,
                                 "launch",
                                 BENCH_DIR "/../examples/saxpy/saxpy.ptx",
                                 "--grid",
                                 "4",
                                 "--block",
                                 "256",
                                 "1000",
                                 "2.0",
                                 "f32[1000]=range",
                                 "f32[1000]=ones",
                                 NULL};
    pid_t pid;
    int status;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = bench_now();
    if (posix_spawn(&pid, HEDDLE, &quiet, NULL, argv, environ) || waitpid(pid, &status, 0) < 0 || status)
        fail(HEDDLE " launch", NULL);
    double took = bench_now() - start;
    posix_spawn_file_actions_destroy(&quiet);
    return took;
}

static void measure_launches(void)
{
    struct machine x = open_machine(0, NULL);
    bench_at_most("empty launch, one block", 1e6 * best(&x, "empty", 1, 32, 0, 5000, bench_now), "us", 5);
    bench_line("empty launch, 64 blocks of 256 threads", 1e6 * best(&x, "empty", 64, 256, 0, 500, bench_now), "us");
    hd_machine_destroy(x.m);
    double least = 1;
    for (int i = 0; i < 20; i++) {
        double t = run_command();
        least = t < least ? t : least;
    }
    bench_at_most("`heddle launch` of a small kernel, from the shell", 1e3 * least, "ms", 30);
}

/* In a process of its own, so that its peak is the grid's. */
static void measure_large_grid(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct machine x = open_machine(0, NULL);
        struct rusage before, after;
        best(&x, "empty", 1 << 10, 64, 0, 1, bench_now);
        getrusage(RUSAGE_SELF, &before);
        double t = best(&x, "empty", 1 << 20, 64, 0, 1, bench_now);
        getrusage(RUSAGE_SELF, &after);
        bench_line("2^20 empty blocks of 64 threads", 1e9 * t / (1 << 20), "ns a block");
        bench_line("  peak memory of the process (RSS)", (double)after.ru_maxrss / 1024, "MiB");
        bench_at_most("  more than for 2^10 blocks", (double)(after.ru_maxrss - before.ru_maxrss) / 1024, "MiB", 1);
        hd_machine_destroy(x.m);
        exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status)
        fail("a grid of 2^20 blocks", NULL);
}

/* ---- waiting, atomics, schedules ---- */

static void measure_waiting(void)
{
    struct machine one = open_machine(1, NULL);
    const double per = 1e9 / ROUNDS / 8;
    bench_line("barrier of 8 warps", per * best(&one, "barriers", 1, 256, ROUNDS, 9, bench_cpu), "ns a warp");
    bench_line("warp switch within a block", per * best(&one, "yields", 1, 256, ROUNDS, 9, bench_cpu), "ns");
    bench_line("warp switch to another block", per * best(&one, "yields", 8, 32, ROUNDS, 9, bench_cpu), "ns");
    hd_machine_destroy(one.m);
}

static void measure_policies(void)
{
    struct machine fair = open_machine(1, NULL), wild = open_machine(1, "random:1");
    double f = best(&fair, "histogram", 16, 128, ROUNDS, 7, bench_cpu);
    double w = best(&fair, "histogram_watched", 16, 128, ROUNDS, 7, bench_cpu);
    double r = best(&wild, "histogram", 16, 128, ROUNDS, 7, bench_cpu);
    bench_line("histogram by global atomics", 1e9 * f / (16 * 4 * 32) / ROUNDS, "ns an atomic");
    bench_at_most("  against it: as a loop that gives way", w / f, "x the time", 1.1);
    bench_at_most("  against it: under a random schedule", r / f, "x the time", 5);
    hd_machine_destroy(fair.m);
    hd_machine_destroy(wild.m);
}

int main(void)
{
    hd_machine_info info;
    struct machine x = open_machine(0, NULL);
    hd_machine_get_info(x.m, &info);
    char title[64];
    snprintf(title, sizeof title, "interpreter (%s, %u cores)", info.cpu_level, info.workers);
    bench_title(title);
    hd_machine_destroy(x.m);
    measure_large_grid();
    measure_rates(info.workers);
    measure_launches();
    measure_waiting();
    measure_policies();
    return 0;
}
