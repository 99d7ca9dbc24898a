/* PEER [--repeat N] [--only NAME] [ARGUMENTS OF THE BACKEND]: runs the problems and prints a line
 * for each: "NAME SECONDS ok" with the median time, or "NAME - REASON". PEER --list prints "NAME
 * BOUND FLOPS BYTES BUFFERS" of each; BUFFERS are bytes, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

enum { MAX_REPEATS = 99 };

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void prepare(struct problem *p)
{
    for (int i = 0; i < MAX_BUFFERS && p->size[i]; i++) {
        p->at[i] = backend_alloc(p->size[i]);
        p->initial[i] = malloc(p->size[i]);
        if (!p->at[i] || !p->initial[i]) {
            fprintf(stderr, "no memory for %s\n", p->name);
            exit(1);
        }
        memset(p->at[i], 0, p->size[i]);
    }
    p->fill(p);
    for (int i = 0; i < MAX_BUFFERS && p->size[i]; i++)
        memcpy(p->initial[i], p->at[i], p->size[i]);
}

static void reset(struct problem *p)
{
    for (int i = 0; i < MAX_BUFFERS && p->size[i]; i++)
        memcpy(p->at[i], p->initial[i], p->size[i]);
}

static void run(struct problem *p, int repeats)
{
    double seconds[MAX_REPEATS];
    const char *refusal = backend_refuses(p);
    if (refusal) {
        printf("%s - %s\n", p->name, refusal);
        return;
    }
    prepare(p);
    bool ok = backend_run(p) >= 0 && p->check(p); /* compiles, too */
    for (int i = 0; i < repeats && ok; i++) {
        reset(p);
        seconds[i] = backend_run(p);
        ok = seconds[i] >= 0 && p->check(p);
    }
    if (!ok) {
        printf("%s - wrong result\n", p->name);
        return;
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_value);
    printf("%s %.9f ok\n", p->name, seconds[repeats / 2]);
    fflush(stdout);
}

static void list(void)
{
    static const char *const bounds[] = {"memory", "compute", "barrier", "atomic"};
    for (const struct problem *p = problems; p < problems + n_problems; p++) {
        size_t buffers = 0;
        for (int i = 0; i < MAX_BUFFERS; i++)
            buffers += p->size[i];
        printf("%s %s %.0f %.0f %zu\n", p->name, bounds[p->bound], p->flops, p->bytes, buffers);
    }
}

int main(int argc, char **argv)
{
    int repeats = 5, kept = 1;
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
            repeats = atoi(argv[++i]);
        else if (strcmp(argv[i], "--list") == 0)
            return list(), 0;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            argv[kept++] = argv[i];
    }
    if (repeats < 1 || repeats > MAX_REPEATS || !backend_open(kept, argv))
        return 1;
    for (unsigned i = 0; i < n_problems; i++)
        if (!only || strcmp(only, problems[i].name) == 0)
            run(&problems[i], repeats);
    return 0;
}
