/* bench-lanes [--cpu LEVEL] [--all] [NAME...]: what each lane function costs: thousands of millions
 * of lanes a second on one core, the slowest first: the 30 slowest, with --all every one, with
 * names those that contain one of them. What the compiler did not vectorise stands at the top.
 */
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "isa/lane_ids.h"
#include "isa/lanes.h"

static const struct row {
    const char *name, *a, *b, *c; /* types of the operands */
} rows[LANE_COUNT] = {
    {"", "_", "_", "_"},
#define LANE(name, D, E, A, B, C, is, unit, expr) {#name, #A, #B, #C},
#include "isa/lanes.def"
#undef LANE
};

enum { ROW_BYTES = 32 * 16, SLOWEST = 30 };

static uint64_t random_bits(void)
{
    static uint64_t x = 88172645463325252;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

/* Numbers of an ordinary size, so that no operation is slow because of its operands. */
static void fill(void *row, const char *type)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t bits = random_bits();
        double d = (double)(bits >> 40) * 0x1p-20 - 8;
        float f = (float)d;
        if (strcmp(type, "f32") == 0)
            memcpy((float *)row + l, &f, 4);
        else if (strcmp(type, "f64") == 0)
            memcpy((double *)row + l, &d, 8);
        else
            memcpy((uint64_t *)row + l, &bits, 8);
    }
}

struct result {
    const char *name;
    double rate;
};

static int by_rate(const void *x, const void *y)
{
    double a = ((const struct result *)x)->rate, b = ((const struct result *)y)->rate;
    return (a > b) - (a < b);
}

static double measure(lane_fn *fn, const struct row *row)
{
    static _Alignas(64) uint8_t a[ROW_BYTES], b[ROW_BYTES], c[ROW_BYTES], d[ROW_BYTES], e[ROW_BYTES];
    enum { CALLS = 200, TIMES = 5 };
    double least = 1;
    fill(a, row->a);
    fill(b, row->b);
    fill(c, row->c);
    memset(e, 0, sizeof e);
    for (int t = 0; t < TIMES; t++) {
        double start = bench_cpu();
        for (int i = 0; i < CALLS; i++)
            fn(d, e, a, b, c, 1);
        double took = bench_cpu() - start;
        least = took < least ? took : least;
    }
    return 1e-9 * CALLS * WARP_LANES / least;
}

static bool wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strstr(name, names[i]))
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    static struct result results[LANE_COUNT];
    const char *level = NULL;
    bool all = false, usage = false;
    unsigned n = 0;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            level = argv[++i];
        else if (strcmp(argv[i], "--all") == 0)
            all = true;
        else
            usage = true;
    }
    lane_fn *const *table = lane_table(level, &level);
    if (usage || !table) {
        fprintf(stderr, "usage: bench-lanes [--cpu LEVEL] [--all] [NAME...]\n");
        return 2;
    }
    for (unsigned id = 1; id < LANE_COUNT; id++)
        if (wanted(rows[id].name, argv + i, argc - i))
            results[n++] = (struct result){rows[id].name, measure(table[id], &rows[id])};
    qsort(results, n, sizeof results[0], by_rate);
    char title[64];
    snprintf(title, sizeof title, "lane functions (%s), the slowest first", level);
    bench_title(title);
    for (unsigned k = 0; k < n && (all || argc > i || k < SLOWEST); k++)
        bench_line(results[k].name, results[k].rate, "G lanes/s");
    return 0;
}
