/* How time grows: with the number of threads, from 1 to 2^24, under both engines; with the number
 * of cores; with the size of a module, to 5 MB. A table (bench.h). Figures are time on the clock,
 * the best of a few launches, and want an idle machine.
 *
 * A straight line is fitted through the figures, so that the largest relative error is least; a row
 * says how large that is. Threads count from 2^12 on: below, steps show. All lanes of a warp take
 * the time of one, and a block runs on one core.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "bench.h"
#include "heddle.h"

enum { LOG2_MOST_THREADS = 24, LOG2_MANY = 12, BLOCK = 256, POINTS = LOG2_MOST_THREADS + 1, SIZES = 6 };
enum { ROUNDS = 5, A_ROUND = 3, REPEATS = ROUNDS * A_ROUND }; /* measurements of which the best counts */

static const char kernels[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry compute(.param .u64 out, .param .u32 n)\n"
                              "{\n"
                              "    .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p;\n"
                              "    ld.param.u64 %rd1, [out];\n"
                              "    ld.param.u32 %r1, [n];\n"
                              "    mov.u32 %r2, %ctaid.x;\n"
                              "    mov.u32 %r3, %ntid.x;\n"
                              "    mov.u32 %r4, %tid.x;\n"
                              "    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                              "    setp.ge.u32 %p, %r5, %r1;\n"
                              "    @%p ret;\n"
                              "    mov.u32 %r6, 0;\n"
                              "    mov.u32 %r7, %r5;\n"
                              "L:  mad.lo.u32 %r7, %r7, 1664525, 1013904223;\n"
                              "    add.u32 %r6, %r6, 1;\n"
                              "    setp.lt.u32 %p, %r6, 64;\n"
                              "    @%p bra L;\n"
                              "    mul.wide.u32 %rd2, %r5, 4;\n"
                              "    add.u64 %rd3, %rd1, %rd2;\n"
                              "    st.global.u32 [%rd3], %r7;\n"
                              "    ret;\n"
                              "}\n";

/* ---- straight lines ---- */

struct line {
    double fixed, each, error; /* y = fixed + each * x, within a share of `error` */
};

/* Through two of the points, so that the largest relative error at all of them is least. */
static struct line fit(const double *x, const double *y, int n)
{
    struct line best = {.error = INFINITY};
    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            double each = (y[k] - y[i]) / (x[k] - x[i]), fixed = y[i] - each * x[i], error = 0;
            for (int j = 0; j < n; j++)
                error = fmax(error, fabs(fixed + each * x[j] - y[j]) / y[j]);
            if (error < best.error)
                best = (struct line){fixed, each, error};
        }
    }
    return best;
}

/* ---- threads and cores ---- */

struct machine {
    hd_machine *m;
    hd_kernel *kernel;
    void *out;
};

static struct machine open_machine(hd_engine engine, unsigned workers)
{
    struct machine x;
    hd_module *module;
    hd_source s = {"scaling.ptx", kernels, sizeof kernels - 1};
    hd_machine_options o = {.engine = engine, .workers = workers};
    bench_must(!hd_machine_create(&o, &x.m, NULL) && !hd_alloc(x.m, (size_t)4 << LOG2_MOST_THREADS, &x.out),
               "no machine");
    bench_must(!hd_module_load(x.m, &s, 1, &module, NULL), "the kernels do not load");
    bench_must(!hd_module_get_kernel(module, "compute", &x.kernel, NULL), "there is no kernel");
    memset(x.out, 0, (size_t)4 << LOG2_MOST_THREADS);
    return x;
}

/* Seconds on the clock, from the call to the end. */
static double launch(struct machine *x, uint32_t threads)
{
    const void *args[] = {&x->out, &threads};
    hd_launch_config c = {.grid = {(threads + BLOCK - 1) / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}, .args = args};
    double start = bench_now();
    hd_result r = hd_launch(x->kernel, &c, NULL, NULL);
    bench_must(r != HD_ERROR_NOT_SUPPORTED, "there is no compiler: it needs LLVM 19");
    bench_must(!r, "the launch failed");
    return bench_now() - start;
}

static double best_launch(struct machine *x, uint32_t threads, int launches)
{
    double best = INFINITY;
    for (int i = 0; i < launches; i++)
        best = fmin(best, launch(x, threads));
    return best;
}

static void with_threads(hd_engine engine, const char *name)
{
    char what[80];
    double x[POINTS], y[POINTS];
    struct machine m = open_machine(engine, 0);
    launch(&m, BLOCK); /* compiled now */
    for (int k = 0; k < POINTS; k++) {
        x[k] = (double)(1u << k);
        y[k] = INFINITY;
    }
    for (int i = 0; i < ROUNDS; i++) /* so that what else the machine does for a while falls on no point alone */
        for (int k = 0; k < POINTS; k++)
            y[k] = fmin(y[k], best_launch(&m, 1u << k, A_ROUND));
    struct line l = fit(x + LOG2_MANY, y + LOG2_MANY, POINTS - LOG2_MANY);
    snprintf(what, sizeof what, "%s: 1 thread", name);
    bench_line(what, 1e6 * y[0], "us");
    snprintf(what, sizeof what, "  %d threads, one block", BLOCK);
    bench_line(what, 1e6 * y[8], "us");
    snprintf(what, sizeof what, "  2^%d threads", LOG2_MOST_THREADS);
    bench_line(what, 1e3 * y[POINTS - 1], "ms");
    snprintf(what, sizeof what, "  one more, from 2^%d on", LOG2_MANY);
    bench_line(what, 1e9 * l.each, "ns");
    bench_at_most("  farthest from a straight line", 100 * l.error, "% of the figure", 40);
    hd_machine_destroy(m.m);
}

static void with_cores(void)
{
    char what[80];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double one = 0;
    for (unsigned n = 1; n <= (unsigned)cores; n *= 2) {
        struct machine m = open_machine(HD_ENGINE_JIT, n);
        double s = best_launch(&m, 1 << LOG2_MOST_THREADS, REPEATS);
        one = n == 1 ? s : one;
        snprintf(what, sizeof what, "%u core%s: times as fast as one", n, n == 1 ? "" : "s");
        bench_at_least(what, one / s, "", 0.8 * n);
        hd_machine_destroy(m.m);
    }
}

/* ---- modules ---- */

/* Copies of the kernel, each with a name of its own, as many as `bytes` hold. */
static struct str make_module(struct arena *a, size_t bytes)
{
    struct text t = {.arena = a};
    const char *body = strstr(kernels, "(.param");
    text_puts(&t, ".version 7.0\n.target sm_75\n.address_size 64\n");
    for (unsigned i = 0; t.n < bytes; i++)
        text_printf(&t, ".visible .entry compute%u%s", i, body);
    return (struct str){t.p, t.n};
}

/* Seconds to load a module and to run its first kernel, interpreted. */
static double load(struct str text)
{
    double best = INFINITY;
    uint32_t threads = 1;
    for (int i = 0; i < REPEATS; i++) {
        hd_machine *m;
        hd_module *module;
        hd_source s = {"module.ptx", text.p, text.n};
        void *out;
        struct machine x;
        bench_must(!hd_machine_create(&(hd_machine_options){.engine = HD_ENGINE_INTERP}, &m, NULL), "no machine");
        bench_must(!hd_alloc(m, 4 * BLOCK, &out), "no memory");
        double start = bench_now();
        bench_must(!hd_module_load(m, &s, 1, &module, NULL), "the module does not load");
        x = (struct machine){.m = m, .out = out};
        bench_must(!hd_module_get_kernel(module, "compute0", &x.kernel, NULL), "there is no kernel");
        launch(&x, threads);
        best = fmin(best, bench_now() - start);
        hd_machine_destroy(m);
    }
    return best;
}

static void with_size(void)
{
    static const double sizes[SIZES] = {0.05e6, 0.2e6, 0.5e6, 1e6, 2e6, 5e6};
    char what[80];
    double x[SIZES], y[SIZES];
    for (int k = 0; k < SIZES; k++) {
        struct arena a = {0};
        struct str text = make_module(&a, (size_t)sizes[k]);
        x[k] = (double)text.n;
        y[k] = load(text);
        arena_free(&a);
        snprintf(what, sizeof what, "a module of %g MB, to the end of its first kernel", 1e-6 * sizes[k]);
        bench_line(what, 1e3 * y[k], "ms");
    }
    struct line l = fit(x, y, SIZES);
    bench_line("  each MB, on the line", 1e9 * l.each, "ms");
    bench_at_most("  farthest from a straight line", 100 * l.error, "% of the figure", 40);
}

int main(void)
{
    bench_title("scaling");
    with_threads(HD_ENGINE_JIT, "compiled");
    with_threads(HD_ENGINE_INTERP, "interpreted");
    with_cores();
    with_size();
    return 0;
}
