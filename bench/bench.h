/* What the benchmarks share: failing, clocks, and the table: a figure a line, its target beside it.
 *
 * Every bench-* program of this folder prints such a table to stdout; `make bench` runs all of
 * them.
 */
#ifndef HEDDLE_BENCH_BENCH_H
#define HEDDLE_BENCH_BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ends the program with what went wrong. */
static inline void bench_must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

static inline double bench_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

/* Of this thread alone: what else runs on the machine does not count. */
static inline double bench_cpu(void)
{
    return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

static inline void bench_title(const char *title)
{
    printf("%-52s %10s %-24s %s\n", title, "figure", "unit", "target");
}

static inline void bench_row(const char *what, double value, const char *unit, const char *target, const char *verdict)
{
    printf("%-52s %10.3g %-24s %-12s %s\n", what, value, unit, target, verdict);
    fflush(stdout);
}

/* A figure without a target. */
static inline void bench_line(const char *what, double value, const char *unit)
{
    bench_row(what, value, unit, "", "");
}

static inline void bench_at_least(const char *what, double value, const char *unit, double target)
{
    char text[32];
    snprintf(text, sizeof text, ">= %g", target);
    bench_row(what, value, unit, text, value >= target ? "met" : "MISSED");
}

static inline void bench_at_most(const char *what, double value, const char *unit, double target)
{
    char text[32];
    snprintf(text, sizeof text, "<= %g", target);
    bench_row(what, value, unit, text, value <= target ? "met" : "MISSED");
}

#endif
